//! The shell over loopback, against a scripted server.
//!
//! These tests cover what needs real sockets: TLS and trust, streams and datagrams, broken
//! connections. They wait for events, never for a number of milliseconds.

mod server;

use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::RoomId;
use ambit_proto::message::FieldValue;
use ambit_proto::space::Position;

use super::*;
use crate::client::event::{GameEvent, LobbyEvent, codes};
use server::{Server, hosts};

#[tokio::test]
async fn a_client_connects_sends_a_request_and_quits() {
    let server = Server::start();
    let (handle, mut events) = start(options(&server), ());
    expect(&mut events, |event| {
        matches!(
            event,
            ViewEvent::Lobby(_, LobbyEvent::Welcome(welcome)) if welcome.name == "ann"
        )
    })
    .await;
    let number = handle.request(LobbyRequest::SetReady(true)).expect("running");
    expect(&mut events, |event| *event == ViewEvent::Lobby(number, LobbyEvent::Done)).await;
    handle.quit();
    assert_eq!(closed(&mut events).await.0, codes::QUIT);
    assert_eq!(events.next().await, None);
    assert_eq!(handle.request(LobbyRequest::StartRoom), Err(RequestError::Closed));
    assert!(handle.run(|client, _| client.is_closed()));
    server.wait_until_empty().await;
}

#[tokio::test]
async fn a_client_whose_handles_were_dropped_quits() {
    let server = Server::start();
    let (handle, mut events) = start(options(&server), ());
    expect(&mut events, |event| matches!(event, ViewEvent::Lobby(_, LobbyEvent::Welcome(_)))).await;
    drop(handle);
    assert_eq!(closed(&mut events).await.0, codes::QUIT);
    server.wait_until_empty().await;
}

#[tokio::test]
async fn handles_call_the_client_from_any_thread_with_ascending_times() {
    let server = Server::start();
    let (handle, mut events) = start(options(&server), ());
    expect(&mut events, |event| matches!(event, ViewEvent::Lobby(_, LobbyEvent::Welcome(_)))).await;
    let times = Arc::new(std::sync::Mutex::new(Vec::new()));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let handle = handle.clone();
            let times = times.clone();
            std::thread::spawn(move || {
                let note = |_: &mut Client, now| times.lock().expect("no panic").push(now);
                (0..100).for_each(|_| handle.run(note));
                handle.request(LobbyRequest::SetReady(true))
            })
        })
        .collect();
    let join = |thread: std::thread::JoinHandle<_>| thread.join().expect("no panic");
    let mut numbers: Vec<u64> =
        threads.into_iter().map(|thread| join(thread).expect("running")).collect();
    numbers.sort_unstable();
    for number in numbers {
        let answer = ViewEvent::Lobby(number, LobbyEvent::Done);
        expect(&mut events, |event| *event == answer).await;
    }
    assert!(times.lock().expect("no panic").is_sorted());
}

#[tokio::test]
async fn a_client_joins_a_game_over_an_impaired_path() {
    let server = Server::start();
    let impairment =
        "loss=20,delay=10ms,jitter=5ms,duplicate=5,reorder=5,seed=3".parse().expect("a spec");
    let (handle, mut events) =
        start(ClientOptions { impairment: Some(impairment), ..options(&server) }, ());
    handle
        .request(LobbyRequest::JoinRoom { room: RoomId(7), password: String::new() })
        .expect("running");
    expect(&mut events, |event| matches!(event, ViewEvent::Game(GameEvent::Started(_)))).await;
    expect(
        &mut events,
        |event| matches!(event, ViewEvent::Game(GameEvent::Enter(enter)) if enter.own),
    )
    .await;
    let position = handle.run(|client, now| client.position(client.avatar()?.id, now));
    assert!(position.is_some());
    // The server answers each command with an event that contains its number, and sends nothing
    // else.
    for _ in 0..20 {
        let number = handle
            .act(&GameCommand {
                kind: 0,
                fields: vec![FieldValue::Position(Position::on_ground(1.0, 2.0))],
            })
            .expect("in a game");
        let echo = |event: &ViewEvent| match event {
            ViewEvent::Game(GameEvent::Event(game_event)) => {
                game_event.fields[2].value == FieldValue::Number(number.into())
            }
            _ => false,
        };
        expect(&mut events, echo).await;
    }
    let stats = handle.run(|client, _| client.stats());
    assert!(stats.rtt.is_some() && stats.datagrams_down > 20, "{stats:?}");
}

#[tokio::test]
async fn a_connection_that_the_server_drops_is_reestablished() {
    let server = Server::start();
    let (_handle, mut events) = start(options(&server), ());
    expect(&mut events, |event| {
        matches!(
            event,
            ViewEvent::Lobby(_, LobbyEvent::Welcome(welcome)) if !welcome.resumed
        )
    })
    .await;
    server.drop_connections(0);
    expect(&mut events, |event| {
        matches!(event, ViewEvent::Lobby(_, LobbyEvent::Interrupted { .. }))
    })
    .await;
    expect(&mut events, |event| {
        matches!(
            event,
            ViewEvent::Lobby(_, LobbyEvent::Welcome(welcome)) if welcome.resumed
        )
    })
    .await;
}

#[tokio::test]
async fn a_connection_closed_with_a_code_is_not_reestablished() {
    let server = Server::start();
    let (_handle, mut events) = start(options(&server), ());
    expect(&mut events, |event| matches!(event, ViewEvent::Lobby(_, LobbyEvent::Welcome(_)))).await;
    server.drop_connections(27);
    assert_eq!(closed(&mut events).await.0, "taken_over");
}

#[tokio::test]
async fn the_reason_of_a_server_that_closes_at_once_is_reported() {
    for (code, name) in
        [(ErrorCode::TooManyConnections, "too_many_connections"), (ErrorCode::Draining, "draining")]
    {
        let server = Server::start();
        server.refuse(code as u32);
        let (_handle, mut events) = start(options(&server), ());
        assert_eq!(closed(&mut events).await.0, name);
    }
}

#[tokio::test]
async fn the_first_certificate_is_remembered_and_another_one_refused() {
    let (hosts, _directory) = hosts();
    let mut server = Server::start();
    for _ in 0..2 {
        let options =
            ClientOptions { trust: ServerTrust::FirstUse(hosts.clone()), ..options(&server) };
        let (_handle, mut events) = start(options, ());
        expect(&mut events, |event| matches!(event, ViewEvent::Lobby(_, LobbyEvent::Welcome(_))))
            .await;
    }
    let pin = hosts.find_certificate(&server.address).expect("readable").expect("remembered");
    assert_eq!(pin.fingerprint, server.fingerprint);

    server.change_certificate();
    let options = ClientOptions { trust: ServerTrust::FirstUse(hosts.clone()), ..options(&server) };
    let (_handle, mut events) = start(options, ());
    let (code, message) = closed(&mut events).await;
    assert_eq!(code, codes::CERTIFICATE_CHANGED);
    for part in [&server.fingerprint.to_string(), &pin.fingerprint.to_string(), "line 1"] {
        assert!(message.contains(part), "{part} is not in: {message}");
    }
}

#[tokio::test]
async fn another_certificate_than_the_pinned_one_is_refused() {
    let server = Server::start();
    let options =
        ClientOptions { trust: ServerTrust::Pinned(Fingerprint([0; 32])), ..options(&server) };
    let (_handle, mut events) = start(options, ());
    assert_eq!(closed(&mut events).await.0, codes::CERTIFICATE_CHANGED);
}

#[tokio::test(start_paused = true)]
async fn an_address_without_a_server_is_named_in_the_error() {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let address = socket.local_addr().expect("bound").to_string();
    let server = ClientOptions { server: address.clone(), ..pinned(Fingerprint([0; 32])) };
    let (_handle, mut events) = start(server, ());
    let (code, message) = closed(&mut events).await;
    assert_eq!(code, codes::COULD_NOT_CONNECT);
    assert!(
        message.contains(&address) && message.contains("nothing answered within 3.5 s"),
        "{message}"
    );
}

#[tokio::test]
async fn behind_a_silent_server_the_next_one_gets_the_only_session() {
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let silent = silent.local_addr().expect("bound");
    let live = Server::start();
    let both = ClientOptions { server: format!("{silent}, {}", live.address), ..options(&live) };
    let (handle, mut events) = start(both, ());
    expect(&mut events, |event| matches!(event, ViewEvent::Lobby(_, LobbyEvent::Welcome(_)))).await;
    assert_eq!(live.sessions(), 1);
    handle.quit();
    assert_eq!(closed(&mut events).await.0, codes::QUIT);
    live.wait_until_empty().await;
}

#[tokio::test]
async fn behind_a_server_that_refuses_the_next_one_gets_the_session() {
    let first = Server::start();
    let mut second = Server::start();
    second.use_certificate_of(&first);
    first.refuse(ErrorCode::Draining as u32);
    let live = second.address.clone();
    let both = ClientOptions { server: format!("{},{live}", first.address), ..options(&first) };
    let (_handle, mut events) = start(both, ());
    expect(&mut events, |event| matches!(event, ViewEvent::Lobby(_, LobbyEvent::Welcome(_)))).await;
    assert_eq!((first.sessions(), second.sessions()), (0, 1));
    // One with another certificate is passed over as well.
    let stranger = Server::start();
    let both = ClientOptions { server: format!("{},{live}", stranger.address), ..options(&second) };
    let (_handle, mut events) = start(both, ());
    expect(&mut events, |event| matches!(event, ViewEvent::Lobby(_, LobbyEvent::Welcome(_)))).await;
    assert_eq!((stranger.sessions(), second.sessions()), (0, 2));
}

#[tokio::test]
async fn of_two_slow_servers_the_first_that_answers_gets_the_only_session() {
    let first = Server::start();
    let mut second = Server::start();
    second.use_certificate_of(&first);
    // A round trip of 800 ms: the second one is dialled before the first one has answered.
    let both = ClientOptions {
        server: format!("{},{}", first.address, second.address),
        impairment: Some("delay=400ms".parse().expect("a spec")),
        ..options(&first)
    };
    let (handle, mut events) = start(both, ());
    expect(&mut events, |event| matches!(event, ViewEvent::Lobby(_, LobbyEvent::Welcome(_)))).await;
    assert_eq!((first.sessions(), second.sessions()), (1, 0));
    // Nothing of the second connection is left, while the first one lives.
    second.wait_until_empty().await;
    let number = handle.request(LobbyRequest::SetReady(true));
    let number = number.expect("running");
    expect(&mut events, |event| *event == ViewEvent::Lobby(number, LobbyEvent::Done)).await;
}

#[tokio::test]
async fn an_invalid_address_is_named_in_the_error() {
    let (_handle, mut events) =
        start(ClientOptions { server: "nowhere".to_owned(), ..pinned(Fingerprint([0; 32])) }, ());
    let (code, message) = closed(&mut events).await;
    assert_eq!(code, codes::COULD_NOT_CONNECT);
    assert!(message.contains("nowhere") && message.contains("host:port"), "{message}");
}

fn options(server: &Server) -> ClientOptions {
    ClientOptions { server: server.address.clone(), ..pinned(server.fingerprint) }
}

fn pinned(fingerprint: Fingerprint) -> ClientOptions {
    let client = ClientConfig { name: "ann".to_owned(), ..ClientConfig::default() };
    ClientOptions {
        server: String::new(),
        trust: ServerTrust::Pinned(fingerprint),
        impairment: None,
        number: 0,
        account: None,
        client,
    }
}

/// Waits for an event and skips others.
async fn expect(events: &mut ClientEvents, wanted: impl Fn(&ViewEvent) -> bool) {
    let mut skipped = Vec::new();
    let search = async {
        loop {
            match events.next().await {
                Some(event) if wanted(&event) => return true,
                Some(event) => skipped.push(event),
                None => return false,
            }
        }
    };
    let found = tokio::time::timeout(Duration::from_mins(1), search).await;
    assert_eq!(found, Ok(true), "skipped: {skipped:?}");
}

/// Waits for the end; returns its code and message.
async fn closed(events: &mut ClientEvents) -> (String, String) {
    loop {
        match events.next().await {
            Some(ViewEvent::Lobby(_, LobbyEvent::Closed { code, message })) => {
                return (code, message);
            }
            Some(_) => {}
            None => panic!("the client ended without a reason"),
        }
    }
}
