//! The programs that make the constants of the pose coder, and recordings of poses.
//!
//! Examples of movement go in, tables come out: source code for the files in
//! `proto/src/pose/trained`. A tool for developers, which no other program needs;
//! `docs/pose-coding.md` says how to use it.

mod candidate_order;
pub mod cubes;
mod fine;
mod recording;
mod source;
mod walker;

pub use self::candidate_order::CandidateOrder;
pub use self::fine::{CATEGORY_NAMES, spent_bits};
pub use self::recording::{ACK_LAG_FRAMES, KnownFrames, PoseRecording};

use std::io::{Error, Result};
use std::path::{Path, PathBuf};

/// Constants that a program makes from examples of movement.
pub trait Trained: Sized + 'static {
    /// What they are made from.
    type Examples: ?Sized;

    /// The file with the tables, in the folder of [`path`].
    const FILE: &'static str;

    /// The constants that both ends use.
    fn in_use() -> &'static Self;

    /// Makes them from examples; `progress` gets a line from time to time.
    fn train(examples: &Self::Examples, progress: &mut dyn FnMut(&str)) -> Self;

    /// The generated part of [`Trained::FILE`].
    fn to_source(&self) -> String;
}

/// Trains, and replaces the generated part of the file with the tables.
pub fn retrain<T: Trained>(examples: &T::Examples, progress: &mut dyn FnMut(&str)) -> Result<()> {
    let file = path::<T>();
    let text = std::fs::read_to_string(&file)?;
    let (kept, _) = source::split(&text)
        .ok_or_else(|| Error::other(format!("{} has no generated part", file.display())))?;
    let trained = T::train(examples, progress);
    std::fs::write(&file, format!("{kept}{}", trained.to_source()))
}

/// Where the file with the tables is.
pub fn path<T: Trained>() -> PathBuf {
    let proto = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("`proto` has this crate");
    proto.join("src/pose/trained").join(T::FILE)
}

#[cfg(test)]
mod tests {
    use ambit_proto::pose::trained::{FineWeights, WalkerTables};

    use super::*;

    #[test]
    fn the_generated_tables_are_what_the_trainers_write() {
        check::<WalkerTables>();
        check::<FineWeights>();
    }

    fn check<T: Trained>() {
        let text = std::fs::read_to_string(path::<T>()).expect("a file with tables");
        let (_, generated) = source::split(&text).expect("a generated part");
        assert!(generated == T::in_use().to_source(), "{} was edited by hand", T::FILE);
        assert!(generated.lines().all(|line| line.len() <= source::WIDTH), "{}", T::FILE);
    }
}
