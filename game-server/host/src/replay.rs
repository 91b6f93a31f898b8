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
//! The file has to be as it was written, from its beginning to its end. A server that was killed
//! leaves a recording without an end: `--unfinished` replays what is there.
//!
//! With `--watch`, it then serves pages that show what each client was sent
//! ([`crate::client_views`]), and the room from above ([`crate::recorded_frames`]).
//!
//! Exit status: 0 after a replay, 1 if the file cannot be replayed or the replay departs from what
//! was played, 2 for invalid arguments.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use ambit_proto::time::GameTime;
use ambit_room::digest::Seconds;
use ambit_room::logic::registry::{Header, Registry};
use ambit_room::recording::{self, Recording, ReplayStep, Replayed};
use ambit_room::room::RoomOutput;
use ambit_room::stats::RoomStats;

use crate::client_views::RecordedViews;
use crate::endpoint;
use crate::recorded_frames::RecordedFrames;

const HELP: &str = "\
Runs the recording of a room again, bit by bit, and prints what the room did.

Usage: replay [--unfinished] [--watch [--listen ADDR]] FILE.rec [SECONDS]

  FILE.rec      a file that `world-server --record DIR` or `game-server --record DIR` has written
  SECONDS       how long the room then runs without its players, as at its next host; 0 by default
  --unfinished  replays a file without an end as far as it goes: of a server that was killed
  --watch       then serves a page that shows what each client was sent, and one with the room from
                above, until a signal
  --listen      where, on this machine; 127.0.0.1:7790 by default, port 0 for a free one

The games are those of this program. A room that panicked panics again. A file that is not as it was
written is refused.";

/// The first argument that asks for this.
pub const SUBCOMMAND: &str = "replay";

/// The flag for recordings without an end.
const UNFINISHED: &str = "--unfinished";

/// What the arguments ask for.
#[derive(Debug, PartialEq, Eq)]
enum Request {
    Help,
    Replay(Replay),
}

/// See [`HELP`].
#[derive(Debug, Default, PartialEq, Eq)]
struct Replay {
    path: PathBuf,
    and_then: Duration,
    takes_unfinished: bool,
    /// Where the page is served.
    watch: Option<SocketAddr>,
}

/// Where the page is served by default.
const WATCH_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7790);

/// A recorded room, to be looked at.
#[derive(Debug)]
pub struct ShownRecording {
    /// What its clients were sent.
    pub views: RecordedViews,
    /// The room from above.
    pub frames: RecordedFrames,
}

/// Serves pages that show a recorded room to those who connect here, until a signal.
pub type ShowRecording<'a> = &'a dyn Fn(ShownRecording, TcpListener) -> anyhow::Result<()>;

/// Runs a recording of one of these games again; the arguments are those after `replay`. Without
/// `show` there is no page.
pub fn run(
    registry: &Registry,
    arguments: impl IntoIterator<Item = OsString>,
    show: Option<ShowRecording<'_>>,
) -> ExitCode {
    match parse(arguments.into_iter().map(PathBuf::from)) {
        Ok(Request::Help) => {
            let _ = writeln!(io::stdout(), "{HELP}");
            ExitCode::SUCCESS
        }
        Ok(Request::Replay(request)) => match replay(registry, &request, show) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                let _ = writeln!(io::stderr(), "replay: {}: {error}", request.path.display());
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
    let mut arguments = arguments;
    let mut request = Replay::default();
    let mut listen = None;
    let mut words = Vec::new();
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("-h" | "--help") => return Ok(Request::Help),
            Some(UNFINISHED) => request.takes_unfinished = true,
            Some("--watch") => request.watch = Some(WATCH_ADDRESS),
            Some("--listen") => {
                let address = arguments.next().unwrap_or_default();
                listen = Some(parse_listen(&address.to_string_lossy())?);
            }
            Some(flag) if flag.starts_with('-') => return Err(format!("there is no flag {flag}")),
            _ => words.push(argument),
        }
    }
    if listen.is_some() && request.watch.is_none() {
        return Err("`--listen` is for `--watch` only".to_owned());
    }
    request.watch = listen.or(request.watch);
    match words.as_slice() {
        [] => return Err("no file was given".to_owned()),
        [path] => request.path.clone_from(path),
        [path, seconds] => {
            request.path.clone_from(path);
            let text = seconds.to_string_lossy();
            let seconds = text.parse().map_err(|_| {
                format!("{text} is not a number of seconds; expected a whole number, like 10")
            })?;
            request.and_then = Duration::from_secs(seconds);
        }
        [..] => return Err("too many arguments were given".to_owned()),
    }
    Ok(Request::Replay(request))
}

fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    match text.parse::<SocketAddr>() {
        Ok(address) if address.ip().is_loopback() => Ok(address),
        _ => Err(format!(
            "`--listen {text}`: expected an address of this machine alone, such as \
             {WATCH_ADDRESS}; from elsewhere, `ssh -L` leads there"
        )),
    }
}

fn replay(
    registry: &Registry,
    &Replay { ref path, and_then, takes_unfinished, watch }: &Replay,
    show: Option<ShowRecording<'_>>,
) -> Result<(), Box<dyn std::error::Error>> {
    let watch = watch.map(|listen| (listen, show));
    let watch = match watch {
        // A replay may take minutes: a port that is taken is told before.
        Some((listen, Some(show))) => {
            let why = |error: io::Error| endpoint::why_not(listen, &error);
            let listener = TcpListener::bind(listen);
            let listener = listener.map_err(|error| format!("`--listen`: {}", why(error)))?;
            Some((listener, show))
        }
        Some((_, None)) => {
            return Err("this program has no page: `--watch` is for `world-server replay`".into());
        }
        None => None,
    };
    let bytes = std::fs::read(path)?;
    let recording = read(&bytes, takes_unfinished)?;
    print(&format!("{}\n", header_text(&recording.header)))?;
    if let Some(lack) = &recording.lack {
        print(&format!("unfinished       {lack}\n"))?;
    }
    let mut shown = watch.as_ref().map(|_| ShownRecording {
        views: RecordedViews::new(recording.header.clone()),
        frames: RecordedFrames::default(),
    });
    let mut hash = DefaultHasher::new();
    let mut last = GameTime::ZERO;
    let result = recording::replay(recording, registry, |step| {
        if let Some(shown) = &mut shown {
            shown.views.note(&step);
        }
        let (at, outputs) = match step {
            ReplayStep::Begins { .. } => return,
            ReplayStep::Ends { at, outputs } => (at, outputs),
            ReplayStep::Rests { at, room } => {
                if let Some(shown) = &mut shown {
                    shown.frames.note(at, room);
                }
                return;
            }
        };
        last = at;
        for output in outputs {
            if let RoomOutput::Datagram { client, bytes } = output {
                (client, bytes).hash(&mut hash);
            }
        }
    });
    print(&format!("ran until        {} of room time\n", Seconds(last)))?;
    print(&format!("datagrams' hash  {:016x}\n", hash.finish()))?;
    let Replayed { mut room, comparison } = result?;
    if comparison.departure.is_none() {
        print(&format!("{}\n", comparison_text(comparison.compared)))?;
    }
    if !and_then.is_zero() {
        recording::run_without_players(&mut room, and_then);
        let last = room.last_tick().unwrap_or_default();
        print(&format!("went on until    {} without players\n", Seconds(last)))?;
    }
    print(&stats_text(room.stats()))?;
    if let Some(departure) = comparison.departure {
        return Err(departure.to_string().into());
    }
    match (watch, shown) {
        (Some((listener, show)), Some(shown)) => {
            if let Some(full_at) = shown.views.full_at() {
                print(&format!(
                    "watch until      {} of room time: what came later is too much to keep\n",
                    Seconds(full_at)
                ))?;
            }
            Ok(show(shown, listener)?)
        }
        _ => Ok(()),
    }
}

fn read(bytes: &[u8], takes_unfinished: bool) -> Result<Recording<'_>, String> {
    let recording = Recording::read_unfinished(bytes).map_err(|error| error.to_string())?;
    match &recording.lack {
        Some(lack) if !takes_unfinished => {
            Err(format!("{lack}; `{UNFINISHED}` replays what is there"))
        }
        _ => Ok(recording),
    }
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
    use ambit_room::recording::Recorder;

    use super::*;

    #[test]
    fn arguments_are_a_file_and_seconds_or_a_request_for_help() {
        let parse = |words: &[&str]| parse(words.iter().map(PathBuf::from));
        let replay = |seconds| Replay {
            path: "room-1.rec".into(),
            and_then: Duration::from_secs(seconds),
            ..Replay::default()
        };
        let unfinished = Replay { takes_unfinished: true, ..replay(9) };
        assert_eq!(parse(&["room-1.rec"]), Ok(Request::Replay(replay(0))));
        assert_eq!(parse(&["room-1.rec", "10"]), Ok(Request::Replay(replay(10))));
        assert_eq!(parse(&["room-1.rec", "--unfinished", "9"]), Ok(Request::Replay(unfinished)));
        assert_eq!(parse(&["--help"]), Ok(Request::Help));
        assert_eq!(parse(&["room-1.rec", "-h"]), Ok(Request::Help));
        let watched = |words: &[&str]| match parse(words) {
            Ok(Request::Replay(Replay { watch, .. })) => watch.map(|listen| listen.to_string()),
            other => panic!("{other:?}"),
        };
        assert_eq!(watched(&["room-1.rec"]), None);
        assert_eq!(watched(&["room-1.rec", "--watch"]).as_deref(), Some("127.0.0.1:7790"));
        let named = ["--watch", "--listen", "[::1]:9", "room-1.rec"];
        assert_eq!(watched(&named).as_deref(), Some("[::1]:9"));
        for (words, problem) in [
            (&[][..], "no file"),
            (&["room-1.rec", "ten"], "ten is not a number"),
            (&["room-1.rec", "1", "2"], "too many"),
            (&["--seconds"], "no flag --seconds"),
            (&["room-1.rec", "--listen", "127.0.0.1:1"], "for `--watch` only"),
            (&["room-1.rec", "--watch", "--listen"], "`--listen `: expected an address"),
            (&["room-1.rec", "--watch", "--listen", "0.0.0.0:7"], "of this machine alone"),
        ] {
            let error = parse(words).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
    }

    #[test]
    fn a_port_that_is_taken_is_told_before_the_recording_is_read() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let watch = taken.local_addr().ok();
        let request = Replay { path: "not-there.rec".into(), watch, ..Replay::default() };
        let show = |_: ShownRecording, _: TcpListener| Ok(());
        let error = replay(&Registry::default(), &request, Some(&show)).unwrap_err().to_string();
        assert!(error.contains("is taken by another program"), "{error}");
        drop(taken);
        let error = replay(&Registry::default(), &request, Some(&show)).unwrap_err().to_string();
        assert!(error.contains("No such file"), "{error}");
    }

    #[test]
    fn a_recording_without_an_end_is_replayed_on_request_alone() {
        let mut bytes = Vec::new();
        let recorder = Recorder::begin(&Header::default(), None, &mut bytes);
        let refused = read(&bytes, false).unwrap_err();
        assert!(
            refused.starts_with("the recording has no end: its server was killed"),
            "{refused}"
        );
        assert!(refused.ends_with("; `--unfinished` replays what is there"), "{refused}");
        assert!(read(&bytes, true).unwrap().lack.is_some());
        recorder.end(&mut bytes);
        assert!(read(&bytes, false).unwrap().lack.is_none());
        // A changed one is refused in any case.
        // In the first entry, behind the preamble, a length and a checksum.
        bytes[33] ^= 1;
        let refused = read(&bytes, true).unwrap_err();
        assert!(refused.contains("was changed: its checksum does not fit"), "{refused}");
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
        assert_eq!(Seconds(GameTime::from_millis(1_050)).to_string(), "1.050 s");
    }
}
