//! `field`: a map with obstacles, wanderers, and players who walk and cast spells.
//!
//! Click to move, four spells (bolt, heal, veil, blink), death and respawn. The game is all rules
//! and no network: it knows nothing of cells, clients or packets. It is also the example of how to
//! write a game.
//!
//! Invariants:
//! 1. Decisions up to a horizon are final: what is found out in a tick happened after the previous
//!    horizon, in the order of time.
//! 2. Commands are checked against the state at their effect time: before the first command of a
//!    tick, everything in flight and all timers are brought up to now (`catch_up`).
//! 3. Nothing reveals a veiled avatar: no other player sees it, its bolts or its events, and it
//!    influences neither the order nor the random numbers of what happens to others.
//!
//! Cost: bolts in flight and due timers. Source of the game and of the horizon: "Architectures de
//! developpement adaptees aux MMOGs" (Project Deus).

mod bolts;
mod creatures;
mod fights;
mod gates;
mod map;
mod npcs;
mod rules;
mod schema;
mod spells;
#[cfg(test)]
mod tests;
mod timers;
mod vitals;

use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::message::FieldValue;
use ambit_proto::schema::Schema;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;

use self::bolts::Bolts;
use self::creatures::Creatures;
use self::timers::{WakeReason, WakeTimers};
use ambit_room::config::{Allowed, BadParameter, Parameter, Parameters};
use ambit_room::logic::game::{Game, GameCommand, GameInfo, Refusal};
use ambit_room::logic::gate::Gate;
use ambit_room::logic::world::World;
use ambit_room::saved::{self, BadState};

const PARAMETERS: &[Parameter] = &[
    Parameter {
        key: "obstacles",
        default: "40",
        allowed: Allowed::Whole {
            min: 0,
            max: 20_000,
        },
        about: "boxes and walls; at most one for 8 square metres of the map",
    },
    Parameter {
        key: "npcs",
        default: "20",
        allowed: Allowed::Whole {
            min: 0,
            max: 20_000,
        },
        about: "wanderers; more take more processor time, and more bytes where they are dense",
    },
    Parameter {
        key: "maps",
        default: "1",
        allowed: Allowed::Whole { min: 1, max: 16 },
        about: "maps in a row, from west to east, with a gate in the middle of each border between \
                two; each is a room of its own",
    },
];

/// The commands of the game, for tools and tests. `O` names objects; there are none in them.
pub mod commands {
    use ambit_proto::message::{FieldValue, GameCommand};
    use ambit_proto::space::Position;

    /// Walk to a point on the ground.
    pub fn walk<O>(x: f32, y: f32) -> GameCommand<O> {
        GameCommand {
            kind: super::schema::WALK,
            fields: vec![point((x, y))],
        }
    }

    /// Cast the spell of this index, perhaps at a point on the ground.
    pub fn cast<O>(spell: u8, at: Option<(f32, f32)>) -> GameCommand<O> {
        GameCommand {
            kind: super::schema::CAST_SPELL,
            fields: vec![
                FieldValue::Choice(spell),
                at.map_or(FieldValue::None, point),
            ],
        }
    }

    fn point<O>((x, y): (f32, f32)) -> FieldValue<O> {
        FieldValue::Position(Position::on_ground(x, y))
    }
}

/// Purposes of random numbers (see `World::rng_for`).
#[derive(Clone, Copy, Debug)]
enum RngDomain {
    Map = 1,
    Npc = 2,
    Player = 3,
}

/// The game `field`. See the module.
#[derive(Debug)]
pub struct FieldGame {
    obstacles: u32,
    npcs: u32,
    maps: u32,
    creatures: Creatures,
    bolts: Bolts,
    timers: WakeTimers,
    /// The time up to which everything is decided.
    settled_until: GameTime,
}

impl FieldGame {
    /// What the lobby knows of the game.
    pub const INFO: GameInfo = GameInfo {
        name: "field",
        description: "Walk about between obstacles and wanderers, cast spells: \
                      bolt, heal, veil, blink.",
        min_players: 1,
        join_running: true,
        parameters: PARAMETERS,
    };

    /// A game with these numbers of obstacles and wanderers; players move their avatars.
    pub fn new(obstacles: u32, npcs: u32) -> Self {
        Self {
            obstacles,
            npcs,
            maps: 1,
            creatures: Creatures::default(),
            bolts: Bolts::default(),
            timers: WakeTimers::default(),
            settled_until: GameTime::ZERO,
        }
    }

    /// The same game as one of several maps.
    #[must_use]
    pub fn with_maps(self, maps: u32) -> Self {
        Self { maps, ..self }
    }

    /// The game that the parameters describe.
    pub fn make(parameters: &Parameters) -> Result<Box<dyn Game>, BadParameter> {
        let (width, height) = parameters.size("size");
        let (obstacles, most) = (
            parameters.whole("obstacles") as u32,
            map::max_obstacles(width, height),
        );
        if obstacles > most && parameters.is_given("obstacles") {
            let problem =
                format!("a map of {width}x{height} m has room for {most} at most, not {obstacles}");
            return Err(BadParameter::Conflict {
                key: "obstacles",
                problem,
            });
        }
        let (map, maps) = (parameters.whole("map"), parameters.whole("maps"));
        if map >= maps {
            let problem = format!("maps={maps} has no map {map}: they are counted from 0");
            return Err(BadParameter::Conflict {
                key: "map",
                problem,
            });
        }
        let field =
            Self::new(obstacles.min(most), parameters.whole("npcs") as u32).with_maps(maps as u32);
        Ok(Box::new(field))
    }

    /// Brings bolts and timers up to now.
    fn catch_up(&mut self, world: &mut World) {
        let now = world.now();
        if self.settled_until >= now {
            return;
        }
        self.move_bolts(world, self.settled_until);
        while let Some((object, wake)) = self.timers.pop_due(now) {
            match wake {
                WakeReason::Unveil => self.unveil(world, object),
                WakeReason::Respawn => self.respawn(world, object),
                WakeReason::Wander => self.wander(world, object),
            }
        }
        self.settled_until = now;
    }
}

impl Game for FieldGame {
    fn schema(&self) -> Schema {
        schema::schema()
    }

    fn start(&mut self, world: &mut World) {
        let mut rng = world.rng_for(RngDomain::Map as u64, 0);
        let arrivals = if self.maps > 1 {
            gates::arrival_points(world).to_vec()
        } else {
            Vec::new()
        };
        map::add_obstacles(world, self.obstacles, &arrivals, &mut rng);
        self.spawn_npcs(world, self.npcs);
        self.settled_until = world.now();
    }

    fn join(&mut self, world: &mut World, player: PlayerId, name: &str) -> ObjectId {
        self.catch_up(world);
        let mut rng = world.rng_for(RngDomain::Player as u64, player.0);
        let place = map::spawn_place(world, self.creatures.avatar_count() + 1, &mut rng);
        let avatar = schema::spawn_avatar(world, place, name);
        self.creatures.add_avatar(player, avatar, rng);
        avatar
    }

    fn rename(&mut self, world: &mut World, player: PlayerId, name: &str) {
        if let Some(avatar) = self.creatures.avatar(player) {
            world.set_text(avatar, schema::NAME, name);
        }
    }

    fn leave(&mut self, world: &mut World, player: PlayerId) {
        self.catch_up(world);
        if let Some(avatar) = self.creatures.remove_avatar(player) {
            world.despawn(avatar);
        }
    }

    fn command(
        &mut self,
        world: &mut World,
        player: PlayerId,
        command: &GameCommand,
    ) -> Result<(), Refusal> {
        self.catch_up(world);
        let avatar = self
            .creatures
            .avatar(player)
            .ok_or(Refusal::Code(ErrorCode::OutOfState))?;
        match (command.kind, &command.fields[..]) {
            (schema::WALK, [FieldValue::Position(to)]) => self.walk(world, avatar, *to),
            (schema::CAST_SPELL, [FieldValue::Choice(spell), FieldValue::Position(at)]) => {
                self.cast(world, avatar, *spell, Some(*at))
            }
            (schema::CAST_SPELL, [FieldValue::Choice(spell), _]) => {
                self.cast(world, avatar, *spell, None)
            }
            _ => Err(Refusal::Code(ErrorCode::UnknownCommand)),
        }
    }

    fn step(&mut self, world: &mut World, _dt: Duration) {
        self.catch_up(world);
    }

    fn sees(&self, world: &World, viewer: ObjectId, object: ObjectId) -> bool {
        match world.kind(object) {
            schema::AVATAR => viewer == object || !self.creatures.is_veiled(object, world.now()),
            schema::BOLT => self
                .bolts
                .flying
                .get(&object)
                .is_none_or(|bolt| !bolt.hidden || bolt.caster == viewer),
            _ => true,
        }
    }

    fn gates(&self, world: &World) -> Vec<Gate> {
        gates::gates(world, self.maps)
    }

    fn carry(&self, world: &World, player: PlayerId) -> Option<Vec<u8>> {
        self.save_avatar(world, player)
    }

    fn arrive(
        &mut self,
        world: &mut World,
        player: PlayerId,
        name: &str,
        at: Position,
        carried: &[u8],
    ) -> ObjectId {
        self.catch_up(world);
        self.spawn_arrival(world, player, name, at, carried)
    }

    fn save(&self) -> Option<Vec<u8>> {
        Some(saved::of(&(
            &self.creatures,
            &self.bolts,
            &self.timers,
            self.settled_until,
        )))
    }

    fn restore(&mut self, _: &mut World, saved: &[u8]) -> Result<(), BadState> {
        (self.creatures, self.bolts, self.timers, self.settled_until) = saved::all(saved)?;
        Ok(())
    }
}
