//! How a simple viewer shows that something happens.

use serde::{Deserialize, Serialize};

use super::hints;

/// How a simple viewer shows that something happens: a hint, which a viewer may ignore.
///
/// An event, a kind (when an object comes into sight) and a component (as long as a flag is
/// set, when a gauge falls at once) can have one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(default)]
pub struct Effect {
    /// What is seen, and what is heard of it.
    pub form: EffectForm,
    /// 0xRRGGBB, and `#rrggbb` in the block.
    #[serde(with = "hints::colour")]
    #[cfg_attr(test, ts(type = "string"))]
    pub colour: u32,
    /// How far it reaches, in metres: 0.01 to 100.
    #[serde(rename = "size")]
    pub size_m: f32,
    /// Of an event: the index of the field that says where, an object or a position. Otherwise the
    /// first position, and in an event without one the first object.
    pub at: Option<u8>,
    /// Of a beam: the index of the field from where it comes, an object or a position. Otherwise
    /// the first object.
    pub from: Option<u8>,
    /// Of an event: the index of a number that is how far it reaches, in decimetres, instead of
    /// `size_m`.
    pub reach: Option<u8>,
    /// Of a warning: the index of a number that is the milliseconds until it happens.
    pub due: Option<u8>,
}

/// What a viewer can show of what happens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum EffectForm {
    /// Something is done: a ring closes, and sparks rise.
    #[default]
    Cast,
    /// Something is hurt: sparks in all directions.
    Hit,
    /// Something recovers: sparks rise slowly.
    Heal,
    /// Something comes: a column of light.
    Arrival,
    /// Something ends: a flash, and debris that falls.
    Death,
    /// Something bursts: a flash, a ring and sparks.
    Blast,
    /// A ring that widens on the ground.
    Ring,
    /// A line of light from one place to another.
    Beam,
    /// Something will happen here: a ring on the ground, which another one fills until it does.
    Warning,
}

impl Default for Effect {
    fn default() -> Self {
        Self {
            form: EffectForm::default(),
            colour: 0xff_ffff,
            size_m: 1.0,
            at: None,
            from: None,
            reach: None,
            due: None,
        }
    }
}
