//! Statistics of one client: traffic, lateness, and the age of what it shows.
//!
//! Counters continue over reconnects. An event is late if it arrived after its effect time, an
//! update if it changed what was already shown; both by the estimated room time. A gap is the time
//! between two datagrams with new data. Each pose applied to an object in sight counts as one
//! update, so `updates` a second is the rate of visible changes.

use std::time::Duration;

use ambit_proto::control::game::RoomLate;

/// How late a room is. A late room sends far objects less often, and perhaps near ones, but never
/// those that the player is engaged with; if that is not enough, it loses ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoomLateness {
    /// Whether it sends less.
    pub is_late: bool,
    /// Whether it also loses ticks.
    pub loses_ticks: bool,
    /// How much less it sends, from 0.
    pub load_level: u32,
    /// Of the last `ticks_due` ticks so many ran, in about a second; 0 if that is not known.
    pub ticks_run: u32,
    /// Ticks that should have run in that time.
    pub ticks_due: u32,
}

impl RoomLateness {
    /// Whether there is nothing new to tell a player.
    pub(super) fn is_like(self, other: Self) -> bool {
        (self.is_late, self.loses_ticks) == (other.is_late, other.loses_ticks)
    }
}

impl From<RoomLate> for RoomLateness {
    fn from(late: RoomLate) -> Self {
        Self {
            is_late: late.is_late,
            loses_ticks: late.loses_ticks,
            load_level: late.load_level,
            ticks_run: late.ticks_run,
            ticks_due: late.ticks_due,
        }
    }
}

/// Counters of one client.
#[derive(Clone, Debug, Default)]
pub struct ClientStats {
    /// Datagrams received.
    pub datagrams_down: u64,
    /// Their bytes.
    pub bytes_down: u64,
    /// Datagrams of the host that did not arrive.
    pub datagrams_lost: u64,
    /// Datagrams sent.
    pub datagrams_up: u64,
    /// Their bytes.
    pub bytes_up: u64,
    /// Datagrams, records or messages that were invalid.
    pub malformed: u64,
    /// Objects that came into sight.
    pub enters: u64,
    /// Objects that went out of sight.
    pub leaves: u64,
    /// Events received.
    pub events: u64,
    /// Events that arrived after their effect time.
    pub late_events: u64,
    /// Updates that changed something, including poses of objects in sight.
    pub updates: u64,
    /// Updates that changed what was already shown.
    pub late_updates: u64,
    /// Datagrams with poses.
    pub pose_datagrams: u64,
    /// Poses applied, including those of objects that are not in sight yet.
    pub poses: u64,
    /// Poses that came too late, for objects that had left.
    pub stale_poses: u64,
    /// Datagrams whose poses could not be read because a baseline was missing; the host was
    /// notified.
    pub lost_tracks: u64,
    /// Commands sent.
    pub commands: u64,
    /// Commands that the host confirmed.
    pub confirmed: u64,
    /// Commands refused.
    pub refused: u64,
    /// `Update` events that were dropped because the view did not read them.
    pub events_dropped: u64,
    /// Game starts, including reconnects.
    pub starts: u64,
    /// Whether the room is late, and how much.
    pub room_lateness: RoomLateness,
    /// Round trip to the game, if known.
    pub rtt: Option<Duration>,
    /// How unevenly datagrams arrive: the mean deviation of the time between two arrivals from the
    /// time between their ticks. `None` outside a game.
    pub jitter: Option<Duration>,
    /// Times between datagrams with new data.
    pub gaps: Distribution,
    /// How often the room moved to another host while the player was in the game.
    pub moves: u64,
    /// The gaps around such moves.
    pub move_gaps: Distribution,
    /// Sampled ages of what was shown.
    pub ages: AgeByClass,
    /// Corrections of the client's own physics.
    pub simulation: SimulationStats,
}

/// Statistics of the client's own physics and of the host's corrections.
#[derive(Clone, Debug, Default)]
pub struct SimulationStats {
    /// Simulated frames.
    pub steps: u64,
    /// How far poses from the host moved bodies. A pose that moved nothing does not count.
    pub corrections: LengthDistribution,
    /// Poses that arrived after their frame was drawn.
    pub late_poses: u64,
    /// Objects that were put back to their reported position at rest.
    pub restored: u64,
    /// How far the host's poses of the player's own avatar were from what had been predicted for
    /// their frames: all that came after the prediction, and mostly 0.
    pub predicted: LengthDistribution,
    /// How far the drawn position of the player's own avatar was corrected because of the host.
    pub reconciled: LengthDistribution,
}

/// A histogram of lengths, with a resolution of one millimetre up to four metres.
#[derive(Clone, Debug, Default)]
pub struct LengthDistribution(Distribution);

impl LengthDistribution {
    /// Counts a length; it is rounded down to millimetres.
    pub fn add(&mut self, metres: f32) {
        // Store millimetres as milliseconds.
        self.0.add(Duration::from_micros((metres.max(0.0) * 1e6) as u64));
    }

    /// Adds all values of `other`.
    pub fn merge(&mut self, other: &LengthDistribution) {
        self.0.merge(&other.0);
    }

    /// The smallest length that is at least as large as the share `share` (0 to 1) of all values,
    /// in centimetres.
    pub fn quantile_cm(&self, share: f64) -> Option<f64> {
        self.0.quantile_ms(share).map(|mm| mm as f64 / 10.0)
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.0.count()
    }
}

impl SimulationStats {
    /// Adds all values of `other`.
    pub fn merge(&mut self, other: &SimulationStats) {
        self.steps += other.steps;
        self.corrections.merge(&other.corrections);
        self.late_poses += other.late_poses;
        self.restored += other.restored;
        self.predicted.merge(&other.predicted);
        self.reconciled.merge(&other.reconciled);
    }
}

/// How much an object matters to a player; the distances are those of the object's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgeClass {
    /// The player's own avatar, and objects that interacted with it in the last few seconds.
    Engaged,
    /// Near the avatar.
    Near,
    /// All other objects.
    Far,
}

/// Ages of objects in sight, by class. For an object whose motion cannot be predicted, the age
/// counts from the newest datagram with its pose. For all others it counts from the newest
/// datagram: silence about them means that nothing has changed.
#[derive(Clone, Debug, Default)]
pub struct AgeByClass {
    /// Of engaged objects.
    pub engaged: Distribution,
    /// Of near objects.
    pub near: Distribution,
    /// Of far objects.
    pub far: Distribution,
}

impl AgeByClass {
    /// Counts how old the shown state of one object is.
    pub fn add(&mut self, class: AgeClass, age: Duration) {
        match class {
            AgeClass::Engaged => self.engaged.add(age),
            AgeClass::Near => self.near.add(age),
            AgeClass::Far => self.far.add(age),
        }
    }

    /// Adds all values of `other`.
    pub fn merge(&mut self, other: &AgeByClass) {
        self.engaged.merge(&other.engaged);
        self.near.merge(&other.near);
        self.far.merge(&other.far);
    }

    /// The values added since `earlier`, a copy of this object.
    pub fn since(&self, earlier: &AgeByClass) -> AgeByClass {
        AgeByClass {
            engaged: self.engaged.since(&earlier.engaged),
            near: self.near.since(&earlier.near),
            far: self.far.since(&earlier.far),
        }
    }
}

impl ClientStats {
    /// The share of late events and updates, 0 to 1.
    pub fn late_share(&self) -> f64 {
        let all = self.events + self.updates;
        if all == 0 { 0.0 } else { (self.late_events + self.late_updates) as f64 / all as f64 }
    }
}

/// Number of milliseconds that a [`Distribution`] distinguishes; longer times count in the last
/// bucket, but the maximum is exact.
const BUCKETS: usize = 4_096;

/// A histogram of times, with a resolution of one millisecond. Takes at most 16 KiB.
#[derive(Clone, Debug, Default)]
pub struct Distribution {
    buckets: Vec<u32>,
    count: u64,
    max: Duration,
}

impl Distribution {
    /// Counts a time; it is rounded down to milliseconds.
    pub fn add(&mut self, time: Duration) {
        let bucket = (time.as_millis() as usize).min(BUCKETS - 1);
        if bucket >= self.buckets.len() {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] = self.buckets[bucket].saturating_add(1);
        self.count += 1;
        self.max = self.max.max(time);
    }

    /// Adds all values of `other`.
    pub fn merge(&mut self, other: &Distribution) {
        self.buckets.resize(self.buckets.len().max(other.buckets.len()), 0);
        for (bucket, more) in self.buckets.iter_mut().zip(&other.buckets) {
            *bucket = bucket.saturating_add(*more);
        }
        self.count += other.count;
        self.max = self.max.max(other.max);
    }

    /// The values added since `earlier`, a copy of this object. The maximum is known to the
    /// millisecond only, unless it is the maximum of all.
    pub fn since(&self, earlier: &Distribution) -> Distribution {
        let before = earlier.buckets.iter().copied().chain(std::iter::repeat(0));
        let buckets: Vec<u32> = self
            .buckets
            .iter()
            .zip(before)
            .map(|(bucket, before)| bucket.saturating_sub(before))
            .collect();
        let longest = buckets.iter().rposition(|&bucket| bucket > 0).unwrap_or_default();
        let max =
            if self.max > earlier.max { self.max } else { Duration::from_millis(longest as u64) };
        Distribution { count: self.count.saturating_sub(earlier.count), buckets, max }
    }

    /// The smallest time that is at least as large as the share `share` (0 to 1) of all values, in
    /// milliseconds; `None` without values.
    pub fn quantile_ms(&self, share: f64) -> Option<u64> {
        let wanted = ((self.count as f64 * share).ceil() as u64).clamp(1, self.count.max(1));
        let mut seen = 0;
        self.buckets
            .iter()
            .position(|&bucket| {
                seen += u64::from(bucket);
                seen >= wanted
            })
            .map(|bucket| bucket as u64)
    }

    /// The longest time; zero without values.
    pub fn max(&self) -> Duration {
        self.max
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_known_times() {
        let mut distribution = Distribution::default();
        assert_eq!(distribution.quantile_ms(0.5), None);
        for ms in 1..=100 {
            distribution.add(Duration::from_millis(ms));
        }
        for (share, expected) in [(0.0, 1), (0.5, 50), (0.99, 99), (1.0, 100)] {
            assert_eq!(distribution.quantile_ms(share), Some(expected), "{share}");
        }
    }

    #[test]
    fn the_maximum_is_known_even_beyond_the_buckets() {
        let mut distribution = Distribution::default();
        distribution.add(Duration::from_mins(1));
        assert_eq!(distribution.max(), Duration::from_mins(1));
        assert_eq!(distribution.quantile_ms(0.5), Some(BUCKETS as u64 - 1));
    }

    #[test]
    fn merged_distributions_count_both() {
        let mut one = Distribution::default();
        let mut other = Distribution::default();
        one.add(Duration::from_millis(5));
        other.add(Duration::from_millis(50));
        other.add(Duration::from_millis(60));
        one.merge(&other);
        assert_eq!(
            (one.count(), one.quantile_ms(0.5), one.max()),
            (3, Some(50), Duration::from_millis(60))
        );
    }

    #[test]
    fn since_returns_only_what_was_counted_later() {
        let mut distribution = Distribution::default();
        distribution.add(Duration::from_micros(90_500));
        let earlier = distribution.clone();
        distribution.add(Duration::from_micros(20_250));
        let later = distribution.since(&earlier);
        assert_eq!(
            (later.count(), later.quantile_ms(0.5), later.max()),
            (1, Some(20), Duration::from_millis(20))
        );
        distribution.add(Duration::from_micros(120_750));
        assert_eq!(distribution.since(&earlier).max(), Duration::from_micros(120_750));
    }

    #[test]
    fn nothing_received_is_not_late() {
        assert_eq!(ClientStats::default().late_share(), 0.0);
        let stats = ClientStats { events: 3, late_events: 1, updates: 1, ..ClientStats::default() };
        assert_eq!(stats.late_share(), 0.25);
    }
}
