//! A long run: four players among a hundred cubes, in rounds of play and rest.
//!
//! After each round everybody lets go, and when all lies still each client must draw each object
//! where it is: nothing drifts apart, however long it lasts. What memory has grown by from one rest
//! to the next is for the caller to count, around [`Soak::round`].

use std::hash::{DefaultHasher, Hasher};
use std::time::Duration;

use ambit_proto::games::cubes::{Arena, RandomDriver};
use ambit_proto::impair::Impairment;

use super::{CubePlayers, frames_in};

const PLAYERS: usize = 4;
const ARENA: Arena = Arena {
    width_m: 32.0,
    height_m: 32.0,
};
/// All must lie still that long after the last key.
const MAX_SETTLE_TIME: Duration = Duration::from_secs(20);

/// See the module.
pub struct Soak {
    /// The room and its players.
    pub players: CubePlayers,
    drivers: Vec<RandomDriver>,
    state_hasher: DefaultHasher,
}

impl Soak {
    /// A room that has just begun.
    pub fn start(seed: u64, line: &Impairment) -> Self {
        let hands = CubePlayers::start(seed, PLAYERS, line, &[("cubes", "100")]);
        let dice = (0..PLAYERS as u64)
            .map(|player| RandomDriver::new(seed, player))
            .collect();
        Soak {
            players: hands,
            drivers: dice,
            state_hasher: DefaultHasher::new(),
        }
    }

    /// Plays for so long, lets go, and compares; how long it took until all lay still.
    pub fn run_round(&mut self, play: Duration) -> Duration {
        let Self {
            players: hands,
            drivers: dice,
            state_hasher: state,
        } = self;
        for frame in 0..frames_in(play) {
            hands.run_frame(|guest, frame, at| dice[guest].keys(frame, [at.x, at.y], ARENA));
            if frame % 60 == 0 {
                hands.hash_state(state);
                hands.system.forget_what_was_said(hands.room);
            }
        }
        let began = hands.system.now();
        while !hands.is_at_rest() {
            hands.release_keys_for(Duration::from_millis(500));
            assert!(
                hands.system.now().since(began) < MAX_SETTLE_TIME,
                "it never lies still"
            );
        }
        let took = hands.system.now().since(began);
        // Until the clients have shown it, and know.
        hands.release_keys_for(Duration::from_secs(3));
        for guest in 0..PLAYERS {
            assert_eq!(hands.check_drawn_at_rest(guest), Ok(100 + PLAYERS));
        }
        hands.hash_state(state);
        took
    }

    /// A hash over all states so far, once a second: of the room, and of what clients have drawn.
    pub fn state_hash(&self) -> u64 {
        self.state_hasher.finish()
    }
}
