//! Who plays, with which cube, and what drives it: a player's keys, or dice.
//!
//! Dice are thrown frame by frame, by the room's seed and the order of joining, and act through the
//! same keys as players do. Their flags change at the time of the frame, which lies between the
//! horizons of two ticks.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_proto::games::cubes::{Arena, Body, Driver, FORMAT, Physics, control, time_of};
use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::time::GameTime;

use super::table;
use crate::logic::world::World;

/// For how long what a player's cube has touched is told first: a bit longer than until it is said
/// again.
const ENGAGED: Duration = Duration::from_millis(250);
const ENGAGED_AGAIN: Duration = Duration::from_millis(100);

/// What `World::rng_for` is asked for.
const DICE: u64 = 1;

/// Avatars, dice and taps by player; how many have joined; when who is engaged was last said.
pub(super) type SavedPlayers = (
    Vec<(PlayerId, ObjectId, Option<Driver>, bool)>,
    u64,
    GameTime,
);

/// All players.
#[derive(Debug, Default)]
pub(super) struct Players {
    seats: BTreeMap<PlayerId, Seat>,
    /// How many have joined so far.
    joined: u64,
    engaged_at: GameTime,
}

/// One player.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) body: Body,
    pub(super) avatar: ObjectId,
    driver: Option<Driver>,
    /// The jump that waits for a step is over after it: the key is up already.
    pub(super) ends_tap: bool,
}

impl Players {
    pub(super) fn join(
        &mut self,
        world: &World,
        player: PlayerId,
        body: Body,
        avatar: ObjectId,
        with_dice: bool,
    ) {
        let driver = with_dice.then(|| Driver::new(world.rng_for(DICE, 0).u64(..), self.joined));
        self.joined += 1;
        self.seats.insert(
            player,
            Seat {
                body,
                avatar,
                driver,
                ends_tap: false,
            },
        );
    }

    /// What is saved of them.
    pub(super) fn to_save(&self) -> SavedPlayers {
        let seats = self.seats.iter();
        let seats =
            seats.map(|(player, seat)| (*player, seat.avatar, seat.driver.clone(), seat.ends_tap));
        (seats.collect(), self.joined, self.engaged_at)
    }

    /// Players as they were saved, each with the body of the avatar; nothing if one has none.
    pub(super) fn from_saved(
        (seats, joined, engaged_at): SavedPlayers,
        body_of: impl Fn(ObjectId) -> Option<Body>,
    ) -> Option<Self> {
        let seated = seats.into_iter().map(|(player, avatar, driver, ends_tap)| {
            Some((
                player,
                Seat {
                    body: body_of(avatar)?,
                    avatar,
                    driver,
                    ends_tap,
                },
            ))
        });
        Some(Self {
            seats: seated.collect::<Option<_>>()?,
            joined,
            engaged_at,
        })
    }

    pub(super) fn leave(&mut self, player: PlayerId) -> Option<Seat> {
        self.seats.remove(&player)
    }

    pub(super) fn seat(&self, player: PlayerId) -> Option<&Seat> {
        self.seats.get(&player)
    }

    pub(super) fn driven_by_keys(&mut self, player: PlayerId) -> Option<&mut Seat> {
        self.seats
            .get_mut(&player)
            .filter(|seat| seat.driver.is_none())
    }

    /// A step has seen the taps that waited for it.
    pub(super) fn end_taps(&mut self, physics: &mut Physics) {
        for seat in self.seats.values_mut().filter(|seat| seat.ends_tap) {
            seat.ends_tap = false;
            let mut keys = physics.keys(seat.body);
            keys.current = keys.current.with(control::JUMP, false);
            physics.steer(seat.body, keys);
        }
    }

    /// Lets the dice hold keys for the step from `frame` to the next; nothing is told of before
    /// `settled`.
    pub(super) fn throw_dice(
        &mut self,
        world: &mut World,
        physics: &mut Physics,
        arena: Arena,
        frame: u64,
        settled: GameTime,
    ) {
        for seat in self.seats.values_mut() {
            let Some(driver) = &mut seat.driver else {
                continue;
            };
            let at = FORMAT.position(&physics.pose(seat.body));
            let mut keys = physics.keys(seat.body);
            keys.current = driver.keys(frame, [at.x, at.y], arena);
            physics.steer(seat.body, keys);
            table::tell_keys(
                world,
                seat.avatar,
                time_of(frame).max(settled),
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
        found: &mut Vec<Body>,
    ) {
        let now = world.now();
        if now.since(self.engaged_at) < ENGAGED_AGAIN {
            return;
        }
        self.engaged_at = now;
        for seat in self.seats.values() {
            physics.company(seat.body, found);
            for body in &*found {
                world.engage(seat.avatar, objects[body.slot()], now + ENGAGED);
            }
        }
    }
}
