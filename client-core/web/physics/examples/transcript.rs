//! Writes what a physics module is asked in a game of `cubes`, and what it has to answer, bit for
//! bit: `replay.js` compares a compiled module with that.
//!
//! Words to standard output: width and height of the floor (bits of `f32`), and for each call the
//! number of words of its orders, these, the number of words of its results, and these. To standard
//! error: how long a step takes natively.

use std::io::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use ambit_cubes_physics::{Arena, CUBE, PHYSICS, PLAYER, POSE_FORMAT, RandomDriver};
use ambit_proto::keymap::Keys;
use ambit_proto::physics::{BodyId, SharedPhysics};
use ambit_proto::pose::Pose;
use ambit_proto::space::Position;
use ambit_web_physics::{ModuleFailed, PhysicsLink, PhysicsModule, RemotePhysics};

const ARENA: Arena = Arena { width_m: 32.0, height_m: 32.0 };
const FRAMES: u64 = 20 * 60;
const PLAYERS: u64 = 4;
const CUBES: usize = 100;

/// A link that records.
#[derive(Debug)]
struct RecordingLink {
    world: u32,
    recorded: Arc<Mutex<Recorded>>,
}

#[derive(Debug)]
struct Recorded {
    module: PhysicsModule,
    words: Vec<u32>,
}

impl PhysicsLink for RecordingLink {
    fn execute(&self, orders: &[u32], results: &mut [u32]) -> Result<usize, ModuleFailed> {
        let mut recorded = self.recorded.lock().expect("one thread");
        let Recorded { module, words } = &mut *recorded;
        module.reserve(orders.len() as u32)[..orders.len()].copy_from_slice(orders);
        let written = module.execute(self.world, orders.len() as u32);
        let room = results.len().min(written as usize);
        results[..room].copy_from_slice(&module.results()[..room]);
        for list in [orders, module.results()] {
            words.push(list.len() as u32);
            words.extend(list);
        }
        Ok(written as usize)
    }
}

fn main() {
    let mut module = PhysicsModule::new(PHYSICS);
    let world = module.create(ARENA);
    let words = [ARENA.width_m, ARENA.height_m].map(f32::to_bits).to_vec();
    let recorded = Arc::new(Mutex::new(Recorded { module, words }));
    let link = RecordingLink { world, recorded: recorded.clone() };
    let steps_ms = play(&mut RemotePhysics::new(link));
    let words = std::mem::take(&mut recorded.lock().expect("one thread").words);
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    std::io::stdout().write_all(&bytes).expect("standard output is open");
    eprintln!("{FRAMES} steps, {:.1} us a step", 1_000.0 * steps_ms / FRAMES as f64);
}

/// Plays a game; returns how long all steps took.
#[expect(clippy::disallowed_methods, reason = "it measures")]
fn play(physics: &mut impl SharedPhysics) -> f64 {
    let mut rng = fastrand::Rng::with_seed(5);
    for _ in 0..CUBES {
        physics.add(CUBE, &thrown(&mut rng));
    }
    let mut players: Vec<(BodyId, RandomDriver, Keys)> = (0..PLAYERS)
        .map(|player| {
            let body = physics.add(PLAYER, &thrown(&mut rng));
            (body, RandomDriver::new(5, player), Keys::default())
        })
        .collect();
    let mut steps_ms = 0.0;
    for frame in 0..FRAMES {
        for (body, driver, keys) in &mut players {
            let at = POSE_FORMAT.position(&physics.pose(*body));
            keys.advance(driver.keys(frame, [at.x, at.y], ARENA));
            physics.set_keys(*body, *keys);
        }
        let began = Instant::now();
        physics.step();
        steps_ms += began.elapsed().as_secs_f64() * 1_000.0;
        // The host corrects something now and then.
        if frame % 20 == 0 {
            let (body, ..) = &players[rng.usize(..players.len())];
            let kind = PHYSICS.kind(PLAYER).expect("it is simulated");
            let later = physics.extrapolate(kind, &physics.pose(*body), 3);
            physics.set_pose(*body, &later);
        }
    }
    steps_ms
}

fn thrown(rng: &mut fastrand::Rng) -> Pose {
    let mut metres = || 8.0 + 16.0 * rng.f32();
    let at = Position::new(metres(), metres(), 0.1 * metres());
    POSE_FORMAT.moving(at, [0.0, 0.0, 0.0, 1.0], Some(([0.0; 3], [0.0; 3])))
}
