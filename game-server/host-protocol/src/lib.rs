//! What a WorldServer and the processes that host its rooms say to each other.
//!
//! Both sides use this crate. What they decide by are the values of [`messages`]: orders of the
//! WorldServer ([`messages::WorldOrder`]) and messages of a host ([`messages::HostMessage`]).
//! [`protobuf`] makes of each what is sent ([`generated`]), and makes it again of what comes in.
//! Nothing here does I/O, reads a clock or keeps a state.
//!
//! - The first message each way names [`VERSION`], and is compared before all else. There is no
//!   negotiation: both sides are built from the same source, and a host of another version ends.
//! - A message that is sent has less than `frame::MAX_HOST` bytes: a room's state and journal are
//!   cut into pieces of [`ROOM_PIECE_BYTES`], and what has more than [`MAX_ROOM_STATE_BYTES`],
//!   [`MAX_ROOM_JOURNAL_BYTES`] or [`MAX_TICK_INPUT_BYTES`] is not sent.
//! - Reading survives every input. What this build does not know, or what is no value, is `None`;
//!   the receiver passes over it, and goes on with the next message.
//!
//! The bytes are those of `proto/ambit/host.proto`.

pub mod messages;
pub mod protobuf;
pub mod stats;

use std::time::Duration;

/// Version of the host protocol: `Configure.version`, `HostReady.version`.
pub const VERSION: u32 = 13;

/// A room is sent in pieces of this size, so that a large room does not make a message too long.
/// All pieces are sent one behind the other, so the line has to carry a room's snapshot well within
/// a serving lease.
pub const ROOM_PIECE_BYTES: usize = 1 << 20;
/// The largest inputs of one tick that are sent; a room with more in one tick ends.
pub const MAX_TICK_INPUT_BYTES: usize = 4 << 20;
/// The largest state of a room that is sent. A larger room can't go on at another host.
pub const MAX_ROOM_STATE_BYTES: usize = 64 << 20;
/// The largest journal of a room that is kept between two snapshots. A room that sends more without
/// a new snapshot can't go on at another host until the next snapshot.
pub const MAX_ROOM_JOURNAL_BYTES: usize = 64 << 20;

// One piece of the state, and the longest entry behind one of the journal.
const _: () =
    assert!(2 * ROOM_PIECE_BYTES + MAX_TICK_INPUT_BYTES < ambit_proto::frame::MAX_HOST / 2);

/// Upper bounds, in seconds, of the buckets of `HostStats.tick_buckets`; one more bucket takes the
/// rest.
///
/// The bounds are dense in the range of a healthy tick and end at two periods of 20 Hz: a longer
/// tick is a failure by any measure.
pub const TICK_BUCKETS: [f64; 12] =
    [0.000_5, 0.001, 0.002, 0.003, 0.005, 0.007_5, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1];

/// How often a host sends `HostStats`.
pub const STATS_INTERVAL: Duration = Duration::from_secs(1);

/// How often a host sends a heartbeat.
pub const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(250);

/// Index in `HostStats.tick_buckets` for a tick that took `work`.
pub fn tick_bucket(work: Duration) -> usize {
    let seconds = work.as_secs_f64();
    TICK_BUCKETS.partition_point(|bound| *bound < seconds)
}

/// The messages of `proto/ambit/host.proto`.
#[allow(
    unused_qualifications,
    clippy::pedantic,
    clippy::large_enum_variant,
    reason = "generated; a report comes once a second"
)]
pub mod generated {
    include!("generated/ambit.host.rs");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_falls_into_the_first_bucket_whose_bound_it_does_not_pass() {
        assert_eq!(tick_bucket(Duration::ZERO), 0);
        assert_eq!(tick_bucket(Duration::from_micros(500)), 0);
        assert_eq!(tick_bucket(Duration::from_micros(501)), 1);
        assert_eq!(tick_bucket(Duration::from_millis(100)), TICK_BUCKETS.len() - 1);
        assert_eq!(tick_bucket(Duration::from_secs(1)), TICK_BUCKETS.len());
    }

    #[test]
    fn bucket_bounds_ascend() {
        assert!(TICK_BUCKETS.is_sorted_by(|a, b| a < b));
    }
}
