//! Replays the fuzz corpora: every input of `tests/fuzz/corpus` goes through its target, on stable,
//! with all other tests.
//!
//! `AMBIT_FUZZ_MUTATIONS` is how many changed inputs of each target run besides (200).
//! `AMBIT_FUZZ_SEEDS=write` writes the targets' first inputs into the corpora (`tests/fuzz/run
//! seeds`).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use ambit_tests::fuzz::TARGETS;

/// Size limit of all corpora together: each clone of the repository carries them.
const MAX_CORPUS_BYTES: usize = 600_000;

#[test]
fn every_input_of_the_corpora_runs_without_panic() {
    if std::env::var_os("AMBIT_FUZZ_SEEDS").is_some() {
        write_seeds();
    }
    let (mut bytes, mut failed) = (0, Vec::new());
    for target in TARGETS {
        let inputs = inputs(&corpora().join(target.name));
        assert!(
            inputs.len() >= (target.seeds)().len(),
            "{} has no corpus: tests/fuzz/run seeds",
            target.name
        );
        for (path, input) in inputs {
            bytes += input.len();
            if std::panic::catch_unwind(|| (target.run)(&input)).is_err() {
                failed.push(path);
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
        let inputs = inputs(&corpora().join(target.name));
        for seed in 0..count {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut input = rng.choice(&inputs).expect("a corpus").1.clone();
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
    let folder = corpora().with_file_name("fuzz_targets");
    let files = fs::read_dir(folder).expect("the targets").flatten();
    let files: BTreeSet<String> = files
        .map(|file| file.file_name().to_string_lossy().trim_end_matches(".rs").to_owned())
        .collect();
    assert_eq!(files, names);
    let manifest = fs::read_to_string(corpora().with_file_name("Cargo.toml")).expect("a manifest");
    for name in &names {
        assert!(
            manifest.contains(&format!("\nname = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"")),
            "{name}"
        );
    }
    let corpora = fs::read_dir(corpora()).expect("the corpora").flatten();
    let corpora: BTreeSet<String> =
        corpora.map(|folder| folder.file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(corpora, names);
}

fn corpora() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus")
}

/// Sorted by name, so that the first failure is the same on every machine.
fn inputs(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read(path).expect("an input"))).collect()
}

fn write_seeds() {
    for target in TARGETS {
        let folder = corpora().join(target.name);
        fs::create_dir_all(&folder).expect("a folder for the corpus");
        for (number, seed) in (target.seeds)().iter().enumerate() {
            fs::write(folder.join(format!("seed-{number:02}")), seed).expect("a file for the seed");
        }
    }
}
