//! Unpacks the archive of a fuzz target's inputs to a folder, or packs a folder into the archive.

use std::path::Path;

use ambit_tests::fuzz::{TARGETS, corpus};

const USAGE: &str = "usage: corpus unpack|pack TARGET FOLDER, or corpus seeds; TARGET is a fuzz \
    target, FOLDER has a file for each input. `seeds` writes the first inputs of all targets into \
    their archives";

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["unpack", target, folder] => corpus::unpack(target, Path::new(folder)),
        ["pack", target, folder] => corpus::pack(target, Path::new(folder)),
        ["seeds"] => TARGETS.iter().try_for_each(|target| {
            let mut inputs = corpus::read(target.name)?;
            for (number, seed) in (target.seeds)().into_iter().enumerate() {
                inputs.insert(format!("seed-{number:02}"), seed);
            }
            corpus::write(target.name, &inputs)
        }),
        _ => anyhow::bail!(USAGE),
    }
}
