//! Doors: some of a map are closed when a wave begins. They keep sight, noise and bolts out. They
//! open for heroes and monsters that come near. Ways lead through them.
//!
//! Units: metres. Cost: a look around each closed door at a tick, at most 24 of them.

use ambit::prelude::*;

use crate::heroes::HeroState;
use crate::schema::{Door, Hero, Monster};
use crate::{Deus, DeusWorld};

/// A door opens before anybody has reached it.
const OPENS_M: f32 = 3.5;
/// Its leaves are drawn side by side.
const LEAVES: usize = 3;

/// A closed door.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ClosedDoor {
    at: Position,
    /// Half its width along x or y; the other one is 0.
    half: (f32, f32),
    leaves: Vec<Id<Door>>,
}

impl ClosedDoor {
    fn new(world: &mut DeusWorld, at: Position, half: (f32, f32)) -> Self {
        let step = 2.0 / LEAVES as f32;
        let leaf = |index: usize| {
            let share = step * (index as f32 + 0.5) - 1.0;
            let place = Position::on_ground(at.x + share * half.0, at.y + share * half.1);
            world.spawn(Door { path: Path::at(place) })
        };
        Self { at, half, leaves: (0..LEAVES).map(leaf).collect() }
    }
}

/// Where a straight way ends at the first of these doors; the end of the way if it crosses none.
pub(crate) fn end_at_doors(doors: &[ClosedDoor], from: Position, to: Position) -> Position {
    let crossed = doors.iter().filter_map(|it| ambit_ways::share_at_gap(it.at, it.half, from, to));
    crossed.min_by(f32::total_cmp).map_or(to, |share| from.lerp(to, share))
}

impl Deus {
    /// Closes doors of the map of this wave, in place of the ones before.
    pub(crate) fn close_doors(&mut self, world: &mut DeusWorld) {
        world.despawn_all(self.closed_doors.drain(..).flat_map(|door| door.leaves));
        let mut rng = world.rng_for(8, self.wave as u64);
        let maps = &self.content.maps;
        for (at, side) in self.layout.slot(self.slot).doors() {
            if rng.f32() < maps.closed {
                let half = maps.door_m / 2.0;
                let half = if side == 0 { (0.0, half) } else { (half, 0.0) };
                self.closed_doors.push(ClosedDoor::new(world, at, half));
            }
        }
    }

    /// The open door next to a place; none on a map without doors.
    pub(crate) fn open_door_near(&self, place: Position) -> Option<Position> {
        let doors = self.layout.slot(self.slot).doors().map(|(at, _)| at);
        let open = doors.filter(|at| self.closed_doors.iter().all(|door| door.at != *at));
        let away = |at: &Position| at.ground_distance(place);
        open.min_by(|one, other| away(one).total_cmp(&away(other)))
    }

    /// Opens the doors that heroes or monsters have come near.
    pub(crate) fn open_doors(&mut self, world: &mut DeusWorld) {
        let known = &self.heroes;
        let lives = |hero: &Id<Hero>| known.get(hero).is_some_and(HeroState::takes_part);
        self.closed_doors.retain(|door| {
            let opens = world.all_within(door.at, OPENS_M).iter().any(lives)
                || world.nearest_within::<Monster>(door.at, OPENS_M).is_some();
            if opens {
                world.despawn_all(door.leaves.iter().copied());
            }
            !opens
        });
    }
}
