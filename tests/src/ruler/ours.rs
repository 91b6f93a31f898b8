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
use ambit_proto::games::cubes::{Arena, frame_at, time_of};
use ambit_proto::ids::{ObjectId, RoomId};
use ambit_proto::impair::Impairment;

use super::theirs::Take;
use super::truth::{HZ, Joins, Truth};
use super::{Figures, Ruler};
use crate::sim::System;

/// From the last join to the first sample.
pub const SETTLING: Duration = Duration::from_secs(5);
/// What a datagram costs beside its payload: IP, UDP, QUIC and its encryption; as the budget
/// reckons.
const OVERHEAD_BYTES: u64 = 53;

/// What is played, over which line, and how it is shown.
#[derive(Clone, Debug)]
pub struct Play {
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
    pub how_long: Duration,
}

/// A room that is being watched.
pub struct Watched {
    /// All of it.
    pub system: System,
    /// The room.
    pub room: RoomId,
    /// The frames that the ruler looks at, by the horizon of the room.
    pub frames: (u64, u64),
    joins: Joins,
    first: u64,
    parameters: BTreeMap<String, String>,
    play: Play,
}

impl Play {
    /// Lets the players in, and then the faults.
    pub fn begin(&self) -> Watched {
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
        system.run_for(SETTLING);
        let parameters = parameters
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect();
        let (first, joins) = came_in(&system, room);
        let begins = frame_at(system.room(room).expect("it runs").world().now());
        let frames = (
            begins,
            begins + self.how_long.as_millis() as u64 * HZ / 1_000,
        );
        Watched {
            system,
            room,
            frames,
            joins,
            first,
            parameters,
            play: self.clone(),
        }
    }
}

/// The first frame of a room's world, and who joined in which.
fn came_in(system: &System, room: RoomId) -> (u64, Joins) {
    let (recording, _) = system.recording(room).expect("it runs");
    let mut recording = Recording::read(recording).expect("the room's own");
    let delay = system.room(room).expect("it runs").config().delay;
    let (mut joins, mut first) = (Joins::new(), None);
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

impl Watched {
    /// The scene, from its beginning to a while after the end.
    pub fn truth(&self) -> Truth {
        Truth::of(
            self.play.seed,
            &self.parameters,
            self.first,
            &self.joins,
            self.frames.1 + HZ,
        )
    }

    /// The same scene for other schemes.
    pub fn take<'t>(&self, truth: &'t Truth) -> Take<'t> {
        Take {
            truth,
            frames: self.frames,
            cubes: self.play.cubes,
            arena: self.play.arena,
            clients: self.play.players,
            line: Impairment {
                delay: self.play.delay,
                ..self.play.line
            },
        }
    }

    /// Looks at what the clients draw, frame by frame.
    pub fn measure(&mut self, truth: &Truth) -> Figures {
        let mut ruler = Ruler::new(truth, self.play.players);
        let before = self.sent();
        for frame in self.frames.0..self.frames.1 {
            ruler.tick(time_of(frame + 1));
            self.system
                .run_for(Duration::from_nanos(1_000_000_000 / HZ));
            let room = self.system.room(self.room).expect("it runs");
            if let Err(difference) = truth.holds(room.world()) {
                panic!("the room is not the scene: {difference}");
            }
            for guest in 0..self.play.players {
                self.system.with(guest, Client::handle_timeout);
                self.draw(guest, truth, &mut ruler);
            }
        }
        let sent = self.sent() - before;
        ruler.figures(sent as f32 / self.play.how_long.as_secs_f32() / self.play.players as f32)
    }

    fn draw(&self, guest: usize, truth: &Truth, ruler: &mut Ruler<'_>) {
        let now = self.system.local(guest);
        let client = &self.system.guest(guest).client;
        let mut drawn_objects = 0;
        for seen in client.objects() {
            let Some(object) = self.object_of(guest, seen.id) else {
                continue;
            };
            let index = truth.index_of(object).expect("an object of the scene");
            if let Some(drawn) = client.drawn(seen.id, now) {
                ruler.draw(
                    guest,
                    index,
                    drawn.shows,
                    [drawn.position.x, drawn.position.y, drawn.position.z],
                );
                drawn_objects += 1;
            }
        }
        // All came in over a good line: who draws less would look better than it is.
        assert_eq!(
            drawn_objects,
            truth.objects(),
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
    fn sent(&self) -> u64 {
        let stats = self.system.room(self.room).expect("it runs").stats();
        stats.bytes_out + OVERHEAD_BYTES * stats.datagrams_out
    }
}
