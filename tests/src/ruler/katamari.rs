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
//! Units: metres; bytes with all headers ([`wire::OVERHEAD_BYTES`] a datagram). Source: reference
//! 002 (901 cubes, 256 kbit/s).

use std::time::Duration;

use ambit_client_core::client::stats::SimulationStats;
use ambit_proto::games::cubes::{Arena, Driver, control};
use ambit_proto::impair::Impairment;
use ambit_proto::keymap::Keymap;
use ambit_proto::time::GameTime;

use super::ours::SETTLING;
use super::truth::{HZ, Truth};
use super::{distance, quantile};
use crate::hands::{Hands, frames_of};
use crate::sim::wire;

/// See the module.
pub const NEAR_M: f32 = 3.0;
/// Small cubes.
pub const CUBES: usize = 900;
/// The floor.
pub const ARENA: Arena = Arena {
    width_m: 32.0,
    height_m: 32.0,
};

/// What a run came to.
#[derive(Clone, Debug, Default)]
pub struct Katamari {
    /// Of small cubes that interact: median and 99 %.
    pub interacting: (f32, f32),
    /// Of all small cubes that move in truth within half a second, or are drawn more than a
    /// millimetre off.
    pub in_play: (f32, f32),
    /// Samples of the one and the other.
    pub samples: (usize, usize),
    /// How many interact at a time: median and most.
    pub at_once: (usize, usize),
    /// With all headers.
    pub bytes_per_s: u64,
    /// In the fullest second.
    pub most_bytes_in_a_second: u64,
    /// Of the client.
    pub simulation: SimulationStats,
}

/// What is drawn of an object in a frame of the client.
struct Sample {
    object: usize,
    shows: GameTime,
    at: [f32; 3],
}

/// Plays for so long.
pub fn play(
    seed: u64,
    line: &Impairment,
    parameters: &[(&str, &str)],
    how_long: Duration,
) -> Katamari {
    let cubes = CUBES.to_string();
    let own = [
        ("cubes", &*cubes),
        ("tick", "60"),
        ("sync", "simulated"),
        ("size", "32x32"),
    ];
    let mut hands = Hands::begin(seed, 1, line, &[&own[..], parameters].concat());
    let (mut dice, mut truth) = (
        Driver::new(seed, 0),
        Truth::watching(hands.physics_frame() + 1),
    );
    let mut frame = |hands: &mut Hands, truth: &mut Truth| {
        hands.frame(|_, frame, at| {
            let wandering = dice.keys(frame, [at.x, at.y], ARENA);
            Keymap(wandering.0 & 0b1111).with(control::ATTRACT, true)
        });
        truth.note(
            hands.physics_frame(),
            hands.system.room(hands.room).expect("it runs").world(),
        );
    };
    for _ in 0..frames_of(SETTLING) {
        frame(&mut hands, &mut truth);
    }
    hands.system.guest_mut(0).sent_to = Some(Vec::new());
    let mut samples = Vec::new();
    for _ in 0..frames_of(how_long) {
        frame(&mut hands, &mut truth);
        draw(&hands, &truth, &mut samples);
    }
    let sent = hands.system.guest_mut(0).sent_to.take().expect("tapped");
    let simulation = hands.system.guest(0).client.stats().simulation;
    // What is in play may also be what moves a little later.
    for _ in 0..HZ {
        frame(&mut hands, &mut truth);
    }
    let bytes_per_s = (wire::bytes(&sent) as f32 / how_long.as_secs_f32()) as u64;
    let most_bytes_in_a_second = wire::most_in_a_second(&sent);
    Katamari {
        bytes_per_s,
        most_bytes_in_a_second,
        simulation,
        ..judge(&truth, &samples)
    }
}

fn draw(hands: &Hands, truth: &Truth, samples: &mut Vec<Sample>) {
    for (object, drawn) in hands.drawn(0) {
        if let Some(object) = truth.index_of(object).filter(|object| *object < CUBES) {
            let at = [drawn.position.x, drawn.position.y, drawn.position.z];
            samples.push(Sample {
                object,
                shows: drawn.shows,
                at,
            });
        }
    }
}

fn judge(truth: &Truth, samples: &[Sample]) -> Katamari {
    let (mut interacting, mut in_play) = (Vec::new(), Vec::new());
    let mut at_once = std::collections::BTreeMap::<GameTime, usize>::new();
    for Sample { object, shows, at } in samples {
        let there = truth.at(*object, *shows);
        let error = distance(*at, there);
        if error > 0.001 || truth.is_in_play(*object, *shows) {
            in_play.push(error);
        }
        if truth.has_moved(*object, *shows, HZ as usize)
            && distance(there, truth.at(CUBES, *shows)) <= NEAR_M
        {
            interacting.push(error);
            *at_once.entry(*shows).or_default() += 1;
        }
    }
    let mut at_once: Vec<usize> = at_once.into_values().collect();
    at_once.sort_unstable();
    let both = |errors: &mut Vec<f32>| (quantile(errors, 0.5), quantile(errors, 0.99));
    Katamari {
        samples: (interacting.len(), in_play.len()),
        interacting: both(&mut interacting),
        in_play: both(&mut in_play),
        at_once: (
            at_once.get(at_once.len() / 2).copied().unwrap_or(0),
            at_once.last().copied().unwrap_or(0),
        ),
        ..Katamari::default()
    }
}
