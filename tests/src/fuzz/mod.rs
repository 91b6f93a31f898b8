//! Fuzz targets: one function for each decoder that reads from the network or a file.
//!
//! Input: bytes. A target must not panic, hang or use unbounded memory. The functions have two
//! callers: `tests/fuzz` (cargo fuzz, nightly) searches for new inputs, and a test replays the
//! committed ones ([`corpus`]) on stable with all other tests.
//!
//! State machines read [`Choices`]: the bytes select the next step, so that a short input is a
//! sequence of steps. What a decoder accepts is written and read again where possible, and
//! must give the same value.
//!
//! Each target names its goals: what it is for, such as a room that starts. A run returns those
//! that it has reached. A test checks that the first inputs reach all of them, since a target whose
//! inputs are all refused early finds nothing.
//!
//! **To add a target**: a function here, a line in [`TARGETS`], a file in `tests/fuzz/fuzz_targets`
//! and a `[[bin]]` in `tests/fuzz/Cargo.toml`; then run `tests/fuzz/run seeds`. A test checks that
//! the four agree.

mod choices;
mod client;
pub mod corpus;
mod dance;
mod datagrams;
mod endpoint;
mod kept;
mod link;
mod lobby;
mod poses;
mod room;
mod saved;
mod streams;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use ambit_proto::schema::Schema;
use ambit_room::recording::Header;

pub use self::choices::Choices;
pub use self::client::client;
pub use self::datagrams::{body, command, formats, notice, static_map, uplink};
pub use self::endpoint::endpoint;
pub use self::kept::kept_log;
pub use self::link::link;
pub use self::lobby::lobby;
pub use self::poses::poses;
pub use self::room::room;
pub use self::saved::{directory, saved_room};
pub use self::streams::{frames, recording, schema, ticket};
pub use self::text::{agones, config, console, impair, known_hosts, token};

/// The goals that an input has reached.
pub type Reached = BTreeSet<&'static str>;

/// One decoder, or a state machine around several.
#[derive(Clone, Copy)]
pub struct Target {
    /// Name of the cargo-fuzz target and of its corpus.
    pub name: &'static str,
    pub run: fn(&[u8]) -> Reached,
    /// What the first inputs must reach.
    pub goals: &'static [&'static str],
    /// First inputs: valid ones that reach much code.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

pub const TARGETS: [Target; 25] = [
    Target {
        name: "link",
        run: link,
        goals: &["a message", "a block", "an acknowledgement", "a loss", "a refused datagram"],
        seeds: link::seeds,
    },
    Target { name: "formats", run: formats, goals: &["accepted"], seeds: datagrams::format_seeds },
    Target { name: "body", run: body, goals: &["accepted"], seeds: datagrams::body_seeds },
    Target { name: "uplink", run: uplink, goals: &["accepted"], seeds: datagrams::uplink_seeds },
    Target { name: "command", run: command, goals: &["accepted"], seeds: datagrams::command_seeds },
    Target { name: "notice", run: notice, goals: &["accepted"], seeds: datagrams::notice_seeds },
    Target { name: "poses", run: poses, goals: &["a pose"], seeds: poses::seeds },
    Target {
        name: "static_map",
        run: static_map,
        goals: &["accepted"],
        seeds: datagrams::map_seeds,
    },
    Target {
        name: "client",
        run: client,
        goals: &[
            "an object enters",
            "an object leaves",
            "an event",
            "an own input",
            "the game ends",
        ],
        seeds: client::seeds,
    },
    Target {
        name: "room",
        run: room,
        goals: &[
            "a command is executed",
            "a command is refused",
            "a malformed command",
            "an object enters",
            "an object leaves",
            "a pose",
        ],
        seeds: room::seeds,
    },
    Target {
        name: "lobby",
        run: lobby,
        goals: &[
            "a room starts",
            "a ticket",
            "a chat line",
            "a refusal",
            "a room ends",
            "the host is lost",
        ],
        seeds: lobby::seeds,
    },
    Target {
        name: "frames",
        run: frames,
        goals: &[
            "ClientToWorld",
            "WorldToClient",
            "ClientToGame",
            "GameToClient",
            "WorldToHost",
            "HostToWorld",
            "Follow",
            "Lead",
            "Relay",
        ],
        seeds: streams::frame_seeds,
    },
    Target { name: "schema", run: schema, goals: &["accepted"], seeds: streams::schema_seeds },
    Target {
        name: "ticket",
        run: ticket,
        goals: &["accepted", "a changed ticket is refused", "a revoked ticket"],
        seeds: streams::ticket_seeds,
    },
    Target {
        name: "recording",
        run: recording,
        goals: &["a tick with inputs", "a tick without inputs", "an end"],
        seeds: streams::recording_seeds,
    },
    Target {
        name: "saved_room",
        run: saved_room,
        goals: &["a room", "an object"],
        seeds: saved::room_seeds,
    },
    Target {
        name: "directory",
        run: directory,
        goals: &["a player", "a room", "a running room", "an invalid record"],
        seeds: saved::directory_seeds,
    },
    Target {
        name: "kept_log",
        run: kept_log,
        goals: &["a record", "a room", "a tick", "damage", "a torn end", "a whole segment"],
        seeds: kept::seeds,
    },
    Target { name: "impair", run: impair, goals: &["accepted"], seeds: text::impair_seeds },
    Target {
        name: "console",
        run: console,
        goals: &["a command of the console", "a command of the game"],
        seeds: text::console_seeds,
    },
    Target {
        name: "config",
        run: config,
        goals: &["room parameters", "a file"],
        seeds: text::config_seeds,
    },
    Target {
        name: "known_hosts",
        run: known_hosts,
        goals: &["a known server", "a new server", "a refused server"],
        seeds: text::known_hosts_seeds,
    },
    Target {
        name: "agones",
        run: agones,
        goals: &["an address", "a health period", "no health calls"],
        seeds: text::agones_seeds,
    },
    Target {
        name: "endpoint",
        run: endpoint,
        goals: &["a connection", "a datagram", "a stream", "an end"],
        seeds: endpoint::seeds,
    },
    Target { name: "token", run: token, goals: &["a token"], seeds: text::token_seeds },
];

/// Runs one input through the target of that name, as the files in `tests/fuzz/fuzz_targets` do.
///
/// # Panics
/// If there is no such target, or if the input makes it fail.
pub fn run(name: &str, data: &[u8]) -> Reached {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target of that name");
    (target.run)(data)
}

/// The schemas of the targets: one with all codecs, one with poses, and the shipped game's.
fn schemas() -> &'static [Schema] {
    static SCHEMAS: LazyLock<Vec<Schema>> = LazyLock::new(|| {
        let (_, field) =
            ambit_game_server::standard().prepare(&header("field", &[])).expect("the shipped game");
        vec![Schema::example_with_poses(), field.schema()]
    });
    &SCHEMAS
}

/// The schema of the game that clients simulate.
fn cubes_schema() -> &'static Schema {
    static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
        let (_, cubes) =
            ambit_game_server::standard().prepare(&header("cubes", &[])).expect("a shipped game");
        cubes.schema()
    });
    &SCHEMA
}

/// The header of a room of a shipped game.
fn header(game: &str, parameters: &[(&str, &str)]) -> Header {
    let parameters: BTreeMap<_, _> =
        parameters.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    Header { game: game.into(), room: 7, seed: 1, capacity: 8, grace_ms: 1_000, parameters }
}
