//! Invalid command lines and environments: each program ends at once with status 2, and says what
//! is wrong, what is expected and what to do. A server that is not there is reported within seconds
//! with status 1.

use std::net::UdpSocket;
use std::process::{Command, Output, Stdio};

use ambit_tests::real::{self, Console, OutputLines, ScratchFolder, Server, binary};
use anyhow::Result;

/// What the programs are started with; each case adds arguments.
const BOTS: [&str; 5] = ["bots", "--count", "2", "--seconds", "1"];

#[test]
fn usage_errors_end_with_status_2_and_a_reason() -> Result<()> {
    let scratch = ScratchFolder::new("usage");
    let folder = scratch.path().to_str().expect("a plain path");
    let file = scratch.path().join("file");
    std::fs::write(&file, "")?;
    let file = file.to_str().expect("a plain path");
    let server = ["world-server", "--http", "off", "--listen", "127.0.0.1:0"];
    for (program, arguments, expected) in [
        (&server[..], &["--hosts", "cluster", "--nats", "htp:/x"][..], "nats://"),
        (&server, &["--nats", "nats://a:4222"], "--hosts embedded"),
        (&server, &["--hosts", "cluster"], "--nats"),
        (&server, &["--grace", "-5s"], "--grace"),
        (&server, &["--max-connections", "0"], "--max-connections"),
        (&server, &["--cert", "a.pem"], "--key"),
        (&server, &["--keep", file], "`--keep` names a file"),
        (&server, &["--hosts", "process:5..2"], "MIN is not above"),
        (&server, &["--peer-listen", "foo"], "expected IP:PORT"),
        (&["game-server"], &["--world", "127.0.0.1:0"], "with a port"),
        (&["game-server"], &["--world", "127.0.0.1:1"], "--world-cert"),
        (&["console"], &["--script", folder], "one command a line"),
        (&["console"], &["--name", ""], "1 to 24 characters"),
        (&BOTS, &["--full", "5"], "--full 5"),
        (&BOTS, &["--capacity", "1"], "--capacity 1"),
        (&BOTS, &["--profile", "cubes", "--game", "field"], "--game cubes"),
    ] {
        let output = run(&scratch, program, arguments, &[])?;
        expect_usage_error(&output, expected);
    }
    Ok(())
}

#[test]
fn an_invalid_variable_is_a_usage_error_of_every_program() -> Result<()> {
    let scratch = ScratchFolder::new("usage-variables");
    let filter = ("AMBIT_LOG", "x=y=z");
    for program in [
        &["world-server", "--http", "off", "--listen", "127.0.0.1:0"][..],
        &["game-server", "--world", "stdio"],
        &["console"],
        &BOTS,
    ] {
        let output = run(&scratch, program, &[], &[filter])?;
        expect_usage_error(&output, "AMBIT_LOG");
    }
    let content = ("AMBIT_CONTENT", "/no/such/folder");
    for program in [&["world-server"][..], &["game-server", "--world", "stdio"]] {
        let output = run(&scratch, program, &[], &[content])?;
        expect_usage_error(&output, "AMBIT_CONTENT=/no/such/folder: ");
    }
    let nats = ("AMBIT_NATS", "nats://a:4222");
    let output = run(&scratch, &["world-server"], &[], &[nats])?;
    expect_usage_error(&output, "the environment variable `AMBIT_NATS`");
    Ok(())
}

#[test]
fn a_server_that_is_not_there_is_named_with_status_1() -> Result<()> {
    let scratch = ScratchFolder::new("nobody");
    // Nothing reads this socket.
    let silent = UdpSocket::bind("127.0.0.1:0")?;
    let address = silent.local_addr()?.to_string();
    for program in [&["console"][..], &BOTS] {
        let output = run(&scratch, program, &["--server", &address], &[])?;
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{errors}");
        let parts = ["nothing answered within 3.5 s", "Is the server running", "1,200 bytes"];
        for part in parts.into_iter().chain([address.as_str()]) {
            assert!(errors.contains(part), "{program:?}: {errors}");
        }
    }
    Ok(())
}

#[test]
fn a_program_whose_output_is_full_says_so_without_a_panic() -> Result<()> {
    let scratch = ScratchFolder::new("full-output");
    let server = Server::start(&scratch, &[])?;
    let server = server.world.to_string();
    let bots = ["--count", "1", "--seconds", "1", "--settle", "1", "--server", &server];
    for (program, arguments, status) in [
        ("bots", &[&bots[..], &["--game", "field"]].concat()[..], Some(1)),
        ("world-server", &["--help"], Some(0)),
        ("world-server", &["replay", "--help"], Some(0)),
        ("game-server", &["check-content", "--help"], Some(0)),
    ] {
        let mut command = Command::new(binary(program));
        scratch.confine(&mut command);
        let full = std::fs::File::options().write(true).open("/dev/full")?;
        let output = command.args(arguments).stdout(full).stderr(Stdio::piped()).spawn()?;
        let output = output.wait_with_output()?;
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), status, "{program} {arguments:?}: {errors}");
        assert!(!errors.contains("panicked"), "{program} {arguments:?}: {errors}");
        assert!(status == Some(0) || errors.contains("standard output"), "{errors}");
    }
    Ok(())
}

#[test]
fn bots_that_were_all_put_out_end_with_status_1() -> Result<()> {
    let scratch = ScratchFolder::new("put-out");
    let server = Server::start(&scratch, &[])?;
    let mut ann = Console::start(&scratch, server.world, "ann", &[])?;
    ann.run_command("create den game=field", "created")?;
    ann.run_command("start", "started")?;
    let mut command = Command::new(binary("bots"));
    scratch.confine(&mut command);
    command.args(["--count", "1", "--seconds", "4", "--settle", "1"]);
    command.args(["--room", "den", "--server", &server.world.to_string()]);
    let mut bots = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut lines = OutputLines::read_from(bots.stdout.take().expect("piped"));
    lines.find("the measured time", |line| (line == "measuring").then_some(()))?;
    // The bots notice within 50 ms that the measured time has begun.
    ann.type_in("wait 1s")?;
    ann.type_in("kick bot-1")?;
    let output = bots.wait_with_output()?;
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(
        errors.contains("no bot was left in the game at the end") && errors.contains("kicked"),
        "{errors}"
    );
    Ok(())
}

fn run(
    scratch: &ScratchFolder,
    program: &[&str],
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> Result<Output> {
    let mut command = Command::new(binary(program[0]));
    scratch.confine(&mut command);
    command.args(&program[1..]).args(arguments);
    real::output(command.envs(variables.iter().copied()))
}

fn expect_usage_error(output: &Output, expected: &str) {
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{expected}: {errors}");
    assert!(errors.contains(expected), "{expected}: {errors}");
}
