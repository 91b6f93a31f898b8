//! Pixels in memory, and shapes with smooth edges in them.

use std::convert::Infallible;

use embedded_graphics::geometry::{OriginDimensions, Point, Size};
use embedded_graphics::mono_font::MonoTextStyle;
use embedded_graphics::mono_font::iso_8859_1::FONT_7X13;
use embedded_graphics::pixelcolor::{Rgb888, RgbColor};
use embedded_graphics::text::{Baseline, Text};
use embedded_graphics::{Drawable, Pixel, draw_target::DrawTarget};

/// A character, in pixels.
pub(crate) const CHARACTER: [f32; 2] = [7.0, 13.0];

/// A place on it, in pixels, from the left and from the top.
pub(crate) type At = [f32; 2];

/// A colour, 0xRRGGBB, and how much of it: 0 to 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint(pub(crate) u32, pub(crate) f32);

/// See the module.
pub(crate) struct Canvas {
    size: [usize; 2],
    pixels: Vec<u32>,
}

impl Canvas {
    pub(crate) fn new(size: [usize; 2]) -> Self {
        Canvas { size, pixels: vec![0; size[0] * size[1]] }
    }

    pub(crate) fn pixels(&self) -> &[u32] {
        &self.pixels
    }

    pub(crate) fn fill(&mut self, colour: u32) {
        self.pixels.fill(colour);
    }

    pub(crate) fn disc(&mut self, [x, y]: At, radius: f32, paint: Paint) {
        self.shape([x - radius, y - radius], [x + radius, y + radius], paint, |[at_x, at_y]| {
            radius - (at_x - x).hypot(at_y - y)
        });
    }

    pub(crate) fn ring(&mut self, [x, y]: At, radius: f32, width: f32, paint: Paint) {
        let outer = radius + width;
        self.shape([x - outer, y - outer], [x + outer, y + outer], paint, |[at_x, at_y]| {
            width / 2.0 - ((at_x - x).hypot(at_y - y) - radius).abs()
        });
    }

    pub(crate) fn rectangle(&mut self, [x, y]: At, [width, height]: At, paint: Paint) {
        let corners = [[x, y], [x + width, y], [x + width, y + height], [x, y + height]];
        self.polygon(&corners, paint);
    }

    /// A convex one, whose corners follow each other clockwise.
    pub(crate) fn polygon(&mut self, corners: &[At], paint: Paint) {
        let least = |axis: usize| corners.iter().map(|at| at[axis]).fold(f32::INFINITY, f32::min);
        let most = |axis: usize| corners.iter().map(|at| at[axis]).fold(-f32::INFINITY, f32::max);
        let inside = |[x, y]: At| {
            let next = corners.iter().cycle().skip(1);
            let edges = corners.iter().zip(next).map(|([from_x, from_y], [to_x, to_y])| {
                let [way_x, way_y] = [to_x - from_x, to_y - from_y];
                (way_x * (y - from_y) - way_y * (x - from_x)) / way_x.hypot(way_y).max(1e-6)
            });
            edges.fold(f32::INFINITY, f32::min)
        };
        self.shape([least(0), least(1)], [most(0), most(1)], paint, inside);
    }

    /// Paints where `inside` is positive: how far a place is from the edge, in pixels.
    fn shape(&mut self, least: At, most: At, paint: Paint, inside: impl Fn(At) -> f32) {
        let [width, height] = self.size;
        let begin = |at: f32| (at - 1.0).max(0.0) as usize;
        let end = |at: f32, size: usize| ((at + 2.0).max(0.0) as usize).min(size);
        for y in begin(least[1])..end(most[1], height) {
            for x in begin(least[0])..end(most[0], width) {
                let covered = (inside([x as f32 + 0.5, y as f32 + 0.5]) + 0.5).clamp(0.0, 1.0);
                let pixel = &mut self.pixels[y * width + x];
                *pixel = mix(*pixel, paint.0, covered * paint.1);
            }
        }
    }

    /// Begins at this place, its upper left corner.
    pub(crate) fn text(&mut self, text: &str, [x, y]: At, colour: u32) {
        let [_, red, green, blue] = colour.to_be_bytes();
        let style = MonoTextStyle::new(&FONT_7X13, Rgb888::new(red, green, blue));
        let at = Point::new(x.round() as i32, y.round() as i32);
        let Ok(_) = Text::with_baseline(text, at, style, Baseline::Top).draw(self);
    }

    /// With this place in the middle of its upper edge, and a shadow, to be read on any ground.
    pub(crate) fn label(&mut self, text: &str, [x, y]: At, colour: u32) {
        let x = x - text.chars().count() as f32 * CHARACTER[0] / 2.0;
        self.text(text, [x + 1.0, y + 1.0], 0x0a_0c10);
        self.text(text, [x, y], colour);
    }
}

/// `share` of the upper colour over the lower one.
pub(crate) fn mix(lower: u32, upper: u32, share: f32) -> u32 {
    let [lower, upper] = [lower, upper].map(u32::to_be_bytes);
    let part = |index: usize| {
        let [from, to] = [lower, upper].map(|colour| f32::from(colour[index]));
        (from + (to - from) * share).round() as u8
    };
    u32::from_be_bytes([0, part(1), part(2), part(3)])
}

impl OriginDimensions for Canvas {
    fn size(&self) -> Size {
        Size::new(self.size[0] as u32, self.size[1] as u32)
    }
}

impl DrawTarget for Canvas {
    type Color = Rgb888;
    type Error = Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<Rgb888>>>(
        &mut self,
        pixels: I,
    ) -> Result<(), Infallible> {
        let [width, height] = self.size;
        for Pixel(Point { x, y }, colour) in pixels {
            let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else { continue };
            if x < width && y < height {
                let parts = [0, colour.r(), colour.g(), colour.b()];
                self.pixels[y * width + x] = u32::from_be_bytes(parts);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_covers_its_inside_and_half_of_its_edge() {
        let mut canvas = Canvas::new([8, 4]);
        canvas.rectangle([2.0, 1.0], [3.5, 2.0], Paint(0xff_ffff, 1.0));
        let row = &canvas.pixels()[8..16];
        assert_eq!(row, [0, 0, 0xff_ffff, 0xff_ffff, 0xff_ffff, 0x80_8080, 0, 0]);
        assert_eq!(canvas.pixels()[..8], [0; 8]);
        canvas.disc([-50.0, 2.0], 10.0, Paint(0xff_0000, 1.0));
        assert_eq!(canvas.pixels()[8], 0, "beyond the edge");
    }

    #[test]
    fn colours_are_mixed_part_by_part() {
        assert_eq!(mix(0x00_10ff, 0xff_2000, 0.0), 0x00_10ff);
        assert_eq!(mix(0x00_10ff, 0xff_2000, 1.0), 0xff_2000);
        assert_eq!(mix(0x00_10f0, 0x80_2000, 0.5), 0x40_1878);
    }
}
