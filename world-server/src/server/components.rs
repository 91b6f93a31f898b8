//! The components of a server from its first socket to the last.

use std::convert::Infallible;
use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use actix::Addr;
use ambit_endpoint::accept::EndpointCounters;
use ambit_endpoint::driver::ServerEndpoint;
use ambit_host::cli::Advertise;
use ambit_host::endpoint::{self, Listener};
use ambit_host::host::GameHost;
use ambit_host::identity::ServerIdentity;
use ambit_host::web_certificates::{self, WebCertificates};
use ambit_lobby::ServerMarks;
use ambit_proto::codes::{self, ErrorCode};
use ambit_room::logic::registry::Registry;
use ambit_transport::quic::{ALPN_GAME, ALPN_HOST, ALPN_PEER, ALPN_WEB, ALPN_WORLD, Fingerprint};
use ambit_transport::random::system_random;
use anyhow::Context as _;
use quinn::VarInt;
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use tokio::task::{JoinError, JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use super::Addresses;
use super::connection_router::ConnectionRouter;
use super::hosts_start::start_hosts;
use super::lobby_start::{LobbySource, start_lobby, start_lobby_thread};
use crate::accounts::AccountDesk;
use crate::actor::calls::{call, in_lobby};
use crate::actor::{LobbyClock, LobbyDesks, WorldServer};
use crate::admin::operators::OperatorDesk;
use crate::admin::page_files::Page;
use crate::admin::status::NewestStatus;
use crate::admin::top_lists::TopLists;
use crate::admin::{self, AdminState};
use crate::cluster::nats::NatsSettings;
use crate::cluster::store::DirectoryStore;
use crate::cluster::{ClusterMember, ClusterRole, ServerList, StartedLobby, StoredLobby};
use crate::config::{Config, HostingMode, KeepPlace};
use crate::keep::keeper::Keeper;
use crate::operator_log::OperatorLog;
use crate::peer_door::PeerDoor;
use crate::session::CommonToSessions;

/// Time limits of the steps of a drain; together they stay within the 5 s after a SIGTERM.
const NOTIFY_TIMEOUT: Duration = Duration::from_millis(1_500);
/// Longer than `EXIT_TIMEOUT` in `hosts/process.rs`: hung children are killed meanwhile.
const HOSTS_TIMEOUT: Duration = Duration::from_secs(2);
const STORE_TIMEOUT: Duration = Duration::from_millis(400);
const IDLE_TIMEOUT: Duration = Duration::from_millis(700);
const CLOSE_TIMEOUT: Duration = Duration::from_millis(300);

/// The components that have to be shut down.
pub(super) struct ServerComponents {
    pub(super) addresses: Addresses,
    /// For players and, if they have one of their own, for hosts and other servers.
    endpoints: Vec<ServerEndpoint>,
    roles: watch::Receiver<ClusterRole>,
    /// Resolves when the lobby's actor ends.
    lobby_ended: Option<LobbyEnded>,
    /// The task of this server's part in a cluster.
    member: Option<JoinHandle<anyhow::Result<()>>>,
    member_stop: CancellationToken,
    /// Tasks that end with the hosts that this server started.
    hosts: JoinSet<()>,
    /// After this is cancelled, children that end are not replaced.
    hosts_stop: CancellationToken,
    http_stop: CancellationToken,
    accounts: AccountDesk,
    operators: OperatorDesk,
    /// With `--keep`.
    keeper: Option<Arc<Keeper>>,
    /// Locked as long as this lives.
    _data_lock: Option<File>,
}

impl ServerComponents {
    /// `stop` is cancelled when the server is to shut down.
    pub(super) async fn start(
        config: &Config,
        registry: Registry,
        stop: &CancellationToken,
    ) -> anyhow::Result<Self> {
        check(config, &registry)?;
        let page = load_page(config, &registry)?;
        let data_lock = crate::data_lock::take(config)?;
        let identity = crate::identity::load(config)?;
        let certificates = Arc::new(crate::identity::web_certificates(config, &identity)?);
        tokio::spawn(web_certificates::keep_renewed(Arc::clone(&certificates)));
        let (listener, peers) = listen(config, &identity, &certificates)?;
        let http = HttpListeners::bind(config).await?;
        let fingerprint = identity.fingerprint();
        let addresses = bound_addresses(config, fingerprint, &listener, peers.as_ref(), &http);
        let servers = ServerList::new(
            advertised_address(config, &addresses),
            addresses.fingerprint,
            Arc::clone(&certificates),
        );
        let accounts = AccountDesk::open(config).await?;
        let desks = LobbyDesks { accounts: accounts.clone(), operator_log: OperatorLog::new() };
        let mut hosts = JoinSet::new();
        let [hosts_stop, member_stop, http_stop] =
            std::array::from_fn(|_| CancellationToken::new());
        let (role, mut roles) = watch::channel(ClusterRole::Seeking);
        let mut embedded = None;
        let mut lobby_ended = None;
        let mut member = None;
        let mut keeper = None;
        if config.hosts == HostingMode::Cluster {
            let parts = (desks.clone(), stop.clone());
            let part =
                cluster_member(config, &registry, parts, &addresses, servers.clone(), role).await?;
            member = Some(tokio::spawn(part.run(member_stop.clone())));
        } else {
            let source;
            (keeper, source) = open_keeper(config)?;
            let (host, ended) = start_alone(
                config,
                registry,
                (desks.clone(), source),
                (&addresses, &certificates),
                role,
                (&mut hosts, &hosts_stop, stop),
            )
            .await?;
            (embedded, lobby_ended) = (host, Some(ended));
        }

        let acceptance = Arc::new(EndpointCounters::default());
        let sessions = Arc::new(CommonToSessions::default());
        let door = PeerDoor::new();
        let entry = ConnectionRouter {
            roles: roles.clone(),
            servers,
            sessions: Arc::clone(&sessions),
            embedded,
            host_key: config.host_key.clone(),
            host_silence: config.host_silence,
            door: door.clone(),
        };
        let endpoints = serve_at([listener].into_iter().chain(peers), &acceptance, &entry)?;
        let operators = OperatorDesk::open(config, &certificates, roles.clone(), desks)?;
        let admin = AdminState {
            roles: roles.clone(),
            acceptance,
            sessions,
            peers: door.counters(),
            player_address: advertised_address(config, &addresses),
            page_with_tls: addresses.page_with_tls().map(Into::into),
            http_hosts: config.http_host.clone().into(),
            web_certificates: certificates,
            http: Arc::default(),
            status: NewestStatus::default(),
            page,
            ways: config.accounts.0,
            top_lists: TopLists::new(accounts.clone()),
            operators: operators.clone(),
        };
        http.serve(admin, &http_stop);
        // In a cluster, waits for NATS and the other servers.
        if roles.wait_for(ClusterRole::is_settled).await.is_err()
            && let Some(member) = member.take()
        {
            member.await??;
        }
        Ok(Self {
            addresses,
            endpoints,
            roles,
            lobby_ended,
            member,
            member_stop,
            hosts,
            hosts_stop,
            http_stop,
            accounts,
            operators,
            keeper,
            _data_lock: data_lock,
        })
    }

    /// Reads files again, and says in the log what is wrong with them.
    pub(super) async fn reload(&self) {
        tracing::info!("SIGHUP received; files are read again");
        self.operators.reload(None).await;
    }

    /// Waits until a component fails without which the server cannot go on. (Children are replaced
    /// by their supervisor.)
    pub(super) async fn wait_for_failure(&mut self) -> anyhow::Error {
        let crashed = |what: &str| {
            anyhow::anyhow!("{what} has crashed; this is a bug in the server, please report it")
        };
        let network = futures_util::future::select_all(
            self.endpoints.iter().map(|endpoint| Box::pin(endpoint.ended())),
        );
        tokio::select! {
            () = until_dropped(self.lobby_ended.as_mut()) => crashed("the lobby"),
            _ = network => crashed("the thread of the network"),
            Some(_) = self.hosts.join_next() => crashed("the host of the rooms"),
            ended = until_ended(self.member.as_mut()) => match ended {
                Ok(Err(error)) => error,
                Ok(Ok(())) | Err(_) => crashed("this server's part in the cluster"),
            },
        }
    }

    /// Notifies players, ends hosts, then everything else. Each step has a time limit, and what
    /// takes longer is cut off. In a cluster, clients are sent to the other servers instead. With
    /// `--keep`, the next server goes on with sessions and rooms, and clients look for it.
    pub(super) async fn drain(mut self) {
        self.member_stop.cancel();
        if self.keeper.is_none() {
            self.hosts_stop.cancel();
        }
        let mut last = ErrorCode::Draining;
        if let Some(keeper) = &self.keeper {
            keeper.freeze();
            last = ErrorCode::TryAgain;
            // Nothing more is confirmed.
            for endpoint in &self.endpoints {
                endpoint.close(
                    VarInt::from_u32(last as u32),
                    b"the server is shutting down; connect again",
                );
            }
            let leading = match self.roles.borrow().clone() {
                ClusterRole::Leading { world, .. } => Some(world),
                _ => None,
            };
            // No child is started any more.
            self.hosts_stop.cancel();
            if let Some(world) = &leading {
                let ordered = world.send(call(WorldServer::end_own_hosts));
                if let Ok(Ok(())) = tokio::time::timeout(NOTIFY_TIMEOUT, ordered).await {
                    self.wait_for_hosts().await;
                }
            }
            if let Some(world) = leading {
                let left = world.send(call(|world, _| world.leave_rooms()));
                let _ = tokio::time::timeout(NOTIFY_TIMEOUT, left).await;
            }
        } else if let Some(member) = self.member.take() {
            let _ = member.await;
            last = ErrorCode::TryAgain;
        } else if let ClusterRole::Leading { world, .. } = self.roles.borrow().clone() {
            let (drained, done) = oneshot::channel();
            let notified = async {
                let _ = world.send(call(|world, ctx| world.start_drain(ctx, drained))).await;
                let _ = done.await;
            };
            if tokio::time::timeout(NOTIFY_TIMEOUT, notified).await.is_err() {
                tracing::warn!("shutdown: not all players were notified in time");
            }
        }
        self.wait_for_hosts().await;
        if tokio::time::timeout(STORE_TIMEOUT, self.accounts.finish()).await.is_err() {
            tracing::error!(
                "shutdown: the store did not take in time what rooms had left to write"
            );
        }
        self.http_stop.cancel();
        if last == ErrorCode::Draining {
            // Clients of an embedded host read their last messages and close their connections.
            let _ = tokio::time::timeout(IDLE_TIMEOUT, self.wait_idle()).await;
        }
        let why = if last == ErrorCode::Draining { codes::name(last) } else { String::new() };
        for endpoint in &self.endpoints {
            endpoint.close(VarInt::from_u32(last as u32), why.as_bytes());
        }
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, self.wait_idle()).await;
        if let Some(keeper) = self.keeper {
            let _ = tokio::task::spawn_blocking(move || keeper.finish()).await;
        }
        tracing::info!("the server has ended");
    }

    async fn wait_for_hosts(&mut self) {
        let all_hosts = async { while self.hosts.join_next().await.is_some() {} };
        if tokio::time::timeout(HOSTS_TIMEOUT, all_hosts).await.is_err() {
            tracing::warn!("shutdown: not all hosts ended in time");
        }
    }

    /// Waits until all connections have ended.
    async fn wait_idle(&self) {
        for endpoint in &self.endpoints {
            endpoint.wait_idle().await;
        }
    }
}

/// Serves the connections that come to these sockets.
fn serve_at(
    listeners: impl Iterator<Item = Listener>,
    acceptance: &Arc<EndpointCounters>,
    entry: &ConnectionRouter,
) -> io::Result<Vec<ServerEndpoint>> {
    let serve = |listener: Listener| {
        let entry = entry.clone();
        listener.serve(
            Arc::clone(acceptance),
            || {},
            move |connection, alpn| entry.clone().serve(connection, alpn),
        )
    };
    listeners.map(serve).collect()
}

fn load_page(config: &Config, registry: &Registry) -> anyhow::Result<Page> {
    let page = Page::load(config.page.as_deref()).context("`--page`")?;
    page.with_texts(config.texts.as_deref(), registry).context("`--texts`")
}

async fn until_dropped(lifeline: Option<&mut oneshot::Receiver<Infallible>>) {
    match lifeline {
        Some(lifeline) => drop(lifeline.await),
        None => std::future::pending().await,
    }
}

async fn until_ended<T>(task: Option<&mut JoinHandle<T>>) -> Result<T, JoinError> {
    match task {
        Some(task) => task.await,
        None => std::future::pending().await,
    }
}

/// With `--keep`: what keeps rooms, and what it has.
fn open_keeper(config: &Config) -> anyhow::Result<(Option<Arc<Keeper>>, LobbySource)> {
    let Some(KeepPlace::Folder(folder)) = &config.keep else {
        return Ok((None, LobbySource::Nothing));
    };
    let (opened, state) = Keeper::open(folder, config.keep_sync)?;
    Ok((Some(Arc::clone(&opened)), LobbySource::Folder(opened, state)))
}

fn bound_addresses(
    config: &Config,
    fingerprint: Fingerprint,
    listener: &Listener,
    peers: Option<&Listener>,
    http: &HttpListeners,
) -> Addresses {
    Addresses {
        world: listener.local_addr(),
        peers: peers.map(Listener::local_addr),
        http: http.plain.as_ref().map(|(_, address)| *address),
        https: http.with_tls.as_ref().map(|(_, address)| *address),
        advertised: config.advertise.map(|advertised| advertised.ip),
        fingerprint,
        hosts: config.hosts,
    }
}

/// The protocols of players.
fn player_protocols(config: &Config) -> Vec<&'static [u8]> {
    let mut protocols = vec![ALPN_WORLD, ALPN_WEB];
    if config.hosts == HostingMode::Embedded {
        protocols.push(ALPN_GAME);
    }
    protocols
}

/// The protocols of hosts and other servers.
fn peer_protocols(config: &Config) -> Vec<&'static [u8]> {
    let mut protocols = Vec::new();
    if config.host_key.is_some() {
        protocols.push(ALPN_HOST);
    }
    if config.hosts == HostingMode::Cluster {
        protocols.push(ALPN_PEER);
    }
    protocols
}

type LobbyEnded = oneshot::Receiver<Infallible>;

/// Starts the lobby and the hosts of a server without a cluster; it leads from now on. Returns the
/// embedded host.
async fn start_alone(
    config: &Config,
    registry: Registry,
    (desks, source): (LobbyDesks, LobbySource),
    for_players: (&Addresses, &Arc<WebCertificates>),
    role: watch::Sender<ClusterRole>,
    (hosts, hosts_stop, stop): (&mut JoinSet<()>, &CancellationToken, &CancellationToken),
) -> anyhow::Result<(Option<GameHost>, LobbyEnded)> {
    let (children, wanted) = watch::channel(config.children().min);
    let StartedLobby { world, ended, .. } = start_lobby(
        config,
        &registry,
        &start_lobby_thread()?,
        LobbyClock::start(),
        (desks, Some(children)),
        stop.clone(),
        source,
    )?;
    let embedded =
        start_hosts(config, registry, for_players, &world, wanted, hosts, hosts_stop).await?;
    let (_, certificates) = for_players;
    tell_marks(&world, certificates).await;
    tokio::spawn(follow_certificates(world.clone(), Arc::clone(certificates)));
    role.send_replace(ClusterRole::Leading { world, epoch: 0 });
    Ok((embedded, ended))
}

/// Tells the lobby as what clients know this server; the proofs of their accounts say it, and
/// tickets for the embedded host. (A cluster's lobby learns it with its list of servers.)
async fn tell_marks(world: &Addr<WorldServer>, certificates: &WebCertificates) {
    let pinned = certificates.pinned();
    let marks = ServerMarks {
        certificates: std::iter::once(pinned).chain(certificates.fingerprints()).collect(),
        names: certificates.names(),
    };
    let tell = in_lobby(move |lobby, _| {
        lobby.set_marks(marks);
        lobby.set_embedded_certificate(pinned);
    });
    let _ = world.send(tell).await;
}

/// The same whenever there are other ones, until the lobby has ended.
async fn follow_certificates(world: Addr<WorldServer>, certificates: Arc<WebCertificates>) {
    let mut changes = certificates.changes();
    while changes.changed().await.is_ok() && world.connected() {
        tell_marks(&world, &certificates).await;
    }
}

/// Creates this server's part in its cluster.
async fn cluster_member(
    config: &Config,
    registry: &Registry,
    (desks, stop): (LobbyDesks, CancellationToken),
    addresses: &Addresses,
    servers: ServerList,
    roles: watch::Sender<ClusterRole>,
) -> anyhow::Result<ClusterMember> {
    let key = config.host_key.clone().expect("`start` has checked it");
    let process = system_random()?;
    let (clock, epoch_unix) = LobbyClock::start();
    let (lobby_config, lobby_registry, arbiter) =
        (config.clone(), registry.clone(), start_lobby_thread()?);
    let start_lobby = move |stored: StoredLobby| {
        start_lobby(
            &lobby_config,
            &lobby_registry,
            &arbiter,
            (clock, epoch_unix),
            (desks.clone(), None),
            stop.clone(),
            LobbySource::Cluster(stored),
        )
    };
    Ok(ClusterMember {
        store: DirectoryStore::connect(&NatsSettings::read(config)?).await?,
        process,
        address: config
            .peer_address
            .clone()
            .unwrap_or_else(|| advertised_peer_address(config, addresses)),
        fingerprint: addresses.fingerprint,
        servers,
        key,
        clock,
        start_lobby: Box::new(start_lobby),
        keep_interval: config.keep.is_some().then_some(config.keep_sync),
        roles,
    })
}

/// The address of this server for players.
fn advertised_address(config: &Config, addresses: &Addresses) -> String {
    Advertise::address(config.advertise, addresses.world).to_string()
}

/// Checks what `Config::from_arguments` has checked and a caller may have changed, and directories.
fn check(config: &Config, registry: &Registry) -> anyhow::Result<()> {
    config.check_complete().map_err(anyhow::Error::msg)?;
    config.check_games(registry).map_err(anyhow::Error::msg)?;
    for directory in [&config.trace, &config.recordings.record].into_iter().flatten() {
        ambit_host::check_directory(directory)?;
    }
    Ok(())
}

/// The socket for players, and the one for hosts and other servers if it is another one.
fn listen(
    config: &Config,
    identity: &ServerIdentity,
    certificates: &Arc<WebCertificates>,
) -> anyhow::Result<(Listener, Option<Listener>)> {
    let resets = crate::identity::reset_secret(config, identity)?;
    let mut for_players = player_protocols(config);
    let for_peers = peer_protocols(config);
    let peers = if let Some(address) = config.peer_listen {
        let resets = resets.of_endpoint("peers");
        let peers = endpoint::listen(address, certificates, &resets, &for_peers);
        Some(peers.map_err(|error| anyhow::anyhow!("`--peer-listen`: {error:#}"))?)
    } else {
        for_players.extend(&for_peers);
        None
    };
    let players = endpoint::listen(config.listen, certificates, &resets, &for_players);
    let players = players.map_err(|error| anyhow::anyhow!("`--listen`: {error:#}"))?;
    Ok((players, peers))
}

/// The sockets of `--http` and `--https`, with the addresses that they have got.
struct HttpListeners {
    plain: Option<(TcpListener, SocketAddr)>,
    with_tls: Option<(TcpListener, SocketAddr)>,
}

impl HttpListeners {
    async fn bind(config: &Config) -> anyhow::Result<Self> {
        let plain = match config.http.0 {
            Some(address) => Some(admin::bind("--http", address).await?),
            None => None,
        };
        let with_tls = match config.https {
            Some(address) => Some(admin::bind("--https", address).await?),
            None => None,
        };
        Ok(Self { plain, with_tls })
    }

    fn serve(self, admin: AdminState, stop: &CancellationToken) {
        if let Some((listener, _)) = self.plain {
            tokio::spawn(admin::serve(admin.clone(), listener, stop.clone()));
        }
        if let Some((listener, _)) = self.with_tls {
            tokio::spawn(admin::serve_with_tls(admin, listener, stop.clone()));
        }
    }
}

/// The address of this server for hosts and other servers, unless `--peer-address` names it.
fn advertised_peer_address(config: &Config, addresses: &Addresses) -> String {
    match (addresses.peers, config.advertise) {
        (None, _) => advertised_address(config, addresses),
        (Some(peers), None) => peers.to_string(),
        (Some(peers), Some(players)) => SocketAddr::new(players.ip, peers.port()).to_string(),
    }
}
