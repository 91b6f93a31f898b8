//! The start of the hosts that belong to this server: the embedded one, or child processes.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use actix::Addr;
use ambit_host::build_name;
use ambit_host::cli::Advertise;
use ambit_host::host::{GameHost, HostConfig};
use ambit_host::logging::LogFormat;
use ambit_host::process_part::ProcessPart;
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
                build: build_of(config, &registry),
                trace: config.trace.clone(),
                record: config.recordings.folder(),
                part: ProcessPart::whole()?,
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
                arguments: child_arguments(config, &registry),
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

/// The name of the build of the games of this server's own hosts.
fn build_of(config: &Config, registry: &Registry) -> String {
    config.build.clone().unwrap_or_else(|| build_name(registry))
}

/// The command line of a child: where to listen and what to write. Rooms come over the pipe.
fn child_arguments(config: &Config, registry: &Registry) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = Vec::new();
    let mut add = |flag: &str, value: OsString| arguments.extend([flag.into(), value]);
    add("--world", "stdio".into());
    add("--listen", SocketAddr::new(config.listen.ip(), 0).to_string().into());
    add("--capacity", config.host_capacity.to_string().into());
    add("--build", build_of(config, registry).into());
    if let Some(Advertise { ip, .. }) = config.advertise {
        add("--advertise", ip.to_string().into());
    }
    if let Some(mib) = config.child_memory.0 {
        add("--memory", mib.to_string().into());
    }
    if config.log_format == LogFormat::Json {
        add("--log-format", "json".into());
    }
    if let Some(directory) = &config.trace {
        add("--trace", directory.into());
    }
    arguments.extend(config.recordings.arguments());
    arguments
}

#[cfg(test)]
mod tests {
    use ambit_host::cli::Options;

    use super::*;

    fn options_of_child(flags: &[&str]) -> Options {
        let flags = ["world-server", "--hosts", "process:2"].iter().chain(flags);
        let config = Config::from_arguments(flags).expect("good flags");
        let registry = ambit_game_server::standard();
        let arguments = child_arguments(&config, &registry);
        let arguments = [OsString::from("game-server")].into_iter().chain(arguments);
        Options::from_arguments(arguments).expect("good flags of a host")
    }

    #[test]
    fn children_record_as_their_server_does() {
        let bound = |flags: &[&str]| {
            let folder = options_of_child(flags).recordings.folder()?;
            Some((folder.directory, folder.bound.bytes, folder.bound.age))
        };
        assert_eq!(bound(&[]), None);
        let flags = ["--record", "here", "--record-mb", "5", "--record-days", "0"];
        assert_eq!(bound(&flags), Some(("here".into(), Some(5_000_000), None)));
    }

    #[test]
    fn children_have_the_build_of_their_server() {
        let build_of_child = |flags: &[&str]| options_of_child(flags).build;
        let of_games = build_name(&ambit_game_server::standard());
        assert_eq!(build_of_child(&[]), Some(of_games));
        assert_eq!(build_of_child(&["--build", "next"]), Some("next".to_owned()));
    }
}
