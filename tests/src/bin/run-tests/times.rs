//! Times of steps and tests as a table, and what got slower between two such tables.
//!
//! A line has a kind (`step` or `test`), seconds and a name, with tabs between them. Only what
//! takes clearly longer is named, since times differ from run to run.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};

/// Slower is what takes this many times as long as before,
const FACTOR: f64 = 1.25;
/// and this many seconds longer.
const SECONDS: f64 = 2.0;
/// The most lines of each kind.
const SHOWN: usize = 10;

/// Seconds by kind and name. Tests of one name in several programs are distinct, since a name
/// begins with its program.
type Times = BTreeMap<(String, String), f64>;

/// The table of tests, from seconds and names.
pub(crate) fn table(tests: &[(f64, String)]) -> String {
    let line = |(seconds, name): &(f64, String)| format!("test\t{seconds:.1}\t{name}\n");
    tests.iter().map(line).collect()
}

/// Lines with seconds before and now of what is slower `now` than `before`: steps, then tests, at
/// most [`SHOWN`] of each, those that lost most time first.
pub(crate) fn slower(before: &str, now: &str) -> Result<Vec<String>> {
    let before = read(before)?;
    let now = read(now)?;
    let mut lines = Vec::new();
    for kind in ["step", "test"] {
        let mut both: Vec<(&str, f64, f64)> = now
            .iter()
            .filter(|((of, _), _)| of == kind)
            .filter_map(|(key, &now)| Some((key.1.as_str(), *before.get(key)?, now)))
            .collect();
        both.retain(|(_, was, is)| is - was >= SECONDS && *is >= FACTOR * was);
        both.sort_by(|a, b| (b.2 - b.1).total_cmp(&(a.2 - a.1)));
        let line =
            |(name, was, is): &(&str, f64, f64)| format!("{was:7.1} {is:7.1}  {kind} {name}");
        lines.extend(both.iter().take(SHOWN).map(line));
    }
    Ok(lines)
}

fn read(table: &str) -> Result<Times> {
    let read = |line: &str| {
        let mut parts = line.splitn(3, '\t');
        let kind = parts.next()?;
        let seconds = parts.next()?;
        let name = parts.next()?;
        Some(((kind.to_owned(), name.to_owned()), seconds.parse().ok()?))
    };
    let read = |line: &str| read(line).with_context(|| format!("no line of times: '{line}'"));
    table.lines().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_clearly_longer_is_named_and_the_worst_first() {
        let before = "step\t100\tcompiling\nstep\t10\ttests\ntest\t1.0\tp: a\ntest\t4.0\tp: b\n\
            test\t20.0\tp: c\ntest\t9.0\tp: gone\ntest\t0.1\tp: d\n";
        let tests = [(1.9, "p: a"), (8.0, "p: b"), (26.0, "p: c"), (3.0, "p: new"), (0.9, "p: d")];
        let tests = tests.map(|(seconds, name)| (seconds, name.to_owned()));
        let now = format!("step\t120\tcompiling\nstep\t15\ttests\n{}", table(&tests));
        let expected = [
            "   10.0    15.0  step tests",
            "   20.0    26.0  test p: c",
            "    4.0     8.0  test p: b",
        ];
        assert_eq!(slower(before, &now).unwrap(), expected);
        assert!(slower(before, before).unwrap().is_empty());
    }

    #[test]
    fn of_each_kind_the_ten_that_lost_most_are_named() {
        let table = |seconds: f64| {
            let line = |n: u32| format!("test\t{}\tp: t{n}\n", seconds * f64::from(n));
            (1..=20).map(line).collect::<Vec<_>>().concat()
        };
        let lines = slower(&table(10.0), &table(20.0)).unwrap();
        assert_eq!(lines.len(), SHOWN);
        assert_eq!(lines[0], "  200.0   400.0  test p: t20");
    }

    #[test]
    fn a_table_with_another_line_is_refused() {
        let error = slower("step\ttests\n", "").expect_err("no seconds").to_string();
        assert_eq!(error, "no line of times: 'step\ttests'");
    }
}
