//! The program `client`.

use std::process::Command;

#[test]
fn the_client_says_how_it_is_called_and_connects_nowhere_meanwhile() {
    for flag in ["--help", "-h"] {
        let output = Command::new(env!("CARGO_BIN_EXE_client")).arg(flag).output();
        let output = output.expect("it starts");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.starts_with("usage: client [ADDRESS]"), "{said}");
    }
}
