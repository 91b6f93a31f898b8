//! The commands in groups, as a text that the player scrolls through.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Paragraph};
use serde_json::Value as Json;

use super::wrap;

/// The commands of the console by what they are about; all others are the game's.
const GROUPS: &[(&str, &[&str])] = &[
    ("Rooms", &["rooms", "describe", "create", "join", "quick", "start", "ready", "leave", "kick"]),
    ("Players", &["players", "say", "party", "wish", "nick"]),
    ("In a game", &["keys", "axis", "do", "objects", "table", "radar", "why", "watch"]),
    ("You", &["account", "password", "stats", "help", "quit"]),
    ("Scripts", &["wait", "wait-for"]),
];
const GAME: &str = "This game";
const KEYS: &str = "\
F1 this help · F2 network · F3 choose a room · F4 new room · F5 start · F8 leave
F6, F7, or the wheel on the map: closer, farther
Tab completes, and goes through what is possible · Esc clears the line
Up, Down: earlier lines · Ctrl-R: earlier lines with what is typed
PageUp, PageDown, or the wheel: what happened before · Ctrl-C quits
Mouse: a click chooses a room, two join it; a click on the map goes there, or puts its place into \
                    the line that you type";

/// The help, and how far it is scrolled.
#[derive(Debug)]
pub(crate) struct HelpPanel {
    /// A heading, and its commands: form and meaning.
    groups: Vec<(String, Vec<(String, String)>)>,
    scrolled: usize,
    page: usize,
}

impl HelpPanel {
    /// Of a line `help`: the commands of the console, of the game, and its controls.
    pub(crate) fn new(line: &Json) -> Self {
        let commands = line["commands"].as_array().into_iter().flatten();
        let text = |command: &Json, key: &str| command[key].as_str().unwrap_or_default().to_owned();
        let commands = commands.map(|it| (text(it, "usage"), text(it, "meaning")));
        let (mut own, mut game) = (Vec::new(), Vec::new());
        let mut seen: Vec<&str> = Vec::new();
        for (usage, meaning) in commands {
            let verb = usage.split_whitespace().next().unwrap_or_default();
            let known = GROUPS.iter().flat_map(|group| group.1).find(|name| **name == verb);
            // Each of the console's own comes once, and first.
            match known.filter(|name| !seen.contains(name)) {
                Some(name) => {
                    seen.push(name);
                    own.push((*name, (usage, meaning)));
                }
                None => game.push((usage, meaning)),
            }
        }
        let of_group = |(title, names): &(&str, &[&str])| {
            let commands = own.iter().filter(|(name, _)| names.contains(name));
            ((*title).to_owned(), commands.map(|(_, command)| command.clone()).collect::<Vec<_>>())
        };
        let groups = std::iter::once((GAME.to_owned(), game)).chain(GROUPS.iter().map(of_group));
        let groups = groups.filter(|(_, commands)| !commands.is_empty()).collect();
        HelpPanel { groups, scrolled: 0, page: 1 }
    }

    /// By a number of lines; downwards if it is positive.
    pub(crate) fn scroll(&mut self, lines: isize) {
        self.scrolled = self.scrolled.saturating_add_signed(lines);
    }

    pub(crate) fn page(&self) -> isize {
        self.page as isize
    }

    pub(crate) fn draw(&mut self, frame: &mut Frame<'_>, area: Rect) {
        let block = Block::bordered().title(" Help ").title_bottom(" PageDown · Esc closes ");
        let inner = block.inner(area);
        let columns = usize::from(inner.width);
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let mut lines: Vec<Line<'_>> = Vec::new();
        for line in wrap::wrapped(KEYS, columns, 2) {
            lines.push(Line::raw(line));
        }
        for (title, commands) in &self.groups {
            lines.push(Line::raw(""));
            lines.push(Line::styled(title.clone(), bold.add_modifier(Modifier::UNDERLINED)));
            for (usage, meaning) in commands {
                lines.extend(command(usage, meaning, columns, bold));
            }
        }
        self.page = usize::from(inner.height).max(2) - 1;
        self.scrolled = self.scrolled.min(lines.len().saturating_sub(inner.height.into()));
        frame.render_widget(Clear, area);
        let shown = lines.split_off(self.scrolled);
        frame.render_widget(Paragraph::new(shown).block(block), area);
    }
}

/// The form in bold; what it does follows, in lines of its own if both are too long.
fn command(usage: &str, meaning: &str, columns: usize, bold: Style) -> Vec<Line<'static>> {
    let whole = format!("{usage}  {meaning}");
    if wrap::width(&whole) <= columns {
        let meaning = format!("  {meaning}").into();
        return vec![Line::from(vec![
            ratatui::text::Span::styled(usage.to_owned(), bold),
            meaning,
        ])];
    }
    let usage = wrap::wrapped(usage, columns, 4).into_iter();
    let usage = usage.map(|line| Line::styled(line, bold));
    let indented = wrap::wrapped(meaning, columns.saturating_sub(4), 0).into_iter();
    usage.chain(indented.map(|line| Line::raw(format!("    {line}")))).collect()
}

#[cfg(test)]
mod tests {
    use ambit_client_text::command::HELP;

    use super::*;

    #[test]
    fn each_command_of_the_console_is_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|group| group.1).copied().collect();
        let verb = |usage: &'static str| usage.split_whitespace().next().unwrap_or_default();
        let mut all: Vec<&str> = HELP.iter().map(|(usage, _)| verb(usage)).collect();
        grouped.sort_unstable();
        all.sort_unstable();
        assert_eq!(grouped, all);
    }
}
