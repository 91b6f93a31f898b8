//! Several maps in a row, with a gate in the middle of each border between two of them.
//!
//! An avatar takes along its health, mana, veil and what it has to wait for; the dead stay where
//! they are until they have returned. Who is walked by the server comes anew. Units: metres,
//! milliseconds that are left.

use std::time::Duration;

use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use serde::{Deserialize, Serialize};

use super::rules::{HEALTH_PER_S, MANA_PER_S};
use super::table::{HEALTH, MANA_LEFT, VEILED};
use super::timers::Wake;
use super::{Dice, Field, map, table};
use crate::logic::gate::Gate;
use crate::logic::world::World;
use crate::saved;

/// Three ticks of the fastest walker, and more.
const DEPTH_M: f32 = 2.0;
const HALF_WIDTH_M: f32 = 5.0;
/// How far from the border one arrives: out of the gate that leads back.
const ARRIVAL_M: f32 = 5.0;

/// What an avatar takes along.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Carried {
    health: f32,
    mana: f32,
    veiled_ms: u32,
    blinks_in_ms: u32,
}

/// Where avatars come out of the gates on one map: west, then east.
pub(super) fn arrivals(world: &World) -> [Position; 2] {
    let (width, middle) = (world.grid().width(), world.grid().height() / 2.0);
    [
        Position::on_ground(ARRIVAL_M, middle),
        Position::on_ground(width - ARRIVAL_M, middle),
    ]
}

/// The gates of one of so many maps.
pub(super) fn gates(world: &World, maps: u32) -> Vec<Gate> {
    let (here, width, height) = (world.map(), world.grid().width(), world.grid().height());
    let gate = |from_x: f32, map: u32, at: Position| Gate {
        low: Position::on_ground(from_x, height / 2.0 - HALF_WIDTH_M),
        high: Position::on_ground(from_x + DEPTH_M, height / 2.0 + HALF_WIDTH_M),
        map,
        at,
    };
    let [west, east] = arrivals(world);
    let to_the_west = here.checked_sub(1).map(|map| gate(0.0, map, east));
    let to_the_east = (here + 1 < maps).then(|| gate(width - DEPTH_M, here + 1, west));
    to_the_west.into_iter().chain(to_the_east).collect()
}

impl Field {
    pub(super) fn carried(&self, world: &World, player: PlayerId) -> Option<Vec<u8>> {
        if self.walkers.has(player) {
            return Some(Vec::new());
        }
        let avatar = self
            .bodies
            .avatar(player)
            .filter(|avatar| self.bodies.is_alive(*avatar))?;
        let (now, mage) = (world.now(), self.bodies.mage(avatar));
        Some(saved::of(&Carried {
            health: world.gauge(avatar, HEALTH).value,
            mana: world.gauge(avatar, MANA_LEFT).value,
            veiled_ms: left_ms(now, mage.veiled_until),
            blinks_in_ms: left_ms(now, mage.blinks_from),
        }))
    }

    /// A player's avatar beside the gate; as good as new if what it carries makes no sense.
    pub(super) fn arrive_with(
        &mut self,
        world: &mut World,
        player: PlayerId,
        name: &str,
        at: Position,
        carried: &[u8],
    ) -> ObjectId {
        let mut rng = world.rng_for(Dice::Player as u64, player.0);
        let place = map::place_near(world, at, &mut rng);
        let avatar = table::spawn_avatar(world, place, name);
        self.bodies.add_avatar(player, avatar, rng);
        if let Ok(carried) = saved::all::<Carried>(carried) {
            self.unpack(world, avatar, carried);
        }
        avatar
    }

    fn unpack(&mut self, world: &mut World, avatar: ObjectId, carried: Carried) {
        let now = world.now();
        world.set_gauge(avatar, HEALTH, now, carried.health, HEALTH_PER_S);
        world.set_gauge(avatar, MANA_LEFT, now, carried.mana, MANA_PER_S);
        let until = |left_ms: u32| now + Duration::from_millis(left_ms.into());
        let Some(mage) = self.bodies.mage_mut(avatar) else {
            return;
        };
        mage.blinks_from = until(carried.blinks_in_ms);
        if carried.veiled_ms > 0 {
            mage.veiled_until = until(carried.veiled_ms);
            let ends = mage.veiled_until;
            world.set_flag(avatar, VEILED, now, true);
            world.set_flag(avatar, VEILED, ends, false);
            world.hide(avatar);
            self.timers.add(ends, avatar, Wake::Unveil);
        }
    }
}

fn left_ms(now: GameTime, until: GameTime) -> u32 {
    if until > now {
        until.since(now).as_millis() as u32
    } else {
        0
    }
}
