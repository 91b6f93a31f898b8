//! Derives the changes of interest from the present cells: the part of `Interest` that decides.
//!
//! Each pair that may have changed is judged by the present cells of both, so a pair may come up
//! twice without harm. The order makes sure that no pair is missed: first viewers check the lists,
//! which still hold objects at their cells before the moves of this tick; then objects move to
//! their new lists and check the viewers, by their new home cells. If a pair was apart and is near,
//! or was near and is apart, one of the two has moved and finds it.

use ambit_proto::ids::ClientId;

use super::cell_index::PendingCheck;
use super::slot_map::SlotIndex;
use super::{Interest, InterestChange, Visibility};

impl Interest {
    /// Appends the changes that follow from all that was noted since the last call. For one viewer:
    /// first the changes of its own move (leaves, its avatar if that is new, enters; class by class
    /// and cell by cell, in a cell the latest arrival first), then the changes of objects, in the
    /// order in which they were noted.
    pub fn settle(&mut self, visibility: &impl Visibility, changes: &mut Vec<InterestChange>) {
        let mut checks = std::mem::take(&mut self.pending_checks);
        self.viewers.apply_moves(&mut checks);
        for check in checks.drain(..) {
            self.check_viewer(check, visibility, changes);
        }
        self.objects.apply_moves(&mut checks);
        for check in checks.drain(..) {
            self.check_object(check, visibility, changes);
        }
        self.pending_checks = checks;
    }

    /// Checks a viewer that is new, has moved, or whose visibility may have changed: which objects
    /// it loses and which it gains.
    fn check_viewer(
        &mut self,
        check: PendingCheck,
        visibility: &impl Visibility,
        changes: &mut Vec<InterestChange>,
    ) {
        let (viewer, home, recheck) = (check.slot, check.to, check.recheck);
        let mut batch = std::mem::take(&mut self.batch);

        for (class, area) in (0..).zip(&self.areas) {
            for cell in check.cells_left(self.grid, area.outer) {
                let followed = self
                    .objects
                    .members_of(class, cell)
                    .filter(|&(o, _)| self.is_followed(o, viewer));
                let lost = followed.filter(|&(o, at)| {
                    !self.stays_followed(
                        viewer,
                        o,
                        home.distance(at) <= area.outer,
                        recheck,
                        visibility,
                    )
                });
                batch.extend(lost.map(|(object, _)| object));
            }
        }
        for object in batch.drain(..) {
            self.leave(viewer, object, changes);
        }

        let avatar =
            self.avatar_slot(viewer).filter(|&avatar| recheck && !self.is_followed(avatar, viewer));
        if let Some(avatar) = avatar {
            self.enter(viewer, avatar, changes);
        }

        for (class, area) in (0..).zip(&self.areas) {
            for cell in check.cells_entered(self.grid, area.inner) {
                let near = self
                    .objects
                    .members_of(class, cell)
                    .filter(|&(_, at)| home.distance(at) <= area.inner);
                let gained = near.filter(|&(o, _)| {
                    !self.is_followed(o, viewer) && self.may_follow(viewer, o, visibility)
                });
                batch.extend(gained.map(|(object, _)| object));
            }
        }
        for object in batch.drain(..) {
            self.enter(viewer, object, changes);
        }
        self.batch = batch;
    }

    /// Checks an object that is new, has moved, or was hidden or revealed: which viewers lose it
    /// and which gain it.
    fn check_object(
        &mut self,
        check: PendingCheck,
        visibility: &impl Visibility,
        changes: &mut Vec<InterestChange>,
    ) {
        let (object, cell, recheck) = (check.slot, check.to, check.recheck);
        let area = self.areas[usize::from(check.class)];
        let mut batch = std::mem::take(&mut self.batch);

        let is_near = |viewer| self.viewers.cell(viewer).distance(cell) <= area.outer;
        let followers = self.objects.data(object).as_slice().iter().copied();
        batch.extend(followers.filter(|&viewer| {
            !self.stays_followed(viewer, object, is_near(viewer), recheck, visibility)
        }));
        for viewer in batch.drain(..) {
            self.leave(viewer, object, changes);
        }

        if recheck {
            batch.extend(
                self.viewers_of_avatar(object).filter(|&viewer| !self.is_followed(object, viewer)),
            );
            for viewer in batch.drain(..) {
                self.enter(viewer, object, changes);
            }
        }

        for home in check.cells_entered(self.grid, area.inner) {
            let near = self.viewers.members_of(0, home).map(|(viewer, _)| viewer);
            let gained = near.filter(|&v| {
                !self.is_followed(object, v) && self.may_follow(v, object, visibility)
            });
            batch.extend(gained);
        }
        for viewer in batch.drain(..) {
            self.enter(viewer, object, changes);
        }
        self.batch = batch;
    }

    /// Whether a followed object stays followed. The last answer of `visibility` is taken to hold
    /// unless `recheck` is set.
    fn stays_followed(
        &self,
        viewer: SlotIndex,
        object: SlotIndex,
        is_near: bool,
        recheck: bool,
        visibility: &impl Visibility,
    ) -> bool {
        if is_near && !recheck {
            return true;
        }
        self.is_own_avatar(viewer, object) || is_near && self.may_follow(viewer, object, visibility)
    }

    fn may_follow(
        &self,
        viewer: SlotIndex,
        object: SlotIndex,
        visibility: &impl Visibility,
    ) -> bool {
        self.is_own_avatar(viewer, object)
            || visibility.can_see(*self.viewers.data(viewer), self.objects.id(object))
    }

    fn is_own_avatar(&self, viewer: SlotIndex, object: SlotIndex) -> bool {
        *self.viewers.data(viewer) == self.objects.id(object)
    }

    /// The viewers that have the object as their avatar.
    fn viewers_of_avatar(&self, object: SlotIndex) -> impl Iterator<Item = SlotIndex> + '_ {
        let object = self.objects.id(object);
        let pairs =
            self.viewers_by_avatar.range((object, ClientId(0))..=(object, ClientId(u32::MAX)));
        pairs.map(|&(_, viewer)| self.viewers.slot(viewer).expect("a viewer with an avatar exists"))
    }

    fn enter(&mut self, viewer: SlotIndex, object: SlotIndex, changes: &mut Vec<InterestChange>) {
        self.objects.data_mut(object).insert(viewer);
        changes.push(InterestChange::Enter {
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
