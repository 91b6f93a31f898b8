//! What all handles of a connection share.

use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;

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
    pub(super) line: watch::Receiver<LineFigures>,
}

/// Where the thread says what happens to a connection.
pub(super) struct ConnectionSigns {
    pub(super) end: watch::Sender<Option<ConnectionError>>,
    pub(super) line: watch::Sender<LineFigures>,
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
