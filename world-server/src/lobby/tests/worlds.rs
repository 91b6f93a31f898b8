//! Worlds of several maps: gates, seats, and hosts that are lost during a transfer.

use ambit_host::protocol::messages::{
    Admit, Arrived, AtGate, Departed, LetGo, OpenRoom, PlayerOut, RoomClosed, host_to_world,
    world_to_host as order,
};
use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::world::{self, client_to_world as ask, world_to_client::Body};
use ambit_proto::ids::RoomId;

use super::harness::{
    Client, LobbyHarness, create, join, leave, parameters, read_error, room, seconds, set_name,
    ticket_in,
};
use crate::lobby::{HostId, HostReport};

mod records;

const FIRST: HostId = HostId(1);
const SECOND: HostId = HostId(2);

#[test]
fn a_player_moves_through_a_gate_and_back_with_tickets() {
    let (mut scene, ann, world) = scene();
    scene.at_gate(FIRST, world, &ann, 1);
    let map = scene.map_opened(SECOND, world, 1);
    assert_eq!(
        scene.order_for(FIRST),
        order::Body::LetGo(LetGo {
            room: world,
            player: ann.id,
            number: 1
        })
    );
    scene.departed(FIRST, world, &ann, 1, b"7 apples");
    assert!(
        matches!(scene.order_for(FIRST), order::Body::RemovePlayer(remove) if remove.room == world)
    );
    let admit = admit(map, &ann, 1, b"7 apples");
    assert_eq!(scene.order_for(SECOND), order::Body::Admit(admit));
    assert_eq!(scene.tickets(&ann), [], "not before the avatar is there");
    scene.arrived(SECOND, map, &ann, 1);
    let ticket = scene.ticket(&ann);
    assert_eq!(
        (ticket.room, ticket.map, ticket.address.as_str()),
        (world, 1, "127.0.0.1:8002")
    );
    assert!(ticket.incarnation > 1);

    scene.at_gate(SECOND, map, &ann, 0);
    assert_eq!(
        scene.order_for(SECOND),
        order::Body::LetGo(LetGo {
            room: map,
            player: ann.id,
            number: 2
        })
    );
    scene.departed(SECOND, map, &ann, 2, b"6 apples");
    scene.arrived(FIRST, world, &ann, 2);
    let back = scene.ticket(&ann);
    assert_eq!(
        (back.room, back.map, back.address.as_str()),
        (world, 0, "127.0.0.1:8001")
    );
    assert!(back.incarnation > ticket.incarnation);
    assert_eq!(scene.lobby.stats().transfers_completed, 2);
}

#[test]
fn a_world_is_one_room_for_lists_chat_and_leaves() {
    let (mut scene, ann, world) = scene();
    let bob = scene.enter("bob");
    scene.join(&bob, world);
    let map = scene.moves(&ann, world, 1);
    let listed: Vec<_> = scene
        .listed(&bob)
        .iter()
        .map(|room| (room.id, room.players))
        .collect();
    assert_eq!(listed, [(world, 2)]);
    let cat = scene.enter("cat");
    assert_eq!(
        scene.refusal(cat.conn, join(map)),
        ErrorCode::NoSuchRoom,
        "a map is no room that players know"
    );
    scene.forget_news();
    let say = world::Say {
        channel: 1,
        text: "hello".into(),
        ..world::Say::default()
    };
    scene.done(bob.conn, ask::Body::Say(say));
    assert!(
        scene
            .events(&ann)
            .iter()
            .any(|news| matches!(news, Body::Chat(chat) if chat.text == "hello"))
    );

    // A new name reaches the host where the avatar is.
    scene.orders();
    scene.ask(ann.conn, set_name("anna"));
    assert!(
        matches!(scene.order_for(SECOND), order::Body::RenamePlayer(rename) if rename.room == map)
    );
    // A player who leaves is removed there, and the seat is free.
    scene.ask(ann.conn, leave());
    assert!(
        matches!(scene.order_for(SECOND), order::Body::RemovePlayer(remove) if remove.room == map)
    );
    assert_eq!(scene.members(&bob), "bob*");
    // The world ends with its last member, and so does each map.
    scene.ask(bob.conn, leave());
    assert!(scene.orders().iter().any(|(host, body)| {
        *host == SECOND && matches!(body, order::Body::CloseRoom(close) if close.room == map)
    }));
    assert_eq!(scene.forgotten, [map, world]);
    assert_eq!(scene.lobby.stats().rooms, 0);
}

#[test]
fn a_full_map_refuses_players_with_the_reason() {
    let (mut scene, ann, world) = scene_with(&[("map-seats", "1")]);
    let bob = scene.enter("bob");
    let (code, message) = scene.refused(bob.conn, join(world));
    assert_eq!(code, ErrorCode::RoomFull);
    assert!(
        message.contains("all 1 seats of the first map"),
        "{message}"
    );
    scene.moves(&ann, world, 1);
    scene.join(&bob, world);
    scene.forget_news();
    scene.orders();
    scene.at_gate(FIRST, world, &bob, 1);
    assert!(matches!(scene.order_for(FIRST), order::Body::Stay(stay) if stay.player == bob.id));
    let (code, message) = scene.error(&bob);
    assert_eq!(code, ErrorCode::RoomFull);
    assert!(
        message.contains("all 1 seats of map 1 are taken"),
        "{message}"
    );
    // Nor can ann come back.
    scene.at_gate(SECOND, 2, &ann, 0);
    assert_eq!(scene.error(&ann).0, ErrorCode::RoomFull);
    // Once bob has left, she can.
    scene.ask(bob.conn, leave());
    scene.at_gate(SECOND, 2, &ann, 0);
    scene.departed(SECOND, 2, &ann, 2, b"");
    scene.arrived(FIRST, world, &ann, 2);
    assert_eq!(scene.tickets(&ann).last().map(|ticket| ticket.map), Some(0));
}

#[test]
fn a_gate_to_nowhere_is_closed_and_the_player_stays() {
    let (mut scene, ann, world) = scene();
    for map in [0, 64, u32::MAX] {
        scene.at_gate(FIRST, world, &ann, map);
        assert!(matches!(scene.order_for(FIRST), order::Body::Stay(_)));
        assert_eq!(scene.error(&ann).0, ErrorCode::Blocked);
    }
    // The first host is full, and the others have no capacity.
    let (mut scene, ann, world) = scene_on([1, 8], &[]);
    scene.lose_host(SECOND, "killed");
    let third = scene.host(3, 0);
    scene.orders();
    scene.at_gate(FIRST, world, &ann, 1);
    assert_eq!(scene.error(&ann).0, ErrorCode::NoHostAvailable);
    assert!(matches!(scene.order_for(FIRST), order::Body::Stay(_)));
    assert_eq!((scene.lobby.stats().rooms, third), (1, HostId(3)));
}

#[test]
fn a_map_that_cannot_be_opened_refuses_players_at_once() {
    let (mut scene, ann, world) = scene();
    scene.at_gate(FIRST, world, &ann, 1);
    let (_, open) = scene.opens().remove(0);
    scene.opened(
        SECOND,
        open.room,
        Some(codes::error(ErrorCode::BadParameter, "no such map")),
    );
    let (code, message) = scene.error(&ann);
    assert_eq!(code, ErrorCode::BadParameter);
    assert!(message.contains("no such map"), "{message}");
    assert!(matches!(scene.order_for(FIRST), order::Body::Stay(_)));
    // If its host is lost meanwhile, another one opens it at the next request.
    scene.at_gate(FIRST, world, &ann, 1);
    let third = scene.host(3, 8);
    scene.orders();
    scene.lose_host(SECOND, "killed");
    assert_eq!((scene.events(&ann), scene.orders()), (vec![], vec![]));
    scene.at_gate(FIRST, world, &ann, 1);
    scene.lose_host(third, "killed");
    scene.host(2, 8);
    scene.orders();
    // A map that is not opened in time is closed.
    scene.at_gate(FIRST, world, &ann, 1);
    scene.pass(seconds(11));
    assert_eq!(scene.error(&ann).0, ErrorCode::ServerError);
    assert_eq!(scene.lobby.stats().rooms, 1);
}

#[test]
fn a_player_who_does_not_leave_the_gate_frees_the_reserved_seat() {
    let (mut scene, ann, world) = scene_with(&[("map-seats", "1")]);
    scene.at_gate(FIRST, world, &ann, 1);
    let map = scene.map_opened(SECOND, world, 1);
    scene.host_says(FIRST, stays(world, &ann, 1));
    let bob = scene.enter("bob");
    assert_eq!(scene.refused(bob.conn, join(world)).0, ErrorCode::RoomFull);
    // The later request is another transfer.
    scene.orders();
    scene.at_gate(FIRST, world, &ann, 1);
    assert!(matches!(
        scene.order_for(FIRST),
        order::Body::LetGo(LetGo { number: 2, .. })
    ));
    scene.departed(FIRST, world, &ann, 2, b"");
    scene.arrived(SECOND, map, &ann, 2);
    scene.join(&bob, world);
}

#[test]
fn if_the_source_host_is_lost_the_next_one_gets_the_order_again() {
    let (mut scene, ann, world) = scene();
    scene.keep(FIRST, world);
    scene.at_gate(FIRST, world, &ann, 1);
    let map = scene.map_opened(SECOND, world, 1);
    scene.lose_host(FIRST, "killed");
    scene.orders();
    scene.opened(SECOND, world, None);
    assert_eq!(
        scene.order_for(SECOND),
        order::Body::LetGo(LetGo {
            room: world,
            player: ann.id,
            number: 1
        })
    );
    scene.departed(SECOND, world, &ann, 1, b"x");
    scene.arrived(SECOND, map, &ann, 1);
    let ticket = scene.tickets(&ann).pop().expect("a ticket");
    assert_eq!(ticket.map, 1);
}

#[test]
fn the_loss_of_the_source_host_after_departure_has_no_effect() {
    let (mut scene, ann, world) = scene();
    scene.keep(FIRST, world);
    scene.at_gate(FIRST, world, &ann, 1);
    let map = scene.map_opened(SECOND, world, 1);
    scene.departed(FIRST, world, &ann, 1, b"x");
    scene.lose_host(FIRST, "killed");
    scene.opened(SECOND, world, None);
    assert_eq!(scene.tickets(&ann), [], "on the way");
    scene.arrived(SECOND, map, &ann, 1);
    assert_eq!(scene.ticket(&ann).map, 1);
}

#[test]
fn if_the_target_host_is_lost_the_next_one_gets_the_arrival_again() {
    let (mut scene, ann, world) = scene();
    scene.at_gate(FIRST, world, &ann, 1);
    let map = scene.map_opened(SECOND, world, 1);
    scene.keep(SECOND, map);
    scene.departed(FIRST, world, &ann, 1, b"x");
    scene.lose_host(SECOND, "killed");
    scene.orders();
    scene.opened(FIRST, map, None);
    assert_eq!(
        scene.order_for(FIRST),
        order::Body::Admit(admit(map, &ann, 1, b"x"))
    );
    scene.arrived(FIRST, map, &ann, 1);
    assert_eq!(scene.ticket(&ann).address, "127.0.0.1:8001");
}

#[test]
fn a_transfer_to_a_lost_map_is_reversed() {
    let (mut scene, ann, world) = scene();
    let bob = scene.enter("bob");
    scene.join(&bob, world);
    let map = scene.moves(&bob, world, 1);
    scene.at_gate(FIRST, world, &ann, 1);
    scene.departed(FIRST, world, &ann, 2, b"x");
    scene.orders();
    scene.forget_news();
    // There is no checkpoint of that map.
    scene.lose_host(SECOND, "killed");
    assert_eq!(scene.left(&bob).0, ErrorCode::HostDied);
    // With a new number, so that a room which remembers the departure does not take it for the same
    // transfer.
    let (x, y) = (197.0, 99.0);
    let back = order::Body::Admit(Admit {
        x,
        y,
        ..admit(world, &ann, 3, b"x")
    });
    assert_eq!(scene.order_for(FIRST), back);
    scene.arrived(FIRST, world, &ann, 3);
    assert_eq!(
        (scene.ticket(&ann).map, scene.members(&ann).as_str()),
        (0, "ann*")
    );
    assert_eq!(scene.forgotten, [map]);
    assert_eq!(scene.lobby.stats().transfers_completed, 1, "bob's");
}

#[test]
fn a_map_crash_affects_only_the_players_on_that_map() {
    let (mut scene, ann, world) = scene();
    let bob = scene.enter("bob");
    scene.join(&bob, world);
    let map = scene.moves(&ann, world, 1);
    scene.forget_news();
    let reason = ErrorCode::RoomCrashed.into();
    scene.host_says(
        SECOND,
        host_to_world::Body::RoomClosed(RoomClosed {
            room: map,
            reason,
            message: "oh".into(),
        }),
    );
    assert_eq!(scene.left(&ann).0, ErrorCode::RoomCrashed);
    assert_eq!(scene.members(&bob), "bob*");
    // It is opened again for the next player.
    let again = scene.moves(&bob, world, 1);
    assert_ne!(again, map);
}

#[test]
fn host_messages_about_players_elsewhere_are_ignored() {
    let (mut scene, ann, world) = scene();
    let map = scene.moves(&ann, world, 1);
    let out = |room| {
        host_to_world::Body::PlayerOut(PlayerOut {
            room,
            player: ann.id,
            reason: 28,
        })
    };
    scene.host_says(FIRST, out(world));
    assert_eq!(scene.members(&ann), "ann*");
    // An avatar that should not be there any more is removed.
    scene.at_gate(FIRST, world, &ann, 1);
    assert!(matches!(
        scene.order_for(FIRST),
        order::Body::RemovePlayer(_)
    ));
    // Old answers, answers of other hosts, and answers to no order.
    for (host, room, number) in [
        (FIRST, world, 1),
        (SECOND, map, 1),
        (SECOND, map, 9),
        (FIRST, map, 2),
    ] {
        scene.departed(host, room, &ann, number, b"y");
        scene.arrived(host, room, &ann, number);
    }
    assert_eq!(scene.orders(), []);
    scene.host_says(SECOND, out(map));
    assert_eq!(scene.left(&ann).0, ErrorCode::Idle);
}

#[test]
fn a_resumed_player_gets_a_ticket_for_the_avatars_map() {
    let (mut scene, ann, world) = scene();
    scene.moves(&ann, world, 1);
    scene.lose(&ann);
    let ann = scene.resume(&ann);
    let ticket = scene.ticket(&ann);
    assert_eq!((ticket.room, ticket.map), (world, 1));
}

#[test]
fn only_the_lobby_sets_the_map_parameter() {
    let mut scene = LobbyHarness::new();
    let ann = scene.enter("ann");
    for (key, value) in [("map", "1"), ("map-seats", "0"), ("map-seats", "many")] {
        let den = world::CreateRoom {
            parameters: parameters(&[(key, value)]),
            ..room("den")
        };
        assert_eq!(
            scene.refusal(ann.conn, create(den)),
            ErrorCode::BadParameter,
            "{key}={value}"
        );
    }
}

/// Two hosts, and ann in a world that runs on the first of them.
fn scene() -> (LobbyHarness, Client, u64) {
    scene_with(&[])
}

fn scene_with(given: &[(&str, &str)]) -> (LobbyHarness, Client, u64) {
    scene_on([8, 8], given)
}

fn scene_on(capacities: [u32; 2], given: &[(&str, &str)]) -> (LobbyHarness, Client, u64) {
    let mut scene = LobbyHarness::unlimited();
    let (first, second) = (scene.host(1, capacities[0]), scene.host(2, capacities[1]));
    assert_eq!((first, second), (FIRST, SECOND));
    let ann = scene.enter("ann");
    let world = scene
        .create(
            &ann,
            world::CreateRoom {
                parameters: parameters(given),
                ..room("den")
            },
        )
        .id;
    scene.send(ann.conn, super::harness::start());
    scene.opened(FIRST, world, None);
    scene.pass(seconds(1));
    scene.forget_news();
    scene.orders();
    (scene, ann, world)
}

fn admit(room: u64, client: &Client, number: u64, carried: &[u8]) -> Admit {
    let (player, name) = (client.id, client.name.clone());
    Admit {
        room,
        player,
        number,
        name,
        x: 5.0,
        y: 100.0,
        carried: carried.to_vec(),
    }
}

fn stays(room: u64, client: &Client, number: u64) -> host_to_world::Body {
    host_to_world::Body::Departed(Departed {
        room,
        player: client.id,
        number,
        carried: None,
    })
}

impl LobbyHarness {
    fn at_gate(&mut self, host: HostId, room: u64, client: &Client, map: u32) {
        let wish = AtGate {
            room,
            player: client.id,
            map,
            x: 5.0,
            y: 100.0,
            from_x: 197.0,
            from_y: 99.0,
        };
        self.host_says(host, host_to_world::Body::AtGate(wish));
    }

    fn departed(&mut self, host: HostId, room: u64, client: &Client, number: u64, carried: &[u8]) {
        let departed = Departed {
            room,
            player: client.id,
            number,
            carried: Some(carried.to_vec()),
        };
        self.host_says(host, host_to_world::Body::Departed(departed));
    }

    fn arrived(&mut self, host: HostId, room: u64, client: &Client, number: u64) {
        self.host_says(
            host,
            host_to_world::Body::Arrived(Arrived {
                room,
                player: client.id,
                number,
            }),
        );
    }

    fn keep(&mut self, host: HostId, room: u64) {
        self.report(host, HostReport::Checkpointed(RoomId(room)));
    }

    /// Lets the host open the map that it was told to open. Returns its room.
    fn map_opened(&mut self, host: HostId, world: u64, map: u32) -> u64 {
        let (
            at,
            OpenRoom {
                room, parameters, ..
            },
        ) = self.opens().pop().expect("a map is opened");
        assert_eq!((at, parameters.get("map")), (host, Some(&map.to_string())));
        assert_ne!(room, world);
        self.opened(host, room, None);
        room
    }

    /// Moves a player through the gate to a map on the second host that is not open yet.
    fn moves(&mut self, client: &Client, world: u64, map: u32) -> u64 {
        self.orders();
        self.at_gate(FIRST, world, client, map);
        let room = self.map_opened(SECOND, world, map);
        let order::Body::LetGo(LetGo { number, .. }) = self.order_for(FIRST) else {
            panic!("no order to let the player go")
        };
        self.departed(FIRST, world, client, number, b"x");
        self.arrived(SECOND, room, client, number);
        self.orders();
        room
    }

    /// The first order for that host since the last call.
    fn order_for(&mut self, wanted: HostId) -> order::Body {
        let mut orders = self.orders();
        let index = orders
            .iter()
            .position(|(host, _)| *host == wanted)
            .expect("an order");
        let (_, body) = orders.remove(index);
        self.put_back(orders);
        body
    }

    fn tickets(&mut self, client: &Client) -> Vec<world::Ticket> {
        self.events(client)
            .into_iter()
            .filter_map(ticket_in)
            .collect()
    }

    /// The only error among the events.
    fn error(&mut self, client: &Client) -> (ErrorCode, String) {
        let errors: Vec<_> = self
            .events(client)
            .into_iter()
            .filter_map(|body| {
                if let Body::Error(error) = body {
                    Some(read_error(&error))
                } else {
                    None
                }
            })
            .collect();
        let [error] = &errors[..] else {
            panic!("one error: {errors:?}")
        };
        error.clone()
    }
}
