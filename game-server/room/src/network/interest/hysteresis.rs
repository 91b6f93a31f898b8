//! How far a pair has to travel to cause another cycle of `Leave` and `Enter`.
//!
//! With cells alone, centimetres would suffice: the viewer steps between cells 0 and 1 while the
//! object steps between 3 and 2, and their distance in cells runs 3, 2, 1, 2, 3. So the home cell
//! of a viewer moves only when its avatar is a margin beyond the border (`Grid::home_cell`),
//! separately for column and row. The cell of an object has no margin: the outer ring takes care of
//! it.
//!
//! Claim. Let the cells be c metres wide, the margin m, and the outer zone wider than the inner
//! one. A pair that has gone through n cycles of `Leave` and `Enter` has travelled at least (n - 1)
//! min(4m, c) metres, viewer and object together, |dx| and |dy| added up. In straight-line distance
//! this may be shorter by the square root of 2, since a diagonal counts on both axes: 4 m and 2.83
//! m with cells of 10 m and a margin of 1 m. Both bounds are tight.
//!
//! Proof. The distance of a pair in cells is its distance on the worse axis. Charge each cycle to
//! an axis on which the pair left: there the distance has swung from `inner` or less to `inner` + 2
//! or more, and swings back before the next `Enter`.
//! - In a swing of 2 the object contributes at most 1, unless it walks through a whole cell: c
//!   metres. Otherwise the home cell contributes a step in the direction of the swing.
//! - Two steps of a home cell in opposite directions are 2m apart along the axis. (A blink over a
//!   whole cell may land right at a border; it is itself longer than what the step back saves.) So
//!   between two swings of opposite directions to which the home cell contributes lie 2m. A swing
//!   that the object walks costs c, which pays c / 2 to either side.
//! - Two swings in the same direction, in from one side and out on the other, span 2 (`outer` + 1)
//!   cells, that is 4 or more. At most two of these cells can be crossed for free from positions
//!   right at their borders; the others cost c each: more than the above.
//! - n cycles are 2n swings. Of the gaps between them each axis misses one, so 2n - 2 count, at
//!   min(2m, c / 2) each. What is charged to x was travelled along x, and what is charged to y
//!   along y.
//!
//! The proof does not depend on how a position was reached, so a blink counts with its length (and
//! games limit blinks). The edge of the map only removes borders, and the narrow cells along it are
//! never walked through. Hiding and revealing cost no travel: games limit them too. If an object
//! does not move, each cycle costs its viewer 2c.

use super::AreaOfInterest;

impl AreaOfInterest {
    /// The least travel for one more cycle of `Leave` and `Enter` of a pair, in metres along the
    /// axes, viewer and object together. Zero when there is no ring between the zones: then an
    /// object can move back and forth at a border for free.
    pub fn travel_per_cycle_m(self, cell_m: f32, margin_m: f32) -> f32 {
        if self.outer > self.inner { cell_m.min(4.0 * margin_m) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ambit_proto::cell::{Cell, Grid};
    use ambit_proto::ids::{ClientId, ObjectId};
    use ambit_proto::space::Position;

    use super::super::{AreaOfInterest, Interest, InterestChange};
    use crate::logic::sight::Sight;

    /// A step that just crosses a border. It is exact in an `f32`, like all coordinates here.
    const STEP_M: f32 = 1.0 / 64.0;
    const USUAL_AREA: AreaOfInterest = AreaOfInterest { inner: 1, outer: 2 };

    fn at(x: f32, y: f32) -> Position {
        Position::on_ground(x, y)
    }

    fn along_axes(from: Position, to: Position) -> f64 {
        f64::from((to.x - from.x).abs()) + f64::from((to.y - from.y).abs())
    }

    fn straight_line(from: Position, to: Position) -> f64 {
        f64::from(from.ground_distance(to))
    }

    fn sees_all(_: ObjectId, _: ObjectId, _: Sight) -> bool {
        true
    }

    /// Viewers and objects that walk about, and how far each has travelled.
    struct Walkers {
        grid: Grid,
        margin_m: f32,
        interest: Interest,
        viewers: Vec<Walker>,
        objects: Vec<Walker>,
        enters: BTreeMap<(u32, u64), u32>,
    }

    struct Walker {
        position: Position,
        along_axes_m: f64,
        straight_m: f64,
    }

    impl Walker {
        fn move_to(&mut self, to: Position) {
            self.along_axes_m += along_axes(self.position, to);
            self.straight_m += straight_line(self.position, to);
            self.position = to;
        }
    }

    impl Walkers {
        fn new(
            grid: Grid,
            zone: AreaOfInterest,
            margin_m: f32,
            viewers: &[Position],
            objects: &[Position],
        ) -> Self {
            let walker =
                |&position: &Position| Walker { position, along_axes_m: 0.0, straight_m: 0.0 };
            let mut interest = Interest::new(&grid, &[zone]);
            for (id, &position) in objects.iter().enumerate() {
                interest.add_object(ObjectId(id as u64), 0, grid.cell_at(position));
            }
            for (id, &position) in viewers.iter().enumerate() {
                interest.add_viewer(
                    ClientId(id as u32),
                    ObjectId(1000 + id as u64),
                    grid.cell_at(position),
                );
            }
            let (viewers, objects) =
                (viewers.iter().map(walker).collect(), objects.iter().map(walker).collect());
            let mut walkers =
                Self { grid, margin_m, interest, viewers, objects, enters: BTreeMap::new() };
            walkers.settle();
            walkers
        }

        fn move_viewer(&mut self, viewer: usize, to: Position) {
            let id = ClientId(viewer as u32);
            self.viewers[viewer].move_to(to);
            let home = self.interest.home(id).expect("the viewer exists");
            self.interest.move_home(id, self.grid.home_cell(home, to, self.margin_m));
        }

        fn move_object(&mut self, object: usize, to: Position) {
            self.objects[object].move_to(to);
            self.interest.change_cell(ObjectId(object as u64), self.grid.cell_at(to));
        }

        fn settle(&mut self) {
            let mut changes = Vec::new();
            self.interest.settle(&sees_all, &mut changes);
            for change in changes {
                if let InterestChange::Enter { viewer, object } = change {
                    *self.enters.entry((viewer.0, object.0)).or_default() += 1;
                }
            }
        }

        /// Moves the first viewer and the first object at the same time.
        fn step(&mut self, viewer: Position, object: Position) {
            self.move_viewer(0, viewer);
            self.move_object(0, object);
            self.settle();
        }

        /// The number of times that the first pair entered again.
        fn cycles(&self) -> u32 {
            self.enters.get(&(0, 0)).map_or(0, |enters| enters - 1)
        }

        fn straight_m(&self) -> f64 {
            self.viewers[0].straight_m + self.objects[0].straight_m
        }
    }

    #[test]
    fn without_a_margin_a_cycle_costs_centimetres() {
        let mut pair = Walkers::new(
            Grid::new(60.0, 60.0, 10.0),
            USUAL_AREA,
            0.0,
            &[at(10.0 + STEP_M, 5.0)],
            &[at(30.0 - STEP_M, 5.0)],
        );
        for _ in 0..100 {
            pair.step(at(10.0 - STEP_M, 5.0), at(30.0, 5.0));
            pair.step(at(10.0 + STEP_M, 5.0), at(30.0 - STEP_M, 5.0));
        }
        assert_eq!(pair.cycles(), 100);
        assert!(pair.straight_m() < 100.0 * 0.1);
    }

    #[test]
    fn with_a_margin_the_same_motion_causes_no_change() {
        let mut pair = Walkers::new(
            Grid::new(60.0, 60.0, 10.0),
            USUAL_AREA,
            1.0,
            &[at(10.0 + STEP_M, 5.0)],
            &[at(30.0 - STEP_M, 5.0)],
        );
        for _ in 0..100 {
            pair.step(at(10.0 - STEP_M, 5.0), at(30.0, 5.0));
            pair.step(at(10.0 + STEP_M, 5.0), at(30.0 - STEP_M, 5.0));
        }
        assert_eq!(pair.cycles(), 0);
    }

    #[test]
    fn the_bound_is_reached_along_an_axis() {
        let mut pair = Walkers::new(
            Grid::new(60.0, 60.0, 10.0),
            USUAL_AREA,
            1.0,
            &[at(11.0, 5.0)],
            &[at(30.0 - STEP_M, 5.0)],
        );
        for _ in 0..100 {
            pair.step(at(9.0 - STEP_M, 5.0), at(30.0, 5.0));
            pair.step(at(11.0 + STEP_M, 5.0), at(30.0 - STEP_M, 5.0));
        }
        let a_cycle_m = pair.straight_m() / f64::from(pair.cycles());
        assert!((4.0..4.1).contains(&a_cycle_m), "{a_cycle_m} m");
    }

    #[test]
    fn the_bound_is_reached_diagonally_at_a_corner() {
        let grid = Grid::new(60.0, 60.0, 10.0);
        let near = at(30.0 - STEP_M, 30.0 - STEP_M);
        let far = at(30.0, 30.0);
        let mut pair = Walkers::new(grid, USUAL_AREA, 1.0, &[at(11.0, 11.0)], &[near]);
        for _ in 0..100 {
            pair.step(at(9.0, 11.0 + STEP_M), near); // The row is near again,
            pair.step(at(9.0 - STEP_M, 11.0 + STEP_M), far); // the column is far;
            pair.step(at(11.0 + STEP_M, 9.0), near); // the column is near again,
            pair.step(at(11.0 + STEP_M, 9.0 - STEP_M), far); // the row is far.
        }
        let a_cycle_m = pair.straight_m() / f64::from(pair.cycles());
        assert!((8_f64.sqrt()..2.95).contains(&a_cycle_m), "{a_cycle_m} m");
    }

    #[test]
    fn without_an_outer_ring_a_cycle_at_a_border_is_free() {
        let zone = AreaOfInterest { inner: 1, outer: 1 };
        let mut pair = Walkers::new(
            Grid::new(60.0, 60.0, 10.0),
            zone,
            1.0,
            &[at(5.0, 5.0)],
            &[at(20.0 - STEP_M, 5.0)],
        );
        for _ in 0..100 {
            pair.step(at(5.0, 5.0), at(20.0, 5.0));
            pair.step(at(5.0, 5.0), at(20.0 - STEP_M, 5.0));
        }
        assert_eq!((pair.cycles(), zone.travel_per_cycle_m(10.0, 1.0)), (100, 0.0));
    }

    /// The motion of a pair in an endless cycle: the positions where each may be. Each step goes to
    /// any position within the stride.
    struct CyclicMotion {
        grid: Grid,
        zone: AreaOfInterest,
        margin_m: f32,
        stride_m: f32,
        viewer: Vec<Position>,
        object: Vec<Position>,
    }

    /// Positions of viewer and object, home cell, and whether the object is followed.
    type SearchState = (usize, usize, Cell, bool);

    struct Step {
        from: usize,
        to: usize,
        metres: f64,
        is_enter: bool,
    }

    impl CyclicMotion {
        /// Fails if there is any endless motion with less than `bound_m` of travel for each
        /// `Enter`. Searches all reachable states for a negative cycle (Bellman-Ford), with
        /// `bound_m` subtracted for each `Enter`.
        fn check(&self, what: &str, bound_m: f64, metres: fn(Position, Position) -> f64) {
            let (states, steps) = self.steps(metres);
            let mut best = vec![0.0; states];
            for _ in 0..1000 {
                let mut better = false;
                for step in &steps {
                    let reward = if step.is_enter { bound_m } else { 0.0 };
                    let reached = best[step.from] + step.metres - reward;
                    if reached < best[step.to] - 1e-6 {
                        best[step.to] = reached;
                        better = true;
                    }
                }
                if !better {
                    assert!(
                        steps.iter().any(|step| step.is_enter),
                        "{what}: the object never enters"
                    );
                    return;
                }
            }
            panic!("{what}: a cycle costs less than {bound_m} m");
        }

        /// All states that can be reached, and all steps between them.
        fn steps(&self, metres: fn(Position, Position) -> f64) -> (usize, Vec<Step>) {
            let mut results = BTreeMap::new();
            let mut indices = BTreeMap::new();
            let mut states: Vec<SearchState> =
                vec![(0, 0, self.grid.cell_at(self.viewer[0]), false)];
            let mut steps = Vec::new();
            indices.insert(states[0], 0);
            let mut from = 0;
            while from < states.len() {
                let (viewer, object, home, followed) = states[from];
                for (next_viewer, &seen_from) in self.within_stride(&self.viewer, viewer) {
                    let travelled = metres(self.viewer[viewer], seen_from);
                    let home = self.grid.home_cell(home, seen_from, self.margin_m);
                    for (next_object, &seen_at) in self.within_stride(&self.object, object) {
                        let cell = self.grid.cell_at(seen_at);
                        let result = results.entry((home, cell, followed));
                        let follows =
                            *result.or_insert_with(|| self.is_followed_after(home, cell, followed));
                        let state = (next_viewer, next_object, home, follows);
                        let to = *indices.entry(state).or_insert_with(|| {
                            states.push(state);
                            states.len() - 1
                        });
                        let metres = travelled + metres(self.object[object], seen_at);
                        steps.push(Step { from, to, metres, is_enter: follows && !followed });
                    }
                }
                from += 1;
            }
            (states.len(), steps)
        }

        fn within_stride<'a>(
            &self,
            all: &'a [Position],
            from: usize,
        ) -> impl Iterator<Item = (usize, &'a Position)> {
            let stride_m = self.stride_m;
            all.iter()
                .enumerate()
                .filter(move |(_, to)| all[from].ground_distance(**to) <= stride_m)
        }

        /// Whether `Interest` follows an object that is now in `cell` and was followed before, or
        /// not.
        fn is_followed_after(&self, home: Cell, cell: Cell, followed: bool) -> bool {
            let viewer = ClientId(1);
            let object = ObjectId(1);
            let mut interest = Interest::new(&self.grid, &[self.zone]);
            interest.add_viewer(viewer, ObjectId(2), home);
            interest.add_object(object, 0, if followed { home } else { cell });
            interest.settle(&sees_all, &mut Vec::new());
            interest.change_cell(object, cell);
            interest.settle(&sees_all, &mut Vec::new());
            interest.follows(viewer, object)
        }

        fn check_both(&self, what: &str) {
            let bound_m =
                f64::from(self.zone.travel_per_cycle_m(self.grid.cell_size(), self.margin_m));
            self.check(what, bound_m, along_axes);
            self.check(what, bound_m / 2_f64.sqrt(), straight_line);
        }
    }

    /// Positions where a viewer turns at a border, with its margin to both sides, and where an
    /// object does.
    fn turning_points(border_m: f32, margin_m: f32) -> [f32; 4] {
        [border_m - margin_m - STEP_M, border_m - STEP_M, border_m, border_m + margin_m + STEP_M]
    }

    fn line(xs: &[f32]) -> Vec<Position> {
        xs.iter().map(|&x| at(x, 5.0)).collect()
    }

    fn square(xs: &[f32], ys: &[f32]) -> Vec<Position> {
        xs.iter().flat_map(|&x| ys.iter().map(move |&y| at(x, y))).collect()
    }

    #[test]
    fn no_motion_along_a_line_is_cheaper_than_the_bound() {
        for (inner, outer) in [(0, 1), (1, 2), (1, 3), (2, 3)] {
            for margin_m in [0.25, 1.0, 2.5, 4.0] {
                let borders =
                    |from: u16, to: u16| (from..=to).map(|border| f32::from(border) * 10.0);
                let viewer: Vec<f32> =
                    borders(2, 4).flat_map(|border| turning_points(border, margin_m)).collect();
                let object: Vec<f32> =
                    borders(1, 7).flat_map(|border| [border - STEP_M, border]).collect();
                let motion = CyclicMotion {
                    grid: Grid::new(85.0, 10.0, 10.0),
                    zone: AreaOfInterest { inner, outer },
                    margin_m,
                    stride_m: f32::MAX,
                    viewer: line(&viewer),
                    object: line(&object),
                };
                motion.check_both(&format!("zones {inner} and {outer}, margin {margin_m} m"));
            }
        }
    }

    #[test]
    fn no_motion_round_a_corner_is_cheaper_than_the_bound() {
        for margin_m in [1.0, 2.5] {
            let viewer = turning_points(20.0, margin_m);
            let object = [40.0 - STEP_M, 40.0];
            let motion = CyclicMotion {
                grid: Grid::new(60.0, 60.0, 10.0),
                zone: USUAL_AREA,
                margin_m,
                stride_m: f32::MAX,
                viewer: square(&viewer, &viewer),
                object: square(&object, &object),
            };
            motion.check_both(&format!("a corner, margin {margin_m} m"));
        }
    }

    #[test]
    fn no_motion_at_the_edge_of_the_map_is_cheaper_than_the_bound() {
        // The viewer is off the map, at its corner, and around its first border; the object may
        // also be beyond the far edge, behind a narrow row of cells.
        let viewer = [&[-3.0, 0.0][..], &turning_points(10.0, 1.0)].concat();
        let object = [30.0 - STEP_M, 30.0, 33.0 + STEP_M, 60.0];
        let motion = CyclicMotion {
            grid: Grid::new(33.0, 33.0, 10.0),
            zone: USUAL_AREA,
            margin_m: 1.0,
            stride_m: f32::MAX,
            viewer: square(&viewer, &viewer),
            object: square(&object, &object),
        };
        motion.check_both("the corner of the map");
    }

    #[test]
    fn no_motion_of_small_steps_is_cheaper_than_the_bound() {
        let every_half_metre =
            |from: u16, to: u16| (from * 2..=to * 2).map(|half| f32::from(half) / 2.0);
        let motion = CyclicMotion {
            grid: Grid::new(50.0, 10.0, 10.0),
            zone: USUAL_AREA,
            margin_m: 1.0,
            stride_m: 0.5,
            viewer: line(&every_half_metre(6, 24).collect::<Vec<_>>()),
            object: line(&every_half_metre(18, 42).collect::<Vec<_>>()),
        };
        motion.check_both("small steps");
    }

    /// A motion that is repeated: positions of viewer and object at each step.
    type Route = Vec<(Position, Position)>;

    /// Metres for each cycle, viewer and object together, measured by `metres`; infinite if there
    /// are no cycles.
    fn metres_per_cycle(grid: Grid, route: &Route, metres: fn(&Walker) -> f64) -> f64 {
        let (viewer, object) = route[0];
        let mut pair = Walkers::new(grid, USUAL_AREA, 1.0, &[viewer], &[object]);
        for _ in 0..20 {
            for &(viewer, object) in route {
                pair.step(viewer, object);
            }
        }
        let travelled_m = metres(&pair.viewers[0]) + metres(&pair.objects[0]);
        let again = f64::from(pair.cycles());
        assert!(again <= travelled_m / BOUND_M * 2_f64.sqrt() + 1.0, "{route:?}");
        travelled_m / again
    }

    /// The bound along the axes, with the usual cells and margin.
    const BOUND_M: f64 = 4.0;

    #[test]
    fn optimised_routes_come_near_the_bound_and_stay_above_it() {
        let grid = Grid::new(55.0, 55.0, 10.0);
        let mut cheapest = f64::INFINITY;
        for seed in 0..40 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let near = |rng: &mut fastrand::Rng, spot_m: f32, spread_m: f32| {
                spot_m + (rng.f32() - 0.5) * spread_m
            };
            // The pair is at a corner of cells or along a border, near the edge of the map or not.
            let x_m = 10.0 * f32::from(rng.u16(1..=2));
            let y_m = [5.0, 10.0, 20.0][rng.usize(..3)];
            let place = |rng: &mut fastrand::Rng, ahead_m: f32, spread_m: f32| {
                at(
                    near(rng, x_m + ahead_m, spread_m),
                    near(rng, if y_m > 5.0 { y_m + ahead_m } else { y_m }, spread_m),
                )
            };
            let pose = |rng: &mut fastrand::Rng| (place(rng, 0.0, 4.0), place(rng, 20.0, 1.0));
            let mut route: Route = (0..rng.usize(2..=4)).map(|_| pose(&mut rng)).collect();
            let mut best = f64::INFINITY;
            for round in 0..400 {
                let mut attempt = route.clone();
                let step = rng.usize(..attempt.len());
                let spread_m = 2.0 * 0.99_f32.powi(round);
                let (viewer, object) = &mut attempt[step];
                match rng.u8(..3) {
                    0 => attempt[step] = pose(&mut rng),
                    1 => {
                        *viewer = at(
                            near(&mut rng, viewer.x, spread_m),
                            near(&mut rng, viewer.y, spread_m),
                        );
                    }
                    _ => {
                        *object = at(
                            near(&mut rng, object.x, spread_m),
                            near(&mut rng, object.y, spread_m),
                        );
                    }
                }
                let metres = metres_per_cycle(grid, &attempt, |walker| walker.straight_m);
                if metres <= best {
                    (route, best) = (attempt, metres);
                }
            }
            cheapest = cheapest.min(best);
        }
        assert!((2.6..4.2).contains(&cheapest), "{cheapest} m a cycle");
    }

    #[test]
    fn many_walkers_at_borders_stay_within_the_bound() {
        let mut cycles = 0;
        for seed in 0..150 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let cell_m = f32::from(rng.u16(2..12));
            let margin_m = cell_m * [0.05, 0.1, 0.25, 0.4][rng.usize(..4)];
            let size_m = cell_m * (3.0 + 4.0 * rng.f32());
            let inner = rng.u16(..2);
            let zone = AreaOfInterest { inner, outer: inner + rng.u16(1..=2) };
            let anywhere = |rng: &mut fastrand::Rng| {
                at((rng.f32() * 1.2 - 0.1) * size_m, (rng.f32() * 1.2 - 0.1) * size_m)
            };
            let places: Vec<_> = (0..6).map(|_| anywhere(&mut rng)).collect();
            let mut walkers = Walkers::new(
                Grid::new(size_m, size_m, cell_m),
                zone,
                margin_m,
                &places[..3],
                &places[3..],
            );
            let step = |rng: &mut fastrand::Rng, from: Position| {
                let mut turn = |from: f32| {
                    let border = (from / cell_m).round() * cell_m;
                    let turns = turning_points(border, margin_m);
                    if rng.bool() {
                        turns[rng.usize(..4)]
                    } else {
                        from + (rng.f32() - 0.5) * margin_m
                    }
                };
                let near = at(turn(from.x), turn(from.y));
                if rng.u8(..100) == 0 { anywhere(rng) } else { near }
            };
            for _ in 0..400 {
                for walker in 0..3 {
                    if rng.bool() {
                        let to = step(&mut rng, walkers.viewers[walker].position);
                        walkers.move_viewer(walker, to);
                    }
                    if rng.bool() {
                        let to = step(&mut rng, walkers.objects[walker].position);
                        walkers.move_object(walker, to);
                    }
                }
                walkers.settle();
            }
            let bound_m = f64::from(zone.travel_per_cycle_m(cell_m, margin_m));
            for (&(viewer, object), &enters) in &walkers.enters {
                let pair = [&walkers.viewers[viewer as usize], &walkers.objects[object as usize]];
                let again = f64::from(enters - 1);
                for travelled_m in [
                    pair.iter().map(|walker| walker.along_axes_m).sum::<f64>(),
                    pair.iter().map(|walker| walker.straight_m).sum::<f64>() * 2_f64.sqrt(),
                ] {
                    let allowed = travelled_m / bound_m + 1.0;
                    assert!(
                        again <= allowed,
                        "seed {seed}: {again} cycles of {viewer} and {object}, {allowed} allowed"
                    );
                }
                cycles += enters - 1;
            }
        }
        assert!(cycles > 1000, "only {cycles} cycles");
    }
}
