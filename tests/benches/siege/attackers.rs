//! Attackers, each kind from a loopback address of its own, so that limits per address hit them
//! alone.
//!
//! | kind | what it does |
//! | --- | --- |
//! | talkers | 40 sessions say a word and list all players as often as they can |
//! | squatters | 64 sessions make and start a room each, and then do nothing |
//! | scribblers | connections that send random bytes |
//! | flooders | players who fill the uplink with random datagrams |

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use ambit_proto::control::world::{
    CreateRoom, ListPlayers, Say, StartRoom, client_to_world as ask, world_to_client::Body,
};
use ambit_tests::real::raw_client::RawClient;
use ambit_transport::quic::{ALPN_GAME, ALPN_WORLD};
use anyhow::Result;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

const TALKERS: u64 = 40;
const SQUATTERS: u64 = 64;
const SCRIBBLERS: u64 = 8;
const FLOODERS: u64 = 4;
/// Before an attacker comes back whose connection was closed.
const PAUSE: Duration = Duration::from_millis(500);
/// Longer than any answer takes, unless none comes.
const PATIENCE: Duration = Duration::from_secs(20);

/// All attackers, until [`Attackers::stop`].
pub(crate) struct Attackers {
    tasks: JoinSet<()>,
    counts: Arc<AttackCounts>,
}

/// How often the attackers did what they do.
#[derive(Default)]
pub(crate) struct AttackCounts {
    chat_and_lists: AtomicU64,
    rooms: AtomicU64,
    refused_rooms: AtomicU64,
    random_frames: AtomicU64,
    random_datagrams: AtomicU64,
}

impl AttackCounts {
    pub(crate) fn print(&self) {
        for (name, count) in [
            ("chat lines and lists asked for", &self.chat_and_lists),
            ("rooms that squatters have started", &self.rooms),
            ("rooms refused to squatters", &self.refused_rooms),
            ("random frames", &self.random_frames),
            ("random datagrams of players", &self.random_datagrams),
        ] {
            println!("| {name} | {} |", count.load(Relaxed));
        }
    }
}

impl Attackers {
    pub(crate) fn start(runtime: &Runtime, servers: &[SocketAddr]) -> Self {
        let _context = runtime.enter();
        let counts = Arc::new(AttackCounts::default());
        let mut tasks = JoinSet::new();
        for (last_byte, kind, count) in [
            (2, Kind::Talker, TALKERS),
            (3, Kind::Squatter, SQUATTERS),
            (4, Kind::Scribbler, SCRIBBLERS),
            (5, Kind::Flooder, FLOODERS),
        ] {
            for number in 0..count {
                let attacker = Attacker {
                    name: format!("{kind:?}-{number}"),
                    from: SocketAddr::from((Ipv4Addr::new(127, 0, 0, last_byte), 0)),
                    servers: servers.to_vec(),
                    rng: fastrand::Rng::with_seed(number),
                    counts: Arc::clone(&counts),
                };
                tasks.spawn(attacker.attack(kind));
            }
        }
        Self { tasks, counts }
    }

    pub(crate) fn stop(mut self, runtime: &Runtime) -> Arc<AttackCounts> {
        runtime.block_on(self.tasks.shutdown());
        self.counts
    }
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Talker,
    Squatter,
    Scribbler,
    Flooder,
}

struct Attacker {
    name: String,
    from: SocketAddr,
    servers: Vec<SocketAddr>,
    rng: fastrand::Rng,
    counts: Arc<AttackCounts>,
}

impl Attacker {
    /// Attacks again and again, whatever becomes of the connection.
    async fn attack(mut self, kind: Kind) {
        loop {
            let _ = match kind {
                Kind::Talker => self.talk().await,
                Kind::Squatter => self.squat().await,
                Kind::Scribbler => self.scribble().await,
                Kind::Flooder => self.flood().await,
            };
            sleep(PAUSE).await;
        }
    }

    async fn connect(&mut self, server: SocketAddr, alpn: &[u8]) -> Result<RawClient> {
        let endpoint = quinn::Endpoint::client(self.from)?;
        RawClient::connect_over(endpoint, server, alpn).await
    }

    async fn enter_lobby(&mut self) -> Result<RawClient> {
        let server = self.servers[self.rng.usize(..self.servers.len())];
        let mut client = self.connect(server, ALPN_WORLD).await?;
        client.hello(&self.name).await?;
        Ok(client)
    }

    async fn talk(&mut self) -> Result<()> {
        let mut client = self.enter_lobby().await?;
        loop {
            let say = Say { text: "x".into(), ..Say::default() };
            client.send_request(ask::Body::Say(say)).await?;
            let list = ask::Body::ListPlayers(ListPlayers { everybody: true });
            timeout(PATIENCE, client.request_answer(list)).await??;
            self.counts.chat_and_lists.fetch_add(2, Relaxed);
        }
    }

    async fn squat(&mut self) -> Result<()> {
        let mut client = self.enter_lobby().await?;
        self.start_room(&mut client).await?;
        loop {
            // Reads what comes, and does nothing.
            client.next_world_message().await?;
        }
    }

    /// Makes and starts a room.
    async fn start_room(&mut self, client: &mut RawClient) -> Result<()> {
        let create =
            CreateRoom { name: self.name.clone(), game: "field".into(), ..CreateRoom::default() };
        for request in [ask::Body::CreateRoom(create), ask::Body::StartRoom(StartRoom {})] {
            let answer = timeout(PATIENCE, client.request_answer(request)).await??;
            if let Some(Body::Error(error)) = answer.body {
                self.counts.refused_rooms.fetch_add(1, Relaxed);
                anyhow::bail!("refused: {}", error.message);
            }
        }
        self.counts.rooms.fetch_add(1, Relaxed);
        Ok(())
    }

    async fn scribble(&mut self) -> Result<()> {
        let alpn = if self.rng.bool() { ALPN_WORLD } else { ALPN_GAME };
        let server = self.servers[self.rng.usize(..self.servers.len())];
        let mut client = self.connect(server, alpn).await?;
        loop {
            let length = self.rng.usize(1..2_000);
            let bytes: Vec<u8> = (0..length).map(|_| self.rng.u8(..)).collect();
            client.write(&bytes).await?;
            self.counts.random_frames.fetch_add(1, Relaxed);
            sleep(Duration::from_millis(10)).await;
        }
    }

    async fn flood(&mut self) -> Result<()> {
        let mut lobby = self.enter_lobby().await?;
        let create =
            CreateRoom { name: self.name.clone(), game: "field".into(), ..CreateRoom::default() };
        lobby.request_answer(ask::Body::CreateRoom(create)).await?;
        lobby.send_request(ask::Body::StartRoom(StartRoom {})).await?;
        let ticket = lobby.find(|body| match body {
            Body::Ticket(ticket) => Some(ticket),
            _ => None,
        });
        let ticket = timeout(PATIENCE, ticket).await??;
        let mut game = self.connect(ticket.address.parse()?, ALPN_GAME).await?;
        game.join(ticket.ticket).await?;
        loop {
            // 64 in each tick of 50 ms.
            for _ in 0..64 {
                let bytes: Vec<u8> =
                    (0..self.rng.usize(1..1_100)).map(|_| self.rng.u8(..)).collect();
                game.connection.send_datagram_wait(bytes.into()).await?;
                self.counts.random_datagrams.fetch_add(1, Relaxed);
            }
            sleep(Duration::from_millis(50)).await;
        }
    }
}
