//! From notes to a model.

use ambit_proto::pose::fine::training::{
    CLASSES, Model, ONE, PARTS, PIECES, SAME_CONTEXTS, SHAPES, Shape, piece, shape_of, tail,
};

use super::{Notes, Sample};

/// A class with fewer notes stays as it was.
const FEWEST: usize = 200;

/// A model that would have foretold better what was noted.
pub(super) fn fit(notes: &Notes, before: &Model) -> Model {
    let mut model = before.clone();
    for class in 0..CLASSES {
        let of = |samples: &[Sample], fit: &dyn Fn(&[&Sample])| {
            let chosen: Vec<&Sample> = samples
                .iter()
                .filter(|sample| sample.class == class)
                .collect();
            if chosen.len() >= FEWEST {
                fit(&chosen);
            }
        };
        let cell = std::cell::RefCell::new(&mut model);
        for table in 0..2 {
            of(&notes.middles[table], &|samples| {
                middle(samples, &mut cell.borrow_mut().place[table][class])
            });
        }
        of(&notes.middles[2], &|samples| {
            middle(samples, &mut cell.borrow_mut().turn[class])
        });
        for part in 0..PARTS {
            of(&notes.spreads[part], &|samples| {
                spread(samples, &mut cell.borrow_mut().spread[part][class])
            });
        }
    }
    let parts: [&[usize]; 4] = [&[0, 1], &[2], &[3, 4], &[5]];
    for (table, parts) in parts.into_iter().enumerate() {
        for index in 0..SHAPES {
            model.shapes[table][index] = shape(notes, &model, parts, index);
        }
    }
    chances(&mut model.member, &notes.contexts[0], 30);
    chances(&mut model.flag, &notes.contexts[1], 16);
    chances(&mut model.same_place, &notes.contexts[2], SAME_CONTEXTS);
    chances(&mut model.same_turn, &notes.contexts[3], SAME_CONTEXTS);
    chances(&mut model.largest, &notes.contexts[4], 16);
    model
}

/// Shares, with a little of the share in the whole group of contexts: what was seldom seen is like
/// the others.
fn chances(chances: &mut [u16], counted: &[[u32; 2]], group: usize) {
    let count = |context: usize| {
        counted
            .get(context)
            .map_or([0.0; 2], |counts| counts.map(f64::from))
    };
    for (index, chances) in chances.chunks_mut(group).enumerate() {
        let start = index * group;
        let all = (start..start + chances.len())
            .map(count)
            .fold([0.4; 2], |sum, [no, yes]| [sum[0] + no, sum[1] + yes]);
        let usual = all[1] / (all[0] + all[1]);
        for (context, chance) in (start..).zip(chances) {
            let [no, yes] = count(context);
            *chance =
                ((yes + 2.0 * usual) / (no + yes + 2.0) * 65_536.0).clamp(16.0, 65_520.0) as u16;
        }
    }
}

fn weights_of(weights: &[i16]) -> Vec<f64> {
    weights
        .iter()
        .map(|weight| f64::from(*weight) / f64::from(ONE))
        .collect()
}

fn store(fitted: &[f64], weights: &mut [i16]) {
    for (weight, fitted) in weights.iter_mut().zip(fitted) {
        *weight = (fitted * f64::from(ONE)).round() as i16;
    }
}

fn weighted(weights: &[f64], sample: &Sample) -> f64 {
    weights
        .iter()
        .zip(sample.features)
        .map(|(weight, feature)| weight * f64::from(feature))
        .sum()
}

/// Least squares, each sample trusted as Student's distribution with four degrees of freedom says.
fn middle(samples: &[&Sample], weights: &mut [i16]) {
    let mut fitted = weights_of(weights);
    for _ in 0..3 {
        let mut system = System::new(fitted.len(), 3.0);
        for sample in samples {
            let error = f64::from(sample.outcome) - weighted(&fitted, sample);
            let spread = f64::from(sample.scale).max(0.3);
            let trust = 5.0 / (4.0 * spread * spread + error * error);
            system.add(&sample.features, trust, trust * f64::from(sample.outcome));
        }
        fitted = system.solve();
    }
    store(&fitted, weights);
}

/// Newton's method on the likelihood of the logarithm of the spread.
fn spread(samples: &[&Sample], weights: &mut [i16]) {
    let mut fitted = weights_of(weights);
    for _ in 0..6 {
        let mut system = System::new(fitted.len(), 2.0);
        for sample in samples {
            let log_spread = weighted(&fitted, sample).clamp(-2.5, 14.0);
            let step = f64::from(sample.scale).min(2.0);
            let error2 = f64::from(sample.outcome).powi(2) + step * step / 12.0;
            let ratio = error2 / (4.0 * (2.0 * log_spread).exp2());
            let slope = 1.0 - 5.0 * ratio / (1.0 + ratio);
            let bend = 5.0 * ratio / ((1.0 + ratio) * (1.0 + ratio)) + 0.7;
            system.add(&sample.features, bend, -slope);
        }
        for (weight, change) in fitted.iter_mut().zip(system.solve()) {
            *weight += change * 0.9 / std::f64::consts::LN_2;
        }
    }
    store(&fitted, weights);
}

/// Where errors come to lie on Student's distribution, each spread over its step.
fn shape(notes: &Notes, model: &Model, parts: &[usize], index: usize) -> Shape {
    const POINTS: u32 = 8;
    let mut counts: [f64; PIECES] =
        std::array::from_fn(|piece| 6.0 * (2 * piece + 1) as f64 / (PIECES * PIECES) as f64);
    for part in parts {
        for sample in &notes.spreads[*part] {
            let log_spread = weighted(&weights_of(&model.spread[*part][sample.class]), sample)
                .clamp(-2.5, 14.0) as f32;
            if shape_of(log_spread) != index {
                continue;
            }
            for point in 0..POINTS {
                let off = ((point as f32 + 0.5) / POINTS as f32 - 0.5) * sample.scale;
                let t = (sample.outcome + off).abs() / log_spread.exp2();
                counts[piece(tail(t)).0] += 1.0 / f64::from(POINTS);
            }
        }
    }
    let all: f64 = counts.iter().sum();
    let mut sum = 0.0;
    std::array::from_fn(|piece| {
        let share = sum / all;
        sum += counts.get(piece).copied().unwrap_or(0.0);
        (share * 65_535.0).round() as u16
    })
}

/// Normal equations.
struct System {
    size: usize,
    matrix: Vec<f64>,
    right: Vec<f64>,
}

impl System {
    /// With a little on the diagonal, so that what was never seen gets no weight.
    fn new(size: usize, ridge: f64) -> Self {
        let matrix = (0..size * size)
            .map(|index| if index % (size + 1) == 0 { ridge } else { 0.0 })
            .collect();
        Self {
            size,
            matrix,
            right: vec![0.0; size],
        }
    }

    fn add(&mut self, features: &[f32], weight: f64, right: f64) {
        for (row, feature) in features[..self.size]
            .iter()
            .enumerate()
            .filter(|(_, feature)| **feature != 0.0)
        {
            let feature = f64::from(*feature);
            let scaled = feature * weight;
            for (cell, other) in self.matrix[row * self.size..]
                .iter_mut()
                .zip(&features[..self.size])
            {
                *cell += scaled * f64::from(*other);
            }
            self.right[row] += feature * right;
        }
    }

    /// By Gauss and Jordan: the matrix is positive definite.
    fn solve(mut self) -> Vec<f64> {
        let size = self.size;
        for pivot in 0..size {
            let diagonal = self.matrix[pivot * size + pivot];
            for row in (0..size).filter(|row| *row != pivot) {
                let factor = self.matrix[row * size + pivot] / diagonal;
                if factor != 0.0 {
                    for column in pivot..size {
                        self.matrix[row * size + column] -=
                            factor * self.matrix[pivot * size + column];
                    }
                    self.right[row] -= factor * self.right[pivot];
                }
            }
        }
        (0..size)
            .map(|row| self.right[row] / self.matrix[row * size + row])
            .collect()
    }
}
