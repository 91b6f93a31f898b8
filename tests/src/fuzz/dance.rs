//! A small game with poses and a command that names an object, for the fuzz target `room`.

use std::collections::BTreeSet;

use ambit::prelude::*;

/// A dancer turns all the time: its pose changes at each tick.
#[derive(Kind)]
pub(super) struct Dancer {
    pose: YawPose,
}

#[derive(Command)]
pub(super) enum DanceCommand {
    /// Turns towards another dancer.
    Face { whom: Id<Dancer> },
    /// Leaves the floor for a while.
    Hide,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Dancer), timer = PlayerId)]
pub(super) struct Dance {
    hidden: BTreeSet<PlayerId>,
}

impl Game for Dance {
    const INFO: GameInfo = GameInfo::new("dance", "Dancers turn, and face each other.");
    type Avatar = Dancer;
    type Command = DanceCommand;
    type Refusal = NoRefusal;

    fn join(&mut self, world: &mut World<Self>, _: Newcomer<'_>) -> Id<Dancer> {
        let pose = YawPose::at(world.centre());
        world.spawn(Dancer { pose })
    }

    fn command(
        &mut self,
        world: &mut World<Self>,
        player: Player<'_, Self>,
        command: DanceCommand,
    ) -> Result<(), NoRefusal> {
        match command {
            DanceCommand::Face { whom } => {
                let at = world.position(whom);
                world.avatar(player).pose().set(at.unwrap_or_default(), 0.0, 0.0);
            }
            DanceCommand::Hide => {
                self.hidden.insert(player.id());
                world.ask_who_sees(player.avatar());
                world.after(1.secs(), player.id());
            }
        }
        Ok(())
    }

    fn timer(&mut self, world: &mut World<Self>, player: PlayerId, _: GameTime) {
        self.hidden.remove(&player);
        if let Some(avatar) = world.player(player).map(Player::avatar) {
            world.ask_who_sees(avatar);
        }
    }

    fn step(&mut self, world: &mut World<Self>, _: Duration) {
        let turn = world.now().millis() as f32 / 1_000.0;
        let dancers: Vec<_> = world.players().map(Player::avatar).collect();
        for dancer in dancers {
            if let Some(mut dancer) = world.edit(dancer) {
                let at = dancer.position();
                dancer.pose().set(at, turn, 0.0);
            }
        }
    }

    fn sees(&self, world: &World<Self>, _: Id<Dancer>, object: ObjectId, _: Sight) -> bool {
        let player = world.owner(object);
        player.is_none_or(|player| !self.hidden.contains(&player))
    }
}
