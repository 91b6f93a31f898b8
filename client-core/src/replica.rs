//! What a client knows of the world around its avatar.
//!
//! Records of datagrams go in, in whatever order these arrive; `Enter`, `Update` and `Leave` for views come out, and the
//! objects can be read at any room time. No clock: `now` is the estimated room time, which is what views show.
//!
//! Invariants:
//! 1. A view sees `Enter` and `Leave` of an id alternate, `Enter` first, each once, and `Update`s only in between.
//! 2. An object goes by a slot and an epoch on the wire. A slot's epochs only grow; a record of an older epoch than the
//!    slot's, or of one that has left, changes nothing: what comes late revives nothing.
//! 3. Of each component the newest datagram's word stands.
//! 4. `Enter` and `Leave` take effect when `now` reaches their time, at once if that is past. What would leave before it
//!    has come into sight is never seen.
//! 5. Ids are fresh for each `Enter` and ascend, so that they tell nothing of what there is besides.
//!
//! Bound: one object a slot (65,536), plus those about to leave; beyond twice that nothing new is taken.
//! Cost: what is received; nothing is walked for objects that stand still. Source: design, sections 5 and 6.

pub mod factory;
pub mod kept;
pub mod names;
pub mod object;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use ambit_proto::ids::Alias;
use ambit_proto::message::Record;
use ambit_proto::schema::{Component, Schema};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;

use crate::client::event::{Enter, Named, Update, Value, ViewEvent};
use factory::Factory;
use kept::News;
use names::Names;
use object::{Moment, Object};

/// Objects at once, those that are about to leave included.
const OBJECTS: usize = 2 * 65_536;

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
    names: Names,
    slots: BTreeMap<u16, Slot>,
    objects: BTreeMap<u32, Object<V>>,
    /// When an object is to come into or go out of sight. Each object that waits for it stands in it.
    due: BTreeSet<(GameTime, u32)>,
    last_id: u32,
    events: VecDeque<ViewEvent>,
}

/// A server's place for objects, one after the other.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// The newest that was heard of.
    epoch: u8,
    /// The object of that epoch, until its `Leave` is known.
    object: Option<u32>,
}

/// An object in sight.
#[derive(Debug)]
pub struct Seen<'r, V> {
    /// The client's name for it.
    pub id: u32,
    /// What the view keeps of it.
    pub view: &'r V,
    object: &'r Object<V>,
    names: &'r names::Named,
}

impl<V> Replica<V> {
    /// Nothing in sight. Ids begin after `last_id`, the last one of an earlier replica of the same client.
    pub fn new(schema: Arc<Schema>, last_id: u32) -> Self {
        let names = Names::of(&schema);
        let (slots, objects, due, events) = Default::default();
        Replica { schema, names, slots, objects, due, last_id, events }
    }

    /// Takes over a record of a datagram of time `stamp`.
    pub fn apply(&mut self, stamp: GameTime, record: &Record, now: GameTime) -> Applied {
        match record {
            Record::Enter { alias, kind, at, own, components } => {
                let newcomer = Newcomer { alias: *alias, kind: *kind, own: *own };
                self.handle_enter(Moment { stamp, at: *at, now }, newcomer, components)
            }
            Record::Update { alias, kind, at, components } => {
                self.handle_update(Moment { stamp, at: *at, now }, *alias, *kind, components)
            }
            Record::Leave { alias, at } => self.handle_leave(*alias, *at),
        }
    }

    /// Lets come and go what is due by `now`.
    pub fn advance(&mut self, now: GameTime, factory: &mut impl Factory<View = V>) {
        while let Some(&(time, id)) = self.due.first()
            && time <= now
        {
            self.due.pop_first();
            let object = self.objects.get(&id).expect("what is due is an object");
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

    /// Takes everything out of sight: the connection is gone, and with it the meaning of slots and epochs.
    pub fn clear(&mut self, now: GameTime) {
        self.slots.clear();
        self.due.clear();
        for (id, object) in std::mem::take(&mut self.objects) {
            if object.view.is_some() {
                self.events.push_back(ViewEvent::Leave { id, t: now });
            }
        }
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
        let current = self.slots.get(&alias.slot).filter(|slot| slot.epoch == alias.epoch).and_then(|slot| slot.object);
        let leaving = || self.objects.iter().find(|(_, object)| object.alias == alias).map(|(id, _)| *id);
        current.or_else(leaving)
    }

    /// The objects in sight, by ascending id.
    pub fn seen(&self) -> impl Iterator<Item = Seen<'_, V>> {
        self.objects.iter().filter_map(|(id, object)| self.as_seen(*id, object))
    }

    /// One object, if it is in sight.
    pub fn get(&self, id: u32) -> Option<Seen<'_, V>> {
        self.as_seen(id, self.objects.get(&id)?)
    }

    /// What the view keeps of an object in sight.
    pub fn view_mut(&mut self, id: u32) -> Option<&mut V> {
        self.objects.get_mut(&id)?.view.as_mut()
    }

    /// The player's avatar, if it is in sight.
    pub fn own(&self) -> Option<Seen<'_, V>> {
        self.seen().find(Seen::is_own)
    }

    /// What the game's objects are made of.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The schema's names.
    pub fn names(&self) -> &Names {
        &self.names
    }

    fn handle_enter(&mut self, moment: Moment, newcomer: Newcomer, components: &[(u8, Component)]) -> Applied {
        let alias = newcomer.alias;
        let welcome = self.objects.len() < OBJECTS && self.schema.kind(newcomer.kind).is_some();
        match self.slots.get(&alias.slot).copied() {
            Some(Slot { epoch, object: Some(id) }) if epoch == alias.epoch => {
                return self.refresh(id, moment, newcomer.kind, components);
            }
            Some(Slot { epoch, object }) => {
                if !Alias::newer_than(alias.epoch, epoch) {
                    return Applied::Nothing;
                }
                // Before anything is changed: a slot never names an object that is about to go.
                if !welcome {
                    return Applied::Refused;
                }
                // Its `Leave` is lost or late, but the server gives a slot away only when it is free.
                if let Some(before) = object {
                    self.let_leave(before, moment.at);
                }
            }
            None if !welcome => return Applied::Refused,
            None => {}
        }
        self.announce(moment, newcomer, components)
    }

    fn handle_update(&mut self, moment: Moment, alias: Alias, kind: u8, components: &[(u8, Component)]) -> Applied {
        match self.slots.get(&alias.slot) {
            Some(&Slot { epoch, object: Some(id) }) if epoch == alias.epoch => {
                self.refresh(id, moment, kind, components)
            }
            _ => Applied::Nothing,
        }
    }

    fn handle_leave(&mut self, alias: Alias, at: GameTime) -> Applied {
        let slot = self.slots.entry(alias.slot).or_insert(Slot { epoch: alias.epoch, object: None });
        if slot.epoch != alias.epoch && !Alias::newer_than(alias.epoch, slot.epoch) {
            return Applied::Nothing;
        }
        // Also for an epoch that was not heard of: its `Enter` is under way, and is to find that it is over.
        slot.epoch = alias.epoch;
        match slot.object.take() {
            Some(id) => {
                self.let_leave(id, at);
                Applied::Object
            }
            None => Applied::Nothing,
        }
    }

    fn announce(&mut self, moment: Moment, newcomer: Newcomer, components: &[(u8, Component)]) -> Applied {
        let Newcomer { alias, kind, own } = newcomer;
        let Some(parts) = self.schema.kind(kind).map(|kind| kind.components.len()) else { return Applied::Refused };
        self.last_id += 1;
        let id = self.last_id;
        let mut object = Object::new(alias, kind, own, moment.at, parts);
        object.merge(moment, components);
        self.objects.insert(id, object);
        self.slots.insert(alias.slot, Slot { epoch: alias.epoch, object: Some(id) });
        self.due.insert((moment.at, id));
        Applied::Object
    }

    fn refresh(&mut self, id: u32, moment: Moment, kind: u8, components: &[(u8, Component)]) -> Applied {
        let object = self.objects.get_mut(&id).expect("a slot's object exists");
        if object.kind != kind {
            return Applied::Refused;
        }
        let news = object.merge(moment, components);
        // What has not been shown yet is not late, and its `Enter` will tell the newest.
        if news == News::None || object.view.is_none() {
            return Applied::Nothing;
        }
        let indices = components.iter().map(|(index, _)| usize::from(*index));
        let Moment { at, now, .. } = moment;
        let at = at.max(now);
        let components = object.named(indices, at, &self.names.kinds[usize::from(kind)]);
        self.events.push_back(ViewEvent::Update(Update { id, t: now, at, components }));
        Applied::Update { late: news == News::Late }
    }

    fn show(&mut self, id: u32, now: GameTime, factory: &mut impl Factory<View = V>) {
        let object = self.objects.get_mut(&id).expect("what is due is an object");
        let names = &self.names.kinds[usize::from(object.kind)];
        let enter = Enter {
            id,
            kind: names.name.clone(),
            own: object.own,
            t: now,
            position: object.position(now).unwrap_or_default(),
            components: object.values(now, names),
        };
        object.view = Some(factory.build(&enter));
        self.events.push_back(ViewEvent::Enter(enter));
    }

    fn let_leave(&mut self, id: u32, at: GameTime) {
        let object = self.objects.get_mut(&id).expect("a slot's object exists");
        object.leaves = Some(at);
        self.due.insert((at, id));
    }

    fn remove(&mut self, id: u32) {
        let object = self.objects.remove(&id).expect("what is due is an object");
        self.due.remove(&(object.enters, id));
        if let Some(leaves) = object.leaves {
            self.due.remove(&(leaves, id));
        }
    }

    fn as_seen<'r>(&'r self, id: u32, object: &'r Object<V>) -> Option<Seen<'r, V>> {
        let names = &self.names.kinds[usize::from(object.kind)];
        object.view.as_ref().map(|view| Seen { id, view, object, names })
    }
}

/// The head of an `Enter`.
#[derive(Clone, Copy)]
struct Newcomer {
    alias: Alias,
    kind: u8,
    own: bool,
}

impl<V> Seen<'_, V> {
    /// What it is.
    pub fn kind(&self) -> &Arc<str> {
        &self.names.name
    }

    /// Whether it is the player's avatar.
    pub fn is_own(&self) -> bool {
        self.object.own
    }

    /// Where it is at `t`.
    pub fn position(&self, t: GameTime) -> Option<Position> {
        self.object.position(t)
    }

    /// Whether it is on its way somewhere at `t`.
    pub fn moves(&self, t: GameTime) -> bool {
        self.object.moves(t)
    }

    /// The value at `t` of the component called `name`.
    pub fn value(&self, name: &str, t: GameTime) -> Option<Value> {
        let index = self.names.parts.iter().position(|part| **part == *name)?;
        self.object.value(index, t)
    }

    /// All that is known of it, at `t`.
    pub fn values(&self, t: GameTime) -> Vec<Named<Value>> {
        self.object.values(t, self.names)
    }
}

#[cfg(test)]
mod tests;
