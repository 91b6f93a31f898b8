//! Who fights whom: of whom a player wants the freshest news.
//!
//! A caster is engaged with whom it aims at and with whom it hits, a victim with its attacker, for
//! five seconds each.
//!
//! Invariant: nobody gets engaged with somebody it does not see, since that would show in its
//! traffic: neither with a veiled one that its bolt went through, nor with a veiled attacker.

use std::time::Duration;

use ambit_proto::ids::ObjectId;
use ambit_proto::space::Position;

use super::FieldGame;
use crate::logic::game::Game;
use crate::logic::world::World;

const ENGAGED_FOR: Duration = Duration::from_secs(5);
/// How far from somebody one may aim and still mean them.
const AIM_RADIUS_M: f32 = 1.5;

impl FieldGame {
    /// A caster aims at a point: at whoever is nearest to it, of those it sees.
    pub(super) fn engage_aimed_at(&mut self, world: &mut World, caster: ObjectId, at: Position) {
        let mut near = std::mem::take(&mut self.bolts.near);
        world.find_within(at, AIM_RADIUS_M, &mut near);
        near.retain(|&target| {
            target != caster && self.creatures.is_alive(target) && self.sees(world, caster, target)
        });
        let distance = |target: &ObjectId| world.position(*target).distance(at);
        let nearest = near
            .iter()
            .copied()
            .min_by(|one, other| distance(one).total_cmp(&distance(other)));
        self.bolts.near = near;
        if let Some(target) = nearest {
            self.engage(world, caster, target);
        }
    }

    /// The player of `viewer` wants the freshest news of `object`, which it sees. Nothing for a
    /// wanderer, which has no player.
    pub(super) fn engage(&self, world: &mut World, viewer: ObjectId, object: ObjectId) {
        let is_there = self.creatures.is_avatar(viewer) && self.creatures.get(object).is_some(); // Who cast a bolt may have left.
        if is_there && self.sees(world, viewer, object) {
            world.engage(viewer, object, world.now() + ENGAGED_FOR);
        }
    }
}
