//! A client of another author plays `cubes`: written from the format pages alone, with whole poses
//! (`Join.coding`), and none of this project's decoders. What it sees agrees with the trace.
//!
//! Of the project's code it uses QUIC with its frames and the generated control messages, which
//! every language has. Bits, the link, records and poses are read here, as
//! `ambit_proto::{link, message}` and `docs/wire-client.md` describe them. It also throws away
//! every fifth datagram of the host: nothing that follows depends on it.

mod bits;
mod link;
mod map;
mod records;
mod replica;
mod uplink;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use ambit_proto::control::game::{Joined, PoseCoding, game_to_client};
use ambit_proto::control::world::{
    CreateRoom, StartRoom, Ticket, client_to_world as ask, world_to_client as answer,
};
use ambit_tests::real::raw_client::RawClient;
use ambit_tests::real::{ScratchFolder, Server, WAIT_LIMIT};
use ambit_transport::quic::{ALPN_GAME, ALPN_WORLD};
use anyhow::{Context, Result};
use serde_json::Value;

use self::link::PlainLink;
use self::replica::{PlainReplica, SeenPose};
use self::uplink::Controls;

/// Datagrams of the client leave this often.
const SEND_INTERVAL: Duration = Duration::from_millis(50);
/// One datagram in this number is thrown away.
const LOSS: u64 = 5;
/// The cube is driven this long in each direction.
const DRIVE: Duration = Duration::from_millis(1_500);
/// The picture is final when no pose has come for this long.
const QUIET: Duration = Duration::from_secs(2);
/// Places of controls in the schema of `cubes`.
const RIGHT: u8 = 1;
const UP: u8 = 2;
const LEFT: u8 = 0;
const REPEL: u8 = 6;
const CUBES: usize = 30;

#[test]
fn a_client_written_from_the_pages_plays_cubes_and_agrees_with_the_trace() -> Result<()> {
    let scratch = ScratchFolder::new("plain");
    let trace = scratch.path().join("trace");
    let trace_flag = trace.to_str().context("a plain path")?;
    let server = Server::start(&scratch, &["--trace", trace_flag])?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let replica = runtime.block_on(play(server.world))?;
    drop(server);

    let truth = Trace::read(&trace.join("room-1.jsonl"))?;
    let seen: usize = replica.objects().map(|object| object.poses.len()).sum();
    println!("{} objects, {seen} poses", replica.objects().count());
    assert!(seen > 200, "{seen} poses");
    assert_eq!(replica.objects().count(), CUBES + 1);
    let mut ids = BTreeSet::new();
    for object in replica.objects() {
        let id = truth.find(&object.poses);
        let id = id.with_context(|| format!("no object moved as {:?}", object.poses))?;
        assert!(ids.insert(id), "object {id} was seen twice");
        assert_eq!(object.is_own, truth.own == Some(id), "object {id}");
        // The last pose is the one at rest.
        let last = object.poses.last().context("an object has a pose")?;
        assert!(last.at_rest, "{id}: {last:?}");
        let end = truth.position_at(id, f64::INFINITY).context("it is there")?;
        assert!(last.is_near(end), "{id}: {last:?}, and in truth {end:?}");
        if object.is_own {
            let first = object.poses.first().context("an object has a pose")?;
            let moved = (0..2).map(|axis| (last.at_m[axis] - first.at_m[axis]).abs());
            assert!(moved.fold(0.0, f64::max) > 1.0, "it was driven: {last:?}");
        }
    }
    Ok(())
}

/// Joins a room of its own, drives about, and returns what it saw.
async fn play(server: SocketAddr) -> Result<PlainReplica> {
    let mut lobby = RawClient::connect(server, ALPN_WORLD).await?;
    lobby.hello("ann").await?;
    // Without rounds: the room has only cubes.
    let parameters = [
        ("size", "16x16".to_owned()),
        ("cubes", CUBES.to_string()),
        ("round", "0".to_owned()),
        ("seed", "3".to_owned()),
    ];
    let create = CreateRoom {
        name: "plain".into(),
        game: "cubes".into(),
        parameters: parameters.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
        ..CreateRoom::default()
    };
    lobby.request_answer(ask::Body::CreateRoom(create)).await?;
    lobby.send_request(ask::Body::StartRoom(StartRoom {})).await?;
    let ticket = lobby
        .find(|body| match body {
            answer::Body::Ticket(ticket) => Some(ticket),
            _ => None,
        })
        .await?;
    let mut game = RawClient::connect(game_address(&ticket, server)?, ALPN_GAME).await?;
    let joined = game.join_with(ticket.ticket, PoseCoding::Plain).await?;
    let game_to_client::Body::Joined(joined) = joined else {
        anyhow::bail!("not joined: {joined:?}")
    };
    assert_eq!(joined.coding(), PoseCoding::Plain);
    let replica = drive(&game, &joined).await?;
    game.connection.close(0_u32.into(), b"");
    lobby.connection.close(0_u32.into(), b"");
    lobby.endpoint.wait_idle().await;
    Ok(replica)
}

/// An unspecified address stands for the lobby's.
fn game_address(ticket: &Ticket, lobby: SocketAddr) -> Result<SocketAddr> {
    let address: SocketAddr = ticket.address.parse()?;
    let ip = if address.ip().is_unspecified() { lobby.ip() } else { address.ip() };
    Ok(SocketAddr::new(ip, address.port()))
}

/// Holds keys for a while, then waits until all cubes are at rest.
#[expect(clippy::disallowed_methods, reason = "the client's clock")]
async fn drive(game: &RawClient, joined: &Joined) -> Result<PlainReplica> {
    let began = Instant::now();
    let mut link = PlainLink::new(joined.now_us);
    let mut replica = PlainReplica::new(joined);
    let mut controls = Controls::new(joined);
    let mut sends = tokio::time::interval(SEND_INTERVAL);
    let mut arrived = 0_u64;
    let mut last_pose = Duration::ZERO;
    loop {
        tokio::select! {
            datagram = game.connection.read_datagram() => {
                let datagram = datagram.context("the host has closed the connection")?;
                arrived += 1;
                if arrived.is_multiple_of(LOSS) {
                    continue;
                }
                let Some(body) = link.receive(&datagram, began.elapsed())? else {
                    continue;
                };
                if replica.read(body, link.room_ms(began.elapsed()))? > 0 {
                    last_pose = began.elapsed();
                }
            }
            _ = sends.tick() => {
                let now = began.elapsed();
                if now > 3 * DRIVE && now > last_pose + QUIET {
                    return Ok(replica);
                }
                anyhow::ensure!(now < WAIT_LIMIT, "the cubes do not come to rest");
                controls.hold(keys_at(now), link.room_ms(now));
                controls.forget_until(link.newest_acked());
                let datagram = link.write(now, |number, room_ms, writer| {
                    controls.write(number, room_ms, writer);
                });
                game.connection.send_datagram(datagram.into())?;
            }
        }
    }
}

/// The controls that are held, one bit for each.
fn keys_at(time: Duration) -> u32 {
    match (time.as_millis() / DRIVE.as_millis()) as u32 {
        0 => 1 << RIGHT,
        1 => 1 << UP | 1 << REPEL,
        2 => 1 << LEFT,
        _ => 0,
    }
}

/// The true positions, by the server's ids.
#[derive(Default)]
struct Trace {
    /// Room time in milliseconds from which each holds, and metres.
    tracks: BTreeMap<u64, Vec<(f64, [f64; 3])>>,
    /// The object of the only player.
    own: Option<u64>,
}

impl Trace {
    fn read(path: &Path) -> Result<Self> {
        let mut trace = Trace::default();
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        for line in text.lines() {
            let line: Value = serde_json::from_str(line)?;
            let Some(id) = line["id"].as_u64() else {
                continue;
            };
            match line["ev"].as_str() {
                Some("join") => trace.own = Some(id),
                Some("spawn" | "move") => {
                    let number = |key: &str| line[key].as_f64().context("a number");
                    let at = [number("x")?, number("y")?, number("z")?];
                    trace.tracks.entry(id).or_default().push((number("t")?, at));
                }
                _ => {}
            }
        }
        Ok(trace)
    }

    /// The object that was, at all these times, where the client saw it.
    fn find(&self, poses: &[SeenPose]) -> Option<u64> {
        let agrees = |id: &&u64| {
            poses
                .iter()
                .all(|pose| self.position_at(**id, pose.from_ms).is_some_and(|at| pose.is_near(at)))
        };
        let mut found = self.tracks.keys().filter(agrees);
        found.next().filter(|_| found.next().is_none()).copied()
    }

    /// The position at a time: the trace has the changes. Times of the wire are whole milliseconds.
    fn position_at(&self, id: u64, ms: f64) -> Option<[f64; 3]> {
        let track = &self.tracks[&id];
        let after = track.partition_point(|(time, _)| *time < ms + 1.0);
        Some(track[after.checked_sub(1)?].1)
    }
}
