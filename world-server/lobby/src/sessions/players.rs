//! The players: ids, names, and the tokens that resume their sessions.
//!
//! Invariants:
//! 1. No two players have names that people would confuse: each key belongs to one player.
//! 2. A resume token belongs to one player. A player has one token, or two between a welcome and
//!    the first request after it: when a connection breaks before the welcome arrives, the client
//!    comes back with the previous token.
//! 3. A player's id is never used again.
//! 4. `by_network` has exactly the players with a `counted_at`, by it.

use std::collections::{BTreeMap, BTreeSet};

use ambit_proto::control::world;
use ambit_proto::ids::{AccountId, PartyId, PlayerId, RoomId};
use ambit_proto::wishes::Wishes;
use ambit_room::token_bucket::TokenBucket;
use ambit_store::BanTerm;
use ambit_transport::address::SourceNetwork;

use crate::config::{Entropy, LobbyConfig};
use crate::output::ConnId;
use crate::refusal::LobbyRefusal;
use crate::rooms::password_guesses::PasswordGuesses;
use crate::sessions::creations::RecentCreations;
use crate::text::{NameKey, NameSkeleton, PlayerName};

/// Names get suffixes up to this number; then random digits, to avoid a long search.
const HIGHEST_NUMBER: u32 = 99;

/// They fit into a frame at up to 115 bytes each; as many as the largest room has.
const MAX_LISTED_PLAYERS: usize = 4_096;

/// Secret: a client that presents it takes the session over.
pub(super) type ResumeToken = [u8; 16];

/// Where a session comes from.
#[derive(Debug, Default)]
pub(crate) struct SessionOrigin {
    /// Where it was opened: limits of rooms count by it, also after a resume from elsewhere. `None`
    /// until the first resume if the record of another lobby does not say it.
    pub(crate) network: Option<SourceNetwork>,
    /// When it was opened, in seconds since 1970.
    pub(crate) since: i64,
    /// `network`, unless the operator trusts the address: the limit of sessions counts by it.
    counted_at: Option<SourceNetwork>,
}

/// How much of something a player may still do.
pub(crate) struct PlayerAllowances {
    pub(crate) creations: RecentCreations,
    pub(crate) chat: TokenBucket,
    pub(crate) password_guesses: PasswordGuesses,
}

/// The secrets by which a session is resumed.
struct SessionTokens {
    newest: ResumeToken,
    previous: Option<ResumeToken>,
}

pub(crate) struct LobbyPlayer {
    pub(crate) id: PlayerId,
    /// `None` within the grace period.
    pub(crate) conn: Option<ConnId>,
    /// Derived from the rooms' seats, to avoid a search.
    pub(crate) room: Option<RoomId>,
    pub(crate) origin: SessionOrigin,
    /// Proved when the session was opened.
    pub(crate) account: Option<AccountId>,
    /// Of a session without an account: why it may not chat, and until when.
    pub(crate) mute: Option<BanTerm>,
    /// The party that it is in, alone perhaps.
    pub(crate) party: Option<PartyId>,
    /// For the rooms that it joins.
    pub(crate) wishes: Wishes,
    pub(crate) allowances: PlayerAllowances,
    /// The room that ended while the player was away, and why; sent at the resume.
    pub(crate) lost_room: Option<(RoomId, LobbyRefusal)>,
    name: PlayerName,
    tokens: SessionTokens,
}

impl LobbyPlayer {
    pub(crate) fn counted_at(&self) -> Option<SourceNetwork> {
        self.origin.counted_at
    }

    pub(crate) fn name(&self) -> &PlayerName {
        &self.name
    }

    /// What other players see of it, outside of its room.
    pub(crate) fn entry(&self) -> world::Player {
        world::Player {
            id: self.id.0,
            name: self.name.as_str().to_owned(),
            ready: false,
            host: false,
            connected: self.conn.is_some(),
        }
    }
}

/// A player as saved in the directory, without the id and the room.
pub(super) struct SavedPlayer {
    pub(super) name: PlayerName,
    pub(super) token: ResumeToken,
    pub(super) previous_token: Option<ResumeToken>,
    pub(super) creations: RecentCreations,
    pub(super) network: Option<SourceNetwork>,
    pub(super) account: Option<AccountId>,
    pub(super) since: i64,
    pub(super) mute: Option<BanTerm>,
    pub(super) wishes: Wishes,
}

/// Names that only one account may use, and what people would confuse with them.
#[derive(Debug, Default)]
struct ReservedNames {
    by_key: BTreeMap<NameKey, AccountId>,
    by_skeleton: BTreeMap<NameSkeleton, AccountId>,
}

impl ReservedNames {
    fn allow(&self, name: &PlayerName, account: Option<AccountId>) -> bool {
        let keys = name.keys();
        let owners = [self.by_key.get(&keys.folded), self.by_skeleton.get(&keys.skeleton)];
        owners.into_iter().flatten().all(|owner| Some(*owner) == account)
    }
}

/// Another player has this name, or it is reserved to another account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NameTaken;

pub(crate) struct LobbyPlayers {
    by_id: BTreeMap<PlayerId, LobbyPlayer>,
    by_name: BTreeMap<NameKey, PlayerId>,
    by_skeleton: BTreeMap<NameSkeleton, PlayerId>,
    by_token: BTreeMap<ResumeToken, PlayerId>,
    by_network: BTreeMap<SourceNetwork, BTreeSet<PlayerId>>,
    reserved: ReservedNames,
    entropy: Entropy,
    last_id: u64,
    /// Players that may have changed since [`LobbyPlayers::take_changed`].
    changed: BTreeSet<PlayerId>,
}

impl LobbyPlayers {
    pub(super) fn new(entropy: Entropy) -> Self {
        Self {
            by_id: BTreeMap::new(),
            by_name: BTreeMap::new(),
            by_skeleton: BTreeMap::new(),
            by_token: BTreeMap::new(),
            by_network: BTreeMap::new(),
            reserved: ReservedNames::default(),
            entropy,
            last_id: 0,
            changed: BTreeSet::new(),
        }
    }

    /// Returns unpredictable bytes.
    pub(super) fn random_bytes(&mut self) -> [u8; 16] {
        (self.entropy)()
    }

    /// Adds a new player on `conn`, who comes from `network`. The name is changed until it is
    /// unique.
    pub(super) fn add(
        &mut self,
        (wanted, account): (Option<PlayerName>, Option<AccountId>),
        conn: ConnId,
        network: SourceNetwork,
        config: &LobbyConfig,
    ) -> PlayerId {
        self.last_id += 1;
        let id = PlayerId(self.last_id);
        let number = account.map_or(id.0, guest_number);
        let wanted = wanted.unwrap_or_else(|| PlayerName::guest(number));
        let name = self.free_name(wanted, account);
        let token = self.random_bytes();
        self.changed.insert(id);
        let creations = RecentCreations::default();
        let network = Some(network);
        let new = SavedPlayer {
            name,
            token,
            previous_token: None,
            creations,
            network,
            account,
            since: 0,
            mute: None,
            wishes: Wishes::default(),
        };
        self.insert(id, Some(conn), new, config);
        id
    }

    /// Restores a player of another lobby, who is away. The ids of new players come after
    /// `last_id`. Returns `None` if another player has one of the tokens, which never happens with
    /// valid records. If two players have the same name, since one has just given it up, this one's
    /// name is changed.
    pub(super) fn restore(
        &mut self,
        id: PlayerId,
        mut saved: SavedPlayer,
        config: &LobbyConfig,
    ) -> Option<()> {
        let tokens = [Some(saved.token), saved.previous_token];
        let taken = |token: &ResumeToken| self.by_token.contains_key(token);
        if tokens.iter().flatten().any(taken) {
            return None;
        }
        if self.owners(&saved.name) != [None, None] {
            saved.name = self.free_name(saved.name, saved.account);
            self.changed.insert(id);
        }
        self.insert(id, None, saved, config);
        Some(())
    }

    fn insert(
        &mut self,
        id: PlayerId,
        conn: Option<ConnId>,
        new: SavedPlayer,
        config: &LobbyConfig,
    ) {
        let SavedPlayer { name, token, previous_token, creations, network, account, .. } = new;
        self.add_name(&name, id);
        let tokens = [Some(token), previous_token];
        self.by_token.extend(tokens.into_iter().flatten().map(|token| (token, id)));
        let player = LobbyPlayer {
            id,
            conn,
            room: None,
            origin: SessionOrigin { network, since: new.since, counted_at: None },
            account,
            mute: new.mute,
            party: None,
            wishes: new.wishes,
            allowances: PlayerAllowances {
                creations,
                chat: TokenBucket::new(config.chat_per_s, config.chat_burst),
                password_guesses: PasswordGuesses::default(),
            },
            lost_room: None,
            name,
            tokens: SessionTokens { newest: token, previous: previous_token },
        };
        self.by_id.insert(id, player);
    }

    /// The highest id that may be in use.
    pub(crate) fn last_id(&self) -> u64 {
        self.last_id
    }

    pub(super) fn skip_to(&mut self, last_id: u64) {
        self.last_id = self.last_id.max(last_id);
    }

    /// The players that may have changed since the last call, removed ones included.
    pub(super) fn take_changed(&mut self) -> BTreeSet<PlayerId> {
        std::mem::take(&mut self.changed)
    }

    pub(super) fn remove(&mut self, id: PlayerId) {
        self.changed.insert(id);
        let Some(player) = self.by_id.remove(&id) else {
            return;
        };
        self.remove_name(&player.name);
        self.by_token.remove(&player.tokens.newest);
        if let Some(previous) = player.tokens.previous {
            self.by_token.remove(&previous);
        }
        if let Some(network) = player.origin.counted_at
            && let Some(there) = self.by_network.get_mut(&network)
        {
            there.remove(&id);
            if there.is_empty() {
                self.by_network.remove(&network);
            }
        }
    }

    /// Counts the player among those of this network, once.
    pub(super) fn count_at(&mut self, id: PlayerId, network: SourceNetwork) {
        let before = self.at_mut(id).origin.counted_at.replace(network);
        assert_eq!(before, None, "a player counts in one place");
        self.by_network.entry(network).or_default().insert(id);
    }

    /// The players that count at this network, in order of their ids.
    pub(crate) fn counted_at(&self, network: SourceNetwork) -> impl Iterator<Item = PlayerId> {
        self.by_network.get(&network).into_iter().flatten().copied()
    }

    pub(crate) fn get(&self, id: PlayerId) -> Option<&LobbyPlayer> {
        self.by_id.get(&id)
    }

    /// A player that must exist: the owner of a connection or of a seat.
    pub(crate) fn at(&self, id: PlayerId) -> &LobbyPlayer {
        self.by_id.get(&id).expect("connections and seats belong to players")
    }

    pub(super) fn at_mut(&mut self, id: PlayerId) -> &mut LobbyPlayer {
        self.changed.insert(id);
        self.by_id.get_mut(&id).expect("connections and seats belong to players")
    }

    pub(crate) fn find_by_name(&self, name: &str) -> Option<PlayerId> {
        self.by_name.get(&NameKey::of(name)).copied()
    }

    pub(super) fn find_by_token(&self, token: &[u8]) -> Option<PlayerId> {
        let token = ResumeToken::try_from(token).ok()?;
        self.by_token.get(&token).copied()
    }

    /// Replaces the token. The previous one stays valid until [`Self::confirm_token`].
    pub(super) fn renew_token(&mut self, id: PlayerId) {
        self.confirm_token(id);
        let token = self.random_bytes();
        self.by_token.insert(token, id);
        let tokens = &mut self.at_mut(id).tokens;
        tokens.previous = Some(std::mem::replace(&mut tokens.newest, token));
    }

    /// The client has received the token: revokes the previous one.
    pub(super) fn confirm_token(&mut self, id: PlayerId) {
        if let Some(previous) = self.at_mut(id).tokens.previous.take() {
            self.by_token.remove(&previous);
        }
    }

    pub(crate) fn token(&self, id: PlayerId) -> ResumeToken {
        self.at(id).tokens.newest
    }

    pub(super) fn previous_token(&self, id: PlayerId) -> Option<ResumeToken> {
        self.at(id).tokens.previous
    }

    pub(super) fn rename(&mut self, id: PlayerId, name: PlayerName) -> Result<(), NameTaken> {
        let is_taken = self.owners(&name).into_iter().flatten().any(|owner| owner != id);
        let Self { by_id, reserved, .. } = self;
        let account = by_id.get(&id).and_then(|player| player.account);
        if is_taken || !reserved.allow(&name, account) {
            return Err(NameTaken);
        }
        let before = self.at(id).name.clone();
        self.remove_name(&before);
        self.add_name(&name, id);
        self.at_mut(id).name = name;
        Ok(())
    }

    /// In order of their ids.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &LobbyPlayer> {
        self.by_id.values()
    }

    /// All players, as a list shows them.
    pub(crate) fn list(&self) -> world::PlayerList {
        let players = self.iter().take(MAX_LISTED_PLAYERS).map(LobbyPlayer::entry);
        world::PlayerList { room: 0, players: players.collect() }
    }

    /// The connections of all connected players, in order of their ids.
    pub(crate) fn connected(&self) -> Vec<ConnId> {
        self.by_id.values().filter_map(|player| player.conn).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Returns `wanted`, or the first of `wanted-2`, `wanted-3`... that is free. The search is
    /// bounded, since a thousand players with the same name would slow down each hello.
    fn free_name(&mut self, wanted: PlayerName, account: Option<AccountId>) -> PlayerName {
        if self.is_free(&wanted, account) {
            return wanted;
        }
        let numbered = (2..=HIGHEST_NUMBER).map(|number| wanted.with_suffix(&number.to_string()));
        if let Some(free) = numbered.into_iter().find(|name| self.is_free(name, account)) {
            return free;
        }
        let digits =
            u64::from_be_bytes(*self.random_bytes().first_chunk().expect("16 bytes hold 8")) >> 1;
        (digits..)
            .take(1_000_000_000)
            .map(|digits| wanted.with_suffix(&format!("{:09}", digits % 1_000_000_000)))
            .find(|name| self.is_free(name, account))
            .expect("fewer players than numbers")
    }

    fn is_free(&self, name: &PlayerName, account: Option<AccountId>) -> bool {
        self.owners(name) == [None, None] && self.reserved.allow(name, account)
    }

    /// Sets which names only one account may use. Players keep what they are called.
    pub(super) fn set_reserved(&mut self, names: impl Iterator<Item = (PlayerName, AccountId)>) {
        self.reserved = ReservedNames::default();
        for (name, account) in names {
            let keys = name.keys();
            self.reserved.by_key.insert(keys.folded, account);
            self.reserved.by_skeleton.insert(keys.skeleton, account);
        }
    }

    /// The players whose names people would confuse with this one.
    fn owners(&self, name: &PlayerName) -> [Option<PlayerId>; 2] {
        let keys = name.keys();
        [self.by_name.get(&keys.folded).copied(), self.by_skeleton.get(&keys.skeleton).copied()]
    }

    fn add_name(&mut self, name: &PlayerName, id: PlayerId) {
        let keys = name.keys();
        self.by_name.insert(keys.folded, id);
        self.by_skeleton.insert(keys.skeleton, id);
    }

    fn remove_name(&mut self, name: &PlayerName) {
        let keys = name.keys();
        self.by_name.remove(&keys.folded);
        self.by_skeleton.remove(&keys.skeleton);
    }
}

/// Of a player who chooses no name: an account has the same one each time.
fn guest_number(account: AccountId) -> u64 {
    let AccountId([first, second, ..]) = account;
    10_000 + u64::from(u16::from_be_bytes([first, second]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_name_gets_the_first_free_number() {
        let mut players = players();
        let names: Vec<_> =
            ["Ann", "ann", "ANN"].iter().map(|name| add(&mut players, name)).collect();
        assert_eq!(names, ["Ann", "ann-2", "ANN-3"]);
        let second = players.find_by_name("ann-2").expect("a player");
        players.remove(second);
        assert_eq!(add(&mut players, "ann"), "ann-2");
    }

    #[test]
    fn a_name_that_looks_like_another_gets_a_number_or_is_refused() {
        let mut players = players();
        add(&mut players, "admin");
        assert_eq!(add(&mut players, "аdmin"), "аdmin-2", "with a Cyrillic letter");
        add(&mut players, "bob");
        assert_eq!(players.rename(PlayerId(3), name("Admln")), Ok(()));
        assert_eq!(players.rename(PlayerId(3), name("ADMIN")), Err(NameTaken));
        assert_eq!(players.rename(PlayerId(3), name("аdmin")), Err(NameTaken));
        assert_eq!(players.rename(PlayerId(1), name("аdmin")), Ok(()), "its own");
        assert_eq!(players.by_name.len(), 3);
        assert_eq!(players.by_skeleton.len(), 3);
    }

    #[test]
    fn a_name_wanted_by_a_thousand_players_is_assigned_quickly() {
        let mut players = players();
        for number in 0..1_000 {
            let name = add(&mut players, "bot");
            assert!(number < 99 || name.len() == "bot-".len() + 9, "{name}");
        }
        assert_eq!(players.by_name.len(), 1_000);
    }

    #[test]
    fn the_previous_token_is_valid_until_the_new_one_has_arrived() {
        let mut players = players();
        add(&mut players, "ann");
        let first = players.token(PlayerId(1));
        players.renew_token(PlayerId(1));
        let second = players.token(PlayerId(1));
        assert_eq!(
            (players.find_by_token(&first), players.find_by_token(&second)),
            (Some(PlayerId(1)), Some(PlayerId(1)))
        );
        players.confirm_token(PlayerId(1));
        assert_eq!(
            (players.find_by_token(&first), players.find_by_token(&second)),
            (None, Some(PlayerId(1)))
        );
        assert_eq!(players.find_by_token(b"short"), None);
        players.remove(PlayerId(1));
        assert!(players.by_token.is_empty() && players.by_name.is_empty());
        assert!(players.by_skeleton.is_empty());
    }

    #[test]
    fn a_network_without_players_is_forgotten() {
        let mut players = players();
        let network = SourceNetwork::of(std::net::Ipv4Addr::LOCALHOST.into());
        for (number, name) in [(1, "ann"), (2, "bob"), (3, "cid")] {
            add(&mut players, name);
            if number > 1 {
                players.count_at(PlayerId(number), network);
            }
        }
        let counted: Vec<_> = players.counted_at(network).collect();
        assert_eq!(counted, [PlayerId(2), PlayerId(3)]);
        (1..=3).for_each(|number| players.remove(PlayerId(number)));
        assert!(players.by_network.is_empty());
    }

    #[test]
    fn a_player_may_change_the_case_of_its_name_but_not_take_anothers() {
        let mut players = players();
        add(&mut players, "ann");
        add(&mut players, "bob");
        assert_eq!(players.rename(PlayerId(1), name("ANN")), Ok(()));
        assert_eq!(players.rename(PlayerId(1), name("Bob")), Err(NameTaken));
        assert_eq!(players.rename(PlayerId(1), name("cid")), Ok(()));
        assert_eq!(players.rename(PlayerId(2), name("ann")), Ok(()));
    }

    #[test]
    fn an_account_that_chooses_no_name_has_the_same_one_each_time() {
        let network = SourceNetwork::of(std::net::Ipv4Addr::LOCALHOST.into());
        let named = |players: &mut LobbyPlayers| {
            let wanted = (None, Some(AccountId([1; 16])));
            players.add(wanted, ConnId(1), network, &LobbyConfig::default())
        };
        let mut players = players();
        let first = named(&mut players);
        assert_eq!(players.at(first).name().as_str(), "guest-10257");
        let second = named(&mut players);
        assert_eq!(players.at(second).name().as_str(), "guest-10257-2", "while the first is here");
        players.remove(first);
        let third = named(&mut players);
        assert_eq!(players.at(third).name().as_str(), "guest-10257");
    }

    fn players() -> LobbyPlayers {
        let mut calls = 0_u128;
        LobbyPlayers::new(Box::new(move || {
            calls += 1;
            (calls << 64 | calls).to_be_bytes()
        }))
    }

    fn add(players: &mut LobbyPlayers, wanted: &str) -> String {
        let network = SourceNetwork::of(std::net::Ipv4Addr::LOCALHOST.into());
        let wanted = (Some(name(wanted)), None);
        let id = players.add(wanted, ConnId(1), network, &LobbyConfig::default());
        players.at(id).name().as_str().to_owned()
    }

    fn name(text: &str) -> PlayerName {
        PlayerName::parse(text).expect("a name")
    }
}
