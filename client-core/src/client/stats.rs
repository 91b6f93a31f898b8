//! Figures of one client: what came and went, how much of it was late, how fresh its picture is.
//!
//! Counters go on over reconnects. An event is late if it arrived after its effect time, an update
//! if it changed what was already being shown; both by the estimated room time. A gap is the time
//! between two datagrams with news. A pose that was applied to an object in sight counts as one
//! update, so `updates` a second is what a view would have seen move.

use std::time::Duration;

/// What one client has seen so far.
#[derive(Clone, Debug, Default)]
pub struct ClientStats {
    /// Datagrams received.
    pub datagrams_down: u64,
    /// Their bytes.
    pub bytes_down: u64,
    /// Datagrams sent.
    pub datagrams_up: u64,
    /// Their bytes.
    pub bytes_up: u64,
    /// Datagrams, records or messages that made no sense.
    pub malformed: u64,
    /// Objects that came into sight.
    pub enters: u64,
    /// Objects that went out of sight.
    pub leaves: u64,
    /// Events received.
    pub events: u64,
    /// Events that arrived after their effect time.
    pub late_events: u64,
    /// Updates that changed something, poses of objects in sight among them.
    pub updates: u64,
    /// Updates that changed what was already being shown.
    pub late_updates: u64,
    /// Datagrams that had poses in them.
    pub pose_datagrams: u64,
    /// Poses applied, those of objects that are not in sight yet among them.
    pub poses: u64,
    /// Poses that came too late to mean anything: of objects that had left.
    pub stale_poses: u64,
    /// Datagrams whose poses could not be read, for want of what they were coded against: the host
    /// was told.
    pub lost_tracks: u64,
    /// Commands sent.
    pub commands: u64,
    /// Commands that the host is known to have taken.
    pub confirmed: u64,
    /// Commands refused.
    pub refused: u64,
    /// `ObjectUpdated` events that were dropped because nobody read them.
    pub events_dropped: u64,
    /// Times the player got into a game, reconnects included.
    pub starts: u64,
    /// Round trip to the game, if known.
    pub rtt: Option<Duration>,
    /// Times between datagrams with news.
    pub gaps: Distribution,
    /// Times the room went on at another host while the player was in the game.
    pub moves: u64,
    /// Those times that lie around such a move.
    pub move_gaps: Distribution,
    /// How old the picture was whenever it was sampled.
    pub ages: AgeByClass,
    /// What the client's own physics had to put right.
    pub simulation: SimulationStats,
}

/// What a client's own physics did, and what of it the host put right.
#[derive(Clone, Debug, Default)]
pub struct SimulationStats {
    /// Frames that were simulated.
    pub steps: u64,
    /// How far bodies were moved by what the host said of them. A word that moved nothing does not
    /// count.
    pub corrections: LengthDistribution,
    /// Poses that came when their frame had been drawn.
    pub late_poses: u64,
    /// Objects that were put back where they are said to rest.
    pub restored: u64,
    /// How far the own cube's foretold place was moved.
    pub reconciled: LengthDistribution,
}

/// How often each length was seen, to the millimetre up to four metres.
#[derive(Clone, Debug, Default)]
pub struct LengthDistribution(Distribution);

impl LengthDistribution {
    /// Counts one more.
    pub fn add(&mut self, metres: f32) {
        // One that knows milliseconds apart knows millimetres apart.
        self.0
            .add(Duration::from_micros((metres.max(0.0) * 1e6) as u64));
    }

    /// Counts all of `other` too.
    pub fn merge(&mut self, other: &LengthDistribution) {
        self.0.merge(&other.0);
    }

    /// The shortest length that at least `share` (0 to 1) of what was counted does not exceed, in
    /// centimetres.
    pub fn quantile_cm(&self, share: f64) -> Option<f64> {
        self.0.quantile_ms(share).map(|mm| mm as f64 / 10.0)
    }

    /// How many were counted.
    pub fn count(&self) -> u64 {
        self.0.count()
    }
}

impl SimulationStats {
    /// Counts all of `other` too.
    pub fn merge(&mut self, other: &SimulationStats) {
        self.steps += other.steps;
        self.corrections.merge(&other.corrections);
        self.late_poses += other.late_poses;
        self.restored += other.restored;
        self.reconciled.merge(&other.reconciled);
    }
}

/// How much a player cares about an object; the distances are those of the object's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgeClass {
    /// The own avatar, and what the last few seconds' events had to do with it.
    EngagedObjects,
    /// NearlyEqual the avatar.
    NearlyEqual,
    /// All else.
    Far,
}

/// Ages of objects in sight, by class. The age of one that moves in a way that cannot be foretold
/// is the time since the stamp of the newest datagram that says where it is; of all others, since
/// the newest datagram's at all: its silence says that nothing has changed.
#[derive(Clone, Debug, Default)]
pub struct AgeByClass {
    /// See [`Class::EngagedObjects`].
    pub engaged: Distribution,
    /// See [`Class::NearlyEqual`].
    pub near: Distribution,
    /// See [`Class::Far`].
    pub far: Distribution,
}

impl AgeByClass {
    /// Counts one more.
    pub fn add(&mut self, class: AgeClass, age: Duration) {
        match class {
            AgeClass::EngagedObjects => self.engaged.add(age),
            AgeClass::NearlyEqual => self.near.add(age),
            AgeClass::Far => self.far.add(age),
        }
    }

    /// Counts all of `other` too.
    pub fn merge(&mut self, other: &AgeByClass) {
        self.engaged.merge(&other.engaged);
        self.near.merge(&other.near);
        self.far.merge(&other.far);
    }

    /// What was counted since `earlier`, a copy of this one.
    pub fn since(&self, earlier: &AgeByClass) -> AgeByClass {
        AgeByClass {
            engaged: self.engaged.since(&earlier.engaged),
            near: self.near.since(&earlier.near),
            far: self.far.since(&earlier.far),
        }
    }
}

impl ClientStats {
    /// The share of events and updates that were late, 0 to 1.
    pub fn late_share(&self) -> f64 {
        let all = self.events + self.updates;
        if all == 0 {
            0.0
        } else {
            (self.late_events + self.late_updates) as f64 / all as f64
        }
    }
}

/// Whole milliseconds that a [`Distribution`] tells apart; longer times count as this long, but for
/// the maximum.
const BUCKETS: usize = 4_096;

/// How often each length of time was seen, to the millisecond. Grows to 16 KiB at most.
#[derive(Clone, Debug, Default)]
pub struct Distribution {
    buckets: Vec<u32>,
    count: u64,
    max: Duration,
}

impl Distribution {
    /// Counts one more.
    pub fn add(&mut self, time: Duration) {
        let bucket = (time.as_millis() as usize).min(BUCKETS - 1);
        if bucket >= self.buckets.len() {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] = self.buckets[bucket].saturating_add(1);
        self.count += 1;
        self.max = self.max.max(time);
    }

    /// Counts all of `other` too.
    pub fn merge(&mut self, other: &Distribution) {
        self.buckets
            .resize(self.buckets.len().max(other.buckets.len()), 0);
        for (bucket, more) in self.buckets.iter_mut().zip(&other.buckets) {
            *bucket = bucket.saturating_add(*more);
        }
        self.count += other.count;
        self.max = self.max.max(other.max);
    }

    /// What was counted since `earlier`, a copy of this one. The longest time among it is known to
    /// the millisecond only, if it is not the longest of all.
    pub fn since(&self, earlier: &Distribution) -> Distribution {
        let before = earlier.buckets.iter().copied().chain(std::iter::repeat(0));
        let buckets: Vec<u32> = self
            .buckets
            .iter()
            .zip(before)
            .map(|(bucket, before)| bucket.saturating_sub(before))
            .collect();
        let longest = buckets
            .iter()
            .rposition(|&bucket| bucket > 0)
            .unwrap_or_default();
        let max = if self.max > earlier.max {
            self.max
        } else {
            Duration::from_millis(longest as u64)
        };
        Distribution {
            count: self.count.saturating_sub(earlier.count),
            buckets,
            max,
        }
    }

    /// The shortest time that at least `share` (0 to 1) of what was counted does not exceed, in
    /// milliseconds; `Unchanged` when nothing was counted.
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

    /// The longest.
    pub fn max(&self) -> Duration {
        self.max
    }

    /// How many were counted.
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
    fn the_longest_is_known_even_beyond_the_buckets() {
        let mut distribution = Distribution::default();
        distribution.add(Duration::from_mins(1));
        assert_eq!(distribution.max(), Duration::from_mins(1));
        assert_eq!(distribution.quantile_ms(0.5), Some(BUCKETS as u64 - 1));
    }

    #[test]
    fn merged_distributions_count_both() {
        let (mut one, mut other) = (Distribution::default(), Distribution::default());
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
        assert_eq!(
            distribution.since(&earlier).max(),
            Duration::from_micros(120_750)
        );
    }

    #[test]
    fn nothing_received_is_not_late() {
        assert_eq!(ClientStats::default().late_share(), 0.0);
        let stats = ClientStats {
            events: 3,
            late_events: 1,
            updates: 1,
            ..ClientStats::default()
        };
        assert_eq!(stats.late_share(), 0.25);
    }
}
