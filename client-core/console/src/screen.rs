//! Output: JSON objects for scripts, words for people.

use std::io::{self, Write};

use ambit_client_core::client::event::ViewEvent;
use ambit_client_core::shell::ClientHandle;
use ambit_client_text::completion::is_visible;
use serde_json::Value as Json;

use crate::human;
use crate::terminal::{HiddenInput, Terminal};

/// Where and how lines are printed.
pub(crate) enum Screen {
    /// One JSON object a line.
    Json,
    /// Words, above a prompt, where lines can't be edited.
    Words {
        /// Whether a prompt must be printed: an input line was handled, and nothing was printed
        /// since (printed output ends with a prompt).
        prompt_due: bool,
        /// The terminal as it was, while a password is typed and not shown.
        hidden: Option<HiddenInput>,
    },
    /// Words, above a line that is edited.
    Terminal(Terminal),
}

impl Screen {
    pub(crate) fn words() -> Self {
        Screen::Words { prompt_due: false, hidden: None }
    }

    /// Whether a person reads it.
    pub(crate) fn is_for_people(&self) -> bool {
        !matches!(self, Screen::Json)
    }

    /// Prints a line at once.
    pub(crate) fn show(&mut self, json: &Json) -> io::Result<()> {
        match self {
            Screen::Json => {
                let mut out = io::stdout().lock();
                writeln!(out, "{json}")?;
                out.flush()
            }
            Screen::Words { prompt_due, .. } => {
                *prompt_due = false;
                // Returns to the beginning of the line, over the prompt.
                write_words(&format!("\r\x1b[K{}\n{PROMPT}", words(json)))
            }
            Screen::Terminal(terminal) => {
                let mut text = words(json);
                if json["ev"] == "help" {
                    text.push_str(EDITOR_HELP);
                }
                terminal.print(&text);
                Ok(())
            }
        }
    }

    /// Shows progress to a person, in place of the prompt; the next line brings the prompt back.
    pub(crate) fn show_progress(&mut self, what: &str, done: usize, all: usize) -> io::Result<()> {
        let text = format!("{what}: {} %", 100 * done / all.max(1));
        match self {
            Screen::Json => Ok(()),
            Screen::Words { .. } => write_words(&format!("\r\x1b[K{text}")),
            Screen::Terminal(terminal) => {
                terminal.print_progress(&text);
                Ok(())
            }
        }
    }

    /// An input line has been read.
    pub(crate) fn handle_line(&mut self) {
        match self {
            Screen::Json => {}
            Screen::Words { prompt_due, hidden } => {
                *prompt_due = true;
                if hidden.take().is_some() {
                    // The end of the line was not shown either.
                    let _ = write_words("\n");
                }
            }
            Screen::Terminal(terminal) => terminal.handle_line(),
        }
    }

    /// Shows the prompt for the next line, unless it is shown already. A question asks for a
    /// password, which is not shown.
    pub(crate) fn prompt(&mut self, question: Option<&'static str>) -> io::Result<()> {
        match self {
            Screen::Json => Ok(()),
            Screen::Words { prompt_due, hidden } => {
                if std::mem::replace(prompt_due, false) {
                    *hidden = question.and_then(|_| HiddenInput::start());
                    write_words(question.unwrap_or(PROMPT))?;
                }
                Ok(())
            }
            Screen::Terminal(terminal) => {
                terminal.read_line(question);
                Ok(())
            }
        }
    }

    /// The objects that can be completed are those that this client sees.
    pub(crate) fn set_client(&mut self, client: &ClientHandle) {
        if let Screen::Terminal(terminal) = self {
            terminal.set_client(client.clone());
        }
    }

    /// Learns the names that can be completed.
    pub(crate) fn learn(&mut self, event: &ViewEvent) {
        if let Screen::Terminal(terminal) = self {
            terminal.learn(event);
        }
    }
}

const PROMPT: &str = "> ";

const EDITOR_HELP: &str = "\nTAB completes commands and names; the up key brings earlier lines \
                           back, Ctrl-R searches in them.";

fn words(json: &Json) -> String {
    human::text(&printable(json))
}

fn write_words(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Replaces control characters and invisible ones: texts of other players must not control the
/// terminal, or look like another text.
fn printable(json: &Json) -> Json {
    match json {
        Json::String(text) => Json::String(text.replace(|it| !is_visible(it), " ")),
        Json::Array(items) => items.iter().map(printable).collect(),
        Json::Object(pairs) => {
            pairs.iter().map(|(key, value)| (key.clone(), printable(value))).collect()
        }
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
            printable(&json!({ "a": ["\u{1b}[2J", "a\u{202e}b", 1] })),
            json!({ "a": [" [2J", "a b", 1] })
        );
    }
}
