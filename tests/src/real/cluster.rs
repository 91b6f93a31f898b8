//! A cluster on loopback: NATS servers, WorldServers and hosts, each a process of its own.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use super::{OutputLines, ScratchFolder, Server, WAIT_LIMIT, binary, server_signal, wait_until};

/// The shared key of servers and hosts.
const CLUSTER_KEY: &str = "the key of a cluster of tests";
const NODE_COUNT: usize = 3;
/// The directory's stream.
const DIRECTORY: &str = "AMBIT_DIRECTORY";

/// Three nodes of NATS with JetStream.
pub struct Nats {
    nodes: Vec<NatsNode>,
}

struct NatsNode {
    arguments: Vec<String>,
    store: PathBuf,
    clients: u16,
    monitor: u16,
    child: Option<Child>,
}

impl Nats {
    pub fn start(scratch: &ScratchFolder) -> Result<Self> {
        let ports = free_ports(3 * NODE_COUNT)?;
        let routes: Vec<_> =
            (0..NODE_COUNT).map(|node| format!("nats://127.0.0.1:{}", ports[node])).collect();
        let node = |node: usize| {
            let clients = ports[NODE_COUNT + node];
            let monitor = ports[2 * NODE_COUNT + node];
            let store: PathBuf = scratch.path().join(format!("nats{node}"));
            let arguments = [
                ("-a", "127.0.0.1".to_owned()),
                ("-p", clients.to_string()),
                ("-m", monitor.to_string()),
                ("--server_name", format!("n{node}")),
                ("--cluster_name", "tests".to_owned()),
                ("--cluster", routes[node].clone()),
                ("--routes", routes.join(",")),
                ("-sd", store.display().to_string()),
            ];
            let arguments =
                arguments.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value]);
            NatsNode {
                arguments: arguments.chain(["-js".to_owned()]).collect(),
                store,
                clients,
                monitor,
                child: None,
            }
        };
        let mut nats = Self { nodes: (0..NODE_COUNT).map(node).collect() };
        for node in 0..NODE_COUNT {
            nats.start_node(node)?;
        }
        Ok(nats)
    }

    /// The value for `--nats`.
    pub fn urls(&self) -> String {
        let urls = self.nodes.iter().map(|node| format!("nats://127.0.0.1:{}", node.clients));
        urls.collect::<Vec<_>>().join(",")
    }

    /// As the program says it.
    pub fn version() -> Result<String> {
        let output = Command::new("nats-server").arg("--version").output()?;
        let said = String::from_utf8(output.stdout)?;
        Ok(said.trim().trim_start_matches("nats-server: v").to_owned())
    }

    /// Starts a node that was killed, with its old store.
    pub fn start_node(&mut self, node: usize) -> Result<()> {
        let mut command = Command::new("nats-server");
        command
            .args(&self.nodes[node].arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child =
            command.spawn().context("nats-server can't be started; `tests/run` installs it")?;
        self.nodes[node].child = Some(child);
        Ok(())
    }

    /// Like `kill -9`.
    pub fn kill(&mut self, node: usize) -> Result<()> {
        if let Some(mut child) = self.nodes[node].child.take() {
            child.kill()?;
            child.wait()?;
        }
        Ok(())
    }

    /// Removes all that a node that was killed has stored.
    pub fn wipe(&self, node: usize) -> Result<()> {
        std::fs::remove_dir_all(&self.nodes[node].store)?;
        Ok(())
    }

    /// How many records the node's own copy of the directory has.
    fn subjects(&self, node: usize) -> Result<u64> {
        let page = get(self.nodes[node].monitor, "/jsz?streams=1")?;
        let page: serde_json::Value = serde_json::from_str(&page)?;
        let streams = &page["account_details"][0]["stream_detail"];
        streams[0]["state"]["num_subjects"].as_u64().context("the node has no copy yet")
    }

    /// Waits until the node's own copy of the directory has that many records.
    pub fn wait_for_records(&self, node: usize, records: u64) -> Result<()> {
        let what = format!("{records} records in the copy of node {node}");
        wait_until(&what, || {
            Ok(self.subjects(node).is_ok_and(|found| found >= records).then_some(()))
        })
    }

    /// Waits until the follower has been sent all that is in the directory.
    pub fn wait_for_follower(&self) -> Result<()> {
        wait_until("the follower's copy of the directory", || {
            let mut written = 0;
            let mut delivered = 0;
            for node in &self.nodes {
                let page = get(node.monitor, "/jsz?streams=1&consumers=1&config=1")?;
                let page: serde_json::Value = serde_json::from_str(&page)?;
                let streams = page["account_details"][0]["stream_detail"].as_array();
                for stream in streams.into_iter().flatten() {
                    if stream["name"] != DIRECTORY {
                        continue;
                    }
                    written = written.max(stream["state"]["last_seq"].as_u64().unwrap_or_default());
                    let consumers = stream["consumer_detail"].as_array();
                    for consumer in consumers.into_iter().flatten() {
                        // Only a follower reads from a message on.
                        if consumer["config"]["deliver_policy"] == "by_start_sequence" {
                            let last = consumer["delivered"]["stream_seq"].as_u64();
                            delivered = delivered.max(last.unwrap_or_default());
                        }
                    }
                }
            }
            Ok((written > 0 && delivered >= written).then_some(()))
        })
    }

    /// Deletes the records with these subjects from the directory, in all copies.
    pub async fn delete_records(&self, subjects: &str) -> Result<()> {
        let client = async_nats::connect(format!("127.0.0.1:{}", self.nodes[0].clients)).await?;
        let directory = async_nats::jetstream::new(client).get_stream_no_info(DIRECTORY).await?;
        let purged = directory.purge().filter(subjects).await?;
        anyhow::ensure!(purged.purged > 0, "no record has {subjects}");
        Ok(())
    }

    /// The node that leads the directory's stream: all writes go through it.
    pub fn leader(&self) -> Result<usize> {
        for node in &self.nodes {
            let Ok(page) = get(node.monitor, "/jsz?streams=1") else {
                continue;
            };
            let page: serde_json::Value = serde_json::from_str(&page)?;
            let streams =
                page["account_details"][0]["stream_detail"].as_array().cloned().unwrap_or_default();
            let leader = streams.iter().find_map(|stream| stream["cluster"]["leader"].as_str());
            if let Some(number) = leader.and_then(|name| name.strip_prefix('n')?.parse().ok()) {
                return Ok(number);
            }
        }
        bail!("no NATS node reports a leader of the directory's stream")
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        for node in 0..self.nodes.len() {
            let _ = self.kill(node);
        }
    }
}

/// One node of NATS with JetStream that is reached with TLS; killed when dropped.
pub struct SecuredNats {
    child: Child,
    /// The value for `--nats`.
    pub url: String,
}

impl SecuredNats {
    /// Starts one with these further flags, and waits until it listens.
    pub fn start(scratch: &ScratchFolder, flags: &[&str]) -> Result<Self> {
        let port = free_ports(1)?[0];
        let store = scratch.path().join("nats");
        let child = Command::new("nats-server")
            .args(["-a", "127.0.0.1", "-p", &port.to_string(), "-js", "-sd"])
            .arg(store)
            .args(flags)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("nats-server can't be started; `tests/run` installs it")?;
        let mut nats = Self { child, url: format!("tls://127.0.0.1:{port}") };
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            if let Some(status) = nats.child.try_wait()? {
                bail!("nats-server ended with {status}: {flags:?}");
            }
            std::thread::yield_now();
        }
        Ok(nats)
    }
}

impl Drop for SecuredNats {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A host that connects to the WorldServers by itself; killed when dropped.
pub struct ClusterHost {
    child: Child,
    log: OutputLines,
    /// Log lines until the first call of `host_at`.
    first_lines: Vec<String>,
}

impl ClusterHost {
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Takes the log lines since the last call.
    pub fn take_log(&mut self) -> Vec<String> {
        self.log.take_available()
    }

    /// Waits for a line of its log that contains `words`.
    pub fn wait_for_log(&mut self, words: &str) -> Result<()> {
        self.log.find(words, |line| line.contains(words).then_some(()))
    }

    fn first_lines_contain(&mut self, pattern: &str) -> bool {
        if self.first_lines.is_empty() {
            self.first_lines = self.log.take_available();
        }
        self.first_lines.iter().any(|line| strip(line).contains(pattern))
    }
}

impl Drop for ClusterHost {
    fn drop(&mut self) {
        // SIGKILL also ends a stopped process.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Two WorldServers, two hosts and three nodes of NATS.
pub struct Cluster {
    /// The running WorldServers; the leader comes first.
    pub worlds: Vec<Server>,
    pub hosts: Vec<ClusterHost>,
    pub nats: Nats,
    has_test_games: bool,
}

impl Cluster {
    /// Starts all processes and waits until the hosts are connected.
    pub fn start(scratch: &ScratchFolder) -> Result<Self> {
        Self::start_with(scratch, &[])
    }

    /// As [`Cluster::start`], with these further flags for the WorldServers.
    pub fn start_with(scratch: &ScratchFolder, flags: &[&str]) -> Result<Self> {
        Self::start_programs(scratch, flags, false)
    }

    /// The same, with test games.
    pub fn start_with_test_games(scratch: &ScratchFolder, flags: &[&str]) -> Result<Self> {
        Self::start_programs(scratch, flags, true)
    }

    fn start_programs(
        scratch: &ScratchFolder,
        flags: &[&str],
        has_test_games: bool,
    ) -> Result<Self> {
        let nats = Nats::start(scratch)?;
        let urls = nats.urls();
        let mut arguments = vec!["--hosts", "cluster", "--nats", &urls, "--host-key", CLUSTER_KEY];
        arguments.extend(flags);
        let start_world =
            if has_test_games { Server::start_with_test_games } else { Server::start };
        let worlds = vec![start_world(scratch, &arguments)?, start_world(scratch, &arguments)?];
        let mut cluster = Self { worlds, hosts: Vec::new(), nats, has_test_games };
        for _ in 0..2 {
            cluster.add_host(scratch, &[])?;
        }
        cluster.leader().wait_for_metrics("two hosts", |metrics| metrics["ambit_hosts"] == 2.0)?;
        Ok(cluster)
    }

    pub fn leader(&self) -> &Server {
        &self.worlds[0]
    }

    pub fn follower(&self) -> &Server {
        &self.worlds[1]
    }

    /// Starts one more host, with these additional flags.
    pub fn add_host(&mut self, scratch: &ScratchFolder, flags: &[&str]) -> Result<()> {
        let worlds: Vec<String> = self.worlds.iter().map(|world| world.peers.to_string()).collect();
        let mut command = if self.has_test_games {
            let mut command = Command::new(binary("test-server"));
            command.arg("game-server");
            command
        } else {
            Command::new(binary("game-server"))
        };
        // Tests count hosts.
        scratch.confine(&mut command).env("AMBIT_CORES", "1");
        command
            .args([
                "--world",
                &worlds.join(","),
                "--world-cert",
                self.leader().certificate()?,
                "--host-key",
                CLUSTER_KEY,
            ])
            .args(flags);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().context("a game-server can't be started")?;
        let log = OutputLines::read_from(child.stderr.take().expect("piped"));
        self.hosts.push(ClusterHost { child, log, first_lines: Vec::new() });
        Ok(())
    }

    /// The host that listens at this address of a ticket.
    pub fn host_at(&mut self, address: &str) -> Result<usize> {
        let port: SocketAddr = address.parse()?;
        let pattern = format!("address=\"{port}\"");
        let index = self.hosts.iter_mut().position(|host| host.first_lines_contain(&pattern));
        index.with_context(|| format!("no host has logged the address {address}"))
    }

    /// Kills the leading WorldServer; the other one remains.
    pub fn kill_leader(&mut self) -> Result<()> {
        let leader = self.worlds.remove(0);
        server_signal(leader.id(), "KILL")?;
        leader.wait()?;
        Ok(())
    }

    /// Waits until the remaining WorldServer leads and has both hosts.
    pub fn wait_for_new_leader(&self) -> Result<()> {
        self.leader()
            .wait_for_metrics("two hosts", |metrics| metrics.get("ambit_hosts") == Some(&2.0))?;
        Ok(())
    }
}

/// Removes colour codes.
fn strip(line: &str) -> String {
    let mut plain = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain += before;
        rest = after.split_once('m').map_or("", |(_, after)| after);
    }
    plain + rest
}

/// Ports that are free now; another process is unlikely to take them in the meantime.
pub(super) fn free_ports(count: usize) -> Result<Vec<u16>> {
    let listeners: Vec<TcpListener> =
        (0..count).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<Result<_, _>>()?;
    listeners.iter().map(|listener| Ok(listener.local_addr()?.port())).collect()
}

fn get(port: u16, path: &str) -> Result<String> {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(WAIT_LIMIT))?;
    write!(stream, "GET {path} HTTP/1.0\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
}
