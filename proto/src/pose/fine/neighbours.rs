//! What the coded objects say about a neighbour that is coded next.
//!
//! Objects that touch deviate from their predictions together. Each coded object leaves its
//! movement relative to the reference, its prediction error and its rotation; the next objects get
//! their means, weighted by nearness.

use super::vector::{Vector, dot, floor, scale, sub};

/// Edge of a typical object: 40 cm.
const EDGE: f32 = 0.4 * super::UNITS_PER_METRE;
/// Squared distance, in edges, of neighbours that also have a mean of their own: about one and a
/// half edges.
const CLOSE: f32 = 2.2;
/// Cells along an edge of the map of coded objects; the map repeats beyond.
const CELLS: usize = 64;
/// A cell's edge: one metre.
const CELL: f32 = super::UNITS_PER_METRE;

/// What a coded object leaves to its neighbours.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Neighbour {
    /// The position of its baseline.
    pub(super) at: Vector,
    /// Its displacement minus that of a rigid movement with the reference.
    pub(super) slip: Vector,
    /// Its displacement minus the predicted one.
    pub(super) error: Vector,
    /// Its rotation minus the reference's.
    pub(super) turn: Vector,
    /// Logarithms of the prediction errors: position and turn.
    pub(super) sizes: [f32; 2],
}

/// The same, for adding up four numbers at once: slip, error, turn, sizes, and a zero.
#[derive(Clone, Copy, Debug)]
struct NeighbourRow {
    at: Vector,
    values: [f32; VALUES],
}

const VALUES: usize = 12;

impl NeighbourRow {
    fn of(neighbour: &Neighbour) -> Self {
        let Neighbour { at, slip: [a, b, c], error: [d, e, f], turn: [g, h, i], sizes: [j, k] } =
            *neighbour;
        Self { at, values: [a, b, c, d, e, f, g, h, i, j, k, 0.0] }
    }
}

/// The coded objects of a section.
#[derive(Debug)]
pub(super) struct CodedNeighbours {
    coded: Vec<NeighbourRow>,
    /// How many objects have their baseline near a cell, at most 255.
    map: Box<[u8; CELLS * CELLS]>,
}

impl Default for CodedNeighbours {
    fn default() -> Self {
        Self { coded: Vec::new(), map: Box::new([0; CELLS * CELLS]) }
    }
}

/// Means over the neighbours of a position.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NeighbourMeans {
    pub(super) mean: Neighbour,
    /// The plain mean of the slip of the close ones.
    pub(super) close_slip: Vector,
    /// Whether any object is near enough to count.
    pub(super) is_any: bool,
}

impl CodedNeighbours {
    pub(super) fn clear(&mut self) {
        self.coded.clear();
        self.map.fill(0);
    }

    pub(super) fn push(&mut self, neighbour: Neighbour) {
        let [x, y] = corner(neighbour.at);
        for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let cell = &mut self.map[index(x + dx, y + dy)];
            *cell = cell.saturating_add(1);
        }
        self.coded.push(NeighbourRow::of(&neighbour));
    }

    /// About how many are within half a metre to a metre.
    pub(super) fn count_near(&self, at: Vector) -> u8 {
        let [x, y] = [cell(at[0] / CELL), cell(at[1] / CELL)];
        self.map[index(x, y)]
    }

    /// The means around a position. Cost: 3 ns for each coded object.
    pub(super) fn means_around(&self, at: Vector) -> NeighbourMeans {
        let mut sum = [0.0; VALUES];
        let mut close_sum = [0.0; 4];
        let mut all = 0.0;
        let mut close = 0.0;
        for one in &self.coded {
            let displacement = sub(one.at, at);
            let distance2 = dot(displacement, displacement) * (1.0 / (EDGE * EDGE));
            let weight = 1.0 / (0.3 + distance2 * distance2);
            let is_close = if distance2 < CLOSE { 1.0 } else { 0.0 };
            for (sum, value) in sum.iter_mut().zip(&one.values) {
                *sum += value * weight;
            }
            for (sum, value) in close_sum.iter_mut().zip(&one.values) {
                *sum += value * is_close;
            }
            all += weight;
            close += is_close;
        }
        // A single distant neighbour counts little.
        let inverse = 1.0 / (all + 0.05);
        let is_any = all > 0.02;
        let plain = if is_any { 1.0 / all } else { 0.0 };
        let [a, b, c, d, e, f, g, h, i, j, k, _] = sum;
        let mean = Neighbour {
            at,
            slip: scale([a, b, c], inverse),
            error: scale([d, e, f], inverse),
            turn: scale([g, h, i], inverse),
            sizes: [j * plain, k * plain],
        };
        let [x, y, z, _] = close_sum;
        NeighbourMeans { mean, close_slip: scale([x, y, z], 1.0 / (close + 0.3)), is_any }
    }
}

/// The lower cell of the four whose common corner is nearest.
fn corner(at: Vector) -> [i32; 2] {
    [cell(at[0] / CELL - 0.5), cell(at[1] / CELL - 0.5)]
}

fn cell(at: f32) -> i32 {
    floor(at)
}

fn index(x: i32, y: i32) -> usize {
    let wrap = |cell: i32| cell.rem_euclid(CELLS as i32) as usize;
    wrap(y) * CELLS + wrap(x)
}
