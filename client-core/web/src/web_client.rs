//! The client, as JavaScript calls it: [`PolledClient`] with times of the page's clock, and numbers
//! and addresses in place of outputs and arrays.
//!
//! A text that JavaScript gets as an error is `{"code", "message"}`.

use ambit_client_boundary::calls::BoundaryError;
use ambit_client_boundary::{Output, PolledClient, configure, motions, reads};
use ambit_client_core::client::config::{ClientConfig, SignIn};
use ambit_proto::account_proof::CheckedServer;
use ambit_proto::time::LocalTime;
use ambit_web_physics::description;
use serde_json::json;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::page_world;

/// Numbers of the layout.
const LAYOUT_NUMBERS: usize = 6;

/// A client; see the module.
#[wasm_bindgen]
pub struct WebClient {
    client: PolledClient,
    /// The output that `poll_output` has returned last.
    taken: Option<Output>,
    layout: Box<[u32; LAYOUT_NUMBERS]>,
}

/// A time of the page's clock, which does not run back.
fn time(ms: f64) -> LocalTime {
    LocalTime::from_micros((ms * 1_000.0) as u64)
}

#[wasm_bindgen]
impl WebClient {
    /// A client that has not connected yet. `settings` is a JSON object ([`configure`]);
    /// `account_key` the public key of the player's account, or empty.
    #[wasm_bindgen(constructor)]
    pub fn new(
        settings: &str,
        resume_token: Vec<u8>,
        account_key: Vec<u8>,
        seed: u64,
    ) -> Result<WebClient, String> {
        let mut config = ClientConfig {
            agent: concat!("ambit-client-web ", env!("CARGO_PKG_VERSION")).to_owned(),
            resume_token,
            sign_in: account_key.try_into().map_or(SignIn::Guest, SignIn::Key),
            seed,
            motions: motions(),
            confirmations: true,
            ..ClientConfig::default()
        };
        configure(&mut config, settings).map_err(thrown)?;
        let client = PolledClient::new(&config);
        Ok(WebClient { client, taken: None, layout: Box::default() })
    }

    /// Sets the addresses of the configured servers.
    pub fn set_servers(&mut self, addresses: Vec<String>) {
        self.client.set_servers(addresses);
    }

    /// Dials the lobby. Call it once; the client reconnects by itself.
    pub fn connect(&mut self, now: f64) {
        self.client.connect(time(now));
    }

    /// The lobby's connection is established, to the server at this address. `certificates` is the
    /// SHA-256 of each certificate that the browser would have taken, one behind the other; if it
    /// is empty, an authority has signed the certificate for the host `name`.
    pub fn handle_world_connected(
        &mut self,
        now: f64,
        address: &str,
        certificates: &[u8],
        name: String,
    ) {
        let server = if certificates.is_empty() {
            CheckedServer::Name(name)
        } else {
            CheckedServer::Certificates(certificates.as_chunks().0.to_vec())
        };
        self.client.handle_world_connected(time(now), address, Some(server));
    }

    /// The signature that the output 9 asks for.
    pub fn prove_account(&mut self, now: f64, signature: Vec<u8>) {
        self.client.prove_account(time(now), signature);
    }

    /// Bytes of the lobby's stream.
    pub fn handle_world_bytes(&mut self, now: f64, bytes: &[u8]) {
        self.client.handle_world_bytes(time(now), bytes);
    }

    /// The lobby's connection is lost, or could not be established. `code` is the server's, if it
    /// has closed the connection.
    pub fn handle_world_closed(&mut self, now: f64, code: Option<u32>, reason: &str) {
        self.client.handle_world_closed(time(now), code, reason);
    }

    /// The game's connection is established.
    pub fn handle_game_connected(&mut self, now: f64) {
        self.client.handle_game_connected(time(now));
    }

    /// Bytes of the game's stream.
    pub fn handle_game_bytes(&mut self, now: f64, bytes: &[u8]) {
        self.client.handle_game_bytes(time(now), bytes);
    }

    /// A datagram of the host.
    pub fn handle_datagram(&mut self, now: f64, datagram: &[u8]) {
        self.client.handle_datagram(time(now), datagram);
    }

    /// The game's connection is lost, or could not be established.
    pub fn handle_game_closed(&mut self, now: f64, code: Option<u32>, reason: &str) {
        self.client.handle_game_closed(time(now), code, reason);
    }

    /// Handles all deadlines that have passed. Extra calls do no harm.
    pub fn handle_timeout(&mut self, now: f64) {
        self.client.handle_timeout(time(now));
    }

    /// When `handle_timeout` is to be called; infinity for never.
    pub fn next_deadline(&self) -> f64 {
        let deadline = self.client.next_deadline();
        deadline.map_or(f64::INFINITY, |time| time.micros() as f64 / 1_000.0)
    }

    /// The number of the next output ([`Output::number`]), or 0.
    pub fn poll_output(&mut self) -> u32 {
        self.taken = self.client.poll_output();
        self.taken.as_ref().map_or(0, Output::number)
    }

    /// The bytes of that output.
    pub fn output_bytes(&self) -> Vec<u8> {
        let taken = self.taken.as_ref();
        taken.map(|output| output.bytes().to_vec()).unwrap_or_default()
    }

    /// Whom that output dials, as JSON ([`Output::target`]).
    pub fn output_target(&self) -> String {
        let target = self.taken.as_ref().map(Output::target);
        target.unwrap_or_default().to_string()
    }

    /// Whether `poll_event` would return an event. It makes no object, unlike an absent text.
    pub fn has_events(&self) -> bool {
        self.client.has_events()
    }

    /// The next event, as JSON.
    pub fn poll_event(&mut self) -> Option<String> {
        self.client.poll_event()
    }

    /// Sends a request in JSON (`LobbyRequest` in `ts/events.ts`). Returns the number that its
    /// answer will have.
    pub fn request(&mut self, now: f64, request: &str) -> Result<f64, String> {
        let number = self.client.request(time(now), request).map_err(thrown)?;
        Ok(number as f64)
    }

    /// Leaves room and lobby for good.
    pub fn quit(&mut self, now: f64) {
        self.client.quit(time(now));
    }

    /// Sends a command by its name; `values` is a JSON list (`Argument`). Returns its number.
    pub fn send(&mut self, now: f64, name: &str, values: &str) -> Result<u32, String> {
        self.client.send(time(now), name, values).map_err(thrown)
    }

    /// Holds these controls, one bit each, and releases all others.
    pub fn hold(&mut self, now: f64, keys: u32) {
        self.client.hold(time(now), keys);
    }

    /// Moves an axis, by its place in the schema's controls. False if there is none.
    pub fn set_axis(&mut self, now: f64, control: u8, value: f32) -> bool {
        self.client.set_axis(time(now), control, value)
    }

    /// Simulates games of this name from now on, by the module with this description.
    pub fn add_physics(&mut self, now: f64, game: &str, description: &[u32]) -> Result<(), String> {
        let refuse = |why: String| thrown(BoundaryError::bad_option(why));
        let physics = description::read(description, page_world::create).map_err(refuse)?;
        if physics.game != game {
            let message = format!("the physics module is one of the game {}", physics.game);
            return Err(refuse(message));
        }
        self.client.set_motion(time(now), game, Some(physics.into()));
        Ok(())
    }

    /// Draws games of this name between the host's poses from now on.
    pub fn remove_physics(&mut self, now: f64, game: &str) {
        self.client.set_motion(time(now), game, None);
    }

    /// Copies what is in sight at `at` to the arrays. Returns the room time in milliseconds, NaN
    /// without a game.
    pub fn draw(&mut self, now: f64, at: f64) -> f64 {
        let shown = self.client.draw(time(now), time(at));
        let arrays = self.client.view().arrays();
        let (objects, values) = (arrays.objects(), arrays.values());
        let in_sight = arrays.in_sight();
        *self.layout = [
            in_sight as u32,
            (objects.len() - in_sight) as u32,
            arrays.avatar().map_or(u32::MAX, |index| index as u32),
            values.len() as u32,
            values.as_ptr().addr() as u32,
            objects.as_ptr().addr() as u32,
        ];
        shown.map_or(f64::NAN, |time| time.micros() as f64 / 1_000.0)
    }

    /// The address of a table, which never changes: how many objects are in sight, how many are
    /// room-wide, the index of the player's avatar or `0xffff_ffff`, how many values there are, the
    /// address of the values (`ValueRow`), the address of the objects (`ObjectRow`).
    pub fn frame_layout(&self) -> u32 {
        self.layout.as_ptr().addr() as u32
    }

    /// The texts of frames with higher numbers than `number`, as JSON: `[[number, text]]`; none
    /// if there are no others.
    pub fn texts_after(&self, number: u32) -> Option<String> {
        let texts: Vec<_> = self.client.view().arrays().texts().after(number).collect();
        (!texts.is_empty()).then(|| json!(texts).to_string())
    }

    /// How often texts that are out of sight were dropped: who keeps texts drops all then, and
    /// reads those after 0.
    pub fn texts_dropped(&self) -> u32 {
        self.client.view().arrays().texts().dropped()
    }

    /// The schema as JSON.
    pub fn schema(&self) -> Option<String> {
        reads::schema(self.client.client())
    }

    /// The obstacles, once there are any ([`reads::map_obstacles`]).
    pub fn map_obstacles(&self) -> Option<Vec<f32>> {
        reads::map_obstacles(self.client.client())
    }

    /// The player's number.
    pub fn player(&self) -> Option<f64> {
        self.client.client().player().map(|player| player.0 as f64)
    }

    /// The player's name.
    pub fn name(&self) -> String {
        self.client.client().name().to_owned()
    }

    /// The room that the player is in.
    pub fn room(&self) -> Option<f64> {
        self.client.client().room().map(|room| room.0 as f64)
    }

    /// Secret: it resumes the session.
    pub fn resume_token(&self) -> Vec<u8> {
        self.client.client().resume_token().to_vec()
    }

    /// Whether the lobby answers now.
    pub fn is_connected(&self) -> bool {
        self.client.client().is_connected()
    }

    /// What the host reported at the join, as JSON (`GameRules` in `ts/rules.ts`).
    pub fn rules(&self) -> Option<String> {
        reads::rules(self.client.client())
    }

    /// Counters and present measurements, as JSON (`Stats` in `ts/stats.ts`).
    pub fn stats(&self, now: f64) -> String {
        reads::stats(self.client.client(), time(now))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn thrown(error: BoundaryError) -> String {
    error.to_json()
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
        let mut client = WebClient::new("{}", Vec::new(), Vec::new(), 1).expect("valid settings");
        let added = client.add_physics(0.0, game, description);
        match why {
            Some(why) => {
                let error = added.expect_err(why);
                assert!(error.contains(why) && error.contains("bad_option"), "{error}");
            }
            None => assert_eq!(added, Ok(())),
        }
    }

    #[test]
    fn without_a_game_the_layout_says_that_nothing_is_there() {
        let mut client = WebClient::new("{}", Vec::new(), Vec::new(), 1).expect("valid settings");
        assert!(client.draw(1.0, 1.0).is_nan());
        let [in_sight, room_wide, avatar, values, ..] = *client.layout;
        assert_eq!((in_sight, room_wide, avatar, values), (0, 0, u32::MAX, 0));
        let wrong = WebClient::new(r#"{"render": "never"}"#, Vec::new(), Vec::new(), 1);
        let error = wrong.err().expect("it is no setting");
        assert!(error.contains("bad_option") && error.contains("render: "), "{error}");
    }
}
