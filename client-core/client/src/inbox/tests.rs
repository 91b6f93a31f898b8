//! Tests of the sorting: events go in; answers and queues are read.

use std::future::ready;
use std::time::Duration;

use ambit_client_core::client::event::{GameStarted, MapExtent};
use ambit_client_core::client::model::{ChatChannel, ChatMessage, PlayerListing, RoomListing};
use ambit_proto::ids::{ClientObjectId, PlayerId};
use ambit_proto::time::GameTime;
use tokio::time::timeout;

use super::*;

const ROOM: RoomId = RoomId(7);

#[tokio::test]
async fn an_answer_goes_to_the_request_that_waits_for_it() {
    let inbox = Inbox::new();
    let one = ask(&inbox, 1);
    let two = ask(&inbox, 2);
    inbox.handle(ViewEvent::Lobby(2, LobbyEvent::Done));
    let code = "room_full".to_owned();
    inbox.handle(ViewEvent::Lobby(1, LobbyEvent::Error { code, message: String::new() }));
    let refusal = one.await.expect("answered").expect_err("refused");
    assert_eq!(refusal.code(), Some(ambit_proto::codes::ErrorCode::RoomFull));
    assert_eq!(two.await.expect("answered"), Ok(LobbyEvent::Done));
    assert_eq!(lobby_events(&inbox), []);
}

#[tokio::test]
async fn an_answer_that_nobody_waits_for_is_an_event() {
    let inbox = Inbox::new();
    drop(ask(&inbox, 1));
    inbox.handle(created(1));
    assert_eq!(lobby_events(&inbox), [LobbyEvent::Created { room: room() }]);
}

#[tokio::test]
async fn at_the_end_every_request_is_answered() {
    let inbox = Inbox::new();
    let waiting = ask(&inbox, 1);
    inbox.handle(closed("draining"));
    assert_eq!(waiting.await.expect("answered"), Err(RequestError::Closed));
    inbox.finish();
    let late = inbox.expect_answer(|| unreachable!("it is not sent"));
    assert_eq!(late.err(), Some(RequestError::Closed));
    let [LobbyEvent::Closed { code, .. }] = &lobby_events(&inbox)[..] else {
        panic!("expected the end")
    };
    assert_eq!(code, "draining");
    assert_eq!(inbox.lobby.next().await, None);
    inbox.wait_for_end().await;
}

#[tokio::test]
async fn a_connection_that_fails_says_why() {
    let inbox = Inbox::new();
    let write = async { inbox.handle(closed("name_taken")) };
    let (welcome, ()) = tokio::join!(inbox.wait_for_welcome(), write);
    assert!(matches!(welcome, Err(ConnectError::Refused { .. })));
}

#[test]
fn only_a_welcome_after_a_break_is_an_event() {
    let inbox = Inbox::new();
    let welcome = |resumed| {
        let name = "ann".to_owned();
        let grace = Duration::from_secs(30);
        let games = Vec::new();
        let player = PlayerId(1);
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
    };
    inbox.handle(welcome(false).into());
    assert_eq!(lobby_events(&inbox), []);
    inbox.handle(welcome(true).into());
    assert_eq!(lobby_events(&inbox), [welcome(true)]);
}

#[tokio::test]
async fn chat_goes_to_the_lobby_s_queue_and_objects_to_the_game_s() {
    let inbox = Inbox::new();
    inbox.handle(created(0));
    inbox.handle(started(false));
    let queue = play(&inbox, Some(ROOM)).await.expect("in the game");
    let chat = ChatMessage {
        channel: ChatChannel::Room,
        from: PlayerId(1),
        from_name: "ann".to_owned(),
        to: None,
        text: "hello".to_owned(),
    };
    inbox.handle(ViewEvent::Lobby(0, LobbyEvent::Chat(chat.clone())));
    inbox.handle(leave(1));
    let code = "dead".to_owned();
    let [message, what] = [(); 2].map(|()| String::new());
    inbox.handle(GameEvent::Refused { command: 5, code, message, what }.into());
    inbox.handle(started(true));
    let events: Vec<_> = std::iter::from_fn(|| queue.try_next()).collect();
    let [
        GameEvent::Leave { id: ClientObjectId(1), .. },
        GameEvent::Refused { command: 5, .. },
        GameEvent::Started(GameStarted { map_number: 3, .. }),
    ] = &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(lobby_events(&inbox).last(), Some(&LobbyEvent::Chat(chat)));
}

#[test]
fn of_the_lists_that_were_not_read_only_the_newest_is_kept() {
    let inbox = Inbox::new();
    let players = |room, count| {
        ViewEvent::Lobby(
            0,
            LobbyEvent::Players { room: Some(room), players: vec![member(); count] },
        )
    };
    let rooms = |count| ViewEvent::Lobby(0, LobbyEvent::Rooms { rooms: vec![room(); count] });
    let chat = ChatMessage {
        channel: ChatChannel::Room,
        from: PlayerId(1),
        from_name: "ann".to_owned(),
        to: None,
        text: "hello".to_owned(),
    };
    inbox.handle(players(RoomId(6), 1));
    inbox.handle(ViewEvent::Lobby(0, LobbyEvent::Chat(chat.clone())));
    for count in 0..2 * MAX_LOBBY_EVENTS {
        inbox.handle(players(ROOM, count % 100));
        inbox.handle(rooms(count % 10));
    }
    let newest = (2 * MAX_LOBBY_EVENTS - 1) % 100;
    let expected = [
        LobbyEvent::Players { room: Some(RoomId(6)), players: vec![member()] },
        LobbyEvent::Chat(chat),
        LobbyEvent::Players { room: Some(ROOM), players: vec![member(); newest] },
        LobbyEvent::Rooms { rooms: vec![room(); (2 * MAX_LOBBY_EVENTS - 1) % 10] },
    ];
    assert_eq!(lobby_events(&inbox), expected);
}

#[tokio::test]
async fn each_game_has_a_queue_of_its_own_that_ends_with_it() {
    let inbox = Inbox::new();
    inbox.handle(created(0));
    inbox.handle(started(false));
    let first = play(&inbox, Some(ROOM)).await.expect("in the game");
    inbox.handle(left("kicked"));
    inbox.handle(created(0));
    inbox.handle(started(false));
    let second = play(&inbox, Some(ROOM)).await.expect("in the game");
    inbox.handle(leave(9));
    let ended = GameEvent::Ended { code: "kicked".to_owned(), message: String::new() };
    assert_eq!(first.next().await, Some(ended));
    assert_eq!(first.next().await, None);
    assert!(!second.is_closed());
    assert!(matches!(second.try_next(), Some(GameEvent::Leave { id: ClientObjectId(9), .. })));
}

#[tokio::test]
async fn waiting_for_a_game_ends_when_the_player_can_t_get_into_it() {
    let inbox = Inbox::new();
    inbox.handle(created(0));
    let none_yet = timeout(Duration::from_millis(1), play(&inbox, Some(ROOM))).await;
    assert!(none_yet.is_err());
    inbox.handle(ViewEvent::Game(GameEvent::Ended {
        code: "game_unreachable".to_owned(),
        message: String::new(),
    }));
    let unreachable = play(&inbox, Some(ROOM)).await;
    assert!(matches!(unreachable, Err(PlayError::Unreachable { .. })));
    inbox.handle(left("kicked"));
    let Err(PlayError::OutOfRoom { code, .. }) = play(&inbox, None).await else {
        panic!("the player was kicked")
    };
    assert_eq!(code, "kicked");
    inbox.handle(created(0));
    let elsewhere = play(&inbox, Some(RoomId(8))).await;
    assert!(matches!(elsewhere, Err(PlayError::OutOfRoom { .. })));
}

fn ask(inbox: &Inbox, number: u64) -> oneshot::Receiver<Answer> {
    inbox.expect_answer(|| Ok(number)).expect("running")
}

async fn play(inbox: &Inbox, present: Option<RoomId>) -> Result<Arc<GameQueue>, PlayError> {
    ready(()).await;
    inbox.wait_for_game(ROOM, || present).await
}

fn lobby_events(inbox: &Inbox) -> Vec<LobbyEvent> {
    std::iter::from_fn(|| inbox.lobby.try_next()).collect()
}

fn created(request: u64) -> ViewEvent {
    let room = room();
    ViewEvent::Lobby(request, LobbyEvent::Created { room })
}

fn left(code: &str) -> ViewEvent {
    ViewEvent::Lobby(
        0,
        LobbyEvent::Left { room: ROOM, code: code.to_owned(), message: String::new() },
    )
}

fn closed(code: &str) -> ViewEvent {
    ViewEvent::Lobby(0, LobbyEvent::Closed { code: code.to_owned(), message: String::new() })
}

fn leave(id: u32) -> ViewEvent {
    let t = GameTime::ZERO;
    ViewEvent::Game(GameEvent::Leave { id: ClientObjectId(id), t })
}

fn room() -> RoomListing {
    RoomListing {
        id: ROOM,
        name: "den".to_owned(),
        game: "field".to_owned(),
        players: 1,
        capacity: 8,
        running: false,
        has_password: false,
        host: PlayerId(1),
        parameters: BTreeMap::new(),
    }
}

fn member() -> PlayerListing {
    PlayerListing {
        id: PlayerId(1),
        name: "ann".to_owned(),
        ready: false,
        host: true,
        connected: true,
    }
}

fn started(is_rejoin: bool) -> ViewEvent {
    ViewEvent::Game(GameEvent::Started(GameStarted {
        room: ROOM,
        address: "127.0.0.1:7777".to_owned(),
        is_rejoin,
        map_number: 3,
        t: GameTime::ZERO,
        delay: Duration::from_millis(150),
        tick_hz: 20,
        map: MapExtent::default(),
        game: "field".to_owned(),
        schema: Arc::default(),
    }))
}
