//! The rooms: what they are made of and who is in them.
//!
//! Invariants:
//! 1. A room has at least one player, and its host is one of them. A room that nobody is in is
//!    gone. (Further maps of a world are rooms too, which live as long as the first one; see
//!    `worlds`.)
//! 2. A player is in at most one room.
//! 3. A room's id is never used again, so a host's late word about a room that is gone meets
//!    nobody.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ambit_proto::control::world;
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::time::LocalTime;

use super::output::{HostId, RequestSource};
use super::request::CreateRoomRequest;
use super::seats::Seats;
use super::text::{LobbyRoomName, Password};
use super::worlds::{MapIdentity, WorldState};

/// Players that a room keeps out, at most; beyond it the one who came to the server first may come
/// back. To get there a room's host has to kick that many, and each of them has to come in first.
const MAX_BANNED: usize = 1_024;
/// Who left a running room, remembered at most; beyond it the one with the lowest id is forgotten.
const MAX_RECENT_LEAVERS: usize = 256;
/// How long a host's word that a player is out may have been under way when the player left by the
/// lobby.
const MAX_MESSAGE_AGE: Duration = Duration::from_secs(2);

/// Where a room stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RoomPhase {
    /// Players gather.
    Waiting,
    /// The host was told to open it; whoever asked for that waits.
    Opening {
        host: HostId,
        starter: Option<RequestSource>,
    },
    /// The game goes on.
    Running { host: HostId },
    /// Its host is gone; another one is to go on with it, once there is one.
    Moving { host: Option<HostId> },
}

#[derive(Debug)]
pub(super) struct LobbyRoom {
    pub(super) id: RoomId,
    pub(super) game: String,
    pub(super) parameters: BTreeMap<String, String>,
    pub(super) password: Option<Password>,
    /// The player who may start it and kick.
    pub(super) host: PlayerId,
    pub(super) seats: Seats,
    pub(super) phase: RoomPhase,
    /// Of the game, once it has started.
    pub(super) seed: u64,
    /// How often it was given to a host.
    pub(super) incarnation: u32,
    /// Of the host that it was opened at; of another map, the world's.
    pub(super) build: String,
    /// Whether enough is known of it to go on elsewhere.
    pub(super) has_checkpoint: bool,
    /// When a host went on with it, if one did.
    pub(super) resumed_at: Option<LocalTime>,
    /// Hosts that were lost one after the other before they could go on with it.
    pub(super) failed_resumes: u32,
    /// Whether it may be what kills hosts: it is to have one of its own.
    pub(super) suspect: bool,
    /// When its members may be told again who is in it.
    pub(super) next_roster_at: LocalTime,
    /// Its members as they were last told, by their ids; the default where different members may
    /// have been told different things.
    pub(super) published_roster: BTreeMap<u64, world::Player>,
    /// Which map of which world it is; nothing for a world's first map, which is what players
    /// create and join.
    pub(super) map_identity: Option<MapIdentity>,
    /// Of a first map: the world that begins with it.
    pub(super) world: WorldState,
    name: LobbyRoomName,
    banned: BTreeSet<PlayerId>,
    /// When players left it while it ran.
    recent_leavers: BTreeMap<PlayerId, LocalTime>,
}

impl LobbyRoom {
    /// A room that `maker` sits in.
    pub(super) fn new(id: RoomId, maker: PlayerId, create: CreateRoomRequest) -> Self {
        let mut seats = Seats::new(create.capacity);
        seats.take(maker).expect("a room has a seat for its maker");
        Self {
            id,
            game: create.game,
            parameters: create.parameters,
            password: create.password,
            host: maker,
            seats,
            phase: RoomPhase::Waiting,
            seed: 0,
            incarnation: 0,
            build: String::new(),
            has_checkpoint: false,
            resumed_at: None,
            failed_resumes: 0,
            suspect: false,
            next_roster_at: LocalTime::ZERO,
            published_roster: BTreeMap::new(),
            map_identity: None,
            world: WorldState::default(),
            name: create.name,
            banned: BTreeSet::new(),
            recent_leavers: BTreeMap::new(),
        }
    }

    /// Another map of `world`, which nobody is on.
    pub(super) fn map_of(world: &LobbyRoom, id: RoomId, map: u32) -> Self {
        Self {
            id,
            game: world.game.clone(),
            parameters: world.parameters.clone(),
            password: None,
            host: world.host,
            seats: Seats::new(world.map_seats()),
            phase: RoomPhase::Waiting,
            seed: world.seed,
            incarnation: 0,
            build: world.build.clone(),
            has_checkpoint: false,
            resumed_at: None,
            failed_resumes: 0,
            suspect: false,
            next_roster_at: LocalTime::ZERO,
            published_roster: BTreeMap::new(),
            map_identity: Some(MapIdentity {
                world: world.id,
                map,
            }),
            world: WorldState::default(),
            name: world.name.clone(),
            banned: BTreeSet::new(),
            recent_leavers: BTreeMap::new(),
        }
    }

    /// The process that it runs in, or is about to.
    pub(super) fn game_host(&self) -> Option<HostId> {
        match self.phase {
            RoomPhase::Waiting => None,
            RoomPhase::Opening { host, .. } | RoomPhase::Running { host } => Some(host),
            RoomPhase::Moving { host } => host,
        }
    }

    /// Whether it has been started, wherever it is now.
    pub(super) fn has_started(&self) -> bool {
        self.phase != RoomPhase::Waiting
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(
            self.phase,
            RoomPhase::Running { .. } | RoomPhase::Moving { .. }
        )
    }

    /// Whether it can be only at hosts of its build: it has begun, or what it is carried comes from
    /// there.
    pub(super) fn is_build_bound(&self) -> bool {
        self.has_started() || self.map_identity.is_some()
    }

    /// Who is kept out.
    pub(super) fn banned_players(&self) -> impl Iterator<Item = PlayerId> + '_ {
        self.banned.iter().copied()
    }

    pub(super) fn name(&self) -> &LobbyRoomName {
        &self.name
    }

    /// Keeps `player` out from now on.
    pub(super) fn ban(&mut self, player: PlayerId) {
        self.banned.insert(player);
        if self.banned.len() > MAX_BANNED {
            self.banned.pop_first();
        }
    }

    pub(super) fn is_banned(&self, player: PlayerId) -> bool {
        self.banned.contains(&player)
    }

    /// `player` left by the lobby while the room ran.
    pub(super) fn note_departure(&mut self, now: LocalTime, player: PlayerId) {
        self.recent_leavers
            .retain(|_, left_at| *left_at + MAX_MESSAGE_AGE >= now);
        if self.recent_leavers.len() >= MAX_RECENT_LEAVERS {
            self.recent_leavers.pop_first();
        }
        self.recent_leavers.insert(player, now);
    }

    /// Whether the host may still speak of the time before `player` left and came back.
    pub(super) fn left_recently(&self, now: LocalTime, player: PlayerId) -> bool {
        self.recent_leavers
            .get(&player)
            .is_some_and(|left_at| *left_at + MAX_MESSAGE_AGE >= now)
    }

    /// What everybody may know of it.
    pub(super) fn listing(&self) -> world::Room {
        world::Room {
            id: self.id.0,
            name: self.name.as_str().to_owned(),
            game: self.game.clone(),
            players: self.seats.taken(),
            capacity: self.seats.capacity(),
            running: self.is_running(),
            has_password: self.password.is_some(),
            host: self.host.0,
            parameters: self.parameters.clone(),
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct LobbyRooms {
    by_id: BTreeMap<RoomId, LobbyRoom>,
    last_id: u64,
    /// Those that may have changed since [`Self::take_changed`].
    changed: BTreeSet<RoomId>,
}

impl LobbyRooms {
    pub(super) fn add(&mut self, maker: PlayerId, create: CreateRoomRequest) -> &mut LobbyRoom {
        self.last_id += 1;
        let id = RoomId(self.last_id);
        self.changed.insert(id);
        self.by_id
            .entry(id)
            .or_insert_with(|| LobbyRoom::new(id, maker, create))
    }

    /// Another map of a world.
    pub(super) fn add_map(&mut self, world: RoomId, map: u32) -> RoomId {
        self.last_id += 1;
        let id = RoomId(self.last_id);
        let room = LobbyRoom::map_of(self.at(world), id, map);
        self.changed.insert(id);
        self.by_id.insert(id, room);
        id
    }

    /// Puts in a room that another lobby has made; ids of new ones come after `last_id`.
    pub(super) fn restore(&mut self, room: LobbyRoom) {
        self.by_id.insert(room.id, room);
    }

    /// The highest id that may have been given.
    pub(super) fn last_id(&self) -> u64 {
        self.last_id
    }

    pub(super) fn skip_to(&mut self, last_id: u64) {
        self.last_id = self.last_id.max(last_id);
    }

    /// Those that may have changed since the last call, those that are gone among them.
    pub(super) fn take_changed(&mut self) -> BTreeSet<RoomId> {
        std::mem::take(&mut self.changed)
    }

    pub(super) fn remove(&mut self, id: RoomId) -> Option<LobbyRoom> {
        self.changed.insert(id);
        self.by_id.remove(&id)
    }

    pub(super) fn get(&self, id: RoomId) -> Option<&LobbyRoom> {
        self.by_id.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: RoomId) -> Option<&mut LobbyRoom> {
        self.changed.insert(id);
        self.by_id.get_mut(&id)
    }

    /// A room known to be there: that a player is in.
    pub(super) fn at(&self, id: RoomId) -> &LobbyRoom {
        self.by_id
            .get(&id)
            .expect("players are in rooms that exist")
    }

    pub(super) fn at_mut(&mut self, id: RoomId) -> &mut LobbyRoom {
        self.changed.insert(id);
        self.by_id
            .get_mut(&id)
            .expect("players are in rooms that exist")
    }

    /// In order of their ids.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &LobbyRoom> {
        self.by_id.values()
    }

    pub(super) fn ids(&self) -> Vec<RoomId> {
        self.by_id.keys().copied().collect()
    }

    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(super) fn count_running(&self) -> usize {
        self.iter().filter(|room| room.is_running()).count()
    }
}
