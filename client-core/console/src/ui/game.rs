//! The view of a running game: the map around the avatar, the own bars, and the tables.
//!
//! A [`GameScene`] goes in and is drawn. Where there is little room, the bars are a line above the
//! map, and the tables are left out.

use ambit_proto::map::StaticObstacle;
use ambit_proto::space::Position;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph};

use super::palette::Palette;
use super::wrap;
use crate::picture::{OWN, Picture, PictureCell, PictureSize, WALL, arrow};
use crate::scene::{GameScene, SideTable, ValueBar};

/// From this width on there is a column beside the map.
const WIDE: u16 = 84;
/// Columns of that column.
const SIDE: u16 = 32;
/// Below this share a bar warns.
const LOW: f32 = 0.25;
/// Dots of the ground are this far apart, in metres; more where the picture is coarse.
const GRID_M: f32 = 10.0;
/// A name beside an object is at most this long, in columns.
const MAX_NAME: usize = 12;
/// How much closer a step of the zoom is.
const ZOOM: f32 = 1.3;
const MAX_ZOOM: i8 = 8;

/// What is shown of the game.
#[derive(Debug, Default)]
pub(crate) struct GamePanel {
    /// The newest one; `None` outside of a game.
    pub(crate) scene: Option<GameScene>,
    /// Positive is closer.
    zoom: i8,
    /// The map at the last drawing: where it is, and which place each character shows.
    drawn: Option<(Rect, Picture)>,
}

impl GamePanel {
    /// Takes a newer scene. An avatar that stands still faces where it has gone to.
    pub(crate) fn set_scene(&mut self, mut scene: GameScene) {
        let before = self.scene.as_ref().and_then(|scene| scene.own?.heading);
        if let Some(own) = &mut scene.own {
            own.heading = own.heading.or(before);
        }
        self.scene = Some(scene);
    }

    pub(crate) fn zoom(&mut self, steps: i8) {
        self.zoom = (self.zoom + steps).clamp(-MAX_ZOOM, MAX_ZOOM);
    }

    /// The place that a character of the screen shows, if it is on the map.
    pub(crate) fn place_at(&self, column: u16, row: u16) -> Option<Position> {
        let (area, picture) = self.drawn.as_ref()?;
        if !area.contains((column, row).into()) {
            return None;
        }
        let at = picture.place((row - area.y).into(), (column - area.x).into());
        let (width, height) = self.scene.as_ref()?.size_m;
        ((0.0..=width).contains(&at.x) && (0.0..=height).contains(&at.y)).then_some(at)
    }

    /// Whether a character of the screen belongs to the map.
    pub(crate) fn has_map_at(&self, column: u16, row: u16) -> bool {
        self.drawn.as_ref().is_some_and(|(area, _)| area.contains((column, row).into()))
    }

    /// The state of the game as a line.
    pub(crate) fn state_line(&self) -> String {
        let state = self.scene.iter().flat_map(|scene| &scene.state);
        let pairs = state.map(|(label, value)| format!("{label} {value}"));
        pairs.collect::<Vec<_>>().join(" · ")
    }

    pub(crate) fn draw(
        &mut self,
        frame: &mut Frame<'_>,
        area: Rect,
        title: &str,
        palette: Palette,
    ) {
        let Some(scene) = &self.scene else { return };
        let map_area = if area.width >= WIDE {
            let [map, side] =
                Layout::horizontal([Constraint::Min(0), Constraint::Length(SIDE)]).areas(area);
            draw_side(frame, side, scene, palette);
            map
        } else {
            let [line, map] =
                Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
            frame.render_widget(Paragraph::new(values_line(scene, palette)), line);
            map
        };
        let place = scene.own.map(|own| format!(" {:.1} {:.1} ", own.at.x, own.at.y));
        let block = Block::bordered()
            .title(format!(" {title} "))
            .title_bottom(Line::raw(place.unwrap_or_default()).right_aligned());
        let inner = block.inner(map_area);
        frame.render_widget(block, map_area);
        self.drawn = draw_map(frame, inner, scene, self.zoom, palette);
    }
}

/// The map around the avatar; nothing without one.
fn draw_map(
    frame: &mut Frame<'_>,
    area: Rect,
    scene: &GameScene,
    zoom: i8,
    palette: Palette,
) -> Option<(Rect, Picture)> {
    let Some(own) = scene.own else {
        frame.render_widget(Paragraph::new("You are not on the map yet."), area);
        return None;
    };
    let size = PictureSize { columns: area.width.into(), lines: area.height.into() };
    let walls = scene.map.iter().flat_map(|map| &map.obstacles).map(|wall: &StaticObstacle| {
        let look = wall.look.and_then(|look| scene.wall_looks.get(usize::from(look)));
        let (glyph, colour) = look.map_or((WALL, 0x80_8080), |look| (look.glyph, look.colour));
        (wall, glyph, Some(colour))
    });
    let radius = scene.reach_m / ZOOM.powi(zoom.into());
    let mut picture = Picture::new(size, own.at, radius, scene.size_m, walls);
    for mark in &scene.marks {
        picture.set(mark.at, mark.glyph, Some(mark.colour));
    }
    let buffer = frame.buffer_mut();
    draw_cells(buffer, area, &picture, palette);
    if let Some((column, line)) = picture.find(own.at) {
        let glyph = own.heading.map_or(OWN, arrow);
        let style = palette.own(Color::White).add_modifier(Modifier::BOLD | Modifier::REVERSED);
        let cell = &mut buffer[(area.x + column as u16, area.y + line as u16)];
        cell.set_char(glyph).set_style(style);
    }
    for mark in &scene.marks {
        if let (Some(name), Some((column, line))) = (&mark.name, picture.find(mark.at)) {
            draw_name(buffer, area, (column, line), name);
        }
    }
    Some((area, picture))
}

fn draw_cells(buffer: &mut Buffer, area: Rect, picture: &Picture, palette: Palette) {
    let dim = Style::new().add_modifier(Modifier::DIM);
    let step = picture.step_m();
    // At least some characters between two dots.
    let grid = GRID_M * (8.0 * step / GRID_M).max(1.0).ceil();
    let is_near = |metres: f32, half: f32| {
        let rest = metres.rem_euclid(grid);
        rest < half || grid - rest <= half
    };
    for (row, cells) in picture.lines().enumerate().take(area.height.into()) {
        for (column, cell) in cells.iter().enumerate().take(area.width.into()) {
            let (glyph, style) = match *cell {
                PictureCell::Beyond => ('░', dim),
                PictureCell::Thing(glyph, colour) => {
                    (glyph, colour.map_or(Style::new(), |colour| palette.rgb(colour)))
                }
                PictureCell::Free => {
                    let at = picture.place(row, column);
                    let is_dot = is_near(at.x, step / 2.0) && is_near(at.y, step);
                    (if is_dot { '·' } else { ' ' }, dim)
                }
            };
            let place = (area.x + column as u16, area.y + row as u16);
            buffer[place].set_char(glyph).set_style(style);
        }
    }
}

/// A name beside an object, where nothing else is.
fn draw_name(buffer: &mut Buffer, area: Rect, (column, line): (usize, usize), name: &str) {
    let name = wrap::fitted(name, MAX_NAME);
    let (x, y) = (area.x + column as u16 + 2, area.y + line as u16);
    let columns = x..x + wrap::width(&name) as u16;
    let is_free = |x: u16| x < area.right() && [" ", "·", "░"].contains(&buffer[(x, y)].symbol());
    if columns.clone().all(is_free) {
        buffer.set_string(x, y, name, Style::new());
    }
}

/// The own values and the tables.
fn draw_side(frame: &mut Frame<'_>, area: Rect, scene: &GameScene, palette: Palette) {
    let columns = usize::from(area.width.saturating_sub(2));
    let mut lines: Vec<Line<'_>> =
        scene.bars.iter().map(|bar| bar_line(bar, columns, palette)).collect();
    let dim = Style::new().add_modifier(Modifier::DIM);
    for sign in &scene.signs {
        lines.push(Line::raw(wrap::fitted(sign, columns)));
    }
    let left = usize::from(area.height.saturating_sub(2));
    for table in &scene.tables {
        if lines.len() + 3 > left {
            break;
        }
        lines.push(Line::raw(""));
        let title = wrap::fitted(&table.title, columns);
        lines.push(Line::styled(title, Style::new().add_modifier(Modifier::BOLD)));
        lines.push(Line::styled(row_text(&table.columns, table, columns), dim));
        for (cells, is_own) in best(table, left.saturating_sub(lines.len())) {
            let style = if *is_own { Modifier::BOLD } else { Modifier::empty() };
            let text = row_text(cells, table, columns);
            lines.push(Line::styled(text, Style::new().add_modifier(style)));
        }
    }
    frame.render_widget(Paragraph::new(lines).block(Block::bordered().title(" You ")), area);
}

/// The best rows, and the player's own in any case.
fn best(table: &SideTable, count: usize) -> impl Iterator<Item = &(Vec<String>, bool)> {
    let own = table.rows.iter().position(|(_, is_own)| *is_own);
    let own = own.filter(|&at| at >= count && count > 0);
    let shown = if own.is_some() { count - 1 } else { count };
    table.rows.iter().take(shown).chain(own.map(|at| &table.rows[at]))
}

/// `Health ██████░░ 75/100`.
fn bar_line(bar: &ValueBar, columns: usize, palette: Palette) -> Line<'static> {
    let share = share(bar);
    let value = bar_value(bar);
    let label = wrap::fitted(&bar.label, 10);
    let blocks = columns.saturating_sub(12 + wrap::width(&value) + 1).min(16);
    let full = (share * blocks as f32).round() as usize;
    let gap = " ".repeat(11_usize.saturating_sub(wrap::width(&label)));
    let drawn = format!("{}{}", "█".repeat(full), "░".repeat(blocks - full));
    Line::from(vec![
        format!("{label}{gap}").into(),
        Span::styled(drawn, bar_style(share, palette)),
        format!(" {value}").into(),
    ])
}

fn share(bar: &ValueBar) -> f32 {
    if bar.max > 0.0 { (bar.value / bar.max).clamp(0.0, 1.0) } else { 0.0 }
}

/// Of a share, how much it could be says nothing.
fn bar_value(bar: &ValueBar) -> String {
    match bar.unit.as_str() {
        "%" => format!("{:.0} %", bar.value),
        _ => format!("{:.0}/{:.0}", bar.value, bar.max),
    }
}

fn bar_style(share: f32, palette: Palette) -> Style {
    if share < LOW {
        palette.own(Color::Red).add_modifier(Modifier::BOLD)
    } else {
        palette.own(Color::Green)
    }
}

/// The same in a line, where there is no column for it.
fn values_line(scene: &GameScene, palette: Palette) -> Line<'static> {
    let bars = scene.bars.iter().flat_map(|bar| {
        let value = Span::styled(bar_value(bar), bar_style(share(bar), palette));
        [Span::raw(format!("{} ", bar.label)), value, Span::raw("  ")]
    });
    let signs = scene.signs.iter().map(|sign| Span::raw(format!("{sign}  ")));
    Line::from(bars.chain(signs).collect::<Vec<_>>())
}

/// The first cell to the left, the others to the right, as far as there is room.
fn row_text(cells: &[String], table: &SideTable, columns: usize) -> String {
    let width = |column: usize| {
        let rows = table.rows.iter().map(|(cells, _)| &cells[column]);
        rows.chain([&table.columns[column]]).map(|cell| wrap::width(cell)).max().unwrap_or(0)
    };
    let mut others = Vec::new();
    let mut used = 0;
    for (column, cell) in cells.iter().enumerate().skip(1) {
        let width = width(column);
        if used + width + 1 > columns * 2 / 3 {
            break;
        }
        used += width + 1;
        let gap = " ".repeat(width - wrap::width(cell) + 1);
        others.push(format!("{gap}{cell}"));
    }
    let first = wrap::fitted(cells.first().map_or("", String::as_str), columns - used);
    let gap = " ".repeat(columns - used - wrap::width(&first));
    format!("{first}{gap}{}", others.concat())
}
