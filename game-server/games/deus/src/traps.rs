//! Traps of a map: hidden until a hero is near. A hero who steps on one hears it, and has a moment
//! to leave the place before it hurts all who are within reach.

use ambit::prelude::*;

use crate::schema::{DeusTimer, Snap, Trap};
use crate::{Deus, DeusWorld};

/// A hero within this distance steps on a trap.
const STEP_M: f32 = 1.0;

/// A trap of the map in which heroes fight.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct HiddenTrap {
    at: Position,
    /// Once it is found.
    object: Option<Id<Trap>>,
    has_snapped: bool,
}

impl Deus {
    /// Those of the map of this wave, in place of the ones before.
    pub(crate) fn set_traps(&mut self, world: &mut DeusWorld) {
        world.despawn_all(self.traps.drain(..).filter_map(|trap| trap.object));
        let rooms = &self.layout.slot(self.slot).rooms;
        let all = rooms.iter().flat_map(|room| &room.traps);
        let hidden = |at: &Position| HiddenTrap { at: *at, object: None, has_snapped: false };
        self.traps = all.map(hidden).collect();
    }

    /// Traps show themselves to heroes, and snap.
    pub(crate) fn watch_traps(&mut self, world: &mut DeusWorld) {
        let table = &self.content.maps.trap;
        for (id, _) in self.heroes.iter().filter(|(_, hero)| hero.takes_part()) {
            let Some(place) = world.position(*id) else { continue };
            for trap in self.traps.iter_mut().filter(|trap| !trap.has_snapped) {
                let distance = place.ground_distance(trap.at);
                if distance <= table.seen_m && trap.object.is_none() {
                    trap.object = Some(world.spawn(Trap { path: Path::at(trap.at) }));
                }
                let Some(object) = trap.object.filter(|_| distance <= STEP_M) else { continue };
                trap.has_snapped = true;
                let windup = table.windup_s.secs();
                let radius = (10.0 * table.radius_m) as i64;
                let due = windup.as_millis() as i64;
                world.emit(Snap { trap: object, radius, due });
                world.after(windup, DeusTimer::Snap(object));
            }
        }
    }

    /// A trap hurts who is still there, and is gone.
    pub(crate) fn snap(&mut self, world: &mut DeusWorld, object: Id<Trap>) {
        let Some(at) = world.position(object) else { return };
        world.despawn(object);
        self.traps.retain(|trap| trap.object != Some(object));
        let radius_m = self.content.maps.trap.radius_m;
        let damage = self.content.maps.trap.damage;
        for hero in self.living_near(world, at, radius_m) {
            self.hurt_hero(world, hero, damage);
        }
    }
}
