//! The processes under siege. Each has an address that it keeps when it is started again.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ambit_tests::real::relay::{self, Relay};
use ambit_tests::real::{self, Host, Nats, ScratchFolder, Server};
use anyhow::{Context, Result};
use tokio::runtime::Runtime;

pub(crate) const NATS_NODES: usize = 3;
const HOSTS: usize = 4;
/// Lines of the log of a WorldServer that has ended.
const LAST_WORDS: usize = 20;

/// Two WorldServers, four hosts and NATS.
pub(crate) struct BesiegedCluster {
    pub(crate) worlds: Vec<Option<Server>>,
    addresses: Vec<SocketAddr>,
    /// How hosts and the other server reach each WorldServer.
    relays: Vec<Relay>,
    pub(crate) hosts: Vec<HostProcess>,
    pub(crate) nats: Nats,
    certificate: String,
    /// What each WorldServer logs.
    logs: Vec<File>,
}

/// WorldServers that have ended by themselves, as one does that is not the leader any more.
#[derive(Default)]
pub(crate) struct EndedWorlds {
    pub(crate) count: u32,
    pub(crate) crashes: u32,
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
    /// Starts it; its WorldServers log to files in the folder `logs`.
    pub(crate) fn start(scratch: &ScratchFolder, logs: &Path, runtime: &Runtime) -> Result<Self> {
        let nats = Nats::start(scratch)?;
        let mut worlds = Vec::new();
        let mut relays = Vec::new();
        for _ in 0..2 {
            let relay = Relay::start(runtime)?;
            let world = start_world(scratch, &nats, "127.0.0.1:0", &relay)?;
            relay.lead_to(world.world);
            worlds.push(world);
            relays.push(relay);
        }
        let mut cluster = Self {
            certificate: worlds[0].certificate()?.to_owned(),
            addresses: worlds.iter().map(|world| world.world).collect(),
            worlds: worlds.into_iter().map(Some).collect(),
            relays,
            hosts: Vec::new(),
            nats,
            logs: (0..2)
                .map(|number| File::create(logs.join(format!("world-{number}.log"))))
                .collect::<Result<_, _>>()?,
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
        let relays = self.relays.iter();
        let servers: Vec<String> = relays.map(|relay| relay.address.to_string()).collect();
        let mut command = Command::new(real::binary("test-server"));
        scratch.confine(&mut command);
        command.args(["game-server", "--listen", "127.0.0.1:0", "--cores", "1"]);
        command.args(["--world", &servers.join(",")]);
        command.args(["--world-cert", &self.certificate, "--host-key", Host::KEY]);
        let child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        self.hosts.push(HostProcess(child));
        Ok(())
    }

    /// Kills a host and starts another one.
    pub(crate) fn replace_host(&mut self, index: usize, scratch: &ScratchFolder) -> Result<()> {
        // Dropping kills it.
        drop(self.hosts.remove(index));
        self.add_host(scratch)
    }

    /// Writes down what the WorldServers have logged. Starts those again that have ended by
    /// themselves, and prints their last words.
    pub(crate) fn watch_worlds(&mut self, scratch: &ScratchFolder) -> Result<EndedWorlds> {
        let mut ended = EndedWorlds::default();
        for index in 0..self.worlds.len() {
            let Some(world) = &mut self.worlds[index] else {
                continue;
            };
            let has_ended = world.has_ended();
            let log = world.take_log();
            for line in &log {
                writeln!(self.logs[index], "{line}")?;
            }
            if !has_ended {
                continue;
            }
            for line in &log[log.len().saturating_sub(LAST_WORDS)..] {
                eprintln!("        {line}");
            }
            ended.count += 1;
            ended.crashes += u32::from(log.iter().any(|line| line.contains("has crashed")));
            self.restart_world(index, scratch)?;
        }
        Ok(ended)
    }

    /// Kills a WorldServer and starts it again at its address.
    pub(crate) fn restart_world(&mut self, index: usize, scratch: &ScratchFolder) -> Result<()> {
        if let Some(world) = self.worlds[index].take() {
            // It may have ended by itself.
            let _ = real::server_signal(world.id(), "KILL");
            world.wait()?;
            writeln!(self.logs[index], "-- killed, or ended --")?;
        }
        let address = self.addresses[index].to_string();
        self.worlds[index] = Some(start_world(scratch, &self.nats, &address, &self.relays[index])?);
        Ok(())
    }

    /// For this time, nothing passes between this host and the WorldServers.
    pub(crate) fn darken(&self, host: usize, time: Duration) -> Result<()> {
        let ports = relay::udp_ports(self.hosts[host].id())?;
        for relay in &self.relays {
            relay.darken(ports.clone());
        }
        std::thread::sleep(time);
        for relay in &self.relays {
            relay.darken(BTreeSet::new());
        }
        Ok(())
    }

    /// From now on, the WorldServers see all players and hosts at other addresses.
    pub(crate) fn change_addresses(&self) {
        self.relays.iter().for_each(Relay::change_addresses);
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

fn start_world(
    scratch: &ScratchFolder,
    nats: &Nats,
    listen: &str,
    relay: &Relay,
) -> Result<Server> {
    let urls = nats.urls();
    let peers = relay.address.to_string();
    let arguments = [
        "--hosts",
        "cluster",
        "--nats",
        &urls,
        "--host-key",
        Host::KEY,
        "--listen",
        listen,
        "--peer-address",
        &peers,
    ];
    Server::start_with_test_games(scratch, &arguments)
}
