//! Sorts what the client reports: answers to the requests that wait for them, events of the lobby
//! to one queue, those of the game to another.
//!
//! Events of the client core go in ([`Inbox::handle`], called by the router task); answers and
//! queues come out. It never waits for a reader.
//!
//! Invariants:
//! 1. Each request that was accepted gets one answer; after the end, [`RequestError::Closed`].
//! 2. Each game has a queue of its own, and its last event is `Ended`.
//!
//! Bounds: [`MAX_LOBBY_EVENTS`], [`MAX_GAME_EVENTS`], and as many answers as the client core has
//! pending requests. Of the lists in the lobby's queue only the newest is kept: one of rooms, and
//! one of the members of each room.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;

use ambit_client_core::client::event::{GameEvent, LobbyEvent, ViewEvent, Welcome, codes};
use ambit_proto::ids::RoomId;
use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};

use crate::error::{ConnectError, PlayError, RequestError};
use crate::queue::EventQueue;

/// Maximum number of events of the lobby that wait to be read.
pub(crate) const MAX_LOBBY_EVENTS: usize = 1_024;
/// Maximum number of events of a game that wait to be read.
pub(crate) const MAX_GAME_EVENTS: usize = 8_192;

/// The answer to a request.
pub(crate) type Answer = Result<LobbyEvent, RequestError>;

/// The events of one game.
pub(crate) type GameQueue = EventQueue<GameEvent>;

/// See the module.
#[derive(Debug)]
pub(crate) struct Inbox {
    pub(crate) lobby: EventQueue<LobbyEvent>,
    state: Mutex<InboxState>,
    /// Anything but the queues has changed.
    changed: Notify,
}

#[derive(Debug, Default)]
struct InboxState {
    answers: BTreeMap<u64, oneshot::Sender<Answer>>,
    welcome: Option<Welcome>,
    /// The room whose game runs, and its events.
    game: Option<(RoomId, Arc<GameQueue>)>,
    /// Why the last room was left, or its game ended: code and message.
    out: Option<(String, String)>,
    /// Why the client has ended.
    closed: Option<(String, String)>,
    /// The client's task has ended, and with it the connections.
    finished: bool,
}

impl Inbox {
    pub(crate) fn new() -> Self {
        Inbox {
            lobby: EventQueue::new(MAX_LOBBY_EVENTS),
            state: Mutex::default(),
            changed: Notify::new(),
        }
    }

    /// Sends a request with `send`, which returns its number; returns where its answer arrives.
    pub(crate) fn expect_answer(
        &self,
        send: impl FnOnce() -> Result<u64, RequestError>,
    ) -> Result<oneshot::Receiver<Answer>, RequestError> {
        // Under the lock, so that the answer can't overtake its entry.
        let mut state = self.state.lock();
        if state.finished {
            return Err(RequestError::Closed);
        }
        let number = send()?;
        let (sender, receiver) = oneshot::channel();
        state.answers.insert(number, sender);
        Ok(receiver)
    }

    /// Waits until the lobby has welcomed the client.
    pub(crate) async fn wait_for_welcome(&self) -> Result<Welcome, ConnectError> {
        self.wait_until(|state| match (&state.welcome, &state.closed) {
            (Some(welcome), _) => Some(Ok(welcome.clone())),
            (None, Some((code, message))) => {
                Some(Err(ConnectError::from_close(code, message.clone())))
            }
            (None, None) => None,
        })
        .await
    }

    /// Waits until the player is in the game of `room`; returns the game's events. `present`
    /// returns the room that the player is in.
    pub(crate) async fn wait_for_game(
        &self,
        room: RoomId,
        present: impl Fn() -> Option<RoomId>,
    ) -> Result<Arc<GameQueue>, PlayError> {
        self.wait_until(|state| {
            if let Some((_, queue)) = state.game.as_ref().filter(|(known, _)| *known == room) {
                return Some(Ok(queue.clone()));
            }
            let out = state.closed.as_ref().or(state.out.as_ref()).cloned();
            match (out, present()) {
                (Some((code, message)), Some(present)) if present == room => {
                    Some(Err(PlayError::Unreachable { code, message }))
                }
                (Some((code, message)), None) => Some(Err(PlayError::OutOfRoom { code, message })),
                (_, Some(present)) if present != room => Some(Err(PlayError::OutOfRoom {
                    code: codes::LEFT.to_owned(),
                    message: "the player is in another room now".to_owned(),
                })),
                // On the way: into the game, or out of the room.
                (_, _) => None,
            }
        })
        .await
    }

    /// Forgets why the last attempt to get into the game failed.
    pub(crate) fn forget_failure(&self) {
        self.state.lock().out = None;
    }

    /// Waits until the connections are closed.
    pub(crate) async fn wait_for_end(&self) {
        self.wait_until(|state| state.finished.then_some(())).await;
    }

    /// The client's task has ended.
    pub(crate) fn finish(&self) {
        let mut state = self.state.lock();
        state.finished = true;
        let (code, message) = state
            .closed
            .get_or_insert_with(|| ("ended".to_owned(), "the client has ended".to_owned()))
            .clone();
        state.end_game(&code, &message);
        state.refuse_all();
        drop(state);
        self.lobby.close(LobbyEvent::Closed { code, message });
        self.changed.notify_waiters();
    }

    /// Sorts an event of the client core.
    pub(crate) fn handle(&self, event: ViewEvent) {
        let mut state = self.state.lock();
        match event {
            ViewEvent::Lobby(request, event) => {
                state.note_room(&event);
                let event = match state.answers.remove(&request) {
                    // If the caller no longer waits, what it asked for has happened all the same.
                    Some(waiting) => waiting.send(answer(event)).err().and_then(Result::ok),
                    None => Some(event),
                };
                if let Some(event) = event {
                    self.sort(&mut state, event);
                }
            }
            ViewEvent::Game(event) => state.sort(event),
        }
        drop(state);
        self.changed.notify_waiters();
    }

    fn sort(&self, state: &mut InboxState, event: LobbyEvent) {
        match event {
            // Answers, and what no program needs to know.
            LobbyEvent::Connecting { .. }
            | LobbyEvent::Done
            | LobbyEvent::Game(_)
            | LobbyEvent::AccountData { .. }
            | LobbyEvent::Players { room: None, .. } => {}
            LobbyEvent::Welcome(welcome) => {
                if state.welcome.replace(welcome.clone()).is_some() {
                    self.lobby.push(LobbyEvent::Welcome(welcome));
                }
            }
            // `finish` follows.
            LobbyEvent::Closed { code, message } => {
                state.end_game(&code, &message);
                state.refuse_all();
                state.closed = Some((code, message));
            }
            event => self.lobby.push_instead(is_newer_list, event),
        }
    }

    /// Waits until `ready` returns a value.
    async fn wait_until<T>(&self, ready: impl Fn(&InboxState) -> Option<T>) -> T {
        loop {
            let mut changed = pin!(self.changed.notified());
            // Before the look, so that no change after it is missed.
            changed.as_mut().enable();
            if let Some(value) = ready(&self.state.lock()) {
                return value;
            }
            changed.await;
        }
    }
}

impl InboxState {
    /// Notes that the player has entered or left a room.
    fn note_room(&mut self, event: &LobbyEvent) {
        match event {
            LobbyEvent::Created { .. } | LobbyEvent::Joined { .. } => self.out = None,
            LobbyEvent::Left { code, message, .. } => {
                self.end_game(code, message);
                self.out = Some((code.clone(), message.clone()));
            }
            _ => {}
        }
    }

    fn refuse_all(&mut self) {
        for (_, waiting) in std::mem::take(&mut self.answers) {
            let _ = waiting.send(Err(RequestError::Closed));
        }
    }

    fn sort(&mut self, event: GameEvent) {
        match (event, &self.game) {
            (GameEvent::Started(started), game)
                if game.as_ref().is_none_or(|(known, _)| *known != started.room) =>
            {
                self.out = None;
                self.game = Some((started.room, Arc::new(GameQueue::new(MAX_GAME_EVENTS))));
            }
            (GameEvent::Ended { code, message }, _) => {
                self.end_game(&code, &message);
                self.out = Some((code, message));
            }
            (event, Some((_, queue))) => queue.push(event),
            (_, None) => {}
        }
    }

    fn end_game(&mut self, code: &str, message: &str) {
        if let Some((_, queue)) = self.game.take() {
            let code = code.to_owned();
            let message = message.to_owned();
            queue.close(GameEvent::Ended { code, message });
        }
    }
}

/// Whether `event` is a list in the place of an older one.
fn is_newer_list(event: &LobbyEvent, older: &LobbyEvent) -> bool {
    match (event, older) {
        (LobbyEvent::Rooms { .. }, LobbyEvent::Rooms { .. }) => true,
        (LobbyEvent::Players { room, .. }, LobbyEvent::Players { room: known, .. }) => {
            room == known
        }
        _ => false,
    }
}

fn answer(event: LobbyEvent) -> Answer {
    match event {
        LobbyEvent::Error { code, message } => Err(RequestError::from_answer(&code, message)),
        event => Ok(event),
    }
}

#[cfg(test)]
mod tests;
