//! The hosts that run rooms.
//!
//! A host is a link (`WorldEnd`): messages go out, messages come in, and the end of the link is the
//! end of the host. The lobby knows no more. Whether the other end is in this process (`embedded`),
//! in a child process (`process`) or on another machine (`remote`) matters only to the code that
//! created the link.

pub(crate) mod embedded;
pub(crate) mod process;
pub(crate) mod remote;
pub mod room_checkpoints;

use std::sync::Arc;
use std::time::Duration;

use actix::Addr;
use ambit_host::host_link::WorldEnd;
use ambit_host::protocol::messages::{
    HostReady, HostToWorld, JournalKept, WorldToHost, host_to_world, world_to_host,
};

use crate::actor::messages::{HostConnected, HostDisconnected, HostReported};
use crate::actor::{LobbyClock, WorldServer};
use crate::lobby::{HostId, HostReport, Origin};

use self::room_checkpoints::RoomCheckpoints;

/// How long a host may take to send its first message.
const READY_TIMEOUT: Duration = Duration::from_secs(10);

/// Why the link to a host ended.
pub(crate) struct DisconnectCause {
    /// For logs and players.
    pub(crate) reason: String,
    /// What follows, if the host failed; for the log.
    pub(crate) consequence: Option<&'static str>,
}

impl DisconnectCause {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            consequence: None,
        }
    }
}

/// A host that is ready and registered in the lobby.
pub(crate) struct HostSession {
    id: HostId,
    link: WorldEnd,
    world: Addr<WorldServer>,
    clock: LobbyClock,
    checkpoints: Arc<RoomCheckpoints>,
    /// Whether the ticks of the host are acknowledged.
    acknowledges_ticks: bool,
}

impl HostSession {
    /// Waits for the host's first message and registers the host in the lobby, if `admit` accepts
    /// it.
    pub(crate) async fn register(
        mut link: WorldEnd,
        world: Addr<WorldServer>,
        origin: Origin,
        admit: impl FnOnce(&HostReady) -> Result<(), String>,
    ) -> Result<Self, String> {
        let first = tokio::time::timeout(READY_TIMEOUT, link.messages.recv()).await;
        let Ok(first) = first else {
            return Err(format!(
                "it sent no `Ready` within {} s",
                READY_TIMEOUT.as_secs()
            ));
        };
        let Some(HostToWorld {
            body: Some(host_to_world::Body::Ready(mut ready)),
        }) = first
        else {
            return Err("its first message was not `Ready`, or it ended before".into());
        };
        admit(&ready)?;
        ready.key.clear();
        let lobby_ended = |_| "the lobby has ended".to_owned();
        let (id, clock, checkpoints) = world
            .send(HostConnected(link.orders.clone(), origin))
            .await
            .map_err(lobby_ended)?;
        tracing::info!(
            host = id.0,
            label = ready.label,
            address = ready.address,
            "host ready; it can get rooms"
        );
        let ready = HostReport::Message(host_to_world::Body::Ready(ready));
        world
            .send(HostReported(id, ready))
            .await
            .map_err(lobby_ended)?;
        Ok(Self {
            id,
            link,
            world,
            clock,
            checkpoints,
            acknowledges_ticks: origin == Origin::Remote,
        })
    }

    /// Forwards the host's messages to the lobby until the link ends; then `why` returns the
    /// cause.
    pub(crate) async fn run<W: Future<Output = DisconnectCause>>(
        mut self,
        why: impl FnOnce() -> W,
    ) {
        // Only the lobby's sender keeps the link open: when the lobby drops it, the link ends.
        let commands = self.link.orders.downgrade();
        drop(self.link.orders);
        while let Some(message) = self.link.messages.recv().await {
            let serial = match &message.body {
                Some(host_to_world::Body::RoomTick(tick)) if self.acknowledges_ticks => {
                    Some(tick.serial)
                }
                _ => None,
            };
            // Most messages are only stored as checkpoints and do not reach the lobby.
            let report = self.checkpoints.receive(self.clock.now(), self.id, message);
            if let (Some(serial), Some(commands)) = (serial, commands.upgrade()) {
                // If the queue is full, a later acknowledgement covers this one.
                let _ = commands.try_send(WorldToHost {
                    body: Some(world_to_host::Body::JournalKept(JournalKept { serial })),
                });
            }
            let Some(report) = report else { continue };
            // Waits while the mailbox is full; the host's queue fills meanwhile.
            if self
                .world
                .send(HostReported(self.id, report))
                .await
                .is_err()
            {
                return;
            }
        }
        let DisconnectCause {
            reason,
            consequence,
        } = why().await;
        if let Some(consequence) = consequence {
            tracing::warn!(
                host = self.id.0,
                "host disconnected: {reason}; {consequence}"
            );
        } else {
            tracing::info!(host = self.id.0, "host disconnected: {reason}");
        }
        let _ = self.world.send(HostDisconnected(self.id, reason)).await;
    }
}
