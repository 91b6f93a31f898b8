//! Lines from a file or from standard input, where they can't be edited
//! ([`full_screen`](super::full_screen) edits them).
//!
//! A thread reads, since reading standard input can't be cancelled; it ends with the process.
//! Bounds: [`MAX_LINES`] lines wait, then the reader waits; a line longer than [`MAX_BYTES`] is
//! skipped and reported.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::thread;

use tokio::sync::mpsc;

/// Maximum number of waiting lines.
const MAX_LINES: usize = 16;
/// More than any command needs: a chat message has 500 characters.
const MAX_BYTES: u64 = 8_192;

/// A line was too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a line has at most {MAX_BYTES} bytes")]
pub(crate) struct LineTooLong;

/// A line without its end.
pub(crate) type ReadLine = Result<String, LineTooLong>;

/// The lines that are read.
pub(crate) type LineReceiver = mpsc::Receiver<ReadLine>;

pub(crate) fn of_file(script: BufReader<File>) -> LineReceiver {
    start(script)
}

/// The lines of standard input.
pub(crate) fn of_standard_input() -> LineReceiver {
    start(BufReader::new(io::stdin()))
}

fn start(mut source: impl BufRead + Send + 'static) -> LineReceiver {
    let (sender, lines) = mpsc::channel(MAX_LINES);
    thread::spawn(move || {
        while let Some(line) = next_line(&mut source) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// The line, unless it is too long.
pub(crate) fn checked(line: String) -> ReadLine {
    if line.len() as u64 > MAX_BYTES {
        return Err(LineTooLong);
    }
    Ok(line)
}

/// The next line without its end; invalid UTF-8 is replaced. A source that can't be read has ended.
fn next_line(source: &mut impl BufRead) -> Option<ReadLine> {
    let mut line = Vec::new();
    let read = source.by_ref().take(MAX_BYTES).read_until(b'\n', &mut line);
    if read.ok()? == 0 {
        return None;
    }
    if line.last() != Some(&b'\n') && line.len() as u64 == MAX_BYTES {
        source.skip_until(b'\n').ok()?;
        return Some(Err(LineTooLong));
    }
    Some(Ok(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_one_by_one_even_a_last_one_without_newline() {
        let mut source: &[u8] = b"rooms\r\n\nmove 1 2";
        let mut next = || next_line(&mut source);
        for expected in ["rooms", "", "move 1 2"] {
            assert_eq!(next(), Some(Ok(expected.to_owned())));
        }
        assert_eq!(next(), None);
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_to_its_end() {
        let mut text = vec![b'x'; 3 * MAX_BYTES as usize];
        text.extend_from_slice(b"\nrooms\n");
        let mut source = text.as_slice();
        assert_eq!(next_line(&mut source), Some(Err(LineTooLong)));
        assert_eq!(next_line(&mut source), Some(Ok("rooms".to_owned())));
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced() {
        let mut source: &[u8] = b"say \xff\n";
        assert_eq!(next_line(&mut source), Some(Ok("say \u{fffd}".to_owned())));
    }
}
