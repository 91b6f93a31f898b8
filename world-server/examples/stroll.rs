//! The smallest game: the one of the README, word for word (a test compares them).

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use ambit_proto::schema::{Codec, Component, ComponentSpec, ObjectKind, Schema};
use ambit_proto::{
    codes::ErrorCode,
    ids::{ObjectId, PlayerId},
    message::Action,
    space::Position,
};
use ambit_room::logic::{
    game::{Game, GameInfo, Refusal},
    world::World,
};

#[derive(Default)]
struct Stroll(BTreeMap<PlayerId, ObjectId>);

impl Game for Stroll {
    /// What objects are made of: declared once, handed to every client at the join.
    fn schema(&self) -> Schema {
        let components = vec![ComponentSpec::public("path", Codec::Path)];
        Schema {
            game: "stroll".into(),
            kinds: vec![ObjectKind {
                name: "walker".into(),
                components,
                ..ObjectKind::default()
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
        action: &Action,
    ) -> Result<(), Refusal> {
        match *action {
            Action::Move { x, y } if world.grid().contains(Position::on_ground(x, y)) => {
                world.walk_to(self.0[&player], Position::on_ground(x, y), 5.0);
                Ok(())
            }
            _ => Err(Refusal(ErrorCode::BadPosition)),
        }
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
