//! The library says nothing by itself.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use ambit_tests::real::{ScratchFolder, wait_until};
use anyhow::Result;

use super::{compile, kill_host, traced_server, with_library};

#[test]
fn the_library_writes_and_logs_nothing_unless_it_is_asked_to() -> Result<()> {
    let scratch = ScratchFolder::new("engine-log");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real/engines/says_nothing.c");
    let program = compile(&scratch, "cc", &["-std=c11"], source)?;
    let trace = scratch.path().join("trace");
    let server = traced_server(&scratch, &trace)?;
    let mut command = with_library(&scratch, Command::new(program));
    // What programs in Rust heed.
    command.arg(server.world.to_string()).env("RUST_LOG", "trace").env("RUST_BACKTRACE", "1");
    let playing = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let file = trace.join("room-1.jsonl");
    wait_until("the game runs", || Ok(file.exists().then_some(())))?;
    kill_host(&server, Duration::from_secs(2))?;
    let output = playing.wait_with_output()?;
    let [written, errors] = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it));
    assert!(output.status.success(), "{}: {errors}", output.status);
    assert_eq!((&*written, &*errors), ("", ""));
    Ok(())
}
