//! Whether a room is late, and what its clients receive of it.
//!
//! Each tick's work and the ticks skipped before it go in. Out come the load level, whether the
//! room loses ticks, and the message to the clients about both. The message comes at once when the
//! room becomes late, and when it begins to lose ticks; otherwise at most every five seconds.

use std::time::Duration;

use ambit_proto::control::game::RoomLate;
use ambit_proto::time::GameTime;
use ambit_room::network::load_level::LoadLevel;

use super::overload::OverloadGovernor;
use super::tick_loss::{TickCount, TickLoss};

/// Apart from bad news, clients receive the message at most once in this time.
const TELL_INTERVAL: Duration = Duration::from_secs(5);

/// What a tick has changed.
#[derive(Debug, Default, PartialEq)]
pub(super) struct LatenessChanges {
    /// From the next tick on.
    pub(super) level: Option<LoadLevel>,
    /// Whether the room loses ticks, and its last ones.
    pub(super) loses_ticks: Option<(bool, TickCount)>,
    /// The message to all clients.
    pub(super) news: Option<RoomLate>,
}

#[derive(Debug)]
pub(super) struct Lateness {
    governor: OverloadGovernor,
    loss: TickLoss,
    told: RoomLate,
    told_at: Option<GameTime>,
}

impl Lateness {
    pub(super) fn new() -> Self {
        Self {
            governor: OverloadGovernor::new(),
            loss: TickLoss::default(),
            told: RoomLate::default(),
            told_at: None,
        }
    }

    /// The tick of `now` took `work`, and `skipped` ticks before it were skipped.
    pub(super) fn note_tick(
        &mut self,
        now: GameTime,
        work: Duration,
        skipped: u64,
    ) -> LatenessChanges {
        let level = self.governor.note_tick(now, work, skipped);
        let loses_ticks = self.loss.note_tick(now, skipped);
        LatenessChanges {
            level,
            loses_ticks: loses_ticks.map(|loses| (loses, self.loss.last_ticks())),
            news: self.take_news(now),
        }
    }

    /// The message to a client that joins now; `None` if the room is in time.
    pub(super) fn told(&self) -> Option<RoomLate> {
        self.told.is_late.then_some(self.told)
    }

    fn take_news(&mut self, now: GameTime) -> Option<RoomLate> {
        let level = self.governor.level();
        let loses_ticks = self.loss.is_losing();
        let is_late = loses_ticks || level > LoadLevel::NONE;
        let ticks = self.loss.last_ticks();
        let news = RoomLate {
            is_late,
            loses_ticks,
            load_level: level.number().into(),
            ticks_run: ticks.run as u32,
            ticks_due: ticks.due as u32,
        };
        let state = |news: &RoomLate| (news.is_late, news.loses_ticks);
        let is_worse = state(&news) > state(&self.told);
        let has_changed =
            (state(&news), news.load_level) != (state(&self.told), self.told.load_level);
        let is_time = self.told_at.is_none_or(|at| now.since(at) >= TELL_INTERVAL);
        if !(is_worse || has_changed && is_time) {
            return None;
        }
        (self.told, self.told_at) = (news, Some(now));
        Some(news)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_told_at_once_that_it_gets_worse_and_later_that_it_is_over() {
        let mut lateness = Lateness::new();
        // 20 ticks a second of 60 ms each, every fourth of which is skipped; then some of rest.
        let mut told = Vec::new();
        let mut skipped = 0;
        for tick in 1..=1_200_u64 {
            let is_busy = tick <= 200;
            if is_busy && tick.is_multiple_of(4) {
                skipped += 1;
                continue;
            }
            let work = Duration::from_millis(if is_busy { 60 } else { 1 });
            let now = GameTime::from_millis(tick * 50);
            let changes = lateness.note_tick(now, work, std::mem::take(&mut skipped));
            told.extend(changes.news.map(|news| (tick * 50, news)));
        }
        let states: Vec<_> =
            told.iter().map(|(_, news)| (news.is_late, news.loses_ticks)).collect();
        assert_eq!(states[..2], [(true, false), (true, true)]);
        assert!(told[1].0 - told[0].0 < 1_000, "{told:?}");
        assert!(told[1].1.ticks_run < told[1].1.ticks_due, "{told:?}");
        assert!(
            states.is_sorted_by(|one, next| one >= next || (*one, *next) == (states[0], states[1]))
        );
        assert_eq!(states.last(), Some(&(false, false)));
        let apart = told.windows(2).skip(1).map(|pair| pair[1].0 - pair[0].0);
        assert!(apart.min() >= Some(5_000), "{told:?}");
        assert_eq!(lateness.told(), None);
    }

    #[test]
    fn a_client_that_comes_to_a_late_room_is_told() {
        let mut lateness = Lateness::new();
        assert_eq!(lateness.told(), None);
        for tick in 0..=10 {
            let now = GameTime::from_millis(tick * 50);
            lateness.note_tick(now, Duration::from_millis(60), 0);
        }
        let expected = RoomLate { is_late: true, load_level: 1, ..RoomLate::default() };
        assert_eq!(lateness.told(), Some(expected));
    }
}
