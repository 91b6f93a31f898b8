//! Engagements in fights: the objects that a player needs the freshest updates of.
//!
//! A caster is engaged with the target that it aims at and with those that it hits, a victim with
//! its attacker, for five seconds each.
//!
//! Invariant: a player is never engaged with an object that it does not see, since its traffic
//! would reveal that object: neither with a veiled avatar that its bolt went through, nor with a
//! veiled attacker.

use std::time::Duration;

use ambit_proto::ids::ObjectId;
use ambit_proto::space::Position;

use super::FieldGame;
use ambit_room::logic::game::Game;
use ambit_room::logic::world::World;

const ENGAGED_FOR: Duration = Duration::from_secs(5);
/// The largest distance between the aimed point and the target.
const AIM_RADIUS_M: f32 = 1.5;

impl FieldGame {
    /// Engages a caster with the target nearest to the point it aims at, among those that it sees.
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

    /// Engages the player of `viewer` with `object`, if it sees the object. Does nothing for a
    /// wanderer, which has no player.
    pub(super) fn engage(&self, world: &mut World, viewer: ObjectId, object: ObjectId) {
        // The caster of a bolt may have left.
        let is_there = self.creatures.is_avatar(viewer) && self.creatures.get(object).is_some();
        if is_there && self.sees(world, viewer, object) {
            world.engage(viewer, object, world.now() + ENGAGED_FOR);
        }
    }
}
