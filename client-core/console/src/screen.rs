//! Output: JSON objects for scripts, words or a whole screen for people.

use std::io::{self, Write};

use ambit_client_core::client::event::ViewEvent;
use ambit_client_core::client::stats::Distribution;
use ambit_client_core::shell::ClientHandle;
use ratatui::crossterm::event::Event;
use serde_json::Value as Json;

use crate::full_screen::{FullScreen, ViewRequest};
use crate::human;
use crate::printable;
use crate::terminal_modes::HiddenInput;

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
    /// The whole terminal.
    Full(Box<FullScreen>),
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
            Screen::Full(screen) => {
                screen.show(json);
                Ok(())
            }
        }
    }

    /// Shows progress to a person, in place of the prompt; the next line brings the prompt back.
    pub(crate) fn show_progress(&mut self, what: &str, done: usize, all: usize) -> io::Result<()> {
        let text = format!("{what}: {} %", 100 * done / all.max(1));
        match self {
            // The view learns it from the event.
            Screen::Json | Screen::Full(_) => Ok(()),
            Screen::Words { .. } => write_words(&format!("\r\x1b[K{text}")),
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
            Screen::Full(screen) => screen.handle_line(),
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
            Screen::Full(screen) => {
                screen.prompt(question);
                Ok(())
            }
        }
    }

    /// What is drawn is what this client sees.
    pub(crate) fn set_client(&mut self, client: &ClientHandle) {
        if let Screen::Full(screen) = self {
            screen.set_client(client.clone());
        }
    }

    /// Learns what the view shows of an event.
    pub(crate) fn learn(&mut self, event: &ViewEvent) {
        if let Screen::Full(screen) = self {
            screen.learn(event);
        }
    }

    /// Whether it is the whole terminal.
    pub(crate) fn is_full(&self) -> bool {
        matches!(self, Screen::Full(_))
    }

    /// The next key or click; none comes where lines are read.
    pub(crate) async fn next_input(&mut self) -> Option<Event> {
        match self {
            Screen::Full(screen) => screen.next_input().await,
            Screen::Json | Screen::Words { .. } => std::future::pending().await,
        }
    }

    pub(crate) fn handle_input(&mut self, input: Option<Event>) -> io::Result<Vec<ViewRequest>> {
        match self {
            Screen::Full(screen) => screen.handle_input(input),
            Screen::Json | Screen::Words { .. } => Ok(Vec::new()),
        }
    }

    /// Draws what has changed; to be called 20 times a second.
    pub(crate) fn tick(&mut self, ages: &Distribution) -> io::Result<()> {
        match self {
            Screen::Full(screen) => screen.tick(ages),
            Screen::Json | Screen::Words { .. } => Ok(()),
        }
    }
}

const PROMPT: &str = "> ";

fn words(json: &Json) -> String {
    human::text(&printable::json(json))
}

fn write_words(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
