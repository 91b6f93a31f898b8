//! Create, join, leave, ready, kick.

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{self, world_to_client::Body};

use super::harness::{
    LobbyHarness, create, join, join_with, kick, leave, parameters, ready, room, seconds, start,
};
use crate::lobby::LobbyConfig;

#[test]
fn the_creator_of_a_room_is_its_host() {
    let mut scene = LobbyHarness::new();
    let ann = scene.enter("ann");
    let made = scene.create(
        &ann,
        world::CreateRoom {
            parameters: parameters(&[("size", "100x100")]),
            ..room(" den ")
        },
    );
    assert_eq!(
        (made.id, made.name.as_str(), made.game.as_str()),
        (1, "den", "field")
    );
    assert_eq!(
        (
            made.players,
            made.capacity,
            made.running,
            made.has_password,
            made.host
        ),
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
    assert_eq!(scene.events(&ann), [Body::RoomJoined(joined)]);
}

#[test]
fn a_repeated_request_makes_no_second_room() {
    let mut scene = LobbyHarness::new();
    let ann = scene.enter("ann");
    let with_key = |key: u8| world::CreateRoom {
        key: vec![key; 16],
        ..room("den")
    };
    let first = scene.create(&ann, with_key(1));
    assert_eq!(scene.create(&ann, with_key(1)), first);
    // Also after the connection broke, and from inside the room; another key is another request.
    scene.lose(&ann);
    let ann = scene.resume(&ann);
    assert_eq!(scene.create(&ann, with_key(1)), first);
    assert_eq!(
        scene.refusal(ann.conn, create(with_key(2))),
        ErrorCode::AlreadyInRoom
    );
    assert_eq!(scene.listed(&ann).len(), 1);
    // Another player's key is another key.
    let bob = scene.enter("bob");
    assert_ne!(scene.create(&bob, with_key(1)).id, first.id);
}

#[test]
fn a_repeated_request_for_a_closed_room_is_refused() {
    let mut scene = LobbyHarness::new();
    let ann = scene.enter("ann");
    let with_key = world::CreateRoom {
        key: vec![1; 16],
        ..room("den")
    };
    scene.create(&ann, with_key.clone());
    scene.ask(ann.conn, leave());
    assert_eq!(
        scene.refusal(ann.conn, create(with_key.clone())),
        ErrorCode::NoSuchRoom
    );
    assert_eq!(scene.listed(&ann), []);
    scene.pass(seconds(61));
    assert_eq!(scene.create(&ann, with_key.clone()).id, 2);
    // To a player who has left the room, which still exists, the answer would mean that it is a
    // member.
    let bob = scene.enter("bob");
    scene.join(&bob, 2);
    scene.ask(ann.conn, leave());
    assert_eq!(
        scene.refusal(ann.conn, create(with_key)),
        ErrorCode::NoSuchRoom
    );
    assert_eq!(scene.members(&bob), "bob*");
}

#[test]
fn a_refused_request_leaves_its_key_free() {
    let mut scene = LobbyHarness::new();
    let ann = scene.enter("ann");
    let with_key = world::CreateRoom {
        key: vec![1; 16],
        game: "chess".into(),
        ..room("den")
    };
    assert_eq!(
        scene.refusal(ann.conn, create(with_key.clone())),
        ErrorCode::UnknownGame
    );
    scene.create(
        &ann,
        world::CreateRoom {
            game: "field".into(),
            ..with_key
        },
    );
}

#[test]
fn an_unknown_game_is_refused_with_the_known_ones() {
    let mut scene = LobbyHarness::new();
    let ann = scene.enter("ann");
    let (code, message) = scene.refused(
        ann.conn,
        create(world::CreateRoom {
            game: "chess".into(),
            ..room("den")
        }),
    );
    assert_eq!(code, ErrorCode::UnknownGame);
    assert!(message.contains("field, duel"), "{message}");
}

#[test]
fn a_bad_game_parameter_is_refused_with_the_games_reason() {
    let mut scene = LobbyHarness::new();
    let ann = scene.enter("ann");
    for (name, value, reason) in [
        ("colour", "red", "it knows: size"),
        ("ready", "maybe", "optional, required"),
    ] {
        let asked = world::CreateRoom {
            parameters: parameters(&[(name, value)]),
            ..room("den")
        };
        let (code, message) = scene.refused(ann.conn, create(asked));
        assert_eq!(code, ErrorCode::BadParameter);
        assert!(message.contains(reason), "{message}");
    }
    for capacity in [1, 4_097] {
        let asked = world::CreateRoom {
            capacity,
            game: "duel".into(),
            ..room("den")
        };
        assert_eq!(
            scene.refusal(ann.conn, create(asked)),
            ErrorCode::BadParameter,
            "{capacity} seats"
        );
    }
    assert_eq!(
        scene.refusal(ann.conn, create(room("a\tb"))),
        ErrorCode::BadName
    );
    assert_eq!(scene.listed(&ann), []);
}

#[test]
fn a_new_member_and_the_members_see_each_other() {
    let mut scene = LobbyHarness::new();
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    let room = scene.room_of(&[&ann]);
    let joined = scene.join(&bob, room);
    assert_eq!(joined.room.map(|room| room.players), Some(2));
    assert_eq!(
        joined
            .players
            .iter()
            .map(|player| player.name.as_str())
            .collect::<Vec<_>>(),
        ["ann", "bob"]
    );
    assert_eq!(scene.roster_news(&ann).as_deref(), Some("ann* bob"));
}

#[test]
fn joining_the_own_room_again_succeeds_without_a_second_seat() {
    let mut scene = LobbyHarness::new();
    let ann = scene.enter("ann");
    let made = scene.create(
        &ann,
        world::CreateRoom {
            capacity: 1,
            ..room("den")
        },
    );
    assert_eq!(scene.join(&ann, made.id).room, Some(made));
}

#[test]
fn a_player_is_in_one_room_only() {
    let mut scene = LobbyHarness::new();
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    scene.room_of(&[&ann]);
    let second = scene.room_of(&[&bob]);
    assert_eq!(
        scene.refusal(ann.conn, join(second)),
        ErrorCode::AlreadyInRoom
    );
    assert_eq!(
        scene.refusal(ann.conn, create(room("third"))),
        ErrorCode::AlreadyInRoom
    );
}

#[test]
fn a_full_room_refuses_players_until_a_seat_is_free() {
    let mut scene = LobbyHarness::new();
    let (ann, bob, cid) = (scene.enter("ann"), scene.enter("bob"), scene.enter("cid"));
    let den = scene
        .create(
            &ann,
            world::CreateRoom {
                capacity: 2,
                ..room("den")
            },
        )
        .id;
    scene.join(&bob, den);
    let (code, message) = scene.refused(cid.conn, join(den));
    assert_eq!(code, ErrorCode::RoomFull);
    assert!(message.contains("2 seats"), "{message}");
    // A seat is kept while its player is away.
    scene.lose(&bob);
    assert_eq!(scene.refusal(cid.conn, join(den)), ErrorCode::RoomFull);
    scene.pass(seconds(31));
    scene.join(&cid, den);
}

#[test]
fn all_but_members_need_the_password() {
    let mut scene = LobbyHarness::new();
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    let made = scene.create(
        &ann,
        world::CreateRoom {
            password: "sesame".into(),
            ..room("den")
        },
    );
    assert!(made.has_password);
    for wrong in ["", "Sesame", "sesame2"] {
        assert_eq!(
            scene.refusal(bob.conn, join_with(made.id, wrong)),
            ErrorCode::WrongPassword
        );
    }
    assert!(matches!(
        scene.ask(bob.conn, join_with(made.id, "sesame")),
        Body::RoomJoined(_)
    ));
    scene.join(&bob, made.id);
}

#[test]
fn a_leave_is_confirmed_and_the_others_see_it() {
    let mut scene = LobbyHarness::new();
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    let room = scene.room_of(&[&ann, &bob]);
    let Body::RoomLeft(left) = scene.ask(bob.conn, leave()) else {
        panic!("not left")
    };
    assert_eq!((left.room, left.reason), (room, 0));
    assert_eq!(scene.roster_news(&ann).as_deref(), Some("ann*"));
    assert_eq!(scene.refusal(bob.conn, leave()), ErrorCode::NotInRoom);
    scene.join(&bob, room);
}

#[test]
fn the_first_connected_member_becomes_the_new_host() {
    let mut scene = LobbyHarness::new();
    let (ann, bob, cid, dan) = (
        scene.enter("ann"),
        scene.enter("bob"),
        scene.enter("cid"),
        scene.enter("dan"),
    );
    scene.room_of(&[&ann, &bob, &cid, &dan]);
    scene.lose(&bob);
    scene.ask(ann.conn, leave());
    assert_eq!(scene.members(&dan), "bob- cid* dan");
    scene.lose(&dan);
    scene.ask(cid.conn, leave());
    let bob = scene.resume(&bob);
    assert_eq!(scene.members(&bob), "bob* dan-");
}

#[test]
fn a_host_who_is_away_stays_host_until_the_grace_period_is_over() {
    let mut scene = LobbyHarness::new();
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    scene.room_of(&[&ann, &bob]);
    scene.lose(&ann);
    assert_eq!(scene.members(&bob), "ann*- bob");
    scene.pass(seconds(31));
    assert_eq!(scene.members(&bob), "bob*");
}

#[test]
fn a_room_without_players_is_removed() {
    let mut scene = LobbyHarness::new();
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    let room = scene.room_of(&[&ann]);
    scene.ask(ann.conn, leave());
    assert_eq!(scene.listed(&bob), []);
    assert_eq!(scene.refusal(bob.conn, join(room)), ErrorCode::NoSuchRoom);
    // Also when its last player does not come back.
    scene.room_of(&[&ann]);
    scene.lose(&ann);
    assert_eq!(scene.listed(&bob).len(), 1);
    scene.pass(seconds(31));
    assert_eq!(scene.listed(&bob), []);
}

#[test]
fn a_kicked_player_is_notified_and_banned() {
    let mut scene = LobbyHarness::new();
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    let room = scene.room_of(&[&ann, &bob]);
    scene.done(ann.conn, kick(bob.id));
    assert_eq!(scene.left(&bob).0, ErrorCode::Kicked);
    assert_eq!(scene.members(&ann), "ann*");
    assert_eq!(scene.refusal(bob.conn, join(room)), ErrorCode::Kicked);
    let other = scene.room_of(&[&bob]);
    assert_ne!(other, room);
}

#[test]
fn only_the_host_kicks_and_only_other_members() {
    let mut scene = LobbyHarness::new();
    let (ann, bob, cid) = (scene.enter("ann"), scene.enter("bob"), scene.enter("cid"));
    scene.room_of(&[&ann, &bob]);
    assert_eq!(scene.refusal(bob.conn, kick(ann.id)), ErrorCode::NotHost);
    assert_eq!(scene.refusal(cid.conn, kick(ann.id)), ErrorCode::NotInRoom);
    for nobody in [ann.id, cid.id, 0, u64::MAX] {
        assert_eq!(
            scene.refusal(ann.conn, kick(nobody)),
            ErrorCode::NoSuchPlayer
        );
    }
    assert_eq!(scene.members(&ann), "ann* bob");
}

#[test]
fn a_player_who_is_away_can_be_kicked_and_returns_to_the_lobby() {
    let mut scene = LobbyHarness::new();
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    scene.room_of(&[&ann, &bob]);
    scene.lose(&bob);
    scene.done(ann.conn, kick(bob.id));
    let conn = scene.connect();
    let welcome = scene.welcome(conn, "", &bob.token);
    assert!(welcome.resumed);
    assert_eq!(welcome.room, None);
}

#[test]
fn members_see_who_is_ready() {
    let mut scene = LobbyHarness::new();
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    scene.room_of(&[&ann, &bob]);
    scene.done(bob.conn, ready(true));
    assert_eq!(scene.roster_news(&ann).as_deref(), Some("ann* bob!"));
    scene.done(bob.conn, ready(false));
    scene.pass(seconds(1));
    assert_eq!(scene.roster_news(&ann).as_deref(), Some("ann* bob"));
}

#[test]
fn a_room_can_require_that_all_players_are_ready() {
    let mut scene = LobbyHarness::new();
    scene.host(1, 8);
    let (ann, bob, cid) = (scene.enter("ann"), scene.enter("bob"), scene.enter("cid"));
    let asked = world::CreateRoom {
        parameters: parameters(&[("ready", "required"), ("size", "50x50")]),
        ..room("den")
    };
    let made = scene.create(&ann, asked);
    assert_eq!(made.parameters.len(), 2);
    scene.join(&bob, made.id);
    scene.join(&cid, made.id);
    let (code, message) = scene.refused(ann.conn, start());
    assert_eq!(code, ErrorCode::NotReady);
    assert!(message.contains("2 players"), "{message}");
    scene.done(bob.conn, ready(true));
    assert_eq!(scene.refusal(ann.conn, start()), ErrorCode::NotReady);
    // A start does not wait for players who are away, nor for the host's own ready.
    scene.lose(&cid);
    scene.send(ann.conn, start());
    let opens = scene.opens();
    assert_eq!(opens.len(), 1);
    assert_eq!(opens[0].1.parameters, parameters(&[("size", "50x50")]));
}

#[test]
fn rooms_and_room_creations_of_a_player_are_limited() {
    let mut scene = LobbyHarness::with(LobbyConfig {
        max_rooms: 2,
        ..LobbyConfig::default()
    });
    let (ann, bob, cid) = (scene.enter("ann"), scene.enter("bob"), scene.enter("cid"));
    for _ in 0..4 {
        scene.create(&ann, room("den"));
        scene.ask(ann.conn, leave());
    }
    let (code, message) = scene.refused(ann.conn, create(room("den")));
    assert_eq!(code, ErrorCode::TooManyRooms);
    assert!(message.contains("4 rooms a minute"), "{message}");
    scene.pass(seconds(61));
    scene.create(&ann, room("den"));
    scene.create(&bob, room("den"));
    let (code, message) = scene.refused(cid.conn, create(room("den")));
    assert_eq!(code, ErrorCode::TooManyRooms);
    assert!(message.contains("2 rooms"), "{message}");
}
