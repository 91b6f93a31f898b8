//! Prediction of the own cube (`--predict`): without loss and without contact to other cubes, it is
//! drawn where the host puts it.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_client_core::client::Client;
use ambit_client_core::client::config::{ClientConfig, InputRate};
use ambit_client_core::replica::VisibleObject;
use ambit_cubes_physics::{POSE_FORMAT, control, frame_at, frame_time};
use ambit_proto::ids::{ObjectId, RoomId};
use ambit_proto::keymap::Keymap;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_tests::sim::System;
use ambit_transport::impair::Impairment;

const STEP: Duration = Duration::from_millis(1);
/// Coordinates of the middle of the floor, where the player starts.
const CENTRE_M: f32 = 30.0;
/// The player turns back at this distance from the middle.
const MAX_DISTANCE_M: f32 = 15.0;

#[test]
fn without_loss_the_own_cube_is_drawn_where_the_host_puts_it() {
    for (seed, tick_hz, inputs) in
        [(1, "20", InputRate::Hz20), (2, "20", InputRate::Hz60), (3, "60", InputRate::Hz20)]
    {
        let mut predicted = PredictedPlayer::new(seed, tick_hz, inputs, "delay=50ms");
        predicted.run_for(Duration::from_secs(40));
        let errors = predicted.errors();
        let stats = predicted.system.user(predicted.user).client.stats().simulation;
        println!("{tick_hz} Hz, {inputs:?}: {errors:?}, {} reconciled", stats.reconciled.count());
        assert!(errors.samples > 700, "{errors:?}");
        // If an input arrives exactly at a tick, the client may expect it in the wrong tick, until
        // the host acknowledges it.
        assert!(errors.p50 < 0.1 && errors.p90 < 0.5 && errors.p99 < 3.0, "{errors:?}");
    }
}

struct PredictedPlayer {
    system: System,
    rng: fastrand::Rng,
    user: usize,
    room: RoomId,
    avatar: ObjectId,
    keys: Keymap,
    next: Duration,
    /// True positions of the cube, by the horizon of the tick.
    truth: BTreeMap<GameTime, Position>,
    /// Drawn positions, with the time that they show and the velocity.
    drawn: Vec<(GameTime, Position, [f32; 3])>,
}

/// In centimetres.
#[derive(Debug)]
#[expect(dead_code, reason = "some are only printed")]
struct Errors {
    samples: usize,
    p50: f32,
    p90: f32,
    p99: f32,
    max: f32,
}

impl PredictedPlayer {
    fn new(seed: u64, tick_hz: &str, inputs: InputRate, network: &str) -> Self {
        let mut system = System::new(seed, &ambit_game_server::standard());
        let config = ClientConfig {
            name: "ann".into(),
            inputs,
            predict: Some(true),
            ..ClientConfig::default()
        };
        let network: Impairment = network.parse().expect("a valid impairment");
        let user = system.add_user_with(config, &network);
        let room = system.start_room(
            &[user],
            "cubes",
            &[("cubes", "0"), ("round", "0"), ("size", "60x60"), ("tick", tick_hz)],
        );
        system.run_for(Duration::from_secs(5));
        let world = system.room(room).expect("the room runs").world();
        let avatar = world.objects().next().expect("the player's cube exists");
        PredictedPlayer {
            system,
            rng: fastrand::Rng::with_seed(seed),
            user,
            room,
            avatar,
            keys: Keymap::default(),
            next: Duration::ZERO,
            truth: BTreeMap::new(),
            drawn: Vec::new(),
        }
    }

    fn run_for(&mut self, time: Duration) {
        for step in 0..time.as_millis() as u32 {
            if STEP * step >= self.next {
                self.next += Duration::from_millis(self.rng.u64(60..900));
                self.act();
            }
            self.system.run_for(STEP);
            self.sample_drawn();
        }
    }

    /// Changes the held keys; now and then presses a key so briefly that no datagram is sent
    /// meanwhile.
    fn act(&mut self) {
        let at = self
            .truth
            .last_key_value()
            .map_or(Position::on_ground(CENTRE_M, CENTRE_M), |(_, at)| *at);
        let held_keys = [(at.x, control::LEFT, control::RIGHT), (at.y, control::DOWN, control::UP)]
            .map(|(at, less, more)| {
                let direction = self.rng.i8(-1..=1);
                let direction = if at < CENTRE_M - MAX_DISTANCE_M {
                    1
                } else if at > CENTRE_M + MAX_DISTANCE_M {
                    -1
                } else {
                    direction
                };
                Keymap::default().with(less, direction < 0).with(more, direction > 0)
            });
        let held = Keymap(held_keys[0].0 | held_keys[1].0);
        match self.rng.u8(..4) {
            0 => {
                self.system.hold_keys(self.user, self.keys.with(control::JUMP, true));
                self.system.hold_keys(self.user, self.keys);
            }
            1 => {
                self.system.hold_keys(self.user, held);
                self.system.hold_keys(self.user, self.keys);
            }
            _ => {
                self.keys = held;
                self.system.hold_keys(self.user, held);
            }
        }
    }

    fn sample_drawn(&mut self) {
        let world = self.system.room(self.room).expect("the room runs").world();
        self.truth.insert(
            frame_time(frame_at(world.now())),
            POSE_FORMAT.position(&world.pose(self.avatar)),
        );
        self.system.with_client(self.user, Client::handle_timeout);
        let (now, client) =
            (self.system.local_time(self.user), &self.system.user(self.user).client);
        let own = client.objects().find(VisibleObject::is_own).expect("in sight");
        let drawn = client.drawn(own.id, now).expect("it has a pose");
        self.drawn.push((drawn.room_time, drawn.position, drawn.linear));
    }

    /// Errors of the drawn positions at the horizons of the host's ticks.
    fn errors(&self) -> Errors {
        let mut errors: Vec<f32> =
            self.drawn.iter().filter_map(|drawn| self.error(drawn)).collect();
        errors.sort_by(f32::total_cmp);
        let at = |share: f32| 100.0 * errors[((errors.len() - 1) as f32 * share) as usize];
        Errors { samples: errors.len(), p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1.0) }
    }

    /// The error of a drawn position that shows a time within a millisecond before a horizon.
    fn error(&self, &(shows, drawn, [dx, dy, dz]): &(GameTime, Position, [f32; 3])) -> Option<f32> {
        let (&horizon, &truth) =
            self.truth.range(shows..).next().filter(|(horizon, _)| horizon.since(shows) < STEP)?;
        let s = horizon.since(shows).as_secs_f32();
        Some(truth.distance(Position::new(drawn.x + dx * s, drawn.y + dy * s, drawn.z + dz * s)))
    }
}
