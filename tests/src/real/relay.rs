//! A line to a WorldServer that can go dark, for all who use it or for one of them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio::runtime::Runtime;
use tokio::time::timeout;

/// Larger than any datagram.
const BUFFER_BYTES: usize = 65_536;
/// A line without a datagram for this long is forgotten: its host has ended.
const IDLE_LIMIT: Duration = Duration::from_mins(1);

/// Forwards datagrams to one server and back, with a socket of its own for each sender.
pub struct Relay {
    pub address: SocketAddr,
    lines: Arc<Lines>,
}

struct Lines {
    front: UdpSocket,
    server: OnceLock<SocketAddr>,
    by_sender: Mutex<BTreeMap<SocketAddr, Arc<UdpSocket>>>,
    /// Ports of senders whose datagrams are dropped, in both directions.
    dark: Mutex<BTreeSet<u16>>,
    is_dark_for_all: AtomicBool,
}

impl Relay {
    pub fn start(runtime: &Runtime) -> io::Result<Self> {
        let front = runtime.block_on(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)))?;
        let address = front.local_addr()?;
        let lines = Arc::new(Lines {
            front,
            server: OnceLock::new(),
            by_sender: Mutex::default(),
            dark: Mutex::default(),
            is_dark_for_all: AtomicBool::default(),
        });
        runtime.spawn(carry_out(Arc::clone(&lines)));
        Ok(Self { address, lines })
    }

    /// Where the server listens, known once it runs.
    pub fn lead_to(&self, server: SocketAddr) {
        let _ = self.lines.server.set(server);
    }

    /// From now on, datagrams of these ports and to them are dropped; all others pass.
    pub fn darken(&self, ports: BTreeSet<u16>) {
        *lock(&self.lines.dark) = ports;
    }

    /// From now on, the server sees each sender at another address, and what it sends to the
    /// earlier ones is lost: as if all had come to another network.
    pub fn change_addresses(&self) {
        lock(&self.lines.by_sender).clear();
    }

    /// Whether all datagrams are dropped from now on.
    pub fn darken_for_all(&self, is_dark: bool) {
        self.lines.is_dark_for_all.store(is_dark, Relaxed);
    }
}

impl Lines {
    fn is_dark(&self, sender: SocketAddr) -> bool {
        self.is_dark_for_all.load(Relaxed) || lock(&self.dark).contains(&sender.port())
    }

    /// Whether this sender's datagrams still leave by this socket.
    fn is_present(&self, sender: SocketAddr, line: &Arc<UdpSocket>) -> bool {
        lock(&self.by_sender).get(&sender).is_some_and(|present| Arc::ptr_eq(present, line))
    }

    /// The socket of this sender's datagrams at the server's side.
    async fn line(self: &Arc<Self>, sender: SocketAddr) -> io::Result<Arc<UdpSocket>> {
        if let Some(line) = lock(&self.by_sender).get(&sender) {
            return Ok(Arc::clone(line));
        }
        let server = *self.server.get().ok_or(io::ErrorKind::NotConnected)?;
        let line = Arc::new(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?);
        line.connect(server).await?;
        lock(&self.by_sender).insert(sender, Arc::clone(&line));
        tokio::spawn(carry_back(Arc::clone(self), sender, Arc::clone(&line)));
        Ok(line)
    }
}

async fn carry_out(lines: Arc<Lines>) {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let Ok((length, sender)) = lines.front.recv_from(&mut buffer).await else {
            continue;
        };
        if lines.is_dark(sender) {
            continue;
        }
        if let Ok(line) = lines.line(sender).await {
            // A server that is being started again takes nothing: the datagram is lost.
            let _ = line.send(&buffer[..length]).await;
        }
    }
}

async fn carry_back(lines: Arc<Lines>, sender: SocketAddr, line: Arc<UdpSocket>) {
    let mut buffer = vec![0; BUFFER_BYTES];
    while let Ok(received) = timeout(IDLE_LIMIT, line.recv(&mut buffer)).await {
        if !lines.is_present(sender, &line) {
            return;
        }
        // An error tells that the server was not there; it may come back.
        let Ok(length) = received else { continue };
        if !lines.is_dark(sender) {
            let _ = lines.front.send_to(&buffer[..length], sender).await;
        }
    }
    if lines.is_present(sender, &line) {
        lock(&lines.by_sender).remove(&sender);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no thread panics while it holds it")
}

/// The ports of a process's UDP sockets, as Linux lists them.
pub fn udp_ports(process: u32) -> io::Result<BTreeSet<u16>> {
    let folder = Path::new("/proc").join(process.to_string());
    let sockets: BTreeSet<String> = std::fs::read_dir(folder.join("fd"))?
        .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
        .filter_map(|target| {
            let inode = target.to_str()?.strip_prefix("socket:[")?;
            Some(inode.strip_suffix(']')?.to_owned())
        })
        .collect();
    let tables = ["net/udp", "net/udp6"].map(|table| std::fs::read_to_string(folder.join(table)));
    let tables = tables.into_iter().collect::<io::Result<Vec<_>>>()?;
    let rows = tables.iter().flat_map(|table| table.lines().skip(1));
    Ok(rows
        .filter_map(|row| {
            let columns: Vec<&str> = row.split_whitespace().collect();
            let (_, port) = columns.get(1)?.split_once(':')?;
            let port = u16::from_str_radix(port, 16).ok()?;
            sockets.contains(*columns.get(9)?).then_some(port)
        })
        .collect())
}
