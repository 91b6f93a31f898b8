//! What operators see, and what their orders do to players.

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{self, world_to_client::Body};
use ambit_proto::ids::{AccountId, PlayerId, RoomId};

use super::harness::{LobbyHarness, create, room};
use crate::lobby::{OperatorAudience, OperatorOrder, OperatorProblem};

fn carry_out(harness: &mut LobbyHarness, order: OperatorOrder) -> Result<usize, OperatorProblem> {
    let done = harness.lobby.carry_out(harness.now, order);
    harness.handle_outputs();
    done
}

#[test]
fn players_are_listed_with_account_address_and_room() {
    let mut harness = LobbyHarness::new();
    let account = AccountId([7; 16]);
    let ann = harness.connect_with_account("ann", account);
    let bob = harness.connect_at("10.0.0.7", "bob");
    let den = harness.create(&bob, room("den")).id;
    harness.disconnect(&bob);
    let listed = harness.lobby.operated_players();
    let [first, second] = &listed[..] else { panic!("two players, not {listed:?}") };
    assert_eq!((first.id.0, &first.name[..]), (ann.id, "ann"));
    assert_eq!((first.account, first.room), (Some(account), None));
    assert!(first.address.is_some());
    assert_eq!((second.id.0, second.room), (bob.id, Some(RoomId(den))));
    assert_eq!(second.address, None, "away");
}

#[test]
fn a_kicked_player_reads_why_and_its_name_is_free() {
    let mut harness = LobbyHarness::new();
    let [ann, bob] = ["ann", "bob"].map(|name| harness.connect_as(name));
    let den = harness.create(&ann, room("den")).id;
    harness.join(&bob, den);
    let kick = |player| OperatorOrder::Kick {
        player: PlayerId(player),
        reason: "spoke of\u{202e} things".into(),
    };
    let refused = carry_out(&mut harness, kick(bob.id));
    assert!(matches!(refused, Err(OperatorProblem::BadText(_))), "{refused:?}");
    let order = OperatorOrder::Kick { player: PlayerId(bob.id), reason: "language".into() };
    assert_eq!(carry_out(&mut harness, order.clone()), Ok(1));
    assert_eq!(harness.goodbye_code(bob.conn), Some(ErrorCode::Kicked));
    assert_eq!(harness.close_code(bob.conn), Some(ErrorCode::Kicked));
    assert_eq!(harness.lobby.operated_players().len(), 1);
    assert_eq!(harness.listed(&ann)[0].players, 1);
    let gone = PlayerId(bob.id);
    assert_eq!(carry_out(&mut harness, order), Err(OperatorProblem::NoSuchPlayer(gone)));
    let again = harness.connect_as("bob");
    harness.join(&again, den);
}

#[test]
fn a_message_reaches_whom_it_is_for_and_nobody_can_send_its_like() {
    let mut harness = LobbyHarness::new();
    let [ann, bob, eve] = ["ann", "bob", "eve"].map(|name| harness.connect_as(name));
    let den = harness.create(&ann, room("den")).id;
    harness.join(&bob, den);
    harness.discard_events();
    let say = |to, text: &str| OperatorOrder::Say { to, text: text.into() };
    let chats = |harness: &mut LobbyHarness, client| {
        let events = harness.events(client);
        let chats = events.into_iter().filter_map(|event| match event {
            Body::Chat(chat) => Some((chat.from, chat.from_name, chat.text)),
            _ => None,
        });
        chats.collect::<Vec<_>>()
    };
    let line = |text: &str| vec![(0, "[server]".to_owned(), text.to_owned())];
    assert_eq!(carry_out(&mut harness, say(OperatorAudience::All, "restart at 5")), Ok(3));
    for client in [&ann, &bob, &eve] {
        assert_eq!(chats(&mut harness, client), line("restart at 5"));
    }
    let to_den = OperatorAudience::Room(RoomId(den));
    assert_eq!(carry_out(&mut harness, say(to_den, "be kind")), Ok(2));
    assert_eq!(chats(&mut harness, &bob), line("be kind"));
    assert_eq!(chats(&mut harness, &eve), []);
    let to_eve = OperatorAudience::Player(PlayerId(eve.id));
    assert_eq!(carry_out(&mut harness, say(to_eve, "hello")), Ok(1));
    assert_eq!(chats(&mut harness, &eve), line("hello"));
    let nowhere = OperatorAudience::Room(RoomId(999));
    let problem = OperatorProblem::NoSuchRoom(RoomId(999));
    assert_eq!(carry_out(&mut harness, say(nowhere, "hello")), Err(problem));
    let name = world::SetName { name: "[server]".into() };
    let code = harness.refusal_code(eve.conn, world::client_to_world::Body::SetName(name));
    assert_eq!(code, ErrorCode::BadName);
}

#[test]
fn a_room_that_is_closed_sends_its_members_to_the_lobby() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let [ann, bob] = ["ann", "bob"].map(|name| harness.connect_as(name));
    let den = harness.running_room_of(host, &[&ann, &bob]);
    harness.discard_events();
    let close = OperatorOrder::CloseRoom { room: RoomId(den), reason: "too late".into() };
    assert_eq!(carry_out(&mut harness, close.clone()), Ok(2));
    for client in [&ann, &bob] {
        let (code, why) = harness.leave_reason(client);
        assert_eq!(
            (code, &why[..]),
            (ErrorCode::RoomClosed, "an operator closed the room: too late")
        );
    }
    let gone = Err(OperatorProblem::NoSuchRoom(RoomId(den)));
    assert_eq!(carry_out(&mut harness, close), gone);
    harness.ask(ann.conn, create(room("den")));
}
