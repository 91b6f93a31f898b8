//! `game-server check-content`, as an operator runs it.

use std::process::Command;

/// Standard output, and the exit status.
fn check(arguments: &[&str]) -> (String, Option<i32>) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_game-server"));
    let output = program.arg("check-content").args(arguments).output().expect("the program runs");
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
}

#[test]
fn a_folder_of_content_is_good_or_each_mistake_is_told() {
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/games/deus/content");
    let (said, status) = check(&[shipped]);
    assert!(said.starts_with("7 files, ") && said.trim_end().ends_with(": good"), "{said}");
    assert_eq!(status, Some(0));
    let (said, status) = check(&[concat!(env!("CARGO_MANIFEST_DIR"), "/src")]);
    assert_eq!((said.lines().count(), status), (7, Some(1)), "{said}");
    let (help, status) = check(&["--help"]);
    assert!(help.contains("game-server check-content DIR") && status == Some(0), "{help}");
    assert_eq!(check(&[]).1, Some(2));
}
