//! Avatars that are steered: drawn in the frame after the key at any round trip, and where the host
//! puts them.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_client_boundary::ClientView;
use ambit_client_core::client::Client;
use ambit_client_core::client::config::{ClientConfig, InputRate};
use ambit_client_core::frame::{Frame, FrameObject};
use ambit_client_core::replica::VisibleObject;
use ambit_proto::ids::{ObjectId, RoomId};
use ambit_proto::keymap::Keymap;
use ambit_proto::schema::Controls as _;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_shooter_kinds::ShipControl;
use ambit_tests::sim::System;
use ambit_transport::impair::Impairment;

/// Of a screen with 60 Hz.
const FRAME: Duration = Duration::from_micros(16_667);
/// All round trips of the simulated lines, in milliseconds.
const ROUND_TRIPS: [u64; 5] = [0, 50, 100, 200, 300];
/// What a player holds now and then.
const KEYS: [ShipControl; 4] =
    [ShipControl::TurnLeft, ShipControl::TurnRight, ShipControl::Accelerate, ShipControl::Brake];

#[test]
fn a_key_shows_in_the_next_frame_at_any_round_trip() {
    for (rtt, tick_hz) in ROUND_TRIPS.into_iter().flat_map(|rtt| [(rtt, "20"), (rtt, "60")]) {
        let mut pilot = Pilot::new(7, tick_hz, &format!("delay={}ms", rtt / 2));
        for press in 0..20 {
            pilot.hold(&[]);
            pilot.run_for(Duration::from_millis(1_000 + 7 * press));
            let before = pilot.drawn();
            pilot.hold(&[ShipControl::TurnLeft]);
            pilot.run_for(FRAME);
            let after = pilot.drawn();
            assert_ne!(before.yaw, after.yaw, "round trip {rtt} ms, {tick_hz} Hz, press {press}");
        }
    }
}

#[test]
fn the_own_ship_is_drawn_where_the_host_puts_it() {
    for (seed, (rtt, loss)) in
        (1..).zip(ROUND_TRIPS.into_iter().flat_map(|rtt| [(rtt, 0), (rtt, 13)]))
    {
        let line = format!("delay={}ms,jitter={}ms,loss={loss}", rtt / 2, rtt / 20);
        let mut pilot = Pilot::new(seed, "20", &line);
        pilot.fly_for(Duration::from_mins(1));
        let errors = pilot.errors();
        let stats = pilot.system.user(pilot.user).client.stats().simulation;
        let off = |share| stats.predicted.quantile_cm(share).unwrap_or_default();
        println!(
            "{line}: drawn {errors:?} cm; of {} poses p99 {} cm off, p99.9 {}; {} reconciled, {:?}",
            stats.predicted.count(),
            off(0.99),
            off(0.999),
            stats.reconciled.count(),
            stats.reconciled.quantile_cm(0.99)
        );
        assert!(errors.samples > 700 && stats.predicted.count() > 500, "{line}: {errors:?}");
        assert!(off(0.99) < 5.0, "{line}: predicted {} cm off", off(0.99));
        assert!(errors.p50 < 1.0 && errors.p99 < 60.0, "{line}: {errors:?}");
    }
}

#[test]
fn a_ship_moves_until_it_rests() {
    let mut pilot = Pilot::new(7, "20", "delay=50ms");
    pilot.run_for(Duration::from_secs(1));
    assert!(!pilot.drawn().moves);
    pilot.hold(&[ShipControl::Accelerate]);
    pilot.run_for(Duration::from_millis(500));
    assert!(pilot.drawn().moves);
    pilot.hold(&[ShipControl::Brake]);
    pilot.run_for(Duration::from_secs(4));
    assert!(!pilot.drawn().moves);
}

#[test]
fn without_local_lag_it_is_the_same() {
    for rtt in [0, 100, 300] {
        let line = format!("delay={}ms,jitter={}ms,loss=5", rtt / 2, rtt / 20);
        let mut pilot = Pilot::in_room(4, &line, ClientConfig::default(), &[("delay", "0")]);
        pilot.hold(&[]);
        pilot.run_for(Duration::from_secs(1));
        let before = pilot.drawn();
        pilot.hold(&[ShipControl::TurnLeft]);
        pilot.run_for(FRAME);
        assert_ne!(before.yaw, pilot.drawn().yaw, "{line}");
        pilot.fly_for(Duration::from_mins(2));
        let predicted = pilot.system.user(pilot.user).client.stats().simulation.predicted;
        let p99_cm = predicted.quantile_cm(0.99).unwrap_or_default();
        assert!(predicted.count() > 1_500 && p99_cm < 5.0, "{line}: {p99_cm} cm off");
    }
}

#[test]
fn without_prediction_the_own_ship_is_drawn_as_the_others_see_it() {
    let config = ClientConfig { predict: Some(false), ..ClientConfig::default() };
    let mut pilot = Pilot::with_config(3, "20", "delay=50ms", config);
    pilot.hold(&[ShipControl::Accelerate]);
    pilot.run_for(Duration::from_millis(150));
    let slow = pilot.drawn();
    pilot.run_for(Duration::from_millis(400));
    let fast = pilot.drawn();
    assert!(slow.position == pilot.start && fast.position != pilot.start, "{slow:?}, {fast:?}");
}

#[test]
fn others_see_how_fast_a_ship_flies() {
    let mut system = System::new(5, &ambit_game_server::standard());
    let line: Impairment = "delay=30ms".parse().expect("a valid impairment");
    let [ann, bob] = ["ann", "bob"].map(|name| system.add_user(name, &line));
    let alone = [("ships", "0"), ("asteroids", "0"), ("size", "80x80")];
    system.start_room(&[ann, bob], "shooter", &alone);
    system.run_for(Duration::from_secs(3));
    let held = Keymap(0).with(ShipControl::Accelerate.index(), true);
    system.hold_keys(ann, held.with(ShipControl::TurnLeft.index(), true));
    // A turning player sees flying players now and then.
    system.hold_keys(bob, held.with(ShipControl::TurnRight.index(), true));
    let mut frame = Frame::default();
    let mut fastest = 0.0_f32;
    for _ in 0..600 {
        system.run_for(FRAME);
        let now = system.local_time(bob);
        system.with_client(bob, |client, _| frame.update(client, now, now));
        let Some(ship) = frame.objects().find(|ship| ship.kind() == "ship" && !ship.is_own())
        else {
            continue;
        };
        let ([x, y, _], (sin, cos)) = (ship.velocity(), ship.heading().sin_cos());
        let along = x * cos + y * sin;
        let across = y * cos - x * sin;
        // It flies where its nose points; a picture is between two headings.
        assert!(across.abs() < 4.0 && along > -0.1, "{:?} at {}", ship.velocity(), ship.heading());
        fastest = fastest.max(along);
    }
    assert!(fastest > 8.0, "{fastest} m/s");
    let now = system.local_time(bob);
    let client = &system.user(bob).client;
    let own = client.objects().find(VisibleObject::is_own).expect("an own ship");
    let (yaw, shown) =
        (client.room_time(now).and_then(|t| own.yaw(t)), frame.avatar().expect("drawn").heading());
    let yaw = yaw.expect("a predicted ship has a heading, too");
    assert!((yaw - shown).sin().abs() < 0.1, "{yaw} beside {shown}");
}

/// What a screen shows.
#[derive(Clone, Copy, Debug)]
struct Drawn {
    time: GameTime,
    position: Position,
    yaw: f32,
    moves: bool,
}

/// A player alone in a room of the shooter.
struct Pilot {
    system: System,
    rng: fastrand::Rng,
    user: usize,
    room: RoomId,
    ship: ObjectId,
    start: Position,
    /// True positions of the ship, by the horizon of the tick.
    truth: BTreeMap<GameTime, Position>,
    frames: Vec<Drawn>,
}

/// Of the drawn positions, in centimetres.
#[derive(Debug)]
struct Errors {
    samples: usize,
    p50: f32,
    p99: f32,
    #[expect(dead_code, reason = "only printed")]
    max: f32,
}

impl Pilot {
    fn new(seed: u64, tick_hz: &str, line: &str) -> Self {
        Self::with_config(seed, tick_hz, line, ClientConfig::default())
    }

    fn with_config(seed: u64, tick_hz: &str, line: &str, config: ClientConfig) -> Self {
        Self::in_room(seed, line, config, &[("tick", tick_hz)])
    }

    fn in_room(seed: u64, line: &str, config: ClientConfig, given: &[(&str, &str)]) -> Self {
        let mut system = System::new(seed, &ambit_game_server::standard());
        let config = ClientConfig { name: "ann".into(), inputs: InputRate::Hz60, ..config };
        let line: Impairment = line.parse().expect("a valid impairment");
        let user = system.add_user_with(config, &line);
        let room = system.start_room(
            &[user],
            "shooter",
            &[&[("ships", "0"), ("asteroids", "0"), ("size", "3000x3000")][..], given].concat(),
        );
        system.run_for(Duration::from_secs(5));
        let world = system.room(room).expect("the room runs").world();
        let ship = world.objects().find(|&object| world.is_avatar(object)).expect("a ship");
        let start = world.position(ship);
        let truth = BTreeMap::new();
        let frames = Vec::new();
        Self { system, rng: fastrand::Rng::with_seed(seed), user, room, ship, start, truth, frames }
    }

    fn hold(&mut self, keys: &[ShipControl]) {
        let held = keys.iter().fold(Keymap(0), |held, key| held.with(key.index(), true));
        self.system.hold_keys(self.user, held);
    }

    /// Runs from frame to frame of the screen, far from all obstacles.
    fn run_for(&mut self, time: Duration) {
        for _ in 0..time.as_micros().div_ceil(FRAME.as_micros()) {
            self.system.run_for(FRAME);
            self.note_truth();
            let drawn = self.drawn();
            self.frames.push(drawn);
        }
    }

    /// Holds other keys now and then.
    fn fly_for(&mut self, time: Duration) {
        let mut next = 0;
        for frame in 0..time.as_micros() / FRAME.as_micros() {
            if frame >= next {
                next = frame + self.rng.u128(4..60);
                let keys: Vec<_> = KEYS.into_iter().filter(|_| self.rng.u8(..3) == 0).collect();
                self.hold(&keys);
            }
            self.run_for(FRAME);
        }
    }

    fn note_truth(&mut self) {
        let world = self.system.room(self.room).expect("the room runs").world();
        let at = world.position(self.ship);
        assert!(!world.statics().is_blocked(at, 5.0), "near a wall at {at:?}: take another seed");
        self.truth.insert(world.now(), world.position(self.ship));
    }

    fn drawn(&mut self) -> Drawn {
        self.system.with_client(self.user, Client::handle_timeout);
        let now = self.system.local_time(self.user);
        // As engines read it, by the C interface too.
        let mut view = ClientView::default();
        self.system.with_client(self.user, |client, _| {
            view.draw(client, now, now);
        });
        let own = view.frame().avatar().expect("the own ship is in sight");
        let row = view.arrays().objects()[view.arrays().avatar().expect("it is drawn")];
        let transform = own.transform();
        assert_eq!((row.rotation, row.position[0]), (transform.rotation, own.position().x));
        let time = self.system.user(self.user).client.drawn(own.id(), now).expect("it has a pose");
        let yaw = FrameObject::heading(&own);
        Drawn { time: time.room_time, position: own.position(), yaw, moves: own.moves() }
    }

    /// The errors of drawn positions, between the two ticks around the time that they show.
    fn errors(&self) -> Errors {
        let error = |drawn: &Drawn| {
            let (from, before) = self.truth.range(..=drawn.time).next_back()?;
            let (to, after) = self.truth.range(drawn.time..).next()?;
            let share = if from == to {
                0.0
            } else {
                drawn.time.since(*from).as_secs_f32() / to.since(*from).as_secs_f32()
            };
            Some(100.0 * before.lerp(*after, share).distance(drawn.position))
        };
        let mut errors: Vec<f32> = self.frames.iter().filter_map(error).collect();
        errors.sort_by(f32::total_cmp);
        let at = |share: f32| errors[((errors.len() - 1) as f32 * share) as usize];
        Errors { samples: errors.len(), p50: at(0.5), p99: at(0.99), max: at(1.0) }
    }
}
