//! What a player would complain about.
//!
//! A client's events go in; what was wrong with them is counted, by a short name. What the game
//! refuses in the ordinary course of play (too little mana, somebody in the way) is counted apart:
//! that is no fault.
//!
//! Checked: `Enter` and `Leave` of an id alternate and begin with `Enter`, `Update`s and events
//! speak of what is in sight, the avatar comes into sight, and once in the game nobody is thrown
//! out of it, loses a connection or hears nothing any more.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ambit_client_core::client::event::{About, Connection, FieldValue, ViewEvent, codes};
use ambit_client_core::client::model::Room;

/// Refusals that belong to the game.
const ORDINARY: [&str; 5] = [
    "not_enough_mana",
    "on_cooldown",
    "dead",
    "out_of_range",
    "blocked",
];
/// A room says something every three seconds at the slowest; beyond seven nobody is there, whatever
/// the line loses.
const SILENCE: Duration = Duration::from_secs(7);
/// Kinds of fault that are told apart; more are counted under one name.
const KINDS: usize = 64;

/// What one client has seen.
#[derive(Debug, Default)]
pub(crate) struct Witness {
    /// The room that it is in.
    pub(crate) room: Option<Room>,
    in_sight: BTreeSet<u32>,
    avatar: bool,
    /// Whether it has ever been in the game with its avatar: from then on nothing may break.
    arrived: bool,
    /// Whether it has been out of the game since the span began.
    interrupted: bool,
    /// Why it has ended.
    closed: Option<String>,
    /// Why it has lost the game, after it was in; forgotten once it is back.
    lost: Option<String>,
    /// Why the connection to the lobby broke, if it did and is not back.
    away: Option<String>,
    /// How often it was back with the same session.
    resumes: u64,
    refusals: u64,
    faults: Faults,
}

/// Faults by name, with an example each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults {
    kinds: BTreeMap<String, (u64, String)>,
}

impl Faults {
    pub(crate) fn add(&mut self, kind: &str, count: u64, example: impl Into<String>) {
        if count == 0 {
            return;
        }
        let kind = if self.kinds.len() < KINDS || self.kinds.contains_key(kind) {
            kind
        } else {
            "others"
        };
        self.kinds
            .entry(kind.to_owned())
            .or_insert_with(|| (0, example.into()))
            .0 += count;
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
        self.kinds
            .iter()
            .map(|(kind, (count, example))| (kind.as_str(), *count, example.as_str()))
    }
}

impl Witness {
    pub(crate) fn handle_event(&mut self, event: &ViewEvent) {
        match event {
            ViewEvent::Welcome(welcome) => match self.away.take() {
                Some(_) if welcome.resumed => self.resumes += 1,
                Some(reason) => self.faults.add("lobby session lost", 1, reason),
                None => {}
            },
            ViewEvent::Created { room, .. } | ViewEvent::Joined { room, .. } => {
                self.room = Some(room.clone())
            }
            ViewEvent::Left { code, message, .. } => {
                self.room = None;
                self.break_off("thrown out of the room", format!("{code}: {message}"));
            }
            ViewEvent::Enter(enter) => {
                let new = self.in_sight.insert(enter.id);
                self.expect(new, "enter twice", enter.id);
                if enter.own {
                    (self.avatar, self.arrived, self.lost) = (true, true, None);
                }
            }
            ViewEvent::Leave { id, .. } => {
                let known = self.in_sight.remove(id);
                self.expect(known, "leave without enter", *id);
            }
            ViewEvent::Update(update) => {
                self.expect_in_sight(update.id, "update of what is not in sight")
            }
            ViewEvent::Event(happening) => {
                for field in &happening.fields {
                    if let FieldValue::Object(Some(id)) = field.value {
                        self.expect_in_sight(id, "event about what is not in sight");
                    }
                }
            }
            ViewEvent::Error(failure) => match failure.about {
                About::Command(_) if ORDINARY.contains(&failure.code.as_str()) => {
                    self.refusals += 1
                }
                _ => self.faults.add(&failure.code, 1, &failure.message),
            },
            ViewEvent::Connection(connection) => self.handle_connection(connection),
            _ => {}
        }
    }

    /// Whether it is in the game now, with its avatar.
    pub(crate) fn is_in(&self) -> bool {
        self.avatar && self.closed.is_none()
    }

    /// From now on [`Self::is_steady`] speaks of. Returns whether it is in the game.
    pub(crate) fn begin_span(&mut self) -> bool {
        self.interrupted = false;
        self.is_in()
    }

    /// The span is over, and nothing fresh has come for so long: a server that died without a word
    /// is a fault.
    pub(crate) fn end_span(&mut self, silence: Duration) {
        if let Some(reason) = self.away.take() {
            self.faults.add("lobby connection broke", 1, reason);
        }
        if self.is_in() && silence > SILENCE {
            self.lose(
                "silent at the end",
                format!("nothing fresh for {} ms", silence.as_millis()),
            );
        }
    }

    /// Whether it is in the game and has been since the span began.
    pub(crate) fn is_steady(&self) -> bool {
        self.is_in() && !self.interrupted
    }

    /// Why it is over, if it is.
    pub(crate) fn closed(&self) -> Option<&str> {
        self.closed.as_deref()
    }

    /// Why nothing is to be heard of the game any more, if it was in it.
    pub(crate) fn lost(&self) -> Option<&str> {
        self.lost.as_deref()
    }

    /// How often the lobby's connection broke and the session went on, at that server or another.
    pub(crate) fn resumes(&self) -> u64 {
        self.resumes
    }

    /// What the game refused, as games do.
    pub(crate) fn refusals(&self) -> u64 {
        self.refusals
    }

    pub(crate) fn faults(&self) -> &Faults {
        &self.faults
    }

    pub(crate) fn faults_mut(&mut self) -> &mut Faults {
        &mut self.faults
    }

    fn handle_connection(&mut self, connection: &Connection) {
        match connection {
            Connection::Connecting { .. } => {}
            Connection::Broken { reason, .. } => {
                if self.arrived {
                    self.away.get_or_insert_with(|| reason.clone());
                }
            }
            Connection::GameBroken { reason, .. } => {
                // Before the first arrival it is one attempt of several.
                if self.arrived {
                    self.lose("game connection broke", reason.clone());
                }
            }
            Connection::GameClosed { code, message } => {
                let reason = format!("{code}: {message}");
                if self.arrived && code == codes::GAME_UNREACHABLE {
                    self.lose("game connection closed", reason);
                } else {
                    self.break_off("game connection closed", reason);
                }
            }
            Connection::Closed { code, message } => {
                let reason = format!("{code}: {message}");
                if self.arrived {
                    self.lose("connection closed", reason.clone());
                }
                self.closed = Some(reason);
            }
        }
    }

    fn lose(&mut self, kind: &str, reason: String) {
        self.lost = Some(reason.clone());
        self.break_off(kind, reason);
    }

    fn break_off(&mut self, kind: &str, reason: String) {
        self.avatar = false;
        self.interrupted = true;
        self.faults.add(kind, 1, reason);
    }

    fn expect_in_sight(&mut self, id: u32, kind: &str) {
        let known = self.in_sight.contains(&id);
        self.expect(known, kind, id);
    }

    fn expect(&mut self, holds: bool, kind: &str, id: u32) {
        if !holds {
            self.faults.add(kind, 1, format!("object {id}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use ambit_client_core::client::event::{Enter, Failure, Happening, Named, Update, Welcome};
    use ambit_proto::ids::PlayerId;
    use ambit_proto::space::Position;
    use ambit_proto::time::GameTime;

    use super::*;

    #[test]
    fn a_quiet_life_has_no_faults() {
        let witness = after(&[
            enter(1, true),
            enter(2, false),
            update(2),
            happening(2),
            leave(2),
            enter(3, false),
        ]);
        assert_eq!(names(&witness), Vec::<&str>::new());
        assert!(witness.is_steady());
    }

    #[test]
    fn what_does_not_match_is_a_fault() {
        for (events, fault) in [
            (vec![enter(1, true), enter(1, false)], "enter twice"),
            (vec![leave(1)], "leave without enter"),
            (
                vec![enter(1, false), leave(1), leave(1)],
                "leave without enter",
            ),
            (vec![update(1)], "update of what is not in sight"),
            (vec![happening(1)], "event about what is not in sight"),
        ] {
            assert_eq!(names(&after(&events)), [fault]);
        }
    }

    #[test]
    fn what_games_refuse_is_no_fault_and_what_a_client_got_wrong_is() {
        let refused = |code: &str| failure(About::Command(1), code);
        let witness = after(&[
            refused("not_enough_mana"),
            refused("blocked"),
            refused("unknown_command"),
        ]);
        assert_eq!(witness.refusals(), 2);
        assert_eq!(names(&witness), ["unknown_command"]);
        assert_eq!(
            names(&after(&[failure(About::Request(1), "dead")])),
            ["dead"]
        );
    }

    #[test]
    fn a_break_after_the_arrival_is_a_fault_even_if_the_bot_comes_back() {
        let broken = || {
            ViewEvent::Connection(Connection::GameBroken {
                reason: "gone".into(),
                retry_in: Duration::ZERO,
            })
        };
        let witness = after(&[broken(), enter(1, true)]);
        assert!(witness.is_steady());
        assert_eq!(witness.faults().count(), 0);

        let witness = after(&[enter(1, true), leave(1), broken(), enter(2, true)]);
        assert!(witness.is_in() && !witness.is_steady());
        assert_eq!(names(&witness), ["game connection broke"]);
    }

    #[test]
    fn a_lobby_that_is_back_with_the_session_is_no_fault() {
        let broken = || {
            ViewEvent::Connection(Connection::Broken {
                reason: "gone".into(),
                retry_in: Duration::ZERO,
            })
        };
        let mut witness = after(&[enter(1, true), broken(), broken(), welcome(true)]);
        witness.end_span(Duration::ZERO);
        assert_eq!(
            (
                witness.resumes(),
                witness.is_steady(),
                witness.faults().count()
            ),
            (1, true, 0)
        );

        assert_eq!(
            names(&after(&[enter(1, true), broken(), welcome(false)])),
            ["lobby session lost"]
        );
        let mut witness = after(&[enter(1, true), broken()]);
        witness.end_span(Duration::ZERO);
        assert_eq!(names(&witness), ["lobby connection broke"]);
    }

    #[test]
    fn who_hears_nothing_at_the_end_is_not_in_the_game() {
        let mut witness = after(&[enter(1, true)]);
        witness.end_span(SILENCE);
        assert!(witness.is_steady());
        witness.end_span(SILENCE + Duration::from_millis(1));
        assert!(!witness.is_steady());
        assert_eq!(names(&witness), ["silent at the end"]);
    }

    #[test]
    fn kinds_of_faults_are_bounded() {
        let mut faults = Faults::default();
        for kind in 0..1_000 {
            faults.add(&format!("kind {kind}"), 1, "");
        }
        assert_eq!(faults.count(), 1_000);
        assert!(faults.iter().count() <= KINDS + 1);
    }

    fn after(events: &[ViewEvent]) -> Witness {
        let mut witness = Witness::default();
        for event in events {
            witness.handle_event(event);
        }
        witness
    }

    fn names(witness: &Witness) -> Vec<&str> {
        witness.faults().iter().map(|(kind, _, _)| kind).collect()
    }

    fn enter(id: u32, own: bool) -> ViewEvent {
        let (t, position) = (GameTime::ZERO, Position::default());
        ViewEvent::Enter(Enter {
            id,
            kind: "avatar".into(),
            own,
            t,
            position,
            components: Vec::new(),
        })
    }

    fn welcome(resumed: bool) -> ViewEvent {
        let (player, name, grace) = (PlayerId(1), "bot".to_owned(), Duration::ZERO);
        ViewEvent::Welcome(Welcome {
            player,
            name,
            resumed,
            room: None,
            grace,
            games: Vec::new(),
        })
    }

    fn leave(id: u32) -> ViewEvent {
        ViewEvent::Leave {
            id,
            t: GameTime::ZERO,
        }
    }

    fn update(id: u32) -> ViewEvent {
        ViewEvent::Update(Update {
            id,
            t: GameTime::ZERO,
            at: GameTime::ZERO,
            components: Vec::new(),
        })
    }

    fn happening(id: u32) -> ViewEvent {
        let fields = vec![Named {
            name: "target".into(),
            value: FieldValue::Object(Some(id)),
        }];
        let (t, effect) = (GameTime::ZERO, GameTime::ZERO);
        ViewEvent::Event(Happening {
            name: "damage".into(),
            t,
            effect,
            late: false,
            fields,
        })
    }

    fn failure(about: About, code: &str) -> ViewEvent {
        ViewEvent::Error(Failure {
            about,
            code: code.into(),
            message: String::new(),
        })
    }
}
