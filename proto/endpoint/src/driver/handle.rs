//! What all handles of a connection share.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use quinn_proto::ConnectionError;
use tokio::sync::watch;

use super::commands::{CommandSender, ConnectionCommand, EndpointCommand};
use crate::endpoint_core::{ConnectionKey, LineFigures};

/// What all handles of a connection share.
#[derive(Debug)]
pub(super) struct ConnectionParts {
    pub(super) key: ConnectionKey,
    pub(super) commands: CommandSender,
    pub(super) remote: SocketAddr,
    pub(super) protocol: Vec<u8>,
    pub(super) max_datagram_size: Option<usize>,
    /// Whether it was closed from here.
    pub(super) is_closing: AtomicBool,
    pub(super) end: watch::Receiver<Option<ConnectionError>>,
    pub(super) line: Arc<SharedLine>,
}

/// Where the thread says what happens to a connection.
pub(super) struct ConnectionSigns {
    pub(super) end: watch::Sender<Option<ConnectionError>>,
    pub(super) line: Arc<SharedLine>,
}

/// How the network treats a connection: microseconds, and the bits of a share.
#[derive(Debug, Default)]
pub(super) struct SharedLine(AtomicU64);

impl SharedLine {
    pub(super) fn set(&self, line: LineFigures) {
        let micros = u32::try_from(line.round_trip.as_micros()).unwrap_or(u32::MAX);
        let loss = (line.loss as f32).to_bits();
        self.0.store(u64::from(micros) << 32 | u64::from(loss), Relaxed);
    }

    pub(super) fn get(&self) -> LineFigures {
        let bits = self.0.load(Relaxed);
        let round_trip = Duration::from_micros(bits >> 32);
        LineFigures { round_trip, loss: f32::from_bits(bits as u32).into() }
    }
}

impl Drop for ConnectionParts {
    fn drop(&mut self) {
        self.commands.send(EndpointCommand::Release(self.key));
    }
}

impl ConnectionParts {
    pub(super) fn order(&self, command: ConnectionCommand) {
        self.commands.send(EndpointCommand::OfConnection(self.key, command));
    }
}
