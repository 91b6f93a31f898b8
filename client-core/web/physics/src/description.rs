//! What a physics module says about itself: the version of the boundary, and the parts of a
//! [`GamePhysics`] that are data.
//!
//! In words: [`VERSION`], the bytes of the game's name and their number before them, the reach
//! (bits of `f32`), the number of kinds, and each kind.

use ambit_proto::physics::{Arena, GamePhysics, SharedPhysics, SimulatedKind};
use ambit_proto::pose::{MotionFormat, PoseFormat, Turning};

use crate::orders::WordReader;

/// To be raised with each change of this format, of `orders`, or of the exported functions.
pub const VERSION: u32 = 1;

const FIXED: u32 = 0;
const YAW: u32 = 1;
const FREE: u32 = 2;

/// Makes a world in the module of a game.
pub type CreateWorld = fn(&GamePhysics, Arena) -> Box<dyn SharedPhysics>;

/// Describes a physics.
pub fn write(physics: &GamePhysics, words: &mut Vec<u32>) {
    words.extend([VERSION, physics.game.len() as u32]);
    words.extend(physics.game.bytes().map(u32::from));
    words.extend([physics.reach_m.to_bits(), physics.kinds.len() as u32]);
    for kind in physics.kinds {
        let (turn, bits) = match kind.format.turn {
            Turning::Fixed => (FIXED, 0),
            Turning::Yaw { bits } => (YAW, bits),
            Turning::Free { bits } => (FREE, bits),
        };
        let motion = kind.format.motion.map(|grid| [grid.linear, grid.angular]);
        words.extend([kind.kind.into(), kind.format.per_metre.into(), turn, bits.into()]);
        words.push(motion.is_some().into());
        words.extend(motion.unwrap_or_default().map(u32::from));
        words.push(kind.held_controls.len() as u32);
        let controls = kind.held_controls.iter();
        words.extend(controls.flat_map(|&(index, control)| [index, control]).map(u32::from));
    }
}

/// Reads a description; its worlds are made by `create`. The error says why there is none.
///
/// Name and kinds are kept for good: a page loads each module once.
pub fn read(words: &[u32], create: CreateWorld) -> Result<GamePhysics, String> {
    let version = words.first().copied().unwrap_or_default();
    if version != VERSION {
        return Err(format!(
            "the physics module has version {version}, and this client needs {VERSION}"
        ));
    }
    read_fields(&words[1..], create).ok_or_else(|| "the physics module is damaged".to_owned())
}

fn read_fields(words: &[u32], create: CreateWorld) -> Option<GamePhysics> {
    let mut reader = WordReader::new(words);
    let length = reader.word()?;
    let name: Option<Vec<u8>> = (0..length).map(|_| reader.byte()).collect();
    let game = String::from_utf8(name?).ok()?;
    let reach_m = f32::from_bits(reader.word()?);
    let count = reader.word()?;
    let kinds: Option<Vec<SimulatedKind>> = (0..count).map(|_| read_kind(&mut reader)).collect();
    let kinds = kinds.filter(|_| reader.is_empty())?;
    Some(GamePhysics { game: game.leak(), kinds: kinds.leak(), reach_m, create })
}

fn read_kind(reader: &mut WordReader<'_>) -> Option<SimulatedKind> {
    let [kind, per_metre, turn, bits] = reader.words()?;
    let bits = bits.try_into().ok()?;
    let turn = match turn {
        FIXED => Turning::Fixed,
        YAW => Turning::Yaw { bits },
        FREE => Turning::Free { bits },
        _ => return None,
    };
    let [has_motion, linear, angular] = reader.words()?;
    let motion =
        MotionFormat { linear: linear.try_into().ok()?, angular: angular.try_into().ok()? };
    let format = PoseFormat {
        per_metre: per_metre.try_into().ok()?,
        turn,
        motion: (has_motion != 0).then_some(motion),
    };
    let controls = reader.word()?;
    let control = |_| Some((reader.byte()?, reader.byte()?));
    let held_controls: Option<Vec<(u8, u8)>> = (0..controls).map(control).collect();
    Some(SimulatedKind {
        kind: kind.try_into().ok()?,
        format,
        held_controls: held_controls?.leak(),
    })
}

#[cfg(test)]
mod tests {
    use ambit_cubes_physics::PHYSICS;

    use super::*;

    #[test]
    fn a_physics_is_known_by_its_description() {
        let mut words = Vec::new();
        write(&PHYSICS, &mut words);
        let read_back = read(&words, PHYSICS.create).expect("it is valid");
        assert_eq!((read_back.game, read_back.reach_m), ("cubes", PHYSICS.reach_m));
        assert_eq!(read_back.kinds, PHYSICS.kinds);
        for end in 0..words.len() {
            assert!(read(&words[..end], PHYSICS.create).is_err(), "{end}");
        }
        words[0] += 1;
        let error = read(&words, PHYSICS.create).expect_err("another version");
        assert!(error.contains("version 2"), "{error}");
    }
}
