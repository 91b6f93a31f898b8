//! Many emulated players in one process and one room, with a summary of the run.
//!
//! Exit status: 0 after a run, whatever its results; 1 if there was no run (no server, no room, no
//! dump file), or no bot was left in the game at the end; 2 for invalid flags and variables.

mod bot;
mod bot_group;
mod dump;
mod fault_detector;
mod profiles;
mod progress;
mod shown_positions;
mod summary;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use ambit_client_text::flags;
use ambit_steering::SharedMotion;
use ambit_transport::random::system_random;
use anyhow::Context;
use clap::builder::NonEmptyStringValueParser;
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser};

use crate::bot::BotSettings;
use crate::bot_group::{RunOutcome, RunPlan};
use crate::profiles::Profile;
use crate::progress::ProgressDisplay;

/// Number of threads: most of the work is quinn's, and the server needs CPU, too.
const THREADS: usize = 2;
/// Exit status for invalid flags and variables.
const USAGE_EXIT_STATUS: u8 = 2;
/// How long remaining tasks may take at the end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// Many emulated players in one process and one room, with a summary of the run.
///
/// The bots join the room if there is one of that name; else the first bot creates and starts it.
/// The measured time begins when all bots are in the game. Rates are per client, and bytes are UDP
/// payload.
#[derive(Debug, Parser)]
#[command(name = "bots", version)]
struct BotsOptions {
    #[command(flatten)]
    target: flags::ConnectionFlags,

    #[command(flatten)]
    drawing: flags::DrawingFlags,

    /// How many bots.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    #[arg(allow_negative_numbers = true)]
    count: u32,

    /// How long the measured time is, in seconds.
    #[arg(long, value_parser = seconds, allow_negative_numbers = true)]
    seconds: Duration,

    /// How long all bots are in the game before the measured time begins, in seconds; then a line
    /// `measuring` is printed.
    #[arg(long, value_name = "SECONDS", default_value_t = 0, allow_negative_numbers = true)]
    settle: u32,

    /// The room's name; the default is a new room.
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    room: Option<String>,

    /// The game of a room that is created. The default is the only game of the server; of several
    /// ones that of the profile, else `field`.
    #[arg(long, value_parser = NonEmptyStringValueParser::new())]
    game: Option<String>,

    /// What the bots do. The default is by the game: that of its name for `cubes`, `shooter` and
    /// `deus`, `crowd` for a game with a command to walk to a place, and else `monkey`.
    #[arg(long, value_enum)]
    profile: Option<Profile>,

    /// Seats of a room that is created; the default is enough for all bots.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[arg(allow_negative_numbers = true)]
    capacity: Option<u32>,

    /// A parameter of a room that is created; may be given several times.
    #[arg(long, value_name = "KEY=VALUE", value_parser = parameter)]
    param: Vec<(String, String)>,

    /// Seed of all random decisions of the bots.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Print one JSON object on the last line, not a summary for people.
    #[arg(long)]
    json: bool,

    /// Write every event of every client to this file, as console prints it, with the client's
    /// number.
    #[arg(long, value_name = "FILE")]
    dump: Option<PathBuf>,

    /// How many bots are full clients. The others do not decode poses, which is most of a client's
    /// work. The server does the same work for both. Updates and ages are those of full clients.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    full: Option<u32>,

    /// Write the positions that the first bots show, to compare them with the true ones: a line
    /// `client ms id x y` each. Only full clients write.
    #[arg(long, value_name = "FILE")]
    shown: Option<PathBuf>,
}

impl BotsOptions {
    /// Reads the command line (the first argument is the program's name) and the environment. The
    /// error may also be a request for help or the version.
    fn from_arguments<A: Into<OsString> + Clone>(
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<Self, clap::Error> {
        let matches = Self::command().try_get_matches_from(arguments)?;
        let options = Self::from_arg_matches(&matches)?;
        match options.contradiction() {
            Some(message) => Err(Self::command().error(ErrorKind::ArgumentConflict, message)),
            None => Ok(options),
        }
    }

    /// How flags contradict each other.
    fn contradiction(&self) -> Option<String> {
        let Self { count, game, .. } = self;
        if let Some(full) = self.full.filter(|full| full > count) {
            return Some(format!(
                "`--full {full}` are more full clients than the `--count {count}` bots; expected \
                 {count} at most"
            ));
        }
        if let Some(capacity) = self.capacity.filter(|capacity| capacity < count) {
            return Some(format!(
                "`--capacity {capacity}` leaves no seats for all of the `--count {count}` bots; \
                 expected {count} or more, or no --capacity"
            ));
        }
        // Without the flag, the server says which game it is.
        profiles::misfit(self.profile, game.as_deref())
    }
}

pub use self::profiles::GAMES;

/// The whole program, with its arguments (the first one is the program's name). `motions` is what
/// the bots share with games.
pub fn run(arguments: impl IntoIterator<Item = OsString>, motions: Vec<SharedMotion>) -> ExitCode {
    let args = BotsOptions::from_arguments(arguments).unwrap_or_else(|error| error.exit());
    if let Err(error) = flags::start_log() {
        complain(&format!("error: {error}"));
        return ExitCode::from(USAGE_EXIT_STATUS);
    }
    match play(&args, motions) {
        Ok(exit) => exit,
        Err(error) => {
            complain(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn play(args: &BotsOptions, motions: Vec<SharedMotion>) -> anyhow::Result<ExitCode> {
    let (dump, writer) = match &args.dump {
        Some(path) => {
            let (dump, writer) =
                dump::start(path).with_context(|| format!("can't write {}", path.display()))?;
            (Some(dump), Some(writer))
        }
        None => (None, None),
    };
    let (shown, shown_writer) = match &args.shown {
        Some(path) => {
            let (shown, writer) = shown_positions::start(path)
                .with_context(|| format!("can't write {}", path.display()))?;
            (Some(shown), Some(writer))
        }
        None => (None, None),
    };
    let settings = BotSettings {
        server: args.target.server.clone(),
        trust: flags::trust()?,
        impairment: args.target.impair,
        inputs: args.target.input_hz,
        coding: args.target.coding,
        seed: args.seed,
        drawing: args.drawing,
        motions,
        dump,
        profile: args.profile,
        full_clients: args.full.map_or(usize::MAX, |full| full as usize),
        shown,
    };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build()?;
    let outcome = runtime.block_on(bot_group::run(plan(args), settings, ProgressDisplay::new()));
    // Also ends remaining bots, which drops all senders of dump lines.
    runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
    for writer in [writer, shown_writer].into_iter().flatten() {
        writer.finish().context("can't write to the disk")?;
    }
    Ok(print_outcome(args, &outcome))
}

/// Standard error may be closed or full: there is no other place to say it.
fn complain(problem: &str) {
    let _ = writeln!(io::stderr(), "{problem}");
}

fn plan(args: &BotsOptions) -> RunPlan {
    let key = system_random().expect("the system has random numbers");
    RunPlan {
        count: args.count as usize,
        time: args.seconds,
        settle: Duration::from_secs(args.settle.into()),
        room: args.room.clone().unwrap_or_else(|| format!("bots-{}", std::process::id())),
        game: args.game.clone(),
        capacity: args.capacity,
        parameters: args.param.iter().cloned().collect(),
        key,
    }
}

fn print_outcome(args: &BotsOptions, outcome: &RunOutcome) -> ExitCode {
    if let Some(failure) = &outcome.failure {
        complain(&format!("error: {}", failure.message));
    }
    let summary = if args.json {
        outcome.summary.fault_lines().for_each(|fault| complain(&fault));
        Some(outcome.summary.json().to_string())
    } else {
        outcome.failure.is_none().then(|| outcome.summary.text())
    };
    if let Some(summary) = summary
        && let Err(error) = writeln!(io::stdout(), "{summary}")
    {
        complain(&format!("error: standard output does not take the result: {error}"));
        return ExitCode::FAILURE;
    }
    match &outcome.failure {
        None => ExitCode::SUCCESS,
        Some(failure) if failure.is_usage => ExitCode::from(USAGE_EXIT_STATUS),
        Some(_) => ExitCode::FAILURE,
    }
}

/// Parses seconds, from a tenth of a second to a day.
fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.1..=86_400.0).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("expected seconds, 0.1 to 86400, like 30 or 0.5".to_owned()),
    }
}

fn parameter(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("expected key=value, like npcs=20".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn the_flags_are_consistent() {
        BotsOptions::command().debug_assert();
    }

    #[test]
    fn shown_positions_go_with_any_profile() {
        for profile in Profile::value_variants() {
            let profile = profile.to_possible_value().expect("none is hidden");
            check(&["--shown=file", &format!("--profile={}", profile.get_name())], "");
        }
        check(&["--shown=file", "--game=field"], "");
        check(&["--shown=file", "--game=cubes"], "");
    }

    #[test]
    fn more_full_clients_than_bots_are_refused() {
        check(&["--full=5"], "`--full 5`");
        check(&["--full=2"], "");
        check(&["--full=0"], "");
        check(&["--full", "-1"], "--full");
    }

    #[test]
    fn a_room_with_too_few_seats_for_the_bots_is_refused() {
        check(&["--capacity=1"], "`--count 2`");
        check(&["--capacity=0"], "--capacity");
        check(&["--capacity=2"], "");
    }

    #[test]
    fn a_profile_of_one_game_is_refused_for_another() {
        check(&["--profile=shooter", "--game=duel"], "--game shooter, or --profile monkey");
        check(&["--profile=cubes", "--game=field"], "--game cubes");
        check(&["--profile=cubes", "--game=field", "--room=den"], "--game cubes");
        check(&["--profile=cubes", "--room=den"], "");
        check(&["--profile=cubes", "--game=cubes"], "");
        check(&["--profile=monkey", "--game=a-game-of-mine"], "");
        check(&["--profile=cubes"], "");
    }

    #[test]
    fn empty_names_are_refused() {
        check(&["--room="], "--room");
        check(&["--game="], "--game");
    }

    /// Whether two bots may have these flags; the error contains `expected`.
    fn check(flags: &[&str], expected: &str) {
        let flags = [&["bots", "--count=2", "--seconds=1"], flags].concat();
        match BotsOptions::from_arguments(&flags) {
            Ok(_) => assert_eq!(expected, "", "{flags:?}"),
            Err(error) => {
                assert_eq!(error.exit_code(), 2);
                let error = error.to_string();
                assert!(!expected.is_empty() && error.contains(expected), "{error}");
            }
        }
    }

    #[test]
    fn seconds_may_be_fractions() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(seconds("86400"), Ok(Duration::from_hours(24)));
        for bad in ["", "0", "0.01", "-1", "nan", "inf", "86401", "30s"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_parameter_has_a_key_and_a_value() {
        assert_eq!(parameter("npcs=20"), Ok(("npcs".to_owned(), "20".to_owned())));
        assert_eq!(parameter("size=1=2"), Ok(("size".to_owned(), "1=2".to_owned())));
        for bad in ["npcs", "=20", ""] {
            assert!(parameter(bad).is_err(), "{bad}");
        }
    }
}
