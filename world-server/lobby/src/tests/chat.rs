//! Which players get which chat messages.

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{self, client_to_world as ask, world_to_client::Body};

use super::harness::{Client, LobbyHarness, seconds};
use crate::LobbyConfig;

#[test]
fn lobby_chat_reaches_all_players_in_rooms_or_not() {
    let (mut harness, [ann, bob, cid]) = three_clients();
    harness.room_of(&[&ann, &bob]);
    harness.expect_done(cid.conn, chat_request(world::Channel::Lobby, "he\u{301}llo"));
    for client in [&ann, &bob, &cid] {
        let expected = world::Chat {
            channel: world::Channel::Lobby.into(),
            from: cid.id,
            from_name: "cid".into(),
            text: "h\u{e9}llo".into(),
            to: 0,
        };
        assert_eq!(harness.events(client), [Body::Chat(expected)]);
    }
}

#[test]
fn room_chat_reaches_members_only() {
    let (mut harness, [ann, bob, cid]) = three_clients();
    harness.room_of(&[&ann, &bob]);
    harness.expect_done(ann.conn, chat_request(world::Channel::Room, "psst"));
    assert_eq!(received_chat(&mut harness, &ann), ["psst"]);
    assert_eq!(received_chat(&mut harness, &bob), ["psst"]);
    assert_eq!(received_chat(&mut harness, &cid), [""; 0]);
    assert_eq!(
        harness.refusal_code(cid.conn, chat_request(world::Channel::Room, "psst")),
        ErrorCode::NotInRoom
    );
}

#[test]
fn a_whisper_by_id_or_name_reaches_two_players() {
    let (mut harness, [ann, bob, cid]) = three_clients();
    for (to, to_name) in [(bob.id, ""), (0, "BOB")] {
        harness.expect_done(ann.conn, whisper(to, to_name));
        let expected = Body::Chat(world::Chat {
            channel: world::Channel::Whisper.into(),
            from: ann.id,
            from_name: "ann".into(),
            text: "psst".into(),
            to: bob.id,
        });
        for client in [&ann, &bob] {
            assert_eq!(harness.events(client), std::slice::from_ref(&expected));
        }
        assert_eq!(harness.events(&cid), []);
    }
    harness.expect_done(ann.conn, whisper(ann.id, ""));
    assert_eq!(received_chat(&mut harness, &ann), ["psst"]);
}

#[test]
fn a_whisper_to_an_unknown_or_absent_player_is_refused() {
    let (mut harness, [ann, bob, _]) = three_clients();
    for (to, to_name) in [(0, ""), (0, "nobody"), (999, "bob")] {
        assert_eq!(harness.refusal_code(ann.conn, whisper(to, to_name)), ErrorCode::NoSuchPlayer);
    }
    harness.disconnect(&bob);
    let (code, message) = harness.expect_refusal(ann.conn, whisper(bob.id, ""));
    assert_eq!(code, ErrorCode::NoSuchPlayer);
    assert!(message.contains("away"), "{message}");
    assert_eq!(harness.events(&ann), []);
}

#[test]
fn invalid_chat_text_is_refused() {
    let (mut harness, [ann, bob, _]) = three_clients();
    for text in ["", "  ", "a\nb", "\u{1b}[2J", "\u{202e}abc", &"x".repeat(501)] {
        assert_eq!(
            harness.refusal_code(ann.conn, chat_request(world::Channel::Lobby, text)),
            ErrorCode::BadText,
            "{text:?}"
        );
    }
    harness.expect_done(ann.conn, chat_request(world::Channel::Lobby, &"ü".repeat(500)));
    assert_eq!(received_chat(&mut harness, &bob).len(), 1);
}

#[test]
fn too_many_chat_messages_are_refused_for_a_while() {
    let mut harness =
        LobbyHarness::with(LobbyConfig { chat_per_s: 1, chat_burst: 3, ..LobbyConfig::default() });
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    for _ in 0..3 {
        harness.expect_done(ann.conn, chat_request(world::Channel::Lobby, "spam"));
    }
    assert_eq!(
        harness.refusal_code(ann.conn, chat_request(world::Channel::Lobby, "spam")),
        ErrorCode::RateLimited
    );
    harness.expect_done(bob.conn, chat_request(world::Channel::Lobby, "quiet!"));
    harness.advance(seconds(1));
    harness.expect_done(ann.conn, chat_request(world::Channel::Lobby, "sorry"));
    assert_eq!(received_chat(&mut harness, &bob), ["spam", "spam", "spam", "quiet!", "sorry"]);
}

fn three_clients() -> (LobbyHarness, [Client; 3]) {
    let mut harness = LobbyHarness::new();
    let clients = ["ann", "bob", "cid"].map(|name| harness.connect_as(name));
    (harness, clients)
}

fn chat_request(channel: world::Channel, text: &str) -> ask::Body {
    ask::Body::Say(world::Say {
        channel: channel.into(),
        text: text.to_owned(),
        ..world::Say::default()
    })
}

fn whisper(to: u64, to_name: &str) -> ask::Body {
    let channel = world::Channel::Whisper.into();
    ask::Body::Say(world::Say { channel, text: "psst".to_owned(), to, to_name: to_name.to_owned() })
}

fn received_chat(harness: &mut LobbyHarness, client: &Client) -> Vec<String> {
    let chats = harness.events(client).into_iter().filter_map(|body| match body {
        Body::Chat(chat) => Some(chat.text),
        _ => None,
    });
    chats.collect()
}
