//! What one client was sent of one object's pose, and what that makes of the next one.
//!
//! Datagrams that carried the pose go in ([`Track::sent`]), the base comes out ([`Track::base`]),
//! and whether there is anything to tell ([`Track::stands`]). Nothing is done here when something
//! is acknowledged: which datagrams carried the pose is a mask, what the client has is another
//! ([`DatagramWindow`]), and where both have a bit is a base.

use std::time::Duration;

use ambit_proto::pose::Motion;
use ambit_proto::time::GameTime;

use super::coded_poses::{CacheKey, CodedPoseCache, PoseSource};
use super::freshness::{FreshnessClass, FreshnessRates, MAX_TOLERANCE, distance_m};
use super::sent_datagrams::{DatagramWindow, DeliveryOutcome, SentDatagrams};
use super::viewer_poses::PoseContext;

/// A pose of rest that is under way is sent again after this, whatever the link thinks of its fate.
const REST_RESEND_MS: u64 = 150;
/// What a pose of rest is worth, for one of an object that stirs and has waited as long.
const REST_PRIORITY_FACTOR: f32 = 2.0;
/// What an awake object that keeps still is worth, for one that moves; reference 000 has 10 for
/// 100.
const STILL_PRIORITY_FACTOR: f32 = 0.1;
/// How far the newest of the window is ahead of the oldest.
const WINDOW_DATAGRAMS: u64 = 32;
/// No datagram: at 240 a second it would be the last of half a year.
const NEVER: u32 = u32::MAX;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct PoseTrack {
    /// Bit `i`: datagram `last - i` carried it.
    carried: u64,
    /// Stamp of the last of them.
    sent_at: GameTime,
    /// Number of that one.
    last_number: u32,
    pub(super) pose_slot: u32,
    /// Stamp of the newest that was a base, in milliseconds, its lowest bits; the first one's as
    /// long as there is none.
    baseline_ms: u32,
    /// Whether the last one that carried it was acknowledged.
    last_acked: bool,
    /// The own avatar, or one of its team.
    pub(super) is_ally: bool,
    /// The player's target or attacker.
    pub(super) engaged: bool,
}

/// What a pose is coded against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// The newest of the window.
    DatagramWindow(GameTime),
    /// The last one, which is older than that.
    Old(GameTime),
    /// Nothing.
    None,
}

/// How it stands with a pose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PoseStatus {
    /// The client has all there is to know.
    Settled,
    /// What there is to know is under way.
    InFlight,
    /// There is news.
    Due {
        /// What the client is known to have.
        base: Baseline,
        /// Whether the object stirs at this very tick.
        stirs: bool,
        /// Since when nothing newer of it is on its way to the client, or has reached it.
        since: GameTime,
    },
}

impl PoseTrack {
    pub(super) fn new(pose_slot: u32, close: bool) -> Self {
        let (carried, last, sent_at) = (0, NEVER, GameTime::ZERO);
        PoseTrack {
            carried,
            last_number: last,
            sent_at,
            pose_slot,
            baseline_ms: 0,
            last_acked: false,
            is_ally: close,
            engaged: false,
        }
    }

    /// Datagram `number` of the tick of `stamp` carries it.
    pub(super) fn note_sent(&mut self, number: u64, stamp: GameTime) {
        let steps = self.last_sent().map_or(64, |last| number - last);
        if self.last_sent().is_none() {
            self.baseline_ms = stamp.millis() as u32;
        }
        self.carried = self.carried.checked_shl(steps.min(64) as u32).unwrap_or(0) | 1;
        (self.last_number, self.sent_at, self.last_acked) = (number as u32, stamp, false);
    }

    /// For how long it was not sent.
    pub(super) fn waited_ms(&self, now: GameTime) -> u64 {
        now.since(self.sent_at).as_millis() as u64
    }

    /// Which datagrams of the window carried it: bit `i` is number `newest - i`.
    pub(super) fn acked_mask(&self, window: DatagramWindow) -> u64 {
        let Some(last) = self.last_sent() else {
            return 0;
        };
        let aligned = match last.checked_sub(window.newest) {
            Some(newer) => self.carried.checked_shr(newer.min(64) as u32),
            None => self
                .carried
                .checked_shl((window.newest - last).min(64) as u32),
        };
        aligned.unwrap_or(0) & window.mask
    }

    /// Whether there is anything to tell.
    pub(super) fn status(
        &mut self,
        source: PoseSource<'_>,
        numbers: &SentDatagrams,
        window: Option<DatagramWindow>,
    ) -> PoseStatus {
        let now = source.stamp;
        let fate = match self.last_sent() {
            _ if self.last_acked => DeliveryOutcome::Acked,
            Some(last) => numbers.outcome(last),
            None => DeliveryOutcome::Lost,
        };
        self.last_acked = fate == DeliveryOutcome::Acked;
        let base = self.baseline(numbers, window);
        let changed = source.table.changed_at(self.pose_slot);
        if let Baseline::DatagramWindow(known) | Baseline::Old(known) = base {
            self.baseline_ms = known.millis() as u32;
        }
        // What was sent and is lost was not sent.
        let since = match self.last_sent() {
            Some(_) if fate == DeliveryOutcome::Lost => now.saturating_sub(Duration::from_millis(
                (now.millis() as u32).wrapping_sub(self.baseline_ms).into(),
            )),
            _ => self.sent_at,
        };
        if changed == now {
            return PoseStatus::Due {
                base,
                stirs: true,
                since,
            };
        }
        let is_confirmed = matches!(base, Baseline::DatagramWindow(known) | Baseline::Old(known) if known >= changed);
        let is_under_way = self.sent_at >= changed && fate == DeliveryOutcome::InFlight;
        match () {
            () if is_confirmed && fate != DeliveryOutcome::InFlight => PoseStatus::Settled,
            () if is_confirmed || is_under_way && self.waited_ms(now) < REST_RESEND_MS => {
                PoseStatus::InFlight
            }
            () => PoseStatus::Due {
                base,
                stirs: false,
                since,
            },
        }
    }

    fn last_sent(&self) -> Option<u64> {
        (self.last_number != NEVER).then_some(self.last_number.into())
    }

    fn baseline(&self, numbers: &SentDatagrams, window: Option<DatagramWindow>) -> Baseline {
        let Some(window) = window else {
            return Baseline::None;
        };
        let known = self.acked_mask(window);
        if known != 0 {
            return Baseline::DatagramWindow(
                numbers.stamp(window.newest - u64::from(known.trailing_zeros())),
            );
        }
        let is_older =
            |last: u64| last >= numbers.baseline_floor() && last + WINDOW_DATAGRAMS < window.newest;
        if self.last_acked && self.last_sent().is_some_and(is_older) {
            Baseline::Old(self.sent_at)
        } else {
            Baseline::None
        }
    }

    /// Whether the client shows the object nearly where it is: both if it knows no more than
    /// `base`, coded as `key`, and if it has the last that was sent. What it foretells is told as
    /// often as its class wants all the same.
    pub(super) fn is_extrapolated(
        &self,
        scene: PoseContext<'_>,
        cache: &CodedPoseCache,
        key: CacheKey,
        base: GameTime,
        viewer: [f32; 2],
    ) -> bool {
        let error = cache.error(key);
        if error > MAX_TOLERANCE {
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
        let of_last = cache.error_against(scene.source, self.pose_slot, self.sent_at);
        of_last.is_some_and(|error| error <= tolerance)
    }

    /// What it is worth: what it has waited, times the rate of its class; more for what has come to
    /// rest, since that is told once and for all, and less for what clients simulate and is awake
    /// without moving.
    pub(super) fn priority(
        &self,
        scene: PoseContext<'_>,
        viewer: [f32; 2],
        since: GameTime,
        stirs: bool,
    ) -> f32 {
        let (rates, distance_m) = self.rates(scene, viewer);
        let waited_ms = scene.source.stamp.since(since).as_millis() as u64;
        let worth = rates.priority(self.class_at(rates, distance_m), waited_ms);
        let pose = scene.source.table.latest(self.pose_slot);
        match () {
            () if rates.simulated && !pose.flag && pose.motion == Motion::default() => {
                worth * STILL_PRIORITY_FACTOR
            }
            () if stirs => worth,
            () => worth * REST_PRIORITY_FACTOR,
        }
    }

    /// How much the player cares.
    pub(super) fn class(&self, scene: PoseContext<'_>, viewer: [f32; 2]) -> FreshnessClass {
        let (rates, distance_m) = self.rates(scene, viewer);
        self.class_at(rates, distance_m)
    }

    fn class_at(&self, rates: &FreshnessRates, distance_m: f32) -> FreshnessClass {
        if self.is_ally || self.engaged {
            FreshnessClass::EngagedObjects
        } else {
            rates.class(distance_m)
        }
    }

    /// What its kind wants, and how far away it is.
    fn rates<'s>(&self, scene: PoseContext<'s>, viewer: [f32; 2]) -> (&'s FreshnessRates, f32) {
        let book = scene.source.table;
        (
            &scene.rates[usize::from(book.kind(self.pose_slot))],
            distance_m(book.position_m(self.pose_slot), viewer),
        )
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::pose::Pose;

    use super::*;
    use crate::network::replication::pose_table::PoseTable;

    #[test]
    fn two_tracks_fill_a_cache_line() {
        assert_eq!(size_of::<PoseTrack>(), 32);
    }

    #[test]
    fn the_baseline_matches_a_plain_list() {
        for seed in 0..50 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let (mut numbers, mut track) = (SentDatagrams::default(), PoseTrack::new(0, false));
            let (mut carried, mut acked) = (Vec::new(), Vec::new());
            for _ in 0..400 {
                let number = numbers.next();
                if rng.u32(..3) > 0 {
                    track.note_sent(number, at(number));
                    carried.push(number);
                }
                numbers.note_sent(at(number), true);
                let confirmed = number.saturating_sub(rng.u64(..30));
                if rng.bool() {
                    numbers.note_acked(confirmed);
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
                let base = match track.baseline(&numbers, Some(window)) {
                    Baseline::DatagramWindow(stamp) => Some(stamp),
                    _ => None,
                };
                assert_eq!(base, newest.map(at), "seed {seed}, next {}", numbers.next());
            }
        }
    }

    #[test]
    fn a_pose_at_rest_is_sent_until_the_last_outcome_is_known() {
        let mut scene = Scene::new();
        assert_eq!(
            scene.stands(1),
            PoseStatus::Due {
                base: Baseline::None,
                stirs: true,
                since: GameTime::ZERO
            }
        );
        scene.send();
        assert_eq!(scene.stands(2), PoseStatus::InFlight);
        assert_eq!(
            scene.stands(4),
            PoseStatus::Due {
                base: Baseline::None,
                stirs: false,
                since: at(1)
            },
            "it takes too long"
        );
        scene.send();
        scene.numbers.note_acked(0);
        assert_eq!(
            scene.stands(5),
            PoseStatus::InFlight,
            "there is one more under way"
        );
        scene.numbers.note_lost(1);
        assert_eq!(scene.stands(6), PoseStatus::Settled);
    }

    #[test]
    fn a_lost_pose_has_waited_since_the_last_acknowledged_one() {
        let mut scene = Scene::new();
        for tick in 1..=5 {
            scene.now = tick;
            scene.book.update(0, at(tick), Pose::default(), [0.0; 2]);
            scene.send();
        }
        scene.numbers.note_acked(1);
        scene.book.update(0, at(6), Pose::default(), [0.0; 2]);
        let since = |scene: &mut Scene| match scene.stands(6) {
            PoseStatus::Due { since, .. } => since,
            other => panic!("{other:?}"),
        };
        assert_eq!(since(&mut scene), at(5), "the last one may be under way");
        scene.numbers.note_lost(4);
        assert_eq!(since(&mut scene), at(2));
        scene.numbers.revoke_baselines();
        assert_eq!(
            since(&mut scene),
            at(2),
            "whether it is a base still or not"
        );
    }

    #[test]
    fn an_acknowledged_last_pose_is_a_baseline_beyond_the_window() {
        for confirmed in [true, false] {
            let mut scene = Scene::new();
            scene.send();
            if confirmed {
                scene.numbers.note_acked(0);
            }
            scene.stands(2);
            for number in 1..50 {
                scene.numbers.note_sent(at(number), true);
                scene.numbers.note_acked(number);
            }
            scene.book.update(0, at(60), Pose::default(), [0.0; 2]);
            let base = if confirmed {
                Baseline::Old(at(1))
            } else {
                Baseline::None
            };
            assert_eq!(
                scene.stands(60),
                PoseStatus::Due {
                    base,
                    stirs: true,
                    since: at(1)
                }
            );
            scene.numbers.revoke_baselines();
            assert_eq!(
                scene.stands(60),
                PoseStatus::Due {
                    base: Baseline::None,
                    stirs: true,
                    since: at(1)
                }
            );
        }
    }

    /// One object that came to be at tick 1.
    struct Scene {
        book: PoseTable,
        numbers: SentDatagrams,
        track: PoseTrack,
        now: u64,
    }

    impl Scene {
        fn new() -> Self {
            let mut book = PoseTable::default();
            book.insert(0, 0, at(1), Pose::default(), [0.0; 2]);
            Scene {
                book,
                numbers: SentDatagrams::default(),
                track: PoseTrack::new(0, false),
                now: 1,
            }
        }

        fn stands(&mut self, now: u64) -> PoseStatus {
            self.now = now;
            let source = PoseSource {
                table: &self.book,
                formats: &[],
                stamp: at(now),
                tick_hz: 20,
            };
            self.track
                .status(source, &self.numbers, self.numbers.window())
        }

        fn send(&mut self) {
            self.track.note_sent(self.numbers.next(), at(self.now));
            self.numbers.note_sent(at(self.now), true);
        }
    }

    fn at(tick: u64) -> GameTime {
        GameTime::from_millis(tick * 50)
    }
}
