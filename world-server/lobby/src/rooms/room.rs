//! The rooms: their settings and members.
//!
//! Invariants:
//! 1. A room has at least one player, and its host is one of them. A room without players is
//!    removed, but one that lasts ([`RoomLife`]). (Further maps of a world are rooms too, which
//!    live as long as the first one; see `worlds`.)
//! 2. A player is in at most one room.
//! 3. A room's id is never used again, so a late message of a host about a removed room has no
//!    effect.
//! 4. `by_network` has exactly the rooms that players made from a known network.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ambit_host_protocol::messages::RoomAssignment;
use ambit_proto::control::world::{self, world_to_client::Body};
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::time::LocalTime;
use ambit_transport::address::SourceNetwork;

use crate::operator_event::OperatorEvent;
use crate::output::{HostId, RequestSource};
use crate::refusal::LobbyRefusal;
use crate::request::CreateRoomRequest;
use crate::rooms::bans::Bans;
use crate::rooms::password_guesses::GuessesByNetwork;
use crate::rooms::release::RoomRelease;
use crate::rooms::seats::Seats;
use crate::rooms::stored_password::StoredPassword;
use crate::text::LobbyRoomName;
use crate::worlds::state::{MapIdentity, WorldState};

/// Maximum number of recent leavers of a running room; beyond it the one with the lowest id is
/// forgotten.
const MAX_RECENT_LEAVERS: usize = 256;
/// Stands for none: ids begin with 1.
pub(crate) const NO_PLAYER: PlayerId = PlayerId(0);
/// How old a game host's message may be that a player has left, when the player left through the
/// lobby meanwhile.
const MAX_MESSAGE_AGE: Duration = Duration::from_secs(2);

/// The phase of a room's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RoomPhase {
    /// Players gather; the game has not started.
    Waiting,
    /// The game host has received the order to open it, and `starter` waits for the answer.
    Opening { host: HostId, starter: Option<RequestSource> },
    /// The game runs on this host.
    Running { host: HostId },
    /// Its game host was lost. `host` has received the order to resume it, or it waits for a host.
    Moving { host: Option<HostId> },
}

/// How long a room lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RoomLife {
    /// Until its last player has left.
    #[default]
    WhilePlayed,
    /// Until no player has been in it for long.
    Lasting,
    /// The operator has it in the list of worlds: as long as the server runs.
    Operated,
}

/// Who made a room. Limits count by it as long as the room exists, wherever its maker goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RoomMaker {
    pub(crate) player: PlayerId,
    /// Where the player's session was opened; `None` if the record of another lobby does not say.
    pub(crate) network: Option<SourceNetwork>,
}

/// As what a room was made.
#[derive(Debug)]
pub(crate) struct RoomSettings {
    name: LobbyRoomName,
    pub(crate) parameters: BTreeMap<String, String>,
    /// `None` for a further map of a world, and for one of the operator's list.
    pub(crate) maker: Option<RoomMaker>,
    /// Of a further map: that of its world.
    pub(crate) life: RoomLife,
    /// Whether it starts by itself, once enough players are there.
    pub(crate) starts_itself: bool,
}

/// Who may come in.
#[derive(Debug, Default)]
pub(crate) struct RoomDoor {
    pub(crate) password: Option<StoredPassword>,
    pub(crate) guesses: GuessesByNetwork,
    pub(crate) bans: Bans,
    /// Whether an operator lets no more players in.
    pub(crate) is_locked: bool,
}

/// The game of a room, and its way from host to host.
#[derive(Debug)]
pub(crate) struct RoomRun {
    pub(crate) phase: RoomPhase,
    /// The game's seed, once it has started.
    pub(crate) seed: u64,
    /// How often it was given to a game host.
    pub(crate) incarnation: u32,
    /// The build that saves it: that of its host. For a further map that has not started, the
    /// world's.
    pub(crate) build: String,
    /// Its way to another build.
    pub(crate) release: RoomRelease,
    /// Whether the shell has a checkpoint of it, so that it can resume elsewhere.
    pub(crate) has_checkpoint: bool,
    /// When a host last resumed it.
    pub(crate) resumed_at: Option<LocalTime>,
    /// Number of hosts in a row that were lost before they could resume it.
    pub(crate) failed_resumes: u32,
    /// Whether it may crash its hosts and needs a host of its own.
    pub(crate) suspect: bool,
}

/// What members know of each other; see `rosters`.
#[derive(Debug, Default)]
pub(crate) struct PublishedRoster {
    /// When the next event about the members may be sent.
    pub(super) next_at: LocalTime,
    /// The members as they were last published, by id; the default value where members may have
    /// received different states.
    pub(super) players: BTreeMap<u64, world::Player>,
}

#[derive(Debug)]
pub(crate) struct LobbyRoom {
    pub(crate) id: RoomId,
    pub(crate) game: String,
    pub(crate) settings: RoomSettings,
    pub(crate) door: RoomDoor,
    /// The player who may start it and kick others; [`NO_PLAYER`] if none may.
    pub(crate) host: PlayerId,
    pub(crate) seats: Seats,
    pub(crate) run: RoomRun,
    pub(crate) roster: PublishedRoster,
    /// Which map of which world it is; `None` for the first map of a world, which players create
    /// and join.
    pub(crate) map_identity: Option<MapIdentity>,
    /// For a first map: its world.
    pub(crate) world: WorldState,
    /// When players left it while it ran.
    recent_leavers: BTreeMap<PlayerId, LocalTime>,
}

impl LobbyRoom {
    /// Creates a room with `first` as its first member and its host, and without a password.
    pub(crate) fn new(
        id: RoomId,
        maker: RoomMaker,
        first: PlayerId,
        create: CreateRoomRequest,
    ) -> Self {
        let mut seats = Seats::new(create.capacity);
        seats.take(first).expect("a room has a seat for its first member");
        let CreateRoomRequest { name, game, parameters, .. } = create;
        let mut room = Self::with(id, seats, first, name, game, parameters);
        room.settings.maker = Some(maker);
        room
    }

    /// Creates a further map of `world` without players.
    pub(crate) fn map_of(world: &LobbyRoom, id: RoomId, map: u32) -> Self {
        let seats = Seats::new(world.map_seats());
        let RoomSettings { name, parameters, life, .. } = &world.settings;
        let (name, parameters, game) = (name.clone(), parameters.clone(), world.game.clone());
        let mut room = Self::with(id, seats, world.host, name, game, parameters);
        room.settings.life = *life;
        room.run.seed = world.run.seed;
        room.run.build.clone_from(&world.run.build);
        room.map_identity = Some(MapIdentity { world: world.id, map });
        room
    }

    /// Creates a room of the operator's, without players.
    pub(crate) fn of_operator(id: RoomId, create: CreateRoomRequest) -> Self {
        let seats = Seats::new(create.capacity);
        let CreateRoomRequest { name, game, parameters, .. } = create;
        let mut room = Self::with(id, seats, NO_PLAYER, name, game, parameters);
        room.settings.life = RoomLife::Operated;
        room
    }

    fn with(
        id: RoomId,
        seats: Seats,
        host: PlayerId,
        name: LobbyRoomName,
        game: String,
        parameters: BTreeMap<String, String>,
    ) -> Self {
        let life = RoomLife::WhilePlayed;
        Self {
            id,
            game,
            settings: RoomSettings { name, parameters, maker: None, life, starts_itself: false },
            door: RoomDoor::default(),
            host,
            seats,
            run: RoomRun {
                phase: RoomPhase::Waiting,
                seed: 0,
                incarnation: 0,
                build: String::new(),
                release: RoomRelease::default(),
                has_checkpoint: false,
                resumed_at: None,
                failed_resumes: 0,
                suspect: false,
            },
            roster: PublishedRoster::default(),
            map_identity: None,
            world: WorldState::default(),
            recent_leavers: BTreeMap::new(),
        }
    }

    /// The host that it runs on, or is about to.
    pub(crate) fn game_host(&self) -> Option<HostId> {
        match self.run.phase {
            RoomPhase::Waiting => None,
            RoomPhase::Opening { host, .. } | RoomPhase::Running { host } => Some(host),
            RoomPhase::Moving { host } => host,
        }
    }

    /// Whether it stays without players, once it has started.
    pub(crate) fn is_lasting(&self) -> bool {
        self.settings.life != RoomLife::WhilePlayed
    }

    /// Whether it has been started, also if it has no host now.
    pub(crate) fn has_started(&self) -> bool {
        self.run.phase != RoomPhase::Waiting
    }

    pub(crate) fn is_running(&self) -> bool {
        matches!(self.run.phase, RoomPhase::Running { .. } | RoomPhase::Moving { .. })
    }

    /// Whether another build could not read it, and no host of its own build is there.
    pub(crate) fn waits_for_build(&self) -> bool {
        self.run.phase == RoomPhase::Moving { host: None } && self.run.release.is_misfit()
    }

    /// How many players can come into it now: they need a seat, and one of its first map.
    pub(crate) fn free_places(&self) -> u32 {
        let of_map = self.map_seats().saturating_sub(self.player_count());
        self.seats.free_count().min(of_map)
    }

    pub(crate) fn name(&self) -> &LobbyRoomName {
        &self.settings.name
    }

    /// Records that `player` left through the lobby while the room ran.
    pub(crate) fn note_departure(&mut self, now: LocalTime, player: PlayerId) {
        self.recent_leavers.retain(|_, left_at| *left_at + MAX_MESSAGE_AGE >= now);
        if self.recent_leavers.len() >= MAX_RECENT_LEAVERS {
            self.recent_leavers.pop_first();
        }
        self.recent_leavers.insert(player, now);
    }

    /// Whether messages of the host may still refer to the time before `player` left and came back.
    pub(crate) fn left_recently(&self, now: LocalTime, player: PlayerId) -> bool {
        self.recent_leavers.get(&player).is_some_and(|left_at| *left_at + MAX_MESSAGE_AGE >= now)
    }

    /// What operators read when the room was made.
    pub(crate) fn made_event(&self) -> OperatorEvent {
        let (name, game) = (self.settings.name.as_str().to_owned(), self.game.clone());
        let player = self.settings.maker.map(|maker| maker.player.0);
        OperatorEvent::RoomMade { room: self.id.0, name, game, player }
    }

    /// What operators read when a host runs the room, which goes on there if it `resumes`.
    pub(crate) fn runs_event(&self, host: HostId, resumes: bool) -> OperatorEvent {
        let (name, game) = (self.settings.name.as_str().to_owned(), self.game.clone());
        let (room, host) = (self.id.0, host.0);
        if resumes {
            OperatorEvent::RoomResumed { room, name, game, host }
        } else {
            OperatorEvent::RoomStarted { room, name, game, host }
        }
    }

    /// Describes the room to a host.
    pub(crate) fn assignment(&self) -> RoomAssignment {
        RoomAssignment {
            room: self.id,
            game: self.game.clone(),
            parameters: self.parameters_of_map(),
            seed: self.run.seed,
            capacity: self.map_seats(),
            incarnation: self.run.incarnation,
        }
    }

    /// The public description of the room.
    pub(crate) fn listing(&self) -> world::Room {
        world::Room {
            id: self.id.0,
            name: self.settings.name.as_str().to_owned(),
            game: self.game.clone(),
            players: self.seats.taken(),
            capacity: self.seats.capacity(),
            running: self.is_running(),
            has_password: self.door.password.is_some(),
            host: self.host.0,
            parameters: self.public_parameters(),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct LobbyRooms {
    by_id: BTreeMap<RoomId, LobbyRoom>,
    by_network: BTreeMap<SourceNetwork, BTreeSet<RoomId>>,
    last_id: u64,
    /// Rooms that may have changed since [`Self::take_changed`].
    changed: BTreeSet<RoomId>,
}

impl LobbyRooms {
    pub(crate) fn add(&mut self, maker: RoomMaker, create: CreateRoomRequest) -> &mut LobbyRoom {
        self.last_id += 1;
        let id = RoomId(self.last_id);
        self.changed.insert(id);
        self.insert(LobbyRoom::new(id, maker, maker.player, create));
        self.at_mut(id)
    }

    /// Adds a room of the operator's list.
    pub(crate) fn add_operated(&mut self, create: CreateRoomRequest) -> RoomId {
        self.last_id += 1;
        let id = RoomId(self.last_id);
        self.changed.insert(id);
        self.insert(LobbyRoom::of_operator(id, create));
        id
    }

    /// Adds a further map of a world.
    pub(crate) fn add_map(&mut self, world: RoomId, map: u32) -> RoomId {
        self.last_id += 1;
        let id = RoomId(self.last_id);
        let room = LobbyRoom::map_of(self.at(world), id, map);
        self.changed.insert(id);
        self.by_id.insert(id, room);
        id
    }

    /// Restores a room of another lobby. The ids of new rooms come after `last_id`.
    pub(crate) fn restore(&mut self, room: LobbyRoom) {
        self.insert(room);
    }

    fn insert(&mut self, room: LobbyRoom) {
        if let Some(network) = room.settings.maker.and_then(|maker| maker.network) {
            self.by_network.entry(network).or_default().insert(room.id);
        }
        self.by_id.insert(room.id, room);
    }

    /// The highest id that may be in use.
    pub(crate) fn last_id(&self) -> u64 {
        self.last_id
    }

    pub(crate) fn skip_to(&mut self, last_id: u64) {
        self.last_id = self.last_id.max(last_id);
    }

    /// The rooms that may have changed since the last call, removed ones included.
    pub(crate) fn take_changed(&mut self) -> BTreeSet<RoomId> {
        std::mem::take(&mut self.changed)
    }

    pub(crate) fn remove(&mut self, id: RoomId) -> Option<LobbyRoom> {
        self.changed.insert(id);
        let room = self.by_id.remove(&id)?;
        if let Some(network) = room.settings.maker.and_then(|maker| maker.network)
            && let Some(made_there) = self.by_network.get_mut(&network)
        {
            made_there.remove(&id);
            if made_there.is_empty() {
                self.by_network.remove(&network);
            }
        }
        Some(room)
    }

    pub(crate) fn get(&self, id: RoomId) -> Option<&LobbyRoom> {
        self.by_id.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: RoomId) -> Option<&mut LobbyRoom> {
        self.changed.insert(id);
        self.by_id.get_mut(&id)
    }

    /// A room that must exist: a player is in it.
    pub(crate) fn at(&self, id: RoomId) -> &LobbyRoom {
        self.by_id.get(&id).expect("players are in rooms that exist")
    }

    pub(crate) fn at_mut(&mut self, id: RoomId) -> &mut LobbyRoom {
        self.changed.insert(id);
        self.by_id.get_mut(&id).expect("players are in rooms that exist")
    }

    /// In order of their ids.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &LobbyRoom> {
        self.by_id.values()
    }

    pub(crate) fn ids(&self) -> Vec<RoomId> {
        self.by_id.keys().copied().collect()
    }

    /// The rooms that players made from this network. Cost: proportional to their number.
    pub(crate) fn made_from(&self, network: SourceNetwork) -> impl Iterator<Item = &LobbyRoom> {
        let ids = self.by_network.get(&network).into_iter().flatten();
        ids.map(|id| self.at(*id))
    }

    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(crate) fn count_running(&self) -> usize {
        self.iter().filter(|room| room.is_running()).count()
    }
}

/// To a player who is in the room no longer.
pub(crate) fn room_left_body(room: RoomId, why: LobbyRefusal) -> Body {
    Body::RoomLeft(world::RoomLeft { room: room.0, reason: why.code.into(), message: why.message })
}
