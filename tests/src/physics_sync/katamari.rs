//! One player among 900 small cubes, who rolls about with attract held: what interacts, and how
//! right it is drawn.
//!
//! The player's keys are thrown by dice and go the way of all inputs: client, line, room. So there
//! is no scene to be known beforehand; the truth is what the room's world was, tick by tick, at 60
//! ticks a second. What is drawn is held against it at the end.
//!
//! A small cube **interacts** at a time when it has moved within the second before, and is within
//! [`NEAR_M`] of the player's cube.
//!
//! Units: metres; bytes with all headers ([`wire::OVERHEAD_BYTES`] a datagram). PoseSource:
//! reference 002 (901 cubes, 256 kbit/s).

use std::time::Duration;

use ambit_client_core::client::stats::SimulationStats;
use ambit_proto::games::cubes::{Arena, RandomDriver, control};
use ambit_proto::impair::Impairment;
use ambit_proto::keymap::Keymap;
use ambit_proto::time::GameTime;

use super::ambit_scheme::SETTLE_TIME;
use super::ground_truth::{FRAME_HZ, GroundTruth};
use super::{distance, quantile};
use crate::cube_players::{CubePlayers, frames_in};
use crate::sim::wire;

/// See the module.
pub const INTERACTION_RADIUS_M: f32 = 3.0;
/// Small cubes.
pub const CUBES: usize = 900;
/// The floor.
pub const ARENA: Arena = Arena {
    width_m: 32.0,
    height_m: 32.0,
};

/// What a run came to.
#[derive(Clone, Debug, Default)]
pub struct KatamariResult {
    /// Of small cubes that interact: median and 99 %.
    pub interacting: (f32, f32),
    /// Of all small cubes that move in truth within half a second, or are drawn more than a
    /// millimetre off.
    pub in_play: (f32, f32),
    /// InputSampler of the one and the other.
    pub samples: (usize, usize),
    /// How many interact at a time: median and most.
    pub interacting_at_once: (usize, usize),
    /// With all headers.
    pub bytes_per_s: u64,
    /// In the fullest second.
    pub max_bytes_in_a_second: u64,
    /// Of the client.
    pub simulation: SimulationStats,
}

/// What is drawn of an object in a frame of the client.
struct KatamariSample {
    object: usize,
    shows: GameTime,
    at: [f32; 3],
}

/// Plays for so long.
pub fn run(
    seed: u64,
    line: &Impairment,
    parameters: &[(&str, &str)],
    how_long: Duration,
) -> KatamariResult {
    let cubes = CUBES.to_string();
    let own = [
        ("cubes", &*cubes),
        ("tick", "60"),
        ("sync", "simulated"),
        ("size", "32x32"),
    ];
    let mut hands = CubePlayers::start(seed, 1, line, &[&own[..], parameters].concat());
    let (mut dice, mut truth) = (
        RandomDriver::new(seed, 0),
        GroundTruth::starting_at(hands.physics_frame() + 1),
    );
    let mut frame = |hands: &mut CubePlayers, truth: &mut GroundTruth| {
        hands.run_frame(|_, frame, at| {
            let wandering = dice.keys(frame, [at.x, at.y], ARENA);
            Keymap(wandering.0 & 0b1111).with(control::ATTRACT, true)
        });
        truth.record_frame(
            hands.physics_frame(),
            hands.system.room(hands.room).expect("it runs").world(),
        );
    };
    for _ in 0..frames_in(SETTLE_TIME) {
        frame(&mut hands, &mut truth);
    }
    hands.system.guest_mut(0).sent_to = Some(Vec::new());
    let mut samples = Vec::new();
    for _ in 0..frames_in(how_long) {
        frame(&mut hands, &mut truth);
        sample_drawn(&hands, &truth, &mut samples);
    }
    let sent = hands.system.guest_mut(0).sent_to.take().expect("tapped");
    let simulation = hands.system.guest(0).client.stats().simulation;
    // What is in play may also be what moves a little later.
    for _ in 0..FRAME_HZ {
        frame(&mut hands, &mut truth);
    }
    let bytes_per_s = (wire::bytes(&sent) as f32 / how_long.as_secs_f32()) as u64;
    let max_bytes_in_a_second = wire::most_in_a_second(&sent);
    KatamariResult {
        bytes_per_s,
        max_bytes_in_a_second,
        simulation,
        ..evaluate(&truth, &samples)
    }
}

fn sample_drawn(hands: &CubePlayers, truth: &GroundTruth, samples: &mut Vec<KatamariSample>) {
    for (object, drawn) in hands.drawn_objects(0) {
        if let Some(object) = truth.index_of(object).filter(|object| *object < CUBES) {
            let at = [drawn.position.x, drawn.position.y, drawn.position.z];
            samples.push(KatamariSample {
                object,
                shows: drawn.room_time,
                at,
            });
        }
    }
}

fn evaluate(truth: &GroundTruth, samples: &[KatamariSample]) -> KatamariResult {
    let (mut interacting, mut in_play) = (Vec::new(), Vec::new());
    let mut interacting_at_once = std::collections::BTreeMap::<GameTime, usize>::new();
    for KatamariSample { object, shows, at } in samples {
        let there = truth.position_at(*object, *shows);
        let error = distance(*at, there);
        if error > 0.001 || truth.is_in_play(*object, *shows) {
            in_play.push(error);
        }
        if truth.has_moved(*object, *shows, FRAME_HZ as usize)
            && distance(there, truth.position_at(CUBES, *shows)) <= INTERACTION_RADIUS_M
        {
            interacting.push(error);
            *interacting_at_once.entry(*shows).or_default() += 1;
        }
    }
    let mut interacting_at_once: Vec<usize> = interacting_at_once.into_values().collect();
    interacting_at_once.sort_unstable();
    let both = |errors: &mut Vec<f32>| (quantile(errors, 0.5), quantile(errors, 0.99));
    KatamariResult {
        samples: (interacting.len(), in_play.len()),
        interacting: both(&mut interacting),
        in_play: both(&mut in_play),
        interacting_at_once: (
            interacting_at_once
                .get(interacting_at_once.len() / 2)
                .copied()
                .unwrap_or(0),
            interacting_at_once.last().copied().unwrap_or(0),
        ),
        ..KatamariResult::default()
    }
}
