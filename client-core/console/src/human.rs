//! Text for people: the JSON objects that scripts get, in words.

use std::fmt::Write as _;

use ambit_client_core::client::event::{GameEvent, ViewEvent};
use ambit_client_text::json::field_key;
use ambit_proto::message::FieldValue;
use serde_json::{Value as Json, json};

/// Marks which fields of a game's event are objects: in the line they are numbers, as others are.
pub(crate) fn mark_objects(line: &mut Json, event: &ViewEvent) {
    let ViewEvent::Game(GameEvent::Event(event)) = event else {
        return;
    };
    for field in &event.fields {
        if let FieldValue::Object(id) = field.value {
            line[&*field_key(&field.name)] = json!({ "object": id.0 });
        }
    }
}

/// One or more lines; an object without words of its own is shown as pairs.
pub(crate) fn text(json: &Json) -> String {
    match word(json, "ev") {
        "welcome" => welcome(json),
        "rooms" => list(json, "rooms", "no rooms: make one with 'create NAME game=GAME'", room),
        "created" => format!(
            "room {} '{}' is yours; 'start' starts its game",
            number(json, "id"),
            word(json, "name")
        ),
        "joined" => format!(
            "you are in room {} '{}' ({})",
            number(json, "id"),
            word(json, "name"),
            word(json, "game")
        ),
        "started" => started(json),
        "map" if json["bytes"] == 0 => {
            format!("obstacles have changed: {} now", number(json, "obstacles"))
        }
        "map" => format!(
            "the map is here: {} obstacles ({} bytes)",
            number(json, "obstacles"),
            number(json, "bytes")
        ),
        "enter" => format!("+ {}", object(json)),
        "update" => format!("~ {}", object(json)),
        "leave" => format!("- #{}", number(json, "id")),
        "event" => event(json),
        "chat" => {
            format!("[{}] {}: {}", word(json, "channel"), word(json, "from"), word(json, "text"))
        }
        "players" => list(json, "players", "nobody", player),
        "game" => list(json, "parameters", "no parameters", parameter),
        "renamed" => {
            format!("player {} is called {} now", number(json, "player"), word(json, "name"))
        }
        "invited" => {
            format!("{} asks you into a party: `party join` accepts", word(json, "name"))
        }
        "party" if json["party"].is_null() => "you are in no party".to_owned(),
        "party" => list(&json["party"], "members", "you are in no party", player),
        "objects" => list(json, "objects", "nothing around", object),
        "table" => table(json),
        "radar" => list(json, "lines", "nothing around", |line| {
            line.as_str().unwrap_or_default().to_owned()
        }),
        "why" => why(json),
        "left" => format!("you are out of room {}: {}", number(json, "room"), reason(json)),
        "error" => format!("! {}: {}", word(json, "code"), word(json, "message")),
        "notice" => format!("note: {}", word(json, "message")),
        "help" => list(json, "commands", "", |command| {
            format!("{:<44} {}", word(command, "usage"), word(command, "meaning"))
        }),
        "account_data" => serde_json::to_string_pretty(&json["data"]).unwrap_or_default(),
        "account_saved" => {
            format!("what the server stores of your account is in {}", word(json, "file"))
        }
        "account_erased" => "your account and all that was stored of it are deleted".to_owned(),
        "password_set" => "your account has the new password".to_owned(),
        "stats" => pairs(json),
        kind => format!("{kind}\n{}", pairs(json)),
    }
}

/// What a player may know of why it sees an object.
fn why(json: &Json) -> String {
    let object = number(json, "object");
    if json["in_sight"] == false {
        return format!("#{object} is not in sight: it is gone, far away, hidden, or never was");
    }
    let mut line = format!("#{object}, {}, is in sight", word(json, "kind"));
    line += match word(json, "rule") {
        "own" => " because it is you",
        "room_wide" => " because all players have it",
        _ => " because it is near",
    };
    if let Some(distance) = json["distance_m"].as_f64() {
        let _ = write!(line, " ({distance:.1} m)");
    }
    if let Some(since) = json["since_ms"].as_f64() {
        let _ = write!(line, ", since {:.1} s", since / 1_000.0);
    }
    match json["pose_age_ms"].as_f64() {
        Some(_) if json["at_rest"] == true => line += "; it rests, so nothing more is sent",
        Some(age) => drop(write!(line, "; its newest place is {age:.0} ms old")),
        None => {}
    }
    line
}

fn texts(json: &Json) -> Vec<&str> {
    let values = json.as_array().into_iter().flatten();
    values.filter_map(Json::as_str).collect()
}

fn welcome(json: &Json) -> String {
    let games = texts(&json["games"]);
    let back = if json["resumed"] == true { " back" } else { "" };
    format!(
        "welcome{back}, {}; games: {}; 'help' lists the commands",
        word(json, "name"),
        games.join(", ")
    )
}

fn started(json: &Json) -> String {
    let commands: Vec<&str> = json["commands"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|command| word(command, "name"))
        .collect();
    let width = metres(&json["width"]);
    let height = metres(&json["height"]);
    let commands = if commands.is_empty() {
        String::new()
    } else {
        format!("; commands: {}", commands.join(", "))
    };
    format!("the game {} runs: {width} x {height} m{commands}", word(json, "game"))
}

fn room(room: &Json) -> String {
    let state = if room["running"] == true { "running" } else { "waiting" };
    let locked = if room["password"] == true { ", password" } else { "" };
    let id = number(room, "id");
    let name = word(room, "name");
    let game = word(room, "game");
    format!(
        "{id:>4} {name:<32} {game:<10} {}/{} {state}{locked}",
        number(room, "players"),
        number(room, "capacity")
    )
}

fn player(player: &Json) -> String {
    let mut text = format!("{:>4} {}", number(player, "id"), word(player, "name"));
    for (key, expected, remark) in
        [("host", true, " (host)"), ("ready", true, " (ready)"), ("connected", false, " (away)")]
    {
        if player[key] == expected {
            text.push_str(remark);
        }
    }
    text
}

/// `#7 avatar ann at 12.5 3.0, health 100/100`.
fn object(object: &Json) -> String {
    let mut text = format!("#{}", number(object, "id"));
    if let Some(kind) = object["kind"].as_str() {
        let _ = write!(text, " {kind}");
    }
    if let Some(name) = object["name"].as_str() {
        let _ = write!(text, " {name}");
    }
    if object["own"] == true {
        text.push_str(" (you)");
    }
    if object["x"].is_number() {
        let _ = write!(text, " at {}", position_text(object));
    }
    for (name, value) in object["components"].as_object().into_iter().flatten() {
        if let Some(value) = component(name, value) {
            let _ = write!(text, ", {value}");
        }
    }
    text
}

/// The room-wide objects: of each kind a table with a column for each component, the highest first
/// number on top. A kind with a single object without an owner is a line.
fn table(json: &Json) -> String {
    let kinds = json["kinds"].as_array().map_or(&[][..], Vec::as_slice);
    if kinds.is_empty() {
        return "this game has no table".to_owned();
    }
    let rows = json["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let tables = kinds.iter().map(|kind| {
        let name = word(kind, "kind");
        table_of(name, &texts(&kind["columns"]), rows.iter().filter(|row| row["kind"] == name))
    });
    tables.collect::<Vec<_>>().join("\n")
}

fn table_of<'j>(kind: &str, columns: &[&str], rows: impl Iterator<Item = &'j Json>) -> String {
    let mut rows: Vec<&Json> = rows.collect();
    let is_known = |column: &&str| rows.iter().any(|row| !row["components"][*column].is_null());
    let columns: Vec<&str> = columns.iter().copied().filter(is_known).collect();
    let cell = |row: &Json, column: &str| cell_text(&row["components"][column]);
    if let [row] = rows[..]
        && row["own"] == false
        && row["name"].is_null()
    {
        let pairs = columns.iter().map(|column| format!("{column} {}", cell(row, column)));
        return format!("{kind}: {}", pairs.collect::<Vec<_>>().join(", "));
    }
    let ranked = columns
        .iter()
        .find(|column| rows.iter().any(|row| row["components"][**column].is_number()));
    if let Some(column) = ranked {
        let points = |row: &&Json| float(&row["components"][*column]);
        rows.sort_by(|a, b| points(b).total_cmp(&points(a)));
    }
    let lines = rows.iter().map(|row| {
        let mark = if row["own"] == true { "you" } else { "" };
        columns.iter().map(|column| cell(row, column)).chain([mark.to_owned()]).collect()
    });
    let head = columns.iter().map(|column| (*column).to_owned()).chain([String::new()]).collect();
    let lines: Vec<Vec<String>> = std::iter::once(head).chain(lines).collect();
    let width = |n: usize| lines.iter().map(|cells| cells[n].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..=columns.len()).map(width).collect();
    let line = |cells: &Vec<String>| {
        let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    format!("{kind}:\n{}", lines.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// A value in a cell: a gauge rounded to a whole number, counts as `2 ring, 1 stone`.
fn cell_text(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        Json::Object(gauge) if gauge.contains_key("max") => {
            format!("{:.0}", float(&value["value"]))
        }
        Json::Object(counts) => {
            let counts = counts.iter().map(|(name, count)| format!("{count} {name}"));
            counts.collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

fn component(name: &str, value: &Json) -> Option<String> {
    if name == "name" || value.is_null() {
        return None;
    }
    if let Some(to) = value.get("to") {
        return to.is_object().then(|| format!("going to {}", position_text(to)));
    }
    if let Some(moves) = value.get("moves") {
        return (moves == true).then(|| "on its way".to_owned());
    }
    match (value.get("value"), value.get("max")) {
        (Some(value), Some(max)) => Some(format!("{name} {:.0}/{:.0}", float(value), float(max))),
        _ => Some(format!("{name} {value}")),
    }
}

fn event(json: &Json) -> String {
    let mut text = format!("* {}", word(json, "name"));
    let known = ["ev", "t", "name", "effect", "late"];
    for (key, value) in
        json.as_object().into_iter().flatten().filter(|(key, _)| !known.contains(&key.as_str()))
    {
        let _ = match value {
            Json::Object(marked) if marked.contains_key("object") => {
                write!(text, " {key} #{}", number(value, "object"))
            }
            Json::Object(_) => write!(text, " {key} {}", position_text(value)),
            _ => write!(text, " {key} {value}"),
        };
    }
    if json["late"] == true {
        text.push_str(" (late)");
    }
    text
}

fn pairs(json: &Json) -> String {
    let pairs = json.as_object().into_iter().flatten().filter(|(key, _)| *key != "ev");
    pairs.map(|(key, value)| format!("{key:<24} {value}")).collect::<Vec<_>>().join("\n")
}

fn parameter(parameter: &Json) -> String {
    format!(
        "{:<12} {:<10} {}",
        word(parameter, "key"),
        word(parameter, "default"),
        word(parameter, "about")
    )
}

fn reason(json: &Json) -> String {
    match (word(json, "reason"), word(json, "message")) {
        ("left", _) => "you left".to_owned(),
        (code, "") => code.to_owned(),
        (code, message) => format!("{message} ({code})"),
    }
}

fn list(json: &Json, key: &str, nothing: &str, line: impl Fn(&Json) -> String) -> String {
    match json[key].as_array().map(Vec::as_slice) {
        None | Some([]) => nothing.to_owned(),
        Some(items) => items.iter().map(line).collect::<Vec<_>>().join("\n"),
    }
}

fn position_text(json: &Json) -> String {
    let ground = format!("{} {}", metres(&json["x"]), metres(&json["y"]));
    if float(&json["z"]).abs() < 0.05 {
        ground
    } else {
        format!("{ground}, {} m up", metres(&json["z"]))
    }
}

fn metres(json: &Json) -> String {
    format!("{:.1}", float(json))
}

fn float(json: &Json) -> f64 {
    json.as_f64().unwrap_or_default()
}

fn word<'j>(json: &'j Json, key: &str) -> &'j str {
    json[key].as_str().unwrap_or_default()
}

fn number(json: &Json, key: &str) -> u64 {
    json[key].as_u64().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use ambit_client_core::client::event::{NamedField, SchemaEvent};
    use ambit_proto::ids::ClientObjectId;
    use ambit_proto::space::Position;
    use ambit_proto::time::GameTime;

    use super::*;

    #[test]
    fn why_says_what_a_player_may_know() {
        let hidden = json!({ "ev": "why", "object": 7, "in_sight": false });
        assert_eq!(text(&hidden), "#7 is not in sight: it is gone, far away, hidden, or never was");
        let near = json!({
            "ev": "why", "object": 7, "in_sight": true, "kind": "walker", "rule": "near",
            "since_ms": 2_500.0, "distance_m": 12.34, "pose_age_ms": 80.0, "at_rest": false,
        });
        let expected = "#7, walker, is in sight because it is near (12.3 m), since 2.5 s; its \
                        newest place is 80 ms old";
        assert_eq!(text(&near), expected);
    }

    #[test]
    fn an_object_is_described_with_its_components() {
        let components = json!({
            "path": { "to": { "x": 20.0, "y": 5.0, "z": 0.0, "t": 9 } }, "name": "ann",
            "health": { "value": 74.6, "rate": 0.0, "max": 100.0 }, "alive": true,
        });
        let enter = json!({
            "ev": "enter", "t": 5, "id": 7, "kind": "avatar", "own": true, "x": 12.54, "y": 3.0,
            "z": 0.0, "name": "ann",
            "components": components,
        });
        let expected =
            "+ #7 avatar ann (you) at 12.5 3.0, alive true, health 75/100, going to 20.0 5.0";
        assert_eq!(text(&enter), expected);
    }

    #[test]
    fn an_object_with_a_moving_pose_is_on_its_way() {
        let object = |moves| {
            let pose = json!({ "moves": moves, "yaw": 1.5 });
            json!({ "id": 7, "x": 1.0, "y": 2.0, "components": { "pose": pose } })
        };
        let mut enter = object(true);
        enter["ev"] = json!("enter");
        assert_eq!(text(&enter), "+ #7 at 1.0 2.0, on its way");
        enter["components"] = object(false)["components"].clone();
        assert_eq!(text(&enter), "+ #7 at 1.0 2.0");
    }

    #[test]
    fn what_is_room_wide_is_a_table_of_each_kind() {
        let row = |own, name: &str, points: i64| {
            json!({
                "id": 1, "kind": "score", "own": own, "name": name,
                "components": { "hits": 3, "name": name, "points": points },
            })
        };
        let gauge = json!({ "value": 59.7, "rate": -1.0, "max": 300.0 });
        let round = json!({
            "id": 9, "kind": "match", "own": false,
            "components": { "bag": { "ring": 2, "stone": 1 }, "round": 2, "time_left": gauge },
        });
        let kinds = json!([
            { "kind": "score", "columns": ["name", "points", "hits", "secret"] },
            { "kind": "match", "columns": ["round", "time_left", "bag"] },
        ]);
        let rows = json!([row(false, "ann", 7), round, row(true, "bobby", 12)]);
        let table = json!({ "ev": "table", "t": 5, "kinds": kinds, "rows": rows });
        let expected = "score:\n\
                        name   points  hits\n\
                        bobby  12      3     you\n\
                        ann    7       3\n\
                        match: round 2, time_left 60, bag 2 ring, 1 stone";
        assert_eq!(text(&table), expected);
        let none = json!({ "ev": "table", "t": 5, "kinds": [], "rows": [] });
        assert_eq!(text(&none), "this game has no table");
    }

    #[test]
    fn a_game_event_is_described_with_its_fields() {
        let field = |name: &str, value| NamedField { name: name.into(), value, choice: None };
        let event = ViewEvent::Game(GameEvent::Event(SchemaEvent {
            name: "damage".into(),
            t: GameTime::from_millis(9),
            effect: GameTime::from_millis(12),
            late: true,
            fields: vec![
                field("amount", FieldValue::Number(25)),
                field("at", FieldValue::Position(Position::on_ground(1.0, 2.0))),
                field("by", FieldValue::None),
                field("target", FieldValue::Object(ClientObjectId(3))),
            ],
        }));
        let mut line = ambit_client_text::json::event(&event).expect("scripts get it");
        assert_eq!(line["target"], 3);
        mark_objects(&mut line, &event);
        let expected = "* damage amount 25 at 1.0 2.0 by null target #3 (late)";
        assert_eq!(text(&line), expected);
    }

    #[test]
    fn an_empty_list_has_a_description() {
        assert!(text(&json!({ "ev": "rooms", "rooms": [] })).contains("create"));
        assert_eq!(text(&json!({ "ev": "players", "players": [] })), "nobody");
    }

    #[test]
    fn an_error_shows_code_and_message() {
        let error = json!({ "ev": "error", "code": "room_full", "message": "no seat left" });
        assert_eq!(text(&error), "! room_full: no seat left");
    }

    #[test]
    fn an_event_without_words_of_its_own_is_shown_by_its_kind_and_its_values() {
        let line = json!({ "ev": "announced", "text": "hello" });
        let value = format!("{:<24} \"hello\"", "text");
        assert_eq!(text(&line), format!("announced\n{value}"));
    }

    #[test]
    fn every_kind_of_line_has_a_description() {
        for kind in ambit_client_text::json::KINDS {
            // `stats` is shown as pairs, `help` as a list; both are empty here.
            let is_empty = ["stats", "help"].contains(kind);
            let text = text(&json!({ "ev": kind }));
            assert_eq!(text.is_empty(), is_empty, "{kind}: {text}");
        }
    }
}
