//! The processes under siege. Each has an address that it keeps when it is started again.

use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use ambit_tests::real::{self, Host, Nats, ScratchFolder, Server};
use anyhow::{Context, Result};

pub(crate) const NATS_NODES: usize = 3;
const HOSTS: usize = 4;

/// Two WorldServers, four hosts and NATS.
pub(crate) struct BesiegedCluster {
    pub(crate) worlds: Vec<Option<Server>>,
    addresses: Vec<SocketAddr>,
    pub(crate) hosts: Vec<HostProcess>,
    pub(crate) nats: Nats,
    certificate: String,
}

/// A host; killed when dropped.
pub(crate) struct HostProcess(Child);

impl HostProcess {
    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for HostProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl BesiegedCluster {
    pub(crate) fn start(scratch: &ScratchFolder) -> Result<Self> {
        let nats = Nats::start(scratch)?;
        let mut worlds = Vec::new();
        for _ in 0..2 {
            worlds.push(start_world(scratch, &nats, "127.0.0.1:0")?);
        }
        let mut cluster = Self {
            certificate: worlds[0].certificate()?.to_owned(),
            addresses: worlds.iter().map(|world| world.world).collect(),
            worlds: worlds.into_iter().map(Some).collect(),
            hosts: Vec::new(),
            nats,
        };
        for _ in 0..HOSTS {
            cluster.add_host(scratch)?;
        }
        let leader = cluster.worlds[0].as_ref().context("just started")?;
        leader.wait_for_metrics("the hosts", |metrics| {
            metrics.get("ambit_hosts") == Some(&(HOSTS as f64))
        })?;
        Ok(cluster)
    }

    /// The addresses of the WorldServers for players.
    pub(crate) fn servers(&self) -> &[SocketAddr] {
        &self.addresses
    }

    pub(crate) fn add_host(&mut self, scratch: &ScratchFolder) -> Result<()> {
        let servers: Vec<String> = self.addresses.iter().map(ToString::to_string).collect();
        let mut command = Command::new(real::binary("test-server"));
        scratch.confine(&mut command);
        command.args(["game-server", "--listen", "127.0.0.1:0"]);
        command.args(["--world", &servers.join(",")]);
        command.args(["--world-cert", &self.certificate, "--host-key", Host::KEY]);
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        self.hosts.push(HostProcess(child));
        Ok(())
    }

    /// Kills a WorldServer and starts it again at its address.
    pub(crate) fn restart_world(&mut self, index: usize, scratch: &ScratchFolder) -> Result<()> {
        if let Some(world) = self.worlds[index].take() {
            real::server_signal(world.id(), "KILL")?;
            world.wait()?;
        }
        let address = self.addresses[index].to_string();
        self.worlds[index] = Some(start_world(scratch, &self.nats, &address)?);
        Ok(())
    }

    /// What the running servers have dropped, by queue and reason.
    pub(crate) fn print_drops(&self) -> Result<()> {
        for world in self.worlds.iter().flatten() {
            let metrics = world.metrics()?;
            let drops = metrics
                .iter()
                .filter(|(name, count)| name.starts_with("ambit_drops_total") && **count > 0.0);
            for (name, count) in drops {
                println!("| `{name}` at {} | {count} |", world.world);
            }
        }
        Ok(())
    }
}

fn start_world(scratch: &ScratchFolder, nats: &Nats, listen: &str) -> Result<Server> {
    let urls = nats.urls();
    let arguments = [
        "--hosts",
        "cluster",
        "--nats",
        &urls,
        "--host-key",
        Host::KEY,
        "--listen",
        listen,
    ];
    Server::start_with_test_games(scratch, &arguments)
}
