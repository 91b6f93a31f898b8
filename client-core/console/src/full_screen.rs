//! The shell of the view on a terminal: it reads keys, and draws what [`Ui`] shows.
//!
//! A thread reads the terminal; it ends with the process, since reading can't be cancelled. The
//! terminal is restored when the screen is dropped, and at a panic.
//!
//! Bounds: [`MAX_INPUTS`] keys wait, then the reader waits; [`MAX_LINES`] lines wait for the
//! script, and the next one is refused.

use std::io::{self, IsTerminal, Stdout, Write as _};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use ambit_client_core::client::event::ViewEvent;
use ambit_client_core::client::stats::Distribution;
use ambit_client_core::shell::ClientHandle;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{self, DisableMouseCapture, EnableMouseCapture, Event};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use serde_json::Value as Json;
use tokio::sync::mpsc;

use crate::input::{self, LineReceiver, ReadLine};
use crate::report;
use crate::scene;
use crate::ui::{Palette, Ui, UiAction};

/// Keys and clicks that wait.
const MAX_INPUTS: usize = 256;
/// Lines that wait for the script.
const MAX_LINES: usize = 16;
/// Whether there is something to restore: once, or what was printed since would be overwritten.
static HAS_SCREEN: AtomicBool = AtomicBool::new(false);

/// A terminal that is read and drawn.
pub(crate) struct FullScreen {
    ui: Ui,
    terminal: Terminal<CrosstermBackend<Stdout>>,
    inputs: mpsc::Receiver<Event>,
    /// `None` once nothing more will be typed.
    lines: Option<mpsc::Sender<ReadLine>>,
    client: Option<ClientHandle>,
    /// Whether something has changed since the last drawing.
    is_dirty: bool,
    /// Counts the calls of [`FullScreen::tick`].
    ticks: u32,
}

/// What the main loop has to do for the view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ViewRequest {
    Quit,
    /// Ask with what a room of this game can be created.
    Describe(String),
}

impl FullScreen {
    /// A screen with its lines; `None` if this is no terminal that can be drawn on.
    pub(crate) fn start() -> Option<(Self, LineReceiver)> {
        let variable = |name: &str| std::env::var(name).ok();
        let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        if !is_terminal || variable("TERM").is_none_or(|term| term.is_empty() || term == "dumb") {
            return None;
        }
        let no_colour = variable("NO_COLOR");
        let palette = Palette::of(no_colour.as_deref(), variable("COLORTERM").as_deref());
        restore_at_panic();
        let terminal = begin().inspect_err(|_| restore()).ok()?;
        let (sender, inputs) = mpsc::channel(MAX_INPUTS);
        thread::spawn(move || {
            while let Ok(event) = event::read() {
                if sender.blocking_send(event).is_err() {
                    return;
                }
            }
        });
        let (sender, lines) = mpsc::channel(MAX_LINES);
        let screen = FullScreen {
            ui: Ui::new(palette),
            terminal,
            inputs,
            lines: Some(sender),
            client: None,
            is_dirty: true,
            ticks: 0,
        };
        Some((screen, lines))
    }

    /// What is drawn is what this client sees.
    pub(crate) fn set_client(&mut self, client: ClientHandle) {
        self.client = Some(client);
    }

    pub(crate) fn learn(&mut self, event: &ViewEvent) {
        self.ui.handle_event(event);
        self.is_dirty = true;
    }

    pub(crate) fn show(&mut self, line: &Json) {
        self.ui.print(line);
        self.is_dirty = true;
    }

    pub(crate) fn prompt(&mut self, question: Option<&'static str>) {
        self.ui.prompt(question);
    }

    pub(crate) fn handle_line(&mut self) {
        self.ui.handle_line();
        self.is_dirty = true;
    }

    /// The next key or click. Dropping the future loses none.
    pub(crate) async fn next_input(&mut self) -> Option<Event> {
        self.inputs.recv().await
    }

    /// Handles a key or a click and all that wait behind it, and draws at once. `None` is the end
    /// of the terminal.
    pub(crate) fn handle_input(&mut self, input: Option<Event>) -> io::Result<Vec<ViewRequest>> {
        let Some(mut input) = input else {
            return Ok(vec![ViewRequest::Quit]);
        };
        let mut requests = Vec::new();
        loop {
            match input {
                Event::Key(key) => self.ui.handle_key(key),
                Event::Mouse(mouse) => {
                    let now = self.client.as_ref().map(|client| client.run(|_, now| now));
                    self.ui.handle_mouse(now.unwrap_or_default(), mouse);
                }
                _ => {}
            }
            while let Some(action) = self.ui.poll_action() {
                requests.extend(self.execute(action));
            }
            match self.inputs.try_recv() {
                Ok(next) => input = next,
                Err(_) => break,
            }
        }
        self.draw()?;
        Ok(requests)
    }

    fn execute(&mut self, action: UiAction) -> Option<ViewRequest> {
        match action {
            UiAction::Line(line) => {
                let sender = self.lines.as_ref();
                let sent = sender.is_some_and(|lines| lines.try_send(input::checked(line)).is_ok());
                if !sent {
                    self.ui.refuse_line();
                }
                None
            }
            UiAction::End => {
                self.lines = None;
                None
            }
            UiAction::Quit => Some(ViewRequest::Quit),
            UiAction::Describe(game) => Some(ViewRequest::Describe(game)),
        }
    }

    /// Draws what has changed: in a game each time that it is called, but every other time at most.
    pub(crate) fn tick(&mut self, ages: &Distribution) -> io::Result<()> {
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks.is_multiple_of(2) {
            return Ok(());
        }
        if let Some(client) = &self.client {
            if self.ui.is_in_game() {
                self.ui.set_scene(client.run(scene::scene));
                self.is_dirty = true;
            }
            if self.ui.wants_figures() {
                let figures = client.run(|client, now| (now, report::figures(client, now, ages)));
                self.ui.set_figures(figures.0, figures.1);
                self.is_dirty = true;
            }
        }
        if self.is_dirty { self.draw() } else { Ok(()) }
    }

    fn draw(&mut self) -> io::Result<()> {
        self.is_dirty = false;
        self.terminal.draw(|frame| self.ui.draw(frame)).map(drop)
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        restore();
    }
}

fn begin() -> io::Result<Terminal<CrosstermBackend<Stdout>>> {
    HAS_SCREEN.store(true, Ordering::SeqCst);
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen, EnableMouseCapture)?;
    // The other screen is empty: `clear` would ask the terminal where its cursor is, and wait.
    Terminal::new(CrosstermBackend::new(io::stdout()))
}

/// The terminal may be gone: then there is nothing to restore.
fn restore() {
    if !HAS_SCREEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout();
    let _ = execute!(out, DisableMouseCapture, LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
    let _ = out.flush();
}

/// The message of a panic belongs on the normal screen.
fn restore_at_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            print(panic);
        }));
    });
}
