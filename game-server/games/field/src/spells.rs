//! The commands of avatars: walk and cast.
//!
//! A command is checked against the world at its effect time, which is now, and then executed: it
//! never starts and then fails. The first failed check is the answer. The checks are, in this
//! order: the command itself, death, the position, the cooldown, obstacles, and mana.

use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::ObjectId;
use ambit_proto::message::FieldValue;
use ambit_proto::space::Position;

use super::FieldGame;
use super::rules::{
    BLINK_COOLDOWN, BLINK_MANA, BLINK_RANGE_M, BODY_RADIUS_M, BOLT_MANA, HEAL_HEALTH, HEAL_MANA,
    MANA_PER_S, VEIL_DURATION, VEIL_MANA, WALK_M_PER_S,
};
use super::schema::{CAST, FieldRefusal, MANA_LEFT, Spell, VEILED};
use super::timers::WakeReason;
use super::{bolts, map};
use ambit_room::logic::game::Refusal;
use ambit_room::logic::world::World;

impl FieldGame {
    /// Walks in a straight line up to the first obstacle.
    pub(super) fn walk(
        &mut self,
        world: &mut World,
        avatar: ObjectId,
        to: Position,
    ) -> Result<(), Refusal> {
        self.require_alive(avatar)?;
        let target = on_ground(to);
        let from = world.position(avatar);
        let distance_m = from.distance(target);
        let free = world.statics().sweep(from, target, BODY_RADIUS_M);
        let end = if free < distance_m {
            from.lerp(target, free / distance_m)
        } else {
            target
        };
        world.walk_to(avatar, end, WALK_M_PER_S);
        Ok(())
    }

    pub(super) fn cast(
        &mut self,
        world: &mut World,
        caster: ObjectId,
        spell: u8,
        at: Option<Position>,
    ) -> Result<(), Refusal> {
        let known = Spell::from_index(spell).ok_or(Refusal::Code(ErrorCode::UnknownCommand))?;
        let target = || at.ok_or(Refusal::Code(ErrorCode::BadPosition));
        let shown_at = match known {
            Spell::Bolt => self.cast_bolt(world, caster, target()?)?,
            Spell::Heal => self.cast_heal(world, caster)?,
            Spell::Veil => self.cast_veil(world, caster)?,
            Spell::Blink => self.cast_blink(world, caster, target()?)?,
        };
        let fields = vec![
            FieldValue::Object(caster),
            FieldValue::Choice(spell),
            FieldValue::Position(shown_at),
        ];
        world.emit(CAST, caster, world.now(), fields);
        Ok(())
    }

    fn cast_bolt(
        &mut self,
        world: &mut World,
        caster: ObjectId,
        at: Position,
    ) -> Result<Position, Refusal> {
        self.require_alive(caster)?;
        let target = on_ground(at);
        let from = world.position(caster);
        let end = bolts::end_of_flight(world, from, target)
            .ok_or(Refusal::Code(ErrorCode::BadPosition))?;
        spend_mana(world, caster, BOLT_MANA)?;
        self.launch(world, caster, from, end);
        self.engage_aimed_at(world, caster, target);
        Ok(target)
    }

    fn cast_heal(&mut self, world: &mut World, caster: ObjectId) -> Result<Position, Refusal> {
        self.require_alive(caster)?;
        spend_mana(world, caster, HEAL_MANA)?;
        Self::heal(world, caster, HEAL_HEALTH);
        Ok(world.position(caster))
    }

    fn cast_veil(&mut self, world: &mut World, caster: ObjectId) -> Result<Position, Refusal> {
        self.require_alive(caster)?;
        let now = world.now();
        let until = now + VEIL_DURATION;
        if self.creatures.is_veiled(caster, now) {
            return Err(FieldRefusal::OnCooldown.into());
        }
        spend_mana(world, caster, VEIL_MANA)?;
        if let Some(mage) = self.creatures.cast_state_mut(caster) {
            mage.veiled_until = until;
        }
        world.set_flag(caster, VEILED, now, true);
        world.set_flag(caster, VEILED, until, false);
        world.hide(caster); // Before the event of the cast: no other client receives it.
        self.timers.add(until, caster, WakeReason::Unveil);
        Ok(world.position(caster))
    }

    fn cast_blink(
        &mut self,
        world: &mut World,
        caster: ObjectId,
        at: Position,
    ) -> Result<Position, Refusal> {
        self.require_alive(caster)?;
        let target = on_ground(at);
        let now = world.now();
        if now < self.creatures.cast_state(caster).blink_ready_at {
            return Err(FieldRefusal::OnCooldown.into());
        }
        if world.position(caster).distance(target) > BLINK_RANGE_M {
            return Err(FieldRefusal::OutOfRange.into());
        }
        if !map::is_free(world, target) {
            return Err(FieldRefusal::Blocked.into());
        }
        spend_mana(world, caster, BLINK_MANA)?;
        if let Some(mage) = self.creatures.cast_state_mut(caster) {
            mage.blink_ready_at = now + BLINK_COOLDOWN;
        }
        world.teleport(caster, target);
        Ok(target)
    }

    /// Ends a veil, unless a later one is active.
    pub(super) fn unveil(&mut self, world: &mut World, avatar: ObjectId) {
        if self.creatures.get(avatar).is_some() && !self.creatures.is_veiled(avatar, world.now()) {
            world.reveal(avatar);
        }
    }

    fn require_alive(&self, avatar: ObjectId) -> Result<(), Refusal> {
        if self.creatures.is_alive(avatar) {
            Ok(())
        } else {
            Err(FieldRefusal::Dead.into())
        }
    }
}

/// Takes the mana, if there is enough.
fn spend_mana(world: &mut World, caster: ObjectId, mana: f32) -> Result<(), Refusal> {
    let left = world.gauge(caster, MANA_LEFT).value - mana;
    if left < 0.0 {
        return Err(FieldRefusal::NotEnoughMana.into());
    }
    world.set_gauge(caster, MANA_LEFT, world.now(), left, MANA_PER_S);
    Ok(())
}

fn on_ground(position: Position) -> Position {
    Position::on_ground(position.x, position.y)
}
