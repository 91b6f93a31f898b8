//! A wide floor: 9,000 cubes on 320 x 320 m, and four players who have rolled to its four quarters.
//!
//! A client is told of its surroundings, and simulates these alone. What it may know at most is
//! counted here by looking at each object and each cell, and not by asking the interest management.

use std::time::Duration;

use ambit_client_core::client::running_game::RunningGame;
use ambit_proto::cell::{Cell, Grid};
use ambit_proto::games::cubes::{Arena, RandomDriver, control};
use ambit_proto::impair::Impairment;
use ambit_proto::keymap::Keymap;
use ambit_proto::space::Position;

use super::{CubePlayers, frames_in};

const PLAYERS: usize = 4;
/// Small cubes.
pub const CUBES: usize = 9_000;
const TRAVEL_TIME: Duration = Duration::from_secs(14);

/// What one client has to do with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientLoad {
    /// Objects that it is told of.
    pub followed: usize,
    /// Objects that it has in sight.
    pub in_sight: usize,
    /// Bodies of its simulation.
    pub simulated_bodies: usize,
    /// Objects in the cells that it is subscribed to.
    pub in_subscribed_cells: usize,
}

/// The room, once its players are far apart.
pub fn start(seed: u64, line: &Impairment, zones: (&str, &str)) -> CubePlayers {
    let parameters = [
        ("size", "320x320"),
        ("cubes", "9000"),
        ("spacing", "3"),
        ("inner", zones.0),
        ("outer", zones.1),
    ];
    let mut hands = CubePlayers::start(seed, PLAYERS, line, &parameters);
    for _ in 0..frames_in(TRAVEL_TIME) {
        hands.run_frame(|guest, _, _| keys_towards_quarter(guest));
    }
    hands
}

/// Players roll about where they are, and gather cubes.
pub fn drive_about(hands: &mut CubePlayers, seed: u64, time: Duration) {
    // A floor of its own for each: dice head for the middle of it.
    let around = Arena {
        width_m: 40.0,
        height_m: 40.0,
    };
    let centres: Vec<_> = (0..PLAYERS)
        .map(|guest| {
            hands
                .system
                .room(hands.room)
                .expect("it runs")
                .world()
                .position(hands.avatar(guest).expect("it plays"))
        })
        .collect();
    let mut dice: Vec<_> = (0..PLAYERS as u64)
        .map(|player| RandomDriver::new(seed, player))
        .collect();
    for _ in 0..frames_in(time) {
        hands.run_frame(|guest, frame, at| {
            let own = [
                at.x - centres[guest].x + 20.0,
                at.y - centres[guest].y + 20.0,
            ];
            dice[guest].keys(frame, own, around)
        });
    }
}

/// What each client has to do with now.
pub fn client_loads(hands: &CubePlayers) -> Vec<ClientLoad> {
    let room = hands.system.room(hands.room).expect("it runs");
    let (world, config) = (room.world(), room.config());
    let grid = Grid::new(config.width, config.height, config.cell);
    (0..PLAYERS)
        .map(|guest| {
            let (viewer, avatar) = (
                hands.client_id(guest).expect("it plays"),
                hands.avatar(guest).expect("it plays"),
            );
            // The zones lie around the cell of the avatar, or around one that it has left by less
            // than the margin.
            let (at, margin) = (world.position(avatar), config.margin_m);
            let corners = [
                (-margin, -margin),
                (-margin, margin),
                (margin, -margin),
                (margin, margin),
            ];
            let homes = corners.map(|(x, y)| grid.cell_at(Position::new(at.x + x, at.y + y, at.z)));
            let around = |home: Cell| {
                let objects = world
                    .objects()
                    .map(|object| grid.cell_at(world.position(object)));
                objects
                    .filter(|cell| cell.distance(home) <= config.outer)
                    .count()
            };
            let in_subscribed_cells = homes.map(around).into_iter().max().unwrap_or(0);
            let client = &hands.system.guest(guest).client;
            ClientLoad {
                followed: room.network().interest().followed(viewer).count(),
                in_sight: client.objects().count(),
                simulated_bodies: client
                    .running_game()
                    .map_or(0, RunningGame::simulated_bodies),
                in_subscribed_cells,
            }
        })
        .collect()
}

/// Diagonally off the middle.
fn keys_towards_quarter(guest: usize) -> Keymap {
    let across = if guest.is_multiple_of(2) {
        control::LEFT
    } else {
        control::RIGHT
    };
    let along = if guest < 2 {
        control::UP
    } else {
        control::DOWN
    };
    Keymap(0).with(across, true).with(along, true)
}
