//! Tickets: each admits one player to one room, once.
//!
//! The lobby signs a [`Ticket`] with a [`TicketSigner`]; the host that runs the room checks the
//! bytes with a [`TicketVerifier`], which needs only the public key. The caller passes the time in
//! seconds since 1970. To the client that carries it, a ticket is opaque.
//!
//! Format: 64 bytes of Ed25519 signature, then the body, a small protobuf message. The signature
//! covers `SIGNING_PREFIX` and the body as it was sent, so only bytes that the lobby wrote are
//! parsed.
//!
//! Invariants:
//! 1. A ticket is accepted at most once, even if the host's clock jumps: a ticket that was
//!    forgotten to save memory is refused because of its age.
//! 2. The memory of the verifier is bounded by [`TicketVerifier::MAX_REMEMBERED`]. At the bound new
//!    tickets are refused, since a forgotten ticket could be used twice.
//! 3. Each refusal is counted under exactly one reason.
//!
//! Cost: about 20 us to sign, 50 us to check; tickets are forgotten in the order of expiry.

use std::collections::{BTreeMap, BTreeSet};

use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::{AccountId, PlayerId, RoomId};
use ambit_proto::standing::Standing;
use ambit_proto::wishes::Wishes;
use prost::Message;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};

/// How long a ticket is valid. A client connects to the host within one or two seconds after it
/// receives the ticket; on a bad connection it requests another one.
pub const LIFETIME_S: u64 = 30;

/// Precedes the body in the signed bytes, so that a signature of this key for another purpose is no
/// valid ticket.
const SIGNING_PREFIX: &[u8] = b"ambit ticket, version 1\0";
const SIGNATURE_BYTES: usize = 64;
/// A name of 24 characters, an address of 255 bytes and all wishes are below this.
const MAX_BYTES: usize = 1_024;
const VERSION: u32 = 1;

/// Admits one player to one room on one host, until it expires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The room that it admits to.
    pub room: RoomId,
    /// The player that it admits.
    pub player: PlayerId,
    /// The player's name when the ticket was issued.
    pub name: String,
    /// The account of the player's session, if it has one.
    pub account: Option<AccountId>,
    /// What the player is in the room.
    pub standing: Standing,
    /// What the player wishes there.
    pub wishes: Wishes,
    /// The host's address, as the host reported it to the lobby.
    pub host: String,
    /// The last second, counted from 1970, at which it is valid.
    pub expires_unix_s: u64,
    /// How many tickets the lobby had issued up to this one. Serials ascend, so that all tickets up
    /// to one can be revoked.
    pub serial: u64,
    /// A random value that makes each ticket unique.
    pub nonce: [u8; 16],
}

/// The body on the wire.
#[derive(Clone, PartialEq, prost::Message)]
struct TicketBody {
    #[prost(uint32, tag = "1")]
    version: u32,
    #[prost(uint64, tag = "2")]
    room: u64,
    #[prost(uint64, tag = "3")]
    player: u64,
    #[prost(string, tag = "4")]
    name: String,
    #[prost(string, tag = "5")]
    host: String,
    #[prost(uint64, tag = "6")]
    expires_unix_s: u64,
    #[prost(bytes = "vec", tag = "7")]
    nonce: Vec<u8>,
    #[prost(uint64, tag = "8")]
    serial: u64,
    #[prost(bytes = "vec", tag = "9")]
    account: Vec<u8>,
    #[prost(uint32, tag = "10")]
    standing: u32,
    #[prost(btree_map = "string, string", tag = "11")]
    wishes: BTreeMap<String, String>,
    #[prost(uint64, tag = "12")]
    party: u64,
}

/// Why a ticket was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum TicketError {
    /// It does not have the size or format of a ticket.
    #[error("this is not a ticket")]
    Malformed,
    /// The signature is not the lobby's, or the body was changed.
    #[error("the ticket was not signed by the lobby of this host")]
    Forged,
    /// It is for another host, or for a room that does not run here.
    #[error("the ticket is for another host or room")]
    Foreign,
    /// The player left or was removed from the room after it was issued.
    #[error("the player has left this room since the ticket was issued")]
    Revoked,
    #[error("the ticket has expired; ask the lobby for a new one")]
    Expired,
    #[error("the ticket was used already; ask the lobby for a new one")]
    Used,
    /// The verifier remembers too many tickets at the moment.
    #[error("too many players join at once; try again in {LIFETIME_S} seconds")]
    TooManyTickets,
}

impl TicketError {
    /// The reason in a metric's label.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Forged => "forged",
            Self::Foreign => "foreign",
            Self::Revoked => "void",
            Self::Expired => "expired",
            Self::Used => "used",
            Self::TooManyTickets => "crowded",
        }
    }

    /// The error code that the player receives.
    pub const fn code(self) -> ErrorCode {
        match self {
            Self::Malformed | Self::Forged | Self::Foreign => ErrorCode::BadTicket,
            Self::Revoked => ErrorCode::NotInRoom,
            Self::Expired => ErrorCode::TicketExpired,
            Self::Used => ErrorCode::TicketUsed,
            Self::TooManyTickets => ErrorCode::RateLimited,
        }
    }
}

/// The lobby's side: holds the private key.
#[derive(derive_more::Debug)]
pub struct TicketSigner {
    #[debug(skip)]
    key: Ed25519KeyPair,
}

impl TicketSigner {
    /// The key pair of this seed. The seed must come from a good random source and stay secret.
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        let key =
            Ed25519KeyPair::from_seed_unchecked(seed).expect("a seed of 32 bytes gives a key");
        Self { key }
    }

    /// The 32 bytes that hosts check tickets with.
    pub fn public_key(&self) -> &[u8] {
        self.key.public_key().as_ref()
    }

    /// The ticket in the form that the player receives.
    pub fn sign(&self, ticket: &Ticket) -> Vec<u8> {
        let body = TicketBody::from(ticket).encode_to_vec();
        let signature = self.key.sign(&signed_bytes(&body));
        let token = [signature.as_ref(), &body].concat();
        assert!(token.len() <= MAX_BYTES, "names and addresses are bounded");
        token
    }
}

/// The host's side: holds the public key and the used tickets.
#[derive(Debug)]
pub struct TicketVerifier {
    key: UnparsedPublicKey<[u8; 32]>,
    /// Used tickets by expiry, so that the oldest are forgotten first.
    used: BTreeSet<(u64, [u8; 16])>,
    /// For players who have left a room: the newest revoked serial, and until when such tickets may
    /// be in use.
    revoked: BTreeMap<(RoomId, PlayerId), (u64, u64)>,
    /// Rooms for which the tickets of all but some players are revoked.
    closed_rooms: BTreeMap<RoomId, MembersOnly>,
    /// The latest expiry that was forgotten. Tickets that expire by then are refused, whatever the
    /// clock shows.
    forgotten_unix_s: u64,
    refusals: BTreeMap<TicketError, u64>,
}

/// The tickets of all others up to the serial are revoked, for as long as such tickets may be in
/// use.
#[derive(Debug)]
struct MembersOnly {
    members: BTreeSet<PlayerId>,
    serial: u64,
    until_unix_s: u64,
}

impl TicketVerifier {
    /// The largest number of remembered used tickets, and of players with revoked tickets. With a
    /// lifetime of 30 s that is 2,000 entries a second, more than the handshake limits allow; it
    /// takes about 4 MB.
    pub const MAX_REMEMBERED: usize = 65_536;

    /// A verifier for tickets signed with this key pair (`ambit.host.Configure.ticket_key`); `None`
    /// if the key is not 32 bytes long.
    pub fn new(public_key: &[u8]) -> Option<Self> {
        let key: [u8; 32] = public_key.try_into().ok()?;
        Some(Self {
            key: UnparsedPublicKey::new(&ED25519, key),
            used: BTreeSet::new(),
            revoked: BTreeMap::new(),
            closed_rooms: BTreeMap::new(),
            forgotten_unix_s: 0,
            refusals: BTreeMap::new(),
        })
    }

    /// Checks `token` for a host with the address `own_address` that runs the rooms for which
    /// `runs` returns true, and marks it as used.
    pub fn verify(
        &mut self,
        now_unix_s: u64,
        token: &[u8],
        own_address: &str,
        runs: impl FnOnce(RoomId) -> bool,
    ) -> Result<Ticket, TicketError> {
        self.forget_expired(now_unix_s);
        let result = self.check(now_unix_s, token, own_address, runs);
        match &result {
            Ok(ticket) => {
                self.used.insert((ticket.expires_unix_s, ticket.nonce));
            }
            Err(reason) => *self.refusals.entry(*reason).or_default() += 1,
        }
        result
    }

    /// The player has left `room`: revokes its tickets up to that serial. With a newer one it may
    /// come back.
    ///
    /// At the bound nothing is revoked: the player can then still enter with an old ticket until
    /// that expires.
    pub fn revoke(&mut self, now_unix_s: u64, room: RoomId, player: PlayerId, serial: u64) {
        if self.revoked.len() >= Self::MAX_REMEMBERED {
            self.revoked.retain(|_, (_, until_unix_s)| *until_unix_s >= now_unix_s);
        }
        if self.revoked.len() < Self::MAX_REMEMBERED {
            self.revoked.insert((room, player), (serial, now_unix_s + LIFETIME_S));
        }
    }

    /// Only `members` are in `room`: revokes the tickets of all others for it, up to that serial.
    pub fn revoke_all_but(
        &mut self,
        now_unix_s: u64,
        room: RoomId,
        members: BTreeSet<PlayerId>,
        serial: u64,
    ) {
        self.closed_rooms.retain(|_, closed| closed.until_unix_s >= now_unix_s);
        self.closed_rooms
            .insert(room, MembersOnly { members, serial, until_unix_s: now_unix_s + LIFETIME_S });
    }

    /// Whether another verifier checks the same tickets.
    pub fn has_same_key(&self, other: &Self) -> bool {
        self.key.as_ref() == other.key.as_ref()
    }

    /// Whether a ticket that was valid when it was shown has been revoked since.
    pub fn is_revoked(&self, room: RoomId, player: PlayerId, serial: u64) -> bool {
        self.revoked.get(&(room, player)).is_some_and(|&(newest, _)| serial <= newest)
            || self
                .closed_rooms
                .get(&room)
                .is_some_and(|closed| serial <= closed.serial && !closed.members.contains(&player))
    }

    /// Refused tickets since the start, by reason.
    pub fn refusals(&self) -> impl Iterator<Item = (TicketError, u64)> + '_ {
        self.refusals.iter().map(|(reason, count)| (*reason, *count))
    }

    fn check(
        &self,
        now_unix_s: u64,
        token: &[u8],
        own_address: &str,
        runs: impl FnOnce(RoomId) -> bool,
    ) -> Result<Ticket, TicketError> {
        let ticket = self.decode_signed(token)?;
        if ticket.host != own_address || !runs(ticket.room) {
            return Err(TicketError::Foreign);
        }
        if self.is_revoked(ticket.room, ticket.player, ticket.serial) {
            return Err(TicketError::Revoked);
        }
        if ticket.expires_unix_s < now_unix_s || ticket.expires_unix_s <= self.forgotten_unix_s {
            return Err(TicketError::Expired);
        }
        if self.used.contains(&(ticket.expires_unix_s, ticket.nonce)) {
            return Err(TicketError::Used);
        }
        if self.used.len() >= Self::MAX_REMEMBERED {
            return Err(TicketError::TooManyTickets);
        }
        Ok(ticket)
    }

    /// The signed content of `token`.
    fn decode_signed(&self, token: &[u8]) -> Result<Ticket, TicketError> {
        if token.len() > MAX_BYTES {
            return Err(TicketError::Malformed);
        }
        let (signature, body) =
            token.split_at_checked(SIGNATURE_BYTES).ok_or(TicketError::Malformed)?;
        self.key.verify(&signed_bytes(body), signature).map_err(|_| TicketError::Forged)?;
        TicketBody::decode(body)
            .ok()
            .and_then(|body| body.try_into().ok())
            .ok_or(TicketError::Malformed)
    }

    fn forget_expired(&mut self, now_unix_s: u64) {
        while let Some((expires_unix_s, _)) = self.used.first().copied()
            && expires_unix_s < now_unix_s
        {
            self.used.pop_first();
            self.forgotten_unix_s = expires_unix_s;
        }
    }
}

fn signed_bytes(body: &[u8]) -> Vec<u8> {
    [SIGNING_PREFIX, body].concat()
}

impl From<&Ticket> for TicketBody {
    fn from(ticket: &Ticket) -> Self {
        Self {
            version: VERSION,
            room: ticket.room.0,
            player: ticket.player.0,
            name: ticket.name.clone(),
            host: ticket.host.clone(),
            expires_unix_s: ticket.expires_unix_s,
            nonce: ticket.nonce.to_vec(),
            serial: ticket.serial,
            account: AccountId::to_bytes(ticket.account),
            standing: ticket.standing.bits(),
            wishes: ticket.wishes.clone().into_map(),
            party: ticket.standing.party.map_or(0, |party| party.0),
        }
    }
}

impl TryFrom<TicketBody> for Ticket {
    type Error = TicketError;

    fn try_from(body: TicketBody) -> Result<Self, TicketError> {
        if body.version != VERSION {
            return Err(TicketError::Malformed);
        }
        Ok(Self {
            room: RoomId(body.room),
            player: PlayerId(body.player),
            name: body.name,
            host: body.host,
            expires_unix_s: body.expires_unix_s,
            nonce: body.nonce.try_into().map_err(|_| TicketError::Malformed)?,
            serial: body.serial,
            account: AccountId::from_bytes(&body.account),
            standing: Standing::from_bits(body.standing).in_party(body.party),
            wishes: Wishes::new(body.wishes).map_err(|_| TicketError::Malformed)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::ids::PartyId;

    use super::*;

    const NOW: u64 = 1_800_000_000;
    const HERE: &str = "127.0.0.1:7777";

    #[test]
    fn a_ticket_comes_back_as_it_was_signed() {
        let ticket = ticket(1);
        assert_eq!(verify_at(&mut verifier(), NOW, &signer().sign(&ticket)), Ok(ticket));
    }

    #[test]
    fn the_largest_ticket_can_be_signed() {
        let wishes = (0..8).map(|n: u8| (n.to_string(), "w".repeat(31))).collect();
        let largest = Ticket {
            name: "\u{1f984}".repeat(24),
            host: "h".repeat(255),
            serial: u64::MAX,
            wishes: Wishes::new(wishes).expect("as many as there may be"),
            ..ticket(1)
        };
        assert_eq!(
            verify_at(&mut verifier(), NOW, &signer().sign(&largest)),
            Err(TicketError::Foreign)
        );
    }

    #[test]
    fn a_ticket_lets_in_once() {
        let mut verifier = verifier();
        let token = signer().sign(&ticket(1));
        assert!(verify_at(&mut verifier, NOW, &token).is_ok());
        assert_eq!(verify_at(&mut verifier, NOW, &token), Err(TicketError::Used));
        assert!(verify_at(&mut verifier, NOW, &signer().sign(&ticket(2))).is_ok());
    }

    #[test]
    fn a_ticket_is_good_to_the_last_second_and_not_beyond() {
        let token = signer().sign(&ticket(1));
        assert!(verify_at(&mut verifier(), NOW + LIFETIME_S, &token).is_ok());
        assert_eq!(
            verify_at(&mut verifier(), NOW + LIFETIME_S + 1, &token),
            Err(TicketError::Expired)
        );
    }

    #[test]
    fn a_used_ticket_stays_used_when_the_clock_jumps_ahead_and_back() {
        let mut verifier = verifier();
        let token = signer().sign(&ticket(1));
        assert!(verify_at(&mut verifier, NOW, &token).is_ok());
        let late = Ticket { expires_unix_s: NOW + 10_000, ..ticket(2) };
        assert!(verify_at(&mut verifier, NOW + 5_000, &signer().sign(&late)).is_ok());
        assert_eq!(verify_at(&mut verifier, NOW, &token), Err(TicketError::Expired));
    }

    #[test]
    fn a_flipped_bit_anywhere_makes_it_forged() {
        let token = signer().sign(&ticket(1));
        for bit in 0..token.len() * 8 {
            let mut forged = token.clone();
            forged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(
                verify_at(&mut verifier(), NOW, &forged),
                Err(TicketError::Forged),
                "bit {bit}"
            );
        }
    }

    #[test]
    fn another_lobbys_signature_is_forged() {
        let token = TicketSigner::from_seed(&[8; 32]).sign(&ticket(1));
        assert_eq!(verify_at(&mut verifier(), NOW, &token), Err(TicketError::Forged));
    }

    #[test]
    fn a_signature_without_the_prefix_is_forged() {
        let body = TicketBody::from(&ticket(1)).encode_to_vec();
        let token = [signer().key.sign(&body).as_ref(), &body].concat();
        assert_eq!(verify_at(&mut verifier(), NOW, &token), Err(TicketError::Forged));
    }

    #[test]
    fn every_truncation_is_refused() {
        let token = signer().sign(&ticket(1));
        for length in 0..token.len() {
            let expected =
                if length < SIGNATURE_BYTES { TicketError::Malformed } else { TicketError::Forged };
            assert_eq!(verify_at(&mut verifier(), NOW, &token[..length]), Err(expected));
        }
        assert_eq!(
            verify_at(&mut verifier(), NOW, &[0; MAX_BYTES + 1]),
            Err(TicketError::Malformed)
        );
    }

    #[test]
    fn what_is_signed_but_of_another_version_is_malformed() {
        let body = TicketBody { version: 2, ..TicketBody::from(&ticket(1)) }.encode_to_vec();
        let token = [signer().key.sign(&signed_bytes(&body)).as_ref(), &body].concat();
        assert_eq!(verify_at(&mut verifier(), NOW, &token), Err(TicketError::Malformed));
    }

    #[test]
    fn a_ticket_for_another_host_or_an_unknown_room_is_foreign() {
        let elsewhere = Ticket { host: "127.0.0.1:7778".into(), ..ticket(1) };
        assert_eq!(
            verify_at(&mut verifier(), NOW, &signer().sign(&elsewhere)),
            Err(TicketError::Foreign)
        );
        let unknown = Ticket { room: RoomId(6), ..ticket(1) };
        assert_eq!(
            verify_at(&mut verifier(), NOW, &signer().sign(&unknown)),
            Err(TicketError::Foreign)
        );
    }

    #[test]
    fn a_refused_ticket_is_not_used_up() {
        let mut verifier = verifier();
        let token = signer().sign(&ticket(1));
        assert_eq!(verifier.verify(NOW, &token, HERE, |_| false), Err(TicketError::Foreign));
        assert!(verify_at(&mut verifier, NOW, &token).is_ok());
    }

    #[test]
    fn a_player_who_left_needs_a_new_ticket_to_return() {
        let mut verifier = verifier();
        verifier.revoke(NOW, RoomId(5), PlayerId(7), 41);
        let old = Ticket { serial: 41, ..ticket(1) };
        assert_eq!(verify_at(&mut verifier, NOW, &signer().sign(&old)), Err(TicketError::Revoked));
        let new = Ticket { serial: 42, ..ticket(2) };
        assert!(verify_at(&mut verifier, NOW, &signer().sign(&new)).is_ok());
        let other = Ticket { player: PlayerId(8), ..ticket(3) };
        assert!(verify_at(&mut verifier, NOW, &signer().sign(&other)).is_ok());
    }

    #[test]
    fn at_the_bound_new_tickets_are_refused_until_old_ones_expire() {
        let mut verifier = verifier();
        for number in 0..TicketVerifier::MAX_REMEMBERED as u128 {
            verifier.used.insert((NOW + 1, number.to_be_bytes()));
        }
        let token = signer().sign(&ticket(u128::MAX));
        assert_eq!(verify_at(&mut verifier, NOW, &token), Err(TicketError::TooManyTickets));
        assert!(verify_at(&mut verifier, NOW + 2, &token).is_ok());
    }

    #[test]
    fn refusals_are_counted_by_reason() {
        let mut verifier = verifier();
        let token = signer().sign(&ticket(1));
        for token in [&token[..], &token[..], &token[..], &[1; 80], &[]] {
            let _ = verify_at(&mut verifier, NOW, token);
        }
        let counts: Vec<_> = verifier.refusals().collect();
        assert_eq!(
            counts,
            [(TicketError::Malformed, 1), (TicketError::Forged, 1), (TicketError::Used, 2)]
        );
    }

    fn signer() -> TicketSigner {
        TicketSigner::from_seed(&[7; 32])
    }

    fn verifier() -> TicketVerifier {
        TicketVerifier::new(signer().public_key()).expect("a public key")
    }

    fn ticket(nonce: u128) -> Ticket {
        Ticket {
            room: RoomId(5),
            player: PlayerId(7),
            name: "Zoë".into(),
            account: Some(AccountId([3; 16])),
            standing: Standing { is_maker: true, role: None, party: Some(PartyId(9)) },
            wishes: Wishes::new([("class".into(), "mage".into())].into()).expect("a wish"),
            host: HERE.into(),
            expires_unix_s: NOW + LIFETIME_S,
            nonce: nonce.to_be_bytes(),
            serial: 0,
        }
    }

    fn verify_at(
        verifier: &mut TicketVerifier,
        now_unix_s: u64,
        token: &[u8],
    ) -> Result<Ticket, TicketError> {
        verifier.verify(now_unix_s, token, HERE, |room| room == RoomId(5))
    }
}
