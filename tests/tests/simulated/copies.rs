//! What is late on a line that loses, and what it costs to send twice what has a time of effect.
//!
//! `field` with players who walk and cast as bots do, over lines of 50 ms each way. The same seed
//! runs with copies and without. `docs/figures.md` has the figures.

use std::fmt::{self, Display, Formatter};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use ambit_field::commands;
use ambit_proto::ids::ClientObjectId;
use ambit_proto::message::GameCommand;
use ambit_tests::sim::{System, wire};

use crate::script::{BLINK, BOLT, HEAL, VEIL, system};

const PLAYERS: usize = 20;
/// Edge of the map, in metres.
const SIZE_M: f32 = 60.0;
/// Until then the lines' losses are not known.
const WARM_UP: Duration = Duration::from_secs(10);
const MEASURED: Duration = Duration::from_mins(1);
/// How often a player decides.
const STEP: Duration = Duration::from_millis(100);

/// What the clients of a run were sent while it was measured.
#[derive(Debug, Default)]
struct Sent {
    /// All headers included.
    bytes: u64,
    datagrams: u64,
    /// Events and updates.
    received: u64,
    late: u64,
    /// Over all of them, in order.
    hash: u64,
}

impl Sent {
    fn late_percent(&self) -> f64 {
        100.0 * self.late as f64 / self.received as f64
    }
}

impl Display for Sent {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let per_client = (PLAYERS as u64 * MEASURED.as_secs()) as f64;
        write!(
            f,
            "{:.2} % late of {}, {:.0} B/s, {:.2} datagrams/s",
            self.late_percent(),
            self.received,
            self.bytes as f64 / per_client,
            self.datagrams as f64 / per_client
        )
    }
}

#[test]
fn copies_bring_what_has_a_time_of_effect_in_time() {
    for (loss, late_percent, bytes_percent) in [(5, 0.5, 200), (13, 3.0, 200)] {
        let [with, without] = ["lossy", "never"].map(|copies| run(loss, copies));
        for (copies, sent) in [("without", &without), ("with", &with)] {
            println!("{loss} % loss, {copies} copies: {sent}");
        }
        assert!(with.late_percent() <= late_percent, "{loss} %: {with}");
        assert!(without.late_percent() > 5.0 * with.late_percent(), "{loss} %: {without}");
        // The calculation is in `docs/link.md`.
        assert!(100 * with.bytes <= bytes_percent * without.bytes, "{loss} %: {with}");
    }
}

#[test]
fn a_line_without_loss_gets_no_copies() {
    let [with, without] = ["lossy", "never"].map(|copies| run(0, copies));
    println!("without loss: {with}");
    assert_eq!(with.hash, without.hash);
}

fn run(loss: u32, copies: &str) -> Sent {
    let network = format!("delay=50ms,loss={loss}").parse().expect("a valid impairment");
    let mut system = system(5);
    let users: Vec<usize> =
        (0..PLAYERS).map(|number| system.add_user(&format!("player{number}"), &network)).collect();
    let size = format!("{SIZE_M}x{SIZE_M}");
    system.start_room(&users, "field", &[("size", &size), ("copies", copies)]);
    let mut players: Vec<Player> = users.iter().map(|&user| Player::new(user)).collect();
    play(&mut system, &mut players, WARM_UP);
    for &user in &users {
        system.user_mut(user).sent_datagrams = Some(Vec::new());
    }
    let before = counts(&system);
    play(&mut system, &mut players, MEASURED);
    let after = counts(&system);
    let mut sent =
        Sent { received: after.0 - before.0, late: after.1 - before.1, ..Sent::default() };
    let mut hash = DefaultHasher::new();
    for &user in &users {
        let datagrams = system.user_mut(user).sent_datagrams.take().expect("recorded");
        datagrams.hash(&mut hash);
        sent.bytes += wire::bytes(&datagrams);
        sent.datagrams += datagrams.len() as u64;
    }
    sent.hash = hash.finish();
    sent
}

/// Events and updates of all clients since the start, and how many of them were late.
fn counts(system: &System) -> (u64, u64) {
    let stats = (0..PLAYERS).map(|user| system.user(user).client.stats());
    stats.fold((0, 0), |(received, late), stats| {
        (received + stats.events + stats.updates, late + stats.late_events + stats.late_updates)
    })
}

fn play(system: &mut System, players: &mut [Player], how_long: Duration) {
    for _ in 0..how_long.as_millis() / STEP.as_millis() {
        for player in &mut *players {
            player.decide(system);
        }
        system.run_for(STEP);
    }
}

/// A player who walks to and fro and casts, as bots of the profile `crowd` do.
struct Player {
    user: usize,
    rng: fastrand::Rng,
    /// Steps until the player walks, and casts.
    walks_in: u64,
    casts_in: u64,
}

impl Player {
    fn new(user: usize) -> Self {
        let mut rng = fastrand::Rng::with_seed(user as u64);
        let walks_in = rng.u64(1..10);
        let casts_in = rng.u64(30..90);
        Player { user, rng, walks_in, casts_in }
    }

    fn decide(&mut self, system: &mut System) {
        self.walks_in -= 1;
        self.casts_in -= 1;
        if self.casts_in == 0 {
            self.casts_in = self.rng.u64(30..90);
            let spell = self.spell();
            system.act(self.user, &spell);
        }
        if self.walks_in == 0 {
            self.walks_in = self.rng.u64(40..150);
            let (x, y) = self.place();
            system.act(self.user, &commands::walk(x, y));
        }
    }

    fn spell(&mut self) -> GameCommand<ClientObjectId> {
        match self.rng.u8(0..10) {
            0..5 => commands::cast(BOLT, Some(self.place())),
            5..7 => commands::cast(HEAL, None),
            7 => commands::cast(VEIL, None),
            _ => commands::cast(BLINK, Some(self.place())),
        }
    }

    fn place(&mut self) -> (f32, f32) {
        (self.rng.f32() * SIZE_M, self.rng.f32() * SIZE_M)
    }
}
