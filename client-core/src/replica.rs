//! What a client knows of the world around its avatar.
//!
//! WrittenRecords and poses of datagrams go in, in whatever order these arrive; `ObjectEntered`,
//! `ObjectUpdated` and `Leave` for views come out, and the objects can be read at any room time. No
//! clock: `now` is the estimated room time, which is what views show, but for poses: these may be
//! shown a little behind ([`playout`]).
//!
//! Invariants:
//! 1. A view sees `ObjectEntered` and `Leave` of an id alternate, `ObjectEntered` first, each once,
//!    and `ObjectUpdated`s only in between.
//! 2. An object goes by a slot and an epoch on the wire. A slot's epochs only grow; a record of an
//!    older epoch than the slot's, or of one that has left, changes nothing: what comes late
//!    revives nothing. Poses go by the slot alone; those of a datagram older than the
//!    `ObjectEntered` are read and change nothing.
//! 3. Of each component the newest datagram's word stands.
//! 4. `ObjectEntered` and `Leave` take effect when `now` reaches their time, at once if that is
//!    past. What would leave before it has come into sight is never seen.
//! 5. Ids are fresh for each `ObjectEntered` and ascend, so that they tell nothing of what there is
//!    besides.
//!
//! Bound: one object a slot (65,536), plus those about to leave; beyond twice that nothing new is
//! taken. Cost: what is received; nothing is walked for objects that stand still. A pose finds its
//! object by two look-ups in flat arrays. PoseSource: design, sections 5 and 6.

pub mod component_history;
pub mod drawing;
pub mod error_smoothing;
pub mod factory;
pub mod jitter_buffer;
pub mod object;
pub mod object_store;
mod poses;
pub mod received_poses;
pub mod schema_names;
pub mod simulation_events;
pub mod slots;
mod visible_object;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use ambit_proto::ids::Alias;
use ambit_proto::message::Record;
use ambit_proto::pose::Pose;
use ambit_proto::schema::{Component, Schema};
use ambit_proto::time::GameTime;

use crate::client::event::{ObjectEntered, ObjectUpdated, ViewEvent};
use component_history::Novelty;
use drawing::DrawnFrames;
use factory::ViewFactory;
use jitter_buffer::RenderLag;
use object::{RecordContext, ReplicaObject};
use object_store::ObjectStore;
pub use poses::SectionOutcome;
use schema_names::SchemaNames;
use simulation_events::{KindSet, SimulationEvent, SimulationEvents};
use slots::ReplicaSlots;
pub use visible_object::VisibleObject;

/// Objects at once, those that are about to leave included.
const MAX_OBJECTS: usize = 2 * 65_536;

/// How much of what comes is taken over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PoseDecoding {
    /// All of it.
    #[default]
    Full,
    /// All but poses, which are most of the work: their objects have no position.
    Light,
}

/// The datagram in hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivedDatagram {
    /// Its number, unwrapped.
    pub number: u64,
    /// Room time of the tick that wrote it.
    pub stamp: GameTime,
    /// The estimated room time.
    pub now: GameTime,
}

/// What a record was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordOutcome {
    /// Nothing new, or about something that is not there (any more).
    Nothing,
    /// An object was announced or taken back.
    Object,
    /// News of an object; `late` if they contradict what is being shown.
    ObjectUpdated {
        /// Whether views have shown something else already.
        late: bool,
    },
    /// It contradicts what was said before, or there is no room: the server's fault.
    Refused,
}

/// The objects that a client follows, each with what a view keeps of it.
#[derive(Debug)]
pub struct Replica<V> {
    schema: Arc<Schema>,
    pose_decoding: PoseDecoding,
    times: RenderTimes,
    /// Whether views are told of each pose.
    emits_poses: bool,
    names: SchemaNames,
    slots: ReplicaSlots,
    objects: ObjectStore<ReplicaObject<V>>,
    /// The player's avatar, if it is in sight.
    own: Option<u32>,
    /// When an object is to come into or go out of sight. Each object that waits for it stands in
    /// it.
    due: BTreeSet<(GameTime, u32)>,
    last_id: u32,
    events: VecDeque<ViewEvent>,
    /// Poses of the section in hand; empty between calls, kept for its storage.
    poses: Vec<(u16, Pose)>,
    failed_sections: poses::FailedSections,
    simulation_events: SimulationEvents,
}

/// What a pose is read with, besides its entries.
#[derive(Clone, Copy, Debug)]
pub struct RenderTimes {
    /// The local lag: a pose takes effect so long after its stamp.
    pub delay: Duration,
    /// Stamp of the newest datagram of all.
    pub newest_stamp: GameTime,
    /// How far behind room time poses are shown.
    pub lag: RenderLag,
}

impl RenderTimes {
    /// Of which stamp the poses are that are shown at the room time `t`.
    pub fn stamp_at(&self, t: GameTime) -> GameTime {
        self.lag.shown_time(t).saturating_sub(self.delay)
    }

    /// When a pose of this stamp is shown, as far as is known at `now`; `now` if that is past.
    pub fn shown_from(&self, stamp: GameTime, now: GameTime) -> GameTime {
        (stamp + self.delay + self.lag.at(now)).max(now)
    }
}

impl<V> Replica<V> {
    /// Nothing in sight, in a room with this local lag. Ids begin after `last_id`, the last one of
    /// an earlier replica of the same client.
    pub fn new(schema: Arc<Schema>, delay: Duration, last_id: u32, mode: PoseDecoding) -> Self {
        let names = SchemaNames::of(&schema);
        let times = RenderTimes {
            delay,
            newest_stamp: GameTime::ZERO,
            lag: RenderLag::default(),
        };
        let (watched, slots, objects, own, due, events, poses, failed) = Default::default();
        let stirs = SimulationEvents::default();
        Replica {
            schema,
            pose_decoding: mode,
            times,
            emits_poses: watched,
            names,
            slots,
            objects,
            own,
            due,
            last_id,
            events,
            poses,
            failed_sections: failed,
            simulation_events: stirs,
        }
    }

    /// Whether views are told of each pose from now on.
    pub fn watch(&mut self, on: bool) {
        self.emits_poses = on;
    }

    /// Objects of these kinds are simulated: what is told of them goes to
    /// [`Replica::poll_simulation_event`] as well. Whether there can be any.
    pub fn enable_simulation(&mut self, kinds: KindSet) -> bool {
        self.pose_decoding == PoseDecoding::Full && self.simulation_events.set_kinds(kinds)
    }

    /// What a simulation is to be told next.
    pub fn poll_simulation_event(&mut self) -> Option<SimulationEvent> {
        self.simulation_events.pop()
    }

    /// What is drawn of an object that is simulated.
    pub fn draw(&mut self, id: u32, drawing: DrawnFrames) {
        if let Some(object) = self.objects.get_mut(id) {
            object.drawn_frames = Some(drawing);
        }
    }

    /// Whether a flag of an object is set at `t`, as far as is known.
    pub fn is_set(&self, id: u32, component: usize, t: GameTime) -> bool {
        self.objects
            .get(id)
            .is_some_and(|object| object.is_set(component, t))
    }

    /// How far behind room time objects with poses are shown from now on.
    pub fn set_lag(&mut self, lag: RenderLag) {
        self.times.lag = lag;
    }

    /// How far behind room time objects with poses are shown.
    pub fn lag(&self) -> RenderLag {
        self.times.lag
    }

    /// The datagram in hand has been taken over: what it did not speak of is as it was foretold.
    pub fn finish_datagram(&mut self, arrival: ReceivedDatagram) {
        self.times.newest_stamp = self.times.newest_stamp.max(arrival.stamp);
        self.slots.drop_previous(arrival.number);
    }

    /// Takes over a record of the datagram in hand.
    pub fn apply(&mut self, arrival: ReceivedDatagram, record: &Record) -> RecordOutcome {
        match record {
            Record::ObjectEntered {
                alias,
                kind,
                at,
                own,
                components,
            } => {
                let newcomer = EnterHeader {
                    alias: *alias,
                    kind: *kind,
                    own: *own,
                };
                self.handle_enter(
                    RecordContext {
                        datagram: arrival,
                        at: *at,
                    },
                    newcomer,
                    components,
                )
            }
            Record::ObjectUpdated {
                alias,
                kind,
                at,
                components,
            } => self.handle_update(
                RecordContext {
                    datagram: arrival,
                    at: *at,
                },
                *alias,
                *kind,
                components,
            ),
            Record::Leave { alias, at } => self.handle_leave(arrival, *alias, *at),
            // About the player, not about an object.
            Record::EffectReports(_) => RecordOutcome::Nothing,
        }
    }

    /// Lets come and go what is due by `now`.
    pub fn advance(&mut self, now: GameTime, factory: &mut impl ViewFactory<View = V>) {
        while let Some(&(time, id)) = self.due.first()
            && time <= now
        {
            self.due.pop_first();
            let object = self.objects.get(id).expect("what is due is an object");
            let gone = object.leaves.is_some_and(|leaves| leaves <= now);
            match (gone, object.view.is_some()) {
                (true, seen) => {
                    self.remove_object(id);
                    if seen {
                        self.events.push_back(ViewEvent::Leave { id, t: now });
                    }
                }
                (false, false) => self.bring_into_sight(id, now, factory),
                // In sight already, and its end is later: nothing to do.
                (false, true) => {}
            }
        }
    }

    /// Takes everything out of sight: the connection is gone, and with it the meaning of slots and
    /// epochs.
    pub fn clear(&mut self, now: GameTime) {
        self.slots.clear();
        self.due.clear();
        self.own = None;
        let objects = std::mem::take(&mut self.objects);
        let seen = objects.iter().filter(|(_, object)| object.view.is_some());
        self.events
            .extend(seen.map(|(id, _)| ViewEvent::Leave { id, t: now }));
    }

    /// The next event for views.
    pub fn poll_event(&mut self) -> Option<ViewEvent> {
        self.events.pop_front()
    }

    /// The room time at which `advance` has something to do.
    pub fn next_due(&self) -> Option<GameTime> {
        self.due.first().map(|due| due.0)
    }

    /// The last id that was given away.
    pub fn last_id(&self) -> u32 {
        self.last_id
    }

    /// The object behind a name on the wire: in sight, announced or about to leave.
    pub fn resolve(&self, alias: Alias) -> Option<u32> {
        let leaving = || {
            self.objects
                .iter()
                .find(|(_, object)| object.alias == alias)
                .map(|(id, _)| id)
        };
        self.announced_object(alias).or_else(leaving)
    }

    /// The objects in sight, by ascending id.
    pub fn visible_objects(&self) -> impl Iterator<Item = VisibleObject<'_, V>> {
        self.objects
            .iter()
            .filter_map(|(id, object)| self.as_visible(id, object))
    }

    /// One object, if it is in sight.
    pub fn get(&self, id: u32) -> Option<VisibleObject<'_, V>> {
        self.as_visible(id, self.objects.get(id)?)
    }

    /// What the view keeps of an object in sight.
    pub fn view_mut(&mut self, id: u32) -> Option<&mut V> {
        self.objects.get_mut(id)?.view.as_mut()
    }

    /// The player's avatar, if it is in sight.
    pub fn own(&self) -> Option<VisibleObject<'_, V>> {
        self.get(self.own?)
    }

    /// The id of the player's avatar, if it is in sight.
    pub fn own_id(&self) -> Option<u32> {
        self.own
    }

    /// What the game's objects are made of.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The schema's names.
    pub fn names(&self) -> &SchemaNames {
        &self.names
    }

    fn handle_enter(
        &mut self,
        moment: RecordContext,
        newcomer: EnterHeader,
        components: &[(u8, Component)],
    ) -> RecordOutcome {
        let alias = newcomer.alias;
        if let Some(id) = self.announced_object(alias) {
            return self.update_object(id, moment, newcomer.kind, components);
        }
        let slot = self.slots.get(alias.slot);
        if slot
            .and_then(|slot| slot.epoch)
            .is_some_and(|epoch| !Alias::newer_than(alias.epoch, epoch))
        {
            return RecordOutcome::Nothing;
        }
        // PriorEstimate anything is changed: a slot never names an object that is about to go.
        if self.objects.len() >= MAX_OBJECTS || self.schema.kind(newcomer.kind).is_none() {
            return RecordOutcome::Refused;
        }
        // Its `Leave` is lost or late, but the server gives a slot away only when it is free.
        if let Some(before) = slot.and_then(|slot| slot.object) {
            self.schedule_leave(before, moment.datagram.number, moment.at);
        }
        self.add_object(moment, newcomer, components)
    }

    fn handle_update(
        &mut self,
        moment: RecordContext,
        alias: Alias,
        kind: u8,
        components: &[(u8, Component)],
    ) -> RecordOutcome {
        match self.announced_object(alias) {
            Some(id) => self.update_object(id, moment, kind, components),
            None => RecordOutcome::Nothing,
        }
    }

    fn handle_leave(
        &mut self,
        arrival: ReceivedDatagram,
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
        // Also for an epoch that was not heard of: its `ObjectEntered` is under way, and is to find
        // that it is over.
        slot.epoch = Some(alias.epoch);
        match slot.object {
            Some(place) => {
                self.schedule_leave(place, arrival.number, at);
                RecordOutcome::Object
            }
            None => RecordOutcome::Nothing,
        }
    }

    fn add_object(
        &mut self,
        moment: RecordContext,
        newcomer: EnterHeader,
        components: &[(u8, Component)],
    ) -> RecordOutcome {
        let EnterHeader { alias, kind, own } = newcomer;
        let Some(declared) = self.schema.kind(kind) else {
            return RecordOutcome::Refused;
        };
        self.last_id += 1;
        let id = self.last_id;
        let mut object = ReplicaObject::new(id, newcomer.alias, kind, own, moment, declared);
        object.merge(moment, components, self.times);
        self.simulation_events
            .push(kind, SimulationEvent::ObjectEntered { id, kind, own });
        self.queue_simulation_poses(id, kind, moment, components);
        let place = self.objects.push(id, object);
        let slot = self.slots.entry(alias.slot);
        (slot.epoch, slot.object) = (Some(alias.epoch), Some(place));
        self.due.insert((moment.at, id));
        RecordOutcome::Object
    }

    fn update_object(
        &mut self,
        id: u32,
        moment: RecordContext,
        kind: u8,
        components: &[(u8, Component)],
    ) -> RecordOutcome {
        let object = self.objects.get_mut(id).expect("a slot's object exists");
        if object.kind != kind {
            return RecordOutcome::Refused;
        }
        let news = object.merge(moment, components, self.times);
        self.queue_simulation_poses(id, kind, moment, components);
        let object = self.objects.get(id).expect("a slot's object exists");
        // What has not been shown yet is not late, and its `ObjectEntered` will tell the newest.
        if news == Novelty::Unchanged || object.view.is_none() {
            return RecordOutcome::Nothing;
        }
        let indices = components.iter().map(|(index, _)| usize::from(*index));
        let now = moment.datagram.now;
        let at = moment.at.max(now);
        let components = object.named_values(
            indices,
            at,
            self.times,
            &self.names.kinds[usize::from(kind)],
        );
        self.events
            .push_back(ViewEvent::ObjectUpdated(ObjectUpdated {
                id,
                t: now,
                at,
                components,
            }));
        RecordOutcome::ObjectUpdated {
            late: news == Novelty::LazyTimer,
        }
    }

    fn bring_into_sight(
        &mut self,
        id: u32,
        now: GameTime,
        factory: &mut impl ViewFactory<View = V>,
    ) {
        let object = self.objects.get_mut(id).expect("what is due is an object");
        let names = &self.names.kinds[usize::from(object.kind)];
        let enter = ObjectEntered {
            id,
            kind: names.name.clone(),
            own: object.own,
            t: now,
            position: object.position(now, self.times).unwrap_or_default(),
            components: object.values(now, self.times, names),
        };
        object.view = Some(factory.build(&enter));
        if object.own {
            self.own = Some(id);
        }
        if self.pose_decoding == PoseDecoding::Light {
            // Nobody will say where it goes from here.
            object.poses = None;
        }
        self.events.push_back(ViewEvent::ObjectEntered(enter));
    }

    /// Poses that came in records.
    fn queue_simulation_poses(
        &mut self,
        id: u32,
        kind: u8,
        moment: RecordContext,
        components: &[(u8, Component)],
    ) {
        for (_, component) in components {
            if let Component::Pose(pose) = component {
                self.simulation_events.push(
                    kind,
                    SimulationEvent::Pose {
                        id,
                        stamp: moment.datagram.stamp,
                        pose: *pose,
                    },
                );
            }
        }
    }

    /// The slot is free from now on, and what is still under way about its tenant changes nothing.
    fn schedule_leave(&mut self, place: object_store::StoreIndex, number: u64, at: GameTime) {
        let object = self.objects.at_mut(place).expect("a slot's object exists");
        object.leaves = Some(at);
        self.due.insert((at, object.id));
        let slot = object.alias.slot;
        self.slots.entry(slot).object = None;
        if let Some(track) = object
            .poses
            .as_ref()
            .filter(|_| self.pose_decoding == PoseDecoding::Full)
        {
            self.slots.keep_previous(slot, track.clone(), number);
        }
    }

    fn remove_object(&mut self, id: u32) {
        let object = self.objects.remove(id).expect("what is due is an object");
        self.simulation_events
            .push(object.kind, SimulationEvent::Leave { id });
        self.due.remove(&(object.enters, id));
        if let Some(leaves) = object.leaves {
            self.due.remove(&(leaves, id));
        }
        if self.own == Some(id) {
            self.own = None;
        }
    }

    /// The object that has this name, until its `Leave` is known.
    fn announced_object(&self, alias: Alias) -> Option<u32> {
        let slot = self
            .slots
            .get(alias.slot)
            .filter(|slot| slot.epoch == Some(alias.epoch))?;
        Some(
            self.objects
                .at(slot.object?)
                .expect("a slot's object exists")
                .id,
        )
    }

    fn as_visible<'r>(
        &'r self,
        id: u32,
        object: &'r ReplicaObject<V>,
    ) -> Option<VisibleObject<'r, V>> {
        let view = object.view.as_ref()?;
        let names = &self.names.kinds[usize::from(object.kind)];
        let freshness = &self.schema.kinds[usize::from(object.kind)].freshness;
        Some(VisibleObject {
            id,
            view,
            object,
            names,
            freshness,
            times: self.times,
        })
    }
}

/// The head of an `ObjectEntered`.
#[derive(Clone, Copy)]
struct EnterHeader {
    alias: Alias,
    kind: u8,
    own: bool,
}

#[cfg(test)]
mod tests;
