//! The floor: what QUIC costs by itself.
//!
//! N connections. The server sends each client a datagram 20 times a second, of 400 bytes if not
//! said otherwise; each client sends an 8-byte datagram 20 times a second, at its own phase. No
//! game, no interest management, no state. There are three: plain quinn in a good configuration
//! (ring, a congestion controller that does not limit, large socket buffers, otherwise defaults),
//! one loop over `quinn-proto`, with the same configuration, and the same loop without QUIC. One
//! socket for each client, as the bots have.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ambit_endpoint::endpoint_core::{Admission, ConnectionKey, EndpointCore, EndpointEvent};
use ambit_endpoint::packets::Packets;
use ambit_endpoint::udp::BatchSocket;
use ambit_host::endpoint::bind;
use ambit_host::identity::ServerIdentity;
use ambit_transport::quic::{
    ALPN_GAME, FingerprintVerifier, FixedWindow, client_config, server_config,
};
use anyhow::Context as _;
use bytes::Bytes;
use clap::Args;
use quinn::{Connection, Endpoint, EndpointConfig, TokioRuntime, TransportConfig};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::pinned_process::{
    self, CLIENT_CORE, PinnedProcess, SERVER_CORE, ScratchFolder, WAIT_LIMIT, clock,
};
use crate::table::{Row, ServerCost};

/// Datagram sizes, down to a client and up to the server.
pub(crate) const DOWN_BYTES: usize = 400;
const UP_BYTES: usize = 8;
const PERIOD: Duration = Duration::from_millis(50);
/// How often a tick the loop reads its socket.
const READS: u32 = 4;
/// Between the last arrival and the measured window.
pub(crate) const SETTLE_TIME: Duration = Duration::from_secs(2);
/// Handshakes at the same time.
const MAX_HANDSHAKES: usize = 50;

#[derive(Clone, Debug, Args)]
pub(crate) struct ClientsArgs {
    server: SocketAddr,
    count: u32,
    seconds: u32,
    /// Without QUIC.
    #[arg(long)]
    plain: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ServerArgs {
    /// Of each datagram to a client.
    bytes: usize,
}

/// On what the floor's server is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, derive_more::Display)]
pub(crate) enum FloorKind {
    /// quinn: a task a connection.
    #[display("bare quinn")]
    Quinn,
    /// `ambit-endpoint`: one loop for all connections.
    #[display("bare loop")]
    Loop,
    /// The same loop without QUIC.
    #[display("plain UDP")]
    Plain,
}

/// Measures one row of the table, with datagrams of `bytes` to the clients.
pub(crate) fn measure(
    kind: FloorKind,
    count: u32,
    bytes: usize,
    window: Duration,
) -> anyhow::Result<Row> {
    let scratch = ScratchFolder::new()?;
    let own = std::env::current_exe()?;
    let program = match kind {
        FloorKind::Quinn => "floor-server",
        FloorKind::Loop => "floor-loop",
        FloorKind::Plain => "floor-plain",
    };
    let arguments = [program.into(), bytes.to_string()];
    let server = PinnedProcess::start(SERVER_CORE, &own, &arguments, &scratch.0)?;
    let ready = server.wait_for_line("ready ", WAIT_LIMIT)?;
    let address = ready.trim_start_matches("ready ").to_owned();
    let mut arguments =
        vec!["floor-clients".into(), address, count.to_string(), window.as_secs().to_string()];
    if kind == FloorKind::Plain {
        arguments.push("--plain".to_owned());
    }
    let clients = PinnedProcess::start(CLIENT_CORE, &own, &arguments, &scratch.0)?;
    clients.wait_for_line("measuring", WAIT_LIMIT)?;
    let (of_server, of_clients) = pinned_process::measure_cpu(&server, &clients, window)?;
    let rss_mib = server.rss_mib();
    let found: Value = serde_json::from_str(&clients.wait_for_line("{", WAIT_LIMIT)?)?;
    let figure = |key: &str| found[key].as_f64().unwrap_or_default();
    Ok(Row {
        label: kind.to_string(),
        count,
        server: ServerCost::new(of_server, rss_mib, count, f64::from(crate::ambit_room::TICK_HZ)),
        bytes_per_s: figure("bytes_down_per_s"),
        datagrams_per_s: figure("datagrams_down_per_s"),
        datagrams_up_per_s: figure("datagrams_up_per_s"),
        client_cores: of_clients.cores,
        ..Row::default()
    })
}

/// The server process: prints its address and serves until it is killed.
#[tokio::main]
pub(crate) async fn run_server(args: &ServerArgs) -> anyhow::Result<()> {
    let identity = ServerIdentity::generate()?;
    let mut config = server_config(identity.chain.clone(), identity.key.clone_key(), &[ALPN_GAME])?;
    config.transport_config(transport());
    let socket = bind((Ipv4Addr::LOCALHOST, 0).into())?;
    let endpoint =
        Endpoint::new(EndpointConfig::default(), Some(config), socket, Arc::new(TokioRuntime))?;
    println!("ready {}", endpoint.local_addr()?);
    let connections: Arc<Mutex<Vec<Connection>>> = Arc::default();
    tokio::spawn(send_datagrams(connections.clone(), args.bytes));
    while let Some(incoming) = endpoint.accept().await {
        let connections = connections.clone();
        tokio::spawn(async move {
            let Ok(connection) = incoming.await else {
                return;
            };
            connections.lock().unwrap_or_else(PoisonError::into_inner).push(connection.clone());
            while connection.read_datagram().await.is_ok() {}
        });
    }
    Ok(())
}

async fn send_datagrams(connections: Arc<Mutex<Vec<Connection>>>, bytes: usize) {
    let payload = Bytes::from(vec![7; bytes]);
    let mut ticks = interval(PERIOD);
    loop {
        ticks.tick().await;
        for connection in &*connections.lock().unwrap_or_else(PoisonError::into_inner) {
            // Sending fails once the client has disconnected.
            let _ = connection.send_datagram(payload.clone());
        }
    }
}

/// The same on `ambit-endpoint`: one thread, which reads the socket four times a tick.
pub(crate) fn run_loop(args: &ServerArgs) -> anyhow::Result<()> {
    let identity = ServerIdentity::generate()?;
    let mut config = server_config(identity.chain.clone(), identity.key.clone_key(), &[ALPN_GAME])?;
    config.transport_config(transport());
    let mut socket = BatchSocket::new(bind((Ipv4Addr::LOCALHOST, 0).into())?)?;
    writeln!(std::io::stdout(), "ready {}", socket.local_addr()?)?;
    let whole = socket.sends_whole();
    let mut core = EndpointCore::new(clock(), EndpointConfig::default(), Some(config), whole);
    let payload = Bytes::from(vec![7; args.bytes]);
    let mut connections: Vec<ConnectionKey> = Vec::new();
    let mut packets = Packets::default();
    let began = clock();
    for step in 0.. {
        std::thread::sleep((began + PERIOD / READS * step).saturating_duration_since(clock()));
        let now = clock();
        while socket.receive(|packet| {
            core.handle_packet(now, packet, |_| Admission::Accept);
        })? {}
        while let Some(event) = core.poll_event() {
            match event {
                EndpointEvent::Connected(key) => connections.push(key),
                EndpointEvent::Lost(lost, _) => connections.retain(|key| *key != lost),
                _ => {}
            }
        }
        if step % READS == 0 {
            for key in &connections {
                // Fails once the client has disconnected.
                let _ = core.send_datagram(*key, payload.clone());
            }
        }
        if core.next_deadline().is_some_and(|deadline| deadline <= now) {
            core.handle_timeout(now);
        }
        loop {
            let is_more = core.write_packets(now, &mut packets);
            socket.send(&packets);
            packets.clear();
            if !is_more {
                break;
            }
        }
    }
    Ok(())
}

/// The same without QUIC: each address that has sent something is sent datagrams.
pub(crate) fn run_plain(args: &ServerArgs) -> anyhow::Result<()> {
    let mut socket = BatchSocket::new(bind((Ipv4Addr::LOCALHOST, 0).into())?)?;
    writeln!(std::io::stdout(), "ready {}", socket.local_addr()?)?;
    let payload = vec![7; args.bytes];
    let mut clients = BTreeSet::new();
    let mut packets = Packets::default();
    let began = clock();
    for step in 0.. {
        std::thread::sleep((began + PERIOD / READS * step).saturating_duration_since(clock()));
        while socket.receive(|packet| {
            clients.insert(packet.from);
        })? {}
        if step % READS == 0 {
            for client in &clients {
                packets.put(&payload, *client, None);
            }
            socket.send(&packets);
            packets.clear();
        }
    }
    Ok(())
}

/// The client process: connects, prints that it measures, measures, prints the result.
#[tokio::main]
pub(crate) async fn run_clients(args: &ClientsArgs) -> anyhow::Result<()> {
    if args.plain {
        let counts = Arc::new([const { AtomicU64::new(0) }; 3]);
        for number in 0..args.count {
            let socket = tokio::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
            socket.connect(args.server).await?;
            tokio::spawn(play_plainly(socket, number, args.count, counts.clone()));
        }
        return measure_clients(args, || counts.each_ref().map(|count| count.load(Relaxed))).await;
    }
    let handshakes = Arc::new(Semaphore::new(MAX_HANDSHAKES));
    let mut arriving = JoinSet::new();
    for number in 0..args.count {
        arriving.spawn(connect_client(args.server, number, args.count, handshakes.clone()));
    }
    let mut clients = Vec::new();
    while let Some(arrived) = arriving.join_next().await {
        clients.push(arrived??);
    }
    measure_clients(args, || traffic(&clients)).await
}

/// Prints that it measures, measures by `traffic`, and prints the result.
async fn measure_clients(args: &ClientsArgs, traffic: impl Fn() -> [u64; 3]) -> anyhow::Result<()> {
    sleep(SETTLE_TIME).await;
    println!("measuring");
    let began = clock();
    let before = traffic();
    sleep(Duration::from_secs(args.seconds.into())).await;
    let took_s = began.elapsed().as_secs_f64();
    let after = traffic();
    let rate = |key: usize| (after[key] - before[key]) as f64 / took_s / f64::from(args.count);
    let found = json!({
        "bytes_down_per_s": rate(0),
        "datagrams_down_per_s": rate(1),
        "datagrams_up_per_s": rate(2),
    });
    println!("{found}");
    Ok(())
}

/// A client without QUIC.
async fn play_plainly(
    socket: tokio::net::UdpSocket,
    number: u32,
    count: u32,
    counts: Arc<[AtomicU64; 3]>,
) -> std::io::Result<()> {
    let [bytes, down, up] = &*counts;
    sleep(PERIOD * number / count.max(1)).await;
    let mut inputs = interval(PERIOD);
    inputs.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut buffer = [0; 2_048];
    loop {
        tokio::select! {
            received = socket.recv(&mut buffer) => {
                bytes.fetch_add(received? as u64, Relaxed);
                down.fetch_add(1, Relaxed);
            }
            _ = inputs.tick() => {
                socket.send(&[1; UP_BYTES]).await?;
                up.fetch_add(1, Relaxed);
            }
        }
    }
}

/// A connection that reads and sends from now on, with its endpoint.
async fn connect_client(
    server: SocketAddr,
    number: u32,
    count: u32,
    handshakes: Arc<Semaphore>,
) -> anyhow::Result<(Connection, Endpoint)> {
    let _permit = handshakes.acquire_owned().await?;
    let socket = bind((Ipv4Addr::LOCALHOST, 0).into())?;
    let endpoint = Endpoint::new(EndpointConfig::default(), None, socket, Arc::new(TokioRuntime))?;
    let mut config = client_config(ALPN_GAME, FingerprintVerifier::with_policy(|_: &str, _| true));
    config.transport_config(transport());
    let connection =
        endpoint.connect_with(config, server, "floor")?.await.context("no handshake")?;
    let reader = connection.clone();
    tokio::spawn(async move { while reader.read_datagram().await.is_ok() {} });
    let writer = connection.clone();
    tokio::spawn(async move {
        let payload = Bytes::from(vec![1; UP_BYTES]);
        sleep(PERIOD * number / count.max(1)).await;
        let mut inputs = interval(PERIOD);
        inputs.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            inputs.tick().await;
            if writer.send_datagram(payload.clone()).is_err() {
                return;
            }
        }
    });
    Ok((connection, endpoint))
}

/// Bytes and datagrams received, datagrams sent: UDP payload.
fn traffic(clients: &[(Connection, Endpoint)]) -> [u64; 3] {
    clients.iter().fold([0; 3], |[bytes, down, up], (connection, _)| {
        let stats = connection.stats();
        [bytes + stats.udp_rx.bytes, down + stats.udp_rx.datagrams, up + stats.udp_tx.datagrams]
    })
}

fn transport() -> Arc<TransportConfig> {
    let mut config = TransportConfig::default();
    config.congestion_controller_factory(Arc::new(FixedWindow::default()));
    Arc::new(config)
}
