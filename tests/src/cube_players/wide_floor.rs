//! A wide floor: 9,000 cubes on 320 x 320 m, and four players who have rolled to its four quarters.
//!
//! A client receives and simulates only its area of interest. The upper bound is counted here from
//! all objects and cells, without the interest management.

use std::time::Duration;

use ambit_client_core::client::running_game::RunningGame;
use ambit_cubes_physics::{Arena, RandomDriver, control};
use ambit_proto::cell::{Cell, Grid};
use ambit_proto::keymap::Keymap;
use ambit_proto::space::Position;
use ambit_transport::impair::Impairment;

use super::{CubePlayers, frames_in};

const PLAYERS: usize = 4;
/// Small cubes.
pub const CUBES: usize = 9_000;
const TRAVEL_TIME: Duration = Duration::from_secs(14);

/// How much one client handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientLoad {
    /// Objects that it follows, by the room.
    pub followed: usize,
    /// Objects that the client shows.
    pub in_sight: usize,
    pub simulated_bodies: usize,
    /// Objects in the cells of its area of interest.
    pub in_subscribed_cells: usize,
}

/// Starts the room and moves its players apart.
pub fn start(seed: u64, network: &Impairment, zones: (&str, &str)) -> CubePlayers {
    let parameters = [
        ("size", "320x320"),
        ("cubes", "9000"),
        ("spacing", "3"),
        ("inner", zones.0),
        ("outer", zones.1),
    ];
    let mut players = CubePlayers::start(seed, PLAYERS, network, &parameters);
    for _ in 0..frames_in(TRAVEL_TIME) {
        players.run_frame(|user, _, _| keys_towards_quarter(user));
    }
    players
}

/// Players drive about where they are, and gather cubes.
pub fn drive_about(players: &mut CubePlayers, seed: u64, time: Duration) {
    // Each player gets its own small arena: a driver heads for the middle of its arena.
    let around = Arena { width_m: 40.0, height_m: 40.0 };
    let centres: Vec<_> = (0..PLAYERS)
        .map(|user| {
            players
                .system
                .room(players.room)
                .expect("the room runs")
                .world()
                .position(players.avatar(user).expect("the user is in the room"))
        })
        .collect();
    let mut drivers: Vec<_> =
        (0..PLAYERS as u64).map(|player| RandomDriver::new(seed, player)).collect();
    for _ in 0..frames_in(time) {
        players.run_frame(|user, frame, at| {
            let own = [at.x - centres[user].x + 20.0, at.y - centres[user].y + 20.0];
            drivers[user].keys(frame, own, around)
        });
    }
}

/// What each client handles now.
pub fn client_loads(players: &CubePlayers) -> Vec<ClientLoad> {
    let room = players.system.room(players.room).expect("the room runs");
    let world = room.world();
    let config = room.config();
    let grid = Grid::new(config.width, config.height, config.cell);
    (0..PLAYERS)
        .map(|user| {
            let viewer = players.client_id(user).expect("the user is in the room");
            let avatar = players.avatar(user).expect("the user is in the room");
            // The zones lie around the cell of the avatar, or around a cell that it has left by
            // less than the margin (hysteresis).
            let at = world.position(avatar);
            let margin = config.margin_m;
            let corners =
                [(-margin, -margin), (-margin, margin), (margin, -margin), (margin, margin)];
            let homes = corners.map(|(x, y)| grid.cell_at(Position::new(at.x + x, at.y + y, at.z)));
            let around = |home: Cell| {
                let objects = world.objects().map(|object| grid.cell_at(world.position(object)));
                objects.filter(|cell| cell.distance(home) <= config.outer).count()
            };
            let in_subscribed_cells = homes.map(around).into_iter().max().unwrap_or(0);
            let client = &players.system.user(user).client;
            ClientLoad {
                followed: room.network().interest().followed(viewer).count(),
                in_sight: client.objects().count(),
                simulated_bodies: client.running_game().map_or(0, RunningGame::simulated_bodies),
                in_subscribed_cells,
            }
        })
        .collect()
}

/// Keys that lead diagonally away from the middle.
fn keys_towards_quarter(user: usize) -> Keymap {
    let across = if user.is_multiple_of(2) { control::LEFT } else { control::RIGHT };
    let along = if user < 2 { control::UP } else { control::DOWN };
    Keymap(0).with(across, true).with(along, true)
}
