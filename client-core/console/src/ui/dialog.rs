//! A dialog for what a choice needs: the password of a room, or all that a new room may have.
//!
//! Keys go in, a command line comes out, as if it was typed. Texts are only what such a line can
//! carry: no spaces but in a room's name, and no quotes.

use ambit_client_core::client::model::{AllowedValues, GameDescription, GameListing};
use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Paragraph};

use super::lobby::ChosenRoom;
use super::wrap;

/// The longest value.
const MAX_CHARS: usize = 64;
/// Columns of a dialog, with its frame: at least, and at most if labels are long.
const COLUMNS: (usize, usize) = (60, 78);
/// Columns of the labels of its fields, at least; a longer one takes more, or several lines.
const LABEL: usize = 24;
/// Lines of a label, at most.
const LABEL_LINES: usize = 3;
/// Columns that labels leave for the values.
const VALUE: usize = 32;
/// Lines that say what the chosen field is.
const ABOUT_LINES: u16 = 3;

/// A dialog that is open.
#[derive(Debug)]
pub(crate) struct Dialog {
    purpose: DialogPurpose,
    fields: Vec<DialogField>,
    at: usize,
    /// What is missing, after the player wanted to go on without it.
    lacks: Option<&'static str>,
}

#[derive(Debug)]
enum DialogPurpose {
    Create,
    Join(ChosenRoom),
}

#[derive(Debug)]
struct DialogField {
    /// As in `key=value`.
    key: String,
    label: String,
    value: String,
    /// What stands for no value.
    hint: String,
    /// What it is.
    about: String,
    /// The values of a choice; none for any text.
    choices: Vec<String>,
}

/// What a key has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DialogOutcome {
    Open,
    Closed,
    /// Closed, with a command.
    Line(String),
    /// The parameters of this game are needed.
    Describe(String),
}

impl Dialog {
    /// For a new room of one of these games; the game's parameters come with its description.
    pub(crate) fn create(games: &[GameListing]) -> Self {
        let names: Vec<String> = games.iter().map(|game| game.name.clone()).collect();
        let game = names.first().cloned().unwrap_or_default();
        let fields = vec![
            DialogField::new("name", "name", "of the room"),
            DialogField { value: game, choices: names, ..DialogField::new("game", "game", "") },
            DialogField::new("capacity", "seats", "as usual"),
            DialogField::new("password", "password", "none"),
        ];
        Dialog { purpose: DialogPurpose::Create, fields, at: 0, lacks: None }
    }

    /// For the password of a room.
    pub(crate) fn join(room: ChosenRoom) -> Self {
        let fields = vec![DialogField::new("password", "password", "")];
        Dialog { purpose: DialogPurpose::Join(room), fields, at: 0, lacks: None }
    }

    /// The game of a new room.
    pub(crate) fn game(&self) -> Option<&str> {
        self.fields.iter().find(|field| field.key == "game").map(|field| field.value.as_str())
    }

    /// Offers what a room of this game can be created with.
    pub(crate) fn describe(&mut self, game: &GameDescription) {
        if self.game() != Some(&*game.game) {
            return;
        }
        self.fields.truncate(4);
        self.fields[2].hint = game.default_capacity.to_string();
        self.fields.extend(game.parameters.iter().map(|parameter| DialogField {
            choices: match &parameter.allowed {
                AllowedValues::Word { words } => {
                    std::iter::once(String::new()).chain(words.iter().cloned()).collect()
                }
                _ => Vec::new(),
            },
            about: parameter.about.clone(),
            ..DialogField::new(
                &parameter.key,
                if parameter.label.is_empty() { &parameter.key } else { &parameter.label },
                if parameter.default.is_empty() { "as usual" } else { &parameter.default },
            )
        }));
        self.at = self.at.min(self.fields.len() - 1);
    }

    pub(crate) fn handle_key(&mut self, key: KeyEvent) -> DialogOutcome {
        self.lacks = None;
        let count = self.fields.len();
        let field = &mut self.fields[self.at];
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            if key.code == KeyCode::Char('u') && field.choices.is_empty() {
                field.value.clear();
            }
            return DialogOutcome::Open;
        }
        match key.code {
            KeyCode::Esc => return DialogOutcome::Closed,
            KeyCode::Enter => match self.line() {
                Ok(line) => return DialogOutcome::Line(line),
                Err(lacks) => (self.lacks, self.at) = (Some(lacks), 0),
            },
            KeyCode::Tab | KeyCode::Down => self.at = (self.at + 1) % count,
            KeyCode::BackTab | KeyCode::Up => self.at = (self.at + count - 1) % count,
            KeyCode::Left if !field.choices.is_empty() => return self.choose(-1),
            KeyCode::Right | KeyCode::Char(' ') if !field.choices.is_empty() => {
                return self.choose(1);
            }
            KeyCode::Backspace if field.choices.is_empty() => drop(field.value.pop()),
            KeyCode::Char(letter) if field.takes(letter) => field.value.push(letter),
            _ => {}
        }
        DialogOutcome::Open
    }

    /// A click on a field.
    pub(crate) fn select(&mut self, index: usize) -> DialogOutcome {
        let is_again = self.at == index;
        self.at = index.min(self.fields.len() - 1);
        if is_again && !self.fields[self.at].choices.is_empty() {
            return self.choose(1);
        }
        DialogOutcome::Open
    }

    fn choose(&mut self, step: isize) -> DialogOutcome {
        let field = &mut self.fields[self.at];
        let count = field.choices.len();
        let at = field.choices.iter().position(|choice| *choice == field.value).unwrap_or(0);
        let next = (at + count).saturating_add_signed(step) % count;
        field.value.clone_from(&field.choices[next]);
        if field.key == "game" {
            let game = field.value.clone();
            self.fields.truncate(4);
            return DialogOutcome::Describe(game);
        }
        DialogOutcome::Open
    }

    /// The command, or what the first field lacks.
    fn line(&self) -> Result<String, &'static str> {
        let options = |fields: &[DialogField]| {
            let given = fields.iter().filter(|field| !field.value.is_empty());
            let given = given.map(|field| format!(" {}={}", field.key, field.value));
            given.collect::<String>()
        };
        match &self.purpose {
            DialogPurpose::Join(room) => {
                let is_given = !self.fields[0].value.is_empty();
                let line = || format!("join {}{}", room.id, options(&self.fields));
                is_given.then(line).ok_or("This room asks for its password")
            }
            DialogPurpose::Create => {
                let name = self.fields[0].value.trim();
                let quoted = if name.contains(' ') { format!("\"{name}\"") } else { name.into() };
                let is_given = !name.is_empty();
                let line = || format!("create {quoted}{}", options(&self.fields[1..]));
                is_given.then(line).ok_or("The room needs a name")
            }
        }
    }

    /// Draws it in the middle; where each field is.
    pub(crate) fn draw(&self, frame: &mut Frame<'_>, whole: Rect) -> Vec<(Rect, usize)> {
        let longest = self.fields.iter().map(|field| wrap::width(&field.label) + 1).max();
        let most = COLUMNS.1.min(usize::from(whole.width)).saturating_sub(2 + VALUE).max(LABEL);
        let label = longest.unwrap_or(0).clamp(LABEL, most);
        let width = ((COLUMNS.0 + label - LABEL).min(COLUMNS.1) as u16).min(whole.width);
        let columns = usize::from(width.saturating_sub(2));
        let fields: Vec<Vec<String>> =
            self.fields.iter().map(|field| field.lines(label, columns)).collect();
        let has_about = self.fields.iter().any(|field| !field.about.is_empty());
        let about_lines = if has_about { ABOUT_LINES } else { 0 };
        let lines: usize = fields.iter().map(Vec::len).sum();
        let height = (lines as u16 + 2 + about_lines).min(whole.height);
        let area = Rect {
            x: whole.x + (whole.width - width) / 2,
            y: whole.y + (whole.height - height) / 2,
            width,
            height,
        };
        let block = self.block();
        let inner = block.inner(area);
        let rows = usize::from(inner.height.saturating_sub(about_lines));
        let mut places = Vec::new();
        let mut lines = Vec::new();
        for (index, texts) in fields.iter().enumerate().skip(self.first_shown(&fields, rows)) {
            if lines.len() + texts.len() > rows {
                break;
            }
            let y = inner.y + lines.len() as u16;
            places.push((Rect { y, height: texts.len() as u16, ..inner }, index));
            let field = &self.fields[index];
            if index == self.at {
                let shown = wrap::width(&field.shown());
                let cursor = (label + 1 + shown).min(columns.saturating_sub(1));
                frame.set_cursor_position(Position::new(inner.x + cursor as u16, y));
            }
            let style = field.style(index == self.at);
            lines.extend(texts.iter().map(|text| Line::styled(text.clone(), style)));
        }
        if has_about {
            lines.push(Line::raw(""));
            let about = wrap::wrapped(&self.fields[self.at].about, columns.saturating_sub(2), 0);
            lines.extend(about.into_iter().map(|line| Line::raw(format!(" {line}"))));
        }
        frame.render_widget(Clear, area);
        frame.render_widget(Paragraph::new(lines).block(block), area);
        places
    }

    /// The frame: below is what is missing, or else what keys do.
    fn block(&self) -> Block<'static> {
        let title = match &self.purpose {
            DialogPurpose::Create => " A new room ".to_owned(),
            DialogPurpose::Join(room) => format!(" Room {} '{}' is locked ", room.id, room.name),
        };
        let block = Block::bordered().title(title);
        match self.lacks {
            Some(lacks) => {
                let style = Style::new().add_modifier(Modifier::BOLD | Modifier::REVERSED);
                block.title_bottom(Line::styled(format!(" {lacks} "), style))
            }
            None => block.title_bottom(" Enter does it · Tab next · ← → choose · Esc closes "),
        }
    }

    /// The first field that is shown, so that the chosen one is, and if possible the one behind it.
    fn first_shown(&self, fields: &[Vec<String>], rows: usize) -> usize {
        let last = (self.at + 1).min(fields.len() - 1);
        let height = |first: usize| fields[first..=last].iter().map(Vec::len).sum::<usize>();
        (0..self.at).find(|&first| height(first) <= rows).unwrap_or(self.at)
    }
}

impl DialogField {
    fn new(key: &str, label: &str, hint: &str) -> Self {
        DialogField {
            key: key.to_owned(),
            label: label.to_owned(),
            value: String::new(),
            hint: hint.to_owned(),
            about: String::new(),
            choices: Vec::new(),
        }
    }

    fn takes(&self, letter: char) -> bool {
        let is_apart = letter == ' ' && self.key != "name";
        let is_short = self.value.chars().count() < MAX_CHARS;
        self.choices.is_empty() && is_short && !is_apart && !letter.is_control() && letter != '"'
    }

    /// A password as stars.
    fn shown(&self) -> String {
        match self.key.as_str() {
            "password" => "*".repeat(self.value.chars().count()),
            _ => self.value.clone(),
        }
    }

    /// The label in its column, over several lines if it is long, and beside it the value.
    fn lines(&self, label: usize, columns: usize) -> Vec<String> {
        let shown = self.shown();
        let value = match (&*shown, self.choices.is_empty()) {
            ("", true) => format!("({})", self.hint),
            ("", false) => format!("‹ {} ›", self.hint),
            (value, true) => value.to_owned(),
            (value, false) => format!("‹ {value} ›"),
        };
        let mut lines = wrap::wrapped(&self.label, label - 1, 2);
        if lines.len() > LABEL_LINES {
            let rest = lines.split_off(LABEL_LINES - 1).join(" ");
            lines.push(wrap::fitted(&rest, label - 1));
        }
        let gap = " ".repeat(label.saturating_sub(wrap::width(&lines[0])));
        lines[0] = format!("{}{gap}{value}", lines[0]);
        lines.iter().map(|line| wrap::fitted(&format!(" {line}"), columns)).collect()
    }

    fn style(&self, is_chosen: bool) -> Style {
        let dim = if self.value.is_empty() { Modifier::DIM } else { Modifier::empty() };
        let chosen = if is_chosen { Modifier::BOLD } else { Modifier::empty() };
        Style::new().add_modifier(dim | chosen)
    }
}

#[cfg(test)]
mod tests {
    use ambit_client_core::client::model::ParameterListing;

    use super::*;
    use crate::ui::tests::game;

    #[test]
    fn a_new_room_becomes_a_command_line() {
        let mut dialog = Dialog::create(&[game("field"), game("deus")]);
        assert_eq!(press(&mut dialog, KeyCode::Enter), DialogOutcome::Open, "no name yet");
        type_in(&mut dialog, "my \"room");
        press(&mut dialog, KeyCode::Tab);
        let described = press(&mut dialog, KeyCode::Right);
        assert_eq!(described, DialogOutcome::Describe("deus".to_owned()));
        dialog.describe(&description("field"));
        assert_eq!(dialog.fields.len(), 4, "of another game");
        dialog.describe(&description("deus"));
        for _ in 0..2 {
            press(&mut dialog, KeyCode::Down);
        }
        type_in(&mut dialog, "a b");
        press(&mut dialog, KeyCode::Down);
        type_in(&mut dialog, "60x60");
        let expected = "create \"my room\" game=deus password=ab size=60x60";
        assert_eq!(press(&mut dialog, KeyCode::Enter), DialogOutcome::Line(expected.to_owned()));
    }

    #[test]
    fn the_password_of_a_room_is_asked_for() {
        let room = ChosenRoom { id: 3, name: "den".to_owned(), has_password: true };
        let mut dialog = Dialog::join(room);
        type_in(&mut dialog, "sesame");
        assert_eq!(dialog.fields[0].shown(), "******");
        let line = DialogOutcome::Line("join 3 password=sesame".to_owned());
        assert_eq!(press(&mut dialog, KeyCode::Enter), line);
        assert_eq!(press(&mut dialog, KeyCode::Esc), DialogOutcome::Closed);
    }

    fn description(game: &str) -> GameDescription {
        GameDescription {
            game: game.to_owned(),
            parameters: vec![ParameterListing {
                key: "size".to_owned(),
                label: String::new(),
                default: "200x200".to_owned(),
                about: "of the map".to_owned(),
                allowed: AllowedValues::Size { min: 60.0, max: 400.0 },
            }],
            default_capacity: 8,
            max_capacity: 64,
            schema: None,
        }
    }

    fn type_in(dialog: &mut Dialog, text: &str) {
        for letter in text.chars() {
            press(dialog, KeyCode::Char(letter));
        }
    }

    fn press(dialog: &mut Dialog, code: KeyCode) -> DialogOutcome {
        dialog.handle_key(code.into())
    }
}
