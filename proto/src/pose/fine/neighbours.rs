//! What the objects that were already coded say about one near them.
//!
//! Objects that touch are surprised together. Each coded object leaves how far it strayed from
//! moving with the reference, how far from its forecast, and how much it turned; the next ones get
//! the mean of that, weighted by nearness.

use super::space::{Vector, dot, floor, scale, sub};

/// Edge of a typical object: 40 cm.
const EDGE: f32 = 0.4 * super::UNITS_PER_METRE;
/// Neighbours within about one and a half edges are also counted by themselves.
const CLOSE: f32 = 2.2;
/// ObjectsByCell of the map of where something is coded, along an edge; it repeats beyond.
const CELLS: usize = 64;
/// A cell's edge: one metre.
const CELL: f32 = super::UNITS_PER_METRE;

/// What a coded object leaves.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Neighbour {
    /// Where its base was.
    pub(super) at: Vector,
    /// Its way minus the reference's.
    pub(super) slip: Vector,
    /// Its way minus the forecast.
    pub(super) error: Vector,
    /// Its rotation minus the reference's.
    pub(super) turn: Vector,
    /// Logarithms of the forecasts' errors: place and turn.
    pub(super) sizes: [f32; 2],
}

/// The same for adding up, four numbers at once: slip, error, turn and sizes, and a zero.
#[derive(Clone, Copy, Debug)]
struct Row {
    at: Vector,
    values: [f32; VALUES],
}

const VALUES: usize = 12;

impl Row {
    fn of(neighbour: &Neighbour) -> Self {
        let Neighbour {
            at,
            slip: [a, b, c],
            error: [d, e, f],
            turn: [g, h, i],
            sizes: [j, k],
        } = *neighbour;
        Self {
            at,
            values: [a, b, c, d, e, f, g, h, i, j, k, 0.0],
        }
    }
}

/// The coded objects of a section.
#[derive(Debug)]
pub(super) struct Neighbours {
    coded: Vec<Row>,
    /// How many have their base near a cell, at most 255.
    map: Box<[u8; CELLS * CELLS]>,
}

impl Default for Neighbours {
    fn default() -> Self {
        Self {
            coded: Vec::new(),
            map: Box::new([0; CELLS * CELLS]),
        }
    }
}

/// What is near.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Around {
    /// Weighted means.
    pub(super) mean: Neighbour,
    /// The plain mean of the slip of the close ones.
    pub(super) close_slip: Vector,
    /// Whether anything is near enough to speak of.
    pub(super) is_any: bool,
}

impl Neighbours {
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
        self.coded.push(Row::of(&neighbour));
    }

    /// About how many are within half a metre to a metre.
    pub(super) fn count_near(&self, at: Vector) -> u8 {
        let [x, y] = [cell(at[0] / CELL), cell(at[1] / CELL)];
        self.map[index(x, y)]
    }

    /// What is around a place. Cost: 3 ns for each that is coded.
    pub(super) fn around(&self, at: Vector) -> Around {
        let (mut sum, mut close_sum) = ([0.0; VALUES], [0.0; 4]);
        let (mut all, mut close) = (0.0, 0.0);
        for one in &self.coded {
            let way = sub(one.at, at);
            let distance2 = dot(way, way) * (1.0 / (EDGE * EDGE));
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
        // A lone neighbour far away says little.
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
        Around {
            mean,
            close_slip: scale([x, y, z], 1.0 / (close + 0.3)),
            is_any,
        }
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
