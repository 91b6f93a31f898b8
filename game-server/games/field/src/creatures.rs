//! The living creatures of the field: avatars, of players and of pilots, wanderers and wolves.
//!
//! Holds the state that the world does not know: death, veils and random generators. Each creature
//! has its own generator, so that its course does not depend on what others, perhaps hidden ones,
//! do.

use std::collections::BTreeMap;

use ambit::prelude::*;
use ambit::{Dice, Rng};

/// A creature that can be damaged.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Creature {
    pub(super) rng: Dice,
    pub(super) dead: bool,
    /// Nothing hurts it before, and no wolf hunts it: it has just come back.
    #[serde(default)]
    pub(super) safe_until: GameTime,
    /// Its player has done nothing yet, and may still read what to do: no wolf begins to hunt it.
    #[serde(default)]
    pub(super) reads_until: GameTime,
    pub(super) role: CreatureRole,
}

/// Who steers it, and the state that only such creatures have. `walks_at` is the time of the next
/// leg, `shoots_at` that of the next bolt at the foe; timers for an earlier time are obsolete.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum CreatureRole {
    Player(CastState),
    Pilot {
        walks_at: GameTime,
        #[serde(default)]
        foe: Option<ObjectId>,
        #[serde(default)]
        shoots_at: GameTime,
    },
    Npc {
        walks_at: GameTime,
    },
    Wolf(WolfState),
}

/// The effects of earlier commands: the end of the veil, that of the cooldown, and from when on a
/// way round obstacles is searched again.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct CastState {
    pub(super) veiled_until: GameTime,
    pub(super) blink_ready_at: GameTime,
    #[serde(default)]
    pub(super) search_ready_at: GameTime,
}

/// What a wolf is about.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct WolfState {
    /// Of its next decision; timers for an earlier time are obsolete.
    pub(super) decides_at: GameTime,
    /// Whom it hunts.
    pub(super) prey: Option<ObjectId>,
    pub(super) bites_at: GameTime,
    pub(super) searches_at: GameTime,
    pub(super) roams_at: GameTime,
}

/// All creatures. See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Creatures {
    creatures: BTreeMap<ObjectId, Creature>,
}

impl Creatures {
    pub(super) fn add_player(&mut self, avatar: ObjectId, rng: Rng) {
        let role = CreatureRole::Player(CastState::default());
        self.add(avatar, rng, role);
    }

    pub(super) fn add_pilot(&mut self, avatar: ObjectId, rng: Rng) {
        let walks_at = GameTime::ZERO;
        let foe = None;
        let shoots_at = GameTime::ZERO;
        self.add(avatar, rng, CreatureRole::Pilot { walks_at, foe, shoots_at });
    }

    pub(super) fn add_npc(&mut self, npc: ObjectId, rng: Rng) {
        let role = CreatureRole::Npc { walks_at: GameTime::ZERO };
        self.add(npc, rng, role);
    }

    pub(super) fn add(&mut self, creature: ObjectId, rng: Rng, role: CreatureRole) {
        let rng = rng.into();
        let safe_until = GameTime::ZERO;
        let reads_until = GameTime::ZERO;
        let state = Creature { rng, dead: false, safe_until, reads_until, role };
        self.creatures.insert(creature, state);
    }

    pub(super) fn remove(&mut self, creature: ObjectId) {
        self.creatures.remove(&creature);
    }

    pub(super) fn get(&self, object: ObjectId) -> Option<&Creature> {
        self.creatures.get(&object)
    }

    pub(super) fn get_mut(&mut self, object: ObjectId) -> Option<&mut Creature> {
        self.creatures.get_mut(&object)
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = ObjectId> {
        self.creatures.keys().copied()
    }

    /// The effects of earlier casts; the default for a creature that cannot cast.
    pub(super) fn cast_state(&self, object: ObjectId) -> CastState {
        match self.get(object) {
            Some(Creature { role: CreatureRole::Player(mage), .. }) => *mage,
            _ => CastState::default(),
        }
    }

    pub(super) fn cast_state_mut(&mut self, object: ObjectId) -> Option<&mut CastState> {
        match self.get_mut(object) {
            Some(Creature { role: CreatureRole::Player(mage), .. }) => Some(mage),
            _ => None,
        }
    }

    /// The state of a living wolf.
    pub(super) fn wolf(&self, object: ObjectId) -> Option<WolfState> {
        match self.get(object) {
            Some(Creature { role: CreatureRole::Wolf(wolf), dead: false, .. }) => Some(*wolf),
            _ => None,
        }
    }

    pub(super) fn wolf_mut(&mut self, object: ObjectId) -> Option<&mut WolfState> {
        match self.get_mut(object) {
            Some(Creature { role: CreatureRole::Wolf(wolf), dead: false, .. }) => Some(wolf),
            _ => None,
        }
    }

    pub(super) fn is_veiled(&self, object: ObjectId, at: GameTime) -> bool {
        at < self.cast_state(object).veiled_until
    }

    pub(super) fn is_safe(&self, object: ObjectId, at: GameTime) -> bool {
        self.get(object).is_some_and(|body| at < body.safe_until)
    }

    pub(super) fn reads(&self, object: ObjectId, at: GameTime) -> bool {
        self.get(object).is_some_and(|body| at < body.reads_until)
    }

    pub(super) fn is_pilot(&self, object: ObjectId) -> bool {
        let role = self.get(object).map(|body| &body.role);
        matches!(role, Some(CreatureRole::Pilot { .. }))
    }

    /// Whether this is a living creature.
    pub(super) fn is_alive(&self, object: ObjectId) -> bool {
        self.get(object).is_some_and(|body| !body.dead)
    }
}
