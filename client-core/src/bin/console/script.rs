//! The order in which lines are carried out.
//!
//! Lines, view events and the time go in; [`Step`]s come out of [`Script::poll_step`]: what is to
//! be asked, commanded or printed next. No I/O and no clock. The same for a script and for a person
//! at a prompt.
//!
//! Rules:
//! 1. Nothing is carried out before the welcome. Then one line after the other: a request waits for
//!    its answer ([`ANSWER`] at most), so that the next line knows what has become of it; what was
//!    said waits until it is heard.
//! 2. What is meant for the game waits for it while the player is in a room ([`GAME`] at most),
//!    else it is an error.
//! 3. `wait-for` is content with a line that was printed since the last `wait-for` ended (see
//!    [`printed`](super::printed)).
//! 4. A line that makes no sense is an error, and the next one follows. `quit` and the end of input
//!    wait for answers under way, [`FAREWELL`] at most.
//!
//! Bound: one line at a time; the reader keeps the others.

use std::collections::BTreeSet;
use std::collections::VecDeque;
use std::time::Duration;

use ambit_client_core::client::event::{About, Connection, ViewEvent};
use ambit_client_core::client::model::{Audience, Player, Room};
use ambit_client_core::client::request::{CreateRoom, Request};
use ambit_client_core::text::command::{self, Line, RoomName};
use ambit_client_core::text::json;
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::keymap::Keymap;
use ambit_proto::message::Action;
use ambit_proto::time::LocalTime;

use crate::printed::{Kind, Printed};

/// How long the next line waits for an answer.
const ANSWER: Duration = Duration::from_secs(5);
/// How long a command waits for the game to be there.
const GAME: Duration = Duration::from_secs(5);
/// How long the next line waits to hear what was said, once the server has confirmed it.
const ECHO: Duration = Duration::from_secs(1);
/// How long `objects` waits for the avatar to come into sight: it takes a tick and the local lag.
const AVATAR: Duration = Duration::from_secs(1);
/// How long the end waits for answers under way.
const FAREWELL: Duration = Duration::from_secs(2);

/// What is to be done next.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// Ask this, and tell [`Script::handle_asked`].
    Request(Request),
    /// Command this.
    Act(Action),
    /// Hold these keys; none to let go of all.
    Hold(Keymap),
    /// Print this error: code and message.
    Error(&'static str, String),
    /// Print what lies around.
    Objects,
    /// Have poses told, or no more.
    Watch(bool),
    /// Print the figures.
    Stats,
    /// Print the list of commands.
    Help,
    /// Leave for good.
    Quit,
}

/// Carries out lines; `K` makes the key of each room that is made.
#[derive(Debug)]
pub(crate) struct Script<K> {
    new_key: K,
    /// The player's number, once welcomed.
    player: Option<PlayerId>,
    ended: bool,
    watching: bool,
    room: Option<RoomId>,
    game: Game,
    wait: Wait,
    unanswered: BTreeSet<u64>,
    printed: Printed,
    steps: VecDeque<Step>,
}

#[derive(Debug, PartialEq)]
enum Game {
    /// In no room, or the game is gone for good.
    Out,
    /// In a room: it may come.
    Coming,
    There {
        spells: Vec<String>,
        avatar: bool,
    },
}

/// What the next line waits for.
#[derive(Debug)]
enum Wait {
    Nothing,
    Time {
        until: LocalTime,
    },
    Printed {
        kind: Kind,
        until: LocalTime,
    },
    /// The number of the request in the last step.
    Number(Purpose),
    Answer {
        request: u64,
        purpose: Purpose,
        until: LocalTime,
    },
    Game {
        line: Line,
        until: LocalTime,
    },
    Avatar {
        until: LocalTime,
    },
    Echo {
        until: LocalTime,
    },
    LastAnswers {
        until: LocalTime,
    },
}

/// What an answer is for.
#[derive(Clone, Debug)]
enum Purpose {
    /// To be printed.
    Show,
    /// To be heard: the line of chat follows the answer.
    Say,
    /// To find the room of this name; then it is joined with the password.
    FindRoom { name: String, password: String },
    /// To find the player of this name, who is thrown out.
    FindPlayer { name: String },
}

impl<K: FnMut() -> [u8; 16]> Script<K> {
    pub(crate) fn new(new_key: K) -> Self {
        Script {
            new_key,
            player: None,
            ended: false,
            watching: false,
            room: None,
            game: Game::Out,
            wait: Wait::Nothing,
            unanswered: BTreeSet::new(),
            printed: Printed::default(),
            steps: VecDeque::new(),
        }
    }

    /// Whether the next line may come.
    pub(crate) fn wants_line(&self) -> bool {
        self.player.is_some()
            && !self.ended
            && self.steps.is_empty()
            && matches!(self.wait, Wait::Nothing)
    }

    pub(crate) fn poll_step(&mut self) -> Option<Step> {
        self.steps.pop_front()
    }

    /// The next line.
    pub(crate) fn handle_line(&mut self, now: LocalTime, line: &str) {
        match command::parse(line) {
            Ok(Some(line)) => self.begin(now, line),
            Ok(None) => {}
            Err(mistake) => self.error("usage", mistake.to_string()),
        }
    }

    /// There are no more lines.
    pub(crate) fn handle_end(&mut self, now: LocalTime) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        if self.unanswered.is_empty() {
            self.steps.push_back(Step::Quit);
        } else {
            self.wait = Wait::LastAnswers {
                until: now + FAREWELL,
            };
        }
    }

    /// The number of the request in the last [`Step::Request`]; `None` if it was not taken.
    pub(crate) fn handle_asked(&mut self, now: LocalTime, number: Option<u64>) {
        self.wait = match (std::mem::replace(&mut self.wait, Wait::Nothing), number) {
            (Wait::Number(purpose), Some(request)) => {
                self.unanswered.insert(request);
                Wait::Answer {
                    request,
                    purpose,
                    until: now + ANSWER,
                }
            }
            (Wait::Number(_), None) => Wait::Nothing,
            (other, _) => other,
        };
    }

    /// Something has happened. Returns whether it is to be printed; if so,
    /// [`Script::handle_printed`] follows.
    pub(crate) fn handle_event(&mut self, now: LocalTime, event: &ViewEvent) -> bool {
        self.learn(event);
        let shown = !matches!(event, ViewEvent::Update(_)) || self.watching;
        let Some(request) = request_of(event).filter(|request| self.unanswered.remove(request))
        else {
            self.resume(now);
            return shown;
        };
        let mut private = false;
        match std::mem::replace(&mut self.wait, Wait::Nothing) {
            Wait::Answer {
                request: waited,
                purpose,
                ..
            } if waited == request => {
                private = self.follow_up(now, &purpose, event);
            }
            other => self.wait = other,
        }
        self.resume(now);
        shown && !private
    }

    /// A line of this kind was printed.
    pub(crate) fn handle_printed(&mut self, kind: &str) {
        let Some(kind) = Kind::named(kind) else {
            return;
        };
        self.printed.note(kind);
        if let Wait::Printed { kind: wanted, .. } = self.wait
            && self.printed.take(wanted)
        {
            self.wait = Wait::Nothing;
        }
    }

    /// Some deadline has passed.
    pub(crate) fn handle_timeout(&mut self, now: LocalTime) {
        if self.next_deadline().is_none_or(|deadline| now < deadline) {
            return;
        }
        match std::mem::replace(&mut self.wait, Wait::Nothing) {
            Wait::Printed { kind, .. } => {
                self.printed.forget();
                self.error("timeout", format!("no '{}' came in time", kind.name()));
            }
            Wait::Answer {
                purpose: Purpose::FindRoom { .. } | Purpose::FindPlayer { .. },
                ..
            } => {
                self.error("timeout", "the server did not answer in time".to_owned());
            }
            Wait::Game { .. } => self.not_in_game(),
            Wait::Avatar { .. } => self.steps.push_back(Step::Objects),
            Wait::LastAnswers { .. } => self.steps.push_back(Step::Quit),
            Wait::Nothing
            | Wait::Number(_)
            | Wait::Time { .. }
            | Wait::Echo { .. }
            | Wait::Answer { .. } => {}
        }
    }

    pub(crate) fn next_deadline(&self) -> Option<LocalTime> {
        match self.wait {
            Wait::Nothing | Wait::Number(_) => None,
            Wait::Time { until }
            | Wait::Printed { until, .. }
            | Wait::Answer { until, .. }
            | Wait::Game { until, .. }
            | Wait::Avatar { until }
            | Wait::Echo { until }
            | Wait::LastAnswers { until } => Some(until),
        }
    }

    fn begin(&mut self, now: LocalTime, line: Line) {
        match line {
            Line::Rooms => self.ask(Request::ListRooms { subscribe: false }),
            Line::Create {
                name,
                game,
                capacity,
                password,
                parameters,
            } => {
                let key = (self.new_key)();
                self.ask(Request::CreateRoom(CreateRoom {
                    name,
                    game,
                    capacity,
                    parameters,
                    password,
                    key,
                }));
            }
            Line::Join {
                room: RoomName::Id(room),
                password,
            } => self.ask(Request::JoinRoom { room, password }),
            Line::Join {
                room: RoomName::Name(name),
                password,
            } => {
                self.ask_for(
                    Request::ListRooms { subscribe: false },
                    Purpose::FindRoom { name, password },
                );
            }
            Line::Start => self.ask(Request::StartRoom),
            Line::Ready(ready) => self.ask(Request::SetReady(ready)),
            Line::Leave => self.ask(Request::LeaveRoom),
            Line::Players => self.ask(Request::ListPlayers {
                everybody: self.room.is_none(),
            }),
            Line::Nick(name) => self.ask(Request::SetName(name)),
            Line::Say(to, text) => {
                let here = if self.room.is_some() {
                    Audience::Room
                } else {
                    Audience::Lobby
                };
                self.ask_for(
                    Request::Say {
                        to: to.unwrap_or(here),
                        text,
                    },
                    Purpose::Say,
                );
            }
            Line::Kick(name) => self.ask_for(
                Request::ListPlayers { everybody: false },
                Purpose::FindPlayer { name },
            ),
            Line::Move(..) | Line::Keys(_) | Line::Cast(..) | Line::Objects => {
                self.begin_in_game(now, line)
            }
            Line::Watch(on) => {
                self.watching = on;
                self.steps.push_back(Step::Watch(on));
            }
            Line::Stats => self.steps.push_back(Step::Stats),
            Line::Wait(time) => self.wait = Wait::Time { until: now + time },
            Line::WaitFor(kind, time) => self.wait_for(now, &kind, time),
            Line::Quit => self.handle_end(now),
            Line::Help => self.steps.push_back(Step::Help),
        }
    }

    fn begin_in_game(&mut self, now: LocalTime, line: Line) {
        let (spells, avatar) = match &self.game {
            Game::Out => return self.not_in_game(),
            Game::Coming => {
                self.wait = Wait::Game {
                    line,
                    until: now + GAME,
                };
                return;
            }
            Game::There { spells, avatar } => (spells, *avatar),
        };
        let step = match line {
            Line::Move(x, y) => Step::Act(Action::Move { x, y }),
            Line::Keys(keys) => Step::Hold(Keymap(keys)),
            Line::Cast(spell, at) => cast(spells, &spell, at),
            _ if avatar => Step::Objects,
            _ => {
                self.wait = Wait::Avatar {
                    until: now + AVATAR,
                };
                return;
            }
        };
        self.steps.push_back(step);
    }

    fn wait_for(&mut self, now: LocalTime, kind: &str, time: Duration) {
        let Some(wanted) = Kind::named(kind) else {
            return self.error(
                "usage",
                format!(
                    "there is no event '{kind}'; there are {}",
                    json::KINDS.join(", ")
                ),
            );
        };
        if !self.printed.take(wanted) {
            self.wait = Wait::Printed {
                kind: wanted,
                until: now + time,
            };
        }
    }

    fn ask(&mut self, request: Request) {
        self.ask_for(request, Purpose::Show);
    }

    fn ask_for(&mut self, request: Request, purpose: Purpose) {
        self.wait = Wait::Number(purpose);
        self.steps.push_back(Step::Request(request));
    }

    fn error(&mut self, code: &'static str, message: String) {
        self.steps.push_back(Step::Error(code, message));
    }

    fn not_in_game(&mut self) {
        self.error(
            "not_in_game",
            "there is no game: create or join a room, and start it".to_owned(),
        );
    }

    /// Goes on with what was looked up. Returns whether the answer was of no other interest.
    fn follow_up(&mut self, now: LocalTime, purpose: &Purpose, answer: &ViewEvent) -> bool {
        match (purpose, answer) {
            (Purpose::Say, ViewEvent::Done { .. }) => {
                self.wait = Wait::Echo { until: now + ECHO };
                false
            }
            (Purpose::FindRoom { name, password }, ViewEvent::Rooms { rooms, .. }) => {
                match room_called(name, rooms) {
                    Ok(room) => self.ask(Request::JoinRoom {
                        room,
                        password: password.clone(),
                    }),
                    Err(message) => self.error("no_such_room", message),
                }
                true
            }
            (Purpose::FindPlayer { name }, ViewEvent::Players { players, .. }) => {
                match players.iter().find(|player: &&Player| player.name == *name) {
                    Some(player) => self.ask(Request::Kick(player.id)),
                    None => self.error(
                        "no_such_player",
                        format!("there is nobody called '{name}' in the room"),
                    ),
                }
                true
            }
            _ => false,
        }
    }

    fn learn(&mut self, event: &ViewEvent) {
        match event {
            ViewEvent::Welcome(welcome) => {
                self.player = Some(welcome.player);
                self.room = welcome.room;
                if welcome.room.is_none() {
                    self.game = Game::Out;
                } else if self.game == Game::Out {
                    self.game = Game::Coming;
                }
            }
            ViewEvent::Created { room, .. } | ViewEvent::Joined { room, .. } => {
                let other = self.room.replace(room.id) != Some(room.id);
                if other || self.game == Game::Out {
                    self.game = Game::Coming;
                }
            }
            ViewEvent::Left { .. } => (self.room, self.game) = (None, Game::Out),
            ViewEvent::Started(started) => {
                self.game = Game::There {
                    spells: started.spells.clone(),
                    avatar: false,
                };
            }
            ViewEvent::Enter(enter) if enter.own => {
                if let Game::There { avatar, .. } = &mut self.game {
                    *avatar = true;
                }
            }
            ViewEvent::Chat(chat) if Some(chat.from) == self.player => {
                if let Wait::Echo { .. } = self.wait {
                    self.wait = Wait::Nothing;
                }
            }
            ViewEvent::Connection(Connection::GameBroken { .. }) => self.game = Game::Coming,
            ViewEvent::Connection(Connection::GameClosed { .. }) => self.game = Game::Out,
            _ => {}
        }
    }

    /// Goes on with a line that waited for what is there now, or will not come.
    fn resume(&mut self, now: LocalTime) {
        match std::mem::replace(&mut self.wait, Wait::Nothing) {
            Wait::Game { line, .. } if self.game != Game::Coming => self.begin_in_game(now, line),
            Wait::Avatar { .. } if !matches!(self.game, Game::There { avatar: false, .. }) => {
                self.begin_in_game(now, Line::Objects);
            }
            Wait::LastAnswers { .. } if self.unanswered.is_empty() => {
                self.steps.push_back(Step::Quit)
            }
            other => self.wait = other,
        }
    }
}

fn cast(spells: &[String], spell: &str, at: Option<(f32, f32)>) -> Step {
    if let Some(number) = spells.iter().position(|name| name == spell) {
        return Step::Act(Action::Cast {
            spell: number as u8,
            at,
        });
    }
    let known = spells.join(", ");
    Step::Error(
        "unknown_command",
        format!("unknown spell '{spell}'; this game has: {known}"),
    )
}

/// The request that an event answers.
fn request_of(event: &ViewEvent) -> Option<u64> {
    match event {
        ViewEvent::Rooms { request, .. }
        | ViewEvent::Created { request, .. }
        | ViewEvent::Joined { request, .. }
        | ViewEvent::Left { request, .. }
        | ViewEvent::Done { request }
        | ViewEvent::Players { request, .. }
        | ViewEvent::Renamed { request, .. } => Some(*request),
        ViewEvent::Error(failure) => match failure.about {
            About::Request(request) => Some(request),
            _ => None,
        },
        _ => None,
    }
}

fn room_called(name: &str, rooms: &[Room]) -> Result<RoomId, String> {
    let found: Vec<RoomId> = rooms
        .iter()
        .filter(|room| room.name == name)
        .map(|room| room.id)
        .collect();
    match found.as_slice() {
        [room] => Ok(*room),
        [] => Err(format!("no room is called '{name}'; 'rooms' lists them")),
        several => {
            let numbers = several
                .iter()
                .map(|room| room.0.to_string())
                .collect::<Vec<_>>()
                .join(", ");
            Err(format!(
                "several rooms are called '{name}': join one of {numbers} by its number"
            ))
        }
    }
}

#[cfg(test)]
mod tests;
