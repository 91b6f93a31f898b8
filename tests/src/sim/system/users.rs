//! The users: their clients, clocks and network paths, and what tests let them do.

use std::time::Duration;

use ambit_client_core::client::config::ClientConfig;
use ambit_client_core::client::event::{GameEvent, ViewEvent};
use ambit_client_core::client::lobby::CloseReason;
use ambit_client_core::client::request::LobbyRequest;
use ambit_client_core::client::{Client, ClientOutput};
use ambit_client_core::replica::PoseDecoding;
use ambit_lobby::{ConnId, HostId};
use ambit_proto::control::game::ClientToGame;
use ambit_proto::control::world::ClientToWorld;
use ambit_proto::ids::ClientObjectId;
use ambit_proto::keymap::Keymap;
use ambit_proto::message::GameCommand;
use ambit_proto::time::LocalTime;
use ambit_transport::impair::Impairment;
use bytes::Bytes;
use prost::Message;

use super::fleet::{CONNECTION_TIMEOUT, HostEvent};
use super::{SimEvent, System};
use crate::sim::host::GameConn;
use crate::sim::net::NetworkPath;

/// A simulated user: a client, its clock and its network path.
pub struct SimUser {
    pub client: Client,
    /// The client's view events, oldest first, without those about confirmed commands.
    pub events: Vec<ViewEvent>,
    /// The numbers of the commands that were confirmed.
    pub confirmed: Vec<u32>,
    /// All datagrams that hosts have sent to the client, with their times; recorded only on demand.
    pub sent_datagrams: Option<Vec<(LocalTime, Bytes)>>,
    /// Whether the pose oracle checks the client after each tick.
    pub is_checked: bool,
    /// Bytes of datagrams to the client, and from it.
    pub bytes: (u64, u64),
    pub(super) up: NetworkPath,
    pub(super) down: NetworkPath,
    /// How far the client's clock is ahead of virtual time.
    clock_offset: Duration,
    pub(super) world: Option<ConnId>,
    pub(super) game: Option<GameConn>,
    pub(super) wake: Option<LocalTime>,
}

/// Actions of tests on users.
impl System {
    /// Adds a user with this name and path, whose client connects to the lobby. Returns its number.
    pub fn add_user(&mut self, name: &str, impairment: &Impairment) -> usize {
        self.add_user_with(
            ClientConfig { name: name.to_owned(), ..ClientConfig::default() },
            impairment,
        )
    }

    /// Adds a user with this client configuration, and with the physics of the shipped games.
    pub fn add_user_with(&mut self, mut config: ClientConfig, impairment: &Impairment) -> usize {
        config.motions.push(ambit_cubes_physics::PHYSICS.into());
        config.motions.push(ambit_shooter_kinds::STEERING.into());
        let number = self.users.len();
        let seed = self.seed.wrapping_mul(1_000_003).wrapping_add(2 * number as u64);
        let path = |seed: u64| NetworkPath::new(&Impairment { seed, ..*impairment });
        self.users.push(SimUser {
            client: Client::new(&ClientConfig { seed, confirmations: true, ..config }),
            events: Vec::new(),
            confirmed: Vec::new(),
            is_checked: config.pose_decoding == PoseDecoding::Full,
            sent_datagrams: None,
            bytes: (0, 0),
            up: path(seed),
            down: path(seed + 1),
            clock_offset: Duration::from_micros(seed % 7_000_000_000),
            world: None,
            game: None,
            wake: None,
        });
        self.with_client(number, Client::connect);
        number
    }

    pub fn user(&self, user: usize) -> &SimUser {
        &self.users[user]
    }

    pub fn user_mut(&mut self, user: usize) -> &mut SimUser {
        &mut self.users[user]
    }

    /// The time on a user's own clock.
    pub fn local_time(&self, user: usize) -> LocalTime {
        self.now + self.users[user].clock_offset
    }

    /// Sends a request to the lobby.
    pub fn request(&mut self, user: usize, request: LobbyRequest) {
        self.with_client(user, |client, now| {
            client.request(now, request).expect("the client accepts requests");
        });
    }

    /// Sends a command to the game.
    pub fn act(&mut self, user: usize, command: &GameCommand<ClientObjectId>) {
        self.with_client(user, |client, now| {
            // Outside a game the client refuses the command. Scripts may ignore that.
            let _ = client.act(now, command);
        });
    }

    /// The user holds these keys from now on.
    pub fn hold_keys(&mut self, user: usize, keys: Keymap) {
        self.with_client(user, |client, now| client.input(now, keys));
    }

    /// Sets other impairments on a user's path.
    pub fn impair(&mut self, user: usize, impairment: &Impairment) {
        let user = &mut self.users[user];
        user.up.impair(impairment);
        user.down.impair(&Impairment { seed: impairment.seed ^ 1, ..*impairment });
    }

    /// Cuts a user's path for some time; its connections do not time out.
    pub fn cut(&mut self, user: usize, how_long: Duration) {
        let until = self.now + how_long;
        self.users[user].up.cut_until(until);
        self.users[user].down.cut_until(until);
    }

    /// Breaks both connections of a user; both ends notice at once.
    pub fn drop_connections(&mut self, user: usize) {
        if let Some(conn) = self.users[user].world.take() {
            self.events.push(self.now, SimEvent::LobbyDisconnected { conn, quit: false });
            self.with_client(user, |client, now| {
                client.handle_world_closed(now, CloseReason::Broken("cut".into()));
            });
        }
        self.drop_game(user);
    }

    /// Breaks a user's game connection; both ends notice at once.
    pub fn drop_game(&mut self, user: usize) {
        if let Some(conn) = self.users[user].game.take() {
            self.events.push(self.now, SimEvent::GameDisconnected { conn });
            self.with_client(user, |client, now| {
                client.handle_game_closed(now, CloseReason::Broken("cut".into()));
            });
        }
    }

    /// Kills a user's client process: its connections break, and it does nothing any more.
    pub fn kill(&mut self, user: usize) {
        for event in [
            self.users[user]
                .world
                .take()
                .map(|conn| SimEvent::LobbyDisconnected { conn, quit: false }),
            self.users[user].game.take().map(|conn| SimEvent::GameDisconnected { conn }),
        ]
        .into_iter()
        .flatten()
        {
            self.events.push(self.now, event);
        }
        self.users[user].client = Client::new(&ClientConfig::default());
    }

    /// Calls a user's client, then handles its outputs and events.
    pub fn with_client(&mut self, user: usize, call: impl FnOnce(&mut Client, LocalTime)) {
        let local = self.local_time(user);
        call(&mut self.users[user].client, local);
        while let Some(output) = self.users[user].client.poll_output() {
            self.handle_client_output(user, output);
        }
        let user_ref = &mut self.users[user];
        while let Some(event) = user_ref.client.poll_event() {
            match event {
                ViewEvent::Game(GameEvent::Confirmed { command, .. }) => {
                    user_ref.confirmed.push(command);
                }
                event => user_ref.events.push(event),
            }
        }
        let wake = user_ref.client.next_deadline().map(|deadline| self.now + deadline.since(local));
        if let Some(wake) = wake.filter(|&wake| user_ref.wake.is_none_or(|earlier| wake < earlier))
        {
            user_ref.wake = Some(wake);
            // An overdue deadline is handled a little later, so that time advances.
            self.events
                .push(wake.max(self.now + Duration::from_micros(100)), SimEvent::Wake { user });
        }
    }
}

impl System {
    fn handle_client_output(&mut self, id: usize, output: ClientOutput) {
        let now = self.now;
        let user = &mut self.users[id];
        match output {
            ClientOutput::ConnectWorld => {
                self.next_conn += 1;
                let conn = ConnId(self.next_conn);
                user.world = Some(conn);
                self.lobby_conns.insert(conn, id);
                self.events.push(user.up.send_on_stream(now), SimEvent::LobbyConnecting { conn });
            }
            ClientOutput::World(message) => {
                if let Some(conn) = user.world {
                    let frame = ClientToWorld::encode_to_vec(&message);
                    self.events
                        .push(user.up.send_on_stream(now), SimEvent::ToLobby { conn, frame });
                }
            }
            ClientOutput::ProveAccount(_) => unreachable!("users have no accounts"),
            ClientOutput::CloseWorld | ClientOutput::AbandonWorld => {
                let quit = output == ClientOutput::CloseWorld;
                if let Some(conn) = user.world.take() {
                    self.events.push(
                        user.up.send_on_stream(now),
                        SimEvent::LobbyDisconnected { conn, quit },
                    );
                }
            }
            ClientOutput::ConnectGame { address, .. } => self.connect_game(id, &address),
            ClientOutput::Game(message) => {
                if let Some(conn) = user.game {
                    let frame = ClientToGame::encode_to_vec(&message);
                    self.events.push(user.up.send_on_stream(now), SimEvent::ToHost { conn, frame });
                }
            }
            ClientOutput::CloseGame => {
                if let Some(conn) = user.game.take() {
                    self.events
                        .push(user.up.send_on_stream(now), SimEvent::GameDisconnected { conn });
                }
            }
            ClientOutput::Datagram(bytes) => {
                user.bytes.1 += bytes.len() as u64;
                let Some(conn) = user.game else { return };
                for at in user.up.send_datagram(now, bytes.len()) {
                    self.events.push(at, SimEvent::DatagramUp { conn, bytes: bytes.clone() });
                }
            }
        }
    }

    fn connect_game(&mut self, id: usize, address: &str) {
        let now = self.now;
        let user = &mut self.users[id];
        self.next_conn += 1;
        let conn = self.next_conn;
        user.game = Some(conn);
        let arrives_at = user.up.send_on_stream(now);
        let target = self.hosts.iter().find(|(_, process)| process.host.address() == address);
        let target = target.map(|(&host, process)| (host, process.is_embedded()));
        // There may be no host with this address.
        let (host, is_embedded) = target.unwrap_or((HostId(0), false));
        self.game_conns.insert(conn, (id, host));
        if is_embedded {
            self.events.push(
                user.down.send_on_stream(arrives_at),
                SimEvent::GameConnected { user: id, conn },
            );
            return;
        }
        if target.is_some() {
            self.schedule_at_host(arrives_at, host, HostEvent::Connecting { user: id, conn });
        }
        self.schedule_at_host(
            now + CONNECTION_TIMEOUT,
            HostId(0),
            HostEvent::ConnectTimeout { conn },
        );
    }

    /// The user whose current lobby connection is this one.
    pub(super) fn lobby_user(&self, conn: ConnId) -> Option<usize> {
        self.lobby_conns.get(&conn).copied().filter(|&user| self.users[user].world == Some(conn))
    }

    /// The user whose current game connection is this one.
    pub(super) fn game_user(&self, conn: GameConn) -> Option<usize> {
        self.game_conns
            .get(&conn)
            .map(|&(user, _)| user)
            .filter(|&user| self.users[user].game == Some(conn))
    }
}
