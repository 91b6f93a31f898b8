//! What lies around, drawn with characters: north is up, the player's avatar is in the middle.
//!
//! Positions and glyphs go in, lines come out. A character is twice as high as it is wide.

use std::f32::consts::TAU;

use ambit_client_core::client::Client;
use ambit_client_text::json::ms;
use ambit_proto::map::StaticObstacle;
use ambit_proto::space::Position;
use ambit_proto::time::LocalTime;
use serde_json::{Value as Json, json};

/// Characters, and lines of twice the height; odd, so that there is a middle.
const COLUMNS: usize = 61;
const LINES: usize = 25;
/// It shows no less than that to each side.
const LEAST_M: f32 = 15.0;
/// An obstacle without a look.
const WALL: char = '#';
/// Beyond the map.
const NOTHING: char = '~';
const FREE: char = '.';
/// An avatar whose heading is not known.
const OWN: char = '@';
/// Headings from the east, counter-clockwise.
const ARROWS: [char; 8] = ['→', '↗', '↑', '↖', '←', '↙', '↓', '↘'];

/// An object on the picture.
struct Mark {
    at: Position,
    glyph: char,
}

/// The picture at the present room time; no lines without an avatar.
pub(crate) fn radar(client: &mut Client, now: LocalTime) -> Json {
    // Advances simulated objects to the present.
    client.handle_timeout(now);
    let t = client.room_time(now).unwrap_or_default();
    let own = client.objects().find(|seen| seen.is_own() && !seen.is_room_wide());
    let own = own.and_then(|own| Some((own.position(t)?, own.yaw(t))));
    let (Some((here, yaw)), Some(rules)) = (own, client.rules()) else {
        return json!({ "ev": "radar", "t": ms(t), "lines": [] });
    };
    let others = client.objects().filter(|seen| !seen.is_own()).filter_map(|seen| {
        let glyph = rules.schema.presentation.kind(seen.kind_index().into()).look.glyph;
        Some(Mark { at: seen.position(t)?, glyph })
    });
    let marks: Vec<Mark> = others.collect();
    let farthest = marks.iter().map(|mark| here.ground_distance(mark.at)).fold(LEAST_M, f32::max);
    let looks = &rules.schema.presentation.scenery.obstacles;
    let walls = client.map().map_or(&[][..], |map| &map.obstacles).iter().map(|wall| {
        let look = wall.look.and_then(|look| looks.get(usize::from(look)));
        (wall, look.map_or(WALL, |look| look.glyph))
    });
    let walls: Vec<_> = walls.collect();
    let size = (rules.map.width_m, rules.map.height_m);
    let mut picture = Picture::new(here, farthest, size, &walls);
    for mark in &marks {
        picture.set(mark.at, mark.glyph);
    }
    picture.set(here, yaw.map_or(OWN, arrow));
    json!({ "ev": "radar", "t": ms(t), "radius_m": farthest, "lines": picture.lines() })
}

fn arrow(yaw: f32) -> char {
    let eighth = (yaw / TAU * ARROWS.len() as f32).round() as i32;
    ARROWS[eighth.rem_euclid(ARROWS.len() as i32) as usize]
}

/// The characters, and where they are.
struct Picture {
    centre: Position,
    /// Metres of a column; a line has twice as many.
    step_m: f32,
    cells: Vec<char>,
}

impl Picture {
    fn new(
        centre: Position,
        radius_m: f32,
        (width, height): (f32, f32),
        walls: &[(&StaticObstacle, char)],
    ) -> Self {
        // Both directions have to show the radius.
        let step_m = (radius_m / (LINES / 2) as f32 / 2.0).max(radius_m / (COLUMNS / 2) as f32);
        let mut picture = Self { centre, step_m, cells: Vec::with_capacity(COLUMNS * LINES) };
        for line in 0..LINES {
            for column in 0..COLUMNS {
                let at = picture.place(line, column);
                let is_on_map = (0.0..=width).contains(&at.x) && (0.0..=height).contains(&at.y);
                let wall = walls.iter().find(|(wall, _)| wall.ground_distance(at) <= step_m);
                picture.cells.push(match wall {
                    _ if !is_on_map => NOTHING,
                    Some(&(_, glyph)) => glyph,
                    None => FREE,
                });
            }
        }
        picture
    }

    /// The middle of a character.
    fn place(&self, line: usize, column: usize) -> Position {
        let east = (column as f32 - (COLUMNS / 2) as f32) * self.step_m;
        let north = ((LINES / 2) as f32 - line as f32) * 2.0 * self.step_m;
        Position::on_ground(self.centre.x + east, self.centre.y + north)
    }

    fn set(&mut self, at: Position, glyph: char) {
        let column = (at.x - self.centre.x) / self.step_m + (COLUMNS / 2) as f32;
        let line = (LINES / 2) as f32 - (at.y - self.centre.y) / (2.0 * self.step_m);
        let column = column.round() as usize;
        let line = line.round() as usize;
        if column < COLUMNS && line < LINES {
            self.cells[line * COLUMNS + column] = glyph;
        }
    }

    fn lines(&self) -> Vec<String> {
        self.cells.chunks(COLUMNS).map(|line| line.iter().collect()).collect()
    }
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
        let walls = [(&wall, WALL), (&rock, '%')];
        let mut picture =
            Picture::new(Position::on_ground(50.0, 50.0), 30.0, (60.0, 100.0), &walls);
        picture.set(Position::on_ground(50.0, 75.0), 'N');
        picture.set(Position::on_ground(58.0, 50.0), 'E');
        picture.set(Position::on_ground(50.0, 50.0), arrow(TAU / 4.0));
        picture.set(Position::on_ground(5_000.0, -50.0), 'X');
        let lines = picture.lines();
        let middle = &lines[LINES / 2];
        let at = |line: &str, glyph| line.chars().position(|other| other == glyph);
        let own = at(middle, '↑').expect("the avatar");
        assert_eq!(own, COLUMNS / 2);
        assert!(at(middle, 'E').is_some_and(|east| east > own), "{middle}");
        assert!(at(middle, WALL).is_some_and(|west| west < own), "{middle}");
        let south = lines.iter().rposition(|line| line.contains('%')).expect("it is in sight");
        assert!(south > LINES / 2 && at(&lines[south], '%').is_some_and(|west| west <= own));
        let north = lines.iter().position(|line| line.contains('N')).expect("it is in sight");
        assert!(north < LINES / 2 && at(&lines[north], 'N') == Some(own));
        assert!(middle.ends_with(NOTHING), "the map ends: {middle}");
        assert!(!lines.concat().contains('X'));
    }

    #[test]
    fn an_arrow_points_where_the_avatar_faces() {
        let turned = [0.0, 0.25, 0.5, 0.75, 0.99, -0.125].map(|turn| arrow(turn * TAU));
        assert_eq!(turned, ['→', '↑', '←', '↓', '→', '↘']);
    }
}
