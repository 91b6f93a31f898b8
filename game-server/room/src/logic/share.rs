//! What the maps of one world tell each other: their objects of world-wide kinds, and announcements
//! for all maps.
//!
//! Each map creates and changes its own objects. The others have read-only copies, which follow
//! within [`SHARED_EVERY`] and a message. A share says what has changed since the map's last one;
//! at times, and when a map is new to another, it is whole. So a share that is lost costs
//! [`WHOLE_EVERY`], and nothing has to be kept of it but the copies. The lobby passes shares on and
//! does not look into them.
//!
//! A share goes in as an input of the room, like a command: a room that goes on at another host has
//! the same copies. What goes out follows from the objects, so none of it is saved.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::message::FieldValue;
use ambit_proto::schema::Component;
use ambit_proto::time::GameTime;
use serde::{Deserialize, Serialize};

/// The longest share, in bytes: some thousand rows of a table.
pub const MAX_SHARE_BYTES: usize = 65_536;
/// Announcements for all maps in one tick.
pub const MAX_SHARED_EVENTS: usize = 64;
/// Changes of objects are shared at most this often.
pub const SHARED_EVERY: Duration = Duration::from_millis(250);
/// A share is whole after this time.
pub const WHOLE_EVERY: Duration = Duration::from_secs(10);

/// What a map tells the others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MapShare {
    /// A hash of the game's schema: another build's objects may mean something else.
    pub schema: u64,
    /// The room's time; no two shares of a map have the same one.
    pub at: GameTime,
    /// `at` of the share before it; `None` if this one is whole.
    pub since: Option<GameTime>,
    /// The map has begun, or goes on elsewhere: it wants the whole shares of the others.
    pub asks: bool,
    /// The objects that have changed, or all.
    pub objects: Vec<SharedObject>,
    /// Objects that are gone; empty in a whole share.
    pub gone: Vec<ObjectId>,
    /// What is announced on all maps.
    pub events: Vec<SharedEvent>,
}

/// An object of a world-wide kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SharedObject {
    /// On its own map.
    pub id: ObjectId,
    /// Index in the schema.
    pub kind: u8,
    /// The player whose row it is.
    pub owner: Option<PlayerId>,
    /// The team that gets its team-only components.
    pub team: Option<u8>,
    /// All of them, by the clock of its own map.
    pub components: Vec<Component>,
}

/// An announcement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SharedEvent {
    /// Index in the schema.
    pub kind: u8,
    /// Without objects: those are of one map.
    pub fields: Vec<FieldValue<ObjectId>>,
}

/// What a map tells the others, and has of them.
#[derive(Debug, Default)]
pub(crate) struct SharedWithMaps {
    /// The kinds whose objects all maps have.
    pub(crate) kinds: BTreeSet<u8>,
    /// As in [`MapShare`].
    pub(crate) schema: u64,
    pub(crate) copies: Copies,
    /// The ids of `copies`.
    pub(crate) copy_ids: BTreeSet<ObjectId>,
    pub(crate) schedule: ShareSchedule,
    /// Whether anything is shared.
    pub(crate) is_used: bool,
}

/// What a map has of the others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Copies {
    /// By map.
    maps: BTreeMap<u32, CopiesOfMap>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct CopiesOfMap {
    /// `at` of the last share; zero before it.
    at: GameTime,
    /// The copy here, by the id there.
    objects: BTreeMap<ObjectId, ObjectId>,
}

/// What follows from a share.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct CopyChanges {
    /// Copies here that are gone.
    pub(crate) gone: Vec<ObjectId>,
    /// What has changed there.
    pub(crate) objects: Vec<SharedObject>,
    /// The other map does not have what is here.
    pub(crate) wants_whole: bool,
}

impl Copies {
    /// Whether there is another map that shares.
    pub(crate) fn is_empty(&self) -> bool {
        self.maps.is_empty()
    }

    /// All copies.
    pub(crate) fn ids(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.maps.values().flat_map(|map| map.objects.values().copied())
    }

    /// Takes a share of a map. One that follows another than the last one changes nothing: the next
    /// whole one comes.
    pub(crate) fn take(&mut self, map: u32, share: &mut MapShare) -> CopyChanges {
        let wants_whole = share.asks || !self.maps.contains_key(&map);
        let known = self.maps.entry(map).or_default();
        if share.since.is_some_and(|since| since != known.at) {
            return CopyChanges { wants_whole, ..CopyChanges::default() };
        }
        known.at = share.at;
        let objects = std::mem::take(&mut share.objects);
        let gone: Vec<ObjectId> = if share.since.is_none() {
            let there: BTreeSet<ObjectId> = objects.iter().map(|object| object.id).collect();
            known.objects.keys().copied().filter(|id| !there.contains(id)).collect()
        } else {
            std::mem::take(&mut share.gone)
        };
        let gone = gone.iter().filter_map(|id| known.objects.remove(id)).collect();
        CopyChanges { gone, objects, wants_whole }
    }

    /// The copy of an object of a map.
    pub(crate) fn get(&self, map: u32, object: ObjectId) -> Option<ObjectId> {
        self.maps.get(&map)?.objects.get(&object).copied()
    }

    /// An object of a map has this copy.
    pub(crate) fn insert(&mut self, map: u32, object: ObjectId, copy: ObjectId) {
        self.maps.entry(map).or_default().objects.insert(object, copy);
    }

    /// A map is no more. Returns its copies.
    pub(crate) fn forget(&mut self, map: u32) -> Vec<ObjectId> {
        let known = self.maps.remove(&map).unwrap_or_default();
        known.objects.into_values().collect()
    }
}

/// What a map has to tell, and when.
#[derive(Debug, Default)]
pub(crate) struct ShareSchedule {
    /// Objects that have changed, or are gone, since the last share.
    changed: BTreeSet<ObjectId>,
    events: Vec<SharedEvent>,
    /// `at` of the last share, and when the last whole one left.
    last: Option<(GameTime, GameTime)>,
    wants_whole: bool,
}

/// A share that is due.
#[derive(Debug, PartialEq)]
pub(crate) struct DueShare {
    /// `None` for a whole one.
    pub(crate) since: Option<GameTime>,
    pub(crate) asks: bool,
    /// Ids of objects that have changed or are gone; empty for a whole one.
    pub(crate) changed: BTreeSet<ObjectId>,
    pub(crate) events: Vec<SharedEvent>,
}

impl ShareSchedule {
    pub(crate) fn note(&mut self, object: ObjectId) {
        self.changed.insert(object);
    }

    /// `false` if too many are announced at once.
    pub(crate) fn announce(&mut self, event: SharedEvent) -> bool {
        let has_place = self.events.len() < MAX_SHARED_EVENTS;
        self.events.extend(has_place.then_some(event));
        has_place
    }

    /// Another map lacks what is here.
    pub(crate) fn want_whole(&mut self) {
        self.wants_whole = true;
    }

    /// The map has not heard the others for a while.
    pub(crate) fn restart(&mut self) {
        self.last = None;
    }

    /// What is to be told at `now`. A map alone says from time to time that it is there.
    pub(crate) fn due(&mut self, now: GameTime, is_alone: bool) -> Option<DueShare> {
        let Some((last, whole)) = self.last else {
            return Some(self.whole(now, true));
        };
        if now.since(whole) >= WHOLE_EVERY {
            return Some(self.whole(now, is_alone));
        }
        if is_alone {
            self.changed.clear();
            return (!self.events.is_empty()).then(|| self.whole(now, true));
        }
        let is_time = now.since(last) >= SHARED_EVERY;
        if self.wants_whole && is_time {
            return Some(self.whole(now, false));
        }
        let is_changed = is_time && !self.changed.is_empty();
        if self.events.is_empty() && !is_changed {
            return None;
        }
        self.last = Some((now, whole));
        Some(DueShare {
            since: Some(last),
            asks: false,
            changed: std::mem::take(&mut self.changed),
            events: std::mem::take(&mut self.events),
        })
    }

    fn whole(&mut self, now: GameTime, asks: bool) -> DueShare {
        (self.last, self.wants_whole) = (Some((now, now)), false);
        self.changed.clear();
        let events = std::mem::take(&mut self.events);
        DueShare { since: None, asks, changed: BTreeSet::new(), events }
    }
}
