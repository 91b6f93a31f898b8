//! Completion and hints for the editor: asks [`completion`] with what is known.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use ambit_client_core::client::Client;
use ambit_client_core::client::event::{ComponentValue, ViewEvent};
use ambit_client_core::shell::ClientHandle;
use ambit_client_text::completion::{self, KnownNames, MAX_KNOWN, ObjectName};
use ambit_proto::time::LocalTime;
use parking_lot::Mutex;
use rustyline::completion::{Completer, Pair};
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::{Hint, Hinter};
use rustyline::validate::Validator;
use rustyline::{Context, Helper};

/// Between the line and a hint.
const HINT_GAP: &str = "   ";
/// A hint needs as much space at least.
const MIN_HINT_CHARS: usize = 8;
/// Columns of a terminal whose size is unknown.
const DEFAULT_COLUMNS: usize = 80;

/// What can be completed: the main loop writes, the editor reads.
#[derive(Default)]
pub(super) struct SharedNames {
    known: Mutex<KnownNames>,
    client: OnceLock<ClientHandle>,
}

impl SharedNames {
    pub(super) fn set_client(&self, client: ClientHandle) {
        let _ = self.client.set(client);
    }

    pub(super) fn handle_event(&self, event: &ViewEvent) {
        self.with(|known| known.handle_event(event));
    }

    fn with<R>(&self, call: impl FnOnce(&mut KnownNames) -> R) -> R {
        call(&mut self.known.lock())
    }

    fn objects(&self) -> Vec<ObjectName> {
        self.client.get().map(|client| client.run(objects)).unwrap_or_default()
    }
}

fn objects(client: &mut Client, now: LocalTime) -> Vec<ObjectName> {
    let t = client.room_time(now).unwrap_or_default();
    let object = |seen: ambit_client_core::replica::VisibleObject<'_, ()>| {
        let mut label = seen.kind().to_string();
        for component in seen.values(t) {
            if let ("name", ComponentValue::Text(name)) = (&*component.name, component.value) {
                label = format!("{label} {name}");
            }
        }
        if seen.is_own() {
            label.push_str(" (you)");
        }
        ObjectName { id: seen.id, label }
    };
    client.objects().take(MAX_KNOWN).map(object).collect()
}

/// What the editor asks about the line.
pub(super) struct LineHelper {
    names: Arc<SharedNames>,
    columns: usize,
    /// Whether a password is typed.
    hides: bool,
}

impl LineHelper {
    pub(super) fn new(names: Arc<SharedNames>) -> Self {
        LineHelper { names, columns: DEFAULT_COLUMNS, hides: false }
    }

    /// Of a terminal with this number of columns, if it is known.
    pub(super) fn begin_line(&mut self, columns: Option<usize>, hides: bool) {
        self.columns = columns.unwrap_or(self.columns);
        self.hides = hides;
    }
}

impl Helper for LineHelper {}

impl Validator for LineHelper {}

impl Completer for LineHelper {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        cursor: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        if self.hides {
            return Ok((cursor, Vec::new()));
        }
        let objects = self.names.objects();
        let completion = self.names.with(|known| {
            known.objects = objects;
            completion::complete(line, cursor, known)
        });
        let candidates = completion
            .candidates
            .into_iter()
            .map(|candidate| Pair { display: candidate.label, replacement: candidate.text });
        Ok((completion.start, candidates.collect()))
    }
}

/// A text after the line that can't be accepted.
pub(super) struct UsageHint(String);

impl Hint for UsageHint {
    fn display(&self) -> &str {
        &self.0
    }

    fn completion(&self) -> Option<&str> {
        None
    }
}

impl Hinter for LineHelper {
    type Hint = UsageHint;

    fn hint(&self, line: &str, _: usize, _: &Context<'_>) -> Option<UsageHint> {
        if self.hides {
            return None;
        }
        let hint = self.names.with(|known| completion::hint(line, known))?;
        shown_hint(&hint, line, self.columns).map(UsageHint)
    }
}

impl Highlighter for LineHelper {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        if self.hides { Cow::Owned("*".repeat(line.chars().count())) } else { Cow::Borrowed(line) }
    }

    /// Otherwise a character at the end is shown as it is typed.
    fn highlight_char(&self, _: &str, _: usize, _: CmdKind) -> bool {
        self.hides
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(format!("\x1b[2m{hint}\x1b[0m"))
    }
}

/// The part of a hint that fits behind the prompt and the line.
fn shown_hint(hint: &str, line: &str, columns: usize) -> Option<String> {
    // The prompt has 2, the last column stays free.
    let used = 2 + line.chars().count() + HINT_GAP.len() + 1;
    let space = columns.saturating_sub(used);
    (space >= MIN_HINT_CHARS).then(|| {
        let hint = hint.chars().take(space);
        HINT_GAP.chars().chain(hint).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_never_wraps_the_line() {
        let hint = "cast SPELL [X Y]: Cast a spell.";
        assert_eq!(shown_hint(hint, "cast", 80), Some(format!("   {hint}")));
        assert_eq!(shown_hint(hint, "cast", 20), Some("   cast SPELL".to_owned()));
        assert_eq!(shown_hint(hint, "cast", 17), None);
    }
}
