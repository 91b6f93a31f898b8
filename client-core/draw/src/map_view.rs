//! The picture of a scene: the map, the objects by their looks, texts.
//!
//! A frame, the static map and texts go in; pixels come out. North is up, and the player's avatar
//! is in the middle.

use std::collections::VecDeque;

use ambit_client::presentation::{Look, Material, Shape};
use ambit_client::{
    Frame, FrameEntry, FrameObject, FrameValue, ObstacleShape, StaticMap, StaticObstacle,
};

use crate::canvas::{At, CHARACTER, Canvas, Paint, mix};

/// Pixels a metre.
const SCALE: f32 = 10.0;
/// Between two lines of the ground, in metres.
const GRID_M: f32 = 10.0;
/// Rows of the table of what all players have.
const ROWS: usize = 8;

const GROUND: u32 = 0x1d_242c;
const LINE: u32 = 0x28_313b;
const WALL: u32 = 0x5b_6672;
const TEXT: u32 = 0xe6_ebf0;
const FAINT: u32 = 0x9a_a7b4;
const PANEL: Paint = Paint(0x0d_1116, 0.7);

/// What is drawn.
pub(crate) struct Scene<'s> {
    pub(crate) frame: &'s Frame,
    pub(crate) map: Option<&'s StaticMap>,
    pub(crate) lines: &'s VecDeque<String>,
    /// What the player types, if it does.
    pub(crate) typed: Option<&'s str>,
    pub(crate) status: &'s str,
}

/// The part of the map that is drawn.
pub(crate) struct MapView {
    /// In metres: east, north.
    middle: At,
    /// In pixels.
    size: At,
}

impl MapView {
    pub(crate) fn around(avatar: Option<FrameObject<'_>>, size: [usize; 2]) -> Self {
        let middle = avatar.map_or([0.0; 2], |it| [it.position().x, it.position().y]);
        MapView { middle, size: size.map(|side| side as f32) }
    }

    /// Where a place of the map is drawn.
    fn at(&self, [x, y]: At) -> At {
        let [width, height] = self.size;
        let [middle_x, middle_y] = self.middle;
        [width / 2.0 + (x - middle_x) * SCALE, height / 2.0 - (y - middle_y) * SCALE]
    }

    /// The place of the map that is drawn there.
    pub(crate) fn place(&self, [x, y]: At) -> At {
        let [width, height] = self.size;
        let [middle_x, middle_y] = self.middle;
        [middle_x + (x - width / 2.0) / SCALE, middle_y - (y - height / 2.0) / SCALE]
    }

    pub(crate) fn draw(&self, scene: &Scene<'_>, canvas: &mut Canvas) {
        canvas.fill(GROUND);
        self.draw_grid(canvas);
        let obstacles = scene.map.map_or(&[][..], |map| &map.obstacles);
        for obstacle in obstacles {
            self.draw_obstacle(obstacle, canvas);
        }
        for object in scene.frame.objects() {
            self.draw_object(object, canvas);
        }
        for object in scene.frame.objects() {
            self.draw_texts(object, canvas);
        }
        self.draw_panels(scene, canvas);
    }

    fn draw_grid(&self, canvas: &mut Canvas) {
        let [width, height] = self.size;
        let [west, north] = self.place([0.0, 0.0]);
        let first = |at: f32| (at / GRID_M).ceil() * GRID_M;
        let mut x = first(west);
        while self.at([x, 0.0])[0] < width {
            canvas.rectangle([self.at([x, 0.0])[0], 0.0], [1.0, height], Paint(LINE, 1.0));
            x += GRID_M;
        }
        let mut y = first(north) - GRID_M;
        while self.at([0.0, y])[1] < height {
            canvas.rectangle([0.0, self.at([0.0, y])[1]], [width, 1.0], Paint(LINE, 1.0));
            y -= GRID_M;
        }
    }

    fn draw_obstacle(&self, obstacle: &StaticObstacle, canvas: &mut Canvas) {
        let StaticObstacle { centre, shape, .. } = obstacle;
        let at = self.at([centre.x, centre.y]);
        // Its shadow, itself, and its lighter top.
        let layers = [
            ([4.0, 5.0], 0.0, Paint(0x00_0000, 0.35)),
            ([0.0, 0.0], 0.0, Paint(mix(WALL, 0x00_0000, 0.35), 1.0)),
            ([0.0, 0.0], 2.0, Paint(WALL, 1.0)),
        ];
        for (offset, inset, paint) in layers {
            let [x, y] = [at[0] + offset[0], at[1] + offset[1]];
            match *shape {
                ObstacleShape::Cylinder { radius, .. } => {
                    canvas.disc([x, y], radius * SCALE - inset, paint);
                }
                ObstacleShape::Box { half: [half_x, half_y, _], .. } => {
                    let half = [half_x * SCALE - inset, half_y * SCALE - inset];
                    canvas.polygon(&turned_box([x, y], half, shape.axis()), paint);
                }
            }
        }
    }

    fn draw_object(&self, object: FrameObject<'_>, canvas: &mut Canvas) {
        let look = object.look();
        let position = object.position();
        // What is in the air is drawn higher.
        let [x, y] = self.at([position.x, position.y + position.z / 2.0]);
        let radius = radius(look);
        if look.material == Material::Glow {
            canvas.disc([x, y], radius * 2.2, Paint(look.colour, 0.2));
        } else {
            let below = self.at([position.x, position.y]);
            canvas.disc([below[0] + 2.0, below[1] + 3.0], radius, Paint(0x00_0000, 0.35));
        }
        if object.is_own() {
            canvas.ring([x, y], radius + 4.0, 1.5, Paint(TEXT, 0.8));
        }
        let edge = Paint(mix(look.colour, 0x00_0000, 0.45), 1.0);
        let inner = Paint(look.colour, 1.0);
        let (sin, cos) = object.heading().sin_cos();
        match look.shape {
            Shape::Arrow => {
                for (size, paint) in [(radius, edge), (radius - 2.0, inner)] {
                    canvas.polygon(&arrow([x, y], size, [cos, sin]), paint);
                }
            }
            Shape::Box => {
                for (size, paint) in [(radius, edge), (radius - 1.5, inner)] {
                    canvas.polygon(&turned_box([x, y], [size; 2], [cos, sin]), paint);
                }
            }
            Shape::Disc | Shape::Point => {
                canvas.disc([x, y], radius, edge);
                canvas.disc([x, y], radius - 1.5, inner);
                if object.moves() {
                    let nose = [x + cos * radius * 0.55, y - sin * radius * 0.55];
                    canvas.disc(nose, radius * 0.25, Paint(0xff_ffff, 0.85));
                }
            }
        }
    }

    fn draw_texts(&self, object: FrameObject<'_>, canvas: &mut Canvas) {
        let radius = radius(object.look());
        let [x, y] = self.at([object.position().x, object.position().y]);
        if let Some(bar) = object.bar().filter(|bar| bar.max > 0.0) {
            let full = bar.value / bar.max;
            let [left, top, width] = [x - 14.0, y - radius - 10.0, 28.0];
            let colour = mix(0xe0_4040, 0x50_c060, full);
            canvas.rectangle([left - 1.0, top - 1.0], [width + 2.0, 5.0], Paint(0, 0.6));
            canvas.rectangle([left, top], [width * full, 3.0], Paint(colour, 1.0));
        }
        if let Some(label) = object.label() {
            canvas.label(label, [x, y + radius + 4.0], TEXT);
        }
    }

    /// The status, the chat, and what all players have.
    fn draw_panels(&self, scene: &Scene<'_>, canvas: &mut Canvas) {
        let [width, height] = self.size;
        let in_sight = scene.frame.objects().len();
        let status = format!("{}   {in_sight} in sight", scene.status);
        draw_panel(canvas, [10.0, 10.0], &[status], FAINT);
        let rows: Vec<String> = scene.frame.room_wide().take(ROWS).map(row).collect();
        let widest = rows.iter().map(|row| row.chars().count()).max().unwrap_or_default();
        draw_panel(canvas, [width - widest as f32 * CHARACTER[0] - 26.0, 10.0], &rows, TEXT);
        let typed = scene.typed.map(|typed| format!("> {typed}_"));
        let lines: Vec<String> = scene.lines.iter().cloned().chain(typed).collect();
        let top = height - lines.len() as f32 * (CHARACTER[1] + 3.0) - 22.0;
        draw_panel(canvas, [10.0, top], &lines, TEXT);
    }
}

/// In pixels; what is small can be seen, too.
fn radius(look: &Look) -> f32 {
    let least = if look.shape == Shape::Point { 2.5 } else { 5.0 };
    (look.size_m * SCALE / 2.0).max(least)
}

/// Lines of text on a dark ground.
fn draw_panel(canvas: &mut Canvas, [x, y]: At, lines: &[String], colour: u32) {
    let Some(widest) = lines.iter().map(|line| line.chars().count()).max() else { return };
    let step = CHARACTER[1] + 3.0;
    let size = [widest as f32 * CHARACTER[0] + 16.0, lines.len() as f32 * step + 9.0];
    canvas.rectangle([x, y], size, PANEL);
    for (index, line) in lines.iter().enumerate() {
        canvas.text(line, [x + 8.0, y + 6.0 + index as f32 * step], colour);
    }
}

/// The values of what has no place: `ann  points 3`.
fn row(entry: FrameEntry<'_>) -> String {
    let values = entry.values().filter_map(|(name, value)| match value {
        FrameValue::Text(text) => Some(text.to_owned()).filter(|text| !text.is_empty()),
        FrameValue::Number(number) => Some(format!("{name} {number}")),
        FrameValue::Gauge(gauge) => Some(format!("{name} {:.0}", gauge.value)),
        FrameValue::Flag(true) => Some(name.to_owned()),
        FrameValue::Flag(false)
        | FrameValue::Decimal(_)
        | FrameValue::Counts(_)
        | FrameValue::Bytes(_)
        | FrameValue::Rows(_) => None,
    });
    values.collect::<Vec<_>>().join("  ")
}

/// Its corners, clockwise on the screen; `axis` is the direction of its own x axis on the map.
fn turned_box([x, y]: At, [half_x, half_y]: At, [cos, sin]: At) -> [At; 4] {
    [[-1.0, 1.0], [1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]].map(|[side_x, side_y]| {
        let [own_x, own_y] = [side_x * half_x, side_y * half_y];
        [x + own_x * cos - own_y * sin, y - (own_x * sin + own_y * cos)]
    })
}

fn arrow([x, y]: At, size: f32, [cos, sin]: At) -> [At; 3] {
    [[1.2, 0.0], [-0.8, -0.8], [-0.8, 0.8]].map(|[own_x, own_y]: At| {
        let [own_x, own_y] = [own_x * size, own_y * size];
        [x + own_x * cos - own_y * sin, y - (own_x * sin + own_y * cos)]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_click_hits_the_place_that_is_drawn_there() {
        let view = MapView { middle: [100.0, 50.0], size: [960.0, 600.0] };
        assert_eq!(view.at([100.0, 50.0]), [480.0, 300.0]);
        let north_east = view.at([101.0, 52.0]);
        assert_eq!(north_east, [480.0 + SCALE, 300.0 - 2.0 * SCALE]);
        assert_eq!(view.place(north_east), [101.0, 52.0]);
    }

    #[test]
    fn shapes_are_drawn_in_one_direction() {
        for axis in [[1.0, 0.0], [0.6, 0.8], [0.0, -1.0]] {
            let mut canvas = Canvas::new([40, 40]);
            canvas.polygon(&turned_box([20.0, 20.0], [10.0, 4.0], axis), Paint(0xff_ffff, 1.0));
            assert_eq!(canvas.pixels()[20 * 40 + 20], 0xff_ffff, "a box along {axis:?}");
            let mut canvas = Canvas::new([40, 40]);
            canvas.polygon(&arrow([20.0, 20.0], 10.0, axis), Paint(0xff_ffff, 1.0));
            assert_eq!(canvas.pixels()[20 * 40 + 20], 0xff_ffff, "an arrow along {axis:?}");
        }
    }
}
