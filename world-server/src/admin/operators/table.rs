//! Answers of `/admin/v1` as text for people: a list as a table, anything else as lines.

use std::fmt::Write as _;

use serde_json::{Map, Value as Json};

/// Members that come first, where a row has them.
const FIRST: [&str; 2] = ["id", "name"];

/// An answer, with line ends.
pub(super) fn shown(answer: &Json) -> String {
    let Json::Object(members) = answer else {
        return format!("{answer}\n");
    };
    let list = members.iter().find_map(|(name, value)| Some((name, value.as_array()?)));
    match list {
        Some((name, rows)) if rows.iter().all(Json::is_object) => {
            if name == "events" {
                return rows.iter().map(|row| event(row) + "\n").collect();
            }
            if rows.is_empty() { format!("no {name}\n") } else { table(rows) }
        }
        _ => {
            let mut text = String::new();
            for (name, value) in members {
                let _ = writeln!(text, "{name}: {}", cell(value));
            }
            text
        }
    }
}

/// One line: the number, the event, its fields.
pub(super) fn event(event: &Json) -> String {
    let empty = Map::new();
    let fields = event.as_object().unwrap_or(&empty);
    let text = |name: &str| fields.get(name).map(cell).unwrap_or_default();
    let mut line = format!("{} {}", text("number"), text("event"));
    for (name, value) in fields {
        if !["number", "event", "at_ms"].contains(&name.as_str()) && !value.is_null() {
            let _ = write!(line, " {name}={value}");
        }
    }
    line.trim().to_owned()
}

/// A line for each row, below the names of its members.
fn table(rows: &[Json]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in rows.iter().filter_map(Json::as_object).flat_map(Map::keys) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let place = |name: &str| FIRST.iter().position(|first| *first == name).unwrap_or(FIRST.len());
    names.sort_by_key(|name| (place(name), *name));
    let head: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let cells = rows.iter().map(|row| names.iter().map(|name| cell(&row[*name])).collect());
    let lines: Vec<Vec<String>> = std::iter::once(head).chain(cells).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max();
    let widths: Vec<usize> = (0..names.len()).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for line in &lines {
        let padded = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        let padded: Vec<String> = padded.collect();
        text += padded.join("  ").trim_end();
        text.push('\n');
    }
    text
}

/// Control characters, which a terminal would obey, are left out of what players have written.
fn cell(value: &Json) -> String {
    match value {
        Json::Null => "-".to_owned(),
        Json::String(text) => text.chars().filter(|character| !character.is_control()).collect(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_is_a_table_with_ids_and_names_first() {
        let players = json!({ "players": [
            { "account": null, "id": 7, "name": "ann", "loss": 0.5 },
            { "account": "ab", "id": 12, "name": "b\u{1b}[2Job", "loss": 0 },
        ] });
        let expected = "\
id  name    account  loss
7   ann     -        0.5
12  b[2Job  ab       0
";
        assert_eq!(shown(&players), expected);
        assert_eq!(shown(&json!({ "rooms": [] })), "no rooms\n");
        assert_eq!(shown(&json!({ "reached": 1 })), "reached: 1\n");
        assert_eq!(shown(&json!({ "targets": ["name:bob"] })), "targets: [\"name:bob\"]\n");
    }

    #[test]
    fn an_event_is_a_line() {
        let left =
            json!({ "number": 9, "at_ms": 5, "event": "player_left", "name": "ann", "why": null });
        assert_eq!(event(&left), "9 player_left name=\"ann\"");
        assert_eq!(
            shown(&json!({ "events": [left], "missed": 0 })),
            "9 player_left name=\"ann\"\n"
        );
    }
}
