//! What guests get: those who look at a server without a key, if the operator lets them
//! (`--watch-guests`). They see games, not persons: where players come from, which accounts they
//! have and what operators do against them is left out.

use ambit_lobby::is_for_guests;
use serde_json::Value as Json;

/// Members that guests do not get, in any answer.
const SECRETS: [&str; 4] = ["account", "address", "mute", "reason"];
/// Lists of which guests get nothing.
const SECRET_LISTS: [&str; 1] = ["bans"];

/// An answer without what guests may not see.
pub(super) fn without_secrets(mut answer: Json) -> Json {
    hide(&mut answer);
    answer
}

fn hide(value: &mut Json) {
    match value {
        Json::Array(items) => {
            items.retain(is_open);
            items.iter_mut().for_each(hide);
        }
        Json::Object(members) => {
            members.retain(|name, _| !SECRETS.contains(&&name[..]));
            for (name, value) in members {
                match value.as_array_mut() {
                    Some(list) if SECRET_LISTS.contains(&&name[..]) => list.clear(),
                    _ => hide(value),
                }
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

/// Whether guests may know of this item of a list: all but some events.
fn is_open(item: &Json) -> bool {
    let event = item["event"].as_str();
    event.is_none_or(is_for_guests)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn guests_get_no_addresses_accounts_bans_and_acts_of_operators() {
        let player = json!({
            "id": 7, "name": "ann", "account": "0f", "address": "192.0.2.1",
            "mute": { "reason": "caps", "ends_at": null },
        });
        let players = without_secrets(json!({ "players": [player] }));
        assert_eq!(players, json!({ "players": [{ "id": 7, "name": "ann" }] }));
        let bans = json!({ "bans": [{ "target": "name:eve", "from": "play" }] });
        assert_eq!(without_secrets(bans), json!({ "bans": [] }));
        let events = json!({ "newest": 3, "events": [
            { "number": 1, "event": "player_came", "name": "ann", "address": "192.0.2.1" },
            { "number": 2, "event": "operator", "request": "post /bans" },
            { "number": 3, "event": "chat", "name": "ann", "text": "to bob alone" },
        ]});
        let seen = without_secrets(events);
        let came = json!({ "number": 1, "event": "player_came", "name": "ann" });
        assert_eq!(seen, json!({ "newest": 3, "events": [came] }));
    }
}
