//! What one client was sent of one object's pose, and what that makes of the next one.
//!
//! Datagrams that carried the pose go in ([`Track::sent`]), the base comes out ([`Track::base`]),
//! and whether there is anything to tell ([`Track::stands`]). Nothing is done here when something
//! is acknowledged: which datagrams carried the pose is a mask, what the client has is another
//! ([`Window`]), and where both have a bit is a base.

use std::time::Duration;

use ambit_proto::pose::Motion;
use ambit_proto::time::GameTime;

use super::cache::{CodeCache, Key, Source};
use super::freshness::{Class, MOST_TOLERATED, Rates, distance_m};
use super::numbers::{Fate, Numbers, Window};
use super::poses::Scene;

/// A pose of rest that is under way is sent again after this, whatever the link thinks of its fate.
const REST_AGAIN_MS: u64 = 150;
/// What a pose of rest is worth, for one of an object that stirs and has waited as long.
const REST_WORTH: f32 = 2.0;
/// What an awake object that keeps still is worth, for one that moves; reference 000 has 10 for
/// 100.
const STILL_WORTH: f32 = 0.1;
/// How far the newest of the window is ahead of the oldest.
const WINDOW: u64 = 32;
/// No datagram: at 240 a second it would be the last of half a year.
const NEVER: u32 = u32::MAX;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Track {
    /// Bit `i`: datagram `last - i` carried it.
    carried: u64,
    /// Stamp of the last of them.
    sent_at: GameTime,
    /// Number of that one.
    last: u32,
    pub(super) pose_slot: u32,
    /// Stamp of the newest that was a base, in milliseconds, its lowest bits; the first one's as
    /// long as there is none.
    known_ms: u32,
    /// Whether the last one that carried it was acknowledged.
    last_acked: bool,
    /// The own avatar, or one of its team.
    pub(super) close: bool,
    /// The player's target or attacker.
    pub(super) engaged: bool,
}

/// What a pose is coded against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// The newest of the window.
    Window(GameTime),
    /// The last one, which is older than that.
    Old(GameTime),
    /// Nothing.
    None,
}

/// How it stands with a pose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// The client has all there is to know.
    Settled,
    /// What there is to know is under way.
    Waits,
    /// There is news.
    News {
        /// What the client is known to have.
        base: Base,
        /// Whether the object stirs at this very tick.
        stirs: bool,
        /// Since when nothing newer of it is on its way to the client, or has reached it.
        since: GameTime,
    },
}

impl Track {
    pub(super) fn new(pose_slot: u32, close: bool) -> Self {
        let (carried, last, sent_at) = (0, NEVER, GameTime::ZERO);
        Track {
            carried,
            last,
            sent_at,
            pose_slot,
            known_ms: 0,
            last_acked: false,
            close,
            engaged: false,
        }
    }

    /// Datagram `number` of the tick of `stamp` carries it.
    pub(super) fn sent(&mut self, number: u64, stamp: GameTime) {
        let steps = self.last().map_or(64, |last| number - last);
        if self.last().is_none() {
            self.known_ms = stamp.millis() as u32;
        }
        self.carried = self.carried.checked_shl(steps.min(64) as u32).unwrap_or(0) | 1;
        (self.last, self.sent_at, self.last_acked) = (number as u32, stamp, false);
    }

    /// For how long it was not sent.
    pub(super) fn waited_ms(&self, now: GameTime) -> u64 {
        now.since(self.sent_at).as_millis() as u64
    }

    /// Which datagrams of the window carried it: bit `i` is number `newest - i`.
    pub(super) fn known(&self, window: Window) -> u64 {
        let Some(last) = self.last() else { return 0 };
        let aligned = match last.checked_sub(window.newest) {
            Some(newer) => self.carried.checked_shr(newer.min(64) as u32),
            None => self
                .carried
                .checked_shl((window.newest - last).min(64) as u32),
        };
        aligned.unwrap_or(0) & window.mask
    }

    /// Whether there is anything to tell.
    pub(super) fn stands(
        &mut self,
        source: Source<'_>,
        numbers: &Numbers,
        window: Option<Window>,
    ) -> Standing {
        let now = source.stamp;
        let fate = match self.last() {
            _ if self.last_acked => Fate::Acked,
            Some(last) => numbers.fate(last),
            None => Fate::Gone,
        };
        self.last_acked = fate == Fate::Acked;
        let base = self.base(numbers, window);
        let changed = source.book.changed(self.pose_slot);
        if let Base::Window(known) | Base::Old(known) = base {
            self.known_ms = known.millis() as u32;
        }
        // What was sent and is lost was not sent.
        let since = match self.last() {
            Some(_) if fate == Fate::Gone => now.saturating_sub(Duration::from_millis(
                (now.millis() as u32).wrapping_sub(self.known_ms).into(),
            )),
            _ => self.sent_at,
        };
        if changed == now {
            return Standing::News {
                base,
                stirs: true,
                since,
            };
        }
        let is_known = matches!(base, Base::Window(known) | Base::Old(known) if known >= changed);
        let is_under_way = self.sent_at >= changed && fate == Fate::InFlight;
        match () {
            () if is_known && fate != Fate::InFlight => Standing::Settled,
            () if is_known || is_under_way && self.waited_ms(now) < REST_AGAIN_MS => {
                Standing::Waits
            }
            () => Standing::News {
                base,
                stirs: false,
                since,
            },
        }
    }

    fn last(&self) -> Option<u64> {
        (self.last != NEVER).then_some(self.last.into())
    }

    fn base(&self, numbers: &Numbers, window: Option<Window>) -> Base {
        let Some(window) = window else {
            return Base::None;
        };
        let known = self.known(window);
        if known != 0 {
            return Base::Window(numbers.stamp(window.newest - u64::from(known.trailing_zeros())));
        }
        let is_older = |last: u64| last >= numbers.floor() && last + WINDOW < window.newest;
        if self.last_acked && self.last().is_some_and(is_older) {
            Base::Old(self.sent_at)
        } else {
            Base::None
        }
    }

    /// Whether the client shows the object nearly where it is: both if it knows no more than
    /// `base`, coded as `key`, and if it has the last that was sent. What it foretells is told as
    /// often as its class wants all the same.
    pub(super) fn is_foretold(
        &self,
        scene: Scene<'_>,
        cache: &CodeCache,
        key: Key,
        base: GameTime,
        viewer: [f32; 2],
    ) -> bool {
        let error = cache.error(key);
        if error > MOST_TOLERATED {
            return false;
        }
        let (rates, distance_m) = self.rates(scene, viewer);
        if rates.simulated {
            return false;
        }
        let tolerance = rates.tolerance(distance_m);
        let is_fresh =
            self.waited_ms(scene.source.stamp) < rates.target_ms(self.class_at(rates, distance_m));
        if error > tolerance || !is_fresh {
            return false;
        }
        if base == self.sent_at {
            return true;
        }
        let of_last = cache.error_of(scene.source, self.pose_slot, self.sent_at);
        of_last.is_some_and(|error| error <= tolerance)
    }

    /// What it is worth: what it has waited, times the rate of its class; more for what has come to
    /// rest, since that is told once and for all, and less for what clients simulate and is awake
    /// without moving.
    pub(super) fn priority(
        &self,
        scene: Scene<'_>,
        viewer: [f32; 2],
        since: GameTime,
        stirs: bool,
    ) -> f32 {
        let (rates, distance_m) = self.rates(scene, viewer);
        let waited_ms = scene.source.stamp.since(since).as_millis() as u64;
        let worth = rates.priority(self.class_at(rates, distance_m), waited_ms);
        let pose = scene.source.book.newest(self.pose_slot);
        match () {
            () if rates.simulated && !pose.flag && pose.motion == Motion::default() => {
                worth * STILL_WORTH
            }
            () if stirs => worth,
            () => worth * REST_WORTH,
        }
    }

    /// How much the player cares.
    pub(super) fn class(&self, scene: Scene<'_>, viewer: [f32; 2]) -> Class {
        let (rates, distance_m) = self.rates(scene, viewer);
        self.class_at(rates, distance_m)
    }

    fn class_at(&self, rates: &Rates, distance_m: f32) -> Class {
        if self.close || self.engaged {
            Class::Engaged
        } else {
            rates.class(distance_m)
        }
    }

    /// What its kind wants, and how far away it is.
    fn rates<'s>(&self, scene: Scene<'s>, viewer: [f32; 2]) -> (&'s Rates, f32) {
        let book = scene.source.book;
        (
            &scene.rates[usize::from(book.kind(self.pose_slot))],
            distance_m(book.place(self.pose_slot), viewer),
        )
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::pose::Pose;

    use super::*;
    use crate::network::replication::book::PoseBook;

    #[test]
    fn two_of_them_fill_a_cache_line() {
        assert_eq!(size_of::<Track>(), 32);
    }

    #[test]
    fn what_both_masks_have_is_what_a_plain_list_says() {
        for seed in 0..50 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let (mut numbers, mut track) = (Numbers::default(), Track::new(0, false));
            let (mut carried, mut acked) = (Vec::new(), Vec::new());
            for _ in 0..400 {
                let number = numbers.next();
                if rng.u32(..3) > 0 {
                    track.sent(number, at(number));
                    carried.push(number);
                }
                numbers.sent(at(number), true);
                let confirmed = number.saturating_sub(rng.u64(..30));
                if rng.bool() {
                    numbers.acked(confirmed);
                    acked.push(confirmed);
                }
                let Some(window) = numbers.window() else {
                    continue;
                };
                let both = carried
                    .iter()
                    .filter(|number| acked.contains(number))
                    .copied();
                let known = both.filter(|number| {
                    (window.newest.saturating_sub(32)..=window.newest).contains(number)
                });
                let newest = known.max().filter(|&known| known + 64 > numbers.next());
                let base = match track.base(&numbers, Some(window)) {
                    Base::Window(stamp) => Some(stamp),
                    _ => None,
                };
                assert_eq!(base, newest.map(at), "seed {seed}, next {}", numbers.next());
            }
        }
    }

    #[test]
    fn a_pose_of_rest_is_told_until_it_is_confirmed_and_the_last_one_s_fate_is_known() {
        let mut scene = Scene::new();
        assert_eq!(
            scene.stands(1),
            Standing::News {
                base: Base::None,
                stirs: true,
                since: GameTime::ZERO
            }
        );
        scene.send();
        assert_eq!(scene.stands(2), Standing::Waits);
        assert_eq!(
            scene.stands(4),
            Standing::News {
                base: Base::None,
                stirs: false,
                since: at(1)
            },
            "it takes too long"
        );
        scene.send();
        scene.numbers.acked(0);
        assert_eq!(
            scene.stands(5),
            Standing::Waits,
            "there is one more under way"
        );
        scene.numbers.lost(1);
        assert_eq!(scene.stands(6), Standing::Settled);
    }

    #[test]
    fn what_was_sent_and_is_lost_has_waited_since_the_client_last_heard_of_it() {
        let mut scene = Scene::new();
        for tick in 1..=5 {
            scene.now = tick;
            scene.book.note(0, at(tick), Pose::default(), [0.0; 2]);
            scene.send();
        }
        scene.numbers.acked(1);
        scene.book.note(0, at(6), Pose::default(), [0.0; 2]);
        let since = |scene: &mut Scene| match scene.stands(6) {
            Standing::News { since, .. } => since,
            other => panic!("{other:?}"),
        };
        assert_eq!(since(&mut scene), at(5), "the last one may be under way");
        scene.numbers.lost(4);
        assert_eq!(since(&mut scene), at(2));
        scene.numbers.forget_bases();
        assert_eq!(
            since(&mut scene),
            at(2),
            "whether it is a base still or not"
        );
    }

    #[test]
    fn what_left_the_window_long_ago_is_a_base_if_it_was_the_last_and_was_confirmed() {
        for confirmed in [true, false] {
            let mut scene = Scene::new();
            scene.send();
            if confirmed {
                scene.numbers.acked(0);
            }
            scene.stands(2);
            for number in 1..50 {
                scene.numbers.sent(at(number), true);
                scene.numbers.acked(number);
            }
            scene.book.note(0, at(60), Pose::default(), [0.0; 2]);
            let base = if confirmed {
                Base::Old(at(1))
            } else {
                Base::None
            };
            assert_eq!(
                scene.stands(60),
                Standing::News {
                    base,
                    stirs: true,
                    since: at(1)
                }
            );
            scene.numbers.forget_bases();
            assert_eq!(
                scene.stands(60),
                Standing::News {
                    base: Base::None,
                    stirs: true,
                    since: at(1)
                }
            );
        }
    }

    /// One object that came to be at tick 1.
    struct Scene {
        book: PoseBook,
        numbers: Numbers,
        track: Track,
        now: u64,
    }

    impl Scene {
        fn new() -> Self {
            let mut book = PoseBook::default();
            book.begin(0, 0, at(1), Pose::default(), [0.0; 2]);
            Scene {
                book,
                numbers: Numbers::default(),
                track: Track::new(0, false),
                now: 1,
            }
        }

        fn stands(&mut self, now: u64) -> Standing {
            self.now = now;
            let source = Source {
                book: &self.book,
                formats: &[],
                stamp: at(now),
                tick_hz: 20,
            };
            self.track
                .stands(source, &self.numbers, self.numbers.window())
        }

        fn send(&mut self) {
            self.track.sent(self.numbers.next(), at(self.now));
            self.numbers.sent(at(self.now), true);
        }
    }

    fn at(tick: u64) -> GameTime {
        GameTime::from_millis(tick * 50)
    }
}
