//! Engagements in fights: the objects that a player needs the freshest updates of.
//!
//! A caster is engaged with the target that it aims at and with those that it hits, a victim with
//! its attacker, for five seconds each.
//!
//! Invariant: a player is never engaged with an object that it does not see, since its traffic
//! would reveal that object: neither with a veiled avatar that its bolt went through, nor with a
//! veiled attacker.

use ambit::prelude::*;

use super::schema::Avatar;
use super::{FieldGame, FieldWorld};

const ENGAGED_FOR: Duration = Duration::from_secs(5);
/// The largest distance between the aimed point and the target.
const AIM_RADIUS_M: f32 = 1.5;

impl FieldGame {
    /// Engages a caster with the target nearest to the point it aims at, among those that it sees.
    pub(super) fn engage_aimed_at(
        &mut self,
        world: &mut FieldWorld,
        caster: Id<Avatar>,
        at: Position,
    ) {
        let mut near = std::mem::take(&mut self.bolts.near);
        world.find_any_within(at, AIM_RADIUS_M, &mut near);
        near.retain(|&target| {
            target != caster.object()
                && self.creatures.is_alive(target)
                && self.sees(world, caster, target, Sight::Kept)
        });
        let distance = |target: &ObjectId| {
            let position = world.position(*target);
            position.map_or(f32::INFINITY, |position| position.distance(at))
        };
        let nearest =
            near.iter().copied().min_by(|one, other| distance(one).total_cmp(&distance(other)));
        self.bolts.near = near;
        if let Some(target) = nearest {
            self.engage(world, caster.object(), target);
        }
    }

    /// Engages the player of `viewer` with `object`, if it sees the object. Does nothing for a
    /// wanderer or a pilot, which have no player.
    pub(super) fn engage(&self, world: &mut FieldWorld, viewer: ObjectId, object: ObjectId) {
        // The caster of a bolt may have left.
        let Some(avatar) = world.cast::<Avatar>(viewer) else {
            return;
        };
        if self.creatures.get(object).is_some() && self.sees(world, avatar, object, Sight::Kept) {
            world.engage(avatar, object, world.now() + ENGAGED_FOR);
        }
    }
}
