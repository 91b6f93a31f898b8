//! Events as JSON, for JavaScript.
//!
//! An event of the client's core goes in. Out comes `{"of", "request", "event"}`: whom it concerns
//! (`lobby` or `game`), the number of the request that it answers (0 for none), and the event
//! itself. That one has the keys of the console's lines ([`ambit_client_text::json`]), which are
//! documented and stable. Here are only the events that scripts do not get, or need in another
//! form: what happens to connections, and errors.

use ambit_client_core::client::event::{ConnectionStatus, ErrorSubject, Failure, ViewEvent};
use ambit_client_core::client::model::GameListing;
use ambit_client_text::json;
use ambit_proto::time::GameTime;
use serde_json::{Value as Json, json};

/// The event with its address.
pub(crate) fn envelope(event: &ViewEvent) -> Json {
    json!({
        "of": if is_of_game(event) { "game" } else { "lobby" },
        "request": event.request().unwrap_or(0),
        "event": event_json(event),
    })
}

/// The event that the host has confirmed a command: it takes effect at `effect` or, if the first
/// confirmation was lost, some ticks earlier.
pub(crate) fn confirmed(t: GameTime, command: u32, effect: GameTime) -> Json {
    json!({
        "of": "game", "request": 0,
        "event": {
            "ev": "confirmed", "t": json::ms(t), "command": command, "effect": json::ms(effect),
        },
    })
}

fn is_of_game(event: &ViewEvent) -> bool {
    match event {
        ViewEvent::Started(_)
        | ViewEvent::PhysicsMissing { .. }
        | ViewEvent::RoomLate { .. }
        | ViewEvent::MapProgress { .. }
        | ViewEvent::Map { .. }
        | ViewEvent::Enter(_)
        | ViewEvent::Update(_)
        | ViewEvent::Leave { .. }
        | ViewEvent::Event(_)
        | ViewEvent::Connection(
            ConnectionStatus::GameBroken { .. }
            | ConnectionStatus::GameSilent { .. }
            | ConnectionStatus::GameHeard
            | ConnectionStatus::GameClosed { .. },
        ) => true,
        ViewEvent::Error(failure) => {
            matches!(failure.subject, ErrorSubject::Command(_) | ErrorSubject::Game)
        }
        _ => false,
    }
}

fn event_json(event: &ViewEvent) -> Json {
    match event {
        ViewEvent::Connection(status) => connection(status),
        ViewEvent::Error(failure) => failure_json(failure),
        ViewEvent::Welcome(welcome) => {
            let games: Json = welcome.games.iter().map(game).collect();
            let mut json = json::event(event).unwrap_or_default();
            json["games"] = games;
            json
        }
        ViewEvent::RoomChanged(room) => json!({ "ev": "room_changed", "room": json::room(room) }),
        ViewEvent::RoomGone(room) => json!({ "ev": "room_gone", "room": room.0 }),
        ViewEvent::Done { .. } => json!({ "ev": "done" }),
        ViewEvent::MapProgress { t, received, total } => json!({
            "ev": "map_progress", "t": json::ms(*t), "received": received, "total": total,
        }),
        event => json::event(event).unwrap_or_default(),
    }
}

fn game(game: &GameListing) -> Json {
    json!({
        "name": game.name, "description": game.description, "min_players": game.min_players,
        "join_running": game.join_running,
    })
}

fn connection(status: &ConnectionStatus) -> Json {
    match status {
        ConnectionStatus::Connecting { attempt } => {
            json!({ "ev": "connecting", "attempt": attempt })
        }
        ConnectionStatus::Broken { reason, retry_in }
        | ConnectionStatus::GameBroken { reason, retry_in } => json!({
            "ev": "interrupted", "reason": reason, "retry_in_ms": retry_in.as_millis() as u64,
        }),
        ConnectionStatus::GameSilent { silence } => {
            json!({ "ev": "silent", "silent_ms": silence.as_millis() as u64 })
        }
        ConnectionStatus::GameHeard => json!({ "ev": "heard" }),
        ConnectionStatus::Closed { code, message } => {
            json!({ "ev": "closed", "code": code, "message": message })
        }
        ConnectionStatus::GameClosed { code, message } => {
            json!({ "ev": "ended", "code": code, "message": message })
        }
    }
}

fn failure_json(failure: &Failure) -> Json {
    let mut json = json::error(&failure.code, &failure.message);
    if let ErrorSubject::Command(number) = failure.subject {
        json["ev"] = json!("refused");
        json["command"] = json!(number);
    }
    json
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ambit_proto::ids::RoomId;

    use super::*;

    #[test]
    fn an_event_says_whom_it_concerns_and_what_it_answers() {
        check(
            &ViewEvent::Done { request: 7 },
            json!({ "of": "lobby", "request": 7, "event": { "ev": "done" } }),
        );
        check(
            &ViewEvent::RoomGone(RoomId(3)),
            json!({ "of": "lobby", "request": 0, "event": { "ev": "room_gone", "room": 3 } }),
        );
        let broken = ConnectionStatus::GameBroken {
            reason: "silence".to_owned(),
            retry_in: Duration::from_millis(200),
        };
        let event = json!({ "ev": "interrupted", "reason": "silence", "retry_in_ms": 200 });
        check(
            &ViewEvent::Connection(broken),
            json!({ "of": "game", "request": 0, "event": event }),
        );
    }

    #[test]
    fn an_error_is_of_a_request_of_a_command_or_of_neither() {
        let error = |subject, of, request, event| {
            let failure =
                Failure { subject, code: "try_again".to_owned(), message: "so it is".to_owned() };
            let expected = json!({ "of": of, "request": request, "event": event });
            check(&ViewEvent::Error(failure), expected);
        };
        let plain = json!({ "ev": "error", "code": "try_again", "message": "so it is" });
        error(ErrorSubject::Request(5), "lobby", 5, plain.clone());
        error(ErrorSubject::Lobby, "lobby", 0, plain.clone());
        error(ErrorSubject::Game, "game", 0, plain);
        let refused = json!({
            "ev": "refused", "code": "try_again", "message": "so it is", "command": 9,
        });
        error(ErrorSubject::Command(9), "game", 0, refused);
    }

    #[expect(clippy::needless_pass_by_value, reason = "it is made for the call")]
    fn check(event: &ViewEvent, expected: Json) {
        assert_eq!(envelope(event), expected);
    }
}
