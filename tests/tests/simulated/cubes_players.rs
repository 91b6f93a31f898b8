//! Several players in the game `cubes`: others see what a player does; players join, leave, are cut
//! off and return.

use std::time::Duration;

use ambit_client_core::client::request::LobbyRequest;
use ambit_cubes_physics::{Arena, RandomDriver, control};
use ambit_proto::ids::ObjectId;
use ambit_proto::keymap::Keymap;
use ambit_tests::cube_players::{CubePlayers, frames_in};
use ambit_transport::impair::Impairment;

const ARENA: Arena = Arena { width_m: 32.0, height_m: 32.0 };
const CUBES: usize = 25;

#[test]
fn others_see_cubes_attracted_and_repelled_by_a_player() {
    for sync in ["simulated", "interpolated"] {
        let mut players = CubePlayers::start(
            1,
            2,
            &impairment(),
            &[("cubes", "25"), ("spacing", "1"), ("sync", sync)],
        );
        players.release_keys_for(Duration::from_secs(3));
        let ann = players.avatar(0).expect("ann plays");
        let before = distance_to(&players, 1, ann);
        press(&mut players, control::ATTRACT, 1_500);
        let attracted = distance_to(&players, 1, ann);
        press(&mut players, control::REPEL, 300);
        players.release_keys_for(Duration::from_secs(1));
        let repelled = distance_to(&players, 1, ann);
        println!(
            "{sync}: the nearest cubes are {before} m away, \
             attracted {attracted} m, repelled {repelled} m"
        );
        assert!(attracted < 0.85 * before && repelled > 1.5 * attracted, "{sync}");
    }
}

#[test]
fn a_player_who_joins_late_soon_has_every_pose_right() {
    let mut driven = DrivenPlayers::new(2, 2);
    driven.run_for(5);
    let cid = driven.players.add_player(&impairment());
    let room = driven.players.room;
    driven.run_until("the lobby", |players| players.system.user(cid).client.is_connected());
    driven.players.system.request(cid, LobbyRequest::JoinRoom { room, password: String::new() });
    driven.run_until("the game", |players| players.system.user(cid).client.avatar().is_some());
    driven.run_for(5);
    driven.come_to_rest();
    for user in 0..3 {
        assert_eq!(driven.players.check_drawn_at_rest(user), Ok(CUBES + 3));
    }
}

#[test]
fn the_cube_of_a_player_who_leaves_disappears_for_all_others() {
    let mut driven = DrivenPlayers::new(3, 3);
    driven.run_for(4);
    let cube = driven.players.avatar(1).expect("the user is in the room");
    let is_seen = |players: &CubePlayers, user| {
        players.drawn_objects(user).iter().any(|(object, _)| *object == cube)
    };
    assert!([0, 2].iter().all(|&user| is_seen(&driven.players, user)));
    driven.players.system.request(1, LobbyRequest::LeaveRoom);
    driven.run_for(1);
    assert!([0, 2].iter().all(|&user| !is_seen(&driven.players, user)), "a second later");
    assert!(
        !driven
            .players
            .system
            .room(driven.players.room)
            .expect("the room runs")
            .world()
            .contains(cube)
    );
    driven.run_for(3);
    driven.come_to_rest();
    for user in [0, 2] {
        assert_eq!(driven.players.check_drawn_at_rest(user), Ok(CUBES + 2));
    }
}

#[test]
fn a_player_who_is_cut_off_returns_to_the_same_cube() {
    for breaks in [false, true] {
        let mut driven = DrivenPlayers::new(4, 3);
        driven.run_for(4);
        let cube = driven.players.avatar(1);
        driven.players.system.cut(1, Duration::from_secs(4));
        if breaks {
            driven.players.system.drop_connections(1);
        }
        driven.run_for(4);
        driven.run_until("the return", |players| players.system.user(1).client.avatar().is_some());
        assert_eq!(driven.players.avatar(1), cube);
        driven.run_for(3);
        driven.come_to_rest();
        for user in 0..3 {
            assert_eq!(
                driven.players.check_drawn_at_rest(user),
                Ok(CUBES + 3),
                "connections broken: {breaks}"
            );
        }
    }
}

/// The first player holds a control for this long; the others hold no key.
fn press(players: &mut CubePlayers, control: u8, time_ms: u64) {
    for _ in 0..frames_in(Duration::from_millis(time_ms)) {
        players.run_frame(|user, _, _| Keymap(0).with(control, user == 0));
    }
}

/// Average distance of the nearest four small cubes from a player's cube, as a user draws them.
fn distance_to(players: &CubePlayers, user: usize, player: ObjectId) -> f32 {
    let drawn = players.drawn_objects(user);
    let (_, centre) =
        drawn.iter().find(|(object, _)| *object == player).expect("the player's cube is in sight");
    let avatars: Vec<_> = (0..2).filter_map(|user| players.avatar(user)).collect();
    let cubes = drawn.iter().filter(|(object, _)| !avatars.contains(object));
    let mut distances: Vec<f32> =
        cubes.map(|(_, drawn)| drawn.position.distance(centre.position)).collect();
    distances.sort_unstable_by(f32::total_cmp);
    distances[..4].iter().sum::<f32>() / 4.0
}

fn impairment() -> Impairment {
    "delay=40ms,jitter=10ms,loss=5".parse().expect("a valid impairment")
}

/// Players with random drivers.
struct DrivenPlayers {
    players: CubePlayers,
    drivers: Vec<RandomDriver>,
}

impl DrivenPlayers {
    fn new(seed: u64, players: usize) -> Self {
        let players = CubePlayers::start(seed, players, &impairment(), &[("cubes", "25")]);
        DrivenPlayers {
            players,
            drivers: (0..4).map(|player| RandomDriver::new(seed, player)).collect(),
        }
    }

    fn frame(&mut self) {
        let Self { players, drivers } = self;
        players.run_frame(|user, frame, at| drivers[user].keys(frame, [at.x, at.y], ARENA));
    }

    fn run_for(&mut self, seconds: u64) {
        (0..frames_in(Duration::from_secs(seconds))).for_each(|_| self.frame());
    }

    fn run_until(&mut self, what: &str, is_done: impl Fn(&CubePlayers) -> bool) {
        for _ in 0..frames_in(Duration::from_secs(20)) {
            if is_done(&self.players) {
                return;
            }
            self.frame();
        }
        panic!("no {what} within 20 s");
    }

    /// Releases all keys and waits until all objects are at rest, then three more seconds, so that
    /// all clients know.
    fn come_to_rest(&mut self) {
        for _ in 0..40 {
            self.players.release_keys_for(Duration::from_millis(500));
            if self.players.is_at_rest() {
                return self.players.release_keys_for(Duration::from_secs(3));
            }
        }
        panic!("the objects do not come to rest");
    }
}
