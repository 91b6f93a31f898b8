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
pub(super) struct Body {
    #[serde(with = "ambit_proto::dice")]
    pub(super) rng: Rng,
    pub(super) dead: bool,
    pub(super) role: Role,
}

/// What only avatars have, or only wanderers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Role {
    Avatar(Mage),
    /// With the time at which it sets out again; an earlier plan is out of date.
    Npc {
        wakes_at: GameTime,
    },
}

/// What casting has left behind. Both are times until which something holds.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Mage {
    pub(super) veiled_until: GameTime,
    pub(super) blinks_from: GameTime,
}

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Bodies {
    bodies: BTreeMap<ObjectId, Body>,
    avatars: BTreeMap<PlayerId, ObjectId>,
}

impl Bodies {
    pub(super) fn add_avatar(&mut self, player: PlayerId, avatar: ObjectId, rng: Rng) {
        self.avatars.insert(player, avatar);
        self.bodies.insert(
            avatar,
            Body {
                rng,
                dead: false,
                role: Role::Avatar(Mage::default()),
            },
        );
    }

    pub(super) fn add_npc(&mut self, npc: ObjectId, rng: Rng) {
        self.bodies.insert(
            npc,
            Body {
                rng,
                dead: false,
                role: Role::Npc {
                    wakes_at: GameTime::ZERO,
                },
            },
        );
    }

    /// The avatar that is a player's no more.
    pub(super) fn remove_avatar(&mut self, player: PlayerId) -> Option<ObjectId> {
        let avatar = self.avatars.remove(&player)?;
        self.bodies.remove(&avatar);
        Some(avatar)
    }

    /// How many avatars there are, the dead and the veiled included.
    pub(super) fn avatars(&self) -> usize {
        self.avatars.len()
    }

    pub(super) fn avatar(&self, player: PlayerId) -> Option<ObjectId> {
        self.avatars.get(&player).copied()
    }

    pub(super) fn get(&self, object: ObjectId) -> Option<&Body> {
        self.bodies.get(&object)
    }

    pub(super) fn get_mut(&mut self, object: ObjectId) -> Option<&mut Body> {
        self.bodies.get_mut(&object)
    }

    /// What casting has left behind; nothing for one who casts nothing.
    pub(super) fn mage(&self, object: ObjectId) -> Mage {
        match self.get(object) {
            Some(Body {
                role: Role::Avatar(mage),
                ..
            }) => *mage,
            _ => Mage::default(),
        }
    }

    pub(super) fn mage_mut(&mut self, object: ObjectId) -> Option<&mut Mage> {
        match self.get_mut(object) {
            Some(Body {
                role: Role::Avatar(mage),
                ..
            }) => Some(mage),
            _ => None,
        }
    }

    pub(super) fn is_veiled(&self, object: ObjectId, at: GameTime) -> bool {
        at < self.mage(object).veiled_until
    }

    /// Whether this is a player's, and not a wanderer.
    pub(super) fn is_avatar(&self, object: ObjectId) -> bool {
        matches!(
            self.get(object),
            Some(Body {
                role: Role::Avatar(_),
                ..
            })
        )
    }

    /// Whether this is somebody who lives.
    pub(super) fn is_alive(&self, object: ObjectId) -> bool {
        self.get(object).is_some_and(|body| !body.dead)
    }
}
