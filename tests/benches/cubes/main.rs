//! Compares how exactly and smoothly clients draw physics over impaired networks: Ambit, and the
//! schemes of "Synchronisation par le réseau d'un monde virtuel sur Unity". The measurements are in
//! `ambit_tests::physics_sync`.
//!
//! `cargo bench -p ambit-tests --bench cubes` prints the tables and writes `docs/cubes.md` with its
//! curves. Everything runs on simulated time, so the figures are the same on every machine; only
//! the durations of physics steps depend on the machine. `-- --quick` measures less and writes
//! nothing. After the tables, further scenes are printed ([`scenes`]). Names of scenes, or
//! `tables`, as arguments select parts.

mod chart;
mod rows;
mod scenes;

use std::fmt::Write as _;
use std::path::Path;

use clap::Parser;
use clap::builder::PossibleValuesParser;
use rows::{Row, Scheme};

const INTRODUCTION: &str = "# Cubes over impaired networks

Comparison of schemes that synchronise one scene of rigid bodies: the game `cubes` with 100 small
cubes and 4 players' cubes, on 32 x 32 m. Random drivers push, roll, gather cubes (katamari), repel
them, jump and rest. `cargo bench -p ambit-tests --bench cubes` makes this page and its pictures. It
runs on simulated time. Each scheme sends the same scene (in rooms of 20 ticks it begins up to two
frames later) to four clients, over networks with 50 ms of delay each way, with the loss of the
first column, with and without 30 ms of jitter.

- **e**: distance between what a client draws and the truth at the time that it claims to show, p50
  and p99, of objects in play (that move in truth within half a second, or are drawn more than a
  millimetre off).
- **J**: difference between the drawn and the true movement from one frame to the next, p99.9 of the
  same objects. Clients draw 60 frames a second.
- **wrong at rest**: the share of the objects at rest that is drawn more than 1 cm off, and the
  longest time for which one object was.
- **behind**: delay between an event and its drawing, p50.
- **kB/s**: to each client, IP, UDP and (for Ambit) QUIC included.
- A **visible problem** is e p99 or J p99.9 above 10 cm, or an object that stays wrong at rest for
  more than 2 s. It is marked.

*state sync* and *snapshots* are the schemes of \"Synchronisation par le réseau d'un monde virtuel
sur Unity\", from its text: 20 states of 54 bytes in each packet by an accumulator of priorities, a
jitter buffer of four packets, no smoothing, no acknowledgements, and clients that do not know which
keys other players hold; and snapshots of all objects ten times a second at 512 units a metre, shown
100 ms in the past. *simulated* and *interpolated* are Ambit's schemes with their defaults (budget
256 kbit/s, local lag 150 ms) and `--render adaptive`, which increases the render delay with loss.

";

/// Measures how exactly and smoothly clients draw physics over impaired networks. Without names,
/// runs everything and rewrites docs/cubes.md.
#[derive(Parser)]
#[command(name = "cargo bench -p ambit-tests --bench cubes --")]
struct Options {
    /// Runs only these parts: the tables of docs/cubes.md, or scenes.
    #[arg(value_parser = PossibleValuesParser::new(part_names()))]
    parts: Vec<String>,
    /// Measures less, and writes nothing.
    #[arg(long)]
    quick: bool,
    /// Only the rows of these losses, in per cent; writes nothing.
    #[arg(long, value_delimiter = ',', conflicts_with = "quick")]
    loss: Vec<f32>,
    /// Only networks with this jitter, in milliseconds; writes nothing.
    #[arg(long, value_name = "MS", conflicts_with = "quick")]
    jitter: Option<u64>,
    /// Passed by Cargo; ignored.
    #[arg(long, hide = true)]
    bench: bool,
}

fn part_names() -> impl Iterator<Item = &'static str> {
    ["tables"].into_iter().chain(scenes::ALL.map(|(name, _)| name))
}

fn main() {
    let options = Options::parse();
    let is_wanted =
        |name: &str| options.parts.is_empty() || options.parts.iter().any(|part| part == name);
    if is_wanted("tables") {
        tables(&options);
    }
    for (_, print) in scenes::ALL.into_iter().filter(|(name, _)| is_wanted(name)) {
        print(options.quick);
    }
}

fn tables(options: &Options) {
    let quick = options.quick;
    let jitters = match options.jitter {
        Some(jitter) => vec![jitter],
        None if quick => vec![0],
        None => vec![0, 30],
    };
    let losses = match &options.loss[..] {
        [] if quick => &rows::FEW_LOSSES[..],
        [] => &rows::LOSSES[..],
        wanted => wanted,
    };
    let mut page = INTRODUCTION.to_owned();
    let mut all = Vec::new();
    for jitter_ms in jitters {
        let heading = format!("## {jitter_ms} ms of jitter\n\n");
        print!("{heading}{}", rows::TABLE_HEAD);
        write!(page, "{heading}{}", rows::TABLE_HEAD).expect("writing to a string cannot fail");
        let mut rows = Vec::new();
        for &loss in losses {
            for row in rows::measure(loss, jitter_ms, if quick { 10 } else { 30 }) {
                print!("{row}");
                write!(page, "{row}").expect("writing to a string cannot fail");
                rows.push(row);
            }
        }
        let limits = limits(&rows);
        print!("\n{limits}\n");
        write!(page, "\n{limits}\n").expect("writing to a string cannot fail");
        all.push((jitter_ms, rows));
    }
    if quick || options.jitter.is_some() || !options.loss.is_empty() {
        return;
    }
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("docs");
    for (jitter_ms, rows) in &all {
        let name = format!("cubes-{jitter_ms}ms.svg");
        chart::draw(&docs.join(&name), rows).expect("the picture can be drawn");
        write!(page, "![Error, jumps and bytes over loss, {jitter_ms} ms of jitter]({name})\n\n")
            .expect("writing to a string cannot fail");
    }
    std::fs::write(docs.join("cubes.md"), page.trim_end().to_owned() + "\n")
        .expect("the docs can be written");
}

/// The loss at which each scheme first has a visible problem.
fn limits(rows: &[Row]) -> String {
    let mut text = String::from(
        "| scheme | first visible problem at | fine up to | drawn behind, there |\n\
         | --- | --- | --- | --- |\n",
    );
    for scheme in Scheme::ALL {
        let of_scheme = || rows.iter().filter(|row| row.scheme == scheme);
        let first = of_scheme().find(|row| row.figures.has_visible_problem()).map(|row| row.loss);
        let fine = of_scheme()
            .map(|row| row.loss)
            .take_while(|&loss| first.is_none_or(|first| loss < first))
            .last();
        let percent = |loss: Option<f32>, none: &str| {
            loss.map_or(none.to_owned(), |loss| format!("{loss} %"))
        };
        let (first, fine_at) = (percent(first, "none measured"), percent(fine, "-"));
        let behind =
            of_scheme().find(|row| Some(row.loss) == fine).map(|row| row.figures.behind_p50_ms);
        let behind = behind.map_or("-".to_owned(), |ms| format!("{ms:.0} ms"));
        writeln!(text, "| {scheme} | {first} | {fine_at} | {behind} |")
            .expect("writing to a string cannot fail");
    }
    text
}
