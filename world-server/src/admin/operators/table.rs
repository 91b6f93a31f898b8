//! Answers of `/admin/v1` as text for people: a list as a table, anything else as lines.

use std::fmt::Write as _;

use serde_json::{Map, Value as Json};

/// Members that come first, where a row has them.
const FIRST: [&str; 2] = ["id", "name"];
/// A longer list that is no table is counted.
const MOST_IN_A_LINE: usize = 12;

/// An answer, with line ends.
pub(super) fn shown(answer: &Json) -> String {
    let Json::Object(members) = answer else {
        return format!("{answer}\n");
    };
    if let Some(events) = members.get("events").and_then(Json::as_array) {
        return events.iter().map(|row| event(row) + "\n").collect();
    }
    members.iter().map(|(name, value)| member(name, value, members.len() == 1)).collect()
}

/// One member of an answer: a list of things as a table, below its name unless it is alone.
fn member(name: &str, value: &Json, is_alone: bool) -> String {
    match value.as_array() {
        Some(rows) if rows.is_empty() && is_alone => format!("no {name}\n"),
        Some(rows) if !rows.is_empty() && rows.iter().all(Json::is_object) => {
            let head = if is_alone { String::new() } else { format!("{name}:\n") };
            head + &table(rows)
        }
        Some(rows) if rows.len() > MOST_IN_A_LINE => {
            format!("{name}: {}, which `--json` shows\n", rows.len())
        }
        _ => format!("{name}: {}\n", cell(value)),
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
        // No one reads more digits.
        Json::Number(number) if number.is_f64() => {
            let rounded = number.as_f64().map(|value| (value * 1_000.0).round() / 1_000.0);
            rounded.unwrap_or_default().to_string()
        }
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
        let many = json!({ "at_ms": 5, "clients": [{ "follows": 3 }], "kinds": [],
            "objects": vec![[1, 2]; 30], "size": 0.800_000_011_920_929 });
        let expected = "at_ms: 5\nclients:\nfollows\n3\nkinds: []\n\
                        objects: 30, which `--json` shows\nsize: 0.8\n";
        assert_eq!(shown(&many), expected);
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
