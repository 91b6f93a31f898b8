//! What has happened, line by line; the player scrolls back.
//!
//! Bound: [`MAX_LINES`] entries of [`MAX_CHARS`]; beyond it the oldest are dropped.

use std::collections::VecDeque;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Borders, Paragraph};

use super::palette::Palette;
use super::wrap;

const MAX_LINES: usize = 500;
/// More than a message of a player has; what the server stores of an account may be longer.
const MAX_CHARS: usize = 20_000;

/// What an entry is about: how it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogTone {
    Plain,
    /// What the player has typed.
    Typed,
    Chat,
    /// Something has happened in the game.
    Game,
    Problem,
}

/// The entries, and how far the player has scrolled back.
#[derive(Debug, Default)]
pub(crate) struct LogPanel {
    entries: VecDeque<(LogTone, String)>,
    /// In lines of the screen, from the newest one.
    back: usize,
    /// Lines of the screen at the last drawing.
    shown: usize,
}

impl LogPanel {
    /// The newest entry shows itself, unless the player reads earlier ones.
    pub(crate) fn add(&mut self, tone: LogTone, text: &str) {
        if self.entries.len() == MAX_LINES {
            self.entries.pop_front();
        }
        self.entries.push_back((tone, text.chars().take(MAX_CHARS).collect()));
    }

    /// By a number of lines; backwards if it is positive. Drawing stops at the oldest one.
    pub(crate) fn scroll(&mut self, lines: isize) {
        self.back = self.back.saturating_add_signed(lines);
    }

    /// The lines of a page, less one that stays in sight.
    pub(crate) fn page(&self) -> isize {
        self.shown.max(2) as isize - 1
    }

    /// Costs the lines that are shown, and those that the player has scrolled back.
    pub(crate) fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, palette: Palette) {
        let inner = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
        self.shown = inner.height.into();
        let wanted = self.shown + self.back;
        let mut lines: Vec<Line<'_>> = Vec::new();
        for (tone, text) in self.entries.iter().rev() {
            if lines.len() >= wanted {
                break;
            }
            let style = style(*tone, palette);
            let wrapped = wrap::wrapped(text, inner.width.into(), 2);
            lines.extend(wrapped.into_iter().rev().map(|line| Line::styled(line, style)));
        }
        self.back = self.back.min(lines.len().saturating_sub(self.shown));
        let mut lines: Vec<Line<'_>> = lines.split_off(self.back);
        lines.truncate(self.shown);
        lines.reverse();
        let title = match self.back {
            0 => " What happens ".to_owned(),
            lines => format!(" What happened: {lines} lines back "),
        };
        frame.render_widget(Block::new().borders(Borders::TOP).title(title), area);
        frame.render_widget(Paragraph::new(lines), inner);
    }
}

fn style(tone: LogTone, palette: Palette) -> Style {
    match tone {
        LogTone::Plain => Style::new(),
        LogTone::Typed => Style::new().add_modifier(Modifier::DIM),
        LogTone::Chat => palette.own(Color::Cyan),
        LogTone::Game => palette.own(Color::Yellow),
        LogTone::Problem => palette.own(Color::Red).add_modifier(Modifier::BOLD),
    }
}
