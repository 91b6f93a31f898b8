//! The commands of avatars: walk and cast.
//!
//! A command is checked against the world at its effect time, which is now, and then executed: it
//! never starts and then fails. The first failed check is the answer. The checks are, in this
//! order: the command itself, death, the position, the cooldown, obstacles, and mana.

use ambit::prelude::*;

use super::rules::{
    BLINK_COOLDOWN, BLINK_MANA, BLINK_RANGE_M, BODY_RADIUS_M, BOLT_MANA, HEAL_HEALTH, HEAL_MANA,
    MANA_PER_S, SEARCH_PAUSE, VEIL_DURATION, VEIL_MANA, WALK_M_PER_S,
};
use super::schema::{FieldRefusal, FieldTimer, Spell, SpellCast};
use super::{FieldGame, FieldWorld, bolts, map};

impl FieldGame {
    /// Walks there, round obstacles; up to them if there is no way, or only a long one, or if a way
    /// was searched just now.
    pub(super) fn walk(
        &mut self,
        world: &mut FieldWorld,
        player: Player<Self>,
        to: Position,
    ) -> Result<(), FieldRefusal> {
        self.require_alive(player)?;
        let target = on_ground(to);
        let from = world.avatar(player).position();
        let target = world.nearest_on_map(target);
        let first = ambit_ways::first_stop(world.statics(), BODY_RADIUS_M, from, target);
        let mut corners = vec![first];
        let avatar = player.avatar().object();
        let now = world.now();
        if first != target && now >= self.creatures.cast_state(avatar).search_ready_at {
            let way = ambit_ways::round_obstacles(world.terrain(), BODY_RADIUS_M, from, target);
            corners = way.unwrap_or(corners);
            if let Some(state) = self.creatures.cast_state_mut(avatar) {
                state.search_ready_at = now + SEARCH_PAUSE;
            }
        }
        world.avatar(player).path().walk_along(corners, WALK_M_PER_S);
        Ok(())
    }

    pub(super) fn cast(
        &mut self,
        world: &mut FieldWorld,
        player: Player<Self>,
        spell: Spell,
        at: Option<Position>,
    ) -> Result<(), FieldRefusal> {
        let target = || at.map(on_ground).ok_or(FieldRefusal::NeedsPlace);
        let at = match spell {
            Spell::Bolt => self.cast_bolt(world, player, target()?)?,
            Spell::Heal => self.cast_heal(world, player)?,
            Spell::Veil => self.cast_veil(world, player)?,
            Spell::Blink => self.cast_blink(world, player, target()?)?,
        };
        let caster = player.avatar();
        if let Some(body) = self.creatures.get_mut(caster.object()) {
            body.safe_until = world.now();
        }
        world.emit(SpellCast { caster, spell, at });
        Ok(())
    }

    fn cast_bolt(
        &mut self,
        world: &mut FieldWorld,
        player: Player<Self>,
        target: Position,
    ) -> Result<Position, FieldRefusal> {
        self.require_alive(player)?;
        let from = world.avatar(player).position();
        let end = bolts::end_of_flight(world, from, target).ok_or(FieldRefusal::NeedsPlace)?;
        spend_mana(world, player, BOLT_MANA)?;
        self.launch(world, player.avatar().object(), from, end);
        self.engage_aimed_at(world, player.avatar(), target);
        Ok(target)
    }

    fn cast_heal(
        &mut self,
        world: &mut FieldWorld,
        player: Player<Self>,
    ) -> Result<Position, FieldRefusal> {
        self.require_alive(player)?;
        spend_mana(world, player, HEAL_MANA)?;
        Self::heal(world, player, HEAL_HEALTH);
        Ok(world.avatar(player).position())
    }

    fn cast_veil(
        &mut self,
        world: &mut FieldWorld,
        player: Player<Self>,
    ) -> Result<Position, FieldRefusal> {
        self.require_alive(player)?;
        let caster = player.avatar().object();
        let now = world.now();
        let until = now + VEIL_DURATION;
        if self.creatures.is_veiled(caster, now) {
            return Err(FieldRefusal::OnCooldown);
        }
        spend_mana(world, player, VEIL_MANA)?;
        if let Some(mage) = self.creatures.cast_state_mut(caster) {
            mage.veiled_until = until;
        }
        let mut avatar = world.avatar(player);
        avatar.veiled().set(true);
        avatar.veiled().effective(until).set(false);
        world.ask_who_sees(caster); // No other player: not even the event of the cast shows it.
        world.at(until, FieldTimer::Unveil(caster));
        Ok(world.avatar(player).position())
    }

    fn cast_blink(
        &mut self,
        world: &mut FieldWorld,
        player: Player<Self>,
        target: Position,
    ) -> Result<Position, FieldRefusal> {
        self.require_alive(player)?;
        let caster = player.avatar().object();
        let now = world.now();
        if now < self.creatures.cast_state(caster).blink_ready_at {
            return Err(FieldRefusal::OnCooldown);
        }
        if world.avatar(player).position().distance(target) > BLINK_RANGE_M {
            return Err(FieldRefusal::OutOfRange);
        }
        if !map::is_free(world, target) {
            return Err(FieldRefusal::Blocked);
        }
        spend_mana(world, player, BLINK_MANA)?;
        if let Some(mage) = self.creatures.cast_state_mut(caster) {
            mage.blink_ready_at = now + BLINK_COOLDOWN;
        }
        world.avatar(player).path().teleport(target);
        Ok(target)
    }

    /// Ends a veil, unless a later one is active.
    pub(super) fn unveil(&mut self, world: &mut FieldWorld, avatar: ObjectId) {
        if self.creatures.get(avatar).is_some() && !self.creatures.is_veiled(avatar, world.now()) {
            world.ask_who_sees(avatar);
        }
    }

    fn require_alive(&self, player: Player<Self>) -> Result<(), FieldRefusal> {
        if self.creatures.is_alive(player.avatar().object()) {
            Ok(())
        } else {
            Err(FieldRefusal::Dead)
        }
    }
}

/// Takes the mana, if there is enough.
fn spend_mana(
    world: &mut FieldWorld,
    player: Player<FieldGame>,
    amount: f32,
) -> Result<(), FieldRefusal> {
    let mut avatar = world.avatar(player);
    let left = avatar.mana().value() - amount;
    if left < 0.0 {
        return Err(FieldRefusal::NotEnoughMana);
    }
    avatar.mana().set_both(left, MANA_PER_S);
    Ok(())
}

fn on_ground(position: Position) -> Position {
    Position::on_ground(position.x, position.y)
}
