//! What an operator reads when something is wrong around a server: files, hosts with another key.

use std::process::{Command, Stdio};

use ambit_tests::real::{self, Console, Host, ScratchFolder, Server};
use anyhow::{Context, Result};

#[test]
fn a_room_starts_without_files_when_these_cannot_be_made() -> Result<()> {
    let scratch = ScratchFolder::new("no-files");
    let records = scratch.path().join("records");
    let flag = records.to_str().context("a plain path")?;
    let mut server = Server::start(&scratch, &["--record", flag])?;
    let mut console = Console::start(&scratch, server.world, "ann", &[])?;
    console.run_command("create first game=field npcs=1", "created")?;
    console.run_command("start", "started")?;
    std::fs::remove_dir_all(&records)?;
    console.run_command("leave", "left")?;
    console.run_command("create second game=field npcs=1", "created")?;
    console.run_command("start", "started")?;
    let not_made = "ambit_drops_total{queue=\"room_files\",reason=\"not_made\"}";
    server.wait_for_metrics("the room without files", |metrics| {
        metrics.get(not_made) == Some(&1.0)
    })?;
    let log = server.take_log();
    let warned = log.iter().any(|line| line.contains("files can't be made"));
    assert!(warned, "{log:#?}");
    Ok(())
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_refuses_to_start_if_it_cannot_write_its_files() -> Result<()> {
    let scratch = ScratchFolder::new("read-only");
    for (flag, hosts) in [("--trace", "embedded"), ("--record", "process:1")] {
        let mut command = Command::new(real::binary("world-server"));
        scratch.confine(&mut command);
        // No user can create files in that directory.
        command.args([flag, "/proc", "--hosts", hosts, "--listen", "127.0.0.1:0"]);
        command.args(["--http", "off"]).stdin(Stdio::null());
        let output = command.output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("cannot write to the directory /proc"), "{said}");
    }
    Ok(())
}

#[test]
fn hosts_with_another_key_are_counted() -> Result<()> {
    let scratch = ScratchFolder::new("other-key");
    let server = Server::start(&scratch, &["--host-key", "not the key of these tests"])?;
    let mut host = Host::start(&scratch, &server, &[], &[])?;
    server.wait_for_metrics("the refused host", |metrics| {
        metrics["ambit_hosts_refused_total"] >= 1.0
            && metrics["ambit_drops_total{queue=\"peer_proofs\",reason=\"wrong_key\"}"] >= 1.0
    })?;
    host.wait_for_log("give this host the same key as the WorldServer")?;
    Ok(())
}
