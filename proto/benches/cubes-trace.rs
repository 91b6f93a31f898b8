//! What the fine level of poses costs on a recording of 901 cubes:
//! `cargo bench --bench cubes-trace [-- FILE]`.
//!
//! The rule (the one of the 2015 challenge's best coders): frame n is coded from frames up to n - 6
//! only, values and state of the model alike; all bytes of a packet count, those of UDP and IP do
//! not. Each packet is decoded again by an end that has seen nothing but packets, and compared bit
//! by bit; a difference ends the run with exit code 1. Figures: kbit/s at 60 packets a second; bits
//! a changed cube; bits by category; microseconds a packet each way.
//!
//! `-- --train FILE` fits the model's constants to a recording, writes them to
//! `src/pose/fine/priors.rs` and tells what they are worth on the half of the recording that it has
//! not looked at; see `train`.

#[path = "cubes-trace/packet.rs"]
mod packet;
#[path = "cubes-trace/report.rs"]
mod report;
#[path = "cubes-trace/trace.rs"]
mod trace;
#[path = "cubes-trace/train.rs"]
mod train;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use ambit_proto::pose::Pose;
use anyhow::{Context, ensure};

use packet::{Buffers, LAG, Past};
use report::{PacketFigures, Report};
use trace::{CUBES, Trace};

/// Where recordings are usually kept, beside a clone; any other is an argument.
const USUAL_FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../shared/data/cubes_A.bin.xz"
);

/// Of the decoded frames, as many are looked back to.
const KEPT: usize = 2 * LAG + 1;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    let trains = arguments.iter().any(|argument| argument == "--train");
    let file = arguments
        .iter()
        .find(|argument| !argument.starts_with("--"));
    let path = file.map_or_else(|| PathBuf::from(USUAL_FILE), |file| find(file));
    if file.is_none() && !path.is_file() {
        println!("cubes-trace: no recording at {USUAL_FILE}; give one (.bin or .bin.xz):");
        println!("  cargo bench --bench cubes-trace -- path/of/cubes.bin.xz");
        return ExitCode::SUCCESS;
    }
    let done = if trains {
        train::run(&path)
    } else {
        run(&path)
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cubes-trace: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// A file as it was named where `cargo` was called, which runs benches in the folder of their
/// package.
fn find(file: &str) -> PathBuf {
    let folders = [
        std::env::var_os("PWD").map(PathBuf::from),
        Some(PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))),
    ];
    let named = folders
        .into_iter()
        .flatten()
        .map(|folder| folder.join(file));
    named
        .chain([PathBuf::from(file)])
        .find(|path| path.is_file())
        .unwrap_or_else(|| PathBuf::from(file))
}

fn run(path: &Path) -> anyhow::Result<()> {
    let trace = Trace::read(path)?;
    ensure!(trace.len() > LAG, "{} frames are too few", trace.len());
    println!(
        "{}: {} frames of {CUBES} cubes",
        path.display(),
        trace.len()
    );
    let report = code(&trace)?;
    print!("{report}");
    Ok(())
}

/// Codes all frames, decodes them again and compares.
fn code(trace: &Trace) -> anyhow::Result<Report> {
    let mut report = Report::default();
    let (mut ours, mut theirs) = (Buffers::default(), Buffers::default());
    // The first frames are what both ends start from.
    let mut decoded: Vec<Vec<Pose>> = (0..KEPT)
        .map(|number| trace.frame(number.min(LAG - 1)).to_vec())
        .collect();
    let mut packet = Vec::new();
    for number in LAG..trace.len() {
        let frame = trace.frame(number);
        packet.clear();
        let start = now();
        let past = Past::of(number, |number| trace.frame(number));
        let spent = packet::encode(number, frame, &past, &mut ours, &mut packet);
        let encoded = now();
        let mut there = std::mem::take(&mut decoded[number % KEPT]);
        let past = Past::of(number, |number| &decoded[number % KEPT]);
        packet::decode(number, &packet, &past, &mut theirs, &mut there)
            .with_context(|| format!("packet {number}"))?;
        let done = now();
        compare(number, frame, &there)?;
        let changed = frame
            .iter()
            .zip(trace.frame(number - LAG))
            .filter(|(new, base)| new != base)
            .count();
        report.add(PacketFigures {
            bytes: packet.len(),
            changed,
            spent,
            encode_us: (encoded - start).as_secs_f64() * 1e6,
            decode_us: (done - encoded).as_secs_f64() * 1e6,
        });
        decoded[number % KEPT] = there;
        progress(number + 1, trace.len());
    }
    Ok(report)
}

fn compare(number: usize, sent: &[Pose], read: &[Pose]) -> anyhow::Result<()> {
    ensure!(
        sent.len() == read.len(),
        "MISMATCH: frame {number} has {} cubes, {} were read",
        sent.len(),
        read.len()
    );
    if let Some(cube) = (0..sent.len()).find(|cube| sent[*cube] != read[*cube]) {
        anyhow::bail!(
            "MISMATCH: frame {number}, cube {cube}: {:?} was sent, {:?} was read",
            sent[cube],
            read[cube]
        );
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a bench measures real time")]
fn now() -> Instant {
    Instant::now()
}

/// On a terminal, how far it has got.
fn progress(done: usize, all: usize) {
    let mut terminal = std::io::stderr();
    if terminal.is_terminal() && (done.is_multiple_of(100) || done == all) {
        let end = if done == all { "\r\x1b[K" } else { "" };
        let _ = write!(terminal, "\r{done} of {all} frames{end}");
    }
}
