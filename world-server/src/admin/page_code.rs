//! The address of the page as a QR code: a phone reads it from the terminal, or from the page on
//! another screen.

use qrcode::QrCode;
use qrcode::render::{svg, unicode};

/// What a phone's camera can still read from a screen.
const SVG_PIXELS: u32 = 240;

/// As text of half blocks, for terminals; `None` if the address is too long for a code.
pub(crate) fn for_terminal(address: &str) -> Option<String> {
    let code = QrCode::new(address).ok()?;
    // Most terminals are dark.
    let inverted = code
        .render::<unicode::Dense1x2>()
        .dark_color(unicode::Dense1x2::Light)
        .light_color(unicode::Dense1x2::Dark)
        .build();
    Some(inverted)
}

/// As a picture; `None` if the address is too long for a code.
pub(super) fn as_svg(address: &str) -> Option<String> {
    let code = QrCode::new(address).ok()?;
    Some(code.render::<svg::Color<'_>>().min_dimensions(SVG_PIXELS, SVG_PIXELS).build())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_becomes_a_code_for_terminals_and_a_picture() {
        let address = "https://192.168.1.5:7443/#room=3";
        let text = for_terminal(address).expect("short enough");
        let widths: Vec<usize> = text.lines().map(|line| line.chars().count()).collect();
        // 29 modules, with a quiet zone of 4 on each side; two rows to a line.
        assert_eq!((widths.len(), widths[0]), (19, 37));
        assert!(widths.iter().all(|width| *width == widths[0]));
        let picture = as_svg(address).expect("short enough");
        assert!(picture.starts_with("<?xml") && picture.contains("<svg"), "{picture}");
        assert_ne!(Some(picture), as_svg("https://192.168.1.5:7443/#room=4"));
        assert_eq!(for_terminal(&"x".repeat(8_000)), None);
    }
}
