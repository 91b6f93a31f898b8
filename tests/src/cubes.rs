//! A room of cubes on a line with faults, and figures of how its clients fare.
//!
//! The scenario behind two proofs: with a narrow budget ([`Cubes::ages`]), and under loss
//! ([`under_loss`], which a test runs short and `cargo bench -p ambit-tests --bench loss` long).
//! The oracles of the simulator watch every tick of it.

use std::time::Duration;

use ambit_client_core::client::stats::{AgeByClass, Class, Distribution};
use ambit_game_server::logic::registry::Registry;
use ambit_proto::ids::{ClientId, ObjectId, RoomId};
use ambit_proto::impair::Impairment;
use ambit_proto::schema::Freshness;

use crate::sim::{System, wire};
use crate::throng::Throng;
use crate::tumble::Tumble;

/// The shipped games, and those of the tests.
pub fn registry() -> Registry {
    Registry::standard()
        .with(Tumble::INFO, Tumble::make)
        .with(Throng::INFO, Throng::make)
}

/// 900 cubes and a player's, 60 ticks a second, 256 kbit/s a client.
pub const PARAMETERS: [(&str, &str); 6] = [
    ("size", "32x32"),
    ("tick", "60"),
    ("budget", "256"),
    ("inner", "4"),
    ("outer", "5"),
    ("cubes", "900"),
];

/// How old what some clients know was, whenever it was sampled.
#[derive(Debug, Default)]
pub struct Ages {
    /// Of objects that move and are shown.
    pub shown: AgeByClass,
    /// Of such as should be shown and aren't yet: time since they were born, or came near; with the
    /// local lag, which is over when they are.
    pub not_shown: Distribution,
}

/// A running room.
pub struct Cubes {
    /// Everything.
    pub system: System,
    /// The room.
    pub room: RoomId,
    /// How many clients there are; guests 0, 1, ...
    pub clients: usize,
}

impl Cubes {
    /// So many clients on such a line, in a room with these parameters.
    pub fn new(
        seed: u64,
        clients: usize,
        line: &Impairment,
        game: &str,
        parameters: &[(&str, &str)],
    ) -> Self {
        let mut system = System::new(seed, &registry());
        let guests: Vec<usize> = (0..clients)
            .map(|number| system.arrive(&format!("player{number}"), line))
            .collect();
        let room = system.gather(&guests, game, parameters);
        Cubes {
            system,
            room,
            clients,
        }
    }

    /// Keeps from now on what the clients are sent.
    pub fn tap(&mut self) {
        for guest in 0..self.clients {
            self.system.guest_mut(guest).sent_to = Some(Vec::new());
        }
    }

    /// Lets time pass and notes, 20 times a second, the age of each object that has moved within a
    /// second, as these guests know it: for how long what they would show of it has not been right
    /// to so many units of its grid. `engaged` says who cares about whom most.
    pub fn ages(
        &mut self,
        guests: &[usize],
        how_long: Duration,
        units: u32,
        engaged: impl Fn(&System, ObjectId, ObjectId) -> bool,
    ) -> Ages {
        let mut ages = Ages::default();
        for _ in 0..how_long.as_millis() / 50 {
            self.system.run_for(Duration::from_millis(50));
            for &guest in guests {
                self.sample(guest, units, &engaged, &mut ages);
            }
        }
        ages
    }

    fn sample(
        &self,
        guest: usize,
        units: u32,
        engaged: &impl Fn(&System, ObjectId, ObjectId) -> bool,
        ages: &mut Ages,
    ) {
        let room = self.system.room(self.room).expect("it runs");
        let oracle = self.system.poses(self.room).expect("it has ticked");
        let Some((client, avatar)) = self.viewer(guest) else {
            return;
        };
        let here = room.world().position(avatar);
        let shown: std::collections::BTreeMap<_, _> = oracle
            .shown(client, &self.system.guest(guest).client)
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
                (true, _) => Class::Engaged,
                (false, true) => Class::Near,
                (false, false) => Class::Far,
            };
            ages.shown.add(class, age);
        }
    }

    /// The client and the avatar of a guest.
    pub fn viewer(&self, guest: usize) -> Option<(ClientId, ObjectId)> {
        let room = self.system.room(self.room)?;
        let player = self.system.guest(guest).client.player()?;
        room.network()
            .viewers()
            .find(|viewer| viewer.player == player)
            .map(|viewer| (viewer.client, viewer.avatar))
    }

    /// How right a guest's picture is now.
    pub fn picture(&self, guest: usize) -> crate::oracle::poses::Picture {
        let room = self.system.room(self.room).expect("it runs");
        let (client, _) = self.viewer(guest).expect("it plays");
        let view = &self.system.guest(guest).client;
        let t = view.room_time(self.system.local(guest)).expect("it plays");
        self.system
            .poses(self.room)
            .expect("it has ticked")
            .picture(room, client, view, t)
    }
}

/// How a room fares at one loss rate.
#[derive(Debug)]
pub struct UnderLoss {
    /// In per cent, each way.
    pub loss: f32,
    /// Towards a client, overhead included.
    pub bytes_per_s: u64,
    /// The most in any second.
    pub most_bytes: u64,
    /// Decoded a second and client.
    pub poses_per_s: u64,
    /// Decoded poses that were compared with the truth, bit for bit.
    pub compared: u64,
    /// Datagrams in which a client found a base that it did not have, and said so.
    pub lost_tracks: u64,
    /// See there.
    pub ages: Ages,
}

/// Two clients for so long, with loss, reordering, duplication and jitter, while cubes come and go.
/// Panics if anything is ever decoded wrong, revived or leaked.
pub fn under_loss(seed: u64, loss: f32, seconds: u64) -> UnderLoss {
    let line = format!("loss={loss},delay=40ms,jitter=10ms,reorder=5,duplicate=2");
    let parameters = [&PARAMETERS[..], &[("renewed", "10")]].concat();
    let mut cubes = Cubes::new(
        seed,
        2,
        &line.parse().expect("a valid line"),
        "tumble",
        &parameters,
    );
    // A link that has met much loss finds out in its first seconds whether that is its own doing.
    cubes.system.run_for(Duration::from_secs(6));
    cubes.tap();
    let poses = |cubes: &Cubes| -> u64 {
        (0..2)
            .map(|guest| cubes.system.guest(guest).client.stats().poses)
            .sum()
    };
    let before = poses(&cubes);
    let ages = cubes.ages(
        &[0, 1],
        Duration::from_secs(seconds),
        TOLERANCE_UNITS,
        |_, _, _| false,
    );
    let sent: Vec<_> = (0..2)
        .map(|guest| cubes.system.guest(guest).sent_to.as_ref().expect("tapped"))
        .collect();
    UnderLoss {
        loss,
        bytes_per_s: sent.iter().map(|sent| wire::bytes(sent)).sum::<u64>() / (2 * seconds),
        most_bytes: sent
            .iter()
            .map(|sent| wire::most_in_a_second(sent))
            .max()
            .unwrap_or(0),
        poses_per_s: (poses(&cubes) - before) / (2 * seconds),
        compared: cubes
            .system
            .poses(cubes.room)
            .expect("it has ticked")
            .compared,
        lost_tracks: (0..2)
            .map(|guest| cubes.system.guest(guest).client.stats().lost_tracks)
            .sum(),
        ages,
    }
}

/// What a cube may be off before it counts as out of date: 2 mm on the grid of
/// [`crate::tumble::FORMAT`].
pub const TOLERANCE_UNITS: u32 = 8;
