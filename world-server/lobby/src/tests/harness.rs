//! Test harness: a lobby with simulated clients and hosts.

mod hosts;
mod requests;

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use ambit_host_protocol::generated::world_to_host;
use ambit_host_protocol::protobuf::messages_of_order;
use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::world::{self, client_to_world as ask, world_to_client::Body};
use ambit_proto::ids::{AccountId, PlayerId, RoomId};
use ambit_proto::time::LocalTime;
use ambit_store::RoomRequest;
use ambit_transport::ticket::{Ticket, TicketError, TicketSigner, TicketVerifier};

use crate::{
    AccountJob, ConnId, CostLimit, HostId, JobSource, Lobby, LobbyAction, LobbyConfig, LobbyGame,
    MissedNews, OperatorEvent, RecordKey, StoreJob,
};

pub(super) use requests::{
    create, hello, join, join_with, kick, leave, list_all_players, ready, request_ticket, room,
    set_name, start,
};

pub(super) const EPOCH_UNIX_S: u64 = 1_800_000_000;

/// A simulated client.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) conn: ConnId,
    pub(super) id: u64,
    pub(super) name: String,
    pub(super) token: Vec<u8>,
}

pub(super) struct LobbyHarness {
    pub(super) lobby: Lobby,
    pub(super) now: LocalTime,
    /// Events that the test has not read yet.
    unread_events: BTreeMap<ConnId, Vec<Body>>,
    /// Members of each client's room, according to the events on its connection.
    rosters: BTreeMap<ConnId, Vec<world::Player>>,
    /// Answers that the test has not read yet, with their numbers.
    answers: BTreeMap<ConnId, Vec<(u64, Body)>>,
    closed: BTreeMap<ConnId, ErrorCode>,
    pub(super) orders: Vec<(HostId, world_to_host::Body)>,
    /// Hosts that the lobby has disconnected since the last call.
    disconnected_hosts: Vec<HostId>,
    /// Number of children in the newest output that sets it.
    pub(super) children: Option<u32>,
    /// Kept rooms that were set aside, and why.
    pub(super) set_aside: Vec<(u64, String)>,
    /// Rooms whose checkpoints were removed.
    pub(super) removed_checkpoints: Vec<u64>,
    /// The newest value of each directory record.
    pub(super) records: BTreeMap<RecordKey, Vec<u8>>,
    /// All written records in order; `None` removes one.
    pub(super) log: Vec<(RecordKey, Option<Vec<u8>>)>,
    /// Running rooms that hosts have reported.
    pub(super) adopted: Vec<(u64, HostId)>,
    /// Rooms that seem to crash their hosts.
    pub(super) condemned: Vec<u64>,
    /// The restored rooms that were tried.
    pub(super) trials: Vec<Option<u64>>,
    /// Whether all restored rooms have run for a moment.
    pub(super) is_restored: bool,
    /// What is to be done with accounts, in order.
    pub(super) account_jobs: Vec<(JobSource, AccountJob)>,
    /// What the store is to do for rooms, in order.
    pub(super) store_jobs: Vec<(RoomRequest, StoreJob)>,
    /// Rooms that ask no more.
    pub(super) forgotten_jobs: Vec<u64>,
    /// What operators were told since the last call of `take_reports`.
    reports: Vec<OperatorEvent>,
    conns: u64,
    requests: u64,
}

impl LobbyHarness {
    pub(super) fn new() -> Self {
        Self::with(LobbyConfig::default())
    }

    /// Creates a lobby with limits that no test reaches by chance.
    pub(super) fn unlimited() -> Self {
        let many = 1_000_000;
        let all_that_is_asked_for = CostLimit { per_s: many, per_s_of_address: many };
        Self::with(LobbyConfig {
            rooms_per_minute: many as usize,
            max_rooms_per_player: many as usize,
            max_rooms_per_address: many as usize,
            max_running_rooms_per_address: many as usize,
            requests_per_s: many,
            request_burst: many,
            chat_per_s: many,
            chat_burst: many,
            chat_deliveries: all_that_is_asked_for,
            list_kib: all_that_is_asked_for,
            list_kib_per_s: many,
            list_kib_burst: many,
            ..LobbyConfig::default()
        })
    }

    pub(super) fn with(config: LobbyConfig) -> Self {
        Self::with_random_start(config, 0)
    }

    fn with_random_start(mut config: LobbyConfig, mut calls: u64) -> Self {
        config.epoch_unix = Duration::from_secs(EPOCH_UNIX_S);
        let game = |name: &str, min_players, join_running| LobbyGame {
            name: name.to_owned(),
            description: format!("the game {name}"),
            min_players,
            join_running,
            is_lasting: name.starts_with("lasting"),
            quick_start: BTreeMap::from([("size".to_owned(), name.to_owned())]),
            parameters: vec![world::Parameter {
                key: "size".to_owned(),
                default_value: "100x100".to_owned(),
                ..world::Parameter::default()
            }],
            max_capacity: 100,
            presentation: format!("{{\"of\":\"{name}\"}}"),
            schema: name.into(),
        };
        let games = vec![game("field", 1, true), game("duel", 2, false), game("lasting", 1, true)];
        let entropy = move || {
            calls += 1;
            let mixed = calls.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (u128::from(mixed) << 64 | u128::from(calls)).to_be_bytes()
        };
        let check = |game: &str, _, parameters: &BTreeMap<String, String>| match parameters
            .keys()
            .find(|name| !["size", "seed", "map-seats"].contains(&name.as_str()))
        {
            Some(unknown) => Err(format!("{game} knows no {unknown}; it knows: size")),
            None => Ok(()),
        };
        Self {
            lobby: Lobby::new(
                config,
                games,
                Box::new(check),
                Box::new(entropy),
                TicketSigner::from_seed(&[7; 32]),
            ),
            now: LocalTime::from_millis(1_000),
            unread_events: BTreeMap::new(),
            rosters: BTreeMap::new(),
            answers: BTreeMap::new(),
            closed: BTreeMap::new(),
            orders: Vec::new(),
            disconnected_hosts: Vec::new(),
            children: None,
            set_aside: Vec::new(),
            removed_checkpoints: Vec::new(),
            records: BTreeMap::new(),
            log: Vec::new(),
            adopted: Vec::new(),
            condemned: Vec::new(),
            trials: Vec::new(),
            is_restored: false,
            account_jobs: Vec::new(),
            store_jobs: Vec::new(),
            forgotten_jobs: Vec::new(),
            reports: Vec::new(),
            conns: 0,
            requests: 0,
        }
    }

    /// Creates a lobby that writes directory records.
    pub(super) fn recorded() -> Self {
        Self::with(recording())
    }

    /// Creates another server that restores the records of this one.
    pub(super) fn start_successor(&self, reconnect_time: Duration) -> Self {
        Self::restore_from(&self.records, reconnect_time)
    }

    /// For each point at which the writing of the records since `before` may have stopped: creates
    /// another server that restores the records written until then.
    pub(super) fn restore_partial_writes(
        &self,
        before: &BTreeMap<RecordKey, Vec<u8>>,
        reconnect_time: Duration,
    ) -> Vec<Self> {
        let torn = |cut| {
            let mut records = before.clone();
            for (key, value) in &self.log[..cut] {
                match value {
                    Some(value) => drop(records.insert(*key, value.clone())),
                    None => drop(records.remove(key)),
                }
            }
            Self::restore_from(&records, reconnect_time)
        };
        (0..=self.log.len()).map(torn).collect()
    }

    fn restore_from(records: &BTreeMap<RecordKey, Vec<u8>>, reconnect_time: Duration) -> Self {
        let next = Self::with_random_start(recording(), 1 << 20);
        next.restoring(records, reconnect_time, &BTreeSet::new())
    }

    /// The same, where the checkpoints of these rooms were kept.
    pub(super) fn start_successor_with(&self, reconnect_time: Duration, rooms: &[u64]) -> Self {
        let checkpointed = rooms.iter().map(|room| RoomId(*room)).collect();
        let next = Self::with_random_start(recording(), 1 << 20);
        next.restoring(&self.records, reconnect_time, &checkpointed)
    }

    /// The same, after a start that did not finish.
    pub(super) fn start_careful_successor(&self, rooms: &[u64]) -> Self {
        let checkpointed = rooms.iter().map(|room| RoomId(*room)).collect();
        let mut next = Self::with_random_start(recording(), 1 << 20);
        next.lobby.restore_one_at_a_time();
        next.restoring(&self.records, seconds(5), &checkpointed)
    }

    fn restoring(
        self,
        records: &BTreeMap<RecordKey, Vec<u8>>,
        reconnect_time: Duration,
        checkpointed: &BTreeSet<RoomId>,
    ) -> Self {
        let mut next = self;
        let given = records.iter().map(|(key, bytes)| (*key, &bytes[..]));
        next.lobby.restore(next.now, given, reconnect_time, checkpointed);
        next.records = records.clone();
        next.handle_outputs();
        next
    }

    // Connections.

    pub(super) fn connect(&mut self) -> ConnId {
        self.connect_from(Ipv4Addr::LOCALHOST.into())
    }

    pub(super) fn connect_from(&mut self, address: IpAddr) -> ConnId {
        self.conns += 1;
        let conn = ConnId(self.conns);
        self.lobby.handle_connect(self.now, conn, address);
        self.handle_outputs();
        conn
    }

    /// Connects a client and sends its hello.
    pub(super) fn connect_as(&mut self, name: &str) -> Client {
        let conn = self.connect();
        self.hello(conn, name, &[])
    }

    /// The same with a session that has this account.
    pub(super) fn connect_with_account(&mut self, name: &str, account: AccountId) -> Client {
        let client = self.connect_as(name);
        self.lobby.sessions.player_mut(PlayerId(client.id)).account = Some(account);
        client
    }

    /// The same from this address.
    pub(super) fn connect_at(&mut self, address: &str, name: &str) -> Client {
        let conn = self.connect_from(address.parse().expect("an address"));
        self.hello(conn, name, &[])
    }

    pub(super) fn hello(&mut self, conn: ConnId, name: &str, token: &[u8]) -> Client {
        let welcome = self.welcome(conn, name, token);
        Client { conn, id: welcome.player, name: welcome.name, token: welcome.resume_token }
    }

    pub(super) fn welcome(&mut self, conn: ConnId, name: &str, token: &[u8]) -> world::Welcome {
        match self.ask(conn, hello(name, token)) {
            Body::Welcome(welcome) => welcome,
            other => panic!("expected a welcome: {other:?}"),
        }
    }

    /// What operators were told since the last call.
    pub(super) fn take_reports(&mut self) -> Vec<OperatorEvent> {
        std::mem::take(&mut self.reports)
    }

    /// The client's connection breaks.
    pub(super) fn disconnect(&mut self, client: &Client) {
        self.lobby.handle_disconnect(self.now, client.conn);
        self.handle_outputs();
    }

    /// The client closes its connection on purpose.
    pub(super) fn quit(&mut self, client: &Client) {
        self.lobby.handle_quit(self.now, client.conn);
        self.handle_outputs();
    }

    /// The client comes back on a new connection.
    pub(super) fn resume(&mut self, client: &Client) -> Client {
        let conn = self.connect();
        let back = self.hello(conn, "other name", &client.token);
        assert_eq!(back.id, client.id, "resumed");
        back
    }

    /// The client has read what waited for it, and has missed this.
    pub(super) fn caught_up(&mut self, client: &Client, missed: MissedNews) {
        self.lobby.handle_caught_up(self.now, client.conn, missed);
        self.handle_outputs();
    }

    // Requests.

    /// Sends a request and returns its answer.
    pub(super) fn ask(&mut self, conn: ConnId, body: ask::Body) -> Body {
        let number = self.send(conn, body);
        let mut answers = self.answers_to(conn, number);
        assert_eq!(answers.len(), 1, "one answer: {answers:?}");
        answers.remove(0)
    }

    /// Sends a request and returns its number.
    pub(super) fn send(&mut self, conn: ConnId, body: ask::Body) -> u64 {
        self.requests += 1;
        let message = world::ClientToWorld { request: self.requests, body: Some(body) };
        self.lobby.handle_request(self.now, conn, message);
        self.handle_outputs();
        self.requests
    }

    pub(super) fn send_raw(&mut self, conn: ConnId, frame: &[u8]) {
        self.lobby.handle_frame(self.now, conn, frame);
        self.handle_outputs();
    }

    pub(super) fn answers_to(&mut self, conn: ConnId, number: u64) -> Vec<Body> {
        let answers = self.answers.entry(conn).or_default();
        let (these, others) =
            std::mem::take(answers).into_iter().partition(|(request, _)| *request == number);
        *answers = others;
        let these: Vec<(u64, Body)> = these;
        these.into_iter().map(|(_, body)| body).collect()
    }

    /// Sends a request that must be refused; returns code and message.
    pub(super) fn expect_refusal(&mut self, conn: ConnId, body: ask::Body) -> (ErrorCode, String) {
        match self.ask(conn, body) {
            Body::Error(error) => read_error(&error),
            other => panic!("expected an error: {other:?}"),
        }
    }

    pub(super) fn refusal_code(&mut self, conn: ConnId, body: ask::Body) -> ErrorCode {
        self.expect_refusal(conn, body).0
    }

    /// Sends a request that must succeed without a result.
    pub(super) fn expect_done(&mut self, conn: ConnId, body: ask::Body) {
        assert_eq!(self.ask(conn, body), Body::Done(world::Done {}));
    }

    // Rooms.

    pub(super) fn create(&mut self, client: &Client, create: world::CreateRoom) -> world::Room {
        match self.ask(client.conn, ask::Body::CreateRoom(create)) {
            Body::RoomCreated(created) => created.room.expect("a room"),
            other => panic!("expected a room: {other:?}"),
        }
    }

    pub(super) fn join(&mut self, client: &Client, room: u64) -> world::RoomJoined {
        match self.ask(client.conn, join(room)) {
            Body::RoomJoined(joined) => joined,
            other => panic!("expected a join: {other:?}"),
        }
    }

    /// Creates a room of `field` with these players; the first one creates it.
    pub(super) fn room_of(&mut self, clients: &[&Client]) -> u64 {
        let room = self.create(clients[0], room("den")).id;
        for client in &clients[1..] {
            self.join(client, room);
        }
        self.advance(Duration::from_secs(1));
        self.discard_events();
        room
    }

    /// Creates a room as `room_of` that runs on `host`.
    pub(super) fn running_room_of(&mut self, host: HostId, clients: &[&Client]) -> u64 {
        let room = self.room_of(clients);
        let number = self.send(clients[0].conn, ask::Body::StartRoom(world::StartRoom {}));
        self.opened(host, room, None);
        assert_eq!(self.answers_to(clients[0].conn, number), [Body::Done(world::Done {})]);
        self.advance(Duration::from_secs(1));
        self.discard_events();
        self.orders.clear();
        room
    }

    pub(super) fn listed(&mut self, client: &Client) -> Vec<world::Room> {
        match self.ask(client.conn, ask::Body::ListRooms(world::ListRooms { subscribe: false })) {
            Body::RoomList(list) => list.rooms,
            other => panic!("expected a list: {other:?}"),
        }
    }

    /// The members of the client's room: names, with `*` for the host, `!` for ready players, `-`
    /// for players who are away.
    pub(super) fn members(&mut self, client: &Client) -> String {
        match self.ask(client.conn, ask::Body::ListPlayers(world::ListPlayers { everybody: false }))
        {
            Body::PlayerList(list) => format_members(&list.players),
            other => panic!("expected a list: {other:?}"),
        }
    }

    pub(super) fn request_new_ticket(&mut self, client: &Client) -> world::Ticket {
        let answer = self.ask(client.conn, request_ticket());
        ticket_in(answer).expect("a ticket")
    }

    // Results.

    /// Takes the events for this connection since the last call.
    pub(super) fn events(&mut self, client: &Client) -> Vec<Body> {
        self.events_on(client.conn)
    }

    pub(super) fn events_on(&mut self, conn: ConnId) -> Vec<Body> {
        self.unread_events.remove(&conn).unwrap_or_default()
    }

    pub(super) fn discard_events(&mut self) {
        self.unread_events.clear();
    }

    /// The only ticket among the events, or the answer.
    pub(super) fn ticket(&mut self, client: &Client) -> world::Ticket {
        let mut tickets: Vec<_> = self.events(client).into_iter().filter_map(ticket_in).collect();
        assert_eq!(tickets.len(), 1, "one ticket: {tickets:?}");
        tickets.remove(0)
    }

    /// Code and message of the only event by which the client left its room.
    pub(super) fn leave_reason(&mut self, client: &Client) -> (ErrorCode, String) {
        let left = self.events(client).into_iter().filter_map(|body| match body {
            Body::RoomLeft(left) => Some(left),
            _ => None,
        });
        let left: Vec<_> = left.collect();
        assert_eq!(left.len(), 1, "left once: {left:?}");
        (ErrorCode::try_from(left[0].reason).expect("a known code"), left[0].message.clone())
    }

    /// The members of the client's room after the latest event about them, as `members` writes it,
    /// if there was one.
    pub(super) fn updated_roster(&mut self, client: &Client) -> Option<String> {
        let has_changed =
            self.events(client).iter().any(|body| matches!(body, Body::PlayerChange(_)));
        has_changed.then(|| format_members(&self.rosters[&client.conn]))
    }

    /// Updates the members that a client knows: those at its join, changed by later events.
    fn update_roster(&mut self, conn: ConnId, body: &Body) {
        let roster = self.rosters.entry(conn).or_default();
        match body {
            Body::RoomCreated(_) => roster.clear(),
            Body::RoomJoined(joined) => roster.clone_from(&joined.players),
            Body::PlayerChange(change) => {
                roster.retain(|player| !change.gone.contains(&player.id));
                for player in &change.players {
                    match roster.iter_mut().find(|known| known.id == player.id) {
                        Some(known) => known.clone_from(player),
                        None => roster.push(player.clone()),
                    }
                }
            }
            _ => {}
        }
    }

    /// The code with which the connection was closed.
    pub(super) fn close_code(&self, conn: ConnId) -> Option<ErrorCode> {
        self.closed.get(&conn).copied()
    }

    /// The code of the goodbye among the events.
    pub(super) fn goodbye_code(&mut self, conn: ConnId) -> Option<ErrorCode> {
        self.events_on(conn).into_iter().find_map(|body| match body {
            Body::Goodbye(goodbye) => {
                Some(ErrorCode::try_from(goodbye.code).expect("a known code"))
            }
            _ => None,
        })
    }

    /// Advances the time, and handles each deadline at its time.
    pub(super) fn advance(&mut self, duration: Duration) {
        let end = self.now + duration;
        while let Some(deadline) = self.lobby.next_deadline().filter(|deadline| *deadline <= end) {
            self.now = deadline.max(self.now);
            self.lobby.handle_timeout(self.now);
            self.handle_outputs();
        }
        self.now = end;
    }

    /// Executes the lobby's outputs as a shell would; connections close at once.
    pub(super) fn handle_outputs(&mut self) {
        while let Some(output) = self.lobby.poll_output() {
            match output {
                LobbyAction::Send { conn, message } => self.deliver(conn, message),
                LobbyAction::Broadcast { conns, message } => {
                    assert!(conns.len() > 1, "a broadcast goes to several connections");
                    for conn in conns {
                        self.deliver(conn, message.clone());
                    }
                }
                LobbyAction::Close { conn, code, message } => {
                    assert!(!message.is_empty());
                    assert_eq!(self.closed.insert(conn, code), None, "closed once");
                }
                LobbyAction::Host { host, order } => {
                    for message in messages_of_order(order) {
                        self.orders.push((host, message.body.expect("a body")));
                    }
                }
                LobbyAction::DisconnectHost { host } => self.disconnected_hosts.push(host),
                LobbyAction::SetChildCount(count) => self.children = Some(count),
                LobbyAction::Report(event) => self.reports.push(event),
                LobbyAction::SaveCondemned { header } => self.condemned.push(header.room),
                LobbyAction::SetAsideRoom { header, why, .. } => {
                    assert!(!self.removed_checkpoints.contains(&header.room), "it is gone");
                    self.set_aside.push((header.room, why));
                }
                LobbyAction::NoteTrial { room } => self.trials.push(room.map(|room| room.0)),
                LobbyAction::RestoreDone => self.is_restored = true,
                LobbyAction::Account { source, job } => self.account_jobs.push((source, job)),
                LobbyAction::Store { request, job } | LobbyAction::StoreLast { request, job } => {
                    self.store_jobs.push((request, job));
                }
                LobbyAction::ForgetStoreJobs { room, .. } => self.forgotten_jobs.push(room.0),
                LobbyAction::ForgetRoom { room } => self.removed_checkpoints.push(room.0),
                LobbyAction::AdoptRoom { room, host } => self.adopted.push((room.0, host)),
                LobbyAction::Record { key, value } => {
                    self.log.push((key, value.clone()));
                    match value {
                        Some(value) => drop(self.records.insert(key, value)),
                        None => drop(self.records.remove(&key).expect("the record exists")),
                    }
                }
            }
        }
        for conn in self.closed.keys() {
            self.lobby.handle_disconnect(self.now, *conn);
        }
        if let Some(output) = self.lobby.poll_output() {
            panic!("the end of a closed connection caused {output:?}");
        }
    }

    fn deliver(&mut self, conn: ConnId, message: world::WorldToClient) {
        assert_eq!(self.closed.get(&conn), None, "nothing is sent after the close");
        let body = message.body.expect("a body");
        self.update_roster(conn, &body);
        match message.request {
            0 => self.unread_events.entry(conn).or_default().push(body),
            number => self.answers.entry(conn).or_default().push((number, body)),
        }
    }
}

/// Configuration with records and without host timeouts: hosts send no heartbeats in these tests.
pub(super) fn recording() -> LobbyConfig {
    LobbyConfig {
        directory: true,
        host_silence: Duration::from_hours(1),
        // A test makes this number of rooms.
        max_rooms_per_address: 16,
        ..LobbyConfig::default()
    }
}

pub(super) fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(super) fn parameters(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Verifies a ticket as its host does.
pub(super) fn verify_ticket(ticket: &world::Ticket, now: LocalTime) -> Result<Ticket, TicketError> {
    let key = TicketSigner::from_seed(&[7; 32]);
    let mut verifier = TicketVerifier::new(key.public_key()).expect("a key");
    let now_unix_s = EPOCH_UNIX_S + now.since(LocalTime::ZERO).as_secs();
    verifier.verify(now_unix_s, &ticket.ticket, &ticket.address, |room| room == RoomId(ticket.room))
}

pub(super) fn ticket_in(body: Body) -> Option<world::Ticket> {
    match body {
        Body::Ticket(ticket) => Some(ticket),
        _ => None,
    }
}

pub(super) fn read_error(error: &world::Error) -> (ErrorCode, String) {
    let code = ErrorCode::try_from(error.code).expect("a known code");
    assert_eq!(error.name, codes::name(code));
    assert!(!error.message.is_empty());
    (code, error.message.clone())
}

fn format_members(players: &[world::Player]) -> String {
    let mark = |is: bool, mark: &'static str| if is { mark } else { "" };
    let names = players.iter().map(|player| {
        let (host, ready, away) =
            (mark(player.host, "*"), mark(player.ready, "!"), mark(!player.connected, "-"));
        format!("{}{host}{ready}{away}", player.name)
    });
    names.collect::<Vec<_>>().join(" ")
}
