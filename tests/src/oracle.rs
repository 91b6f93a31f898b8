//! Computes which objects each viewer must follow, in the plain, slow way and without any code of
//! the implementation.
//!
//! After each tick of a room it checks all pairs of viewers and objects. It keeps two things of its
//! own: the cell at the centre of each viewer's zones, and the objects that each viewer follows.
//! Cells are computed from positions by division, as in "Architectures de developpement adaptees
//! aux MMOGs" (Project Deus). [`poses`] checks what clients make of what they receive.

pub mod poses;

use std::collections::{BTreeMap, BTreeSet};

use ambit_proto::ids::{ClientId, ObjectId};
use ambit_room::logic::sight::Sight;
use ambit_room::room::Room;

/// Column and row.
type CellIndex = (i64, i64);

#[derive(Default)]
pub struct InterestOracle {
    viewers: BTreeMap<ClientId, ViewerState>,
    /// Pairs checked; with `followed`, shows that the check has seen enough.
    pub checked: u64,
    /// Of these, pairs in which the viewer follows the object.
    pub followed: u64,
}

struct ViewerState {
    home: CellIndex,
    followed: BTreeSet<ObjectId>,
}

impl InterestOracle {
    /// Compares what the room's network layer follows with what it should, after a tick; nothing in
    /// a game whose sight is asked now and then.
    pub fn check(&mut self, room: &Room) -> Result<(), String> {
        if room.game().sight_checks().may_lag() {
            return Ok(());
        }
        let present: BTreeSet<ClientId> =
            room.network().viewers().map(|viewer| viewer.client).collect();
        self.viewers.retain(|client, _| present.contains(client));
        let (room_wide, placed): (Vec<_>, Vec<_>) =
            room.world().objects().partition(|&id| room.world().is_room_wide(id));
        let objects: BTreeMap<ObjectId, CellIndex> =
            placed.into_iter().map(|id| (id, cell_of(room, id))).collect();
        for viewer in room.network().viewers() {
            let mut followed = self.expected_followed(room, viewer.client, viewer.avatar, &objects);
            followed.extend(&room_wide);
            let actual: BTreeSet<ObjectId> = viewer.slots.objects().collect();
            if actual != followed {
                let wrongly: Vec<_> = actual.difference(&followed).collect();
                let missing: Vec<_> = followed.difference(&actual).collect();
                return Err(format!(
                    "{:?} at {:?}: follows {wrongly:?} wrongly and misses {missing:?}",
                    viewer.client,
                    room.world().now()
                ));
            }
        }
        Ok(())
    }

    fn expected_followed(
        &mut self,
        room: &Room,
        client: ClientId,
        avatar: ObjectId,
        objects: &BTreeMap<ObjectId, CellIndex>,
    ) -> BTreeSet<ObjectId> {
        let config = room.config();
        let position = room.world().position(avatar);
        let position_m = (f64::from(position.x), f64::from(position.y));
        let state = self
            .viewers
            .entry(client)
            .or_insert_with(|| ViewerState { home: objects[&avatar], followed: BTreeSet::new() });
        let edge = f64::from(config.cell);
        let margin = f64::from(config.margin_m);
        state.home.0 =
            home_with_hysteresis(state.home.0, objects[&avatar].0, position_m.0, edge, margin);
        state.home.1 =
            home_with_hysteresis(state.home.1, objects[&avatar].1, position_m.1, edge, margin);
        let inner = i64::from(config.inner);
        let outer = i64::from(config.outer);
        let mut now = BTreeSet::new();
        for (&object, &cell) in objects {
            let (sight, reach) = if state.followed.contains(&object) {
                (Sight::Kept, outer)
            } else {
                (Sight::New, inner)
            };
            let seen = object == avatar || room.game().sees(room.world(), avatar, object, sight);
            let distance = (cell.0 - state.home.0).abs().max((cell.1 - state.home.1).abs());
            if object == avatar || seen && distance <= reach {
                now.insert(object);
            }
        }
        self.checked += objects.len() as u64;
        self.followed += now.len() as u64;
        state.followed.clone_from(&now);
        now
    }
}

/// The cell of an object: its coordinates divided by the cell's edge, within the map.
fn cell_of(room: &Room, id: ObjectId) -> CellIndex {
    let config = room.config();
    let position = room.world().position(id);
    let along = |metres: f32, extent: f32| -> i64 {
        let last = (f64::from(extent) / f64::from(config.cell)).ceil() as i64 - 1;
        ((f64::from(metres) / f64::from(config.cell)).floor() as i64).clamp(0, last)
    };
    (along(position.x, config.width), along(position.y, config.height))
}

/// Column (or row) of the home cell with hysteresis: the old one, until the avatar is more than the
/// margin beyond its borders.
fn home_with_hysteresis(home: i64, actual: i64, metres: f64, edge: f64, margin: f64) -> i64 {
    let beyond = metres < home as f64 * edge - margin || metres > (home + 1) as f64 * edge + margin;
    if beyond { actual } else { home }
}
