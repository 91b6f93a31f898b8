//! The colours of a terminal: those of games and a few of its own, as far as it has any.

use ratatui::style::{Color, Style};

/// How many colours the terminal has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Palette {
    /// None are wanted: only bold, dim and reversed.
    Plain,
    /// The cube of 6 x 6 x 6.
    Indexed,
    Rgb,
}

impl Palette {
    /// By the variables `NO_COLOR` and `COLORTERM`.
    pub(crate) fn of(no_colour: Option<&str>, colour_term: Option<&str>) -> Self {
        match (no_colour, colour_term) {
            (Some(given), _) if !given.is_empty() => Palette::Plain,
            (_, Some("truecolor" | "24bit")) => Palette::Rgb,
            _ => Palette::Indexed,
        }
    }

    /// A colour of a game, 0xRRGGBB.
    pub(crate) fn rgb(self, colour: u32) -> Style {
        let [_, red, green, blue] = colour.to_be_bytes();
        match self {
            Palette::Plain => Style::new(),
            Palette::Indexed => Style::new().fg(Color::Indexed(cube_index([red, green, blue]))),
            Palette::Rgb => Style::new().fg(Color::Rgb(red, green, blue)),
        }
    }

    /// One of the terminal's own.
    pub(crate) fn own(self, colour: Color) -> Style {
        if self == Palette::Plain { Style::new() } else { Style::new().fg(colour) }
    }
}

/// The nearest colour of the cube, whose levels are 0, 95, 135, 175, 215, 255.
fn cube_index(rgb: [u8; 3]) -> u8 {
    let level = |part: u8| match part {
        0..48 => 0,
        48..115 => 1,
        part => (part - 35) / 40,
    };
    let [red, green, blue] = rgb.map(level);
    16 + 36 * red + 6 * green + blue
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_becomes_the_nearest_one_of_the_cube() {
        assert_eq!(cube_index([0, 0, 0]), 16);
        assert_eq!(cube_index([255, 255, 255]), 231);
        assert_eq!(cube_index([0x30, 0x80, 0xff]), 16 + 36 + 2 * 6 + 5);
    }

    #[test]
    fn who_wants_no_colours_gets_none() {
        assert_eq!(Palette::of(Some("1"), Some("truecolor")), Palette::Plain);
        assert_eq!(Palette::of(Some(""), Some("truecolor")), Palette::Rgb);
        assert_eq!(Palette::of(None, None), Palette::Indexed);
    }
}
