//! Where rooms run.
//!
//! A host is a link (`WorldEnd`): messages go out, messages come in, its end is the host's end.
//! That is all that the lobby's side knows; whether the other end is in this process (`embedded`),
//! in a child (`process`) or on another machine (`remote`) is the business of whoever made the
//! link.

pub(crate) mod embedded;
pub(crate) mod process;
pub(crate) mod remote;
pub mod room_checkpoints;

use std::sync::Arc;
use std::time::Duration;

use actix::Addr;
use ambit_game_server::carrier::WorldEnd;
use ambit_proto::control::host::{
    HostReady, HostToWorld, Kept, WorldToHost, host_to_world, world_to_host,
};

use crate::actor::{HostConnected, HostDisconnected, HostReport, LobbyClock, WorldServer};
use crate::lobby::{HostId, Origin};

use self::room_checkpoints::RoomCheckpoints;

/// How long a host may take to say that it is ready.
const READY_TIMEOUT: Duration = Duration::from_secs(10);

/// A host that has said it is ready, and which the lobby knows.
pub(crate) struct HostSession {
    id: HostId,
    link: WorldEnd,
    world: Addr<WorldServer>,
    clock: LobbyClock,
    checkpoints: Arc<RoomCheckpoints>,
    /// Whether the host is told what of its ticks has come.
    acknowledges_ticks: bool,
}

impl HostSession {
    /// Waits for the host's first message and introduces it to the lobby, if `admit` has nothing
    /// against it.
    pub(crate) async fn register(
        mut link: WorldEnd,
        world: Addr<WorldServer>,
        origin: Origin,
        admit: impl FnOnce(&HostReady) -> Result<(), String>,
    ) -> Result<Self, String> {
        let first = tokio::time::timeout(READY_TIMEOUT, link.news.recv()).await;
        let Ok(first) = first else {
            return Err(format!("not ready within {} s", READY_TIMEOUT.as_secs()));
        };
        let Some(HostToWorld {
            body: Some(host_to_world::Body::Ready(mut ready)),
        }) = first
        else {
            return Err("it ended, or said something else, before it was ready".into());
        };
        admit(&ready)?;
        ready.key.clear();
        let gone = |_| "the lobby is not there".to_owned();
        let (id, clock, kept) = world
            .send(HostConnected(link.commands.clone(), origin))
            .await
            .map_err(gone)?;
        tracing::info!(
            host = id.0,
            label = ready.label,
            address = ready.address,
            "a host is ready"
        );
        let ready = HostToWorld {
            body: Some(host_to_world::Body::Ready(ready)),
        };
        world.send(HostReport(id, ready)).await.map_err(gone)?;
        Ok(Self {
            id,
            link,
            world,
            clock,
            checkpoints: kept,
            acknowledges_ticks: origin == Origin::Remote,
        })
    }

    /// Carries what the host says to the lobby until the host ends; then `why` is asked for the
    /// reason.
    pub(crate) async fn run<W: Future<Output = String>>(mut self, why: impl FnOnce() -> W) {
        // The lobby's own sender is the one that counts: when it lets go of the host, the link
        // ends.
        let commands = self.link.commands.downgrade();
        drop(self.link.commands);
        while let Some(message) = self.link.news.recv().await {
            let serial = match &message.body {
                Some(host_to_world::Body::RoomTick(tick)) if self.acknowledges_ticks => {
                    Some(tick.serial)
                }
                _ => None,
            };
            // Most of it is not the lobby's business, and never meets it.
            let news = self.checkpoints.receive(self.clock.now(), self.id, message);
            if let (Some(serial), Some(commands)) = (serial, commands.upgrade()) {
                // A later one makes up for one that finds no room.
                let _ = commands.try_send(WorldToHost {
                    body: Some(world_to_host::Body::Kept(Kept { serial })),
                });
            }
            let Some(message) = news else { continue };
            // Waits while the mailbox is full: the host's queue fills up meanwhile.
            if self.world.send(HostReport(self.id, message)).await.is_err() {
                return;
            }
        }
        let reason = why().await;
        tracing::info!(host = self.id.0, "a host is gone: {reason}");
        let _ = self.world.send(HostDisconnected(self.id, reason)).await;
    }
}
