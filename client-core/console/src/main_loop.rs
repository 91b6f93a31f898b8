//! The main loop of the program: connects a client, its input lines and its output. [`Script`]
//! decides what is done next.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use ambit_client_core::client::event::{GameEvent, LobbyEvent, ViewEvent, codes};
use ambit_client_core::client::request::LobbyRequest;
use ambit_client_core::client::stats::Distribution;
use ambit_client_core::client::{Client, CommandError};
use ambit_client_core::command_words;
use ambit_client_core::resume_token::TokenFile;
use ambit_client_core::shell::{self, ClientEvents, ClientHandle, ClientOptions};
use ambit_client_text::json;
use ambit_proto::codes::{self as protocol, ErrorCode};
use ambit_proto::time::LocalTime;
use ratatui::crossterm::event::Event;
use serde_json::{Value as Json, json};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use crate::event_words;
use crate::full_screen::ViewRequest;
use crate::human;
use crate::input::{LineReceiver, LineTooLong};
use crate::radar;
use crate::report;
use crate::screen::Screen;
use crate::script::{Script, ScriptStep};

/// How often the age of the newest data about the room is sampled.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(50);
/// How often the view on a terminal asks who is in the lobby: in samples.
const SAMPLES_PER_LOOK: u32 = 100;

/// What the loop needs to start.
pub(crate) struct LoopSetup {
    pub(crate) options: ClientOptions,
    pub(crate) lines: LineReceiver,
    pub(crate) screen: Screen,
    pub(crate) token: TokenFile,
}

struct ConsoleLoop<K> {
    script: Script<K>,
    handle: ClientHandle,
    screen: Screen,
    token: TokenFile,
    ages: Distribution,
    started: Instant,
    /// After `quit`, objects leave because the player does; these lines are not printed.
    quitting: bool,
    /// The player has asked for what ends the session then: no line says that, and no exit status.
    account_erased: bool,
    exit: Option<LoopExit>,
    /// Why the connection is closed for good, for the standard error.
    farewell: Option<String>,
    /// Requests of the view on a terminal, whose answers are not printed.
    looks: BTreeSet<u64>,
    samples: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LoopExit {
    Quit,
    /// The connection is closed for good.
    Lost,
}

impl From<LoopExit> for ExitCode {
    fn from(exit: LoopExit) -> Self {
        match exit {
            LoopExit::Quit => ExitCode::SUCCESS,
            LoopExit::Lost => ExitCode::FAILURE,
        }
    }
}

/// Runs until the player quits or the connection is closed for good. An error is an error of the
/// output. `new_key` makes a random key for each request to create a room.
pub(crate) async fn run(
    setup: LoopSetup,
    new_key: impl FnMut() -> [u8; 16],
) -> io::Result<ExitCode> {
    let LoopSetup { options, mut lines, mut screen, token } = setup;
    let (handle, mut events) = shell::start(options, ());
    screen.set_client(&handle);
    let mut script = Script::new(new_key, screen.is_for_people());
    if screen.is_full() {
        script.watch_rooms();
    }
    let mut console = ConsoleLoop {
        script,
        handle,
        screen,
        token,
        ages: Distribution::default(),
        started: instant_now(),
        quitting: false,
        account_erased: false,
        exit: None,
        farewell: None,
        looks: BTreeSet::new(),
        samples: 0,
    };
    let result = console.run_until_exit(&mut lines, &mut events).await;
    if result.is_err() {
        // The output is closed.
        console.handle.quit();
    }
    // The client has ended when there are no more events.
    while events.next().await.is_some() {}
    // Restores the terminal.
    drop(console.screen);
    if let Some(farewell) = console.farewell {
        let _ = writeln!(io::stderr(), "{farewell}");
    }
    result.map(ExitCode::from)
}

impl<K: FnMut() -> [u8; 16]> ConsoleLoop<K> {
    async fn run_until_exit(
        &mut self,
        lines: &mut LineReceiver,
        events: &mut ClientEvents,
    ) -> io::Result<LoopExit> {
        let mut sampling = interval(SAMPLE_INTERVAL);
        sampling.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut wait_for_signal = std::pin::pin!(wait_for_signal());
        loop {
            while let Some(step) = self.script.poll_step() {
                self.execute_step(step)?;
            }
            if let Some(exit) = self.exit {
                return Ok(exit);
            }
            if self.script.wants_line() {
                self.screen.prompt(self.script.question())?;
            }
            let deadline = self.script.next_deadline();
            let wakes_at = self.instant(deadline);
            tokio::select! {
                event = events.next() => self.handle_event(event)?,
                line = lines.recv(), if self.script.wants_line() => self.handle_line(line)?,
                input = self.screen.next_input() => self.handle_input(input)?,
                _ = sampling.tick() => self.sample()?,
                () = sleep_until(wakes_at), if deadline.is_some() => {
                    self.script.handle_timeout(self.now());
                }
                () = &mut wait_for_signal, if !self.quitting => self.quit(),
            }
        }
    }

    fn handle_event(&mut self, event: Option<ViewEvent>) -> io::Result<()> {
        let Some(event) = event else {
            self.exit.get_or_insert(LoopExit::Lost);
            return Ok(());
        };
        match &event {
            ViewEvent::Lobby(_, LobbyEvent::Welcome(_)) => self.keep_token(),
            ViewEvent::Lobby(_, LobbyEvent::Closed { code, message }) => {
                self.close(code, message);
            }
            ViewEvent::Game(GameEvent::MapProgress { received, total, .. }) => {
                self.screen.show_progress("loading the map", *received, *total)?;
            }
            _ => {}
        }
        self.screen.learn(&event);
        if self.is_look(&event) {
            return Ok(());
        }
        let shown = self.script.handle_event(self.now(), &event);
        let is_own_departure =
            self.quitting && matches!(event, ViewEvent::Game(GameEvent::Leave { .. }));
        let is_own_end =
            self.account_erased && matches!(event, ViewEvent::Lobby(_, LobbyEvent::Closed { .. }));
        match json::event(&event) {
            Some(line) if shown && !is_own_departure && !is_own_end => {
                let mut line = self.with_time(line);
                if self.screen.is_for_people() {
                    human::mark_objects(&mut line, &event);
                }
                if let (true, ViewEvent::Game(GameEvent::Event(event))) =
                    (self.screen.is_full(), &event)
                {
                    let words =
                        |client: &mut Client, now| event_words::of_event(client, now, event);
                    line["words"] = json!(self.handle.run(words));
                }
                // The panels show lists that the player has not asked for.
                if self.screen.is_full()
                    && matches!(&event, ViewEvent::Lobby(0, event) if is_list(event))
                {
                    self.note_printed(&line);
                    return Ok(());
                }
                self.print(&line)
            }
            _ => Ok(()),
        }
    }

    /// During a game every line has a time, also those from the lobby.
    fn with_time(&self, mut line: serde_json::Value) -> serde_json::Value {
        if line.get("t").is_none()
            && let Some(t) = self.handle.run(|client, now| client.room_time(now))
        {
            line["t"] = json::ms(t).into();
        }
        line
    }

    fn handle_line(&mut self, line: Option<Result<String, LineTooLong>>) -> io::Result<()> {
        self.screen.handle_line();
        match line {
            Some(Ok(line)) => self.script.handle_line(self.now(), &line),
            Some(Err(too_long)) => return self.print(&json::error("usage", &too_long.to_string())),
            None => self.script.handle_end(self.now()),
        }
        Ok(())
    }

    fn execute_step(&mut self, step: ScriptStep) -> io::Result<()> {
        match step {
            ScriptStep::Request(request) => match self.handle.request(request) {
                Ok(number) => self.script.handle_asked(self.now(), Some(number)),
                Err(refused) => {
                    self.script.handle_asked(self.now(), None);
                    self.print_unless_ended(&json::error(
                        "too_many_requests",
                        &refused.to_string(),
                    ))?;
                }
            },
            ScriptStep::Act(command) => {
                let off_map = self.handle.run(|client, _| {
                    let map = client.rules().map(|rules| rules.map)?;
                    command_words::find_off_map(&command, (map.width_m, map.height_m))
                });
                if let Some(problem) = off_map {
                    let code = CommandError::BadPosition.code();
                    self.print_unless_ended(&json::error(code, &problem))?;
                } else if let Err(refused) = self.handle.act(&command) {
                    self.print_unless_ended(&json::error(refused.code(), &refused.to_string()))?;
                }
            }
            ScriptStep::Hold(keys) => self.handle.run(|client, now| client.hold(now, keys)),
            ScriptStep::SetAxis(control, value) => {
                self.handle.run(|client, now| client.set_axis(now, control, value));
            }
            ScriptStep::Error(code, message) => self.print(&json::error(code, &message))?,
            ScriptStep::SaveAccount { file, json } => {
                let line = match save_new(&file, &json) {
                    Ok(()) => json!({ "ev": "account_saved", "file": file }),
                    Err(error) => json::error("file", &format!("{file}: {error}")),
                };
                self.print(&line)?;
            }
            ScriptStep::AccountErased => {
                self.account_erased = true;
                let line = json!({ "ev": "account_erased" });
                if self.screen.is_full() {
                    self.farewell = Some(human::text(&line));
                }
                self.print(&line)?;
                self.quit();
            }
            ScriptStep::PasswordSet => self.print(&json!({ "ev": "password_set" }))?,
            ScriptStep::Objects => {
                let objects = self.handle.run(report::objects);
                self.print(&objects)?;
            }
            ScriptStep::Table => {
                let table = self.handle.run(report::table);
                self.print(&table)?;
            }
            ScriptStep::Radar => {
                let radar = self.handle.run(radar::radar);
                self.print(&radar)?;
            }
            ScriptStep::Why(object) => {
                let why = self.handle.run(|client, now| report::why(client, now, object));
                self.print(&why)?;
            }
            ScriptStep::Stats => {
                let (ages, traffic) = (&self.ages, self.handle.traffic());
                let stats =
                    self.handle.run(|client, now| report::stats(client, now, ages, traffic));
                self.print(&stats)?;
            }
            ScriptStep::Watch(on) => self.handle.run(|client, _| client.watch(on)),
            ScriptStep::Help(schema) => self.print(&report::help(schema.as_deref()))?,
            ScriptStep::Quit => self.quit(),
        }
        Ok(())
    }

    /// Prints why the client refused something. A client that has ended has reported that already.
    fn print_unless_ended(&mut self, error: &Json) -> io::Result<()> {
        if self.handle.run(|client, _| client.is_closed()) {
            return Ok(());
        }
        self.print(error)
    }

    fn quit(&mut self) {
        self.quitting = true;
        // If it has ended already, its last event has the reason.
        self.handle.quit();
    }

    fn keep_token(&mut self) {
        let token = self.handle.run(|client, _| client.resume_token().to_vec());
        self.token.store(&token);
    }

    fn close(&mut self, code: &str, message: &str) {
        let is_wanted = code == codes::QUIT || self.account_erased;
        // After any other end the session can be resumed, or the token does no harm.
        if is_wanted || code == protocol::name(ErrorCode::TakenOver) {
            self.token.clear();
        }
        self.exit = Some(if is_wanted { LoopExit::Quit } else { LoopExit::Lost });
        if !is_wanted {
            self.farewell = Some(format!("{code}: {message}"));
        }
    }

    /// Whether this answers a request of the view, which has learnt from it. In the lobby the view
    /// looks around.
    fn is_look(&mut self, event: &ViewEvent) -> bool {
        if !self.screen.is_full() {
            return false;
        }
        let ViewEvent::Lobby(request, event) = event else { return false };
        if matches!(event, LobbyEvent::Welcome(_)) {
            self.looks.clear();
            self.look(LobbyRequest::ListRooms { subscribe: true });
        }
        if matches!(event, LobbyEvent::Welcome(_) | LobbyEvent::Left { .. }) {
            self.look(LobbyRequest::ListPlayers { everybody: true });
        }
        self.looks.remove(request)
    }

    /// Asks the lobby for something that the view shows. If the client accepts no request now, it
    /// is shown later.
    fn look(&mut self, request: LobbyRequest) {
        if let Ok(number) = self.handle.request(request) {
            self.looks.insert(number);
        }
    }

    fn handle_input(&mut self, input: Option<Event>) -> io::Result<()> {
        for request in self.screen.handle_input(input)? {
            match request {
                ViewRequest::Quit => self.quit(),
                ViewRequest::Describe(game) => self.look(LobbyRequest::DescribeGame { game }),
            }
        }
        Ok(())
    }

    fn sample(&mut self) -> io::Result<()> {
        let sample = |client: &mut Client, now| {
            client.sample_ages(now);
            client.age(now)
        };
        if let Some(age) = self.handle.run(sample) {
            self.ages.add(age);
        }
        self.samples = self.samples.wrapping_add(1);
        let is_in_lobby = |client: &mut Client, _| client.is_connected() && client.room().is_none();
        if self.screen.is_full()
            && self.samples.is_multiple_of(SAMPLES_PER_LOOK)
            && self.looks.is_empty()
            && self.handle.run(is_in_lobby)
        {
            self.look(LobbyRequest::ListPlayers { everybody: true });
        }
        self.screen.tick(&self.ages)
    }

    fn print(&mut self, line: &Json) -> io::Result<()> {
        self.screen.show(line)?;
        self.note_printed(line);
        Ok(())
    }

    /// `Script` can wait for a printed line of a kind.
    fn note_printed(&mut self, line: &Json) {
        let kind = line["ev"].as_str().unwrap_or_default();
        self.script.handle_printed(kind, line["name"].as_str());
    }

    fn now(&self) -> LocalTime {
        LocalTime::ZERO + self.started.elapsed()
    }

    fn instant(&self, deadline: Option<LocalTime>) -> Instant {
        self.started + deadline.unwrap_or_default().since(LocalTime::ZERO)
    }
}

/// Whether an event is a list of the lobby.
fn is_list(event: &LobbyEvent) -> bool {
    matches!(event, LobbyEvent::Rooms { .. } | LobbyEvent::Players { .. })
}

/// Writes a file that only its owner may read; one that exists is left as it is.
fn save_new(file: &str, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(file)?;
    file.write_all(text.as_bytes())?;
    file.write_all(b"\n")
}

/// Waits for Ctrl-C or SIGTERM.
async fn wait_for_signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}

#[expect(clippy::disallowed_methods, reason = "the console's clock")]
fn instant_now() -> Instant {
    Instant::now()
}
