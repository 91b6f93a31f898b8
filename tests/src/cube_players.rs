//! Rooms of the game `cubes` with scripted players: players hold keys, which travel as all inputs
//! do, and clients draw 60 times a second.
//!
//! Used for the katamari measurement, for long runs ([`soak`]) and for wide floors
//! ([`wide_floor`]). Everything runs on simulated time.
//!
//! Units: frames of 1/60 s. A frame lies in the middle between two physics frames of the room.

pub mod soak;
pub mod wide_floor;

use std::hash::{DefaultHasher, Hash};
use std::time::Duration;

use ambit_client_core::client::Client;
use ambit_client_core::client::config::ClientConfig;
use ambit_client_core::replica::drawing::DrawnObject;
use ambit_cubes_physics::{POSE_FORMAT, frame_at};
use ambit_proto::ids::{ClientId, ObjectId, RoomId};
use ambit_proto::keymap::Keymap;
use ambit_proto::pose::Pose;
use ambit_proto::space::Position;
use ambit_proto::time::LocalTime;
use ambit_transport::impair::Impairment;

use crate::physics_sync::ground_truth::FRAME_HZ;
use crate::sim::System;

/// A room of `cubes` and its scripted players.
pub struct CubePlayers {
    pub system: System,
    pub room: RoomId,
    /// Clock of a benchmark, to measure the computing time of clients.
    pub clock: Option<fn() -> Duration>,
    /// Computing time of each frame of each client, by that clock.
    pub client_frame_times: Vec<Duration>,
    players: usize,
    started_at: LocalTime,
    frames_run: u64,
}

pub fn frames_in(time: Duration) -> u64 {
    time.as_millis() as u64 * FRAME_HZ / 1_000
}

impl CubePlayers {
    /// Lets players join a room with these parameters, all over the same network.
    pub fn start(
        seed: u64,
        players: usize,
        network: &Impairment,
        parameters: &[(&str, &str)],
    ) -> Self {
        let mut system = System::new(seed, &ambit_game_server::standard());
        let config =
            |player| ClientConfig { name: format!("p{player}"), ..ClientConfig::default() };
        let users: Vec<usize> =
            (0..players).map(|player| system.add_user_with(config(player), network)).collect();
        let seed_text = seed.to_string();
        // Without rounds: the room has only cubes.
        let own = [("seed", &*seed_text), ("round", "0")];
        let room = system.start_room(&users, "cubes", &[&own[..], parameters].concat());
        let now = |system: &System| system.room(room).expect("the room runs").world().now();
        let tick = now(&system);
        system.run_until("a tick", |system| now(system) > tick);
        system.run_for(Duration::from_secs(1) / (2 * FRAME_HZ as u32));
        let started_at = system.now();
        CubePlayers {
            system,
            room,
            clock: None,
            client_frame_times: Vec::new(),
            players,
            started_at,
            frames_run: 0,
        }
    }

    /// Connects one more player; it joins the room only when it asks to.
    pub fn add_player(&mut self, network: &Impairment) -> usize {
        self.players += 1;
        self.system.add_user(&format!("p{}", self.players), network)
    }

    /// Runs one frame. `keys` gives the keys that a user's player holds, from the physics frame
    /// and the position of its cube.
    pub fn run_frame(&mut self, mut keys: impl FnMut(usize, u64, Position) -> Keymap) {
        self.frames_run += 1;
        let next = self.started_at + Duration::from_micros(self.frames_run * 1_000_000 / FRAME_HZ);
        self.system.run_for(next.since(self.system.now()));
        let frame = self.physics_frame();
        for user in 0..self.players {
            let Some(avatar) = self.avatar(user) else {
                continue;
            };
            let at = self.pose_of(avatar);
            self.system.hold_keys(user, keys(user, frame, POSE_FORMAT.position(&at)));
            let started = self.clock.map(|clock| clock());
            self.system.with_client(user, Client::handle_timeout);
            if let Some((clock, started)) = self.clock.zip(started) {
                self.client_frame_times.push(clock().saturating_sub(started));
            }
        }
    }

    /// Runs frames in which no player holds a key.
    pub fn release_keys_for(&mut self, time: Duration) {
        (0..frames_in(time)).for_each(|_| self.run_frame(|_, _, _| Keymap(0)));
    }

    /// The physics frame at the room's horizon.
    pub fn physics_frame(&self) -> u64 {
        frame_at(self.system.room(self.room).expect("the room runs").world().now())
    }

    /// The cube of a user, while it is in the room.
    pub fn avatar(&self, user: usize) -> Option<ObjectId> {
        self.system.room(self.room)?.avatar(self.system.user(user).client.player()?)
    }

    /// Client id of a user in the room, while it is connected.
    pub fn client_id(&self, user: usize) -> Option<ClientId> {
        let player = self.system.user(user).client.player()?;
        let mut viewers = self.system.room(self.room)?.network().viewers();
        viewers.find(|viewer| viewer.player == player).map(|viewer| viewer.client)
    }

    /// The true pose of an object at the horizon.
    pub fn pose_of(&self, object: ObjectId) -> Pose {
        self.system.room(self.room).expect("the room runs").world().pose(object)
    }

    /// What a user's client draws of the room's objects.
    pub fn drawn_objects(&self, user: usize) -> Vec<(ObjectId, DrawnObject)> {
        let now = self.system.local_time(user);
        let client = &self.system.user(user).client;
        let Some(viewer) = self.client_id(user) else {
            return Vec::new();
        };
        let oracle = self.system.pose_oracle(self.room).expect("the room has ticked");
        let drawn = |id| Some((oracle.object_of(viewer, id)?, client.drawn(id, now)?));
        client.objects().filter_map(|seen| drawn(seen.id)).collect()
    }

    /// Whether all objects of the room are at rest.
    pub fn is_at_rest(&self) -> bool {
        let world = self.system.room(self.room).expect("the room runs").world();
        world.objects().all(|object| world.pose(object).flag)
    }

    /// Checks that all objects are at rest, and that a user draws every object that it follows at
    /// its true position, to a unit of the grid along each axis. Returns the number of objects.
    pub fn check_drawn_at_rest(&self, user: usize) -> Result<usize, String> {
        let room = self.system.room(self.room).expect("the room runs");
        let viewer = self.client_id(user).ok_or("the user is not connected")?;
        let drawn = self.drawn_objects(user);
        let followed = room.network().interest().followed(viewer).count();
        if drawn.len() != followed {
            return Err(format!("user {user} draws {} of {followed} objects", drawn.len()));
        }
        for (object, DrawnObject { position, .. }) in &drawn {
            let pose = self.pose_of(*object);
            let truth = POSE_FORMAT.position(&pose);
            let off =
                [position.x - truth.x, position.y - truth.y, position.z - truth.z].map(f32::abs);
            if !pose.flag || off.iter().any(|off| *off > 1.0 / f32::from(POSE_FORMAT.per_metre)) {
                return Err(format!(
                    "user {user} draws {object:?} at {position:?}; its true pose is {pose:?}"
                ));
            }
        }
        Ok(drawn.len())
    }

    /// Adds the whole state to a hash: the poses of the room, and what clients draw.
    pub fn hash_state(&self, hash: &mut DefaultHasher) {
        let world = self.system.room(self.room).expect("the room runs").world();
        for object in world.objects() {
            let Pose { at, turn, flag, motion, .. } = world.pose(object);
            (object, at, turn, flag, motion.linear, motion.angular).hash(hash);
        }
        for user in 0..self.players {
            for (object, drawn) in self.drawn_objects(user) {
                let Position { x, y, z } = drawn.position;
                (object, [x, y, z].map(f32::to_bits)).hash(hash);
            }
        }
    }
}
