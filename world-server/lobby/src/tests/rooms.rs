//! Create, join, leave, ready, kick.

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{self, world_to_client::Body};

use super::harness::{
    LobbyHarness, create, join, join_with, kick, leave, parameters, ready, room, seconds, start,
};
use crate::LobbyConfig;

#[test]
fn the_creator_of_a_room_is_its_host() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let made = harness.create(
        &ann,
        world::CreateRoom { parameters: parameters(&[("size", "100x100")]), ..room(" den ") },
    );
    assert_eq!((made.id, made.name.as_str(), made.game.as_str()), (1, "den", "field"));
    assert_eq!(
        (made.players, made.capacity, made.running, made.has_password, made.host),
        (1, 64, false, false, ann.id)
    );
    assert_eq!(made.parameters, parameters(&[("size", "100x100")]));
    let joined = world::RoomJoined {
        room: Some(made),
        players: vec![world::Player {
            id: ann.id,
            name: "ann".into(),
            ready: false,
            host: true,
            connected: true,
        }],
    };
    assert_eq!(harness.events(&ann), [Body::RoomJoined(joined)]);
}

#[test]
fn a_repeated_request_makes_no_second_room() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let with_key = |key: u8| world::CreateRoom { key: vec![key; 16], ..room("den") };
    let first = harness.create(&ann, with_key(1));
    assert_eq!(harness.create(&ann, with_key(1)), first);
    // The same holds after a reconnect and for a member of the room. Another key is a new
    // request, which a member may not make.
    harness.disconnect(&ann);
    let ann = harness.resume(&ann);
    assert_eq!(harness.create(&ann, with_key(1)), first);
    assert_eq!(harness.refusal_code(ann.conn, create(with_key(2))), ErrorCode::AlreadyInRoom);
    assert_eq!(harness.listed(&ann).len(), 1);
    // Keys of different players are independent.
    let bob = harness.connect_as("bob");
    assert_ne!(harness.create(&bob, with_key(1)).id, first.id);
}

#[test]
fn a_repeated_request_for_a_closed_room_is_refused() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let with_key = world::CreateRoom { key: vec![1; 16], ..room("den") };
    harness.create(&ann, with_key.clone());
    harness.ask(ann.conn, leave());
    assert_eq!(harness.refusal_code(ann.conn, create(with_key.clone())), ErrorCode::NoSuchRoom);
    assert_eq!(harness.listed(&ann), []);
    harness.advance(seconds(61));
    assert_eq!(harness.create(&ann, with_key.clone()).id, 2);
    // A player who has left the room, which still exists, is refused too: the answer would mean
    // membership.
    let bob = harness.connect_as("bob");
    harness.join(&bob, 2);
    harness.ask(ann.conn, leave());
    assert_eq!(harness.refusal_code(ann.conn, create(with_key)), ErrorCode::NoSuchRoom);
    assert_eq!(harness.members(&bob), "bob*");
}

#[test]
fn a_refused_request_leaves_its_key_free() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let with_key = world::CreateRoom { key: vec![1; 16], game: "chess".into(), ..room("den") };
    assert_eq!(harness.refusal_code(ann.conn, create(with_key.clone())), ErrorCode::UnknownGame);
    harness.create(&ann, world::CreateRoom { game: "field".into(), ..with_key });
}

#[test]
fn an_unknown_game_is_refused_with_the_known_ones() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let (code, message) = harness.expect_refusal(
        ann.conn,
        create(world::CreateRoom { game: "chess".into(), ..room("den") }),
    );
    assert_eq!(code, ErrorCode::UnknownGame);
    assert!(message.contains("field, duel"), "{message}");
}

#[test]
fn a_bad_game_parameter_is_refused_with_the_games_reason() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    for (name, value, reason) in
        [("colour", "red", "it knows: size"), ("ready", "maybe", "optional, required")]
    {
        let asked = world::CreateRoom { parameters: parameters(&[(name, value)]), ..room("den") };
        let (code, message) = harness.expect_refusal(ann.conn, create(asked));
        assert_eq!(code, ErrorCode::BadParameter);
        assert!(message.contains(reason), "{message}");
    }
    for capacity in [1, 4_097] {
        let asked = world::CreateRoom { capacity, game: "duel".into(), ..room("den") };
        assert_eq!(
            harness.refusal_code(ann.conn, create(asked)),
            ErrorCode::BadParameter,
            "{capacity} seats"
        );
    }
    assert_eq!(harness.refusal_code(ann.conn, create(room("a\tb"))), ErrorCode::BadName);
    assert_eq!(harness.listed(&ann), []);
}

#[test]
fn a_new_member_and_the_members_see_each_other() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    let room = harness.room_of(&[&ann]);
    let joined = harness.join(&bob, room);
    assert_eq!(joined.room.map(|room| room.players), Some(2));
    assert_eq!(
        joined.players.iter().map(|player| player.name.as_str()).collect::<Vec<_>>(),
        ["ann", "bob"]
    );
    assert_eq!(harness.updated_roster(&ann).as_deref(), Some("ann* bob"));
}

#[test]
fn joining_the_own_room_again_succeeds_without_a_second_seat() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let made = harness.create(&ann, world::CreateRoom { capacity: 1, ..room("den") });
    assert_eq!(harness.join(&ann, made.id).room, Some(made));
}

#[test]
fn a_player_is_in_one_room_only() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    harness.room_of(&[&ann]);
    let second = harness.room_of(&[&bob]);
    assert_eq!(harness.refusal_code(ann.conn, join(second)), ErrorCode::AlreadyInRoom);
    assert_eq!(harness.refusal_code(ann.conn, create(room("third"))), ErrorCode::AlreadyInRoom);
}

#[test]
fn a_full_room_refuses_players_until_a_seat_is_free() {
    let mut harness = LobbyHarness::new();
    let (ann, bob, cid) =
        (harness.connect_as("ann"), harness.connect_as("bob"), harness.connect_as("cid"));
    let den = harness.create(&ann, world::CreateRoom { capacity: 2, ..room("den") }).id;
    harness.join(&bob, den);
    let (code, message) = harness.expect_refusal(cid.conn, join(den));
    assert_eq!(code, ErrorCode::RoomFull);
    assert!(message.contains("2 seats"), "{message}");
    // A seat is kept while its player is away.
    harness.disconnect(&bob);
    assert_eq!(harness.refusal_code(cid.conn, join(den)), ErrorCode::RoomFull);
    harness.advance(seconds(31));
    harness.join(&cid, den);
}

#[test]
fn all_but_members_need_the_password() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    let made = harness.create(&ann, world::CreateRoom { password: "sesame".into(), ..room("den") });
    assert!(made.has_password);
    for wrong in ["", "Sesame", "sesame2"] {
        assert_eq!(
            harness.refusal_code(bob.conn, join_with(made.id, wrong)),
            ErrorCode::WrongPassword
        );
    }
    assert!(matches!(harness.ask(bob.conn, join_with(made.id, "sesame")), Body::RoomJoined(_)));
    harness.join(&bob, made.id);
}

#[test]
fn a_leave_is_confirmed_and_the_others_see_it() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    let room = harness.room_of(&[&ann, &bob]);
    let Body::RoomLeft(left) = harness.ask(bob.conn, leave()) else { panic!("expected a leave") };
    assert_eq!((left.room, left.reason), (room, 0));
    assert_eq!(harness.updated_roster(&ann).as_deref(), Some("ann*"));
    assert_eq!(harness.refusal_code(bob.conn, leave()), ErrorCode::NotInRoom);
    harness.join(&bob, room);
}

#[test]
fn the_first_connected_member_becomes_the_new_host() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    let cid = harness.connect_as("cid");
    let dan = harness.connect_as("dan");
    harness.room_of(&[&ann, &bob, &cid, &dan]);
    harness.disconnect(&bob);
    harness.ask(ann.conn, leave());
    assert_eq!(harness.members(&dan), "bob- cid* dan");
    harness.disconnect(&dan);
    harness.ask(cid.conn, leave());
    let bob = harness.resume(&bob);
    assert_eq!(harness.members(&bob), "bob* dan-");
}

#[test]
fn a_host_who_is_away_stays_host_until_the_grace_period_is_over() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    harness.room_of(&[&ann, &bob]);
    harness.disconnect(&ann);
    assert_eq!(harness.members(&bob), "ann*- bob");
    harness.advance(seconds(31));
    assert_eq!(harness.members(&bob), "bob*");
}

#[test]
fn a_room_without_players_is_removed() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    let room = harness.room_of(&[&ann]);
    harness.ask(ann.conn, leave());
    assert_eq!(harness.listed(&bob), []);
    assert_eq!(harness.refusal_code(bob.conn, join(room)), ErrorCode::NoSuchRoom);
    // The same happens if the last player does not return.
    harness.room_of(&[&ann]);
    harness.disconnect(&ann);
    assert_eq!(harness.listed(&bob).len(), 1);
    harness.advance(seconds(31));
    assert_eq!(harness.listed(&bob), []);
}

#[test]
fn a_kicked_player_is_notified_and_banned() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    let room = harness.room_of(&[&ann, &bob]);
    harness.expect_done(ann.conn, kick(bob.id));
    assert_eq!(harness.leave_reason(&bob).0, ErrorCode::Kicked);
    assert_eq!(harness.members(&ann), "ann*");
    assert_eq!(harness.refusal_code(bob.conn, join(room)), ErrorCode::Kicked);
    let other = harness.room_of(&[&bob]);
    assert_ne!(other, room);
}

#[test]
fn only_the_host_kicks_and_only_other_members() {
    let mut harness = LobbyHarness::new();
    let (ann, bob, cid) =
        (harness.connect_as("ann"), harness.connect_as("bob"), harness.connect_as("cid"));
    harness.room_of(&[&ann, &bob]);
    assert_eq!(harness.refusal_code(bob.conn, kick(ann.id)), ErrorCode::NotHost);
    assert_eq!(harness.refusal_code(cid.conn, kick(ann.id)), ErrorCode::NotInRoom);
    for target in [ann.id, cid.id, 0, u64::MAX] {
        assert_eq!(harness.refusal_code(ann.conn, kick(target)), ErrorCode::NoSuchPlayer);
    }
    assert_eq!(harness.members(&ann), "ann* bob");
}

#[test]
fn a_player_who_is_away_can_be_kicked_and_returns_to_the_lobby() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    harness.room_of(&[&ann, &bob]);
    harness.disconnect(&bob);
    harness.expect_done(ann.conn, kick(bob.id));
    let conn = harness.connect();
    let welcome = harness.welcome(conn, "", &bob.token);
    assert!(welcome.resumed);
    assert_eq!(welcome.room, None);
}

#[test]
fn members_see_who_is_ready() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    harness.room_of(&[&ann, &bob]);
    harness.expect_done(bob.conn, ready(true));
    assert_eq!(harness.updated_roster(&ann).as_deref(), Some("ann* bob!"));
    harness.expect_done(bob.conn, ready(false));
    harness.advance(seconds(1));
    assert_eq!(harness.updated_roster(&ann).as_deref(), Some("ann* bob"));
}

#[test]
fn a_room_can_require_that_all_players_are_ready() {
    let mut harness = LobbyHarness::new();
    harness.host(1, 8);
    let (ann, bob, cid) =
        (harness.connect_as("ann"), harness.connect_as("bob"), harness.connect_as("cid"));
    let asked = world::CreateRoom {
        parameters: parameters(&[("ready", "required"), ("size", "50x50")]),
        ..room("den")
    };
    let made = harness.create(&ann, asked);
    assert_eq!(made.parameters.len(), 2);
    harness.join(&bob, made.id);
    harness.join(&cid, made.id);
    let (code, message) = harness.expect_refusal(ann.conn, start());
    assert_eq!(code, ErrorCode::NotReady);
    assert!(message.contains("2 players"), "{message}");
    harness.expect_done(bob.conn, ready(true));
    assert_eq!(harness.refusal_code(ann.conn, start()), ErrorCode::NotReady);
    // A start does not wait for players who are away, nor for the host's own ready.
    harness.disconnect(&cid);
    harness.send(ann.conn, start());
    let opens = harness.take_open_orders();
    assert_eq!(opens.len(), 1);
    assert_eq!(opens[0].1.parameters, parameters(&[("size", "50x50")]));
}

#[test]
fn rooms_and_room_creations_of_a_player_are_limited() {
    let mut harness = LobbyHarness::with(LobbyConfig { max_rooms: 2, ..LobbyConfig::default() });
    let (ann, bob, cid) =
        (harness.connect_as("ann"), harness.connect_as("bob"), harness.connect_as("cid"));
    for _ in 0..4 {
        harness.create(&ann, room("den"));
        harness.ask(ann.conn, leave());
    }
    let (code, message) = harness.expect_refusal(ann.conn, create(room("den")));
    assert_eq!(code, ErrorCode::TooManyRooms);
    assert!(message.contains("4 rooms a minute"), "{message}");
    harness.advance(seconds(61));
    harness.create(&ann, room("den"));
    harness.create(&bob, room("den"));
    let (code, message) = harness.expect_refusal(cid.conn, create(room("den")));
    assert_eq!(code, ErrorCode::TooManyRooms);
    assert!(message.contains("2 rooms"), "{message}");
}
