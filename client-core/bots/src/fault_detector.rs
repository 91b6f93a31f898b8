//! Detects faults that a player would notice.
//!
//! A client's events go in; faults are counted by a short name. Refusals in the ordinary course of
//! play (too little mana, a blocked place) are no faults and counted separately.
//!
//! Checks: `Enter` and `Leave` of an id alternate and begin with `Enter`; `Update`s and events
//! refer to objects in sight; the avatar comes into sight; and once in the game, the client is not
//! removed from it, loses no connection and keeps receiving data.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ambit_client_core::client::event::{GameEvent, LobbyEvent, ViewEvent};
use ambit_client_core::client::model::RoomListing;
use ambit_proto::codes as protocol;
use ambit_proto::ids::ClientObjectId;
use ambit_proto::message::FieldValue;

/// General refusals in the ordinary course of play: an object goes, or the room moves, while a
/// command is under way. A game's own refusals are ordinary, too.
const ORDINARY_REFUSALS: [&str; 2] = ["no_such_object", "try_again"];
/// A room sends each client something at least every three seconds (`IDLE_PULSE_INTERVAL` in the
/// room's `pulse_schedule`); after seven the host is lost, whatever the network loses.
const MAX_SILENCE: Duration = Duration::from_secs(7);
/// Maximum number of kinds of faults; further kinds are counted under one name.
const MAX_KINDS: usize = 64;

/// Checks the events of one client.
#[derive(Debug, Default)]
pub(crate) struct FaultDetector {
    /// The room that the client is in.
    pub(crate) room: Option<RoomListing>,
    in_sight: BTreeSet<ClientObjectId>,
    has_avatar: bool,
    /// Whether it has ever been in the game with its avatar: from then on every break is a fault.
    has_arrived: bool,
    /// Whether it has been out of the game since the measured time began.
    interrupted: bool,
    /// Why the client has ended.
    closed: Option<String>,
    /// Why it is out of the game; cleared when it is back.
    absence: Option<String>,
    /// Why the connection to the lobby broke, if it is not restored.
    lobby_lost: Option<String>,
    /// How often the session was resumed.
    pub(crate) resumes: u64,
    pub(crate) refusals: Refusals,
    /// Whether the client sends nonsense, so that each refusal is ordinary.
    tolerates_refusals: bool,
    pub(crate) faults: Faults,
}

/// Ordinary refusals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Refusals {
    /// For a reason that the game declares.
    pub(crate) of_game: u64,
    /// For a general one: a command was malformed, or came too late.
    pub(crate) general: u64,
}

/// Faults by name, with an example of each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults {
    kinds: BTreeMap<String, (u64, String)>,
}

impl Faults {
    pub(crate) fn add(&mut self, kind: &str, count: u64, example: impl Into<String>) {
        if count == 0 {
            return;
        }
        let kind = if self.kinds.len() < MAX_KINDS || self.kinds.contains_key(kind) {
            kind
        } else {
            "others"
        };
        self.kinds.entry(kind.to_owned()).or_insert_with(|| (0, example.into())).0 += count;
    }

    pub(crate) fn merge(&mut self, other: &Faults) {
        for (kind, (count, example)) in &other.kinds {
            self.add(kind, *count, example.clone());
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.kinds.values().map(|(count, _)| count).sum()
    }

    /// Name, count and example of each kind.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, u64, &str)> {
        self.kinds.iter().map(|(kind, (count, example))| (kind.as_str(), *count, example.as_str()))
    }
}

impl FaultDetector {
    /// The client sends nonsense: no refusal is a fault.
    pub(crate) fn tolerate_refusals(&mut self) {
        self.tolerates_refusals = true;
    }

    pub(crate) fn handle_event(&mut self, event: &ViewEvent) {
        match event {
            ViewEvent::Lobby(_, LobbyEvent::Welcome(welcome)) => match self.lobby_lost.take() {
                Some(_) if welcome.resumed => self.resumes += 1,
                Some(reason) => self.faults.add("lobby session lost", 1, reason),
                None => {}
            },
            ViewEvent::Lobby(_, LobbyEvent::Created { room } | LobbyEvent::Joined { room, .. }) => {
                self.room = Some(room.clone());
            }
            ViewEvent::Lobby(_, LobbyEvent::Left { code, message, .. }) => {
                self.room = None;
                self.note_interruption("removed from the room", format!("{code}: {message}"));
            }
            ViewEvent::Game(GameEvent::Enter(enter)) => {
                let new = self.in_sight.insert(enter.id);
                self.expect(new, "enter twice", enter.id);
                if enter.is_avatar() {
                    (self.has_avatar, self.has_arrived, self.absence) = (true, true, None);
                }
            }
            ViewEvent::Game(GameEvent::Leave { id, .. }) => {
                let known = self.in_sight.remove(id);
                self.expect(known, "leave without enter", *id);
            }
            ViewEvent::Game(GameEvent::Update(update)) => {
                self.expect_in_sight(update.id, "update of what is not in sight");
            }
            ViewEvent::Game(GameEvent::Event(game_event)) => {
                for field in &game_event.fields {
                    if let FieldValue::Object(id) = field.value {
                        self.expect_in_sight(id, "event about what is not in sight");
                    }
                }
            }
            ViewEvent::Game(GameEvent::Refused { code, .. })
                if is_ordinary(code) || self.tolerates_refusals =>
            {
                self.refusals.add(code);
            }
            ViewEvent::Game(GameEvent::Error { code, .. }) if self.tolerates_refusals => {
                self.refusals.add(code);
            }
            ViewEvent::Lobby(_, LobbyEvent::Error { code, message })
            | ViewEvent::Game(
                GameEvent::Error { code, message } | GameEvent::Refused { code, message, .. },
            ) => self.faults.add(code, 1, message),
            // Before the avatar's first arrival it is one of several attempts.
            ViewEvent::Lobby(_, LobbyEvent::Interrupted { reason, .. }) if self.has_arrived => {
                self.lobby_lost.get_or_insert_with(|| reason.clone());
            }
            ViewEvent::Game(GameEvent::Interrupted { reason, .. }) if self.has_arrived => {
                self.note_interruption("game connection broke", reason.clone());
            }
            ViewEvent::Game(GameEvent::Ended { code, message }) => {
                self.note_interruption("game connection closed", format!("{code}: {message}"));
            }
            ViewEvent::Lobby(_, LobbyEvent::Closed { code, message }) => {
                let reason = format!("{code}: {message}");
                if self.has_arrived {
                    self.note_interruption("connection closed", reason.clone());
                }
                self.closed = Some(reason);
            }
            // The data that do not come in a silence are counted.
            _ => {}
        }
    }

    /// Whether the client is in the game with its avatar.
    pub(crate) fn is_in_game(&self) -> bool {
        self.has_avatar && self.closed.is_none()
    }

    /// Starts the measured time. Returns whether the client is in the game.
    pub(crate) fn begin_measuring(&mut self) -> bool {
        self.interrupted = false;
        self.is_in_game()
    }

    /// Ends the measured time; no new data has arrived for `silence`. A server that died silently
    /// is a fault.
    pub(crate) fn end_measuring(&mut self, silence: Duration) {
        if let Some(reason) = self.lobby_lost.take() {
            self.faults.add("lobby connection broke", 1, reason);
        }
        if self.is_in_game() && silence > MAX_SILENCE {
            self.note_interruption(
                "silent at the end",
                format!("no new data for {} ms", silence.as_millis()),
            );
        }
    }

    /// Whether the client is in the game and has been since the measured time began.
    pub(crate) fn is_steady(&self) -> bool {
        self.is_in_game() && !self.interrupted
    }

    /// Why the client has ended, if it has.
    pub(crate) fn closed(&self) -> Option<&str> {
        self.closed.as_deref()
    }

    /// Why the client is out of the game, if it is: its server or host is lost, or it was put out.
    pub(crate) fn absence(&self) -> Option<&str> {
        self.absence.as_deref()
    }

    fn note_interruption(&mut self, kind: &str, reason: String) {
        self.has_avatar = false;
        self.interrupted = true;
        self.absence = Some(reason.clone());
        self.faults.add(kind, 1, reason);
    }

    fn expect_in_sight(&mut self, id: ClientObjectId, kind: &str) {
        let known = self.in_sight.contains(&id);
        self.expect(known, kind, id);
    }

    fn expect(&mut self, holds: bool, kind: &str, id: ClientObjectId) {
        if !holds {
            self.faults.add(kind, 1, format!("object {id}"));
        }
    }
}

impl Refusals {
    fn add(&mut self, code: &str) {
        let count = if is_general(code) { &mut self.general } else { &mut self.of_game };
        *count += 1;
    }
}

fn is_general(code: &str) -> bool {
    protocol::from_name(code).is_some()
}

fn is_ordinary(code: &str) -> bool {
    !is_general(code) || ORDINARY_REFUSALS.contains(&code)
}

#[cfg(test)]
mod tests {
    use ambit_client_core::client::event::{
        NamedField, ObjectEntered, ObjectUpdated, SchemaEvent, Welcome,
    };
    use ambit_proto::ids::{PlayerId, RoomId};
    use ambit_proto::space::Position;
    use ambit_proto::time::GameTime;

    use super::*;

    #[test]
    fn a_consistent_event_sequence_has_no_faults() {
        let detector = after(&[
            enter(1, true),
            enter(2, false),
            update(2),
            game_event(2),
            leave(2),
            enter(3, false),
        ]);
        assert_eq!(kinds(&detector), Vec::<&str>::new());
        assert!(detector.is_steady());
    }

    #[test]
    fn events_that_contradict_each_other_are_faults() {
        for (events, fault) in [
            (vec![enter(1, true), enter(1, false)], "enter twice"),
            (vec![leave(1)], "leave without enter"),
            (vec![enter(1, false), leave(1), leave(1)], "leave without enter"),
            (vec![update(1)], "update of what is not in sight"),
            (vec![game_event(1)], "event about what is not in sight"),
        ] {
            assert_eq!(kinds(&after(&events)), [fault]);
        }
    }

    #[test]
    fn ordinary_refusals_are_no_faults_and_others_are() {
        let refused = |code: &str| {
            let message = String::new();
            let what = "cast".to_owned();
            GameEvent::Refused { command: 1, code: code.into(), message, what }.into()
        };
        let detector = after(&[
            refused("not_enough_mana"),
            refused("no_such_object"),
            refused("unknown_command"),
        ]);
        assert_eq!(detector.refusals, Refusals { of_game: 1, general: 1 });
        assert_eq!(kinds(&detector), ["unknown_command"]);
        let dead = LobbyEvent::Error { code: "dead".into(), message: String::new() };
        let dead = ViewEvent::Lobby(1, dead);
        assert_eq!(kinds(&after(&[dead])), ["dead"]);
    }

    #[test]
    fn a_break_after_the_join_is_a_fault_even_if_the_bot_returns() {
        let broken = || {
            ViewEvent::Game(GameEvent::Interrupted {
                reason: "timed out".into(),
                retry_in: Duration::ZERO,
            })
        };
        let detector = after(&[broken(), enter(1, true)]);
        assert!(detector.is_steady());
        assert_eq!(detector.faults.count(), 0);

        let detector = after(&[enter(1, true), leave(1), broken(), enter(2, true)]);
        assert!(detector.is_in_game() && !detector.is_steady());
        assert_eq!(kinds(&detector), ["game connection broke"]);
    }

    #[test]
    fn a_bot_that_was_put_out_is_absent_until_it_is_back() {
        let kicked = || {
            ViewEvent::Lobby(
                0,
                LobbyEvent::Left {
                    room: RoomId(1),
                    code: "kicked".into(),
                    message: "by ann".into(),
                },
            )
        };
        let detector = after(&[enter(1, true), leave(1), kicked()]);
        assert_eq!(detector.absence(), Some("kicked: by ann"));
        let detector = after(&[enter(1, true), leave(1), kicked(), enter(2, true)]);
        assert_eq!(detector.absence(), None);
    }

    #[test]
    fn a_resumed_lobby_session_is_no_fault() {
        let broken = || {
            ViewEvent::Lobby(
                0,
                LobbyEvent::Interrupted { reason: "timed out".into(), retry_in: Duration::ZERO },
            )
        };
        let mut detector = after(&[enter(1, true), broken(), broken(), welcome(true)]);
        detector.end_measuring(Duration::ZERO);
        assert_eq!((detector.resumes, detector.is_steady(), detector.faults.count()), (1, true, 0));

        assert_eq!(
            kinds(&after(&[enter(1, true), broken(), welcome(false)])),
            ["lobby session lost"]
        );
        let mut detector = after(&[enter(1, true), broken()]);
        detector.end_measuring(Duration::ZERO);
        assert_eq!(kinds(&detector), ["lobby connection broke"]);
    }

    #[test]
    fn a_bot_that_receives_nothing_at_the_end_is_not_in_the_game() {
        let mut detector = after(&[enter(1, true)]);
        detector.end_measuring(MAX_SILENCE);
        assert!(detector.is_steady());
        detector.end_measuring(MAX_SILENCE + Duration::from_millis(1));
        assert!(!detector.is_steady());
        assert_eq!(kinds(&detector), ["silent at the end"]);
    }

    #[test]
    fn kinds_of_faults_are_bounded() {
        let mut faults = Faults::default();
        for kind in 0..1_000 {
            faults.add(&format!("kind {kind}"), 1, "");
        }
        assert_eq!(faults.count(), 1_000);
        assert!(faults.iter().count() <= MAX_KINDS + 1);
    }

    fn after(events: &[ViewEvent]) -> FaultDetector {
        let mut detector = FaultDetector::default();
        for event in events {
            detector.handle_event(event);
        }
        detector
    }

    fn kinds(detector: &FaultDetector) -> Vec<&str> {
        detector.faults.iter().map(|(kind, _, _)| kind).collect()
    }

    fn enter(id: u32, own: bool) -> ViewEvent {
        let t = GameTime::ZERO;
        let position = Some(Position::default());
        ViewEvent::Game(GameEvent::Enter(ObjectEntered {
            id: ClientObjectId(id),
            kind: "avatar".into(),
            own,
            t,
            position,
            components: Vec::new(),
        }))
    }

    fn welcome(resumed: bool) -> ViewEvent {
        let player = PlayerId(1);
        let name = "bot".to_owned();
        let grace = Duration::ZERO;
        let games = Vec::new();
        let (room, account) = (None, None);
        LobbyEvent::Welcome(Welcome {
            player,
            name,
            resumed,
            room,
            grace,
            account,
            login: None,
            games,
        })
        .into()
    }

    fn leave(id: u32) -> ViewEvent {
        ViewEvent::Game(GameEvent::Leave { id: ClientObjectId(id), t: GameTime::ZERO })
    }

    fn update(id: u32) -> ViewEvent {
        ViewEvent::Game(GameEvent::Update(ObjectUpdated {
            id: ClientObjectId(id),
            t: GameTime::ZERO,
            at: GameTime::ZERO,
            components: Vec::new(),
        }))
    }

    fn game_event(id: u32) -> ViewEvent {
        let fields = vec![NamedField {
            name: "target".into(),
            value: FieldValue::Object(ClientObjectId(id)),
            choice: None,
        }];
        let t = GameTime::ZERO;
        let name = "damage".into();
        GameEvent::Event(SchemaEvent { name, t, effect: t, late: false, fields }).into()
    }
}
