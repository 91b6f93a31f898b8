//! Fuzz targets: one function for each decoder that reads from the network or a file.
//!
//! Input: bytes. A target must not panic, hang or use unbounded memory. The functions have two
//! callers: `tests/fuzz` (cargo fuzz, nightly) searches for new inputs, and a test replays the
//! committed ones (`tests/fuzz/corpus/TARGET/`) on stable with all other tests.
//!
//! State machines read [`Choices`]: the bytes select the next step, so that a short input is a
//! sequence of steps. What a decoder accepts is written and read again where possible, and
//! must give the same value.
//!
//! **To add a target**: a function here, a line in [`TARGETS`], a file in `tests/fuzz/fuzz_targets`
//! and a `[[bin]]` in `tests/fuzz/Cargo.toml`; then run `tests/fuzz/run seeds`. A test checks that
//! the four agree.

mod choices;
mod client;
mod dance;
mod datagrams;
mod link;
mod lobby;
mod poses;
mod room;
mod streams;
mod text;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use ambit_proto::schema::Schema;
use ambit_room::recording::Header;

pub use self::choices::Choices;
pub use self::client::client;
pub use self::datagrams::{body, command, formats, notice, static_map, uplink};
pub use self::link::link;
pub use self::lobby::lobby;
pub use self::poses::poses;
pub use self::room::room;
pub use self::streams::{frames, recording, schema, ticket};
pub use self::text::{config, console, impair, known_hosts, parameters};

/// One decoder, or a state machine around several.
#[derive(Clone, Copy)]
pub struct Target {
    /// Name of the cargo-fuzz target and of its corpus.
    pub name: &'static str,
    pub run: fn(&[u8]),
    /// First inputs: valid ones that reach much code.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

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
/// If there is no such target, or if the input makes it fail.
pub fn run(name: &str, data: &[u8]) {
    let target = TARGETS
        .iter()
        .find(|target| target.name == name)
        .expect("a target of that name");
    (target.run)(data);
}

/// The schemas of the targets: one with all codecs, one with poses, and the shipped game's.
fn schemas() -> &'static [Schema] {
    static SCHEMAS: LazyLock<Vec<Schema>> = LazyLock::new(|| {
        let (_, field) = ambit_game_server::standard()
            .prepare(&header("field", &[]))
            .expect("the shipped game");
        vec![Schema::example_with_poses(), field.schema()]
    });
    &SCHEMAS
}

/// The schema of the game that clients simulate.
fn cubes_schema() -> &'static Schema {
    static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
        let (_, cubes) = ambit_game_server::standard()
            .prepare(&header("cubes", &[]))
            .expect("a shipped game");
        cubes.schema()
    });
    &SCHEMA
}

/// The header of a room of a shipped game.
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
