//! Tests of the view: events, keys and clicks go in, and whole screens are compared as text.

use ambit_client_core::client::event::Welcome;
use ambit_client_core::client::model::{
    AllowedValues, GameDescription, GameListing, ParameterListing, PlayerListing, RoomListing,
};
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::space::Position;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::Color;
use serde_json::json;

use super::*;
use crate::scene::{MapMark, OwnMark, SideTable, ValueBar};

#[test]
fn the_lobby_shows_rooms_players_and_what_keys_do() {
    let mut ui = in_lobby(Palette::Plain);
    ui.print(&json!({ "ev": "chat", "channel": "lobby", "from": "bob", "text": "hello" }));
    let expected = "
 ann · lobby                                                ¦
┌ Rooms: 2 ────────────────────────────┐┌ Players: 2 ──────┐¦
│     name       game    seats  state  ││ann (you)         │¦
│1    meadow     field   1/8    running││bob               │¦
│2    den        deus    0/4    locked…││                  │¦
│                                      ││                  │¦
│                                      ││                  │¦
│                                      ││                  │¦
│                                      ││                  │¦
│                                      ││                  │¦
│                                      ││                  │¦
└──────────────────────────────────────┘└──────────────────┘¦
 What happens ──────────────────────────────────────────────¦
[lobby] bob: hello                                          ¦
                                                            ¦
                                                            ¦
                                                            ¦
                                                            ¦
>                                                           ¦
F1 help  F2 network  F3 rooms  F4 new room  Ctrl-C quits    ¦
";
    assert_eq!(format!("\n{}", screen(&mut ui, 60, 20)), expected);
}

#[test]
fn a_room_is_joined_by_keys_and_by_a_double_click() {
    let mut ui = in_lobby(Palette::Plain);
    screen(&mut ui, 80, 24);
    press(&mut ui, KeyCode::F(3));
    press(&mut ui, KeyCode::Enter);
    assert_eq!(lines(&mut ui), ["join 1"]);
    // The line of the first room.
    for _ in 0..2 {
        click(&mut ui, 0, 4, 3);
    }
    assert_eq!(lines(&mut ui), ["join 1"]);
    click(&mut ui, 0, 4, 4);
    click(&mut ui, 2_000, 4, 4);
    assert_eq!(lines(&mut ui), [""; 0], "two clicks with a pause");
    // The second room is locked.
    click(&mut ui, 2_100, 4, 4);
    type_in(&mut ui, "sesame");
    let shown = screen(&mut ui, 80, 24);
    assert!(shown.contains("'den' is locked") && shown.contains("******"), "{shown}");
    press(&mut ui, KeyCode::Enter);
    assert_eq!(lines(&mut ui), ["join 2 password=sesame"]);
    assert!(!screen(&mut ui, 80, 24).contains("sesame"), "it is not repeated");
}

#[test]
fn a_new_room_is_made_by_a_dialog() {
    let mut ui = in_lobby(Palette::Plain);
    press(&mut ui, KeyCode::F(4));
    assert_eq!(ui.poll_action(), Some(UiAction::Describe("field".to_owned())));
    type_in(&mut ui, "my den");
    let shown = screen(&mut ui, 60, 20);
    for part in ["A new room", "name                    my den", "‹ field ›", "(none)"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    press(&mut ui, KeyCode::Enter);
    assert_eq!(lines(&mut ui), ["create \"my den\" game=field"]);
}

#[test]
fn a_dialog_says_what_is_missing_and_cuts_no_label() {
    const LONG: &str = "Seconds until a player who has lost the last round may join again";
    let mut ui = in_lobby(Palette::Plain);
    press(&mut ui, KeyCode::F(4));
    let parameter = |key: &str, label: &str| ParameterListing {
        key: key.to_owned(),
        label: label.to_owned(),
        default: "300".to_owned(),
        about: String::new(),
        allowed: AllowedValues::Size { min: 60.0, max: 400.0 },
    };
    let description = GameDescription {
        game: "field".to_owned(),
        parameters: vec![
            parameter("maps", "Maps on hosts of their own"),
            parameter("wait", LONG),
            parameter("size", "Size"),
        ],
        default_capacity: 8,
        max_capacity: 64,
        schema: None,
    };
    ui.handle_event(&LobbyEvent::Game(description).into());
    press(&mut ui, KeyCode::Down);
    press(&mut ui, KeyCode::Enter);
    assert_eq!(lines(&mut ui), [""; 0]);
    let shown = screen(&mut ui, 80, 24);
    assert!(shown.contains(" The room needs a name "), "{shown}");
    assert!(shown.contains("Maps on hosts of their own"), "{shown}");
    for word in LONG.split(' ') {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    // What is typed goes to the name.
    type_in(&mut ui, "den");
    let shown = screen(&mut ui, 80, 24);
    assert!(!shown.contains("needs a name") && shown.contains("Enter does it"), "{shown}");
    for _ in 0..6 {
        press(&mut ui, KeyCode::Down);
    }
    assert!(screen(&mut ui, 60, 20).contains(" Size "), "the chosen field is in sight");
    press(&mut ui, KeyCode::Enter);
    assert_eq!(lines(&mut ui), ["create den game=field"]);
}

#[test]
fn a_game_is_a_map_with_bars_tables_and_what_happens() {
    let mut ui = in_game(Palette::Plain);
    ui.print(&json!({ "ev": "event", "name": "damage", "words": "Pilot 2 hits ann" }));
    ui.print(&json!({ "ev": "event", "name": "cast" }));
    ui.print(&json!({ "ev": "enter", "id": 7, "kind": "npc" }));
    let shown = screen(&mut ui, 100, 26);
    for part in [
        " ann · meadow (field) · Round 1 · Time left 9:52",
        "┌ meadow ",
        " 50.0 50.0 ┘",
        "┌ You ",
        "│Health     ████████░░░ 75/100",
        "│Hidden from others",
        "│Best hunters",
        "│bob                          3│",
        "Pilot 2 hits ann",
        "F6 closer",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("cast") && !shown.contains("npc"), "{shown}");
    // The own mark is in the middle of the map, the other player with its name to the east.
    let (column, row) = own_mark(&shown);
    assert_eq!((column, row), (34, 9));
    assert!(shown.lines().nth(9).is_some_and(|line| line.contains("→   @ bob")), "{shown}");
}

#[test]
fn at_60_x_20_the_bars_are_a_line_and_below_that_room_is_asked_for() {
    let mut ui = in_game(Palette::Plain);
    let shown = screen(&mut ui, 60, 20);
    assert!(shown.contains("Health 75/100  Hidden from others"), "{shown}");
    assert!(!shown.contains("Best hunters") && shown.contains('→'), "{shown}");
    let shown = screen(&mut ui, 40, 8);
    assert!(shown.contains("This window has 40 x 8 characters, and"), "{shown}");
    assert!(shown.contains("--plain"), "{shown}");
}

#[test]
fn a_click_on_the_map_goes_there_or_completes_the_line() {
    let mut ui = in_game(Palette::Plain);
    ui.link.click = Some("move".to_owned());
    let (column, row) = own_mark(&screen(&mut ui, 100, 26));
    click(&mut ui, 0, column, row);
    assert_eq!(lines(&mut ui), ["move 50.0 50.0"]);
    type_in(&mut ui, "cast bolt");
    click(&mut ui, 0, column, row);
    press(&mut ui, KeyCode::Enter);
    assert_eq!(lines(&mut ui), ["cast bolt 50.0 50.0"]);
}

#[test]
fn a_wrong_word_is_answered_with_what_was_meant() {
    let mut ui = in_lobby(Palette::Plain);
    type_in(&mut ui, "quik field");
    press(&mut ui, KeyCode::Enter);
    ui.print(&json!({ "ev": "error", "code": "usage", "message": "unknown command 'quik'" }));
    let shown = screen(&mut ui, 80, 24);
    let expected = "! unknown command 'quik'. Did you mean 'quick field'?";
    assert!(shown.contains(expected), "{shown}");
    assert!(shown.contains("> quik field"), "{shown}");
}

#[test]
fn help_is_grouped_and_wrapped_between_words() {
    let mut ui = in_lobby(Palette::Plain);
    press(&mut ui, KeyCode::F(1));
    assert_eq!(lines(&mut ui), ["help"]);
    ui.print(&crate::report::help(None));
    let mut all = String::new();
    for _ in 0..12 {
        all += &screen(&mut ui, 60, 20);
        press(&mut ui, KeyCode::PageDown);
    }
    for part in [
        "│Rooms ",
        "│create NAME game=GAME [capacity=N] [password=TEXT]",
        "│    make a room and go into it as its host; 'create \"MY",
        "│quit  leave ",
    ] {
        assert!(all.contains(part), "{part}: {all}");
    }
    press(&mut ui, KeyCode::Esc);
    assert!(screen(&mut ui, 60, 20).contains("Rooms: 2"));
}

#[test]
fn without_colours_there_are_attributes_only() {
    for (palette, has_colours) in [(Palette::Plain, false), (Palette::Rgb, true)] {
        let mut ui = in_game(palette);
        ui.print(&json!({ "ev": "error", "code": "usage", "message": "no" }));
        let buffer = buffer(&mut ui, 100, 26);
        let is_coloured =
            |cell: &ratatui::buffer::Cell| cell.fg != Color::Reset || cell.bg != Color::Reset;
        assert_eq!(buffer.content.iter().any(is_coloured), has_colours);
        assert!(buffer.content.iter().any(|cell| cell.modifier.contains(Modifier::REVERSED)));
    }
}

#[test]
fn texts_of_other_players_cannot_control_the_screen() {
    const EVIL: &str = "a\u{1b}[2J\u{202e}b\u{7}\u{200b}c";
    let mut ui = in_game(Palette::Plain);
    let scene = ui.game.scene.as_mut().expect("a game");
    scene.marks[0].name = Some(EVIL.to_owned());
    scene.signs.push(EVIL.to_owned());
    scene.tables[0].rows[0].0[0] = EVIL.to_owned();
    scene.state.push((EVIL.to_owned(), EVIL.to_owned()));
    ui.print(&json!({ "ev": "chat", "channel": "room", "from": EVIL, "text": EVIL }));
    ui.print(&json!({ "ev": "event", "name": "x", "words": EVIL }));
    ui.print(&json!({ "ev": "error", "code": EVIL, "message": EVIL }));
    type_in(&mut ui, EVIL);
    for buffer in [buffer(&mut ui, 100, 26), {
        ui.handle_event(
            &LobbyEvent::Left { room: RoomId(1), code: "left".to_owned(), message: String::new() }
                .into(),
        );
        let mut rooms = rooms();
        rooms[0].name = EVIL.to_owned();
        ui.handle_event(&LobbyEvent::Rooms { rooms }.into());
        buffer(&mut ui, 100, 26)
    }] {
        for cell in &buffer.content {
            assert!(cell.symbol().chars().all(is_visible), "{:?}", cell.symbol());
        }
    }
}

#[test]
fn while_a_password_is_typed_nothing_else_makes_a_line() {
    let mut ui = in_lobby(Palette::Plain);
    screen(&mut ui, 80, 24);
    type_in(&mut ui, "password");
    press(&mut ui, KeyCode::Enter);
    // The question is not there yet.
    type_in(&mut ui, "sec");
    ui.handle_line();
    ui.prompt(Some("password: "));
    type_in(&mut ui, "ret");
    press(&mut ui, KeyCode::F(1));
    press(&mut ui, KeyCode::F(3));
    for _ in 0..2 {
        click(&mut ui, 0, 4, 3);
    }
    let shown = screen(&mut ui, 80, 24);
    assert!(shown.contains("password: ******") && !shown.contains("sec"), "{shown}");
    press(&mut ui, KeyCode::Enter);
    assert_eq!(lines(&mut ui), ["password", "secret"]);
    ui.handle_line();
    ui.prompt(None);
    press(&mut ui, KeyCode::Up);
    assert!(screen(&mut ui, 80, 24).contains("> password "));
}

#[test]
fn a_change_of_the_host_is_one_line() {
    let mut ui = in_game(Palette::Plain);
    let before = screen(&mut ui, 100, 26);
    ui.print(&json!({ "ev": "error", "code": "game_connection_lost", "message": "broken" }));
    ui.print(&json!({ "ev": "leave", "id": 7 }));
    ui.print(&json!({ "ev": "started", "again": true, "game": "field" }));
    ui.print(&json!({ "ev": "map", "obstacles": 0, "bytes": 40 }));
    ui.print(&json!({ "ev": "enter", "id": 8, "kind": "npc" }));
    let after = screen(&mut ui, 100, 26);
    let new: Vec<&str> = after.lines().filter(|line| !before.contains(line)).collect();
    assert_eq!(new.len(), 1, "{new:?}");
    assert!(new[0].contains("the game goes on"), "{new:?}");
}

#[test]
fn the_panel_of_the_network_opens_and_closes() {
    let mut ui = in_game(Palette::Plain);
    press(&mut ui, KeyCode::F(2));
    assert!(ui.wants_figures());
    let rtt = Some(Duration::from_micros(12_340));
    let (datagrams_down, datagrams_lost) = (99, 1);
    let figures = NetworkFigures { rtt, datagrams_down, datagrams_lost, ..Default::default() };
    ui.set_figures(LocalTime::ZERO, figures);
    let shown = screen(&mut ui, 100, 26);
    assert!(shown.contains("round trip                 12.3 ms│"), "{shown}");
    assert!(shown.contains("lost                        1.00 %│"), "{shown}");
    press(&mut ui, KeyCode::F(2));
    assert!(!screen(&mut ui, 100, 26).contains("round trip"));
}

/// A server with these games greets ann.
pub(super) fn welcome(games: &[&str]) -> ViewEvent {
    let welcome = Welcome {
        player: PlayerId(1),
        name: "ann".to_owned(),
        resumed: false,
        room: None,
        grace: Duration::ZERO,
        account: None,
        login: None,
        games: games.iter().map(|name| game(name)).collect(),
    };
    LobbyEvent::Welcome(welcome).into()
}

pub(super) fn game(name: &str) -> GameListing {
    GameListing {
        name: name.to_owned(),
        description: String::new(),
        min_players: 1,
        join_running: true,
        quick_start: None,
    }
}

fn in_lobby(palette: Palette) -> Ui {
    let mut ui = Ui::new(palette);
    ui.handle_event(&welcome(&["field", "deus"]));
    ui.handle_event(&LobbyEvent::Rooms { rooms: rooms() }.into());
    ui.handle_event(&LobbyEvent::Players { room: None, players: players() }.into());
    ui
}

fn rooms() -> Vec<RoomListing> {
    let room = |id, name: &str, game: &str, (players, capacity), has_password: bool| RoomListing {
        id: RoomId(id),
        name: name.to_owned(),
        game: game.to_owned(),
        players,
        capacity,
        running: !has_password,
        has_password,
        host: PlayerId(1),
        parameters: [].into(),
    };
    vec![room(1, "meadow", "field", (1, 8), false), room(2, "den", "deus", (0, 4), true)]
}

fn players() -> Vec<PlayerListing> {
    let player = |id, name: &str| PlayerListing {
        id: PlayerId(id),
        name: name.to_owned(),
        ready: false,
        host: false,
        connected: true,
    };
    vec![player(1, "ann"), player(2, "bob")]
}

fn in_game(palette: Palette) -> Ui {
    let mut ui = in_lobby(palette);
    let room = rooms().remove(0);
    ui.handle_event(&LobbyEvent::Joined { room, players: players() }.into());
    ui.link.is_in_game = true;
    let text = str::to_owned;
    let bob = MapMark {
        at: Position::on_ground(58.0, 50.0),
        glyph: '@',
        colour: 0x30_80ff,
        name: Some(text("bob")),
    };
    let table = SideTable {
        title: text("Best hunters"),
        columns: vec![text("Best hunter"), text("Felled")],
        rows: vec![(vec![text("bob"), text("3")], false), (vec![text("ann"), text("1")], true)],
    };
    let health = ValueBar { label: text("Health"), value: 75.0, max: 100.0, unit: String::new() };
    ui.set_scene(Some(GameScene {
        own: Some(OwnMark { at: Position::on_ground(50.0, 50.0), heading: Some(0.0) }),
        marks: vec![bob],
        size_m: (200.0, 200.0),
        reach_m: 30.0,
        bars: vec![health],
        signs: vec![text("Hidden from others")],
        state: vec![(text("Round"), text("1")), (text("Time left"), text("9:52"))],
        tables: vec![table],
        ..GameScene::default()
    }));
    ui
}

/// Column and row of the own mark.
fn own_mark(shown: &str) -> (u16, u16) {
    let found = shown
        .lines()
        .enumerate()
        .find_map(|(row, line)| Some((line.chars().position(|it| it == '→')? as u16, row as u16)));
    found.expect("the own mark")
}

fn type_in(ui: &mut Ui, text: &str) {
    for letter in text.chars() {
        press(ui, KeyCode::Char(letter));
    }
}

fn press(ui: &mut Ui, code: KeyCode) {
    ui.handle_key(code.into());
}

fn click(ui: &mut Ui, ms: u64, column: u16, row: u16) {
    let kind = MouseEventKind::Down(MouseButton::Left);
    let now = LocalTime::ZERO + Duration::from_millis(ms);
    ui.handle_mouse(now, MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE });
}

/// The lines that the script gets.
fn lines(ui: &mut Ui) -> Vec<String> {
    let actions = std::iter::from_fn(|| ui.poll_action());
    actions
        .filter_map(|action| match action {
            UiAction::Line(line) => Some(line),
            _ => None,
        })
        .collect()
}

fn buffer(ui: &mut Ui, columns: u16, rows: u16) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).expect("it never fails");
    terminal.draw(|frame| ui.draw(frame)).expect("it never fails").buffer.clone()
}

/// Each line of the screen, and in front of its end `¦` if the screen is narrow.
fn screen(ui: &mut Ui, columns: u16, rows: u16) -> String {
    let buffer = buffer(ui, columns, rows);
    let line = |y| {
        let cells = (0..columns).map(|x| buffer[(x, y)].symbol());
        let end = if rows == 20 { "¦" } else { "" };
        format!("{}{end}\n", cells.collect::<String>())
    };
    (0..rows).map(line).collect()
}
