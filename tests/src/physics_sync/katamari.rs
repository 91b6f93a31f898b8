//! One player among 900 small cubes, who rolls about with attract held: which cubes interact with
//! it, and how exactly they are drawn.
//!
//! A random driver chooses the player's keys, which travel as all inputs do: client, network, room.
//! The scene is not known beforehand, so the truth is recorded from the room's world, tick by tick,
//! at 60 ticks a second. What was drawn is compared with it at the end.
//!
//! A small cube **interacts** at a time when it has moved within the second before and is within
//! [`INTERACTION_RADIUS_M`] of the player's cube.
//!
//! Units: metres; bytes with all headers ([`wire::OVERHEAD_BYTES`] a datagram). Source: G. Fiedler,
//! "State Synchronization" (901 cubes, 256 kbit/s).

use std::time::Duration;

use ambit_client_core::client::stats::SimulationStats;
use ambit_cubes_physics::{Arena, RandomDriver, control};
use ambit_proto::keymap::Keymap;
use ambit_proto::time::GameTime;
use ambit_transport::impair::Impairment;

use super::ambit_scheme::SETTLE_TIME;
use super::ground_truth::{FRAME_HZ, GroundTruth};
use super::{distance, quantile};
use crate::cube_players::{CubePlayers, frames_in};
use crate::sim::wire;

pub const INTERACTION_RADIUS_M: f32 = 3.0;
/// Small cubes.
pub const CUBES: usize = 900;
pub const ARENA: Arena = Arena { width_m: 32.0, height_m: 32.0 };

#[derive(Clone, Debug, Default)]
pub struct KatamariResult {
    /// Error of small cubes that interact: median and 99th percentile.
    pub interacting: (f32, f32),
    /// Error of all small cubes in play, which move in truth within half a second or are drawn more
    /// than a millimetre off: median and 99th percentile.
    pub in_play: (f32, f32),
    /// Samples of `interacting` and of `in_play`.
    pub samples: (usize, usize),
    /// Cubes that interact at the same time: median and maximum.
    pub interacting_at_once: (usize, usize),
    /// With all headers.
    pub bytes_per_s: u64,
    /// The most in any second.
    pub max_bytes_in_a_second: u64,
    pub simulation: SimulationStats,
}

/// What the client draws of an object in one frame.
struct KatamariSample {
    object: usize,
    shows: GameTime,
    at: [f32; 3],
}

/// Runs the scene for this long.
pub fn run(
    seed: u64,
    network: &Impairment,
    parameters: &[(&str, &str)],
    duration: Duration,
) -> KatamariResult {
    let cubes = CUBES.to_string();
    let own = [("cubes", &*cubes), ("tick", "60"), ("sync", "simulated"), ("size", "32x32")];
    let mut players = CubePlayers::start(seed, 1, network, &[&own[..], parameters].concat());
    let (mut driver, mut truth) =
        (RandomDriver::new(seed, 0), GroundTruth::starting_at(players.physics_frame() + 1));
    let mut frame = |players: &mut CubePlayers, truth: &mut GroundTruth| {
        players.run_frame(|_, frame, at| {
            let wandering = driver.keys(frame, [at.x, at.y], ARENA);
            Keymap(wandering.0 & 0b1111).with(control::ATTRACT, true)
        });
        truth.record_frame(
            players.physics_frame(),
            players.system.room(players.room).expect("the room runs").world(),
        );
    };
    for _ in 0..frames_in(SETTLE_TIME) {
        frame(&mut players, &mut truth);
    }
    players.system.user_mut(0).sent_datagrams = Some(Vec::new());
    let mut samples = Vec::new();
    for _ in 0..frames_in(duration) {
        frame(&mut players, &mut truth);
        sample_drawn(&players, &truth, &mut samples);
    }
    let sent = players.system.user_mut(0).sent_datagrams.take().expect("recorded");
    let simulation = players.system.user(0).client.stats().simulation;
    // Whether a sample is in play also depends on what moves up to half a second later.
    for _ in 0..FRAME_HZ {
        frame(&mut players, &mut truth);
    }
    let bytes_per_s = (wire::bytes(&sent) as f32 / duration.as_secs_f32()) as u64;
    let max_bytes_in_a_second = wire::most_in_a_second(&sent);
    KatamariResult { bytes_per_s, max_bytes_in_a_second, simulation, ..evaluate(&truth, &samples) }
}

fn sample_drawn(players: &CubePlayers, truth: &GroundTruth, samples: &mut Vec<KatamariSample>) {
    for (object, drawn) in players.drawn_objects(0) {
        if let Some(object) = truth.index_of(object).filter(|object| *object < CUBES) {
            let at = [drawn.position.x, drawn.position.y, drawn.position.z];
            samples.push(KatamariSample { object, shows: drawn.room_time, at });
        }
    }
}

fn evaluate(truth: &GroundTruth, samples: &[KatamariSample]) -> KatamariResult {
    let mut interacting = Vec::new();
    let mut in_play = Vec::new();
    let mut interacting_at_once = std::collections::BTreeMap::<GameTime, usize>::new();
    for KatamariSample { object, shows, at } in samples {
        let true_position = truth.position_at(*object, *shows);
        let error = distance(*at, true_position);
        if error > 0.001 || truth.is_in_play(*object, *shows) {
            in_play.push(error);
        }
        if truth.has_moved(*object, *shows, FRAME_HZ as usize)
            && distance(true_position, truth.position_at(CUBES, *shows)) <= INTERACTION_RADIUS_M
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
            interacting_at_once.get(interacting_at_once.len() / 2).copied().unwrap_or(0),
            interacting_at_once.last().copied().unwrap_or(0),
        ),
        ..KatamariResult::default()
    }
}
