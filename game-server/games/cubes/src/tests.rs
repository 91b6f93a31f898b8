//! Tests of the game through its world, and in a room.

mod layout;
mod room;
mod rounds;

use std::collections::BTreeMap;
use std::time::Duration;

use ambit::Typed;
use ambit_cubes_physics::{FRAMES_PER_S, PLAYER_EDGE_M, SNAPSHOT_POSE_FORMAT, component, control};
use ambit_proto::pose::Pose;
use ambit_proto::space::Position;

use super::*;
use ambit_room::config::{Parameters as CheckedParameters, ROOM_PARAMETERS, RoomConfig};
use ambit_room::logic::game::Game as RoomGame;
use ambit_room::logic::registry::{OpenRoomError, Registry};
use ambit_room::logic::world::{World, WorldChange};
use ambit_room::recording::Header;

const ANN: PlayerId = PlayerId(1);
const BOB: PlayerId = PlayerId(2);

#[test]
fn kinds_and_components_agree_with_the_shared_crate() {
    for sync in [PosePresentation::Interpolated, PosePresentation::Simulated] {
        let schema = Typed(CubesGame { sync, ..CubesGame::default() }).schema();
        assert_eq!(schema.check(), Ok(()));
        assert_eq!(
            ["cube", "player"].map(|name| schema.kind_index(name)),
            [Some(CUBE), Some(PLAYER)]
        );
        assert_eq!(schema.presentation.avatar, Some(PLAYER));
        let player = schema.kind(PLAYER).expect("the schema has a player");
        assert_eq!(player.component_index("name"), Some(component::NAME));
        let controls = [
            ("left", control::LEFT),
            ("right", control::RIGHT),
            ("up", control::UP),
            ("down", control::DOWN),
            ("attract", control::ATTRACT),
            ("repel", control::REPEL),
        ];
        let held = controls
            .map(|(name, control)| (player.component_index(name).expect("a flag"), control));
        assert_eq!(held, component::HELD_CONTROLS);
        let cubes = [CUBE, PLAYER].map(|kind| schema.kind(kind).expect("a kind").presentation);
        assert_eq!(cubes, [sync; 2]);
        for (name, control) in [("jump", control::JUMP)].into_iter().chain(controls) {
            assert_eq!(schema.control_index(name), Some(control), "{name}");
        }
    }
}

#[test]
fn all_sent_poses_belong_to_the_frame_of_the_horizon() {
    let mut scene = Scene::new(&[("cubes", "60"), ("drive", "dice")]);
    scene.join(ANN);
    scene.join(BOB);
    for _ in 0..400 {
        scene.tick();
        assert_eq!(scene.game.0.frame, frame_at(scene.world.now()));
        for body in scene.game.0.physics.bodies() {
            let object = scene.game.0.objects[body.slot()];
            assert_eq!(scene.world.pose(object), scene.game.0.physics.pose(body), "{object}");
        }
    }
}

#[test]
fn the_tick_rate_does_not_change_frames_driven_by_dice() {
    let states = |ticks_per_s: &str| {
        let mut scene = Scene::new(&[("cubes", "100"), ("drive", "dice"), ("tick", ticks_per_s)]);
        scene.join(ANN);
        scene.join(BOB);
        let mut states = BTreeMap::new();
        for second in 1..=12 {
            scene.run_until(GameTime::from_millis(1_000 * second));
            states.insert(scene.game.0.frame, scene.poses());
        }
        states
    };
    let twenty = states("20");
    assert_eq!(
        twenty.keys().copied().collect::<Vec<_>>(),
        (1..=12).map(|second| 9 + 60 * second).collect::<Vec<_>>()
    );
    for ticks_per_s in ["10", "25", "60"] {
        assert!(states(ticks_per_s) == twenty, "at {ticks_per_s} ticks a second");
    }
}

#[test]
fn keys_act_from_the_horizon_on_and_set_their_flags() {
    let mut scene = Scene::new(&[("cubes", "0")]);
    let avatar = scene.join(ANN);
    scene.ticks(40);
    let before = scene.world.pose(avatar);
    let since = scene.world.now();
    assert!(before.flag, "the avatar fell to the floor and is at rest");
    scene.hold(ANN, &[control::RIGHT, control::ATTRACT]);
    let flags =
        |scene: &Scene| component::HELD_CONTROLS.map(|(flag, _)| scene.world.flag(avatar, flag));
    assert_eq!(flags(&scene), [false, true, false, false, true, false]);
    assert!(
        !scene.world.flag_at(avatar, 2, frame_end(frame_at(since) - 1)),
        "the flag is not set before the next step"
    );
    assert!(
        scene.world.flag_at(avatar, 2, frame_end(frame_at(since))),
        "the flag is set with the next step"
    );
    assert_eq!(scene.world.pose(avatar), before);
    scene.ticks(20);
    assert!(scene.place(avatar).x > 18.0, "{:?}", scene.place(avatar));
    scene.hold(ANN, &[]);
    assert_eq!(flags(&scene), [false; 6]);
}

#[test]
fn each_press_of_the_jump_key_causes_a_jump() {
    let mut scene = Scene::new(&[("cubes", "0")]);
    let avatar = scene.join(ANN);
    scene.ticks(40);
    for _ in 0..2 {
        scene.hold(ANN, &[control::JUMP]);
        scene.ticks(6);
        assert!(scene.place(avatar).z > PLAYER_EDGE_M, "{:?}", scene.place(avatar));
        scene.hold(ANN, &[]);
        scene.ticks(60);
    }
}

#[test]
fn a_jump_pressed_and_released_within_a_tick_is_not_lost() {
    let mut scene = Scene::new(&[("cubes", "0")]);
    let avatar = scene.join(ANN);
    scene.ticks(40);
    // The key is held and the avatar lands again. Then the key is released and pressed within one
    // tick: at the end of the tick it is held as before.
    scene.receive_keys(ANN, &[&[control::JUMP]]);
    scene.ticks(60);
    assert!(scene.place(avatar).z < PLAYER_EDGE_M);
    scene.receive_keys(ANN, &[&[], &[control::JUMP]]);
    scene.ticks(6);
    assert!(scene.place(avatar).z > PLAYER_EDGE_M, "{:?}", scene.place(avatar));
    // The key is pressed and released within one tick.
    scene.receive_keys(ANN, &[&[]]);
    scene.ticks(60);
    scene.receive_keys(ANN, &[&[control::JUMP], &[]]);
    scene.receive_keys(ANN, &[]);
    scene.ticks(5);
    assert!(scene.place(avatar).z > PLAYER_EDGE_M, "{:?}", scene.place(avatar));
    scene.ticks(60);
    assert!(
        scene.world.pose(avatar).flag,
        "the avatar jumps once for each press and then comes to rest"
    );
}

#[test]
fn a_tap_waits_for_the_next_step_if_ticks_outpace_frames() {
    let mut scene = Scene::new(&[("cubes", "0")]);
    let avatar = scene.join(ANN);
    scene.ticks(40);
    let frame = scene.game.0.frame;
    scene.hold(ANN, &[control::JUMP]);
    scene.hold(ANN, &[]);
    assert_eq!(scene.game.0.frame, frame, "there is no step between press and release");
    scene.ticks(6);
    assert!(scene.place(avatar).z > PLAYER_EDGE_M, "{:?}", scene.place(avatar));
    scene.ticks(60);
    assert!(scene.world.pose(avatar).flag, "the key is no longer held");
}

#[test]
fn a_new_player_spawns_apart_from_others_and_lands_near_the_middle() {
    for cubes in ["0", "100", "900"] {
        let mut scene = Scene::new(&[("cubes", cubes)]);
        let avatars: Vec<ObjectId> = (1..=12).map(|player| scene.join(PlayerId(player))).collect();
        for (index, &one) in avatars.iter().enumerate() {
            let place = scene.place(one);
            assert!((place.x - 16.0).hypot(place.y - 16.0) < 6.0, "{place:?}");
            assert!(
                avatars[..index]
                    .iter()
                    .all(|&other| scene.place(other).distance(place) > PLAYER_EDGE_M)
            );
        }
        scene.ticks(100);
        assert!(
            avatars
                .iter()
                .all(|&avatar| scene.place(avatar).z < 4.0 && scene.place(avatar).z > 0.4)
        );
    }
}

#[test]
fn a_later_player_spawns_on_the_floor_beside_an_earlier_one() {
    let mut scene = Scene::new(&[("cubes", "0")]);
    let ann = scene.join(ANN);
    scene.ticks(10);
    let bob = scene.join(BOB);
    assert!(scene.place(ann).distance(scene.place(bob)) > 1.5);
    assert!(scene.place(bob).z < PLAYER_EDGE_M, "the player spawns on the floor");
}

#[test]
fn when_a_player_leaves_its_cube_is_removed_and_cubes_on_it_fall() {
    let mut scene = Scene::new(&[("cubes", "100"), ("spacing", "0.5")]);
    let ann = scene.join(ANN);
    scene.ticks(60);
    scene.hold(ANN, &[control::ATTRACT]);
    scene.ticks(40);
    scene.leave(ANN);
    assert!(!scene.world.contains(ann));
    scene.ticks(100);
    let highest = scene.world.objects().map(|object| scene.place(object).z).fold(0.0, f32::max);
    assert!(highest < 1.5, "{highest}");
    assert_eq!(scene.game.0.physics.changed_bodies().len(), 0);
    assert_eq!(scene.game.0.physics.bodies().count(), 100);
    // The next player reuses the slot of the removed body.
    let bob = scene.join(BOB);
    scene.ticks(5);
    assert_eq!(scene.world.kind(bob), PLAYER);
}

#[test]
fn a_player_with_another_name_keeps_the_cube() {
    let mut scene = Scene::new(&[("cubes", "0")]);
    let avatar = scene.join(ANN);
    assert_eq!(scene.world.text(avatar, component::NAME), "player");
    scene.world.rename_player(ANN, "ann");
    scene.game.rename(&mut scene.world, ANN, "ann");
    assert_eq!(scene.world.text(avatar, component::NAME), "ann");
}

#[test]
fn thousands_of_sleeping_cubes_are_not_simulated() {
    let mut scene = Scene::new(&[("cubes", "9000"), ("size", "320x320"), ("spacing", "3")]);
    assert_eq!(scene.world.len(), 9_000);
    let awake = |scene: &Scene| scene.game.0.physics.changed_bodies().len();
    scene.ticks(2);
    assert_eq!((awake(&scene), scene.world.active_objects().len()), (0, 0));
    scene.join(ANN);
    scene.ticks(20);
    scene.hold(ANN, &[control::RIGHT, control::ATTRACT]);
    let most = (0..60).map(|_| {
        scene.tick();
        scene.world.active_objects().len().max(awake(&scene))
    });
    let most = most.max().expect("ticks");
    assert!((2..40).contains(&most), "{most} at once");
}

#[test]
fn cubes_that_a_player_touches_or_attracts_are_engaged() {
    let mut scene = Scene::new(&[("cubes", "4"), ("spacing", "2")]);
    let ann = scene.join(ANN);
    scene.ticks(40);
    scene.changes.clear();
    scene.ticks(4);
    assert_eq!(engaged(&scene), BTreeMap::new());
    scene.hold(ANN, &[control::ATTRACT]);
    scene.ticks(4);
    assert_eq!(engaged(&scene).get(&ann), Some(&4), "all four are within two metres");
}

#[test]
fn interpolated_cubes_use_the_coarse_grid_and_no_velocities_at_rest() {
    let mut scene = Scene::new(&[("cubes", "50"), ("sync", "interpolated"), ("drive", "dice")]);
    scene.join(ANN);
    let mut moving = 0;
    let mut resting = 0;
    for _ in 0..400 {
        scene.tick();
        for object in scene.world.active_objects().iter().copied() {
            let pose = scene.world.pose(object);
            let metres = SNAPSHOT_POSE_FORMAT.position(&pose);
            let inside = [metres.x, metres.y, metres.z].iter().all(|at| (0.0..32.0).contains(at));
            assert!(inside, "{metres:?}");
            if pose.flag {
                assert_eq!(pose.motion, ambit_proto::pose::Motion::default());
                resting += 1;
            } else {
                moving += 1;
            }
        }
    }
    assert!(moving > 500 && resting > 10, "{moving} sent in motion, {resting} at rest");
}

#[test]
fn a_late_tick_skips_frames() {
    let mut scene = Scene::new(&[("cubes", "10")]);
    let avatar = scene.join(ANN);
    scene.tick();
    let before = scene.place(avatar).z;
    scene.run_until(scene.room_time + Duration::from_millis(10));
    scene.jump(Duration::from_secs(5));
    assert_eq!(scene.game.0.frame, frame_at(scene.world.now()));
    assert!((scene.place(avatar).z - before).abs() < 1.0);
}

#[test]
fn saved_bodies_must_be_of_the_kinds_of_their_objects() {
    let mut scene = Scene::new(&[("cubes", "3")]);
    scene.join(ANN);
    scene.ticks(10);
    let saved = scene.game.save().expect("the game can be saved");
    let mut restored = |bytes: &[u8]| scene.game.restore(&mut scene.world, bytes);
    assert_eq!(restored(&saved), Ok(()));
    for kind in [CUBE, PLAYER, PLAYER + 1] {
        // Behind the version, which is 0.
        let mut state: SavedCubes = saved::all(&saved[1..]).expect("the saved state");
        state.0.iter_mut().for_each(|body| body.1 = kind);
        let changed = [&[0], &saved::of(&state)[..]].concat();
        assert_eq!(restored(&changed), Err(BadState::Malformed));
    }
}

#[test]
fn the_game_overrides_defaults_of_room_parameters() {
    let config = |given: &[(&str, &str)]| {
        prepare(given).map(|(config, _)| config).map_err(|error| error.to_string())
    };
    let usual = config(&[]).expect("the defaults are consistent");
    assert_eq!((usual.width, usual.height, usual.inner, usual.outer), (32.0, 32.0, 3, 4));
    let given =
        config(&[("size", "40x50"), ("inner", "1"), ("outer", "2")]).expect("valid parameters");
    assert_eq!((given.width, given.height, given.inner, given.outer), (40.0, 50.0, 1, 2));
    let error = config(&[("size", "5000x100")]).unwrap_err();
    assert_eq!(
        error,
        "size=5000x100 is not possible: it must be WIDTHxHEIGHT, each a number from 10 to 4096"
    );
}

/// The number of objects with which each avatar was engaged since `changes` was cleared.
fn engaged(scene: &Scene) -> BTreeMap<ObjectId, usize> {
    let mut pairs = BTreeMap::<ObjectId, std::collections::BTreeSet<ObjectId>>::new();
    for change in &scene.changes {
        if let WorldChange::Engaged { viewer, object, .. } = change {
            pairs.entry(*viewer).or_default().insert(*object);
        }
    }
    pairs.into_iter().map(|(viewer, objects)| (viewer, objects.len())).collect()
}

/// Prepares a room with these parameters, as the registry does.
fn prepare(given: &[(&str, &str)]) -> Result<(RoomConfig, Box<dyn RoomGame>), OpenRoomError> {
    let parameters = given.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    let header =
        Header { game: "cubes".into(), seed: 7, capacity: 64, parameters, ..Header::default() };
    Registry::from(Games::new().with::<CubesGame>()).prepare(&header)
}

/// A game and its world. The tests run each tick.
struct Scene {
    game: Typed<CubesGame>,
    world: World,
    config: RoomConfig,
    room_time: GameTime,
    ticks: u64,
    changes: Vec<WorldChange>,
}

impl Scene {
    /// A room with these parameters, after its first tick.
    fn new(given: &[(&str, &str)]) -> Self {
        let (config, _) = prepare(given).expect("valid parameters");
        let given = given.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
        let given = CheckedParameters::parse(&given, &[ROOM_PARAMETERS, CubesSettings::TABLE])
            .expect("valid parameters");
        let mut game = Typed(CubesGame::default());
        game.0.configure(CubesSettings::read(&given)).expect("valid parameters");
        let world = World::new(&config, game.schema());
        let mut scene =
            Self { game, world, config, room_time: GameTime::ZERO, ticks: 0, changes: Vec::new() };
        scene.world.begin_tick(GameTime::ZERO + scene.config.delay);
        scene.game.start(&mut scene.world);
        scene.end_tick();
        scene
    }

    /// Adds a player at the horizon of the last tick.
    fn join(&mut self, player: PlayerId) -> ObjectId {
        let avatar = self.game.join(&mut self.world, player, "player");
        self.world.add_player(player, avatar, "player");
        avatar
    }

    /// Removes a player as a room does.
    fn leave(&mut self, player: PlayerId) {
        self.game.leave(&mut self.world, player, Left::Quit);
        self.world.remove_player(player);
    }

    /// Sets the held controls at the horizon of the last tick, as if it had not ended.
    fn hold(&mut self, player: PlayerId, controls: &[u8]) {
        let keys = controls.iter().fold(Keymap(0), |keys, &control| keys.with(control, true));
        let world = CubesWorld::of_room_mut(&mut self.world);
        self.game.0.hold_keys(world, player, keys, Keymap(0));
    }

    /// Runs a tick in which these controls are held one after the other. The game is notified of
    /// them as by a room.
    fn receive_keys(&mut self, player: PlayerId, held: &[&[u8]]) {
        self.ticks += 1;
        self.room_time =
            GameTime::from_micros(1_000_000 * self.ticks / u64::from(self.config.tick_hz));
        self.world.begin_tick(self.room_time + self.config.delay);
        for controls in held {
            self.world.hold_controls(
                player,
                controls.iter().fold(Keymap(0), |keys, &control| keys.with(control, true)),
            );
        }
        let mut applied = Vec::new();
        self.world.apply_inputs(&mut applied);
        if applied.iter().any(|applied| applied.player == player && applied.changed) {
            let pressed = self.world.button_edges(player).pressed();
            self.game.input(&mut self.world, player, pressed);
        }
        self.game.step(&mut self.world, Duration::from_millis(50));
        self.end_tick();
    }

    fn tick(&mut self) {
        self.ticks += 1;
        let next = GameTime::from_micros(1_000_000 * self.ticks / u64::from(self.config.tick_hz));
        self.jump(next.since(self.room_time));
    }

    /// Runs a tick after this time.
    fn jump(&mut self, time: Duration) {
        self.room_time += time;
        self.world.begin_tick(self.room_time + self.config.delay);
        self.game.step(&mut self.world, time);
        self.end_tick();
    }

    fn end_tick(&mut self) {
        self.world.finish_tick();
        self.world.drain_changes(&mut self.changes);
    }

    fn ticks(&mut self, ticks: u32) {
        (0..ticks).for_each(|_| self.tick());
    }

    fn run_until(&mut self, time: GameTime) {
        while self.room_time < time {
            self.tick();
        }
    }

    fn place(&self, object: ObjectId) -> Position {
        self.world.position(object)
    }

    fn poses(&self) -> Vec<Pose> {
        self.game.0.physics.bodies().map(|body| self.game.0.physics.pose(body)).collect()
    }
}

/// The last whole millisecond of a frame: changes of keys up to then act in the step from this
/// frame to the next.
const fn frame_end(frame: u64) -> GameTime {
    GameTime::from_millis((frame * 1_000 + 499) / FRAMES_PER_S)
}
