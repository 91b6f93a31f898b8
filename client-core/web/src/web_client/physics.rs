//! Physics that the page has loaded: what a client can simulate, and how that goes.

use ambit_client_core::client::running_game::RunningGame;
use ambit_web_physics::description;
use wasm_bindgen::prelude::wasm_bindgen;

use super::{WebClient, error, time};
use crate::page_world;

#[wasm_bindgen]
impl WebClient {
    /// Simulates games of this name from now on, by the module with this description.
    pub fn add_physics(&mut self, now: f64, game: &str, description: &[u32]) -> Result<(), String> {
        let refuse = |message: &str| error("bad_option", message);
        let physics =
            description::read(description, page_world::create).map_err(|why| refuse(&why))?;
        if physics.game != game {
            let message = format!("the physics module is one of the game {}", physics.game);
            return Err(refuse(&message));
        }
        self.client.set_motion(time(now), game, Some(physics.into()));
        self.collect(time(now));
        Ok(())
    }

    /// Draws games of this name between the host's poses from now on.
    pub fn remove_physics(&mut self, now: f64, game: &str) {
        self.client.set_motion(time(now), game, None);
        self.collect(time(now));
    }
}

impl WebClient {
    /// The number of objects that are simulated here.
    pub(super) fn simulated_bodies(&self) -> usize {
        let game = self.client.running_game();
        game.map_or(0, RunningGame::simulated_bodies)
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::physics::GamePhysics;

    use super::*;

    const BALLS: GamePhysics = GamePhysics {
        game: "balls",
        kinds: &[],
        reach_m: 1.0,
        create: |_, _| unreachable!("no game runs"),
    };

    #[test]
    fn physics_of_another_version_or_game_are_refused() {
        let mut words = Vec::new();
        description::write(&BALLS, &mut words);
        check("balls", &words, None);
        check("cubes", &words, Some("one of the game balls"));
        check("balls", &[], Some("version 0"));
        words[0] = 77;
        check("balls", &words, Some("version 77"));
    }

    fn check(game: &str, description: &[u32], why: Option<&str>) {
        let mut client = WebClient::new("{}", Vec::new(), 1).expect("valid settings");
        let added = client.add_physics(0.0, game, description);
        match why {
            Some(why) => assert!(added.expect_err(why).contains(why)),
            None => assert_eq!(added, Ok(())),
        }
    }
}
