//! Sessions: connections, players, how they sign in, their parties, and what their requests cost.
//!
//! Each player has a session, which outlives its connection by the grace period. While the player
//! is away, its seat and name are kept, and its room sees it as not connected.
//!
//! [`Sessions`] decides and remembers. It knows no room but by the id that a player has; it gets
//! limits as an argument, and puts outputs, timers and counts into the effects of the call. What
//! sessions and rooms do together is in `hello` and `ends`, as parts of the lobby: none of them
//! touches a field of the sessions.

pub(super) mod account_job;
mod ban_checks;
mod budgets;
pub(super) mod catch_ups;
pub(super) mod connections;
pub(super) mod creations;
mod ends;
mod fair_shares;
mod hello;
mod login_guesses;
pub(super) mod parties;
pub(super) mod party;
pub(super) mod players;
pub(super) mod records;
mod reports;
pub(super) mod server_bans;
mod sign_in;
mod sign_ins;

use std::collections::BTreeSet;
use std::net::IpAddr;

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::world_to_client::Body;
use ambit_proto::ids::{AccountId, PlayerId};
use ambit_proto::time::LocalTime;
use ambit_transport::account_proof::KEY_BYTES;
use ambit_transport::address::SourceNetwork;

use crate::config::{Entropy, LobbyConfig};
use crate::effects::LobbyEffects;
use crate::output::{ConnId, MissedNews, OutputQueue};
use crate::refusal::LobbyRefusal;
use crate::sessions::budgets::{LobbyBudgets, list_kib, list_refusal, whole_kib};
use crate::sessions::catch_ups::{CatchUps, NextCatchUp};
use crate::sessions::connections::{
    Asked, AskedAccount, Connections, LobbyConnection, RequestPace, Stage,
};
use crate::sessions::parties::Parties;
use crate::sessions::players::{LobbyPlayer, LobbyPlayers, NameTaken};
use crate::sessions::sign_ins::SignIns;
use crate::text::PlayerName;
use crate::timers::{LobbyTimers, Timer};

/// See the module.
pub(super) struct Sessions {
    connections: Connections,
    players: LobbyPlayers,
    sign_ins: SignIns,
    parties: Parties,
    budgets: LobbyBudgets,
    catch_ups: CatchUps,
}

impl Sessions {
    /// Without connections and players.
    pub(super) fn new(config: &LobbyConfig, entropy: Entropy) -> Self {
        Self {
            connections: Connections::default(),
            players: LobbyPlayers::new(entropy),
            sign_ins: SignIns::default(),
            parties: Parties::default(),
            budgets: LobbyBudgets::new(config),
            catch_ups: CatchUps::default(),
        }
    }

    /// All connections, also those that are closing.
    pub(super) fn connections(&self) -> &Connections {
        &self.connections
    }

    /// All players, also those who are away.
    pub(super) fn players(&self) -> &LobbyPlayers {
        &self.players
    }

    pub(super) fn parties(&self) -> &Parties {
        &self.parties
    }

    /// A player that must exist: the owner of a connection or of a seat.
    pub(super) fn player(&self, id: PlayerId) -> &LobbyPlayer {
        self.players.at(id)
    }

    /// The same, to be changed.
    pub(super) fn player_mut(&mut self, id: PlayerId) -> &mut LobbyPlayer {
        self.players.at_mut(id)
    }

    /// For texts.
    pub(super) fn name_of(&self, player: PlayerId) -> String {
        self.players.at(player).name().as_str().to_owned()
    }

    /// Returns unpredictable bytes.
    pub(super) fn random_bytes(&mut self) -> [u8; 16] {
        self.players.random_bytes()
    }

    /// Players that may have changed since the last call, removed ones included.
    pub(super) fn take_changed_players(&mut self) -> BTreeSet<PlayerId> {
        self.players.take_changed()
    }

    /// The connections of those of these players who are connected, in their order.
    pub(super) fn conns_of(&self, players: impl Iterator<Item = PlayerId>) -> Vec<ConnId> {
        players.filter_map(|player| self.players.at(player).conn).collect()
    }

    /// Sends an event to a player, unless it is away.
    pub(super) fn notify(&self, player: PlayerId, body: Body, outbox: &mut OutputQueue) {
        if let Some(conn) = self.players.at(player).conn {
            outbox.notify(conn, body);
        }
    }

    /// Where the player's connection comes from; while it is away, where its session was opened.
    pub(super) fn network_of(&self, player: PlayerId) -> Option<SourceNetwork> {
        let player = self.players.at(player);
        let connection = player.conn.and_then(|conn| self.connections.get(conn));
        connection.map(|connection| SourceNetwork::of(connection.address)).or(player.origin.network)
    }

    /// Whether the player is connected from an address of the operator's.
    pub(super) fn is_trusted(&self, player: PlayerId) -> bool {
        let connection = self.players.at(player).conn.and_then(|conn| self.connections.get(conn));
        connection.is_some_and(|connection| connection.is_trusted)
    }

    pub(super) fn address_of(&self, conn: ConnId) -> Option<IpAddr> {
        self.connections.get(conn).map(|connection| connection.address)
    }

    /// The stage of a connection that is open, and not closing.
    pub(super) fn stage_of(&self, conn: ConnId) -> Option<Stage> {
        let stage = self.connections.get(conn).map(|connection| connection.stage);
        stage.filter(|stage| *stage != Stage::Closing)
    }

    /// A connection on which a hello has just come.
    fn greeting(&mut self, conn: ConnId) -> &mut LobbyConnection {
        self.connections.open_mut(conn).expect("a hello came on it")
    }
}

/// Connections.
impl Sessions {
    /// Adds a connection, within the limits.
    pub(super) fn connect(
        &mut self,
        now: LocalTime,
        conn: ConnId,
        address: IpAddr,
        config: &LobbyConfig,
    ) -> Result<(), LobbyRefusal> {
        self.connections.admit(now, conn, address, config)?;
        self.budgets.delivery_shares.connect(now, SourceNetwork::of(address));
        Ok(())
    }

    /// Counts a request against the rate of its connection; `None` if that is not open.
    pub(super) fn note_request(
        &mut self,
        now: LocalTime,
        conn: ConnId,
        config: &LobbyConfig,
    ) -> Option<RequestPace> {
        let connection = self.connections.open_mut(conn)?;
        Some(connection.note_request(now, config.refused_in_a_row))
    }

    /// Sends a goodbye on a connection and closes it. Returns its player.
    fn begin_close(
        &mut self,
        conn: ConnId,
        why: LobbyRefusal,
        effects: &mut LobbyEffects,
    ) -> Option<PlayerId> {
        let connection = self.connections.open_mut(conn)?;
        let stage = std::mem::replace(&mut connection.stage, Stage::Closing);
        let (address, code) = (connection.address, why.code);
        let player = match stage {
            Stage::Player(player) => Some(player),
            Stage::Handshake | Stage::Closing => None,
        };
        effects.counters.count_closed(code);
        effects.outbox.send_goodbye(conn, why);
        self.clear_connection(conn, &mut effects.timers);
        effects.report_fault(code, player, address);
        player
    }

    /// Removes a closed connection. Returns its player, if it has not been told to go.
    fn disconnect(
        &mut self,
        now: LocalTime,
        conn: ConnId,
        timers: &mut LobbyTimers,
    ) -> Option<PlayerId> {
        let connection = self.connections.remove(conn)?;
        let network = SourceNetwork::of(connection.address);
        self.budgets.delivery_shares.disconnect(now, network);
        self.clear_connection(conn, timers);
        match connection.stage {
            Stage::Player(player) => Some(player),
            Stage::Handshake | Stage::Closing => None,
        }
    }

    /// Removes the timers of a connection.
    fn clear_connection(&mut self, conn: ConnId, timers: &mut LobbyTimers) {
        timers.cancel(Timer::Hello(conn));
        timers.cancel(Timer::Idle(conn));
        self.catch_ups.forget(conn);
    }

    /// The player may have been idle in the lobby for too long: returns it if so. Otherwise it is
    /// asked again later.
    fn check_idle(
        &mut self,
        now: LocalTime,
        conn: ConnId,
        config: &LobbyConfig,
        timers: &mut LobbyTimers,
    ) -> Option<PlayerId> {
        let idle = config.idle?;
        let connection = self.connections.open_mut(conn)?;
        let Stage::Player(player) = connection.stage else {
            return None;
        };
        if self.players.at(player).room.is_some() {
            connection.active_at = now;
        }
        let due = connection.active_at + idle;
        if due <= now {
            return Some(player);
        }
        timers.set(Timer::Idle(conn), due);
        None
    }

    /// The player is in no room from now on. Its idle time in the lobby begins.
    pub(super) fn return_to_lobby(&mut self, now: LocalTime, player: PlayerId) {
        let player = self.players.at_mut(player);
        player.room = None;
        if let Some(connection) = player.conn.and_then(|conn| self.connections.open_mut(conn)) {
            connection.active_at = now;
        }
    }
}

/// The begin and the end of sessions.
impl Sessions {
    /// Notes what the client says that it is, and returns where it comes from.
    fn note_agent(&mut self, conn: ConnId, agent: String) -> IpAddr {
        let connection = self.greeting(conn);
        connection.agent = agent;
        connection.address
    }

    /// The account that a client has to prove; returns the nonce of the challenge.
    fn ask_for_proof(
        &mut self,
        conn: ConnId,
        key: [u8; KEY_BYTES],
        name: Option<PlayerName>,
    ) -> [u8; 16] {
        let nonce = self.players.random_bytes();
        self.greeting(conn).asked = Some(Asked::Proof(AskedAccount { key, nonce, name }));
        nonce
    }

    /// What the client was asked to prove. Nothing is asked of it from now on.
    fn take_asked_proof(&mut self, conn: ConnId) -> Option<AskedAccount> {
        let connection = self.connections.open_mut(conn)?;
        match connection.asked.take_if(|asked| matches!(asked, Asked::Proof(_)))? {
            Asked::Proof(asked) => Some(asked),
            _ => None,
        }
    }

    /// Whether the connection has its limits per address, and where it comes from.
    fn origin_of(&self, conn: ConnId) -> (SourceNetwork, bool) {
        let connection = self.connections.get(conn).expect("a hello came on it");
        (SourceNetwork::of(connection.address), connection.is_trusted)
    }

    /// The session that ends for a new one from this network: the oldest one that waits for its
    /// player. `None` if there is space.
    fn gives_way_at(
        &self,
        network: SourceNetwork,
        config: &LobbyConfig,
        timers: &LobbyTimers,
    ) -> Result<Option<PlayerId>, LobbyRefusal> {
        let limit = config.max_sessions_per_address();
        if self.players.counted_at(network).count() < limit {
            return Ok(None);
        }
        let oldest = timers.longest_away_of(self.players.counted_at(network));
        oldest.map(Some).ok_or_else(|| {
            let message = format!(
                "there are {limit} players from this address already, as many as one address may \
                 have; end one of their sessions"
            );
            LobbyRefusal::new(ErrorCode::TooManyFromAddress, message)
        })
    }

    /// The same for the whole server.
    fn gives_way(
        &self,
        config: &LobbyConfig,
        timers: &LobbyTimers,
    ) -> Result<Option<PlayerId>, LobbyRefusal> {
        if self.players.len() < 2 * config.max_connections {
            return Ok(None);
        }
        timers.longest_away_player().map(Some).ok_or_else(|| {
            LobbyRefusal::new(
                ErrorCode::TooManyConnections,
                "the server has all the players that it takes",
            )
        })
    }

    /// Adds a player on `conn`, for whom there is space.
    fn open(
        &mut self,
        now: LocalTime,
        conn: ConnId,
        who: (Option<PlayerName>, Option<AccountId>),
        config: &LobbyConfig,
    ) -> PlayerId {
        let (network, is_trusted) = self.origin_of(conn);
        let player = self.players.add(who, conn, network, config);
        self.players.at_mut(player).origin.since = config.unix_seconds(now);
        if !is_trusted {
            self.players.count_at(player, network);
        }
        player
    }

    /// The session goes on on `conn`. Returns the connection that it had.
    fn resume(&mut self, player: PlayerId, conn: ConnId) -> Option<ConnId> {
        self.players.at_mut(player).conn.replace(conn)
    }

    /// Replaces the token. The previous one stays valid until [`Self::confirm_token`].
    fn renew_token(&mut self, player: PlayerId) {
        self.players.renew_token(player);
    }

    /// The client has received the token: revokes the previous one.
    pub(super) fn confirm_token(&mut self, player: PlayerId) {
        self.players.confirm_token(player);
    }

    /// The player has got its welcome: it may ask from now on.
    fn begin_stage(
        &mut self,
        now: LocalTime,
        conn: ConnId,
        player: PlayerId,
        config: &LobbyConfig,
        timers: &mut LobbyTimers,
    ) {
        self.greeting(conn).stage = Stage::Player(player);
        timers.cancel(Timer::Hello(conn));
        if let Some(idle) = config.idle {
            timers.set(Timer::Idle(conn), now + idle);
        }
    }

    /// The player has no connection: the grace period begins.
    fn mark_away(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        config: &LobbyConfig,
        effects: &mut LobbyEffects,
    ) {
        self.players.at_mut(player).conn = None;
        effects.timers.set(Timer::Grace(player), now + config.grace);
        self.mark_party_changed(player, &mut effects.outbox);
    }

    /// The player counts at this network from now on.
    fn count_at(&mut self, player: PlayerId, network: SourceNetwork) {
        self.players.count_at(player, network);
    }

    fn rename(&mut self, player: PlayerId, name: PlayerName) -> Result<(), NameTaken> {
        self.players.rename(player, name)
    }

    /// The session is over: the name is free.
    pub(super) fn remove(&mut self, player: PlayerId) {
        self.players.remove(player);
    }
}

/// What requests cost.
impl Sessions {
    /// Takes a message of the player to `receivers` receivers from the budgets of chat.
    pub(super) fn charge_deliveries(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        receivers: usize,
    ) -> Result<(), LobbyRefusal> {
        let conn = self.players.at(player).conn;
        let network = conn.and_then(|conn| self.charged_network(conn));
        let connection = conn.and_then(|conn| self.connections.get(conn));
        let from = connection.map(|connection| SourceNetwork::of(connection.address));
        self.budgets.charge_deliveries(now, network, from, receivers)
    }

    /// Checks that a connection may get a list. `JoinRoom` lists the members too, but it is refused
    /// only for what the connection itself has asked for: not for others at the same address.
    pub(super) fn check_lists(
        &mut self,
        now: LocalTime,
        conn: ConnId,
        is_join: bool,
        config: &LobbyConfig,
    ) -> Result<(), LobbyRefusal> {
        let own = self.connections.open_mut(conn);
        if own.is_some_and(|connection| !connection.lists.has_token(now)) {
            return Err(list_refusal(config.list_kib_per_s, "a client"));
        }
        if is_join {
            return Ok(());
        }
        self.budgets.check_lists(now, self.charged_network(conn))
    }

    /// Charges an answer by its size, if it is a list.
    pub(super) fn charge_list(&mut self, now: LocalTime, conn: ConnId, answer: &Body) {
        let Some(kib) = list_kib(answer) else {
            return;
        };
        if let Some(connection) = self.connections.open_mut(conn) {
            connection.lists.charge(now, kib);
        }
        self.budgets.charge_list(now, self.charged_network(conn), kib);
    }

    /// The network whose budgets a connection uses; `None` for trusted ones.
    fn charged_network(&self, conn: ConnId) -> Option<SourceNetwork> {
        let open = self.connections.get(conn).filter(|open| open.stage != Stage::Closing);
        open.filter(|open| !open.is_trusted).map(|open| SourceNetwork::of(open.address))
    }

    /// A connection has missed news, and can take some again.
    pub(super) fn note_missed(
        &mut self,
        now: LocalTime,
        conn: ConnId,
        missed: MissedNews,
        timers: &mut LobbyTimers,
    ) {
        if self.stage_of(conn).is_some() {
            let due = self.catch_ups.add(now, conn, missed);
            timers.set_if_unset(Timer::CatchUp, due);
        }
    }

    /// Who is caught up next, as far as the budget allows.
    pub(super) fn next_catch_up(&mut self, now: LocalTime) -> NextCatchUp {
        let has_budget = self.budgets.catch_ups.has_token(now);
        self.catch_ups.next(now, has_budget)
    }

    /// Charges news for a client that has missed some.
    pub(super) fn charge_catch_up(&mut self, now: LocalTime, body: &Body) {
        self.budgets.catch_ups.charge(now, whole_kib(body.encoded_len()));
    }
}
