//! The printed lines, for `wait-for`.
//!
//! Kinds of lines go in, in the order of printing. [`PrintedLines::take`] returns whether there was
//! one of a kind since the last one that was taken. So two `wait-for`s in a row find two successive
//! lines, however fast they came.
//!
//! Bound: [`MAX_LINES`] lines; beyond it the oldest is dropped: a script that has not waited for it
//! by then does not need it.

use std::collections::VecDeque;

use ambit_client_text::json;

/// Maximum number of remembered lines, one byte each.
const MAX_LINES: usize = 65_536;

/// Kinds of the lines since the last one that was taken.
#[derive(Debug, Default)]
pub(crate) struct PrintedLines {
    kinds: VecDeque<u8>,
}

/// A kind of line: its index in [`json::KINDS`], or after these the index of a game's event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineKind(u8);

/// The line of any event of a game.
const ANY_EVENT: &str = "event";

impl LineKind {
    /// The kind called `name`, if there is one.
    pub(crate) fn named(name: &str) -> Option<Self> {
        json::KINDS.iter().position(|&kind| kind == name).map(|index| LineKind(index as u8))
    }

    /// An event of a game, by its index in the schema, which has at most 64.
    pub(crate) const fn of_event(index: u8) -> Self {
        Self(json::KINDS.len() as u8 + index)
    }

    /// Whether who waits for this kind waits for a line of the other one.
    fn includes(self, other: u8) -> bool {
        let is_any_event = json::KINDS.get(usize::from(self.0)) == Some(&ANY_EVENT);
        self.0 == other || is_any_event && usize::from(other) >= json::KINDS.len()
    }
}

impl PrintedLines {
    pub(crate) fn note(&mut self, kind: LineKind) {
        if self.kinds.len() == MAX_LINES {
            self.kinds.pop_front();
        }
        self.kinds.push_back(kind.0);
    }

    /// Takes the first line of this kind, and drops those before it. If there is none, nothing is
    /// dropped.
    pub(crate) fn take(&mut self, kind: LineKind) -> bool {
        let Some(index) = self.kinds.iter().position(|&printed| kind.includes(printed)) else {
            return false;
        };
        self.kinds.drain(..=index);
        true
    }

    pub(crate) fn forget(&mut self) {
        self.kinds.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_taken_once_and_earlier_ones_are_dropped() {
        let mut printed = printed(&["created", "started", "enter", "enter"]);
        assert!(printed.take(kind("started")));
        assert!(!printed.take(kind("created")));
        assert!(printed.take(kind("enter")));
        assert!(printed.take(kind("enter")));
        assert!(!printed.take(kind("enter")));
    }

    #[test]
    fn the_oldest_line_is_dropped_first() {
        let mut printed = printed(&["welcome"]);
        for _ in 0..MAX_LINES {
            printed.note(kind("enter"));
        }
        assert_eq!(printed.kinds.len(), MAX_LINES);
        assert!(!printed.take(kind("welcome")));
    }

    #[test]
    fn an_event_of_a_game_is_an_event_and_no_other_one() {
        let fired = LineKind::of_event(0);
        let hit = LineKind::of_event(1);
        let mut printed = PrintedLines::default();
        printed.note(fired);
        assert!(!printed.take(hit));
        assert!(printed.take(fired));
        printed.note(hit);
        assert!(!printed.take(kind("enter")));
        assert!(printed.take(kind("event")));
    }

    fn kind(name: &str) -> LineKind {
        LineKind::named(name).expect("a known kind")
    }

    fn printed(names: &[&str]) -> PrintedLines {
        let mut printed = PrintedLines::default();
        for name in names {
            printed.note(kind(name));
        }
        printed
    }
}
