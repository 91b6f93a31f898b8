//! A console at a terminal: a pseudo-terminal that util-linux's `script` makes. What it draws is
//! read by an emulator of a terminal.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};

use ambit_tests::real::{self, Console, ScratchFolder, Server, WAIT_LIMIT};
use anyhow::{Context, Result, bail};

/// After the console, the modes of the terminal are printed: those of a shell, not of an editor.
const SANE_MODES: [&str; 2] = [" icanon", " echo "];
/// Lines and columns of the terminal.
const SIZE: (u16, u16) = (30, 100);
/// What a program sends that takes the whole screen.
const WHOLE_SCREEN: &str = "\x1b[?1049h";

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
    ann.wait_for("There is no room yet")?;
    ann.type_in("cre\t")?;
    ann.wait_for("> create ")?;
    ann.type_in("den game=fi\t")?;
    ann.wait_for("> create den game=field ")?;
    // What the server sends is shown above, and what was typed stays.
    bob.type_in("say hello there")?;
    ann.wait_for("bob: hello there")?;
    ann.wait_for("> create den game=field ")?;
    ann.type_in("npcs=0\r")?;
    ann.wait_for("'den' is yours")?;
    ann.type_in("start\r")?;
    ann.wait_for("the game field runs")?;
    // The map shows the own avatar.
    ann.wait_for("@")?;
    // Commands of the game come from its schema.
    ann.type_in("cast ve\t")?;
    ann.wait_for("> cast veil")?;
    // Up: the line before; then Ctrl-U clears it, and Ctrl-D ends.
    ann.type_in("\x15\x1b[A")?;
    ann.wait_for("\n> start")?;
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
    ann.type_in("start")?;
    ann.wait_for("> start")?;
    assert!(ann.screen.screen().alternate_screen());
    real::server_signal(ann.console, "TERM")?;
    for mode in SANE_MODES {
        ann.wait_for(mode)?;
    }
    let screen = ann.screen.screen();
    assert!(!screen.alternate_screen() && !screen.hide_cursor());
    assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
    assert_eq!(ann.wait()?, Some(0));
    Ok(())
}

#[test]
fn why_a_connection_is_closed_stays_on_the_screen() -> Result<()> {
    if !has_script() {
        return Ok(());
    }
    let scratch = ScratchFolder::new("terminal-closed");
    let server = Server::start(&scratch, &[])?;
    let mut ann = Terminal::start(&scratch, server.world, "ann")?;
    ann.wait_for("'help' lists the commands")?;
    server.terminate()?;
    ann.wait_for("draining: ")?;
    for mode in SANE_MODES {
        ann.wait_for(mode)?;
    }
    assert!(!ann.screen.screen().alternate_screen());
    assert_eq!(ann.wait()?, Some(1));
    Ok(())
}

#[test]
fn a_terminal_that_becomes_smaller_is_drawn_again() -> Result<()> {
    if !has_script() {
        return Ok(());
    }
    let scratch = ScratchFolder::new("terminal-size");
    let server = Server::start(&scratch, &[])?;
    let mut ann = Terminal::start(&scratch, server.world, "ann")?;
    ann.wait_for("There is no room yet")?;
    ann.resize(10, 40)?;
    ann.wait_for("This window has 40 x 10")?;
    // One after the other: a key that comes together with a change of size is read with the next
    // key, since crossterm forgets that it is there.
    ann.resize(20, 40)?;
    ann.wait_for("This window has 40 x 20")?;
    ann.resize(20, 60)?;
    ann.wait_for("There is no room yet")?;
    ann.type_in("\x04")?;
    assert_eq!(ann.wait()?, Some(0));
    Ok(())
}

#[test]
fn without_a_screen_of_its_own_a_console_prints_words() -> Result<()> {
    if !has_script() {
        return Ok(());
    }
    let scratch = ScratchFolder::new("terminal-plain");
    let server = Server::start(&scratch, &[])?;
    for (flags, term) in [("--plain", "xterm"), ("", "dumb")] {
        let mut ann = Terminal::start_with(&scratch, server.world, "ann", flags, term)?;
        ann.wait_for("'help' lists the commands")?;
        ann.type_in("rooms\r")?;
        ann.wait_for("no rooms: make one")?;
        ann.type_in("quit\r")?;
        ann.wait_for(SANE_MODES[1])?;
        assert!(!ann.printed.contains(WHOLE_SCREEN), "{}", ann.printed);
        assert_eq!(ann.wait()?, Some(0));
    }
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
    let mut ann = Terminal::start_with(&scratch, server.world, "ann", &flags, "xterm")?;
    ann.wait_for("'help' lists the commands")?;
    ann.type_in("password\r")?;
    let questions = [("password: ", OLD), ("new password: ", NEW), ("new password again: ", NEW)];
    for (question, password) in questions {
        // At the beginning of a line: a hint has the word, too.
        ann.wait_for(&format!("\n{question}"))?;
        // A tab completes nothing.
        ann.type_in(&format!("{password}\t"))?;
        ann.wait_for(&format!("\n{question}{}", "*".repeat(password.len())))?;
        ann.type_in("\r")?;
    }
    ann.wait_for("your account has the new password")?;
    ann.wait_for("\n> ")?;
    // Up: the line before.
    ann.type_in("\x1b[A")?;
    ann.wait_for("\n> password")?;
    ann.type_in("\x15\x04")?;
    for mode in SANE_MODES {
        ann.wait_for(mode)?;
    }
    for part in ["corr", "horse", "batt", "staple"] {
        for shown in &ann.shown {
            assert!(!shown.contains(part), "{shown}");
        }
        assert!(!ann.printed.contains(part), "{}", ann.printed);
    }
    assert_eq!(ann.wait()?, Some(0));
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
    /// The path of the terminal.
    tty: String,
    keys: ChildStdin,
    output: Receiver<Vec<u8>>,
    screen: vt100::Parser,
    /// All screens, after each piece of output.
    shown: Vec<String>,
    /// All output, with what controls the terminal.
    printed: String,
}

impl Terminal {
    fn start(scratch: &ScratchFolder, server: SocketAddr, name: &str) -> Result<Self> {
        Terminal::start_with(scratch, server, name, "", "xterm")
    }

    fn start_with(
        scratch: &ScratchFolder,
        server: SocketAddr,
        name: &str,
        flags: &str,
        term: &str,
    ) -> Result<Self> {
        let (rows, columns) = SIZE;
        let console = real::binary("console");
        let console = format!("exec {} --server {server} --name {name} {flags}", console.display());
        let size = format!("stty rows {rows} cols {columns}");
        // The console begins when its first line has been read.
        let begin = "echo pid $$ $(tty) .; read go";
        let script = format!("{size}; sh -c '{begin}; {console}'; code=$?; stty -a; exit $code");
        let mut command = Command::new("script");
        scratch
            .confine(&mut command)
            .args(["--quiet", "--return", "--command", &script, "/dev/null"])
            .env("TERM", term)
            .env("SHELL", "/bin/sh")
            .env_remove("NO_COLOR")
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
                if sender.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        let mut terminal = Terminal {
            child,
            console: 0,
            tty: String::new(),
            keys,
            output,
            screen: vt100::Parser::new(rows, columns, 0),
            shown: Vec::new(),
            printed: String::new(),
        };
        terminal.wait_for(" .")?;
        let first = terminal.screen.screen().contents();
        let mut words = first.split_whitespace().skip_while(|word| *word != "pid").skip(1);
        terminal.console = words.next().context("a number")?.parse().context(first.clone())?;
        words.next().context("a path")?.clone_into(&mut terminal.tty);
        terminal.type_in("\r")?;
        Ok(terminal)
    }

    fn type_in(&mut self, keys: &str) -> Result<()> {
        self.keys.write_all(keys.as_bytes())?;
        Ok(self.keys.flush()?)
    }

    /// Sets both, which a terminal learns one after the other.
    fn resize(&mut self, rows: u16, columns: u16) -> Result<()> {
        self.screen.screen_mut().set_size(rows, columns);
        let (rows, columns) = (rows.to_string(), columns.to_string());
        let size = ["-F", &self.tty, "rows", &rows, "cols", &columns];
        anyhow::ensure!(Command::new("stty").args(size).status()?.success(), "{size:?}");
        Ok(())
    }

    /// Waits until the screen has this text.
    fn wait_for(&mut self, text: &str) -> Result<()> {
        while !self.screen.screen().contents().contains(text) {
            match self.output.recv_timeout(WAIT_LIMIT) {
                Ok(more) => {
                    self.screen.process(&more);
                    self.printed.push_str(&String::from_utf8_lossy(&more));
                    self.shown.push(self.screen.screen().contents());
                }
                Err(error) => {
                    bail!("no {text:?} ({error}) in\n{}", self.screen.screen().contents())
                }
            }
        }
        Ok(())
    }

    /// Waits for its end.
    fn wait(mut self) -> Result<Option<i32>> {
        let ended = real::wait_until("the end of the console", || Ok(self.child.try_wait()?));
        Ok(ended.with_context(|| self.screen.screen().contents())?.code())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
