//! What one client was sent of one object's pose, and what has to be sent next.
//!
//! Datagrams that carried the pose go in ([`PoseTrack::note_sent`]); the baseline comes out
//! ([`PoseTrack::baseline`]), and whether anything has to be sent ([`PoseTrack::status`]). An
//! acknowledgement costs nothing here: the datagrams that carried the pose are a mask, those that
//! the client has are another ([`DatagramWindow`]), and a bit in both is a baseline.

use std::time::Duration;

use ambit_proto::link::DeliveryOutcome;
use ambit_proto::pose::{Level, Motion};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;

use super::coded_poses::CodedPoseCache;
use super::freshness::{FreshnessClass, FreshnessRates, MAX_TOLERANCE, distance_m};
use super::pose_at_client::PoseAtClient;
use super::pose_source::PoseSource;
use super::reckoning::KnownPoses;
use super::sent_datagrams::{DatagramWindow, REMEMBERED_DATAGRAMS, SentDatagrams};

/// A pose at rest that is in flight is sent again after this time, even if the link does not count
/// it as lost yet.
const REST_RESEND_MS: u64 = 150;
/// Priority of a pose at rest, relative to one of an active object that has waited as long.
const REST_PRIORITY_FACTOR: f32 = 2.0;
/// Priority of an awake object that does not move, relative to one that moves. ("Synchronisation
/// par le réseau d'un monde virtuel sur Unity" uses 10 to 100.)
const STILL_PRIORITY_FACTOR: f32 = 0.1;
/// Distance between the newest and the oldest datagram of a window.
const WINDOW_DATAGRAMS: u64 = 32;
/// No datagram: at 240 a second, this number would be reached after half a year.
const NEVER: u32 = u32::MAX;

/// What the choice of poses depends on at a tick, apart from the client.
#[derive(Clone, Copy, Debug)]
pub struct PoseContext<'b> {
    /// The recent poses and how they are coded.
    pub source: PoseSource<'b>,
    /// Freshness by kind.
    pub rates: &'b [FreshnessRates],
    /// How the poses of this client are coded; `None` for whole poses without baselines (`plain`).
    pub level: Option<Level>,
}

/// What one client was sent of one object's pose; see the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct PoseTrack {
    /// Bit `i`: datagram `last_number - i` carried it.
    carried: u64,
    /// Stamp of the last datagram that carried it.
    sent_at: GameTime,
    /// Number of that datagram, or `NEVER`.
    last_number: u32,
    pub(super) pose_slot: u32,
    /// The epoch of the client's alias for the object.
    pub(super) epoch: u8,
    /// Stamp of the newest baseline, in milliseconds, its lowest bits; that of the first datagram
    /// as long as there is no baseline.
    baseline_ms: u32,
    /// Whether the last datagram that carried it was acknowledged.
    last_acked: bool,
    /// Whether it is the own avatar, or belongs to the player or the player's team.
    pub(super) is_ally: bool,
    /// Whether it is the player's target or attacker.
    pub(super) engaged: bool,
}

/// What a pose is coded against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// The newest pose of the window, with its stamp.
    Window(GameTime),
    /// The last pose that was sent, which is older than the window.
    Old(GameTime),
    /// Nothing: absolute values.
    None,
    /// Nothing, since all that the client is known to have is from before a jump at the tick of
    /// this stamp: absolute values.
    Jumped(GameTime),
}

/// What has to be done about a pose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PoseStatus {
    /// The client has the present pose: nothing to send.
    Settled,
    /// The present pose is in flight: wait.
    InFlight,
    /// The pose has to be sent.
    Due {
        /// The pose that the client is known to have.
        baseline: Baseline,
        /// Whether the pose changed at this tick.
        changed_now: bool,
        /// Since when nothing newer of it is in flight to the client, or has reached it.
        stale_since: GameTime,
    },
}

impl PoseTrack {
    pub(super) fn new(pose_slot: u32, epoch: u8, close: bool) -> Self {
        let carried = 0;
        let last = NEVER;
        let sent_at = GameTime::ZERO;
        PoseTrack {
            carried,
            last_number: last,
            sent_at,
            pose_slot,
            epoch,
            baseline_ms: 0,
            last_acked: false,
            is_ally: close,
            engaged: false,
        }
    }

    /// Notes that datagram `number` of the tick of `stamp` carries it.
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
            None => self.carried.checked_shl((window.newest - last).min(64) as u32),
        };
        aligned.unwrap_or(0) & window.mask
    }

    /// Whether the pose has to be sent.
    pub(super) fn status(
        &mut self,
        source: PoseSource<'_>,
        sent_datagrams: SentDatagrams<'_>,
    ) -> PoseStatus {
        let now = source.stamp;
        let outcome = match self.last_sent() {
            _ if self.last_acked => DeliveryOutcome::Acked,
            Some(last) => sent_datagrams.outcome(last),
            None => DeliveryOutcome::Lost,
        };
        self.last_acked = outcome == DeliveryOutcome::Acked;
        let baseline = self.baseline(sent_datagrams);
        let changed = source.table.changed_at(self.pose_slot);
        if let Baseline::Window(known) | Baseline::Old(known) = baseline {
            self.baseline_ms = known.millis() as u32;
        }
        // A lost pose counts as not sent.
        let stale_since = match self.last_sent() {
            Some(_) if outcome == DeliveryOutcome::Lost => now.saturating_sub(
                Duration::from_millis((now.millis() as u32).wrapping_sub(self.baseline_ms).into()),
            ),
            _ => self.sent_at,
        };
        if changed == now {
            return PoseStatus::Due { baseline, changed_now: true, stale_since };
        }
        let is_confirmed =
            matches!(baseline, Baseline::Window(known) | Baseline::Old(known) if known >= changed);
        let is_under_way = self.sent_at >= changed && outcome == DeliveryOutcome::InFlight;
        match () {
            () if is_confirmed && outcome != DeliveryOutcome::InFlight => PoseStatus::Settled,
            () if is_confirmed || is_under_way && self.waited_ms(now) < REST_RESEND_MS => {
                PoseStatus::InFlight
            }
            () => PoseStatus::Due { baseline, changed_now: false, stale_since },
        }
    }

    /// A pose from before the object's last jump is no baseline of one after it. Where there is no
    /// baseline, the client may still have poses from before.
    pub(super) fn unless_jumped(&self, baseline: Baseline, source: PoseSource<'_>) -> Baseline {
        let jumped = source.table.jumped_at(self.pose_slot);
        let since_jump_ms = source.stamp.since(jumped).as_millis();
        let known_for_ms = (source.stamp.millis() as u32).wrapping_sub(self.baseline_ms);
        let is_later = jumped > GameTime::ZERO && since_jump_ms < known_for_ms.into();
        if is_later { Baseline::Jumped(jumped) } else { baseline }
    }

    fn last_sent(&self) -> Option<u64> {
        (self.last_number != NEVER).then_some(self.last_number.into())
    }

    fn baseline(&self, sent_datagrams: SentDatagrams<'_>) -> Baseline {
        let Some(window) = sent_datagrams.window() else {
            return Baseline::None;
        };
        let known = self.acked_mask(window);
        if known != 0 {
            return Baseline::Window(
                sent_datagrams.stamp(window.newest - u64::from(known.trailing_zeros())),
            );
        }
        let is_older = |last: u64| {
            last >= sent_datagrams.baseline_floor() && last + WINDOW_DATAGRAMS < window.newest
        };
        if self.last_acked && self.last_sent().is_some_and(is_older) {
            Baseline::Old(self.sent_at)
        } else {
            Baseline::None
        }
    }

    /// Whether the client extrapolates the object well enough: both if it has no more than
    /// `baseline`, from which it is off by `error`, and if it has the last pose that was sent. An
    /// extrapolated pose is still sent as often as the target age of its class requires.
    pub(super) fn is_extrapolated(
        &self,
        context: PoseContext<'_>,
        cache: &mut CodedPoseCache,
        sent_datagrams: SentDatagrams<'_>,
        (baseline, error): (GameTime, u16),
        viewer: [f32; 2],
    ) -> bool {
        let rule = context.source.rule(self.pose_slot);
        if rule.is_none() && error > MAX_TOLERANCE {
            return false;
        }
        let (rates, distance_m) = self.rates(context, viewer);
        if rates.simulated {
            return false;
        }
        let tolerance = rates.tolerance(distance_m, self.is_ally);
        let is_fresh = self.waited_ms(context.source.stamp)
            < rates.target_ms(self.class_at(rates, distance_m));
        if !is_fresh {
            return false;
        }
        if let Some(rule) = rule {
            let [all, without_last] = self.known_poses(sent_datagrams);
            let mut is_near = |known| {
                cache.reckoned.error(context.source, rule, self.pose_slot, known) <= tolerance
            };
            // What is not remembered any more says nothing.
            return all.is_some_and(&mut is_near) && without_last.is_none_or(&mut is_near);
        }
        if error > tolerance {
            return false;
        }
        if baseline == self.sent_at {
            return true;
        }
        let of_last = cache.error_against(context.source, self.pose_slot, self.sent_at);
        of_last.is_some_and(|error| error <= tolerance)
    }

    /// The newest poses that the client has if all that is in flight arrives, and if the newest of
    /// that does not: two in a row are rarely lost, and a known loss counts here at once.
    fn known_poses(&self, sent_datagrams: SentDatagrams<'_>) -> [Option<KnownPoses>; 2] {
        let remembered = sent_datagrams.next().saturating_sub(REMEMBERED_DATAGRAMS);
        let is_here = |number: &u64| {
            *number >= remembered && sent_datagrams.outcome(*number) != DeliveryOutcome::Lost
        };
        let carried = self.last_sent().into_iter().flat_map(|last| {
            let set = (0..64).filter(|bit| self.carried >> bit & 1 == 1);
            set.filter_map(move |bit| last.checked_sub(bit))
        });
        let stamps = carried.filter(is_here).map(|number| sent_datagrams.stamp(number));
        let is_acked = self.last_acked;
        [
            KnownPoses::of(stamps.clone()),
            if is_acked { None } else { KnownPoses::of(stamps.skip(1)) },
        ]
    }

    /// The priority: the time it has waited, times the rate of its class. Higher for an object that
    /// came to rest, since its pose then stays; lower for one that clients simulate and that is
    /// awake without moving.
    pub(super) fn priority(
        &self,
        context: PoseContext<'_>,
        viewer: [f32; 2],
        stale_since: GameTime,
        changed_now: bool,
    ) -> f32 {
        let (rates, distance_m) = self.rates(context, viewer);
        let waited_ms = context.source.stamp.since(stale_since).as_millis() as u64;
        let priority = rates.priority(self.class_at(rates, distance_m), waited_ms);
        let pose = context.source.table.latest(self.pose_slot);
        match () {
            () if rates.simulated && !pose.flag && pose.motion == Motion::default() => {
                priority * STILL_PRIORITY_FACTOR
            }
            () if changed_now => priority,
            () => priority * REST_PRIORITY_FACTOR,
        }
    }

    /// What the client has, for a viewer there.
    pub(super) fn at_client(&self, context: PoseContext<'_>, viewer: [f32; 2]) -> PoseAtClient {
        let now = context.source.stamp;
        let changed = context.source.table.changed_at(self.pose_slot);
        PoseAtClient {
            age: self.last_sent().map(|_| now.since(self.sent_at)),
            is_acked: self.last_acked,
            known: self.known_at_client(context),
            has_changed: self.last_sent().is_none() || changed > self.sent_at,
            class: self.class(context, viewer),
            priority: self.priority(context, viewer, self.sent_at, changed == now),
        }
    }

    /// The newest pose that has surely arrived, as far as acknowledgements were looked at: how old
    /// it is, and where the object is by it.
    fn known_at_client(&self, context: PoseContext<'_>) -> Option<(Duration, Position)> {
        self.last_sent()?;
        let PoseSource { table, stamp: now, .. } = context.source;
        let known_for = (now.millis() as u32).wrapping_sub(self.baseline_ms);
        let known_for = Duration::from_millis(known_for.into());
        let stamp = if self.last_acked { self.sent_at } else { now.saturating_sub(known_for) };
        let pose = table.at(self.pose_slot, stamp)?;
        let place = context.source.format(self.pose_slot).position(pose);
        Some((now.since(stamp), place))
    }

    /// How important it is to the client.
    pub(super) fn class(&self, context: PoseContext<'_>, viewer: [f32; 2]) -> FreshnessClass {
        let (rates, distance_m) = self.rates(context, viewer);
        self.class_at(rates, distance_m)
    }

    /// Whether it is in the most urgent class, at any distance.
    pub(super) fn is_close(&self) -> bool {
        self.is_ally || self.engaged
    }

    fn class_at(&self, rates: &FreshnessRates, distance_m: f32) -> FreshnessClass {
        if self.is_close() { FreshnessClass::Engaged } else { rates.class(distance_m) }
    }

    /// The freshness of its kind, and its distance.
    fn rates<'s>(&self, context: PoseContext<'s>, viewer: [f32; 2]) -> (&'s FreshnessRates, f32) {
        let table = context.source.table;
        (
            &context.rates[usize::from(table.kind(self.pose_slot))],
            distance_m(table.position_m(self.pose_slot), viewer),
        )
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::pose::{Extrapolation, Pose, PoseFormat, Turning};
    use ambit_proto::schema::ObjectKind;

    use super::*;
    use crate::network::replication::pose_table::PoseTable;
    use crate::network::replication::sent_datagrams::tests::TestDatagrams;

    #[test]
    fn two_tracks_fill_a_cache_line() {
        assert_eq!(size_of::<PoseTrack>(), 32);
    }

    #[test]
    fn the_baseline_matches_a_plain_list() {
        for seed in 0..50 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let (mut sent_datagrams, mut track) =
                (TestDatagrams::default(), PoseTrack::new(0, 0, false));
            let mut carried = Vec::new();
            let mut acked = Vec::new();
            for _ in 0..400 {
                let number = sent_datagrams.next();
                if rng.u32(..3) > 0 {
                    track.note_sent(number, at(number));
                    carried.push(number);
                }
                sent_datagrams.note_sent(at(number), true);
                let confirmed = number.saturating_sub(rng.u64(..30));
                if rng.bool() {
                    sent_datagrams.note_acked(confirmed);
                    acked.push(confirmed);
                }
                let Some(window) = sent_datagrams.view().window() else {
                    continue;
                };
                let both = carried.iter().filter(|number| acked.contains(number)).copied();
                let known = both.filter(|number| {
                    (window.newest.saturating_sub(32)..=window.newest).contains(number)
                });
                let newest = known.max().filter(|&known| known + 64 > sent_datagrams.next());
                let baseline = match track.baseline(sent_datagrams.view()) {
                    Baseline::Window(stamp) => Some(stamp),
                    _ => None,
                };
                assert_eq!(baseline, newest.map(at), "seed {seed}, next {}", sent_datagrams.next());
            }
        }
    }

    #[test]
    fn a_pose_at_rest_is_sent_until_the_last_outcome_is_known() {
        let mut scene = Scene::new();
        assert_eq!(
            scene.status(1),
            PoseStatus::Due {
                baseline: Baseline::None,
                changed_now: true,
                stale_since: GameTime::ZERO
            }
        );
        scene.send();
        assert_eq!(scene.status(2), PoseStatus::InFlight);
        assert_eq!(
            scene.status(4),
            PoseStatus::Due { baseline: Baseline::None, changed_now: false, stale_since: at(1) },
            "the pose is in flight for too long"
        );
        scene.send();
        scene.sent_datagrams.note_acked(0);
        assert_eq!(scene.status(5), PoseStatus::InFlight, "the second pose is in flight");
        scene.sent_datagrams.note_lost(1);
        assert_eq!(scene.status(6), PoseStatus::Settled);
    }

    #[test]
    fn a_lost_pose_has_waited_since_the_last_acknowledged_one() {
        let mut scene = Scene::new();
        for tick in 1..=5 {
            scene.now = tick;
            scene.table.update(0, at(tick), Pose::default(), [0.0; 2]);
            scene.send();
        }
        scene.sent_datagrams.note_acked(1);
        scene.table.update(0, at(6), Pose::default(), [0.0; 2]);
        let stale_since = |scene: &mut Scene| match scene.status(6) {
            PoseStatus::Due { stale_since, .. } => stale_since,
            other => panic!("{other:?}"),
        };
        assert_eq!(stale_since(&mut scene), at(5), "the last pose may be in flight");
        scene.sent_datagrams.note_lost(4);
        assert_eq!(stale_since(&mut scene), at(2));
        scene.sent_datagrams.revoke_baselines();
        assert_eq!(stale_since(&mut scene), at(2), "revoking the baselines changes nothing");
    }

    #[test]
    fn an_acknowledged_last_pose_is_a_baseline_beyond_the_window() {
        for confirmed in [true, false] {
            let mut scene = Scene::new();
            scene.send();
            if confirmed {
                scene.sent_datagrams.note_acked(0);
            }
            scene.status(2);
            for number in 1..50 {
                scene.sent_datagrams.note_sent(at(number), true);
                scene.sent_datagrams.note_acked(number);
            }
            scene.table.update(0, at(60), Pose::default(), [0.0; 2]);
            let baseline = if confirmed { Baseline::Old(at(1)) } else { Baseline::None };
            assert_eq!(
                scene.status(60),
                PoseStatus::Due { baseline, changed_now: true, stale_since: at(1) }
            );
            scene.sent_datagrams.revoke_baselines();
            assert_eq!(
                scene.status(60),
                PoseStatus::Due { baseline: Baseline::None, changed_now: true, stale_since: at(1) }
            );
        }
    }

    #[test]
    fn a_client_that_may_have_no_pose_any_more_is_sent_one() {
        let mut scene = Scene::new();
        scene.send();
        assert!(scene.is_reckoned(2));
        for _ in 0..=REMEMBERED_DATAGRAMS {
            scene.sent_datagrams.note_sent(at(2), true);
        }
        assert!(!scene.is_reckoned(2), "what became of it is not remembered");
    }

    /// One object that is spawned at tick 1.
    struct Scene {
        table: PoseTable,
        sent_datagrams: TestDatagrams,
        track: PoseTrack,
        now: u64,
    }

    impl Scene {
        fn new() -> Self {
            let mut table = PoseTable::default();
            table.insert(0, 0, at(1), Pose::default(), [0.0; 2]);
            Scene {
                table,
                sent_datagrams: TestDatagrams::default(),
                track: PoseTrack::new(0, 0, false),
                now: 1,
            }
        }

        fn status(&mut self, now: u64) -> PoseStatus {
            self.now = now;
            let source = PoseSource {
                table: &self.table,
                formats: &[],
                reckoned: &[],
                stamp: at(now),
                tick_hz: 20,
            };
            self.track.status(source, self.sent_datagrams.view())
        }

        /// Whether the client shows an object by dead reckoning that needs no pose at this tick.
        fn is_reckoned(&self, now: u64) -> bool {
            let source = PoseSource {
                table: &self.table,
                formats: &[PoseFormat { per_metre: 100, turn: Turning::Fixed, motion: None }],
                reckoned: &[Some(Extrapolation::First)],
                stamp: at(now),
                tick_hz: 20,
            };
            let rates = [FreshnessRates::of(&ObjectKind::default())];
            let context = PoseContext { source, rates: &rates, level: None };
            let mut cache = CodedPoseCache::default();
            let sent = self.sent_datagrams.view();
            self.track.is_extrapolated(context, &mut cache, sent, (at(1), 0), [0.0; 2])
        }

        fn send(&mut self) {
            self.track.note_sent(self.sent_datagrams.next(), at(self.now));
            self.sent_datagrams.note_sent(at(self.now), true);
        }
    }

    fn at(tick: u64) -> GameTime {
        GameTime::from_millis(tick * 50)
    }
}
