//! Between the room, which knows indices, and the game, which knows types.
//!
//! No second engine: each call of the room becomes one call of the game. Invariant: a room sees no
//! schema whose components, fields and commands differ from the declaration in number, name or
//! type, so the indices that the macros generate are always right.

use std::any::Any;
use std::collections::BTreeSet;
use std::mem::discriminant;
use std::sync::Arc;
use std::time::Duration;

use ambit_proto::axes::AxisKind;
use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::keymap::Keymap;
use ambit_proto::message::TypedCommand;
use ambit_proto::presentation::{ControlPresentation, Presentation};
use ambit_proto::schema::{Codec, ControlSpec, Controls as _, FieldSpec, Predictors, Schema};
use ambit_proto::space::Position;
use ambit_proto::wishes::Wishes;
use ambit_room::config::{BadParameter, Surroundings};
use ambit_room::logic::game::{Game as RoomGame, GameCommand, Left, Refusal as RoomRefusal};
use ambit_room::logic::gate::Gate;
use ambit_room::logic::player_values::PlayerValues;
use ambit_room::logic::store::{StoreAnswer, StoreNumber, StoreRequest};
use ambit_room::logic::world::{DueTimer, World as RoomWorld};
use ambit_room::saved::{self, BadState, Saved};

use crate::command::Command;
use crate::declare::SavedTimer as _;
use crate::field::{Fields, Objects};
use crate::game::{Game, Newcomer, Player};
use crate::id::Id;
use crate::kind::KindOf;
use crate::parameters::{CheckedParameters, Parameters as _};
use crate::player_values::TypedValues;
use crate::refusal::Refusal;
use crate::sight::{Sight, SightChecks};
use crate::store_reply::StoreReply;
use crate::world::World;

/// A game as a room runs it.
#[derive(Debug, Default)]
pub struct Typed<G>(pub G);

impl<G: Game> Typed<G> {
    /// The game that the parameters describe, in a box for a registry.
    pub fn make(parameters: &CheckedParameters) -> Result<Box<dyn RoomGame>, BadParameter> {
        let mut game = G::default();
        game.configure(G::Parameters::read(parameters))?;
        Ok(Box::new(Self(game)))
    }

    /// What the macros declare.
    pub fn declared_schema() -> Schema {
        let kinds = G::kinds().into_iter().map(|declared| (declared.kind, declared.presentation));
        let (kinds, shown_kinds) = kinds.unzip();
        let (events, shown_events) = G::events().into_iter().unzip();
        let (commands, shown_commands) = G::Command::declarations().into_iter().unzip();
        let (refusals, shown_refusals) = G::Refusal::declarations().into_iter().unzip();
        let (controls, shown_controls) = controls::<G>().unzip();
        let presentation = Presentation {
            kinds: shown_kinds,
            events: shown_events,
            commands: shown_commands,
            refusals: shown_refusals,
            controls: shown_controls,
            avatar: Some(<G::Avatar as KindOf<G>>::INDEX),
            scenery: G::SCENERY.declaration(),
            gates: Vec::new(),
        };
        let game = G::INFO.name.into();
        Schema { game, kinds, events, commands, refusals, controls, presentation }
    }
}

impl<G: Game> RoomGame for Typed<G> {
    /// # Panics
    /// If [`Game::schema`] has changed more than it may.
    fn schema(&self) -> Schema {
        let declared = Self::declared_schema();
        let mut adjusted = declared.clone();
        adjusted.name_tables();
        self.0.schema(&mut adjusted);
        assert!(
            has_same_shape(&declared, &adjusted),
            "`Game::schema` of {:?} may adjust ranges, formats of poses, looks, the scenery and \
             freshness; the names and the types of components, fields and commands must stay",
            declared.game
        );
        adjusted
    }

    fn lag_compensation(&self) -> Duration {
        G::LAG_COMPENSATION
    }

    fn input_timeout(&self) -> Duration {
        G::INPUT_TIMEOUT
    }

    fn predictors(&self) -> Predictors {
        let kinds = G::kinds().into_iter().filter_map(|declared| declared.steering);
        kinds.map(|(name, functions)| (name, functions.reckon)).collect()
    }

    delegate::delegate! {
        to self.0 {
            fn surroundings(&self) -> Surroundings;
            fn planned_objects(&self) -> u64;
            fn sight_checks(&self) -> SightChecks;
            fn is_finished(&self) -> bool;
        }
    }

    fn may_move(&self, world: &RoomWorld) -> bool {
        self.0.may_move(World::of_room(world))
    }

    fn world_wide_kinds(&self) -> BTreeSet<u8> {
        let kinds = (0..).zip(G::kinds());
        kinds.filter(|(_, declared)| declared.is_world_wide).map(|(index, _)| index).collect()
    }

    fn player_values(&self) -> Box<dyn PlayerValues> {
        Box::new(TypedValues::<G>::default())
    }

    fn start(&mut self, world: &mut RoomWorld) {
        self.0.start(World::of_room_mut(world));
    }

    fn join(&mut self, world: &mut RoomWorld, player: PlayerId, name: &str) -> ObjectId {
        let newcomer = Newcomer {
            id: player,
            name,
            account: world.account(player),
            standing: world.standing(player),
            wishes: &world.wishes(player),
        };
        self.0.join(World::of_room_mut(world), newcomer).object()
    }

    fn rename(&mut self, world: &mut RoomWorld, player: PlayerId, _: &str) {
        with_player(world, player, |world, player| self.0.rename(world, player));
    }

    fn leave(&mut self, world: &mut RoomWorld, player: PlayerId, why: Left) {
        with_player(world, player, |world, player| self.0.leave(world, player, why));
        if let Some(avatar) = world.player(player).map(|player| player.avatar) {
            world.despawn(avatar);
        }
    }

    fn command(
        &mut self,
        world: &mut RoomWorld,
        player: PlayerId,
        command: &GameCommand,
    ) -> Result<(), RoomRefusal> {
        let fields = Fields::new(&command.fields, Objects::Room(world));
        let command = G::Command::read(command.kind, fields).map_err(RoomRefusal::Code)?;
        with_player(world, player, |world, player| {
            let answer = self.0.command(world, player, command);
            answer.map_err(|refusal| refusal.reason())
        })
        .unwrap_or(Err(RoomRefusal::Code(ErrorCode::OutOfState)))
    }

    fn input(&mut self, world: &mut RoomWorld, player: PlayerId, _: Keymap) {
        with_player(world, player, |world, player| self.0.input(world, player));
    }

    fn timer(&mut self, world: &mut RoomWorld, timer: &DueTimer) {
        match G::Timer::from_payload(&timer.payload) {
            Ok(payload) => self.0.timer(World::of_room_mut(world), payload, timer.at),
            Err(error) => {
                tracing::error!("a timer of a game cannot be read, and is dropped: {error}");
            }
        }
    }

    fn all_here(&mut self, world: &mut RoomWorld) {
        self.0.all_here(World::of_room_mut(world));
    }

    fn step(&mut self, world: &mut RoomWorld, dt: Duration) {
        self.0.step(World::of_room_mut(world), dt);
    }

    fn sees(&self, world: &RoomWorld, viewer: ObjectId, object: ObjectId, sight: Sight) -> bool {
        self.0.sees(World::of_room(world), Id::new(viewer), object, sight)
    }

    fn gates(&self, world: &RoomWorld) -> Vec<Gate> {
        self.0.gates(World::of_room(world))
    }

    fn departs(&self, world: &RoomWorld, player: PlayerId) -> Option<(u32, Position)> {
        let world = World::of_room(world);
        self.0.departs(world, world.player(player)?)
    }

    fn carry(&self, world: &RoomWorld, player: PlayerId) -> Option<Vec<u8>> {
        let world = World::of_room(world);
        self.0.carry(world, world.player(player)?)
    }

    fn arrive(
        &mut self,
        world: &mut RoomWorld,
        player: PlayerId,
        name: &str,
        at: Position,
        carried: &[u8],
    ) -> ObjectId {
        let newcomer = Newcomer {
            id: player,
            name,
            account: world.account(player),
            standing: world.standing(player),
            wishes: &Wishes::default(),
        };
        let world = World::of_room_mut(world);
        self.0.arrive(world, newcomer, at, carried).object()
    }

    fn wake(&mut self, world: &mut RoomWorld, slept: Duration) {
        self.0.wake(World::of_room_mut(world), slept);
    }

    fn stored(
        &mut self,
        world: &mut RoomWorld,
        number: StoreNumber,
        request: &StoreRequest,
        answer: &StoreAnswer,
    ) {
        let reply = StoreReply::new(number, request, answer);
        self.0.stored(World::of_room_mut(world), reply);
    }

    /// The version stands in front.
    fn save(&self) -> Option<Vec<u8>> {
        let game = self.0.save()?;
        let mut out = Vec::with_capacity(game.len() + 8);
        saved::put(&mut out, &G::SAVED_VERSION);
        out.extend(game);
        Some(out)
    }

    fn restore(&mut self, world: &mut RoomWorld, mut saved: &[u8]) -> Result<(), BadState> {
        let version: u32 = saved::take(&mut saved)?;
        let newest = G::SAVED_VERSION;
        if version > newest {
            return Err(BadState::Misfit(format!(
                "it was saved by version {version} of the game, and this build has {newest}"
            )));
        }
        let avatar = <G::Avatar as KindOf<G>>::INDEX;
        if world.players().any(|(_, player)| world.find_kind(player.avatar) != Some(avatar)) {
            return Err(BadState::Misfit("avatars were of another kind".to_owned()));
        }
        if let Some(error) =
            world.timer_payloads().find_map(|payload| G::Timer::from_payload(payload).err())
        {
            return Err(BadState::Misfit(format!("a timer cannot be read: {error}")));
        }
        self.0.restore(World::of_room_mut(world), Saved::new(version, saved))?;
        if version < newest {
            self.0.upgraded(World::of_room_mut(world), version);
        }
        Ok(())
    }

    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(&mut self.0)
    }
}

/// The controls that a game declares; with lag compensation, clients say what they showed in an
/// axis beside these.
fn controls<G: Game>() -> impl Iterator<Item = (ControlSpec, ControlPresentation)> {
    let shown_behind = (G::LAG_COMPENSATION > Duration::ZERO).then(|| {
        let axis = Some(AxisKind::ShownBehind);
        let spec = ControlSpec { name: "shown-behind".into(), is_tapped: false, axis };
        let help = "How far behind the room's clock the screen is; set by the client itself.";
        (spec, ControlPresentation { help: help.into(), ..ControlPresentation::default() })
    });
    G::Controls::declarations().into_iter().chain(shown_behind)
}

/// Calls the game with a player of the room; `None` if there is no such player.
fn with_player<G: Game, R>(
    world: &mut RoomWorld,
    id: PlayerId,
    call: impl FnOnce(&mut World<G>, Player<'_, G>) -> R,
) -> Option<R> {
    let player = world.player(id)?;
    let avatar = player.avatar;
    let name = Arc::clone(&player.name);
    let world = World::of_room_mut(world);
    Some(call(world, Player::new(id, &name, avatar)))
}

fn has_same_shape(declared: &Schema, adjusted: &Schema) -> bool {
    declared.game == adjusted.game
        && all_same(&declared.kinds, &adjusted.kinds, |one, other| {
            one.name == other.name
                && all_same(&one.components, &other.components, |one, other| {
                    one.name == other.name && have_same_type(&one.codec, &other.codec)
                })
        })
        && all_same(&declared.events, &adjusted.events, |one, other| {
            one.name == other.name && have_same_types(&one.fields, &other.fields)
        })
        && all_same(&declared.commands, &adjusted.commands, |one, other| {
            one.name == other.name && have_same_types(&one.fields, &other.fields)
        })
        && all_same(&declared.refusals, &adjusted.refusals, |one, other| one.name == other.name)
        && all_same(&declared.controls, &adjusted.controls, |one, other| {
            one.name == other.name && one.axis == other.axis
        })
}

fn have_same_type(declared: &Codec, adjusted: &Codec) -> bool {
    match (declared, adjusted) {
        (Codec::Rows(declared), Codec::Rows(adjusted)) => {
            have_same_types(&declared.fields, &adjusted.fields)
        }
        (declared, adjusted) => discriminant(declared) == discriminant(adjusted),
    }
}

fn have_same_types(declared: &[FieldSpec], adjusted: &[FieldSpec]) -> bool {
    all_same(declared, adjusted, |one, other| {
        one.name == other.name
            && one.optional == other.optional
            && discriminant(&one.ty) == discriminant(&other.ty)
    })
}

fn all_same<T>(declared: &[T], adjusted: &[T], same: impl Fn(&T, &T) -> bool) -> bool {
    declared.len() == adjusted.len()
        && declared.iter().zip(adjusted).all(|(one, other)| same(one, other))
}
