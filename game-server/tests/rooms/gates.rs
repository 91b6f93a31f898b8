//! Gates between maps: one room lets go, another one admits, and a room that goes on elsewhere has
//! done so too.

use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::{ClientId, PlayerId};
use ambit_proto::message::Action;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_room::recording::Header;
use ambit_room::room::*;

use super::{ANN, TICK};

const BOB: PlayerId = PlayerId(2);
const EAST: Position = Position::on_ground(199.0, 100.0);

#[test]
fn an_avatar_passes_a_gate_and_keeps_what_it_carries() {
    let (mut first, mut second) = (Map::new(0), Map::new(1));
    first.join(ANN);
    first.spend_mana(ANN);
    assert_eq!(first.tick(), []);
    first.put(ANN, EAST);
    let outputs = first.tick();
    let [
        RoomOutput::AtGate {
            player: ANN,
            map: 1,
            at,
            ..
        },
    ] = outputs[..]
    else {
        panic!("{outputs:?}")
    };
    let mana = first.mana(ANN);
    first.inputs.push(RoomInput::ReleaseForTransfer {
        player: ANN,
        transfer: TransferId(7),
    });
    let outputs = first.tick();
    let [
        RoomOutput::MovedAway { .. },
        RoomOutput::Departed {
            player: ANN,
            transfer: TransferId(7),
            carried: Some(carried),
        },
    ] = &outputs[..]
    else {
        panic!("{outputs:?}")
    };
    assert_eq!(
        (first.room.avatar(ANN), first.room.world().len()),
        (None, 0)
    );

    second.admit(7, at, carried);
    assert_eq!(
        second.tick(),
        [RoomOutput::Arrived {
            player: ANN,
            transfer: TransferId(7)
        }]
    );
    let avatar = second.room.avatar(ANN).expect("it is there");
    assert!(second.room.world().position(avatar).ground_distance(at) < 2.0);
    assert!(
        (second.mana(ANN) - mana).abs() < 1.0 && mana < 95.0,
        "{mana} and {}",
        second.mana(ANN)
    );
    for _ in 0..40 {
        assert_eq!(second.tick(), [], "no way back without a step");
    }
}

#[test]
fn what_is_ordered_twice_is_done_once_and_answered_twice() {
    let (mut first, mut second) = (Map::new(0), Map::new(1));
    first.join(ANN);
    first.put(ANN, EAST);
    first.tick();
    first
        .inputs
        .extend([7, 7].map(|number| RoomInput::ReleaseForTransfer {
            player: ANN,
            transfer: TransferId(number),
        }));
    let outputs = first.tick();
    let told: Vec<_> = outputs
        .iter()
        .filter(|output| {
            matches!(
                output,
                RoomOutput::Departed {
                    carried: Some(_),
                    ..
                }
            )
        })
        .collect();
    assert!(told.len() == 2 && told[0] == told[1], "{outputs:?}");
    second.admit(7, EAST, b"");
    second.admit(7, EAST, b"");
    assert_eq!(
        second.tick(),
        [7, 7].map(|number| RoomOutput::Arrived {
            player: ANN,
            transfer: TransferId(number),
        })
    );
    // Of before the player came.
    second.inputs.push(RoomInput::ReleaseForTransfer {
        player: ANN,
        transfer: TransferId(7),
    });
    assert_eq!(second.tick(), []);
    // Who comes with an old ticket meets nobody, and makes no second avatar.
    first.join(ANN);
    assert!(
        first
            .last
            .iter()
            .any(|output| matches!(output, RoomOutput::Superseded { .. })),
        "{:?}",
        first.last
    );
    assert_eq!(first.room.avatar(ANN), None);
    // Who is out for good begins anew.
    first.inputs.push(RoomInput::Remove { player: ANN });
    first.join(ANN);
    assert!(first.room.avatar(ANN).is_some());
}

#[test]
fn who_has_stepped_out_of_the_gate_or_is_dead_stays() {
    let mut map = Map::new(0);
    map.join(ANN);
    map.put(ANN, EAST);
    map.tick();
    map.put(ANN, Position::on_ground(190.0, 100.0));
    map.tick();
    map.inputs.extend([
        RoomInput::ReleaseForTransfer {
            player: ANN,
            transfer: TransferId(3),
        },
        RoomInput::ReleaseForTransfer {
            player: BOB,
            transfer: TransferId(4),
        },
    ]);
    let stays = |player, number| RoomOutput::Departed {
        player,
        transfer: TransferId(number),
        carried: None,
    };
    assert_eq!(map.tick(), [stays(ANN, 3), stays(BOB, 4)]);
    assert!(map.room.avatar(ANN).is_some());
}

#[test]
fn a_restored_room_has_released_and_admitted_and_reports_it_again() {
    let mut life = Map::new(0);
    life.join(ANN);
    life.put(ANN, EAST);
    life.tick();
    let mut copy = life.copy();
    life.inputs.push(RoomInput::ReleaseForTransfer {
        player: ANN,
        transfer: TransferId(7),
    });
    life.inputs.push(RoomInput::AdmitTransfer(TransferArrival {
        player: BOB,
        transfer: TransferId(8),
        name: "bob".into(),
        at: EAST,
        carried: vec![1],
    }));
    life.tick();
    copy.room.replay(life.now, life.room.journal());
    assert_eq!(copy.room.save(), life.room.save());
    copy.now = life.now;
    copy.room.finish_replay(copy.now);
    copy.inputs.push(RoomInput::ReleaseForTransfer {
        player: ANN,
        transfer: TransferId(7),
    });
    copy.inputs.push(RoomInput::AdmitTransfer(TransferArrival {
        player: BOB,
        transfer: TransferId(8),
        name: "bob".into(),
        at: EAST,
        carried: vec![1],
    }));
    let outputs = copy.tick();
    assert!(
        matches!(
            &outputs[..],
            [
                RoomOutput::Departed {
                    player: ANN,
                    transfer: TransferId(7),
                    carried: Some(_)
                },
                RoomOutput::Arrived {
                    player: BOB,
                    transfer: TransferId(8)
                }
            ]
        ),
        "{outputs:?}"
    );
    assert_eq!(copy.room.world().len(), 1);
}

#[test]
fn a_wish_that_was_lost_with_its_host_is_said_again() {
    let mut life = Map::new(0);
    life.join(ANN);
    life.put(ANN, EAST);
    life.tick();
    let mut copy = life.copy();
    let said = (0..30)
        .flat_map(|_| copy.tick())
        .filter(|output| matches!(output, RoomOutput::AtGate { .. }))
        .count();
    assert_eq!(said, 1);
    copy.inputs.push(RoomInput::RefuseTransfer { player: ANN });
    let said = (0..60)
        .flat_map(|_| copy.tick())
        .filter(|output| matches!(output, RoomOutput::AtGate { .. }))
        .count();
    assert_eq!(said, 0, "answered");
}

#[test]
fn who_arrives_and_is_never_seen_is_out_when_the_grace_is_over() {
    let mut map = Map::new(1);
    map.admit(1, EAST, b"");
    let outputs: Vec<_> = (0..30 * 20 + 5).flat_map(|_| map.tick()).collect();
    assert!(
        outputs.contains(&RoomOutput::PlayerOut {
            player: ANN,
            reason: ErrorCode::Idle
        }),
        "{outputs:?}"
    );
}

/// A room that is one of two maps, without obstacles and wanderers.
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
        let given = [
            ("maps", "2"),
            ("map", map.as_str()),
            ("obstacles", "0"),
            ("npcs", "0"),
        ];
        let parameters = given
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into();
        let header = Header {
            game: "field".into(),
            room: 1,
            seed: 5,
            capacity: 8,
            grace_ms: 30_000,
            parameters,
        };
        let room = ambit_game_server::standard()
            .create_room(&header)
            .expect("such a room can be");
        let mut map = Map {
            room,
            header,
            now: GameTime::ZERO,
            inputs: Vec::new(),
            last: Vec::new(),
            clients: 0,
        };
        map.room
            .tick(GameTime::ZERO, &mut Vec::new(), &mut Vec::new());
        map
    }

    /// What is said of players.
    fn tick(&mut self) -> Vec<RoomOutput> {
        self.now += TICK;
        self.last.clear();
        self.room.tick(self.now, &mut self.inputs, &mut self.last);
        let is_datagram = |output: &&RoomOutput| {
            !matches!(
                output,
                RoomOutput::Datagram { .. } | RoomOutput::Unresponsive { .. }
            )
        };
        self.last.iter().filter(is_datagram).cloned().collect()
    }

    fn join(&mut self, player: PlayerId) {
        self.clients += 1;
        self.inputs.push(RoomInput::Join {
            client: ClientId(self.clients),
            player,
            name: "ann".into(),
        });
        self.tick();
    }

    fn admit(&mut self, number: u64, at: Position, carried: &[u8]) {
        self.inputs.push(RoomInput::AdmitTransfer(TransferArrival {
            player: ANN,
            transfer: TransferId(number),
            name: "ann".into(),
            at,
            carried: carried.to_vec(),
        }));
    }

    fn put(&mut self, player: PlayerId, place: Position) {
        let avatar = self.room.avatar(player).expect("in the room");
        self.room.arrange().0.teleport(avatar, place);
    }

    fn spend_mana(&mut self, player: PlayerId) {
        let action = Action::Cast { spell: 2, at: None };
        let (world, game) = self.room.arrange();
        game.command(world, player, &action)
            .expect("it has mana enough");
    }

    fn mana(&self, player: PlayerId) -> f32 {
        self.room
            .world()
            .gauge(self.room.avatar(player).expect("in the room"), 2)
            .value
    }

    fn copy(&self) -> Map {
        let (config, game) = ambit_game_server::standard()
            .prepare(&self.header)
            .expect("such a room can be");
        let room = Room::restore(config, game, &self.room.save().expect("it can be saved"))
            .expect("it can be restored");
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
