//! Output: JSON objects for scripts, words for people.

use std::io::{self, StdoutLock, Write};

use serde_json::Value as Json;

use crate::human;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputStyle {
    /// One JSON object a line.
    Json,
    /// Words, above a prompt.
    Words,
}

/// Prints a line at once.
pub(crate) fn show(style: OutputStyle, json: &Json) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match style {
        OutputStyle::Json => writeln!(out, "{json}")?,
        // Returns to the beginning of the line, over the prompt.
        OutputStyle::Words => writeln!(out, "\r\x1b[K{}", human::text(&printable(json)))?,
    }
    prompt(style, &mut out)
}

/// Shows progress to a person, in place of the prompt; the next line brings the prompt back.
pub(crate) fn show_progress(
    style: OutputStyle,
    what: &str,
    done: usize,
    all: usize,
) -> io::Result<()> {
    if style == OutputStyle::Json {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    write!(out, "\r\x1b[K{what}: {} %", 100 * done / all.max(1))?;
    out.flush()
}

pub(crate) fn show_prompt(style: OutputStyle) -> io::Result<()> {
    prompt(style, &mut io::stdout().lock())
}

fn prompt(style: OutputStyle, out: &mut StdoutLock<'_>) -> io::Result<()> {
    if style == OutputStyle::Words {
        write!(out, "> ")?;
    }
    out.flush()
}

/// Replaces control characters: texts of other players must not control the terminal.
fn printable(json: &Json) -> Json {
    match json {
        Json::String(text) => Json::String(text.replace(char::is_control, " ")),
        Json::Array(items) => items.iter().map(printable).collect(),
        Json::Object(pairs) => pairs
            .iter()
            .map(|(key, value)| (key.clone(), printable(value)))
            .collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_of_other_players_cannot_control_the_terminal() {
        assert_eq!(
            printable(&json!({ "a": ["\u{1b}[2J", 1] })),
            json!({ "a": [" [2J", 1] })
        );
    }
}
