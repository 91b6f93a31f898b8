//! Fits the fine level's weights to a recording.
//!
//! In each round the recording is coded with the current weights, which yields samples of all
//! predictions; from these the weights are fitted again: middles by least squares that trust
//! outliers less (as Student's distribution says), spreads by Newton's method on the likelihood,
//! shapes and probabilities by counting. First on every other 100 frames, to tell what the weights
//! are worth on the frames in between, then on all frames; the latter weights are the result.

mod fit;

use ambit_proto::pose::Pose;
use ambit_proto::pose::fine::FineState;
use ambit_proto::pose::trained::FineWeights;
use ambit_proto::pose::trained::internals::{
    BitCategory, CLASSES, CLOSE_SUPPORTED, DecisionCoder, FINE_WEIGHTS, FLAG_CONTEXTS,
    LARGEST_CONTEXTS, MEMBERSHIP_CONTEXTS, PIECES, POSITION_FEATURES, SHAPES, SPREAD_FEATURES,
    SPREADS, SampledSnapshot, TOTAL, TURN_FEATURES, TailShape, UNCHANGED_CONTEXTS, WEIGHT_ONE,
    fine_state,
};

use self::fit::fit;
use super::recording::{ACK_LAG_FRAMES, KnownFrames, PoseRecording};
use super::{CandidateOrder, Trained, source};

/// How many [`BitCategory`]s there are.
const CATEGORIES: usize = BitCategory::Motion as usize + 1;
/// Their names, in the order of [`spent_bits`].
pub const CATEGORY_NAMES: [&str; CATEGORIES] =
    ["membership", "position", "turn", "unchanged, flags", "unacknowledged", "velocities"];
const ROUNDS: usize = 8;
/// First class of objects that are not close to the reference.
const FIRST_DISTANT: usize = 6;
/// Frames that stay together when a recording is divided.
const BLOCK: usize = 100;
/// One frame in this number is coded a second time, with fewer acknowledged frames: what is known
/// after losses. Each entry holds the ages of these frames.
const SPARSE_EVERY: usize = 24;
const SPARSE: [&[usize]; 5] = [&[6], &[6, 9, 12, 15, 18], &[9, 13, 14, 20], &[6, 12], &[18]];

impl Trained for FineWeights {
    type Examples = PoseRecording;

    const FILE: &'static str = "fine.rs";

    fn in_use() -> &'static Self {
        &FINE_WEIGHTS
    }

    fn train(recording: &PoseRecording, progress: &mut dyn FnMut(&str)) -> Self {
        progress("half of the frames, to see what the weights are worth on the other half:");
        train(recording, |number| (number / BLOCK).is_multiple_of(2), progress);
        progress("all frames:");
        train(recording, |_| true, progress)
    }

    fn to_source(&self) -> String {
        source::generated(
            "FINE_WEIGHTS",
            "FineWeights",
            "fine FILE",
            &[
                ("position", &self.position),
                ("turn", &self.turn),
                ("spread", &self.spread),
                ("shapes", &self.shapes),
                ("membership", &self.membership),
                ("flag", &self.flag),
                ("same_position", &self.same_position),
                ("same_turn", &self.same_turn),
                ("largest", &self.largest),
            ],
        )
    }
}

/// What training starts from: every object goes on as it did, close to the reference with it.
fn untrained() -> FineWeights {
    let one = WEIGHT_ONE as i16;
    let student: TailShape = std::array::from_fn(|i| (i * i * 65_535 / (PIECES * PIECES)) as u16);
    let mut weights = FineWeights {
        position: [[[0; POSITION_FEATURES]; CLASSES]; 2],
        turn: [[0; TURN_FEATURES]; CLASSES],
        spread: [[[0; SPREAD_FEATURES]; CLASSES]; SPREADS],
        shapes: [[student; SHAPES]; 4],
        membership: [1 << 15; MEMBERSHIP_CONTEXTS],
        flag: [1 << 15; FLAG_CONTEXTS],
        same_position: [1 << 12; UNCHANGED_CONTEXTS],
        same_turn: [1 << 12; UNCHANGED_CONTEXTS],
        largest: [50_000; LARGEST_CONTEXTS],
    };
    for class in 0..CLASSES {
        let is_close = class < FIRST_DISTANT || class == CLOSE_SUPPORTED;
        // Feature 4 is the movement with the reference, 2 the object's own.
        let feature = if is_close { 4 } else { 2 };
        weights.position[0][class][feature] = one;
        weights.position[1][class][feature] = one;
        weights.turn[class][feature] = one;
        for part in &mut weights.spread {
            part[class][0] = 4 * one;
        }
    }
    weights
}

fn train(
    recording: &PoseRecording,
    is_used: impl Fn(usize) -> bool,
    progress: &mut dyn FnMut(&str),
) -> FineWeights {
    let mut weights = untrained();
    for round in 0..=ROUNDS {
        let (samples, rates) = code(recording, &weights, &is_used);
        progress(&format!(
            "round {round}: {:.2} kbit/s on the frames used, {:.2} on the others",
            rates[0], rates[1]
        ));
        if round < ROUNDS {
            weights = fit(&samples, &weights);
        }
    }
    weights
}

/// A predicted number: its class, features, outcome, and the spread (for a middle) or the width of
/// a step (for a spread).
struct NumberSample {
    class: usize,
    features: [f32; 20],
    outcome: f32,
    scale: f32,
}

/// Takes samples in place of writing.
#[derive(Default)]
struct Samples {
    /// Whether this frame is used for training.
    is_used: bool,
    /// Of this frame, by category.
    bits: [f64; CATEGORIES],
    category: usize,
    middles: [Vec<NumberSample>; 3],
    spreads: [Vec<NumberSample>; SPREADS],
    /// How often a decision was false and true, by table and context.
    contexts: [Vec<[u32; 2]>; 5],
}

impl DecisionCoder for &mut Samples {
    const TRAINS: bool = true;

    fn bit(&mut self, bit: bool, probability: u16) -> bool {
        let probability = f64::from(probability) / 65_536.0;
        self.bits[self.category] -= if bit { probability } else { 1.0 - probability }.log2();
        bit
    }

    fn choose(&mut self, number: u32, count: u32, below: impl Fn(u32) -> u32) -> u32 {
        if count > 1 {
            self.bits[self.category] -=
                (f64::from(below(number + 1) - below(number)) / f64::from(TOTAL)).log2();
        }
        number
    }

    fn category(&mut self, category: BitCategory) {
        self.category = category as usize;
    }

    fn sample_middle(
        &mut self,
        table: usize,
        class: usize,
        features: &[f32],
        outcome: f32,
        spread: f32,
    ) {
        if self.is_used {
            self.middles[table].push(NumberSample::new(class, features, outcome, spread));
        }
    }

    fn sample_spread(
        &mut self,
        part: usize,
        class: usize,
        features: &[f32],
        error: f32,
        step: f32,
    ) {
        if self.is_used {
            self.spreads[part].push(NumberSample::new(class, features, error, step));
        }
    }

    fn sample_context(&mut self, table: usize, context: usize, outcome: bool) {
        if self.is_used {
            let contexts = &mut self.contexts[table];
            contexts.resize(contexts.len().max(context + 1), [0; 2]);
            contexts[context][usize::from(outcome)] += 1;
        }
    }
}

impl NumberSample {
    fn new(class: usize, used: &[f32], outcome: f32, scale: f32) -> Self {
        let mut features = [0.0; 20];
        features[..used.len()].copy_from_slice(used);
        Self { class, features, outcome, scale }
    }
}

/// Codes all frames; returns samples and kbit/s of the frames used, and of the others.
fn code(
    recording: &PoseRecording,
    weights: &FineWeights,
    is_used: &impl Fn(usize) -> bool,
) -> (Samples, [f64; 2]) {
    let (mut samples, mut state, mut order) =
        (Samples::default(), fine_state(weights.clone()), CandidateOrder::default());
    let mut bits = [0.0; 2];
    let mut packets = [0_u32; 2];
    let frame_of = |number| recording.frame(number);
    for number in ACK_LAG_FRAMES..recording.frames() {
        let which = usize::from(!is_used(number));
        samples.is_used = which == 0;
        samples.bits = [0.0; CATEGORIES];
        let frame = recording.frame(number);
        let known = KnownFrames::of(recording, number, frame_of);
        code_frame(frame, &known, &mut samples, &mut state, &mut order);
        bits[which] += samples.bits.iter().sum::<f64>();
        packets[which] += 1;
        let sparse =
            SPARSE.get(number % SPARSE_EVERY).filter(|ages| which == 0 && number >= ages[0]);
        if let Some(ages) = sparse {
            let known = KnownFrames::with_ages(recording, ages, number, frame_of);
            code_frame(frame, &known, &mut samples, &mut state, &mut order);
        }
    }
    let frames_per_s = 1e6 / f64::from(recording.frame_us);
    let rate =
        |which: usize| bits[which] * frames_per_s / f64::from(packets[which].max(1)) / 1_000.0;
    (samples, [rate(0), rate(1)])
}

/// What the bits of a section are spent on, without its end: by [`CATEGORY_NAMES`].
pub fn spent_bits(frame: &[Pose], known: &KnownFrames<'_>) -> [f64; CATEGORIES] {
    let mut samples = Samples::default();
    code_frame(
        frame,
        known,
        &mut samples,
        &mut FineState::default(),
        &mut CandidateOrder::default(),
    );
    samples.bits
}

fn code_frame(
    frame: &[Pose],
    known: &KnownFrames<'_>,
    samples: &mut Samples,
    state: &mut FineState,
    order: &mut CandidateOrder,
) {
    let baseline = known.baseline();
    let changed = |object: usize| (frame[object] != baseline[object]).then_some(&frame[object]);
    let mut section = SampledSnapshot::new(samples, state);
    let history = known.history(0);
    section.code_reference(&known.known(0, &history), changed(0));
    order.sort(Some(&baseline[0]), baseline[1..].iter());
    for index in order.indices() {
        let object = index + 1;
        let history = known.history(object);
        section.code_object(&known.known(object, &history), changed(object));
    }
}
