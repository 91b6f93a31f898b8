//! A room of cubes on a line with faults, and figures of how its clients fare.
//!
//! The scenario behind two proofs: with a narrow budget ([`Cubes::ages`]), and under loss
//! ([`run_under_loss`], which a test runs short and `cargo bench -p ambit-tests --bench loss`
//! long). The oracles of the simulator watch every tick of it.

use std::time::Duration;

use ambit_client_core::client::stats::{AgeByClass, AgeClass, Distribution};
use ambit_game_server::logic::registry::Registry;
use ambit_proto::ids::{ClientId, ObjectId, RoomId};
use ambit_proto::impair::Impairment;
use ambit_proto::schema::Freshness;

use crate::crowd_game::CrowdGame;
use crate::rolling_cubes::RollingCubes;
use crate::sim::{System, wire};

/// The shipped games, and those of the tests.
pub fn test_registry() -> Registry {
    Registry::standard()
        .with(RollingCubes::INFO, RollingCubes::create)
        .with(CrowdGame::INFO, CrowdGame::create)
}

/// 900 cubes and a player's, 60 ticks a second, 256 kbit/s a client.
pub const ROOM_PARAMETERS: [(&str, &str); 6] = [
    ("size", "32x32"),
    ("tick", "60"),
    ("budget", "256"),
    ("inner", "4"),
    ("outer", "5"),
    ("cubes", "900"),
];

/// How old what some clients know was, whenever it was sampled.
#[derive(Debug, Default)]
pub struct PoseAges {
    /// Of objects that move and are shown.
    pub shown: AgeByClass,
    /// Of such as should be shown and aren't yet: time since they were born, or came near; with the
    /// local lag, which is over when they are.
    pub not_shown: Distribution,
}

/// A running room.
pub struct MeasuredRoom {
    /// Everything.
    pub system: System,
    /// The room.
    pub room: RoomId,
    /// How many clients there are; guests 0, 1, ...
    pub clients: usize,
}

impl MeasuredRoom {
    /// So many clients on such a line, in a room with these parameters.
    pub fn new(
        seed: u64,
        clients: usize,
        line: &Impairment,
        game: &str,
        parameters: &[(&str, &str)],
    ) -> Self {
        let mut system = System::new(seed, &test_registry());
        let guests: Vec<usize> = (0..clients)
            .map(|number| system.arrive(&format!("player{number}"), line))
            .collect();
        let room = system.gather(&guests, game, parameters);
        MeasuredRoom {
            system,
            room,
            clients,
        }
    }

    /// Keeps from now on what the clients are sent.
    pub fn record_traffic(&mut self) {
        for guest in 0..self.clients {
            self.system.guest_mut(guest).sent_to = Some(Vec::new());
        }
    }

    /// Lets time pass and notes, 20 times a second, the age of each object that has moved within a
    /// second, as these guests know it: for how long what they would show of it has not been right
    /// to so many units of its grid. `engaged` says who cares about whom most.
    pub fn measure_ages(
        &mut self,
        guests: &[usize],
        how_long: Duration,
        units: u32,
        engaged: impl Fn(&System, ObjectId, ObjectId) -> bool,
    ) -> PoseAges {
        let mut ages = PoseAges::default();
        for _ in 0..how_long.as_millis() / 50 {
            self.system.run_for(Duration::from_millis(50));
            for &guest in guests {
                self.sample_ages(guest, units, &engaged, &mut ages);
            }
        }
        ages
    }

    fn sample_ages(
        &self,
        guest: usize,
        units: u32,
        engaged: &impl Fn(&System, ObjectId, ObjectId) -> bool,
        ages: &mut PoseAges,
    ) {
        let room = self.system.room(self.room).expect("it runs");
        let oracle = self.system.poses(self.room).expect("it has ticked");
        let Some((client, avatar)) = self.viewer_of(guest) else {
            return;
        };
        let here = room.world().position(avatar);
        let shown: std::collections::BTreeMap<_, _> = oracle
            .shown_objects(client, &self.system.guest(guest).client)
            .collect();
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
            let class = match (
                object == avatar || engaged(&self.system, avatar, object),
                near,
            ) {
                (true, _) => AgeClass::EngagedObjects,
                (false, true) => AgeClass::NearlyEqual,
                (false, false) => AgeClass::Far,
            };
            ages.shown.add(class, age);
        }
    }

    /// The client and the avatar of a guest.
    pub fn viewer_of(&self, guest: usize) -> Option<(ClientId, ObjectId)> {
        let room = self.system.room(self.room)?;
        let player = self.system.guest(guest).client.player()?;
        room.network()
            .viewers()
            .find(|viewer| viewer.player == player)
            .map(|viewer| (viewer.client, viewer.avatar))
    }

    /// How right a guest's picture is now.
    pub fn view_errors(&self, guest: usize) -> crate::oracle::poses::ViewErrors {
        let room = self.system.room(self.room).expect("it runs");
        let (client, _) = self.viewer_of(guest).expect("it plays");
        let view = &self.system.guest(guest).client;
        let t = view.room_time(self.system.local(guest)).expect("it plays");
        self.system
            .poses(self.room)
            .expect("it has ticked")
            .view_errors(room, client, view, t)
    }
}

/// How a room fares at one loss rate.
#[derive(Debug)]
pub struct LossReport {
    /// In per cent, each way.
    pub loss: f32,
    /// Towards a client, overhead included.
    pub bytes_per_s: u64,
    /// The most in any second.
    pub max_bytes_in_a_second: u64,
    /// Decoded a second and client.
    pub poses_per_s: u64,
    /// Decoded poses that were compared with the truth, bit for bit.
    pub compared: u64,
    /// Datagrams in which a client found a base that it did not have, and said so.
    pub missing_baselines: u64,
    /// See there.
    pub ages: PoseAges,
}

/// Two clients for so long, with loss, reordering, duplication and jitter, while cubes come and go.
/// Panics if anything is ever decoded wrong, revived or leaked.
pub fn run_under_loss(seed: u64, loss: f32, seconds: u64) -> LossReport {
    let line = format!("loss={loss},delay=40ms,jitter=10ms,reorder=5,duplicate=2");
    let parameters = [&ROOM_PARAMETERS[..], &[("renewed", "10")]].concat();
    let mut cubes = MeasuredRoom::new(
        seed,
        2,
        &line.parse().expect("a valid line"),
        "tumble",
        &parameters,
    );
    // A link that has met much loss finds out in its first seconds whether that is its own doing.
    cubes.system.run_for(Duration::from_secs(6));
    cubes.record_traffic();
    let poses = |cubes: &MeasuredRoom| -> u64 {
        (0..2)
            .map(|guest| cubes.system.guest(guest).client.stats().poses)
            .sum()
    };
    let before = poses(&cubes);
    let ages = cubes.measure_ages(
        &[0, 1],
        Duration::from_secs(seconds),
        TOLERANCE_UNITS,
        |_, _, _| false,
    );
    let sent: Vec<_> = (0..2)
        .map(|guest| cubes.system.guest(guest).sent_to.as_ref().expect("tapped"))
        .collect();
    LossReport {
        loss,
        bytes_per_s: sent.iter().map(|sent| wire::bytes(sent)).sum::<u64>() / (2 * seconds),
        max_bytes_in_a_second: sent
            .iter()
            .map(|sent| wire::most_in_a_second(sent))
            .max()
            .unwrap_or(0),
        poses_per_s: (poses(&cubes) - before) / (2 * seconds),
        compared: cubes
            .system
            .poses(cubes.room)
            .expect("it has ticked")
            .compared_poses,
        missing_baselines: (0..2)
            .map(|guest| cubes.system.guest(guest).client.stats().lost_tracks)
            .sum(),
        ages,
    }
}

/// What a cube may be off before it counts as out of date: 2 mm on the grid of
/// [`crate::tumble::FORMAT`].
pub const TOLERANCE_UNITS: u32 = 8;
