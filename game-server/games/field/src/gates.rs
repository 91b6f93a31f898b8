//! Several maps in a row, with a gate in the middle of each border between two of them.
//!
//! An avatar that is transferred keeps its health, mana, veil, cooldown and score; a dead avatar
//! stays until it respawns. An avatar that the server walks starts again from nothing. Units:
//! metres, remaining milliseconds.

use ambit::prelude::*;
use ambit::{TimeLeft, saved};

use super::rules::{HEALTH_PER_S, MANA_PER_S};
use super::schema::{self, Avatar, FieldTimer};
use super::{FieldGame, FieldWorld, RngDomain, map};

/// More than the fastest walker moves in three ticks.
const GATE_DEPTH_M: f32 = 2.0;
const GATE_HALF_WIDTH_M: f32 = 5.0;
/// Distance of arrivals from the border: outside of the gate that leads back.
const ARRIVAL_M: f32 = 5.0;

/// The state that an avatar takes to the other map.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct AvatarTransferState {
    health: f32,
    mana: f32,
    veiled: TimeLeft,
    blink_ready_in: TimeLeft,
    #[serde(default)]
    felled: i64,
}

/// Where avatars arrive on one map: at the west gate, then at the east gate.
pub(super) fn arrival_points(world: &FieldWorld) -> [Position; 2] {
    let width = world.width();
    let middle = world.height() / 2.0;
    [Position::on_ground(ARRIVAL_M, middle), Position::on_ground(width - ARRIVAL_M, middle)]
}

/// The gates of this map in a row of `maps` maps.
pub(super) fn gates(world: &FieldWorld, maps: u32) -> Vec<Gate> {
    let here = world.map();
    let width = world.width();
    let height = world.height();
    let gate = |from_x: f32, map: u32, at: Position| Gate {
        low: Position::on_ground(from_x, height / 2.0 - GATE_HALF_WIDTH_M),
        high: Position::on_ground(from_x + GATE_DEPTH_M, height / 2.0 + GATE_HALF_WIDTH_M),
        map,
        at,
    };
    let [west, east] = arrival_points(world);
    let to_the_west = here.checked_sub(1).map(|map| gate(0.0, map, east));
    let to_the_east = (here + 1 < maps).then(|| gate(width - GATE_DEPTH_M, here + 1, west));
    to_the_west.into_iter().chain(to_the_east).collect()
}

impl FieldGame {
    pub(super) fn save_avatar(&self, world: &FieldWorld, player: Player<Self>) -> Option<Vec<u8>> {
        let id = player.avatar();
        let avatar = world.get(id)?;
        if !self.creatures.is_alive(id.object()) {
            return None;
        }
        let now = world.now();
        let mage = self.creatures.cast_state(id.object());
        Some(saved::of(&AvatarTransferState {
            health: avatar.health().value(),
            mana: avatar.mana().value(),
            veiled: TimeLeft::until(mage.veiled_until, now),
            blink_ready_in: TimeLeft::until(mage.blink_ready_at, now),
            felled: avatar.felled(),
        }))
    }

    /// Creates an avatar beside the gate, with full health and mana if its saved state is invalid.
    pub(super) fn spawn_arrival(
        &mut self,
        world: &mut FieldWorld,
        newcomer: Newcomer,
        at: Position,
        carried: &[u8],
    ) -> Id<Avatar> {
        let mut rng = world.rng_for(RngDomain::Player as u64, newcomer.id.0);
        let place = map::place_near(world, at, &mut rng);
        let avatar = schema::spawn_avatar(world, place, newcomer.name);
        self.creatures.add_player(avatar.object(), rng);
        if let Ok(carried) = saved::all::<AvatarTransferState>(carried) {
            self.restore_avatar(world, avatar, carried);
        }
        avatar
    }

    fn restore_avatar(
        &mut self,
        world: &mut FieldWorld,
        id: Id<Avatar>,
        carried: AvatarTransferState,
    ) {
        let now = world.now();
        let Some(mut avatar) = world.edit(id) else {
            return;
        };
        avatar.health().set_both(carried.health, HEALTH_PER_S);
        avatar.mana().set_both(carried.mana, MANA_PER_S);
        avatar.felled().set(carried.felled);
        let Some(mage) = self.creatures.cast_state_mut(id.object()) else {
            return;
        };
        mage.blink_ready_at = carried.blink_ready_in.ends_at(now);
        if !carried.veiled.is_over() {
            let ends = carried.veiled.ends_at(now);
            mage.veiled_until = ends;
            avatar.veiled().set(true);
            avatar.veiled().effective(ends).set(false);
            world.ask_who_sees(id);
            world.at(ends, FieldTimer::Unveil(id.object()));
        }
    }
}
