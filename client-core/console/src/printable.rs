//! Text that is safe on a terminal.
//!
//! Names and texts of other players go in; what comes out neither controls a terminal nor looks
//! like another text: characters that are not visible are spaces.

use ambit_client_text::completion::is_visible;
use serde_json::Value as Json;

/// A text without characters that control a terminal or are invisible.
pub(crate) fn text(text: &str) -> String {
    text.replace(|it| !is_visible(it), " ")
}

/// The same for all texts of a line.
pub(crate) fn json(line: &Json) -> Json {
    match line {
        Json::String(it) => Json::String(text(it)),
        Json::Array(items) => items.iter().map(json).collect(),
        Json::Object(pairs) => pairs.iter().map(|(key, it)| (key.clone(), json(it))).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn text_of_other_players_cannot_control_the_terminal() {
        assert_eq!(
            super::json(&json!({ "a": ["\u{1b}[2J", "a\u{202e}b", 1] })),
            json!({ "a": [" [2J", "a b", 1] })
        );
    }
}
