//! The subcommand `replay`: runs a recording (`--record`) again, the same room, bit by bit, as fast
//! as it goes.
//!
//! `world-server replay DIR/room-1.rec` prints what the room was, how long it ran, a hash of all
//! that came out, and what it did. It compares the state with that of the room that was played,
//! after each tick, and names the first tick and the objects that differ. `game-server` does the
//! same, and so does each program of an author's own, with its games. A room that panicked panics
//! again, at the same tick, under a debugger if you like.
//!
//! With a number of seconds after the file name, the room then runs for that time without its
//! players, as at its next host. `DIR/room-1-condemned.rec`, the last state of a room that seems to
//! crash its hosts, ends before the tick that does: give it ten seconds.
//!
//! Exit status: 0 after a replay, 1 if the file cannot be replayed or the replay departs from what
//! was played, 2 for invalid arguments.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use ambit_proto::time::GameTime;
use ambit_room::logic::registry::{Header, Registry};
use ambit_room::recording::{self, Recording, Replayed};
use ambit_room::room::RoomOutput;
use ambit_room::stats::RoomStats;

const HELP: &str = "\
Runs the recording of a room again, bit by bit, and prints what the room did.

Usage: replay FILE.rec [SECONDS]

  FILE.rec   a file that `world-server --record DIR` or `game-server --record DIR` has written
  SECONDS    how long the room then runs without its players, as at its next host; 0 by default

The games are those of this program. A room that panicked panics again.";

/// The first argument that asks for this.
pub const SUBCOMMAND: &str = "replay";

/// What the arguments ask for.
#[derive(Debug, PartialEq, Eq)]
enum Request {
    Help,
    Replay { path: PathBuf, and_then: Duration },
}

/// Runs a recording of one of these games again; the arguments are those after `replay`.
pub fn run(registry: &Registry, arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    match parse(arguments.into_iter().map(PathBuf::from)) {
        Ok(Request::Help) => {
            let _ = writeln!(io::stdout(), "{HELP}");
            ExitCode::SUCCESS
        }
        Ok(Request::Replay { path, and_then }) => match replay(registry, &path, and_then) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                let _ = writeln!(io::stderr(), "replay: {}: {error}", path.display());
                ExitCode::FAILURE
            }
        },
        Err(problem) => {
            let _ = writeln!(io::stderr(), "replay: {problem}\n\n{HELP}");
            ExitCode::from(2)
        }
    }
}

fn parse(arguments: impl Iterator<Item = PathBuf>) -> Result<Request, String> {
    let arguments: Vec<PathBuf> = arguments.collect();
    let is_flag = |argument: &&PathBuf| argument.to_string_lossy().starts_with('-');
    match arguments.iter().find(is_flag).and_then(|flag| flag.to_str()) {
        Some("-h" | "--help") => return Ok(Request::Help),
        Some(flag) => return Err(format!("there is no flag {flag}")),
        None => {}
    }
    let (path, and_then) = match arguments.as_slice() {
        [] => return Err("no file was given".to_owned()),
        [path] => (path, Duration::ZERO),
        [path, seconds] => {
            let text = seconds.to_string_lossy();
            let seconds = text.parse().map_err(|_| {
                format!("{text} is not a number of seconds; expected a whole number, like 10")
            })?;
            (path, Duration::from_secs(seconds))
        }
        [..] => return Err("too many arguments were given".to_owned()),
    };
    let path = path.clone();
    Ok(Request::Replay { path, and_then })
}

fn replay(
    registry: &Registry,
    path: &Path,
    and_then: Duration,
) -> Result<(), Box<dyn std::error::Error>> {
    let bytes = std::fs::read(path)?;
    print(&format!("{}\n", header_text(&Recording::read(&bytes)?.header)))?;
    let mut hash = DefaultHasher::new();
    let mut last = GameTime::ZERO;
    let result = recording::replay(&bytes, registry, |now, outputs| {
        last = now;
        for output in outputs {
            if let RoomOutput::Datagram { client, bytes } = output {
                (client, bytes).hash(&mut hash);
            }
        }
    });
    print(&format!("ran until        {} of room time\n", seconds_text(last)))?;
    print(&format!("datagrams' hash  {:016x}\n", hash.finish()))?;
    let Replayed { mut room, comparison } = result?;
    if comparison.departure.is_none() {
        print(&format!("{}\n", comparison_text(comparison.compared)))?;
    }
    if !and_then.is_zero() {
        recording::run_without_players(&mut room, and_then);
        let last = room.last_tick().unwrap_or_default();
        print(&format!("went on until    {} without players\n", seconds_text(last)))?;
    }
    print(&stats_text(room.stats()))?;
    comparison.departure.map_or(Ok(()), |departure| Err(departure.to_string().into()))
}

/// Of a replay that is what was played, as far as that is known.
fn comparison_text(times: u64) -> String {
    match times {
        0 => "compared         never: the recording has no digests".to_owned(),
        times => format!("compared         after {times} ticks, the same as what was played"),
    }
}

fn print(text: &str) -> Result<(), String> {
    let written = io::stdout().write_all(text.as_bytes());
    written.map_err(|error| format!("standard output does not take the result: {error}"))
}

fn seconds_text(time: GameTime) -> String {
    format!("{}.{:03} s", time.millis() / 1_000, time.millis() % 1_000)
}

fn header_text(header: &Header) -> String {
    let Header { game, room, seed, capacity, grace_ms, parameters } = header;
    let mut text = format!(
        "room             {room}, game {game}, seed {seed}, {capacity} seats, {} s of grace",
        f64::from(*grace_ms) / 1_000.0
    );
    if !parameters.is_empty() {
        text.push_str("\nparameters      ");
        for (key, value) in parameters {
            let _ = write!(text, " {key}={value}");
        }
    }
    text
}

/// A line for each figure that an author of a game looks at.
fn stats_text(stats: &RoomStats) -> String {
    let bad_commands =
        stats.commands_malformed + stats.commands_outdated + stats.commands_over_rate;
    let lines = [
        ("ticks", stats.ticks.to_string()),
        (
            "at the end",
            format!(
                "{} objects, {} players, {} game connections",
                stats.objects, stats.players, stats.clients
            ),
        ),
        (
            "received",
            format!(
                "{} datagrams, {} bytes; {} malformed, {} old or repeated",
                stats.datagrams_in, stats.bytes_in, stats.malformed, stats.datagrams_stale
            ),
        ),
        ("sent", format!("{} datagrams, {} bytes", stats.datagrams_out, stats.bytes_out)),
        (
            "commands",
            format!(
                "{} executed, {} refused by the game, {bad_commands} malformed, outdated or too \
                 many",
                stats.commands, stats.commands_refused
            ),
        ),
        (
            "clients saw",
            format!(
                "{} enters, {} leaves, {} events ({} events and updates late)",
                stats.enters, stats.leaves, stats.events, stats.late_events
            ),
        ),
        (
            "poses",
            format!(
                "{} sent, {} extrapolated well enough, {} without room in the budget",
                stats.poses.sent, stats.poses.extrapolated, stats.poses.deferred
            ),
        ),
    ];
    lines.map(|(name, figures)| format!("{name:<16} {figures}\n")).concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_a_file_and_seconds_or_a_request_for_help() {
        let parse = |words: &[&str]| parse(words.iter().map(PathBuf::from));
        let replay = |seconds| {
            Ok(Request::Replay {
                path: "room-1.rec".into(),
                and_then: Duration::from_secs(seconds),
            })
        };
        assert_eq!(parse(&["room-1.rec"]), replay(0));
        assert_eq!(parse(&["room-1.rec", "10"]), replay(10));
        assert_eq!(parse(&["--help"]), Ok(Request::Help));
        assert_eq!(parse(&["room-1.rec", "-h"]), Ok(Request::Help));
        for (words, problem) in [
            (&[][..], "no file"),
            (&["room-1.rec", "ten"], "ten is not a number"),
            (&["room-1.rec", "1", "2"], "too many"),
            (&["--seconds"], "no flag --seconds"),
        ] {
            let error = parse(words).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
    }

    #[test]
    fn figures_are_lines_for_people() {
        let stats = RoomStats { ticks: 20, commands: 3, ..RoomStats::default() };
        let text = stats_text(&stats);
        assert!(text.contains("ticks            20\n"), "{text}");
        assert!(text.contains("commands         3 executed"), "{text}");
        let header = Header {
            game: "field".into(),
            room: 7,
            parameters: [("npcs".to_owned(), "5".to_owned())].into(),
            ..Header::default()
        };
        let text = header_text(&header);
        assert!(
            text.contains("room             7, game field") && text.contains(" npcs=5"),
            "{text}"
        );
        assert_eq!(seconds_text(GameTime::from_millis(1_050)), "1.050 s");
    }
}
