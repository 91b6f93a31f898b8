//! Replays the fuzz corpora: every input of `tests/fuzz/corpus` goes through its target, on stable,
//! with all other tests.
//!
//! `AMBIT_FUZZ_MUTATIONS` is how many changed inputs of each target run besides (200).

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use ambit_tests::fuzz::{TARGETS, corpus};

/// Size limit of all corpora together: each clone of the repository carries them.
const MAX_CORPUS_BYTES: usize = 600_000;

#[test]
fn every_input_of_the_corpora_runs_without_panic() {
    let mut bytes = 0;
    let mut failed = Vec::new();
    for target in TARGETS {
        let inputs = corpus::read(target.name).expect("an archive");
        assert!(
            inputs.len() >= (target.seeds)().len(),
            "{} has no corpus: tests/fuzz/run seeds",
            target.name
        );
        for (name, input) in inputs {
            bytes += input.len();
            if std::panic::catch_unwind(|| (target.run)(&input)).is_err() {
                failed.push((target.name, name));
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
    assert!(bytes <= MAX_CORPUS_BYTES, "{bytes} bytes: tests/fuzz/run minimises them");
}

#[test]
fn changed_inputs_of_each_fuzz_target_run_without_panic() {
    let count = std::env::var("AMBIT_FUZZ_MUTATIONS")
        .map_or(200, |count| count.parse().expect("AMBIT_FUZZ_MUTATIONS is a number"));
    let mut failed = Vec::new();
    for target in TARGETS {
        let inputs: Vec<Vec<u8>> =
            corpus::read(target.name).expect("an archive").into_values().collect();
        for seed in 0..count {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut input = rng.choice(&inputs).expect("a corpus").clone();
            for _ in 0..rng.usize(1..4) {
                change(&mut input, &mut rng);
            }
            if std::panic::catch_unwind(|| (target.run)(&input)).is_err() {
                failed.push((target.name, seed));
            }
        }
    }
    assert!(failed.is_empty(), "targets and seeds: {failed:?}");
}

/// Replaces, removes or repeats some bytes.
fn change(input: &mut Vec<u8>, rng: &mut fastrand::Rng) {
    let start = rng.usize(..=input.len());
    let end = (start + rng.usize(..=8)).min(input.len());
    match rng.u8(..4) {
        0 => input[start..end].fill_with(|| rng.u8(..)),
        1 => input[start..end].iter_mut().for_each(|byte| *byte ^= 1 << rng.u8(..8)),
        2 => drop(input.drain(start..end)),
        _ => {
            let piece = input[start..end].to_vec();
            let at = rng.usize(..=input.len());
            input.splice(at..at, piece);
        }
    }
}

#[test]
fn the_first_inputs_of_each_fuzz_target_reach_its_goals() {
    let mut missed = Vec::new();
    for target in TARGETS {
        let reached: BTreeSet<_> =
            (target.seeds)().iter().flat_map(|seed| (target.run)(seed)).collect();
        if reached != target.goals.iter().copied().collect() {
            missed.push((target.name, target.goals, reached));
        }
    }
    assert!(missed.is_empty(), "target, its goals, reached: {missed:#?}");
}

#[test]
fn every_fuzz_target_has_its_file_its_entry_and_its_corpus() {
    let names: BTreeSet<String> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    assert_eq!(names.len(), TARGETS.len());
    let folder = |name: &str| corpus::folder().with_file_name(name);
    assert_eq!(stems(&folder("fuzz_targets"), ".rs"), names);
    assert_eq!(stems(&folder("corpus"), ".txt"), names);
    let manifest = fs::read_to_string(folder("Cargo.toml")).expect("a manifest");
    for name in &names {
        assert!(
            manifest.contains(&format!("\nname = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"")),
            "{name}"
        );
    }
}

/// The names of the files of a folder, without their ending.
fn stems(folder: &Path, ending: &str) -> BTreeSet<String> {
    let files = fs::read_dir(folder).expect("a folder").flatten();
    let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
    names.map(|name| name.trim_end_matches(ending).to_owned()).collect()
}
