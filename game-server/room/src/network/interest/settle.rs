//! Derives the changes of interest from the present cells: the part of `Interest` that decides.
//!
//! Each pair that may have changed is judged by the present cells of both, so a pair may come up
//! twice without harm. The order makes sure that no pair is missed: first viewers check the lists,
//! which still hold objects at their cells before the moves of this tick; then objects move to
//! their new lists and check the viewers, by their new home cells. If a pair was apart and is near,
//! or was near and is apart, one of the two has moved and finds it.

use super::cell_index::PendingCheck;
use super::slot_map::SlotIndex;
use super::{Interest, InterestChange, Visibility, avatar_range};
use crate::logic::sight::Sight;

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
        let viewer = check.slot;
        let home = check.to;
        let recheck = check.recheck;
        let avatar = self.avatar_slot(viewer);
        // Both are complete before the first change, so nothing is asked about twice.
        let (mut lost, mut gained) =
            (std::mem::take(&mut self.lost), std::mem::take(&mut self.gained));

        for (class, area) in (0..).zip(&self.areas) {
            let loses = |object, at| {
                let is_near = home.distance(at) <= area.outer;
                !visibility.is_removed(self.objects.id(object))
                    && !self.stays_followed(viewer, object, is_near, recheck, visibility)
            };
            let gains = |object, at| {
                home.distance(at) <= area.inner
                    && Some(object) != avatar
                    && self.sees(viewer, object, Sight::New, visibility)
            };
            // What it loses is in the cells that it leaves, what it gains in those that it enters.
            // Both are the same zones if it has not moved: then one pass does.
            let has_moved = check.from != Some(home);
            for cell in check.cells_left(&self.objects, class, area.outer) {
                for (object, at) in self.objects.members_of(class, cell) {
                    if self.is_followed(object, viewer) {
                        lost.extend(loses(object, at).then_some(object));
                    } else if !has_moved {
                        gained.extend(gains(object, at).then_some(object));
                    }
                }
            }
            if has_moved {
                for cell in check.cells_entered(&self.objects, class, area.inner) {
                    let others = self.objects.members_of(class, cell);
                    let gained_here = others
                        .filter(|&(o, at)| !self.is_followed(o, viewer) && gains(o, at))
                        .map(|(object, _)| object);
                    gained.extend(gained_here);
                }
            }
        }

        for object in lost.drain(..) {
            self.leave(viewer, object, changes);
        }
        if let Some(avatar) = avatar.filter(|&avatar| recheck && !self.is_followed(avatar, viewer))
        {
            self.enter(viewer, avatar, changes);
        }
        for object in gained.drain(..) {
            self.enter(viewer, object, changes);
        }
        (self.lost, self.gained) = (lost, gained);
    }

    /// Checks an object that is new, has moved, or that other viewers may see now: which viewers
    /// lose it and which gain it.
    fn check_object(
        &mut self,
        check: PendingCheck,
        visibility: &impl Visibility,
        changes: &mut Vec<InterestChange>,
    ) {
        let object = check.slot;
        let cell = check.to;
        let recheck = check.recheck;
        let area = self.areas[usize::from(check.class)];
        let (mut lost, mut gained) =
            (std::mem::take(&mut self.lost), std::mem::take(&mut self.gained));

        let followers = self.objects.data(object).as_slice().iter().copied();
        lost.extend(followers.filter(|&viewer| {
            let is_near = self.viewers.cell(viewer).distance(cell) <= area.outer;
            !self.stays_followed(viewer, object, is_near, recheck, visibility)
        }));
        if recheck {
            let own = self.viewers_of_avatar(object);
            gained.extend(own.filter(|&viewer| !self.is_followed(object, viewer)));
        }
        for home in check.cells_entered(&self.viewers, 0, area.inner) {
            let near = self.viewers.members_of(0, home).map(|(viewer, _)| viewer);
            gained.extend(near.filter(|&viewer| {
                !self.is_own_avatar(viewer, object)
                    && !self.is_followed(object, viewer)
                    && self.sees(viewer, object, Sight::New, visibility)
            }));
        }

        for viewer in lost.drain(..) {
            self.leave(viewer, object, changes);
        }
        for viewer in gained.drain(..) {
            self.enter(viewer, object, changes);
        }
        (self.lost, self.gained) = (lost, gained);
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
        self.is_own_avatar(viewer, object)
            || is_near && (!recheck || self.sees(viewer, object, Sight::Kept, visibility))
    }

    fn sees(
        &self,
        viewer: SlotIndex,
        object: SlotIndex,
        sight: Sight,
        visibility: &impl Visibility,
    ) -> bool {
        visibility.can_see(*self.viewers.data(viewer), self.objects.id(object), sight)
    }

    fn is_own_avatar(&self, viewer: SlotIndex, object: SlotIndex) -> bool {
        *self.viewers.data(viewer) == self.objects.id(object)
    }

    /// The viewers that have the object as their avatar.
    fn viewers_of_avatar(&self, object: SlotIndex) -> impl Iterator<Item = SlotIndex> + '_ {
        let object = self.objects.id(object);
        let pairs = self.viewers_by_avatar.range(avatar_range(object));
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
