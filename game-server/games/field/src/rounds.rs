//! Rounds: the player wins who first fells a target number, or has felled the most when the time is
//! up.
//!
//! The next round begins at once, from nothing. A row of maps has no rounds: each map is a room of
//! its own, and avatars go from one to the other with what they have felled.
//!
//! Cost: the ends of rounds; clients count the time themselves.

use ambit::prelude::*;

use super::schema::{Avatar, Contest, FieldTimer, RoundWon};
use super::{FieldGame, FieldWorld};

/// How a room's rounds end.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Rounds {
    /// 0 without an end by time.
    seconds: u32,
    /// Wins the round: the number that a player has felled; 0 without such an end.
    target: i64,
    /// The round that is played, from 1; 0 in a room without rounds.
    number: i64,
}

impl Rounds {
    pub(super) fn new(seconds: u32, target: i64) -> Self {
        Self { seconds, target, number: 0 }
    }

    pub(super) fn are_played(self) -> bool {
        self.number > 0
    }
}

impl FieldGame {
    /// The first round begins, if the room has some.
    pub(super) fn start_rounds(&mut self, world: &mut FieldWorld) {
        let Rounds { seconds, target, .. } = self.rounds;
        if seconds == 0 && target == 0 {
            return;
        }
        let round = 1.into();
        let target = target.into();
        let time_left = Gauge::empty();
        let last_winner = "".into();
        world.spawn(Contest { round, target, time_left, last_winner });
        self.begin_round(world);
    }

    fn begin_round(&mut self, world: &mut FieldWorld) {
        let Rounds { seconds, number, .. } = &mut self.rounds;
        *number += 1;
        if let Some(mut contest) = world.edit_state::<Contest>() {
            contest.round().set(*number);
            if *seconds > 0 {
                contest.time_left().set_both(*seconds as f32, -1.0);
            }
        }
        if *seconds > 0 {
            let time = Duration::from_secs((*seconds).into());
            world.after(time, FieldTimer::RoundUp(*number));
        }
    }

    /// The time of the round with this number is up. It may have ended before.
    pub(super) fn end_by_time(&mut self, world: &mut FieldWorld, round: i64) {
        if round == self.rounds.number {
            self.end_round(world);
        }
    }

    /// A player has felled this number: ends the round if it is enough.
    pub(super) fn end_by_target(&mut self, world: &mut FieldWorld, felled: i64) {
        let Rounds { target, number, .. } = self.rounds;
        if number > 0 && target > 0 && felled >= target {
            self.end_round(world);
        }
    }

    fn end_round(&mut self, world: &mut FieldWorld) {
        let best = self.best_hunters.first().and_then(|(_, row)| world.get(*row));
        let winner = best.map(|best| format!("{} ({})", best.name(), best.felled()));
        for (_, row) in self.best_hunters.drain(..) {
            world.despawn(row);
        }
        let avatars = self.creatures.ids().filter_map(|creature| world.cast::<Avatar>(creature));
        let scored = avatars.filter(|id| world.get(*id).is_some_and(|avatar| avatar.felled() > 0));
        for id in scored.collect::<Vec<_>>() {
            if let Some(mut avatar) = world.edit(id) {
                avatar.felled().set(0);
            }
        }
        // A round without a winner needs no announcement.
        if let Some(last_winner) = winner {
            if let Some(mut contest) = world.edit_state::<Contest>() {
                contest.last_winner().set(&last_winner);
            }
            world.announce(RoundWon { last_winner: last_winner.into() });
        }
        self.begin_round(world);
    }
}
