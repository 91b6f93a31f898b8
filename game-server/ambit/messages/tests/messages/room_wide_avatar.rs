//! What has no place is no avatar, has no position, and no radii of interest.
use ambit::prelude::*;

#[derive(Kind)]
#[kind(room_wide)]
struct Score {
    points: Number<0, 50>,
}

#[derive(Kind)]
#[kind(room_wide)]
#[interest(inner = 1, outer = 2)]
struct Match {
    round: Number<0, 50>,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Score))]
struct Stroll;

impl Game for Stroll {
    const INFO: GameInfo = GameInfo::new("stroll", "Take a walk.");
    type Avatar = Score;
    no_commands!();
    type Refusal = NoRefusal;

    fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer<'_>) -> Id<Score> {
        let score = world.spawn_row(newcomer.id, Score { points: 0.into() });
        let _ = world.get(score).map(|score| score.position());
        score
    }
}

fn main() {}
