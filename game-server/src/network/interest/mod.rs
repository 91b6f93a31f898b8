//! Who follows what.
//!
//! Where things are, who looks on and who might have changed looks goes in
//! ([`Interest::change_cell`] and its kin, which only take note); [`Interest::settle`] says what
//! that changes: the `ObjectEntered`s and `Leave`s, in a buffer of the caller. All that is noted
//! between two calls of `settle` counts as one moment, so the order in which things move within a
//! tick decides nothing, and two that walk side by side across a border do not lose each other. No
//! clock, socket or actor; a move inside a cell never gets here, so it costs nothing.
//!
//! Around the home cell of a viewer lie an inner zone and, around that, an outer ring; how wide
//! they are depends on the class of the object. Invariants (design, section 5), checked against
//! brute force after every `settle` of random scenes:
//! 1. For one viewer and one object, `ObjectEntered` and `Leave` alternate, and `ObjectEntered`
//!    comes first.
//! 2. `ObjectEntered` exactly when an object that is not followed is in the inner zone and seen;
//!    `Leave` exactly when a followed one is outside the outer zone, gone, or no longer seen. A
//!    viewer follows its own avatar wherever it is.
//! 3. What [`Visibility`] hides is never announced, nor does it show in the order of what is: the
//!    order in which a viewer is told of two objects depends on nothing but the way of these two
//!    and its own.
//! 4. A cycle of `Leave` and `ObjectEntered` of a pair costs metres of travel
//!    ([`Zone::travel_per_cycle_m`]), provided that the outer zone is wider than the inner one and
//!    homes move by `Grid::home` with a margin: 4 m along the axes with cells of 10 m and a margin
//!    of 1 m, 2.83 m round a corner. The proof stands in `crossing.rs`.
//!
//! `Visibility` is asked when a pair comes into the inner zone, and again for all pairs of whoever
//! `refresh` or `refresh_viewer` names; in between its answers are taken to hold. Ids that are not
//! there are ignored: things come and go within a tick.
//!
//! Units: whole cells; metres end at `proto::cell`. Cost: an object that changes cells costs a look
//! at the viewers that live in the cells that it has come near, and at its followers; a viewer
//! whose home moves costs a look at the objects in the cells that have come into its inner zones
//! and gone out of its outer ones. Memory: four bytes for each cell and class and for each cell,
//! and a line of 64 bytes for each thing present; it is kept and used again. PoseSource: reference
//! 003, section 3.5. There each cell holds the clients that subscribe to it; here it holds those
//! that live in it, and its subscribers are those that live around it, so that one list changes
//! when a viewer moves, and not ten.

mod cell_index;
mod hysteresis;
#[cfg(test)]
mod oracle;
mod settle;
mod slot_map;
mod small_set;

use std::collections::BTreeSet;

use ambit_proto::cell::{Cell, Grid};
use ambit_proto::ids::{ClientId, ObjectId};

use cell_index::{CellIndex, PendingCheck};
use slot_map::SlotIndex;
use small_set::SmallSet;

pub use slot_map::IdHasher;

/// What one viewer is to be told, in the order of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InterestChange {
    /// From now on `viewer` follows `object`.
    ObjectEntered {
        /// Who is told.
        viewer: ClientId,
        /// Of what.
        object: ObjectId,
    },
    /// From now on `viewer` knows nothing of `object`.
    Leave {
        /// Who is told.
        viewer: ClientId,
        /// Of what.
        object: ObjectId,
    },
}

/// How far the objects of a class are seen, in cells around the viewer's home cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AreaOfInterest {
    /// An object comes into sight this near: 1 is a block of 3 x 3.
    pub inner: u16,
    /// It goes out of sight when it is farther than this; at least `inner`.
    pub outer: u16,
}

/// Who can see what, apart from distance.
pub trait Visibility {
    /// Whether somebody who looks through the avatar `viewer` may know of `object`.
    fn can_see(&self, viewer: ObjectId, object: ObjectId) -> bool;
}

impl<F: Fn(ObjectId, ObjectId) -> bool> Visibility for F {
    fn can_see(&self, viewer: ObjectId, object: ObjectId) -> bool {
        self(viewer, object)
    }
}

/// See the module.
pub struct Interest {
    grid: Grid,
    /// By class.
    areas: Vec<AreaOfInterest>,
    /// With the viewers that follow it. That is written down here only: what a viewer follows is
    /// found around its home.
    objects: CellIndex<ObjectId, SmallSet>,
    /// By home, with the avatar.
    viewers: CellIndex<ClientId, ObjectId>,
    /// Whose avatar an object is, or will be when it gets there.
    viewers_by_avatar: BTreeSet<(ObjectId, ClientId)>,
    /// Whose surroundings are to be looked at; empty between calls, as is the next.
    pending_checks: Vec<PendingCheck>,
    /// Viewers that are about to be told of one object, or objects of which one viewer is.
    batch: Vec<SlotIndex>,
}

impl Interest {
    /// Nobody and nothing on a map. One zone for each class of objects.
    ///
    /// # Panics
    /// When there is no zone, or one whose outer radius is smaller than its inner one.
    pub fn new(grid: &Grid, zones: &[AreaOfInterest]) -> Self {
        assert!(!zones.is_empty(), "objects have a class");
        assert!(
            zones.iter().all(|zone| zone.inner <= zone.outer),
            "the outer zone contains the inner one"
        );
        Self {
            grid: *grid,
            areas: zones.to_vec(),
            objects: CellIndex::new(*grid, zones.len()),
            viewers: CellIndex::new(*grid, 1),
            viewers_by_avatar: BTreeSet::new(),
            pending_checks: Vec::new(),
            batch: Vec::new(),
        }
    }

    /// Puts an object on the map. `class` is its place in the list of zones.
    ///
    /// # Panics
    /// When the object is there already, or there is no such class.
    pub fn add_object(&mut self, object: ObjectId, class: u8, cell: Cell) {
        assert!(
            usize::from(class) < self.areas.len(),
            "class {class} has no zone"
        );
        self.objects.add(object, class, cell);
    }

    /// Takes an object off the map; at once, all who follow it are told to `changes`.
    pub fn remove_object(&mut self, object: ObjectId, changes: &mut Vec<InterestChange>) {
        let Some(slot) = self.objects.remove(object) else {
            return;
        };
        let followers = self.objects.data_mut(slot);
        let tell = |&viewer| InterestChange::Leave {
            viewer: self.viewers.id(viewer),
            object,
        };
        changes.extend(followers.as_slice().iter().map(tell));
        followers.clear();
    }

    /// Moves an object to another cell, near or far.
    pub fn change_cell(&mut self, object: ObjectId, to: Cell) {
        self.objects.relocate(object, to);
    }

    /// Who sees the object may have changed: it was hidden or revealed.
    pub fn refresh(&mut self, object: ObjectId) {
        self.objects.request_recheck(object);
    }

    /// Somebody looks on through `avatar`, which may be on the map or get there later. At the next
    /// `settle` the viewer is told of its avatar and then of the whole inner zone.
    ///
    /// # Panics
    /// When the viewer is there already.
    pub fn add_viewer(&mut self, viewer: ClientId, avatar: ObjectId, home: Cell) {
        let slot = self.viewers.add(viewer, 0, home);
        *self.viewers.data_mut(slot) = avatar;
        self.viewers_by_avatar.insert((avatar, viewer));
    }

    /// A viewer is gone; there is nobody left to tell.
    pub fn remove_viewer(&mut self, viewer: ClientId) {
        let Some(slot) = self.viewers.slot(viewer) else {
            return;
        };
        let mut batch = std::mem::take(&mut self.batch);
        batch.extend(self.followed_by(slot));
        for object in batch.drain(..) {
            self.objects.data_mut(object).remove(slot);
        }
        self.batch = batch;
        self.viewers_by_avatar
            .remove(&(*self.viewers.data(slot), viewer));
        self.viewers.remove(viewer);
    }

    /// Moves the cell around which a viewer's zones lie. When to do so is for `Grid::home` to say.
    pub fn move_home(&mut self, viewer: ClientId, to: Cell) {
        self.viewers.relocate(viewer, to);
    }

    /// What the viewer sees may have changed.
    pub fn refresh_viewer(&mut self, viewer: ClientId) {
        self.viewers.request_recheck(viewer);
    }

    /// The home cell of a viewer.
    pub fn home(&self, viewer: ClientId) -> Option<Cell> {
        self.viewers
            .slot(viewer)
            .map(|slot| self.viewers.cell(slot))
    }

    /// Who follows an object; nobody when it is not there.
    pub fn followers(&self, object: ObjectId) -> impl Iterator<Item = ClientId> + '_ {
        let followers = self
            .objects
            .slot(object)
            .map_or(&[][..], |slot| self.objects.data(slot).as_slice());
        followers.iter().map(|&viewer| self.viewers.id(viewer))
    }

    /// The dense number of a viewer, for as long as it is there: what
    /// [`Interest::follower_slots`] goes by.
    pub fn viewer_slot(&self, viewer: ClientId) -> Option<u32> {
        self.viewers.slot(viewer)
    }

    /// As [`Interest::followers`], by their numbers and in the order of those.
    pub fn follower_slots(&self, object: ObjectId) -> &[u32] {
        self.objects
            .slot(object)
            .map_or(&[][..], |slot| self.objects.data(slot).as_slice())
    }

    /// What a viewer follows, from cell to cell; nothing when it is not there. Cost: all that
    /// stands in the outer zones.
    pub fn followed(&self, viewer: ClientId) -> impl Iterator<Item = ObjectId> + '_ {
        let objects = self
            .viewers
            .slot(viewer)
            .into_iter()
            .flat_map(|slot| self.followed_by(slot));
        objects.map(|object| self.objects.id(object))
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

    /// What a viewer follows: some of what stands in its outer zones, and its own avatar wherever
    /// that is.
    fn followed_by(&self, viewer: SlotIndex) -> impl Iterator<Item = SlotIndex> + '_ {
        let own = self.avatar_slot(viewer);
        let classes = self
            .viewers
            .listed_cell(viewer)
            .into_iter()
            .flat_map(|home| {
                (0..)
                    .zip(&self.areas)
                    .map(move |(class, zone)| (home, class, zone))
            });
        let around = classes.flat_map(move |(home, class, zone)| {
            let cells = self.grid.block(home, zone.outer);
            cells
                .flat_map(move |cell| self.objects.members_of(class, cell))
                .map(|(object, _)| object)
        });
        let others = around.filter(move |&object| Some(object) != own);
        others
            .chain(own)
            .filter(move |&object| self.is_followed(object, viewer))
    }
}

#[cfg(test)]
impl Interest {
    /// Entries for which no more memory has to be asked.
    fn capacity(&self) -> usize {
        let scratch = self.pending_checks.capacity() + self.batch.capacity();
        let ((objects, followers), (viewers, _)) =
            (self.objects.capacity(), self.viewers.capacity());
        let followers: usize = followers.map(SmallSet::capacity).sum();
        scratch + objects + viewers + followers
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const ANN: ClientId = ClientId(1);
    const BOB: ClientId = ClientId(2);
    const ANNS: ObjectId = ObjectId(1);
    const BOBS: ObjectId = ObjectId(2);
    const ORC: ObjectId = ObjectId(3);
    const ELF: ObjectId = ObjectId(4);

    const fn cell(column: u16, row: u16) -> Cell {
        Cell { column, row }
    }

    const fn enter(viewer: ClientId, object: ObjectId) -> InterestChange {
        InterestChange::ObjectEntered { viewer, object }
    }

    const fn leave(viewer: ClientId, object: ObjectId) -> InterestChange {
        InterestChange::Leave { viewer, object }
    }

    /// A map of 20 x 20 cells on which all see all, unless a test says otherwise.
    struct Scene {
        interest: Interest,
        unseen: Vec<(ObjectId, ObjectId)>,
    }

    impl Scene {
        fn new() -> Self {
            Self::with_zones(&[AreaOfInterest { inner: 1, outer: 2 }])
        }

        fn with_zones(zones: &[AreaOfInterest]) -> Self {
            Self {
                interest: Interest::new(&Grid::new(200.0, 200.0, 10.0), zones),
                unseen: Vec::new(),
            }
        }

        /// A viewer with its avatar.
        fn viewer(mut self, viewer: ClientId, avatar: ObjectId, at: Cell) -> Self {
            self.interest.add_viewer(viewer, avatar, at);
            self.object(avatar, at)
        }

        fn object(mut self, object: ObjectId, at: Cell) -> Self {
            self.interest.add_object(object, 0, at);
            self.settle();
            self
        }

        fn settle(&mut self) -> Vec<InterestChange> {
            let mut changes = Vec::new();
            let unseen = &self.unseen;
            let sees = |viewer: ObjectId, object: ObjectId| !unseen.contains(&(viewer, object));
            self.interest.settle(&sees, &mut changes);
            changes
        }

        fn walk(&mut self, object: ObjectId, to: Cell) -> Vec<InterestChange> {
            self.interest.change_cell(object, to);
            self.settle()
        }

        fn followed(&self, viewer: ClientId) -> Vec<ObjectId> {
            let mut followed: Vec<_> = self.interest.followed(viewer).collect();
            followed.sort_unstable();
            followed
        }
    }

    #[test]
    fn an_object_and_its_followers_fill_one_cache_line() {
        assert_eq!(size_of::<cell_index::CellMember<SmallSet>>(), 64);
    }

    #[test]
    fn moving_back_and_forth_at_an_edge_causes_no_change() {
        let mut scene = Scene::new()
            .viewer(ANN, ANNS, cell(3, 3))
            .object(ORC, cell(4, 3));
        for _ in 0..10 {
            assert_eq!(scene.walk(ORC, cell(5, 3)), []); // The outer ring: still followed.
            assert_eq!(scene.walk(ORC, cell(4, 3)), []);
        }
    }

    #[test]
    fn an_object_that_only_enters_the_outer_ring_is_not_announced() {
        let mut scene = Scene::new()
            .viewer(ANN, ANNS, cell(3, 3))
            .object(ORC, cell(6, 3));
        assert_eq!(scene.walk(ORC, cell(5, 3)), []);
        assert_eq!(scene.walk(ORC, cell(4, 3)), [enter(ANN, ORC)]);
        assert_eq!(scene.walk(ORC, cell(5, 3)), []);
        assert_eq!(scene.walk(ORC, cell(6, 3)), [leave(ANN, ORC)]);
        assert_eq!(scene.walk(ORC, cell(5, 3)), []);
    }

    #[test]
    fn a_late_joiner_gets_its_avatar_first_then_the_whole_inner_zone() {
        let mut scene = Scene::new()
            .object(ORC, cell(0, 1))
            .object(ELF, cell(2, 0))
            .object(BOBS, cell(1, 1));
        scene.interest.add_object(ANNS, 0, cell(0, 0));
        scene.interest.add_viewer(ANN, ANNS, cell(0, 0));
        assert_eq!(
            scene.settle(),
            [enter(ANN, ANNS), enter(ANN, ORC), enter(ANN, BOBS)]
        );
        assert!(scene.interest.follows(ANN, ORC) && !scene.interest.follows(ANN, ELF));
        assert_eq!(scene.interest.followers(ORC).collect::<Vec<_>>(), [ANN]);
    }

    #[test]
    fn a_viewer_that_moves_gets_the_leaves_first() {
        let mut scene = Scene::new()
            .viewer(ANN, ANNS, cell(3, 3))
            .object(ELF, cell(2, 3))
            .object(ORC, cell(7, 3));
        scene.interest.move_home(ANN, cell(4, 3));
        assert_eq!(scene.settle(), []);
        scene.interest.move_home(ANN, cell(6, 3));
        assert_eq!(scene.settle(), [leave(ANN, ELF), enter(ANN, ORC)]);
    }

    #[test]
    fn a_viewer_follows_its_own_avatar_wherever_it_is() {
        let mut scene = Scene::new().viewer(ANN, ANNS, cell(3, 3));
        scene.unseen.push((ANNS, ANNS));
        scene.interest.refresh(ANNS);
        assert_eq!(scene.walk(ANNS, cell(15, 15)), []);
        scene.interest.refresh_viewer(ANN);
        assert_eq!(scene.settle(), []);

        let mut changes = Vec::new();
        scene.interest.remove_object(ANNS, &mut changes);
        assert_eq!(changes, [leave(ANN, ANNS)]);
        scene.interest.add_object(ANNS, 0, cell(19, 0));
        assert_eq!(scene.settle(), [enter(ANN, ANNS)]);
    }

    #[test]
    fn a_pair_that_crosses_a_border_together_stays_in_sight() {
        let mut scene = Scene::new()
            .viewer(ANN, ANNS, cell(3, 3))
            .object(ORC, cell(4, 3));
        scene.walk(ORC, cell(5, 3));
        for column in 4..10 {
            scene.interest.change_cell(ORC, cell(column + 2, 3));
            scene.interest.change_cell(ANNS, cell(column, 3));
            scene.interest.move_home(ANN, cell(column, 3));
            assert_eq!(scene.settle(), []);
        }
    }

    #[test]
    fn a_hidden_object_leaves_only_the_viewers_that_may_not_see_it() {
        let mut scene = Scene::new()
            .viewer(ANN, ANNS, cell(3, 3))
            .viewer(BOB, BOBS, cell(4, 3));
        assert_eq!(scene.followed(ANN), [ANNS, BOBS]);
        scene.unseen.push((ANNS, BOBS));
        scene.interest.refresh(BOBS);
        assert_eq!(scene.settle(), [leave(ANN, BOBS)]);
        assert_eq!(
            (scene.followed(ANN), scene.followed(BOB)),
            (vec![ANNS], vec![ANNS, BOBS])
        );
        assert_eq!(scene.walk(BOBS, cell(3, 3)), []);
        scene.unseen.clear();
        scene.interest.refresh_viewer(ANN);
        assert_eq!(scene.settle(), [enter(ANN, BOBS)]);
    }

    #[test]
    fn an_object_revealed_in_the_outer_ring_is_not_announced() {
        let mut scene = Scene::new()
            .viewer(ANN, ANNS, cell(3, 3))
            .object(ORC, cell(4, 3));
        scene.walk(ORC, cell(5, 3));
        scene.unseen.push((ANNS, ORC));
        scene.interest.refresh(ORC);
        assert_eq!(scene.settle(), [leave(ANN, ORC)]);
        scene.unseen.clear();
        scene.interest.refresh(ORC);
        assert_eq!(scene.settle(), []);
    }

    #[test]
    fn each_class_has_its_own_area_of_interest() {
        let mut scene = Scene::with_zones(&[
            AreaOfInterest { inner: 0, outer: 1 },
            AreaOfInterest { inner: 4, outer: 6 },
        ]);
        let (mushroom, boss) = (ObjectId(10), ObjectId(11));
        scene.interest.add_object(mushroom, 0, cell(6, 2));
        scene.interest.add_object(boss, 1, cell(6, 2));
        scene.interest.add_viewer(ANN, ANNS, cell(2, 2));
        assert_eq!(scene.settle(), [enter(ANN, boss)]);
        scene.interest.move_home(ANN, cell(6, 2));
        assert_eq!(scene.settle(), [enter(ANN, mushroom)]);
        scene.interest.move_home(ANN, cell(0, 2));
        assert_eq!(scene.settle(), [leave(ANN, mushroom)]);
    }

    #[test]
    fn an_object_added_and_removed_between_settles_is_not_announced() {
        let mut scene = Scene::new().viewer(ANN, ANNS, cell(3, 3));
        let mut changes = Vec::new();
        scene.interest.add_object(ORC, 0, cell(3, 3));
        scene.interest.remove_object(ORC, &mut changes);
        scene.interest.add_object(ELF, 0, cell(9, 9)); // In the orc's place.
        scene.interest.change_cell(ORC, cell(3, 3));
        assert_eq!((changes, scene.settle()), (vec![], vec![]));
    }

    #[test]
    fn a_removed_viewer_gets_no_changes() {
        let mut scene = Scene::new()
            .viewer(ANN, ANNS, cell(3, 3))
            .viewer(BOB, BOBS, cell(3, 3));
        scene.interest.remove_viewer(ANN);
        assert_eq!(scene.walk(BOBS, cell(9, 9)), []);
        assert_eq!(scene.interest.followers(ANNS).collect::<Vec<_>>(), [BOB]);
        assert_eq!(scene.followed(ANN), []);
    }

    /// What each of five viewers is told in a scene of visible walkers, while something that they
    /// cannot see is about.
    fn changes_by_viewer(seed: u64, seed_of_the_hidden: u64) -> BTreeMap<u32, Vec<InterestChange>> {
        const HIDDEN: u64 = 1000;
        let sees = |viewer: ObjectId, object: ObjectId| object.0 < HIDDEN || viewer.0 >= HIDDEN;
        let mut interest = Interest::new(
            &Grid::new(80.0, 80.0, 10.0),
            &[AreaOfInterest { inner: 1, outer: 2 }],
        );
        let (mut open, mut hidden) = (
            fastrand::Rng::with_seed(seed),
            fastrand::Rng::with_seed(seed_of_the_hidden),
        );
        let anywhere = |rng: &mut fastrand::Rng| cell(rng.u16(..8), rng.u16(..8));
        let mut changes = Vec::new();
        for id in 0..30 {
            interest.add_object(ObjectId(id), 0, anywhere(&mut open));
        }
        for id in 0..5 {
            interest.add_viewer(ClientId(id), ObjectId(u64::from(id)), anywhere(&mut open));
        }
        interest.add_viewer(ClientId(99), ObjectId(HIDDEN), anywhere(&mut open));
        interest.add_object(ObjectId(HIDDEN), 0, anywhere(&mut open));
        let (mut open_id, mut hidden_id) = (30, HIDDEN + 1);
        for _ in 0..100 {
            for _ in 0..4 {
                match hidden.u8(..4) {
                    0 => interest.change_cell(ObjectId(HIDDEN), anywhere(&mut hidden)),
                    1 => interest.move_home(ClientId(99), anywhere(&mut hidden)),
                    2 => {
                        interest.add_object(ObjectId(hidden_id), 0, anywhere(&mut hidden));
                        hidden_id += 1;
                    }
                    _ => interest
                        .remove_object(ObjectId(hidden.u64(HIDDEN + 1..=hidden_id)), &mut changes),
                }
                match open.u8(..6) {
                    0 => interest.move_home(ClientId(open.u32(..5)), anywhere(&mut open)),
                    1 => {
                        interest.add_object(ObjectId(open_id), 0, anywhere(&mut open));
                        open_id += 1;
                    }
                    2 => interest.remove_object(ObjectId(open.u64(..open_id)), &mut changes),
                    _ => interest.change_cell(ObjectId(open.u64(..open_id)), anywhere(&mut open)),
                }
            }
            interest.settle(&sees, &mut changes);
        }
        let mut told: BTreeMap<u32, Vec<InterestChange>> = BTreeMap::new();
        for change in changes {
            let (InterestChange::ObjectEntered { viewer, .. }
            | InterestChange::Leave { viewer, .. }) = change;
            told.entry(viewer.0).or_default().push(change);
        }
        told.remove(&99);
        told
    }

    #[test]
    fn invariant_3_hidden_objects_do_not_affect_the_changes() {
        for seed in 0..50 {
            assert_eq!(
                changes_by_viewer(seed, 1),
                changes_by_viewer(seed, 2),
                "seed {seed}"
            );
        }
    }

    #[test]
    fn a_scene_that_repeats_allocates_nothing_more() {
        let mut scene = Scene::new();
        let mut rng = fastrand::Rng::with_seed(7);
        let places: Vec<_> = (0..400)
            .map(|_| cell(rng.u16(..20), rng.u16(..20)))
            .collect();
        for viewer in 0..40 {
            scene.interest.add_viewer(
                ClientId(viewer),
                ObjectId(u64::from(viewer)),
                places[viewer as usize],
            );
        }
        let mut changes = Vec::new();
        let mut round = |scene: &mut Scene| {
            for turn in 0..10 {
                for object in 0..400_usize {
                    let id = ObjectId(object as u64);
                    match turn {
                        0 => scene.interest.add_object(id, 0, places[object]),
                        9 => scene.interest.remove_object(id, &mut changes),
                        _ => scene
                            .interest
                            .change_cell(id, places[(object + turn * 7) % 400]),
                    }
                }
                for viewer in 0..40 {
                    scene
                        .interest
                        .move_home(ClientId(viewer), places[viewer as usize + turn]);
                }
                scene.interest.settle(&|_, _| true, &mut changes);
                changes.clear();
            }
            (scene.interest.capacity(), changes.capacity())
        };
        round(&mut scene); // Slots are handed out in another order the second time; from then on all repeats.
        round(&mut scene);
        let settled = round(&mut scene);
        for _ in 0..5 {
            assert_eq!(round(&mut scene), settled);
        }
    }
}
