//! Rooms that go on elsewhere: saved, restored, and brought up to now by what the first one has
//! taken.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::Duration;

use ambit_cubes_physics::POSE_FORMAT;
use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::{ClientId, PlayerId};
use ambit_proto::link::{Link, LinkConfig};
use ambit_proto::message::{Action, Command};
use ambit_proto::time::GameTime;
use ambit_proto::wire;
use ambit_room::config::RoomConfig;
use ambit_room::logic::game::Game;
use ambit_room::recording::Header;
use ambit_room::room::*;
use fastrand::Rng;

use super::TICK;

#[test]
fn a_restored_room_goes_on_bit_for_bit() {
    let mut life = Life::new(
        "field",
        &[("npcs", "60"), ("obstacles", "20"), ("size", "90x90")],
    );
    let mut copies: Vec<Room> = Vec::new();
    for tick in 0..500 {
        life.tick();
        for copy in &mut copies {
            copy.replay(life.now, life.room.journal());
            assert!(state(copy) == state(&life.room), "tick {tick} differs");
        }
        if tick % 120 == 60 {
            copies.push(life.copy());
        }
    }
    let stats = life.room.stats();
    assert!(
        stats.commands > 100 && life.room.world().len() > 60,
        "{stats:?}"
    );
}

#[test]
fn restored_physics_stays_close_and_what_rests_is_the_same() {
    let mut life = Life::new("cubes", &[("drive", "dice")]);
    for _ in 0..200 {
        life.tick();
    }
    let mut copy = life.copy();
    for _ in 0..20 {
        life.tick();
        copy.replay(life.now, life.room.journal());
    }
    let objects = life.room.world().objects();
    assert!(objects.eq(copy.world().objects()));
    let mut apart_m: Vec<f32> = Vec::new();
    let (mut resting, mut moved) = (0, 0);
    for object in life.room.world().objects() {
        let (ours, theirs) = (life.room.world().pose(object), copy.world().pose(object));
        apart_m.push(
            POSE_FORMAT
                .position(&ours)
                .distance(POSE_FORMAT.position(&theirs)),
        );
        if life.room.world().is_moving(object) {
            moved += 1;
        } else {
            resting += 1;
        }
    }
    apart_m.sort_unstable_by(f32::total_cmp);
    println!(
        "after a second: {moved} move, {resting} rest, apart by {:?}",
        &apart_m[apart_m.len() - 8..]
    );
    let exact = apart_m.iter().filter(|apart| **apart == 0.0).count();
    assert!(
        moved > 4 && exact >= resting,
        "{exact} of {resting} that rest are where they were"
    );
    assert!(
        apart_m.last().is_some_and(|most| *most < 1.0),
        "{apart_m:?}"
    );
}

#[test]
fn players_return_to_their_avatars_within_the_grace_period() {
    let mut life = Life::new("field", &[("npcs", "5"), ("size", "60x60")]);
    for _ in 0..40 {
        life.tick();
    }
    let mut copy = life.copy();
    copy.finish_replay(life.now);
    let (ann, bob) = (PlayerId(0), PlayerId(1));
    let avatars = [ann, bob].map(|player| life.room.avatar(player).expect("it plays"));
    assert_eq!(
        [ann, bob].map(|player| copy.avatar(player)),
        avatars.map(Some)
    );
    let mut outputs = Vec::new();
    let mut inputs = vec![RoomInput::Join {
        client: ClientId(90),
        player: ann,
        name: "ann".into(),
    }];
    for _ in 0..30 {
        life.now += TICK;
        copy.tick(life.now, &mut inputs, &mut outputs);
    }
    assert_eq!(copy.avatar(ann), Some(avatars[0]));
    assert_eq!(copy.avatar(bob), None, "a second of grace is over");
    assert!(outputs.contains(&RoomOutput::PlayerOut {
        player: bob,
        reason: ErrorCode::Idle
    }));
    assert!(outputs.iter().any(|output| matches!(
        output,
        RoomOutput::Datagram {
            client: ClientId(90),
            ..
        }
    )));
}

#[test]
fn what_is_said_again_at_another_host_counts_once() {
    let mut life = Life::new("field", &[("npcs", "5"), ("size", "60x60")]);
    while life.clients.len() < 4 {
        life.tick();
    }
    let (ann, first) = (PlayerId(0), life.clients[&PlayerId(0)]);
    let said = |number: u32| Command {
        number,
        action: Action::Cast { spell: 1, at: None },
    };
    let said_at_first = life.said(first, &[said(1_000), said(1_002)]);
    life.now += TICK;
    life.room
        .tick(life.now, &mut vec![said_at_first], &mut Vec::new());
    assert!(
        life.room
            .journal()
            .iter()
            .any(|accepted| matches!(accepted, RoomInput::Command { number: 1_002, .. }))
    );

    let mut copy = life.copy();
    copy.finish_replay(life.now);
    let mut take = |life: &mut Life, client: ClientId, commands: &[Command]| {
        let mut inputs = Vec::new();
        if let Entry::Vacant(place) = life.links.entry(client) {
            place.insert(Link::new(LinkConfig::client()));
            inputs.push(RoomInput::Join {
                client,
                player: ann,
                name: "ann".into(),
            });
        }
        inputs.push(life.said(client, commands));
        life.now += TICK;
        copy.tick(life.now, &mut inputs, &mut Vec::new());
        let numbers = copy.journal().iter().filter_map(|accepted| match accepted {
            RoomInput::Command { number, .. } => Some(*number),
            _ => None,
        });
        (numbers.collect::<Vec<_>>(), copy.stats().commands_repeated)
    };
    // The one that the first host never heard of counts, though it is older than what that one
    // carried out.
    let again = [said(1_000), said(1_001), said(1_002), said(1_003)];
    assert_eq!(
        take(&mut life, ClientId(91), &again),
        (vec![1_001, 1_003], 2)
    );
    // However late a line that was cut brings it.
    life.now += Duration::from_secs(5);
    assert_eq!(
        take(&mut life, ClientId(91), &[said(1_002), said(1_004)]),
        (vec![1_004], 3)
    );
    // Another client of the player's begins anew.
    assert_eq!(
        take(&mut life, ClientId(92), &[said(1_000)]),
        (vec![1_000], 3)
    );
}

#[test]
fn an_outdated_move_stays_outdated_at_the_next_host() {
    let mut life = Life::new("field", &[("npcs", "5"), ("size", "60x60")]);
    while life.clients.len() < 4 {
        life.tick();
    }
    let (ann, first) = (PlayerId(0), life.clients[&PlayerId(0)]);
    let said = |number: u32| Command {
        number,
        action: Action::Move {
            x: 5.0,
            y: number as f32 / 100.0,
        },
    };
    let said_at_first = life.said(first, &[said(1_002)]);
    life.now += TICK;
    life.room
        .tick(life.now, &mut vec![said_at_first], &mut Vec::new());
    let mut copy = life.copy();
    copy.finish_replay(life.now);
    life.links
        .insert(ClientId(91), Link::new(LinkConfig::client()));
    let again = life.said(ClientId(91), &[said(1_001), said(1_003)]);
    life.now += TICK;
    let join = RoomInput::Join {
        client: ClientId(91),
        player: ann,
        name: "ann".into(),
    };
    copy.tick(life.now, &mut vec![join, again], &mut Vec::new());
    let done = copy.executed_commands(ann).expect("she is in");
    assert_eq!(
        [1_001, 1_002, 1_003].map(|number| done.contains(number)),
        [false, true, true]
    );
    assert_eq!((copy.stats().commands_outdated, done.to_parts().2), (1, 0));
}

#[test]
fn what_is_no_saved_room_is_refused() {
    let mut life = Life::new("field", &[("npcs", "3"), ("size", "60x60")]);
    for _ in 0..60 {
        life.tick();
    }
    let saved = life.room.save().expect("field can be saved");
    for length in 0..saved.len() {
        let (config, game) = prepared(&life.header);
        assert!(
            Room::restore(config, game, &saved[..length]).is_err(),
            "{length} of {} bytes",
            saved.len()
        );
    }
    let mut rng = Rng::with_seed(1);
    for _ in 0..2_000 {
        let mut bytes = saved.clone();
        let place = rng.usize(..bytes.len());
        bytes[place] ^= 1 << rng.u8(..8);
        let (config, game) = prepared(&life.header);
        // It may make sense, and be another room.
        let _ = Room::restore(config, game, &bytes);
    }
    let (config, _) = prepared(&life.header);
    let (_, other) = prepared(&Header {
        game: "cubes".into(),
        ..Header::default()
    });
    assert!(Room::restore(config, other, &saved).is_err());
}

/// All that goes on.
fn state(room: &Room) -> (Vec<u8>, Option<Vec<u8>>) {
    let mut world = Vec::new();
    room.world().save(&mut world);
    (world, room.game().save())
}

fn prepared(header: &Header) -> (RoomConfig, Box<dyn Game>) {
    ambit_game_server::standard()
        .prepare(header)
        .expect("a game that can be played")
}

/// Four players who do what comes to their minds.
struct Life {
    header: Header,
    room: Room,
    now: GameTime,
    rng: Rng,
    links: BTreeMap<ClientId, Link>,
    clients: BTreeMap<PlayerId, ClientId>,
    commands: u32,
}

impl Life {
    fn new(game: &str, parameters: &[(&str, &str)]) -> Self {
        let parameters = parameters
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect();
        let header = Header {
            game: game.into(),
            room: 1,
            seed: 5,
            capacity: 8,
            grace_ms: 1_000,
            parameters,
        };
        let (config, game) = prepared(&header);
        let mut room = Room::new(config, game);
        room.tick(GameTime::ZERO, &mut Vec::new(), &mut Vec::new());
        Life {
            header,
            room,
            now: GameTime::ZERO,
            rng: Rng::with_seed(9),
            links: BTreeMap::new(),
            clients: BTreeMap::new(),
            commands: 0,
        }
    }

    fn copy(&self) -> Room {
        let (config, game) = prepared(&self.header);
        let saved = self.room.save().expect("a game that can be saved");
        let copy = Room::restore(config, game, &saved).expect("a saved room");
        assert!(
            state(&copy) == state(&self.room),
            "restored to something else"
        );
        assert_eq!(copy.last_tick(), Some(self.now));
        copy
    }

    fn tick(&mut self) {
        self.now += TICK;
        let mut inputs = Vec::new();
        for player in (0..4).map(PlayerId) {
            match (self.clients.get(&player).copied(), self.rng.u8(..100)) {
                (None, 0..50) => {
                    let client = ClientId(self.links.len() as u32);
                    self.links.insert(client, Link::new(LinkConfig::client()));
                    self.clients.insert(player, client);
                    inputs.push(RoomInput::Join {
                        client,
                        player,
                        name: format!("player {player}"),
                    });
                }
                (Some(client), 0) => {
                    self.clients.remove(&player);
                    inputs.push(RoomInput::Disconnect { client, player });
                }
                (Some(_), 1) => {
                    self.clients.remove(&player);
                    inputs.push(RoomInput::Remove { player });
                }
                (Some(_), 2) => inputs.push(RoomInput::Rename {
                    player,
                    name: format!("late {player}"),
                }),
                (Some(client), 3..40) => inputs.push(self.command(client)),
                _ => {}
            }
        }
        let mut outputs = Vec::new();
        self.room.tick(self.now, &mut inputs, &mut outputs);
        for output in outputs {
            let RoomOutput::Datagram { client, bytes } = output else {
                continue;
            };
            if let Some(link) = self.links.get_mut(&client) {
                link.handle_datagram(self.now.into(), &bytes)
                    .expect("the room's own datagram");
                while link.poll_event().is_some() {}
            }
        }
    }

    /// A datagram with these commands.
    fn said(&mut self, client: ClientId, commands: &[Command]) -> RoomInput {
        let link = self.links.get_mut(&client).expect("a client of the scene");
        for command in commands {
            let bytes = wire::encode(&mut command.clone()).into();
            link.send_reliable(self.now.into(), bytes, None)
                .expect("the queue has room");
        }
        let mut datagram = Vec::new();
        link.write_datagram(self.now.into(), &mut datagram, |_, _| {});
        RoomInput::Datagram {
            client,
            at: self.now,
            bytes: datagram.into(),
        }
    }

    fn command(&mut self, client: ClientId) -> RoomInput {
        let (x, y) = (self.rng.f32() * 60.0, self.rng.f32() * 60.0);
        let action = match self.rng.u8(..4) {
            0 => Action::Move { x, y },
            1 => Action::Custom(self.rng.u32(..128).to_le_bytes().to_vec()),
            _ => Action::Cast {
                spell: self.rng.u8(..4),
                at: Some((x, y)),
            },
        };
        self.commands += 1;
        self.said(
            client,
            &[Command {
                number: self.commands,
                action,
            }],
        )
    }
}
