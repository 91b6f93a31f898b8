//! What lies around, as characters: north is up, the centre is in the middle.
//!
//! Positions and glyphs go in, cells come out. A character is twice as high as it is wide, so a
//! line has twice the metres of a column. Cost: the cells, and for each wall those near it.

use std::f32::consts::TAU;

use ambit_proto::map::StaticObstacle;
use ambit_proto::space::Position;

/// An obstacle without a look.
pub(crate) const WALL: char = '#';
/// An avatar whose heading is not known.
pub(crate) const OWN: char = '@';
/// Headings from the east, counter-clockwise.
const ARROWS: [char; 8] = ['→', '↗', '↑', '↖', '←', '↙', '↓', '↘'];

/// The arrow that is nearest to a heading in radians.
pub(crate) fn arrow(yaw: f32) -> char {
    let eighth = (yaw / TAU * ARROWS.len() as f32).round() as i32;
    ARROWS[eighth.rem_euclid(ARROWS.len() as i32) as usize]
}

/// What a character of the picture shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PictureCell {
    /// Beyond the map.
    Beyond,
    Free,
    /// An obstacle or an object: its glyph and its colour, 0xRRGGBB.
    Thing(char, Option<u32>),
}

/// The size of a picture in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PictureSize {
    pub(crate) columns: usize,
    pub(crate) lines: usize,
}

/// The characters, and where they are.
#[derive(Debug)]
pub(crate) struct Picture {
    size: PictureSize,
    centre: Position,
    /// Metres of a column; a line has twice as many.
    step_m: f32,
    cells: Vec<PictureCell>,
}

impl Picture {
    /// A picture that shows the radius in all directions, with the walls of a map of this size in
    /// metres.
    pub(crate) fn new<'w>(
        size: PictureSize,
        centre: Position,
        radius_m: f32,
        (width, height): (f32, f32),
        walls: impl Iterator<Item = (&'w StaticObstacle, char, Option<u32>)>,
    ) -> Self {
        let (columns, lines) = (size.columns / 2, size.lines / 2);
        let step_m = (radius_m / lines.max(1) as f32 / 2.0).max(radius_m / columns.max(1) as f32);
        let mut picture = Self { size, centre, step_m, cells: Vec::new() };
        for line in 0..size.lines {
            for column in 0..size.columns {
                let at = picture.place(line, column);
                let is_on_map = (0.0..=width).contains(&at.x) && (0.0..=height).contains(&at.y);
                let cell = if is_on_map { PictureCell::Free } else { PictureCell::Beyond };
                picture.cells.push(cell);
            }
        }
        for (wall, glyph, colour) in walls {
            picture.add_wall(wall, glyph, colour);
        }
        picture
    }

    /// Of several walls in a cell, the first one is shown.
    fn add_wall(&mut self, wall: &StaticObstacle, glyph: char, colour: Option<u32>) {
        let [x, y, _] = wall.shape.half();
        let reach = x.hypot(y) + 2.0 * self.step_m;
        let low = Position::on_ground(wall.centre.x - reach, wall.centre.y + reach);
        let high = Position::on_ground(wall.centre.x + reach, wall.centre.y - reach);
        let ((from_column, from_line), (to_column, to_line)) = (self.cell(low), self.cell(high));
        for line in within(from_line, to_line, self.size.lines) {
            for column in within(from_column, to_column, self.size.columns) {
                let index = line * self.size.columns + column;
                if self.cells[index] == PictureCell::Free
                    && wall.ground_distance(self.place(line, column)) <= self.step_m
                {
                    self.cells[index] = PictureCell::Thing(glyph, colour);
                }
            }
        }
    }

    /// The middle of a character.
    pub(crate) fn place(&self, line: usize, column: usize) -> Position {
        let east = (column as f32 - (self.size.columns / 2) as f32) * self.step_m;
        let north = ((self.size.lines / 2) as f32 - line as f32) * 2.0 * self.step_m;
        Position::on_ground(self.centre.x + east, self.centre.y + north)
    }

    /// Column and line of a position, perhaps outside of the picture.
    fn cell(&self, at: Position) -> (f32, f32) {
        let column = (at.x - self.centre.x) / self.step_m + (self.size.columns / 2) as f32;
        let line = (self.size.lines / 2) as f32 - (at.y - self.centre.y) / (2.0 * self.step_m);
        (column.round(), line.round())
    }

    /// Column and line of a position, if it is in the picture.
    pub(crate) fn find(&self, at: Position) -> Option<(usize, usize)> {
        let (column, line) = self.cell(at);
        let is_in = (0.0..self.size.columns as f32).contains(&column)
            && (0.0..self.size.lines as f32).contains(&line);
        is_in.then_some((column as usize, line as usize))
    }

    /// Shows an object.
    pub(crate) fn set(&mut self, at: Position, glyph: char, colour: Option<u32>) {
        if let Some((column, line)) = self.find(at) {
            self.cells[line * self.size.columns + column] = PictureCell::Thing(glyph, colour);
        }
    }

    /// The lines from north to south.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &[PictureCell]> {
        self.cells.chunks(self.size.columns.max(1))
    }

    /// Metres of a column.
    pub(crate) fn step_m(&self) -> f32 {
        self.step_m
    }
}

/// The indices from one number to another, of this many.
fn within(from: f32, to: f32, count: usize) -> std::ops::Range<usize> {
    let low = from.clamp(0.0, count as f32) as usize;
    let high = (to + 1.0).clamp(0.0, count as f32) as usize;
    low..high
}

#[cfg(test)]
mod tests {
    use ambit_proto::map::ObstacleShape;

    use super::*;

    #[test]
    fn north_is_up_and_east_is_right() {
        let wall = StaticObstacle::new_box(Position::on_ground(20.0, 50.0), [2.0; 3], 0.0);
        let shape = ObstacleShape::Cylinder { radius: 3.0, half_height: 1.0 };
        let rock = StaticObstacle { centre: Position::on_ground(50.0, 35.0), shape, look: None };
        let walls = [(&wall, WALL, None), (&rock, '%', None)];
        let (centre, size) = (Position::on_ground(50.0, 50.0), (60.0, 100.0));
        let in_characters = PictureSize { columns: 61, lines: 25 };
        let mut picture = Picture::new(in_characters, centre, 30.0, size, walls.into_iter());
        picture.set(Position::on_ground(50.0, 75.0), 'N', None);
        picture.set(Position::on_ground(58.0, 50.0), 'E', None);
        picture.set(Position::on_ground(50.0, 50.0), arrow(TAU / 4.0), None);
        picture.set(Position::on_ground(5_000.0, -50.0), 'X', None);
        let glyph = |cell: &PictureCell| match *cell {
            PictureCell::Beyond => '~',
            PictureCell::Free => '.',
            PictureCell::Thing(glyph, _) => glyph,
        };
        let lines: Vec<String> =
            picture.lines().map(|line| line.iter().map(glyph).collect()).collect();
        let middle = &lines[12];
        let at = |line: &str, glyph| line.chars().position(|other| other == glyph);
        let own = at(middle, '↑').expect("the avatar");
        assert_eq!(own, 30);
        assert!(at(middle, 'E').is_some_and(|east| east > own), "{middle}");
        assert!(at(middle, WALL).is_some_and(|west| west < own), "{middle}");
        let south = lines.iter().rposition(|line| line.contains('%')).expect("it is in sight");
        assert!(south > 12 && at(&lines[south], '%').is_some_and(|west| west <= own));
        let north = lines.iter().position(|line| line.contains('N')).expect("it is in sight");
        assert!(north < 12 && at(&lines[north], 'N') == Some(own));
        assert!(middle.ends_with('~'), "the map ends: {middle}");
        assert!(!lines.concat().contains('X'));
        assert_eq!(picture.find(Position::on_ground(50.0, 50.0)), Some((30, 12)));
    }

    #[test]
    fn an_arrow_points_where_the_avatar_faces() {
        let turned = [0.0, 0.25, 0.5, 0.75, 0.99, -0.125].map(|turn| arrow(turn * TAU));
        assert_eq!(turned, ['→', '↑', '←', '↓', '→', '↘']);
    }
}
