//! The line that the player types: editing, history, and a menu of what can come next.
//!
//! Keys go in, lines come out. Passwords are shown as stars and not remembered. Bounds:
//! [`MAX_HISTORY`] lines, each of at most [`MAX_BYTES`]; more is not taken.

use ambit_client_text::completion::{self, Candidate, KnownNames};
use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph};

use super::wrap;

/// How many lines are remembered.
const MAX_HISTORY: usize = 500;
/// More than any command needs: a chat message has 500 characters.
const MAX_BYTES: usize = 4_000;
/// Rows of the menu.
const MAX_ROWS: usize = 8;
/// Between the line and its hint.
const HINT_GAP: &str = "   ";
/// A hint needs as many columns at least.
const MIN_HINT: usize = 8;
const PROMPT: &str = "> ";

/// The line, and the lines before.
#[derive(Debug, Default)]
pub(crate) struct LineEditor {
    text: String,
    /// In bytes.
    cursor: usize,
    history: Vec<String>,
    /// The line of the history that is shown, and what was typed before.
    recalled: Option<(usize, String)>,
    /// What is searched for in the history.
    searched: Option<String>,
    menu: Option<CompletionMenu>,
    /// Asks for a password: the line is shown as stars.
    pub(crate) question: Option<&'static str>,
}

#[derive(Debug)]
struct CompletionMenu {
    /// In bytes of the line.
    start: usize,
    candidates: Vec<Candidate>,
    /// What each of them does; may be empty.
    helps: Vec<String>,
    selected: Option<usize>,
}

/// What a key has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EditOutcome {
    Edited,
    /// A whole line.
    Submitted(String),
    /// The end of the input: Ctrl-D in an empty line.
    Ended,
    /// The key is none of the line.
    Ignored,
}

impl LineEditor {
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(crate) fn handle_key(&mut self, key: KeyEvent, known: &KnownNames) -> EditOutcome {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if !(is_control && key.code == KeyCode::Char('r')) {
            self.searched = None;
        }
        match key.code {
            KeyCode::Char(letter) if is_control => return self.handle_control(letter),
            KeyCode::Char(letter) => {
                self.menu = None;
                self.insert(letter.encode_utf8(&mut [0; 4]));
            }
            KeyCode::Tab => self.complete(known, 1),
            KeyCode::BackTab => self.complete(known, -1),
            KeyCode::Down if self.menu.is_some() => self.complete(known, 1),
            KeyCode::Up if self.menu.is_some() => self.complete(known, -1),
            KeyCode::Up => self.recall(-1),
            KeyCode::Down => self.recall(1),
            KeyCode::Left => self.cursor = self.before(),
            KeyCode::Right => self.cursor = self.after(),
            KeyCode::Home => self.cursor = 0,
            KeyCode::End => self.cursor = self.text.len(),
            KeyCode::Backspace => {
                self.menu = None;
                self.remove(self.before()..self.cursor);
            }
            KeyCode::Delete => self.remove(self.cursor..self.after()),
            KeyCode::Esc if self.menu.is_some() => self.menu = None,
            KeyCode::Esc if !self.text.is_empty() => self.clear(),
            KeyCode::Enter => match self.menu.take() {
                // The candidate stands in the line already.
                Some(menu) if menu.selected.is_some() => {}
                _ => return EditOutcome::Submitted(self.submit()),
            },
            _ => return EditOutcome::Ignored,
        }
        EditOutcome::Edited
    }

    fn handle_control(&mut self, letter: char) -> EditOutcome {
        match letter {
            'a' => self.cursor = 0,
            'e' => self.cursor = self.text.len(),
            'b' => self.cursor = self.before(),
            'f' => self.cursor = self.after(),
            'u' => self.remove(0..self.cursor),
            'k' => self.remove(self.cursor..self.text.len()),
            'w' => {
                let kept = self.text[..self.cursor].trim_end();
                let start = kept.rfind(' ').map_or(0, |at| at + 1);
                self.remove(start..self.cursor);
            }
            'p' => self.recall(-1),
            'n' => self.recall(1),
            'r' => self.search(),
            'h' => self.remove(self.before()..self.cursor),
            'd' if self.text.is_empty() => return EditOutcome::Ended,
            'd' => self.remove(self.cursor..self.after()),
            _ => return EditOutcome::Ignored,
        }
        self.menu = None;
        EditOutcome::Edited
    }

    /// Inserts a text at the cursor, with a space before it if it is a word of its own.
    pub(crate) fn insert_word(&mut self, word: &str) {
        let is_apart = self.text[..self.cursor].ends_with(' ') || self.cursor == 0;
        if !is_apart {
            self.insert(" ");
        }
        self.insert(word);
    }

    pub(crate) fn insert(&mut self, text: &str) {
        if self.text.len() + text.len() <= MAX_BYTES {
            self.text.insert_str(self.cursor, text);
            self.cursor += text.len();
        }
    }

    fn remove(&mut self, range: std::ops::Range<usize>) {
        self.cursor = range.start;
        self.text.replace_range(range, "");
        self.menu = None;
    }

    fn clear(&mut self) {
        self.remove(0..self.text.len());
        self.recalled = None;
    }

    fn submit(&mut self) -> String {
        let line = std::mem::take(&mut self.text);
        self.cursor = 0;
        self.recalled = None;
        if self.question.is_none() {
            self.remember(&line);
        }
        line
    }

    fn remember(&mut self, line: &str) {
        if is_remembered(line) && self.history.last().is_none_or(|last| last != line) {
            if self.history.len() == MAX_HISTORY {
                self.history.remove(0);
            }
            self.history.push(line.to_owned());
        }
    }

    /// Brings an earlier line, or a later one; after the newest one what was typed.
    fn recall(&mut self, step: isize) {
        if self.question.is_some() {
            return;
        }
        let count = self.history.len();
        let at = self.recalled.as_ref().map_or(count, |(at, _)| *at);
        let next = at.saturating_add_signed(step).min(count);
        if next == at {
            return;
        }
        let typed = match self.recalled.take() {
            Some((_, typed)) => typed,
            None => self.text.clone(),
        };
        if next == count {
            self.text = typed;
        } else {
            self.text.clone_from(&self.history[next]);
            self.recalled = Some((next, typed));
        }
        self.cursor = self.text.len();
    }

    /// Brings the newest earlier line that contains what is typed; again, the one before.
    fn search(&mut self) {
        if self.question.is_some() {
            return;
        }
        let searched = self.searched.get_or_insert_with(|| self.text.clone()).clone();
        let from = self.recalled.as_ref().map_or(self.history.len(), |(at, _)| *at);
        let found = self.history[..from].iter().rposition(|line| line.contains(&searched));
        if let Some(at) = found {
            let typed = self.recalled.take().map_or(searched, |(_, typed)| typed);
            self.recalled = Some((at, typed));
            self.text.clone_from(&self.history[at]);
            self.cursor = self.text.len();
        }
    }

    /// Opens the menu, or goes on in it. What all candidates begin with is inserted at once.
    fn complete(&mut self, known: &KnownNames, step: isize) {
        if self.question.is_some() {
            return;
        }
        if let Some(menu) = &mut self.menu {
            let count = menu.candidates.len();
            let next = match menu.selected {
                None if step > 0 => 0,
                None => count - 1,
                Some(at) => (at + count).saturating_add_signed(step) % count,
            };
            menu.selected = Some(next);
            let (start, text) = (menu.start, menu.candidates[next].text.clone());
            return self.replace(start, &text);
        }
        let completion = completion::complete(&self.text, self.cursor, known);
        match &completion.candidates[..] {
            [] => {}
            [only] => self.replace(completion.start, &only.text),
            several => {
                let common = common_start(several);
                if common.len() > self.cursor - completion.start {
                    self.replace(completion.start, &common);
                }
                let before = &self.text[..completion.start];
                let helps = several.iter().map(|it| help_of(before, it, known)).collect();
                self.menu = Some(CompletionMenu {
                    start: completion.start,
                    candidates: completion.candidates,
                    helps,
                    selected: None,
                });
            }
        }
    }

    /// In place of what stands from `start` to the cursor.
    fn replace(&mut self, start: usize, text: &str) {
        self.text.replace_range(start..self.cursor, text);
        self.cursor = start + text.len();
    }

    /// A click on a row of the menu.
    pub(crate) fn choose(&mut self, index: usize) {
        if let Some(menu) = self.menu.take()
            && let Some(candidate) = menu.candidates.get(index)
        {
            self.replace(menu.start, &candidate.text);
        }
    }

    fn before(&self) -> usize {
        let last = self.text[..self.cursor].chars().next_back();
        self.cursor - last.map_or(0, char::len_utf8)
    }

    fn after(&self) -> usize {
        let next = self.text[self.cursor..].chars().next();
        self.cursor + next.map_or(0, char::len_utf8)
    }

    /// Draws the line, with the form of its command behind it, and places the cursor.
    pub(crate) fn draw(&self, frame: &mut Frame<'_>, area: Rect, known: &KnownNames) {
        let prompt = self.question.unwrap_or(PROMPT);
        let shown = |text: &str| match self.question {
            Some(_) => "*".repeat(text.chars().count()),
            None => text.to_owned(),
        };
        let space = usize::from(area.width).saturating_sub(wrap::width(prompt) + 1);
        // Of a long line, the part at the cursor.
        let mut before = shown(&self.text[..self.cursor]);
        while wrap::width(&before) > space {
            before.remove(0);
        }
        let after = shown(&self.text[self.cursor..]);
        let cursor = wrap::width(prompt) + wrap::width(&before);
        let mut spans =
            vec![Span::styled(prompt, Style::new().add_modifier(Modifier::BOLD)), before.into()];
        let used = cursor + wrap::width(&after) + HINT_GAP.len() + 1;
        spans.push(after.into());
        let left = usize::from(area.width).saturating_sub(used);
        if self.question.is_none()
            && left >= MIN_HINT
            && let Some(hint) = completion::hint(&self.text, known)
        {
            let hint = format!("{HINT_GAP}{}", wrap::fitted(&hint, left));
            spans.push(Span::styled(hint, Style::new().add_modifier(Modifier::DIM)));
        }
        frame.render_widget(Paragraph::new(Line::from(spans)), area);
        frame.set_cursor_position(Position::new(area.x + cursor as u16, area.y));
    }

    /// Draws the menu above the line at `area`; where each of its rows is.
    pub(crate) fn draw_menu(&self, frame: &mut Frame<'_>, area: Rect) -> Vec<(Rect, usize)> {
        let Some(menu) = &self.menu else { return Vec::new() };
        let rows = menu.candidates.len().min(MAX_ROWS).min(usize::from(area.y).saturating_sub(3));
        let first = (menu.selected.unwrap_or(0) + 1).saturating_sub(rows);
        let labels = menu.candidates.iter().map(|it| wrap::width(&it.label));
        let label = labels.max().unwrap_or(0).min(40);
        let widest = menu.helps.iter().map(|help| wrap::width(help)).max().unwrap_or(0);
        let most = usize::from(area.width).saturating_sub(2);
        let width = (label + if widest > 0 { widest + 2 } else { 0 } + 2).min(most);
        let height = rows as u16 + 2;
        let popup =
            Rect { x: area.x, y: area.y.saturating_sub(height), width: width as u16 + 2, height };
        let count = menu.candidates.len();
        let title = match menu.selected {
            Some(at) => format!(" {} of {count} ", at + 1),
            None => format!(" {count} "),
        };
        let mut places = Vec::new();
        let lines = (first..first + rows).map(|index| {
            let name = wrap::fitted(&menu.candidates[index].label, label);
            let space = " ".repeat(label - wrap::width(&name));
            let text = format!(" {name}{space}  {}", menu.helps[index]);
            let mut style = Style::new();
            if menu.selected == Some(index) {
                style = style.add_modifier(Modifier::REVERSED);
            }
            let row = Rect { y: popup.y + 1 + (index - first) as u16, height: 1, ..popup };
            places.push((row, index));
            Line::styled(wrap::fitted(&text, width), style)
        });
        let lines: Vec<Line<'_>> = lines.collect();
        frame.render_widget(Clear, popup);
        frame.render_widget(Paragraph::new(lines).block(Block::bordered().title(title)), popup);
        places
    }
}

/// Passwords are not remembered, and empty lines neither.
pub(crate) fn is_remembered(line: &str) -> bool {
    let has_password = line.contains("password=") || line.trim_start().starts_with("password ");
    !line.trim().is_empty() && !has_password
}

fn common_start(candidates: &[Candidate]) -> String {
    let mut common = candidates[0].text.as_str();
    for candidate in candidates {
        let same = common.char_indices().zip(candidate.text.chars());
        let end = same.take_while(|((_, a), b)| a == b).last();
        common = &common[..end.map_or(0, |((at, letter), _)| at + letter.len_utf8())];
    }
    common.to_owned()
}

/// What a candidate does, as far as it is known.
fn help_of(before: &str, candidate: &Candidate, known: &KnownNames) -> String {
    if !candidate.help.is_empty() {
        return candidate.help.clone();
    }
    if !["", "do"].contains(&before.trim()) {
        return String::new();
    }
    let hint = completion::hint(&format!("{before}{}", candidate.text), known).unwrap_or_default();
    // The label has the name already.
    hint.strip_prefix(&candidate.label).unwrap_or(&hint).trim_start_matches([':', ' ']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_and_empty_lines_are_not_remembered() {
        assert!(is_remembered("join 3"));
        assert!(!is_remembered("join 3 password=secret"));
        assert!(!is_remembered("password secret"));
        assert!(!is_remembered("  "));
    }

    #[test]
    fn a_line_is_edited_at_the_cursor() {
        let mut editor = LineEditor::default();
        type_in(&mut editor, "move 1 2");
        press(&mut editor, KeyCode::Left);
        type_in(&mut editor, "3");
        press(&mut editor, KeyCode::Home);
        press(&mut editor, KeyCode::Delete);
        assert_eq!(press(&mut editor, KeyCode::Enter), submitted("ove 1 32"));
        type_in(&mut editor, "say a long word");
        control(&mut editor, 'w');
        control(&mut editor, 'w');
        assert_eq!(press(&mut editor, KeyCode::Enter), submitted("say a "));
        assert_eq!(control(&mut editor, 'd'), EditOutcome::Ended);
    }

    #[test]
    fn earlier_lines_come_back_and_what_was_typed_after_them() {
        let mut editor = LineEditor::default();
        for line in ["rooms", "join 3", "join 3", "join 4 password=x", "say hello"] {
            type_in(&mut editor, line);
            press(&mut editor, KeyCode::Enter);
        }
        type_in(&mut editor, "mo");
        for expected in ["say hello", "join 3", "rooms", "rooms"] {
            press(&mut editor, KeyCode::Up);
            assert_eq!(editor.text, expected);
        }
        for _ in 0..3 {
            press(&mut editor, KeyCode::Down);
        }
        assert_eq!(editor.text, "mo");
        press(&mut editor, KeyCode::Esc);
        type_in(&mut editor, "o");
        for expected in ["say hello", "join 3", "rooms", "rooms"] {
            control(&mut editor, 'r');
            assert_eq!(editor.text, expected);
        }
    }

    #[test]
    fn a_password_is_neither_remembered_nor_completed() {
        let mut editor = LineEditor { question: Some("password: "), ..LineEditor::default() };
        type_in(&mut editor, "cre");
        press(&mut editor, KeyCode::Tab);
        assert_eq!(press(&mut editor, KeyCode::Enter), submitted("cre"));
        editor.question = None;
        press(&mut editor, KeyCode::Up);
        assert_eq!(editor.text, "");
    }

    #[test]
    fn tab_completes_what_is_common_and_then_each_candidate() {
        let mut editor = LineEditor::default();
        type_in(&mut editor, "w");
        press(&mut editor, KeyCode::Tab);
        assert_eq!(editor.text, "w");
        let menu = editor.menu.as_ref().expect("several");
        let labels: Vec<_> = menu.candidates.iter().map(|it| it.label.as_str()).collect();
        assert_eq!(labels, ["wish", "why", "watch", "wait", "wait-for"]);
        assert!(menu.helps[1].starts_with("#OBJECT: since when"), "{:?}", menu.helps);
        press(&mut editor, KeyCode::Tab);
        press(&mut editor, KeyCode::Down);
        assert_eq!(editor.text, "why ");
        assert_eq!(press(&mut editor, KeyCode::Enter), EditOutcome::Edited);
        assert_eq!(press(&mut editor, KeyCode::Enter), submitted("why "));
        type_in(&mut editor, "cre");
        press(&mut editor, KeyCode::Tab);
        assert_eq!(editor.text, "create ");
        assert!(editor.menu.is_none());
    }

    fn type_in(editor: &mut LineEditor, text: &str) {
        for letter in text.chars() {
            press(editor, KeyCode::Char(letter));
        }
    }

    fn press(editor: &mut LineEditor, code: KeyCode) -> EditOutcome {
        editor.handle_key(code.into(), &KnownNames::default())
    }

    fn control(editor: &mut LineEditor, letter: char) -> EditOutcome {
        let key = KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL);
        editor.handle_key(key, &KnownNames::default())
    }

    fn submitted(line: &str) -> EditOutcome {
        EditOutcome::Submitted(line.to_owned())
    }
}
