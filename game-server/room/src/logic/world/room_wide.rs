//! Objects of room-wide kinds: the state of the room, and the rows of its players.
//!
//! They have components, an owner and a team like all others, and no place: no search finds them,
//! and every client of the room has them. One with an owner is a row of that player, and goes when
//! the player leaves for good. Cost: logarithmic in their number.

use ambit_proto::cell::Cell;
use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::schema::Component;
use ambit_proto::space::Position;

use super::objects::StoredObject;
use super::{TraceEvent, World, WorldChange};

impl World {
    /// The first object of a room-wide kind that belongs to this player, or to no player if `owner`
    /// is `None`. Those of this map come before copies of other maps'.
    pub fn room_wide(&self, kind: u8, owner: Option<PlayerId>) -> Option<ObjectId> {
        let ids = (kind, owner, ObjectId(0))..=(kind, owner, ObjectId(u64::MAX));
        let mut ids = self.room_wide.range(ids).map(|&(_, _, object)| object);
        let first = ids.next()?;
        if !self.is_copy(first) {
            return Some(first);
        }
        Some(ids.find(|id| !self.is_copy(*id)).unwrap_or(first))
    }

    /// Whether an object exists and its kind is room-wide.
    pub fn is_room_wide(&self, object: ObjectId) -> bool {
        self.find_kind(object).is_some_and(|kind| self.is_kind_room_wide(kind))
    }

    /// Whether the objects of a kind of the schema have no place.
    pub(crate) fn is_kind_room_wide(&self, kind: u8) -> bool {
        self.schema.kinds[usize::from(kind)].is_room_wide()
    }

    /// Removes the rows of a player who has left.
    pub(super) fn despawn_rows(&mut self, player: PlayerId) {
        let rows = self.room_wide.iter().filter(|(_, owner, _)| *owner == Some(player));
        let rows: Vec<ObjectId> =
            rows.map(|&(_, _, object)| object).filter(|row| !self.is_copy(*row)).collect();
        for row in rows {
            self.despawn(row);
        }
    }

    /// Removes rows that were given to a player who is not there: they would never go.
    pub(super) fn drop_rows_of_nobody(&mut self) {
        for row in std::mem::take(&mut self.new_rows) {
            let owner = self.objects.get(row).and_then(|stored| stored.owner);
            if let Some(owner) = owner.filter(|owner| !self.players.contains_key(owner)) {
                tracing::error!(
                    "a game gives player {} a row, and there is none: removed",
                    owner.0
                );
                self.despawn(row);
            }
        }
    }

    pub(super) fn spawn_room_wide(&mut self, kind: u8, components: Vec<Component>) -> ObjectId {
        let id = self.insert_room_wide(kind, components);
        self.note_shared(kind, id);
        id
    }

    /// The other maps of the world are not told.
    pub(super) fn insert_room_wide(&mut self, kind: u8, components: Vec<Component>) -> ObjectId {
        let object = StoredObject::new(kind, components);
        let id = self.objects.insert(object, Position::default(), Cell::default());
        self.room_wide.insert((kind, None, id));
        self.report_spawned(id, kind, None);
        self.trace.record_state(id);
        id
    }

    /// Traces all room-wide objects at the end of the next tick. Called by the room when it goes on
    /// at another host, whose trace begins there.
    pub(crate) fn trace_all_states(&mut self) {
        for &(_, _, object) in &self.room_wide {
            self.trace.record_state(object);
        }
    }

    /// Traces the room-wide objects that have changed in this tick.
    pub(super) fn trace_states(&mut self) {
        for id in self.trace.take_stated() {
            let Some(object) = self.objects.get(id) else { continue };
            self.trace.record(self.now, id, || TraceEvent::State {
                kind: object.kind,
                owner: object.owner,
                components: object.components.clone(),
            });
        }
    }

    pub(super) fn report_spawned(
        &mut self,
        object: ObjectId,
        kind: u8,
        place: Option<(Position, Cell)>,
    ) {
        self.changes.push(WorldChange::Spawned { object, cell: place.map(|(_, cell)| cell) });
        self.place_obstacles(object);
        let grid = &self.grid;
        self.trace.record(self.now, object, || TraceEvent::Spawned {
            kind,
            place: place.map(|(position, cell)| (position, grid.number(cell))),
        });
    }
}
