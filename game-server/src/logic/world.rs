//! What a game works on: the objects of a room, where they are, and what has changed.
//!
//! A tick is `begin_tick(horizon)`, then whatever the game does, then `finish_tick()`; after that [`World::drain_changes`] says what
//! happened, in order. Inside, [`World::now`] is the tick's **horizon**: the room's clock plus the local lag, in whole
//! milliseconds. What changes, changes there; nobody can change what lies before the horizon of the tick before.
//!
//! Invariants:
//! 1. An object's position and cell are those of `now`, at any time; each change of cell is said once.
//! 2. Everything stored is what the wire can say: both ends compute with the same bits.
//! 3. What is said about some objects, and its order, does not depend on what else there is: lists are in the order of
//!    their causes, searches in the order of birth. So what is hidden can't shuffle what is told.
//! 4. The same seed and the same calls give the same world.
//!
//! Cost: what moves and what changes. What stands still costs nothing; in the steady state a tick allocates nothing for an object.

mod cells;
mod change;
mod objects;
mod parts;
#[cfg(test)]
mod tests;
mod trace;

use std::time::Duration;

use ambit_proto::cell::{Cell, Grid};
use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::schema::{Component, MAX_POINTS, Schema};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use fastrand::Rng;

use self::cells::Cells;
use self::objects::{Object, Objects, slot_of};
use self::trace::Trace;
use super::statics::Statics;
use crate::config::RoomConfig;

pub use self::change::{Change, EventField};
pub use self::trace::{TraceLine, Truth};

/// See the module.
#[derive(Debug)]
pub struct World {
    schema: Schema,
    grid: Grid,
    statics: Statics,
    seed: u64,
    rng: Rng,
    now: GameTime,
    /// How far the clients' clock is behind `now`.
    delay: Duration,
    objects: Objects,
    cells: Cells,
    /// Objects whose path goes on after `now`, in the order in which they set out.
    moving: Vec<ObjectId>,
    /// Objects of which a component has changed in this tick, in that order.
    changed: Vec<ObjectId>,
    /// Objects with more points ahead than one record carries: to be told of again at the next tick.
    crowded: Vec<ObjectId>,
    changes: Vec<Change>,
    trace: Trace,
}

/// The tick, as a room runs it.
impl World {
    /// A world without objects.
    ///
    /// # Panics
    /// When the schema is none (see `Schema::check`): a mistake of the game's.
    pub fn new(config: &RoomConfig, schema: Schema) -> Self {
        schema.check().expect("a game's schema is a valid one");
        let grid = config.grid();
        Self {
            schema,
            grid,
            statics: Statics::default(),
            seed: config.seed,
            rng: stream(config.seed, 0, 0),
            now: GameTime::ZERO,
            delay: config.delay,
            objects: Objects::default(),
            cells: Cells::new(grid),
            moving: Vec::new(),
            changed: Vec::new(),
            crowded: Vec::new(),
            changes: Vec::new(),
            trace: Trace::new(config.trace),
        }
    }

    /// Moves all that moves on to the horizon of this tick.
    pub fn begin_tick(&mut self, horizon: GameTime) {
        self.now = horizon.whole_millis();
        let mut moving = std::mem::take(&mut self.moving);
        moving.retain(|&object| self.advance(object));
        self.moving = moving;
    }

    /// Says which components have changed.
    pub fn finish_tick(&mut self) {
        self.touch_crowded();
        let mut changed = std::mem::take(&mut self.changed);
        for object in changed.drain(..) {
            self.tell_components(object);
        }
        self.changed = changed;
        self.trace_moved();
    }

    /// Appends what has happened to `out`, in order, and forgets it.
    pub fn drain_changes(&mut self, out: &mut Vec<Change>) {
        out.append(&mut self.changes);
    }

    /// Appends what really happened to `out` and forgets it; nothing unless the room's configuration asks for it.
    pub fn drain_trace(&mut self, out: &mut Vec<TraceLine>) {
        self.trace.drain(out);
    }

    /// A player has come.
    pub fn trace_join(&mut self, player: PlayerId, avatar: ObjectId, name: &str) {
        self.trace.say(self.now, avatar, || Truth::Joined { player, name: name.to_owned() });
    }

    /// A player has left for good.
    pub fn trace_leave(&mut self, player: PlayerId, avatar: ObjectId) {
        self.trace.say(self.now, avatar, || Truth::Left { player });
    }
}

/// The world as a whole.
impl World {
    /// The horizon of this tick: when what is done now takes effect.
    pub fn now(&self) -> GameTime {
        self.now
    }

    /// What the objects are made of.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The map.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// What stands in the way.
    pub fn statics(&self) -> &Statics {
        &self.statics
    }

    /// To put obstacles up; always in the same order.
    pub fn statics_mut(&mut self) -> &mut Statics {
        &mut self.statics
    }

    /// The world's own dice. Every throw shifts all later ones: where a throw for one player must not touch another's,
    /// give each their own with [`World::rng_for`].
    pub fn rng(&mut self) -> &mut Rng {
        &mut self.rng
    }

    /// Dice for one purpose (a `domain` of the game's choosing, and a number within it), which depend on nothing but the room's seed.
    pub fn rng_for(&self, domain: u64, index: u64) -> Rng {
        stream(self.seed, domain.wrapping_add(1), index)
    }
}

/// The objects.
impl World {
    /// Makes an object of a kind, with all its components, from now on.
    ///
    /// # Panics
    /// When the components are not those that the schema says: a mistake of the game's.
    pub fn spawn(&mut self, kind: u8, components: Vec<Component>) -> ObjectId {
        self.check(kind, &components);
        let components: Vec<_> = components.into_iter().map(parts::stored).collect();
        let object = Object {
            kind,
            owner: None,
            components,
            position: Position::default(),
            cell: Cell::default(),
            dirty: 0,
            crowded: 0,
            moving: false,
        };
        let position = parts::position_on(object.path(), self.now);
        let cell = self.grid.cell_at(position);
        let id = self.objects.insert(Object { position, cell, ..object });
        self.cells.insert(slot_of(id), cell);
        self.changes.push(Change::Spawned { object: id, cell });
        let number = self.grid.number(cell);
        self.trace.say(self.now, id, || Truth::Spawned { kind, position, cell: number });
        self.keep_moving(id);
        id
    }

    /// Takes an object away, now.
    pub fn despawn(&mut self, object: ObjectId) {
        self.despawn_at(object, self.now);
    }

    /// Takes an object away that was there until `at`: not later than now, and after the horizon of the tick before.
    /// One that is gone already stays gone.
    pub fn despawn_at(&mut self, object: ObjectId, at: GameTime) {
        let Some(gone) = self.objects.remove(object) else { return };
        self.cells.remove(slot_of(object), gone.cell);
        self.changes.push(Change::Despawned { object, at });
        self.trace.say(at, object, || Truth::Despawned);
    }

    /// Whether an object is there.
    pub fn contains(&self, object: ObjectId) -> bool {
        self.objects.get(object).is_some()
    }

    /// Number of objects.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All objects, oldest first. Cost: all of them, sorted: for the start of a game and for checks.
    pub fn objects(&self) -> impl ExactSizeIterator<Item = ObjectId> + use<> {
        self.objects.ids().into_iter()
    }

    /// Index of an object's kind in the schema.
    pub fn kind(&self, object: ObjectId) -> u8 {
        self.object(object).kind
    }

    /// The player whose avatar an object is.
    pub fn owner(&self, object: ObjectId) -> Option<PlayerId> {
        self.object(object).owner
    }

    /// Makes an object a player's: who is told what only its owner may know.
    pub fn set_owner(&mut self, object: ObjectId, player: PlayerId) {
        self.object_mut(object).owner = Some(player);
    }

    /// Whether an object's path goes on after now.
    pub fn is_moving(&self, object: ObjectId) -> bool {
        self.object(object).moving
    }

    /// The cell that an object is in now.
    pub fn cell(&self, object: ObjectId) -> Cell {
        self.object(object).cell
    }

    /// Replaces `found` by the objects that are now within `radius_m` of `centre`, oldest first. Cost: the cells around.
    pub fn within(&self, centre: Position, radius_m: f32, found: &mut Vec<ObjectId>) {
        let low = Position { x: centre.x - radius_m, y: centre.y - radius_m, ..centre };
        let high = Position { x: centre.x + radius_m, y: centre.y + radius_m, ..centre };
        self.between(low, high, found);
        found.retain(|&object| self.position(object).distance(centre) <= radius_m);
    }

    /// Replaces `found` by the objects that are now in the rectangle on (x, y) with these corners, oldest first.
    pub fn between(&self, low: Position, high: Position, found: &mut Vec<ObjectId>) {
        let inside =
            |position: Position| (low.x..=high.x).contains(&position.x) && (low.y..=high.y).contains(&position.y);
        found.clear();
        let slots = self.cells.between(self.grid.cell_at(low), self.grid.cell_at(high));
        found.extend(slots.map(|slot| self.objects.id_in(slot)).filter(|&object| inside(self.position(object))));
        found.sort_unstable();
    }

    /// Says that others may see an object no more, from now on. To be said before the events that they must not learn of.
    pub fn hide(&mut self, object: ObjectId) {
        self.changes.push(Change::Visibility { object });
        self.trace.say(self.now, object, || Truth::Hidden);
    }

    /// Says that others may see an object again, from now on. To be said before the events that they are to learn of.
    pub fn reveal(&mut self, object: ObjectId) {
        self.changes.push(Change::Visibility { object });
        self.trace.say(self.now, object, || Truth::Revealed);
    }

    /// Tells those who follow `about` that something happens at `effect`.
    pub fn emit(&mut self, kind: u8, about: ObjectId, effect: GameTime, fields: Vec<EventField>) {
        debug_assert_eq!(self.schema.events[usize::from(kind)].fields.len(), fields.len(), "fields as the schema says");
        self.changes.push(Change::Event { kind, about, effect, fields });
    }
}

impl World {
    fn object(&self, object: ObjectId) -> &Object {
        self.objects.get(object).unwrap_or_else(|| panic!("there is no object {object}"))
    }

    fn object_mut(&mut self, object: ObjectId) -> &mut Object {
        self.objects.get_mut(object).unwrap_or_else(|| panic!("there is no object {object}"))
    }

    fn check(&self, kind: u8, components: &[Component]) {
        let kind = self.schema.kind(kind).unwrap_or_else(|| panic!("the schema has no kind {kind}"));
        assert_eq!(kind.components.len(), components.len(), "a {} has all its components", kind.name);
        for (component, spec) in components.iter().zip(&kind.components) {
            let fits = component.fits(&spec.codec) && !parts::is_blank(component);
            assert!(fits, "{component:?} is not what the schema says of {}'s {}", kind.name, spec.name);
        }
    }

    /// Brings a moving object to `now`; whether it goes on moving.
    fn advance(&mut self, id: ObjectId) -> bool {
        let now = self.now;
        let Some(object) = self.objects.get_mut(id) else { return false };
        object.moving = is_on_the_way(object, now);
        let moving = object.moving;
        self.place(id);
        moving
    }

    /// An object has another path.
    fn path_changed(&mut self, object: ObjectId) {
        self.place(object);
        self.keep_moving(object);
    }

    fn keep_moving(&mut self, id: ObjectId) {
        let now = self.now;
        let object = self.object_mut(id);
        if !object.moving && is_on_the_way(object, now) {
            object.moving = true;
            self.moving.push(id);
        }
    }

    /// Takes an object's position and cell from its path.
    fn place(&mut self, id: ObjectId) {
        let (now, grid) = (self.now, self.grid);
        let object = self.object_mut(id);
        let position = parts::position_on(object.path(), now);
        if position == object.position {
            return;
        }
        object.position = position;
        let (from, to) = (object.cell, grid.cell_at(position));
        object.cell = to;
        self.trace.moved(id);
        if from != to {
            self.cells.remove(slot_of(id), from);
            self.cells.insert(slot_of(id), to);
            self.changes.push(Change::ChangeCell { object: id, from, to });
        }
    }

    /// A component has another present or future.
    fn touch(&mut self, id: ObjectId, index: u8) {
        let object = self.object_mut(id);
        if object.dirty == 0 {
            self.changed.push(id);
        }
        self.object_mut(id).dirty |= 1 << index;
    }

    fn tell_components(&mut self, id: ObjectId) {
        // The client's clock: what is sent begins there.
        let from = self.now.saturating_sub(self.delay);
        let Some(object) = self.objects.get_mut(id) else { return };
        let mask = std::mem::take(&mut object.dirty);
        let is_crowded = |index: usize| parts::points_ahead(&object.components[index], from) > MAX_POINTS;
        let touched = (0..object.components.len()).filter(|index| mask & 1 << index != 0);
        object.crowded = touched.filter(|&index| is_crowded(index)).fold(0, |crowded, index| crowded | 1 << index);
        if object.crowded != 0 {
            self.crowded.push(id);
        }
        self.changes.push(Change::Components { object: id, mask });
    }

    /// What did not fit into one record is to be sent when its time comes.
    fn touch_crowded(&mut self) {
        let mut crowded = std::mem::take(&mut self.crowded);
        for id in crowded.drain(..) {
            let Some(object) = self.objects.get(id) else { continue };
            for index in
                (0..object.components.len()).filter(|index| object.crowded & 1 << index != 0).collect::<Vec<_>>()
            {
                self.touch(id, index as u8);
            }
        }
        self.crowded = crowded;
    }

    fn trace_moved(&mut self) {
        let moved = self.trace.take_moved();
        for &id in &moved {
            let Some(object) = self.objects.get(id) else { continue };
            let (position, cell) = (object.position, self.grid.number(object.cell));
            self.trace.say(self.now, id, || Truth::Moved { position, cell });
        }
        self.trace.recycle(moved);
    }
}

fn is_on_the_way(object: &Object, now: GameTime) -> bool {
    object.path().last().is_some_and(|(time, _)| time > now)
}

/// Dice that share nothing with those of another domain or index.
fn stream(seed: u64, domain: u64, index: u64) -> Rng {
    Rng::with_seed(mixed(mixed(mixed(seed) ^ domain) ^ index))
}

/// The finalizer of `SplitMix64` (Steele, Lea and Flood, 2014): neighbouring numbers come out far apart.
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}
