//! From where things are to what that changes: the part of `Interest` that decides.
//!
//! Each pair that comes into question is judged by where both are now, so it may come up twice
//! without harm. That none is missed needs the order: viewers look into the lists where objects
//! stood before this moment's moves, then objects get onto their new lists and look at where
//! viewers live now. A pair that was apart and is near, or was near and is apart, was brought so by
//! one of the two.

use ambit_proto::ids::ClientId;

use super::cell_index::PendingCheck;
use super::slot_map::SlotIndex;
use super::{Interest, InterestChange, Visibility};

impl Interest {
    /// Appends what follows from all that was noted since the last call. For one viewer: first what
    /// its own move brings (what it loses, its avatar if that is new, what it gains; class by class
    /// and cell by cell, in a cell the latest arrival first), then what objects do, in the order in
    /// which it was noted.
    pub fn settle(&mut self, sees: &impl Visibility, changes: &mut Vec<InterestChange>) {
        let mut errands = std::mem::take(&mut self.pending_checks);
        self.viewers.apply_moves(&mut errands);
        for errand in errands.drain(..) {
            self.check_viewer(errand, sees, changes);
        }
        self.objects.apply_moves(&mut errands);
        for errand in errands.drain(..) {
            self.check_object(errand, sees, changes);
        }
        self.pending_checks = errands;
    }

    /// A viewer has come or moved, or sees with other eyes: what does it lose from sight, what
    /// comes into it?
    fn check_viewer(
        &mut self,
        errand: PendingCheck,
        sees: &impl Visibility,
        changes: &mut Vec<InterestChange>,
    ) {
        let PendingCheck {
            slot: viewer,
            to: home,
            recheck: again,
            ..
        } = errand;
        let mut batch = std::mem::take(&mut self.batch);

        for (class, zone) in (0..).zip(&self.areas) {
            for cell in errand.cells_left(self.grid, zone.outer) {
                let followed = self
                    .objects
                    .members_of(class, cell)
                    .filter(|&(o, _)| self.is_followed(o, viewer));
                let lost = followed.filter(|&(o, at)| {
                    !self.stays_followed(viewer, o, home.distance(at) <= zone.outer, again, sees)
                });
                batch.extend(lost.map(|(object, _)| object));
            }
        }
        for object in batch.drain(..) {
            self.leave(viewer, object, changes);
        }

        let own = self
            .avatar_slot(viewer)
            .filter(|&own| again && !self.is_followed(own, viewer));
        if let Some(own) = own {
            self.enter(viewer, own, changes);
        }

        for (class, zone) in (0..).zip(&self.areas) {
            for cell in errand.cells_entered(self.grid, zone.inner) {
                let near = self
                    .objects
                    .members_of(class, cell)
                    .filter(|&(_, at)| home.distance(at) <= zone.inner);
                let gained = near.filter(|&(o, _)| {
                    !self.is_followed(o, viewer) && self.may_follow(viewer, o, sees)
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
    fn check_object(
        &mut self,
        errand: PendingCheck,
        sees: &impl Visibility,
        changes: &mut Vec<InterestChange>,
    ) {
        let PendingCheck {
            slot: object,
            to: cell,
            recheck: again,
            ..
        } = errand;
        let zone = self.areas[usize::from(errand.class)];
        let mut batch = std::mem::take(&mut self.batch);

        let is_near = |viewer| self.viewers.cell(viewer).distance(cell) <= zone.outer;
        let followers = self.objects.data(object).as_slice().iter().copied();
        batch.extend(
            followers.filter(|&viewer| {
                !self.stays_followed(viewer, object, is_near(viewer), again, sees)
            }),
        );
        for viewer in batch.drain(..) {
            self.leave(viewer, object, changes);
        }

        if again {
            batch.extend(
                self.viewers_of_avatar(object)
                    .filter(|&viewer| !self.is_followed(object, viewer)),
            );
            for viewer in batch.drain(..) {
                self.enter(viewer, object, changes);
            }
        }

        for home in errand.cells_entered(self.grid, zone.inner) {
            let near = self.viewers.members_of(0, home).map(|(viewer, _)| viewer);
            let gained =
                near.filter(|&v| !self.is_followed(object, v) && self.may_follow(v, object, sees));
            batch.extend(gained);
        }
        for viewer in batch.drain(..) {
            self.enter(viewer, object, changes);
        }
        self.batch = batch;
    }

    /// Whether one that is followed still is. What `sees` says is taken to hold unless it is to be
    /// asked again.
    fn stays_followed(
        &self,
        viewer: SlotIndex,
        object: SlotIndex,
        is_near: bool,
        again: bool,
        sees: &impl Visibility,
    ) -> bool {
        if is_near && !again {
            return true;
        }
        self.is_own_avatar(viewer, object) || is_near && self.may_follow(viewer, object, sees)
    }

    fn may_follow(&self, viewer: SlotIndex, object: SlotIndex, sees: &impl Visibility) -> bool {
        self.is_own_avatar(viewer, object)
            || sees.can_see(*self.viewers.data(viewer), self.objects.id(object))
    }

    fn is_own_avatar(&self, viewer: SlotIndex, object: SlotIndex) -> bool {
        *self.viewers.data(viewer) == self.objects.id(object)
    }

    /// The viewers whose avatar the object is.
    fn viewers_of_avatar(&self, object: SlotIndex) -> impl Iterator<Item = SlotIndex> + '_ {
        let object = self.objects.id(object);
        let pairs = self
            .viewers_by_avatar
            .range((object, ClientId(0))..=(object, ClientId(u32::MAX)));
        pairs.map(|&(_, viewer)| {
            self.viewers
                .slot(viewer)
                .expect("a viewer that has an avatar is there")
        })
    }

    fn enter(&mut self, viewer: SlotIndex, object: SlotIndex, changes: &mut Vec<InterestChange>) {
        self.objects.data_mut(object).insert(viewer);
        changes.push(InterestChange::ObjectEntered {
            viewer: self.viewers.id(viewer),
            object: self.objects.id(object),
        });
    }

    fn leave(&mut self, viewer: SlotIndex, object: SlotIndex, changes: &mut Vec<InterestChange>) {
        self.objects.data_mut(object).remove(viewer);
        changes.push(InterestChange::Leave {
            viewer: self.viewers.id(viewer),
            object: self.objects.id(object),
        });
    }
}
