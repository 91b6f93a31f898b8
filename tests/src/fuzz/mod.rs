//! What fuzzing runs: a plain function for each decoder that meets the network or a file.
//!
//! Bytes go in; a panic, a hang or memory without bound is what must not come out. The functions
//! stand here so that they have two callers: `tests/fuzz` (cargo fuzz, on nightly) looks for new
//! inputs, and a test replays the committed ones (`tests/fuzz/corpus/TARGET/`) on stable with all
//! others.
//!
//! State machines are fed through [`Choices`]: the bytes say what happens next, so that a short
//! input is a whole story. What a decoder accepts is written and read again wherever that is
//! possible: the same value has to come out.
//!
//! **To add a target**: a function here, a line in [`TARGETS`], a file in `tests/fuzz/fuzz_targets`
//! and a `[[bin]]` in `tests/fuzz/PacketContents.toml`; then `tests/fuzz/run seeds`. A test holds
//! the four together.

mod choices;
mod client;
mod datagrams;
mod link;
mod lobby;
mod poses;
mod room;
mod streams;
mod text;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use ambit_game_server::logic::registry::Registry;
use ambit_game_server::record::Header;
use ambit_proto::schema::Schema;

pub use self::choices::Choices;
pub use self::client::client;
pub use self::datagrams::{body, command, formats, notice, static_map, uplink};
pub use self::link::link;
pub use self::lobby::lobby;
pub use self::poses::poses;
pub use self::room::room;
pub use self::streams::{frames, recording, schema, ticket};
pub use self::text::{config, console, impair, known_hosts, parameters};

/// One decoder, or a state machine around some.
#[derive(Clone, Copy)]
pub struct Target {
    /// Of the cargo-fuzz target, and of its corpus.
    pub name: &'static str,
    /// What it does with an input.
    pub run: fn(&[u8]),
    /// InputSender to begin with: valid ones, and such that reach far.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All of them.
pub const TARGETS: [Target; 19] = [
    Target {
        name: "link",
        run: link,
        seeds: link::seeds,
    },
    Target {
        name: "formats",
        run: formats,
        seeds: datagrams::format_seeds,
    },
    Target {
        name: "body",
        run: body,
        seeds: datagrams::body_seeds,
    },
    Target {
        name: "uplink",
        run: uplink,
        seeds: datagrams::uplink_seeds,
    },
    Target {
        name: "command",
        run: command,
        seeds: datagrams::command_seeds,
    },
    Target {
        name: "notice",
        run: notice,
        seeds: datagrams::notice_seeds,
    },
    Target {
        name: "poses",
        run: poses,
        seeds: poses::seeds,
    },
    Target {
        name: "static_map",
        run: static_map,
        seeds: datagrams::map_seeds,
    },
    Target {
        name: "client",
        run: client,
        seeds: client::seeds,
    },
    Target {
        name: "room",
        run: room,
        seeds: room::seeds,
    },
    Target {
        name: "lobby",
        run: lobby,
        seeds: lobby::seeds,
    },
    Target {
        name: "frames",
        run: frames,
        seeds: streams::frame_seeds,
    },
    Target {
        name: "schema",
        run: schema,
        seeds: streams::schema_seeds,
    },
    Target {
        name: "ticket",
        run: ticket,
        seeds: streams::ticket_seeds,
    },
    Target {
        name: "recording",
        run: recording,
        seeds: streams::recording_seeds,
    },
    Target {
        name: "impair",
        run: impair,
        seeds: text::impair_seeds,
    },
    Target {
        name: "console",
        run: console,
        seeds: text::console_seeds,
    },
    Target {
        name: "config",
        run: config,
        seeds: text::config_seeds,
    },
    Target {
        name: "known_hosts",
        run: known_hosts,
        seeds: text::known_hosts_seeds,
    },
];

/// Runs one input through the target of that name, as the files in `tests/fuzz/fuzz_targets` do.
///
/// # Panics
/// When there is no such target, and when something was found.
pub fn run(name: &str, data: &[u8]) {
    let target = TARGETS
        .iter()
        .find(|target| target.name == name)
        .expect("a target of that name");
    (target.run)(data);
}

/// The schemas of the targets: one of each codec, with poses, and the shipped game's.
fn schemas() -> &'static [Schema] {
    static SCHEMAS: LazyLock<Vec<Schema>> = LazyLock::new(|| {
        let (_, field) = Registry::standard()
            .prepare(&header("field", &[]))
            .expect("the shipped game");
        vec![Schema::example_with_poses(), field.schema()]
    });
    &SCHEMAS
}

/// The schema of the game that clients simulate.
fn cubes_schema() -> &'static Schema {
    static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
        let (_, cubes) = Registry::standard()
            .prepare(&header("cubes", &[]))
            .expect("a shipped game");
        cubes.schema()
    });
    &SCHEMA
}

/// A room of a shipped game.
fn header(game: &str, parameters: &[(&str, &str)]) -> Header {
    let parameters: BTreeMap<_, _> = parameters
        .iter()
        .map(|&(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    Header {
        game: game.into(),
        room: 7,
        seed: 1,
        capacity: 8,
        grace_ms: 1_000,
        parameters,
    }
}
