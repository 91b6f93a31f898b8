//! At which time a projectile is drawn: in the time of the avatar that is near.
//!
//! A client draws the player's own avatar ahead, where the room puts it later, and the avatars of
//! others as late as their poses come. What flies from one to the other passes from one time into
//! the other: at the own avatar it is drawn in the own time, near another one in the time of
//! others, and in between in between. So a shot leaves in the frame after the key, arrives where
//! the target is drawn, and both meet on the screen if they meet in the room.
//!
//! The time of the own picture, that of others, and where they are drawn go in; the time at which
//! to draw a projectile comes out. With own time `o`, lateness of others `d`, and the distances `s`
//! and `r` of the projectile to the own and to the nearest other avatar, less [`BODY_M`] each, it
//! is the `t` with t = o - d s / (s + r).
//!
//! Invariant: the time is between both. A projectile flies more slowly to others, and faster from
//! them, than in the room. Source: P. Sharkey, M. Ryan and D. Roberts, "A Local Perception Filter
//! for Distributed Virtual Environments".
//!
//! Cost: [`STEPS`] evaluations of the path, each with a look at all others.

use std::time::Duration;

use ambit_proto::space::Position;
use ambit_proto::time::GameTime;

/// So near to an avatar, its time counts alone: what hits it is still that far from its middle.
const BODY_M: f32 = 2.0;
/// Halvings of the time in question: below a millisecond for a quarter of a second.
const STEPS: u32 = 9;

/// The times of a picture; see the module.
#[derive(Debug, Default)]
pub(crate) struct PerceptionFilter {
    /// The time at which the own avatar is drawn, and where.
    own: Option<(GameTime, Position)>,
    /// The time at which others are drawn, and where.
    others_time: GameTime,
    others: Vec<Position>,
}

impl PerceptionFilter {
    /// Begins a picture.
    pub(crate) fn begin(&mut self, others_time: GameTime) {
        self.others.clear();
        (self.own, self.others_time) = (None, others_time);
    }

    /// The own avatar is drawn here, at its time.
    pub(crate) fn set_own(&mut self, time: GameTime, at: Position) {
        self.own = Some((time, at));
    }

    /// Another avatar is drawn here.
    pub(crate) fn add_other(&mut self, at: Position) {
        self.others.push(at);
    }

    /// When to draw what is at these places.
    pub(crate) fn time_of(&self, at: impl Fn(GameTime) -> Option<Position>) -> GameTime {
        let Some((own_time, own)) = self.own else { return self.others_time };
        let late = own_time.since(self.others_time);
        if late.is_zero() || self.others.is_empty() {
            return own_time;
        }
        // The share of the lateness at a place.
        let share = |place: Position| {
            let near = |other: &Position| other.distance(place);
            let other = self.others.iter().map(near).fold(f32::MAX, f32::min);
            let [own, other] = [own.distance(place), other].map(|it| (it - BODY_M).max(0.0));
            if own + other > 0.0 { own / (own + other) } else { 0.0 }
        };
        let mut low = Duration::ZERO;
        let mut high = late;
        for _ in 0..STEPS {
            let middle = (low + high) / 2;
            let wanted = at(self.others_time + middle).map_or(0.0, share);
            // Later than it should be?
            if late.saturating_sub(middle).as_secs_f32() < late.as_secs_f32() * wanted {
                high = middle;
            } else {
                low = middle;
            }
        }
        self.others_time + high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEED: f32 = 60.0;
    const AWAY_M: f32 = 50.0;

    /// The own avatar at 0 m, 200 ms ahead; another one at 50 m.
    fn filter(now: Duration) -> PerceptionFilter {
        let mut filter = PerceptionFilter::default();
        filter.begin(GameTime::ZERO + now);
        filter.set_own(GameTime::ZERO + now + LATE, place(0.0));
        filter.add_other(place(AWAY_M));
        filter
    }

    const LATE: Duration = Duration::from_millis(200);

    #[test]
    fn a_shot_leaves_in_the_own_time_and_arrives_in_that_of_others() {
        // Fired at 1 s, it hits 833 ms later.
        let flown = |t: GameTime| SPEED * t.since(GameTime::from_millis(1_000)).as_secs_f32();
        let drawn = |now: Duration| filter(now).time_of(|t| Some(place(flown(t).min(AWAY_M))));
        let ms = Duration::from_millis;
        let at_first = drawn(ms(800));
        assert!(at_first.since(GameTime::ZERO).abs_diff(ms(1_000)) < ms(2), "{at_first:?}");
        let hits_at = ms(1_000) + Duration::from_secs_f32(AWAY_M / SPEED);
        let at_last = drawn(hits_at);
        assert!(at_last.since(GameTime::ZERO).abs_diff(hits_at) < ms(2), "{at_last:?}");
        let mut before = GameTime::ZERO;
        for now in (800..1_800).step_by(10) {
            let time = drawn(ms(now));
            assert!(time > before, "it stands still or flies back at {now} ms");
            before = time;
        }
    }

    #[test]
    fn alone_everything_is_drawn_in_the_own_time() {
        let mut alone = PerceptionFilter::default();
        alone.begin(GameTime::from_millis(800));
        alone.set_own(GameTime::from_millis(1_000), place(0.0));
        assert_eq!(alone.time_of(|_| Some(place(30.0))), GameTime::from_millis(1_000));
        let mut without = PerceptionFilter::default();
        without.begin(GameTime::from_millis(800));
        assert_eq!(without.time_of(|_| None), GameTime::from_millis(800));
    }

    fn place(x: f32) -> Position {
        Position::on_ground(x, 0.0)
    }
}
