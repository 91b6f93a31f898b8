//! A game with physics of its own ([`ambit_tests::bouncing_balls`]): a client that has registered
//! it simulates along, another one draws between the host's poses and says so.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_client_core::client::Client;
use ambit_client_core::client::config::ClientConfig;
use ambit_client_core::client::event::{GameEvent, ViewEvent};
use ambit_proto::ids::{ObjectId, RoomId};
use ambit_proto::keymap::Keymap;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_tests::bouncing_balls::{BouncingBalls, FORMAT, HOP, PHYSICS, PUSH};
use ambit_tests::sim::System;
use ambit_transport::impair::Impairment;

const STEP: Duration = Duration::from_millis(1);
/// The time between two ticks; their horizons are multiples of it.
const TICK_US: u64 = 50_000;
/// The user whose client has the physics.
const ANN: usize = 0;
/// The user whose client has not.
const BOB: usize = 1;

#[test]
fn a_game_s_own_physics_is_drawn_right_despite_loss() {
    let mut balls = Balls::start(4, "delay=90ms,jitter=20ms,loss=20", "0");
    // The boxes of the map arrive some time after the balls.
    balls.run_for(Duration::from_secs(1));
    balls.drawn.clear();
    for second in 0..12 {
        // Ann's ball rolls onto the box in the middle and hops about there.
        let keys = Keymap::default().with(PUSH, second % 4 < 2).with(HOP, second % 3 == 2);
        balls.system.hold_keys(ANN, keys);
        balls.run_for(Duration::from_secs(1));
    }
    let [simulated, interpolated] = [ANN, BOB].map(|user| balls.errors(user));
    let own = balls.own_errors();
    println!("simulated {simulated:?}, interpolated {interpolated:?}, own avatar {own:?}");
    // A bounce in a lost datagram is smoothed by the curve between the poses around it.
    assert!(
        simulated.samples > 5_000 && simulated.p50 < 0.001 && simulated.p99 < 0.08,
        "{simulated:?}"
    );
    // The largest error is that of one bounce of which the message came too late.
    assert!(simulated.p99 < interpolated.p99 && simulated.max < 0.3, "{interpolated:?}");
    assert!(own.samples > 150 && own.p50 < 0.01 && own.p99 < 0.3, "{own:?}");
    let steps = [ANN, BOB].map(|user| balls.client(user).stats().simulation.steps);
    assert!(steps[ANN] > 700 && steps[BOB] == 0, "{steps:?}");
}

#[test]
fn balls_that_the_host_kicks_are_at_last_where_it_has_them() {
    let mut balls = Balls::start(6, "delay=90ms,jitter=20ms,loss=20", "8");
    balls.run_for(Duration::from_secs(28));
    let corrections = &balls.client(ANN).stats().simulation.corrections;
    assert!(corrections.count() > 0, "the client cannot know the kicks");
    for user in [ANN, BOB] {
        assert_eq!(balls.drawn_at_rest(user), Ok(32));
    }
}

#[test]
fn a_client_without_a_game_s_physics_says_so_once_a_room() {
    let mut balls = Balls::start(5, "delay=20ms", "0");
    balls.run_for(Duration::from_secs(2));
    let kinds = vec!["ball".to_owned(), "player".to_owned()];
    assert_eq!(balls.missing(BOB), [kinds]);
    for user in [ANN, BOB] {
        balls.system.drop_game(user);
    }
    balls.run_for(Duration::from_secs(5));
    let starts = [ANN, BOB].map(|user| balls.client(user).stats().starts);
    assert_eq!(starts, [2, 2], "both are in the game again");
    assert_eq!((balls.missing(ANN).len(), balls.missing(BOB).len()), (0, 1));
}

#[test]
fn physics_that_come_during_a_game_draw_balls_where_the_host_has_them() {
    let mut balls = Balls::start(7, "delay=40ms,loss=5", "8");
    balls.run_for(Duration::from_secs(4));
    assert_eq!(balls.client(BOB).stats().simulation.steps, 0);
    let name = BouncingBalls::INFO.name;
    let give = |client: &mut Client, now| client.set_motion(now, name, Some(PHYSICS.into()));
    balls.system.with_client(BOB, give);
    balls.run_for(Duration::from_secs(10));
    balls.system.drop_game(BOB);
    balls.run_for(Duration::from_secs(20));
    let steps = balls.client(BOB).stats().simulation.steps;
    assert!(steps > 25 * 60, "{steps} steps");
    assert_eq!(balls.missing(BOB).len(), 1, "before it had the physics");
    assert_eq!(balls.drawn_at_rest(BOB), Ok(32));
}

struct Balls {
    system: System,
    room: RoomId,
    /// True positions, by the horizon of the tick.
    truth: BTreeMap<GameTime, BTreeMap<ObjectId, Position>>,
    drawn: Vec<DrawnBall>,
}

/// What a user's client drew, less than a millisecond before a horizon.
struct DrawnBall {
    user: usize,
    object: ObjectId,
    is_own: bool,
    horizon: GameTime,
    /// Moved on to the horizon.
    position: Position,
}

/// In metres.
#[derive(Debug)]
struct Errors {
    samples: usize,
    p50: f32,
    p99: f32,
    max: f32,
}

impl Balls {
    /// Lets Ann and Bob join a room whose host kicks balls for this many seconds.
    fn start(seed: u64, network: &str, kicks: &str) -> Self {
        let registry =
            ambit_game_server::standard().with(BouncingBalls::INFO, BouncingBalls::create);
        let mut system = System::new(seed, &registry);
        let network: Impairment = network.parse().expect("a valid impairment");
        let ann = ClientConfig {
            name: "ann".into(),
            motions: vec![PHYSICS.into()],
            predict: Some(true),
            ..ClientConfig::default()
        };
        let users = [system.add_user_with(ann, &network), system.add_user("bob", &network)];
        let parameters = [("size", "16x16"), ("tick", "20"), ("delay", "100"), ("kicks", kicks)];
        let room = system.start_room(&users, BouncingBalls::INFO.name, &parameters);
        Balls { system, room, truth: BTreeMap::new(), drawn: Vec::new() }
    }

    fn client(&self, user: usize) -> &Client {
        &self.system.user(user).client
    }

    /// The kinds without physics, for each time that the client said so.
    fn missing(&self, user: usize) -> Vec<Vec<String>> {
        let kinds = |event: &ViewEvent| match event {
            ViewEvent::Game(GameEvent::PhysicsMissing { kinds, .. }) => Some(kinds.clone()),
            _ => None,
        };
        self.system.user(user).events.iter().filter_map(kinds).collect()
    }

    fn run_for(&mut self, time: Duration) {
        for _ in 0..time.as_millis() {
            self.system.run_for(STEP);
            let world = self.system.room(self.room).expect("the room runs").world();
            self.truth.entry(world.now()).or_insert_with(|| {
                let position = |object| (object, FORMAT.position(&world.pose(object)));
                world.objects().map(position).collect()
            });
            for user in [ANN, BOB] {
                self.system.with_client(user, Client::handle_timeout);
                self.sample_drawn(user);
            }
        }
    }

    fn sample_drawn(&mut self, user: usize) {
        for (object, is_own, at, position, [dx, dy, dz]) in self.drawn_objects(user) {
            let left_us = (TICK_US - at.micros() % TICK_US) % TICK_US;
            if left_us >= STEP.as_micros() as u64 {
                continue;
            }
            let s = left_us as f32 / 1e6;
            let Position { x, y, z } = position;
            self.drawn.push(DrawnBall {
                user,
                object,
                is_own,
                horizon: GameTime::from_micros(at.micros() + left_us),
                position: Position::new(x + dx * s, y + dy * s, z + dz * s),
            });
        }
    }

    /// Object, whether it is the user's own, and the time, position and velocity that are drawn.
    fn drawn_objects(&self, user: usize) -> Vec<(ObjectId, bool, GameTime, Position, [f32; 3])> {
        let now = self.system.local_time(user);
        let client = self.client(user);
        let room = self.system.room(self.room).expect("the room runs");
        let Some(player) = client.player() else {
            return Vec::new();
        };
        let mut viewers = room.network().viewers();
        let viewer = viewers.find(|viewer| viewer.player == player);
        let Some((viewer, oracle)) = viewer.zip(self.system.pose_oracle(self.room)) else {
            return Vec::new();
        };
        let drawn = |id, is_own| {
            let object = oracle.object_of(viewer.client, id)?;
            let drawn = client.drawn(id, now)?;
            Some((object, is_own, drawn.room_time, drawn.position, drawn.linear))
        };
        let objects = client.objects();
        objects.filter_map(|seen| drawn(seen.id, seen.is_own())).collect()
    }

    /// Checks that everything is at rest, and drawn there to a unit of the grid. Returns the number
    /// of objects.
    fn drawn_at_rest(&self, user: usize) -> Result<usize, String> {
        let world = self.system.room(self.room).expect("the room runs").world();
        let drawn = self.drawn_objects(user);
        for (object, _, _, position, _) in &drawn {
            let pose = world.pose(*object);
            let off = position.distance(FORMAT.position(&pose));
            if !pose.flag || off > 1.0 / f32::from(FORMAT.per_metre) {
                return Err(format!("user {user}: {object} is {off} m off {pose:?}"));
            }
        }
        Ok(drawn.len())
    }

    /// Errors of what a user's client draws, without its own avatar.
    fn errors(&self, user: usize) -> Errors {
        self.errors_of(|drawn| drawn.user == user && !drawn.is_own)
    }

    /// Errors of Ann's own avatar, which is predicted.
    fn own_errors(&self) -> Errors {
        self.errors_of(|drawn| drawn.user == ANN && drawn.is_own)
    }

    fn errors_of(&self, is_chosen: impl Fn(&DrawnBall) -> bool) -> Errors {
        let error = |drawn: &DrawnBall| {
            let truth = self.truth.get(&drawn.horizon)?.get(&drawn.object)?;
            Some(truth.distance(drawn.position))
        };
        let chosen = self.drawn.iter().filter(|drawn| is_chosen(drawn));
        let mut errors: Vec<f32> = chosen.filter_map(error).collect();
        errors.sort_by(f32::total_cmp);
        let at = |share: f32| errors[((errors.len() - 1) as f32 * share) as usize];
        Errors { samples: errors.len(), p50: at(0.5), p99: at(0.99), max: at(1.0) }
    }
}
