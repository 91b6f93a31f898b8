//! Damage, healing, death and respawn.
//!
//! The events reach only the clients that follow the affected object. They do not name the
//! attacker, and those of a veiled avatar reach only its own player.

use ambit_proto::ids::ObjectId;
use ambit_proto::message::FieldValue;
use ambit_proto::time::GameTime;

use super::creatures::CreatureRole;
use super::rules::{AVATAR_HEALTH, HEALTH_PER_S, NPC_HEALTH, RESPAWN_DELAY};
use super::schema::{ALIVE, DAMAGE, DIED, HEALED, HEALTH, RESPAWNED};
use super::timers::WakeReason;
use super::{FieldGame, map};
use ambit_room::logic::world::World;

impl FieldGame {
    /// Takes health from a living target, at a time since the last tick.
    pub(super) fn damage(
        &mut self,
        world: &mut World,
        target: ObjectId,
        amount: i16,
        at: GameTime,
    ) {
        let left = world.gauge_at(target, HEALTH, at).value - f32::from(amount);
        world.emit(
            DAMAGE,
            target,
            at,
            vec![
                FieldValue::Object(target),
                FieldValue::Number(amount.into()),
            ],
        );
        if left > 0.0 {
            world.set_gauge(target, HEALTH, at, left, HEALTH_PER_S);
        } else {
            self.kill(world, target, at);
        }
    }

    /// Gives health to a target, now.
    pub(super) fn heal(world: &mut World, target: ObjectId, amount: i16) {
        let now = world.now();
        let health = world.gauge(target, HEALTH).value + f32::from(amount);
        world.set_gauge(target, HEALTH, now, health, HEALTH_PER_S);
        world.emit(
            HEALED,
            target,
            now,
            vec![
                FieldValue::Object(target),
                FieldValue::Number(amount.into()),
            ],
        );
    }

    fn kill(&mut self, world: &mut World, target: ObjectId, at: GameTime) {
        let Some(body) = self.creatures.get_mut(target) else {
            return;
        };
        body.dead = true;
        if let CreatureRole::Avatar(_) = body.role {
            world.set_flag(target, ALIVE, at, false);
        }
        world.set_gauge(target, HEALTH, at, 0.0, 0.0);
        world.stop(target, at);
        world.emit(DIED, target, at, vec![FieldValue::Object(target)]);
        self.timers
            .add(at + RESPAWN_DELAY, target, WakeReason::Respawn);
    }

    /// Brings a dead avatar or wanderer back, now and at another position.
    pub(super) fn respawn(&mut self, world: &mut World, target: ObjectId) {
        let avatars = self.creatures.avatar_count();
        let Some(body) = self.creatures.get_mut(target).filter(|body| body.dead) else {
            return;
        };
        let now = world.now();
        body.dead = false;
        let (place, health) = match body.role {
            CreatureRole::Avatar(_) => {
                world.set_flag(target, ALIVE, now, true);
                (
                    map::spawn_place(world, avatars, &mut body.rng),
                    AVATAR_HEALTH,
                )
            }
            CreatureRole::Npc { .. } => (map::free_place(world, &mut body.rng), NPC_HEALTH),
        };
        world.teleport(target, place);
        world.set_gauge(target, HEALTH, now, health, HEALTH_PER_S);
        world.emit(RESPAWNED, target, now, vec![FieldValue::Object(target)]);
        self.pause(world, target);
    }
}
