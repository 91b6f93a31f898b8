//! Damage, healing, death and respawn.
//!
//! The events reach only the clients that follow the affected object. They do not name a veiled
//! attacker, and those of a veiled avatar reach only its own player.

use ambit::prelude::*;

use super::creatures::CreatureRole;
use super::rules::{AVATAR_HEALTH, HEALTH_PER_S, NPC_HEALTH, RESPAWN_DELAY, SAFE, WOLF_HEALTH};
use super::schema::{self, Avatar, BestHunter, Damage, Died, FieldTimer, Healed, Respawned};
use super::{FieldGame, FieldWorld, map};

/// The number of players whose felled numbers are shown to all.
const BEST_HUNTERS: usize = 3;

impl FieldGame {
    /// Takes health from a living target, at a time since the last tick. True if it falls. `by` is
    /// who is known to have done it: the target turns on that one.
    pub(super) fn damage(
        &mut self,
        world: &mut FieldWorld,
        target: ObjectId,
        amount: i16,
        at: GameTime,
        by: Option<ObjectId>,
    ) -> bool {
        let health = schema::health_at(world, target, at);
        let Some(health) = health.filter(|_| !self.creatures.is_safe(target, at)) else {
            return false;
        };
        let left = health - f32::from(amount);
        let amount = amount.into();
        world.emit(Damage { target, amount, by }).at(at);
        if left > 0.0 {
            schema::set_health(world, target, at, left, HEALTH_PER_S);
            if let Some(by) = by {
                self.turn_on(world, target, by);
            }
        } else {
            self.kill(world, target, at, by);
        }
        left <= 0.0
    }

    /// One more has fallen to this caster, unless it has left.
    pub(super) fn score(&mut self, world: &mut FieldWorld, caster: ObjectId) {
        let Some(caster) = world.cast::<Avatar>(caster) else { return };
        if let Some(mut avatar) = world.edit(caster) {
            avatar.felled().add(1);
        }
        let Some(avatar) = world.get(caster) else { return };
        let name = avatar.name().to_owned();
        let felled = avatar.felled();
        let best = &mut self.best_hunters;
        // A hunter who had the same number before stays ahead.
        let is_less =
            |row: Id<BestHunter>| world.get(row).is_none_or(|best| best.felled() < felled);
        let place = best.iter().position(|(_, row)| is_less(*row)).unwrap_or(best.len());
        let old = best.iter().position(|(hunter, _)| *hunter == caster);
        let row = match old {
            Some(own) => best.remove(own).1,
            None if best.len() < BEST_HUNTERS => {
                world.spawn(BestHunter { name: "".into(), felled: 0.into() })
            }
            None if place < best.len() => best.remove(best.len() - 1).1,
            None => return,
        };
        best.insert(place, (caster, row));
        if let Some(mut row) = world.edit(row) {
            row.name().set(&name);
            row.felled().set(felled);
        }
        self.end_by_target(world, felled);
    }

    /// Gives health to an avatar, now.
    pub(super) fn heal(world: &mut FieldWorld, player: Player<Self>, amount: i16) {
        let mut avatar = world.avatar(player);
        let health = avatar.health().value() + f32::from(amount);
        avatar.health().set_both(health, HEALTH_PER_S);
        let target = player.avatar();
        let amount = amount.into();
        world.emit(Healed { target, amount });
    }

    fn kill(
        &mut self,
        world: &mut FieldWorld,
        target: ObjectId,
        at: GameTime,
        by: Option<ObjectId>,
    ) {
        let Some(body) = self.creatures.get_mut(target) else {
            return;
        };
        body.dead = true;
        set_alive(world, target, at, false);
        schema::set_health(world, target, at, 0.0, 0.0);
        schema::edit_path(world, target, |mut path| path.stop_at(at));
        world.emit(Died { target, by }).at(at);
        world.at(at + RESPAWN_DELAY, FieldTimer::Respawn(target));
    }

    /// Brings a dead creature back, now and at another position.
    pub(super) fn respawn(&mut self, world: &mut FieldWorld, target: ObjectId) {
        let avatars = self.avatar_count(world);
        let Some(body) = self.creatures.get_mut(target).filter(|body| body.dead) else {
            return;
        };
        let now = world.now();
        (body.dead, body.safe_until) = (false, now + SAFE);
        set_alive(world, target, now, true);
        let (place, health) = match body.role {
            CreatureRole::Player(_) | CreatureRole::Pilot { .. } => {
                (map::spawn_place(world, avatars, &mut body.rng), AVATAR_HEALTH)
            }
            CreatureRole::Npc { .. } => (map::free_place(world, &mut body.rng), NPC_HEALTH),
            CreatureRole::Wolf(_) => (map::free_place(world, &mut body.rng), WOLF_HEALTH),
        };
        schema::edit_path(world, target, |mut path| path.teleport(place));
        schema::set_health(world, target, now, health, HEALTH_PER_S);
        world.emit(Respawned { target });
        self.pause(world, target);
    }
}

/// Tells the clients whether an avatar is alive, from a time on. Others have no such component.
fn set_alive(world: &mut FieldWorld, creature: ObjectId, at: GameTime, is_alive: bool) {
    let avatar = world.cast::<Avatar>(creature);
    if let Some(mut avatar) = avatar.and_then(|avatar| world.edit(avatar)) {
        avatar.alive().effective(at).set(is_alive);
        // Then it counts by itself: nothing more has to be sent.
        if !is_alive {
            avatar.back_in().effective(at).set_both(RESPAWN_DELAY.as_secs_f32(), -1.0);
        }
    }
}
