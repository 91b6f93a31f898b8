//! The smallest game: the one of the README, word for word (a test compares them).

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use ambit_proto::schema::{
    Codec, CommandKind, Component, ComponentSpec, FieldSpec, FieldType, ObjectKind, Schema,
};
use ambit_proto::{
    ids::{ObjectId, PlayerId},
    message::FieldValue,
    space::Position,
};
use ambit_room::logic::{
    game::{Game, GameCommand, GameInfo, Refusal},
    world::World,
};

#[derive(Default)]
struct Stroll(BTreeMap<PlayerId, ObjectId>);

impl Game for Stroll {
    /// What objects are made of and what players can do: handed to every client at the join.
    fn schema(&self) -> Schema {
        let components = vec![ComponentSpec::public("path", Codec::Path)];
        Schema {
            game: "stroll".into(),
            kinds: vec![ObjectKind {
                name: "walker".into(),
                components,
                ..ObjectKind::default()
            }],
            commands: vec![CommandKind {
                name: "walk-to".into(),
                help: "Walk to a point.".into(),
                newest_only: true,
                fields: vec![FieldSpec::new("to", FieldType::Position)],
                ..CommandKind::default()
            }],
            ..Schema::default()
        }
    }

    fn start(&mut self, _world: &mut World) {}

    fn join(&mut self, world: &mut World, player: PlayerId, _name: &str) -> ObjectId {
        let middle = Position::on_ground(world.grid().width() / 2.0, world.grid().height() / 2.0);
        let walker = world.spawn(0, vec![Component::at_rest(world.now(), middle)]);
        self.0.insert(player, walker);
        walker
    }

    fn leave(&mut self, world: &mut World, player: PlayerId) {
        if let Some(walker) = self.0.remove(&player) {
            world.despawn(walker);
        }
    }

    fn command(
        &mut self,
        world: &mut World,
        player: PlayerId,
        command: &GameCommand,
    ) -> Result<(), Refusal> {
        // The room has checked the fields against the schema, and that the point is on the map.
        if let [FieldValue::Position(to)] = command.fields[..] {
            world.walk_to(self.0[&player], to, 5.0);
        }
        Ok(())
    }

    fn step(&mut self, _world: &mut World, _dt: Duration) {}
}

fn main() -> ExitCode {
    let info = GameInfo {
        name: "stroll",
        description: "Take a walk.",
        min_players: 1,
        join_running: true,
        parameters: &[],
    };
    ambit_world_server::run(
        ambit_game_server::standard().with(info, |_| Ok(Box::new(Stroll::default()))),
    )
}
