//! A long run: four players among a hundred cubes, in rounds of play and rest.
//!
//! After each round all players release their keys. Once all objects are at rest, each client must
//! draw each object at its true position: errors must not accumulate over time. The caller measures
//! how memory grows from one rest to the next, around [`Soak::run_round`].

use std::hash::{DefaultHasher, Hasher};
use std::time::Duration;

use ambit_cubes_physics::{Arena, RandomDriver};
use ambit_transport::impair::Impairment;

use super::{CubePlayers, frames_in};

const PLAYERS: usize = 4;
const ARENA: Arena = Arena { width_m: 32.0, height_m: 32.0 };
/// All objects must be at rest this long after the last key.
const MAX_SETTLE_TIME: Duration = Duration::from_secs(20);

pub struct Soak {
    pub players: CubePlayers,
    drivers: Vec<RandomDriver>,
    state_hasher: DefaultHasher,
}

impl Soak {
    pub fn start(seed: u64, network: &Impairment) -> Self {
        let players = CubePlayers::start(seed, PLAYERS, network, &[("cubes", "100")]);
        let drivers = (0..PLAYERS as u64).map(|player| RandomDriver::new(seed, player)).collect();
        Soak { players, drivers, state_hasher: DefaultHasher::new() }
    }

    /// Plays, releases the keys, and compares. Returns how long it took until all objects were at
    /// rest.
    pub fn run_round(&mut self, play: Duration) -> Duration {
        let Self { players, drivers, state_hasher: state } = self;
        for frame in 0..frames_in(play) {
            players.run_frame(|user, frame, at| drivers[user].keys(frame, [at.x, at.y], ARENA));
            if frame % 60 == 0 {
                players.hash_state(state);
                players.system.clear_history(players.room);
            }
        }
        let began = players.system.now();
        while !players.is_at_rest() {
            players.release_keys_for(Duration::from_millis(500));
            assert!(
                players.system.now().since(began) < MAX_SETTLE_TIME,
                "the objects do not come to rest"
            );
        }
        let took = players.system.now().since(began);
        // Until the clients have received and drawn the last poses.
        players.release_keys_for(Duration::from_secs(3));
        for user in 0..PLAYERS {
            assert_eq!(players.check_drawn_at_rest(user), Ok(100 + PLAYERS));
        }
        players.hash_state(state);
        took
    }

    /// A hash over one state a second since the start: of the room, and of what clients have drawn.
    pub fn state_hash(&self) -> u64 {
        self.state_hasher.finish()
    }
}
