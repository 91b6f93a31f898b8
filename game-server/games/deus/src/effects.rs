//! What lasts on monsters and heroes: poison, fire, slowness, regeneration.
//!
//! The effect of one spell replaces that of the same spell, whoever cast it.

use ambit::prelude::*;

use crate::schema::Hero;

/// What lasts on somebody.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Lasting {
    pub(crate) spell: u8,
    pub(crate) by: Id<Hero>,
    /// Points of health a second; below 0 it takes them.
    pub(crate) per_s: f32,
    /// By so many per cent.
    pub(crate) slow: f32,
    pub(crate) ends: GameTime,
}

/// All that lasts on somebody.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Effects {
    pub(crate) list: Vec<Lasting>,
    /// When the next one ends, or the monster dies of them; a timer for another time is obsolete.
    pub(crate) lapses_at: Option<GameTime>,
}

impl Effects {
    pub(crate) fn add(&mut self, new: Lasting) {
        self.list.retain(|old| old.spell != new.spell);
        self.list.push(new);
    }

    pub(crate) fn rate_at(&self, time: GameTime) -> f32 {
        self.list.iter().filter(|it| it.ends > time).map(|it| it.per_s).sum()
    }

    pub(crate) fn first_end(&self) -> Option<GameTime> {
        self.list.iter().map(|it| it.ends).min()
    }

    /// The factor of the speed: the slowest effect holds.
    pub(crate) fn pace(&self) -> f32 {
        1.0 - self.list.iter().map(|it| it.slow).fold(0.0, f32::max) / 100.0
    }

    /// Who has poisoned it.
    pub(crate) fn killer(&self) -> Option<Id<Hero>> {
        self.list.iter().find(|it| it.per_s < 0.0).map(|it| it.by)
    }
}
