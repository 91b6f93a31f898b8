//! Requests to the lobby, from JSON: the name alone, or an object with the name and what belongs to
//! it. `LobbyRequest` in `client-core/web/ts/events.ts` is their type.
//!
//! By hand: what serde derives is three times as large, and each player of a page downloads it.

use std::collections::BTreeMap;

use ambit_client_core::client::model::ChatAudience;
use ambit_client_core::client::request::{LobbyRequest, NewRoom};
use ambit_proto::ids::{PartyId, PlayerId, RoomId};
use serde_json::{Map, Value as Json};

use crate::calls::BoundaryError;

/// What there is, for messages.
const EXPECTED: &str = "\"leave_room\", \"start_room\", \"read_account\", \"erase_account\", or an \
                        object with one of list_rooms, create_room, join_room, quick_join, \
                        set_ready, set_wishes, invite, join_party, leave_party, \
                        list_players, describe_game, set_name, set_password, say, kick";

/// Reads a request: `"leave_room"`, `{"list_rooms": {"subscribe": true}}`,
/// `{"say": {"to": "lobby", "text": "hello"}}`.
pub fn read_request(request: &str) -> Result<LobbyRequest, BoundaryError> {
    let request: Json = serde_json::from_str(request).map_err(BoundaryError::bad_option)?;
    let (name, body) = named(&request);
    let body = Body { name, body };
    Ok(match name {
        "list_rooms" => LobbyRequest::ListRooms { subscribe: body.flag("subscribe")? },
        "create_room" => LobbyRequest::CreateRoom(body.new_room()?),
        "join_room" => LobbyRequest::JoinRoom {
            room: RoomId(body.number("room")?),
            password: body.text_or_none("password")?,
        },
        "quick_join" => LobbyRequest::QuickJoin {
            game: body.text("game")?,
            parameters: body.texts(".parameters", &body.body["parameters"])?,
        },
        "set_wishes" => LobbyRequest::SetWishes(body.texts("", body.body)?),
        "invite" => {
            LobbyRequest::Invite(body.whole(body.body.as_str(), "a player's name")?.to_owned())
        }
        "join_party" => {
            LobbyRequest::JoinParty(PartyId(body.whole(body.body.as_u64(), "a party's number")?))
        }
        "leave_party" => LobbyRequest::LeaveParty {
            player: match &body.body["player"] {
                Json::Null => None,
                _ => Some(PlayerId(body.number("player")?)),
            },
        },
        "leave_room" => LobbyRequest::LeaveRoom,
        "start_room" => LobbyRequest::StartRoom,
        "set_ready" => LobbyRequest::SetReady(body.whole(body.body.as_bool(), "true or false")?),
        "list_players" => LobbyRequest::ListPlayers { everybody: body.flag("everybody")? },
        "describe_game" => LobbyRequest::DescribeGame { game: body.text("game")? },
        "read_account" => LobbyRequest::ReadAccount,
        "erase_account" => LobbyRequest::EraseAccount,
        "set_password" => LobbyRequest::SetPassword {
            password: body.text("password")?,
            new_password: body.text("new_password")?,
        },
        "set_name" => LobbyRequest::SetName(body.whole(body.body.as_str(), "a text")?.to_owned()),
        "say" => LobbyRequest::Say { to: body.audience()?, text: body.text("text")? },
        "kick" => {
            LobbyRequest::Kick(PlayerId(body.whole(body.body.as_u64(), "a player's number")?))
        }
        _ => {
            let message = format!("no request is called '{name}'; expected {EXPECTED}");
            return Err(BoundaryError::bad_option(message));
        }
    })
}

/// A name alone, or the only key of an object with its value.
fn named(json: &Json) -> (&str, &Json) {
    match json {
        Json::String(name) => (name, &Json::Null),
        Json::Object(object) if object.len() == 1 => {
            object.iter().next().map_or(("", &Json::Null), |(name, body)| (name, body))
        }
        _ => ("", &Json::Null),
    }
}

/// What belongs to a request.
struct Body<'j> {
    name: &'j str,
    body: &'j Json,
}

impl<'j> Body<'j> {
    fn flag(&self, key: &str) -> Result<bool, BoundaryError> {
        self.one(key, "true or false", Json::as_bool)
    }

    fn number(&self, key: &str) -> Result<u64, BoundaryError> {
        self.one(key, "a whole number", Json::as_u64)
    }

    fn text(&self, key: &str) -> Result<String, BoundaryError> {
        self.one(key, "a text", Json::as_str).map(str::to_owned)
    }

    /// Empty if there is none.
    fn text_or_none(&self, key: &str) -> Result<String, BoundaryError> {
        if self.body[key].is_null() { Ok(String::new()) } else { self.text(key) }
    }

    fn audience(&self) -> Result<ChatAudience, BoundaryError> {
        let to = match named(&self.body["to"]) {
            ("lobby", _) => Some(ChatAudience::Lobby),
            ("room", _) => Some(ChatAudience::Room),
            ("party", _) => Some(ChatAudience::Party),
            ("player", id) => id.as_u64().map(|id| ChatAudience::Player(PlayerId(id))),
            ("player_named", name) => {
                name.as_str().map(|name| ChatAudience::PlayerNamed(name.to_owned()))
            }
            _ => None,
        };
        to.ok_or_else(|| {
            self.misfit(
                ".to",
                r#""lobby", "room", "party", {"player": 3} or {"player_named": "ann"}"#,
            )
        })
    }

    /// An object of texts; empty if there is none.
    fn texts(&self, place: &str, json: &Json) -> Result<BTreeMap<String, String>, BoundaryError> {
        if json.is_null() {
            return Ok(BTreeMap::new());
        }
        let read = json.as_object().and_then(texts);
        read.ok_or_else(|| self.misfit(place, "an object of texts, numbers, true and false"))
    }

    fn new_room(&self) -> Result<NewRoom, BoundaryError> {
        let key = match &self.body["key"] {
            Json::Null => Some([0; 16]),
            key => key_of(key),
        };
        let capacity = match &self.body["capacity"] {
            Json::Null => Some(0),
            number => number.as_u64().and_then(|number| number.try_into().ok()),
        };
        Ok(NewRoom {
            name: self.text("name")?,
            game: self.text("game")?,
            capacity: capacity.ok_or_else(|| self.misfit(".capacity", "a number of seats"))?,
            parameters: self.texts(".parameters", &self.body["parameters"])?,
            password: self.text_or_none("password")?,
            key: key.ok_or_else(|| self.misfit(".key", "a list of 16 bytes"))?,
        })
    }

    fn one<T>(
        &self,
        key: &str,
        expected: &str,
        read: impl FnOnce(&'j Json) -> Option<T>,
    ) -> Result<T, BoundaryError> {
        read(&self.body[key]).ok_or_else(|| self.misfit(&format!(".{key}"), expected))
    }

    /// Of a request that has one value.
    fn whole<T>(&self, value: Option<T>, expected: &str) -> Result<T, BoundaryError> {
        value.ok_or_else(|| self.misfit("", expected))
    }

    fn misfit(&self, place: &str, expected: &str) -> BoundaryError {
        let Body { name, body } = self;
        BoundaryError::bad_option(format!("{name}{place}: expected {expected}, in {body}"))
    }
}

fn key_of(list: &Json) -> Option<[u8; 16]> {
    let list = list.as_array().filter(|list| list.len() == 16)?;
    let mut key = [0; 16];
    for (byte, json) in key.iter_mut().zip(list) {
        *byte = json.as_u64()?.try_into().ok()?;
    }
    Some(key)
}

/// Values of parameters: a number and a flag stand for their text.
fn texts(values: &Map<String, Json>) -> Option<BTreeMap<String, String>> {
    let mut texts = BTreeMap::new();
    for (key, value) in values {
        let text = match value {
            Json::String(text) => text.clone(),
            Json::Number(_) | Json::Bool(_) => value.to_string(),
            _ => return None,
        };
        texts.insert(key.clone(), text);
    }
    Some(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<LobbyRequest, String> {
        read_request(json).map_err(|error| {
            assert_eq!(error.code, "bad_option");
            error.message
        })
    }

    #[test]
    fn a_request_is_read_from_its_json() {
        let say = |to| LobbyRequest::Say { to, text: "hi".to_owned() };
        let room = RoomId(7);
        let join = |password: &str| LobbyRequest::JoinRoom { room, password: password.to_owned() };
        for (json, expected) in [
            (r#"{"list_rooms": {"subscribe": true}}"#, LobbyRequest::ListRooms { subscribe: true }),
            (r#"{"join_room": {"room": 7}}"#, join("")),
            (r#"{"join_room": {"room": 7, "password": "x"}}"#, join("x")),
            (r#""leave_room""#, LobbyRequest::LeaveRoom),
            (r#""start_room""#, LobbyRequest::StartRoom),
            (r#"{"set_ready": true}"#, LobbyRequest::SetReady(true)),
            (
                r#"{"list_players": {"everybody": false}}"#,
                LobbyRequest::ListPlayers { everybody: false },
            ),
            (
                r#"{"describe_game": {"game": "field"}}"#,
                LobbyRequest::DescribeGame { game: "field".to_owned() },
            ),
            (r#""read_account""#, LobbyRequest::ReadAccount),
            (r#""erase_account""#, LobbyRequest::EraseAccount),
            (
                r#"{"set_password": {"password": "old", "new_password": "new"}}"#,
                LobbyRequest::SetPassword {
                    password: "old".to_owned(),
                    new_password: "new".to_owned(),
                },
            ),
            (r#"{"set_name": "ann"}"#, LobbyRequest::SetName("ann".to_owned())),
            (r#"{"say": {"to": "lobby", "text": "hi"}}"#, say(ChatAudience::Lobby)),
            (r#"{"say": {"to": "room", "text": "hi"}}"#, say(ChatAudience::Room)),
            (
                r#"{"say": {"to": {"player": 3}, "text": "hi"}}"#,
                say(ChatAudience::Player(PlayerId(3))),
            ),
            (
                r#"{"say": {"to": {"player_named": "ann"}, "text": "hi"}}"#,
                say(ChatAudience::PlayerNamed("ann".to_owned())),
            ),
            (r#"{"kick": 3}"#, LobbyRequest::Kick(PlayerId(3))),
        ] {
            assert_eq!(read(json), Ok(expected), "{json}");
        }
    }

    #[test]
    fn a_room_has_defaults_and_parameters_of_any_plain_type() {
        let json = r#"{"create_room": {"name": "a", "game": "field", "capacity": 4,
            "key": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255],
            "parameters": {"npcs": 20, "size": "40x40", "quick": true, "speed": 1.5}}}"#;
        let parameters = [("npcs", "20"), ("size", "40x40"), ("quick", "true"), ("speed", "1.5")]
            .map(|(key, text)| (key.to_owned(), text.to_owned()));
        let expected = NewRoom {
            name: "a".to_owned(),
            game: "field".to_owned(),
            capacity: 4,
            parameters: parameters.into(),
            password: String::new(),
            key: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255],
        };
        assert_eq!(read(json), Ok(LobbyRequest::CreateRoom(expected)));
        let short = r#"{"create_room": {"name": "a", "game": "field"}}"#;
        let expected =
            NewRoom { name: "a".to_owned(), game: "field".to_owned(), ..NewRoom::default() };
        assert_eq!(read(short), Ok(LobbyRequest::CreateRoom(expected)));
    }

    #[test]
    fn what_is_no_request_is_explained() {
        let room = |rest| format!(r#"{{"create_room": {{"name": "a", "game": "b", {rest}}}}}"#);
        for (json, why) in [
            (r#""fly""#, "no request is called 'fly'; expected \"leave_room\""),
            (r#"{"kick": 1, "say": 2}"#, "no request is called ''"),
            ("7", "no request is called ''"),
            ("", "EOF"),
            (r#""list_rooms""#, "list_rooms.subscribe: expected true or false, in null"),
            (r#"{"join_room": {"room": "a"}}"#, "join_room.room: expected a whole number"),
            (r#"{"join_room": {"room": -1}}"#, "join_room.room"),
            (r#"{"join_room": {"room": 1, "password": 5}}"#, "join_room.password: expected a text"),
            (r#"{"kick": "ann"}"#, "kick: expected a player's number, in \"ann\""),
            (r#"{"say": {"to": "all", "text": "hi"}}"#, "say.to: expected \"lobby\""),
            (r#"{"create_room": {}}"#, "create_room.name: expected a text"),
            (&room(r#""key": [1, 2]"#), "create_room.key: expected a list of 16 bytes"),
            (&room(r#""key": "secret""#), "create_room.key"),
            (&room(r#""capacity": 1e12"#), "create_room.capacity: expected a number of seats"),
            (&room(r#""parameters": {"npcs": []}"#), "create_room.parameters: expected"),
            (&room(r#""parameters": 7"#), "create_room.parameters"),
        ] {
            let error = read(json).expect_err(json);
            assert!(error.contains(why), "{error}");
        }
    }
}
