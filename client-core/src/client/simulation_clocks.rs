//! Clocks and delays at one time, as the client estimates them.

use std::time::Duration;

use ambit_proto::time::GameTime;

/// The times that the simulation needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SimulationClocks {
    /// The estimated room time.
    pub(crate) now: GameTime,
    /// Estimated minimum delay from the host to the client: half the smallest round trip.
    pub(crate) one_way: Duration,
    /// Round-trip time to the host.
    pub(crate) rtt: Duration,
    /// Stamp of the newest datagram.
    pub(crate) newest_stamp: GameTime,
}
