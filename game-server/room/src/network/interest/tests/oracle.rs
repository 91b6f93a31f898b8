//! A brute-force reference for `Interest`: all viewers x all objects after every step.
//!
//! It shares no code with `Interest`: its own arithmetic, its own bookkeeping. Scenes are random,
//! from a seed, on small maps where edges are near: walks, teleports, joins, leaves, changes of
//! sight for one viewer or for all, with hysteresis, several classes. It also checks each question
//! that `Interest` asks: never about what is too far away.

use std::collections::{BTreeMap, BTreeSet};

use ambit_proto::cell::{Cell, Grid};
use ambit_proto::ids::{ClientId, ObjectId};

use crate::logic::sight::Sight;
use crate::network::interest::{AreaOfInterest, Interest, InterestChange, Visibility};

/// Column and row, as signed numbers for plain arithmetic.
type CellPosition = (i32, i32);

#[derive(Default)]
struct Oracle {
    zones: Vec<(i32, i32)>,
    /// Class and cell.
    objects: BTreeMap<ObjectId, (usize, CellPosition)>,
    /// Avatar and home.
    viewers: BTreeMap<ClientId, (ObjectId, CellPosition)>,
    /// Pairs of an avatar and an object that it cannot see.
    unseen: BTreeSet<(ObjectId, ObjectId)>,
    /// Pairs of an avatar and an object that the avatar may keep in sight, but not begin to see.
    dim: BTreeSet<(ObjectId, ObjectId)>,
    followed: BTreeSet<(ClientId, ObjectId)>,
}

impl Oracle {
    /// Which viewer should follow which object now, given the pairs before.
    fn should_follow(&self) -> BTreeSet<(ClientId, ObjectId)> {
        let mut pairs = BTreeSet::new();
        for (&viewer, &(avatar, home)) in &self.viewers {
            for (&object, &(class, position)) in &self.objects {
                let far = distance(home, position);
                let (inner, outer) = self.zones[class];
                let pair = (avatar, object);
                let is_seen = if self.followed.contains(&(viewer, object)) {
                    far <= outer && !self.unseen.contains(&pair)
                } else {
                    far <= inner && !self.unseen.contains(&pair) && !self.dim.contains(&pair)
                };
                if avatar == object || is_seen {
                    pairs.insert((viewer, object));
                }
            }
        }
        pairs
    }

    /// Updates the pairs and returns the changes, sorted.
    fn settle(&mut self) -> Vec<InterestChange> {
        let now = self.should_follow();
        let enters = now
            .difference(&self.followed)
            .map(|&(viewer, object)| InterestChange::Enter { viewer, object });
        let leaves = self
            .followed
            .difference(&now)
            .map(|&(viewer, object)| InterestChange::Leave { viewer, object });
        let mut changes: Vec<_> = enters.chain(leaves).collect();
        changes.sort_unstable();
        self.followed = now;
        changes
    }

    fn remove_object(&mut self, object: ObjectId) -> Vec<InterestChange> {
        self.objects.remove(&object);
        let (lost, kept) = self.followed.iter().partition(|&&(_, followed)| followed == object);
        self.followed = kept;
        let lost: BTreeSet<(ClientId, ObjectId)> = lost;
        lost.into_iter().map(|(viewer, object)| InterestChange::Leave { viewer, object }).collect()
    }

    fn remove_viewer(&mut self, viewer: ClientId) {
        self.viewers.remove(&viewer);
        self.followed.retain(|&(follower, _)| follower != viewer);
    }
}

impl Visibility for Oracle {
    fn can_see(&self, avatar: ObjectId, object: ObjectId, sight: Sight) -> bool {
        let (class, position) = self.objects[&object];
        let (inner, outer) = self.zones[class];
        let may_ask = self.viewers.iter().any(|(viewer, (other, home))| {
            // A pair that was just entered counts as followed.
            let was_followed = self.followed.contains(&(*viewer, object));
            let reach = if sight == Sight::Kept && was_followed { outer } else { inner };
            *other == avatar && distance(*home, position) <= reach
        });
        assert!(may_ask && avatar != object, "{avatar} is asked about {object} as {sight:?}");
        let pair = (avatar, object);
        !self.unseen.contains(&pair) && (sight == Sight::Kept || !self.dim.contains(&pair))
    }
}

fn distance(one: CellPosition, other: CellPosition) -> i32 {
    i32::max((one.0 - other.0).abs(), (one.1 - other.1).abs())
}

/// One random scene, applied to both.
struct Scene {
    seed: u64,
    rng: fastrand::Rng,
    columns: u16,
    rows: u16,
    oracle: Oracle,
    interest: Interest,
    /// Changes since the last comparison, from each of the two.
    reported: Vec<InterestChange>,
    expected: Vec<InterestChange>,
    last_id: u32,
}

fn cell_position(cell: Cell) -> CellPosition {
    (i32::from(cell.column), i32::from(cell.row))
}

impl Scene {
    fn new(seed: u64, zones: &[AreaOfInterest]) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let columns = rng.u16(1..12);
        let rows = rng.u16(1..12);
        let grid = Grid::new(f32::from(columns) * 5.0, f32::from(rows) * 5.0, 5.0);
        let oracle_areas =
            zones.iter().map(|zone| (i32::from(zone.inner), i32::from(zone.outer))).collect();
        Self {
            seed,
            rng,
            columns,
            rows,
            oracle: Oracle { zones: oracle_areas, ..Oracle::default() },
            interest: Interest::new(&grid, zones),
            reported: Vec::new(),
            expected: Vec::new(),
            last_id: 0,
        }
    }

    fn play(&mut self, steps: u32) {
        for step in 0..steps {
            for _ in 0..self.rng.u8(1..6) {
                self.act();
            }
            self.interest.settle(&self.oracle, &mut self.reported);
            let settled = self.oracle.settle();
            self.compare(step, &settled);
        }
    }

    fn compare(&mut self, step: u32, settled: &[InterestChange]) {
        let Self { seed, reported, expected, oracle, interest, .. } = self;
        let removed = expected.len();
        assert_eq!(
            reported[..removed],
            expected[..],
            "seed {seed}, step {step}: changes of removals"
        );
        reported[removed..].sort_unstable();
        assert_eq!(reported[removed..], *settled, "seed {seed}, step {step}: changes of a step");
        reported.clear();
        expected.clear();

        for (&viewer, &(_, home)) in &oracle.viewers {
            assert_eq!(
                interest.home(viewer).map(cell_position),
                Some(home),
                "seed {seed}, step {step}"
            );
            let mut followed: Vec<_> = interest.followed(viewer).collect();
            followed.sort_unstable();
            let expected: Vec<_> = oracle
                .objects
                .keys()
                .copied()
                .filter(|&o| oracle.followed.contains(&(viewer, o)))
                .collect();
            assert_eq!(
                followed, expected,
                "seed {seed}, step {step}: objects that {viewer} follows"
            );
        }
        for &object in oracle.objects.keys() {
            let mut followers: Vec<_> = interest.followers(object).collect();
            followers.sort_unstable();
            let expected: Vec<_> = oracle
                .viewers
                .keys()
                .copied()
                .filter(|&v| oracle.followed.contains(&(v, object)))
                .collect();
            assert_eq!(followers, expected, "seed {seed}, step {step}: followers of {object}");
            assert!(
                oracle
                    .viewers
                    .keys()
                    .all(|&v| interest.follows(v, object) == expected.contains(&v))
            );
        }
    }

    fn act(&mut self) {
        match self.rng.u8(..20) {
            0 | 1 => self.spawn(),
            2 => self.despawn(),
            3 => self.join(),
            4 => self.leave(),
            5 | 6 => self.change_sight(),
            7..=9 => self.walk_home(),
            10 => self.teleport(),
            _ => self.walk(),
        }
    }

    fn random_cell(&mut self) -> Cell {
        Cell { column: self.rng.u16(..self.columns), row: self.rng.u16(..self.rows) }
    }

    fn neighbour_of(&mut self, at: CellPosition) -> Cell {
        let mut step = |from: i32, cells: u16| {
            (from + self.rng.i32(-1..=1)).clamp(0, i32::from(cells) - 1) as u16
        };
        Cell { column: step(at.0, self.columns), row: step(at.1, self.rows) }
    }

    fn any_object(&mut self) -> Option<ObjectId> {
        self.rng.choice(self.oracle.objects.keys().copied().collect::<Vec<_>>())
    }

    fn any_viewer(&mut self) -> Option<ClientId> {
        self.rng.choice(self.oracle.viewers.keys().copied().collect::<Vec<_>>())
    }

    fn next_id(&mut self) -> u32 {
        self.last_id += 1;
        self.last_id
    }

    /// The id is new, or sometimes that of a removed object.
    fn spawn(&mut self) {
        let next = self.next_id();
        let id = ObjectId(u64::from(if self.rng.bool() { next } else { self.rng.u32(1..=next) }));
        if self.oracle.objects.contains_key(&id) {
            return;
        }
        let class = self.rng.usize(..self.oracle.zones.len());
        let cell = self.random_cell();
        self.oracle.objects.insert(id, (class, cell_position(cell)));
        self.interest.add_object(id, class as u8, cell);
    }

    fn despawn(&mut self) {
        let Some(object) = self.any_object() else {
            return;
        };
        // The leaves of one removal come in the order of the slots, which the oracle does not know.
        let mut reported = Vec::new();
        self.interest.remove_object(object, &mut reported);
        self.interest.remove_object(object, &mut reported); // No further changes.
        self.interest.change_cell(object, Cell { column: 0, row: 0 });
        self.interest.refresh(object);
        reported.sort_unstable();
        self.reported.append(&mut reported);
        let mut expected = self.oracle.remove_object(object);
        self.expected.append(&mut expected);
    }

    /// The avatar exists, or will be added later, or never; sometimes it is that of another viewer.
    fn join(&mut self) {
        let id = ClientId(self.next_id());
        let avatar = match self.rng.u8(..4) {
            0 => ObjectId(self.rng.u64(1..=u64::from(self.last_id) + 5)),
            _ => self.any_object().unwrap_or(ObjectId(1)),
        };
        let home = self.random_cell();
        self.oracle.viewers.insert(id, (avatar, cell_position(home)));
        self.interest.add_viewer(id, avatar, home);
    }

    fn leave(&mut self) {
        let Some(viewer) = self.any_viewer() else {
            return;
        };
        self.oracle.remove_viewer(viewer);
        self.interest.remove_viewer(viewer);
        self.interest.remove_viewer(viewer);
        self.interest.move_home(viewer, Cell { column: 0, row: 0 });
        self.interest.refresh_viewer(viewer);
    }

    /// One object for all, one object for one viewer, or all objects for one viewer.
    fn change_sight(&mut self) {
        let (Some(object), Some(viewer)) = (self.any_object(), self.any_viewer()) else {
            return;
        };
        let avatar = self.oracle.viewers[&viewer].0;
        let avatars: Vec<_> = self.oracle.viewers.values().map(|&(avatar, _)| avatar).collect();
        let objects: Vec<_> = self.oracle.objects.keys().copied().collect();
        let change = self.rng.u8(..3);
        let kind = self.rng.u8(..4);
        let pairs: Vec<_> = match kind {
            0 => avatars.into_iter().map(|avatar| (avatar, object)).collect(),
            1 => objects.into_iter().map(|object| (avatar, object)).collect(),
            _ => vec![(avatar, object)],
        };
        for pair in pairs {
            self.oracle.unseen.remove(&pair);
            self.oracle.dim.remove(&pair);
            match change {
                0 => drop(self.oracle.unseen.insert(pair)),
                1 => drop(self.oracle.dim.insert(pair)),
                _ => {}
            }
        }
        match kind {
            0 | 2 => self.interest.refresh(object),
            _ => self.interest.refresh_viewers_of(avatar),
        }
    }

    fn walk(&mut self) {
        let Some(object) = self.any_object() else {
            return;
        };
        let cell = self.neighbour_of(self.oracle.objects[&object].1);
        self.put_object(object, cell);
    }

    fn walk_home(&mut self) {
        let Some(viewer) = self.any_viewer() else {
            return;
        };
        let cell = self.neighbour_of(self.oracle.viewers[&viewer].1);
        self.put_viewer(viewer, cell);
    }

    /// An object, or a viewer, or a viewer and all that it follows.
    fn teleport(&mut self) {
        let cell = self.random_cell();
        let object = self.any_object();
        let viewer = self.any_viewer();
        match (self.rng.u8(..3), object, viewer) {
            (0, Some(object), _) => self.put_object(object, cell),
            (1, _, Some(viewer)) => self.put_viewer(viewer, cell),
            (2, _, Some(viewer)) => {
                self.put_viewer(viewer, cell);
                for object in self.interest.followed(viewer).collect::<Vec<_>>() {
                    let cell = self.neighbour_of(cell_position(cell));
                    self.put_object(object, cell);
                }
            }
            _ => {}
        }
    }

    fn put_object(&mut self, object: ObjectId, cell: Cell) {
        self.oracle.objects.get_mut(&object).expect("the object exists").1 = cell_position(cell);
        self.interest.change_cell(object, cell);
    }

    fn put_viewer(&mut self, viewer: ClientId, cell: Cell) {
        self.oracle.viewers.get_mut(&viewer).expect("the viewer exists").1 = cell_position(cell);
        self.interest.move_home(viewer, cell);
    }
}

fn check(zones: &[(u16, u16)], seeds: std::ops::Range<u64>) {
    let zones: Vec<_> =
        zones.iter().map(|&(inner, outer)| AreaOfInterest { inner, outer }).collect();
    for seed in seeds {
        Scene::new(seed, &zones).play(300);
    }
}

#[test]
fn invariants_1_and_2_hold_with_the_usual_zones() {
    check(&[(1, 2)], 0..60);
}

#[test]
fn invariants_1_and_2_hold_with_several_classes_of_sight() {
    check(&[(1, 2), (0, 0), (3, 5), (1, 1)], 1000..1060);
}

#[test]
fn invariants_1_and_2_hold_without_a_ring() {
    check(&[(1, 1)], 2000..2030);
}

#[test]
fn invariants_1_and_2_hold_with_an_inner_zone_of_one_cell() {
    check(&[(0, 0)], 3000..3015);
    check(&[(0, 2)], 3015..3030);
}
