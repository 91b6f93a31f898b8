//! Traffic of a client's sockets.
//!
//! Connections are added when established; sums come out: UDP payload including QUIC's own packets,
//! also of closed connections. Of a closed connection only the sums are kept.

use parking_lot::Mutex;
use quinn::{Connection, ConnectionStats};

/// UDP payload in both directions.
#[derive(derive_more::AddAssign, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Datagrams received.
    pub datagrams_down: u64,
    /// Their bytes.
    pub bytes_down: u64,
    /// Datagrams sent.
    pub datagrams_up: u64,
    /// Their bytes.
    pub bytes_up: u64,
}

/// Counts the traffic of a client's connections.
#[derive(Debug, Default)]
pub(super) struct TrafficMeter {
    state: Mutex<MeterState>,
}

#[derive(Debug, Default)]
struct MeterState {
    closed: Traffic,
    /// Usually one to the lobby and one to the game.
    open: Vec<Connection>,
}

impl TrafficMeter {
    pub(super) fn add(&self, connection: &Connection) {
        let mut state = self.state.lock();
        state.retire_closed();
        state.open.push(connection.clone());
    }

    pub(super) fn read(&self) -> Traffic {
        let mut state = self.state.lock();
        state.retire_closed();
        let mut sum = state.closed;
        for connection in &state.open {
            sum += Traffic::from(connection.stats());
        }
        sum
    }
}

impl MeterState {
    fn retire_closed(&mut self) {
        for connection in self.open.extract_if(.., |connection| connection.close_reason().is_some())
        {
            self.closed += Traffic::from(connection.stats());
        }
    }
}

impl From<ConnectionStats> for Traffic {
    fn from(stats: ConnectionStats) -> Self {
        Traffic {
            datagrams_down: stats.udp_rx.datagrams,
            bytes_down: stats.udp_rx.bytes,
            datagrams_up: stats.udp_tx.datagrams,
            bytes_up: stats.udp_tx.bytes,
        }
    }
}
