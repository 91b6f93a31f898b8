//! Tests of a game that is over, while the player is in another game, or in the same room again.
//!
//! The client core is called directly: no test waits, so the task never dials.

use std::time::Duration;

use ambit_client_core::client::config::ClientConfig;
use ambit_client_core::client::lobby::CloseReason;
use ambit_client_core::shell::{self, ClientOptions, ServerTrust};
use ambit_proto::control::WORLD_VERSION;
use ambit_proto::control::game::{self as game_pb, GameToClient, game_to_client};
use ambit_proto::control::world::{self as pb, WorldToClient, world_to_client};
use ambit_proto::schema::{AxisKind, ControlSpec};
use ambit_proto::time::LocalTime;
use ambit_transport::quic::Fingerprint;

use super::*;
use crate::inbox::Inbox;

const ROOM: RoomId = RoomId(7);

#[tokio::test]
async fn the_keys_of_a_game_are_held_while_it_runs() {
    let game = game(playing());
    assert_eq!(game.hold_named(["jump"]), Ok(()));
    assert_ne!(held(&game), 0);
    let unknown = SendError::UnknownControl("fly".to_owned());
    assert_eq!(game.hold_named(["jump", "fly"]), Err(unknown));
    assert!(game.schema().is_some());
}

#[tokio::test]
async fn controls_are_held_and_released_while_a_game_is_restored() {
    let game = game(playing());
    assert_eq!(game.hold_named(["jump"]), Ok(()));
    game.session.read(|client, now| {
        client.handle_game_closed(now, CloseReason::Broken("cut".to_owned()));
    });
    assert_eq!(game.schema(), None);
    assert_eq!(game.set_axis_named("throttle", 0.5), Ok(()));
    assert_eq!(game.release(), Ok(()));
    assert_eq!(game.send("rest", ()), Err(SendError::NotPlaying));
}

#[tokio::test]
async fn axes_are_set_and_keys_are_held_and_not_the_reverse() {
    let game = game(playing());
    assert_eq!(game.set_axis_named("throttle", 0.5), Ok(()));
    let name = |name: &str| name.to_owned();
    let key = game.set_axis_named("jump", 1.0);
    let axis = game.hold_named(["throttle"]);
    assert_eq!(key, Err(SendError::NoAxis(name("jump"))));
    assert_eq!(axis, Err(SendError::IsAxis(name("throttle"))));
    let unknown = game.set_axis_named("fly", 1.0);
    assert_eq!(unknown, Err(SendError::UnknownControl(name("fly"))));
}

#[tokio::test]
async fn a_game_that_is_over_does_not_steer_the_next_one() {
    let game = game(playing());
    let code = "kicked".to_owned();
    let message = String::new();
    game.queue.close(GameEvent::Ended { code, message });
    assert_eq!(game.hold_named(["jump"]), Err(SendError::NotPlaying));
    assert_eq!(held(&game), 0);
    assert_eq!(game.schema(), None);
    assert!(game.map().is_none());
    assert_eq!(game.send("rest", ()), Err(SendError::NotPlaying));
}

#[tokio::test]
async fn a_game_that_is_over_does_not_give_up_a_newer_seat() {
    let game = game(playing());
    let code = "left".to_owned();
    let message = String::new();
    game.queue.close(GameEvent::Ended { code, message });
    let session = game.session.clone();
    assert_eq!(game.leave().await, Err(RequestError::NotInThisRoom));
    assert_eq!(session.room(), Some(ROOM));
}

/// The inputs that were sent within a second from now.
fn held(game: &Game) -> usize {
    game.session.read(|client, now| {
        client.handle_timeout(now + Duration::from_secs(1));
        client.own_inputs().count()
    })
}

fn game(session: Session) -> Game {
    let queue = Arc::new(GameQueue::new(16));
    Game::new(session, ROOM, queue)
}

/// A client that plays in [`ROOM`].
fn playing() -> Session {
    let options = ClientOptions {
        server: "127.0.0.1:1".to_owned(),
        trust: ServerTrust::Pinned(Fingerprint([0; 32])),
        impairment: None,
        number: 0,
        account: None,
        client: ClientConfig::default(),
    };
    let (handle, _) = shell::start(options, ());
    let session = Session { handle, inbox: Arc::new(Inbox::new()) };
    session.read(join_game);
    assert!(session.read(|client, _| client.is_playing()));
    session
}

fn join_game(client: &mut ClientCore, now: LocalTime) {
    client.connect(now);
    client.handle_world_connected(now);
    let room = pb::Room { id: ROOM.0, ..pb::Room::default() };
    for body in [
        world_to_client::Body::Welcome(pb::Welcome {
            version: WORLD_VERSION,
            player: 1,
            ..pb::Welcome::default()
        }),
        world_to_client::Body::RoomJoined(pb::RoomJoined { room: Some(room), players: Vec::new() }),
        world_to_client::Body::Ticket(pb::Ticket {
            room: ROOM.0,
            address: "127.0.0.1:1".to_owned(),
            certificate_sha256: vec![5; 32],
            ticket: b"let me in".to_vec(),
            incarnation: 1,
            map: 0,
            web_certificates_sha256: Vec::new(),
        }),
    ] {
        let request = 0;
        let body = Some(body);
        client.handle_world_message(now, WorldToClient { request, body });
    }
    client.handle_game_connected(now);
    let mut schema = Schema::example();
    schema.controls.push(ControlSpec {
        name: "throttle".to_owned(),
        axis: Some(AxisKind::Linear),
        ..ControlSpec::default()
    });
    let joined = game_pb::Joined {
        room: ROOM.0,
        now_us: 0,
        delay_ms: 150,
        tick_hz: 20,
        width: 200.0,
        height: 200.0,
        cell: 10.0,
        inner: 1,
        outer: 2,
        schema: Some((&schema).into()),
        coding: 0,
        presentation: schema.presentation.to_block(),
    };
    let body = Some(game_to_client::Body::Joined(joined));
    client.handle_game_message(now, GameToClient { body });
}
