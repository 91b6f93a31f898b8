//! Connections of clients whose rooms have gone on to another host.
//!
//! The clients get tickets for the other host, and close by themselves; until then a connection
//! stays as it is, since its end would look like a failure. Bound: the clients of the rooms that
//! have left within [`FOLLOW_WITHIN`].

use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::time::LocalTime;
use parking_lot::Mutex;

use super::control_stream::{self, GameConnection};

/// How long a client may take to follow: the next ticket may take as long as the lobby needs for
/// another host.
const FOLLOW_WITHIN: Duration = Duration::from_secs(20);

/// See the module.
#[derive(Default)]
pub(crate) struct PartedClients {
    /// With the time at which their room has left.
    connections: Mutex<Vec<(LocalTime, GameConnection)>>,
}

impl PartedClients {
    /// Adds the clients of a room that has left.
    pub(crate) fn add(
        &self,
        now: LocalTime,
        connections: impl IntoIterator<Item = GameConnection>,
    ) {
        let connections = connections.into_iter().map(|connection| (now, connection));
        self.connections.lock().extend(connections);
    }

    /// Closes those that have not followed in time.
    pub(crate) fn close_late(&self, now: LocalTime) {
        self.connections.lock().retain(|(since, client)| {
            let may_stay = now.since(*since) < FOLLOW_WITHIN;
            if !may_stay {
                let why = "the room has moved to another host, and the client did not follow";
                control_stream::close(&client.connection, ErrorCode::NotInRoom, why);
            }
            may_stay
        });
    }
}
