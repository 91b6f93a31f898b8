//! The world, as a game sees it.

use std::marker::PhantomData;
use std::time::Duration;

use ambit_proto::ids::{AccountId, ObjectId, PlayerId};
use ambit_proto::keymap::ButtonEdges;
use ambit_proto::physics::Arena;
use ambit_proto::pose::Pose;
use ambit_proto::schema::Controls as _;
use ambit_proto::space::{MAX_XY, MAX_Z, MIN_Z, Position};
use ambit_proto::standing::Standing;
use ambit_proto::time::GameTime;
use ambit_room::logic::contact::ObjectMotion;
use ambit_room::logic::world::{EventAudience, World as RoomWorld};
use ambit_steering::statics::Statics;
use ambit_steering::{ControlState, Held, Movement, Steer, Terrain, run_frames};
use fastrand::Rng;
use ref_cast::RefCast;

use crate::as_seen::AsSeen;
use crate::component::replace_pose;
use crate::declare::{Declare, SavedTimer as _, TimerOf};
use crate::event::{AboutObject, EventOf};
use crate::field::Value;
use crate::id::Id;
use crate::kind::{KindOf, find_within};
use crate::object::{ObjectMut, ObjectRef, Spawn};
use crate::placement::RoomWide;
use crate::sound::SoundOf;

/// The world of a room of the game `G`: its objects, obstacles, timers, random numbers and time.
///
/// Nothing here panics: an object that is gone is `None` or `false`, and a number that has no
/// meaning is reported in the log and ignored.
#[derive(Debug, RefCast)]
#[repr(transparent)]
pub struct World<G> {
    room: RoomWorld,
    game: PhantomData<fn() -> G>,
}

/// Between the room and the game.
#[doc(hidden)]
impl<G> World<G> {
    /// The world of a room.
    pub fn of_room(room: &RoomWorld) -> &Self {
        Self::ref_cast(room)
    }

    /// The world of a room.
    pub fn of_room_mut(room: &mut RoomWorld) -> &mut Self {
        Self::ref_cast_mut(room)
    }

    pub(crate) fn room(&self) -> &RoomWorld {
        &self.room
    }

    pub(crate) fn room_mut(&mut self) -> &mut RoomWorld {
        &mut self.room
    }
}

/// # Time and place
impl<G> World<G> {
    delegate::delegate! {
        to self.room {
            /// The time at which everything that the game does takes effect, for all players at
            /// once. It lies a little ahead of the players' clocks; for the rules it is simply now.
            pub fn now(&self) -> GameTime;

            /// The index of this map in its world of several maps, from 0.
            pub fn map(&self) -> u32;

            /// The static obstacles.
            pub fn statics(&self) -> &Statics;

            /// For adding obstacles in [`Game::start`](crate::Game::start), always in the same
            /// order. Later ones block movement, but clients are not notified.
            pub fn statics_mut(&mut self) -> &mut Statics;

            /// The world's random numbers. Each call shifts all later ones: where numbers for one
            /// player must not influence another's, give each their own generator with
            /// [`World::rng_for`].
            pub fn rng(&mut self) -> &mut Rng;

            /// A generator for one purpose (a `domain` that the game chooses, and an index within
            /// it) that depends only on the room's seed.
            pub fn rng_for(&self, domain: u64, index: u64) -> Rng;
        }
        to self.room.grid() {
            /// The width of the map, along x, in metres.
            pub fn width(&self) -> f32;

            /// The height of the map, along y, in metres.
            pub fn height(&self) -> f32;
        }
        to self.terrain() {
            /// The position on the map that is nearest to this one: for targets that a game
            /// computes. The centre if the position is not finite. The height stays.
            #[must_use]
            pub fn nearest_on_map(&self, position: Position) -> Position;

            /// The last position on the straight way from a position on the map towards another one
            /// that is still on the map. (The one that is nearest to its end may lie beside the
            /// way.)
            #[must_use]
            pub fn end_on_map(&self, from: Position, to: Position) -> Position;
        }
    }

    /// [`World::now`] at the previous tick: what is found out now happened after it.
    pub fn previous_now(&self) -> GameTime {
        self.room.previous_horizon()
    }

    /// How far the players' clocks are behind [`World::now`]: the room's parameter `delay`.
    pub fn local_lag(&self) -> Duration {
        self.room.delay()
    }

    /// The centre of the map, on the ground.
    pub fn centre(&self) -> Position {
        self.room.middle()
    }

    /// Whether a position is finite and on the map. The positions of commands are.
    pub fn is_on_map(&self, position: Position) -> bool {
        self.room.grid().contains(position)
    }

    /// What stands in the way of whatever moves: the obstacles and the map's borders.
    pub fn terrain(&self) -> Terrain<'_> {
        let arena = Arena { width_m: self.width(), height_m: self.height() };
        Terrain { statics: self.statics(), arena }
    }
}

/// # Objects
impl<G> World<G> {
    /// Creates an object, from now on.
    pub fn spawn<K: KindOf<G>>(&mut self, object: K) -> Id<K> {
        let spawn = Spawn { world: &self.room, kind: K::INDEX };
        let components = object.into_components(&spawn);
        Id::new(self.room.spawn(K::INDEX, components))
    }

    /// Removes an object, now. Returns `false`, and does nothing, if it is gone already, or a copy
    /// of another map's ([`World::is_copy`]).
    ///
    /// An avatar stays as well, with a warning in the log: it exists as long as its player is in
    /// the room, because the player sees the world through it. To take it out of play, hide it from
    /// the others ([`Game::sees`](crate::Game::sees)), move it away, or give the kind a component
    /// for it, such as a flag; the game's rules then leave it out.
    pub fn despawn(&mut self, object: impl Into<ObjectId>) -> bool {
        self.despawn_at(object, self.now())
    }

    /// Removes an object that existed until `at`: now, or since the last tick. Otherwise as
    /// [`World::despawn`].
    pub fn despawn_at(&mut self, object: impl Into<ObjectId>, at: GameTime) -> bool {
        let object = object.into();
        if !self.room.contains(object) || self.room.is_copy(object) {
            return false;
        }
        if self.room.is_avatar(object) {
            tracing::warn!(
                "a game despawns {object}, an avatar: it stays until its player has left"
            );
            return false;
        }
        let at = at.clamp(self.previous_now().min(self.now()), self.now());
        self.room.despawn_at(object, at);
        true
    }

    /// Removes objects, now: those of a list, or the one of an `Option`. Otherwise as
    /// [`World::despawn`].
    pub fn despawn_all<O: Into<ObjectId>>(&mut self, objects: impl IntoIterator<Item = O>) {
        for object in objects {
            self.despawn(object);
        }
    }

    /// Reads an object; `None` if it is gone.
    pub fn get<K: KindOf<G>>(&self, id: Id<K>) -> Option<K::Ref<'_>> {
        let object = self.cast::<K>(id.object())?.object();
        Some(K::reader(ObjectRef { world: &self.room, id: object }))
    }

    /// Edits an object; `None` if it is gone, or a copy of another map's ([`World::is_copy`]).
    pub fn edit<K: KindOf<G>>(&mut self, id: Id<K>) -> Option<K::Mut<'_>> {
        let object = self.cast::<K>(id.object())?.object();
        if self.room.is_copy(object) {
            return None;
        }
        Some(K::editor(ObjectMut { world: &mut self.room, id: object }))
    }

    /// An object as one of the kind `K`; `None` if it is gone or of another kind.
    pub fn cast<K: KindOf<G>>(&self, object: impl Into<ObjectId>) -> Option<Id<K>> {
        let object = object.into();
        (self.room.find_kind(object) == Some(K::INDEX)).then(|| Id::new(object))
    }

    /// Whether an object exists and is of the kind `K`.
    pub fn is<K: KindOf<G>>(&self, object: impl Into<ObjectId>) -> bool {
        self.cast::<K>(object).is_some()
    }

    /// Whether an object exists.
    pub fn contains(&self, object: impl Into<ObjectId>) -> bool {
        self.room.contains(object.into())
    }

    /// Where an object is now; `None` if it is gone or room-wide.
    pub fn position(&self, object: impl Into<ObjectId>) -> Option<Position> {
        self.room.find_position(object.into())
    }

    /// Sets the pose of an object of any kind, from now on: for a simulation, whose bodies are of
    /// several kinds. The pose is on the grid of the object's kind.
    pub fn replace_pose(&mut self, object: impl Into<ObjectId>, pose: Pose) {
        let object = object.into();
        if self.room.contains(object) {
            replace_pose(&mut self.room, object, pose);
        }
    }

    /// Moves an object by the function that steers it ([`Steer::steer`]), from the tick before
    /// until now, and sets its pose. Clients do the same for their own avatars, so that what a
    /// player holds shows at once.
    ///
    /// The movement is the game's: it is finer than a pose. A game that sets it to another place
    /// also calls `put_at` of the pose, in the same tick: otherwise the object is shown, and hit,
    /// on its way there. If the function gives what is not finite, the object stays where it is,
    /// with an error in the log.
    pub fn steer<K: KindOf<G> + Steer>(
        &mut self,
        id: Id<K>,
        movement: &mut Movement,
        held: Held<K::SteeredBy>,
    ) {
        let Some(object) = self.cast::<K>(id.object()).map(Id::object) else { return };
        let mut next = *movement;
        let span = (self.previous_now(), self.now());
        run_frames::<K>(&mut next, held, self.terrain(), span);
        if let Some(pose) = next.to_pose(&self.room.pose_format(object)) {
            *movement = next;
            replace_pose(&mut self.room, object, pose);
        } else {
            tracing::error!("`Steer::steer` of {:?} gives {next:?}: ignored", K::NAME);
        }
    }

    /// How an object moves, for queries of contact; `None` if it is gone or room-wide.
    pub fn motion(&self, object: impl Into<ObjectId>) -> Option<ObjectMotion<'_>> {
        let object = object.into();
        self.position(object).map(|_| self.room.motion(object))
    }

    /// The number of objects.
    pub fn len(&self) -> usize {
        self.room.len()
    }

    /// Whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.room.is_empty()
    }

    /// Replaces `found` by all objects of a kind, oldest first. Cost: all objects, sorted; for
    /// objects near a position there is [`World::find_within`].
    pub fn find_all<K: KindOf<G>>(&self, found: &mut Vec<Id<K>>) {
        found.clear();
        found.extend(self.room.objects().filter_map(|object| self.cast(object)));
    }

    /// Replaces `found` by the objects of a kind that are now within `radius_m` of `centre`, oldest
    /// first. Cost: the cells around.
    pub fn find_within<K: KindOf<G>>(
        &self,
        centre: Position,
        radius_m: f32,
        found: &mut Vec<Id<K>>,
    ) {
        find_within(&self.room, (centre, radius_m), found);
    }

    /// The objects of a kind that are now within `radius_m` of `centre`, oldest first: as
    /// [`World::find_within`], which reuses a list.
    #[must_use]
    pub fn all_within<K: KindOf<G>>(&self, centre: Position, radius_m: f32) -> Vec<Id<K>> {
        let mut near = Vec::new();
        self.find_within(centre, radius_m, &mut near);
        near
    }

    /// The object of a kind that is now nearest to `centre` on (x, y), of those within `radius_m`;
    /// of several the oldest. Cost: the cells around.
    pub fn nearest_within<K: KindOf<G>>(&self, centre: Position, radius_m: f32) -> Option<Id<K>> {
        let near = self.all_within(centre, radius_m);
        let distance = |id: &Id<K>| {
            self.position(*id).map_or(f32::MAX, |position| position.ground_distance(centre))
        };
        near.into_iter().min_by(|one, other| distance(one).total_cmp(&distance(other)))
    }

    /// Replaces `found` by the objects of all kinds that are now within `radius_m` of `centre`,
    /// oldest first.
    pub fn find_any_within(&self, centre: Position, radius_m: f32, found: &mut Vec<ObjectId>) {
        self.room.find_within(centre, radius_m, found);
    }

    /// Replaces `found` by the objects of a kind that are now in the rectangle on (x, y) with these
    /// corners, oldest first.
    pub fn find_in_rectangle<K: KindOf<G>>(
        &self,
        low: Position,
        high: Position,
        found: &mut Vec<Id<K>>,
    ) {
        found.clear();
        self.room.visit_in_rectangle(low, high, |object| {
            found.extend(self.cast::<K>(object));
        });
        found.sort_unstable();
    }

    /// Replaces `found` by the objects of all kinds that are now in the rectangle on (x, y) with
    /// these corners, oldest first.
    pub fn find_any_in_rectangle(&self, low: Position, high: Position, found: &mut Vec<ObjectId>) {
        self.room.find_in_rectangle(low, high, found);
    }
}

/// # What all players have
///
/// Objects of [room-wide](RoomWide) kinds have no place. They are spawned, edited and despawned
/// like all others.
///
/// ```
/// # use ambit::prelude::*;
/// # #[derive(Kind)]
/// # struct Ship { path: Path }
/// /// The match: one object.
/// #[derive(Kind)]
/// #[kind(room_wide)]
/// struct Match { round: Number<1, 99>, time_left: Gauge<300> }
///
/// /// A row of each player. What only the player is to know has another audience.
/// #[derive(Kind)]
/// #[kind(room_wide)]
/// struct Score {
///     name: Text<24>,
///     points: Number<-999, 999>,
///     #[audience(owner)]
///     hits: Number<0, 9_999>,
/// }
///
/// #[derive(Event)]
/// struct RoundOver { winner: Text<24> }
///
/// # #[derive(Default, Serialize, Deserialize, Declare)]
/// # #[declare(kinds(Ship, Match, Score), events(RoundOver))]
/// # struct Shooter;
/// # impl Game for Shooter {
/// #     const INFO: GameInfo = GameInfo::new("shooter", "Shoot.");
/// #     type Avatar = Ship;
/// #     no_commands!();
/// #     type Refusal = NoRefusal;
/// fn start(&mut self, world: &mut World<Self>) {
///     world.spawn(Match { round: 1.into(), time_left: Gauge::full().changing(-1.0) });
/// }
///
/// fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer<'_>) -> Id<Ship> {
///     let name = newcomer.name.into();
///     world.spawn_row(newcomer.id, Score { name, points: 0.into(), hits: 0.into() });
///     world.spawn(Ship { path: Path::at(world.centre()) })
/// }
/// # }
///
/// # impl Shooter {
/// fn hit(&mut self, world: &mut World<Self>, shooter: PlayerId) {
///     if let Some(mut score) = world.edit_row::<Score>(shooter) {
///         score.points().add(2);
///         score.hits().add(1);
///     }
///     let won = world.row::<Score>(shooter).filter(|score| score.points() >= 50);
///     if let Some(winner) = won.map(|score| score.name().into()) {
///         world.announce(RoundOver { winner });
///     }
/// }
/// # }
/// ```
impl<G> World<G> {
    /// Creates a row of a player, from now on: the player owns it, and it goes when the player has
    /// left for good.
    pub fn spawn_row<K: KindOf<G> + RoomWide>(
        &mut self,
        player: impl Into<PlayerId>,
        row: K,
    ) -> Id<K> {
        let player = player.into();
        let first = self.find_room_wide::<K>(Some(player));
        if let Some(first) = first.filter(|first| !self.is_copy(*first)) {
            tracing::error!(
                player = player.0,
                "`World::spawn_row` gives a player a second row of the kind {:?}: the first one \
                 stays; change it with `World::edit_row`",
                K::NAME
            );
            return first;
        }
        let id = self.spawn(row);
        self.room.set_owner(id.object(), player);
        id
    }

    /// Whether an object is the copy of one of another map of the world: of a kind with
    /// `#[kind(world_wide)]`. It is read-only, follows within about a quarter of a second, and its
    /// owner may be a player who is not on this map.
    pub fn is_copy(&self, object: impl Into<ObjectId>) -> bool {
        self.room.is_copy(object.into())
    }

    /// Reads the row of a player; `None` without one.
    pub fn row<K: KindOf<G> + RoomWide>(&self, player: impl Into<PlayerId>) -> Option<K::Ref<'_>> {
        self.get(self.find_room_wide::<K>(Some(player.into()))?)
    }

    /// Edits the row of a player; `None` without one.
    pub fn edit_row<K: KindOf<G> + RoomWide>(
        &mut self,
        player: impl Into<PlayerId>,
    ) -> Option<K::Mut<'_>> {
        self.edit(self.find_room_wide::<K>(Some(player.into()))?)
    }

    /// Reads the first object of a room-wide kind that belongs to no player; `None` without one.
    pub fn state<K: KindOf<G> + RoomWide>(&self) -> Option<K::Ref<'_>> {
        self.get(self.find_room_wide::<K>(None)?)
    }

    /// Edits the first object of a room-wide kind that belongs to no player; `None` without one.
    pub fn edit_state<K: KindOf<G> + RoomWide>(&mut self) -> Option<K::Mut<'_>> {
        self.edit(self.find_room_wide::<K>(None)?)
    }

    fn find_room_wide<K: KindOf<G>>(&self, owner: Option<PlayerId>) -> Option<Id<K>> {
        self.room.room_wide(K::INDEX, owner).map(Id::new)
    }

    /// The account of a player in the room, if the session has one
    /// ([`Newcomer::account`](crate::Newcomer::account)).
    pub fn account(&self, player: impl Into<PlayerId>) -> Option<AccountId> {
        self.room.account(player.into())
    }

    /// Whether a player has made the room, and what the operator trusts it with, as of its last
    /// join. The default for a player who is not there.
    pub fn standing(&self, player: impl Into<PlayerId>) -> Standing {
        self.room.standing(player.into())
    }

    /// The round trip to a player's client and back, as of the last second; `None` before it is
    /// known. It contains what the client waits before it acknowledges (some 10 ms).
    pub fn ping(&self, player: impl Into<PlayerId>) -> Option<Duration> {
        let ping_ms = self.room.player(player.into())?.ping_ms?;
        Some(Duration::from_millis(ping_ms.into()))
    }

    /// Sends an event to all players in the room, wherever they are. It takes effect now;
    /// [`Emitted::at`] changes this. Nothing is sent if a position in the event is not finite or a
    /// [`Listed`](crate::Listed) is beyond its list, with an error in the log. An object in it is
    /// nameless to those who do not see it.
    pub fn announce<E: EventOf<G>>(&mut self, event: E) -> Emitted<'_, G> {
        self.send_event(event, EventAudience::Everyone)
    }

    /// Sends an event to all players on all maps of the world, now: at most 64 at a tick. On
    /// another map it comes some milliseconds later, an object in it is nameless there, and while
    /// that map changes its host it may be lost. Otherwise as [`World::announce`].
    pub fn announce_world_wide<E: EventOf<G>>(&mut self, event: E) {
        if let Some(fields) = self.checked_fields(event) {
            self.room.announce_world_wide(E::INDEX, fields);
        }
    }

    /// Sends an event to one player, near or far. Otherwise as [`World::announce`]. What
    /// the player is to know for longer is in a component with `#[audience(owner)]`, of a row for
    /// example.
    pub fn tell<E: EventOf<G>>(&mut self, player: impl Into<PlayerId>, event: E) -> Emitted<'_, G> {
        let player = player.into();
        if self.room.player(player).is_none() {
            return Emitted { world: None, game: PhantomData };
        }
        self.send_event(event, EventAudience::Player(player))
    }

    /// Sends an event to each of these players, such as a party, now. Otherwise as
    /// [`World::announce`].
    pub fn tell_all<E: EventOf<G> + Clone>(
        &mut self,
        players: impl IntoIterator<Item = PlayerId>,
        event: &E,
    ) {
        for player in players {
            self.tell(player, event.clone());
        }
    }

    /// Puts a player out of the room, at the end of this tick: [`Game::leave`] follows with
    /// [`Left::PutOut`], and the player reads why. The player may join again; what keeps one away
    /// is for [`Game::join`](crate::Game::join) to remember. `false` if there is no such player.
    ///
    /// [`Game::leave`]: crate::Game::leave
    /// [`Left::PutOut`]: crate::Left::PutOut
    pub fn put_out(&mut self, player: impl Into<PlayerId>, why: &str) -> bool {
        self.room.put_out(player.into(), why)
    }

    /// Counts something for the operator: `ambit_game_counts_total{count="game/name"}` in the
    /// server's metrics is the sum of all rooms. A name is a word of lower case, digits and `_`, of
    /// at most 32 bytes, and a game has 32 of them; others are ignored, with an error in the log.
    pub fn count(&mut self, name: &'static str, number: u64) {
        if !self.room.count(name, number) {
            tracing::error!("a game counts {name:?}, which is no such name or one too many");
        }
    }

    /// Sends an event to the players whose avatars are of a team. Otherwise as
    /// [`World::announce`].
    pub fn announce_to_team<E: EventOf<G>>(&mut self, team: u8, event: E) -> Emitted<'_, G> {
        self.send_event(event, EventAudience::Team(team))
    }

    fn send_event<E: EventOf<G>>(&mut self, event: E, audience: EventAudience) -> Emitted<'_, G> {
        let Some(fields) = self.checked_fields(event) else {
            return Emitted { world: None, game: PhantomData };
        };
        let now = self.room.now();
        self.room.emit(E::INDEX, audience, now, fields);
        Emitted { world: Some(&mut self.room), game: PhantomData }
    }

    /// `None`, with an error in the log, for what cannot be sent.
    fn checked_fields<E: EventOf<G>>(&self, event: E) -> Option<Vec<Value>> {
        let mut fields = event.into_fields();
        let event = &self.room.schema().events[usize::from(E::INDEX)];
        for value in &mut fields {
            if let Value::Position(position) = value {
                if !position.is_finite() {
                    let event = &event.name;
                    tracing::error!("a game sends the event {event} with {position:?}: ignored");
                    return None;
                }
                *position = nearest_on_wire(*position);
            }
        }
        if !Value::all_fit(&fields, &event.fields) {
            tracing::error!(
                "a game sends the event {} with {fields:?}, which is more than its fields allow, \
                 such as a `Listed` beyond its list: ignored",
                event.name
            );
            return None;
        }
        Some(fields)
    }
}

/// # Who receives what
impl<G> World<G> {
    /// Assigns an object to a team, or to none. Players of the team then receive its team-only
    /// components, and get fresher updates of each other.
    pub fn set_team(&mut self, object: impl Into<ObjectId>, team: Option<u8>) {
        let object = object.into();
        if self.room.contains(object) && !self.room.is_copy(object) {
            self.room.set_team(object, team);
        }
    }

    /// Assigns an object to a player, who then receives its owner-only components. An avatar stays
    /// its own player's.
    pub fn set_owner(&mut self, object: impl Into<ObjectId>, player: PlayerId) {
        let object = object.into();
        let is_free = !self.room.is_avatar(object) && !self.room.is_copy(object);
        if self.room.contains(object) && is_free {
            self.room.set_owner(object, player);
        }
    }

    /// Marks an object as engaged with the avatar `viewer` until a time, as its target or its
    /// attacker: the viewer's player then gets the freshest updates of it. The traffic reveals
    /// this, so mark only what the player knows in any case.
    pub fn engage(
        &mut self,
        viewer: impl Into<ObjectId>,
        object: impl Into<ObjectId>,
        until: GameTime,
    ) {
        let viewer = viewer.into();
        let object = object.into();
        if self.room.contains(viewer) && self.room.contains(object) {
            self.room.engage(viewer, object, until);
        }
    }

    /// Lets the room ask each viewer near an object again whether it sees it
    /// ([`Game::sees`](crate::Game::sees)): when the answers change, because the object hides or
    /// shows itself, for example. The answers at the end of the tick decide who receives what
    /// happens to the object in this tick, events included.
    pub fn ask_who_sees(&mut self, object: impl Into<ObjectId>) {
        let object = object.into();
        if self.room.contains(object) {
            self.room.ask_who_sees(object);
        }
    }

    /// Lets the room ask again what an avatar sees of all that is near it, at the end of the tick:
    /// when it is blinded, or has climbed a tower, for example.
    pub fn ask_what_is_seen_by(&mut self, viewer: impl Into<ObjectId>) {
        let viewer = viewer.into();
        if self.room.contains(viewer) {
            self.room.ask_what_is_seen_by(viewer);
        }
    }

    /// Sets the bandwidth limit of a player, or of all players (`None`), including later ones.
    pub fn set_budget(&mut self, player: Option<PlayerId>, bytes_per_s: u32) {
        self.room.set_budget(player, bytes_per_s);
    }

    /// Sends an event to the clients that follow the object that it is about. It takes effect now;
    /// [`Emitted::at`] changes this. If that object is gone, nothing is sent; nor if a position in
    /// the event is not finite, with an error in the log. [`Emitted::heard`] gives it a sound.
    pub fn emit<E: EventOf<G> + AboutObject>(&mut self, event: E) -> Emitted<'_, G> {
        let about = event.about();
        if !self.room.contains(about) {
            return Emitted { world: None, game: PhantomData };
        }
        self.send_event(event, EventAudience::Followers(about))
    }
}

/// # Controls
///
/// The game declares what players hold down, press and move
/// ([`Controls`](macro@crate::Controls)). From [`Game::input`](crate::Game::input) on these return
/// the state of this tick; before that, in a command, that of the previous tick.
impl<G: Declare> World<G> {
    /// Whether a player holds a control, or has pressed it since the previous tick, however
    /// briefly.
    pub fn pressed(&self, player: impl Into<PlayerId>, control: G::Controls) -> bool {
        self.button_edges(player).pressed().down(control.index())
    }

    /// The time that a player's screen showed when the player held or pressed what acts at this
    /// tick: for [`World::as_seen_by`]. The client says it; it counts as far back as
    /// [`Game::LAG_COMPENSATION`](crate::Game::LAG_COMPENSATION) before the players' clock, and
    /// never as later than that clock.
    pub fn shown_to(&self, player: impl Into<PlayerId>) -> GameTime {
        self.room.shown_to(player.into())
    }

    /// The world as a player's screen showed it at a time, mostly [`World::shown_to`]: for shots
    /// that hit what was aimed at. An earlier time than the game keeps counts as the earliest.
    pub fn as_seen_by(&self, player: impl Into<PlayerId>, at: GameTime) -> AsSeen<'_, G> {
        let own = self.room.player(player.into()).map(|player| player.avatar);
        AsSeen::new(&self.room, own, at)
    }

    /// All that a player holds at this tick, for [`World::steer`]: keys that were pressed since the
    /// previous tick, too.
    pub fn held(&self, player: impl Into<PlayerId>) -> Held<G::Controls> {
        let player = player.into();
        let keys = self.button_edges(player).pressed();
        Held::new(ControlState { keys, axes: self.room.axes(player) })
    }

    /// Whether a player has pressed a control since the previous tick. Each press is reported once,
    /// in one tick.
    pub fn just_pressed(&self, player: impl Into<PlayerId>, control: G::Controls) -> bool {
        self.button_edges(player).just_pressed().down(control.index())
    }

    /// Whether a player has released a control since the previous tick. Each release is reported
    /// once, in one tick; for a tap that is the tick of the press.
    pub fn just_released(&self, player: impl Into<PlayerId>, control: G::Controls) -> bool {
        self.button_edges(player).just_released().down(control.index())
    }

    /// The value of an axis at this tick: -1 to 1, or for an angle radians counter-clockwise from
    /// the east, from -pi to pi. It is 0 until the player moves it. If the player's connection
    /// ends, an axis from -1 to 1 goes back to 0, and an angle stays.
    ///
    /// # Panics
    /// If the control is declared neither as `axis` nor as `angle`.
    pub fn axis(&self, player: impl Into<PlayerId>, control: G::Controls) -> f32 {
        self.room.axis(player.into(), control.index())
    }

    /// The held controls and all press and release edges of a player at this tick.
    pub fn button_edges(&self, player: impl Into<PlayerId>) -> ButtonEdges {
        self.room.button_edges(player.into())
    }
}

/// # Timers
///
/// A timer comes back to [`Game::timer`](crate::Game::timer). Timers are saved with the room, and
/// are never cancelled: when one is due, check whether there is still anything to do.
impl<G: Declare> World<G> {
    /// Sets a timer for some time after now. With a delay of zero it comes at the next tick; one
    /// that is longer than a room can last never comes.
    pub fn after<T: TimerOf<G>>(&mut self, delay: Duration, timer: T) {
        self.at(self.now() + delay, timer);
    }

    /// Sets a timer for a time. If that is not after now, the timer comes at the next tick.
    pub fn at<T: TimerOf<G>>(&mut self, time: GameTime, timer: T) {
        let set = timer.into_declared().to_payload().and_then(|payload| {
            let set = self.room.set_timer(time, payload);
            set.map_err(|error| error.to_string())
        });
        if let Err(error) = set {
            tracing::error!("a game sets a timer, which is dropped: {error}");
        }
    }
}

/// An event that was sent just now.
#[derive(Debug)]
pub struct Emitted<'w, G> {
    /// `None` if it was not sent.
    world: Option<&'w mut RoomWorld>,
    game: PhantomData<fn() -> G>,
}

impl<G> Emitted<'_, G> {
    /// The event can be heard where it is not seen: players whose avatars are within `radius_m` and
    /// who do not get the event get the sound, through walls and from behind. They learn its
    /// direction on the map in 16 steps and its loudness in four, and when it was; no place, no id.
    /// An event that all players get, an announcement or one about something room-wide, has no
    /// sound: an error in the log says so.
    pub fn heard<S: SoundOf<G>>(mut self, radius_m: f32) -> Self {
        let Some(world) = &mut self.world else { return self };
        let sound = S::NAME;
        if !radius_m.is_finite() {
            tracing::error!("a game lets {sound} be heard within {radius_m} m: ignored");
        } else if radius_m > 0.0 && !world.set_sound_of_last_event(S::INDEX, radius_m) {
            tracing::error!(
                "a game lets {sound} be heard of an event that has no place, since all players get \
                 it: ignored"
            );
        }
        self
    }

    /// The event takes effect at another time: later, or since the last tick.
    pub fn at(self, time: GameTime) {
        if let Some(world) = self.world {
            world.set_effect_of_last_event(time.max(world.previous_horizon()));
        }
    }
}

/// A position that a message can contain.
fn nearest_on_wire(position: Position) -> Position {
    Position {
        x: position.x.clamp(0.0, MAX_XY),
        y: position.y.clamp(0.0, MAX_XY),
        z: position.z.clamp(MIN_Z, MAX_Z),
    }
}
