//! A physics behind the boundary gives the same bits as the same physics without it.

use std::sync::Mutex;

use ambit_cubes_physics::{Arena, CUBE, PHYSICS, PLAYER, POSE_FORMAT, RandomDriver};
use ambit_proto::keymap::Keys;
use ambit_proto::map::{StaticMap, StaticObstacle};
use ambit_proto::physics::{BodyId, SharedPhysics};
use ambit_proto::pose::Pose;
use ambit_proto::space::Position;

use super::*;

const ARENA: Arena = Arena { width_m: 32.0, height_m: 32.0 };

#[test]
fn a_remote_physics_gives_the_same_bits_as_the_physics_behind_it() {
    for seed in 0..3 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut remote = remote();
        let mut direct = (PHYSICS.create)(&PHYSICS, ARENA);
        let mut both = |call: &mut dyn FnMut(&mut dyn SharedPhysics) -> Option<Pose>| {
            let (a, b) = (call(&mut remote), call(&mut *direct));
            assert_eq!(a, b, "seed {seed}");
            assert_eq!(remote.changed_bodies(), direct.changed_bodies(), "seed {seed}");
            a
        };
        let mut bodies: Vec<(u8, BodyId)> = Vec::new();
        for _ in 0..2_000 {
            let chosen = (!bodies.is_empty()).then(|| rng.usize(..bodies.len()));
            match (rng.u8(..20), chosen) {
                (0, _) => {
                    let kind = if rng.u8(..4) == 0 { PLAYER } else { CUBE };
                    let pose = random_pose(&mut rng);
                    let mut added = None;
                    both(&mut |physics| {
                        let body = physics.add(kind, &pose);
                        assert_eq!(*added.get_or_insert(body), body, "seed {seed}");
                        Some(physics.pose(body))
                    });
                    bodies.extend(added.map(|body| (kind, body)));
                }
                (1, Some(index)) if bodies.len() > 10 => {
                    let (_, body) = bodies.swap_remove(index);
                    both(&mut |physics| {
                        physics.remove(body);
                        None
                    });
                }
                (2, Some(index)) => {
                    let (_, body) = bodies[index];
                    let pose = random_pose(&mut rng);
                    both(&mut |physics| {
                        physics.set_pose(body, &pose);
                        Some(physics.pose(body))
                    });
                }
                (3, Some(index)) => {
                    let (kind, body) = bodies[index];
                    let kind = PHYSICS.kind(kind).expect("it is simulated");
                    let frames = rng.u64(..20);
                    both(&mut |physics| {
                        Some(physics.extrapolate(kind, &physics.pose(body), frames))
                    });
                }
                (4, Some(index)) => {
                    let (kind, body) = bodies[index];
                    let mut keys = Keys::default();
                    keys.advance(RandomDriver::new(rng.u64(..), 1).keys(1, [16.0; 2], ARENA));
                    both(&mut |physics| {
                        if kind == PLAYER {
                            physics.set_keys(body, keys);
                        }
                        None
                    });
                }
                _ => {
                    both(&mut |physics| {
                        physics.step();
                        None
                    });
                    for (_, body) in &bodies {
                        both(&mut |physics| Some(physics.pose(*body)));
                    }
                }
            }
        }
    }
}

#[test]
fn a_world_that_fails_moves_bodies_by_the_given_poses_alone() {
    let mut remote = remote();
    let mut rng = fastrand::Rng::with_seed(1);
    let first = random_pose(&mut rng);
    let later = random_pose(&mut rng);
    let body = remote.add(CUBE, &first);
    // The module knows no such body, and panics.
    remote.set_pose(BodyId::new(0, 77), &later);
    remote.step();
    assert_eq!((remote.pose(body), remote.changed_bodies()), (later, &[][..]));
    let other = remote.add(CUBE, &first);
    remote.set_pose(body, &first);
    remote.step();
    assert_eq!((remote.pose(body), remote.pose(other)), (first, first));
    assert_ne!(body, other);
    remote.remove(body);
    let map = StaticMap { obstacles: vec![StaticObstacle::default()] };
    remote.set_map(&map);
    let kind = PHYSICS.kind(CUBE).expect("it is simulated");
    let moved = remote.extrapolate(kind, &later, 3);
    let expected = ambit_proto::physics::extrapolate(&kind.format, &later, 3);
    assert_eq!(moved, expected);
}

#[test]
fn a_world_s_number_is_used_again() {
    let mut module = PhysicsModule::new(PHYSICS);
    let numbers = [module.create(ARENA), module.create(ARENA)];
    module.remove(numbers[0]);
    assert_eq!((numbers, module.create(ARENA), module.create(ARENA)), ([0, 1], 0, 2));
}

/// Copies words as JavaScript does.
#[derive(Debug)]
struct DirectLink {
    module: Mutex<PhysicsModule>,
    world: u32,
}

impl PhysicsLink for DirectLink {
    fn execute(&self, orders: &[u32], results: &mut [u32]) -> Result<usize, ModuleFailed> {
        let execute = || {
            let mut module = self.module.lock().expect("it has not failed");
            module.reserve(orders.len() as u32)[..orders.len()].copy_from_slice(orders);
            let words = module.execute(self.world, orders.len() as u32) as usize;
            let room = words.min(results.len());
            results[..room].copy_from_slice(&module.results()[..room]);
            words
        };
        let call = std::panic::AssertUnwindSafe(execute);
        std::panic::catch_unwind(call).map_err(|_| ModuleFailed)
    }
}

fn remote() -> RemotePhysics<DirectLink> {
    let mut module = PhysicsModule::new(PHYSICS);
    let world = module.create(ARENA);
    let module = Mutex::new(module);
    RemotePhysics::new(DirectLink { module, world })
}

fn random_pose(rng: &mut fastrand::Rng) -> Pose {
    let at = Position::new(14.0 + 4.0 * rng.f32(), 14.0 + 4.0 * rng.f32(), 0.5 + 2.0 * rng.f32());
    let velocities = (rng.u8(..3) > 0).then(|| {
        let mut velocity = || std::array::from_fn(|_| rng.f32() * 4.0 - 2.0);
        (velocity(), velocity())
    });
    POSE_FORMAT.moving(at, [0.0, 0.0, 0.0, 1.0], velocities)
}
