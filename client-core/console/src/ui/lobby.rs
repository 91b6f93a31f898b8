//! The lobby and a room before its start: rooms, players, members.
//!
//! Events of the lobby go in; lists are drawn, and the command that a choice stands for comes out.
//! Bounds: [`MAX_ROOMS`] rooms, [`MAX_PLAYERS`] players; what comes beyond is left out.

use ambit_client_core::client::event::{LobbyEvent, Welcome};
use ambit_client_core::client::model::{GameListing, PlayerListing, RoomListing};
use ambit_proto::ids::PlayerId;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Paragraph};

use super::palette::Palette;
use super::wrap;

const MAX_ROOMS: usize = 512;
const MAX_PLAYERS: usize = 512;
/// Columns of the players beside the rooms.
const PLAYER_COLUMNS: u16 = 26;

/// What is known of the lobby.
#[derive(Debug, Default)]
pub(crate) struct LobbyPanel {
    pub(crate) games: Vec<GameListing>,
    pub(crate) name: String,
    player: Option<PlayerId>,
    rooms: Vec<RoomListing>,
    /// Those of the lobby.
    players: Vec<PlayerListing>,
    /// The room that the player is in.
    pub(crate) room: Option<RoomListing>,
    members: Vec<PlayerListing>,
    selected: usize,
    /// Whether keys choose a room.
    pub(crate) has_focus: bool,
}

/// A room that the player wants to join.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChosenRoom {
    pub(crate) id: u64,
    pub(crate) name: String,
    pub(crate) has_password: bool,
}

impl LobbyPanel {
    pub(crate) fn handle_event(&mut self, event: &LobbyEvent) {
        match event {
            LobbyEvent::Welcome(welcome) => self.begin(welcome),
            LobbyEvent::Rooms { rooms } => {
                self.rooms = rooms.iter().take(MAX_ROOMS).cloned().collect();
                self.rooms.sort_by_key(|room| room.id);
            }
            LobbyEvent::RoomChanged { room } => {
                self.rooms.retain(|known| known.id != room.id);
                self.rooms.push(room.clone());
                self.rooms.sort_by_key(|room| room.id);
                self.rooms.truncate(MAX_ROOMS);
                if let Some(own) = self.room.as_mut().filter(|own| own.id == room.id) {
                    own.clone_from(room);
                }
            }
            LobbyEvent::RoomGone { room } => self.rooms.retain(|known| known.id != *room),
            LobbyEvent::Created { room } => self.room = Some(room.clone()),
            LobbyEvent::Joined { room, players } => {
                self.room = Some(room.clone());
                self.members = players.iter().take(MAX_PLAYERS).cloned().collect();
            }
            LobbyEvent::Left { .. } => self.room = None,
            LobbyEvent::Players { room, players } => {
                let list = if room.is_some() { &mut self.members } else { &mut self.players };
                *list = players.iter().take(MAX_PLAYERS).cloned().collect();
            }
            LobbyEvent::Renamed { player, name } => {
                if self.player == Some(*player) {
                    self.name.clone_from(name);
                }
                let all = self.players.iter_mut().chain(&mut self.members);
                for known in all.filter(|known| known.id == *player) {
                    known.name.clone_from(name);
                }
            }
            _ => {}
        }
        self.has_focus &= self.room.is_none() && !self.rooms.is_empty();
        self.selected = self.selected.min(self.rooms.len().saturating_sub(1));
    }

    fn begin(&mut self, welcome: &Welcome) {
        self.games.clone_from(&welcome.games);
        self.name.clone_from(&welcome.name);
        self.player = Some(welcome.player);
        if welcome.room.is_none() {
            self.room = None;
        }
    }

    /// Keys choose a room from now on, or not any more.
    pub(crate) fn toggle_focus(&mut self) {
        self.has_focus = !self.has_focus && self.room.is_none() && !self.rooms.is_empty();
    }

    pub(crate) fn select_by(&mut self, rows: isize) {
        let last = self.rooms.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(rows).min(last);
    }

    pub(crate) fn select(&mut self, index: usize) {
        self.selected = index.min(self.rooms.len().saturating_sub(1));
    }

    pub(crate) fn selected(&self) -> Option<ChosenRoom> {
        self.rooms.get(self.selected).map(|room| ChosenRoom {
            id: room.id.0,
            name: room.name.clone(),
            has_password: room.has_password,
        })
    }

    /// Draws the lobby, or the room that the player is in; where each room is.
    pub(crate) fn draw(
        &self,
        frame: &mut Frame<'_>,
        area: Rect,
        palette: Palette,
    ) -> Vec<(Rect, usize)> {
        let side = PLAYER_COLUMNS.min(area.width / 3);
        let [left, right] =
            Layout::horizontal([Constraint::Min(0), Constraint::Length(side)]).areas(area);
        if let Some(room) = &self.room {
            self.draw_players(frame, right, "In the room", &self.members);
            draw_room(frame, left, room, self.player == Some(room.host));
            return Vec::new();
        }
        self.draw_players(frame, right, "Players", &self.players);
        self.draw_rooms(frame, left, palette)
    }

    fn draw_rooms(
        &self,
        frame: &mut Frame<'_>,
        area: Rect,
        palette: Palette,
    ) -> Vec<(Rect, usize)> {
        let title = format!(" Rooms: {} ", self.rooms.len());
        let block = Block::bordered().title(title);
        let inner = block.inner(area);
        frame.render_widget(block, area);
        if self.rooms.is_empty() {
            let text = "There is no room yet.\n\nF4 makes one, or type:  create meadow game=field";
            frame.render_widget(Paragraph::new(text), inner);
            return Vec::new();
        }
        let columns = usize::from(inner.width);
        // Number, game, seats, state, with their gaps.
        let (game, state) = if columns < 60 { (7, 7) } else { (10, 16) };
        let name = columns.saturating_sub(4 + 1 + 1 + game + 1 + 6 + 1 + state);
        let line = |[id, room, of, seats, state]: [&str; 5]| {
            let cell = |text: &str, width: usize| {
                let text = wrap::fitted(text, width);
                format!("{text}{}", " ".repeat(width - wrap::width(&text)))
            };
            let cells = [cell(id, 4), cell(room, name), cell(of, game), cell(seats, 6)];
            wrap::fitted(&format!("{} {state}", cells.join(" ")), columns)
        };
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let mut lines = vec![Line::styled(line(["", "name", "game", "seats", "state"]), bold)];
        let rows = usize::from(inner.height).saturating_sub(1);
        let first = (self.selected + 1).saturating_sub(rows.max(1));
        let mut places = Vec::new();
        for (index, room) in self.rooms.iter().enumerate().skip(first).take(rows) {
            let seats = format!("{}/{}", room.players, room.capacity);
            let state = if room.running { "running" } else { "waiting" };
            let locked = if room.has_password { "locked, " } else { "" };
            let (id, state) = (room.id.0.to_string(), format!("{locked}{state}"));
            let mut style = if room.running { Style::new() } else { palette.own(Color::Green) };
            if index == self.selected {
                let chosen = if self.has_focus { Modifier::REVERSED } else { Modifier::UNDERLINED };
                style = style.add_modifier(chosen);
            }
            places.push((Rect { y: inner.y + lines.len() as u16, height: 1, ..inner }, index));
            let text = line([&id, &room.name, &room.game, &seats, &state]);
            lines.push(Line::styled(text, style));
        }
        frame.render_widget(Paragraph::new(lines), inner);
        places
    }

    fn draw_players(
        &self,
        frame: &mut Frame<'_>,
        area: Rect,
        title: &str,
        players: &[PlayerListing],
    ) {
        let columns = usize::from(area.width.saturating_sub(2));
        let line = |player: &PlayerListing| {
            let own = self.player == Some(player.id);
            let marks = [
                (own, " (you)"),
                (player.host, " host"),
                (player.ready, " ready"),
                (!player.connected, " away"),
            ];
            let marks: String = marks.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark).collect();
            let name = wrap::fitted(&player.name, columns.saturating_sub(marks.len()));
            let style = if own { Modifier::BOLD } else { Modifier::empty() };
            Line::styled(format!("{name}{marks}"), Style::new().add_modifier(style))
        };
        let lines: Vec<Line<'_>> = players.iter().map(line).collect();
        let block = Block::bordered().title(format!(" {title}: {} ", players.len()));
        frame.render_widget(Paragraph::new(lines).block(block), area);
    }
}

/// A room before its start.
fn draw_room(frame: &mut Frame<'_>, area: Rect, room: &RoomListing, is_host: bool) {
    let block = Block::bordered().title(format!(" Room {} ", room.id.0));
    let columns = usize::from(area.width.saturating_sub(2));
    let next = match (room.running, is_host) {
        (true, _) => "Its game runs: you are on your way into it.",
        (false, true) => "You are its host: F5 or 'start' begins the game.",
        (false, false) => "Its host begins the game; 'ready' says that you are ready.",
    };
    let seats = format!("{} of {} seats are taken", room.players, room.capacity);
    let mut text = format!("{}\n\ngame   {}\nseats  {seats}\n", room.name, room.game);
    for (key, value) in &room.parameters {
        text.extend([key.as_str(), "=", value.as_str(), " "]);
    }
    text.push_str("\n\n");
    text.push_str(next);
    text.push_str("\nF8 or 'leave' goes back to the lobby.");
    let lines = wrap::wrapped(&text, columns, 2).into_iter().map(Line::raw);
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()).block(block), area);
}
