//! Files of figures in `docs/data`, which benches write and `docs/figures.md` explains.
//!
//! A table in Markdown goes in. Its rows come out with tabs between the cells, below a head that
//! says with which command, build and machine they were measured, and when.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use ambit_proto::message;

/// The machine of figures that are measured on simulated time.
pub const ANY_MACHINE: &str = "any (simulated time)";

/// Writes `docs/data/NAME.tsv`.
///
/// # Panics
///
/// If the file cannot be written.
pub fn write(name: &str, command: &str, machine: &str, table: &str) {
    let commit = output_of("git", &["rev-parse", "--short=8", "HEAD"]);
    let date = output_of("date", &["-u", "+%F"]);
    let mut text = format!(
        "# command: {command}\n\
         # commit: {commit}\n\
         # datagram version: {}\n\
         # machine: {machine}\n\
         # date: {date}\n",
        message::VERSION
    );
    for row in rows(table) {
        writeln!(text, "{}", row.join("\t")).expect("writing to a string cannot fail");
    }
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("docs");
    let path = docs.join("data").join(name).with_extension("tsv");
    std::fs::write(path, text).expect("the data can be written");
}

/// The cells of a table in Markdown, heading first.
fn rows(table: &str) -> impl Iterator<Item = Vec<&str>> {
    let rows = table.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    rows.map(|row| row.split(" | ").map(str::trim).collect::<Vec<_>>())
        .filter(|cells| cells.iter().any(|cell| *cell != "---"))
}

/// The first line that a program prints, or `unknown`.
fn output_of(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().ok();
    let output = output.filter(|output| output.status.success());
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    text.filter(|text| !text.is_empty()).unwrap_or_else(|| "unknown".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_becomes_rows_of_cells_without_its_rule() {
        let table = "| loss % | age |\n| --- | --- |\n| 5 | 33 / 100 |\n| 20 | - |\n";
        let rows: Vec<_> = rows(table).collect();
        assert_eq!(rows, [["loss %", "age"], ["5", "33 / 100"], ["20", "-"]]);
    }
}
