//! Lines as a person types them, and what is offered.

use std::collections::BTreeMap;

use ambit_client_core::client::event::Welcome;
use ambit_client_core::client::model::{ChatChannel, ChatMessage, GameListing};
use ambit_proto::ids::RoomId;
use ambit_proto::presentation::Presentation;
use ambit_proto::schema::{AxisKind, ControlSpec};

use super::*;

#[test]
fn commands_of_console_and_game_are_completed_by_name() {
    check("cre", &["create "]);
    check("qui", &["quick ", "quit"]);
    check("  walk", &["walk-to "]);
    check("re", &["rest", "ready "]);
    check("unknown", &[]);
    check("# cre", &[]);
    let everything = texts("", 0, &known());
    assert_eq!(everything.len(), HELP.len() + 4, "{everything:?}");
}

#[test]
fn after_do_the_commands_of_the_game_are_completed() {
    check("do re", &["rest"]);
    check("do cast he", &["heal "]);
    assert_eq!(texts("do ", 3, &known()).len(), 4);
    assert_eq!(hint("do cast ", &known()), hint("cast ", &known()));
}

#[test]
fn without_a_game_only_the_console_has_commands() {
    let known = KnownNames::default();
    assert_eq!(texts("walk", 4, &known), Vec::<String>::new());
    assert_eq!(texts("walk-to ", 8, &known), Vec::<String>::new());
    assert_eq!(hint("walk-to ", &known), None);
    assert_eq!(
        hint("start", &known).as_deref(),
        Some("start: start the room's game (its host only)")
    );
}

#[test]
fn a_command_of_the_console_is_completed_with_keywords_and_names() {
    check("create den ", &["game=", "capacity=", "password="]);
    check("create den game=", &["game=field ", "game=fog "]);
    check("create den game=fo", &["game=fog "]);
    // The parameters of a game are those of its rooms.
    check("create den game=field n", &["npcs="]);
    check("create den game=field npcs=5 capacity=2 ", &["password="]);
    check("create d", &[]);
    check("join ", &["3", "meadow", "4"]);
    check("join m", &["meadow"]);
    check("join 3 ", &["password="]);
    check("ready ", &["on", "off"]);
    check("watch of", &["off"]);
    check("keys ", &["left", "jump", "none"]);
    check("keys left,", &["jump"]);
    check("keys n", &["none"]);
    check("axis ", &["throttle "]);
    check("axis throttle ", &[]);
    check("wait-for st", &["started ", "stats "]);
    check("wait-for h", &["help ", "hit "]);
}

#[test]
fn names_with_spaces_are_written_as_the_console_parses_them() {
    check("kick gue", &["guest 7"]);
    check("kick guest ", &["guest 7"]);
    check("say @", &["@ann ", "@\"guest 7\" "]);
    check("say @gue", &["@\"guest 7\" "]);
    check("say @\"guest ", &["@\"guest 7\" "]);
    check("say @\"a", &["@\"ann\" "]);
    check("say @ann a", &[]);
    check("say a", &[]);
    // A whisper can't name it.
    let mut known = known();
    known.handle_event(&chat(9, "\"eve"));
    assert_eq!(texts("kick \"", 6, &known), ["\"eve"]);
    assert_eq!(texts("say @\"", 7, &known).len(), 2);
    let line = &texts("say @gue", 8, &known)[0];
    let parsed = command::parse(&format!("say {line}psst"));
    assert!(
        matches!(&parsed, Ok(Some(command::ConsoleCommand::Say(Some(_), text))) if text == "psst"),
        "{parsed:?}"
    );
}

#[test]
fn rooms_with_spaces_are_named_in_quotes() {
    check("join \"", &["\"meadow\"", "\"great hall\""]);
    check("join \"great h", &["\"great hall\""]);
    check("join \"great hall\" ", &["password="]);
    check("create \"great h", &[]);
    check("create \"great hall\" game=fo", &["game=fog "]);
    check("create \"great hall\" game=field n", &["npcs="]);
}

#[test]
fn the_fields_of_a_game_command_are_completed_by_their_types() {
    check("cast ", &["bolt ", "heal "]);
    check("cast he", &["heal "]);
    // A position has no candidates; an optional field can be left out.
    check("walk-to ", &[]);
    check("cast bolt ", &["- "]);
    check("cast bolt 1 ", &[]);
    check("cast bolt 1 2 ", &["#7", "#12", "-"]);
    check("cast bolt - 1", &["#12"]);
    check("cast bolt - #", &["#7", "#12"]);
    check("cast bolt - #7 ", &[]);
    check("rest ", &[]);
    check("shout 3 he", &[]);
}

#[test]
fn a_completed_command_is_one_that_the_game_accepts() {
    let known = known();
    let mut line = "ca".to_owned();
    for _ in 0..4 {
        let completion = complete(&line, line.len(), &known);
        line.truncate(completion.start);
        line.push_str(&completion.candidates[0].text);
    }
    assert_eq!(line, "cast bolt - #7");
    let words: Vec<&str> = line.split_whitespace().collect();
    assert!(command_words::parse(&Schema::example(), &words).is_ok());
}

#[test]
fn the_text_after_the_cursor_stays() {
    let completion = complete("cast he 1 2", 7, &known());
    assert_eq!(completion.start, 5);
    // There is a space already.
    assert_eq!(completion.candidates[0].text, "heal");
    assert_eq!(texts("creden", 3, &known()), ["create "]);
    // Not a boundary of characters.
    assert_eq!(complete("say é", 5, &known()).candidates, []);
    assert_eq!(complete("", 9, &known()).start, 0);
}

#[test]
fn a_hint_is_the_form_of_the_command_and_its_help() {
    let known = known();
    let hint = |line| hint(line, &known);
    let cast = "cast SPELL [X Y] [TARGET]: Cast a spell. Without the rest: heal. Costs: bolt 8 \
                mana.";
    assert_eq!(hint("cast he").as_deref(), Some(cast));
    assert_eq!(hint("rest").as_deref(), Some("rest"));
    assert_eq!(hint("walk-to 1 ").as_deref(), Some("walk-to X Y: Walk to a point."));
    for line in ["", "cas", "jump ", "# cast"] {
        assert_eq!(hint(line), None, "{line}");
    }
    // A free text is not disturbed.
    assert!(hint("shout 3 ").is_some() && hint("say ").is_some());
    assert_eq!((hint("shout 3 he"), hint("say he")), (None, None));
}

#[test]
fn hostile_names_reach_neither_candidates_nor_hints() {
    let mut known = known();
    for (id, name) in
        ["\u{1b}[2Jeve", "ev\u{202e}e", "eve\r\nquit", &"e".repeat(500)].into_iter().enumerate()
    {
        known.handle_event(&chat(100 + id as u32, name));
    }
    for line in ["kick ", "say @", "say @\""] {
        let names = texts(line, line.len(), &known);
        assert!(
            names.iter().all(|name| name.contains("ann") || name.contains("guest")),
            "{names:?}"
        );
    }
    let schema = Schema {
        commands: vec![
            CommandKind {
                name: "aim".into(),
                fields: vec![FieldSpec::new(
                    "\u{1b}",
                    FieldType::choice(["\u{1b}c", "a b", "fine"]),
                )],
                ..CommandKind::default()
            },
            CommandKind { name: "\u{1b}[Aaim".into(), ..CommandKind::default() },
        ],
        presentation: Presentation {
            commands: vec![CommandPresentation {
                help: "\u{1b}]0;owned\u{7} \u{9b}2J".repeat(100),
                ..CommandPresentation::default()
            }],
            ..Presentation::default()
        },
        ..Schema::default()
    };
    known.schema = Some(Arc::new(schema));
    known.objects[0].label = "\u{1b}[31m".repeat(100);
    assert_eq!(texts("aim ", 4, &known), ["fine"]);
    assert!(!texts("", 0, &known).iter().any(|name| name.contains('\u{1b}')));
    let hint = hint("aim ", &known).expect("a hint");
    assert!(hint.chars().all(is_visible) && hint.chars().count() == MAX_HINT_CHARS, "{hint:?}");
    let label = candidate("#7", &known.objects[0].label).expect("a number").label;
    assert!(label.chars().all(is_visible) && label.chars().count() == MAX_NAME_CHARS, "{label:?}");
}

#[test]
fn candidates_and_known_names_are_bounded() {
    let mut known = known();
    for id in 0..1_000 {
        known.handle_event(&chat(id, &format!("player{id}")));
        known.objects.push(ObjectName { id: ClientObjectId(1_000 + id), label: "orc".into() });
    }
    assert_eq!(known.players.len(), MAX_KNOWN);
    assert_eq!(texts("kick ", 5, &known).len(), MAX_CANDIDATES);
    let objects = texts("cast bolt - ", 12, &known);
    assert_eq!((objects.len(), objects.last().map(String::as_str)), (MAX_CANDIDATES, Some("-")));
}

#[test]
fn a_game_that_has_ended_is_forgotten() {
    let mut known = known();
    known.handle_event(&ViewEvent::Lobby(
        0,
        LobbyEvent::Left { room: RoomId(3), code: "left".into(), message: String::new() },
    ));
    assert_eq!(texts("cast ", 5, &known), Vec::<String>::new());
}

fn check(line: &str, expected: &[&str]) {
    assert_eq!(texts(line, line.len(), &known()), expected, "{line}");
}

fn texts(line: &str, cursor: usize, known: &KnownNames) -> Vec<String> {
    let candidates = complete(line, cursor, known).candidates;
    candidates.into_iter().map(|candidate| candidate.text).collect()
}

/// Two games, two rooms, two players, the game of [`Schema::example`] with two objects in view.
fn known() -> KnownNames {
    let mut known = KnownNames::default();
    let game = |name: &str| GameListing {
        name: name.into(),
        description: String::new(),
        min_players: 1,
        join_running: true,
        quick_start: None,
    };
    known.handle_event(&ViewEvent::Lobby(
        0,
        LobbyEvent::Welcome(Welcome {
            player: PlayerId(1),
            name: "ann".into(),
            resumed: false,
            room: None,
            grace: std::time::Duration::ZERO,
            account: None,
            login: None,
            games: vec![game("field"), game("fog")],
        }),
    ));
    let rooms = vec![room(3, "meadow"), room(4, "great hall")];
    known.handle_event(&ViewEvent::Lobby(0, LobbyEvent::Rooms { rooms }));
    known.handle_event(&chat(1, "ann"));
    known.handle_event(&chat(7, "guest 7"));
    let mut schema = Schema::example();
    schema.controls.push(ControlSpec {
        name: "throttle".into(),
        axis: Some(AxisKind::Linear),
        ..ControlSpec::default()
    });
    known.schema = Some(Arc::new(schema));
    known.objects = [(7, "avatar bob"), (12, "stone")]
        .map(|(id, label)| ObjectName { id: ClientObjectId(id), label: label.into() })
        .into();
    known
}

fn room(id: u32, name: &str) -> RoomListing {
    RoomListing {
        id: RoomId(id.into()),
        name: name.into(),
        game: "field".into(),
        players: 1,
        capacity: 8,
        running: true,
        has_password: false,
        host: PlayerId(1),
        parameters: BTreeMap::from([("npcs".to_owned(), "5".to_owned())]),
    }
}

fn chat(from: u32, name: &str) -> ViewEvent {
    ViewEvent::Lobby(
        0,
        LobbyEvent::Chat(ChatMessage {
            channel: ChatChannel::Lobby,
            from: PlayerId(from.into()),
            from_name: name.into(),
            to: None,
            text: String::new(),
        }),
    )
}
