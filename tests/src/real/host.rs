//! A game-server that connects to a world-server by itself, in a process of its own.

use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

use super::{OutputLines, ScratchFolder, Server, binary, server_signal};

/// A running host; killed when dropped.
pub struct Host {
    child: Child,
    log: OutputLines,
}

impl Host {
    /// The `--host-key` of the server and of its hosts in tests.
    pub const KEY: &str = "a key that only the tests know";

    /// Starts one that connects to `server`, which must have the same key.
    pub fn start(
        scratch: &ScratchFolder,
        server: &Server,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Result<Self> {
        Self::start_at(server.peers, scratch, server, arguments, variables)
    }

    /// The same, of the program that has the test games, too.
    pub fn start_with_test_games(
        scratch: &ScratchFolder,
        server: &Server,
        arguments: &[&str],
    ) -> Result<Self> {
        let mut command = Command::new(binary("test-server"));
        command.arg("game-server");
        Self::start_program(command, server.peers, scratch, server, arguments, &[])
    }

    /// The same as [`Host::start`], at this address of the server.
    pub fn start_at(
        address: SocketAddr,
        scratch: &ScratchFolder,
        server: &Server,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Result<Self> {
        let command = Command::new(binary("game-server"));
        Self::start_program(command, address, scratch, server, arguments, variables)
    }

    fn start_program(
        mut command: Command,
        address: SocketAddr,
        scratch: &ScratchFolder,
        server: &Server,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Result<Self> {
        scratch
            .confine(&mut command)
            .env("AMBIT_HOST_KEY", Self::KEY)
            // Tests count hosts.
            .env("AMBIT_CORES", "1")
            .envs(variables.iter().copied());
        command.args(["--world", &address.to_string(), "--world-cert", server.certificate()?]);
        command.args(["--listen", "127.0.0.1:0"]).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().context("the game-server can't be started")?;
        let log = OutputLines::read_from(child.stderr.take().expect("piped"));
        Ok(Self { child, log })
    }

    /// The next line of its log that contains `words`.
    pub fn wait_for_log(&mut self, words: &str) -> Result<String> {
        self.log.find(words, |line| line.contains(words).then(|| line.to_owned()))
    }

    /// The first line of its log that contains `words`, read before or not: for lines in any order.
    pub fn wait_for_any_log(&mut self, words: &str) -> Result<String> {
        match self.log.seen.iter().find(|line| line.contains(words)) {
            Some(line) => Ok(line.clone()),
            None => self.wait_for_log(words),
        }
    }

    /// The address that it gives to players, once it accepts rooms.
    pub fn wait_for_address(&mut self) -> Result<String> {
        let line = self.wait_for_log("hosting rooms")?;
        let address = line.split_whitespace().find_map(|word| word.strip_prefix("address="));
        Ok(address.with_context(|| format!("no address in '{line}'"))?.trim_matches('"').to_owned())
    }

    /// Sends SIGTERM; returns the exit status, and the log lines that were not read yet.
    pub fn terminate(self) -> Result<(Option<i32>, Vec<String>)> {
        self.end_by("TERM")
    }

    /// Of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The same with this signal.
    pub fn end_by(mut self, signal: &str) -> Result<(Option<i32>, Vec<String>)> {
        server_signal(self.child.id(), signal)?;
        let log = self.log.read_to_end();
        Ok((self.child.wait()?.code(), log))
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
