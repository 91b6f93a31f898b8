//! Ambit as one of the compared schemes: lobby, room, clients and an impaired network, all in the
//! simulator.
//!
//! The players join over a good network, so that the scene is the same at any loss. Then the faults
//! begin, and after [`SETTLE_TIME`] the measurement. The simulator's oracles check each pose and
//! each object, and at each tick the room's world is compared with the scene that serves as the
//! truth.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_client_core::client::Client;
use ambit_client_core::client::config::ClientConfig;
use ambit_cubes_physics::{Arena, frame_at, frame_time};
use ambit_proto::ids::{ClientObjectId, ObjectId, RoomId};
use ambit_room::recording::Recording;
use ambit_room::room::RoomInput;
use ambit_transport::impair::Impairment;

use super::ground_truth::{FRAME_HZ, GroundTruth, PlayerJoins};
use super::reference_schemes::ReferenceScenario;
use super::{ErrorMeter, ErrorSummary};
use crate::sim::System;

/// From the last join to the first sample.
pub const SETTLE_TIME: Duration = Duration::from_secs(5);
/// Overhead of a datagram: IP, UDP, QUIC and its encryption, as the budget counts it.
const OVERHEAD_BYTES: u64 = 53;

/// What is played, over which network, and how it is shown.
#[derive(Clone, Debug)]
pub struct AmbitScenario {
    /// Seed of the room and of the network.
    pub seed: u64,
    /// Room parameters: `tick`, `sync`, `budget` ...
    pub parameters: Vec<(&'static str, String)>,
    /// How clients show it.
    pub client: ClientConfig,
    pub players: usize,
    /// Number of small cubes.
    pub cubes: usize,
    pub arena: Arena,
    /// One-way delay, while the players join and after.
    pub delay: Duration,
    /// The network after the players have joined, in both directions.
    pub network: Impairment,
    pub duration: Duration,
}

/// A running room, ready to be measured.
pub struct RunningScenario {
    pub system: System,
    pub room: RoomId,
    /// First and last frame of the measurement, at the room's horizon.
    pub frames: (u64, u64),
    joins: PlayerJoins,
    first_frame: u64,
    parameters: BTreeMap<String, String>,
    scenario: AmbitScenario,
}

impl AmbitScenario {
    /// Lets the players join, and then the faults begin.
    pub fn start(&self) -> RunningScenario {
        let mut parameters = self.parameters.clone();
        parameters.extend([
            ("cubes", self.cubes.to_string()),
            ("drive", "dice".to_owned()),
            ("seed", self.seed.to_string()),
            ("size", format!("{}x{}", self.arena.width_m, self.arena.height_m)),
        ]);
        let good = Impairment { delay: self.delay, seed: self.seed, ..Impairment::default() };
        let mut system = System::new(self.seed, &ambit_game_server::standard());
        let users: Vec<usize> = (0..self.players)
            .map(|player| {
                system.add_user_with(
                    ClientConfig { name: format!("p{player}"), ..self.client.clone() },
                    &good,
                )
            })
            .collect();
        let given: Vec<(&str, &str)> =
            parameters.iter().map(|(key, value)| (*key, value.as_str())).collect();
        let room = system.start_room(&users, "cubes", &given);
        for &user in &users {
            let seed = self.network.seed.wrapping_mul(1_000_003).wrapping_add(user as u64);
            system.impair(user, &Impairment { seed, ..self.network });
        }
        system.run_for(SETTLE_TIME);
        let parameters =
            parameters.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let (first, joins) = find_joins(&system, room);
        let begins = frame_at(system.room(room).expect("the room runs").world().now());
        let frames = (begins, begins + self.duration.as_millis() as u64 * FRAME_HZ / 1_000);
        RunningScenario {
            system,
            room,
            frames,
            joins,
            first_frame: first,
            parameters,
            scenario: self.clone(),
        }
    }
}

/// The first frame of a room's world, and the frames in which players joined.
fn find_joins(system: &System, room: RoomId) -> (u64, PlayerJoins) {
    let (recording, _) = system.recording(room).expect("the room runs");
    let mut recording = Recording::read(&recording).expect("the room's own recording");
    let delay = system.room(room).expect("the room runs").config().delay;
    let mut joins = PlayerJoins::new();
    let mut first = None;
    while let Some(tick) = recording.next_tick().expect("the room's own recording") {
        let frame = frame_at((tick.at + delay).whole_millis());
        first.get_or_insert(frame);
        for input in tick.inputs {
            if let RoomInput::Join { player, .. } = input {
                joins.push((frame, player));
            }
        }
    }
    (first.expect("the room has ticked"), joins)
}

impl RunningScenario {
    /// The true scene, from its beginning to one second after the end.
    pub fn ground_truth(&self) -> GroundTruth {
        GroundTruth::simulate(
            self.scenario.seed,
            &self.parameters,
            self.first_frame,
            &self.joins,
            self.frames.1 + FRAME_HZ,
        )
    }

    /// The same scene for the reference schemes.
    pub fn reference_scenario<'t>(&self, truth: &'t GroundTruth) -> ReferenceScenario<'t> {
        ReferenceScenario {
            truth,
            frames: self.frames,
            cubes: self.scenario.cubes,
            arena: self.scenario.arena,
            clients: self.scenario.players,
            network: Impairment { delay: self.scenario.delay, ..self.scenario.network },
        }
    }

    /// Runs the measurement frame by frame.
    pub fn measure(&mut self, truth: &GroundTruth) -> ErrorSummary {
        let mut meter = ErrorMeter::new(truth, self.scenario.players);
        let before = self.sent_bytes();
        for frame in self.frames.0..self.frames.1 {
            meter.set_now(frame_time(frame + 1));
            self.system.run_for(Duration::from_nanos(1_000_000_000 / FRAME_HZ));
            let room = self.system.room(self.room).expect("the room runs");
            if let Err(difference) = truth.check_matches(room.world()) {
                panic!("the room differs from the simulated scene: {difference}");
            }
            for user in 0..self.scenario.players {
                self.system.with_client(user, Client::handle_timeout);
                self.record_drawn(user, truth, &mut meter);
            }
        }
        let sent = self.sent_bytes() - before;
        meter.summarize(
            sent as f32 / self.scenario.duration.as_secs_f32() / self.scenario.players as f32,
        )
    }

    fn record_drawn(&self, user: usize, truth: &GroundTruth, meter: &mut ErrorMeter<'_>) {
        let now = self.system.local_time(user);
        let client = &self.system.user(user).client;
        let mut drawn_objects = 0;
        for seen in client.objects() {
            let Some(object) = self.object_of(user, seen.id) else {
                continue;
            };
            let index = truth.index_of(object).expect("every object is in the scene");
            if let Some(drawn) = client.drawn(seen.id, now) {
                meter.record_drawn(
                    user,
                    index,
                    drawn.room_time,
                    [drawn.position.x, drawn.position.y, drawn.position.z],
                );
                drawn_objects += 1;
            }
        }
        // All objects were received over a good network: a client that draws fewer would look too
        // good.
        assert_eq!(drawn_objects, truth.object_count(), "objects that client {user} draws");
    }

    /// The object behind a client's own id.
    pub fn object_of(&self, user: usize, id: ClientObjectId) -> Option<ObjectId> {
        let room = self.system.room(self.room)?;
        let mut viewers = room.network().viewers();
        let viewer =
            viewers.find(|viewer| self.system.user_of(self.room, viewer.client) == Some(user))?;
        self.system.pose_oracle(self.room)?.object_of(viewer.client, id)
    }

    /// Bytes sent to all clients since the start, all headers included.
    fn sent_bytes(&self) -> u64 {
        let stats = self.system.room(self.room).expect("the room runs").stats();
        stats.bytes_out + OVERHEAD_BYTES * stats.datagrams_out
    }
}
