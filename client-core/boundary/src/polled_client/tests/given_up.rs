//! A line that stays dark until its connections are given up: which events come then and later.
//!
//! One client goes through all of it, as one handle of another language does.

use super::*;

/// When the player hears nothing for the first time.
const DARK_MS: u64 = 200;
/// After so long, QUIC gives the game's connection up.
const LOST_MS: u64 = 10_000;
/// When the line is there again, and by when the client is back in the lobby.
const BACK_MS: u64 = 20_000;
const RETURN_MS: u64 = BACK_MS + 6_000;

#[test]
fn a_line_that_is_given_up_is_told_once_and_the_client_goes_on() {
    let (mut client, told) = given_up();
    assert_eq!(of(&told, "game"), ["silent", "leave", "leave", "interrupted"]);
    // Each attempt has a pause before it.
    let lobby = of(&told, "lobby");
    assert!((4..=30).contains(&lobby.len()), "{lobby:?}");
    for attempt in lobby.chunks(2) {
        assert!(matches!(attempt, ["interrupted"] | ["interrupted", "connecting"]), "{lobby:?}");
    }
    assert!(!client.client().is_closed() && !client.client().is_playing());
    assert_eq!(client.draw(at(BACK_MS), at(BACK_MS)), None);

    // The players' room is still there, and so is the seat.
    let resumed = pb::Welcome { resumed: true, room: Some(7), ..pb::Welcome::default() };
    let mut told = come_back(&mut client, &resumed);
    client.handle_world_bytes(at(RETURN_MS), &room_and_ticket());
    while let Some(output) = client.poll_output() {
        assert!(matches!(output, Output::World(_) | Output::ConnectGame { .. }), "{output:?}");
    }
    let mut host = enter_game(&mut client, RETURN_MS);
    run(&mut client, [RETURN_MS, RETURN_MS + 50], |_, _, _| {});
    told.extend(events(&mut client));
    let names: Vec<&str> = told.iter().map(name).collect();
    assert_eq!(names, ["welcome", "joined", "started", "enter", "enter"]);
    assert_eq!(told[2]["event"]["again"], true);
    let ids: Vec<_> = told[3..].iter().map(|enter| enter["event"]["id"].as_u64()).collect();
    assert_eq!(ids, [Some(3), Some(4)], "new ids: those before have left");

    // What is unchanged causes no event more.
    for ms in (RETURN_MS + 50..RETURN_MS + 5_000).step_by(50) {
        client.handle_datagram(at(ms), &datagram(&mut host, room_time(ms), &mut []));
        run(&mut client, [ms, ms + 50], |_, _, output| {
            assert!(matches!(output, Output::Datagram(_)), "{output:?}");
        });
        client.draw(at(ms), at(ms));
        assert_eq!(client.view().arrays().in_sight(), 2);
    }
    assert_eq!(events(&mut client), Vec::<Json>::new());
}

#[test]
fn a_player_whose_seat_is_gone_is_in_the_lobby_and_may_join_again() {
    let (mut client, _) = given_up();
    let told = come_back(&mut client, &pb::Welcome::default());
    let names: Vec<&str> = told.iter().map(name).collect();
    assert_eq!(names, ["welcome", "left"]);
    assert_eq!(told[1]["event"]["reason"], "session_expired");
    assert!(client.client().is_connected() && client.client().room().is_none());
    let join = client.request(at(RETURN_MS), r#"{"join_room": {"room": 7}}"#).expect("it is sent");
    let answer = pb::Error { code: ErrorCode::NoSuchRoom.into(), ..pb::Error::default() };
    let answer = lobby_message(join, pb::world_to_client::Body::Error(answer));
    client.handle_world_bytes(at(RETURN_MS), &answer);
    assert_eq!(client.next_event()["request"], json!(join));
}

#[test]
fn a_client_ends_only_when_its_lobby_is_given_up_and_says_so_last() {
    let (mut client, _) = given_up();
    let mut told = stay_dark(&mut client, [BACK_MS, 120_000]);
    let last = told.pop().expect("an event");
    assert_eq!((name(&last), &last["event"]["code"]), ("closed", &json!("connection_lost")));
    assert!(of(&told, "game").is_empty(), "{told:?}");
    assert!(client.client().is_closed() && client.next_deadline().is_none());
    let late = client.request(at(120_000), "\"leave_room\"").expect_err("it is closed");
    assert_eq!(late.code, "closed");
    assert_eq!(client.send(at(120_000), "rest", "[]").expect_err("no game").code, "not_playing");
}

/// A client that played until the line went dark and has given up both connections since, and what
/// it has told.
fn given_up() -> (PolledClient, Vec<Json>) {
    let (mut client, mut host) = playing_with_host();
    let last = datagram(&mut host, room_time(DARK_MS), &mut []);
    client.handle_datagram(at(DARK_MS), &last);
    let mut told = stay_dark(&mut client, [DARK_MS, DARK_MS + LOST_MS]);
    client.handle_game_closed(at(DARK_MS + LOST_MS), None, "timed out");
    told.extend(stay_dark(&mut client, [DARK_MS + LOST_MS, BACK_MS]));
    (client, told)
}

/// Nothing is heard, and what the client dials does not answer.
fn stay_dark(client: &mut PolledClient, times: [u64; 2]) -> Vec<Json> {
    run(client, times, |client, now, output| match output {
        Output::ConnectWorld { .. } => client.handle_world_closed(now, None, "no answer"),
        Output::ConnectGame { .. } => client.handle_game_closed(now, None, "no answer"),
        _ => {}
    });
    events(client)
}

/// The lobby answers again, with this welcome.
fn come_back(client: &mut PolledClient, welcome: &pb::Welcome) -> Vec<Json> {
    // Its next attempt is due within the longest pause.
    run(client, [BACK_MS, RETURN_MS], |client, now, output| {
        if matches!(output, Output::ConnectWorld { .. }) {
            client.handle_world_connected(now, "127.0.0.1:7777", None);
            client.handle_world_bytes(now, &welcome_with(welcome.clone()));
        }
    });
    let mut told = events(client);
    assert_eq!(name(&told.remove(0)), "connecting");
    told
}

/// Handles all deadlines from one time to another; `execute` gets what is to be done.
fn run(
    client: &mut PolledClient,
    [from_ms, until_ms]: [u64; 2],
    execute: impl Fn(&mut PolledClient, LocalTime, Output),
) {
    let (mut now, until) = (at(from_ms), at(until_ms));
    loop {
        while let Some(output) = client.poll_output() {
            execute(client, now, output);
        }
        let Some(deadline) = client.next_deadline().filter(|deadline| *deadline <= until) else {
            return;
        };
        now = now.max(deadline);
        client.handle_timeout(now);
    }
}

fn events(client: &mut PolledClient) -> Vec<Json> {
    let events = std::iter::from_fn(|| client.poll_event());
    events.map(|event| serde_json::from_str(&event).expect("an object")).collect()
}

fn name(told: &Json) -> &str {
    told["event"]["ev"].as_str().expect("a name")
}

/// The names of the events that are of the game, or of the lobby.
fn of<'j>(told: &'j [Json], of: &str) -> Vec<&'j str> {
    told.iter().filter(|told| told["of"] == of).map(name).collect()
}
