//! What a server is made of, from its first socket to the last; and the way of each connection to its part.

use std::convert::Infallible;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use actix::{Actor as _, Addr, Arbiter, ArbiterHandle};
use ambit_game_server::accept::{DoorCounters, accept};
use ambit_game_server::cli::Advertise;
use ambit_game_server::endpoint;
use ambit_game_server::host::{GameHost, HostConfig};
use ambit_game_server::logic::registry::Registry;
use ambit_game_server::ticket::TicketSigner;
use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::quic::{ALPN_GAME, ALPN_HOST, ALPN_WORLD};
use anyhow::{Context as _, bail};
use quinn::{Connection, Endpoint, VarInt};
use ring::rand::{SecureRandom as _, SystemRandom};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::Addresses;
use crate::actor::{Clock, DrainNow, WorldServer};
use crate::admin::{self, Admin};
use crate::config::{Config, Hosts};
use crate::hosts::process::Nursery;
use crate::hosts::{embedded, remote};
use crate::lobby::{GameInfo, Lobby};
use crate::session::Session;

/// The parts of a drain; together they stay within the 5 s that a SIGTERM gives.
const TELL_WITHIN: Duration = Duration::from_millis(1_500);
/// Longer than `EXIT_WITHIN` of `hosts/process.rs`: children that hang are killed meanwhile.
const HOSTS_WITHIN: Duration = Duration::from_secs(2);
const IDLE_WITHIN: Duration = Duration::from_millis(700);
const CLOSE_WITHIN: Duration = Duration::from_millis(300);

/// How long all hosts together may take to start.
const START_WITHIN: Duration = Duration::from_secs(20);

/// What has to be ended.
pub(super) struct Parts {
    pub(super) addresses: Addresses,
    endpoint: Endpoint,
    world: Addr<WorldServer>,
    /// Ends with the lobby's actor.
    lobby_ended: oneshot::Receiver<Infallible>,
    /// Tasks that end with the hosts that this server started.
    hosts: JoinSet<()>,
    /// Children that end are not replaced any more.
    hosts_stop: CancellationToken,
    /// HTTP ends.
    http_stop: CancellationToken,
}

impl Parts {
    pub(super) async fn start(config: &Config, registry: Registry) -> anyhow::Result<Self> {
        let identity = crate::identity::load(config)?;
        let endpoint = endpoint::listen(config.listen, &identity, &protocols(config))?;
        let http = match config.http.0 {
            Some(address) => Some(admin::bind(address).await?),
            None => None,
        };
        let addresses = Addresses {
            world: endpoint.local_addr()?,
            http: http.as_ref().map(|(_, address)| *address),
            fingerprint: identity.fingerprint(),
            hosts: config.hosts,
        };
        let (children, wanted) = watch::channel(config.children().min);
        let (world, lobby_ended) = start_lobby(config, &registry, children)?;
        let mut hosts = JoinSet::new();
        let hosts_stop = CancellationToken::new();
        let embedded = start_hosts(config, registry, &addresses, &world, wanted, &mut hosts, &hosts_stop).await?;

        let door = Arc::new(DoorCounters::default());
        let slow_readers = Arc::new(AtomicU64::new(0));
        let lobby = Entry {
            world: world.clone(),
            sessions: Arbiter::try_new().context("cannot start a thread for sessions")?.handle(),
            slow_readers: Arc::clone(&slow_readers),
            embedded,
            host_key: config.host_key.clone(),
        };
        tokio::spawn(accept(endpoint.clone(), Arc::clone(&door), move |connection, alpn| {
            lobby.clone().serve(connection, alpn)
        }));
        let http_stop = CancellationToken::new();
        if let Some((listener, _)) = http {
            serve_http(Admin { world: world.clone(), door, slow_readers }, listener, &http_stop);
        }
        Ok(Self { addresses, endpoint, world, lobby_ended, hosts, hosts_stop, http_stop })
    }

    /// Waits for what must not happen while the server is in service: nothing could go on without these. (Children are
    /// replaced by the tasks that keep them.)
    pub(super) async fn broken(&mut self) -> &'static str {
        tokio::select! {
            _ = &mut self.lobby_ended => "the lobby",
            _ = self.hosts.join_next() => "the host of the rooms",
        }
    }

    /// Players are told, hosts end, then everything else. Each part has its time; who needs longer is cut off.
    pub(super) async fn drain(mut self) {
        self.hosts_stop.cancel();
        let (drained, done) = oneshot::channel();
        let told = async {
            let _ = self.world.send(DrainNow(drained)).await;
            let _ = done.await;
        };
        if tokio::time::timeout(TELL_WITHIN, told).await.is_err() {
            tracing::warn!("not everybody was told in time");
        }
        let all_hosts = async { while self.hosts.join_next().await.is_some() {} };
        if tokio::time::timeout(HOSTS_WITHIN, all_hosts).await.is_err() {
            tracing::warn!("not all hosts ended in time");
        }
        self.http_stop.cancel();
        // Clients of an embedded host read their last messages, and close their connections.
        let _ = tokio::time::timeout(IDLE_WITHIN, self.endpoint.wait_idle()).await;
        self.endpoint.close(VarInt::from_u32(ErrorCode::Draining as u32), codes::name(ErrorCode::Draining).as_bytes());
        let _ = tokio::time::timeout(CLOSE_WITHIN, self.endpoint.wait_idle()).await;
        tracing::info!("the server has ended");
    }
}

fn serve_http(admin: Admin, listener: TcpListener, stop: &CancellationToken) {
    tokio::spawn(admin::serve(admin, listener, stop.clone()));
}

/// What is spoken on this server's port.
fn protocols(config: &Config) -> Vec<&'static [u8]> {
    let mut protocols = vec![ALPN_WORLD];
    if config.hosts == Hosts::Embedded {
        protocols.push(ALPN_GAME);
    }
    if config.host_key.is_some() {
        protocols.push(ALPN_HOST);
    }
    protocols
}

/// Where connections go, by protocol.
#[derive(Clone)]
struct Entry {
    world: Addr<WorldServer>,
    sessions: ArbiterHandle,
    slow_readers: Arc<AtomicU64>,
    embedded: Option<GameHost>,
    host_key: Option<String>,
}

impl Entry {
    async fn serve(self, connection: Connection, alpn: Vec<u8>) {
        match (alpn.as_slice(), self.embedded, self.host_key) {
            (ALPN_WORLD, ..) => {
                let (world, slow_readers) = (self.world, self.slow_readers);
                Session::start_in_arbiter(&self.sessions, move |_| Session::new(connection, world, slow_readers));
            }
            (ALPN_GAME, Some(host), _) => host.serve(connection).await,
            (ALPN_HOST, _, Some(key)) => remote::serve(connection, key, self.world).await,
            // The handshake refuses what is not spoken here.
            _ => connection.close(VarInt::from_u32(ErrorCode::OutOfState as u32), b"this protocol is not spoken here"),
        }
    }
}

fn start_lobby(
    config: &Config,
    registry: &Registry,
    children: watch::Sender<u32>,
) -> anyhow::Result<(Addr<WorldServer>, oneshot::Receiver<Infallible>)> {
    let (clock, epoch_unix) = Clock::start();
    let mut seed = [0; 32];
    SystemRandom::new().fill(&mut seed).map_err(|_| anyhow::anyhow!("the system gives no random bytes"))?;
    let signer = TicketSigner::from_seed(&seed);
    let games = registry.games().map(game_info).collect();
    let checker = registry.clone();
    let check = move |game: &str, parameters: &_| checker.check(game, parameters).map_err(|error| error.to_string());
    let lobby = Lobby::new(config.lobby(epoch_unix), games, Box::new(check), Box::new(random_bytes()), signer);
    let arbiter = Arbiter::try_new().context("cannot start the lobby's thread")?.handle();
    let (lifeline, ended) = oneshot::channel();
    let record = config.record.clone();
    let world =
        WorldServer::start_in_arbiter(&arbiter, move |_| WorldServer::new(lobby, clock, children, record, lifeline));
    Ok((world, ended))
}

fn game_info(game: &ambit_game_server::logic::registry::GameInfo) -> GameInfo {
    GameInfo {
        name: game.name.to_string(),
        description: game.description.to_string(),
        min_players: game.min_players,
        join_running: game.join_running,
    }
}

fn random_bytes() -> impl FnMut() -> [u8; 16] + Send {
    let random = SystemRandom::new();
    move || {
        let mut bytes = [0; 16];
        random.fill(&mut bytes).expect("the system has given random bytes before");
        bytes
    }
}

/// Starts the hosts and waits until all are ready; gives the embedded one.
async fn start_hosts(
    config: &Config,
    registry: Registry,
    addresses: &Addresses,
    world: &Addr<WorldServer>,
    wanted: watch::Receiver<u32>,
    tasks: &mut JoinSet<()>,
    stop: &CancellationToken,
) -> anyhow::Result<Option<GameHost>> {
    match config.hosts {
        Hosts::Embedded => {
            let host = HostConfig {
                address: Advertise::address(config.advertise, addresses.world).to_string(),
                fingerprint: addresses.fingerprint,
                capacity: config.host_capacity,
                label: "embedded".into(),
                key: Vec::new(),
                trace: config.trace.clone(),
                record: config.record.clone(),
            };
            let embedded = embedded::start(host, registry, world.clone()).await?;
            tasks.spawn(async {
                let _ = embedded.ended.await;
            });
            Ok(Some(embedded.host))
        }
        Hosts::Process { min, .. } => {
            let (ready, mut starts) = mpsc::channel(usize::from(min));
            let nursery =
                Nursery { arguments: child_arguments(config), world: world.clone(), ready, wanted, stop: stop.clone() };
            tasks.spawn(nursery.keep());
            let all_ready = async {
                for _ in 0..min {
                    if let Some(Err(reason)) = starts.recv().await {
                        bail!("a host process did not start: {reason}");
                    }
                }
                Ok(())
            };
            tokio::time::timeout(START_WITHIN, all_ready)
                .await
                .context("the host processes did not start in time")??;
            Ok(None)
        }
    }
}

/// What a child is told: where to listen and what to write; rooms come by the pipe.
fn child_arguments(config: &Config) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = Vec::new();
    let mut add = |flag: &str, value: OsString| arguments.extend([flag.into(), value]);
    add("--world", "stdio".into());
    add("--listen", SocketAddr::new(config.listen.ip(), 0).to_string().into());
    add("--capacity", config.host_capacity.to_string().into());
    if let Some(Advertise { ip, .. }) = config.advertise {
        add("--advertise", ip.to_string().into());
    }
    if let Some(directory) = &config.trace {
        add("--trace", directory.into());
    }
    if let Some(directory) = &config.record {
        add("--record", directory.into());
    }
    arguments
}
