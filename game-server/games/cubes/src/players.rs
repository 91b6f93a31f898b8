//! The players, their cubes, and what drives these: a player's keys, or random numbers.
//!
//! Random drivers change their keys frame by frame, depending on the room's seed and the order of
//! joining, and act through the same keys as players. Their flags change at the time of the frame,
//! which lies between the horizons of two ticks.

use std::collections::BTreeMap;

use ambit::physics::{Arena, BodyId, SharedPhysics, frame_time};
use ambit::prelude::*;
use ambit_cubes_physics::{POSE_FORMAT, Physics, RandomDriver, control};

use super::CubesWorld;
use super::schema::{self, PlayerCube};

/// How long the objects that a player's cube touches stay engaged: a bit longer than the interval
/// at which engagements are renewed.
const ENGAGED_FOR: Duration = Duration::from_millis(250);
const ENGAGE_INTERVAL: Duration = Duration::from_millis(100);

/// The domain of `World::rng_for`.
const DICE_DOMAIN: u64 = 1;

/// Avatar, driver and pending jump of each player; how many have joined; when engagements were last
/// renewed.
pub(super) type SavedCubePlayers =
    (Vec<(PlayerId, Id<PlayerCube>, Option<RandomDriver>, bool)>, u64, GameTime);

#[derive(Debug, Default)]
pub(super) struct CubePlayers {
    players: BTreeMap<PlayerId, CubePlayer>,
    /// How many players have joined since the start.
    joined: u64,
    engaged_at: GameTime,
}

#[derive(Debug)]
pub(super) struct CubePlayer {
    pub(super) body: BodyId,
    pub(super) avatar: Id<PlayerCube>,
    driver: Option<RandomDriver>,
    /// The jump key is up already, but stays pressed until the next step has seen it.
    pub(super) releases_jump: bool,
}

impl CubePlayers {
    /// The random driver of the player who joins next.
    pub(super) fn next_driver(&self, world: &CubesWorld) -> RandomDriver {
        RandomDriver::new(world.rng_for(DICE_DOMAIN, 0).u64(..), self.joined)
    }

    /// A player without a random driver is driven by keys.
    pub(super) fn join(
        &mut self,
        player: PlayerId,
        body: BodyId,
        avatar: Id<PlayerCube>,
        driver: Option<RandomDriver>,
    ) {
        self.joined += 1;
        let seat = CubePlayer { body, avatar, driver, releases_jump: false };
        self.players.insert(player, seat);
    }

    pub(super) fn to_saved(&self) -> SavedCubePlayers {
        let seats = self.players.iter();
        let seats = seats
            .map(|(player, seat)| (*player, seat.avatar, seat.driver.clone(), seat.releases_jump));
        (seats.collect(), self.joined, self.engaged_at)
    }

    /// Restores saved players, each with the body of its avatar. `None` if an avatar has no body.
    pub(super) fn from_saved(
        (seats, joined, engaged_at): SavedCubePlayers,
        body_of: impl Fn(Id<PlayerCube>) -> Option<BodyId>,
    ) -> Option<Self> {
        let seated = seats.into_iter().map(|(player, avatar, driver, releases_jump)| {
            Some((player, CubePlayer { body: body_of(avatar)?, avatar, driver, releases_jump }))
        });
        Some(Self { players: seated.collect::<Option<_>>()?, joined, engaged_at })
    }

    pub(super) fn leave(&mut self, player: PlayerId) -> Option<CubePlayer> {
        self.players.remove(&player)
    }

    pub(super) fn key_driven_mut(&mut self, player: PlayerId) -> Option<&mut CubePlayer> {
        self.players.get_mut(&player).filter(|seat| seat.driver.is_none())
    }

    /// Releases the jump keys that a step has now seen.
    pub(super) fn release_tapped_jumps(&mut self, physics: &mut Physics) {
        for seat in self.players.values_mut().filter(|seat| seat.releases_jump) {
            seat.releases_jump = false;
            let mut keys = physics.keys(seat.body);
            keys.current = keys.current.with(control::JUMP, false);
            physics.set_keys(seat.body, keys);
        }
    }

    /// Sets the keys of random drivers for the step from `frame` to the next. No flag changes
    /// before `settled`.
    pub(super) fn drive_by_dice(
        &mut self,
        world: &mut CubesWorld,
        physics: &mut Physics,
        arena: Arena,
        frame: u64,
        settled: GameTime,
    ) {
        for seat in self.players.values_mut() {
            let Some(driver) = &mut seat.driver else {
                continue;
            };
            let at = POSE_FORMAT.position(&physics.pose(seat.body));
            let mut keys = physics.keys(seat.body);
            keys.current = driver.keys(frame, [at.x, at.y], arena);
            physics.set_keys(seat.body, keys);
            schema::set_key_flags(world, seat.avatar, frame_time(frame).max(settled), keys.current);
        }
    }

    /// Periodically engages each player with the objects that its cube touches, attracts or repels.
    pub(super) fn engage(
        &mut self,
        world: &mut CubesWorld,
        physics: &Physics,
        objects: &[ObjectId],
        found: &mut Vec<BodyId>,
    ) {
        let now = world.now();
        if now.since(self.engaged_at) < ENGAGE_INTERVAL {
            return;
        }
        self.engaged_at = now;
        for seat in self.players.values() {
            physics.bodies_within_influence(seat.body, found);
            for body in &*found {
                world.engage(seat.avatar, objects[body.slot()], now + ENGAGED_FOR);
            }
        }
    }
}
