//! A console client in a process of its own, driven over its standard input and output.

use std::io::Write;
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{OutputLines, ScratchFolder, binary};

/// A running console; killed when dropped.
pub struct Console {
    name: String,
    child: Child,
    input: ChildStdin,
    lines: OutputLines,
    /// All events that were printed and read.
    pub events: Vec<Value>,
}

impl Console {
    /// Starts one and waits until it has been welcomed.
    pub fn start(
        scratch: &ScratchFolder,
        server: SocketAddr,
        name: &str,
        arguments: &[&str],
    ) -> Result<Self> {
        let mut console = Self::open(scratch, server, name, arguments)?;
        console.wait_for("welcome")?;
        Ok(console)
    }

    /// One that the server may refuse.
    pub fn open(
        scratch: &ScratchFolder,
        server: SocketAddr,
        name: &str,
        arguments: &[&str],
    ) -> Result<Self> {
        let mut command = Command::new(binary("console"));
        scratch.confine(&mut command);
        command.args(["--server", &server.to_string(), "--name", name]).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().context("the console can't be started")?;
        let lines = OutputLines::read_from(child.stdout.take().expect("piped"));
        let input = child.stdin.take().expect("piped");
        Ok(Console { name: name.to_owned(), child, input, lines, events: Vec::new() })
    }

    pub fn type_in(&mut self, command: &str) -> Result<()> {
        writeln!(self.input, "{command}")
            .with_context(|| format!("console '{}' does not read '{command}'", self.name))
    }

    /// The next event of a kind.
    pub fn wait_for(&mut self, kind: &str) -> Result<Value> {
        self.wait_until(kind, |event| event["ev"] == kind)
    }

    /// The next event that `wanted` accepts.
    pub fn wait_until(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Result<Value> {
        let Console { lines, events, name, .. } = self;
        lines
            .find(what, |line| {
                let event: Value = serde_json::from_str(line)
                    .unwrap_or_else(|error| panic!("not JSON ({error}): {line}"));
                let found = wanted(&event).then(|| event.clone());
                events.push(event);
                found
            })
            .with_context(|| format!("console '{name}'"))
    }

    /// Types a command and returns the next event of a kind.
    pub fn run_command(&mut self, command: &str, kind: &str) -> Result<Value> {
        self.type_in(command)?;
        self.wait_for(kind)
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Types `quit`; returns the exit status and the remaining output.
    pub fn quit(mut self) -> Result<(i32, Vec<Value>)> {
        self.type_in("quit")?;
        self.wait()
    }

    /// Waits until it ends by itself; returns the same.
    pub fn wait(mut self) -> Result<(i32, Vec<Value>)> {
        let rest = self.lines.read_to_end();
        let Some(code) = self.child.wait()?.code() else {
            bail!("console '{}' was ended by a signal", self.name)
        };
        let events =
            rest.iter().map(|line| serde_json::from_str(line)).collect::<Result<_, _>>()?;
        Ok((code, events))
    }

    /// Like `kill -9`.
    pub fn kill(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
