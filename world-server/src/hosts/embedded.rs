//! The host within this process. Its rooms share the WorldServer's port, and its messages are never
//! encoded to bytes.

use actix::Addr;
use ambit_host::host::{GameHost, HostConfig};
use ambit_host::host_link::host_link;
use ambit_lobby::Origin;
use ambit_room::logic::registry::Registry;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{DisconnectCause, HostSession};
use crate::actor::WorldServer;

/// A host that is ready, and the task that ends with it.
pub(crate) struct EmbeddedHost {
    pub(crate) host: GameHost,
    pub(crate) ended: JoinHandle<()>,
}

/// Starts the host. Must be called on a thread of the actix system.
pub(crate) async fn start(
    config: HostConfig,
    registry: Registry,
    world: Addr<WorldServer>,
) -> anyhow::Result<EmbeddedHost> {
    let (host, mut control) = GameHost::new(config, registry)?;
    let (world_end, host_end) = host_link();
    // It ends with this process.
    let running = tokio::spawn(async move {
        control.run(host_end, &CancellationToken::new()).await;
        control.wait_for_files().await;
    });
    let session = HostSession::register(world_end, world, Origin::Embedded, |_| Ok(()))
        .await
        .map_err(anyhow::Error::msg)?;
    let ended = tokio::spawn(async {
        session.run(|| async { DisconnectCause::new("it was shut down") }).await;
        let _ = running.await;
    });
    Ok(EmbeddedHost { host, ended })
}
