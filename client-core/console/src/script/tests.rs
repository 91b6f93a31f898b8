//! Tests of the script on virtual time: lines and events go in, and the steps are compared.

use ambit_client_core::client::event::{GameStarted, MapExtent, ObjectEntered, Welcome};
use ambit_client_core::client::model::{ChatChannel, ChatMessage};
use ambit_proto::ids::{ClientObjectId, PlayerId};
use ambit_proto::message::FieldValue;
use ambit_proto::schema::{AxisKind, ControlSpec, EventKind};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;

use super::*;

#[test]
fn no_command_runs_before_the_welcome() {
    let mut harness = ScriptHarness::before_the_welcome();
    assert!(!harness.script.wants_line());
    harness.handle_event(&welcome(None));
    assert!(harness.script.wants_line());
}

#[test]
fn the_next_line_waits_for_the_answer() {
    let mut harness = ScriptHarness::new();
    assert_eq!(
        harness.line("rooms"),
        [ScriptStep::Request(LobbyRequest::ListRooms { subscribe: false })]
    );
    assert!(!harness.script.wants_line());
    assert!(
        harness
            .answer(|request| ViewEvent::Lobby(request, LobbyEvent::Rooms { rooms: Vec::new() }))
    );
    assert!(harness.script.wants_line());
}

#[test]
fn a_list_of_rooms_does_not_end_what_a_view_hears_of_them() {
    let mut harness = ScriptHarness::new();
    harness.script.watch_rooms();
    let subscribed = ScriptStep::Request(LobbyRequest::ListRooms { subscribe: true });
    assert_eq!(harness.line("rooms"), [subscribed]);
}

#[test]
fn an_error_is_an_answer_too() {
    let mut harness = ScriptHarness::new();
    harness.line("start");
    assert!(harness.answer(refused));
    assert!(harness.script.wants_line());
}

#[test]
fn a_silent_server_delays_the_script_for_a_bounded_time() {
    let mut harness = ScriptHarness::new();
    harness.line("start");
    harness.advance(ANSWER_TIMEOUT);
    assert!(harness.script.wants_line());
}

#[test]
fn each_created_room_gets_its_own_key() {
    let mut harness = ScriptHarness::new();
    let key = |steps: Vec<ScriptStep>| match steps.as_slice() {
        [ScriptStep::Request(LobbyRequest::CreateRoom(create))] => create.key,
        other => panic!("{other:?}"),
    };
    let first = key(harness.line("create den game=field"));
    harness.answer(refused);
    assert_ne!(key(harness.line("create den game=field")), first);
}

#[test]
fn commands_wait_until_the_game_has_started() {
    let mut harness = ScriptHarness::in_room();
    assert_eq!(harness.line("walk-to 1 2"), []);
    harness.handle_event(&started(Schema::example()));
    assert_eq!(
        harness.steps(),
        [ScriptStep::Act(GameCommand {
            kind: 0,
            fields: vec![FieldValue::Position(Position::on_ground(1.0, 2.0))],
        })]
    );
    assert_eq!(harness.line("keys jump"), [ScriptStep::Hold(Keymap(0b10))]);
    assert_eq!(harness.line("keys none"), [ScriptStep::Hold(Keymap(0))]);
    assert_eq!(codes(&harness.line("keys up")), ["usage"]);
    assert_eq!(codes(&harness.line("axis jump 1")), ["usage"]);
    let axis = ControlSpec {
        name: "throttle".into(),
        axis: Some(AxisKind::Linear),
        ..ControlSpec::default()
    };
    let mut schema = Schema::example();
    schema.controls.push(axis);
    harness.handle_event(&started(schema));
    assert_eq!(harness.line("axis throttle -0.5"), [ScriptStep::SetAxis(2, -0.5)]);
    assert_eq!(codes(&harness.line("axis throttle full")), ["usage"]);
    assert_eq!(codes(&harness.line("keys throttle")), ["usage"]);
}

#[test]
fn commands_without_a_game_are_errors() {
    let mut harness = ScriptHarness::new();
    assert_eq!(codes(&harness.line("move 1 2")), ["not_in_game"]);
    assert_eq!(codes(&harness.line("dance")), ["usage"]);
    assert_eq!(codes(&harness.line("do dance")), ["usage"]);
    assert_eq!(codes(&harness.line("do ready")), ["not_in_game"]);

    let mut harness = ScriptHarness::in_room();
    assert_eq!(harness.line("cast heal"), []);
    harness.advance(GAME_TIMEOUT);
    assert_eq!(codes(&harness.steps()), ["not_in_game"]);

    let mut harness = ScriptHarness::in_room();
    harness.line("objects");
    harness.handle_event(&ViewEvent::Lobby(
        0,
        LobbyEvent::Left { room: RoomId(1), code: "kicked".into(), message: String::new() },
    ));
    assert_eq!(codes(&harness.steps()), ["not_in_game"]);
}

#[test]
fn commands_of_the_game_are_parsed_by_its_schema() {
    let mut harness = ScriptHarness::in_game();
    assert_eq!(
        harness.line("cast heal 3 4"),
        [ScriptStep::Act(GameCommand {
            kind: 2,
            fields: vec![
                FieldValue::Choice(1),
                FieldValue::Position(Position::on_ground(3.0, 4.0)),
                FieldValue::None,
            ],
        })]
    );
    for (line, hint, code) in
        [("cast sing", "bolt, heal", "unknown_command"), ("jump", "'help' lists them all", "usage")]
    {
        let steps = harness.line(line);
        assert_eq!(codes(&steps), [code]);
        assert!(
            matches!(&steps[0], ScriptStep::Error(_, message) if message.contains(hint)),
            "{steps:?}"
        );
    }
}

#[test]
fn with_do_a_command_of_the_game_is_given_whatever_it_is_called() {
    let mut schema = Schema::example();
    schema.commands[1].name = "ready".to_owned();
    let mut harness = ScriptHarness::in_game_of(schema.clone());
    let act = ScriptStep::Act(GameCommand { kind: 1, fields: Vec::new() });
    assert_eq!(harness.line("do ready"), [act]);
    assert_eq!(codes(&harness.line("do dance")), ["usage"]);
    let ScriptStep::Error("usage", message) = &harness.line("ready now")[0] else {
        panic!("the console's own has no such form");
    };
    assert!(message.ends_with("; for the game's own command: do ready"), "{message}");
    assert_eq!(harness.line("ready"), [ScriptStep::Request(LobbyRequest::SetReady(true))]);
    let help = crate::report::help(Some(&schema));
    let usages = help["commands"].as_array().expect("a list").iter();
    let usages: Vec<_> = usages.filter_map(|command| command["usage"].as_str()).collect();
    assert!(usages.contains(&"do ready") && !usages.contains(&"ready"), "{usages:?}");
    assert!(usages.contains(&"walk-to X Y"), "{usages:?}");
}

#[test]
fn the_help_lists_the_commands_of_the_running_game() {
    let mut harness = ScriptHarness::new();
    assert_eq!(harness.line("help"), [ScriptStep::Help(None)]);
    let mut harness = ScriptHarness::in_game();
    let schema = Arc::new(Schema::example());
    assert_eq!(harness.line("help"), [ScriptStep::Help(Some(schema))]);
}

#[test]
fn objects_are_listed_once_the_avatar_is_in_sight() {
    let mut harness = ScriptHarness::in_game();
    assert_eq!(harness.line("objects"), []);
    harness.handle_event(&enter(true));
    assert_eq!(harness.steps(), [ScriptStep::Objects]);

    let mut harness = ScriptHarness::in_game();
    harness.line("objects");
    harness.advance(AVATAR_TIMEOUT);
    assert_eq!(harness.steps(), [ScriptStep::Objects]);

    let mut harness = ScriptHarness::in_game();
    assert_eq!(harness.line("table"), []);
    harness.handle_event(&enter(true));
    assert_eq!(harness.steps(), [ScriptStep::Table]);
}

#[test]
fn statistics_are_available_at_any_time() {
    assert_eq!(ScriptHarness::new().line("stats"), [ScriptStep::Stats]);
}

#[test]
fn waiting_for_an_event_ends_when_it_is_printed() {
    let mut harness = ScriptHarness::new();
    harness.line("wait-for chat");
    assert!(!harness.script.wants_line());
    harness.script.handle_printed("players", None);
    assert!(!harness.script.wants_line());
    harness.script.handle_printed("chat", None);
    assert!(harness.script.wants_line());
}

#[test]
fn an_event_printed_before_the_wait_counts_once() {
    let mut harness = ScriptHarness::new();
    for kind in ["started", "enter", "enter"] {
        harness.script.handle_printed(kind, None);
    }
    for _ in 0..2 {
        harness.line("wait-for enter");
        assert!(harness.script.wants_line());
    }
    harness.line("wait-for enter");
    assert!(!harness.script.wants_line());
}

#[test]
fn a_wait_that_times_out_is_an_error_and_the_script_continues() {
    let mut harness = ScriptHarness::new();
    harness.line("wait-for leave 200ms");
    harness.advance(Duration::from_millis(199));
    assert!(!harness.script.wants_line());
    harness.advance(Duration::from_millis(1));
    assert_eq!(codes(&harness.steps()), ["timeout"]);
    assert!(harness.script.wants_line());
}

#[test]
fn a_script_waits_for_an_event_of_the_game_by_its_name() {
    let mut harness = ScriptHarness::in_room();
    let mut schema = Schema::example();
    schema.events.push(EventKind { name: "fired".into(), ..EventKind::default() });
    harness.handle_event(&started(schema));
    harness.line("wait-for fired");
    harness.script.handle_printed("event", Some("hit"));
    harness.script.handle_printed("chat", Some("fired"));
    assert!(!harness.script.wants_line());
    harness.script.handle_printed("event", Some("fired"));
    assert!(harness.script.wants_line());
    harness.script.handle_printed("event", Some("hit"));
    harness.line("wait-for event");
    assert!(harness.script.wants_line());
}

#[test]
fn waiting_for_an_unknown_event_is_a_usage_error() {
    let mut harness = ScriptHarness::in_room();
    let says = |steps: &[ScriptStep], part: &str| match steps {
        [ScriptStep::Error("usage", message)] => message.contains(part),
        _ => false,
    };
    let steps = harness.line("wait-for no-such-event");
    assert!(says(&steps, "there is no event 'no-such-event'; there are welcome"), "{steps:?}");
    assert!(says(&steps, "and in a game, its events"), "{steps:?}");
    harness.handle_event(&started(Schema::example()));
    let steps = harness.line("wait-for no-such-event");
    assert!(says(&steps, ", hit"), "{steps:?}");
}

#[test]
fn a_pause_lasts_for_the_given_time() {
    let mut harness = ScriptHarness::new();
    harness.line("wait 300ms");
    harness.advance(Duration::from_millis(299));
    assert!(!harness.script.wants_line());
    harness.advance(Duration::from_millis(1));
    assert!(harness.script.wants_line());
}

#[test]
fn a_room_is_found_by_its_name_if_that_is_the_only_one() {
    let rooms = || vec![room(3, "den"), room(4, "lair"), room(5, "lair")];
    let mut harness = ScriptHarness::new();
    harness.line("join den password=x");
    assert!(
        !harness.answer(|request| ViewEvent::Lobby(request, LobbyEvent::Rooms { rooms: rooms() })),
        "the list is not printed"
    );
    assert_eq!(
        harness.steps(),
        [ScriptStep::Request(LobbyRequest::JoinRoom { room: RoomId(3), password: "x".into() })]
    );

    for name in ["lair", "cave"] {
        let mut harness = ScriptHarness::new();
        harness.line(&format!("join {name}"));
        harness.answer(|request| ViewEvent::Lobby(request, LobbyEvent::Rooms { rooms: rooms() }));
        assert_eq!(codes(&harness.steps()), ["no_such_room"]);
        assert!(harness.script.wants_line());
    }
}

#[test]
fn a_player_to_kick_is_found_by_name() {
    let mut harness = ScriptHarness::in_room();
    harness.line("kick bob");
    let bob = PlayerListing {
        id: PlayerId(9),
        name: "bob".into(),
        ready: false,
        host: false,
        connected: true,
    };
    assert!(!harness.answer(|request| ViewEvent::Lobby(
        request,
        LobbyEvent::Players { room: None, players: vec![bob] }
    )));
    assert_eq!(harness.steps(), [ScriptStep::Request(LobbyRequest::Kick(PlayerId(9)))]);
}

#[test]
fn chat_goes_to_the_room_or_without_a_room_to_the_lobby() {
    let check_audience = |mut harness: ScriptHarness, to: ChatAudience| {
        assert_eq!(
            harness.line("say hello"),
            [ScriptStep::Request(LobbyRequest::Say { to, text: "hello".into() })]
        );
    };
    check_audience(ScriptHarness::new(), ChatAudience::Lobby);
    check_audience(ScriptHarness::in_room(), ChatAudience::Room);
}

#[test]
fn the_next_line_waits_for_the_chat_message() {
    let chat = |from| {
        let channel = ChatChannel::Lobby;
        let from = PlayerId(from);
        let from_name = String::new();
        let text = String::new();
        LobbyEvent::Chat(ChatMessage { channel, from, from_name, to: None, text }).into()
    };
    let mut harness = ScriptHarness::new();
    harness.line("say hello");
    harness.answer(|request| ViewEvent::Lobby(request, LobbyEvent::Done));
    harness.handle_event(&chat(2));
    assert!(!harness.script.wants_line());
    harness.handle_event(&chat(1));
    assert!(harness.script.wants_line());

    let mut harness = ScriptHarness::new();
    harness.line("say hello");
    harness.answer(refused);
    assert!(harness.script.wants_line());
}

#[test]
fn updates_are_printed_when_they_are_watched() {
    let update =
        ViewEvent::Game(GameEvent::Update(ambit_client_core::client::event::ObjectUpdated {
            id: ClientObjectId(1),
            t: GameTime::ZERO,
            at: GameTime::ZERO,
            components: Vec::new(),
        }));
    let mut harness = ScriptHarness::in_game();
    assert!(!harness.script.handle_event(harness.now, &update));
    assert_eq!(harness.line("watch on"), [ScriptStep::Watch(true)]);
    assert!(harness.script.handle_event(harness.now, &update));
    assert_eq!(harness.line("watch off"), [ScriptStep::Watch(false)]);
    assert!(!harness.script.handle_event(harness.now, &update));
}

#[test]
fn a_usage_error_does_not_end_the_script() {
    let mut harness = ScriptHarness::new();
    assert_eq!(codes(&harness.line("start now")), ["usage"]);
    assert_eq!(harness.line("# a comment"), []);
    assert_eq!(harness.line("help"), [ScriptStep::Help(None)]);
}

#[test]
fn quit_waits_for_pending_answers() {
    let mut harness = ScriptHarness::new();
    harness.line("say hello");
    harness.advance(ANSWER_TIMEOUT);
    assert_eq!(harness.line("quit"), []);
    harness.answer(|request| ViewEvent::Lobby(request, LobbyEvent::Done));
    assert_eq!(harness.steps(), [ScriptStep::Quit]);

    let mut harness = ScriptHarness::new();
    harness.line("say hello");
    harness.advance(ANSWER_TIMEOUT);
    harness.line("quit");
    harness.advance(QUIT_TIMEOUT);
    assert_eq!(harness.steps(), [ScriptStep::Quit]);
}

#[test]
fn the_end_of_input_ends_the_script_once() {
    let mut harness = ScriptHarness::new();
    harness.script.handle_end(harness.now);
    assert_eq!(harness.steps(), [ScriptStep::Quit]);
    harness.script.handle_end(harness.now);
    assert_eq!(harness.steps(), []);
    assert!(!harness.script.wants_line());
}

/// A script on virtual time.
#[test]
fn an_account_is_saved_and_deleted_by_its_own_player_s_name() {
    let mut harness = ScriptHarness::new();
    let data =
        |request| ViewEvent::Lobby(request, LobbyEvent::AccountData { json: "{}".to_owned() });
    assert_eq!(harness.line("account"), [ScriptStep::Request(LobbyRequest::ReadAccount)]);
    assert!(harness.answer(data), "it is printed");
    assert_eq!(
        harness.line("account save my data.json"),
        [ScriptStep::Request(LobbyRequest::ReadAccount)]
    );
    assert!(!harness.answer(data), "it is written and not printed");
    let (file, json) = ("my data.json".to_owned(), "{}".to_owned());
    assert_eq!(harness.steps(), [ScriptStep::SaveAccount { file, json }]);

    assert_eq!(codes(&harness.line("account erase bob")), ["usage"]);
    let name = "ann-2".to_owned();
    harness.handle_event(&ViewEvent::Lobby(0, LobbyEvent::Renamed { player: PlayerId(1), name }));
    assert_eq!(codes(&harness.line("account erase ann")), ["usage"]);
    let erase = ScriptStep::Request(LobbyRequest::EraseAccount);
    assert_eq!(harness.line("account erase ann-2"), std::slice::from_ref(&erase));
    harness.answer(refused);
    assert!(harness.script.wants_line(), "it still has the account");
    assert_eq!(harness.line("account erase ann-2"), [erase]);
    harness.answer(|request| ViewEvent::Lobby(request, LobbyEvent::Done));
    assert_eq!(harness.steps(), [ScriptStep::AccountErased]);
    assert!(!harness.script.wants_line());
}

#[test]
fn passwords_are_asked_for_and_no_commands() {
    let (old, new) = ("correct horse", "quit");
    let request = ScriptStep::Request(LobbyRequest::SetPassword {
        password: old.to_owned(),
        new_password: new.to_owned(),
    });
    for asks_twice in [false, true] {
        let mut harness = ScriptHarness::new();
        harness.script.asks_twice = asks_twice;
        assert_eq!(harness.script.question(), None);
        assert_eq!(harness.line("password"), []);
        assert_eq!(harness.script.question(), Some("password: "));
        assert_eq!(harness.line(old), []);
        assert_eq!(harness.script.question(), Some("new password: "));
        if asks_twice {
            assert_eq!(harness.line(new), []);
            assert_eq!(harness.script.question(), Some("new password again: "));
        }
        assert_eq!(harness.line(new), std::slice::from_ref(&request));
        assert_eq!(harness.script.question(), None);
        harness.answer(|request| ViewEvent::Lobby(request, LobbyEvent::Done));
        assert_eq!(harness.steps(), [ScriptStep::PasswordSet]);
    }
    let mut harness = ScriptHarness::new();
    harness.script.asks_twice = true;
    for line in ["password", old, new] {
        assert_eq!(harness.line(line), []);
    }
    assert_eq!(codes(&harness.line("quiet")), ["usage"]);
    assert_eq!(harness.line("stats"), [ScriptStep::Stats]);
}

struct ScriptHarness {
    script: Script<Box<dyn FnMut() -> [u8; 16]>>,
    now: LocalTime,
    requests: u64,
}

impl ScriptHarness {
    fn before_the_welcome() -> Self {
        let mut keys = 0;
        let new_key: Box<dyn FnMut() -> [u8; 16]> = Box::new(move || {
            keys += 1;
            [keys; 16]
        });
        let script = Script::new(new_key, false);
        ScriptHarness { script, now: LocalTime::ZERO, requests: 0 }
    }

    fn new() -> Self {
        let mut harness = ScriptHarness::before_the_welcome();
        harness.handle_event(&welcome(None));
        harness
    }

    fn in_room() -> Self {
        let mut harness = ScriptHarness::new();
        harness.handle_event(&ViewEvent::Lobby(
            0,
            LobbyEvent::Joined { room: room(1, "den"), players: Vec::new() },
        ));
        harness
    }

    fn in_game() -> Self {
        ScriptHarness::in_game_of(Schema::example())
    }

    fn in_game_of(schema: Schema) -> Self {
        let mut harness = ScriptHarness::in_room();
        harness.handle_event(&started(schema));
        harness
    }

    fn handle_event(&mut self, event: &ViewEvent) {
        assert!(self.script.handle_event(self.now, event));
    }

    fn line(&mut self, line: &str) -> Vec<ScriptStep> {
        assert!(self.script.wants_line(), "not ready for {line}");
        self.script.handle_line(self.now, line);
        self.steps()
    }

    fn steps(&mut self) -> Vec<ScriptStep> {
        let mut steps = Vec::new();
        while let Some(step) = self.script.poll_step() {
            if matches!(step, ScriptStep::Request(_)) {
                self.requests += 1;
                self.script.handle_asked(self.now, Some(self.requests));
            }
            steps.push(step);
        }
        steps
    }

    /// Answers the last request; returns whether the answer is printed.
    fn answer(&mut self, event: impl FnOnce(u64) -> ViewEvent) -> bool {
        self.script.handle_event(self.now, &event(self.requests))
    }

    fn advance(&mut self, time: Duration) {
        self.now += time;
        self.script.handle_timeout(self.now);
    }
}

fn codes(steps: &[ScriptStep]) -> Vec<&'static str> {
    let code = |step: &ScriptStep| match step {
        ScriptStep::Error(code, _) => *code,
        other => panic!("{other:?}"),
    };
    steps.iter().map(code).collect()
}

fn refused(request: u64) -> ViewEvent {
    let code = "not_in_room".to_owned();
    ViewEvent::Lobby(request, LobbyEvent::Error { code, message: String::new() })
}

fn welcome(room: Option<RoomId>) -> ViewEvent {
    let player = PlayerId(1);
    let name = "ann".to_owned();
    let grace = Duration::from_secs(30);
    let games = Vec::new();
    let (resumed, account) = (false, None);
    LobbyEvent::Welcome(Welcome { player, name, resumed, room, grace, account, login: None, games })
        .into()
}

fn room(id: u64, name: &str) -> RoomListing {
    RoomListing {
        id: RoomId(id),
        name: name.into(),
        game: "field".into(),
        players: 1,
        capacity: 8,
        running: true,
        has_password: false,
        host: PlayerId(1),
        parameters: std::collections::BTreeMap::new(),
    }
}

fn started(schema: Schema) -> ViewEvent {
    ViewEvent::Game(GameEvent::Started(GameStarted {
        room: RoomId(1),
        address: "127.0.0.1:7777".into(),
        is_rejoin: false,
        map_number: 0,
        t: GameTime::ZERO,
        delay: Duration::from_millis(150),
        tick_hz: 20,
        map: MapExtent::default(),
        game: "field".into(),
        schema: Arc::new(schema),
    }))
}

fn enter(own: bool) -> ViewEvent {
    let t = GameTime::ZERO;
    let position = Some(Position::default());
    ViewEvent::Game(GameEvent::Enter(ObjectEntered {
        id: ClientObjectId(1),
        kind: "avatar".into(),
        own,
        t,
        position,
        components: Vec::new(),
    }))
}
