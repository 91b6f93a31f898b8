//! The console on a terminal: what is shown, and what keys and clicks do.
//!
//! Events of the client, output lines, keys, clicks and scenes of the game go in; [`UiAction`]s
//! come out of [`Ui::poll_action`], and [`Ui::draw`] draws all of it. No I/O and no clock.
//!
//! Rules:
//! 1. Each thing that a player does is a command line, as if it was typed: a click or a dialog
//!    makes one. (Looking things up, as the list of rooms is, happens by itself.)
//! 2. While a password is typed, or asked for next, nothing else makes a line: it would be taken
//!    for the password.
//! 3. No character on the screen controls the terminal.
//! 4. From [`MIN_COLUMNS`] x [`MIN_LINES`] on it works; below, it asks for more room.
//!
//! Bounds: those of its parts, and one action for each key.

mod dialog;
mod editor;
mod game;
mod help;
mod lobby;
mod log;
mod meant;
mod network;
mod palette;
mod wrap;

use std::collections::VecDeque;
use std::time::Duration;

use ambit_client_core::client::event::{GameEvent, LobbyEvent, ViewEvent};
use ambit_client_text::command::game_usage;
use ambit_client_text::completion::{KnownNames, is_visible};
use ambit_proto::schema::{FieldType, Schema};
use ambit_proto::time::LocalTime;
use ratatui::Frame;
use ratatui::crossterm::event::{
    KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use serde_json::Value as Json;

use crate::human;
use crate::printable;
use crate::scene::GameScene;
use dialog::{Dialog, DialogOutcome};
use editor::{EditOutcome, LineEditor, is_remembered};
use game::GamePanel;
use help::HelpPanel;
use lobby::LobbyPanel;
use log::{LogPanel, LogTone};
pub(crate) use network::NetworkFigures;
use network::NetworkPanel;
pub(crate) use palette::Palette;

/// The least columns of a terminal.
const MIN_COLUMNS: u16 = 60;
/// The least lines of a terminal.
const MIN_LINES: u16 = 20;
/// Two clicks on the same row within this time join a room.
const DOUBLE_CLICK: Duration = Duration::from_millis(500);
/// Lines of the wheel.
const WHEEL: isize = 3;

/// What the shell has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UiAction {
    /// Execute a line.
    Line(String),
    /// Nothing more will be typed: quit when all is done.
    End,
    Quit,
    /// Ask with what a room of this game can be created.
    Describe(String),
}

/// All that is shown.
#[derive(Debug)]
pub(crate) struct Ui {
    palette: Palette,
    editor: LineEditor,
    log: LogPanel,
    lobby: LobbyPanel,
    game: GamePanel,
    network: NetworkPanel,
    popup: Option<Popup>,
    known: KnownNames,
    link: LinkState,
    lines: LinesUnderWay,
    actions: VecDeque<UiAction>,
    pointer: Pointer,
}

/// What covers the rest until it is closed.
#[derive(Debug)]
enum Popup {
    Help(HelpPanel),
    Dialog(Dialog),
}

/// How the connections are, and the game.
#[derive(Debug, Default)]
struct LinkState {
    /// What is wrong; empty if nothing is.
    problem: String,
    /// What is being loaded.
    progress: String,
    is_in_game: bool,
    /// The command of the game that a click on the map gives.
    click: Option<String>,
}

/// Lines that the script has not taken yet.
#[derive(Debug, Default)]
struct LinesUnderWay {
    count: usize,
    /// What the newest line may have meant.
    meant: Option<String>,
}

/// What a click finds.
#[derive(Debug, Default)]
struct Pointer {
    places: Vec<(Rect, ClickTarget)>,
    last: Option<(LocalTime, ClickTarget)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClickTarget {
    Room(usize),
    Candidate(usize),
    Field(usize),
    Key(KeyCode),
}

impl Ui {
    pub(crate) fn new(palette: Palette) -> Self {
        Ui {
            palette,
            editor: LineEditor::default(),
            log: LogPanel::default(),
            lobby: LobbyPanel::default(),
            game: GamePanel::default(),
            network: NetworkPanel::default(),
            popup: None,
            known: KnownNames::default(),
            link: LinkState { problem: "connecting".to_owned(), ..LinkState::default() },
            lines: LinesUnderWay::default(),
            actions: VecDeque::new(),
            pointer: Pointer::default(),
        }
    }

    /// The next thing to do.
    pub(crate) fn poll_action(&mut self) -> Option<UiAction> {
        self.actions.pop_front()
    }

    pub(crate) fn is_in_game(&self) -> bool {
        self.link.is_in_game
    }

    /// Whether the player looks at the figures of the connection.
    pub(crate) fn wants_figures(&self) -> bool {
        self.network.is_open
    }

    /// Learns from an event; what is printed comes by [`Ui::print`].
    pub(crate) fn handle_event(&mut self, event: &ViewEvent) {
        self.known.handle_event(event);
        match event {
            ViewEvent::Lobby(_, event) => self.handle_lobby_event(event),
            ViewEvent::Game(event) => self.handle_game_event(event),
        }
    }

    fn handle_lobby_event(&mut self, event: &LobbyEvent) {
        self.lobby.handle_event(event);
        match event {
            LobbyEvent::Welcome(welcome) => {
                self.link.problem.clear();
                if welcome.room.is_none() {
                    self.leave_game();
                }
            }
            LobbyEvent::Interrupted { .. } => {
                "the connection broke; connecting again".clone_into(&mut self.link.problem);
            }
            LobbyEvent::Left { .. } => self.leave_game(),
            LobbyEvent::Game(game) => {
                if let Some(Popup::Dialog(dialog)) = &mut self.popup {
                    dialog.describe(game);
                }
            }
            _ => {}
        }
    }

    fn handle_game_event(&mut self, event: &GameEvent) {
        match event {
            GameEvent::Started(started) => {
                self.link.problem.clear();
                self.link.is_in_game = true;
                self.link.click = click_command(&started.schema);
            }
            GameEvent::Interrupted { .. } => {
                "the game is interrupted; connecting again".clone_into(&mut self.link.problem);
            }
            GameEvent::Silent { .. } => {
                "the game does not answer; what is shown is old".clone_into(&mut self.link.problem);
            }
            GameEvent::Heard => self.link.problem.clear(),
            GameEvent::MapProgress { received, total, .. } => {
                let percent = 100 * received / (*total).max(1);
                self.link.progress = format!("loading the map: {percent} %");
            }
            GameEvent::Map { .. } => self.link.progress.clear(),
            GameEvent::Ended { .. } => self.leave_game(),
            _ => {}
        }
    }

    fn leave_game(&mut self) {
        self.link.is_in_game = false;
        self.link.progress.clear();
        self.game = GamePanel::default();
    }

    /// The game as it is now; without one, the last one stays while the connection is restored.
    pub(crate) fn set_scene(&mut self, scene: Option<GameScene>) {
        if let Some(mut scene) = scene.filter(|_| self.link.is_in_game) {
            self.known.objects = std::mem::take(&mut scene.objects);
            self.game.set_scene(scene);
        }
    }

    pub(crate) fn set_figures(&mut self, now: LocalTime, figures: NetworkFigures) {
        self.network.note(now, figures);
    }

    /// An output line. Of a line `event`, `words` is what the game says of it.
    pub(crate) fn print(&mut self, line: &Json) {
        let words = || human::text(&printable::json(line));
        match line["ev"].as_str().unwrap_or_default() {
            // The map and the panels show these.
            "enter" | "leave" | "map" => {}
            "event" => {
                if let Some(words) = line["words"].as_str() {
                    self.log.add(LogTone::Game, &printable::text(words));
                }
            }
            "started" if line["again"] == true => {
                self.log.add(LogTone::Plain, "the game goes on");
            }
            "help" => self.popup = Some(Popup::Help(HelpPanel::new(&printable::json(line)))),
            "stats" => self.network.is_open = true,
            "chat" => self.log.add(LogTone::Chat, &words()),
            // The line at the top says these.
            "notice" if line["code"] == "silent" || line["code"] == "heard" => {}
            "error" if line["code"] == "game_connection_lost" => {}
            "error" => {
                let message = line["message"].as_str().unwrap_or_default();
                let mut text = format!("! {}", printable::text(message));
                if let Some(meant) = self.lines.meant.take() {
                    text = format!("{text}. Did you mean '{}'?", printable::text(&meant));
                }
                self.log.add(LogTone::Problem, &text);
            }
            _ => self.log.add(LogTone::Plain, &words()),
        }
    }

    /// The script waits for a line; a question asks for a password.
    pub(crate) fn prompt(&mut self, question: Option<&'static str>) {
        if self.lines.count == 0 {
            self.editor.question = question;
        }
    }

    /// The script has taken a line.
    pub(crate) fn handle_line(&mut self) {
        self.lines.count = self.lines.count.saturating_sub(1);
    }

    /// A line was not taken: too many wait.
    pub(crate) fn refuse_line(&mut self) {
        self.handle_line();
        self.log.add(LogTone::Problem, "! earlier commands are not done yet; try again");
    }

    pub(crate) fn handle_key(&mut self, key: KeyEvent) {
        if key.kind == KeyEventKind::Release {
            return;
        }
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if is_control && key.code == KeyCode::Char('c') {
            return self.actions.push_back(UiAction::Quit);
        }
        if self.editor.question.is_some() {
            return self.edit(key);
        }
        match &mut self.popup {
            Some(Popup::Dialog(dialog)) => {
                let outcome = dialog.handle_key(key);
                return self.handle_dialog(outcome);
            }
            Some(Popup::Help(help)) => match key.code {
                KeyCode::Up => return help.scroll(-1),
                KeyCode::Down => return help.scroll(1),
                KeyCode::PageUp => return help.scroll(-help.page()),
                KeyCode::PageDown | KeyCode::Char(' ') => return help.scroll(help.page()),
                KeyCode::Esc | KeyCode::F(1) | KeyCode::Enter => return self.popup = None,
                // A player who goes on typing has read enough.
                _ => self.popup = None,
            },
            None => {}
        }
        match key.code {
            KeyCode::F(number) => self.handle_function_key(number),
            KeyCode::PageUp => self.log.scroll(self.log.page()),
            KeyCode::PageDown => self.log.scroll(-self.log.page()),
            _ if self.lobby.has_focus && self.choose_room(key.code) => {}
            _ => {
                self.lobby.has_focus = false;
                self.edit(key);
            }
        }
    }

    fn handle_function_key(&mut self, number: u8) {
        match number {
            1 => self.submit("help".to_owned()),
            2 => self.network.is_open = !self.network.is_open,
            3 if !self.link.is_in_game => self.lobby.toggle_focus(),
            4 if self.lobby.room.is_none() => {
                let dialog = Dialog::create(&self.lobby.games);
                if let Some(game) = dialog.game() {
                    self.actions.push_back(UiAction::Describe(game.to_owned()));
                }
                self.popup = Some(Popup::Dialog(dialog));
            }
            5 if self.lobby.room.is_some() && !self.link.is_in_game => {
                self.submit("start".to_owned());
            }
            6 => self.game.zoom(1),
            7 => self.game.zoom(-1),
            8 if self.lobby.room.is_some() => self.submit("leave".to_owned()),
            _ => {}
        }
    }

    /// Whether the key was one of the list of rooms.
    fn choose_room(&mut self, code: KeyCode) -> bool {
        match code {
            KeyCode::Up => self.lobby.select_by(-1),
            KeyCode::Down => self.lobby.select_by(1),
            KeyCode::Enter => self.join_selected(),
            KeyCode::Esc => self.lobby.has_focus = false,
            _ => return false,
        }
        true
    }

    fn join_selected(&mut self) {
        match self.lobby.selected() {
            Some(room) if room.has_password => {
                self.popup = Some(Popup::Dialog(Dialog::join(room)));
            }
            Some(room) => self.submit(format!("join {}", room.id)),
            None => {}
        }
    }

    fn handle_dialog(&mut self, outcome: DialogOutcome) {
        match outcome {
            DialogOutcome::Open => {}
            DialogOutcome::Closed => self.popup = None,
            DialogOutcome::Line(line) => {
                self.popup = None;
                self.submit(line);
            }
            DialogOutcome::Describe(game) => self.actions.push_back(UiAction::Describe(game)),
        }
    }

    fn edit(&mut self, key: KeyEvent) {
        match self.editor.handle_key(key, &self.known) {
            EditOutcome::Submitted(line) => self.submit(line),
            EditOutcome::Ended => self.actions.push_back(UiAction::End),
            EditOutcome::Edited | EditOutcome::Ignored => {}
        }
    }

    /// A line is executed. What the player types next may be a password.
    fn submit(&mut self, line: String) {
        let is_password = self.editor.question.is_some();
        if !is_password && line.trim().is_empty() {
            return;
        }
        if !is_password {
            // What one says comes back from the server.
            if is_remembered(&line) && !line.starts_with("say ") {
                self.log.add(LogTone::Typed, &printable::text(&format!("> {line}")));
            }
            self.lines.meant = meant::meant(&line, &self.known);
        }
        if line.trim() == "password" {
            self.editor.question = Some("");
        }
        self.lines.count += 1;
        self.actions.push_back(UiAction::Line(line));
    }

    pub(crate) fn handle_mouse(&mut self, now: LocalTime, mouse: MouseEvent) {
        let steps = match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => return self.click(now, mouse),
            MouseEventKind::ScrollUp => 1,
            MouseEventKind::ScrollDown => -1,
            _ => return,
        };
        match &mut self.popup {
            Some(Popup::Help(help)) => help.scroll(-WHEEL * steps),
            None if self.game.has_map_at(mouse.column, mouse.row) => self.game.zoom(steps as i8),
            _ => self.log.scroll(WHEEL * steps),
        }
    }

    fn click(&mut self, now: LocalTime, mouse: MouseEvent) {
        if self.editor.question.is_some() {
            return;
        }
        let at = (mouse.column, mouse.row).into();
        let places = self.pointer.places.iter().rev();
        let target = places.copied().find(|(area, _)| area.contains(at)).map(|(_, target)| target);
        let Some(target) = target else {
            return self.click_on_map(mouse);
        };
        let last = self.pointer.last.replace((now, target));
        let is_double =
            last.is_some_and(|(then, before)| before == target && now.since(then) <= DOUBLE_CLICK);
        match target {
            ClickTarget::Room(index) => {
                self.lobby.select(index);
                if is_double {
                    self.join_selected();
                }
            }
            ClickTarget::Candidate(index) => self.editor.choose(index),
            ClickTarget::Field(index) => {
                if let Some(Popup::Dialog(dialog)) = &mut self.popup {
                    let outcome = dialog.select(index);
                    self.handle_dialog(outcome);
                }
            }
            ClickTarget::Key(code) => self.handle_key(code.into()),
        }
    }

    /// Goes there; or puts the place into the line that is typed.
    fn click_on_map(&mut self, mouse: MouseEvent) {
        let place = self.game.place_at(mouse.column, mouse.row);
        let Some(at) = place.filter(|_| self.popup.is_none() && self.link.is_in_game) else {
            return;
        };
        let place = format!("{:.1} {:.1}", at.x, at.y);
        if !self.editor.is_empty() {
            self.editor.insert_word(&place);
        } else if let Some(command) = self.link.click.clone() {
            self.submit(format!("{command} {place}"));
        }
    }

    pub(crate) fn draw(&mut self, frame: &mut Frame<'_>) {
        self.pointer.places.clear();
        let area = frame.area();
        if area.width < MIN_COLUMNS || area.height < MIN_LINES {
            let text = format!(
                "This window has {} x {} characters, and the console needs {MIN_COLUMNS} x \
                 {MIN_LINES}.\nPlease make it larger, or start the console with --plain.",
                area.width, area.height
            );
            let lines = wrap::wrapped(&text, area.width.into(), 0);
            let lines: Vec<Line<'_>> = lines.into_iter().map(Line::raw).collect();
            frame.render_widget(Paragraph::new(lines), area);
            return;
        }
        let log_lines = if self.link.is_in_game {
            (area.height / 4).clamp(5, 9)
        } else {
            (area.height / 3).clamp(6, 14)
        };
        let [top, main, log, input, keys] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Min(0),
            Constraint::Length(log_lines),
            Constraint::Length(1),
            Constraint::Length(1),
        ])
        .areas(area);
        self.draw_top(frame, top);
        if self.game.scene.is_some() {
            let title = self.lobby.room.as_ref().map_or("", |room| &room.name).to_owned();
            self.game.draw(frame, main, &title, self.palette);
        } else {
            let rooms = self.lobby.draw(frame, main, self.palette).into_iter();
            self.pointer.places.extend(rooms.map(|(row, room)| (row, ClickTarget::Room(room))));
        }
        self.log.draw(frame, log, self.palette);
        self.editor.draw(frame, input, &self.known);
        self.draw_keys(frame, keys);
        if self.network.is_open {
            self.network.draw(frame, main);
        }
        self.draw_popup(frame, main.union(log));
        let rows = self.editor.draw_menu(frame, input).into_iter();
        self.pointer.places.extend(rows.map(|(row, at)| (row, ClickTarget::Candidate(at))));
        clean(frame);
    }

    /// Who one is and where, how the line is, and the state of the game.
    fn draw_top(&self, frame: &mut Frame<'_>, area: Rect) {
        let mut parts = vec![self.lobby.name.clone()];
        match &self.lobby.room {
            Some(room) => parts.push(format!("{} ({})", room.name, room.game)),
            None => parts.push("lobby".to_owned()),
        }
        for part in [&self.link.problem, &self.link.progress, &self.game.state_line()] {
            parts.push(part.clone());
        }
        parts.retain(|part| !part.is_empty());
        let columns = usize::from(area.width);
        let text = wrap::fitted(&format!(" {}", parts.join(" · ")), columns);
        let gap = " ".repeat(columns - wrap::width(&text));
        let style = Style::new().add_modifier(Modifier::REVERSED);
        frame.render_widget(Line::styled(format!("{text}{gap}"), style), area);
    }

    /// What the keys do; each can be clicked.
    fn draw_keys(&mut self, frame: &mut Frame<'_>, area: Rect) {
        let mut keys = vec![(KeyCode::F(1), "F1 help"), (KeyCode::F(2), "F2 network")];
        match (&self.lobby.room, self.link.is_in_game) {
            (_, true) => keys.extend([
                (KeyCode::F(6), "F6 closer"),
                (KeyCode::F(7), "F7 farther"),
                (KeyCode::F(8), "F8 leave"),
            ]),
            (Some(_), false) => {
                keys.extend([(KeyCode::F(5), "F5 start"), (KeyCode::F(8), "F8 leave")]);
            }
            (None, false) => {
                keys.extend([(KeyCode::F(3), "F3 rooms"), (KeyCode::F(4), "F4 new room")]);
            }
        }
        if self.lobby.has_focus {
            keys.push((KeyCode::Enter, "Enter joins"));
        }
        let mut x = area.x;
        let mut spans = Vec::new();
        for (code, text) in keys {
            let width = wrap::width(text) as u16;
            let row = Rect { x, width, ..area }.intersection(area);
            self.pointer.places.push((row, ClickTarget::Key(code)));
            x += width + 2;
            spans.extend([Span::raw(text), Span::raw("  ")]);
        }
        let fits = |text: &&str| x + wrap::width(text) as u16 <= area.right();
        let others = ["Tab completes  Ctrl-C quits", "Ctrl-C quits"];
        spans.extend(others.into_iter().find(fits).map(Span::raw));
        let style = Style::new().add_modifier(Modifier::DIM);
        frame.render_widget(Line::from(spans).style(style), area);
    }

    fn draw_popup(&mut self, frame: &mut Frame<'_>, area: Rect) {
        match &mut self.popup {
            Some(Popup::Help(help)) => help.draw(frame, area),
            Some(Popup::Dialog(dialog)) => {
                let fields = dialog.draw(frame, area).into_iter();
                self.pointer.places.clear();
                let fields = fields.map(|(row, field)| (row, ClickTarget::Field(field)));
                self.pointer.places.extend(fields);
            }
            None => {}
        }
    }
}

/// The command that a click on the map gives: one that asks for a place and needs nothing else.
fn click_command(schema: &Schema) -> Option<String> {
    let index = schema.commands.iter().enumerate().position(|(index, command)| {
        let is_click = schema.presentation.command(index).key.as_deref() == Some("click");
        let mut fields = command.fields.iter();
        is_click
            && fields.next().is_some_and(|first| first.ty == FieldType::Position)
            && fields.all(|field| field.optional)
    })?;
    Some(game_usage(&schema.commands[index].name))
}

/// Removes what could control the terminal from all that is drawn.
fn clean(frame: &mut Frame<'_>) {
    for cell in &mut frame.buffer_mut().content {
        if !cell.symbol().chars().all(is_visible) {
            cell.set_symbol(" ");
        }
    }
}

#[cfg(test)]
mod tests;
