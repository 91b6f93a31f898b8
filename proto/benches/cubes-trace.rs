//! What the fine level of poses costs on a recording of 901 cubes:
//! `cargo bench --bench cubes-trace [-- FILE]`.
//!
//! Frame n is coded from frames up to n - 6 only, values and state of the model alike; all bytes of
//! a packet count, those of UDP and IP do not. Each packet is decoded by a receiver that knows
//! nothing but the packets, and compared bit by bit; a difference ends the run with exit code 1.
//! Figures: kbit/s at 60 packets a second; bits a changed cube; bits by category; microseconds a
//! packet each way.

#[path = "cubes-trace/packet.rs"]
mod packet;
#[path = "cubes-trace/report.rs"]
mod report;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use ambit_pose_training::{ACK_LAG_FRAMES, KnownFrames, PoseRecording, cubes, spent_bits};
use ambit_proto::pose::Pose;
use anyhow::{Context, ensure};

use packet::Buffers;
use report::{PacketFigures, Report};

/// The default, if it exists.
const DEFAULT_FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/cubes_A.bin.xz");

/// Decoded frames that the receiver stores.
const STORED: usize = 2 * ACK_LAG_FRAMES + 1;

fn main() -> ExitCode {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let file = arguments.iter().find(|argument| !argument.starts_with("--"));
    let path = file.map_or_else(|| PathBuf::from(DEFAULT_FILE), |file| find(file));
    if file.is_none() && !path.is_file() {
        println!("cubes-trace: no recording at {DEFAULT_FILE}; give one (.bin or .bin.xz):");
        println!("  cargo bench --bench cubes-trace -- path/of/cubes.bin.xz");
        return ExitCode::SUCCESS;
    }
    match run(&path) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cubes-trace: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// A file, relative to the folder where `cargo` was called: benches run in the folder of their
/// package.
fn find(file: &str) -> PathBuf {
    let folders = [
        std::env::var_os("PWD").map(PathBuf::from),
        Some(PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))),
    ];
    let named = folders.into_iter().flatten().map(|folder| folder.join(file));
    named
        .chain([PathBuf::from(file)])
        .find(|path| path.is_file())
        .unwrap_or_else(|| PathBuf::from(file))
}

fn run(path: &Path) -> anyhow::Result<()> {
    let trace = cubes::read(path)?;
    ensure!(trace.frames() > ACK_LAG_FRAMES, "{} frames are too few", trace.frames());
    println!("{}: {} frames of {} cubes", path.display(), trace.frames(), cubes::CUBES);
    let report = code(&trace)?;
    print!("{report}");
    Ok(())
}

/// Codes all frames, decodes them again and compares.
fn code(trace: &PoseRecording) -> anyhow::Result<Report> {
    let mut report = Report::default();
    let mut sender = Buffers::default();
    let mut receiver = Buffers::default();
    // Both ends start with the first frames.
    let mut decoded: Vec<Vec<Pose>> =
        (0..STORED).map(|number| trace.frame(number.min(ACK_LAG_FRAMES - 1)).to_vec()).collect();
    let mut packet = Vec::new();
    for number in ACK_LAG_FRAMES..trace.frames() {
        let frame = trace.frame(number);
        packet.clear();
        let start = now();
        let known = KnownFrames::of(trace, number, |number| trace.frame(number));
        packet::encode(number, frame, &known, &mut sender, &mut packet);
        let encoded = now();
        let spent = spent_bits(frame, &known);
        let spent_until = now();
        let mut received = std::mem::take(&mut decoded[number % STORED]);
        let known = KnownFrames::of(trace, number, |number| &decoded[number % STORED]);
        packet::decode(number, &packet, &known, &mut receiver, &mut received)
            .with_context(|| format!("packet {number}"))?;
        let done = now();
        compare(number, frame, &received)?;
        let changed = frame
            .iter()
            .zip(trace.frame(number - ACK_LAG_FRAMES))
            .filter(|(new, old)| new != old)
            .count();
        report.add(PacketFigures {
            bytes: packet.len(),
            changed,
            spent,
            encode_us: (encoded - start).as_secs_f64() * 1e6,
            decode_us: (done - spent_until).as_secs_f64() * 1e6,
        });
        decoded[number % STORED] = received;
        progress(number + 1, trace.frames());
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

/// Shows on a terminal how many frames are done.
fn progress(done: usize, all: usize) {
    let mut terminal = std::io::stderr();
    if terminal.is_terminal() && (done.is_multiple_of(100) || done == all) {
        let end = if done == all { "\r\x1b[K" } else { "" };
        let _ = write!(terminal, "\r{done} of {all} frames{end}");
    }
}
