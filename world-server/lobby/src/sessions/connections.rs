//! The lobby's connections, from the handshake to the last byte.
//!
//! Invariant: a connection counts until the shell reports that it is closed, not only until the
//! lobby asks to close it. So the limits bound what is really open.

use std::collections::BTreeMap;
use std::net::IpAddr;

use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::PlayerId;
use ambit_proto::time::LocalTime;
use ambit_room::token_bucket::TokenBucket;
use ambit_transport::acceptance_limits::AddressCount;
use ambit_transport::account_proof::{KEY_BYTES, NONCE_BYTES};

use crate::config::LobbyConfig;
use crate::output::ConnId;
use crate::refusal::LobbyRefusal;
use crate::text::PlayerName;

/// The stage of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Waits for the hello.
    Handshake,
    Player(PlayerId),
    /// The shell is asked to close it; further messages are ignored.
    Closing,
}

/// The account that a client has to prove before its session is opened.
#[derive(Debug)]
pub(super) struct AskedAccount {
    /// The public key that the client has named.
    pub(super) key: [u8; KEY_BYTES],
    pub(super) nonce: [u8; NONCE_BYTES],
    /// The name for the session.
    pub(super) name: Option<PlayerName>,
}

/// What a connection waits for before it may ask again.
#[derive(Debug)]
pub(super) enum Asked {
    /// In the handshake: what the client has to prove.
    Proof(AskedAccount),
    /// In the handshake: a password or a token is checked. The name is for the session.
    SignIn { name: Option<PlayerName> },
    /// A job with the player's own account.
    OwnAccount,
    /// The account is deleted, and with it the session.
    Erasure,
}

#[derive(Debug)]
pub(crate) struct LobbyConnection {
    pub(crate) stage: Stage,
    /// What it waits for.
    pub(super) asked: Option<Asked>,
    pub(super) requests: TokenBucket,
    /// The lists that it may get, in KiB.
    pub(super) lists: TokenBucket,
    /// Requests refused for their rate since the last one that was allowed.
    pub(super) refused_in_a_row: u32,
    /// The requests over its rate that it may send before it is slowed down.
    pub(super) refusals: TokenBucket,
    /// Whether the last request was beyond that.
    pub(crate) is_slowed: bool,
    /// When it last sent a request, or its player returned to the lobby.
    pub(super) active_at: LocalTime,
    pub(crate) address: IpAddr,
    /// What the client says that it is, with its hello.
    pub(crate) agent: String,
    /// Whether it has no limits per address.
    pub(super) is_trusted: bool,
}

/// How a request fits the rate of its connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestPace {
    /// Whether it may be executed.
    pub(crate) is_in_time: bool,
    /// Whether the connection is closed if the request is refused: too many were in a row.
    pub(crate) is_flood: bool,
}

impl LobbyConnection {
    /// Counts a request. `refused_in_a_row` is the number at which the connection is closed.
    pub(super) fn note_request(&mut self, now: LocalTime, refused_in_a_row: u32) -> RequestPace {
        self.active_at = now;
        let is_in_time = self.requests.take(now);
        self.refused_in_a_row = if is_in_time { 0 } else { self.refused_in_a_row + 1 };
        self.is_slowed = !is_in_time && !self.refusals.take(now);
        RequestPace { is_in_time, is_flood: self.refused_in_a_row >= refused_in_a_row }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Connections {
    open: BTreeMap<ConnId, LobbyConnection>,
    by_address: AddressCount,
    /// All connections since the start, refused ones included.
    total: u64,
}

impl Connections {
    /// Adds a connection, within the limits.
    pub(super) fn admit(
        &mut self,
        now: LocalTime,
        conn: ConnId,
        address: IpAddr,
        config: &LobbyConfig,
    ) -> Result<(), LobbyRefusal> {
        self.total += 1;
        if self.open.len() >= config.max_connections {
            let message = format!(
                "the server has its {} connections; try again later",
                config.max_connections
            );
            return Err(LobbyRefusal::new(ErrorCode::TooManyConnections, message));
        }
        let is_trusted = config.trusts(address);
        if !is_trusted && self.by_address.of(address) >= config.max_per_address {
            let message = format!(
                "there are {} connections from this address already, as many as one address may \
                 have; close one of them",
                config.max_per_address
            );
            return Err(LobbyRefusal::new(ErrorCode::TooManyFromAddress, message));
        }
        self.by_address.add(address);
        let requests = TokenBucket::new(config.requests_per_s, config.request_burst);
        let connection = LobbyConnection {
            stage: Stage::Handshake,
            asked: None,
            requests,
            lists: TokenBucket::new(config.list_kib_per_s, config.list_kib_burst),
            refused_in_a_row: 0,
            refusals: TokenBucket::new(config.requests_per_s, config.refused_in_a_row),
            is_slowed: false,
            active_at: now,
            address,
            agent: String::new(),
            is_trusted,
        };
        let before = self.open.insert(conn, connection);
        assert!(before.is_none(), "a connection's number is used once");
        Ok(())
    }

    /// Removes a closed connection.
    pub(super) fn remove(&mut self, conn: ConnId) -> Option<LobbyConnection> {
        let connection = self.open.remove(&conn)?;
        self.by_address.remove(connection.address);
        Some(connection)
    }

    /// The connection, unless it is closing.
    pub(super) fn open_mut(&mut self, conn: ConnId) -> Option<&mut LobbyConnection> {
        self.open.get_mut(&conn).filter(|connection| connection.stage != Stage::Closing)
    }

    pub(crate) fn get(&self, conn: ConnId) -> Option<&LobbyConnection> {
        self.open.get(&conn)
    }

    /// All connections in order of their ids, also those that are closing.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ConnId, &LobbyConnection)> {
        self.open.iter().map(|(conn, connection)| (*conn, connection))
    }

    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }
}
