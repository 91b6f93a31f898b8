//! The client's copy of the world around its avatar.
//!
//! Records and poses go in, in any order of arrival. `Enter`, `Update` and `Leave` events for views
//! come out, and objects can be read at any room time. No clock: `now` is the estimated room time,
//! at which views show everything except poses; these may be shown slightly behind it
//! ([`jitter_buffer`]).
//!
//! Invariants:
//! 1. For each id, a view gets `Enter`, then `Leave`, each once, and `Update`s only between the
//!    two.
//! 2. On the wire an object is identified by slot and epoch. A slot's epochs only grow. A record
//!    with an older epoch than the slot's, or of an object that has left, changes nothing, so late
//!    data revives no object. Poses are identified by the slot alone; those of a datagram older
//!    than the `Enter` are read and change nothing.
//! 3. Each component has the value of the newest datagram that contained it.
//! 4. `Enter` and `Leave` take effect when `now` reaches their time, or at once if that is past. An
//!    object that would leave before it comes into sight is never shown.
//! 5. Each `Enter` gets a new, higher id, so that ids reveal nothing about other objects.
//!
//! Bound: one object a slot (65,536), plus those about to leave; beyond twice that, new ones are
//! refused. Cost: proportional to the received data; objects at rest cost nothing. A pose finds its
//! object by two look-ups in flat arrays.

pub mod component_history;
pub mod drawing;
pub mod error_smoothing;
pub mod factory;
pub mod jitter_buffer;
pub mod object;
pub mod object_store;
pub(crate) mod path_blending;
mod poses;
pub mod received_poses;
pub mod schema_names;
pub mod simulation_events;
pub mod slots;
mod visible_object;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use ambit_proto::ids::{Alias, ClientObjectId};
use ambit_proto::map::StaticObstacle;
use ambit_proto::message::{PlainPose, Record};
use ambit_proto::pose::{PoseCoding, ReceivedPose, SectionPose};
use ambit_proto::rows::Rows;
use ambit_proto::schema::{Component, Predictors, Schema};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;

use crate::client::event::{GameEvent, ObjectEntered, ObjectUpdated};
use component_history::Novelty;
use drawing::DrawnFrames;
use factory::ViewFactory;
use jitter_buffer::RenderLag;
use object::{RecordContext, ReplicaObject};
use object_store::ObjectStore;
pub use poses::SectionOutcome;
use received_poses::ReceivedPoses;
use schema_names::SchemaNames;
use simulation_events::{KindSet, SimulationEvent, SimulationEvents};
use slots::ReplicaSlots;
pub use visible_object::VisibleObject;

/// Maximum number of objects, including those about to leave.
const MAX_OBJECTS: usize = 2 * 65_536;

/// Changes of obstacles that are ahead of what is shown: more than a local lag has.
const MAX_OBSTACLE_CHANGES: usize = 1_024;

/// Whether received poses are decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PoseDecoding {
    /// Poses are decoded.
    #[default]
    Full,
    /// Poses are only noted as received, not decoded, which saves most of a client's work. Their
    /// objects have no position after their `Enter`.
    Light,
}

/// The datagram being handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivedDatagram {
    /// Its number, unwrapped.
    pub number: u64,
    /// Room time of the tick that sent it.
    pub stamp: GameTime,
    /// The estimated room time.
    pub now: GameTime,
}

/// What a record changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordOutcome {
    /// Nothing: it was known, or its object is unknown or has left.
    Nothing,
    /// An object was announced, or its leave was.
    Object,
    /// The state of an object; `late` if it contradicts what is already shown.
    Update {
        /// Whether views have already shown something else.
        late: bool,
    },
    /// It contradicts earlier records, or there is no room: an error of the server.
    Refused,
}

/// The objects that a client follows, each with the view's data.
#[derive(Debug)]
pub struct Replica<V> {
    schema: Arc<Schema>,
    pose_decoding: PoseDecoding,
    times: RenderTimes,
    /// Whether each pose is emitted as an event.
    emits_poses: bool,
    /// Whether the host sends whole poses.
    is_plain: bool,
    names: SchemaNames,
    slots: ReplicaSlots,
    objects: ObjectStore<ReplicaObject<V>>,
    /// The player's avatar, if it is in sight.
    own: Option<ClientObjectId>,
    /// When objects come into or go out of sight. Contains each object that waits for one of these.
    due: BTreeSet<(GameTime, ClientObjectId)>,
    last_id: ClientObjectId,
    events: VecDeque<GameEvent>,
    /// Poses of the section being handled; empty between calls, kept for its storage.
    poses: Vec<SectionPose>,
    /// As `poses`, of a plain section.
    plain_poses: Vec<PlainPose>,
    failed_sections: poses::FailedSections,
    simulation_events: SimulationEvents,
    /// When the obstacles that objects have become other ones.
    obstacles_change_at: Vec<GameTime>,
    /// What the program knows of how kinds are extrapolated.
    predictors: Predictors,
}

/// The times that reading a pose depends on.
#[derive(Clone, Copy, Debug)]
pub struct RenderTimes {
    /// The local lag: a pose takes effect this long after its stamp.
    pub delay: Duration,
    /// The time between two ticks of the host.
    pub tick: Duration,
    /// Stamp of the newest datagram.
    pub newest_stamp: GameTime,
    /// How far behind room time poses are shown.
    pub lag: RenderLag,
    /// Up to which room time views have drawn.
    pub drawn_until: GameTime,
}

impl RenderTimes {
    /// The stamp of the poses that are shown at room time `t`.
    pub fn stamp_at(&self, t: GameTime) -> GameTime {
        self.lag.shown_time(t).saturating_sub(self.delay)
    }

    /// When a pose with this stamp is shown, as far as known at `now`; `now` if that is past.
    pub fn shown_from(&self, stamp: GameTime, now: GameTime) -> GameTime {
        (stamp + self.delay + self.lag.at(now)).max(now)
    }
}

impl<V> Replica<V> {
    /// An empty replica for a room with this local lag and this time between two ticks. Ids begin
    /// after `last_id`, the last one of an earlier replica of the same client.
    pub fn new(
        schema: Arc<Schema>,
        delay: Duration,
        tick: Duration,
        last_id: ClientObjectId,
        pose_decoding: PoseDecoding,
    ) -> Self {
        let names = SchemaNames::of(&schema);
        let newest_stamp = GameTime::ZERO;
        let lag = RenderLag::default();
        let drawn_until = GameTime::ZERO;
        let times = RenderTimes { delay, tick, newest_stamp, lag, drawn_until };
        Replica {
            schema,
            pose_decoding,
            times,
            emits_poses: false,
            is_plain: false,
            names,
            slots: ReplicaSlots::default(),
            objects: ObjectStore::default(),
            own: None,
            due: BTreeSet::new(),
            last_id,
            events: VecDeque::new(),
            poses: Vec::new(),
            plain_poses: Vec::new(),
            failed_sections: poses::FailedSections::default(),
            simulation_events: SimulationEvents::default(),
            obstacles_change_at: Vec::new(),
            predictors: Predictors::new(),
        }
    }

    /// Sets how the host codes poses.
    pub fn set_coding(&mut self, coding: PoseCoding) {
        self.is_plain = coding == PoseCoding::Plain;
    }

    /// Whether each pose is emitted as an event from now on.
    pub fn watch(&mut self, on: bool) {
        self.emits_poses = on;
    }

    /// Reports objects of these kinds to [`Replica::poll_simulation_event`] from now on, beginning
    /// with the known ones and their poses. Objects are drawn as received until
    /// [`Replica::draw`]. Returns whether there can be any.
    pub fn simulate(&mut self, kinds: KindSet) -> bool {
        for object in self.objects.iter_mut() {
            object.draw(None);
        }
        if self.pose_decoding == PoseDecoding::Light || !self.simulation_events.set_kinds(kinds) {
            return false;
        }
        for (id, object) in self.objects.iter() {
            let ReplicaObject { kind, own, .. } = *object;
            let poses = object.poses.iter().flat_map(|poses| poses.history().poses());
            let poses = poses.map(|&ReceivedPose { stamp, pose, .. }| SimulationEvent::Pose {
                id,
                stamp,
                pose,
            });
            let enter = SimulationEvent::Enter { id, kind, own };
            let jumped = object.poses.as_ref().and_then(ReceivedPoses::jumped_at);
            let jump = jumped.map(|stamp| SimulationEvent::Jump { id, stamp });
            for event in std::iter::once(enter).chain(jump).chain(poses) {
                self.simulation_events.push(kind, event);
            }
        }
        true
    }

    /// Sets by which functions of their own kinds are extrapolated from now on.
    pub fn set_predictors(&mut self, predictors: Predictors) {
        for object in self.objects.iter_mut() {
            let kind = self.schema.kind(object.kind);
            object.reckon(kind.and_then(|kind| kind.extrapolation(&predictors)));
        }
        self.predictors = predictors;
    }

    /// The next event for the simulation.
    pub fn poll_simulation_event(&mut self) -> Option<SimulationEvent> {
        self.simulation_events.pop()
    }

    /// Sets what to draw of a simulated object.
    pub fn draw(&mut self, id: ClientObjectId, drawing: DrawnFrames) {
        if let Some(object) = self.objects.get_mut(id) {
            object.draw(Some(drawing));
        }
    }

    /// Whether a flag of an object is set at `t`, as far as known.
    pub fn is_set(&self, id: ClientObjectId, component: usize, t: GameTime) -> bool {
        self.objects.get(id).is_some_and(|object| object.is_set(component, t))
    }

    /// Sets how far behind room time objects with poses are shown.
    pub fn set_lag(&mut self, lag: RenderLag) {
        self.times.lag = lag;
    }

    /// A view draws room time `t`: what arrives from now on changes what it shows after that.
    pub fn note_drawn(&mut self, t: GameTime) {
        self.times.drawn_until = self.times.drawn_until.max(t);
    }

    /// How far beyond `now` views have drawn.
    pub fn drawn_ahead(&self, now: GameTime) -> Duration {
        self.times.drawn_until.since(now)
    }

    /// How far behind room time objects with poses are shown.
    pub fn lag(&self) -> RenderLag {
        self.times.lag
    }

    /// The datagram was handled completely: whatever it did not contain is as predicted.
    pub fn finish_datagram(&mut self, datagram: ReceivedDatagram) {
        self.times.newest_stamp = self.times.newest_stamp.max(datagram.stamp);
        self.slots.drop_previous(datagram.number);
    }

    /// Applies a record of the datagram being handled.
    pub fn apply(&mut self, datagram: ReceivedDatagram, record: &Record) -> RecordOutcome {
        match record {
            Record::Enter { alias, kind, at, own, components } => {
                let header = EnterHeader { alias: *alias, kind: *kind, own: *own };
                self.handle_enter(RecordContext { datagram, at: *at }, header, components)
            }
            Record::Update { alias, kind, at, components } => {
                self.handle_update(RecordContext { datagram, at: *at }, *alias, *kind, components)
            }
            Record::Leave { alias, at } => self.handle_leave(datagram, *alias, *at),
            // It is about the player, not about an object.
            Record::InputEffects(_) => RecordOutcome::Nothing,
        }
    }

    /// Brings objects into and out of sight that are due by `now`.
    pub fn advance(&mut self, now: GameTime, factory: &mut impl ViewFactory<View = V>) {
        while let Some(&(time, id)) = self.due.first()
            && time <= now
        {
            self.due.pop_first();
            let object = self.objects.get(id).expect("a due id belongs to an object");
            let gone = object.leaves.is_some_and(|leaves| leaves <= now);
            match (gone, object.view.is_some()) {
                (true, seen) => {
                    let kind = object.kind;
                    self.remove_object(id);
                    if seen {
                        self.note_obstacles(kind, now);
                        self.events.push_back(GameEvent::Leave { id, t: now });
                    }
                }
                (false, false) => self.bring_into_sight(id, now, factory),
                // In sight already, and it leaves later: nothing to do.
                (false, true) => {}
            }
        }
    }

    /// Removes all objects from sight: without the connection, slots and epochs have no meaning.
    pub fn clear(&mut self, now: GameTime) {
        self.slots.clear();
        self.due.clear();
        self.times.drawn_until = GameTime::ZERO;
        self.own = None;
        let objects = std::mem::take(&mut self.objects);
        let seen = objects.iter().filter(|(_, object)| object.view.is_some());
        self.obstacles_change_at.push(now);
        self.events.extend(seen.map(|(id, _)| GameEvent::Leave { id, t: now }));
    }

    /// The next event for views.
    pub fn poll_event(&mut self) -> Option<GameEvent> {
        self.events.pop_front()
    }

    /// The room time at which `advance` has something to do.
    pub fn next_due(&self) -> Option<GameTime> {
        let due = self.due.first().map(|due| due.0);
        due.into_iter().chain(self.obstacles_change_at.iter().copied()).min()
    }

    /// The last id that was used.
    pub fn last_id(&self) -> ClientObjectId {
        self.last_id
    }

    /// The object with this alias: in sight, announced or about to leave.
    pub fn resolve(&self, alias: Alias) -> Option<ClientObjectId> {
        let leaving =
            || self.objects.iter().find(|(_, object)| object.alias == alias).map(|(id, _)| id);
        self.announced_object(alias).or_else(leaving)
    }

    /// The alias of an object in sight.
    pub fn alias(&self, id: ClientObjectId) -> Option<Alias> {
        self.get(id)?;
        self.objects.get(id).map(|object| object.alias)
    }

    /// The objects in sight, by ascending id.
    pub fn visible_objects(&self) -> impl Iterator<Item = VisibleObject<'_, V>> {
        self.objects.iter().filter_map(|(id, object)| self.as_visible(id, object))
    }

    /// What is known of objects whose ids come after this one, by ascending id: the index of the
    /// kind, and where it is at a time. Some are not in sight yet: they come into sight in another
    /// order.
    pub(crate) fn known_after(
        &self,
        id: ClientObjectId,
    ) -> impl Iterator<Item = (ClientObjectId, u8, impl Fn(GameTime) -> Option<Position>)> {
        let known = self.objects.iter_after(id);
        let times = self.times;
        known.map(move |(id, object)| (id, object.kind, move |t| object.position(t, times)))
    }

    /// One object, whether it is in sight or not.
    pub(crate) fn known(&self, id: ClientObjectId) -> Option<&ReplicaObject<V>> {
        self.objects.get(id)
    }

    /// One object, if it is in sight.
    pub fn get(&self, id: ClientObjectId) -> Option<VisibleObject<'_, V>> {
        self.as_visible(id, self.objects.get(id)?)
    }

    /// The obstacles that objects in sight have at `now`, by ascending id of these, if they may
    /// have changed since the last call.
    pub(crate) fn take_new_obstacles(&mut self, now: GameTime) -> Option<Vec<StaticObstacle>> {
        let before = self.obstacles_change_at.len();
        self.obstacles_change_at.retain(|at| *at > now);
        if self.obstacles_change_at.len() == before {
            return None;
        }
        let in_sight = self.objects.iter().map(|(_, object)| object);
        let in_sight = in_sight.filter(|object| object.view.is_some());
        let values = in_sight.flat_map(|object| {
            let indices = self.schema.kinds[usize::from(object.kind)].obstacles();
            indices.filter_map(|index| object.value(index.into(), now, self.times))
        });
        let rows = values.filter_map(|value| value.as_rows().copied());
        Some(rows.flat_map(Rows::iter).filter_map(StaticObstacle::of_row).collect())
    }

    /// The view's data of an object in sight.
    pub fn view_mut(&mut self, id: ClientObjectId) -> Option<&mut V> {
        self.objects.get_mut(id)?.view.as_mut()
    }

    /// The player's avatar, if it is in sight.
    pub fn own(&self) -> Option<VisibleObject<'_, V>> {
        self.get(self.own?)
    }

    /// The id of the player's avatar, if it is in sight.
    pub fn own_id(&self) -> Option<ClientObjectId> {
        self.own
    }

    /// The schema of the game's objects and events.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The schema's names.
    pub fn names(&self) -> &SchemaNames {
        &self.names
    }

    fn handle_enter(
        &mut self,
        context: RecordContext,
        header: EnterHeader,
        components: &[(u8, Component)],
    ) -> RecordOutcome {
        let alias = header.alias;
        if let Some(id) = self.announced_object(alias) {
            return self.update_object(id, context, header.kind, components);
        }
        let slot = self.slots.get(alias.slot);
        if slot
            .and_then(|slot| slot.epoch)
            .is_some_and(|epoch| !Alias::newer_than(alias.epoch, epoch))
        {
            return RecordOutcome::Nothing;
        }
        // Check before any change: a slot never refers to an object that is about to leave.
        if self.objects.len() >= MAX_OBJECTS || self.schema.kind(header.kind).is_none() {
            return RecordOutcome::Refused;
        }
        // Its `Leave` is lost or late, but the server reuses a slot only when it is free.
        if let Some(before) = slot.and_then(|slot| slot.object) {
            self.schedule_leave(before, context.datagram.number, context.at);
        }
        self.add_object(context, header, components)
    }

    fn handle_update(
        &mut self,
        context: RecordContext,
        alias: Alias,
        kind: u8,
        components: &[(u8, Component)],
    ) -> RecordOutcome {
        match self.announced_object(alias) {
            Some(id) => self.update_object(id, context, kind, components),
            None => RecordOutcome::Nothing,
        }
    }

    fn handle_leave(
        &mut self,
        datagram: ReceivedDatagram,
        alias: Alias,
        at: GameTime,
    ) -> RecordOutcome {
        let slot = self.slots.entry(alias.slot);
        if slot
            .epoch
            .is_some_and(|epoch| epoch != alias.epoch && !Alias::newer_than(alias.epoch, epoch))
        {
            return RecordOutcome::Nothing;
        }
        // Applies to an unknown epoch, too: its `Enter` is still under way and must be ignored.
        slot.epoch = Some(alias.epoch);
        match slot.object {
            Some(index) => {
                self.schedule_leave(index, datagram.number, at);
                RecordOutcome::Object
            }
            None => RecordOutcome::Nothing,
        }
    }

    fn add_object(
        &mut self,
        context: RecordContext,
        header: EnterHeader,
        components: &[(u8, Component)],
    ) -> RecordOutcome {
        let EnterHeader { alias, kind, own } = header;
        let Some(declared) = self.schema.kind(kind) else {
            return RecordOutcome::Refused;
        };
        self.last_id.0 += 1;
        let id = self.last_id;
        let rule = declared.extrapolation(&self.predictors);
        let tick = self.times.tick;
        let mut object = ReplicaObject::new(id, header.alias, kind, own, context, declared, tick);
        object.reckon(rule);
        object.merge(context, components, self.times);
        self.simulation_events.push(kind, SimulationEvent::Enter { id, kind, own });
        self.queue_simulation_poses(id, kind, context, components);
        let index = self.objects.push(id, object);
        let slot = self.slots.entry(alias.slot);
        (slot.epoch, slot.object) = (Some(alias.epoch), Some(index));
        self.due.insert((context.at, id));
        RecordOutcome::Object
    }

    fn update_object(
        &mut self,
        id: ClientObjectId,
        context: RecordContext,
        kind: u8,
        components: &[(u8, Component)],
    ) -> RecordOutcome {
        let object = self.objects.get_mut(id).expect("a slot's object exists");
        if object.kind != kind {
            return RecordOutcome::Refused;
        }
        let novelty = object.merge(context, components, self.times);
        self.queue_simulation_poses(id, kind, context, components);
        let object = self.objects.get(id).expect("a slot's object exists");
        // An object that is not in sight yet is not late: its `Enter` will contain the newest
        // state.
        if novelty == Novelty::Unchanged || object.view.is_none() {
            return RecordOutcome::Nothing;
        }
        let indices = components.iter().map(|(index, _)| usize::from(*index));
        let now = context.datagram.now;
        let at = context.at.max(now);
        let components =
            object.named_values(indices, at, self.times, &self.names.kinds[usize::from(kind)]);
        self.events.push_back(GameEvent::Update(ObjectUpdated { id, t: now, at, components }));
        self.note_obstacles(kind, at);
        RecordOutcome::Update { late: novelty == Novelty::Late }
    }

    fn bring_into_sight(
        &mut self,
        id: ClientObjectId,
        now: GameTime,
        factory: &mut impl ViewFactory<View = V>,
    ) {
        let object = self.objects.get_mut(id).expect("a due id belongs to an object");
        let names = &self.names.kinds[usize::from(object.kind)];
        let is_room_wide = self.schema.kinds[usize::from(object.kind)].is_room_wide();
        let enter = ObjectEntered {
            id,
            kind: names.name.clone(),
            own: object.own,
            t: now,
            position: (!is_room_wide).then(|| object.position(now, self.times).unwrap_or_default()),
            components: object.values(now, self.times, names),
        };
        object.view = Some(factory.build(&enter));
        if enter.is_avatar() {
            self.own = Some(id);
        }
        let kind = object.kind;
        if self.pose_decoding == PoseDecoding::Light {
            // No poses follow.
            object.poses = None;
        }
        self.events.push_back(GameEvent::Enter(enter));
        self.note_obstacles(kind, now);
    }

    /// At a time, an object of this kind comes, goes or changes.
    fn note_obstacles(&mut self, kind: u8, at: GameTime) {
        if self.schema.kinds[usize::from(kind)].obstacles().next().is_some() {
            // Beyond the bound, what is so far ahead shows with the next change.
            if self.obstacles_change_at.len() < MAX_OBSTACLE_CHANGES {
                self.obstacles_change_at.push(at);
            }
        }
    }

    /// Queues the poses of records for the simulation.
    fn queue_simulation_poses(
        &mut self,
        id: ClientObjectId,
        kind: u8,
        context: RecordContext,
        components: &[(u8, Component)],
    ) {
        for (_, component) in components {
            if let Component::Pose(pose) = component {
                self.simulation_events.push(
                    kind,
                    SimulationEvent::Pose { id, stamp: context.datagram.stamp, pose: *pose },
                );
            }
        }
    }

    /// Frees the slot: late data about its object changes nothing from now on.
    fn schedule_leave(&mut self, index: object_store::StoreIndex, number: u64, at: GameTime) {
        let object = self.objects.at_mut(index).expect("a slot's object exists");
        object.leaves = Some(at);
        self.due.insert((at, object.id));
        let slot = object.alias.slot;
        self.slots.entry(slot).object = None;
        if let Some(poses) =
            object.poses.as_ref().filter(|_| self.pose_decoding == PoseDecoding::Full)
        {
            self.slots.keep_previous(slot, poses.clone(), number);
        }
    }

    fn remove_object(&mut self, id: ClientObjectId) {
        let object = self.objects.remove(id).expect("a due id belongs to an object");
        self.simulation_events.push(object.kind, SimulationEvent::Leave { id });
        self.due.remove(&(object.enters, id));
        if let Some(leaves) = object.leaves {
            self.due.remove(&(leaves, id));
        }
        if self.own == Some(id) {
            self.own = None;
        }
    }

    /// The object with this alias, until its `Leave` is known.
    fn announced_object(&self, alias: Alias) -> Option<ClientObjectId> {
        let slot = self.slots.get(alias.slot).filter(|slot| slot.epoch == Some(alias.epoch))?;
        Some(self.objects.at(slot.object?).expect("a slot's object exists").id)
    }

    fn as_visible<'r>(
        &'r self,
        id: ClientObjectId,
        object: &'r ReplicaObject<V>,
    ) -> Option<VisibleObject<'r, V>> {
        let view = object.view.as_ref()?;
        let names = &self.names.kinds[usize::from(object.kind)];
        let kind = &self.schema.kinds[usize::from(object.kind)];
        let freshness = &kind.freshness;
        let is_room_wide = kind.is_room_wide();
        Some(VisibleObject { id, view, object, names, freshness, is_room_wide, times: self.times })
    }
}

#[derive(Clone, Copy)]
struct EnterHeader {
    alias: Alias,
    kind: u8,
    own: bool,
}

#[cfg(test)]
mod tests;
