//! A walk to a goal that may move, such as a hero who is followed.

use ambit::component::PathMut;
use ambit::prelude::*;

/// A goal that moves at most this far needs no new way: metres, and a share of the way that is
/// left.
const FOLLOW_M: f32 = 0.7;
const FOLLOW_SHARE: f32 = 0.25;

/// Where a creature walks to, and until when. A game that decides often asks it whether another way
/// is needed: each new way is sent to all who see the walker.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct GoalWalk {
    goal: Position,
    arrives_at: GameTime,
}

impl GoalWalk {
    /// Whether the walk goes on at a time.
    pub fn is_under_way(&self, now: GameTime) -> bool {
        now < self.arrives_at
    }

    /// Whether a walker at `at` needs no other way to a goal: the walk goes on, and leads near
    /// enough to it.
    pub fn leads_to(&self, now: GameTime, at: Position, goal: Position) -> bool {
        let near_m = FOLLOW_M.max(FOLLOW_SHARE * at.ground_distance(goal));
        self.is_under_way(now) && self.goal.ground_distance(goal) <= near_m
    }

    /// Walks along the corners of a way to a goal, or as near to it as they lead. Returns when that
    /// is over.
    pub fn begin(
        &mut self,
        mut path: PathMut<'_>,
        goal: Position,
        way: impl IntoIterator<Item = Position>,
        speed_m_per_s: f32,
    ) -> GameTime {
        *self = Self { goal, arrives_at: path.walk_along(way, speed_m_per_s) };
        self.arrives_at
    }

    /// Forgets the way: the next one is a new one.
    pub fn end(&mut self) {
        self.arrives_at = GameTime::ZERO;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_followed_when_it_has_moved_by_a_quarter_of_the_way() {
        let place = |x: f32| Position::on_ground(x, 10.0);
        let mut walk = GoalWalk { goal: place(30.0), arrives_at: GameTime::from_millis(2_000) };
        let now = GameTime::from_millis(1_000);
        assert!(walk.leads_to(now, place(10.0), place(34.0)), "far away");
        assert!(!walk.leads_to(now, place(28.0), place(31.0)), "near");
        assert!(walk.leads_to(now, place(28.0), place(30.6)), "it has hardly moved");
        assert!(!walk.leads_to(GameTime::from_millis(2_000), place(29.9), place(30.0)), "over");
        walk.end();
        assert!(!walk.is_under_way(now));
    }
}
