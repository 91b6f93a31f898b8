//! The rules of a game.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use ambit_proto::ids::{AccountId, ObjectId, PlayerId};
use ambit_proto::schema::{Codec, Schema};
use ambit_proto::space::Position;
use ambit_proto::standing::Standing;
use ambit_proto::time::GameTime;
use ambit_proto::wishes::Wishes;
use ambit_room::config::{BadParameter, Surroundings};
use ambit_room::logic::controls::DEFAULT_INPUT_TIMEOUT;
use ambit_room::logic::game::{GameInfo, Left};
use ambit_room::logic::gate::Gate;
use ambit_room::saved::{BadState, Saved};

use crate::command::Command;
use crate::declare::Declare;
use crate::id::Id;
use crate::kind::KindOf;
use crate::object::ObjectMut;
use crate::placement::Placed;
use crate::refusal::Refusal;
use crate::scenery::Scenery;
use crate::sight::{Sight, SightChecks};
use crate::store_reply::StoreReply;
use crate::world::World;

/// The rules of a game: what happens in one of its rooms.
///
/// A game is a plain struct. It knows nothing of packets, clients and threads: it changes the
/// [`World`], and the room sends each client what it may know of that. A room makes a game with
/// `Default`, then calls [`configure`](Game::configure) and, at its first tick,
/// [`start`](Game::start).
///
/// # A tick
///
/// The due timers come first, in the order of their times; then commands, joins and leaves in the
/// order of their arrival; then [`input`](Game::input) for each player whose controls have changed;
/// then [`step`](Game::step). Everything takes effect at [`World::now`].
///
/// # The same seed and inputs give the same game
///
/// Rooms are replayed when their host dies. So a game takes random numbers from [`World::rng`] or
/// [`World::rng_for`], time from the world, and order from sorted maps and lists, never from a
/// `HashMap`; and it keeps what must not be lost in its own fields, which are saved.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a game",
    label = "not a game",
    note = "write `impl Game for {Self} {{ ... }}`, and add `Default, Serialize, Deserialize, \
            Declare` to its derives"
)]
pub trait Game: Default + Declare + Send + Sized + 'static {
    /// What the lobby knows of the game.
    const INFO: GameInfo;
    /// How simple viewers draw the map: camera, ground, obstacles.
    const SCENERY: Scenery = Scenery::new();
    /// How far back, before the players' clock, [`World::as_seen_by`] may look, at most 2 s; zero
    /// for a game that never asks. With it, clients say which time their screens showed.
    const LAG_COMPENSATION: Duration = Duration::ZERO;
    /// How long the keys that a player holds count after the newest sample of them, and moved axes
    /// with them. A client that holds a key samples it 20 times a second; one that has hung or lost
    /// its line does not, and its connection is known to be lost only after some 10 s.
    const INPUT_TIMEOUT: Duration = DEFAULT_INPUT_TIMEOUT;
    /// The kind of the players' avatars; at least as visible as the game (`pub`).
    type Avatar: KindOf<Self> + Placed;
    /// What players can do. A game with controls alone has
    /// [`no_commands!();`](crate::no_commands) here, without a method `command`.
    type Command: Command;
    /// Why the game refuses commands; `NoRefusal` if it never does.
    type Refusal: Refusal;

    /// More values of a parameter that is a `String`, beside its default: names of folders that the
    /// operator has, for example. Called once for each, when the program starts.
    fn words(key: &str) -> Vec<String> {
        let _ = key;
        Vec::new()
    }

    /// Takes the parameters of the room, of the struct with `#[derive(Parameters)]`. Their ranges
    /// are checked already; an error says what does not fit together.
    fn configure(&mut self, parameters: Self::Parameters) -> Result<(), BadParameter> {
        let _ = parameters;
        Ok(())
    }

    /// Adjusts the declaration to the parameters: ranges, formats of poses, looks, the scenery,
    /// freshness. Called after `configure`, perhaps several times, always with the same result. The
    /// names and the types of components, fields and commands must stay.
    fn schema(&self, schema: &mut Schema) {
        let _ = schema;
    }

    /// How far what is around a player matters: from how far something may act on a player, and
    /// how far players should see. The zones of interest contain both: by default, and a room whose
    /// inner zone is smaller than the reach is refused. Pages show no more than the inner zone.
    /// Called after `configure`, so it may depend on the parameters.
    ///
    /// ```
    /// # use ambit::prelude::*;
    /// # fn surroundings() -> Surroundings {
    /// // Arrows fly 15 m; the picture shows 19 m to each side.
    /// Surroundings::new().reach_m(15.0).view_m(19.0)
    /// # }
    /// ```
    ///
    /// Count in how far an avatar goes between the warning and the blow. An object that flies
    /// warns by itself: clients must know it as long before it hits as players need to get out of
    /// its way. Without this the zones are 3 x 3 cells of 10 m: 9 m are certain.
    fn surroundings(&self) -> Surroundings {
        Surroundings::NONE
    }

    /// How many objects the game creates in addition to avatars, as far as its parameters say it.
    /// An operator may limit them, and the pairs of objects and players (`--room-limit`), so a game
    /// with such a parameter should return its value. Called after `configure`.
    fn planned_objects(&self) -> u64 {
        0
    }

    /// Starts the room: creates the obstacles and objects of the world.
    fn start(&mut self, world: &mut World<Self>) {
        let _ = world;
    }

    /// A player comes for the first time: creates the avatar through which the player sees the
    /// world.
    ///
    /// The avatar exists and is of no other player when this returns. A game that returns anything
    /// else has a bug: the room then refuses the player, with an error in the log, and goes on.
    fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer<'_>) -> Id<Self::Avatar>;

    /// A player has a new name. The default shows it: it sets each text component that is called
    /// `name`, of the avatar and of what is room-wide and belongs to the player.
    fn rename(&mut self, world: &mut World<Self>, player: Player<'_, Self>) {
        world.show_name(player);
    }

    /// A player has left this room for good, and `why`; afterwards the avatar is removed. A player
    /// who only lost the connection keeps the avatar for the grace period.
    ///
    /// With [`Left::ToMap`] the player is on another map, and has there what
    /// [`carry`](Game::carry) returned: goods that this map keeps or drops would exist twice.
    fn leave(&mut self, world: &mut World<Self>, player: Player<'_, Self>, why: Left) {
        let _ = (world, player, why);
    }

    /// Executes a command of a player, effective at [`World::now`], or refuses it.
    ///
    /// A game without commands has `no_commands!();` instead of this method and
    /// [`Command`](Game::Command).
    fn command(
        &mut self,
        world: &mut World<Self>,
        player: Player<'_, Self>,
        command: Self::Command,
    ) -> Result<(), Self::Refusal>;

    /// The controls of a player differ from those at the previous tick, one was pressed again, or
    /// an axis has moved. [`World::pressed`] and its siblings give the same answers here and in
    /// `step`, so a game may leave this out.
    fn input(&mut self, world: &mut World<Self>, player: Player<'_, Self>) {
        let _ = (world, player);
    }

    /// A timer was due at `due`, which is not after [`World::now`]. A game that declares timers
    /// writes this method; otherwise the compiler refuses it when it generates code for the game
    /// (in `cargo build` and `cargo test`, but not yet in `cargo check`).
    fn timer(&mut self, world: &mut World<Self>, timer: Self::Timer, due: GameTime) {
        const {
            assert!(
                !Self::HAS_TIMERS,
                "this game declares timers, but does nothing when they are due: write `fn timer` \
                 in its `impl Game`"
            );
        }
        let _ = (world, timer, due);
    }

    /// All who were in the room when it was started are in the game, so that a round can begin; or
    /// they have left, or 10 s have passed. Called once, before [`step`](Game::step): at the first
    /// tick where no player is expected, as in a world that is opened without players, or on a
    /// further map.
    fn all_here(&mut self, world: &mut World<Self>) {
        let _ = world;
    }

    /// The end of a tick, `dt` after the previous one.
    fn step(&mut self, world: &mut World<Self>, dt: Duration) {
        let _ = (world, dt);
    }

    /// Whether a viewer's avatar sees an object that is near enough. A player always sees the own
    /// avatar. [`Cone`](crate::sight::Cone) is a ready answer: by distance, heading and walls.
    ///
    /// The room asks when an object comes into the inner zone of a viewer, and takes the answer to
    /// hold until it asks again: when the game calls [`World::ask_who_sees`] (about one object) or
    /// [`World::ask_what_is_seen_by`] (about one viewer), and as
    /// [`sight_checks`](Game::sight_checks) says. Take care of one of these whenever anything else
    /// changes the answer. The room never asks about what is outside the viewer's outer zone.
    ///
    /// `sight` says whether the viewer follows the object already, for sight with hysteresis: what
    /// is seen as [`Sight::New`] must also be seen as [`Sight::Kept`].
    fn sees(
        &self,
        world: &World<Self>,
        viewer: Id<Self::Avatar>,
        object: ObjectId,
        sight: Sight,
    ) -> bool {
        let _ = (world, viewer, object, sight);
        true
    }

    /// When the room asks [`sees`](Game::sees) again by itself: each viewer once in some ticks, or
    /// when its avatar has turned. The same at every call. The default is never.
    fn sight_checks(&self) -> SightChecks {
        SightChecks::ON_DEMAND
    }

    /// The gates from this map to other maps of its world. Called once, after `start`.
    fn gates(&self, world: &World<Self>) -> Vec<Gate> {
        let _ = world;
        Vec::new()
    }

    /// The other map to which a player goes from wherever the avatar is, as if a gate were there,
    /// and where it arrives: when a whole party goes on, for example. `None`, the default, for a
    /// player who stays. Asked at the end of each tick; one who cannot go is sent again once this
    /// was `None` meanwhile.
    fn departs(&self, world: &World<Self>, player: Player<'_, Self>) -> Option<(u32, Position)> {
        let _ = (world, player);
        None
    }

    /// What a player in a gate takes to the other map, at most 4,096 bytes; `None` if the player
    /// must stay for now. `leave` follows at once, with [`Left::ToMap`]. Each map has its own time:
    /// save how long something still lasts, not when it ends. [`saved::of`](crate::saved::of)
    /// encodes any type.
    fn carry(&self, world: &World<Self>, player: Player<'_, Self>) -> Option<Vec<u8>> {
        let _ = (world, player);
        Some(Vec::new())
    }

    /// A player arrives at `at` through a gate of another map, with what `carry` returned there.
    /// The default joins, and moves the avatar there. As in [`join`](Game::join), the avatar exists
    /// when this returns; otherwise the player joins as a new one.
    fn arrive(
        &mut self,
        world: &mut World<Self>,
        newcomer: Newcomer<'_>,
        at: Position,
        carried: &[u8],
    ) -> Id<Self::Avatar> {
        let _ = carried;
        let avatar = self.join(world, newcomer);
        if world.contains(avatar) {
            world.room_mut().put_at(avatar.object(), at);
        }
        avatar
    }

    /// The room has slept for this time, since it had no players
    /// ([`GameInfo::lasting`](crate::GameInfo::lasting)): no tick has run. Gauges and paths have
    /// gone on, and timers that were due meanwhile follow. The tick is as long as any other: what
    /// [`step`](Game::step) does for each tick it does not do for this time.
    fn wake(&mut self, world: &mut World<Self>, slept: Duration) {
        let _ = (world, slept);
    }

    /// The store has answered a request of [`World::load`], [`World::store`] or
    /// [`World::add_result`]. A player whom it concerns may have left meanwhile.
    fn stored(&mut self, world: &mut World<Self>, reply: StoreReply<'_>) {
        let _ = (world, reply);
    }

    /// Whether the room may move to a host of a newer build of the game now, between two ticks. Its
    /// players see a pause as when a host is lost, a second at most on most machines. The room is
    /// asked after each tick from when there is such a host. A game with rounds allows it between
    /// two rounds; one that never does ends with the build that it began with.
    fn may_move(&self, world: &World<Self>) -> bool {
        let _ = world;
        true
    }

    /// Whether the game is over: the room then closes.
    fn is_finished(&self) -> bool {
        false
    }

    /// The state of the game beside the world, between two ticks. The default is all fields.
    fn save(&self) -> Option<Vec<u8>> {
        self.save_fields()
    }

    /// Continues from what [`save`](Game::save) returned, perhaps in another build. This game is
    /// configured with the same parameters and has started; the world is restored already: same
    /// objects, same ids, same timers. The default is [`upgrade`](Game::upgrade).
    fn restore(&mut self, world: &mut World<Self>, saved: Saved<'_>) -> Result<(), BadState> {
        let _ = world;
        *self = Self::upgrade(saved.version(), saved)?;
        Ok(())
    }

    /// Reads what a build has saved in which the game's declaration had this version
    /// (`#[declare(version = ...)]`, 0 without it). The default reads this type, whatever the
    /// version: fields that were added have `#[serde(default)]`. Write it where a type has changed,
    /// and keep the old one:
    ///
    /// ```
    /// # use ambit::prelude::*;
    /// use ambit::saved::{BadState, Saved};
    ///
    /// /// As it was before version 1: a number instead of a purse for each.
    /// #[derive(Serialize, Deserialize)]
    /// struct Version0 {
    ///     gold: u32,
    /// }
    ///
    /// #[derive(Default, Serialize, Deserialize)]
    /// struct Pouch {
    ///     coins: u32,
    /// }
    ///
    /// #[derive(Default, Serialize, Deserialize, Declare)]
    /// #[declare(kinds(Walker), version = 1)]
    /// struct Stroll {
    ///     purse: Pouch,
    /// }
    ///
    /// impl Game for Stroll {
    ///     fn upgrade(version: u32, saved: Saved<'_>) -> Result<Self, BadState> {
    ///         if version == 0 {
    ///             let Version0 { gold } = saved.read()?;
    ///             return Ok(Self { purse: Pouch { coins: gold } });
    ///         }
    ///         saved.read()
    ///     }
    ///     // ...
    ///     # no_commands!();
    ///     # const INFO: GameInfo = GameInfo::new("stroll", "Take a walk.");
    ///     # type Avatar = Walker;
    ///     # type Refusal = NoRefusal;
    ///     # fn join(&mut self, world: &mut World<Self>, _: Newcomer) -> Id<Walker> {
    ///     #     world.spawn(Walker { path: Path::at(world.centre()) })
    ///     # }
    /// }
    /// # #[derive(Kind)]
    /// # struct Walker { path: Path }
    /// ```
    ///
    /// What a later version has saved is not read: such a room waits for a host of that build.
    fn upgrade(version: u32, saved: Saved<'_>) -> Result<Self, BadState> {
        let _ = version;
        Self::read_fields(saved.bytes())
    }

    /// The room was saved by a build with an earlier version, and goes on now: `start` has not run
    /// in its world, so what this version has more, such as objects of a new kind, is made here.
    fn upgraded(&mut self, world: &mut World<Self>, from: u32) {
        let _ = (world, from);
    }
}

/// In the `impl Game` of a game without commands, such as one with controls alone. Once you write
/// an enum of commands, replace it by `type Command = Command;` and
/// [`fn command`](crate::Game::command).
#[macro_export]
macro_rules! no_commands {
    () => {
        type Command = $crate::NoCommand;

        fn command(
            &mut self,
            _: &mut $crate::World<Self>,
            _: $crate::Player<'_, Self>,
            // Not `NoCommand`: beside another `type Command` that would be a second error.
            _: Self::Command,
        ) -> ::core::result::Result<(), Self::Refusal> {
            ::core::unreachable!("a game without commands gets none")
        }
    };
}

/// A player who has no avatar yet.
#[derive(Clone, Copy, Debug)]
pub struct Newcomer<'a> {
    /// Identifies the player as long as the session exists; a key for the game's own tables.
    pub id: PlayerId,
    /// The player's name.
    pub name: &'a str,
    /// The player's account, if the session has one: the same tomorrow, and in every room.
    pub account: Option<AccountId>,
    /// Whether the player has made the room, and what the operator trusts the account with.
    pub standing: Standing,
    /// What the player's client wishes: a class, a team, a skin. Claims to be checked. Empty for
    /// one who arrives from another map.
    pub wishes: &'a Wishes,
}

impl From<Newcomer<'_>> for PlayerId {
    fn from(newcomer: Newcomer<'_>) -> Self {
        newcomer.id
    }
}

/// A player in the room.
///
/// It cannot be stored, so the player and the avatar exist. Store the [`id`](Player::id), and look
/// the player up with [`World::player`].
#[derive_where::derive_where(Clone, Copy)]
pub struct Player<'a, G: Game> {
    id: PlayerId,
    name: &'a str,
    avatar: ObjectId,
    game: PhantomData<fn() -> G>,
}

impl<'a, G: Game> Player<'a, G> {
    pub(crate) fn new(id: PlayerId, name: &'a str, avatar: ObjectId) -> Self {
        Self { id, name, avatar, game: PhantomData }
    }

    /// Identifies the player as long as the session exists; a key for the game's own tables.
    pub fn id(self) -> PlayerId {
        self.id
    }

    /// The player's name.
    pub fn name(self) -> &'a str {
        self.name
    }

    /// The avatar, through which the player sees the world.
    pub fn avatar(self) -> Id<G::Avatar> {
        Id::new(self.avatar)
    }
}

impl<G: Game> fmt::Debug for Player<'_, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Player")
            .field("id", &self.id)
            .field("name", &self.name)
            .field("avatar", &self.avatar)
            .finish_non_exhaustive()
    }
}

impl<G: Game> From<Player<'_, G>> for PlayerId {
    fn from(player: Player<'_, G>) -> Self {
        player.id
    }
}

/// # Players
impl<G: Game> World<G> {
    /// Edits the avatar of a player. It always exists: a game cannot despawn it
    /// ([`World::despawn`]), and it goes after [`Game::leave`].
    pub fn avatar(&mut self, player: Player<'_, G>) -> <G::Avatar as crate::kind::Kind>::Mut<'_> {
        <G::Avatar as crate::kind::Kind>::editor(ObjectMut {
            world: self.room_mut(),
            id: player.avatar,
        })
    }

    /// Gives a player another avatar, now: one gets into a vehicle, takes over a creature, or goes
    /// on as another figure. The player sees the world from there, and owns it. The avatar before
    /// stays in the world without an owner: despawn it, or give it back later. `false`, and
    /// nothing changes, if there is no such player or object, or if it belongs to a player.
    pub fn change_avatar(&mut self, player: impl Into<PlayerId>, to: Id<G::Avatar>) -> bool {
        let is_avatar_kind = self.get(to).is_some();
        is_avatar_kind && self.room_mut().change_avatar(player.into(), to.object())
    }

    /// Sets the text components called `name` of a player's avatar and rows.
    fn show_name(&mut self, player: Player<'_, G>) {
        let world = self.room_mut();
        let is_row = |id: &ObjectId| world.is_room_wide(*id) && world.owner(*id) == Some(player.id);
        let shown: Vec<_> = world.objects().filter(is_row).chain([player.avatar]).collect();
        for object in shown {
            let kind = world.schema().kind(world.kind(object));
            let index = kind.and_then(|kind| {
                kind.components.iter().position(|component| {
                    component.name == "name" && matches!(component.codec, Codec::Text { .. })
                })
            });
            if let Some(index) = index {
                world.set_text(object, index as u8, player.name);
            }
        }
    }

    /// A player in the room; `None` if the player has left, or is just joining.
    pub fn player(&self, id: PlayerId) -> Option<Player<'_, G>> {
        let player = self.room().player(id)?;
        Some(Player::new(id, &player.name, player.avatar))
    }

    /// All players in the room, in the order of their ids.
    pub fn players(&self) -> impl ExactSizeIterator<Item = Player<'_, G>> {
        let players = self.room().players();
        players.map(|(id, player)| Player::new(id, &player.name, player.avatar))
    }

    /// The player whose avatar this is.
    pub fn player_of(&self, avatar: Id<G::Avatar>) -> Option<Player<'_, G>> {
        let owner = self.owner(avatar)?;
        self.player(owner).filter(|player| player.avatar == avatar.object())
    }

    /// The player to whom an object belongs.
    pub fn owner(&self, object: impl Into<ObjectId>) -> Option<PlayerId> {
        let object = object.into();
        self.contains(object).then(|| self.room().owner(object))?
    }
}

/// Games that declare more than they do. A game that says nothing of commands and timers compiles:
///
/// ```
/// # use ambit::prelude::*;
/// #[derive(Default, Serialize, Deserialize, Declare)]
/// #[declare(kinds(Walker))]
/// struct Stroll;
///
/// impl Game for Stroll {
///     no_commands!();
///     # const INFO: GameInfo = GameInfo::new("stroll", "Take a walk.");
///     # type Avatar = Walker;
///     # type Refusal = NoRefusal;
///     # fn join(&mut self, world: &mut World<Self>, _: Newcomer) -> Id<Walker> {
///     #     world.spawn(Walker { path: Path::at(world.centre()) })
///     # }
/// }
/// # #[derive(Kind)]
/// # struct Walker { path: Path }
/// let games = Games::new().with::<Stroll>();
/// ```
///
/// One without `fn command` does not:
///
/// ```compile_fail,E0046
/// # use ambit::prelude::*;
/// #[derive(Command)]
/// enum Command { Rest }
///
/// #[derive(Default, Serialize, Deserialize, Declare)]
/// #[declare(kinds(Walker))]
/// struct Stroll;
///
/// impl Game for Stroll {
///     type Command = Command;
///     # const INFO: GameInfo = GameInfo::new("stroll", "Take a walk.");
///     # type Avatar = Walker;
///     # type Refusal = NoRefusal;
///     # fn join(&mut self, world: &mut World<Self>, _: Newcomer) -> Id<Walker> {
///     #     world.spawn(Walker { path: Path::at(world.centre()) })
///     # }
/// }
/// # #[derive(Kind)]
/// # struct Walker { path: Path }
/// let games = Games::new().with::<Stroll>();
/// ```
///
/// Nor does one without `fn timer`:
///
/// ```compile_fail,E0080
/// # use ambit::prelude::*;
/// #[derive(Serialize, Deserialize)]
/// enum Timer { Wake }
///
/// #[derive(Default, Serialize, Deserialize, Declare)]
/// #[declare(kinds(Walker), timer = Timer)]
/// struct Stroll;
///
/// impl Game for Stroll {
///     no_commands!();
///     # const INFO: GameInfo = GameInfo::new("stroll", "Take a walk.");
///     # type Avatar = Walker;
///     # type Refusal = NoRefusal;
///     # fn join(&mut self, world: &mut World<Self>, _: Newcomer) -> Id<Walker> {
///     #     world.spawn(Walker { path: Path::at(world.centre()) })
///     # }
/// }
/// # #[derive(Kind)]
/// # struct Walker { path: Path }
/// let games = Games::new().with::<Stroll>();
/// ```
#[cfg(doctest)]
pub struct UnwrittenMethods;
