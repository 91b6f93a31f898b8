//! Reads `tests/known-unsteady`, the list of the tests that are known to pass only sometimes, and
//! says of a test whether it is in there.

use anyhow::{Context as _, Result, ensure};

use crate::again::Unsteady;

/// A test that is known to pass only sometimes.
#[derive(Debug, PartialEq)]
pub(crate) struct Known {
    /// `heroes::a_journey`
    name: String,
    /// Since when: `2026-11-29`.
    date: String,
    cause: String,
}

/// Reads the list: a test a line, with a date and the cause; `#` begins a comment.
pub(crate) fn read(list: &str) -> Result<Vec<Known>> {
    let lines = list.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let read = |line: &str| {
        let mut words = line.splitn(3, ' ').map(|word| word.trim().to_owned());
        let mut word = || words.next().filter(|word| !word.is_empty());
        let name = word();
        let date = word();
        let cause = word();
        let known = name.zip(date).zip(cause);
        let ((name, date), cause) =
            known.with_context(|| format!("known-unsteady: NAME DATE CAUSE, not '{line}'"))?;
        let is_date = date.len() == 10
            && date.bytes().enumerate().all(|(at, byte)| match at {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        ensure!(is_date, "known-unsteady: '{date}' of {name} is no date such as 2026-11-29");
        Ok(Known { name, date, cause })
    };
    lines.map(read).collect()
}

/// A line for the end of a run: which test, what it did, and whether that is known.
pub(crate) fn line(unsteady: &Unsteady, known: &[Known]) -> String {
    let Unsteady { name, how } = unsteady;
    let is_it = |known: &&Known| name.split_once(": ").is_some_and(|(_, test)| test == known.name);
    match known.iter().find(is_it) {
        Some(Known { date, cause, .. }) => {
            format!("UNSTEADY, known since {date}: {name}: {}; {cause}", how.words())
        }
        None => format!("UNSTEADY, NEW: {name}: {}", how.words()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::again::How;

    const LIST: &str = include_str!("../../../known-unsteady");
    /// The list may only shrink: so does this number.
    const AT_MOST: usize = 0;

    #[test]
    fn the_list_of_unsteady_tests_only_shrinks_and_names_tests_that_exist() {
        let known = read(LIST).unwrap();
        assert_eq!(known.len(), AT_MOST, "{known:?}");
        for Known { name, .. } in &known {
            let (file, test) = name.rsplit_once("::").expect("module and test");
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/real/");
            let path = format!("{folder}{}.rs", file.replace("::", "/"));
            let text = std::fs::read_to_string(&path).expect(&path);
            assert!(text.contains(&format!("fn {test}(")), "{path} has no test {test}");
        }
    }

    #[test]
    fn a_line_of_the_list_has_name_date_and_cause() {
        let known = read("# A comment.\n\nheroes::a 2026-11-29 the host is slow\n").unwrap();
        let expected = Known {
            name: "heroes::a".to_owned(),
            date: "2026-11-29".to_owned(),
            cause: "the host is slow".to_owned(),
        };
        assert_eq!(known, [expected]);
        for wrong in ["heroes::a", "heroes::a 2026-11-29", "heroes::a yesterday slow"] {
            let error = read(wrong).expect_err(wrong).to_string();
            assert!(error.starts_with("known-unsteady: "), "{error}");
        }
    }

    #[test]
    fn a_test_that_is_not_in_the_list_is_marked_as_new() {
        let known = read("heroes::a 2026-11-29 the host is slow").unwrap();
        let of = |name: &str| Unsteady { name: name.to_owned(), how: How::PassedAlone };
        assert_eq!(
            line(&of("ambit-tests real: heroes::a"), &known),
            "UNSTEADY, known since 2026-11-29: ambit-tests real: heroes::a: failed twice beside \
             others, passed only alone; the host is slow"
        );
        assert_eq!(
            line(&of("ambit-tests real: heroes::a_b"), &known),
            "UNSTEADY, NEW: ambit-tests real: heroes::a_b: failed twice beside others, passed only \
             alone"
        );
    }
}
