//! Recordings of 901 cubes: the format of G. Fiedler's compression challenge of 2015.
//!
//! Each frame holds 901 times 8 little-endian 32-bit integers: index of the largest part of the
//! orientation, the other three in 9 bits, x, y and z in 1/512 m, and whether the cube interacts.
//! 60 frames a second; cube 0 is the player.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use ambit_proto::pose::{Pose, PoseFormat, Turning};
use anyhow::{Context, bail, ensure};

use super::PoseRecording;

/// Cubes in a frame.
pub const CUBES: usize = 901;
const FRAME_US: u32 = 16_667;
/// Grid and turn of the recordings.
const FORMAT: PoseFormat =
    PoseFormat { per_metre: 512, turn: Turning::Free { bits: 9 }, motion: None };

const CUBE_BYTES: usize = 32;
const FRAME_BYTES: usize = CUBES * CUBE_BYTES;
/// The longest accepted file: an hour.
const MAX_BYTES: u64 = FRAME_BYTES as u64 * 60 * 3_600;

/// Reads a recording: raw, or compressed if its name ends in `.xz`.
pub fn read(path: &Path) -> anyhow::Result<PoseRecording> {
    let context = || format!("cannot read the recording {}", path.display());
    let file = BufReader::new(File::open(path).with_context(context)?);
    let mut bytes = Vec::new();
    if path.extension().is_some_and(|extension| extension == "xz") {
        let reader = lzma_rust2::XzReader::new(file, true);
        reader.take(MAX_BYTES).read_to_end(&mut bytes).with_context(context)?;
    } else {
        file.take(MAX_BYTES).read_to_end(&mut bytes).with_context(context)?;
    }
    parse(&bytes).with_context(context)
}

fn parse(bytes: &[u8]) -> anyhow::Result<PoseRecording> {
    ensure!(
        !bytes.is_empty() && bytes.len().is_multiple_of(FRAME_BYTES),
        "{} bytes are not a whole number of frames of {FRAME_BYTES} bytes",
        bytes.len()
    );
    let poses = bytes.chunks_exact(CUBE_BYTES).enumerate().map(|(index, cube)| {
        parse_pose(cube).with_context(|| format!("frame {}, cube {}", index / CUBES, index % CUBES))
    });
    Ok(PoseRecording {
        format: FORMAT,
        frame_us: FRAME_US,
        // The player's cube has edges of 1.5 m, the others of 0.4 m.
        half_edges_m: (0..CUBES).map(|cube| if cube == 0 { 0.75 } else { 0.2 }).collect(),
        poses: poses.collect::<anyhow::Result<_>>()?,
    })
}

fn parse_pose(cube: &[u8]) -> anyhow::Result<Pose> {
    let mut words =
        cube.chunks_exact(4).map(|word| i32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    let words: [i32; 8] = std::array::from_fn(|_| words.next().unwrap_or(0));
    let [largest, a, b, c, x, y, z, interacting] = words;
    let turn = [largest, a, b, c].map(|part| u16::try_from(part).unwrap_or(u16::MAX));
    let pose = Pose { at: [x, y, z], turn, flag: interacting == 1, ..Pose::default() };
    if !FORMAT.fits(&pose) || !(0..=1).contains(&interacting) {
        bail!("{words:?} is not the state of a cube");
    }
    Ok(pose)
}
