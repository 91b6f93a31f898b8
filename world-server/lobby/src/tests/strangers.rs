//! Players who try again: after a kick, with another password.

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{self, client_to_world as ask};

use super::harness::{Client, LobbyHarness, join, join_with, kick, leave, room, seconds};

const ANN: &str = "192.0.2.1";
const BOB: &str = "2001:db8:0:7::1";
const BOB_AGAIN: &str = "2001:db8:0:7:ffff::2";
const CID: &str = "192.0.2.3";

#[test]
fn a_kick_bars_new_sessions_by_name_and_by_network() {
    let mut harness = LobbyHarness::new();
    let ann = from(&mut harness, ANN, "ann");
    let before = from(&mut harness, BOB_AGAIN, "dan");
    let bob = from(&mut harness, BOB, "bob");
    let room = harness.room_of(&[&ann, &bob]);
    harness.expect_done(ann.conn, kick(bob.id));
    let mut refusal = |address, name| {
        let client = from(&mut harness, address, name);
        let (code, message) = harness.expect_refusal(client.conn, join(room));
        assert_eq!(code, ErrorCode::Kicked, "{message}");
        harness.disconnect(&client);
        message
    };
    assert!(refusal(BOB_AGAIN, "eve").contains("address"));
    // Bob's session is in the lobby: the same name gets a number at first.
    harness.ask(bob.conn, rename("zoe"));
    let mut refusal = |address, name| {
        let client = from(&mut harness, address, name);
        let (code, message) = harness.expect_refusal(client.conn, join(room));
        assert_eq!(code, ErrorCode::Kicked, "{message}");
        harness.disconnect(&client);
        harness.advance(seconds(31));
        message
    };
    for name in ["bob", "B0B", "Ьob"] {
        assert!(refusal(CID, name).contains("name"), "{name}");
    }
    harness.join(&before, room);
    let cid = from(&mut harness, CID, "cid");
    harness.join(&cid, room);
}

#[test]
fn a_shared_or_trusted_network_is_not_barred() {
    let mut harness = LobbyHarness::new();
    let ann = from(&mut harness, ANN, "ann");
    let bob = from(&mut harness, CID, "bob");
    let cid = from(&mut harness, CID, "cid");
    let room = harness.room_of(&[&ann, &bob, &cid]);
    harness.expect_done(ann.conn, kick(bob.id));
    let dan = from(&mut harness, CID, "dan");
    harness.join(&dan, room);
    // When no member comes from there any more, it is barred.
    for client in [&cid, &dan] {
        harness.ask(client.conn, leave());
    }
    let eve = from(&mut harness, CID, "eve");
    assert_eq!(harness.refusal_code(eve.conn, join(room)), ErrorCode::Kicked);

    let local = harness.connect_as("local");
    harness.join(&local, room);
    harness.expect_done(ann.conn, kick(local.id));
    let again = harness.connect_as("again");
    harness.join(&again, room);
}

#[test]
fn the_third_kick_within_a_minute_bars_a_shared_network() {
    let mut harness = LobbyHarness::new();
    let ann = from(&mut harness, ANN, "ann");
    let crowd = ["bob", "dan", "eve", "fay", "gus"].map(|name| from(&mut harness, BOB, name));
    let room = harness.room_of(&[&ann, &crowd[0], &crowd[1], &crowd[2], &crowd[3]]);
    for target in &crowd[..2] {
        harness.expect_done(ann.conn, kick(target.id));
        harness.advance(seconds(29));
        harness.join(&crowd[4], room);
        harness.ask(crowd[4].conn, leave());
    }
    harness.expect_done(ann.conn, kick(crowd[2].id));
    let (code, message) = harness.leave_reason(&crowd[2]);
    assert_eq!(code, ErrorCode::Kicked);
    assert!(message.contains("your address are barred"), "{message}");
    let late = from(&mut harness, BOB_AGAIN, "late");
    for client in [&crowd[4], &late] {
        let (code, message) = harness.expect_refusal(client.conn, join(room));
        assert_eq!(code, ErrorCode::Kicked);
        assert!(message.contains("several players"), "{message}");
    }
    // Members stay, other addresses come in, and so do all to other rooms.
    assert_eq!(harness.members(&ann), "ann* fay");
    let cid = from(&mut harness, CID, "cid");
    harness.join(&cid, room);
    let other = harness.room_of(&[&late]);
    harness.join(&crowd[4], other);
}

#[test]
fn kicks_bar_no_trusted_network_and_none_over_more_than_a_minute() {
    let mut harness = LobbyHarness::new();
    let ann = from(&mut harness, ANN, "ann");
    let locals = ["bob", "dan", "eve", "fay"].map(|name| harness.connect_as(name));
    let others = ["gus", "hal", "ida", "jon"].map(|name| from(&mut harness, CID, name));
    let room = harness.room_of(&[&ann, &locals[0], &locals[1], &locals[2], &others[0]]);
    for local in &locals[..3] {
        harness.expect_done(ann.conn, kick(local.id));
    }
    harness.join(&locals[3], room);
    harness.join(&others[3], room);
    for other in &others[..3] {
        harness.join(other, room);
        harness.expect_done(ann.conn, kick(other.id));
        harness.advance(seconds(30));
    }
    harness.ask(others[3].conn, leave());
    harness.join(&others[3], room);
}

#[test]
fn a_new_leader_knows_which_network_is_barred() {
    let mut first = LobbyHarness::recorded();
    let ann = from(&mut first, ANN, "ann");
    let crowd = ["bob", "cid", "dan", "eve", "fay"].map(|name| from(&mut first, BOB, name));
    let room = first.room_of(&[&ann, &crowd[0], &crowd[1], &crowd[2], &crowd[3]]);
    for target in &crowd[..3] {
        first.expect_done(ann.conn, kick(target.id));
    }
    let mut second = first.start_successor(seconds(5));
    let conn = second.connect_from(BOB.parse().expect("an address"));
    let fay = second.hello(conn, "", &crowd[4].token);
    assert_eq!(second.refusal_code(fay.conn, join(room)), ErrorCode::Kicked);
}

#[test]
fn a_new_leader_knows_who_is_barred() {
    let mut first = LobbyHarness::recorded();
    let ann = from(&mut first, ANN, "ann");
    let bob = from(&mut first, BOB, "bob");
    let room = first.room_of(&[&ann, &bob]);
    first.expect_done(ann.conn, kick(bob.id));
    let mut second = first.start_successor(seconds(5));
    second.resume(&ann);
    let eve = from(&mut second, BOB_AGAIN, "eve");
    assert_eq!(second.refusal_code(eve.conn, join(room)), ErrorCode::Kicked);
    second.advance(seconds(31));
    let other = from(&mut second, CID, "bob");
    assert_eq!(second.refusal_code(other.conn, join(room)), ErrorCode::Kicked);
}

#[test]
fn wrong_passwords_are_followed_by_pauses() {
    let mut harness = LobbyHarness::new();
    let room = locked_room(&mut harness);
    let bob = from(&mut harness, BOB, "bob");
    for _ in 0..5 {
        // To ask without a password is no guess.
        assert_eq!(harness.refusal_code(bob.conn, join(room)), ErrorCode::WrongPassword);
        assert_eq!(guess(&mut harness, &bob, room, "wrong"), ErrorCode::WrongPassword);
    }
    let (code, message) = harness.expect_refusal(bob.conn, join_with(room, "sesame"));
    assert_eq!(code, ErrorCode::TryAgain);
    assert!(message.contains("in 1 s"), "{message}");
    assert_eq!(harness.lobby.stats().password_guesses_refused, 1);
    harness.advance(seconds(1));
    assert_eq!(guess(&mut harness, &bob, room, "wrong"), ErrorCode::WrongPassword);
    harness.advance(seconds(1));
    assert_eq!(guess(&mut harness, &bob, room, "sesame"), ErrorCode::TryAgain);
    harness.advance(seconds(1));
    let joined = harness.ask(bob.conn, join_with(room, "sesame"));
    assert!(matches!(joined, world::world_to_client::Body::RoomJoined(_)), "{joined:?}");
}

#[test]
fn new_sessions_of_a_network_do_not_guess_on() {
    let mut harness = LobbyHarness::new();
    let room = locked_room(&mut harness);
    for number in 0..6 {
        let guesser = from(&mut harness, BOB, &format!("guesser {number}"));
        for _ in 0..4 {
            let code = guess(&mut harness, &guesser, room, "wrong");
            let expected =
                [ErrorCode::WrongPassword, ErrorCode::TryAgain][usize::from(number == 5)];
            assert_eq!(code, expected);
        }
    }
    // Others are not held up, nor is another room.
    let cid = from(&mut harness, CID, "cid");
    assert_eq!(guess(&mut harness, &cid, room, "wrong"), ErrorCode::WrongPassword);
    let other = locked_room(&mut harness);
    let bob = from(&mut harness, BOB, "bob");
    assert_eq!(guess(&mut harness, &bob, other, "wrong"), ErrorCode::WrongPassword);
    // Nor are the many players of a trusted address.
    for number in 0..6 {
        let local = harness.connect_as(&format!("local {number}"));
        for _ in 0..4 {
            let code = guess(&mut harness, &local, room, "wrong");
            assert_eq!(code, ErrorCode::WrongPassword);
        }
    }
}

fn from(harness: &mut LobbyHarness, address: &str, name: &str) -> Client {
    harness.connect_at(address, name)
}

fn rename(name: &str) -> ask::Body {
    ask::Body::SetName(world::SetName { name: name.to_owned() })
}

fn guess(harness: &mut LobbyHarness, client: &Client, room: u64, password: &str) -> ErrorCode {
    harness.refusal_code(client.conn, join_with(room, password))
}

/// A room with the password `sesame`.
fn locked_room(harness: &mut LobbyHarness) -> u64 {
    let owner = from(harness, ANN, "owner");
    let create = world::CreateRoom { password: "sesame".into(), ..room("den") };
    harness.create(&owner, create).id
}
