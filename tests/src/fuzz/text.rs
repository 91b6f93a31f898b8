//! Text from people and files: impairments, console commands, room parameters, the server's
//! configuration file, known hosts.
//!
//! These parsers never see invalid UTF-8, so invalid bytes become replacement characters.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use ambit_client_core::command_words;
use ambit_client_core::resume_token::TokenFile;
use ambit_client_core::trust::KnownHosts;
use ambit_client_text::command::{self, ConsoleCommand};
use ambit_host::agones::GameServerResource;
use ambit_proto::message::{FieldValue, GameCommand};
use ambit_proto::schema::Schema;
use ambit_transport::impair::Impairment;
use ambit_transport::quic::Fingerprint;
use ambit_world_server::config::Config;

use super::Reached;

/// `--impair`: what is printed parses to the same value.
pub fn impair(data: &[u8]) -> Reached {
    let Ok(impairment) = text(data).parse::<Impairment>() else {
        return Reached::new();
    };
    assert_eq!(impairment.to_string().parse(), Ok(impairment));
    Reached::from(["accepted"])
}

/// Lines of the console or of a script. A command of the game fits its schema.
pub fn console(data: &[u8]) -> Reached {
    let schema = Schema::example_with_poses();
    let mut reached = Reached::new();
    for line in text(data).lines() {
        match command::parse(line) {
            Ok(Some(ConsoleCommand::Game(line))) => {
                let words: Vec<&str> = line.split_whitespace().collect();
                if let Ok(GameCommand { kind, fields }) = command_words::parse(&schema, &words) {
                    let kind = schema.command(kind).expect("the kind exists");
                    assert!(FieldValue::all_fit(&fields, &kind.fields), "{line}");
                    reached.insert("a command of the game");
                }
            }
            Ok(Some(_)) => drop(reached.insert("a command of the console")),
            _ => {}
        }
    }
    reached
}

/// Room parameters as a player gives them, one `key=value` a line. What is accepted makes a game.
fn parameters(data: &[u8]) -> bool {
    let text = text(data);
    let given: BTreeMap<String, String> = text
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(key, value)| (key.into(), value.into()))
        .collect();
    !given.is_empty() && ambit_game_server::standard().check("field", &given).is_ok()
}

/// The server's TOML file, and room parameters.
pub fn config(data: &[u8]) -> Reached {
    let scratch = Scratch::new("config", data);
    let config = Config::from_arguments([
        PathBuf::from("world-server"),
        "--config".into(),
        scratch.0.clone(),
    ]);
    let goals =
        [("room parameters", parameters(data)), ("a file", !data.is_empty() && config.is_ok())];
    let reached = goals.into_iter().filter(|(_, is_reached)| *is_reached);
    reached.map(|(goal, _)| goal).collect()
}

/// The known-hosts file: a server that was added is known, with that fingerprint only.
pub fn known_hosts(data: &[u8]) -> Reached {
    let server = "example.org:7777";
    let shown = Fingerprint([5; 32]);
    let other = Fingerprint([6; 32]);
    let _ = text(data).parse::<Fingerprint>();
    let scratch = Scratch::new("known_hosts", data);
    let known = KnownHosts::from_path(&scratch.0);
    let before = known.find_certificate(server);
    if known.check(server, shown).is_ok() {
        assert_eq!(
            known.find_certificate(server).ok().flatten().map(|pin| pin.fingerprint),
            Some(shown)
        );
        known.check(server, other).expect_err("another certificate is refused");
        Reached::from([match before {
            Ok(Some(_)) => "a known server",
            _ => "a new server",
        }])
    } else {
        assert!(!matches!(before, Ok(None)), "a new server is refused");
        Reached::from(["a refused server"])
    }
}

/// What Agones' sidecar answers.
pub fn agones(data: &[u8]) -> Reached {
    let Ok(resource) = GameServerResource::parse(data) else {
        return Reached::new();
    };
    let health = match resource.health_period() {
        Some(_) => "a health period",
        None => "no health calls",
    };
    let address = resource.address().map(|_| "an address");
    address.into_iter().chain([health]).collect()
}

/// The file with a session's token. A stored token replaces whatever was there.
pub fn token(data: &[u8]) -> Reached {
    let scratch = Scratch::new("token", &[]);
    let folder = scratch.0.parent().expect("the file has a parent folder");
    std::fs::remove_file(&scratch.0).expect("the temporary file can be removed");
    let mut file = TokenFile::open(folder, "127.0.0.1:7777", "ann");
    let path =
        std::fs::read_dir(folder).expect("the temporary folder can be read").flatten().next();
    let path = path.expect("opening makes the file").path();
    std::fs::write(path, data).expect("the temporary file can be written");
    let found = file.token();
    assert!(found.len() <= TokenFile::MAX_BYTES, "{} bytes", found.len());
    file.store(&[1, 2, 3]);
    assert_eq!(file.token(), [1, 2, 3]);
    let is_found = !found.is_empty();
    is_found.then_some("a token").into_iter().collect()
}

fn text(data: &[u8]) -> String {
    String::from_utf8_lossy(data).into_owned()
}

/// A temporary file of its own, removed with its lock file when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, data: &[u8]) -> Self {
        // Tests of one process run side by side.
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let process = std::process::id();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("ambit-fuzz-{name}-{process}-{number}"));
        std::fs::create_dir_all(&folder).expect("the temporary folder can be created");
        let path = folder.join("file");
        std::fs::write(&path, data).expect("the temporary file can be written");
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.0.parent().expect("the file has a parent folder"));
    }
}

fn lines(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

pub(super) fn impair_seeds() -> Vec<Vec<u8>> {
    lines(&[
        "none",
        "loss=13,delay=50ms,jitter=20ms,duplicate=1,reorder=2,rate=256kbit,seed=7",
        "delay=1.5s,rate=3mbit",
        "loss=5,burst=200ms,tail=50ms,rate=256kbit,queue=100ms",
    ])
}

pub(super) fn console_seeds() -> Vec<Vec<u8>> {
    lines(&[
        "rooms\ncreate hall game=field size=100x80 npcs=3\njoin 7 secret\nstart\nready off\nleave",
        "nick Zoë\nsay @\"a name\" hush\nsay !all\nkick bob\nmove 1.5 -2\n\
         cast bolt 3 4\nkeys up,fire\nkeys none",
        "walk-to 1 2 3\nrest\ncast heal - #7\ncast bolt nan inf 9\nshout 9 good day",
        "wait 500ms\nwait-for enter 5s\nwatch on\nstats\nhelp\nquit # really",
    ])
}

pub(super) fn config_seeds() -> Vec<Vec<u8>> {
    lines(&[
        "listen = \"127.0.0.1:0\"\nhttp = \"off\"\nmax-rooms = 7\ngrace = \"5s\"\n",
        "size=100x80\nnpcs=3\nobstacles=0\ninner=1\nouter=2\ntick=20\nmargin=0.5\n",
    ])
}

pub(super) fn agones_seeds() -> Vec<Vec<u8>> {
    lines(&[
        concat!(
            r#"{"spec":{"health":{"period_seconds":7}},"#,
            r#""status":{"address":"192.0.2.1","ports":[{"name":"game","port":7001}]}}"#
        ),
        r#"{"spec":{"health":{"disabled":true,"periodSeconds":3}},"status":{"ports":[]}}"#,
    ])
}

pub(super) fn token_seeds() -> Vec<Vec<u8>> {
    lines(&["0102fe\n", "abc", &"07".repeat(300)])
}

pub(super) fn known_hosts_seeds() -> Vec<Vec<u8>> {
    let digits = "05".repeat(32);
    lines(&[
        &format!("example.org:7777 {}", "06".repeat(32)),
        &format!("# mine\n\nexample.org:7777 {digits}\n"),
        &format!("other.example.org:1 {digits}"),
        &digits,
    ])
}
