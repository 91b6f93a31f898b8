//! What a running game measures: the path to the host, and how old and how early data is.

use std::time::Duration;

use ambit_proto::time::{GameTime, LocalTime};

use super::RunningGame;
use crate::client::stats::{AgeByClass, AgeClass};
use crate::replica::VisibleObject;

impl<V> RunningGame<V> {
    /// Age of the newest data about the room, if anything in sight moves.
    pub fn age(&self, now: LocalTime) -> Option<Duration> {
        let room_now = self.room_time(now);
        let stamp = self.newest_stamp?;
        self.replica
            .visible_objects()
            .any(|object| object.moves(room_now))
            .then(|| room_now.since(stamp))
    }

    /// Adds the age of each object in sight to `ages`, if the avatar is in sight and anything
    /// moves.
    pub fn sample_ages(&self, now: LocalTime, ages: &mut AgeByClass) {
        let t = self.room_time(now);
        let Some(here) = self
            .replica
            .own()
            .and_then(|own| own.position(t))
            .filter(|_| self.replica.visible_objects().any(|object| object.moves(t)))
        else {
            return;
        };
        for object in self.replica.visible_objects() {
            let Some(position) = object.position(t) else {
                continue;
            };
            let class = if object.is_own() || self.engaged_objects.is_engaged(object.id, t) {
                AgeClass::Engaged
            } else if here.ground_distance(position) <= object.freshness().near_m {
                AgeClass::Near
            } else {
                AgeClass::Far
            };
            if let Some(age) = self.object_age(&object, t) {
                ages.add(class, age);
            }
        }
    }

    /// Age at room time `t` of the newest data about an object in sight, as [`AgeByClass`] counts
    /// it. `None` before the first datagram.
    pub fn object_age(&self, object: &VisibleObject<'_, V>, t: GameTime) -> Option<Duration> {
        // The host sends nothing about an object at rest until it moves. If it moves here, that is
        // the client's own simulation.
        let newest_pose =
            object.newest_pose_stamp().filter(|_| object.moves(t) && !object.is_reported_at_rest());
        Some(t.since(newest_pose.or(self.newest_stamp)?))
    }

    /// The horizon of the host's newest known tick: what the host has confirmed takes effect by
    /// then. `None` before the first datagram.
    pub fn horizon(&self) -> Option<GameTime> {
        Some(self.newest_stamp? + self.rules.delay)
    }

    /// The depth of the jitter buffer: a datagram may arrive this much later than over the fastest
    /// path, and its poses are still shown in time.
    pub fn buffer_depth(&self, now: LocalTime) -> Duration {
        let shown_behind = self.replica.lag().at(self.room_time(now));
        (self.rules.delay + shown_behind).saturating_sub(self.clock.uncertainty())
    }

    /// Datagrams of the host that did not arrive.
    pub fn datagrams_lost(&self) -> u64 {
        self.arrivals.lost()
    }

    /// How unevenly datagrams arrive.
    pub fn jitter(&self) -> Duration {
        self.arrivals.jitter()
    }

    /// Round-trip time to the host without the wait for its tick; `None` before the first answer.
    pub fn rtt(&self) -> Option<Duration> {
        let ping_ms = self.link.stats().ping_ms?;
        Some(Duration::from_secs_f32(ping_ms / 1_000.0))
    }

    /// How far off the estimated room time may be, if the delays to the host and back differ.
    pub fn clock_uncertainty(&self) -> Duration {
        self.clock.uncertainty()
    }
}
