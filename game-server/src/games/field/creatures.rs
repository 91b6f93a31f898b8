//! Those who live on the field: avatars and wanderers.
//!
//! What the world does not know of them: who is dead, who is veiled until when, whose dice are
//! whose. Each has dice of its own, so that nobody's fate depends on what somebody else, perhaps
//! unseen, does.

use std::collections::BTreeMap;

use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::time::GameTime;
use fastrand::Rng;
use serde::{Deserialize, Serialize};

/// One who can be hurt.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Creature {
    #[serde(with = "ambit_proto::dice")]
    pub(super) rng: Rng,
    pub(super) dead: bool,
    pub(super) role: CreatureRole,
}

/// What only avatars have, or only wanderers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum CreatureRole {
    Avatar(CastState),
    /// With the time at which it sets out again; an earlier plan is out of date.
    Npc {
        wanders_at: GameTime,
    },
}

/// What casting has left behind. Both are times until which something holds.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct CastState {
    pub(super) veiled_until: GameTime,
    pub(super) blink_ready_at: GameTime,
}

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Creatures {
    creatures: BTreeMap<ObjectId, Creature>,
    avatars: BTreeMap<PlayerId, ObjectId>,
}

impl Creatures {
    pub(super) fn add_avatar(&mut self, player: PlayerId, avatar: ObjectId, rng: Rng) {
        self.avatars.insert(player, avatar);
        self.creatures.insert(
            avatar,
            Creature {
                rng,
                dead: false,
                role: CreatureRole::Avatar(CastState::default()),
            },
        );
    }

    pub(super) fn add_npc(&mut self, npc: ObjectId, rng: Rng) {
        self.creatures.insert(
            npc,
            Creature {
                rng,
                dead: false,
                role: CreatureRole::Npc {
                    wanders_at: GameTime::ZERO,
                },
            },
        );
    }

    /// The avatar that is a player's no more.
    pub(super) fn remove_avatar(&mut self, player: PlayerId) -> Option<ObjectId> {
        let avatar = self.avatars.remove(&player)?;
        self.creatures.remove(&avatar);
        Some(avatar)
    }

    /// How many avatars there are, the dead and the veiled included.
    pub(super) fn avatar_count(&self) -> usize {
        self.avatars.len()
    }

    pub(super) fn avatar(&self, player: PlayerId) -> Option<ObjectId> {
        self.avatars.get(&player).copied()
    }

    pub(super) fn get(&self, object: ObjectId) -> Option<&Creature> {
        self.creatures.get(&object)
    }

    pub(super) fn get_mut(&mut self, object: ObjectId) -> Option<&mut Creature> {
        self.creatures.get_mut(&object)
    }

    /// What casting has left behind; nothing for one who casts nothing.
    pub(super) fn cast_state(&self, object: ObjectId) -> CastState {
        match self.get(object) {
            Some(Creature {
                role: CreatureRole::Avatar(mage),
                ..
            }) => *mage,
            _ => CastState::default(),
        }
    }

    pub(super) fn cast_state_mut(&mut self, object: ObjectId) -> Option<&mut CastState> {
        match self.get_mut(object) {
            Some(Creature {
                role: CreatureRole::Avatar(mage),
                ..
            }) => Some(mage),
            _ => None,
        }
    }

    pub(super) fn is_veiled(&self, object: ObjectId, at: GameTime) -> bool {
        at < self.cast_state(object).veiled_until
    }

    /// Whether this is a player's, and not a wanderer.
    pub(super) fn is_avatar(&self, object: ObjectId) -> bool {
        matches!(
            self.get(object),
            Some(Creature {
                role: CreatureRole::Avatar(_),
                ..
            })
        )
    }

    /// Whether this is somebody who lives.
    pub(super) fn is_alive(&self, object: ObjectId) -> bool {
        self.get(object).is_some_and(|body| !body.dead)
    }
}
