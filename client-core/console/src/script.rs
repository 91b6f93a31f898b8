//! The order in which commands are executed.
//!
//! Lines, view events and the time go in; [`ScriptStep`]s come out of [`Script::poll_step`]: the
//! next request, command or output. No I/O and no clock. Scripts and people at a prompt use the
//! same rules.
//!
//! Rules:
//! 1. Nothing is executed before the welcome. Then commands run one after the other: a request
//!    waits for its answer (at most [`ANSWER_TIMEOUT`]), so that the next command knows its result;
//!    a chat message waits until it is received back.
//! 2. A game command waits for the game while the player is in a room (at most [`GAME_TIMEOUT`]);
//!    outside of a room it is an error.
//! 3. `wait-for` accepts a line that was printed since the last `wait-for` ended (see
//!    [`printed_lines`](super::printed_lines)).
//! 4. Passwords are lines of their own: [`Script::question`] asks for the next line, and whether it
//!    may be shown.
//! 5. An invalid line is an error, and the next one follows. `quit` and the end of input wait for
//!    pending answers, at most [`QUIT_TIMEOUT`].
//!
//! Bound: one line at a time; the reader keeps the others.

use std::collections::BTreeSet;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use ambit_client_core::client::event::{GameEvent, LobbyEvent, ViewEvent};
use ambit_client_core::client::model::{ChatAudience, PlayerListing, RoomListing};
use ambit_client_core::client::request::{LobbyRequest, NewRoom};
use ambit_client_core::command_words::{self, CommandWordsError};
use ambit_client_text::command::{self, ConsoleCommand, RoomReference};
use ambit_client_text::json;
use ambit_proto::ids::{ClientObjectId, PartyId, PlayerId, RoomId};
use ambit_proto::keymap::Keymap;
use ambit_proto::message::GameCommand;
use ambit_proto::schema::Schema;
use ambit_proto::time::LocalTime;

use crate::printed_lines::{LineKind, PrintedLines};

/// How long the next command waits for an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a command waits for the game to start.
const GAME_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the next command waits to receive the player's own chat message, once the server has
/// confirmed it.
const ECHO_TIMEOUT: Duration = Duration::from_secs(1);
/// How long `objects` and its like wait for the avatar: it takes a tick and the local lag to come
/// into sight.
const AVATAR_TIMEOUT: Duration = Duration::from_secs(1);
/// How long the end waits for pending answers.
const QUIT_TIMEOUT: Duration = Duration::from_secs(2);

/// The next step to execute.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ScriptStep {
    /// Send this request, and call [`Script::handle_asked`].
    Request(LobbyRequest),
    /// Send this command.
    Act(GameCommand<ClientObjectId>),
    /// Hold these keys; none to release all.
    Hold(Keymap),
    /// Move this control, an axis.
    SetAxis(u8, f32),
    /// Print this error: code and message.
    Error(&'static str, String),
    /// Write what the server stores of the account to this new file.
    SaveAccount {
        file: String,
        json: String,
    },
    /// Print that the server has deleted the account, and quit.
    AccountErased,
    /// Print that the account has another password.
    PasswordSet,
    /// Print the objects in sight.
    Objects,
    /// Print what is room-wide.
    Table,
    /// Draw the objects in sight.
    Radar,
    /// Print how well an object is seen.
    Why(ClientObjectId),
    /// Set whether poses are emitted as events.
    Watch(bool),
    Stats,
    /// Print the list of commands, also those of the running game.
    Help(Option<Arc<Schema>>),
    Quit,
}

/// Executes commands; `K` makes the key of each room that is created.
#[derive(Debug)]
pub(crate) struct Script<K> {
    new_key: K,
    /// Whether a new password is asked for twice, since a person does not see it.
    asks_twice: bool,
    /// Whether a view shows how the rooms change, so that no list of them may end that.
    watches_rooms: bool,
    /// The player's name at present, once the lobby has welcomed the player.
    name: String,
    /// The player's number, once the lobby has welcomed the player.
    player: Option<PlayerId>,
    ended: bool,
    watching: bool,
    room: Option<RoomId>,
    /// The party to which the player was invited last.
    invitation: Option<PartyId>,
    game: GamePresence,
    wait: WaitState,
    unanswered: BTreeSet<u64>,
    printed: PrintedLines,
    steps: VecDeque<ScriptStep>,
}

#[derive(Debug, PartialEq)]
enum GamePresence {
    /// In no room, or the game has ended.
    Out,
    /// In a room: the game may start.
    Expected,
    Present {
        schema: Arc<Schema>,
        avatar: bool,
    },
}

/// What the next command waits for.
#[derive(Debug)]
enum WaitState {
    Nothing,
    Time {
        until: LocalTime,
    },
    Password(PasswordChange),
    Printed {
        kind: LineKind,
        name: String,
        until: LocalTime,
    },
    /// The number of the request in the last step.
    Number(AnswerPurpose),
    Answer {
        request: u64,
        purpose: AnswerPurpose,
        until: LocalTime,
    },
    Game {
        line: ConsoleCommand,
        until: LocalTime,
    },
    Avatar {
        then: ScriptStep,
        until: LocalTime,
    },
    Echo {
        until: LocalTime,
    },
    LastAnswers {
        until: LocalTime,
    },
}

/// The lines that follow `password`.
#[derive(Debug)]
enum PasswordChange {
    Old,
    New { old: String },
    Again { old: String, new: String },
}

#[derive(Clone, Debug)]
enum AnswerPurpose {
    /// Only to print it.
    Show,
    /// The chat message itself follows the answer.
    Say,
    /// Writes the account to this file.
    SaveAccount {
        file: String,
    },
    EraseAccount,
    SetPassword,
    /// Finds the room of this name, to join it with the password.
    FindRoom {
        name: String,
        password: String,
    },
    /// Finds the player of this name, to kick.
    FindPlayer {
        name: String,
    },
}

impl<K: FnMut() -> [u8; 16]> Script<K> {
    pub(crate) fn new(new_key: K, asks_twice: bool) -> Self {
        Script {
            new_key,
            asks_twice,
            watches_rooms: false,
            name: String::new(),
            player: None,
            ended: false,
            watching: false,
            room: None,
            invitation: None,
            game: GamePresence::Out,
            wait: WaitState::Nothing,
            unanswered: BTreeSet::new(),
            printed: PrintedLines::default(),
            steps: VecDeque::new(),
        }
    }

    /// The changes of rooms go on to be reported after each list of them.
    pub(crate) fn watch_rooms(&mut self) {
        self.watches_rooms = true;
    }

    /// Whether the script accepts the next line.
    pub(crate) fn wants_line(&self) -> bool {
        self.player.is_some()
            && !self.ended
            && self.steps.is_empty()
            && matches!(self.wait, WaitState::Nothing | WaitState::Password(_))
    }

    /// What the next line answers, if it is a password, which may not be shown.
    pub(crate) fn question(&self) -> Option<&'static str> {
        match &self.wait {
            WaitState::Password(PasswordChange::Old) => Some("password: "),
            WaitState::Password(PasswordChange::New { .. }) => Some("new password: "),
            WaitState::Password(PasswordChange::Again { .. }) => Some("new password again: "),
            _ => None,
        }
    }

    pub(crate) fn poll_step(&mut self) -> Option<ScriptStep> {
        self.steps.pop_front()
    }

    pub(crate) fn handle_line(&mut self, now: LocalTime, line: &str) {
        if let WaitState::Password(change) = &mut self.wait {
            let change = std::mem::replace(change, PasswordChange::Old);
            // Spaces around it are dropped, as they are in a file with a password.
            return self.handle_password(change, line.trim().to_owned());
        }
        match command::parse(line) {
            Ok(Some(line)) => self.begin(now, line),
            Ok(None) => {}
            Err(error) => {
                let word = line.split_whitespace().next().unwrap_or_default();
                let of_game = match &self.game {
                    GamePresence::Present { schema, .. }
                        if schema.command_index(word).is_some() =>
                    {
                        format!("; for the game's own command: do {word}")
                    }
                    _ => String::new(),
                };
                self.error("usage", format!("{error}{of_game}"));
            }
        }
    }

    fn handle_password(&mut self, change: PasswordChange, line: String) {
        self.wait = match change {
            PasswordChange::Old => WaitState::Password(PasswordChange::New { old: line }),
            PasswordChange::New { old } if self.asks_twice => {
                WaitState::Password(PasswordChange::Again { old, new: line })
            }
            PasswordChange::Again { new, .. } if new != line => {
                let message = "the new passwords are different; the account has its old one";
                self.error("usage", message.to_owned());
                WaitState::Nothing
            }
            PasswordChange::New { old } | PasswordChange::Again { old, .. } => {
                let request = LobbyRequest::SetPassword { password: old, new_password: line };
                return self.ask_for(request, AnswerPurpose::SetPassword);
            }
        };
    }

    /// Handles the end of input.
    pub(crate) fn handle_end(&mut self, now: LocalTime) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        if self.unanswered.is_empty() {
            self.steps.push_back(ScriptStep::Quit);
        } else {
            self.wait = WaitState::LastAnswers { until: now + QUIT_TIMEOUT };
        }
    }

    /// The number of the request in the last [`ScriptStep::Request`]; `None` if it was not
    /// accepted.
    pub(crate) fn handle_asked(&mut self, now: LocalTime, number: Option<u64>) {
        self.wait = match (std::mem::replace(&mut self.wait, WaitState::Nothing), number) {
            (WaitState::Number(purpose), Some(request)) => {
                self.unanswered.insert(request);
                WaitState::Answer { request, purpose, until: now + ANSWER_TIMEOUT }
            }
            (WaitState::Number(_), None) => WaitState::Nothing,
            (other, _) => other,
        };
    }

    /// Handles an event. Returns whether to print it; if so, [`Script::handle_printed`] must
    /// follow.
    pub(crate) fn handle_event(&mut self, now: LocalTime, event: &ViewEvent) -> bool {
        self.update_state(event);
        let shown = !matches!(event, ViewEvent::Game(GameEvent::Update(_))) || self.watching;
        let mut private = false;
        if let ViewEvent::Lobby(request, answer) = event
            && self.unanswered.remove(request)
        {
            match std::mem::replace(&mut self.wait, WaitState::Nothing) {
                WaitState::Answer { request: waited, purpose, .. } if waited == *request => {
                    private = self.handle_answer(now, &purpose, answer);
                }
                other => self.wait = other,
            }
        }
        self.resume(now);
        shown && !private
    }

    /// A line of this kind was printed: an event of the game has a name, too.
    pub(crate) fn handle_printed(&mut self, kind: &str, name: Option<&str>) {
        let event = name.filter(|_| kind == "event").and_then(|name| self.event_of_game(name));
        let Some(kind) = event.or_else(|| LineKind::named(kind)) else {
            return;
        };
        self.printed.note(kind);
        if let WaitState::Printed { kind: wanted, .. } = self.wait
            && self.printed.take(wanted)
        {
            self.wait = WaitState::Nothing;
        }
    }

    pub(crate) fn handle_timeout(&mut self, now: LocalTime) {
        if self.next_deadline().is_none_or(|deadline| now < deadline) {
            return;
        }
        match std::mem::replace(&mut self.wait, WaitState::Nothing) {
            WaitState::Printed { name, .. } => {
                self.printed.forget();
                self.error("timeout", format!("no '{name}' came in time"));
            }
            WaitState::Answer {
                purpose: AnswerPurpose::FindRoom { .. } | AnswerPurpose::FindPlayer { .. },
                ..
            } => {
                self.error("timeout", "the server did not answer in time".to_owned());
            }
            WaitState::Game { line, .. } => self.not_in_game(&line),
            WaitState::Avatar { then, .. } => self.steps.push_back(then),
            WaitState::LastAnswers { .. } => self.steps.push_back(ScriptStep::Quit),
            WaitState::Nothing
            | WaitState::Number(_)
            | WaitState::Password(_)
            | WaitState::Time { .. }
            | WaitState::Echo { .. }
            | WaitState::Answer { .. } => {}
        }
    }

    pub(crate) fn next_deadline(&self) -> Option<LocalTime> {
        match self.wait {
            WaitState::Nothing | WaitState::Number(_) | WaitState::Password(_) => None,
            WaitState::Time { until }
            | WaitState::Printed { until, .. }
            | WaitState::Answer { until, .. }
            | WaitState::Game { until, .. }
            | WaitState::Avatar { until, .. }
            | WaitState::Echo { until }
            | WaitState::LastAnswers { until } => Some(until),
        }
    }

    fn begin(&mut self, now: LocalTime, line: ConsoleCommand) {
        match line {
            ConsoleCommand::Rooms => {
                self.ask(LobbyRequest::ListRooms { subscribe: self.watches_rooms });
            }
            ConsoleCommand::Create { name, game, capacity, password, parameters } => {
                let key = (self.new_key)();
                self.ask(LobbyRequest::CreateRoom(NewRoom {
                    name,
                    game,
                    capacity,
                    parameters,
                    password,
                    key,
                }));
            }
            ConsoleCommand::Join { room: RoomReference::Id(room), password } => {
                self.ask(LobbyRequest::JoinRoom { room, password });
            }
            ConsoleCommand::Join { room: RoomReference::Name(name), password } => {
                self.ask_for(
                    LobbyRequest::ListRooms { subscribe: self.watches_rooms },
                    AnswerPurpose::FindRoom { name, password },
                );
            }
            ConsoleCommand::Quick { game, parameters } => {
                self.ask(LobbyRequest::QuickJoin { game, parameters });
            }
            ConsoleCommand::Invite(name) => self.ask(LobbyRequest::Invite(name)),
            ConsoleCommand::JoinParty => match self.invitation.take() {
                Some(party) => self.ask(LobbyRequest::JoinParty(party)),
                None => self.error("usage", "no player has invited you".to_owned()),
            },
            ConsoleCommand::LeaveParty => self.ask(LobbyRequest::LeaveParty { player: None }),
            ConsoleCommand::Wish(wishes) => self.ask(LobbyRequest::SetWishes(wishes)),
            ConsoleCommand::Start => self.ask(LobbyRequest::StartRoom),
            ConsoleCommand::Ready(ready) => self.ask(LobbyRequest::SetReady(ready)),
            ConsoleCommand::Leave => self.ask(LobbyRequest::LeaveRoom),
            ConsoleCommand::Describe(game) => self.ask(LobbyRequest::DescribeGame { game }),
            ConsoleCommand::Players => {
                self.ask(LobbyRequest::ListPlayers { everybody: self.room.is_none() });
            }
            ConsoleCommand::Nick(name) => self.ask(LobbyRequest::SetName(name)),
            ConsoleCommand::Account => self.ask(LobbyRequest::ReadAccount),
            ConsoleCommand::SaveAccount(file) => {
                self.ask_for(LobbyRequest::ReadAccount, AnswerPurpose::SaveAccount { file });
            }
            ConsoleCommand::EraseAccount(name) if name != self.name => {
                let message = format!(
                    "to delete your account and all that is stored of it: account erase {}",
                    self.name
                );
                self.error("usage", message);
            }
            ConsoleCommand::EraseAccount(_) => {
                self.ask_for(LobbyRequest::EraseAccount, AnswerPurpose::EraseAccount);
            }
            ConsoleCommand::SetPassword => self.wait = WaitState::Password(PasswordChange::Old),
            ConsoleCommand::Say(to, text) => {
                let here =
                    if self.room.is_some() { ChatAudience::Room } else { ChatAudience::Lobby };
                self.ask_for(
                    LobbyRequest::Say { to: to.unwrap_or(here), text },
                    AnswerPurpose::Say,
                );
            }
            ConsoleCommand::Kick(name) => self.ask_for(
                LobbyRequest::ListPlayers { everybody: false },
                AnswerPurpose::FindPlayer { name },
            ),
            ConsoleCommand::Game(_)
            | ConsoleCommand::Keys(_)
            | ConsoleCommand::Axis(..)
            | ConsoleCommand::Objects
            | ConsoleCommand::Table
            | ConsoleCommand::Radar
            | ConsoleCommand::Why(_) => self.begin_in_game(now, line),
            ConsoleCommand::Watch(on) => {
                self.watching = on;
                self.steps.push_back(ScriptStep::Watch(on));
            }
            ConsoleCommand::Stats => self.steps.push_back(ScriptStep::Stats),
            ConsoleCommand::Wait(time) => self.wait = WaitState::Time { until: now + time },
            ConsoleCommand::WaitFor(kind, time) => self.wait_for(now, &kind, time),
            ConsoleCommand::Quit => self.handle_end(now),
            ConsoleCommand::Help => {
                let schema = match &self.game {
                    GamePresence::Present { schema, .. } => Some(schema.clone()),
                    GamePresence::Out | GamePresence::Expected => None,
                };
                self.steps.push_back(ScriptStep::Help(schema));
            }
        }
    }

    fn begin_in_game(&mut self, now: LocalTime, line: ConsoleCommand) {
        let (schema, avatar) = match &self.game {
            GamePresence::Out => return self.not_in_game(&line),
            GamePresence::Expected => {
                self.wait = WaitState::Game { line, until: now + GAME_TIMEOUT };
                return;
            }
            GamePresence::Present { schema, avatar } => (schema, *avatar),
        };
        let step = match line {
            ConsoleCommand::Game(line) => game_command(schema, &line),
            ConsoleCommand::Keys(names) => match command::keymap(schema, &names) {
                Ok(keys) => ScriptStep::Hold(keys),
                Err(problem) => ScriptStep::Error("usage", problem),
            },
            ConsoleCommand::Axis(name, value) => match command::axis(schema, &name, value) {
                Ok(control) => ScriptStep::SetAxis(control, value),
                Err(problem) => ScriptStep::Error("usage", problem),
            },
            list => {
                let then = match list {
                    ConsoleCommand::Table => ScriptStep::Table,
                    ConsoleCommand::Radar => ScriptStep::Radar,
                    ConsoleCommand::Why(object) => ScriptStep::Why(object),
                    _ => ScriptStep::Objects,
                };
                if !avatar {
                    self.wait = WaitState::Avatar { then, until: now + AVATAR_TIMEOUT };
                    return;
                }
                then
            }
        };
        self.steps.push_back(step);
    }

    fn wait_for(&mut self, now: LocalTime, kind: &str, time: Duration) {
        let Some(wanted) = LineKind::named(kind).or_else(|| self.event_of_game(kind)) else {
            let of_game = match &self.game {
                GamePresence::Present { schema, .. } => {
                    let names = schema.events.iter().map(|event| format!(", {}", event.name));
                    names.collect()
                }
                _ => "; and in a game, its events".to_owned(),
            };
            let known = json::KINDS.join(", ");
            let message = format!("there is no event '{kind}'; there are {known}{of_game}");
            return self.error("usage", message);
        };
        if !self.printed.take(wanted) {
            let name = kind.to_owned();
            self.wait = WaitState::Printed { kind: wanted, name, until: now + time };
        }
    }

    fn event_of_game(&self, name: &str) -> Option<LineKind> {
        match &self.game {
            GamePresence::Present { schema, .. } => {
                schema.event_index(name).map(LineKind::of_event)
            }
            GamePresence::Out | GamePresence::Expected => None,
        }
    }

    fn ask(&mut self, request: LobbyRequest) {
        self.ask_for(request, AnswerPurpose::Show);
    }

    fn ask_for(&mut self, request: LobbyRequest, purpose: AnswerPurpose) {
        self.wait = WaitState::Number(purpose);
        self.steps.push_back(ScriptStep::Request(request));
    }

    fn error(&mut self, code: &'static str, message: String) {
        self.steps.push_back(ScriptStep::Error(code, message));
    }

    fn not_in_game(&mut self, line: &ConsoleCommand) {
        let message = "there is no game: create or join a room, and start it".to_owned();
        if let ConsoleCommand::Game(line) = line {
            let word = line.split_whitespace().next().unwrap_or_default();
            // Only a running game says which commands it has; these two are known anyway.
            if !["move", "cast"].contains(&word) && !command::is_own_word(word) {
                let message = format!("'{word}' is no command of the console, and {message}");
                return self.error("usage", message);
            }
        }
        self.error("not_in_game", message);
    }

    /// Continues a command that needed a look-up. Returns whether the answer is not printed.
    fn handle_answer(
        &mut self,
        now: LocalTime,
        purpose: &AnswerPurpose,
        answer: &LobbyEvent,
    ) -> bool {
        match (purpose, answer) {
            (AnswerPurpose::Say, LobbyEvent::Done) => {
                self.wait = WaitState::Echo { until: now + ECHO_TIMEOUT };
                false
            }
            (AnswerPurpose::SaveAccount { file }, LobbyEvent::AccountData { json }) => {
                let (file, json) = (file.clone(), json.clone());
                self.steps.push_back(ScriptStep::SaveAccount { file, json });
                true
            }
            (AnswerPurpose::EraseAccount, LobbyEvent::Done) => {
                self.steps.push_back(ScriptStep::AccountErased);
                self.ended = true;
                false
            }
            (AnswerPurpose::SetPassword, LobbyEvent::Done) => {
                self.steps.push_back(ScriptStep::PasswordSet);
                false
            }
            (AnswerPurpose::FindRoom { name, password }, LobbyEvent::Rooms { rooms }) => {
                match room_called(name, rooms) {
                    Ok(room) => {
                        self.ask(LobbyRequest::JoinRoom { room, password: password.clone() });
                    }
                    Err(message) => self.error("no_such_room", message),
                }
                true
            }
            (AnswerPurpose::FindPlayer { name }, LobbyEvent::Players { players, .. }) => {
                match players.iter().find(|player: &&PlayerListing| player.name == *name) {
                    Some(player) => self.ask(LobbyRequest::Kick(player.id)),
                    None => self.error(
                        "no_such_player",
                        format!("no player in the room is called '{name}'"),
                    ),
                }
                true
            }
            _ => false,
        }
    }

    fn update_state(&mut self, event: &ViewEvent) {
        match event {
            ViewEvent::Lobby(_, LobbyEvent::Welcome(welcome)) => {
                self.player = Some(welcome.player);
                self.name.clone_from(&welcome.name);
                self.room = welcome.room;
                if welcome.room.is_none() {
                    self.game = GamePresence::Out;
                } else if self.game == GamePresence::Out {
                    self.game = GamePresence::Expected;
                }
            }
            ViewEvent::Lobby(_, LobbyEvent::Created { room } | LobbyEvent::Joined { room, .. }) => {
                let other = self.room.replace(room.id) != Some(room.id);
                if other || self.game == GamePresence::Out {
                    self.game = GamePresence::Expected;
                }
            }
            ViewEvent::Lobby(_, LobbyEvent::Invited { party, .. }) => {
                self.invitation = Some(*party);
            }
            ViewEvent::Lobby(_, LobbyEvent::Renamed { player, name })
                if Some(*player) == self.player =>
            {
                self.name.clone_from(name);
            }
            ViewEvent::Lobby(_, LobbyEvent::Left { .. }) => {
                self.room = None;
                self.game = GamePresence::Out;
            }
            ViewEvent::Game(GameEvent::Started(started)) => {
                self.game = GamePresence::Present { schema: started.schema.clone(), avatar: false };
            }
            ViewEvent::Game(GameEvent::Enter(enter)) if enter.is_avatar() => {
                if let GamePresence::Present { avatar, .. } = &mut self.game {
                    *avatar = true;
                }
            }
            ViewEvent::Lobby(_, LobbyEvent::Chat(chat)) if Some(chat.from) == self.player => {
                if let WaitState::Echo { .. } = self.wait {
                    self.wait = WaitState::Nothing;
                }
            }
            ViewEvent::Game(GameEvent::Interrupted { .. }) => {
                self.game = GamePresence::Expected;
            }
            ViewEvent::Game(GameEvent::Ended { .. }) => {
                self.game = GamePresence::Out;
            }
            _ => {}
        }
    }

    /// Continues a command whose condition is fulfilled or can't be fulfilled any more.
    fn resume(&mut self, now: LocalTime) {
        match std::mem::replace(&mut self.wait, WaitState::Nothing) {
            WaitState::Game { line, .. } if self.game != GamePresence::Expected => {
                self.begin_in_game(now, line);
            }
            WaitState::Avatar { then, .. }
                if !matches!(self.game, GamePresence::Present { avatar: false, .. }) =>
            {
                let line = match then {
                    ScriptStep::Table => ConsoleCommand::Table,
                    ScriptStep::Radar => ConsoleCommand::Radar,
                    ScriptStep::Why(object) => ConsoleCommand::Why(object),
                    _ => ConsoleCommand::Objects,
                };
                self.begin_in_game(now, line);
            }
            WaitState::LastAnswers { .. } if self.unanswered.is_empty() => {
                self.steps.push_back(ScriptStep::Quit);
            }
            other => self.wait = other,
        }
    }
}

fn game_command(schema: &Schema, line: &str) -> ScriptStep {
    let words: Vec<&str> = line.split_whitespace().collect();
    match command_words::parse(schema, &words) {
        Ok(command) => ScriptStep::Act(command),
        Err(error @ CommandWordsError::UnknownCommand(_)) => {
            ScriptStep::Error("usage", format!("{error}; 'help' lists them all"))
        }
        Err(error @ CommandWordsError::UnknownChoice { .. }) => {
            ScriptStep::Error("unknown_command", error.to_string())
        }
        Err(error) => ScriptStep::Error("usage", error.to_string()),
    }
}

fn room_called(name: &str, rooms: &[RoomListing]) -> Result<RoomId, String> {
    let found: Vec<RoomId> =
        rooms.iter().filter(|room| room.name == name).map(|room| room.id).collect();
    match found.as_slice() {
        [room] => Ok(*room),
        [] => Err(format!("no room is called '{name}'; 'rooms' lists them")),
        several => {
            let numbers =
                several.iter().map(|room| room.0.to_string()).collect::<Vec<_>>().join(", ");
            Err(format!("several rooms are called '{name}': join one of {numbers} by its number"))
        }
    }
}

#[cfg(test)]
mod tests;
