//! From samples to weights.

use ambit_proto::pose::trained::FineWeights;
use ambit_proto::pose::trained::internals::{
    CLASSES, PIECES, SHAPES, SPREADS, TailShape, UNCHANGED_CONTEXTS, WEIGHT_ONE, shape_index,
    shape_piece,
};

use super::{NumberSample, Samples};

/// A class with fewer samples stays as it was.
const MIN_SAMPLES: usize = 200;

/// Weights that would have predicted the samples better.
pub(super) fn fit(samples: &Samples, before: &FineWeights) -> FineWeights {
    let mut weights = before.clone();
    for class in 0..CLASSES {
        let of = |samples: &[NumberSample], fit: &dyn Fn(&[&NumberSample])| {
            let chosen: Vec<&NumberSample> =
                samples.iter().filter(|sample| sample.class == class).collect();
            if chosen.len() >= MIN_SAMPLES {
                fit(&chosen);
            }
        };
        let cell = std::cell::RefCell::new(&mut weights);
        for table in 0..2 {
            of(&samples.middles[table], &|samples| {
                fit_middle(samples, &mut cell.borrow_mut().position[table][class]);
            });
        }
        of(&samples.middles[2], &|samples| {
            fit_middle(samples, &mut cell.borrow_mut().turn[class]);
        });
        for part in 0..SPREADS {
            of(&samples.spreads[part], &|samples| {
                fit_spread(samples, &mut cell.borrow_mut().spread[part][class]);
            });
        }
    }
    let parts: [&[usize]; 4] = [&[0, 1], &[2], &[3, 4], &[5]];
    for (table, parts) in parts.into_iter().enumerate() {
        for index in 0..SHAPES {
            weights.shapes[table][index] = fit_shape(samples, &weights, parts, index);
        }
    }
    fit_probabilities(&mut weights.membership, &samples.contexts[0], 30);
    fit_probabilities(&mut weights.flag, &samples.contexts[1], 16);
    fit_probabilities(&mut weights.same_position, &samples.contexts[2], UNCHANGED_CONTEXTS);
    fit_probabilities(&mut weights.same_turn, &samples.contexts[3], UNCHANGED_CONTEXTS);
    fit_probabilities(&mut weights.largest, &samples.contexts[4], 16);
    weights
}

/// Counted shares, mixed with a little of the share in the whole group of contexts, so that a
/// context with few samples is like the others of its group.
fn fit_probabilities(probabilities: &mut [u16], counted: &[[u32; 2]], group: usize) {
    let count =
        |context: usize| counted.get(context).map_or([0.0; 2], |counts| counts.map(f64::from));
    for (index, probabilities) in probabilities.chunks_mut(group).enumerate() {
        let start = index * group;
        let all = (start..start + probabilities.len())
            .map(count)
            .fold([0.4; 2], |sum, [no, yes]| [sum[0] + no, sum[1] + yes]);
        let usual = all[1] / (all[0] + all[1]);
        for (context, probability) in (start..).zip(probabilities) {
            let [no, yes] = count(context);
            *probability =
                ((yes + 2.0 * usual) / (no + yes + 2.0) * 65_536.0).clamp(16.0, 65_520.0) as u16;
        }
    }
}

fn to_f64(weights: &[i16]) -> Vec<f64> {
    weights.iter().map(|weight| f64::from(*weight) / f64::from(WEIGHT_ONE)).collect()
}

fn store(fitted: &[f64], weights: &mut [i16]) {
    for (weight, fitted) in weights.iter_mut().zip(fitted) {
        *weight = (fitted * f64::from(WEIGHT_ONE)).round() as i16;
    }
}

fn weighted_sum_f64(weights: &[f64], sample: &NumberSample) -> f64 {
    weights.iter().zip(sample.features).map(|(weight, feature)| weight * f64::from(feature)).sum()
}

/// Least squares; each sample has the weight that Student's distribution with four degrees of
/// freedom gives it.
fn fit_middle(samples: &[&NumberSample], weights: &mut [i16]) {
    let mut fitted = to_f64(weights);
    for _ in 0..3 {
        let mut system = NormalEquations::new(fitted.len(), 3.0);
        for sample in samples {
            let error = f64::from(sample.outcome) - weighted_sum_f64(&fitted, sample);
            let spread = f64::from(sample.scale).max(0.3);
            let trust = 5.0 / (4.0 * spread * spread + error * error);
            system.add(&sample.features, trust, trust * f64::from(sample.outcome));
        }
        fitted = system.solve();
    }
    store(&fitted, weights);
}

/// Newton's method on the likelihood of the logarithm of the spread.
fn fit_spread(samples: &[&NumberSample], weights: &mut [i16]) {
    let mut fitted = to_f64(weights);
    for _ in 0..6 {
        let mut system = NormalEquations::new(fitted.len(), 2.0);
        for sample in samples {
            let log_spread = weighted_sum_f64(&fitted, sample).clamp(-2.5, 14.0);
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

/// The distribution of errors, on the scale of Student's distribution; each error is spread evenly
/// over its step.
fn fit_shape(samples: &Samples, weights: &FineWeights, parts: &[usize], index: usize) -> TailShape {
    const POINTS: u32 = 8;
    let mut counts: [f64; PIECES] =
        std::array::from_fn(|piece| 6.0 * (2 * piece + 1) as f64 / (PIECES * PIECES) as f64);
    for part in parts {
        for sample in &samples.spreads[*part] {
            let log_spread = weighted_sum_f64(&to_f64(&weights.spread[*part][sample.class]), sample)
                .clamp(-2.5, 14.0) as f32;
            if shape_index(log_spread) != index {
                continue;
            }
            for point in 0..POINTS {
                let off = ((point as f32 + 0.5) / POINTS as f32 - 0.5) * sample.scale;
                let t = (sample.outcome + off).abs() / log_spread.exp2();
                counts[shape_piece(t)] += 1.0 / f64::from(POINTS);
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

struct NormalEquations {
    size: usize,
    matrix: Vec<f64>,
    right: Vec<f64>,
}

impl NormalEquations {
    /// With `ridge` on the diagonal, so that a feature that never occurred gets no weight.
    fn new(size: usize, ridge: f64) -> Self {
        let matrix = (0..size * size)
            .map(|index| if index % (size + 1) == 0 { ridge } else { 0.0 })
            .collect();
        Self { size, matrix, right: vec![0.0; size] }
    }

    fn add(&mut self, features: &[f32], weight: f64, right: f64) {
        for (row, feature) in
            features[..self.size].iter().enumerate().filter(|(_, feature)| **feature != 0.0)
        {
            let feature = f64::from(*feature);
            let scaled = feature * weight;
            for (cell, other) in
                self.matrix[row * self.size..].iter_mut().zip(&features[..self.size])
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
        (0..size).map(|row| self.right[row] / self.matrix[row * size + row]).collect()
    }
}
