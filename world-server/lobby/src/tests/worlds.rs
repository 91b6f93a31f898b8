//! Worlds of several maps: gates, seats, and hosts that are lost during a transfer.

use ambit_host_protocol::generated::{
    Admit, Arrived, AtGate, Departed, OpenRoom, PlayerOut, ReleaseForTransfer, RoomClosed,
    host_to_world, world_to_host as order,
};
use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::world::{self, client_to_world as ask, world_to_client::Body};
use ambit_room::logic::game::MAX_CARRIED_BYTES;

use super::harness::{
    Client, LobbyHarness, create, join, leave, parameters, read_error, room, seconds, set_name,
    ticket_in,
};
use crate::HostId;

mod records;
mod shares;

const FIRST: HostId = HostId(1);
const SECOND: HostId = HostId(2);

#[test]
fn a_player_moves_through_a_gate_and_back_with_tickets() {
    let (mut harness, ann, world) = two_hosts();
    harness.at_gate(FIRST, world, &ann, 1);
    let map = harness.open_map(SECOND, world, 1);
    assert_eq!(
        harness.next_order_for(FIRST),
        order::Body::ReleaseForTransfer(ReleaseForTransfer {
            room: world,
            player: ann.id,
            number: 1
        })
    );
    harness.departed(FIRST, world, &ann, 1, b"7 apples");
    let order = harness.next_order_for(FIRST);
    let order::Body::RemovePlayer(remove) = order else { panic!("{order:?}") };
    // The game must not take this for leaving.
    assert_eq!((remove.room, remove.reason()), (world, ErrorCode::NotInRoom));
    let admit = admit(map, &ann, 1, b"7 apples");
    assert_eq!(harness.next_order_for(SECOND), order::Body::Admit(admit));
    assert_eq!(harness.tickets(&ann), [], "no ticket before the avatar has arrived");
    harness.arrived(SECOND, map, &ann, 1);
    let ticket = harness.ticket(&ann);
    assert_eq!((ticket.room, ticket.map, ticket.address.as_str()), (world, 1, "127.0.0.1:8002"));
    assert!(ticket.incarnation > 1);

    harness.at_gate(SECOND, map, &ann, 0);
    assert_eq!(
        harness.next_order_for(SECOND),
        order::Body::ReleaseForTransfer(ReleaseForTransfer {
            room: map,
            player: ann.id,
            number: 2
        })
    );
    harness.departed(SECOND, map, &ann, 2, b"6 apples");
    harness.arrived(FIRST, world, &ann, 2);
    let back = harness.ticket(&ann);
    assert_eq!((back.room, back.map, back.address.as_str()), (world, 0, "127.0.0.1:8001"));
    assert!(back.incarnation > ticket.incarnation);
    assert_eq!(harness.lobby.stats().transfers_completed, 2);
}

#[test]
fn a_world_is_one_room_for_lists_chat_and_leaves() {
    let (mut harness, ann, world) = two_hosts();
    let bob = harness.connect_as("bob");
    harness.join(&bob, world);
    let map = harness.move_player(&ann, world, 1);
    let listed: Vec<_> = harness.listed(&bob).iter().map(|room| (room.id, room.players)).collect();
    assert_eq!(listed, [(world, 2)]);
    let cat = harness.connect_as("cat");
    assert_eq!(
        harness.refusal_code(cat.conn, join(map)),
        ErrorCode::NoSuchRoom,
        "players cannot join a map by its id"
    );
    harness.discard_events();
    let say = world::Say { channel: 1, text: "hello".into(), ..world::Say::default() };
    harness.expect_done(bob.conn, ask::Body::Say(say));
    assert!(
        harness
            .events(&ann)
            .iter()
            .any(|event| matches!(event, Body::Chat(chat) if chat.text == "hello"))
    );

    // A new name reaches the host where the avatar is.
    harness.take_orders();
    harness.ask(ann.conn, set_name("anna"));
    let order = harness.next_order_for(SECOND);
    assert!(matches!(order, order::Body::RenamePlayer(rename) if rename.room == map));
    // A player who leaves is removed on that host, and the seat is freed.
    harness.ask(ann.conn, leave());
    let order = harness.next_order_for(SECOND);
    assert!(matches!(order, order::Body::RemovePlayer(remove) if remove.room == map));
    assert_eq!(harness.members(&bob), "bob*");
    // The world and all its maps are closed with the last member.
    harness.ask(bob.conn, leave());
    assert!(harness.take_orders().iter().any(|(host, body)| {
        *host == SECOND && matches!(body, order::Body::CloseRoom(close) if close.room == map)
    }));
    assert_eq!(harness.removed_checkpoints, [map, world]);
    assert_eq!(harness.lobby.stats().rooms, 0);
}

#[test]
fn a_full_map_refuses_players_with_the_reason() {
    let (mut harness, ann, world) = two_hosts_with(&[("map-seats", "1")]);
    let bob = harness.connect_as("bob");
    let (code, message) = harness.expect_refusal(bob.conn, join(world));
    assert_eq!(code, ErrorCode::RoomFull);
    assert!(message.contains("all 1 seats of the first map"), "{message}");
    harness.move_player(&ann, world, 1);
    harness.join(&bob, world);
    harness.discard_events();
    harness.take_orders();
    harness.at_gate(FIRST, world, &bob, 1);
    assert!(matches!(
        harness.next_order_for(FIRST),
        order::Body::RefuseTransfer(refused) if refused.player == bob.id
    ));
    let (code, message) = harness.error(&bob);
    assert_eq!(code, ErrorCode::RoomFull);
    assert!(message.contains("all 1 seats of map 1 are taken"), "{message}");
    // Ann cannot return either.
    harness.at_gate(SECOND, 2, &ann, 0);
    assert_eq!(harness.error(&ann).0, ErrorCode::RoomFull);
    // After bob has left, she can.
    harness.ask(bob.conn, leave());
    harness.at_gate(SECOND, 2, &ann, 0);
    harness.departed(SECOND, 2, &ann, 2, b"");
    harness.arrived(FIRST, world, &ann, 2);
    assert_eq!(harness.tickets(&ann).last().map(|ticket| ticket.map), Some(0));
}

#[test]
fn a_gate_to_a_missing_map_is_closed_and_the_player_stays() {
    let (mut harness, ann, world) = two_hosts();
    for map in [0, 64, u32::MAX] {
        harness.at_gate(FIRST, world, &ann, map);
        assert!(matches!(harness.next_order_for(FIRST), order::Body::RefuseTransfer(_)));
        assert_eq!(harness.error(&ann).0, ErrorCode::ServerError);
    }
    // The first host is full, and the others have no capacity.
    let (mut harness, ann, world) = hosts_with_capacities([1, 8], &[]);
    harness.lose_host(SECOND, "killed");
    let third = harness.host(3, 0);
    harness.take_orders();
    harness.at_gate(FIRST, world, &ann, 1);
    assert_eq!(harness.error(&ann).0, ErrorCode::NoHostAvailable);
    assert!(matches!(harness.next_order_for(FIRST), order::Body::RefuseTransfer(_)));
    assert_eq!((harness.lobby.stats().rooms, third), (1, HostId(3)));
}

#[test]
fn a_gate_to_a_new_map_is_closed_if_the_server_has_all_its_rooms() {
    let (mut harness, ann, world) = two_hosts();
    harness.lobby.config.max_rooms = 1;
    harness.at_gate(FIRST, world, &ann, 1);
    assert_eq!(harness.error(&ann).0, ErrorCode::TooManyRooms);
    assert!(matches!(harness.next_order_for(FIRST), order::Body::RefuseTransfer(_)));
    harness.lobby.config.max_rooms = 2;
    harness.at_gate(FIRST, world, &ann, 1);
    harness.open_map(SECOND, world, 1);
}

#[test]
fn a_request_that_a_gate_repeats_is_answered_again() {
    let (mut harness, ann, world) = two_hosts();
    harness.at_gate(FIRST, world, &ann, 1);
    harness.open_map(SECOND, world, 1);
    let release = harness.next_order_for(FIRST);
    assert!(matches!(release, order::Body::ReleaseForTransfer(_)));
    harness.take_orders();
    harness.at_gate(FIRST, world, &ann, 1);
    assert_eq!(harness.next_order_for(FIRST), release);
}

#[test]
fn a_player_whose_game_carries_too_much_is_removed() {
    for (bytes, is_removed) in [(MAX_CARRIED_BYTES, false), (MAX_CARRIED_BYTES + 1, true)] {
        let (mut harness, ann, world) = two_hosts();
        harness.at_gate(FIRST, world, &ann, 1);
        harness.open_map(SECOND, world, 1);
        harness.take_orders();
        harness.departed(FIRST, world, &ann, 1, &vec![1; bytes]);
        let orders = harness.take_orders();
        let is_admitted = orders.iter().any(|(_, body)| matches!(body, order::Body::Admit(_)));
        assert_eq!(is_admitted, !is_removed);
        if is_removed {
            assert_eq!(harness.leave_reason(&ann).0, ErrorCode::ServerError);
        }
    }
}

#[test]
fn a_map_that_cannot_be_opened_refuses_players_at_once() {
    let (mut harness, ann, world) = two_hosts();
    harness.at_gate(FIRST, world, &ann, 1);
    let (_, open) = harness.take_open_orders().remove(0);
    harness.opened(SECOND, open.room, Some(codes::error(ErrorCode::BadParameter, "no such map")));
    let (code, message) = harness.error(&ann);
    assert_eq!(code, ErrorCode::BadParameter);
    assert!(message.contains("no such map"), "{message}");
    assert!(matches!(harness.next_order_for(FIRST), order::Body::RefuseTransfer(_)));
    // If the map's host is lost meanwhile, another host opens the map at the next request.
    harness.at_gate(FIRST, world, &ann, 1);
    let third = harness.host(3, 8);
    harness.take_orders();
    harness.lose_host(SECOND, "killed");
    assert_eq!((harness.events(&ann), harness.take_orders()), (vec![], vec![]));
    harness.at_gate(FIRST, world, &ann, 1);
    harness.lose_host(third, "killed");
    harness.host(2, 8);
    harness.take_orders();
    // A map that is not opened in time is closed.
    harness.at_gate(FIRST, world, &ann, 1);
    harness.advance(seconds(11));
    assert_eq!(harness.error(&ann).0, ErrorCode::ServerError);
    assert_eq!(harness.lobby.stats().rooms, 1);
}

#[test]
fn a_player_who_does_not_leave_the_gate_frees_the_reserved_seat() {
    let (mut harness, ann, world) = two_hosts_with(&[("map-seats", "1")]);
    harness.at_gate(FIRST, world, &ann, 1);
    let map = harness.open_map(SECOND, world, 1);
    harness.send_from_host(FIRST, stay_message(world, &ann, 1));
    let bob = harness.connect_as("bob");
    assert_eq!(harness.expect_refusal(bob.conn, join(world)).0, ErrorCode::RoomFull);
    // A later request starts another transfer.
    harness.take_orders();
    harness.at_gate(FIRST, world, &ann, 1);
    assert!(matches!(
        harness.next_order_for(FIRST),
        order::Body::ReleaseForTransfer(ReleaseForTransfer { number: 2, .. })
    ));
    harness.departed(FIRST, world, &ann, 2, b"");
    harness.arrived(SECOND, map, &ann, 2);
    harness.join(&bob, world);
}

#[test]
fn if_the_source_host_is_lost_the_next_one_gets_the_order_again() {
    let (mut harness, ann, world) = two_hosts();
    harness.save_checkpoint(FIRST, world);
    harness.at_gate(FIRST, world, &ann, 1);
    let map = harness.open_map(SECOND, world, 1);
    harness.lose_host(FIRST, "killed");
    harness.take_orders();
    harness.opened(SECOND, world, None);
    assert_eq!(
        harness.next_order_for(SECOND),
        order::Body::ReleaseForTransfer(ReleaseForTransfer {
            room: world,
            player: ann.id,
            number: 1
        })
    );
    harness.departed(SECOND, world, &ann, 1, b"x");
    harness.arrived(SECOND, map, &ann, 1);
    let ticket = harness.tickets(&ann).pop().expect("a ticket");
    assert_eq!(ticket.map, 1);
}

#[test]
fn the_loss_of_the_source_host_after_departure_has_no_effect() {
    let (mut harness, ann, world) = two_hosts();
    harness.save_checkpoint(FIRST, world);
    harness.at_gate(FIRST, world, &ann, 1);
    let map = harness.open_map(SECOND, world, 1);
    harness.departed(FIRST, world, &ann, 1, b"x");
    harness.lose_host(FIRST, "killed");
    harness.opened(SECOND, world, None);
    assert_eq!(harness.tickets(&ann), [], "the transfer is not complete");
    harness.arrived(SECOND, map, &ann, 1);
    assert_eq!(harness.ticket(&ann).map, 1);
}

#[test]
fn if_the_target_host_is_lost_the_next_one_gets_the_arrival_again() {
    let (mut harness, ann, world) = two_hosts();
    harness.at_gate(FIRST, world, &ann, 1);
    let map = harness.open_map(SECOND, world, 1);
    harness.save_checkpoint(SECOND, map);
    harness.departed(FIRST, world, &ann, 1, b"x");
    harness.lose_host(SECOND, "killed");
    harness.take_orders();
    harness.opened(FIRST, map, None);
    assert_eq!(harness.next_order_for(FIRST), order::Body::Admit(admit(map, &ann, 1, b"x")));
    harness.arrived(FIRST, map, &ann, 1);
    assert_eq!(harness.ticket(&ann).address, "127.0.0.1:8001");
}

#[test]
fn a_transfer_to_a_lost_map_is_reversed() {
    let (mut harness, ann, world) = two_hosts();
    let bob = harness.connect_as("bob");
    harness.join(&bob, world);
    let map = harness.move_player(&bob, world, 1);
    harness.at_gate(FIRST, world, &ann, 1);
    harness.departed(FIRST, world, &ann, 2, b"x");
    harness.take_orders();
    harness.discard_events();
    // There is no checkpoint of that map.
    harness.lose_host(SECOND, "killed");
    assert_eq!(harness.leave_reason(&bob).0, ErrorCode::HostDied);
    // The transfer back has a new number, so that a room which remembers the departure does not
    // take it for the same transfer.
    let (x, y) = (197.0, 99.0);
    let back = order::Body::Admit(Admit { x, y, ..admit(world, &ann, 3, b"x") });
    assert_eq!(harness.next_order_for(FIRST), back);
    harness.arrived(FIRST, world, &ann, 3);
    assert_eq!((harness.ticket(&ann).map, harness.members(&ann).as_str()), (0, "ann*"));
    assert_eq!(harness.removed_checkpoints, [map]);
    assert_eq!(harness.lobby.stats().transfers_completed, 1, "bob's");
}

#[test]
fn a_map_crash_affects_only_the_players_on_that_map() {
    let (mut harness, ann, world) = two_hosts();
    let bob = harness.connect_as("bob");
    harness.join(&bob, world);
    let map = harness.move_player(&ann, world, 1);
    harness.discard_events();
    let reason = ErrorCode::RoomCrashed.into();
    harness.send_from_host(
        SECOND,
        host_to_world::Body::RoomClosed(RoomClosed { room: map, reason, message: "oh".into() }),
    );
    assert_eq!(harness.leave_reason(&ann).0, ErrorCode::RoomCrashed);
    assert_eq!(harness.members(&bob), "bob*");
    // The map is opened again for the next player.
    let again = harness.move_player(&bob, world, 1);
    assert_ne!(again, map);
}

#[test]
fn host_messages_about_players_elsewhere_are_ignored() {
    let (mut harness, ann, world) = two_hosts();
    let map = harness.move_player(&ann, world, 1);
    let out = |room| {
        host_to_world::Body::PlayerOut(PlayerOut {
            room,
            player: ann.id,
            reason: 28,
            ..Default::default()
        })
    };
    harness.send_from_host(FIRST, out(world));
    assert_eq!(harness.members(&ann), "ann*");
    // An avatar that must not be there any more is removed.
    harness.at_gate(FIRST, world, &ann, 1);
    assert!(matches!(harness.next_order_for(FIRST), order::Body::RemovePlayer(_)));
    // Ignored: old answers, answers of other hosts, and answers without an order.
    for (host, room, number) in
        [(FIRST, world, 1), (SECOND, map, 1), (SECOND, map, 9), (FIRST, map, 2)]
    {
        harness.departed(host, room, &ann, number, b"y");
        harness.arrived(host, room, &ann, number);
    }
    assert_eq!(harness.take_orders(), []);
    harness.send_from_host(SECOND, out(map));
    assert_eq!(harness.leave_reason(&ann).0, ErrorCode::Idle);
}

#[test]
fn a_resumed_player_gets_a_ticket_for_the_avatars_map() {
    let (mut harness, ann, world) = two_hosts();
    harness.move_player(&ann, world, 1);
    harness.disconnect(&ann);
    let ann = harness.resume(&ann);
    let ticket = harness.ticket(&ann);
    assert_eq!((ticket.room, ticket.map), (world, 1));
}

#[test]
fn only_the_lobby_sets_the_map_parameter() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let most = ["0", "many", "+3", "4097", "18446744073709551615"];
    let seats = most.map(|value| ("map-seats", value));
    for (key, value) in [("map", "1")].into_iter().chain(seats) {
        let den = world::CreateRoom { parameters: parameters(&[(key, value)]), ..room("den") };
        assert_eq!(
            harness.refusal_code(ann.conn, create(den)),
            ErrorCode::BadParameter,
            "{key}={value}"
        );
    }
}

/// Two hosts, and ann in a world that runs on the first of them.
#[test]
fn a_world_is_abandoned_when_none_of_its_maps_is_played() {
    let (mut harness, ann, world) = two_hosts();
    let map = harness.move_player(&ann, world, 1);
    harness.report_unplayed(FIRST, &[world], 200);
    harness.report_unplayed(SECOND, &[map], 120);
    assert_eq!(harness.lobby.stats().rooms, 2);
    // A player in transfer is connected nowhere.
    harness.at_gate(SECOND, map, &ann, 0);
    harness.report_unplayed(SECOND, &[map], 5);
    assert_eq!(harness.lobby.stats().rooms, 2);
    harness.departed(SECOND, map, &ann, 2, b"x");
    harness.arrived(FIRST, world, &ann, 2);
    harness.report_unplayed(FIRST, &[], 1);
    harness.report_unplayed(SECOND, &[map], 200);
    assert_eq!(harness.lobby.stats().rooms, 2);
    harness.take_orders();
    harness.report_unplayed(FIRST, &[world], 121);
    assert_eq!(harness.lobby.stats().rooms, 0);
    let mut closed = harness.take_closed_rooms();
    closed.sort_unstable();
    assert_eq!(closed, [world, map]);
}

fn two_hosts() -> (LobbyHarness, Client, u64) {
    two_hosts_with(&[])
}

fn two_hosts_with(given: &[(&str, &str)]) -> (LobbyHarness, Client, u64) {
    hosts_with_capacities([8, 8], given)
}

fn hosts_with_capacities(
    capacities: [u32; 2],
    given: &[(&str, &str)],
) -> (LobbyHarness, Client, u64) {
    let mut harness = LobbyHarness::unlimited();
    let first = harness.host(1, capacities[0]);
    let second = harness.host(2, capacities[1]);
    assert_eq!((first, second), (FIRST, SECOND));
    let ann = harness.connect_as("ann");
    let world =
        harness.create(&ann, world::CreateRoom { parameters: parameters(given), ..room("den") }).id;
    harness.send(ann.conn, super::harness::start());
    harness.opened(FIRST, world, None);
    harness.advance(seconds(1));
    harness.discard_events();
    harness.take_orders();
    (harness, ann, world)
}

fn admit(room: u64, client: &Client, number: u64, carried: &[u8]) -> Admit {
    let player = client.id;
    let name = client.name.clone();
    let carried = carried.to_vec();
    let (account, standing) = (Vec::new(), 1);
    let party = 0;
    Admit { room, player, number, name, x: 5.0, y: 100.0, carried, account, standing, party }
}

fn stay_message(room: u64, client: &Client, number: u64) -> host_to_world::Body {
    host_to_world::Body::Departed(Departed { room, player: client.id, number, carried: None })
}

impl LobbyHarness {
    fn at_gate(&mut self, host: HostId, room: u64, client: &Client, map: u32) {
        let at_gate =
            AtGate { room, player: client.id, map, x: 5.0, y: 100.0, from_x: 197.0, from_y: 99.0 };
        self.send_from_host(host, host_to_world::Body::AtGate(at_gate));
    }

    fn departed(&mut self, host: HostId, room: u64, client: &Client, number: u64, carried: &[u8]) {
        let departed =
            Departed { room, player: client.id, number, carried: Some(carried.to_vec()) };
        self.send_from_host(host, host_to_world::Body::Departed(departed));
    }

    fn arrived(&mut self, host: HostId, room: u64, client: &Client, number: u64) {
        self.send_from_host(
            host,
            host_to_world::Body::Arrived(Arrived { room, player: client.id, number }),
        );
    }

    /// The host opens the map that it was ordered to open. Returns the map's room.
    fn open_map(&mut self, host: HostId, world: u64, map: u32) -> u64 {
        let (at, OpenRoom { room, parameters, .. }) =
            self.take_open_orders().pop().expect("a map is opened");
        assert_eq!((at, parameters.get("map")), (host, Some(&map.to_string())));
        assert_ne!(room, world);
        self.opened(host, room, None);
        room
    }

    /// Moves a player through the gate to a map on the second host that is not open yet.
    fn move_player(&mut self, client: &Client, world: u64, map: u32) -> u64 {
        self.take_orders();
        self.at_gate(FIRST, world, client, map);
        let room = self.open_map(SECOND, world, map);
        let order::Body::ReleaseForTransfer(ReleaseForTransfer { number, .. }) =
            self.next_order_for(FIRST)
        else {
            panic!("expected an order to release the player")
        };
        self.departed(FIRST, world, client, number, b"x");
        self.arrived(SECOND, room, client, number);
        self.take_orders();
        room
    }

    /// The first order for that host since the last call.
    fn next_order_for(&mut self, wanted: HostId) -> order::Body {
        let mut orders = self.take_orders();
        let index = orders.iter().position(|(host, _)| *host == wanted).expect("an order");
        let (_, body) = orders.remove(index);
        self.put_back(orders);
        body
    }

    fn tickets(&mut self, client: &Client) -> Vec<world::Ticket> {
        self.events(client).into_iter().filter_map(ticket_in).collect()
    }

    /// The only error among the events.
    fn error(&mut self, client: &Client) -> (ErrorCode, String) {
        let errors: Vec<_> =
            self.events(client)
                .into_iter()
                .filter_map(|body| {
                    if let Body::Error(error) = body { Some(read_error(&error)) } else { None }
                })
                .collect();
        let [error] = &errors[..] else { panic!("one error: {errors:?}") };
        error.clone()
    }
}
