//! One player among 900 small cubes, who rolls about with attract held: what interacts, and how right it is drawn.
//!
//! The player's keys are thrown by dice and go the way of all inputs: client, line, room. So there is no scene to be known beforehand; the
//! truth is what the room's world was, tick by tick, at 60 ticks a second. What is drawn is held against it at the end.
//!
//! A small cube **interacts** at a time when it has moved within the second before, and is within [`NEAR_M`] of the player's cube.
//!
//! Units: metres; bytes with all headers ([`wire::OVERHEAD_BYTES`] a datagram). Source: reference 002 (901 cubes, 256 kbit/s).

use std::time::Duration;

use ambit_client_core::client::Client;
use ambit_client_core::client::config::ClientConfig;
use ambit_client_core::client::stats::SimulationStats;
use ambit_game_server::logic::registry::Registry;
use ambit_proto::games::cubes::{Arena, Driver, control, frame_at};
use ambit_proto::ids::RoomId;
use ambit_proto::impair::Impairment;
use ambit_proto::keymap::Keymap;
use ambit_proto::time::{GameTime, LocalTime};

use super::ours::SETTLING;
use super::truth::{HZ, Truth};
use super::{distance, quantile};
use crate::sim::{System, wire};

/// See the module.
pub const NEAR_M: f32 = 3.0;
/// Small cubes.
pub const CUBES: usize = 900;
/// The floor.
pub const ARENA: Arena = Arena { width_m: 32.0, height_m: 32.0 };

/// What a run came to.
#[derive(Clone, Debug, Default)]
pub struct Katamari {
    /// Of small cubes that interact: median and 99 %.
    pub interacting: (f32, f32),
    /// Of all small cubes that move in truth within half a second, or are drawn more than a millimetre off.
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

/// A room at 60 ticks a second with these parameters besides, and its only player.
struct Run {
    system: System,
    room: RoomId,
    truth: Truth,
    dice: Driver,
    begun: LocalTime,
    frames: u64,
}

/// Plays for so long.
pub fn play(seed: u64, line: &Impairment, parameters: &[(&str, &str)], how_long: Duration) -> Katamari {
    let mut run = Run::begin(seed, line, parameters);
    for _ in 0..frames_of(SETTLING) {
        run.frame();
    }
    run.system.guest_mut(0).sent_to = Some(Vec::new());
    let mut samples = Vec::new();
    for _ in 0..frames_of(how_long) {
        run.frame();
        run.draw(&mut samples);
    }
    let sent = run.system.guest_mut(0).sent_to.take().expect("tapped");
    let simulation = run.system.guest(0).client.stats().simulation;
    // What is in play may also be what moves a little later.
    for _ in 0..frames_of(Duration::from_secs(1)) {
        run.frame();
    }
    let figures = judge(&run.truth, &samples);
    let bytes_per_s = (wire::bytes(&sent) as f32 / how_long.as_secs_f32()) as u64;
    Katamari { bytes_per_s, most_bytes_in_a_second: wire::most_in_a_second(&sent), simulation, ..figures }
}

fn frames_of(time: Duration) -> u64 {
    time.as_millis() as u64 * HZ / 1_000
}

impl Run {
    fn begin(seed: u64, line: &Impairment, parameters: &[(&str, &str)]) -> Self {
        let mut system = System::new(seed, &Registry::standard());
        let guest = system.arrive_with(ClientConfig { name: "ann".into(), ..ClientConfig::default() }, line);
        let (cubes, seed_text) = (CUBES.to_string(), seed.to_string());
        let size = format!("{}x{}", ARENA.width_m, ARENA.height_m);
        let own = [("cubes", &*cubes), ("tick", "60"), ("sync", "simulated"), ("size", &size), ("seed", &seed_text)];
        let room = system.gather(&[guest], "cubes", &[&own[..], parameters].concat());
        // In the middle between two ticks, which are as far apart as the frames that follow.
        let tick = system.room(room).expect("it runs").world().now();
        system.run_until("a tick", |system| system.room(room).is_some_and(|room| room.world().now() > tick));
        system.run_for(Duration::from_millis(8));
        let first = frame_at(system.room(room).expect("it runs").world().now());
        let begun = system.now();
        Run { system, room, truth: Truth::watching(first + 1), dice: Driver::new(seed, 0), begun, frames: 0 }
    }

    /// A tick of the room, and a frame of the player and the client.
    fn frame(&mut self) {
        self.frames += 1;
        let next = self.begun + Duration::from_micros(self.frames * 1_000_000 / HZ);
        self.system.run_for(next.since(self.system.now()));
        let world = self.system.room(self.room).expect("it runs").world();
        let frame = frame_at(world.now());
        self.truth.note(frame, world);
        let [x, y, _] = self.truth.at(CUBES, world.now());
        let wandering = Keymap(self.dice.keys(frame, [x, y], ARENA).0 & 0b1111);
        self.system.input(0, wandering.with(control::ATTRACT, true));
        self.system.with(0, Client::handle_timeout);
    }

    fn draw(&self, samples: &mut Vec<Sample>) {
        let now = self.system.local(0);
        let client = &self.system.guest(0).client;
        let room = self.system.room(self.room).expect("it runs");
        let viewer = room.network().viewers().next().expect("it plays").client;
        let oracle = self.system.poses(self.room).expect("it has ticked");
        for seen in client.objects() {
            let object = oracle.object_of(viewer, seen.id).and_then(|object| self.truth.index_of(object));
            let Some(object) = object.filter(|object| *object < CUBES) else { continue };
            if let Some(drawn) = client.drawn(seen.id, now) {
                let at = [drawn.position.x, drawn.position.y, drawn.position.z];
                samples.push(Sample { object, shows: drawn.shows, at });
            }
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
        if truth.has_moved(*object, *shows, HZ as usize) && distance(there, truth.at(CUBES, *shows)) <= NEAR_M {
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
        at_once: (at_once.get(at_once.len() / 2).copied().unwrap_or(0), at_once.last().copied().unwrap_or(0)),
        ..Katamari::default()
    }
}
