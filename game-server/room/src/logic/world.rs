//! The objects of a room: their components, their positions and what has changed.
//!
//! A tick is `begin_tick(horizon)`, then whatever the game does, then `finish_tick()`. After that
//! [`World::drain_changes`] returns what happened, in order. During the tick, [`World::now`] is the
//! tick's **horizon**: the room's clock plus the local lag, in whole milliseconds. Changes take
//! effect at the horizon; nothing can change before the horizon of the previous tick.
//!
//! Invariants:
//! 1. An object's position and cell are always those of `now`; each change of cell is reported
//!    once.
//! 2. Stored values are exactly those that the wire can carry: server and clients compute with the
//!    same bits.
//! 3. The changes of some objects, and their order, do not depend on other objects: lists are in
//!    the order of their causes, searches in the order of birth. So hidden objects cannot influence
//!    what clients receive.
//! 4. The same seed and the same calls give the same world.
//!
//! The position of an object comes from its path or its pose ([`World::set_pose`]), whichever its
//! kind has as component 0.
//!
//! Cost: proportional to moving objects and changes. An object at rest costs nothing; in the steady
//! state a tick allocates nothing for an object.

pub(crate) mod adaptation;
mod change;
mod component_access;
mod headings;
mod inputs;
mod motion;
mod objects;
mod objects_by_cell;
mod obstacle_components;
mod obstacles;
mod past;
mod path_ahead;
mod path_segment;
mod players;
mod poses;
mod room_wide;
mod save;
mod shared;
mod stored;
#[cfg(test)]
mod tests;
mod timers;
mod trace;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ambit_proto::cell::{Cell, Grid};
use ambit_proto::ids::{AccountId, ObjectId, PlayerId};
use ambit_proto::message::FieldValue;
use ambit_proto::schema::{Component, MAX_POINTS, Schema};
use ambit_proto::seeded::mix_bits;
use ambit_proto::space::Position;
use ambit_proto::standing::Standing;
use ambit_proto::time::GameTime;
use ambit_proto::wishes::Wishes;
use bytes::Bytes;
use fastrand::Rng;

use self::headings::Headings;
use self::objects::{Objects, StoredObject, slot_of};
use self::objects_by_cell::ObjectsByCell;
use self::obstacle_components::ObstacleComponents;
use self::past::PastPoses;
use self::poses::WorldPoses;
use self::timers::Timers;
use self::trace::WorldTrace;
use super::controls::{DEFAULT_INPUT_TIMEOUT, HeldControls};
use super::player_values::{NoValues, PlayerValues};
use super::share::SharedWithMaps;
use super::sight::HidingNote;
use super::sound::EventSound;
use super::statics::Statics;
use super::store::StoreDesk;
use crate::config::RoomConfig;

pub use self::change::{EventAudience, WorldChange};
pub use self::inputs::AppliedInputs;
pub use self::path_ahead::PATH_TOLD_AHEAD;
pub use self::players::{MAX_COUNT_NAME_BYTES, MAX_COUNTS, WorldPlayer};
pub use self::timers::{DueTimer, MAX_TIMER_BYTES, MAX_TIMERS, TimerError, TimerPayload};
pub use self::trace::{TraceEvent, TraceLine};

/// The objects of a room. See the module.
#[derive(Debug)]
pub struct World {
    schema: Schema,
    grid: Grid,
    statics: Statics,
    obstacle_components: ObstacleComponents,
    /// The encoded static obstacles for clients; set at the end of the first tick.
    static_map: Option<Bytes>,
    /// Index of this map in its world.
    map: u32,
    seed: u64,
    rng: Rng,
    now: GameTime,
    /// The horizon of the previous tick.
    previous_horizon: GameTime,
    /// How far the clients' clock is behind `now`.
    delay: Duration,
    objects: Objects,
    poses: WorldPoses,
    past: PastPoses,
    headings: Headings,
    cells: ObjectsByCell,
    timers: Timers,
    /// The players with an avatar. Kept by the room.
    players: BTreeMap<PlayerId, WorldPlayer>,
    /// Of those who have one, from before their join until they have left. Kept by the room.
    accounts: BTreeMap<PlayerId, AccountId>,
    /// Of those who are more than players, likewise.
    standings: BTreeMap<PlayerId, Standing>,
    /// Of players who are about to join.
    wishes: BTreeMap<PlayerId, Wishes>,
    store: StoreDesk,
    player_values: Box<dyn PlayerValues>,
    hiding: HidingNote,
    /// Whom the game has put out at this tick, and why.
    put_out: Vec<(PlayerId, String)>,
    /// Players with another avatar than their seats say.
    new_avatars: Vec<(PlayerId, ObjectId)>,
    /// What the game has counted since the room came to this host, by name.
    counts: BTreeMap<&'static str, u64>,
    /// What a calendar's clock shows at the room's time zero, in milliseconds since 1970.
    calendar_ms: i64,
    /// Controls of the players that have sent any.
    controls: BTreeMap<PlayerId, HeldControls>,
    /// How long held keys count after the newest sample of their player.
    input_timeout: Duration,
    /// The objects without a place, by kind and owner.
    room_wide: BTreeSet<(u8, Option<PlayerId>, ObjectId)>,
    /// What all maps of the world have in common.
    shared: SharedWithMaps,
    /// Rows that were given to a player in this tick.
    new_rows: Vec<ObjectId>,
    /// Objects whose path continues after `now`, in the order in which they started, and objects
    /// that came to rest in this tick.
    moving: Vec<ObjectId>,
    /// Objects with a component that changed in this tick, in the order of the first change.
    changed: Vec<ObjectId>,
    /// Objects with more points ahead than one record carries: reported again at the next tick.
    overflowing: Vec<ObjectId>,
    changes: Vec<WorldChange>,
    trace: WorldTrace,
}

/// The tick, as a room runs it.
impl World {
    /// A world without objects.
    ///
    /// # Panics
    /// If the schema is invalid (see `Schema::check`): a bug of the game.
    pub fn new(config: &RoomConfig, schema: Schema) -> Self {
        schema.check().expect("a game's schema is a valid one");
        let grid = config.grid();
        Self {
            statics: Statics::new(schema.presentation.scenery.obstacles.clone()),
            headings: Headings::new(&schema),
            obstacle_components: ObstacleComponents::of(&schema),
            schema,
            grid,
            static_map: None,
            map: config.map,
            seed: config.seed,
            rng: rng_stream(config.seed, 0, 0),
            now: GameTime::ZERO,
            previous_horizon: GameTime::ZERO,
            delay: config.delay,
            objects: Objects::default(),
            poses: WorldPoses::default(),
            past: PastPoses::default(),
            cells: ObjectsByCell::new(grid),
            timers: Timers::default(),
            players: BTreeMap::new(),
            accounts: BTreeMap::new(),
            standings: BTreeMap::new(),
            wishes: BTreeMap::new(),
            store: StoreDesk::default(),
            player_values: Box::new(NoValues),
            hiding: HidingNote::default(),
            put_out: Vec::new(),
            new_avatars: Vec::new(),
            counts: BTreeMap::new(),
            calendar_ms: 0,
            controls: BTreeMap::new(),
            input_timeout: DEFAULT_INPUT_TIMEOUT,
            room_wide: BTreeSet::new(),
            shared: SharedWithMaps::default(),
            new_rows: Vec::new(),
            moving: Vec::new(),
            changed: Vec::new(),
            overflowing: Vec::new(),
            changes: Vec::new(),
            trace: WorldTrace::new(config.trace),
        }
    }

    /// Moves all moving objects to the horizon of this tick.
    pub fn begin_tick(&mut self, horizon: GameTime) {
        self.previous_horizon = std::mem::replace(&mut self.now, horizon.whole_millis());
        self.poses.begin_tick();
        let mut moving = std::mem::take(&mut self.moving);
        moving.retain(|&object| self.advance(object));
        self.moving = moving;
    }

    /// The room has slept until this tick, which is as long as any other.
    pub(crate) fn wake(&mut self, period: Duration) {
        self.previous_horizon = self.previous_horizon.max(self.now.saturating_sub(period));
        self.restart_sharing();
    }

    /// What a calendar's clock shows at `now` of the room's clock.
    pub(crate) fn set_calendar(&mut self, now: GameTime, unix_ms: u64) {
        let unix_ms = i64::try_from(unix_ms).unwrap_or(i64::MAX);
        self.calendar_ms = unix_ms.saturating_sub_unsigned(now.millis());
    }

    /// What a calendar's clock shows at the room's time zero, in milliseconds since 1970, UTC. Zero
    /// if the room's host has not said it.
    pub fn calendar_ms(&self) -> i64 {
        self.calendar_ms
    }

    /// Reports which components have changed. At the end of the first tick the static obstacles are
    /// final.
    pub fn finish_tick(&mut self) {
        if self.static_map.is_none() {
            self.statics.finish();
            self.static_map = Some(self.statics.encode());
        }
        self.drop_rows_of_nobody();
        let objects = &self.objects;
        self.poses.finish_tick(|object| objects.slot(object).is_some());
        self.note_past();
        self.mark_overflowing_dirty();
        let mut changed = std::mem::take(&mut self.changed);
        for object in changed.drain(..) {
            self.push_component_change(object);
        }
        self.changed = changed;
        self.trace_moves();
        self.trace_states();
    }

    /// Moves the changes since the last call to `out`, in order.
    pub fn drain_changes(&mut self, out: &mut Vec<WorldChange>) {
        out.append(&mut self.changes);
    }

    /// Moves the trace lines since the last call to `out`. There are none unless the room's
    /// configuration enables the trace.
    pub fn drain_trace(&mut self, out: &mut Vec<TraceLine>) {
        self.trace.drain(out);
    }

    /// Traces that a player has joined.
    pub fn trace_join(&mut self, player: PlayerId, avatar: ObjectId, name: &str) {
        self.trace
            .record(self.now, avatar, || TraceEvent::Joined { player, name: name.to_owned() });
    }

    /// Traces that a player has left for good.
    pub fn trace_leave(&mut self, player: PlayerId, avatar: ObjectId) {
        self.trace.record(self.now, avatar, || TraceEvent::Left { player });
    }
}

/// The world as a whole.
impl World {
    /// How far the clients' clock is behind [`World::now`]: the local lag.
    pub fn delay(&self) -> Duration {
        self.delay
    }

    /// The horizon of this tick: the time at which changes take effect.
    pub fn now(&self) -> GameTime {
        self.now
    }

    /// The horizon of the previous tick: nothing can change before it.
    pub fn previous_horizon(&self) -> GameTime {
        self.previous_horizon
    }

    /// The schema of the game.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The map and its cells.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Index of this map in its world, from 0.
    pub fn map(&self) -> u32 {
        self.map
    }

    /// The centre of the map, on the ground.
    pub fn middle(&self) -> Position {
        Position::on_ground(self.grid.width() / 2.0, self.grid.height() / 2.0)
    }

    /// The obstacles: the map's, and those that objects have.
    pub fn statics(&self) -> &Statics {
        &self.statics
    }

    /// The encoded `map::StaticMap` with the obstacles at the end of the first tick. Each client
    /// receives it once. Empty before that, and without obstacles.
    pub fn static_map(&self) -> Bytes {
        self.static_map.clone().unwrap_or_default()
    }

    /// For adding obstacles of the map: always in the same order, and in the first tick. Later ones
    /// block movement, but clients are not notified: what comes and goes are components of objects.
    pub fn statics_mut(&mut self) -> &mut Statics {
        &mut self.statics
    }

    /// The world's own random numbers. Each call shifts all later ones: if numbers for one player
    /// must not influence another's, give each their own generator with [`World::rng_for`].
    pub fn rng(&mut self) -> &mut Rng {
        &mut self.rng
    }

    /// A generator for one purpose (a `domain` that the game chooses, and an index within it) that
    /// depends only on the room's seed.
    pub fn rng_for(&self, domain: u64, index: u64) -> Rng {
        rng_stream(self.seed, domain.wrapping_add(1), index)
    }
}

impl World {
    /// Creates an object of a kind with all its components, from now on.
    ///
    /// # Panics
    /// If the components do not match the schema: a bug of the game.
    pub fn spawn(&mut self, kind: u8, components: Vec<Component>) -> ObjectId {
        self.check_components(kind, &components);
        let components: Vec<_> =
            components.into_iter().map(component_access::quantised_component).collect();
        if self.is_kind_room_wide(kind) {
            return self.spawn_room_wide(kind, components);
        }
        let position = self.initial_position(kind, &components[0]);
        let cell = self.grid.cell_at(position);
        let id = self.objects.insert(StoredObject::new(kind, components), position, cell);
        self.cells.insert(slot_of(id), cell);
        self.report_spawned(id, kind, Some((position, cell)));
        self.add_pose(id);
        if !self.has_pose(id) {
            self.handle_path_change(id);
        }
        id
    }

    /// Removes an object, now.
    pub fn despawn(&mut self, object: ObjectId) {
        self.despawn_at(object, self.now);
    }

    /// Removes an object that existed until `at`: not later than now, and after the horizon of the
    /// previous tick. Does nothing if the object is removed already.
    pub fn despawn_at(&mut self, object: ObjectId, at: GameTime) {
        let pose_slot = self.pose_slot_of(object);
        let Some(removed) = self.objects.remove(object) else {
            return;
        };
        if let Some(slot) = pose_slot {
            self.poses.remove(slot);
        }
        if self.room_wide.remove(&(removed.kind, removed.owner, object)) {
            self.note_shared(removed.kind, object);
        } else {
            self.cells.remove(slot_of(object), self.objects.cells[slot_of(object)]);
        }
        self.take_away_obstacles(object, removed.kind);
        self.changes.push(WorldChange::Despawned { object, at });
        self.trace.record(at, object, || TraceEvent::Despawned);
    }

    /// Whether an object exists.
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

    /// All objects, oldest first. Cost: all objects, sorted. Meant for the start of a game and for
    /// checks.
    pub fn objects(&self) -> impl ExactSizeIterator<Item = ObjectId> + use<> {
        self.objects.ids().into_iter()
    }

    /// Index of an object's kind in the schema.
    pub fn kind(&self, object: ObjectId) -> u8 {
        self.object(object).kind
    }

    /// Index of an object's kind in the schema, if the object exists.
    pub fn find_kind(&self, object: ObjectId) -> Option<u8> {
        self.objects.get(object).map(|stored| stored.kind)
    }

    /// The player whose avatar this object is.
    pub fn owner(&self, object: ObjectId) -> Option<PlayerId> {
        self.object(object).owner
    }

    /// Assigns an object to a player, who then receives its owner-only components.
    pub fn set_owner(&mut self, object: ObjectId, player: PlayerId) {
        let before = self.object_mut(object).owner.replace(player);
        if before != Some(player) {
            let kind = self.kind(object);
            if self.room_wide.remove(&(kind, before, object)) {
                self.room_wide.insert((kind, Some(player), object));
                if !self.is_copy(object) {
                    self.new_rows.push(object);
                }
                self.trace.record_state(object);
                self.note_shared(kind, object);
            }
            self.changes.push(WorldChange::Team { object });
        }
    }

    /// The team that an object belongs to.
    pub fn team(&self, object: ObjectId) -> Option<u8> {
        self.object(object).team
    }

    /// Assigns an object to a team, or to none. Players of the team then receive its team-only
    /// components, and get fresher updates of each other.
    pub fn set_team(&mut self, object: ObjectId, team: Option<u8>) {
        if std::mem::replace(&mut self.object_mut(object).team, team) != team {
            self.changes.push(WorldChange::Team { object });
            self.note_shared(self.kind(object), object);
        }
    }

    /// Marks an object as engaged with the avatar `viewer` until a time, as its target or its
    /// attacker: the viewer's player then gets the freshest updates of it. The traffic reveals
    /// this, so mark only what the player knows in any case.
    pub fn engage(&mut self, viewer: ObjectId, object: ObjectId, until: GameTime) {
        self.changes.push(WorldChange::Engaged { viewer, object, until });
    }

    /// Sets the bandwidth limit of a player, or of all players (`None`), including later ones.
    pub fn set_budget(&mut self, player: Option<PlayerId>, bytes_per_s: u32) {
        self.changes.push(WorldChange::Budget { player, bytes_per_s });
    }

    /// Whether an object is about to move: its path continues after now, or its pose has changed at
    /// this tick or the previous one.
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
        let [low, high] = square_around(centre, radius_m);
        self.find_in_rectangle(low, high, found);
        found.retain(|&object| self.position(object).distance(centre) <= radius_m);
    }

    /// Calls `visit` for each object that is now within `radius_m` of `centre`, in any order.
    pub fn visit_within(&self, centre: Position, radius_m: f32, mut visit: impl FnMut(ObjectId)) {
        let [low, high] = square_around(centre, radius_m);
        self.visit_in_rectangle(low, high, |object| {
            if self.position(object).distance(centre) <= radius_m {
                visit(object);
            }
        });
    }

    /// Replaces `found` by the objects that are now in the rectangle on (x, y) with these corners,
    /// oldest first.
    pub fn find_in_rectangle(&self, low: Position, high: Position, found: &mut Vec<ObjectId>) {
        found.clear();
        self.visit_in_rectangle(low, high, |object| found.push(object));
        found.sort_unstable();
    }

    /// Calls `visit` for each object that is now in the rectangle on (x, y) with these corners, in
    /// any order.
    pub fn visit_in_rectangle(&self, low: Position, high: Position, visit: impl FnMut(ObjectId)) {
        let inside = |position: Position| {
            (low.x..=high.x).contains(&position.x) && (low.y..=high.y).contains(&position.y)
        };
        let slots = self.cells.between(self.grid.cell_at(low), self.grid.cell_at(high));
        slots
            .map(|slot| self.objects.id_at_slot(slot))
            .filter(|&object| inside(self.position(object)))
            .for_each(visit);
    }

    /// Lets the room ask for each viewer near an object whether it sees it. The answers at the end
    /// of the tick count, for all that happens to the object in it.
    pub fn ask_who_sees(&mut self, object: ObjectId) {
        self.changes.push(WorldChange::AskWhoSees { object });
        self.trace.note_asked(object);
    }

    /// Lets the room ask about each object near an avatar whether its player sees it, at the end of
    /// the tick.
    pub fn ask_what_is_seen_by(&mut self, viewer: ObjectId) {
        self.changes.push(WorldChange::AskWhatIsSeenBy { viewer });
    }

    /// Sends an event, effective at `effect`.
    pub fn emit(
        &mut self,
        kind: u8,
        audience: EventAudience,
        effect: GameTime,
        fields: Vec<FieldValue<ObjectId>>,
    ) {
        debug_assert!(
            FieldValue::all_fit(&fields, &self.schema.events[usize::from(kind)].fields),
            "the fields must match the schema"
        );
        self.changes.push(WorldChange::Event { kind, audience, effect, fields, sound: None });
    }

    /// Makes the last event audible, if nothing else has happened since: clients that do not follow
    /// the object that it is about, and have their avatar within `radius_m` of it, get the sound of
    /// this kind. `false` for an event without a place, which has no sound: one for all, or about
    /// something room-wide.
    pub fn set_sound_of_last_event(&mut self, sound_kind: u8, radius_m: f32) -> bool {
        let Some(WorldChange::Event { audience: EventAudience::Followers(about), .. }) =
            self.changes.last()
        else {
            return false;
        };
        let about = *about;
        let Some(slot) = self.objects.slot(about).filter(|_| !self.is_room_wide(about)) else {
            return false;
        };
        let at = self.objects.positions[slot];
        if let Some(WorldChange::Event { sound, .. }) = self.changes.last_mut() {
            *sound = Some(EventSound { kind: sound_kind, at, radius_m });
        }
        true
    }

    /// Changes when the last event takes effect, if nothing else has happened since.
    pub fn set_effect_of_last_event(&mut self, time: GameTime) {
        if let Some(WorldChange::Event { effect, .. }) = self.changes.last_mut() {
            *effect = time;
        }
    }
}

impl World {
    fn slot(&self, object: ObjectId) -> usize {
        self.objects.slot(object).unwrap_or_else(|| panic!("there is no object {object}"))
    }

    fn object(&self, object: ObjectId) -> &StoredObject {
        self.objects.get(object).unwrap_or_else(|| panic!("there is no object {object}"))
    }

    fn object_mut(&mut self, object: ObjectId) -> &mut StoredObject {
        self.objects.get_mut(object).unwrap_or_else(|| panic!("there is no object {object}"))
    }

    fn check_components(&self, kind: u8, components: &[Component]) {
        let kind =
            self.schema.kind(kind).unwrap_or_else(|| panic!("the schema has no kind {kind}"));
        assert_eq!(
            kind.components.len(),
            components.len(),
            "an object of kind {} needs all its components",
            kind.name
        );
        for (component, spec) in components.iter().zip(&kind.components) {
            let fits =
                component.fits(&spec.codec) && !component_access::is_empty_timeline(component);
            assert!(
                fits,
                "{component:?} does not match the schema of {}'s {}",
                kind.name, spec.name
            );
        }
    }

    /// Marks a component as changed.
    fn mark_dirty(&mut self, id: ObjectId, index: u8) {
        let object = self.object_mut(id);
        if object.dirty == 0 {
            self.changed.push(id);
        }
        let object = self.object_mut(id);
        object.dirty |= 1 << index;
        let kind = object.kind;
        if self.obstacle_components.mask(kind) & 1 << index != 0 {
            self.place_obstacles(id);
        }
    }

    fn push_component_change(&mut self, id: ObjectId) {
        // The client's clock: sent data begins there.
        let from = self.now.saturating_sub(self.delay);
        let Some(object) = self.objects.get_mut(id) else {
            return;
        };
        let mask = std::mem::take(&mut object.dirty);
        let path_as_before_until = std::mem::take(&mut object.path_as_before_until);
        let late = std::mem::take(&mut object.changed_late);
        // The player whose avatar it is gets the whole path.
        let until = if object.owner.is_some() { GameTime::MAX } else { self.now + PATH_TOLD_AHEAD };
        let is_crowded = |index: usize| {
            component_access::points_ahead(&object.components[index], from, until) > MAX_POINTS
        };
        let touched = (0..object.components.len()).filter(|index| mask & 1 << index != 0);
        object.overflowing = touched
            .filter(|&index| is_crowded(index))
            .fold(0, |crowded, index| crowded | 1 << index);
        if object.overflowing != 0 {
            self.overflowing.push(id);
        }
        self.changes.push(WorldChange::Components { object: id, mask, late, path_as_before_until });
        if !(self.trace.is_enabled() || self.shared.is_used) {
            return;
        }
        if let Some(kind) = self.find_kind(id).filter(|kind| self.is_kind_room_wide(*kind)) {
            self.trace.record_state(id);
            self.note_shared(kind, id);
        }
    }

    /// Marks components that did not fit into one record as changed again.
    fn mark_overflowing_dirty(&mut self) {
        let mut crowded = std::mem::take(&mut self.overflowing);
        for id in crowded.drain(..) {
            let Some(object) = self.objects.get(id) else {
                continue;
            };
            let mask = object.overflowing;
            // Clients lack what lies ahead, so none of them is as before.
            self.object_mut(id).path_as_before_until = GameTime::ZERO;
            self.object_mut(id).changed_late |= mask;
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
            let (position, cell) =
                (self.objects.positions[slot], self.grid.number(self.objects.cells[slot]));
            self.trace.record(self.now, id, || TraceEvent::Moved { position, cell });
        }
        self.trace.recycle(moved);
    }
}

/// The corners of the square on (x, y) around a circle.
fn square_around(centre: Position, radius_m: f32) -> [Position; 2] {
    [-radius_m, radius_m].map(|offset| Position {
        x: centre.x + offset,
        y: centre.y + offset,
        ..centre
    })
}

/// A generator that is independent of those of other domains and indices.
fn rng_stream(seed: u64, domain: u64, index: u64) -> Rng {
    Rng::with_seed(mix_bits(mix_bits(mix_bits(seed) ^ domain) ^ index))
}
