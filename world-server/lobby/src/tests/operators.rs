//! What operators see, and what their orders do to players.

use ambit_host_protocol::generated::{RoomHandedOver, host_to_world, world_to_host};
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::WORLD_VERSION;
use ambit_proto::control::world::{self, world_to_client::Body};
use ambit_proto::ids::{AccountId, PlayerId, RoomId};

use ambit_proto::standing::OperatorRole;
use ambit_store::{BanNote, BanScope, BanTarget, BanTerm, Names, ServerBan};
use ambit_transport::account_proof::account_of;

use super::harness::{
    Client, EPOCH_UNIX_S, LobbyHarness, create, hello, join, room, seconds, set_name, start,
};
use crate::{HostId, OperatorAudience, OperatorOrder, OperatorProblem};

const ACCOUNT: AccountId = AccountId([7; 16]);

/// The store has these bans and roles from now on.
fn set_bans(harness: &mut LobbyHarness, bans: &[ServerBan], roles: &[(AccountId, OperatorRole)]) {
    let (bans, roles) = (bans.to_vec(), roles.iter().copied().collect());
    harness.lobby.set_names(harness.now, Names { number: 1, bans, roles, ..Names::default() });
    harness.handle_outputs();
}

fn ban(target: &str, scope: BanScope, hours: i64) -> ServerBan {
    let target = target.parse().expect("a target");
    let term = term("spam", hours);
    ServerBan { target, scope, term, note: BanNote::default() }
}

fn term(reason: &str, hours: i64) -> BanTerm {
    let ends_at = Some(EPOCH_UNIX_S as i64 + 3_600 * hours);
    BanTerm { reason: reason.into(), ends_at }
}

fn say(channel: world::Channel, to: &Client) -> world::client_to_world::Body {
    let to = if channel == world::Channel::Whisper { to.id } else { 0 };
    let text = "hello".into();
    let say = world::Say { channel: channel.into(), to, text, ..world::Say::default() };
    world::client_to_world::Body::Say(say)
}

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
    let listed = harness.lobby.operated_players(harness.now);
    let [first, second] = &listed[..] else { panic!("two players, not {listed:?}") };
    assert_eq!((first.id.0, &first.name[..]), (ann.id, "ann"));
    assert_eq!((first.account, first.room), (Some(account), None));
    assert!(first.address.is_some());
    assert_eq!((&first.agent[..], first.since), ("test", EPOCH_UNIX_S as i64 + 1));
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
    assert_eq!(harness.lobby.operated_players(harness.now).len(), 1);
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

#[test]
fn a_muted_player_says_nothing_in_any_channel_until_the_end() {
    let mut harness = LobbyHarness::recorded();
    let [ann, bob] = ["ann", "bob"].map(|name| harness.connect_as(name));
    let den = harness.create(&ann, room("den")).id;
    harness.join(&bob, den);
    let player = PlayerId(ann.id);
    let mute = OperatorOrder::Mute { player, term: term("caps", 3) };
    assert_eq!(carry_out(&mut harness, mute.clone()), Ok(1));
    let party = world::Channel::Party;
    for channel in [world::Channel::Lobby, world::Channel::Room, party, world::Channel::Whisper] {
        let (code, why) = harness.expect_refusal(ann.conn, say(channel, &bob));
        let expected = "an operator has muted you for 3 hours: caps";
        assert_eq!((code, &why[..]), (ErrorCode::Muted, expected), "{channel:?}");
    }
    harness.expect_done(bob.conn, say(world::Channel::Room, &ann));
    // A resumed session is still muted, also at the next server.
    let ann = harness.resume(&ann);
    assert_eq!(harness.refusal_code(ann.conn, say(world::Channel::Lobby, &bob)), ErrorCode::Muted);
    let mut next = harness.start_successor(seconds(9));
    let resumed = next.resume(&ann);
    assert_eq!(next.refusal_code(resumed.conn, say(world::Channel::Lobby, &bob)), ErrorCode::Muted);
    let listed = next.lobby.operated_players(next.now);
    assert_eq!(listed[0].mute, Some(term("caps", 3)));

    let unmute = OperatorOrder::Unmute { player };
    assert_eq!(carry_out(&mut harness, unmute.clone()), Ok(1));
    assert_eq!(carry_out(&mut harness, unmute), Err(OperatorProblem::NotMuted(player)));
    harness.expect_done(ann.conn, say(world::Channel::Lobby, &bob));
    assert_eq!(carry_out(&mut harness, mute), Ok(1));
    harness.advance(seconds(3 * 3_600));
    harness.expect_done(ann.conn, say(world::Channel::Lobby, &bob));
}

#[test]
fn a_muted_account_stays_muted_in_another_session() {
    let mut harness = LobbyHarness::new();
    let muted = ban(&format!("account:{ACCOUNT}"), BanScope::Chat, 3);
    set_bans(&mut harness, &[muted], &[]);
    for name in ["ann", "bea"] {
        let client = harness.connect_with_account(name, ACCOUNT);
        let (code, _) = harness.expect_refusal(client.conn, say(world::Channel::Lobby, &client));
        assert_eq!(code, ErrorCode::Muted);
        harness.quit(&client);
    }
    set_bans(&mut harness, &[], &[]);
    let ann = harness.connect_with_account("ann", ACCOUNT);
    harness.expect_done(ann.conn, say(world::Channel::Lobby, &ann));
}

#[test]
fn nobody_joins_a_locked_room_but_those_who_have_a_seat() {
    let mut harness = LobbyHarness::recorded();
    let host = harness.reconnecting_host(1, 7, &[]);
    let [ann, bob, eve] = ["ann", "bob", "eve"].map(|name| harness.connect_as(name));
    let den = harness.running_room_of(host, &[&ann, &bob]);
    let lock = |is_locked| OperatorOrder::SetLock { room: RoomId(den), is_locked };
    assert_eq!(carry_out(&mut harness, lock(true)), Ok(2));
    assert_eq!(harness.refusal_code(eve.conn, join(den)), ErrorCode::RoomLocked);
    let quick = world::QuickJoin { game: "field".into(), ..world::QuickJoin::default() };
    let quick = world::client_to_world::Body::QuickJoin(quick);
    let Body::RoomJoined(joined) = harness.ask(eve.conn, quick) else { panic!("a room") };
    assert_ne!(joined.room.map(|room| room.id), Some(den));
    let bob = harness.resume(&bob);
    harness.ask(bob.conn, join(den));
    // Who has left does not come back.
    harness.ask(bob.conn, super::harness::leave());
    assert_eq!(harness.refusal_code(bob.conn, join(den)), ErrorCode::RoomLocked);
    // The next server knows it, too.
    let next = harness.start_successor(seconds(9));
    let locked: Vec<u64> = next
        .lobby
        .operated_rooms()
        .into_iter()
        .filter(|room| room.is_locked)
        .map(|room| room.shown.id)
        .collect();
    assert_eq!(locked, [den]);
    assert_eq!(carry_out(&mut harness, lock(false)), Ok(1));
    harness.join(&bob, den);
    let none = OperatorOrder::SetLock { room: RoomId(999), is_locked: true };
    assert_eq!(carry_out(&mut harness, none), Err(OperatorProblem::NoSuchRoom(RoomId(999))));
}

#[test]
fn who_is_banned_is_put_out_and_refused_at_the_hello_with_the_reason() {
    let check = |target: &str, from: &str, name: &str, by: &str| {
        let mut harness = LobbyHarness::new();
        let out = harness.connect_at(from, name);
        let other = harness.connect_at("198.51.100.9", "other");
        set_bans(&mut harness, &[ban(target, BanScope::Play, 3)], &[]);
        assert_eq!(harness.goodbye_code(out.conn), Some(ErrorCode::Banned), "{target}");
        assert_eq!(harness.close_code(other.conn), None, "{target}");
        let conn = harness.connect_from(from.parse().expect("an address"));
        let (code, why) = harness.expect_refusal(conn, hello(name, &[]));
        let expected = format!("{by} may not play here for 3 hours: spam");
        assert_eq!((code, why), (ErrorCode::Banned, expected), "{target}");
        assert_eq!(harness.close_code(conn), Some(ErrorCode::Banned), "{target}");
        harness.advance(seconds(3 * 3_600));
        harness.connect_at(from, name);
    };
    let address = "who comes from this address";
    check("address:192.0.2.7", "192.0.2.7", "ann", address);
    check("address:192.0.2.7", "::ffff:192.0.2.7", "ann", address);
    check("address:192.0.2.0/24", "192.0.2.200", "ann", address);
    check("address:2001:db8::1", "2001:db8::ffff:2", "ann", address);
    check("name:Admin", "192.0.2.7", "аdmin", "a player of this name");
    // The name of an own session.
    let mut harness = LobbyHarness::new();
    set_bans(&mut harness, &[ban("name:admin", BanScope::Play, 3)], &[]);
    let ann = harness.connect_as("ann");
    assert_eq!(harness.refusal_code(ann.conn, set_name("admin")), ErrorCode::BadName);
}

#[test]
fn a_session_is_not_resumed_from_an_address_that_is_banned() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_at("192.0.2.7", "ann");
    harness.disconnect(&ann);
    set_bans(&mut harness, &[ban("address:192.0.2.8", BanScope::Play, 3)], &[]);
    let conn = harness.connect_from("192.0.2.8".parse().expect("an address"));
    assert_eq!(harness.refusal_code(conn, hello("ann", &ann.token)), ErrorCode::Banned);
    harness.resume(&ann);
}

#[test]
fn a_moderator_with_an_account_is_barred_by_its_account_alone() {
    let mut harness = LobbyHarness::new();
    let key = [1; 32];
    let account = account_of(&key);
    let ann = harness.connect_with_account("ann", account);
    let bans = [ban("name:ann", BanScope::Play, 3), ban("address:127.0.0.0/16", BanScope::Play, 3)];
    set_bans(&mut harness, &bans, &[(account, OperatorRole::Moderate)]);
    let resumed = harness.resume(&ann);
    let with_key = || {
        let hello = world::Hello {
            version: WORLD_VERSION,
            account_key: key.into(),
            ..world::Hello::default()
        };
        world::client_to_world::Body::Hello(hello)
    };
    let conn = harness.connect();
    assert!(matches!(harness.ask(conn, with_key()), Body::Challenge(_)));
    set_bans(&mut harness, &bans, &[(account, OperatorRole::Look)]);
    assert_eq!(harness.goodbye_code(resumed.conn), Some(ErrorCode::Banned));
    let conn = harness.connect();
    assert_eq!(harness.refusal_code(conn, with_key()), ErrorCode::Banned);
}

#[test]
fn a_ban_of_a_player_is_for_its_account_and_where_it_comes_from() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_with_account("ann", ACCOUNT);
    let bob = harness.connect_at("2001:db8::7", "bob");
    harness.disconnect(&bob);
    let targets = |player: &Client| {
        let targets = harness.lobby.ban_targets(PlayerId(player.id)).expect("it is there");
        targets.iter().map(BanTarget::to_string).collect::<Vec<_>>()
    };
    let of_ann = targets(&ann);
    assert_eq!(of_ann[0], format!("account:{ACCOUNT}"));
    assert!(of_ann[1].starts_with("address:"), "{of_ann:?}");
    assert_eq!(targets(&bob), ["address:2001:db8::/64"]);
}

#[test]
fn rooms_leave_a_drained_host_and_none_comes_to_it_until_undrained() {
    let mut harness = LobbyHarness::unlimited();
    let [first, second] = [1, 2].map(|number| harness.host(number, 3));
    let ann = harness.connect_as("ann");
    let den = harness.running_room_of(first, &[&ann]);
    harness.save_checkpoint(first, den);
    let drain = |host, is_drained| OperatorOrder::DrainHost { host, is_drained };
    assert_eq!(carry_out(&mut harness, drain(first, true)), Ok(1));
    harness.advance(seconds(1));
    let moves = harness.take_orders().into_iter().filter_map(|(host, body)| match body {
        world_to_host::Body::MoveRoom(moved) => Some((host, moved.room)),
        _ => None,
    });
    assert_eq!(moves.collect::<Vec<_>>(), [(first, den)]);
    let handed_over = host_to_world::Body::RoomHandedOver(RoomHandedOver { room: den });
    harness.send_from_host(first, handed_over);
    let opened: Vec<_> = harness.take_open_orders().into_iter().map(|(host, _)| host).collect();
    assert_eq!(opened, [second]);
    harness.opened(second, den, None);
    for name in ["bob", "cid"] {
        let client = harness.connect_as(name);
        harness.running_room_of(second, &[&client]);
    }
    let eve = harness.connect_as("eve");
    harness.create(&eve, room("eve's"));
    assert_eq!(harness.refusal_code(eve.conn, start()), ErrorCode::NoHostAvailable);
    assert_eq!(carry_out(&mut harness, drain(first, false)), Ok(0));
    harness.send(eve.conn, start());
    assert_eq!(harness.take_open_orders().last().map(|(host, _)| *host), Some(first));
    let none = carry_out(&mut harness, drain(HostId(99), true));
    assert_eq!(none, Err(OperatorProblem::NoSuchHost(99)));
}

#[test]
fn rooms_stay_on_a_drained_host_while_no_other_has_space_for_them() {
    let mut harness = LobbyHarness::unlimited();
    let first = harness.host(1, 3);
    let ann = harness.connect_as("ann");
    let den = harness.running_room_of(first, &[&ann]);
    harness.save_checkpoint(first, den);
    let drain = OperatorOrder::DrainHost { host: first, is_drained: true };
    assert_eq!(carry_out(&mut harness, drain), Ok(1));
    harness.advance(seconds(9));
    let is_move = |(_, body): &(HostId, world_to_host::Body)| {
        matches!(body, world_to_host::Body::MoveRoom(_))
    };
    assert!(!harness.take_orders().iter().any(is_move));
    harness.host(2, 3);
    harness.advance(seconds(1));
    assert!(harness.take_orders().iter().any(is_move));
}

#[test]
fn a_drained_host_is_still_drained_for_the_next_server() {
    let mut harness = LobbyHarness::recorded();
    let host = harness.reconnecting_host(1, 7, &[]);
    let drain = OperatorOrder::DrainHost { host, is_drained: true };
    assert_eq!(carry_out(&mut harness, drain), Ok(0));
    let is_drained = |harness: &LobbyHarness| {
        harness.lobby.hosts().map(|(_, host)| host.is_drained).collect::<Vec<_>>()
    };
    let mut next = harness.start_successor(seconds(9));
    next.reconnecting_host(2, 7, &[]);
    assert_eq!(is_drained(&next), [true]);
    // Its link breaks, and it comes again.
    harness.lose_host(host, "the line");
    harness.reconnecting_host(3, 7, &[]);
    assert_eq!(is_drained(&harness), [true]);
}

#[test]
fn players_read_how_much_is_left_until_the_server_shuts_down() {
    let mut harness = LobbyHarness::unlimited();
    let [ann, bob] = ["ann", "bob"].map(|name| harness.connect_as(name));
    harness.discard_events();
    let texts = |harness: &mut LobbyHarness, client| {
        let events = harness.events(client).into_iter();
        let texts = events.filter_map(|event| match event {
            Body::Chat(chat) => Some((chat.from_name, chat.text)),
            _ => None,
        });
        let is_left = |(from, text): (String, String)| {
            assert_eq!(from, "[server]");
            text.strip_prefix("the server shuts down ").map_or(text.clone(), str::to_owned)
        };
        texts.map(is_left).collect::<Vec<_>>()
    };
    let end = |minutes| OperatorOrder::End { minutes, reason: "news".into() };
    assert_eq!(carry_out(&mut harness, end(8)), Ok(2));
    harness.advance(seconds(60));
    harness.create(&bob, room("bob's"));
    harness.advance(seconds(120));
    let (code, why) = harness.expect_refusal(ann.conn, create(room("den")));
    assert_eq!(code, ErrorCode::Draining, "{why}");
    let eve = harness.connect_as("eve");
    assert_eq!(texts(&mut harness, &eve), ["in 5 minutes: news"]);
    harness.advance(seconds(299));
    assert!(!harness.lobby.is_end_due(harness.now));
    harness.advance(seconds(1));
    assert!(harness.lobby.is_end_due(harness.now));
    let left = [
        "8 minutes",
        "5 minutes",
        "2 minutes",
        "60 seconds",
        "30 seconds",
        "10 seconds",
        "5 seconds",
    ];
    let mut expected: Vec<String> = left.map(|left| format!("in {left}: news")).into();
    expected.push("now: news".to_owned());
    assert_eq!(texts(&mut harness, &ann), expected);
}

#[test]
fn a_shutdown_that_is_called_off_does_not_come() {
    let mut harness = LobbyHarness::unlimited();
    let ann = harness.connect_as("ann");
    let end = |minutes| OperatorOrder::End { minutes, reason: String::new() };
    let none = Err(OperatorProblem::NoEndPlanned);
    assert_eq!(carry_out(&mut harness, OperatorOrder::CallOffEnd), none);
    assert_eq!(carry_out(&mut harness, end(1)), Ok(1));
    assert_eq!(carry_out(&mut harness, OperatorOrder::CallOffEnd), Ok(1));
    harness.discard_events();
    harness.advance(seconds(120));
    assert!(!harness.lobby.is_end_due(harness.now));
    assert_eq!(harness.events(&ann), []);
    harness.create(&ann, room("den"));
    let too_long = carry_out(&mut harness, end(1_441));
    assert!(matches!(too_long, Err(OperatorProblem::BadText(_))), "{too_long:?}");
    assert_eq!(carry_out(&mut harness, end(0)), Ok(1));
    assert!(harness.lobby.is_end_due(harness.now));
}

#[test]
fn a_player_is_listed_with_its_map_and_host_and_maps_with_their_rooms() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let ann = harness.connect_as("ann");
    let den = harness.running_room_of(host, &[&ann]);
    let listed = harness.lobby.operated_players(harness.now);
    assert_eq!((listed[0].map, listed[0].host), (Some(0), Some(host)));
    let rooms = harness.lobby.operated_rooms();
    assert_eq!((rooms[0].host, rooms[0].maps), (Some(host), 1));
    let maps = harness.lobby.operated_maps();
    let first = &maps[0];
    assert_eq!((first.id, first.room, first.map, first.players), (RoomId(den), RoomId(den), 0, 1));
    assert!(first.is_running && maps.len() == 1);
}
