//! World-wide objects and announcements: what this map tells the others of its world, and the
//! copies of theirs.
//!
//! Each map has its own time, so what changes by itself (gauges, flags that are set ahead) is moved
//! by the difference of the two clocks. Cost: what has changed; every ten seconds all world-wide
//! objects of this map.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use ambit_proto::ids::ObjectId;
use ambit_proto::message::FieldValue;
use ambit_proto::schema::Component;
use ambit_proto::time::GameTime;
use ambit_proto::timeline::{Gauge, Timeline, TimelineValue};

use super::component_access::{MAX_STORED_POINTS, is_empty_timeline};
use super::{EventAudience, World};
use crate::logic::share::{
    Copies, CopyChanges, DueShare, MAX_SHARE_BYTES, MapShare, SharedEvent, SharedObject,
};
use crate::saved;

/// Which instants of two maps are the same one.
#[derive(Clone, Copy, Debug)]
struct Clocks {
    here: GameTime,
    there: GameTime,
}

impl Clocks {
    /// Not before `here`.
    fn here(self, there: GameTime) -> GameTime {
        self.here + there.since(self.there)
    }
}

impl World {
    /// The kinds whose objects all maps of the world have.
    pub(crate) fn set_world_wide_kinds(&mut self, kinds: BTreeSet<u8>) {
        self.shared.is_used = !kinds.is_empty();
        self.shared.kinds = kinds;
        self.shared.schema = self.schema_hash();
    }

    /// Whether an object is a copy of one of another map. It is read-only.
    pub fn is_copy(&self, object: ObjectId) -> bool {
        self.shared.copy_ids.contains(&object)
    }

    /// Sends an event to all players on all maps of the world, from now on. On the other maps an
    /// object in it is nameless. `false`, with an error in the log, if too many are sent at once:
    /// then it is for this map alone.
    pub fn announce_world_wide(&mut self, kind: u8, fields: Vec<FieldValue<ObjectId>>) -> bool {
        let mut shared = fields.clone();
        for field in &mut shared {
            if let FieldValue::Object(object) = field {
                *object = ObjectId::default();
            }
        }
        self.shared.is_used = true;
        let is_shared = self.shared.schedule.announce(SharedEvent { kind, fields: shared });
        if !is_shared {
            tracing::error!("a game announces too much on all maps at once: not all are told");
        }
        self.emit(kind, EventAudience::Everyone, self.now, fields);
        is_shared
    }

    /// The room begins at a host, or wakes: it tells all, and asks the other maps.
    pub(crate) fn restart_sharing(&mut self) {
        self.shared.schedule.restart();
    }

    /// A room-wide object has come, has changed or is gone.
    pub(super) fn note_shared(&mut self, kind: u8, object: ObjectId) {
        if self.shared.kinds.contains(&kind) && !self.is_copy(object) {
            self.shared.schedule.note(object);
        }
    }

    /// What the other maps are to be told after this tick.
    pub(crate) fn take_share(&mut self) -> Option<Vec<u8>> {
        if !self.shared.is_used {
            return None;
        }
        let is_alone = self.shared.copies.is_empty();
        let DueShare { since, asks, changed, events } =
            self.shared.schedule.due(self.now, is_alone)?;
        let ids: Vec<ObjectId> = if since.is_none() {
            let of_kinds = self.room_wide.iter();
            let of_kinds = of_kinds.filter(|(kind, ..)| self.shared.kinds.contains(kind));
            of_kinds.map(|&(.., id)| id).filter(|id| !self.is_copy(*id)).collect()
        } else {
            changed.into_iter().collect()
        };
        let (there, gone): (Vec<_>, Vec<_>) = ids.into_iter().partition(|id| self.contains(*id));
        let objects = there.into_iter().map(|id| {
            let object = self.object(id);
            SharedObject {
                id,
                kind: object.kind,
                owner: object.owner,
                team: object.team,
                components: object.components.clone(),
            }
        });
        let schema = self.shared.schema;
        let objects = objects.collect();
        let share = MapShare { schema, at: self.now, since, asks, objects, gone, events };
        let bytes = saved::section(&share);
        if bytes.len() > MAX_SHARE_BYTES {
            tracing::error!(
                bytes = bytes.len(),
                "the world-wide objects of a map are too much to be told the other maps: at most \
                 {MAX_SHARE_BYTES} bytes"
            );
            return None;
        }
        Some(bytes)
    }

    /// Another map has told this, or is no more if it is empty. What makes no sense changes
    /// nothing.
    pub(crate) fn take_share_of(&mut self, map: u32, share: &[u8]) {
        self.shared.is_used = true;
        if share.is_empty() {
            for copy in self.shared.copies.forget(map) {
                self.drop_copy(copy);
            }
            return;
        }
        let share: Option<MapShare> = saved::only_section(share).ok();
        let Some(mut share) = share.filter(|share| share.schema == self.shared.schema) else {
            tracing::warn!(map, "what another map tells is of another build: not taken over");
            return;
        };
        let clocks = Clocks { here: self.now, there: share.at };
        let changes = self.shared.copies.take(map, &mut share);
        let CopyChanges { gone, objects, wants_whole } = changes;
        if wants_whole {
            self.shared.schedule.want_whole();
        }
        for copy in gone {
            self.drop_copy(copy);
        }
        for object in objects {
            self.take_shared_object(map, object, clocks);
        }
        for SharedEvent { kind, fields } in share.events {
            let declared = self.schema.events.get(usize::from(kind));
            if declared.is_some_and(|event| FieldValue::all_fit(&fields, &event.fields)) {
                self.emit(kind, EventAudience::Everyone, self.now, fields);
            }
        }
    }

    fn take_shared_object(&mut self, map: u32, object: SharedObject, clocks: Clocks) {
        let SharedObject { id, kind, owner, team, components } = object;
        let Some(components) = self.components_here(kind, components, clocks) else { return };
        let copy = self.shared.copies.get(map, id);
        let copy = copy.filter(|copy| self.find_kind(*copy) == Some(kind));
        let copy = copy.unwrap_or_else(|| {
            let copy = self.insert_room_wide(kind, components.clone());
            self.shared.copies.insert(map, id, copy);
            self.shared.copy_ids.insert(copy);
            copy
        });
        for (index, component) in (0..).zip(components) {
            self.replace_component(copy, index, component);
        }
        self.set_team(copy, team);
        if let Some(owner) = owner {
            self.set_owner(copy, owner);
        }
    }

    /// The components of another map's object by this map's clock; `None` if they are none of the
    /// kind, or the kind is not world-wide.
    fn components_here(
        &self,
        kind: u8,
        components: Vec<Component>,
        clocks: Clocks,
    ) -> Option<Vec<Component>> {
        let specs = &self.schema.kind(kind)?.components;
        let fits = |(component, codec): (&Component, _)| {
            component.fits(codec) && !is_empty_timeline(component)
        };
        let is_complete = specs.len() == components.len();
        let mut pairs = components.iter().zip(specs.iter().map(|spec| &spec.codec));
        if !self.shared.kinds.contains(&kind) || !is_complete || !pairs.all(fits) {
            return None;
        }
        let moved = components.into_iter().map(|component| match component {
            Component::Gauge(gauge) => Component::Gauge(moved(&gauge, clocks, Gauge::quantised)),
            Component::Flag(flag) => Component::Flag(moved(&flag, clocks, |value| value)),
            plain => plain,
        });
        Some(moved.collect())
    }

    fn drop_copy(&mut self, copy: ObjectId) {
        self.despawn(copy);
        self.shared.copy_ids.remove(&copy);
    }

    /// After a restoration.
    pub(super) fn restore_copies(&mut self, copies: Copies) {
        self.shared.copy_ids = copies.ids().collect();
        self.shared.is_used |= !copies.is_empty();
        self.shared.copies = copies;
    }

    /// Of what is shared: names, types and ranges.
    fn schema_hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let kinds = self.schema.kinds.iter().enumerate();
        for (index, kind) in kinds.filter(|(index, _)| {
            u8::try_from(*index).is_ok_and(|kind| self.shared.kinds.contains(&kind))
        }) {
            (index, &kind.name).hash(&mut hasher);
            format!("{:?}", kind.components).hash(&mut hasher);
        }
        format!("{:?}", self.schema.events).hash(&mut hasher);
        hasher.finish()
    }
}

/// The value at this moment, and what is planned.
fn moved<T: TimelineValue>(
    timeline: &Timeline<T>,
    clocks: Clocks,
    grid: impl Fn(T) -> T,
) -> Timeline<T> {
    let now = timeline.value_at(clocks.there);
    let now = now.map(|value| (clocks.here, value));
    let later = timeline.points().filter(|(time, _)| *time > clocks.there);
    let later = later.map(|(time, value)| (clocks.here(time), value.clone()));
    let mut moved = Timeline::new(MAX_STORED_POINTS);
    for (time, value) in now.into_iter().chain(later) {
        moved.insert(time, grid(value));
    }
    moved
}
