//! What an operator reads when something is wrong around a server (files, hosts with another key),
//! and what one sees and does by HTTP.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::thread;

use ambit_tests::real::{self, BotCrowd, Console, Host, HttpAnswer, ScratchFolder, Server};
use anyhow::{Context, Result};
use data_encoding::BASE64;
use serde_json::{Value as Json, json};

#[test]
fn a_room_starts_without_files_when_these_cannot_be_made() -> Result<()> {
    let scratch = ScratchFolder::new("no-files");
    let records = scratch.path().join("records");
    let flag = records.to_str().context("a plain path")?;
    let mut server = Server::start(&scratch, &["--record", flag])?;
    let mut console = Console::start(&scratch, server.world, "ann", &[])?;
    console.run_command("create first game=field npcs=1", "created")?;
    console.run_command("start", "started")?;
    std::fs::remove_dir_all(&records)?;
    console.run_command("leave", "left")?;
    console.run_command("create second game=field npcs=1", "created")?;
    console.run_command("start", "started")?;
    let not_made = "ambit_drops_total{queue=\"room_files\",reason=\"not_made\"}";
    server.wait_for_metrics("the room without files", |metrics| {
        metrics.get(not_made) == Some(&1.0)
    })?;
    let log = server.take_log();
    let warned = log.iter().any(|line| line.contains("files can't be made"));
    assert!(warned, "{log:#?}");
    Ok(())
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_refuses_to_start_if_it_cannot_write_its_files() -> Result<()> {
    let scratch = ScratchFolder::new("read-only");
    for (flag, hosts) in [("--trace", "embedded"), ("--record", "process:1")] {
        let mut command = Command::new(real::binary("world-server"));
        scratch.confine(&mut command);
        // No user can create files in that directory.
        command.args([flag, "/proc", "--hosts", hosts, "--listen", "127.0.0.1:0"]);
        command.args(["--http", "off"]).stdin(Stdio::null());
        let output = command.output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("cannot write to the directory /proc"), "{said}");
    }
    Ok(())
}

#[test]
fn hosts_with_another_key_are_counted() -> Result<()> {
    let scratch = ScratchFolder::new("other-key");
    let server = Server::start(&scratch, &["--host-key", "not the key of these tests"])?;
    let mut host = Host::start(&scratch, &server, &[], &[])?;
    server.wait_for_metrics("the refused host", |metrics| {
        metrics["ambit_hosts_refused_total"] >= 1.0
            && metrics["ambit_drops_total{queue=\"peer_proofs\",reason=\"wrong_key\"}"] >= 1.0
    })?;
    host.wait_for_log("give this host the same key as the WorldServer")?;
    Ok(())
}

pub(crate) const LOOK: &str = "look-key-0123456789";
pub(crate) const MODERATE: &str = "moderate-key-0123456789";
pub(crate) const OPERATE: &str = "operate-key-0123456789";

const JSON: &str = "application/json";

/// Sends a request of an operator. Returns the status, and the answer.
pub(crate) fn ask(server: &Server, key: &str, request: &str, body: &Json) -> Result<(u16, Json)> {
    let (method, path) = request.split_once(' ').context("a method and a path")?;
    let header = format!("Authorization: Bearer {key}\r\n");
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let answer = server.request_with(method, &format!("/admin/v1{path}"), &header, &body)?;
    let json = serde_json::from_slice(&answer.body)
        .with_context(|| format!("{request}: {}", String::from_utf8_lossy(&answer.body)))?;
    Ok((answer.status, json))
}

pub(crate) fn start_with_keys(scratch: &ScratchFolder, arguments: &[&str]) -> Result<Server> {
    let file = scratch.path().join("keys");
    let keys = format!("look lea {LOOK}\nmoderate max {MODERATE}\noperate olga {OPERATE}\n");
    std::fs::write(&file, keys)?;
    let file = file.to_str().context("a plain path")?;
    let arguments: Vec<_> = ["--admin-key-file", file].iter().chain(arguments).copied().collect();
    Server::start(scratch, &arguments)
}

#[test]
fn an_operator_sees_players_and_puts_one_out_who_reads_why() -> Result<()> {
    let scratch = ScratchFolder::new("operator");
    let mut server = start_with_keys(&scratch, &[])?;
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    let mut bob = Console::start(&scratch, server.world, "bob", &["--account", "off"])?;
    bob.run_command("create den game=field npcs=1", "created")?;
    let (status, seen) = ask(&server, LOOK, "GET /players", &Json::Null)?;
    let players = seen["players"].as_array().context("a list")?;
    assert_eq!((status, players.len()), (200, 2), "{seen}");
    let of = |name: &str| players.iter().find(|player| player["name"] == name);
    let (ann_seen, bob_seen) = (of("ann").context("ann")?, of("bob").context("bob")?);
    assert_eq!((&bob_seen["address"], &bob_seen["account"]), (&json!("127.0.0.1"), &Json::Null));
    let client = bob_seen["client"].as_str().context("a client")?;
    assert!(client.starts_with("console"), "{bob_seen}");
    let round_trip = bob_seen["round_trip_ms"].as_f64().context("a round trip")?;
    assert!(round_trip > 0.0 && bob_seen["since"].as_i64() > Some(1_700_000_000), "{bob_seen}");
    let (status, rooms) = ask(&server, LOOK, "GET /rooms", &Json::Null)?;
    assert_eq!((status, &rooms["rooms"][0]["name"]), (200, &json!("den")));
    assert_eq!(bob_seen["room"], rooms["rooms"][0]["id"]);

    // A message, and what a lower role may not.
    let text = json!({ "text": "a restart at five" });
    assert_eq!(ask(&server, LOOK, "POST /messages", &text)?.0, 403);
    assert_eq!(ask(&server, MODERATE, "POST /messages", &text)?, (200, json!({ "reached": 2 })));
    for console in [&mut ann, &mut bob] {
        let said = console.wait_for("chat")?;
        assert_eq!((&said["from"], &said["text"]), (&json!("[server]"), &text["text"]));
    }
    let kick = format!("POST /players/{}/kick", bob_seen["id"]);
    assert_eq!(ask(&server, LOOK, &kick, &json!({}))?.0, 403);
    let (status, _) = ask(&server, MODERATE, &kick, &json!({ "reason": "language" }))?;
    assert_eq!(status, 200);
    let told = bob.wait_for("error")?;
    assert!(told.to_string().contains("an operator put you out: language"), "{told}");

    // A player who is muted reads why, and a room that is locked lets no player in.
    ann.run_command("create fen game=field npcs=1", "created")?;
    let mute = format!("/players/{}/mute", ann_seen["id"]);
    let why = json!({ "reason": "caps", "hours": 3 });
    assert_eq!(ask(&server, MODERATE, &format!("POST {mute}"), &why)?.0, 200);
    let told = ann.run_command("say hello", "error")?;
    assert!(told.to_string().contains("has muted you for 3 hours: caps"), "{told}");
    assert_eq!(ask(&server, MODERATE, &format!("DELETE {mute}"), &Json::Null)?.0, 200);
    ann.run_command("say hello", "chat")?;
    let (_, rooms) = ask(&server, LOOK, "GET /rooms", &Json::Null)?;
    let lock = format!("POST /rooms/{}/lock", rooms["rooms"][0]["id"]);
    assert_eq!(ask(&server, MODERATE, &lock, &Json::Null)?.0, 200);
    let mut eve = Console::start(&scratch, server.world, "eve", &["--account", "off"])?;
    let refused = eve.run_command("join fen", "error")?;
    assert_eq!(refused["code"], "room_locked", "{refused}");

    // An account that is banned is out, and comes in no more, until the ban ends.
    let account = ann_seen["account"].as_str().context("an account")?.to_owned();
    let ban = json!({ "account": account, "reason": "cheating", "hours": 1 });
    assert_eq!(ask(&server, MODERATE, "POST /bans", &ban)?.0, 200);
    let told = ann.wait_for("error")?;
    assert!(told.to_string().contains("cheating"), "{told}");
    let (_, bans) = ask(&server, LOOK, "GET /bans", &Json::Null)?;
    let known = &bans["bans"][0];
    assert_eq!((&known["reason"], &known["made_by"]), (&json!("cheating"), &json!("max")));
    assert!(known["made_at"].as_i64() > Some(1_700_000_000), "{bans}");
    let unban = format!("DELETE /bans/{account}");
    assert_eq!(ask(&server, MODERATE, &unban, &Json::Null)?.0, 200);
    assert_eq!(ask(&server, MODERATE, &unban, &Json::Null)?.0, 404);
    // Of a name that is banned twice one ban ends alone; names that look alike end together.
    let by_name = |name: &str| json!({ "name": name, "reason": "look-alikes" });
    assert_eq!(ask(&server, MODERATE, "POST /bans", &by_name("zoe"))?.0, 200);
    let muted = json!({ "name": "ZOE", "only": "chat" });
    let (_, muted) = ask(&server, MODERATE, "POST /bans", &muted)?;
    assert_eq!(muted, json!({ "targets": ["name:ZOE"], "reached": 0 }));
    let unban = "DELETE /bans/name:zoe";
    let ended = ask(&server, MODERATE, unban, &json!({ "only": "play" }))?;
    assert_eq!(ended, (200, json!({ "targets": ["name:zoe"] })));
    let ended = ask(&server, MODERATE, unban, &Json::Null)?;
    assert_eq!(ended, (200, json!({ "targets": ["name:ZOE"] })));
    assert_eq!(ask(&server, MODERATE, "POST /bans", &json!({ "name": "zoe", "hours": 0 }))?.0, 400);

    // A player who is banned does not come in from the same address, and reads why.
    let (_, seen) = ask(&server, LOOK, "GET /players", &Json::Null)?;
    let players = seen["players"].as_array().context("a list")?;
    let eve_seen = players.iter().find(|player| player["name"] == "eve").context("eve")?;
    let ban = format!("POST /players/{}/ban", eve_seen["id"]);
    let (status, banned) = ask(&server, MODERATE, &ban, &json!({ "reason": "insults" }))?;
    assert_eq!((status, &banned["targets"]), (200, &json!(["address:127.0.0.1"])), "{banned}");
    let (_, bans) = ask(&server, LOOK, "GET /bans", &Json::Null)?;
    let bans = bans["bans"].as_array().context("a list")?;
    assert!(bans.iter().any(|ban| ban["player"] == "eve"), "{bans:?}");
    assert_eq!(banned["reached"], players.len(), "all who come from there");
    let told = eve.wait_for("error")?;
    assert!(told.to_string().contains("insults"), "{told}");
    let mut again = Console::open(&scratch, server.world, "fay", &["--account", "off"])?;
    let told = again.wait_for("error")?;
    assert!(told.to_string().contains("may not play here: insults"), "{told}");
    let unban = "DELETE /bans/address:127.0.0.1";
    assert_eq!(ask(&server, MODERATE, unban, &Json::Null)?.0, 200);
    Console::start(&scratch, server.world, "fay", &["--account", "off"])?;
    let log = server.take_log();
    let of_max = log.iter().filter(|line| line.contains("max") && line.contains("operator"));
    assert!(of_max.count() >= 4, "{log:#?}");
    Ok(())
}

#[test]
fn an_operator_sees_a_map_from_above_and_why() -> Result<()> {
    let scratch = ScratchFolder::new("from-above");
    let server = start_with_keys(&scratch, &["--watch-guests"])?;
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    ann.run_command("create den game=field npcs=30 size=200x200", "created")?;
    // A map answers some questions a second.
    let asked = |path: &str| {
        real::wait_until(path, || {
            let (status, answer) = ask(&server, LOOK, &format!("GET {path}"), &Json::Null)?;
            Ok((status != 503).then_some((status, answer)))
        })
    };
    let (_, maps) = asked("/maps")?;
    let id = maps["maps"][0]["id"].as_u64().context("a map")?;
    let (status, problem) = asked(&format!("/maps/{id}/above"))?;
    assert_eq!(status, 404, "{problem}");
    assert!(problem["error"].to_string().contains("does not run"), "{problem}");
    ann.run_command("start", "started")?;
    ann.wait_for("enter")?;
    let (status, map) = asked(&format!("/maps/{id}"))?;
    assert_eq!((status, &map["size"]), (200, &json!([200.0, 200.0])), "{map}");
    let kinds = map["kinds"].as_array().context("kinds")?;
    let of_kind = |name: &str| kinds.iter().position(|kind| kind["name"] == name);
    let npc = of_kind("npc").context("the kind npc")?;

    let (_, players) = asked("/players")?;
    let player = players["players"][0]["id"].as_u64().context("ann")?;
    let above = format!("/maps/{id}/above?player={player}");
    // What is sent is known after a second.
    let seen = real::wait_until("a view with what is sent", || {
        let (status, seen) = asked(&above)?;
        assert_eq!(status, 200, "{seen}");
        let is_whole = !seen["view"].is_null() && !seen["bytes_by_kind"][0].is_null();
        Ok(is_whole.then_some(seen))
    })?;
    // Of a player who is not there, why.
    let _bob = Console::start(&scratch, server.world, "bob", &[])?;
    let (_, players) = asked("/players")?;
    let mut others = players["players"].as_array().context("players")?.iter();
    let bob = &others.find(|player| player["name"] == "bob").context("bob")?["id"];
    for (player, expected) in
        [(bob, "bob is in no room"), (&json!(999), "there is no player with the id 999")]
    {
        let (status, without) = asked(&format!("/maps/{id}/above?player={player}"))?;
        let why = (&without["view"], &without["no_view"]);
        assert_eq!((status, why), (200, (&Json::Null, &json!(expected))), "{player}");
    }

    let objects = seen["objects"].as_array().context("objects")?;
    let npcs: Vec<&Json> = objects.iter().filter(|object| object[1] == npc).collect();
    assert_eq!(npcs.len(), 30, "{seen}");
    assert_eq!(seen["clients"][0]["name"], "ann");
    let followed = seen["view"]["objects"].as_array().context("followed")?;
    let follows = |object: &Json| followed.iter().any(|has| has[0] == object[0]);

    let why = |object: &Json| asked(&format!("/maps/{id}/why?player={player}&object={object}"));
    let own = why(&seen["clients"][0]["avatar"])?.1;
    assert_eq!((&own["rule"], &own["shows"]), (&json!("own"), &json!(true)), "{own}");
    let far = npcs.iter().find(|npc| !follows(npc)).context("one that is far away")?;
    let far = why(&far[0])?.1;
    assert_eq!((&far["rule"], &far["at_client"]), (&json!("too_far"), &Json::Null), "{far}");
    assert_eq!(why(&json!(1))?.1["rule"], "no_object");
    for wrong in [
        "/why?player=1",
        "/why?player=1&object=x",
        "/above?who=1",
        "/above?player=-1",
        "/above?player=1&player=1",
    ] {
        let (status, problem) = asked(&format!("/maps/{id}{wrong}"))?;
        assert_eq!(status, 400, "{wrong}: {problem}");
    }
    assert_eq!(asked("/maps/999/above")?.0, 404);
    // What players hide from each other is not for guests.
    for path in ["", "/above", "/why?player=1&object=1"] {
        assert_eq!(server.get(&format!("/admin/v1/maps/{id}{path}"))?.0, 401, "{path}");
    }
    Ok(())
}

#[test]
fn requests_without_the_right_key_are_refused_and_slowed() -> Result<()> {
    let scratch = ScratchFolder::new("operator-keys");
    let server = start_with_keys(&scratch, &[])?;
    // The description lists each request that there is.
    let (_, description) = ask(&server, LOOK, "GET /openapi.json", &Json::Null)?;
    let paths = description["paths"].as_object().context("paths")?;
    for (path, methods) in paths {
        let path = path.replace("{player}", "77").replace("{room}", "77").replace("{host}", "77");
        let path = path.replace("{target}", &"7".repeat(32)).replace("{map}", "77");
        for method in methods.as_object().context("methods")?.keys() {
            let method = method.to_uppercase();
            let answer = server.request(&method, &path, "")?;
            assert_eq!(answer.status, 401, "{method} {path} without a key");
            let authorised = format!("Authorization: Bearer {OPERATE}\r\n");
            let body = if method == "POST" { "{\"none\": 1}" } else { "" };
            let answer = server.request_with(&method, &path, &authorised, body)?;
            let expected: &[u16] = match &method[..] {
                // There is no such map, and no player or object is given.
                "GET" if path.contains("/maps/") => &[404, 400],
                "GET" => &[200],
                "POST" => &[400],
                _ => &[404],
            };
            assert!(expected.contains(&answer.status), "{method} {path}: {}", answer.status);
        }
    }
    // Metrics and the state, too; a browser sends the key as a password. Health stays open.
    for path in ["/metrics", "/status", "/status.json"] {
        assert_eq!(server.request("GET", path, "")?.status, 401, "{path}");
        let basic = BASE64.encode(format!("lea:{LOOK}").as_bytes());
        for key in [format!("Bearer {LOOK}"), format!("Basic {basic}")] {
            let header = format!("Authorization: {key}\r\n");
            assert_eq!(server.request_with("GET", path, &header, "")?.status, 200, "{path}");
        }
    }
    assert_eq!(server.request("GET", "/healthz", "")?.status, 200);
    // What is no request of theirs is named, with what there is.
    for (request, status, expected) in [
        ("POST /players", 405, "`/admin/v1/players` takes GET, and not POST"),
        ("GET /players/7/kik", 404, "there is no `/admin/v1/players/7/kik`; below `/admin/v1`"),
        ("GET /playrs", 404, "`/admin/v1/openapi.json` lists all that there are"),
        ("GET /", 404, "there is no `/admin/v1/`"),
    ] {
        let (found, problem) = ask(&server, LOOK, request, &Json::Null)?;
        assert_eq!(found, status, "{request}: {problem}");
        assert!(problem["error"].to_string().contains(expected), "{request}: {problem}");
    }
    let answer = server.request("POST", "/admin/v1/players", "")?;
    assert_eq!(answer.header("allow"), Some("GET,HEAD"), "{}", answer.head);
    assert_eq!(server.request("GET", "/admin/v1", "")?.header("content-type"), Some(JSON));
    let wrong = |number: usize| {
        let header = format!("Authorization: bearer wrong-key-{number:08}\r\n");
        server.request_with("GET", "/admin/v1/rooms", &header, "")
    };
    let answers = (0..40).map(wrong).collect::<Result<Vec<_>>>()?;
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    assert!(statuses[..20].iter().all(|status| *status == 401), "{statuses:?}");
    assert!(statuses[20..].contains(&429), "{statuses:?}");
    for slowed in answers.iter().filter(|answer| answer.status == 429) {
        assert!(slowed.head.contains("retry-after: "), "{}", slowed.head);
    }
    Ok(())
}

/// Runs the subcommand `admin`.
fn admin(scratch: &ScratchFolder, server: &Server, key: &str, words: &[&str]) -> Command {
    let mut command = Command::new(real::binary("world-server"));
    scratch.confine(&mut command);
    command.args(["admin", "--server", &server.http.to_string()]).args(words);
    command.env("AMBIT_ADMIN_KEY", key).stdin(Stdio::null());
    command
}

/// Asks with a key that no operator has. Returns the status.
fn guess_key(http: SocketAddr, number: usize) -> Result<u16> {
    let headers = format!("Host: {http}\r\nAuthorization: Bearer wrong-key-{number:08}\r\n");
    Ok(HttpAnswer::ask(http, "GET", "/admin/v1/players", &headers, "")?.status)
}

#[test]
fn an_attack_on_the_operators_port_gets_nothing_and_moves_no_player() -> Result<()> {
    const WRONG_KEYS: usize = 2_000;
    const AT_ONCE: usize = 8;
    let scratch = ScratchFolder::new("operator-attack");
    let server = start_with_keys(&scratch, &[])?;
    let mut crowd = BotCrowd::start(&scratch, server.world, "den", 8, &["--game", "field"])?;
    crowd.wait_until_measuring()?;

    // Connections whose requests never end.
    let slow = |head: &str| -> Result<TcpStream> {
        let mut stream = TcpStream::connect(server.http)?;
        write!(stream, "{head}")?;
        Ok(stream)
    };
    let long = "POST /admin/v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000\r\n";
    let _slow = (0..16).map(|_| slow(long)).collect::<Result<Vec<_>>>()?;
    let key = format!("{long}Authorization: Bearer {OPERATE}\r\n\r\n{{\"text\"");
    let _bodies = (0..16).map(|_| slow(&key)).collect::<Result<Vec<_>>>()?;

    let right = format!("Authorization: Bearer {OPERATE}\r\n");
    let host = format!("Host: {}\r\n", server.http);
    // Pages of other origins, also by a name of their own that leads here; they have no key.
    let text = r#"{"text": "hello"}"#;
    for (headers, expected) in [
        ("Origin: http://evil.example\r\nContent-Type: text/plain\r\n", 401),
        ("Cookie: key=operate\r\nSec-Fetch-Site: cross-site\r\n", 401),
    ] {
        let answer = server.request_with("POST", "/admin/v1/messages", headers, text)?;
        assert_eq!(answer.status, expected, "{headers}");
        assert!(answer.header("access-control-allow-origin").is_none(), "{}", answer.head);
    }
    let evil = format!("Host: evil.example\r\n{right}");
    assert_eq!(server.request_as("GET", "/admin/v1/players", &evil)?.status, 421);
    let preflight = "Origin: http://evil.example\r\nAccess-Control-Request-Method: POST\r\n";
    let answer = server.request_with("OPTIONS", "/admin/v1/messages", preflight, "")?;
    assert!(answer.header("access-control-allow-origin").is_none(), "{}", answer.head);
    assert_ne!(answer.status, 200);
    // Other ways to write a path lead to nothing.
    for path in [
        "/admin/v1/../v1/players",
        "//admin/v1/players",
        "/admin/v1/players/",
        "/ADMIN/V1/PLAYERS",
        "/admin%2Fv1%2Fplayers",
        "/healthz/../admin/v1/players",
        "/watch/../admin/v1/players",
        "/watch/..%2f..%2fstatus",
        "/admin/v1/players;/healthz",
        "/admin/v1/openapi.json%00",
    ] {
        let status = server.request("GET", path, "")?.status;
        assert!([400, 401, 404].contains(&status), "{path}: {status}");
    }
    let huge = format!("/admin/v1/events?after={}", "7".repeat(60_000));
    let answer = server.request_as("GET", &huge, &format!("{host}{right}"));
    // The server may close before it has read all of it.
    assert!(!answer.is_ok_and(|answer| answer.status < 400), "a huge query");
    let most = "x".repeat(4_000_000);
    let answer = server.request_with("POST", "/admin/v1/messages", &right, &most);
    assert!(!answer.is_ok_and(|answer| answer.status != 413), "a huge body");

    let statuses = thread::scope(|scope| {
        let http = server.http;
        let threads: Vec<_> = (0..AT_ONCE)
            .map(|first| {
                scope.spawn(move || {
                    let numbers = (first..WRONG_KEYS).step_by(AT_ONCE);
                    numbers.map(|number| guess_key(http, number)).collect::<Result<Vec<_>>>()
                })
            })
            .collect();
        let statuses = threads.into_iter().map(|thread| thread.join().expect("no panic"));
        statuses.collect::<Result<Vec<_>>>()
    })?
    .concat();
    let count = |wanted| statuses.iter().filter(|status| **status == wanted).count();
    assert_eq!(count(401) + count(429), WRONG_KEYS, "{statuses:?}");
    assert!(count(401) < 100, "most are not even looked at: {statuses:?}");

    assert_eq!(server.request("GET", "/healthz", "")?.status, 200);
    // No bot was put out, lost its line, or saw an error; nothing was said or closed.
    crowd.finish()?;
    Ok(())
}

#[test]
fn events_come_as_a_list_and_as_they_happen_and_admin_shows_them() -> Result<()> {
    let scratch = ScratchFolder::new("events");
    let server = start_with_keys(&scratch, &[])?;
    let mut ann = Console::start(&scratch, server.world, "ann", &["--account", "off"])?;
    ann.run_command("create den game=field npcs=1", "created")?;
    let events = admin(&scratch, &server, LOOK, &["events"]).output()?;
    let shown = String::from_utf8(events.stdout)?;
    for expected in ["player_came", "name=\"ann\"", "room_made", "room_joined"] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    let newest: u64 =
        shown.lines().last().context("an event")?.split(' ').next().context("a number")?.parse()?;
    let follow = ["--json", "events", "--follow", "--after", &newest.to_string()];
    let mut following = admin(&scratch, &server, LOOK, &follow).stdout(Stdio::piped()).spawn()?;
    let mut lines = BufReader::new(following.stdout.take().context("a pipe")?).lines();
    Console::start(&scratch, server.world, "bob", &["--account", "off"])?;
    let came: Json = serde_json::from_str(&lines.next().context("an event")??)?;
    assert_eq!((&came["event"], &came["name"]), (&json!("player_came"), &json!("bob")), "{came}");
    assert_eq!(came["number"], json!(newest + 1));
    following.kill()?;
    following.wait()?;

    let players = admin(&scratch, &server, LOOK, &["players"]).output()?;
    let table = String::from_utf8(players.stdout)?;
    assert!(table.starts_with("id  name") && table.contains("ann"), "{table}");
    let kick = admin(&scratch, &server, LOOK, &["kick", "1"]).output()?;
    let said = String::from_utf8(kick.stderr)?;
    assert_eq!(kick.status.code(), Some(1), "{said}");
    assert!(said.contains("needs the role `moderate`"), "{said}");
    let kick =
        admin(&scratch, &server, MODERATE, &["kick", "1", "--reason", "language"]).output()?;
    assert_eq!(String::from_utf8(kick.stdout)?, "reached: 1\n");
    assert!(ann.wait_for("error")?.to_string().contains("language"));
    let (_, told) = ask(&server, LOOK, "GET /events", &Json::Null)?;
    let of_max = told["events"].as_array().context("a list")?.iter();
    let mut of_max = of_max.filter(|event| event["by"] == "max");
    let kicked = of_max.next().context("what max did")?;
    assert_eq!(kicked["request"], "post /players/1/kick", "{kicked}");
    Ok(())
}
