//! Tests of the script: lines and events go in, in time that advances on demand, and the steps are
//! compared.

use ambit_client_core::client::event::{Failure, GameStarted, MapExtent, ObjectEntered, Welcome};
use ambit_client_core::client::model::{ChatChannel, ChatMessage};
use ambit_proto::ids::PlayerId;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;

use super::*;

#[test]
fn nothing_is_carried_out_before_the_welcome() {
    let mut scene = Scene::before_the_welcome();
    assert!(!scene.script.wants_line());
    scene.tell(&welcome(None));
    assert!(scene.script.wants_line());
}

#[test]
fn the_next_line_waits_for_the_answer() {
    let mut scene = Scene::new();
    assert_eq!(
        scene.line("rooms"),
        [ScriptStep::Request(LobbyRequest::ListRooms {
            subscribe: false
        })]
    );
    assert!(!scene.script.wants_line());
    assert!(scene.answer(|request| ViewEvent::Rooms {
        request,
        rooms: Vec::new()
    }));
    assert!(scene.script.wants_line());
}

#[test]
fn an_error_is_an_answer_too() {
    let mut scene = Scene::new();
    scene.line("start");
    assert!(scene.answer(refused));
    assert!(scene.script.wants_line());
}

#[test]
fn a_silent_server_delays_the_script_for_a_bounded_time() {
    let mut scene = Scene::new();
    scene.line("start");
    scene.pass(ANSWER_TIMEOUT);
    assert!(scene.script.wants_line());
}

#[test]
fn each_room_that_is_made_gets_a_key_of_its_own() {
    let mut scene = Scene::new();
    let key = |steps: Vec<ScriptStep>| match steps.as_slice() {
        [ScriptStep::Request(LobbyRequest::CreateRoom(create))] => create.key,
        other => panic!("{other:?}"),
    };
    let first = key(scene.line("create den game=field"));
    scene.answer(refused);
    assert_ne!(key(scene.line("create den game=field")), first);
}

#[test]
fn commands_wait_for_the_game_that_is_to_come() {
    let mut scene = Scene::in_room();
    assert_eq!(scene.line("move 1 2"), []);
    scene.tell(&started());
    assert_eq!(
        scene.steps(),
        [ScriptStep::Act(Action::Move { x: 1.0, y: 2.0 })]
    );
    assert_eq!(
        scene.line("keys fire"),
        [ScriptStep::Hold(Keymap(0b1_0000))]
    );
    assert_eq!(scene.line("keys none"), [ScriptStep::Hold(Keymap(0))]);
}

#[test]
fn commands_without_a_game_are_errors() {
    let mut scene = Scene::new();
    assert_eq!(codes(&scene.line("move 1 2")), ["not_in_game"]);

    let mut scene = Scene::in_room();
    assert_eq!(scene.line("cast heal"), []);
    scene.pass(GAME_TIMEOUT);
    assert_eq!(codes(&scene.steps()), ["not_in_game"]);

    let mut scene = Scene::in_room();
    scene.line("objects");
    scene.tell(&ViewEvent::Left {
        request: 0,
        room: RoomId(1),
        code: "kicked".into(),
        message: String::new(),
    });
    assert_eq!(codes(&scene.steps()), ["not_in_game"]);
}

#[test]
fn spells_go_by_name() {
    let mut scene = Scene::in_game();
    assert_eq!(
        scene.line("cast heal 3 4"),
        [ScriptStep::Act(Action::Cast {
            spell: 1,
            at: Some((3.0, 4.0))
        })]
    );
    let steps = scene.line("cast sing");
    assert_eq!(codes(&steps), ["unknown_command"]);
    assert!(matches!(&steps[0], ScriptStep::Error(_, message) if message.contains("bolt, heal")));
}

#[test]
fn objects_are_listed_once_the_avatar_is_in_sight() {
    let mut scene = Scene::in_game();
    assert_eq!(scene.line("objects"), []);
    scene.tell(&enter(true));
    assert_eq!(scene.steps(), [ScriptStep::Objects]);

    let mut scene = Scene::in_game();
    scene.line("objects");
    scene.pass(AVATAR_TIMEOUT);
    assert_eq!(scene.steps(), [ScriptStep::Objects]);
}

#[test]
fn figures_can_be_had_at_any_time() {
    assert_eq!(Scene::new().line("stats"), [ScriptStep::Stats]);
}

#[test]
fn waiting_for_an_event_ends_when_it_is_printed() {
    let mut scene = Scene::new();
    scene.line("wait-for chat");
    assert!(!scene.script.wants_line());
    scene.script.handle_printed("players");
    assert!(!scene.script.wants_line());
    scene.script.handle_printed("chat");
    assert!(scene.script.wants_line());
}

#[test]
fn what_was_printed_before_counts_once() {
    let mut scene = Scene::new();
    for kind in ["started", "enter", "enter"] {
        scene.script.handle_printed(kind);
    }
    for _ in 0..2 {
        scene.line("wait-for enter");
        assert!(scene.script.wants_line());
    }
    scene.line("wait-for enter");
    assert!(!scene.script.wants_line());
}

#[test]
fn waiting_in_vain_is_an_error_and_the_script_goes_on() {
    let mut scene = Scene::new();
    scene.line("wait-for leave 200ms");
    scene.pass(Duration::from_millis(199));
    assert!(!scene.script.wants_line());
    scene.pass(Duration::from_millis(1));
    assert_eq!(codes(&scene.steps()), ["timeout"]);
    assert!(scene.script.wants_line());
}

#[test]
fn waiting_for_an_unknown_event_is_a_usage_error() {
    assert_eq!(codes(&Scene::new().line("wait-for godot")), ["usage"]);
}

#[test]
fn a_pause_lasts_as_long_as_it_says() {
    let mut scene = Scene::new();
    scene.line("wait 300ms");
    scene.pass(Duration::from_millis(299));
    assert!(!scene.script.wants_line());
    scene.pass(Duration::from_millis(1));
    assert!(scene.script.wants_line());
}

#[test]
fn a_room_is_found_by_its_name_if_that_is_the_only_one() {
    let rooms = || vec![room(3, "den"), room(4, "lair"), room(5, "lair")];
    let mut scene = Scene::new();
    scene.line("join den password=x");
    assert!(
        !scene.answer(|request| ViewEvent::Rooms {
            request,
            rooms: rooms()
        }),
        "nobody asked for the list"
    );
    assert_eq!(
        scene.steps(),
        [ScriptStep::Request(LobbyRequest::JoinRoom {
            room: RoomId(3),
            password: "x".into()
        })]
    );

    for name in ["lair", "cave"] {
        let mut scene = Scene::new();
        scene.line(&format!("join {name}"));
        scene.answer(|request| ViewEvent::Rooms {
            request,
            rooms: rooms(),
        });
        assert_eq!(codes(&scene.steps()), ["no_such_room"]);
        assert!(scene.script.wants_line());
    }
}

#[test]
fn a_player_to_kick_is_found_by_name() {
    let mut scene = Scene::in_room();
    scene.line("kick bob");
    let bob = PlayerListing {
        id: PlayerId(9),
        name: "bob".into(),
        ready: false,
        host: false,
        connected: true,
    };
    assert!(!scene.answer(|request| ViewEvent::Players {
        request,
        room: None,
        players: vec![bob]
    }));
    assert_eq!(
        scene.steps(),
        [ScriptStep::Request(LobbyRequest::Kick(PlayerId(9)))]
    );
}

#[test]
fn talk_goes_to_the_room_or_outside_of_one_to_the_lobby() {
    let said = |mut scene: Scene, to: ChatAudience| {
        assert_eq!(
            scene.line("say hello"),
            [ScriptStep::Request(LobbyRequest::Say {
                to,
                text: "hello".into()
            })]
        );
    };
    said(Scene::new(), ChatAudience::Lobby);
    said(Scene::in_room(), ChatAudience::Room);
}

#[test]
fn the_next_line_waits_for_the_chat_message() {
    let chat = |from| {
        let (channel, from_name, text) = (ChatChannel::Lobby, String::new(), String::new());
        ViewEvent::Chat(ChatMessage {
            channel,
            from: PlayerId(from),
            from_name,
            text,
        })
    };
    let mut scene = Scene::new();
    scene.line("say hello");
    scene.answer(|request| ViewEvent::Done { request });
    scene.tell(&chat(2));
    assert!(!scene.script.wants_line());
    scene.tell(&chat(1));
    assert!(scene.script.wants_line());

    let mut scene = Scene::new();
    scene.line("say hello");
    scene.answer(refused);
    assert!(scene.script.wants_line());
}

#[test]
fn updates_are_printed_when_they_are_watched() {
    let update = ViewEvent::Update(ambit_client_core::client::event::ObjectUpdated {
        id: 1,
        t: GameTime::ZERO,
        at: GameTime::ZERO,
        components: Vec::new(),
    });
    let mut scene = Scene::in_game();
    assert!(!scene.script.handle_event(scene.now, &update));
    assert_eq!(scene.line("watch on"), [ScriptStep::Watch(true)]);
    assert!(scene.script.handle_event(scene.now, &update));
    assert_eq!(scene.line("watch off"), [ScriptStep::Watch(false)]);
    assert!(!scene.script.handle_event(scene.now, &update));
}

#[test]
fn a_usage_error_does_not_end_the_script() {
    let mut scene = Scene::new();
    assert_eq!(codes(&scene.line("dance")), ["usage"]);
    assert_eq!(scene.line("# a remark"), []);
    assert_eq!(scene.line("help"), [ScriptStep::Help]);
}

#[test]
fn the_end_waits_for_answers_under_way() {
    let mut scene = Scene::new();
    scene.line("say hello");
    scene.pass(ANSWER_TIMEOUT);
    assert_eq!(scene.line("quit"), []);
    scene.answer(|request| ViewEvent::Done { request });
    assert_eq!(scene.steps(), [ScriptStep::Quit]);

    let mut scene = Scene::new();
    scene.line("say hello");
    scene.pass(ANSWER_TIMEOUT);
    scene.line("quit");
    scene.pass(QUIT_TIMEOUT);
    assert_eq!(scene.steps(), [ScriptStep::Quit]);
}

#[test]
fn the_end_of_input_is_the_end_and_comes_once() {
    let mut scene = Scene::new();
    scene.script.handle_end(scene.now);
    assert_eq!(scene.steps(), [ScriptStep::Quit]);
    scene.script.handle_end(scene.now);
    assert_eq!(scene.steps(), []);
    assert!(!scene.script.wants_line());
}

/// A script after the welcome, in time that advances on demand.
struct Scene {
    script: Script<Box<dyn FnMut() -> [u8; 16]>>,
    now: LocalTime,
    asked: u64,
}

impl Scene {
    fn before_the_welcome() -> Self {
        let mut keys = 0;
        let new_key = move || {
            keys += 1;
            [keys; 16]
        };
        Scene {
            script: Script::new(Box::new(new_key)),
            now: LocalTime::ZERO,
            asked: 0,
        }
    }

    fn new() -> Self {
        let mut scene = Scene::before_the_welcome();
        scene.tell(&welcome(None));
        scene
    }

    fn in_room() -> Self {
        let mut scene = Scene::new();
        scene.tell(&ViewEvent::Joined {
            request: 0,
            room: room(1, "den"),
            players: Vec::new(),
        });
        scene
    }

    fn in_game() -> Self {
        let mut scene = Scene::in_room();
        scene.tell(&started());
        scene
    }

    fn tell(&mut self, event: &ViewEvent) {
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
                self.asked += 1;
                self.script.handle_asked(self.now, Some(self.asked));
            }
            steps.push(step);
        }
        steps
    }

    /// Answers the last request; returns whether the answer is printed.
    fn answer(&mut self, event: impl FnOnce(u64) -> ViewEvent) -> bool {
        self.script.handle_event(self.now, &event(self.asked))
    }

    fn pass(&mut self, time: Duration) {
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
    let (about, code) = (ErrorSubject::Request(request), "not_in_room".to_owned());
    ViewEvent::Error(Failure {
        subject: about,
        code,
        message: String::new(),
    })
}

fn welcome(room: Option<RoomId>) -> ViewEvent {
    let (player, name, grace) = (PlayerId(1), "ann".to_owned(), Duration::from_secs(30));
    ViewEvent::Welcome(Welcome {
        player,
        name,
        resumed: false,
        room,
        grace,
        games: Vec::new(),
    })
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

fn started() -> ViewEvent {
    ViewEvent::Started(GameStarted {
        room: RoomId(1),
        address: "127.0.0.1:7777".into(),
        is_rejoin: false,
        map_number: 0,
        t: GameTime::ZERO,
        delay: Duration::from_millis(150),
        tick_hz: 20,
        map: MapExtent::default(),
        game: "field".into(),
        spells: vec!["bolt".into(), "heal".into()],
    })
}

fn enter(own: bool) -> ViewEvent {
    let (t, position) = (GameTime::ZERO, Position::default());
    ViewEvent::Enter(ObjectEntered {
        id: 1,
        kind: "avatar".into(),
        own,
        t,
        position,
        components: Vec::new(),
    })
}
