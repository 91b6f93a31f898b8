//! Doors: some of a map are closed when a wave begins. They keep sight, noise and bolts out, and
//! open for whoever comes near, heroes and monsters alike. Ways lead through them.
//!
//! Units: metres. Cost: a look around each closed door at a tick, at most 24 of them.

use ambit::prelude::*;

use crate::schema::{Door, Hero, Monster};
use crate::{Deus, DeusWorld};

/// A door opens before anybody has reached it.
const OPENS_M: f32 = 3.5;
/// Its leaves are drawn side by side.
const LEAVES: usize = 3;

/// A door that nobody has opened.
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

    /// The share of the way from one place to another at which the door is; `None` if it is not
    /// between them.
    fn crossed_at(&self, from: Position, to: Position) -> Option<f32> {
        let turned = |at: Position| {
            let (x, y) = (at.x - self.at.x, at.y - self.at.y);
            if self.half.0 > 0.0 { (y, x) } else { (x, y) }
        };
        let ((before, along_before), (behind, along_behind)) = (turned(from), turned(to));
        if (before < 0.0) == (behind < 0.0) {
            return None;
        }
        let share = before / (before - behind);
        let along = along_before + share * (along_behind - along_before);
        (along.abs() <= self.half.0.max(self.half.1)).then_some(share)
    }
}

/// Where a straight way ends at the first of these doors; its end if none is there.
pub(crate) fn end_at_doors(doors: &[ClosedDoor], from: Position, to: Position) -> Position {
    let crossed = doors.iter().filter_map(|door| door.crossed_at(from, to));
    crossed.min_by(f32::total_cmp).map_or(to, |share| from.lerp(to, share))
}

impl Deus {
    /// Closes doors of the map of this wave, in place of the ones before.
    pub(crate) fn close_doors(&mut self, world: &mut DeusWorld) {
        for leaf in self.closed_doors.drain(..).flat_map(|door| door.leaves) {
            world.despawn(leaf);
        }
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

    /// Opens doors for whoever is there.
    pub(crate) fn open_doors(&mut self, world: &mut DeusWorld) {
        let (mut monsters, mut heroes) = (Vec::<Id<Monster>>::new(), Vec::<Id<Hero>>::new());
        let known = &self.heroes;
        self.closed_doors.retain(|door| {
            world.find_within(door.at, OPENS_M, &mut monsters);
            world.find_within(door.at, OPENS_M, &mut heroes);
            heroes.retain(|hero| known.get(hero).is_some_and(|hero| hero.is_alive));
            if monsters.is_empty() && heroes.is_empty() {
                return true;
            }
            monsters.clear();
            heroes.clear();
            for leaf in &door.leaves {
                world.despawn(*leaf);
            }
            false
        });
    }
}
