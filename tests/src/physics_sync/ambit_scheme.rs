//! Ambit, to be measured by the same ruler: lobby, room, clients and a bad line, all in the
//! simulator.
//!
//! The players come in over a good line, so that the scene is the same at any loss; then the faults
//! begin, and after [`SETTLING`] the ruler. The simulator's oracles watch each pose and each object
//! on the way, and at each tick the room's world is held against the scene that the ruler takes for
//! the truth.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_client_core::client::Client;
use ambit_client_core::client::config::ClientConfig;
use ambit_game_server::logic::registry::Registry;
use ambit_game_server::record::Recording;
use ambit_game_server::room::RoomInput;
use ambit_proto::games::cubes::{Arena, frame_at, frame_time};
use ambit_proto::ids::{ObjectId, RoomId};
use ambit_proto::impair::Impairment;

use super::ground_truth::{FRAME_HZ, GroundTruth, PlayerJoins};
use super::reference_schemes::ReferenceScenario;
use super::{ErrorMeter, ErrorSummary};
use crate::sim::System;

/// From the last join to the first sample.
pub const SETTLE_TIME: Duration = Duration::from_secs(5);
/// What a datagram costs beside its payload: IP, UDP, QUIC and its encryption; as the budget
/// reckons.
const OVERHEAD_BYTES: u64 = 53;

/// What is played, over which line, and how it is shown.
#[derive(Clone, Debug)]
pub struct AmbitScenario {
    /// Of the room and of the line.
    pub seed: u64,
    /// Of the room: `tick`, `sync`, `budget` ...
    pub parameters: Vec<(&'static str, String)>,
    /// How clients show it.
    pub client: ClientConfig,
    /// How many players.
    pub players: usize,
    /// Small cubes.
    pub cubes: usize,
    /// The floor.
    pub arena: Arena,
    /// One way, while the players come in and after.
    pub delay: Duration,
    /// From then on, in both directions.
    pub line: Impairment,
    /// For how long the ruler looks.
    pub duration: Duration,
}

/// A room that is being watched.
pub struct RunningScenario {
    /// All of it.
    pub system: System,
    /// The room.
    pub room: RoomId,
    /// The frames that the ruler looks at, by the horizon of the room.
    pub frames: (u64, u64),
    joins: PlayerJoins,
    first_frame: u64,
    parameters: BTreeMap<String, String>,
    scenario: AmbitScenario,
}

impl AmbitScenario {
    /// Lets the players in, and then the faults.
    pub fn start(&self) -> RunningScenario {
        let mut parameters = self.parameters.clone();
        parameters.extend([
            ("cubes", self.cubes.to_string()),
            ("drive", "dice".to_owned()),
            ("seed", self.seed.to_string()),
            (
                "size",
                format!("{}x{}", self.arena.width_m, self.arena.height_m),
            ),
        ]);
        let good = Impairment {
            delay: self.delay,
            seed: self.seed,
            ..Impairment::default()
        };
        let mut system = System::new(self.seed, &Registry::standard());
        let guests: Vec<usize> = (0..self.players)
            .map(|player| {
                system.arrive_with(
                    ClientConfig {
                        name: format!("p{player}"),
                        ..self.client.clone()
                    },
                    &good,
                )
            })
            .collect();
        let given: Vec<(&str, &str)> = parameters
            .iter()
            .map(|(key, value)| (*key, value.as_str()))
            .collect();
        let room = system.gather(&guests, "cubes", &given);
        for &guest in &guests {
            let seed = self
                .line
                .seed
                .wrapping_mul(1_000_003)
                .wrapping_add(guest as u64);
            system.impair(guest, &Impairment { seed, ..self.line });
        }
        system.run_for(SETTLE_TIME);
        let parameters = parameters
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect();
        let (first, joins) = find_joins(&system, room);
        let begins = frame_at(system.room(room).expect("it runs").world().now());
        let frames = (
            begins,
            begins + self.duration.as_millis() as u64 * FRAME_HZ / 1_000,
        );
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

/// The first frame of a room's world, and who joined in which.
fn find_joins(system: &System, room: RoomId) -> (u64, PlayerJoins) {
    let (recording, _) = system.recording(room).expect("it runs");
    let mut recording = Recording::read(recording).expect("the room's own");
    let delay = system.room(room).expect("it runs").config().delay;
    let (mut joins, mut first) = (PlayerJoins::new(), None);
    while let Some((now, inputs)) = recording.next_tick().expect("the room's own") {
        let frame = frame_at((now + delay).whole_millis());
        first.get_or_insert(frame);
        for input in inputs {
            if let RoomInput::Join { player, .. } = input {
                joins.push((frame, player));
            }
        }
    }
    (first.expect("the room has ticked"), joins)
}

impl RunningScenario {
    /// The scene, from its beginning to a while after the end.
    pub fn ground_truth(&self) -> GroundTruth {
        GroundTruth::simulate(
            self.scenario.seed,
            &self.parameters,
            self.first_frame,
            &self.joins,
            self.frames.1 + FRAME_HZ,
        )
    }

    /// The same scene for other schemes.
    pub fn reference_scenario<'t>(&self, truth: &'t GroundTruth) -> ReferenceScenario<'t> {
        ReferenceScenario {
            truth,
            frames: self.frames,
            cubes: self.scenario.cubes,
            arena: self.scenario.arena,
            clients: self.scenario.players,
            line: Impairment {
                delay: self.scenario.delay,
                ..self.scenario.line
            },
        }
    }

    /// Looks at what the clients draw, frame by frame.
    pub fn measure(&mut self, truth: &GroundTruth) -> ErrorSummary {
        let mut ruler = ErrorMeter::new(truth, self.scenario.players);
        let before = self.sent_bytes();
        for frame in self.frames.0..self.frames.1 {
            ruler.set_now(frame_time(frame + 1));
            self.system
                .run_for(Duration::from_nanos(1_000_000_000 / FRAME_HZ));
            let room = self.system.room(self.room).expect("it runs");
            if let Err(difference) = truth.check_matches(room.world()) {
                panic!("the room is not the scene: {difference}");
            }
            for guest in 0..self.scenario.players {
                self.system.with(guest, Client::handle_timeout);
                self.record_drawn(guest, truth, &mut ruler);
            }
        }
        let sent = self.sent_bytes() - before;
        ruler.summarize(
            sent as f32 / self.scenario.duration.as_secs_f32() / self.scenario.players as f32,
        )
    }

    fn record_drawn(&self, guest: usize, truth: &GroundTruth, ruler: &mut ErrorMeter<'_>) {
        let now = self.system.local(guest);
        let client = &self.system.guest(guest).client;
        let mut drawn_objects = 0;
        for seen in client.objects() {
            let Some(object) = self.object_of(guest, seen.id) else {
                continue;
            };
            let index = truth.index_of(object).expect("an object of the scene");
            if let Some(drawn) = client.drawn(seen.id, now) {
                ruler.record_drawn(
                    guest,
                    index,
                    drawn.room_time,
                    [drawn.position.x, drawn.position.y, drawn.position.z],
                );
                drawn_objects += 1;
            }
        }
        // All came in over a good line: who draws less would look better than it is.
        assert_eq!(
            drawn_objects,
            truth.object_count(),
            "objects that client {guest} draws"
        );
    }

    /// What a client means by its own number.
    pub fn object_of(&self, guest: usize, id: u32) -> Option<ObjectId> {
        let room = self.system.room(self.room)?;
        let mut viewers = room.network().viewers();
        let viewer =
            viewers.find(|viewer| self.system.guest_of(self.room, viewer.client) == Some(guest))?;
        self.system.poses(self.room)?.object_of(viewer.client, id)
    }

    /// Bytes to all clients so far, all headers included.
    fn sent_bytes(&self) -> u64 {
        let stats = self.system.room(self.room).expect("it runs").stats();
        stats.bytes_out + OVERHEAD_BYTES * stats.datagrams_out
    }
}
