//! The schemes of "Synchronisation par le reseau d'un monde virtuel sur Unity", as its author
//! describes them (sections 3.4 and 3.5).
//!
//! **State synchronisation** ([`state_sync`]): 20 or 60 times a second the 20 objects of the
//! highest priority (an accumulator: 1 asleep, 10 still, 100 moving; reset when sent), each with
//! id, position, orientation and velocities as they are (54 bytes), the same for all clients. The
//! client holds packets in a jitter buffer that releases them at the intervals at which they were
//! sent, four packets after the first one arrived; it waits for missing packets. It simulates all
//! objects and sets those of a released packet. There is no smoothing, no acknowledgement, and
//! clients do not know which keys others hold.
//!
//! **Snapshots** ([`snapshots`]): ten times a second position and orientation of all objects on a
//! grid of 512 a metre (1,005 bytes for 104 objects), shown 100 ms in the past, interpolated
//! linearly between the two snapshots around that time.
//!
//! Where the text leaves something open, the assumption favours the schemes: players' cubes have
//! the same priority as others (if they were always sent, they would displace the cubes that they
//! push), clients know the scene when the measurement begins, their physics equals the server's,
//! and their clocks do not drift.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use ambit_cubes_physics::{Arena, BodyId, CUBE, PLAYER, POSE_FORMAT, Physics, frame_time};
use ambit_proto::physics::SharedPhysics;
use ambit_proto::pose::{Motion, Pose};
use ambit_proto::time::{GameTime, LocalTime};
use ambit_transport::impair::Impairment;

use super::ground_truth::{FRAME_HZ, GroundTruth};
use super::{ErrorMeter, ErrorSummary};
use crate::sim::net::{EventQueue, NetworkPath};

const UPDATES_PER_PACKET: usize = 20;
/// Of an object in a packet: id, position, orientation, two velocities.
const UPDATE_BYTES: usize = 2 + 12 + 16 + 12 + 12;
/// The sequence number of a packet.
const PACKET_HEADER_BYTES: usize = 4;
/// IP and UDP.
const UDP_HEADER_BYTES: usize = 28;
/// Packets that the jitter buffer holds.
const BUFFERED_PACKETS: u64 = 4;
const SNAPSHOTS_HZ: u64 = 10;
/// For 104 objects.
const SNAPSHOT_BYTES: usize = 1_005;
const SNAPSHOT_DELAY: Duration = Duration::from_millis(100);
const SNAPSHOT_PER_METRE: f32 = 512.0;

/// What is measured: the frames of a scene in which all players are in, and the network to each
/// client.
#[derive(Clone, Copy, Debug)]
pub struct ReferenceScenario<'t> {
    pub truth: &'t GroundTruth,
    /// The first and the last frame.
    pub frames: (u64, u64),
    /// How many of the objects are small cubes; they come first, then the players' cubes.
    pub cubes: usize,
    pub arena: Arena,
    /// Number of clients that watch.
    pub clients: usize,
    /// The network from the server to a client; each client gets its own seed.
    pub network: Impairment,
}

impl ReferenceScenario<'_> {
    fn client_path(&self, client: usize) -> NetworkPath {
        let seed = self.network.seed.wrapping_mul(1_000_003).wrapping_add(client as u64);
        NetworkPath::new(&Impairment { seed, ..self.network })
    }

    fn kind_of(&self, object: usize) -> u8 {
        if object < self.cubes { CUBE } else { PLAYER }
    }

    fn summarize(&self, meter: ErrorMeter<'_>, bytes: usize) -> ErrorSummary {
        let seconds = (self.frames.1 - self.frames.0) as f32 / FRAME_HZ as f32;
        meter.summarize(bytes as f32 / seconds / self.clients as f32)
    }
}

/// Time of a frame, on the server's and on the clients' clocks.
fn local_frame_time(frame: u64) -> LocalTime {
    LocalTime::from_micros(frame_time(frame).micros())
}

/// Runs state synchronisation: the server chooses states, clients simulate from them.
pub fn state_sync(scenario: &ReferenceScenario<'_>, packets_per_s: u64) -> ErrorSummary {
    let frames_a_packet = FRAME_HZ / packets_per_s;
    let mut meter = ErrorMeter::new(scenario.truth, scenario.clients);
    let mut clients: Vec<_> = (0..scenario.clients)
        .map(|client| SimulatingClient::new(scenario, client, frames_a_packet))
        .collect();
    let mut priorities = vec![0_u32; scenario.truth.object_count()];
    let mut bytes = 0;
    for frame in scenario.frames.0..=scenario.frames.1 {
        meter.set_now(frame_time(frame));
        if (frame - scenario.frames.0).is_multiple_of(frames_a_packet) {
            let chosen = choose_updates(scenario.truth, frame, &mut priorities);
            for client in &mut clients {
                bytes += UDP_HEADER_BYTES + PACKET_HEADER_BYTES + chosen.len() * UPDATE_BYTES;
                client.send_updates(frame, &chosen);
            }
        }
        for (number, client) in clients.iter_mut().enumerate() {
            client.run_frame(frame, number, &mut meter);
        }
    }
    scenario.summarize(meter, bytes)
}

/// Chooses the objects of the highest priority, with their poses.
fn choose_updates(truth: &GroundTruth, frame: u64, priorities: &mut [u32]) -> Vec<(usize, Pose)> {
    for (object, priority) in priorities.iter_mut().enumerate() {
        let pose = truth.pose(object, frame);
        *priority += match () {
            () if pose.flag => 1,
            () if pose.motion == Motion::default() => 10,
            () => 100,
        };
    }
    let mut order: Vec<usize> = (0..priorities.len()).collect();
    order.sort_by_key(|&object| std::cmp::Reverse(priorities[object]));
    order.truncate(UPDATES_PER_PACKET);
    for &object in &order {
        priorities[object] = 0;
    }
    order.into_iter().map(|object| (object, *truth.pose(object, frame))).collect()
}

/// A client of state synchronisation.
struct SimulatingClient {
    path: NetworkPath,
    in_flight: EventQueue<(u64, Vec<(usize, Pose)>)>,
    /// By the frame in which they were sent.
    buffer: BTreeMap<u64, Vec<(usize, Pose)>>,
    physics: Physics,
    bodies: Vec<BodyId>,
    /// The frame that its world is in.
    shown_frame: u64,
    /// How far its frames are behind the server's; unknown before the first packet.
    delay_frames: Option<u64>,
    buffered_frames: u64,
}

impl SimulatingClient {
    fn new(scenario: &ReferenceScenario<'_>, client: usize, frames_a_packet: u64) -> Self {
        let mut physics = Physics::new(scenario.arena);
        let first = scenario.frames.0;
        let bodies = (0..scenario.truth.object_count()).map(|object| {
            physics.add(scenario.kind_of(object), scenario.truth.pose(object, first))
        });
        let bodies = bodies.collect();
        SimulatingClient {
            path: scenario.client_path(client),
            in_flight: EventQueue::new(),
            buffer: BTreeMap::new(),
            physics,
            bodies,
            shown_frame: first,
            delay_frames: None,
            buffered_frames: BUFFERED_PACKETS * frames_a_packet,
        }
    }

    fn send_updates(&mut self, frame: u64, chosen: &[(usize, Pose)]) {
        let bytes = PACKET_HEADER_BYTES + chosen.len() * UPDATE_BYTES;
        for arrives in self.path.send_datagram(local_frame_time(frame), bytes) {
            self.in_flight.push(arrives, (frame, chosen.to_vec()));
        }
    }

    /// Runs a frame of the client, at the time of a frame of the server.
    fn run_frame(&mut self, frame: u64, number: usize, meter: &mut ErrorMeter<'_>) {
        while let Some((_, (of, states))) = self.in_flight.pop_due(local_frame_time(frame)) {
            // The delay lets four more packets arrive.
            self.delay_frames.get_or_insert(frame - of + self.buffered_frames);
            if of > self.shown_frame {
                self.buffer.insert(of, states);
            }
        }
        let Some(behind) = self.delay_frames else {
            return;
        };
        while self.shown_frame + behind < frame {
            self.shown_frame += 1;
            self.physics.step();
            for (object, pose) in self.buffer.remove(&self.shown_frame).into_iter().flatten() {
                self.physics.set_pose(self.bodies[object], &pose);
            }
            self.buffer = self.buffer.split_off(&self.shown_frame);
        }
        for (object, &body) in self.bodies.iter().enumerate() {
            let position = POSE_FORMAT.position(&self.physics.pose(body));
            meter.record_drawn(
                number,
                object,
                frame_time(self.shown_frame),
                [position.x, position.y, position.z],
            );
        }
    }
}

/// Runs snapshot interpolation: all objects, ten times a second, shown later.
pub fn snapshots(scenario: &ReferenceScenario<'_>) -> ErrorSummary {
    let mut meter = ErrorMeter::new(scenario.truth, scenario.clients);
    let mut clients: Vec<_> = (0..scenario.clients)
        .map(|client| InterpolatingClient::new(scenario.client_path(client)))
        .collect();
    let mut bytes = 0;
    for frame in scenario.frames.0..=scenario.frames.1 {
        meter.set_now(frame_time(frame));
        if (frame - scenario.frames.0).is_multiple_of(FRAME_HZ / SNAPSHOTS_HZ) {
            for client in &mut clients {
                bytes += UDP_HEADER_BYTES + SNAPSHOT_BYTES * scenario.truth.object_count() / 104;
                for arrives in client.path.send_datagram(local_frame_time(frame), SNAPSHOT_BYTES) {
                    client.in_flight.push(arrives, frame);
                }
            }
        }
        for (number, client) in clients.iter_mut().enumerate() {
            client.run_frame(frame, number, scenario.truth, &mut meter);
        }
    }
    scenario.summarize(meter, bytes)
}

/// A client of snapshot interpolation.
struct InterpolatingClient {
    path: NetworkPath,
    /// Frames of the snapshots; their contents are the truth on a grid.
    in_flight: EventQueue<u64>,
    received: VecDeque<u64>,
    /// How far the shown time is behind the server's clock.
    delay: Option<Duration>,
}

impl InterpolatingClient {
    fn new(path: NetworkPath) -> Self {
        InterpolatingClient {
            path,
            in_flight: EventQueue::new(),
            received: VecDeque::new(),
            delay: None,
        }
    }

    fn run_frame(
        &mut self,
        frame: u64,
        number: usize,
        truth: &GroundTruth,
        meter: &mut ErrorMeter<'_>,
    ) {
        let now = local_frame_time(frame);
        while let Some((arrived, of)) = self.in_flight.pop_due(now) {
            self.delay.get_or_insert(arrived.since(local_frame_time(of)) + SNAPSHOT_DELAY);
            // Snapshots older than the newest are dropped.
            if self.received.back().is_none_or(|newest| of > *newest) {
                self.received.push_back(of);
            }
        }
        let Some(behind) = self.delay else { return };
        let shows = GameTime::from_micros(now.micros()).saturating_sub(behind);
        while self.received.get(1).is_some_and(|next| frame_time(*next) <= shows) {
            self.received.pop_front();
        }
        let Some((&from, to)) = self.received.front().map(|from| (from, self.received.get(1)))
        else {
            return;
        };
        if shows < frame_time(from) {
            return;
        }
        for object in 0..truth.object_count() {
            let a = quantize(truth.position_at(object, frame_time(from)));
            let at = to.map_or(a, |&to| {
                let b = quantize(truth.position_at(object, frame_time(to)));
                let part = shows.since(frame_time(from)).as_secs_f32()
                    / frame_time(to).since(frame_time(from)).as_secs_f32();
                std::array::from_fn(|axis| a[axis] + (b[axis] - a[axis]) * part)
            });
            meter.record_drawn(number, object, shows, at);
        }
    }
}

fn quantize(at: [f32; 3]) -> [f32; 3] {
    at.map(|metres| (metres * SNAPSHOT_PER_METRE).round() / SNAPSHOT_PER_METRE)
}
