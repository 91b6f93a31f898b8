//! Cost of a crowd, beside the cost of bare QUIC in the same minutes: a table in Markdown on
//! stdout, progress on stderr.
//!
//! For each number of clients four servers are measured one after the other, pinned to core 0, with
//! their clients pinned to core 1: two floors ([`floor`]: 400-byte datagrams at 20 Hz and 8-byte
//! inputs on plain quinn, and on one loop over `quinn-proto`; no game), and a world-server whose
//! room moves N avatars, by waypoints and steered. The ratios to the floors can be compared between
//! machines. At the end a
//! small room is compared with its own trace ([`accuracy`]), and a room in which nothing moves
//! shows the idle cost.
//!
//! `tests/bench crowd` builds everything and calls this; `docs/data/crowd*.tsv` hold the tables.
//! Asserts nothing. Loopback only; ends every process that it starts.

mod accuracy;
mod ambit_room;
mod floor;
mod pinned_process;
mod table;

use std::io::Write as _;
use std::time::Duration;

use ambit_tests::data_file;
use clap::{Parser, Subcommand, ValueEnum};

use crate::ambit_room::Motion;
use crate::floor::FloorKind;
use crate::table::Row;

/// Measures what a crowd costs, beside what bare QUIC costs in the same minutes.
#[derive(Debug, Parser)]
#[command(name = "crowd")]
struct Args {
    #[command(subcommand)]
    part: Option<Subprocess>,

    /// Numbers of clients; while the largest keeps its ticks, and its clients' core has time left,
    /// 500 more.
    #[arg(long, value_delimiter = ',', default_value = "100,250,500,1000,2000")]
    counts: Vec<u32>,

    /// Length of each measurement in seconds, which starts 2 s after all clients are in.
    #[arg(long, default_value_t = 12)]
    seconds: u32,

    /// How the avatars move.
    #[arg(long, value_enum, default_value_t = Walk::Both)]
    walk: Walk,

    /// 100 and 500 clients, 4 s each: a check that all works, not figures to quote.
    #[arg(long)]
    quick: bool,

    /// Only ships of `shooter`, 60 ticks a second, for each number of clients.
    #[arg(long)]
    ships: bool,

    /// Bots that decode everything; the others leave poses undecoded. By default all up to 250,
    /// then 50.
    #[arg(long, value_name = "N")]
    full: Option<u32>,

    /// Only the floors, for each number of clients and each of these sizes of datagrams.
    #[arg(long, value_delimiter = ',', value_name = "BYTES")]
    floors: Vec<usize>,

    /// Also write the tables to docs/data.
    #[arg(long)]
    write: bool,
}

/// While all runs of the largest number keep their ticks, and their clients' core has time left,
/// one more number is measured, with this many more clients.
const COUNT_STEP: u32 = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Walk {
    Waypoints,
    Steered,
    Both,
}

/// The benchmark's own child processes.
#[derive(Debug, Subcommand)]
enum Subprocess {
    /// The servers of the floors.
    #[command(name = "floor-server", hide = true)]
    Server(floor::ServerArgs),
    #[command(name = "floor-loop", hide = true)]
    Loop(floor::ServerArgs),
    #[command(name = "floor-plain", hide = true)]
    Plain(floor::ServerArgs),
    /// The clients of the floor.
    #[command(name = "floor-clients", hide = true)]
    Clients(floor::ClientsArgs),
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    match args.part {
        Some(Subprocess::Server(args)) => floor::run_server(&args),
        Some(Subprocess::Loop(args)) => floor::run_loop(&args),
        Some(Subprocess::Plain(args)) => floor::run_plain(&args),
        Some(Subprocess::Clients(args)) => floor::run_clients(&args),
        None => bench(&args),
    }
}

fn bench(args: &Args) -> anyhow::Result<()> {
    let (counts, seconds) =
        if args.quick { (vec![100, 500], 4) } else { (args.counts.clone(), args.seconds) };
    let window = Duration::from_secs(seconds.into());
    if !args.floors.is_empty() {
        return bench_floors(args, &counts, window);
    }
    let mut rows = Vec::new();
    let mut counts: std::collections::VecDeque<u32> = counts.into();
    while let Some(count) = counts.pop_front() {
        let measured = rows.len();
        let floors = [FloorKind::Quinn, FloorKind::Loop].map(|kind| {
            let what = format!("{kind}, {count} clients");
            let measure = || floor::measure(kind, count, floor::DOWN_BYTES, window);
            let floor = run_reported(&what, measure);
            let us = floor.as_ref().ok().map(|floor| floor.server.us_per_client_tick);
            rows.extend(floor.ok());
            us
        });
        let beside_floors = |run: Row| {
            let us = run.server.us_per_client_tick;
            Row { ratios: floors.map(|floor| floor.map(|floor| us / floor)), ..run }
        };
        if args.ships {
            let run = run_reported(&format!("ships, {count} clients"), || {
                ambit_room::measure_ships(count, window)
            });
            rows.extend(run.ok().map(beside_floors));
            continue;
        }
        for motion in motions(args.walk) {
            let full = args.full.unwrap_or(if count <= 250 { count } else { 50 });
            let run = run_reported(&format!("{motion}, {count} clients"), || {
                ambit_room::measure(count, motion, full, window)
            });
            rows.extend(run.ok().map(beside_floors));
        }
        let holds =
            rows[measured..].iter().filter(|row| row.work_ms.is_some()).all(Row::keeps_ticks);
        if counts.is_empty() && holds && !args.quick {
            counts.push_back(count + COUNT_STEP);
        }
    }
    if args.ships {
        std::io::stdout().write_all(table::table_of(&rows).as_bytes())?;
        return Ok(());
    }
    if !args.quick && args.walk != Walk::Waypoints {
        rows.extend(run_reported("600 in one spot", || ambit_room::measure_dense(window)).ok());
    }
    let idle = run_reported("nothing moves", || ambit_room::measure_idle(100, window));
    let exact = motions(args.walk).map(|motion| {
        (motion, run_reported(&format!("accuracy, {motion}"), || accuracy::measure(motion)))
    });
    let tables = [
        ("crowd", table::table_of(&rows)),
        ("crowd-bytes", table::bytes(&rows)),
        ("crowd-accuracy", table::accuracy(exact)),
        ("crowd-idle", table::idle(&idle)),
    ];
    let machine = table::machine();
    let command = format!("tests/bench crowd --seconds {seconds}");
    for (name, table) in &tables {
        writeln!(std::io::stdout(), "## {name}\n\n{table}")?;
        if args.write {
            data_file::write(name, &command, &machine, table);
        }
    }
    Ok(())
}

/// The floors alone: what a flow costs, by its kind and the size of its datagrams.
fn bench_floors(args: &Args, counts: &[u32], window: Duration) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    for &count in counts {
        for &bytes in &args.floors {
            let floors = [FloorKind::Quinn, FloorKind::Loop, FloorKind::Plain].map(|kind| {
                let what = format!("{kind}, {count} clients, {bytes} bytes");
                run_reported(&what, || floor::measure(kind, count, bytes, window)).ok()
            });
            rows.push((count, bytes, floors));
        }
    }
    let table = table::floors(&rows);
    writeln!(std::io::stdout(), "## crowd-floors\n\n{table}")?;
    if args.write {
        let sizes: Vec<String> = args.floors.iter().map(ToString::to_string).collect();
        let command = format!("tests/bench crowd --floors {}", sizes.join(","));
        data_file::write("crowd-floors", &command, &table::machine(), &table);
    }
    Ok(())
}

fn motions(walk: Walk) -> impl Iterator<Item = Motion> {
    let wanted = move |motion: &Motion| match walk {
        Walk::Both => true,
        Walk::Waypoints => *motion == Motion::Waypoints,
        Walk::Steered => *motion == Motion::Steered,
    };
    [Motion::Waypoints, Motion::Steered].into_iter().filter(wanted)
}

/// Runs one measurement and reports progress, and the error if it fails; the other rows are still
/// measured.
fn run_reported<T>(what: &str, run: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    eprintln!("{what} ...");
    let result = run();
    if let Err(error) = &result {
        eprintln!("{what}: {error:#}");
    }
    result
}
