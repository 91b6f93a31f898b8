//! Controls over bad networks: each press and each release reaches the game once and in order, and
//! the player's client knows when it took effect there.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_client_core::client::config::{ClientConfig, InputRate};
use ambit_client_core::client::own_inputs::OwnInput;
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::keymap::{ButtonEdges, Keymap};
use ambit_proto::time::GameTime;
use ambit_tests::sim::System;
use ambit_transport::impair::Impairment;

use crate::script::good_network;

/// Controls that are tapped.
const TAPPED: usize = 4;
const STEP: Duration = Duration::from_millis(5);

#[test]
fn no_tap_is_lost_or_doubled_when_half_the_datagrams_are_lost() {
    for (seed, inputs, tick_hz) in
        [(1, InputRate::Hz20, "20"), (2, InputRate::Hz60, "20"), (3, InputRate::Hz20, "60")]
    {
        let mut tapping = TappingPlayer::new(seed, inputs, tick_hz, &half_lost_network());
        let pressed = tapping.tap_for(Duration::from_secs(30));
        for _ in 0..600 {
            tapping.step();
        }
        for control in 0..TAPPED as u8 {
            let count = |of: fn(&ButtonEdges) -> Keymap| {
                tapping.room_edges.values().filter(|edges| of(edges).down(control)).count()
            };
            let (downs, ups) =
                (count(ButtonEdges::just_pressed), count(ButtonEdges::just_released));
            let expected = pressed[usize::from(control)];
            assert!(expected > 20, "seed {seed}: {expected} taps of {control}");
            assert_eq!((downs, ups), (expected, expected), "seed {seed}, control {control}");
        }
        tapping.compare_with_client(seed);
    }
}

#[test]
fn a_tap_takes_effect_within_a_tick_and_a_round_trip() {
    let mut tapping = TappingPlayer::new(4, InputRate::Hz20, "20", &good_network());
    for _ in 0..100 {
        tapping.step();
    }
    let before = tapping.system.room_time(tapping.room).expect("the room runs");
    tapping.hold_keys(Keymap(1));
    tapping.hold_keys(Keymap(0));
    for _ in 0..60 {
        tapping.step();
    }
    let (&at, edges) = tapping
        .room_edges
        .iter()
        .find(|(_, edges)| edges.just_pressed().down(0))
        .expect("the press takes effect");
    assert!(
        edges.just_released().down(0)
            || tapping.room_edges.range(at..).nth(1).is_some_and(|(_, next)| !next.is_unchanged())
    );
    // The one-way delay, up to a tick, and the local lag.
    let waited = at.since(before);
    assert!(waited <= Duration::from_millis(20 + 50 + 150 + 10), "{waited:?}");
    tapping.compare_with_client(4);
}

#[test]
fn a_player_who_is_cut_off_holds_no_key_until_reconnected() {
    let mut tapping = TappingPlayer::new(6, InputRate::Hz20, "20", &good_network());
    tapping.hold_keys(Keymap(0b10));
    for _ in 0..40 {
        tapping.step();
    }
    let pressed = |tapping: &TappingPlayer| {
        tapping.system.room(tapping.room).expect("the room runs").world().pressed(tapping.player, 1)
    };
    assert!(pressed(&tapping));
    tapping.system.drop_game(tapping.user);
    for _ in 0..2_000 {
        tapping.step();
    }
    let (downs, ups) = tapping.room_edges.values().fold((0, 0), |(downs, ups), edges| {
        (
            downs + u32::from(edges.just_pressed().down(1)),
            ups + u32::from(edges.just_released().down(1)),
        )
    });
    assert_eq!(
        (downs, ups),
        (2, 1),
        "released when the connection broke, pressed again after the reconnect"
    );
    assert!(pressed(&tapping));
}

struct TappingPlayer {
    system: System,
    rng: fastrand::Rng,
    user: usize,
    player: PlayerId,
    room: RoomId,
    /// The player's button edges in each tick of the room, by horizon.
    room_edges: BTreeMap<GameTime, ButtonEdges>,
    /// The client's latest record of its own samples, by their times.
    client_inputs: BTreeMap<GameTime, OwnInput>,
}

impl TappingPlayer {
    fn new(seed: u64, inputs: InputRate, tick_hz: &str, network: &Impairment) -> Self {
        let mut system = System::new(seed, &ambit_game_server::standard());
        let config = ClientConfig { name: "ann".into(), inputs, ..ClientConfig::default() };
        let user = system.add_user_with(config, &good_network());
        let room = system.start_room(&[user], "field", &[("npcs", "5"), ("tick", tick_hz)]);
        system.impair(user, network);
        let player = system.user(user).client.player().expect("welcomed");
        TappingPlayer {
            system,
            rng: fastrand::Rng::with_seed(seed),
            user,
            player,
            room,
            room_edges: BTreeMap::new(),
            client_inputs: BTreeMap::new(),
        }
    }

    /// Taps for a while; returns how often each control was pressed. Two presses of a control are
    /// at least two samples apart.
    fn tap_for(&mut self, time: Duration) -> [usize; TAPPED] {
        let end = self.system.now() + time;
        let (mut keys, mut next, mut pressed) =
            (Keymap(0), [end; TAPPED].map(|_| self.system.now()), [0; TAPPED]);
        while self.system.now() < end {
            for control in 0..TAPPED {
                if self.system.now() < next[control] {
                    continue;
                }
                let down = !keys.down(control as u8);
                keys = keys.with(control as u8, down);
                pressed[control] += usize::from(down);
                // A tap may be over within a sample.
                let (least, most) = if down { (5, 150) } else { (60, 900) };
                next[control] =
                    self.system.now() + Duration::from_millis(self.rng.u64(least..=most));
                self.hold_keys(keys);
            }
            self.step();
        }
        self.hold_keys(Keymap(0));
        pressed
    }

    fn hold_keys(&mut self, keys: Keymap) {
        self.system.hold_keys(self.user, keys);
    }

    fn step(&mut self) {
        self.system.run_for(STEP);
        let world = self.system.room(self.room).expect("the room runs").world();
        self.room_edges.insert(world.now(), world.button_edges(self.player));
        self.client_inputs
            .extend(self.system.user(self.user).client.own_inputs().map(|input| (input.at, input)));
    }

    /// Checks that the client's record of its inputs and their effects gives the same button edges
    /// as the room, tick by tick.
    fn compare_with_client(&self, seed: u64) {
        let unknown = self.client_inputs.values().filter(|input| !input.is_confirmed).count();
        assert_eq!(unknown, 0, "seed {seed}: of {}", self.client_inputs.len());
        let mut expected = ButtonEdges::default();
        for (&horizon, edges) in &self.room_edges {
            expected.begin_tick();
            self.client_inputs
                .values()
                .filter(|input| input.effect == horizon)
                .for_each(|input| expected.apply(input.keys));
            assert_eq!(expected, *edges, "seed {seed} at {horizon:?}");
        }
        println!(
            "seed {seed}: {} samples, {} ticks agree",
            self.client_inputs.len(),
            self.room_edges.len()
        );
    }
}

fn half_lost_network() -> Impairment {
    "loss=50,delay=40ms,jitter=15ms,reorder=10,duplicate=10".parse().expect("a valid impairment")
}
