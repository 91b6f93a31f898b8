//! What a client knows of the world around its avatar.
//!
//! Records and poses of datagrams go in, in whatever order these arrive; `Enter`, `Update` and
//! `Leave` for views come out, and the objects can be read at any room time. No clock: `now` is the
//! estimated room time, which is what views show, but for poses: these may be shown a little behind
//! ([`playout`]).
//!
//! Invariants:
//! 1. A view sees `Enter` and `Leave` of an id alternate, `Enter` first, each once, and `Update`s
//!    only in between.
//! 2. An object goes by a slot and an epoch on the wire. A slot's epochs only grow; a record of an
//!    older epoch than the slot's, or of one that has left, changes nothing: what comes late
//!    revives nothing. Poses go by the slot alone; those of a datagram older than the `Enter` are
//!    read and change nothing.
//! 3. Of each component the newest datagram's word stands.
//! 4. `Enter` and `Leave` take effect when `now` reaches their time, at once if that is past. What
//!    would leave before it has come into sight is never seen.
//! 5. Ids are fresh for each `Enter` and ascend, so that they tell nothing of what there is
//!    besides.
//!
//! Bound: one object a slot (65,536), plus those about to leave; beyond twice that nothing new is
//! taken. Cost: what is received; nothing is walked for objects that stand still. A pose finds its
//! object by two look-ups in flat arrays. Source: design, sections 5 and 6.

pub mod drawing;
pub mod factory;
pub mod glide;
pub mod kept;
pub mod names;
pub mod object;
pub mod playout;
mod poses;
mod seen;
pub mod slots;
pub mod stir;
pub mod store;
pub mod track;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use ambit_proto::ids::Alias;
use ambit_proto::message::Record;
use ambit_proto::pose::Pose;
use ambit_proto::schema::{Component, Schema};
use ambit_proto::time::GameTime;

use crate::client::event::{Enter, Update, ViewEvent};
use drawing::Drawing;
use factory::Factory;
use kept::News;
use names::Names;
use object::{Moment, Object};
use playout::Lag;
pub use poses::Section;
pub use seen::Seen;
use slots::Slots;
use stir::{Kinds, Stir, Stirs};
use store::Store;

/// Objects at once, those that are about to leave included.
const OBJECTS: usize = 2 * 65_536;

/// How much of what comes is taken over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// All of it.
    #[default]
    Full,
    /// All but poses, which are most of the work: their objects have no position.
    Light,
}

/// The datagram in hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Its number, unwrapped.
    pub number: u64,
    /// Room time of the tick that wrote it.
    pub stamp: GameTime,
    /// The estimated room time.
    pub now: GameTime,
}

/// What a record was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// Nothing new, or about something that is not there (any more).
    Nothing,
    /// An object was announced or taken back.
    Object,
    /// News of an object; `late` if they contradict what is being shown.
    Update {
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
    mode: Mode,
    times: Times,
    /// Whether views are told of each pose.
    watched: bool,
    names: Names,
    slots: Slots,
    objects: Store<Object<V>>,
    /// The player's avatar, if it is in sight.
    own: Option<u32>,
    /// When an object is to come into or go out of sight. Each object that waits for it stands in
    /// it.
    due: BTreeSet<(GameTime, u32)>,
    last_id: u32,
    events: VecDeque<ViewEvent>,
    /// Poses of the section in hand; empty between calls, kept for its storage.
    poses: Vec<(u16, Pose)>,
    failed: poses::Failed,
    stirs: Stirs,
}

/// What a pose is read with, besides its entries.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// The local lag: a pose takes effect so long after its stamp.
    pub delay: Duration,
    /// Stamp of the newest datagram of all.
    pub heard: GameTime,
    /// How far behind room time poses are shown.
    pub lag: Lag,
}

impl Times {
    /// Of which stamp the poses are that are shown at the room time `t`.
    pub fn stamp_at(&self, t: GameTime) -> GameTime {
        self.lag.shown(t).saturating_sub(self.delay)
    }

    /// When a pose of this stamp is shown, as far as is known at `now`; `now` if that is past.
    pub fn shown_from(&self, stamp: GameTime, now: GameTime) -> GameTime {
        (stamp + self.delay + self.lag.at(now)).max(now)
    }
}

impl<V> Replica<V> {
    /// Nothing in sight, in a room with this local lag. Ids begin after `last_id`, the last one of
    /// an earlier replica of the same client.
    pub fn new(schema: Arc<Schema>, delay: Duration, last_id: u32, mode: Mode) -> Self {
        let names = Names::of(&schema);
        let times = Times {
            delay,
            heard: GameTime::ZERO,
            lag: Lag::default(),
        };
        let (watched, slots, objects, own, due, events, poses, failed) = Default::default();
        let stirs = Stirs::default();
        Replica {
            schema,
            mode,
            times,
            watched,
            names,
            slots,
            objects,
            own,
            due,
            last_id,
            events,
            poses,
            failed,
            stirs,
        }
    }

    /// Whether views are told of each pose from now on.
    pub fn watch(&mut self, on: bool) {
        self.watched = on;
    }

    /// Objects of these kinds are simulated: what is told of them goes to [`Replica::poll_stir`] as
    /// well. Whether there can be any.
    pub fn stir(&mut self, kinds: Kinds) -> bool {
        self.mode == Mode::Full && self.stirs.of(kinds)
    }

    /// What a simulation is to be told next.
    pub fn poll_stir(&mut self) -> Option<Stir> {
        self.stirs.pop()
    }

    /// What is drawn of an object that is simulated.
    pub fn draw(&mut self, id: u32, drawing: Drawing) {
        if let Some(object) = self.objects.get_mut(id) {
            object.drawing = Some(drawing);
        }
    }

    /// Whether a flag of an object is set at `t`, as far as is known.
    pub fn is_set(&self, id: u32, component: usize, t: GameTime) -> bool {
        self.objects
            .get(id)
            .is_some_and(|object| object.is_set(component, t))
    }

    /// How far behind room time objects with poses are shown from now on.
    pub fn show_at(&mut self, lag: Lag) {
        self.times.lag = lag;
    }

    /// How far behind room time objects with poses are shown.
    pub fn lag(&self) -> Lag {
        self.times.lag
    }

    /// The datagram in hand has been taken over: what it did not speak of is as it was foretold.
    pub fn hear(&mut self, arrival: Arrival) {
        self.times.heard = self.times.heard.max(arrival.stamp);
        self.slots.forget(arrival.number);
    }

    /// Takes over a record of the datagram in hand.
    pub fn apply(&mut self, arrival: Arrival, record: &Record) -> Applied {
        match record {
            Record::Enter {
                alias,
                kind,
                at,
                own,
                components,
            } => {
                let newcomer = Newcomer {
                    alias: *alias,
                    kind: *kind,
                    own: *own,
                };
                self.handle_enter(Moment { arrival, at: *at }, newcomer, components)
            }
            Record::Update {
                alias,
                kind,
                at,
                components,
            } => self.handle_update(Moment { arrival, at: *at }, *alias, *kind, components),
            Record::Leave { alias, at } => self.handle_leave(arrival, *alias, *at),
            // About the player, not about an object.
            Record::Effects(_) => Applied::Nothing,
        }
    }

    /// Lets come and go what is due by `now`.
    pub fn advance(&mut self, now: GameTime, factory: &mut impl Factory<View = V>) {
        while let Some(&(time, id)) = self.due.first()
            && time <= now
        {
            self.due.pop_first();
            let object = self.objects.get(id).expect("what is due is an object");
            let gone = object.leaves.is_some_and(|leaves| leaves <= now);
            match (gone, object.view.is_some()) {
                (true, seen) => {
                    self.remove(id);
                    if seen {
                        self.events.push_back(ViewEvent::Leave { id, t: now });
                    }
                }
                (false, false) => self.show(id, now, factory),
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
        self.tenant(alias).or_else(leaving)
    }

    /// The objects in sight, by ascending id.
    pub fn seen(&self) -> impl Iterator<Item = Seen<'_, V>> {
        self.objects
            .iter()
            .filter_map(|(id, object)| self.as_seen(id, object))
    }

    /// One object, if it is in sight.
    pub fn get(&self, id: u32) -> Option<Seen<'_, V>> {
        self.as_seen(id, self.objects.get(id)?)
    }

    /// What the view keeps of an object in sight.
    pub fn view_mut(&mut self, id: u32) -> Option<&mut V> {
        self.objects.get_mut(id)?.view.as_mut()
    }

    /// The player's avatar, if it is in sight.
    pub fn own(&self) -> Option<Seen<'_, V>> {
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
    pub fn names(&self) -> &Names {
        &self.names
    }

    fn handle_enter(
        &mut self,
        moment: Moment,
        newcomer: Newcomer,
        components: &[(u8, Component)],
    ) -> Applied {
        let alias = newcomer.alias;
        if let Some(id) = self.tenant(alias) {
            return self.refresh(id, moment, newcomer.kind, components);
        }
        let slot = self.slots.get(alias.slot);
        if slot
            .and_then(|slot| slot.epoch)
            .is_some_and(|epoch| !Alias::newer_than(alias.epoch, epoch))
        {
            return Applied::Nothing;
        }
        // Before anything is changed: a slot never names an object that is about to go.
        if self.objects.len() >= OBJECTS || self.schema.kind(newcomer.kind).is_none() {
            return Applied::Refused;
        }
        // Its `Leave` is lost or late, but the server gives a slot away only when it is free.
        if let Some(before) = slot.and_then(|slot| slot.tenant) {
            self.let_leave(before, moment.arrival.number, moment.at);
        }
        self.announce(moment, newcomer, components)
    }

    fn handle_update(
        &mut self,
        moment: Moment,
        alias: Alias,
        kind: u8,
        components: &[(u8, Component)],
    ) -> Applied {
        match self.tenant(alias) {
            Some(id) => self.refresh(id, moment, kind, components),
            None => Applied::Nothing,
        }
    }

    fn handle_leave(&mut self, arrival: Arrival, alias: Alias, at: GameTime) -> Applied {
        let slot = self.slots.entry(alias.slot);
        if slot
            .epoch
            .is_some_and(|epoch| epoch != alias.epoch && !Alias::newer_than(alias.epoch, epoch))
        {
            return Applied::Nothing;
        }
        // Also for an epoch that was not heard of: its `Enter` is under way, and is to find that it
        // is over.
        slot.epoch = Some(alias.epoch);
        match slot.tenant {
            Some(place) => {
                self.let_leave(place, arrival.number, at);
                Applied::Object
            }
            None => Applied::Nothing,
        }
    }

    fn announce(
        &mut self,
        moment: Moment,
        newcomer: Newcomer,
        components: &[(u8, Component)],
    ) -> Applied {
        let Newcomer { alias, kind, own } = newcomer;
        let Some(declared) = self.schema.kind(kind) else {
            return Applied::Refused;
        };
        self.last_id += 1;
        let id = self.last_id;
        let mut object = Object::new(id, newcomer.alias, kind, own, moment, declared);
        object.merge(moment, components, self.times);
        self.stirs.push(kind, Stir::Enter { id, kind, own });
        self.stir_poses(id, kind, moment, components);
        let place = self.objects.push(id, object);
        let slot = self.slots.entry(alias.slot);
        (slot.epoch, slot.tenant) = (Some(alias.epoch), Some(place));
        self.due.insert((moment.at, id));
        Applied::Object
    }

    fn refresh(
        &mut self,
        id: u32,
        moment: Moment,
        kind: u8,
        components: &[(u8, Component)],
    ) -> Applied {
        let object = self.objects.get_mut(id).expect("a slot's object exists");
        if object.kind != kind {
            return Applied::Refused;
        }
        let news = object.merge(moment, components, self.times);
        self.stir_poses(id, kind, moment, components);
        let object = self.objects.get(id).expect("a slot's object exists");
        // What has not been shown yet is not late, and its `Enter` will tell the newest.
        if news == News::None || object.view.is_none() {
            return Applied::Nothing;
        }
        let indices = components.iter().map(|(index, _)| usize::from(*index));
        let now = moment.arrival.now;
        let at = moment.at.max(now);
        let components = object.named(
            indices,
            at,
            self.times,
            &self.names.kinds[usize::from(kind)],
        );
        self.events.push_back(ViewEvent::Update(Update {
            id,
            t: now,
            at,
            components,
        }));
        Applied::Update {
            late: news == News::Late,
        }
    }

    fn show(&mut self, id: u32, now: GameTime, factory: &mut impl Factory<View = V>) {
        let object = self.objects.get_mut(id).expect("what is due is an object");
        let names = &self.names.kinds[usize::from(object.kind)];
        let enter = Enter {
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
        if self.mode == Mode::Light {
            // Nobody will say where it goes from here.
            object.track = None;
        }
        self.events.push_back(ViewEvent::Enter(enter));
    }

    /// Poses that came in records.
    fn stir_poses(&mut self, id: u32, kind: u8, moment: Moment, components: &[(u8, Component)]) {
        for (_, component) in components {
            if let Component::Pose(pose) = component {
                self.stirs.push(
                    kind,
                    Stir::Told {
                        id,
                        stamp: moment.arrival.stamp,
                        pose: *pose,
                    },
                );
            }
        }
    }

    /// The slot is free from now on, and what is still under way about its tenant changes nothing.
    fn let_leave(&mut self, place: store::Place, number: u64, at: GameTime) {
        let object = self.objects.at_mut(place).expect("a slot's object exists");
        object.leaves = Some(at);
        self.due.insert((at, object.id));
        let slot = object.alias.slot;
        self.slots.entry(slot).tenant = None;
        if let Some(track) = object.track.as_ref().filter(|_| self.mode == Mode::Full) {
            self.slots.remember(slot, track.clone(), number);
        }
    }

    fn remove(&mut self, id: u32) {
        let object = self.objects.remove(id).expect("what is due is an object");
        self.stirs.push(object.kind, Stir::Leave { id });
        self.due.remove(&(object.enters, id));
        if let Some(leaves) = object.leaves {
            self.due.remove(&(leaves, id));
        }
        if self.own == Some(id) {
            self.own = None;
        }
    }

    /// The object that has this name, until its `Leave` is known.
    fn tenant(&self, alias: Alias) -> Option<u32> {
        let slot = self
            .slots
            .get(alias.slot)
            .filter(|slot| slot.epoch == Some(alias.epoch))?;
        Some(
            self.objects
                .at(slot.tenant?)
                .expect("a slot's object exists")
                .id,
        )
    }

    fn as_seen<'r>(&'r self, id: u32, object: &'r Object<V>) -> Option<Seen<'r, V>> {
        let view = object.view.as_ref()?;
        let names = &self.names.kinds[usize::from(object.kind)];
        let freshness = &self.schema.kinds[usize::from(object.kind)].freshness;
        Some(Seen {
            id,
            view,
            object,
            names,
            freshness,
            times: self.times,
        })
    }
}

/// The head of an `Enter`.
#[derive(Clone, Copy)]
struct Newcomer {
    alias: Alias,
    kind: u8,
    own: bool,
}

#[cfg(test)]
mod tests;
