//! The times that the simulation of objects needs.

use std::time::Duration;

use ambit_proto::time::GameTime;

/// The times that the simulation needs.
#[derive(Clone, Copy, Debug)]
pub struct SimulationClocks {
    /// The estimated room time.
    pub now: GameTime,
    /// Estimated minimum delay from the host to the client: half the smallest round trip.
    pub one_way: Duration,
    /// Round-trip time to the host.
    pub rtt: Duration,
    /// Stamp of the newest datagram.
    pub newest_stamp: GameTime,
}
