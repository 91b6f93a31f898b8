//! Scenes of interest, step by step; `oracle` compares random walks with brute force.

mod oracle;

use std::cell::RefCell;
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
    InterestChange::Enter { viewer, object }
}

const fn leave(viewer: ClientId, object: ObjectId) -> InterestChange {
    InterestChange::Leave { viewer, object }
}

/// A map of 20 x 20 cells on which every avatar sees every object, unless a test hides some.
struct Scene {
    interest: Interest,
    unseen: Vec<(ObjectId, ObjectId)>,
}

impl Scene {
    fn new() -> Self {
        Self::with_zones(&[AreaOfInterest { inner: 1, outer: 2 }])
    }

    fn with_zones(areas: &[AreaOfInterest]) -> Self {
        Self { interest: Interest::new(&Grid::new(200.0, 200.0, 10.0), areas), unseen: Vec::new() }
    }

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
        let sees =
            |viewer: ObjectId, object: ObjectId, _: Sight| !unseen.contains(&(viewer, object));
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
    let mut scene = Scene::new().viewer(ANN, ANNS, cell(3, 3)).object(ORC, cell(4, 3));
    for _ in 0..10 {
        assert_eq!(scene.walk(ORC, cell(5, 3)), []); // In the outer ring: still followed.
        assert_eq!(scene.walk(ORC, cell(4, 3)), []);
    }
}

#[test]
fn an_object_that_only_enters_the_outer_ring_is_not_announced() {
    let mut scene = Scene::new().viewer(ANN, ANNS, cell(3, 3)).object(ORC, cell(6, 3));
    assert_eq!(scene.walk(ORC, cell(5, 3)), []);
    assert_eq!(scene.walk(ORC, cell(4, 3)), [enter(ANN, ORC)]);
    assert_eq!(scene.walk(ORC, cell(5, 3)), []);
    assert_eq!(scene.walk(ORC, cell(6, 3)), [leave(ANN, ORC)]);
    assert_eq!(scene.walk(ORC, cell(5, 3)), []);
}

#[test]
fn a_late_joiner_gets_its_avatar_first_then_the_whole_inner_zone() {
    let mut scene =
        Scene::new().object(ORC, cell(0, 1)).object(ELF, cell(2, 0)).object(BOBS, cell(1, 1));
    scene.interest.add_object(ANNS, 0, cell(0, 0));
    scene.interest.add_viewer(ANN, ANNS, cell(0, 0));
    assert_eq!(scene.settle(), [enter(ANN, ANNS), enter(ANN, ORC), enter(ANN, BOBS)]);
    assert!(scene.interest.follows(ANN, ORC) && !scene.interest.follows(ANN, ELF));
    assert_eq!(scene.interest.followers(ORC).collect::<Vec<_>>(), [ANN]);
}

#[test]
fn a_viewer_that_moves_gets_the_leaves_first() {
    let mut scene =
        Scene::new().viewer(ANN, ANNS, cell(3, 3)).object(ELF, cell(2, 3)).object(ORC, cell(7, 3));
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
    let mut scene = Scene::new().viewer(ANN, ANNS, cell(3, 3)).object(ORC, cell(4, 3));
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
    let mut scene = Scene::new().viewer(ANN, ANNS, cell(3, 3)).viewer(BOB, BOBS, cell(4, 3));
    assert_eq!(scene.followed(ANN), [ANNS, BOBS]);
    scene.unseen.push((ANNS, BOBS));
    scene.interest.refresh(BOBS);
    assert_eq!(scene.settle(), [leave(ANN, BOBS)]);
    assert_eq!((scene.followed(ANN), scene.followed(BOB)), (vec![ANNS], vec![ANNS, BOBS]));
    assert_eq!(scene.walk(BOBS, cell(3, 3)), []);
    scene.unseen.clear();
    scene.interest.refresh_viewer(ANN);
    assert_eq!(scene.settle(), [enter(ANN, BOBS)]);
}

#[test]
fn an_object_revealed_in_the_outer_ring_is_not_announced() {
    let mut scene = Scene::new().viewer(ANN, ANNS, cell(3, 3)).object(ORC, cell(4, 3));
    scene.walk(ORC, cell(5, 3));
    scene.unseen.push((ANNS, ORC));
    scene.interest.refresh(ORC);
    assert_eq!(scene.settle(), [leave(ANN, ORC)]);
    scene.unseen.clear();
    scene.interest.refresh(ORC);
    assert_eq!(scene.settle(), []);
}

#[test]
fn sight_with_hysteresis_keeps_what_it_would_not_see_anew() {
    let mut scene = Scene::new().viewer(ANN, ANNS, cell(3, 3)).object(ORC, cell(4, 3));
    let mut ask = |sees: fn(Sight) -> bool| {
        let mut changes = Vec::new();
        scene.interest.refresh_viewer(ANN);
        scene.interest.settle(&|_, _, sight| sees(sight), &mut changes);
        changes
    };
    let at_the_edge = |sight: Sight| sight == Sight::Kept;
    let nothing = |_: Sight| false;
    assert_eq!(ask(at_the_edge), []);
    assert_eq!(ask(nothing), [leave(ANN, ORC)]);
    assert_eq!(ask(at_the_edge), []);
    assert_eq!(ask(|_| true), [enter(ANN, ORC)]);
}

#[test]
fn only_pairs_that_are_near_are_asked_about_and_each_once() {
    let mut scene = Scene::with_zones(&[AreaOfInterest { inner: 2, outer: 4 }])
        .viewer(ANN, ANNS, cell(10, 10))
        .viewer(BOB, BOBS, cell(11, 10));
    let [followed, unseen, in_the_ring, kept, far] = [3, 4, 5, 6, 7].map(ObjectId);
    scene.unseen = vec![(ANNS, unseen), (BOBS, unseen), (BOBS, followed)];
    let places = [(followed, 12), (unseen, 9), (in_the_ring, 14), (kept, 12), (far, 17)];
    for (object, column) in places {
        scene.interest.add_object(object, 0, cell(column, 10));
    }
    scene.settle();
    scene.walk(kept, cell(14, 10));
    let mut asked_after = |note: &dyn Fn(&mut Interest)| {
        let asked = RefCell::new(Vec::new());
        let unseen = &scene.unseen;
        let sees = |viewer: ObjectId, object: ObjectId, sight: Sight| {
            asked.borrow_mut().push((viewer, object, sight));
            !unseen.contains(&(viewer, object))
        };
        note(&mut scene.interest);
        scene.interest.settle(&sees, &mut Vec::new());
        let mut asked = asked.into_inner();
        asked.sort_unstable_by_key(|&(viewer, object, _)| (viewer, object));
        asked
    };
    let of_ann = [
        (ANNS, BOBS, Sight::Kept),
        (ANNS, followed, Sight::Kept),
        (ANNS, unseen, Sight::New),
        (ANNS, kept, Sight::Kept),
    ];
    assert_eq!(asked_after(&|_| {}), []);
    assert_eq!(asked_after(&|interest| interest.refresh_viewer(ANN)), of_ann);
    assert_eq!(asked_after(&|interest| interest.refresh_viewers_of(ANNS)), of_ann);
    let of_followed = [(ANNS, followed, Sight::Kept), (BOBS, followed, Sight::New)];
    assert_eq!(asked_after(&|interest| interest.refresh(followed)), of_followed);
    assert_eq!(asked_after(&|interest| interest.refresh(far)), []);
    // What is lost is not asked about again at once.
    scene.unseen.push((ANNS, followed));
    let mut changes = Vec::new();
    let count = std::cell::Cell::new(0);
    scene.interest.refresh_viewer(ANN);
    let sees = |_: ObjectId, object: ObjectId, _: Sight| {
        count.set(count.get() + 1);
        object != followed && object != unseen
    };
    scene.interest.settle(&sees, &mut changes);
    assert_eq!((count.get(), changes), (4, vec![leave(ANN, followed)]));
}

#[test]
fn each_class_has_its_own_area_of_interest() {
    let mut scene = Scene::with_zones(&[
        AreaOfInterest { inner: 0, outer: 1 },
        AreaOfInterest { inner: 4, outer: 6 },
    ]);
    let mushroom = ObjectId(10);
    let boss = ObjectId(11);
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
    scene.interest.add_object(ELF, 0, cell(9, 9)); // Reuses the slot of the orc.
    scene.interest.change_cell(ORC, cell(3, 3));
    assert_eq!((changes, scene.settle()), (vec![], vec![]));
}

#[test]
fn a_removed_viewer_gets_no_changes() {
    let mut scene = Scene::new().viewer(ANN, ANNS, cell(3, 3)).viewer(BOB, BOBS, cell(3, 3));
    scene.interest.remove_viewer(ANN);
    assert_eq!(scene.walk(BOBS, cell(9, 9)), []);
    assert_eq!(scene.interest.followers(ANNS).collect::<Vec<_>>(), [BOB]);
    assert_eq!(scene.followed(ANN), []);
}

/// The changes for each of five viewers in a scene of visible walkers, while objects that they
/// cannot see move about.
fn changes_by_viewer(seed: u64, hidden_seed: u64) -> BTreeMap<u32, Vec<InterestChange>> {
    const HIDDEN: u64 = 1000;
    let sees =
        |viewer: ObjectId, object: ObjectId, _: Sight| object.0 < HIDDEN || viewer.0 >= HIDDEN;
    let mut interest =
        Interest::new(&Grid::new(80.0, 80.0, 10.0), &[AreaOfInterest { inner: 1, outer: 2 }]);
    let (mut open, mut hidden) =
        (fastrand::Rng::with_seed(seed), fastrand::Rng::with_seed(hidden_seed));
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
    let mut open_id = 30;
    let mut hidden_id = HIDDEN + 1;
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
    let mut by_viewer: BTreeMap<u32, Vec<InterestChange>> = BTreeMap::new();
    for change in changes {
        let (InterestChange::Enter { viewer, .. } | InterestChange::Leave { viewer, .. }) = change;
        by_viewer.entry(viewer.0).or_default().push(change);
    }
    by_viewer.remove(&99);
    by_viewer
}

#[test]
fn invariant_3_hidden_objects_do_not_affect_the_changes() {
    for seed in 0..50 {
        assert_eq!(changes_by_viewer(seed, 1), changes_by_viewer(seed, 2), "seed {seed}");
    }
}

#[test]
fn a_scene_that_repeats_allocates_nothing_more() {
    let mut scene = Scene::new();
    let mut rng = fastrand::Rng::with_seed(7);
    let places: Vec<_> = (0..400).map(|_| cell(rng.u16(..20), rng.u16(..20))).collect();
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
                    _ => scene.interest.change_cell(id, places[(object + turn * 7) % 400]),
                }
            }
            for viewer in 0..40 {
                scene.interest.move_home(ClientId(viewer), places[viewer as usize + turn]);
            }
            scene.interest.settle(&|_, _, _| true, &mut changes);
            changes.clear();
        }
        (scene.interest.capacity(), changes.capacity())
    };
    // Slots are assigned in another order the second time; from then on all repeats.
    round(&mut scene);
    round(&mut scene);
    let settled = round(&mut scene);
    for _ in 0..5 {
        assert_eq!(round(&mut scene), settled);
    }
}
