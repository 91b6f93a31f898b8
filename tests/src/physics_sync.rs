//! Compares schemes that synchronise physics: how closely clients draw what really happens.
//!
//! The same scene of the game `cubes` (same seed, scripted players; in rooms of 20 ticks a second
//! players join up to two frames later) is brought to four clients over the same impaired network:
//! by Ambit, interpolated or simulated ([`ambit_scheme`]), and by the schemes of "Synchronisation
//! par le reseau d'un monde virtuel sur Unity" as its author describes them
//! ([`reference_schemes`]). Every client draws 60 times a second. What it draws is compared with
//! the truth ([`ground_truth`]) at the time that it claims to show:
//!
//! - the **error** e: distance between the drawn and the true position;
//! - the **jump** J: difference between the drawn and the true movement from one frame to the next;
//! - **wrong at rest**: an object is at rest in truth, and drawn more than [`CORRECT_WITHIN_M`]
//!   off.
//!
//! e and J are taken of objects in play: those that move in truth within half a second, or are
//! drawn more than a millimetre off. All others are right and would only dilute the figures.
//!
//! A **visible problem** is e above 10 cm for more than one sample in a hundred, J above 10 cm for
//! more than one in a thousand, or an object that stays wrong at rest for more than 2 s.
//!
//! Units: metres; frames of 1/60 s. Everything runs on simulated time: the figures are the same on
//! every machine.

pub mod ambit_scheme;
pub mod ground_truth;
pub mod katamari;
pub mod reference_schemes;
pub mod snapshot_size;

use std::time::Duration;

use ambit_proto::time::GameTime;

use self::ground_truth::GroundTruth;

/// An object at rest that is drawn at most this far off is right.
pub const CORRECT_WITHIN_M: f32 = 0.01;
/// Shares of the samples in play whose e, and whose J, must not exceed [`VISIBLE_ERROR_M`].
const ERROR_QUANTILE: f32 = 0.99;
const JUMP_QUANTILE: f32 = 0.999;
/// Players see errors beyond this.
pub const VISIBLE_ERROR_M: f32 = 0.10;
/// Longest time that an object may be wrong at rest.
pub const MAX_WRONG_TIME: Duration = Duration::from_secs(2);

/// What one client has drawn of one object.
#[derive(Clone, Copy, Debug)]
struct DrawnSample {
    shows: GameTime,
    at: [f32; 3],
    truth: [f32; 3],
    /// Consecutive frames in which it was wrong at rest.
    wrong_frames: u32,
}

/// Collects what clients draw, and computes the errors.
#[derive(Debug)]
pub struct ErrorMeter<'t> {
    truth: &'t GroundTruth,
    /// By client and object.
    last_drawn: Vec<Vec<Option<DrawnSample>>>,
    errors: Vec<f32>,
    jumps: Vec<f32>,
    /// The newest true time, and how far behind it the drawn times were.
    now: GameTime,
    behind_ms: Vec<f32>,
    rest_samples: u64,
    wrong_samples: u64,
    longest_wrong: u32,
}

/// The errors, and what the scheme costs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ErrorSummary {
    /// In metres.
    pub error_p50: f32,
    /// In metres.
    pub error_p99: f32,
    /// In metres.
    pub jump_p999: f32,
    /// Delay between an event and its drawing, in milliseconds.
    pub behind_p50_ms: f32,
    /// Share of the samples of objects at rest.
    pub wrong_at_rest_share: f32,
    /// Longest time that an object stayed wrong at rest, in seconds.
    pub longest_wrong_s: f32,
    /// To each client, all headers included.
    pub bytes_per_s: f32,
    /// Samples of objects in play.
    pub samples: u64,
}

impl ErrorSummary {
    /// Whether players see that something is wrong.
    pub fn has_visible_problem(&self) -> bool {
        self.error_p99 > VISIBLE_ERROR_M
            || self.jump_p999 > VISIBLE_ERROR_M
            || self.longest_wrong_s > MAX_WRONG_TIME.as_secs_f32()
    }
}

impl<'t> ErrorMeter<'t> {
    pub fn new(truth: &'t GroundTruth, clients: usize) -> Self {
        let last = vec![vec![None; truth.object_count()]; clients];
        ErrorMeter {
            truth,
            last_drawn: last,
            errors: Vec::new(),
            jumps: Vec::new(),
            now: GameTime::default(),
            behind_ms: Vec::new(),
            rest_samples: 0,
            wrong_samples: 0,
            longest_wrong: 0,
        }
    }

    /// Sets the newest time of which the truth is known to the server.
    pub fn set_now(&mut self, now: GameTime) {
        self.now = now;
    }

    /// Records that a client draws an object in its newest frame.
    pub fn record_drawn(&mut self, client: usize, object: usize, shows: GameTime, at: [f32; 3]) {
        let truth = self.truth.position_at(object, shows);
        let error = distance(at, truth);
        let before = self.last_drawn[client][object];
        let rests = self.truth.is_at_rest(object, shows);
        let wrong = rests && error > CORRECT_WITHIN_M;
        let wrong_frames =
            if wrong { before.map_or(0, |before| before.wrong_frames) + 1 } else { 0 };
        self.longest_wrong = self.longest_wrong.max(wrong_frames);
        self.rest_samples += u64::from(rests);
        self.wrong_samples += u64::from(wrong);
        if error > 0.001 || self.truth.is_in_play(object, shows) {
            self.errors.push(error);
            self.behind_ms.push(self.now.since(shows).as_secs_f32() * 1_000.0);
            if let Some(before) = before.filter(|before| before.shows < shows) {
                let change: [f32; 3] = std::array::from_fn(|axis| {
                    at[axis] - before.at[axis] - (truth[axis] - before.truth[axis])
                });
                self.jumps.push(distance(change, [0.0; 3]));
            }
        }
        self.last_drawn[client][object] = Some(DrawnSample { shows, at, truth, wrong_frames });
    }

    pub fn summarize(mut self, bytes_per_s: f32) -> ErrorSummary {
        ErrorSummary {
            error_p50: quantile(&mut self.errors, 0.5),
            error_p99: quantile(&mut self.errors, ERROR_QUANTILE),
            jump_p999: quantile(&mut self.jumps, JUMP_QUANTILE),
            behind_p50_ms: quantile(&mut self.behind_ms, 0.5),
            wrong_at_rest_share: self.wrong_samples as f32 / self.rest_samples.max(1) as f32,
            longest_wrong_s: self.longest_wrong as f32 / ground_truth::FRAME_HZ as f32,
            bytes_per_s,
            samples: self.errors.len() as u64,
        }
    }
}

/// The value that this share of the values does not exceed.
fn quantile(values: &mut [f32], share: f32) -> f32 {
    if values.is_empty() {
        return 0.0;
    }
    let index = (share * (values.len() - 1) as f32).round() as usize;
    *values.select_nth_unstable_by(index, f32::total_cmp).1
}

fn distance(a: [f32; 3], b: [f32; 3]) -> f32 {
    (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f32>().sqrt()
}
