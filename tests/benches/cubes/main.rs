//! Compares how exactly and smoothly clients draw physics over impaired networks: Ambit, and the
//! schemes of "Synchronisation par le réseau d'un monde virtuel sur Unity". The measurements are in
//! `ambit_tests::physics_sync`.
//!
//! `cargo bench -p ambit-tests --bench cubes` prints the tables and writes `docs/data/cubes-*.tsv`
//! and the curves. Everything runs on simulated time, so the figures are the same on every machine;
//! only the durations of physics steps depend on the machine. `-- --quick` measures less and writes
//! nothing. After the tables, further scenes are printed ([`scenes`]). Names of scenes, or
//! `tables`, as arguments select parts.

mod chart;
mod rows;
mod scenes;

use std::fmt::Write as _;
use std::path::Path;

use ambit_tests::data_file;
use clap::Parser;
use clap::builder::PossibleValuesParser;
use rows::{Row, Scheme};

/// Measures how exactly and smoothly clients draw physics over impaired networks. Without names,
/// runs everything and rewrites the data and the curves in `docs`.
#[derive(Parser)]
#[command(name = "cargo bench -p ambit-tests --bench cubes --")]
struct Options {
    /// Runs only these parts: the tables, or scenes.
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
    let mut all = Vec::new();
    for jitter_ms in jitters {
        print!("## {jitter_ms} ms of jitter\n\n{}", rows::TABLE_HEAD);
        let mut rows = Vec::new();
        for &loss in losses {
            for row in rows::measure(loss, jitter_ms, if quick { 10 } else { 30 }) {
                print!("{row}");
                rows.push(row);
            }
        }
        print!("\n{}\n", limits(&rows));
        all.push((jitter_ms, rows));
    }
    if quick || options.jitter.is_some() || !options.loss.is_empty() {
        return;
    }
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("docs");
    for (jitter_ms, rows) in &all {
        let name = format!("cubes-{jitter_ms}ms");
        chart::draw(&docs.join(&name).with_extension("svg"), rows)
            .expect("the picture can be drawn");
        let mut table = rows::TABLE_HEAD.to_owned();
        for row in rows {
            write!(table, "{row}").expect("writing to a string cannot fail");
        }
        let command = "cargo bench -p ambit-tests --bench cubes";
        data_file::write(&name, command, data_file::ANY_MACHINE, &table);
    }
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
        let first = percent(first, "none measured");
        let fine_at = percent(fine, "-");
        let behind =
            of_scheme().find(|row| Some(row.loss) == fine).map(|row| row.figures.behind_p50_ms);
        let behind = behind.map_or("-".to_owned(), |ms| format!("{ms:.0} ms"));
        writeln!(text, "| {scheme} | {first} | {fine_at} | {behind} |")
            .expect("writing to a string cannot fail");
    }
    text
}
