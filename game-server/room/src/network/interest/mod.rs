//! Area of interest: which viewer follows which object.
//!
//! Positions of objects and viewers and changes of visibility go in ([`Interest::change_cell`] and
//! its kin, which only take note). [`Interest::settle`] derives the changes, the `Enter`s and
//! `Leave`s, and appends them to a buffer of the caller. All that is noted between two calls of
//! `settle` counts as simultaneous. So the order of moves within a tick has no effect, and a viewer
//! and an object that cross a cell border side by side stay in sight. No clock, socket or actor; a
//! move inside a cell does not concern this module, so it costs nothing.
//!
//! Around the home cell of a viewer lie an inner zone and, around that, an outer ring; their widths
//! depend on the class of the object. The ring gives hysteresis: an object enters at the inner zone
//! and leaves beyond the ring. Invariants, checked against brute force after every `settle` of
//! random scenes:
//! 1. For one viewer and one object, `Enter` and `Leave` alternate, and `Enter` comes first.
//! 2. `Enter` exactly when an object that is not followed is in the inner zone and visible; `Leave`
//!    exactly when a followed one is outside the outer zone, removed, or not visible any more. A
//!    viewer follows its own avatar wherever it is.
//! 3. What [`Visibility`] hides is never announced, nor does it affect the order of other changes:
//!    the order in which a viewer gets two objects depends only on the paths of these two and its
//!    own.
//! 4. A cycle of `Leave` and `Enter` of a pair costs metres of travel
//!    ([`AreaOfInterest::travel_per_cycle_m`]), provided that the outer zone is wider than the
//!    inner one and home cells move by `Grid::home_cell` with a margin: 4 m along the axes with
//!    cells of 10 m and a margin of 1 m, 2.83 m round a corner. The proof is in `hysteresis.rs`.
//!
//! `Visibility` is asked when a pair comes into the inner zone, and again for the pairs of an
//! object or viewer that `refresh` or `refresh_viewer` names, as far as they follow each other or
//! are in the inner zone; in between its answers are taken to hold. So nothing is asked about what
//! is outside the outer zone. Unknown ids are ignored: objects and viewers may be removed within a
//! tick.
//!
//! Units: whole cells; metres end at `proto::cell`. Cost: for an object that changes cells, a check
//! of the viewers whose homes are in the cells that it has come near, and of its followers; for a
//! viewer whose home moves, a check of the objects in the cells that its inner zones gain and its
//! outer zones lose. Empty cells cost a bit each. Memory: four bytes for each cell and class and
//! for each cell, and 64 bytes for each object or viewer; it is kept and reused. Source:
//! "Architectures de développement adaptées aux MMOGs" (Project Deus), on interest management by
//! cells. There each cell lists the clients that subscribe to it. Here each cell lists the viewers
//! that have it as their home, and its subscribers are those around it; so one list changes when a
//! viewer moves, and not ten.

mod cell_index;
mod hysteresis;
mod occupied_cells;
mod settle;
mod slot_map;
mod small_set;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use ambit_proto::cell::{Cell, Grid};
use ambit_proto::ids::{ClientId, ObjectId};

use crate::logic::sight::Sight;
use cell_index::{CellIndex, PendingCheck};
use slot_map::SlotIndex;
use small_set::SmallSet;

pub use slot_map::IdHasher;

/// A change of what one viewer follows, in the order of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InterestChange {
    /// From now on `viewer` follows `object`.
    Enter {
        /// The viewer that gains the object.
        viewer: ClientId,
        /// The object that comes into sight.
        object: ObjectId,
    },
    /// From now on `viewer` does not follow `object`.
    Leave {
        /// The viewer that loses the object.
        viewer: ClientId,
        /// The object that goes out of sight.
        object: ObjectId,
    },
}

/// The area of interest for a class of objects, in cells around the viewer's home cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AreaOfInterest {
    /// Radius of the inner zone, in which an object comes into sight: 1 is a block of 3 x 3.
    pub inner: u16,
    /// Radius of the outer zone, beyond which an object goes out of sight; at least `inner`.
    pub outer: u16,
}

/// Which avatar can see which object, apart from distance.
pub trait Visibility {
    /// Whether a client that sees through the avatar `viewer` may know of `object`. `sight` says
    /// whether it follows the object. An object that is visible with `New` is also visible with
    /// `Kept`.
    fn can_see(&self, viewer: ObjectId, object: ObjectId, sight: Sight) -> bool;

    /// Whether an object was removed in this tick. Who followed it does so until
    /// [`Interest::remove_object`]: what happened to it last is for them.
    fn is_removed(&self, object: ObjectId) -> bool {
        let _ = object;
        false
    }
}

impl<F: Fn(ObjectId, ObjectId, Sight) -> bool> Visibility for F {
    fn can_see(&self, viewer: ObjectId, object: ObjectId, sight: Sight) -> bool {
        self(viewer, object, sight)
    }
}

/// Which viewer follows which object; see the module.
pub struct Interest {
    /// By class.
    areas: Vec<AreaOfInterest>,
    /// Each with the viewers that follow it. This relation is stored only here: what a viewer
    /// follows is searched around its home cell.
    objects: CellIndex<ObjectId, SmallSet>,
    /// By home cell, each with its avatar.
    viewers: CellIndex<ClientId, ObjectId>,
    /// Viewers by avatar; the avatar may be added later than the viewer.
    viewers_by_avatar: BTreeSet<(ObjectId, ClientId)>,
    /// The checks that `settle` carries out; empty between calls, like the next buffer.
    pending_checks: Vec<PendingCheck>,
    /// The viewers that lose one object, or the objects that one viewer loses.
    lost: Vec<SlotIndex>,
    /// Likewise those that gain it, or that it gains.
    gained: Vec<SlotIndex>,
}

impl Interest {
    /// An empty map without viewers. One area of interest for each class of objects.
    ///
    /// # Panics
    /// When there is no area, or one whose outer radius is smaller than its inner one.
    pub fn new(grid: &Grid, areas: &[AreaOfInterest]) -> Self {
        assert!(!areas.is_empty(), "there must be at least one area of interest");
        assert!(
            areas.iter().all(|area| area.inner <= area.outer),
            "the outer radius must not be smaller than the inner one"
        );
        Self {
            areas: areas.to_vec(),
            objects: CellIndex::new(*grid, areas.len()),
            viewers: CellIndex::new(*grid, 1),
            viewers_by_avatar: BTreeSet::new(),
            pending_checks: Vec::new(),
            lost: Vec::new(),
            gained: Vec::new(),
        }
    }

    /// Adds an object to the map. `class` is an index into the areas of interest.
    ///
    /// # Panics
    /// When the object is on the map already, or there is no such class.
    pub fn add_object(&mut self, object: ObjectId, class: u8, cell: Cell) {
        assert!(usize::from(class) < self.areas.len(), "class {class} has no area of interest");
        self.objects.add(object, class, cell);
    }

    /// Removes an object from the map, and appends the `Leave`s of its followers to `changes` at
    /// once.
    pub fn remove_object(&mut self, object: ObjectId, changes: &mut Vec<InterestChange>) {
        let Some(slot) = self.objects.remove(object) else {
            return;
        };
        let followers = self.objects.data_mut(slot);
        let to_leave = |&viewer| InterestChange::Leave { viewer: self.viewers.id(viewer), object };
        changes.extend(followers.as_slice().iter().map(to_leave));
        followers.clear();
    }

    /// Moves an object to another cell, near or far.
    pub fn change_cell(&mut self, object: ObjectId, to: Cell) {
        self.objects.relocate(object, to);
    }

    /// Notes that other viewers may see the object now: it is checked again for all that are near.
    pub fn refresh(&mut self, object: ObjectId) {
        self.objects.request_recheck(object);
    }

    /// Adds a viewer that sees through `avatar`, which may be on the map or be added later. The
    /// next `settle` reports its avatar and then its whole inner zone.
    ///
    /// # Panics
    /// When the viewer exists already.
    pub fn add_viewer(&mut self, viewer: ClientId, avatar: ObjectId, home: Cell) {
        let slot = self.viewers.add(viewer, 0, home);
        *self.viewers.data_mut(slot) = avatar;
        self.viewers_by_avatar.insert((avatar, viewer));
    }

    /// Removes a viewer, without changes: no client is left to get them.
    pub fn remove_viewer(&mut self, viewer: ClientId) {
        let Some(slot) = self.viewers.slot(viewer) else {
            return;
        };
        let mut lost = std::mem::take(&mut self.lost);
        lost.extend(self.followed_by(slot));
        for object in lost.drain(..) {
            self.objects.data_mut(object).remove(slot);
        }
        self.lost = lost;
        self.viewers_by_avatar.remove(&(*self.viewers.data(slot), viewer));
        self.viewers.remove(viewer);
    }

    /// Moves the cell around which a viewer's zones lie; `Grid::home_cell` decides when.
    pub fn move_home(&mut self, viewer: ClientId, to: Cell) {
        self.viewers.relocate(viewer, to);
    }

    /// A viewer sees through another avatar; all that are near are checked again. Nothing changes
    /// for a client that is no viewer.
    pub fn change_avatar(&mut self, viewer: ClientId, to: ObjectId) {
        if let Some(slot) = self.viewers.slot(viewer) {
            let from = std::mem::replace(self.viewers.data_mut(slot), to);
            self.viewers_by_avatar.remove(&(from, viewer));
            self.viewers_by_avatar.insert((to, viewer));
            self.viewers.request_recheck(viewer);
        }
    }

    /// Notes that the viewer may see other objects now: all that are near are checked again.
    pub fn refresh_viewer(&mut self, viewer: ClientId) {
        self.viewers.request_recheck(viewer);
    }

    /// The same for each viewer that sees through `avatar`.
    pub fn refresh_viewers_of(&mut self, avatar: ObjectId) {
        let pairs = avatar_range(avatar);
        for &(_, viewer) in self.viewers_by_avatar.range(pairs) {
            self.viewers.request_recheck(viewer);
        }
    }

    /// `None` for a client that is no viewer.
    pub fn home(&self, viewer: ClientId) -> Option<Cell> {
        self.viewers.slot(viewer).map(|slot| self.viewers.cell(slot))
    }

    /// The viewers that follow an object; none when it is not on the map.
    pub fn followers(&self, object: ObjectId) -> impl Iterator<Item = ClientId> + '_ {
        let followers =
            self.objects.slot(object).map_or(&[][..], |slot| self.objects.data(slot).as_slice());
        followers.iter().map(|&viewer| self.viewers.id(viewer))
    }

    /// The dense slot of a viewer, for as long as it exists: what [`Interest::follower_slots`]
    /// contains.
    pub fn viewer_slot(&self, viewer: ClientId) -> Option<u32> {
        self.viewers.slot(viewer)
    }

    /// As [`Interest::followers`], by their slots and in ascending order.
    pub fn follower_slots(&self, object: ObjectId) -> &[u32] {
        self.objects.slot(object).map_or(&[][..], |slot| self.objects.data(slot).as_slice())
    }

    /// What a viewer follows, from cell to cell; nothing when it does not exist. Cost: all objects
    /// in its outer zones.
    pub fn followed(&self, viewer: ClientId) -> impl Iterator<Item = ObjectId> + '_ {
        let objects = self.viewers.slot(viewer).into_iter().flat_map(|slot| self.followed_by(slot));
        objects.map(|object| self.objects.id(object))
    }

    /// The area of interest of a class.
    pub fn area(&self, class: u8) -> AreaOfInterest {
        self.areas[usize::from(class)]
    }

    /// Whether a viewer follows an object.
    pub fn follows(&self, viewer: ClientId, object: ObjectId) -> bool {
        let pair = self.viewers.slot(viewer).zip(self.objects.slot(object));
        pair.is_some_and(|(viewer, object)| self.is_followed(object, viewer))
    }

    fn is_followed(&self, object: SlotIndex, viewer: SlotIndex) -> bool {
        self.objects.data(object).contains(viewer)
    }

    /// The avatar of a viewer, if it is on the map.
    fn avatar_slot(&self, viewer: SlotIndex) -> Option<SlotIndex> {
        self.objects.slot(*self.viewers.data(viewer))
    }

    /// What a viewer follows: some of the objects in its outer zones, and its own avatar wherever
    /// that is.
    fn followed_by(&self, viewer: SlotIndex) -> impl Iterator<Item = SlotIndex> + '_ {
        let avatar_slot = self.avatar_slot(viewer);
        let classes =
            self.viewers.listed_cell(viewer).into_iter().flat_map(|home| {
                (0..).zip(&self.areas).map(move |(class, area)| (home, class, area))
            });
        let nearby = classes.flat_map(move |(home, class, area)| {
            let cells = self.objects.occupied_cells(class, home, area.outer);
            cells
                .flat_map(move |cell| self.objects.members_of(class, cell))
                .map(|(object, _)| object)
        });
        let others = nearby.filter(move |&object| Some(object) != avatar_slot);
        others.chain(avatar_slot).filter(move |&object| self.is_followed(object, viewer))
    }
}

/// The pairs of an avatar in `viewers_by_avatar`.
fn avatar_range(avatar: ObjectId) -> RangeInclusive<(ObjectId, ClientId)> {
    (avatar, ClientId(0))..=(avatar, ClientId(u32::MAX))
}

#[cfg(test)]
impl Interest {
    /// Entries that fit without another allocation.
    fn capacity(&self) -> usize {
        let scratch =
            self.pending_checks.capacity() + self.lost.capacity() + self.gained.capacity();
        let ((objects, followers), (viewers, _)) =
            (self.objects.capacity(), self.viewers.capacity());
        let followers: usize = followers.map(SmallSet::capacity).sum();
        scratch + objects + viewers + followers
    }
}

#[cfg(test)]
mod tests;
