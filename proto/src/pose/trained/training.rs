//! The programs that make the constants of the pose coder, and recordings of poses.
//!
//! A development tool: only tests and the feature `dev-tools` compile it. `cargo bench --bench
//! pose-training` makes the constants again and writes their files in [`super`].

mod candidate_order;
mod fine;
mod recording;
mod source;
pub(in crate::pose) mod walker;

pub use self::candidate_order::CandidateOrder;
pub use self::fine::{CATEGORY_NAMES, spent_bits};
pub use self::recording::{ACK_LAG_FRAMES, KnownFrames, PoseRecording};

use std::path::Path;

/// Constants that a program makes from examples of movement.
pub trait Trained: Sized + 'static {
    /// What they are made from.
    type Examples: ?Sized;

    /// The generated file with the numbers, relative to this crate's folder.
    const FILE: &'static str;

    /// The constants that both ends use.
    fn in_use() -> &'static Self;

    /// Makes them from examples; `progress` gets a line from time to time.
    fn train(examples: &Self::Examples, progress: &mut dyn FnMut(&str)) -> Self;

    /// The text of [`Trained::FILE`].
    fn to_source(&self) -> String;
}

/// Trains and writes the generated file; `crate_folder` is that of this crate.
pub fn retrain<T: Trained>(
    examples: &T::Examples,
    crate_folder: &Path,
    progress: &mut dyn FnMut(&str),
) -> std::io::Result<()> {
    let trained = T::train(examples, progress);
    std::fs::write(crate_folder.join(T::FILE), trained.to_source())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pose::trained::{FineWeights, WalkerTables};

    #[test]
    fn the_generated_files_are_what_the_trainers_write() {
        check::<WalkerTables>();
        check::<FineWeights>();
    }

    fn check<T: Trained>() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(T::FILE);
        let text = std::fs::read_to_string(&path).expect("a generated file");
        assert!(text == T::in_use().to_source(), "{} was edited by hand", T::FILE);
        assert!(text.lines().all(|line| line.len() <= source::WIDTH), "{}", T::FILE);
    }
}
