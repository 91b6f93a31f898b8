//! Gates between maps: one room releases a player, another one admits it, and a restored room
//! repeats its answers.

use ambit_field::commands;
use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::{ClientId, PlayerId};
use ambit_proto::pose::PoseCoding;
use ambit_proto::space::Position;
use ambit_proto::standing::Standing;
use ambit_proto::time::GameTime;
use ambit_room::logic::game::Left;
use ambit_room::recording::Header;
use ambit_room::room::*;

use super::{ANN, TICK};

const BOB: PlayerId = PlayerId(2);
const EAST: Position = Position::on_ground(199.0, 100.0);

#[test]
fn an_avatar_passes_a_gate_and_keeps_its_carried_state() {
    let mut first = Map::new(0);
    let mut second = Map::new(1);
    first.join(ANN);
    first.spend_mana(ANN);
    assert_eq!(first.tick(), []);
    first.teleport(ANN, EAST);
    let outputs = first.tick();
    let [RoomOutput::AtGate { player: ANN, map: 1, at, .. }] = outputs[..] else {
        panic!("{outputs:?}")
    };
    let mana = first.mana(ANN);
    first.inputs.push(RoomInput::ReleaseForTransfer { player: ANN, transfer: TransferId(7) });
    let outputs = first.tick();
    let [
        RoomOutput::MovedAway { .. },
        RoomOutput::Departed { player: ANN, transfer: TransferId(7), carried: Some(carried) },
    ] = &outputs[..]
    else {
        panic!("{outputs:?}")
    };
    assert_eq!((first.room.avatar(ANN), first.room.world().len()), (None, 0));

    second.admit(7, at, carried);
    assert_eq!(second.tick(), [RoomOutput::Arrived { player: ANN, transfer: TransferId(7) }]);
    let avatar = second.room.avatar(ANN).expect("the avatar has arrived");
    assert!(second.room.world().position(avatar).ground_distance(at) < 2.0);
    assert!(
        (second.mana(ANN) - mana).abs() < 1.0 && mana < 95.0,
        "{mana} and {}",
        second.mana(ANN)
    );
    for _ in 0..40 {
        assert_eq!(second.tick(), [], "an avatar that stays in the gate is not transferred back");
    }
}

#[test]
fn a_repeated_transfer_order_is_executed_once_and_answered_twice() {
    let mut first = Map::new(0);
    let mut second = Map::new(1);
    first.join(ANN);
    first.teleport(ANN, EAST);
    first.tick();
    first.inputs.extend(
        [7, 7].map(|number| RoomInput::ReleaseForTransfer {
            player: ANN,
            transfer: TransferId(number),
        }),
    );
    let outputs = first.tick();
    let departures: Vec<_> = outputs
        .iter()
        .filter(|output| matches!(output, RoomOutput::Departed { carried: Some(_), .. }))
        .collect();
    assert!(departures.len() == 2 && departures[0] == departures[1], "{outputs:?}");
    second.admit(7, EAST, b"");
    second.admit(7, EAST, b"");
    assert_eq!(
        second.tick(),
        [7, 7].map(|number| RoomOutput::Arrived { player: ANN, transfer: TransferId(number) })
    );
    // This order is older than the player's arrival.
    second.inputs.push(RoomInput::ReleaseForTransfer { player: ANN, transfer: TransferId(7) });
    assert_eq!(second.tick(), []);
    // A client with an old ticket is disconnected and gets no second avatar.
    first.join(ANN);
    assert!(
        first.last.iter().any(|output| matches!(output, RoomOutput::Superseded { .. })),
        "{:?}",
        first.last
    );
    assert_eq!(first.room.avatar(ANN), None);
    // A removed player may join again.
    first.inputs.push(RoomInput::Remove { player: ANN, why: Left::Quit });
    first.join(ANN);
    assert!(first.room.avatar(ANN).is_some());
}

#[test]
fn a_player_who_is_not_in_the_gate_is_not_released() {
    let mut map = Map::new(0);
    map.join(ANN);
    map.teleport(ANN, EAST);
    map.tick();
    map.teleport(ANN, Position::on_ground(190.0, 100.0));
    map.tick();
    map.inputs.extend([
        RoomInput::ReleaseForTransfer { player: ANN, transfer: TransferId(3) },
        RoomInput::ReleaseForTransfer { player: BOB, transfer: TransferId(4) },
    ]);
    let not_released = |player, number| RoomOutput::Departed {
        player,
        transfer: TransferId(number),
        carried: None,
    };
    assert_eq!(map.tick(), [not_released(ANN, 3), not_released(BOB, 4)]);
    assert!(map.room.avatar(ANN).is_some());
}

#[test]
fn a_restored_room_reports_its_transfers_again() {
    let mut original = Map::new(0);
    original.join(ANN);
    original.teleport(ANN, EAST);
    original.tick();
    let mut copy = original.restored_copy();
    original.inputs.push(RoomInput::ReleaseForTransfer { player: ANN, transfer: TransferId(7) });
    original.inputs.push(RoomInput::AdmitTransfer(TransferArrival {
        player: BOB,
        transfer: TransferId(8),
        account: None,
        standing: Standing::default(),
        name: "bob".into(),
        at: EAST,
        carried: vec![1],
    }));
    original.tick();
    copy.room.replay(original.now, original.room.journal());
    assert_eq!(copy.room.save(), original.room.save());
    copy.now = original.now;
    copy.room.finish_replay(copy.now);
    copy.inputs.push(RoomInput::ReleaseForTransfer { player: ANN, transfer: TransferId(7) });
    copy.inputs.push(RoomInput::AdmitTransfer(TransferArrival {
        player: BOB,
        transfer: TransferId(8),
        account: None,
        standing: Standing::default(),
        name: "bob".into(),
        at: EAST,
        carried: vec![1],
    }));
    let outputs = copy.tick();
    assert!(
        matches!(
            &outputs[..],
            [
                RoomOutput::Departed { player: ANN, transfer: TransferId(7), carried: Some(_) },
                RoomOutput::Arrived { player: BOB, transfer: TransferId(8) }
            ]
        ),
        "{outputs:?}"
    );
    assert_eq!(copy.room.world().len(), 1);
}

#[test]
fn a_transfer_request_is_repeated_after_a_restore_until_answered() {
    let mut original = Map::new(0);
    original.join(ANN);
    original.teleport(ANN, EAST);
    original.tick();
    let mut copy = original.restored_copy();
    let requests = (0..30)
        .flat_map(|_| copy.tick())
        .filter(|output| matches!(output, RoomOutput::AtGate { .. }))
        .count();
    assert_eq!(requests, 1);
    copy.inputs.push(RoomInput::RefuseTransfer { player: ANN });
    let requests = (0..60)
        .flat_map(|_| copy.tick())
        .filter(|output| matches!(output, RoomOutput::AtGate { .. }))
        .count();
    assert_eq!(requests, 0, "the request was answered");
}

#[test]
fn an_arrival_that_never_connects_is_removed_after_the_grace_period() {
    let mut map = Map::new(1);
    map.admit(1, EAST, b"");
    let outputs: Vec<_> = (0..30 * 20 + 5).flat_map(|_| map.tick()).collect();
    assert!(
        outputs.contains(&RoomOutput::PlayerOut { player: ANN, reason: ErrorCode::Idle }),
        "{outputs:?}"
    );
}

/// A room for one of two maps, without obstacles and wanderers.
struct Map {
    room: Room,
    header: Header,
    now: GameTime,
    inputs: Vec<RoomInput>,
    last: Vec<RoomOutput>,
    clients: u32,
}

impl Map {
    fn new(map: u32) -> Self {
        let map = map.to_string();
        let given = [("maps", "2"), ("map", map.as_str()), ("obstacles", "0"), ("npcs", "0")];
        let parameters = given.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
        let header = Header {
            game: "field".into(),
            room: 1,
            seed: 5,
            capacity: 8,
            grace_ms: 30_000,
            parameters,
        };
        let room = ambit_game_server::standard().create_room(&header).expect("valid parameters");
        let mut map = Map {
            room,
            header,
            now: GameTime::ZERO,
            inputs: Vec::new(),
            last: Vec::new(),
            clients: 0,
        };
        map.room.tick(GameTime::ZERO, &mut Vec::new(), &mut Vec::new());
        map
    }

    /// Runs a tick and returns its outputs except datagrams and unresponsive clients.
    fn tick(&mut self) -> Vec<RoomOutput> {
        self.now += TICK;
        self.last.clear();
        self.room.tick(self.now, &mut self.inputs, &mut self.last);
        let is_about_players = |output: &&RoomOutput| {
            !matches!(output, RoomOutput::Datagram { .. } | RoomOutput::Unresponsive { .. })
        };
        self.last.iter().filter(is_about_players).cloned().collect()
    }

    fn join(&mut self, player: PlayerId) {
        self.clients += 1;
        self.inputs.push(RoomInput::Join {
            client: ClientId(self.clients),
            player,
            account: None,
            name: "ann".into(),
            coding: PoseCoding::Auto,
        });
        self.tick();
    }

    fn admit(&mut self, number: u64, at: Position, carried: &[u8]) {
        self.inputs.push(RoomInput::AdmitTransfer(TransferArrival {
            player: ANN,
            transfer: TransferId(number),
            account: None,
            standing: Standing::default(),
            name: "ann".into(),
            at,
            carried: carried.to_vec(),
        }));
    }

    fn teleport(&mut self, player: PlayerId, place: Position) {
        let avatar = self.room.avatar(player).expect("the player is in the room");
        self.room.arrange().0.teleport(avatar, place);
    }

    fn spend_mana(&mut self, player: PlayerId) {
        let command = commands::cast(2, None);
        let (world, game) = self.room.arrange();
        game.command(world, player, &command).expect("the avatar has enough mana");
    }

    fn mana(&self, player: PlayerId) -> f32 {
        self.room
            .world()
            .gauge(self.room.avatar(player).expect("the player is in the room"), 2)
            .value
    }

    fn restored_copy(&self) -> Map {
        let (config, game) =
            ambit_game_server::standard().prepare(&self.header).expect("valid parameters");
        let room = Room::restore(config, game, &self.room.save().expect("the room can be saved"))
            .expect("the room can be restored");
        Map {
            room,
            header: self.header.clone(),
            now: self.now,
            inputs: Vec::new(),
            last: Vec::new(),
            clients: 9,
        }
    }
}
