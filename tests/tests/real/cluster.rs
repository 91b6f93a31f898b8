//! Several WorldServers, separate hosts and NATS: what continues when one of them fails. Times are
//! only printed, because machines differ.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ambit_proto::control::world::{self, client_to_world as ask, world_to_client as answer};
use ambit_tests::real::raw_client::RawClient;
use ambit_tests::real::{
    BotCrowd, Cluster, Console, OutputLines, ScratchFolder, binary, outage, server_signal,
};
use ambit_transport::quic::ALPN_WORLD;
use anyhow::{Context, Result, bail};
use serde_json::Value;

/// Longest time in which requests may be refused after a NATS node has died: the election of a new
/// leader.
const ELECTION: Duration = Duration::from_secs(6);
/// How long a test is without NATS.
const NATS_OUTAGE: Duration = Duration::from_secs(10);
/// In a quiet room, some seconds pass between two datagrams.
const LONGEST_GAP_MS: f64 = 8_000.0;
/// Bots at each server.
const CROWD_SIZE: usize = 10;

#[test]
fn after_a_world_server_is_killed_the_other_serves_rooms_and_chat() -> Result<()> {
    let scratch = ScratchFolder::new("cluster-world");
    let mut cluster = Cluster::start(&scratch)?;
    let (mut ann, mut bob) = players(&scratch, &cluster)?;
    cluster.kill_leader()?;
    let killed = now();
    for (console, name) in [(&mut ann, "ann"), (&mut bob, "bob")] {
        wait_for_resumed(console)?;
        println!("{name} is back in the lobby {} ms after the kill", killed.elapsed().as_millis());
    }
    chat(&mut ann, &mut bob)?;
    println!("and in the chat after {} ms", killed.elapsed().as_millis());
    cluster.wait_for_new_leader()?;
    // The room was not affected: no client left it or joined it again.
    for console in [ann, bob] {
        let out = |event: &&Value| {
            event["ev"] == "left" || event["ev"] == "started" && event["again"] == true
        };
        assert_eq!(console.events.iter().find(out), None);
        let (code, rest) = console.quit()?;
        assert_eq!((code, rest.iter().find(out)), (0, None));
    }
    Ok(())
}

#[test]
fn a_world_server_that_gets_sigterm_hands_its_leadership_over() -> Result<()> {
    let scratch = ScratchFolder::new("cluster-drain");
    let mut cluster = Cluster::start(&scratch)?;
    let (mut ann, mut bob) = players(&scratch, &cluster)?;
    let leader = cluster.worlds.remove(0);
    assert_eq!(leader.terminate()?, Some(0));
    for console in [&mut ann, &mut bob] {
        wait_for_resumed(console)?;
    }
    chat(&mut ann, &mut bob)?;
    cluster.wait_for_new_leader()?;
    // For the hosts this is a lost connection, which starts their timeout; the follower has not
    // taken over yet.
    for host in &mut cluster.hosts {
        let log = host.take_log();
        assert!(
            log.iter().any(|line| line.contains("the link to the WorldServer is lost")),
            "{log:#?}"
        );
    }
    Ok(())
}

#[test]
fn a_host_ended_without_a_leader_hands_rooms_to_the_next_leader() -> Result<()> {
    let scratch = ScratchFolder::new("cluster-both");
    let mut cluster = Cluster::start(&scratch)?;
    let (mut ann, mut bob) = players(&scratch, &cluster)?;
    let before = host_address_of(&ann)?;
    cluster.leader().wait_for_checkpoints()?;
    let host = cluster.host_at(&before)?;
    cluster.kill_leader()?;
    server_signal(cluster.hosts[host].id(), "TERM")?;
    for console in [&mut ann, &mut bob] {
        console.wait_until("the room elsewhere", |event| {
            event["ev"] == "started" && event["address"] != before.as_str()
        })?;
    }
    chat(&mut ann, &mut bob)?;
    for console in [ann, bob] {
        assert_never_left(&console);
    }
    Ok(())
}

#[test]
fn rooms_of_a_killed_host_resume_before_its_silence_is_noticed() -> Result<()> {
    let scratch = ScratchFolder::new("cluster-killed");
    // Longer than any test waits.
    let mut cluster = Cluster::start_with(&scratch, &["--host-silence", "1h"])?;
    let (mut ann, mut bob) = players(&scratch, &cluster)?;
    let before = host_address_of(&ann)?;
    let host = cluster.host_at(&before)?;
    let killed = now();
    server_signal(cluster.hosts[host].id(), "KILL")?;
    for console in [&mut ann, &mut bob] {
        console.wait_until("the room elsewhere", |event| {
            event["ev"] == "started" && event["address"] != before.as_str()
        })?;
        println!("elsewhere after {} ms", killed.elapsed().as_millis());
    }
    chat(&mut ann, &mut bob)?;
    for console in [ann, bob] {
        assert_never_left(&console);
    }
    Ok(())
}

#[test]
fn a_world_server_that_waits_for_nats_obeys_sigterm() -> Result<()> {
    let scratch = ScratchFolder::new("cluster-waits");
    let mut command = Command::new(binary("world-server"));
    scratch.confine(&mut command);
    // No server listens there.
    command.args([
        "--listen",
        "127.0.0.1:0",
        "--http",
        "127.0.0.1:0",
        "--hosts",
        "cluster",
        "--nats",
        "nats://127.0.0.1:9",
        "--host-key",
    ]);
    command.arg("a-long-secret-of-this-test").stdout(Stdio::null()).stderr(Stdio::piped());
    let mut server = command.spawn()?;
    let mut log = OutputLines::read_from(server.stderr.take().context("piped")?);
    log.find("the error", |line| line.contains("the directory can't be read").then_some(()))?;
    server_signal(server.id(), "TERM")?;
    assert_eq!(server.wait()?.code(), Some(0));
    Ok(())
}

#[test]
fn a_crowd_plays_on_while_the_leader_is_killed() -> Result<()> {
    let scratch = ScratchFolder::new("cluster-crowd");
    let mut cluster = Cluster::start(&scratch)?;
    let mut crowds = Vec::new();
    for (room, world) in cluster.worlds.iter().enumerate() {
        let room = format!("room{room}");
        let small = ["--param", "size=60x60"];
        let flags = [&small[..], &["--param", "obstacles=10"]].concat();
        crowds.push(BotCrowd::start(&scratch, world.world, &room, CROWD_SIZE, &flags)?);
    }
    crowds.iter_mut().try_for_each(BotCrowd::wait_until_measuring)?;
    let all_bots = (crowds.len() * CROWD_SIZE) as f64;
    cluster.kill_leader()?;
    cluster.leader().wait_for_metrics("all bots again", |metrics| {
        metrics.get("ambit_sessions_resumed_total") == Some(&all_bots)
    })?;
    for crowd in crowds {
        // Each bot lost its lobby connection, resumed its session, and stayed in its room.
        let summary = crowd.finish()?;
        let shown = ["resumes", "moves"].map(|key| summary[key].as_u64());
        assert_eq!(shown, [Some(CROWD_SIZE as u64), Some(0)], "{summary}");
        println!(
            "a leader killed under {CROWD_SIZE} bots: longest gap {} ms",
            summary["gap_ms_max"]
        );
    }
    cluster.wait_for_new_leader()
}

#[test]
fn a_new_build_starts_beside_the_old_one_and_its_rooms_move_there() -> Result<()> {
    let scratch = ScratchFolder::new("cluster-builds");
    let mut cluster = Cluster::start(&scratch)?;
    let (mut ann, mut bob) = players(&scratch, &cluster)?;
    cluster.add_host(&scratch, &["--build", "next"])?;
    for console in [&mut ann, &mut bob] {
        let moved = console.wait_until("the new build", |event| {
            event["ev"] == "started" && event["again"] == true
        })?;
        let host = cluster.host_at(moved["address"].as_str().unwrap_or_default())?;
        assert_eq!(host, 2, "{moved}");
    }
    // New rooms start there, too.
    let mut cid = Console::start(&scratch, cluster.leader().world, "cid", &[])?;
    cid.run_command("create fresh game=field", "created")?;
    let fresh = cid.run_command("start", "started")?;
    assert_eq!(cluster.host_at(fresh["address"].as_str().unwrap_or_default())?, 2, "{fresh}");
    assert_eq!(cluster.leader().metrics()?["ambit_rooms_moved_total"], 1.0);
    // The old hosts have no rooms, and end.
    for old in &cluster.hosts[..2] {
        server_signal(old.id(), "TERM")?;
    }
    cluster.leader().wait_for_metrics("one host", |metrics| metrics["ambit_hosts"] == 1.0)?;
    chat(&mut ann, &mut bob)?;
    for console in [ann, bob, cid] {
        assert_never_left(&console);
    }
    Ok(())
}

#[test]
fn if_a_nats_node_is_killed_only_new_rooms_wait() -> Result<()> {
    let scratch = ScratchFolder::new("cluster-node");
    let mut cluster = Cluster::start(&scratch)?;
    let (mut ann, mut bob) = players(&scratch, &cluster)?;
    let mut cid = Console::start(&scratch, cluster.follower().world, "cid", &[])?;
    let leader = cluster.nats.leader()?;
    cluster.nats.kill(leader)?;
    let killed = now();
    // All of this is answered while the NATS nodes elect a leader.
    chat(&mut ann, &mut bob)?;
    assert_eq!(cid.run_command("rooms", "rooms")?["rooms"].as_array().map(Vec::len), Some(1));
    cid.run_command("join 1", "started")?;
    cid.run_command("leave", "left")?;
    println!("chat, list, join and leave took {} ms", killed.elapsed().as_millis());
    let refused = create(&mut cid, killed)?;
    println!(
        "a room was made after {} ms, refused {refused} times before",
        killed.elapsed().as_millis()
    );
    chat(&mut ann, &mut bob)
}

#[test]
fn an_emptied_directory_is_written_again_and_the_next_leader_has_all() -> Result<()> {
    let scratch = ScratchFolder::new("cluster-emptied");
    let mut cluster = Cluster::start(&scratch)?;
    let (mut ann, mut bob) = players(&scratch, &cluster)?;
    let mut cid = Console::start(&scratch, cluster.leader().world, "cid", &[])?;
    (0..3).try_for_each(|node| cluster.nats.kill(node))?;
    (0..3).try_for_each(|node| cluster.nats.wipe(node))?;
    (0..3).try_for_each(|node| cluster.nats.start_node(node))?;
    create(&mut cid, now())?;
    chat(&mut ann, &mut bob)?;
    // No player has lost the lobby or the game, so the leader still leads.
    for console in [&mut ann, &mut bob] {
        console.run_command("stats", "stats")?;
        let lost = |event: &&Value| event["ev"] == "left" || event["resumed"] == true;
        assert_eq!(console.events.iter().find(lost), None);
    }
    // The leader's record, that of ids, two hosts, three players, two rooms.
    (0..3).try_for_each(|node| cluster.nats.wait_for_records(node, 9))?;
    cluster.kill_leader()?;
    for console in [&mut ann, &mut bob] {
        wait_for_resumed(console)?;
    }
    chat(&mut ann, &mut bob)?;
    cluster.wait_for_new_leader()
}

#[test]
fn games_continue_while_nats_is_down_for_ten_seconds() -> Result<()> {
    let scratch = ScratchFolder::new("cluster-outage");
    let mut cluster = Cluster::start(&scratch)?;
    let (mut ann, mut bob) = players(&scratch, &cluster)?;
    let mut cid = Console::start(&scratch, cluster.leader().world, "cid", &[])?;
    (0..3).try_for_each(|node| cluster.nats.kill(node))?;
    let killed = now();
    cluster.worlds[0].wait_for_log("directory unavailable")?;
    let refused = cid.run_command("create too-early game=field", "error")?;
    assert_eq!(refused["code"], "try_again", "{refused}");
    assert!(
        refused["message"].as_str().is_some_and(|message| message.contains("try again")),
        "{refused}"
    );
    chat(&mut ann, &mut bob)?;
    outage(NATS_OUTAGE.saturating_sub(killed.elapsed()));
    chat(&mut ann, &mut bob)?;
    // Games have continued all the time: their pauses are shorter than the outage.
    let received = |console: &mut Console| console.run_command("stats", "stats");
    for console in [&mut ann, &mut bob] {
        let stats = received(console)?;
        assert!(stats["gap_ms_max"].as_f64().is_some_and(|gap| gap < LONGEST_GAP_MS), "{stats}");
    }
    (0..3).try_for_each(|node| cluster.nats.start_node(node))?;
    let again = now();
    create(&mut cid, again)?;
    println!("rooms could be made {} ms after NATS was back", again.elapsed().as_millis());
    chat(&mut ann, &mut bob)?;
    for console in [ann, bob] {
        assert_eq!(
            console.events.iter().filter(|event| event["ev"] == "welcome").count(),
            1,
            "no bot lost the lobby"
        );
        assert_never_left(&console);
    }
    Ok(())
}

#[test]
fn a_host_that_hung_beyond_its_lease_finds_its_room_elsewhere() -> Result<()> {
    let scratch = ScratchFolder::new("cluster-lease");
    let mut cluster = Cluster::start(&scratch)?;
    let (mut ann, mut bob) = players(&scratch, &cluster)?;
    let before = host_address_of(&ann)?;
    cluster.leader().wait_for_checkpoints()?;
    let host = cluster.host_at(&before)?;
    let id = cluster.hosts[host].id();
    server_signal(id, "STOP")?;
    for console in [&mut ann, &mut bob] {
        console.wait_until("the room elsewhere", |event| {
            event["ev"] == "started" && event["address"] != before.as_str()
        })?;
    }
    // The lobby gives a room away only after the lease of its host is over.
    server_signal(id, "CONT")?;
    // The host reconnects, and learns that the room is not its own any more.
    cluster.leader().wait_for_metrics("both hosts", |metrics| metrics["ambit_hosts"] == 2.0)?;
    chat(&mut ann, &mut bob)?;
    cluster.hosts[host].wait_for_log("room closed")?;
    for console in [ann, bob] {
        // Shown room time only increases: no client received the older state of the hung
        // host. (`started` is left out: its time is what the client assumes at that moment, and the
        // clock of another host may be some milliseconds off.)
        let shown = console.events.iter().filter(|event| event["ev"] != "started");
        let times: Vec<f64> = shown.filter_map(|event| event["t"].as_f64()).collect();
        assert!(times.windows(2).all(|pair| pair[0] <= pair[1]), "{times:?}");
        assert_never_left(&console);
    }
    Ok(())
}

#[test]
fn a_room_whose_creation_was_not_answered_is_created_once() -> Result<()> {
    let scratch = ScratchFolder::new("cluster-create");
    let mut cluster = Cluster::start(&scratch)?;
    let leader = cluster.leader().world;
    let follower = cluster.follower().world;
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let mut ann = RawClient::connect(leader, ALPN_WORLD).await?;
        let answer::Body::Welcome(welcome) = ann.hello("ann").await? else {
            bail!("expected a welcome")
        };
        let wanted = || {
            let create = world::CreateRoom {
                name: "den".into(),
                game: "field".into(),
                key: vec![5; 16],
                ..Default::default()
            };
            ask::Body::CreateRoom(create)
        };
        // The server is killed before the client can receive the first answer.
        ann.send_request(wanted()).await?;
        ann.pause_briefly().await;
        cluster.kill_leader()?;
        let mut ann = loop {
            // Repeat until the other server leads.
            let mut ann = RawClient::connect(follower, ALPN_WORLD).await?;
            if let Ok(answer::Body::Welcome(back)) =
                ann.resume("ann", welcome.resume_token.clone()).await
            {
                println!("resumed: {}", back.resumed);
                break ann;
            }
        };
        let answer = ann.request_answer(wanted()).await?.body;
        let answer::Body::RoomCreated(made) = answer.context("an answer")? else {
            bail!("expected a created room")
        };
        let list = ann
            .request_answer(ask::Body::ListRooms(world::ListRooms { subscribe: false }))
            .await?
            .body;
        let Some(answer::Body::RoomList(list)) = list else { bail!("expected a list") };
        assert_eq!(
            list.rooms.iter().map(|room| room.id).collect::<Vec<_>>(),
            [made.room.context("a room")?.id]
        );
        Ok(())
    })
}

#[test]
fn two_hundred_race_for_fifty_seats_at_two_servers_and_fifty_get_in() -> Result<()> {
    const RACERS: usize = 200;
    const SEATS: u32 = 50;
    let scratch = ScratchFolder::new("cluster-seats");
    let cluster = Cluster::start(&scratch)?;
    let servers = [cluster.leader().world, cluster.follower().world];
    let mut maker = Console::start(&scratch, servers[1], "maker", &[])?;
    maker.run_command(&format!("create den game=field capacity={}", SEATS + 1), "created")?;
    let runtime = tokio::runtime::Runtime::new()?;
    let outcomes = runtime.block_on(async {
        let mut racers = tokio::task::JoinSet::new();
        let start = std::sync::Arc::new(tokio::sync::Barrier::new(RACERS));
        for racer in 0..RACERS {
            let server = servers[racer % 2];
            let start = start.clone();
            racers.spawn(async move {
                let mut client = RawClient::connect(server, ALPN_WORLD).await?;
                client.hello(&format!("racer{racer}")).await?;
                start.wait().await;
                let join = world::JoinRoom { room: 1, ..Default::default() };
                let answer = client.request_answer(ask::Body::JoinRoom(join)).await?.body;
                // The connection is kept, since closing it would free the seat.
                anyhow::Ok((answer, client))
            });
        }
        let mut outcomes = Vec::new();
        while let Some(outcome) = racers.join_next().await {
            outcomes.push(outcome??);
        }
        anyhow::Ok(outcomes)
    })?;
    let seated = outcomes
        .iter()
        .filter(|(answer, _)| matches!(answer, Some(answer::Body::RoomJoined(_))))
        .count();
    let full = outcomes.iter().filter(
        |(answer, _)| {
            matches!(answer, Some(answer::Body::Error(error)) if error.name == "room_full")
        },
    );
    assert_eq!((seated, full.count()), (SEATS as usize, RACERS - SEATS as usize));
    let listed = maker.run_command("rooms", "rooms")?;
    assert_eq!(listed["rooms"][0]["players"], SEATS + 1);
    Ok(())
}

/// Creates a room; may be refused with "try again" during an election. Returns how often that
/// happened.
fn create(console: &mut Console, since: Instant) -> Result<u32> {
    let mut refused = 0;
    loop {
        console.type_in("create another game=field")?;
        let answer = console
            .wait_until("an answer", |event| event["ev"] == "created" || event["ev"] == "error")?;
        if answer["ev"] == "created" {
            return Ok(refused);
        }
        assert_eq!(answer["code"], "try_again", "{answer}");
        refused += 1;
        // A generous bound that does not depend on the machine: ten times the longest election.
        if since.elapsed() > 10 * ELECTION {
            bail!("no room could be created");
        }
        outage(Duration::from_millis(200));
    }
}

/// Waits until the client is back in the lobby, with its session and its room.
fn wait_for_resumed(console: &mut Console) -> Result<()> {
    let back = console.wait_for("welcome")?;
    assert_eq!((&back["resumed"], &back["room"]), (&true.into(), &1.into()), "{back}");
    Ok(())
}

/// The client has not left its room.
fn assert_never_left(console: &Console) {
    let left = console.events.iter().find(|event| event["ev"] == "left");
    assert_eq!(left, None);
}

/// Ann at the leading WorldServer and Bob at the other one, both in the same running room.
fn players(scratch: &ScratchFolder, cluster: &Cluster) -> Result<(Console, Console)> {
    let mut ann = Console::start(scratch, cluster.leader().world, "ann", &[])?;
    let mut bob = Console::start(scratch, cluster.follower().world, "bob", &[])?;
    ann.run_command("create den game=field", "created")?;
    ann.run_command("start", "started")?;
    bob.run_command("join 1", "started")?;
    Ok((ann, bob))
}

/// Address of the host of a console's room.
fn host_address_of(console: &Console) -> Result<String> {
    let last = console.events.iter().rev().find(|event| event["ev"] == "started");
    last.and_then(|event| Some(event["address"].as_str()?.to_owned())).context("no start")
}

/// Each sends a message that the other receives.
fn chat(ann: &mut Console, bob: &mut Console) -> Result<()> {
    ann.type_in("say from ann")?;
    bob.wait_until("ann's message", |event| event["ev"] == "chat" && event["text"] == "from ann")?;
    bob.type_in("say from bob")?;
    ann.wait_until("bob's message", |event| event["ev"] == "chat" && event["text"] == "from bob")?;
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "times are printed")]
fn now() -> Instant {
    Instant::now()
}
