//! A terminal with a line editor: history, completion, hints, and output above what is typed.
//!
//! Two threads. The *reader* owns the editor and reads a line when it is its turn; it ends with the
//! process, since reading a terminal can't be cancelled. The *printer* writes, and gives the reader
//! its turn when everything before is on the screen. [`Terminal`] neither writes nor waits, until
//! it is dropped: then it waits until the rest is printed, and restores the terminal, also while
//! the reader reads.
//!
//! While the reader reads, its editor alone may write; it takes texts from the printer between two
//! keys. [`PaintedPrompts`] counts how often it has painted its prompt, which it does after each
//! text: so the printer knows when a text is on the screen.
//!
//! Bound: [`MAX_JOBS`] texts wait; beyond it the newest are dropped, and their number is shown.

mod helper;
mod modes;

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use ambit_client_core::client::event::ViewEvent;
use ambit_client_core::shell::ClientHandle;
use parking_lot::{Condvar, Mutex};
use rustyline::config::{BellStyle, Configurer as _};
use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{ColorMode, CompletionType, Config, Editor, ExternalPrinter, Prompt};
use tokio::sync::mpsc;

use crate::input::{self, LineReceiver, ReadLine};
use helper::{LineHelper, SharedNames};
pub(crate) use modes::HiddenInput;
use modes::TerminalModes;

/// Maximum number of texts that wait to be printed, for example while the player searches in the
/// history.
const MAX_JOBS: usize = 1_024;
/// How many lines are remembered.
const MAX_HISTORY: usize = 500;
/// How long the printer waits until a text or the prompt is on the screen.
const PAINT_TIMEOUT: Duration = Duration::from_millis(200);
/// How long the end waits for the texts that are left.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(500);
/// After Escape, the other bytes of a key must come within this time, in milliseconds.
const ESCAPE_TIMEOUT_MS: u16 = 50;
const PROMPT: &str = "> ";
/// Moves to the previous line, and clears it.
const OVERWRITE: &str = "\x1b[A\r\x1b[K";

/// A terminal that is read and written.
pub(crate) struct Terminal {
    jobs: SyncSender<PrinterJob>,
    names: Arc<SharedNames>,
    reader: Arc<ReaderState>,
    modes: TerminalModes,
    /// Whether the reader has, or will get, the turn.
    reading: bool,
    /// Whether the last line is a progress, which the next line replaces.
    progress_shown: bool,
    dropped: usize,
}

enum PrinterJob {
    Print(String),
    /// Give the reader the turn to read a line, or the password that a question asks for.
    Read(Option<&'static str>),
    /// Answer when everything before is on the screen.
    Flush(SyncSender<()>),
}

/// What the reader is doing.
#[derive(Default)]
struct ReaderState {
    /// Whether it has the turn.
    reading: AtomicBool,
    prompts: PaintedPrompts,
}

struct PaintedPrompts {
    text: Mutex<&'static str>,
    count: Mutex<u64>,
    painted: Condvar,
}

impl Terminal {
    /// A terminal with its lines; `None` if standard input and output are not a terminal that can
    /// be edited.
    pub(crate) fn start() -> Option<(Self, LineReceiver)> {
        let names = Arc::new(SharedNames::default());
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .completion_show_all_if_ambiguous(true)
            .keyseq_timeout(Some(ESCAPE_TIMEOUT_MS))
            // A pasted script is executed line by line.
            .bracketed_paste(false)
            .bell_style(BellStyle::None)
            .max_history_size(MAX_HISTORY)
            .ok()?
            .build();
        let history = MemHistory::with_config(&config);
        let mut editor = Editor::with_history(config, history).ok()?;
        editor.set_helper(Some(LineHelper::new(names.clone())));
        // Fails if this is no terminal, or one without the necessary functions.
        let printer = editor.create_external_printer().ok()?;
        let modes = TerminalModes::current()?;
        let reader = Arc::new(ReaderState::default());
        let (jobs, queued) = sync_channel(MAX_JOBS);
        let (turn_sender, turns) = sync_channel(1);
        let (line_sender, lines) = mpsc::channel(1);
        let state = reader.clone();
        thread::spawn(move || print_jobs(&queued, printer, &turn_sender, &state));
        let state = reader.clone();
        thread::spawn(move || read_lines(editor, &turns, &line_sender, &state));
        let terminal = Terminal {
            jobs,
            names,
            reader,
            modes,
            reading: false,
            progress_shown: false,
            dropped: 0,
        };
        Some((terminal, lines))
    }

    /// The objects that can be completed are those that this client sees.
    pub(crate) fn set_client(&mut self, client: ClientHandle) {
        self.names.set_client(client);
    }

    /// Learns names that can be completed.
    pub(crate) fn learn(&mut self, event: &ViewEvent) {
        self.names.handle_event(event);
    }

    /// Prints a text above the prompt.
    pub(crate) fn print(&mut self, text: &str) {
        let missing = match self.dropped {
            0 => String::new(),
            lines => format!("({lines} lines are not shown)\n"),
        };
        let overwrite = self.overwrite();
        if self.queue(PrinterJob::Print(format!("{overwrite}{missing}{text}\n"))) {
            self.dropped = 0;
            self.progress_shown = false;
        } else {
            self.dropped += 1;
        }
    }

    /// Prints a line that the next line replaces.
    pub(crate) fn print_progress(&mut self, text: &str) {
        let overwrite = self.overwrite();
        if self.queue(PrinterJob::Print(format!("{overwrite}{text}\n"))) {
            self.progress_shown = true;
        }
    }

    /// Makes the reader read a line, unless it does so already. The answer to a question is a
    /// password: it is shown as stars, and not remembered.
    pub(crate) fn read_line(&mut self, question: Option<&'static str>) {
        if !self.reading {
            self.reading = self.queue(PrinterJob::Read(question));
        }
    }

    /// A line has been received.
    pub(crate) fn handle_line(&mut self) {
        self.reading = false;
        self.progress_shown = false;
    }

    fn overwrite(&self) -> &'static str {
        if self.progress_shown { OVERWRITE } else { "" }
    }

    fn queue(&self, job: PrinterJob) -> bool {
        self.jobs.try_send(job).is_ok()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let (sender, flushed) = sync_channel(1);
        if self.queue(PrinterJob::Flush(sender)) {
            let _ = flushed.recv_timeout(FLUSH_TIMEOUT);
        }
        if self.reader.reading.load(Ordering::SeqCst) {
            // The reader can't be interrupted: clears its prompt.
            self.modes.restore();
            let mut out = io::stdout().lock();
            let _ = out.write_all(b"\r\x1b[K").and_then(|()| out.flush());
        }
    }
}

fn print_jobs(
    jobs: &Receiver<PrinterJob>,
    mut printer: impl ExternalPrinter,
    turns: &SyncSender<Option<&'static str>>,
    reader: &ReaderState,
) {
    for job in jobs {
        let painted = reader.prompts.count();
        match job {
            PrinterJob::Print(text) => {
                if printer.print(text).is_err() {
                    return;
                }
            }
            PrinterJob::Read(question) => {
                reader.reading.store(true, Ordering::SeqCst);
                if turns.send(question).is_err() {
                    return;
                }
            }
            PrinterJob::Flush(done) => {
                let _ = done.send(());
                continue;
            }
        }
        if reader.reading.load(Ordering::SeqCst) {
            reader.prompts.wait_beyond(painted);
        }
    }
}

/// Reads a line at each turn, to the end of the input: Ctrl-D in an empty line, or Ctrl-C.
fn read_lines(
    mut editor: Editor<LineHelper, MemHistory>,
    turns: &Receiver<Option<&'static str>>,
    lines: &mpsc::Sender<ReadLine>,
    state: &ReaderState,
) {
    for question in turns {
        let columns = editor.dimensions().map(|(columns, _)| columns.into());
        if let Some(helper) = editor.helper_mut() {
            helper.begin_line(columns, question.is_some());
        }
        // Without colours the editor would not ask the helper what it may show.
        let colours = if question.is_some() { ColorMode::Forced } else { ColorMode::Enabled };
        editor.set_color_mode(colours);
        *state.prompts.text.lock() = question.unwrap_or(PROMPT);
        let line = loop {
            match editor.readline(&state.prompts) {
                Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {
                    // A byte that is not UTF-8.
                }
                line => break line,
            }
        };
        state.reading.store(false, Ordering::SeqCst);
        state.prompts.add();
        let Ok(line) = line else {
            return;
        };
        if question.is_none() && is_remembered(&line) {
            // The history is in memory only: nothing can fail.
            let _ = editor.add_history_entry(line.as_str());
        }
        if lines.blocking_send(input::checked(line)).is_err() {
            return;
        }
    }
}

/// Passwords are not remembered.
fn is_remembered(line: &str) -> bool {
    let has_password = line.contains("password=") || line.trim_start().starts_with("password ");
    !line.trim().is_empty() && !has_password
}

impl Default for PaintedPrompts {
    fn default() -> Self {
        PaintedPrompts {
            text: Mutex::new(PROMPT),
            count: Mutex::default(),
            painted: Condvar::new(),
        }
    }
}

impl PaintedPrompts {
    fn add(&self) {
        *self.count.lock() += 1;
        self.painted.notify_all();
    }

    fn count(&self) -> u64 {
        *self.count.lock()
    }

    /// Waits until there are more than `count`.
    fn wait_beyond(&self, count: u64) {
        let mut painted = self.count.lock();
        self.painted.wait_while_for(&mut painted, |painted| *painted <= count, PAINT_TIMEOUT);
    }
}

/// The editor asks for the prompt whenever it paints it.
impl Prompt for PaintedPrompts {
    fn raw(&self) -> &'static str {
        self.add();
        *self.text.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_and_empty_lines_are_not_remembered() {
        assert!(is_remembered("join 3"));
        assert!(!is_remembered("join 3 password=secret"));
        assert!(!is_remembered("password secret"));
        assert!(!is_remembered("  "));
    }

    #[test]
    fn a_wait_ends_when_a_prompt_was_painted() {
        let prompts = PaintedPrompts::default();
        let count = prompts.count();
        assert_eq!(prompts.raw(), "> ");
        prompts.wait_beyond(count);
        assert_eq!(prompts.count(), count + 1);
    }
}
