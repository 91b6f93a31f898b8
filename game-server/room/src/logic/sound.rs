//! Sounds: what clients receive of an event that is near and whose object they do not see.
//!
//! Invariant: a sound is a direction in [`DIRECTIONS`] steps and a loudness in [`LOUDNESS_STEPS`],
//! seen from the listener, and nothing else. Two events with the same direction, loudness and time
//! are the same sound.

use std::f32::consts::TAU;

use ambit_proto::message::FieldValue;
use ambit_proto::schema::{EventKind, FieldSpec, FieldType};
use ambit_proto::space::Position;

/// The directions of sounds: on the map, not from where the listener faces. The first one is along
/// x, the fifth along y.
pub const DIRECTIONS: [&str; 16] = [
    "east",
    "east-north-east",
    "north-east",
    "north-north-east",
    "north",
    "north-north-west",
    "north-west",
    "west-north-west",
    "west",
    "west-south-west",
    "south-west",
    "south-south-west",
    "south",
    "south-south-east",
    "south-east",
    "east-south-east",
];

/// The loudest sound; 1 is the faintest.
pub const LOUDNESS_STEPS: u8 = 4;

/// How an event sounds. Walls do not matter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EventSound {
    /// Index of the sound in the schema's events; [`sound_kind`] has its fields.
    pub kind: u8,
    /// Where it comes from.
    pub at: Position,
    /// How far away it can be heard.
    pub radius_m: f32,
}

impl EventSound {
    /// Direction and loudness for a listener within the radius: an index into [`DIRECTIONS`], and
    /// 1 to [`LOUDNESS_STEPS`], which depends on the distance alone.
    pub fn heard_at(&self, listener: Position) -> (u8, u8) {
        let steps = DIRECTIONS.len() as f32;
        let angle = (self.at.y - listener.y).atan2(self.at.x - listener.x);
        let direction = (angle / TAU * steps).round().rem_euclid(steps) as u8;
        let rings = f32::from(LOUDNESS_STEPS);
        let ring = (self.at.distance(listener) / self.radius_m * rings) as u8;
        (direction, LOUDNESS_STEPS - ring.min(LOUDNESS_STEPS - 1))
    }
}

/// The declaration of a sound: all sounds have the same fields.
pub fn sound_kind(name: &str) -> EventKind {
    let loudness = FieldType::Number { min: 1, max: LOUDNESS_STEPS.into() };
    EventKind {
        name: name.into(),
        fields: vec![
            FieldSpec::new("direction", FieldType::choice(DIRECTIONS)),
            FieldSpec::new("loudness", loudness),
        ],
    }
}

/// The values of the fields of [`sound_kind`].
pub fn sound_fields<O>(direction: u8, loudness: u8) -> Vec<FieldValue<O>> {
    vec![FieldValue::Choice(direction.into()), FieldValue::Number(loudness.into())]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard_from(x: f32, y: f32) -> (&'static str, u8) {
        let at = Position::on_ground(100.0 + x, 100.0 + y);
        let sound = EventSound { kind: 0, at, radius_m: 80.0 };
        let (direction, loudness) = sound.heard_at(Position::on_ground(100.0, 100.0));
        (DIRECTIONS[usize::from(direction)], loudness)
    }

    #[test]
    fn a_sound_has_a_direction_of_the_map_and_a_loudness_by_distance() {
        assert_eq!(heard_from(10.0, 0.0), ("east", 4));
        assert_eq!(heard_from(0.0, 30.0), ("north", 3));
        assert_eq!(heard_from(-50.0, 0.0), ("west", 2));
        assert_eq!(heard_from(0.0, -80.0), ("south", 1));
        assert_eq!(heard_from(-20.0, 20.0), ("north-west", 3));
        // The steps are centred on their names: 22.5 degrees each.
        assert_eq!(heard_from(10.0, -1.9), ("east", 4));
        assert_eq!(heard_from(10.0, -2.1), ("east-south-east", 4));
        assert_eq!(heard_from(0.0, 0.0).1, 4);
    }

    #[test]
    fn a_declared_sound_fits_what_is_sent() {
        let kind = sound_kind("bang");
        for direction in 0..16 {
            for loudness in 1..=LOUDNESS_STEPS {
                let fields = sound_fields::<u8>(direction, loudness);
                assert!(FieldValue::all_fit(&fields, &kind.fields));
            }
        }
    }
}
