//! A room on an impaired network, with measurements of its clients.
//!
//! Used by two kinds of tests: narrow budgets ([`MeasuredRoom::measure_ages`]) and loss
//! ([`run_under_loss`], which a test runs briefly and `cargo bench -p ambit-tests --bench loss` at
//! length). The simulator's oracles check every tick.

use std::time::Duration;

use ambit_client_core::client::stats::{AgeByClass, AgeClass, Distribution};
use ambit_proto::ids::{ClientId, ObjectId, RoomId};
use ambit_proto::schema::Freshness;
use ambit_room::logic::registry::Registry;
use ambit_transport::impair::Impairment;

use crate::crowd_game::CrowdGame;
use crate::rolling_cubes::RollingCubes;
use crate::sim::{System, wire};

/// The shipped games and the test games.
pub fn test_registry() -> Registry {
    ambit_game_server::standard()
        .with(RollingCubes::INFO, RollingCubes::create)
        .with(CrowdGame::INFO, CrowdGame::create)
}

/// 900 cubes and a player's cube, 60 ticks a second, 256 kbit/s for each client.
pub const ROOM_PARAMETERS: [(&str, &str); 6] = [
    ("size", "32x32"),
    ("tick", "60"),
    ("budget", "256"),
    ("inner", "4"),
    ("outer", "5"),
    ("cubes", "900"),
];

/// Age of what some clients know, by sample.
#[derive(Debug, Default)]
pub struct PoseAges {
    /// Of objects that move and are shown.
    pub shown: AgeByClass,
    /// Of objects that should be shown and are not yet: time since they were spawned or came near,
    /// local lag included.
    pub not_shown: Distribution,
}

pub struct MeasuredRoom {
    pub system: System,
    pub room: RoomId,
    /// Number of clients: users 0 to `clients` - 1.
    pub clients: usize,
}

impl MeasuredRoom {
    /// Lets clients join a room with these parameters, all over the same network.
    pub fn new(
        seed: u64,
        clients: usize,
        network: &Impairment,
        game: &str,
        parameters: &[(&str, &str)],
    ) -> Self {
        let mut system = System::new(seed, &test_registry());
        let users: Vec<usize> = (0..clients)
            .map(|number| system.add_user(&format!("player{number}"), network))
            .collect();
        let room = system.start_room(&users, game, parameters);
        MeasuredRoom { system, room, clients }
    }

    /// Records from now on what the clients are sent.
    pub fn record_traffic(&mut self) {
        for user in 0..self.clients {
            self.system.user_mut(user).sent_datagrams = Some(Vec::new());
        }
    }

    /// Lets time pass and samples, 20 times a second, the age of each object that has moved within
    /// the last second, as these users know it: for how long the pose that they would show has
    /// been more than `units` of its grid off. `engaged` returns which objects matter most to an
    /// avatar.
    pub fn measure_ages(
        &mut self,
        users: &[usize],
        how_long: Duration,
        units: u32,
        engaged: impl Fn(&System, ObjectId, ObjectId) -> bool,
    ) -> PoseAges {
        let mut ages = PoseAges::default();
        for _ in 0..how_long.as_millis() / 50 {
            self.system.run_for(Duration::from_millis(50));
            for &user in users {
                self.sample_ages(user, units, &engaged, &mut ages);
            }
        }
        ages
    }

    fn sample_ages(
        &self,
        user: usize,
        units: u32,
        engaged: &impl Fn(&System, ObjectId, ObjectId) -> bool,
        ages: &mut PoseAges,
    ) {
        let room = self.system.room(self.room).expect("the room runs");
        let oracle = self.system.pose_oracle(self.room).expect("the room has ticked");
        let Some((client, avatar)) = self.viewer_of(user) else {
            return;
        };
        let here = room.world().position(avatar);
        let shown: std::collections::BTreeMap<_, _> =
            oracle.shown_objects(client, &self.system.user(user).client).collect();
        for object in room.network().interest().followed(client) {
            let Some(seen) = shown.get(&object) else {
                ages.not_shown.add(oracle.age(object, None, units));
                continue;
            };
            let age = oracle.age(object, Some(seen), units);
            if age == Duration::ZERO && !oracle.has_moved(object, Duration::from_secs(1)) {
                continue;
            }
            let near =
                here.ground_distance(room.world().position(object)) <= Freshness::default().near_m;
            let class = match (object == avatar || engaged(&self.system, avatar, object), near) {
                (true, _) => AgeClass::Engaged,
                (false, true) => AgeClass::Near,
                (false, false) => AgeClass::Far,
            };
            ages.shown.add(class, age);
        }
    }

    /// Client id and avatar of a user.
    pub fn viewer_of(&self, user: usize) -> Option<(ClientId, ObjectId)> {
        let room = self.system.room(self.room)?;
        let player = self.system.user(user).client.player()?;
        room.network()
            .viewers()
            .find(|viewer| viewer.player == player)
            .map(|viewer| (viewer.client, viewer.avatar))
    }

    /// Errors of what a user shows now.
    pub fn view_errors(&self, user: usize) -> crate::oracle::poses::ViewErrors {
        let room = self.system.room(self.room).expect("the room runs");
        let (client, _) = self.viewer_of(user).expect("the user is in the room");
        let view = &self.system.user(user).client;
        let t = view.room_time(self.system.local_time(user)).expect("the user is in the room");
        self.system
            .pose_oracle(self.room)
            .expect("the room has ticked")
            .view_errors(room, client, view, t)
    }
}

/// How a room performs at one loss rate.
#[derive(Debug)]
pub struct LossReport {
    /// In per cent, in each direction.
    pub loss: f32,
    /// To one client, overhead included.
    pub bytes_per_s: u64,
    /// The most in any second.
    pub max_bytes_in_a_second: u64,
    /// Decoded by one client.
    pub poses_per_s: u64,
    /// Decoded poses that were compared with the truth, bit for bit.
    pub compared: u64,
    /// Datagrams whose poses a client could not read (lost track).
    pub lost_tracks: u64,
    pub ages: PoseAges,
}

/// Runs two clients for some time with loss, reordering, duplication and jitter, while cubes are
/// spawned and removed. Panics if a pose is decoded wrong, or an object is revived or leaked.
pub fn run_under_loss(seed: u64, loss: f32, seconds: u64) -> LossReport {
    let network = format!("loss={loss},delay=40ms,jitter=10ms,reorder=5,duplicate=2");
    let parameters = [&ROOM_PARAMETERS[..], &[("renewed", "10")]].concat();
    let mut measured = MeasuredRoom::new(
        seed,
        2,
        &network.parse().expect("a valid impairment"),
        "rolling_cubes",
        &parameters,
    );
    // In its first seconds a link with much loss probes whether its own rate causes the loss.
    measured.system.run_for(Duration::from_secs(6));
    measured.record_traffic();
    let poses = |measured: &MeasuredRoom| -> u64 {
        (0..2).map(|user| measured.system.user(user).client.stats().poses).sum()
    };
    let before = poses(&measured);
    let ages =
        measured
            .measure_ages(&[0, 1], Duration::from_secs(seconds), TOLERANCE_UNITS, |_, _, _| false);
    let sent: Vec<_> = (0..2)
        .map(|user| measured.system.user(user).sent_datagrams.as_ref().expect("recorded"))
        .collect();
    LossReport {
        loss,
        bytes_per_s: sent.iter().map(|sent| wire::bytes(sent)).sum::<u64>() / (2 * seconds),
        max_bytes_in_a_second: sent
            .iter()
            .map(|sent| wire::most_in_a_second(sent))
            .max()
            .unwrap_or(0),
        poses_per_s: (poses(&measured) - before) / (2 * seconds),
        compared: measured
            .system
            .pose_oracle(measured.room)
            .expect("the room has ticked")
            .compared_poses,
        lost_tracks: (0..2).map(|user| measured.system.user(user).client.stats().lost_tracks).sum(),
        ages,
    }
}

/// A cube's pose may be this far off before it counts as out of date: 2 mm on the grid of
/// [`crate::rolling_cubes::FORMAT`].
pub const TOLERANCE_UNITS: u32 = 8;
