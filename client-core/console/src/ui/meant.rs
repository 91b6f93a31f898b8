//! The line that a player meant: a wrong word in it is replaced by the candidate that is nearest.
//!
//! A line and what is known go in, another line comes out. Which words can stand where is the
//! matter of completion, so commands, games, rooms and choices of a game are all found.

use ambit_client_text::completion::{self, KnownNames};

/// The line with its first wrong word corrected; `None` if there is none, or nothing is near.
pub(crate) fn meant(line: &str, known: &KnownNames) -> Option<String> {
    let mut end = 0;
    for word in line.split_whitespace() {
        let start = end + line[end..].find(word)?;
        end = start + word.len();
        let (before, after) = (&line[..start], &line[end..]);
        // Of an option, the value is completed after its key.
        let key = word.find('=').filter(|_| !before.trim().is_empty()).map_or(0, |at| at + 1);
        let begun = &line[..start + key];
        let candidates = completion::complete(begun, begun.len(), known).candidates;
        let names: Vec<&str> = candidates.iter().map(|it| it.text.trim_end()).collect();
        if names.contains(&word) {
            continue;
        }
        if names.is_empty() {
            // There may be no values since there is no such option.
            match meant_key(line, start, &word[..key], known) {
                Some(name) => return Some(format!("{before}{name}{}", &line[start + key..])),
                None => continue,
            }
        }
        if let Some(name) = nearest(&names, word) {
            return Some(format!("{before}{name}{after}"));
        }
    }
    None
}

/// The option that is meant by this one, `key=`, which begins here in the line.
fn meant_key(line: &str, start: usize, key: &str, known: &KnownNames) -> Option<String> {
    if key.is_empty() {
        return None;
    }
    let candidates = completion::complete(&line[..start], start, known).candidates;
    let names: Vec<&str> = candidates.iter().map(|it| it.text.trim_end()).collect();
    if names.contains(&key) {
        return None;
    }
    nearest(&names, key).map(str::to_owned)
}

/// The name that is nearest to a word, if it is near.
fn nearest<'n>(names: &[&'n str], word: &str) -> Option<&'n str> {
    // Of two that are as near, the one that goes on as the word does.
    let rank = |name: &&str| (strsim::osa_distance(name, word), !name.starts_with(word));
    let name = names.iter().copied().min_by_key(rank)?;
    // Of a short word, one letter may be wrong.
    (rank(&name).0 <= word.chars().count().div_ceil(3).min(3)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::tests::welcome;

    #[test]
    fn a_wrong_word_is_replaced_by_the_nearest_one() {
        let mut known = KnownNames::default();
        known.handle_event(&welcome(&["field"]));
        for (line, expected) in [
            ("romos", Some("rooms")),
            ("crate den game=field", Some("create den game=field")),
            ("create den game=feild", Some("create den game=field")),
            ("create den gme=field", Some("create den game=field")),
            ("create den game=field capcity=4", Some("create den game=field capacity=4")),
            ("create den game=field npcs=4", None),
            ("quick fild", Some("quick field")),
            ("watch of", Some("watch off")),
            ("wacth off", Some("watch off")),
            ("rooms", None),
            ("dance", None),
            ("say helo", None),
        ] {
            assert_eq!(meant(line, &known).as_deref(), expected, "{line}");
        }
    }
}
