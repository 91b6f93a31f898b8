//! A host that simulates and sends, a path with loss and delay, and a client that draws frame by
//! frame.

use ambit_cubes_physics::{
    CUBE, CUBE_EDGE_M, PHYSICS, PLAYER, PLAYER_EDGE_M, POSE_FORMAT, Physics, RandomDriver, control,
};
use ambit_proto::space::Position;
use fastrand::Rng;

use super::super::*;
use crate::client::own_inputs::{EffectEstimator, OwnInput, PressedKeys};
use crate::replica::drawing::DrawnObject;

pub(super) const ARENA: Arena = Arena { width_m: 20.0, height_m: 20.0 };
/// Local lag of the room.
pub(super) const DELAY: Duration = Duration::from_millis(150);
/// One-way delay: three frames.
pub(super) const ONE_WAY_DELAY: Duration = Duration::from_millis(50);
pub(super) const PLAYER_ID: ClientObjectId = ClientObjectId(1);

/// How the host sends, and the conditions of the path.
#[derive(Clone, Copy)]
pub(super) struct PathConditions {
    pub(super) tick_frames: u64,
    pub(super) loss: f64,
    pub(super) jitter_ms: u64,
    pub(super) seed: u64,
}

impl Default for PathConditions {
    fn default() -> Self {
        PathConditions { tick_frames: 1, loss: 0.0, jitter_ms: 0, seed: 1 }
    }
}

/// The contents of a datagram.
struct Datagram {
    arrives: GameTime,
    stamp_frame: u64,
    poses: Vec<(ClientObjectId, Pose)>,
}

pub(super) struct SimulationHarness {
    pub(super) path: PathConditions,
    rng: Rng,
    pub(super) server: Physics,
    pub(super) bodies: BTreeMap<ClientObjectId, BodyId>,
    /// The host's frame: that of its horizon.
    pub(super) frame: u64,
    pub(super) driver: Option<RandomDriver>,
    keys: Keymap,
    /// The player's flags, with the times from which they are valid.
    flags: Vec<(GameTime, Keymap)>,
    /// The last pose sent of each object, and whether it has arrived.
    sent_poses: BTreeMap<ClientObjectId, (Pose, bool)>,
    in_flight: Vec<Datagram>,
    truth: VecDeque<(u64, BTreeMap<ClientObjectId, Pose>)>,
    pub(super) client: Simulation,
    received_until: GameTime,
    pub(super) errors: Errors,
    /// Whether the client draws nothing.
    pub(super) is_paused: bool,
    pub(super) predict: bool,
    inputs: Vec<OwnInput>,
}

impl SimulationHarness {
    /// 64 cubes in a square, and a player's cube in their middle.
    pub(super) fn new(path: PathConditions) -> Self {
        Self::with(path, 64)
    }

    /// A player's cube without other cubes.
    pub(super) fn alone(path: PathConditions) -> Self {
        Self::with(path, 0)
    }

    fn with(path: PathConditions, cubes: u8) -> Self {
        let mut server = Physics::new(ARENA);
        let at_rest =
            |x, y, z| POSE_FORMAT.moving(Position::new(x, y, z), rotation::IDENTITY, None);
        let player = server.add(PLAYER, &at_rest(10.0, 10.0, PLAYER_EDGE_M / 2.0));
        let mut bodies = BTreeMap::from([(PLAYER_ID, player)]);
        for n in 0..cubes {
            let (x, y) = (f32::from(n % 8), f32::from(n / 8));
            let pose = at_rest(6.3 + x, 6.3 + y, CUBE_EDGE_M / 2.0);
            bodies.insert(ClientObjectId(10 + u32::from(n)), server.add(CUBE, &pose));
        }
        let mut harness = SimulationHarness {
            path,
            rng: Rng::with_seed(path.seed),
            server,
            bodies,
            frame: 60,
            driver: None,
            keys: Keymap::default(),
            flags: Vec::new(),
            sent_poses: BTreeMap::new(),
            in_flight: Vec::new(),
            truth: VecDeque::new(),
            client: Simulation::new(PHYSICS, ARENA, 1),
            received_until: GameTime::ZERO,
            errors: Errors::default(),
            is_paused: false,
            predict: false,
            inputs: Vec::new(),
        };
        harness.enter_all();
        harness
    }

    /// 64 cubes and a player's cube, all at rest and known to the client.
    pub(super) fn at_rest() -> Self {
        let mut harness = SimulationHarness::new(PathConditions::default());
        harness.come_to_rest();
        harness.assert_drawn_at_host_poses();
        harness
    }

    pub(super) fn enter_all(&mut self) {
        for &id in self.bodies.keys() {
            self.client.enter(id, if id == PLAYER_ID { PLAYER } else { CUBE }, id == PLAYER_ID);
        }
        self.sent_poses.clear();
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = ClientObjectId> + use<> {
        self.bodies.keys().copied().collect::<Vec<_>>().into_iter()
    }

    pub(super) fn pick_cube(&self) -> (ClientObjectId, BodyId) {
        let id = ClientObjectId(30);
        (id, self.bodies[&id])
    }

    fn room_now(&self) -> GameTime {
        frame_time(self.frame).saturating_sub(DELAY)
    }

    pub(super) fn drawn(&self, id: ClientObjectId) -> Option<DrawnObject> {
        self.client.drawing(id)?.at(self.room_now())
    }

    /// Drives the player's cube at random for this many frames.
    pub(super) fn drive(&mut self, frames: u64) {
        self.driver = Some(RandomDriver::new(self.path.seed, 3));
        self.run(frames);
        self.driver = None;
        self.keys = Keymap::default();
    }

    /// Runs until all objects are at rest, and some frames longer.
    pub(super) fn come_to_rest(&mut self) {
        for _ in 0..10 {
            self.run(300);
            if self.bodies.values().all(|&body| self.server.pose(body).flag) {
                return self.run(300);
            }
        }
    }

    pub(super) fn run(&mut self, frames: u64) {
        (0..frames).for_each(|_| self.frame());
    }

    /// The player holds these keys from now on; the host reads them one one-way delay later.
    pub(super) fn press(&mut self, keys: Keymap) {
        let at = self.room_now();
        let estimator = EffectEstimator {
            one_way_delay: ONE_WAY_DELAY,
            newest_tick: self.newest_tick(),
            tick: self.tick(),
            delay: DELAY,
        };
        self.inputs.push(OwnInput {
            at,
            keys,
            effect: estimator.estimate_effect(at),
            is_confirmed: false,
        });
    }

    /// The newest tick that the client has received.
    fn newest_tick(&self) -> GameTime {
        self.received_until.saturating_sub(DELAY)
    }

    fn tick(&self) -> Duration {
        Duration::from_micros(self.path.tick_frames * 1_000_000 / FRAMES_PER_S)
    }

    pub(super) fn frame(&mut self) {
        let player = self.bodies[&PLAYER_ID];
        let previous = self.server.keys(player).previous;
        self.server.set_keys(player, Keys { previous, current: self.keys });
        self.server.step();
        self.frame += 1;
        let poses = self.bodies.iter().map(|(&id, &body)| (id, self.server.pose(body))).collect();
        self.truth.push_back((self.frame, poses));
        if self.truth.len() > 60 {
            self.truth.pop_front();
        }
        if self.frame.is_multiple_of(self.path.tick_frames) {
            self.read_keys();
            self.send();
        }
        self.receive();
        if !self.is_paused {
            self.draw();
        }
    }

    /// Reads the player's keys in a tick, when the world is at its horizon. They act in the next
    /// steps.
    fn read_keys(&mut self) {
        let now = self.room_now();
        if let Some(driver) = &mut self.driver {
            let place = POSE_FORMAT.position(&self.server.pose(self.bodies[&PLAYER_ID]));
            self.keys =
                driver.keys(self.frame, [place.x, place.y], ARENA).with(control::JUMP, false);
        } else {
            self.keys =
                PressedKeys::from_inputs(self.inputs.iter().copied(), self.tick()).at(now + DELAY);
        }
        // Jumps are not sent, as in the game.
        let flags = self.keys.with(control::JUMP, false);
        if self.flags.last().is_none_or(|(_, keys)| *keys != flags) {
            self.flags.push((now + DELAY, flags));
        }
    }

    /// Sends everything that moves, and poses at rest until they have arrived.
    fn send(&mut self) {
        let mut poses = Vec::new();
        for (&id, &body) in &self.bodies {
            let pose = self.server.pose(body);
            let is_known =
                self.sent_poses.get(&id).is_some_and(|(sent, arrived)| *sent == pose && *arrived);
            if !pose.flag || !is_known {
                poses.push((id, pose));
                self.sent_poses.insert(id, (pose, false));
            }
        }
        if self.rng.f64() >= self.path.loss {
            let delay =
                ONE_WAY_DELAY + Duration::from_millis(self.rng.u64(0..=self.path.jitter_ms));
            self.in_flight.push(Datagram {
                arrives: self.room_now() + delay,
                stamp_frame: self.frame,
                poses,
            });
        }
    }

    fn receive(&mut self) {
        let now = self.room_now();
        for datagram in self.in_flight.extract_if(.., |datagram| datagram.arrives <= now) {
            for (id, pose) in datagram.poses {
                self.client.handle_pose(id, frame_time(datagram.stamp_frame), &pose);
                if let Some(entry) = self.sent_poses.get_mut(&id).filter(|(sent, _)| *sent == pose)
                {
                    entry.1 = true;
                }
            }
            self.received_until = self.received_until.max(frame_time(datagram.stamp_frame));
        }
    }

    fn draw(&mut self) {
        let shown = self.room_now();
        let flags = &self.flags;
        let keys = |id: ClientObjectId, _: &SimulatedKind, t: GameTime| {
            let held = flags.iter().rev().find(|(from, _)| id == PLAYER_ID && *from <= t);
            held.map_or_else(Keymap::default, |(_, keys)| *keys).into()
        };
        let presses = PressedKeys::from_inputs(self.inputs.iter().copied(), self.tick());
        let ahead = PredictionTarget {
            horizon: shown + ONE_WAY_DELAY + DELAY,
            presses: &presses,
            drawn_ahead: Duration::ZERO,
            acts_before: Duration::ZERO,
        };
        let times =
            SimulationTime { shown, received_until: self.received_until, rtt: 2 * ONE_WAY_DELAY };
        self.client.advance(times, self.predict.then_some(&ahead), &keys);
        let Some((_, truth)) = self.truth.iter().find(|(frame, _)| frame_time(*frame) == shown)
        else {
            return;
        };
        for (&id, truth) in truth {
            if let Some(drawn) = self.client.drawing(id).and_then(|drawing| drawing.at(shown))
                && !truth.flag
            {
                self.errors.add(drawn.position.distance(POSE_FORMAT.position(truth)));
            }
        }
    }

    /// Asserts that every cube is simulated and drawn where the host has it.
    pub(super) fn assert_drawn_at_host_poses(&self) {
        for (&id, &body) in &self.bodies {
            let truth = self.server.pose(body);
            assert!(truth.flag, "{id} has not come to rest");
            assert_eq!(self.client.pose(id), Some(truth), "{id}");
            assert_eq!(
                self.drawn(id).map(|drawn| drawn.position),
                Some(POSE_FORMAT.position(&truth)),
                "{id}"
            );
        }
    }
}

#[derive(Default)]
pub(super) struct Errors {
    metres: Vec<f32>,
}

impl Errors {
    pub(super) fn add(&mut self, metres: f32) {
        self.metres.push(metres);
    }

    pub(super) fn quantile(&self, share: f64) -> f32 {
        let mut sorted = self.metres.clone();
        sorted.sort_by(f32::total_cmp);
        assert!(!sorted.is_empty(), "no errors were recorded");
        sorted[((sorted.len() - 1) as f64 * share) as usize]
    }
}
