//! A game declares from how far something may act on a player, and how far players should see.

use ambit::prelude::*;
use ambit::test::{Line, TestRoom};

#[derive(Kind)]
struct Archer {
    path: Path,
}

/// Archers: one that a player leads, and one that stands some metres to the east of it.
macro_rules! archers {
    ($game:ident, $away_m:expr, $surroundings:expr) => {
        #[derive(Default, Serialize, Deserialize, Declare)]
        #[declare(kinds(Archer, Target), parameters = Settings)]
        struct $game {
            range_m: f32,
        }

        #[derive(Parameters)]
        struct Settings {
            /// how far arrows fly
            #[parameter(default = 15.0, range = 1.0..=500.0)]
            range: f32,
        }

        impl Game for $game {
            const INFO: GameInfo = GameInfo::new("archers", "Shoot.");
            type Avatar = Archer;
            no_commands!();
            type Refusal = NoRefusal;

            fn configure(&mut self, settings: Settings) -> Result<(), BadParameter> {
                self.range_m = settings.range;
                Ok(())
            }

            fn surroundings(&self) -> Surroundings {
                $surroundings(self.range_m)
            }

            fn join(&mut self, world: &mut World<Self>, _: Newcomer<'_>) -> Id<Archer> {
                let at = world.centre();
                let beside = Position { x: at.x + $away_m, ..at };
                world.spawn(Target { path: Path::at(beside) });
                world.spawn(Archer { path: Path::at(at) })
            }
        }
    };
}

fn around(range_m: f32) -> Surroundings {
    Surroundings::new().reach_m(range_m).view_m(34.0)
}

#[derive(Kind)]
struct Target {
    path: Path,
}

archers!(Archers, 34.0, around);

fn followed(parameters: &[(&str, &str)]) -> usize {
    let mut room = TestRoom::<Archers>::with(parameters);
    let ann = room.join("ann", Line::default());
    room.run(1.secs());
    room.sees(ann).len()
}

#[test]
fn by_default_a_player_follows_all_that_is_within_view_and_reach() {
    assert_eq!(followed(&[]), 2);
    assert_eq!(followed(&[("cell", "5")]), 2);
    // A player with smaller zones by choice still sees what may act.
    assert_eq!(followed(&[("inner", "2")]), 1);
}

#[test]
#[should_panic(
    expected = "inner does not fit: inner=1 with cells of 10 m and margin=1 shows what is 9 m \
                away, and what is 15 m away may act on a player: inner must be at least 2"
)]
fn a_room_that_shows_less_than_the_reach_is_refused() {
    let _ = TestRoom::<Archers>::with(&[("inner", "1")]);
}

#[test]
#[should_panic(expected = "what is 30 m away may act on a player: inner must be at least 4")]
fn the_reach_may_follow_from_a_parameter() {
    let _ = TestRoom::<Archers>::with(&[("inner", "3"), ("range", "30")]);
}

mod near_sighted {
    use super::*;

    #[derive(Kind)]
    #[interest(inner = 1, outer = 2)]
    struct Target {
        path: Path,
    }

    archers!(Careless, 5.0, around);

    #[test]
    #[should_panic(expected = "the game \"archers\" cannot be offered: its defaults of rooms, \
                    `#[room(...)]`, make no room: cell does not fit: with cells of 10 m and \
                    margin=1 a \"target\" is followed from 9 m on, and what is 15 m away may act \
                    on a player: its inner radius must be at least 2")]
    fn a_kind_that_is_followed_from_less_than_the_reach_is_not_offered() {
        let _ = Games::new().with::<Careless>();
    }
}
