//! Fits the model's constants to a recording.
//!
//! Round after round the recording is coded with the model so far, which leaves notes of all
//! forecasts; from these the weights are fitted anew: middles by least squares that trust outliers
//! less (as Student's distribution says), spreads by Newton's method on the likelihood, shapes and
//! probabilities by counting. First on every other 100 frames, to tell what the model is worth on
//! the frames between, then on all of them; the latter is written.

#[path = "train_fit.rs"]
mod fit;
#[path = "train_source.rs"]
mod source;

use std::path::Path;

use ambit_proto::pose::Pose;
use ambit_proto::pose::fine::training::{Category, Coder, Model, Note, PARTS, TOTAL, Walk};
use ambit_proto::pose::fine::{CATEGORIES, Order, Scene};

use self::fit::fit;
use self::source::source;
use crate::packet::{LAG, Past};
use crate::trace::{CUBES, FRAMES_PER_SECOND, Trace};

const ROUNDS: usize = 8;
/// Frames that stay together when a recording is divided.
const BLOCK: usize = 100;
/// Ages, in frames, of what is known in place of everything; one frame in [`SPARSE_EVERY`] for
/// each.
const SPARSE: [&[usize]; 5] = [&[6], &[6, 9, 12, 15, 18], &[9, 13, 14, 20], &[6, 12], &[18]];
const SPARSE_EVERY: usize = 24;
const OUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/pose/fine/priors.rs");

/// A forecast: its class, features, what came, and with what spread (of a middle) or step (of a
/// spread).
struct Sample {
    class: usize,
    features: [f32; 20],
    outcome: f32,
    scale: f32,
}

#[derive(Default)]
struct Notes {
    is_wanted: bool,
    bits: [f64; CATEGORIES],
    category: usize,
    middles: [Vec<Sample>; 3],
    spreads: [Vec<Sample>; PARTS],
    contexts: [Vec<[u32; 2]>; 5],
}

impl Coder for &mut Notes {
    const TAKES_NOTES: bool = true;

    fn bit(&mut self, bit: bool, chance: u16) -> bool {
        let chance = f64::from(chance) / 65_536.0;
        self.bits[self.category] -= if bit { chance } else { 1.0 - chance }.log2();
        bit
    }

    fn among(&mut self, number: u32, count: u32, below: impl Fn(u32) -> u32) -> u32 {
        if count > 1 {
            self.bits[self.category] -=
                (f64::from(below(number + 1) - below(number)) / f64::from(TOTAL)).log2();
        }
        number
    }

    fn category(&mut self, category: Category) {
        self.category = category as usize;
    }

    fn note(&mut self, note: &Note<'_>) {
        if !self.is_wanted {
            return;
        }
        let sample = |class: usize, of: &[f32], outcome, scale| {
            let mut features = [0.0; 20];
            features[..of.len()].copy_from_slice(of);
            Sample {
                class,
                features,
                outcome,
                scale,
            }
        };
        match *note {
            Note::Middle {
                table,
                class,
                features,
                outcome,
                spread,
            } => {
                self.middles[table].push(sample(class, features, outcome, spread));
            }
            Note::Spread {
                part,
                class,
                features,
                error,
                step,
            } => {
                self.spreads[part].push(sample(class, features, error, step));
            }
            Note::Context {
                table,
                context,
                outcome,
            } => {
                let contexts = &mut self.contexts[table];
                contexts.resize(contexts.len().max(context + 1), [0; 2]);
                contexts[context][usize::from(outcome)] += 1;
            }
        }
    }
}

/// Trains, tells what it is worth, and writes the model.
pub(crate) fn run(path: &Path) -> anyhow::Result<()> {
    let trace = Trace::read(path)?;
    println!("half of the frames, to see what it is worth on the others:");
    train(&trace, &|number| (number / BLOCK).is_multiple_of(2));
    println!("all frames:");
    let model = train(&trace, &|_| true);
    std::fs::write(OUT, source(&model))?;
    println!("written: {OUT}");
    Ok(())
}

fn train(trace: &Trace, is_looked_at: &dyn Fn(usize) -> bool) -> Model {
    let mut model = Model::untrained();
    for round in 0..=ROUNDS {
        let (notes, rates) = code(trace, &model, is_looked_at);
        println!(
            "round {round}: {:.2} kbit/s on frames looked at, {:.2} on others",
            rates[0], rates[1]
        );
        if round < ROUNDS {
            model = fit(&notes, &model);
        }
    }
    model
}

/// Codes all frames, and some of them again with less of the past: what lossy rooms know.
fn code(trace: &Trace, model: &Model, is_looked_at: &dyn Fn(usize) -> bool) -> (Notes, [f64; 2]) {
    let (mut notes, mut scene, mut sorted) = (
        Notes::default(),
        Scene::with(model.clone()),
        Order::default(),
    );
    let (mut bits, mut packets) = ([0.0; 2], [0_u32; 2]);
    for number in LAG..trace.len() {
        let which = usize::from(!is_looked_at(number));
        notes.is_wanted = which == 0;
        notes.bits = [0.0; CATEGORIES];
        let past = Past::of(number, |number| trace.frame(number));
        one(
            trace.frame(number),
            &past,
            &mut notes,
            &mut scene,
            &mut sorted,
        );
        bits[which] += notes.bits.iter().sum::<f64>();
        packets[which] += 1;
        let sparse = SPARSE
            .get(number % SPARSE_EVERY)
            .filter(|back| which == 0 && number >= back[0]);
        if let Some(back) = sparse {
            let past = Past::with(back, number, |number| trace.frame(number));
            one(
                trace.frame(number),
                &past,
                &mut notes,
                &mut scene,
                &mut sorted,
            );
        }
    }
    let rate =
        |which: usize| bits[which] * FRAMES_PER_SECOND / f64::from(packets[which].max(1)) / 1_000.0;
    (notes, [rate(0), rate(1)])
}

fn one(frame: &[Pose], past: &Past<'_>, notes: &mut Notes, scene: &mut Scene, sorted: &mut Order) {
    let base = past.base();
    let news = |cube: usize| (frame[cube] != base[cube]).then_some(&frame[cube]);
    let mut walk = Walk::new(notes, scene);
    let history = past.history(0);
    walk.reference(&past.known(0, &history), news(0))
        .expect("notes refuse nothing");
    sorted.sort(Some(&base[0]), base[1..CUBES].iter());
    for index in sorted.indices() {
        let cube = index + 1;
        let history = past.history(cube);
        walk.object(&past.known(cube, &history), news(cube))
            .expect("notes refuse nothing");
    }
}
