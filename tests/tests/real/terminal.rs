//! A console at a terminal: a pseudo-terminal that util-linux's `script` makes.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};

use ambit_tests::real::{self, Console, ScratchFolder, Server, WAIT_LIMIT};
use anyhow::{Context, Result, bail};

/// After the console, the modes of the terminal are printed: those of a shell, not of an editor.
const SANE_MODES: [&str; 2] = [" icanon", " echo "];

#[test]
fn a_terminal_completes_lines_and_keeps_what_is_typed() -> Result<()> {
    if !has_script() {
        return Ok(());
    }
    let scratch = ScratchFolder::new("terminal");
    let server = Server::start(&scratch, &[])?;
    let mut ann = Terminal::start(&scratch, server.world, "ann")?;
    let mut bob = Console::start(&scratch, server.world, "bob", &[])?;
    ann.wait_for("'help' lists the commands")?;
    ann.wait_for("> ")?;
    ann.type_in("cre\t")?;
    ann.wait_for("> create ")?;
    ann.type_in("den game=fi\t")?;
    ann.wait_for("> create den game=field ")?;
    // A line of the server is printed above the prompt, and what was typed follows again.
    bob.type_in("say hello there")?;
    ann.wait_for("bob: hello there")?;
    ann.wait_for("> create den game=field ")?;
    ann.type_in("npcs=0\r")?;
    ann.wait_for("'den' is yours")?;
    ann.wait_for("> ")?;
    ann.type_in("start\r")?;
    ann.wait_for("the game field runs")?;
    // Commands of the game come from its schema.
    ann.type_in("cast ve\t")?;
    ann.wait_for("> cast veil")?;
    // Up: the line before; then Ctrl-U clears it, and Ctrl-D ends.
    ann.type_in("\x15\x1b[A")?;
    ann.wait_for("> start")?;
    ann.type_in("\x15\x04")?;
    for mode in SANE_MODES {
        ann.wait_for(mode)?;
    }
    assert_eq!(ann.wait()?, Some(0));
    assert_eq!(bob.quit()?.0, 0);
    Ok(())
}

#[test]
fn a_terminated_console_leaves_the_terminal_as_it_was() -> Result<()> {
    if !has_script() {
        return Ok(());
    }
    let scratch = ScratchFolder::new("terminated");
    let server = Server::start(&scratch, &[])?;
    let mut ann = Terminal::start(&scratch, server.world, "ann")?;
    ann.wait_for("'help' lists the commands")?;
    ann.wait_for("> ")?;
    // The whole line is painted again when its hint appears.
    ann.type_in("start")?;
    ann.wait_for("> start")?;
    real::server_signal(ann.console, "TERM")?;
    for mode in SANE_MODES {
        ann.wait_for(mode)?;
    }
    assert_eq!(ann.wait()?, Some(0));
    Ok(())
}

#[test]
fn passwords_are_neither_shown_nor_remembered() -> Result<()> {
    const OLD: &str = "correct horse";
    const NEW: &str = "battery staple";
    if !has_script() {
        return Ok(());
    }
    let scratch = ScratchFolder::new("terminal-password");
    let server = Server::start(&scratch, &["--accounts", "password"])?;
    let file = scratch.path().join("password");
    std::fs::write(&file, OLD)?;
    let flags = format!("--new-account ann --password-file {}", file.display());
    let mut ann = Terminal::start_with(&scratch, server.world, "ann", &flags)?;
    ann.wait_for("'help' lists the commands")?;
    ann.wait_for("> ")?;
    let mut shown = String::new();
    ann.type_in("password\r")?;
    let questions = [("password: ", OLD), ("new password: ", NEW), ("new password again: ", NEW)];
    for (question, password) in questions {
        // At the beginning of a line: a hint has the word, too.
        shown += &ann.wait_for(&format!("\x1b[K{question}"))?;
        ann.type_in(password)?;
        // A tab completes nothing.
        ann.type_in("\t")?;
        shown += &ann.wait_for(&"*".repeat(password.len()))?;
        ann.type_in("\r")?;
    }
    shown += &ann.wait_for("your account has the new password")?;
    shown += &ann.wait_for("> ")?;
    // Up: the line before.
    ann.type_in("\x1b[A")?;
    shown += &ann.wait_for("> password")?;
    ann.type_in("\x15\x04")?;
    for mode in SANE_MODES {
        shown += &ann.wait_for(mode)?;
    }
    assert_eq!(ann.wait()?, Some(0));
    for part in ["corr", "horse", "batt", "staple"] {
        assert!(!shown.contains(part), "{shown}");
    }
    Ok(())
}

fn has_script() -> bool {
    let found = Command::new("script").arg("--version").output().is_ok();
    if !found {
        println!("skipped: there is no `script`");
    }
    found
}

/// A console at a terminal of its own; killed when dropped.
struct Terminal {
    child: Child,
    /// The process of the console itself.
    console: u32,
    keys: ChildStdin,
    output: Receiver<String>,
    /// Output that nothing has been found in yet.
    unread: String,
}

impl Terminal {
    fn start(scratch: &ScratchFolder, server: SocketAddr, name: &str) -> Result<Self> {
        Terminal::start_with(scratch, server, name, "")
    }

    fn start_with(
        scratch: &ScratchFolder,
        server: SocketAddr,
        name: &str,
        flags: &str,
    ) -> Result<Self> {
        let console = real::binary("console");
        let console = format!("exec {} --server {server} --name {name} {flags}", console.display());
        let script = format!("sh -c 'echo pid $$; {console}'; code=$?; stty -a; exit $code");
        let mut command = Command::new("script");
        scratch
            .confine(&mut command)
            .args(["--quiet", "--return", "--command", &script, "/dev/null"])
            .env("TERM", "xterm")
            .env("SHELL", "/bin/sh")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let keys = child.stdin.take().expect("piped");
        let mut source = child.stdout.take().expect("piped");
        // Far more than a test prints.
        let (sender, output) = sync_channel(65_536);
        std::thread::spawn(move || {
            let mut bytes = [0; 4_096];
            while let Ok(count @ 1..) = source.read(&mut bytes) {
                let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
                if sender.send(text).is_err() {
                    break;
                }
            }
        });
        let mut terminal = Terminal { child, console: 0, keys, output, unread: String::new() };
        terminal.wait_for("pid ")?;
        let number = terminal.wait_for("\r\n")?;
        terminal.console = number.trim().parse().context(number)?;
        Ok(terminal)
    }

    fn type_in(&mut self, keys: &str) -> Result<()> {
        self.keys.write_all(keys.as_bytes())?;
        Ok(self.keys.flush()?)
    }

    /// Waits until this text is printed; returns what was printed before it.
    fn wait_for(&mut self, text: &str) -> Result<String> {
        loop {
            if let Some((before, after)) = self.unread.split_once(text) {
                let before = before.to_owned();
                self.unread = after.to_owned();
                return Ok(before);
            }
            match self.output.recv_timeout(WAIT_LIMIT) {
                Ok(more) => self.unread.push_str(&more),
                Err(error) => bail!("no {text:?} ({error}) in {:?}", self.unread),
            }
        }
    }

    fn wait(mut self) -> Result<Option<i32>> {
        Ok(self.child.wait()?.code())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
