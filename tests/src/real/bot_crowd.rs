//! Bots in one room, in a process of their own, that play until a test ends them.

use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{OutputLines, ScratchFolder, binary, server_signal};

/// A running program `bots`; killed when dropped.
pub struct BotCrowd {
    child: Child,
    lines: OutputLines,
    log: OutputLines,
    count: usize,
}

impl BotCrowd {
    /// Starts `count` bots, which create the room if no room has that name.
    pub fn start(
        scratch: &ScratchFolder,
        server: SocketAddr,
        room: &str,
        count: usize,
        flags: &[&str],
    ) -> Result<Self> {
        let mut command = Command::new(binary("bots"));
        scratch.confine(&mut command);
        command.args(["--server", &server.to_string(), "--room", room]);
        command.args(["--count", &count.to_string(), "--json", "--settle", "1"]);
        // The test ends them earlier.
        command.args(["--seconds", "3600"]).args(flags);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().context("the bots can't be started")?;
        let lines = OutputLines::read_from(child.stdout.take().expect("piped"));
        let log = OutputLines::read_from(child.stderr.take().expect("piped"));
        Ok(Self { child, lines, log, count })
    }

    /// Waits until all bots play. From then on, whatever a player would call an error counts.
    pub fn wait_until_measuring(&mut self) -> Result<()> {
        let is_it = |line: &str| (line == "measuring").then_some(());
        self.lines.find("the line `measuring`", is_it)
    }

    /// Ends the bots. Returns their summary; an error if one of them was not in the room all the
    /// time, or noticed an error.
    pub fn finish(mut self) -> Result<Value> {
        server_signal(self.child.id(), "INT")?;
        let line = |line: &str| line.starts_with('{').then(|| line.to_owned());
        let summary: Value = serde_json::from_str(&self.lines.find("a summary", line)?)?;
        if (&summary["connected"], &summary["errors"]) != (&self.count.into(), &0.into()) {
            bail!("{summary}\n{}", self.log.read_to_end().join("\n"));
        }
        Ok(summary)
    }
}

impl Drop for BotCrowd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
