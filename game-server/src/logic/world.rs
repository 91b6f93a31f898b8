//! What a game works on: the objects of a room, where they are, and what has changed.
//!
//! A tick is `begin_tick(horizon)`, then whatever the game does, then `finish_tick()`; after that
//! [`World::drain_changes`] says what happened, in order. Inside, [`World::now`] is the tick's
//! **horizon**: the room's clock plus the local lag, in whole milliseconds. What changes, changes
//! there; nobody can change what lies before the horizon of the tick before.
//!
//! Invariants:
//! 1. An object's position and cell are those of `now`, at any time; each change of cell is said
//!    once.
//! 2. Everything stored is what the wire can say: both ends compute with the same bits.
//! 3. What is said about some objects, and its order, does not depend on what else there is: lists
//!    are in the order of their causes, searches in the order of birth. So what is hidden can't
//!    shuffle what is told.
//! 4. The same seed and the same calls give the same world.
//!
//! An object is where its path says, or its pose ([`World::set_pose`]), whichever its kind has for
//! component 0.
//!
//! Cost: what moves and what changes. What stands still costs nothing; in the steady state a tick
//! allocates nothing for an object.

mod change;
mod component_access;
mod inputs;
mod motion;
mod objects;
mod objects_by_cell;
mod path_segment;
mod poses;
mod save;
#[cfg(test)]
mod tests;
mod trace;

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_proto::cell::{Cell, Grid};
use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::schema::{Component, MAX_POINTS, Schema};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use bytes::Bytes;
use fastrand::Rng;

use self::objects::{Objects, StoredObject, slot_of};
use self::objects_by_cell::ObjectsByCell;
use self::poses::WorldPoses;
use self::trace::WorldTrace;
use super::controls::Controls;
use super::statics::Statics;
use crate::config::RoomConfig;

pub use self::change::{EventField, WorldChange};
pub use self::inputs::AppliedInputs;
pub use self::trace::{TraceEvent, TraceLine};

/// See the module.
#[derive(Debug)]
pub struct World {
    schema: Schema,
    grid: Grid,
    statics: Statics,
    /// What stands in the way, as the clients are told of it; made at the end of the first tick.
    static_map: Option<Bytes>,
    /// Which of its world's maps this is.
    map: u32,
    seed: u64,
    rng: Rng,
    now: GameTime,
    /// The horizon of the tick before.
    previous_horizon: GameTime,
    /// How far the clients' clock is behind `now`.
    delay: Duration,
    objects: Objects,
    poses: WorldPoses,
    cells: ObjectsByCell,
    /// Of players who have said something of theirs.
    controls: BTreeMap<PlayerId, Controls>,
    /// Objects whose path goes on after `now`, in the order in which they set out; also such as
    /// rest since this tick.
    moving: Vec<ObjectId>,
    /// Objects of which a component has changed in this tick, in that order.
    changed: Vec<ObjectId>,
    /// Objects with more points ahead than one record carries: to be told of again at the next
    /// tick.
    overflowing: Vec<ObjectId>,
    changes: Vec<WorldChange>,
    trace: WorldTrace,
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
            static_map: None,
            map: config.map,
            seed: config.seed,
            rng: rng_stream(config.seed, 0, 0),
            now: GameTime::ZERO,
            previous_horizon: GameTime::ZERO,
            delay: config.delay,
            objects: Objects::default(),
            poses: WorldPoses::default(),
            cells: ObjectsByCell::new(grid),
            controls: BTreeMap::new(),
            moving: Vec::new(),
            changed: Vec::new(),
            overflowing: Vec::new(),
            changes: Vec::new(),
            trace: WorldTrace::new(config.trace),
        }
    }

    /// Moves all that moves on to the horizon of this tick.
    pub fn begin_tick(&mut self, horizon: GameTime) {
        self.previous_horizon = std::mem::replace(&mut self.now, horizon.whole_millis());
        self.poses.begin_tick();
        let mut moving = std::mem::take(&mut self.moving);
        moving.retain(|&object| self.advance(object));
        self.moving = moving;
    }

    /// Says which components have changed. At the first tick, what stands in the way is final.
    pub fn finish_tick(&mut self) {
        if self.static_map.is_none() {
            self.static_map = Some(self.statics.encode());
        }
        let objects = &self.objects;
        self.poses
            .finish_tick(|object| objects.slot(object).is_some());
        self.mark_overflowing_dirty();
        let mut changed = std::mem::take(&mut self.changed);
        for object in changed.drain(..) {
            self.push_component_change(object);
        }
        self.changed = changed;
        self.trace_moves();
    }

    /// Appends what has happened to `out`, in order, and forgets it.
    pub fn drain_changes(&mut self, out: &mut Vec<WorldChange>) {
        out.append(&mut self.changes);
    }

    /// Appends what really happened to `out` and forgets it; nothing unless the room's
    /// configuration asks for it.
    pub fn drain_trace(&mut self, out: &mut Vec<TraceLine>) {
        self.trace.drain(out);
    }

    /// A player has come.
    pub fn trace_join(&mut self, player: PlayerId, avatar: ObjectId, name: &str) {
        self.trace.record(self.now, avatar, || TraceEvent::Joined {
            player,
            name: name.to_owned(),
        });
    }

    /// A player has left for good.
    pub fn trace_leave(&mut self, player: PlayerId, avatar: ObjectId) {
        self.trace
            .record(self.now, avatar, || TraceEvent::OmittedPoses { player });
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

    /// Which of its world's maps this is, from 0.
    pub fn map(&self) -> u32 {
        self.map
    }

    /// The point in the middle of the map, on the ground.
    pub fn middle(&self) -> Position {
        Position::on_ground(self.grid.width() / 2.0, self.grid.height() / 2.0)
    }

    /// What stands in the way.
    pub fn statics(&self) -> &Statics {
        &self.statics
    }

    /// The encoded `map::StaticMap` of what stands in the way, as it is at the end of the first
    /// tick: what each client is told once. Empty before that, and if nothing stands there.
    pub fn static_map(&self) -> Bytes {
        self.static_map.clone().unwrap_or_default()
    }

    /// To put obstacles up; always in the same order, and in the first tick: later ones stand in
    /// the way, but no client is told.
    pub fn statics_mut(&mut self) -> &mut Statics {
        &mut self.statics
    }

    /// The world's own dice. Every throw shifts all later ones: where a throw for one player must
    /// not touch another's, give each their own with [`World::rng_for`].
    pub fn rng(&mut self) -> &mut Rng {
        &mut self.rng
    }

    /// Dice for one purpose (a `domain` of the game's choosing, and a number within it), which
    /// depend on nothing but the room's seed.
    pub fn rng_for(&self, domain: u64, index: u64) -> Rng {
        rng_stream(self.seed, domain.wrapping_add(1), index)
    }
}

/// The objects.
impl World {
    /// Makes an object of a kind, with all its components, from now on.
    ///
    /// # Panics
    /// When the components are not those that the schema says: a mistake of the game's.
    pub fn spawn(&mut self, kind: u8, components: Vec<Component>) -> ObjectId {
        self.check_components(kind, &components);
        let components: Vec<_> = components
            .into_iter()
            .map(component_access::quantised_component)
            .collect();
        let position = self.initial_position(kind, &components[0]);
        let cell = self.grid.cell_at(position);
        let id = self
            .objects
            .insert(StoredObject::new(kind, components), position, cell);
        self.cells.insert(slot_of(id), cell);
        self.changes.push(WorldChange::Spawned { object: id, cell });
        let number = self.grid.number(cell);
        self.trace.record(self.now, id, || TraceEvent::Spawned {
            kind,
            position,
            cell: number,
        });
        self.add_pose(id);
        if !self.has_pose(id) {
            self.handle_path_change(id);
        }
        id
    }

    /// Takes an object away, now.
    pub fn despawn(&mut self, object: ObjectId) {
        self.despawn_at(object, self.now);
    }

    /// Takes an object away that was there until `at`: not later than now, and after the horizon of
    /// the tick before. One that is gone already stays gone.
    pub fn despawn_at(&mut self, object: ObjectId, at: GameTime) {
        let pose_slot = self.pose_slot_of(object);
        if self.objects.remove(object).is_none() {
            return;
        }
        if let Some(slot) = pose_slot {
            self.poses.remove(slot);
        }
        self.cells
            .remove(slot_of(object), self.objects.cells[slot_of(object)]);
        self.changes.push(WorldChange::Despawned { object, at });
        self.trace.record(at, object, || TraceEvent::Despawned);
    }

    /// Whether an object is there.
    pub fn contains(&self, object: ObjectId) -> bool {
        self.objects.slot(object).is_some()
    }

    /// Number of objects.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All objects, oldest first. Cost: all of them, sorted: for the start of a game and for
    /// checks.
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
        if self.object_mut(object).owner.replace(player) != Some(player) {
            self.changes.push(WorldChange::Team { object });
        }
    }

    /// The team that an object belongs to.
    pub fn team(&self, object: ObjectId) -> Option<u8> {
        self.object(object).team
    }

    /// Makes an object one of a team, or of none: who is told what only its team may know, and
    /// whose players want the freshest news of each other.
    pub fn set_team(&mut self, object: ObjectId, team: Option<u8>) {
        if std::mem::replace(&mut self.object_mut(object).team, team) != team {
            self.changes.push(WorldChange::Team { object });
        }
    }

    /// Says that the avatar `viewer` has to do with an object, until a time: its target, its
    /// attacker. Its player wants the freshest news of it. Only what the player knows in any case
    /// may be said here: it shows in the traffic.
    pub fn engage(&mut self, viewer: ObjectId, object: ObjectId, until: GameTime) {
        self.changes.push(WorldChange::EngagedObjects {
            viewer,
            object,
            until,
        });
    }

    /// Sets what a player is sent at most, or all of them, those to come included.
    pub fn set_budget(&mut self, player: Option<PlayerId>, bytes_per_s: u32) {
        self.changes.push(WorldChange::Budget {
            player,
            bytes_per_s,
        });
    }

    /// Whether an object is somewhere else in a moment: its path goes on after now, or its pose has
    /// changed at this tick or the one before.
    pub fn is_moving(&self, object: ObjectId) -> bool {
        match self.pose_slot_of(object) {
            Some(slot) => self.poses.is_moving(slot),
            None => self.objects.segments[self.slot(object)].is_some(),
        }
    }

    /// The cell that an object is in now.
    pub fn cell(&self, object: ObjectId) -> Cell {
        self.objects.cells[self.slot(object)]
    }

    /// Replaces `found` by the objects that are now within `radius_m` of `centre`, oldest first.
    /// Cost: the cells around.
    pub fn find_within(&self, centre: Position, radius_m: f32, found: &mut Vec<ObjectId>) {
        let low = Position {
            x: centre.x - radius_m,
            y: centre.y - radius_m,
            ..centre
        };
        let high = Position {
            x: centre.x + radius_m,
            y: centre.y + radius_m,
            ..centre
        };
        self.find_in_rectangle(low, high, found);
        found.retain(|&object| self.position(object).distance(centre) <= radius_m);
    }

    /// Replaces `found` by the objects that are now in the rectangle on (x, y) with these corners,
    /// oldest first.
    pub fn find_in_rectangle(&self, low: Position, high: Position, found: &mut Vec<ObjectId>) {
        let inside = |position: Position| {
            (low.x..=high.x).contains(&position.x) && (low.y..=high.y).contains(&position.y)
        };
        found.clear();
        let slots = self
            .cells
            .between(self.grid.cell_at(low), self.grid.cell_at(high));
        found.extend(
            slots
                .map(|slot| self.objects.id_at_slot(slot))
                .filter(|&object| inside(self.position(object))),
        );
        found.sort_unstable();
    }

    /// Says that others may see an object no more, from now on. To be said before the events that
    /// they must not learn of.
    pub fn hide(&mut self, object: ObjectId) {
        self.changes.push(WorldChange::Visibility { object });
        self.trace.record(self.now, object, || TraceEvent::Hidden);
    }

    /// Says that others may see an object again, from now on. To be said before the events that
    /// they are to learn of.
    pub fn reveal(&mut self, object: ObjectId) {
        self.changes.push(WorldChange::Visibility { object });
        self.trace.record(self.now, object, || TraceEvent::Revealed);
    }

    /// Tells those who follow `about` that something happens at `effect`.
    pub fn emit(&mut self, kind: u8, about: ObjectId, effect: GameTime, fields: Vec<EventField>) {
        debug_assert_eq!(
            self.schema.events[usize::from(kind)].fields.len(),
            fields.len(),
            "fields as the schema says"
        );
        self.changes.push(WorldChange::Event {
            kind,
            about,
            effect,
            fields,
        });
    }
}

impl World {
    fn slot(&self, object: ObjectId) -> usize {
        self.objects
            .slot(object)
            .unwrap_or_else(|| panic!("there is no object {object}"))
    }

    fn object(&self, object: ObjectId) -> &StoredObject {
        self.objects
            .get(object)
            .unwrap_or_else(|| panic!("there is no object {object}"))
    }

    fn object_mut(&mut self, object: ObjectId) -> &mut StoredObject {
        self.objects
            .get_mut(object)
            .unwrap_or_else(|| panic!("there is no object {object}"))
    }

    fn check_components(&self, kind: u8, components: &[Component]) {
        let kind = self
            .schema
            .kind(kind)
            .unwrap_or_else(|| panic!("the schema has no kind {kind}"));
        assert_eq!(
            kind.components.len(),
            components.len(),
            "a {} has all its components",
            kind.name
        );
        for (component, spec) in components.iter().zip(&kind.components) {
            let fits =
                component.fits(&spec.codec) && !component_access::is_empty_timeline(component);
            assert!(
                fits,
                "{component:?} is not what the schema says of {}'s {}",
                kind.name, spec.name
            );
        }
    }

    /// A component has another present or future.
    fn mark_dirty(&mut self, id: ObjectId, index: u8) {
        let object = self.object_mut(id);
        if object.dirty == 0 {
            self.changed.push(id);
        }
        self.object_mut(id).dirty |= 1 << index;
    }

    fn push_component_change(&mut self, id: ObjectId) {
        // The client's clock: what is sent begins there.
        let from = self.now.saturating_sub(self.delay);
        let Some(object) = self.objects.get_mut(id) else {
            return;
        };
        let mask = std::mem::take(&mut object.dirty);
        let is_crowded = |index: usize| {
            component_access::points_ahead(&object.components[index], from) > MAX_POINTS
        };
        let touched = (0..object.components.len()).filter(|index| mask & 1 << index != 0);
        object.overflowing = touched
            .filter(|&index| is_crowded(index))
            .fold(0, |crowded, index| crowded | 1 << index);
        if object.overflowing != 0 {
            self.overflowing.push(id);
        }
        self.changes
            .push(WorldChange::Components { object: id, mask });
    }

    /// What did not fit into one record is to be sent when its time comes.
    fn mark_overflowing_dirty(&mut self) {
        let mut crowded = std::mem::take(&mut self.overflowing);
        for id in crowded.drain(..) {
            let Some(object) = self.objects.get(id) else {
                continue;
            };
            let mask = object.overflowing;
            for index in (0..16).filter(|index| mask & 1 << index != 0) {
                self.mark_dirty(id, index);
            }
        }
        self.overflowing = crowded;
    }

    fn trace_moves(&mut self) {
        let moved = self.trace.take_moved();
        for &id in &moved {
            let Some(slot) = self.objects.slot(id) else {
                continue;
            };
            let (position, cell) = (
                self.objects.positions[slot],
                self.grid.number(self.objects.cells[slot]),
            );
            self.trace
                .record(self.now, id, || TraceEvent::Moved { position, cell });
        }
        self.trace.recycle(moved);
    }
}

/// Dice that share nothing with those of another domain or index.
fn rng_stream(seed: u64, domain: u64, index: u64) -> Rng {
    Rng::with_seed(mix_bits(mix_bits(mix_bits(seed) ^ domain) ^ index))
}

/// The finalizer of `SplitMix64` (Steele, Lea and Flood, 2014): neighbouring numbers come out far
/// apart.
fn mix_bits(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}
