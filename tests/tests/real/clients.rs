//! Programs that use `ambit-client`, against a real server.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use ambit::Id;
use ambit_client::{
    Client, ClientObjectId, ConnectError, ErrorCode, Frame, FrameObject, Game, GameEvent,
    LobbyEvent, PlayError, Position, RequestError, Room, SendError, TypedId,
};
use ambit_tests::greeting_game::{GreetingCommand, Manner, Stone, Walker};
use ambit_tests::real::relay::Relay;
use ambit_tests::real::{self, ScratchFolder, Server, WAIT_LIMIT};
use anyhow::{Context, Result, bail};
use tokio::runtime::Runtime;
use tokio::time::{sleep, timeout};

/// As long as a screen shows a frame.
const FRAME_TIME: Duration = Duration::from_millis(16);

#[tokio::test(flavor = "multi_thread")]
async fn requests_return_their_answers_and_typed_errors() -> Result<()> {
    let scratch = ScratchFolder::new("client-requests");
    let server = Server::start(&scratch, &[])?;
    let (ann, bob) =
        (connect(&scratch, &server, "ann").await?, connect(&scratch, &server, "bob").await?);
    assert_eq!((ann.name(), ann.rooms().await?), ("ann".to_owned(), vec![]));
    assert!(ann.games().iter().any(|game| game.name == "field"));
    let unknown = ann.create_room("den", "no-such-game").await.err();
    assert_eq!(code(unknown), Some(ErrorCode::UnknownGame));
    let room =
        ann.create_room("den", "field").password("sesame").capacity(4).parameter("npcs", 0).await?;
    let [listed] = &bob.rooms().await?[..] else { bail!("one room was created") };
    assert_eq!((listed.id, listed.capacity), (room.id(), 4));
    let refused = bob.join_room(room.id()).password("open").await.err();
    assert_eq!(code(refused), Some(ErrorCode::WrongPassword));
    let guest = bob.join_room(room.id()).password("sesame").await?;
    let Err(PlayError::Request(not_host)) = guest.start().await else {
        bail!("bob is not the host of the room")
    };
    assert_eq!(not_host.code(), Some(ErrorCode::NotHost));
    let names: Vec<_> = room.players().await?.into_iter().map(|p| p.name).collect();
    assert_eq!(names, ["ann", "bob"]);
    assert_eq!(bob.rename("rob").await?, "rob");
    guest.clone().leave().await?;
    assert_eq!(guest.say("hello").await, Err(RequestError::NotInThisRoom));
    bob.quit().await;
    ann.quit().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_can_t_be_made_says_why() -> Result<()> {
    let scratch = ScratchFolder::new("client-connect");
    let server = Server::start(&scratch, &[])?;
    let other = ambit_client::Fingerprint([7; 32]);
    let mistaken = ambit_client::connect(server.world.to_string()).pinned(other);
    assert!(matches!(mistaken.await, Err(ConnectError::CertificateChanged(_))));
    let nowhere = ambit_client::connect("nowhere").pinned(other).await;
    assert!(matches!(nowhere, Err(ConnectError::Unreachable(_))));
    let bad_name = connect_as(&scratch, &server, &"x".repeat(25)).await.err();
    assert!(matches!(bad_name, Some(ConnectError::Refused { code: ErrorCode::BadName, .. })));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_s_thread_takes_frames_while_another_task_chats() -> Result<()> {
    let scratch = ScratchFolder::new("client-frames");
    let server = Server::start(&scratch, &[])?;
    let (ann, bob) =
        (connect(&scratch, &server, "ann").await?, connect(&scratch, &server, "bob").await?);
    let (room, game) = play_field(&ann).await?;
    bob.join_room(room.id()).await?.play().await?;
    // The thread is no worker of the runtime.
    let drawing = std::thread::spawn(move || draw_until_bob_is_in_sight(game));
    room.say("where are you?").await?;
    let chat = event(&bob, |event| match event {
        LobbyEvent::Chat(chat) => Some(chat),
        _ => None,
    });
    assert_eq!(chat.await?.text, "where are you?");
    let mut game = tokio::task::spawn_blocking(|| drawing.join()).await?.expect("no panic")?;
    bob.quit().await;
    let left = game_event(&game, |event| matches!(event, GameEvent::Leave { .. }));
    left.await?;
    game.frame(now());
    let avatars = game.last_frame().objects().filter(|it| it.kind() == "avatar");
    assert_eq!(avatars.count(), 1, "ann is alone");
    game.leave().await?;
    ann.quit().await;
    Ok(())
}

/// Draws 60 times a second; checks each frame.
fn draw_until_bob_is_in_sight(mut game: Game) -> Result<Game> {
    let began = now();
    let mut last = None;
    loop {
        let frame = game.frame(now());
        let time = frame.time().context("in the game")?;
        assert!(last.is_none_or(|last| time > last), "times ascend");
        last = Some(time);
        let names: Vec<_> = frame.objects().filter_map(|it| it.text("name")).collect();
        if names == ["ann", "bob"] || names == ["bob", "ann"] {
            let avatar = frame.avatar().context("ann is one of them")?;
            assert_eq!((avatar.kind(), avatar.text("name")), ("avatar", Some("ann")));
            assert_eq!(avatar.flag("alive"), Some(true));
            assert!(avatar.gauge("mana").is_some(), "her own");
            let other = frame.objects().find(|object| !object.is_own());
            let other = other.context("bob")?;
            assert_eq!(other.gauge("mana"), None, "bob's is his secret");
            return Ok(game);
        }
        if began.elapsed() > WAIT_LIMIT {
            bail!("bob is not in sight; {names:?} are");
        }
        std::thread::sleep(FRAME_TIME);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_are_given_by_name_and_refusals_are_events() -> Result<()> {
    let scratch = ScratchFolder::new("client-commands");
    let server = Server::start(&scratch, &[])?;
    let ann = connect(&scratch, &server, "ann").await?;
    let (_, mut game) = play_field(&ann).await?;
    wait_for_frame(&mut game, |frame| frame.avatar().is_some()).await?;
    let schema = game.schema().context("in the game")?;
    assert!(schema.command_index("cast").is_some());
    for mistaken in [game.send("jump", ()), game.send("move", "there"), game.send("cast", "frost")]
    {
        assert!(matches!(mistaken, Err(SendError::Command(_))), "{mistaken:?}");
    }
    // The map is 30 m wide and avatars start near its middle.
    game.send("move", [28.0, 28.0])?;
    wait_for_frame(&mut game, |frame| {
        let avatar = frame.avatar().filter(FrameObject::moves);
        avatar.is_some_and(|avatar| (0.0..1.6).contains(&avatar.transform().heading()))
    })
    .await?;
    // A bolt needs a point.
    let number = game.send("cast", "bolt")?;
    let refused = game_event(&game, |event| matches!(event, GameEvent::Refused { .. }));
    let GameEvent::Refused { command, code, .. } = refused.await? else { bail!("it is refused") };
    assert_eq!(command, number, "{code}");
    game.send("cast", ("bolt", [2.0, 2.0]))?;
    let cast = |event: &GameEvent| matches!(event, GameEvent::Event(it) if &*it.name == "cast");
    game_event(&game, cast).await?;
    ann.quit().await;
    assert_eq!(game.send("move", [1.0, 1.0]), Err(SendError::NotPlaying));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn typed_commands_name_objects_and_are_refused_to_another_version() -> Result<()> {
    let scratch = ScratchFolder::new("client-typed");
    let server = Server::start_with_test_games(&scratch, &[])?;
    let (ann, bob) =
        (connect(&scratch, &server, "ann").await?, connect(&scratch, &server, "bob").await?);
    let room = ann.create_room("den", "greeting").parameter("size", "30x30").await?;
    let mut anns = room.start().await?;
    let bobs = bob.join_room(room.id()).await?.play().await?;
    wait_for_frame(&mut anns, |frame| frame.objects().len() == 3).await?;
    let frame = anns.last_frame();
    let walkers: Vec<Id<Walker>> = typed_ids(frame);
    let stones: Vec<Id<Stone>> = typed_ids(frame);
    assert_eq!((walkers.len(), stones.len()), (2, 1));
    assert_eq!(anns.check_kind::<Walker>(), Ok(()));
    let is_bob = |object: &FrameObject<'_>| {
        object.get::<Walker>().is_some_and(|walker| walker.name == "bob")
    };
    let bob_in_sight = frame.objects().find(is_bob).context("bob")?;
    let whom = bob_in_sight.typed_id().context("bob walks")?;
    let how = Manner::Politely;
    anns.command(GreetingCommand::Greet { whom, how })?;
    anns.command(GreetingCommand::Sit { on: stones[0] })?;
    wait_for_frame(&mut anns, |frame| {
        let sits = |ann: FrameObject<'_>| ann.position() == Position::on_ground(15.0, 15.0);
        let is_greeted =
            |bob: FrameObject<'_>| bob.get::<Walker>().is_some_and(|bob| bob.greeted == how as i64);
        frame.avatar().is_some_and(sits) && frame.objects().find(is_bob).is_some_and(is_greeted)
    })
    .await?;
    // In another version, the manners were listed the other way round.
    let other = anns.command(OtherVersion::Greet { whom, how: OtherManner::Politely });
    assert!(matches!(other, Err(SendError::OtherVersion(_))), "{other:?}");
    let stranger = Id::of_client("walker", ClientObjectId(9_999)).context("it is of the kind")?;
    let unseen = anns.command(GreetingCommand::Greet { whom: stranger, how });
    assert_eq!(unseen, Err(SendError::NoSuchObject));
    bob.quit().await;
    let whom = stranger;
    let how = Manner::Curtly;
    let late = bobs.command(GreetingCommand::Greet { whom, how });
    assert_eq!(late, Err(SendError::NotPlaying));
    ann.quit().await;
    Ok(())
}

#[derive(ambit::Command)]
enum OtherVersion {
    Greet { whom: Id<Walker>, how: OtherManner },
}

#[derive(ambit::Choice)]
enum OtherManner {
    Politely,
    Curtly,
}

/// The objects of a kind in a frame.
fn typed_ids<T: TypedId>(frame: &Frame) -> Vec<T> {
    let objects = frame.objects();
    objects.filter_map(|object| object.typed_id()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_who_is_kicked_learns_it_from_the_game_and_the_lobby() -> Result<()> {
    let scratch = ScratchFolder::new("client-kick");
    let server = Server::start(&scratch, &[])?;
    let (ann, bob) =
        (connect(&scratch, &server, "ann").await?, connect(&scratch, &server, "bob").await?);
    let (room, _anns) = play_field(&ann).await?;
    let guest = bob.join_room(room.id()).await?;
    let mut game = guest.play().await?;
    room.kick(bob.player()).await?;
    let ended = game_event(&game, |event| matches!(event, GameEvent::Ended { .. }));
    let GameEvent::Ended { code, .. } = ended.await? else { bail!("it is the end") };
    assert_eq!(code, "kicked");
    assert!(game.is_over());
    assert_eq!(game.next_event().await, None);
    assert_eq!(game.frame(now()).objects().len(), 0);
    let left = event(&bob, |event| match event {
        LobbyEvent::Left { room, code, .. } => Some((room, code)),
        _ => None,
    });
    assert_eq!(left.await?, (room.id(), "kicked".to_owned()));
    assert!(matches!(guest.play().await, Err(PlayError::Request(_))));
    // The player is in the lobby, and may play again.
    let (_, again) = play_field(&bob).await?;
    again.leave().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn when_a_host_dies_the_game_goes_on() -> Result<()> {
    let scratch = ScratchFolder::new("client-failover");
    let server = Server::start(&scratch, &["--hosts", "process:1"])?;
    let ann = connect(&scratch, &server, "ann").await?;
    let (_, mut game) = play_field(&ann).await?;
    wait_for_frame(&mut game, |frame| frame.avatar().is_some()).await?;
    let first = game.last_frame().avatar().context("in sight")?.id();
    real::server_signal(server.children()[0], "KILL")?;
    let started = game_event(&game, |event| matches!(event, GameEvent::Started(_)));
    started.await?;
    wait_for_frame(&mut game, |frame| frame.avatar().is_some_and(|avatar| avatar.id() != first))
        .await?;
    assert!(!game.is_over());
    ann.quit().await;
    Ok(())
}

#[test]
fn a_client_whose_address_changes_in_mid_game_plays_on() -> Result<()> {
    let scratch = ScratchFolder::new("client-roams");
    let runtime = Runtime::new()?;
    let relay = Relay::start(&runtime)?;
    let server = Server::start(&scratch, &["--advertise", &relay.address.to_string()])?;
    relay.lead_to(server.world);
    runtime.block_on(async {
        let ann = connect_at(&scratch, relay.address, "ann").await?;
        let (room, mut game) = play_field(&ann).await?;
        wait_for_frame(&mut game, |frame| frame.avatar().is_some()).await?;
        let own = game.last_frame().avatar().context("in sight")?.id();
        let players = room.players().await?;
        let (told, said) = (game.events().count(), ann.events().count());
        assert!(told > 0 && said > 0);
        for turn in 0..6_u8 {
            let goal = if turn % 2 == 0 { 13.0 } else { 17.0 };
            relay.change_addresses();
            game.send("move", [goal, goal])?;
            wait_for_frame(&mut game, |frame| {
                let avatar = frame.object(own).map(|avatar| avatar.position());
                avatar.is_some_and(|Position { x, y, .. }| (x - goal).hypot(y - goal) < 0.2)
            })
            .await?;
            // By the connection to the lobby, too.
            assert_eq!(room.players().await?, players);
        }
        // It has not begun again, by a new ticket or a new session.
        let begins = |event: &GameEvent| matches!(event, GameEvent::Started(_));
        assert!(!game.events().any(|event| begins(&event)));
        let breaks = |event: &LobbyEvent| matches!(event, LobbyEvent::Interrupted { .. });
        assert!(!ann.events().any(|event| breaks(&event)));
        ann.quit().await;
        Ok(())
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_whose_values_are_all_dropped_leaves() -> Result<()> {
    let scratch = ScratchFolder::new("client-drop");
    let server = Server::start(&scratch, &[])?;
    let (ann, bob) =
        (connect(&scratch, &server, "ann").await?, connect(&scratch, &server, "bob").await?);
    ann.watch_rooms(true).await?;
    let (room, game) = play_field(&bob).await?;
    let id = room.id();
    let gone = |event| match event {
        LobbyEvent::RoomGone { room } => Some(room),
        _ => None,
    };
    drop((bob, room));
    assert!(ann.rooms().await?.iter().any(|room| room.id == id));
    drop(game);
    assert_eq!(event(&ann, gone).await?, id);
    Ok(())
}

async fn connect(scratch: &ScratchFolder, server: &Server, name: &str) -> Result<Client> {
    Ok(connect_as(scratch, server, name).await?)
}

async fn connect_as(
    scratch: &ScratchFolder,
    server: &Server,
    name: &str,
) -> Result<Client, ConnectError> {
    connect_at(scratch, server.world, name).await
}

async fn connect_at(
    scratch: &ScratchFolder,
    server: SocketAddr,
    name: &str,
) -> Result<Client, ConnectError> {
    let known_hosts = scratch.path().join("known_hosts");
    ambit_client::connect(server.to_string()).name(name).known_hosts(known_hosts).await
}

/// A small map without anything else.
async fn play_field(client: &Client) -> Result<(Room, Game)> {
    let room = client
        .create_room("meadow", "field")
        .parameter("npcs", 0)
        .parameter("obstacles", 0)
        .parameter("size", "30x30")
        .await?;
    let game = room.start().await?;
    Ok((room, game))
}

/// The next event of the lobby that `wanted` accepts.
async fn event<T>(client: &Client, wanted: impl Fn(LobbyEvent) -> Option<T>) -> Result<T> {
    let search = async {
        loop {
            let event = client.next_event().await.context("the client ended")?;
            if let Some(found) = wanted(event) {
                return Ok(found);
            }
        }
    };
    timeout(WAIT_LIMIT, search).await?
}

/// The next event of the game that `wanted` accepts.
async fn game_event(game: &Game, wanted: impl Fn(&GameEvent) -> bool) -> Result<GameEvent> {
    let search = async {
        loop {
            let event = game.next_event().await.context("the game ended")?;
            if wanted(&event) {
                return Ok(event);
            }
        }
    };
    timeout(WAIT_LIMIT, search).await?
}

async fn wait_for_frame(game: &mut Game, wanted: impl Fn(&Frame) -> bool) -> Result<()> {
    let search = async {
        while !wanted(game.frame(now())) {
            sleep(FRAME_TIME).await;
        }
    };
    Ok(timeout(WAIT_LIMIT, search).await?)
}

fn code(error: Option<RequestError>) -> Option<ErrorCode> {
    error?.code()
}

/// As an engine reads the clock for each frame.
#[expect(clippy::disallowed_methods, reason = "the clock of the tests' views")]
fn now() -> Instant {
    Instant::now()
}
