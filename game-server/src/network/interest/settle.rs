//! From where things are to what that changes: the part of `Interest` that decides.
//!
//! Each pair that comes into question is judged by where both are now, so it may come up twice
//! without harm. That none is missed needs the order: viewers look into the lists where objects
//! stood before this moment's moves, then objects get onto their new lists and look at where
//! viewers live now. A pair that was apart and is near, or was near and is apart, was brought so by
//! one of the two.

use ambit_proto::ids::ClientId;

use super::crowd::Errand;
use super::slots::Slot;
use super::{Change, Interest, Sees};

impl Interest {
    /// Appends what follows from all that was noted since the last call. For one viewer: first what
    /// its own move brings (what it loses, its avatar if that is new, what it gains; class by class
    /// and cell by cell, in a cell the latest arrival first), then what objects do, in the order in
    /// which it was noted.
    pub fn settle(&mut self, sees: &impl Sees, changes: &mut Vec<Change>) {
        let mut errands = std::mem::take(&mut self.errands);
        self.viewers.begin(&mut errands);
        for errand in errands.drain(..) {
            self.look_around(errand, sees, changes);
        }
        self.objects.begin(&mut errands);
        for errand in errands.drain(..) {
            self.show(errand, sees, changes);
        }
        self.errands = errands;
    }

    /// A viewer has come or moved, or sees with other eyes: what does it lose from sight, what
    /// comes into it?
    fn look_around(&mut self, errand: Errand, sees: &impl Sees, changes: &mut Vec<Change>) {
        let Errand {
            slot: viewer,
            to: home,
            again,
            ..
        } = errand;
        let mut batch = std::mem::take(&mut self.batch);

        for (class, zone) in (0..).zip(&self.zones) {
            for cell in errand.formerly_within(self.grid, zone.outer) {
                let followed = self
                    .objects
                    .listed_in(class, cell)
                    .filter(|&(o, _)| self.is_followed(o, viewer));
                let lost = followed.filter(|&(o, at)| {
                    !self.keeps(viewer, o, home.distance(at) <= zone.outer, again, sees)
                });
                batch.extend(lost.map(|(object, _)| object));
            }
        }
        for object in batch.drain(..) {
            self.leave(viewer, object, changes);
        }

        let own = self
            .own_of(viewer)
            .filter(|&own| again && !self.is_followed(own, viewer));
        if let Some(own) = own {
            self.enter(viewer, own, changes);
        }

        for (class, zone) in (0..).zip(&self.zones) {
            for cell in errand.newly_within(self.grid, zone.inner) {
                let near = self
                    .objects
                    .listed_in(class, cell)
                    .filter(|&(_, at)| home.distance(at) <= zone.inner);
                let gained = near.filter(|&(o, _)| {
                    !self.is_followed(o, viewer) && self.may_know(viewer, o, sees)
                });
                batch.extend(gained.map(|(object, _)| object));
            }
        }
        for object in batch.drain(..) {
            self.enter(viewer, object, changes);
        }
        self.batch = batch;
    }

    /// An object has come or moved, or was hidden or revealed: who loses it from sight, into whose
    /// does it come?
    fn show(&mut self, errand: Errand, sees: &impl Sees, changes: &mut Vec<Change>) {
        let Errand {
            slot: object,
            to: cell,
            again,
            ..
        } = errand;
        let zone = self.zones[usize::from(errand.class)];
        let mut batch = std::mem::take(&mut self.batch);

        let is_near = |viewer| self.viewers.cell(viewer).distance(cell) <= zone.outer;
        let followers = self.objects.with(object).as_slice().iter().copied();
        batch.extend(
            followers.filter(|&viewer| !self.keeps(viewer, object, is_near(viewer), again, sees)),
        );
        for viewer in batch.drain(..) {
            self.leave(viewer, object, changes);
        }

        if again {
            batch.extend(
                self.owners(object)
                    .filter(|&viewer| !self.is_followed(object, viewer)),
            );
            for viewer in batch.drain(..) {
                self.enter(viewer, object, changes);
            }
        }

        for home in errand.newly_within(self.grid, zone.inner) {
            let near = self.viewers.listed_in(0, home).map(|(viewer, _)| viewer);
            let gained =
                near.filter(|&v| !self.is_followed(object, v) && self.may_know(v, object, sees));
            batch.extend(gained);
        }
        for viewer in batch.drain(..) {
            self.enter(viewer, object, changes);
        }
        self.batch = batch;
    }

    /// Whether one that is followed still is. What `sees` says is taken to hold unless it is to be
    /// asked again.
    fn keeps(
        &self,
        viewer: Slot,
        object: Slot,
        is_near: bool,
        again: bool,
        sees: &impl Sees,
    ) -> bool {
        if is_near && !again {
            return true;
        }
        self.is_own(viewer, object) || is_near && self.may_know(viewer, object, sees)
    }

    fn may_know(&self, viewer: Slot, object: Slot, sees: &impl Sees) -> bool {
        self.is_own(viewer, object)
            || sees.sees(*self.viewers.with(viewer), self.objects.id(object))
    }

    fn is_own(&self, viewer: Slot, object: Slot) -> bool {
        *self.viewers.with(viewer) == self.objects.id(object)
    }

    /// The viewers whose avatar the object is.
    fn owners(&self, object: Slot) -> impl Iterator<Item = Slot> + '_ {
        let object = self.objects.id(object);
        let pairs = self
            .viewers_of
            .range((object, ClientId(0))..=(object, ClientId(u32::MAX)));
        pairs.map(|&(_, viewer)| {
            self.viewers
                .slot(viewer)
                .expect("a viewer that has an avatar is there")
        })
    }

    fn enter(&mut self, viewer: Slot, object: Slot, changes: &mut Vec<Change>) {
        self.objects.with_mut(object).insert(viewer);
        changes.push(Change::Enter {
            viewer: self.viewers.id(viewer),
            object: self.objects.id(object),
        });
    }

    fn leave(&mut self, viewer: Slot, object: Slot, changes: &mut Vec<Change>) {
        self.objects.with_mut(object).remove(viewer);
        changes.push(Change::Leave {
            viewer: self.viewers.id(viewer),
            object: self.objects.id(object),
        });
    }
}
