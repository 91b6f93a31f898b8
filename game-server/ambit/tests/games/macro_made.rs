//! A game whose items a macro of the author's makes: names and types come from its caller.

use ambit::prelude::*;
use ambit::test::{Line, TestRoom};

macro_rules! game_of_counting {
    ($game:ident, $kind:ident, $event:ident, $command:ident, $about:ty, $number:ident) => {
        #[derive(Kind)]
        struct $kind {
            path: Path,
            count: Number<0, 100>,
        }

        #[derive(Event)]
        struct $event {
            by: $number,
            about: $about,
        }

        #[derive(Command)]
        enum $command {
            Count { by: $number },
        }

        #[derive(Default, Serialize, Deserialize, Declare)]
        #[declare(kinds($kind), events($event))]
        struct $game {
            total: $number,
        }

        impl Game for $game {
            const INFO: GameInfo = GameInfo::new("counting", "Count.");
            type Avatar = $kind;
            type Command = $command;
            type Refusal = NoRefusal;

            fn join(&mut self, world: &mut World<Self>, _: Newcomer<'_>) -> Id<$kind> {
                world.spawn($kind { path: Path::at(world.centre()), count: 0.into() })
            }

            fn command(
                &mut self,
                world: &mut World<Self>,
                player: Player<'_, Self>,
                $command::Count { by }: $command,
            ) -> Result<(), NoRefusal> {
                self.total += by;
                world.avatar(player).count().set(self.total.into());
                world.emit($event { by, about: player.avatar() });
                Ok(())
            }
        }
    };
}

game_of_counting!(Counting, Counter, Counted, Command, Id<Counter>, u32);

#[test]
fn a_game_may_be_made_by_a_macro() {
    let mut room = TestRoom::<Counting>::new();
    let ann = room.join("ann", Line::default());
    for _ in 0..3 {
        room.command(ann, "count 2");
        room.run(1.secs());
    }
    assert_eq!(room.errors(ann), Vec::<String>::new());
    let seen = room.sees(ann);
    assert_eq!(format!("{:?}", seen[0].components["count"]), "Number(6)");
}
