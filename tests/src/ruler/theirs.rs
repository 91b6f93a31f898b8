//! The schemes of reference 000, as its author describes them (sections 3.4 and 3.5), to be
//! measured by the same ruler.
//!
//! **State synchronisation** ([`state_sync`]): 20 or 60 times a second the 20 objects of the
//! highest priority (an accumulator: 1 asleep, 10 still, 100 moving; reset when sent), each with
//! id, position, orientation and velocities as they are (54 bytes), to everybody alike. The client
//! holds packets in a buffer that releases them as far apart as they were sent, four packets after
//! the first one came; a gap is waited for. It simulates all objects and sets those of a released
//! packet. There is no smoothing, no acknowledgement, and clients don't know what others hold down.
//!
//! **Snapshots** ([`snapshots`]): ten times a second position and orientation of everything on a
//! grid of 512 a metre (1,005 bytes for 104 objects), shown 100 ms in the past, straight between
//! the two snapshots around that time.
//!
//! Where the text is silent, what helps them is assumed: players' cubes take their turn like others
//! (always sent, they crowd out what they push), clients know the scene when the measurement
//! begins, their physics is the server's, and their clocks don't drift.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use ambit_proto::games::cubes::{Arena, Body, CUBE, FORMAT, PLAYER, Physics, time_of};
use ambit_proto::impair::Impairment;
use ambit_proto::pose::{Motion, Pose};
use ambit_proto::time::{GameTime, LocalTime};

use super::truth::{HZ, Truth};
use super::{Figures, Ruler};
use crate::sim::net::{Agenda, Path};

/// Objects in a packet.
const UPDATES: usize = 20;
/// Of an object in a packet: id, position, orientation, two velocities.
const UPDATE_BYTES: usize = 2 + 12 + 16 + 12 + 12;
/// Of a packet beside its updates: a sequence number.
const PACKET_BYTES: usize = 4;
/// IP and UDP.
const HEADER_BYTES: usize = 28;
/// Packets that wait in the buffer.
const BUFFERED: u64 = 4;
const SNAPSHOTS_HZ: u64 = 10;
/// For 104 objects.
const SNAPSHOT_BYTES: usize = 1_005;
const SNAPSHOT_DELAY: Duration = Duration::from_millis(100);
const SNAPSHOT_PER_METRE: f32 = 512.0;

/// What is measured: the frames of a scene in which all players are in, and the line to each
/// client.
#[derive(Clone, Copy, Debug)]
pub struct Take<'t> {
    /// The scene.
    pub truth: &'t Truth,
    /// The first and the last frame.
    pub frames: (u64, u64),
    /// How many of the objects are small cubes; they come first, players' cubes behind them.
    pub cubes: usize,
    /// The floor.
    pub arena: Arena,
    /// How many clients watch.
    pub clients: usize,
    /// Their lines, from the server to them; each with dice of its own.
    pub line: Impairment,
}

impl Take<'_> {
    fn path(&self, client: usize) -> Path {
        let seed = self
            .line
            .seed
            .wrapping_mul(1_000_003)
            .wrapping_add(client as u64);
        Path::new(&Impairment { seed, ..self.line })
    }

    fn kind(&self, object: usize) -> u8 {
        if object < self.cubes { CUBE } else { PLAYER }
    }

    fn figures(&self, ruler: Ruler<'_>, bytes: usize) -> Figures {
        let seconds = (self.frames.1 - self.frames.0) as f32 / HZ as f32;
        ruler.figures(bytes as f32 / seconds / self.clients as f32)
    }
}

/// When a frame is, on the server's clock and on the clients'.
fn moment(frame: u64) -> LocalTime {
    LocalTime::from_micros(time_of(frame).micros())
}

/// States of the server's choice, which clients simulate on.
pub fn state_sync(take: &Take<'_>, packets_per_s: u64) -> Figures {
    let frames_a_packet = HZ / packets_per_s;
    let mut ruler = Ruler::new(take.truth, take.clients);
    let mut clients: Vec<_> = (0..take.clients)
        .map(|client| Simulating::new(take, client, frames_a_packet))
        .collect();
    let mut priorities = vec![0_u32; take.truth.objects()];
    let mut bytes = 0;
    for frame in take.frames.0..=take.frames.1 {
        ruler.tick(time_of(frame));
        if (frame - take.frames.0).is_multiple_of(frames_a_packet) {
            let chosen = choose(take.truth, frame, &mut priorities);
            for client in &mut clients {
                bytes += HEADER_BYTES + PACKET_BYTES + chosen.len() * UPDATE_BYTES;
                client.send(frame, &chosen);
            }
        }
        for (number, client) in clients.iter_mut().enumerate() {
            client.frame(frame, number, &mut ruler);
        }
    }
    take.figures(ruler, bytes)
}

/// The objects of the highest priority, and what they are.
fn choose(truth: &Truth, frame: u64, priorities: &mut [u32]) -> Vec<(usize, Pose)> {
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
    order.truncate(UPDATES);
    for &object in &order {
        priorities[object] = 0;
    }
    order
        .into_iter()
        .map(|object| (object, *truth.pose(object, frame)))
        .collect()
}

/// A client that simulates.
struct Simulating {
    path: Path,
    under_way: Agenda<(u64, Vec<(usize, Pose)>)>,
    /// By the frame that they tell of.
    buffer: BTreeMap<u64, Vec<(usize, Pose)>>,
    physics: Physics,
    bodies: Vec<Body>,
    /// What its world is in.
    shows: u64,
    /// How far behind the server's frames its own are; unknown before the first packet.
    behind: Option<u64>,
    buffered_frames: u64,
}

impl Simulating {
    fn new(take: &Take<'_>, client: usize, frames_a_packet: u64) -> Self {
        let mut physics = Physics::new(take.arena);
        let first = take.frames.0;
        let bodies = (0..take.truth.objects())
            .map(|object| physics.add(take.kind(object), take.truth.pose(object, first)));
        let bodies = bodies.collect();
        Simulating {
            path: take.path(client),
            under_way: Agenda::new(),
            buffer: BTreeMap::new(),
            physics,
            bodies,
            shows: first,
            behind: None,
            buffered_frames: BUFFERED * frames_a_packet,
        }
    }

    fn send(&mut self, frame: u64, chosen: &[(usize, Pose)]) {
        let bytes = PACKET_BYTES + chosen.len() * UPDATE_BYTES;
        for arrives in self.path.datagram(moment(frame), bytes) {
            self.under_way.add(arrives, (frame, chosen.to_vec()));
        }
    }

    /// A frame of the client, at the time of a frame of the server.
    fn frame(&mut self, frame: u64, number: usize, ruler: &mut Ruler<'_>) {
        while let Some((_, (of, states))) = self.under_way.take(moment(frame)) {
            // Packets wait for four more: as long as it takes these to come.
            self.behind.get_or_insert(frame - of + self.buffered_frames);
            if of > self.shows {
                self.buffer.insert(of, states);
            }
        }
        let Some(behind) = self.behind else { return };
        while self.shows + behind < frame {
            self.shows += 1;
            self.physics.step();
            for (object, pose) in self.buffer.remove(&self.shows).into_iter().flatten() {
                self.physics.set_pose(self.bodies[object], &pose);
            }
            self.buffer = self.buffer.split_off(&self.shows);
        }
        for (object, &body) in self.bodies.iter().enumerate() {
            let place = FORMAT.position(&self.physics.pose(body));
            ruler.draw(
                number,
                object,
                time_of(self.shows),
                [place.x, place.y, place.z],
            );
        }
    }
}

/// Everything, ten times a second, shown a little later.
pub fn snapshots(take: &Take<'_>) -> Figures {
    let mut ruler = Ruler::new(take.truth, take.clients);
    let mut clients: Vec<_> = (0..take.clients)
        .map(|client| Interpolating::new(take.path(client)))
        .collect();
    let mut bytes = 0;
    for frame in take.frames.0..=take.frames.1 {
        ruler.tick(time_of(frame));
        if (frame - take.frames.0).is_multiple_of(HZ / SNAPSHOTS_HZ) {
            for client in &mut clients {
                bytes += HEADER_BYTES + SNAPSHOT_BYTES * take.truth.objects() / 104;
                for arrives in client.path.datagram(moment(frame), SNAPSHOT_BYTES) {
                    client.under_way.add(arrives, frame);
                }
            }
        }
        for (number, client) in clients.iter_mut().enumerate() {
            client.frame(frame, number, take.truth, &mut ruler);
        }
    }
    take.figures(ruler, bytes)
}

/// A client that interpolates.
struct Interpolating {
    path: Path,
    /// The frames of the snapshots: what they say of them is the truth, on a grid.
    under_way: Agenda<u64>,
    ring: VecDeque<u64>,
    /// How far behind the server's clock it shows.
    behind: Option<Duration>,
}

impl Interpolating {
    fn new(path: Path) -> Self {
        Interpolating {
            path,
            under_way: Agenda::new(),
            ring: VecDeque::new(),
            behind: None,
        }
    }

    fn frame(&mut self, frame: u64, number: usize, truth: &Truth, ruler: &mut Ruler<'_>) {
        let now = moment(frame);
        while let Some((arrived, of)) = self.under_way.take(now) {
            self.behind
                .get_or_insert(arrived.since(moment(of)) + SNAPSHOT_DELAY);
            // What is older than the newest is not taken.
            if self.ring.back().is_none_or(|newest| of > *newest) {
                self.ring.push_back(of);
            }
        }
        let Some(behind) = self.behind else { return };
        let shows = GameTime::from_micros(now.micros()).saturating_sub(behind);
        while self.ring.get(1).is_some_and(|next| time_of(*next) <= shows) {
            self.ring.pop_front();
        }
        let Some((&from, to)) = self.ring.front().map(|from| (from, self.ring.get(1))) else {
            return;
        };
        if shows < time_of(from) {
            return;
        }
        for object in 0..truth.objects() {
            let a = on_grid(truth.at(object, time_of(from)));
            let at = to.map_or(a, |&to| {
                let b = on_grid(truth.at(object, time_of(to)));
                let part = shows.since(time_of(from)).as_secs_f32()
                    / time_of(to).since(time_of(from)).as_secs_f32();
                std::array::from_fn(|axis| a[axis] + (b[axis] - a[axis]) * part)
            });
            ruler.draw(number, object, shows, at);
        }
    }
}

fn on_grid(at: [f32; 3]) -> [f32; 3] {
    at.map(|metres| (metres * SNAPSHOT_PER_METRE).round() / SNAPSHOT_PER_METRE)
}
