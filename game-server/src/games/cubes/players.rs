//! Who plays, with which cube, and what drives it: a player's keys, or dice.
//!
//! Dice are thrown frame by frame, by the room's seed and the order of joining, and act through the
//! same keys as players do. Their flags change at the time of the frame, which lies between the
//! horizons of two ticks.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_proto::games::cubes::{
    Arena, BodyId, POSE_FORMAT, Physics, RandomDriver, control, frame_time,
};
use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::time::GameTime;

use super::schema;
use crate::logic::world::World;

/// For how long what a player's cube has touched is told first: a bit longer than until it is said
/// again.
const ENGAGED_FOR: Duration = Duration::from_millis(250);
const ENGAGE_INTERVAL: Duration = Duration::from_millis(100);

/// What `World::rng_for` is asked for.
const DICE_DOMAIN: u64 = 1;

/// Avatars, dice and taps by player; how many have joined; when who is engaged was last said.
pub(super) type SavedCubePlayers = (
    Vec<(PlayerId, ObjectId, Option<RandomDriver>, bool)>,
    u64,
    GameTime,
);

/// All players.
#[derive(Debug, Default)]
pub(super) struct CubePlayers {
    players: BTreeMap<PlayerId, CubePlayer>,
    /// How many have joined so far.
    joined: u64,
    engaged_at: GameTime,
}

/// One player.
#[derive(Debug)]
pub(super) struct CubePlayer {
    pub(super) body: BodyId,
    pub(super) avatar: ObjectId,
    driver: Option<RandomDriver>,
    /// The jump that waits for a step is over after it: the key is up already.
    pub(super) releases_jump: bool,
}

impl CubePlayers {
    pub(super) fn join(
        &mut self,
        world: &World,
        player: PlayerId,
        body: BodyId,
        avatar: ObjectId,
        with_dice: bool,
    ) {
        let driver = with_dice
            .then(|| RandomDriver::new(world.rng_for(DICE_DOMAIN, 0).u64(..), self.joined));
        self.joined += 1;
        self.players.insert(
            player,
            CubePlayer {
                body,
                avatar,
                driver,
                releases_jump: false,
            },
        );
    }

    /// What is saved of them.
    pub(super) fn to_saved(&self) -> SavedCubePlayers {
        let seats = self.players.iter();
        let seats = seats.map(|(player, seat)| {
            (
                *player,
                seat.avatar,
                seat.driver.clone(),
                seat.releases_jump,
            )
        });
        (seats.collect(), self.joined, self.engaged_at)
    }

    /// Players as they were saved, each with the body of the avatar; nothing if one has none.
    pub(super) fn from_saved(
        (seats, joined, engaged_at): SavedCubePlayers,
        body_of: impl Fn(ObjectId) -> Option<BodyId>,
    ) -> Option<Self> {
        let seated = seats
            .into_iter()
            .map(|(player, avatar, driver, releases_jump)| {
                Some((
                    player,
                    CubePlayer {
                        body: body_of(avatar)?,
                        avatar,
                        driver,
                        releases_jump,
                    },
                ))
            });
        Some(Self {
            players: seated.collect::<Option<_>>()?,
            joined,
            engaged_at,
        })
    }

    pub(super) fn leave(&mut self, player: PlayerId) -> Option<CubePlayer> {
        self.players.remove(&player)
    }

    pub(super) fn player(&self, player: PlayerId) -> Option<&CubePlayer> {
        self.players.get(&player)
    }

    pub(super) fn key_driven_mut(&mut self, player: PlayerId) -> Option<&mut CubePlayer> {
        self.players
            .get_mut(&player)
            .filter(|seat| seat.driver.is_none())
    }

    /// A step has seen the taps that waited for it.
    pub(super) fn release_tapped_jumps(&mut self, physics: &mut Physics) {
        for seat in self.players.values_mut().filter(|seat| seat.releases_jump) {
            seat.releases_jump = false;
            let mut keys = physics.keys(seat.body);
            keys.current = keys.current.with(control::JUMP, false);
            physics.set_keys(seat.body, keys);
        }
    }

    /// Lets the dice hold keys for the step from `frame` to the next; nothing is told of before
    /// `settled`.
    pub(super) fn drive_by_dice(
        &mut self,
        world: &mut World,
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
            schema::set_key_flags(
                world,
                seat.avatar,
                frame_time(frame).max(settled),
                keys.current,
            );
        }
    }

    /// Says, now and then, with what each player's cube has to do: what it touches, attracts or
    /// repels.
    pub(super) fn engage(
        &mut self,
        world: &mut World,
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
