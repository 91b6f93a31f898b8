//! Events as JSON.
//!
//! An event of the client's core goes in. Out comes `{"of", "request", "event"}`: whom it concerns
//! (`lobby` or `game`), the number of the request that it answers (0 for none), and the event
//! itself, as the core writes it (serde); the description of a game has its schema, too.

use ambit_client_core::client::event::{LobbyEvent, ViewEvent};
use serde_json::{Value as Json, json};

use ambit_client_text::schema_json::schema_json;

/// The event with its address.
pub fn envelope(event: &ViewEvent) -> Json {
    match event {
        ViewEvent::Lobby(request, event) => {
            let mut json = json!({ "of": "lobby", "request": request, "event": event });
            if let LobbyEvent::Game(description) = event {
                json["event"]["schema"] = json!(description.schema.as_deref().map(schema_json));
            }
            json
        }
        ViewEvent::Game(event) => json!({ "of": "game", "request": 0, "event": event }),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use ambit_client_core::client::event::GameEvent;
    use ambit_client_core::client::model::GameDescription;
    use ambit_proto::ids::RoomId;
    use ambit_proto::schema::Schema;

    use super::*;

    #[test]
    fn an_event_says_whom_it_concerns_and_what_it_answers() {
        check(
            &ViewEvent::Lobby(7, LobbyEvent::Done),
            json!({ "of": "lobby", "request": 7, "event": { "ev": "done" } }),
        );
        check(
            &LobbyEvent::RoomGone { room: RoomId(3) }.into(),
            json!({ "of": "lobby", "request": 0, "event": { "ev": "room_gone", "room": 3 } }),
        );
        let broken = GameEvent::Interrupted {
            reason: "silence".to_owned(),
            retry_in: Duration::from_millis(200),
        };
        let event = json!({ "ev": "interrupted", "reason": "silence", "retry_in_ms": 200 });
        check(&broken.into(), json!({ "of": "game", "request": 0, "event": event }));
    }

    #[test]
    fn an_error_is_of_a_request_of_a_command_or_of_neither() {
        let code = || "try_again".to_owned();
        let message = || "so it is".to_owned();
        let error = || LobbyEvent::Error { code: code(), message: message() };
        let plain = json!({ "ev": "error", "code": "try_again", "message": "so it is" });
        let expected = |of, request| json!({ "of": of, "request": request, "event": plain });
        check(&ViewEvent::Lobby(5, error()), expected("lobby", 5));
        check(&error().into(), expected("lobby", 0));
        let of_game = GameEvent::Error { code: code(), message: message() };
        check(&of_game.into(), expected("game", 0));
        let refused = GameEvent::Refused {
            command: 9,
            code: code(),
            message: message(),
            what: "cast bolt".into(),
        };
        let event = json!({
            "ev": "refused", "code": "try_again", "message": "so it is", "command": 9,
            "what": "cast bolt",
        });
        check(&refused.into(), json!({ "of": "game", "request": 0, "event": event }));
    }

    #[test]
    fn a_game_is_described_with_its_schema_if_the_server_tells_it() {
        let schema = Schema { game: "chess".to_owned(), ..Schema::default() };
        for schema in [None, Some(schema)] {
            let expected = json!(schema.as_ref().map(schema_json));
            let schema = schema.map(Arc::new);
            let description = GameDescription {
                game: "chess".to_owned(),
                parameters: Vec::new(),
                default_capacity: 2,
                max_capacity: 4,
                schema,
            };
            let json = envelope(&ViewEvent::Lobby(7, LobbyEvent::Game(description)));
            assert_eq!(json["event"]["game"], "chess");
            assert_eq!(json["event"]["schema"], expected);
        }
    }

    #[expect(clippy::needless_pass_by_value, reason = "it is made for the call")]
    fn check(event: &ViewEvent, expected: Json) {
        assert_eq!(envelope(event), expected);
    }
}
