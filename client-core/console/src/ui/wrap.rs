//! Texts that fit a width, in columns of the terminal.

use ratatui::text::Span;

/// Columns of a text: as many as `ratatui` draws.
pub(crate) fn width(text: &str) -> usize {
    Span::raw(text).width()
}

/// The text, or its beginning with an ellipsis.
pub(crate) fn fitted(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    format!("{}…", start(text, columns.saturating_sub(1)))
}

/// The beginning that fits.
fn start(text: &str, columns: usize) -> &str {
    let ends = text.char_indices().map(|(at, letter)| at + letter.len_utf8());
    let end = ends.take_while(|&end| width(&text[..end]) <= columns).last();
    &text[..end.unwrap_or(0)]
}

/// The lines of a text, between words if they are not longer than a line; those that follow are
/// indented.
pub(crate) fn wrapped(text: &str, columns: usize, indent: usize) -> Vec<String> {
    let columns = columns.max(8);
    let indent = indent.min(columns / 2);
    let mut lines = Vec::new();
    for whole in text.split('\n') {
        let mut rest = whole;
        let mut margin = "";
        let spaces = " ".repeat(indent);
        loop {
            let space = columns - margin.len();
            if width(rest) <= space {
                lines.push(format!("{margin}{rest}"));
                break;
            }
            let fits = start(rest, space);
            // A word that ends where the line does fits, too.
            let ends_word = rest[fits.len()..].starts_with(' ');
            let end = match fits.trim_end().rfind(' ') {
                _ if ends_word => fits.len(),
                Some(at) if !fits[..at].trim().is_empty() => at,
                _ => fits.len().max(rest.chars().next().map_or(0, char::len_utf8)),
            };
            lines.push(format!("{margin}{}", rest[..end].trim_end()));
            rest = rest[end..].trim_start();
            margin = &spaces;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_wrapped_between_words() {
        let text = "make a room and go into it";
        assert_eq!(wrapped(text, 15, 2), ["make a room and", "  go into it"]);
        assert_eq!(wrapped("abcdefghijkl mn", 8, 0), ["abcdefgh", "ijkl mn"]);
        assert_eq!(wrapped("one\ntwo", 20, 2), ["one", "two"]);
        assert_eq!(wrapped("世界世界世界", 8, 0), ["世界世界", "世界"]);
    }

    #[test]
    fn what_does_not_fit_ends_with_an_ellipsis() {
        assert_eq!(fitted("meadow", 6), "meadow");
        assert_eq!(fitted("meadows", 6), "meado…");
        assert_eq!(fitted("世界世界", 4), "世…");
    }
}
