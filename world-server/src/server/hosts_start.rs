//! The start of the hosts that belong to this server: the embedded one, or child processes.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use actix::Addr;
use ambit_host::cli::{Advertise, BUILD};
use ambit_host::host::{GameHost, HostConfig};
use ambit_host::web_certificates::WebCertificates;
use ambit_room::logic::registry::Registry;
use anyhow::{Context as _, bail};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::Addresses;
use crate::actor::WorldServer;
use crate::config::{Config, HostingMode};
use crate::hosts::embedded;
use crate::hosts::process::ChildSupervisor;

/// How long the start of all hosts may take.
const START_TIMEOUT: Duration = Duration::from_secs(20);

/// Starts the hosts and waits until all are ready. Returns the embedded one.
pub(super) async fn start_hosts(
    config: &Config,
    registry: Registry,
    (addresses, certificates): (&Addresses, &Arc<WebCertificates>),
    world: &Addr<WorldServer>,
    wanted: watch::Receiver<u32>,
    tasks: &mut JoinSet<()>,
    stop: &CancellationToken,
) -> anyhow::Result<Option<GameHost>> {
    match config.hosts {
        HostingMode::Embedded => {
            let host = HostConfig {
                address: Advertise::address(config.advertise, addresses.world).to_string(),
                fingerprint: addresses.fingerprint,
                web_certificates: Arc::clone(certificates),
                capacity: config.host_capacity,
                label: "embedded".into(),
                build: BUILD.into(),
                trace: config.trace.clone(),
                record: config.record.clone(),
            };
            let embedded = embedded::start(host, registry, world.clone()).await?;
            tasks.spawn(async {
                let _ = embedded.ended.await;
            });
            Ok(Some(embedded.host))
        }
        HostingMode::Cluster => Ok(None),
        HostingMode::Process { min, .. } => {
            let (ready, mut starts) = mpsc::channel(usize::from(min));
            let supervisor = ChildSupervisor {
                arguments: child_arguments(config),
                world: world.clone(),
                ready,
                wanted,
                stop: stop.clone(),
            };
            tasks.spawn(supervisor.supervise());
            let all_ready = async {
                for _ in 0..min {
                    if let Some(Err(reason)) = starts.recv().await {
                        bail!("a host process did not start: {reason}");
                    }
                }
                Ok(())
            };
            tokio::time::timeout(START_TIMEOUT, all_ready)
                .await
                .context("the host processes did not start in time")??;
            Ok(None)
        }
    }
}

/// The command line of a child: where to listen and what to write. Rooms come over the pipe.
fn child_arguments(config: &Config) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = Vec::new();
    let mut add = |flag: &str, value: OsString| arguments.extend([flag.into(), value]);
    add("--world", "stdio".into());
    add("--listen", SocketAddr::new(config.listen.ip(), 0).to_string().into());
    add("--capacity", config.host_capacity.to_string().into());
    if let Some(Advertise { ip, .. }) = config.advertise {
        add("--advertise", ip.to_string().into());
    }
    if let Some(mib) = config.child_memory.0 {
        add("--memory", mib.to_string().into());
    }
    if let Some(directory) = &config.trace {
        add("--trace", directory.into());
    }
    if let Some(directory) = &config.record {
        add("--record", directory.into());
    }
    arguments
}
