//! Saved rooms that are restored and brought up to date with the journal of the original.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::Duration;

use ambit_cubes_physics::POSE_FORMAT;
use ambit_field::commands;
use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::{ClientId, PlayerId};
use ambit_proto::link::{Link, LinkConfig};
use ambit_proto::message::Command;
use ambit_proto::pose::PoseCoding;
use ambit_proto::time::GameTime;
use ambit_proto::wire;
use ambit_room::config::RoomConfig;
use ambit_room::logic::game::{Game, Left};
use ambit_room::recording::Header;
use ambit_room::room::*;
use fastrand::Rng;

use super::TICK;

#[test]
fn a_restored_room_replays_the_journal_bit_for_bit() {
    let parameters = [("npcs", "60"), ("obstacles", "20"), ("pilots", "8"), ("size", "90x90")];
    let mut original = PlayedRoom::new("field", &parameters);
    let mut copies: Vec<Room> = Vec::new();
    for tick in 0..500 {
        original.tick();
        for copy in &mut copies {
            copy.replay(original.now, original.room.journal());
            assert!(state(copy) == state(&original.room), "tick {tick} differs");
        }
        if tick % 120 == 60 {
            copies.push(original.restored_copy());
        }
    }
    let stats = original.room.stats();
    assert!(stats.commands > 100 && original.room.world().len() > 68, "{stats:?}");
}

#[test]
fn restored_physics_stays_close_and_objects_at_rest_are_exact() {
    let mut original = PlayedRoom::new("cubes", &[("drive", "dice")]);
    for _ in 0..200 {
        original.tick();
    }
    let mut copy = original.restored_copy();
    let world = original.room.world();
    let before: BTreeMap<_, _> =
        world.objects().map(|object| (object, world.pose(object))).collect();
    for _ in 0..20 {
        original.tick();
        copy.replay(original.now, original.room.journal());
    }
    let objects = original.room.world().objects();
    assert!(objects.eq(copy.world().objects()));
    let mut distances_m: Vec<f32> = Vec::new();
    let mut moved = 0;
    let mut stayed = 0;
    let mut exact = 0;
    for object in original.room.world().objects() {
        let expected = original.room.world().pose(object);
        let restored = copy.world().pose(object);
        let position = POSE_FORMAT.position(&expected);
        distances_m.push(position.distance(POSE_FORMAT.position(&restored)));
        if original.room.world().is_moving(object) {
            moved += 1;
        } else if before.get(&object) == Some(&expected) {
            stayed += 1;
            exact += u32::from(restored == expected);
        }
    }
    distances_m.sort_unstable_by(f32::total_cmp);
    println!(
        "after a second: {moved} objects move, {stayed} never moved, {exact} of these in the copy; \
         largest distances: {:?}",
        &distances_m[distances_m.len() - 8..]
    );
    assert!(
        moved > 4 && stayed > 4 && exact == stayed,
        "{exact} exact poses of {stayed} objects that never moved"
    );
    assert!(distances_m.last().is_some_and(|largest| *largest < 1.0), "{distances_m:?}");
}

#[test]
fn players_return_to_their_avatars_within_the_grace_period() {
    let mut original = PlayedRoom::new("field", &[("npcs", "5"), ("size", "60x60")]);
    for _ in 0..40 {
        original.tick();
    }
    let mut copy = original.restored_copy();
    copy.finish_replay(original.now);
    let ann = PlayerId(0);
    let bob = PlayerId(1);
    let avatars =
        [ann, bob].map(|player| original.room.avatar(player).expect("the player is in the room"));
    assert_eq!([ann, bob].map(|player| copy.avatar(player)), avatars.map(Some));
    let mut outputs = Vec::new();
    let mut inputs = vec![RoomInput::Join {
        client: ClientId(90),
        player: ann,
        account: None,
        name: "ann".into(),
        coding: PoseCoding::Auto,
    }];
    for _ in 0..30 {
        original.now += TICK;
        copy.tick(original.now, &mut inputs, &mut outputs);
    }
    assert_eq!(copy.avatar(ann), Some(avatars[0]));
    assert_eq!(copy.avatar(bob), None, "the grace period of a second is over");
    assert!(outputs.contains(&RoomOutput::PlayerOut { player: bob, reason: ErrorCode::Idle }));
    assert!(
        outputs
            .iter()
            .any(|output| matches!(output, RoomOutput::Datagram { client: ClientId(90), .. }))
    );
}

#[test]
fn a_command_repeated_at_another_host_is_executed_once() {
    let mut original = PlayedRoom::new("field", &[("npcs", "5"), ("size", "60x60")]);
    while original.clients.len() < 4 {
        original.tick();
    }
    let ann = PlayerId(0);
    let first = original.clients[&PlayerId(0)];
    let command = |number: u32| commands::cast(1, None).numbered(number);
    let first_datagram = original.datagram(first, &[command(1_000), command(1_002)]);
    original.now += TICK;
    original.room.tick(original.now, &mut vec![first_datagram], &mut Vec::new());
    assert!(
        original
            .room
            .journal()
            .iter()
            .any(|input| matches!(input, RoomInput::Command { number: 1_002, .. }))
    );

    let mut copy = original.restored_copy();
    copy.finish_replay(original.now);
    let mut execute = |original: &mut PlayedRoom, client: ClientId, commands: &[Command]| {
        let mut inputs = Vec::new();
        if let Entry::Vacant(entry) = original.links.entry(client) {
            entry.insert(Link::new(LinkConfig::client()));
            inputs.push(RoomInput::Join {
                client,
                player: ann,
                account: None,
                name: "ann".into(),
                coding: PoseCoding::Auto,
            });
        }
        inputs.push(original.datagram(client, commands));
        original.now += TICK;
        copy.tick(original.now, &mut inputs, &mut Vec::new());
        (command_numbers(&copy), copy.stats().commands_repeated)
    };
    // Command 1,001 did not reach the first host. It is executed, though the first host has
    // executed a newer one.
    let repeated = [command(1_000), command(1_001), command(1_002), command(1_003)];
    assert_eq!(execute(&mut original, ClientId(91), &repeated), (vec![1_001, 1_003], 2));
    // Repeated commands are recognized after any delay.
    original.now += Duration::from_secs(5);
    assert_eq!(
        execute(&mut original, ClientId(91), &[command(1_002), command(1_004)]),
        (vec![1_004], 3)
    );
    // Another client of the player has command numbers of its own.
    assert_eq!(execute(&mut original, ClientId(92), &[command(1_000)]), (vec![1_000], 3));
}

#[test]
fn an_outdated_move_stays_outdated_at_the_next_host() {
    let mut original = PlayedRoom::new("field", &[("npcs", "5"), ("size", "60x60")]);
    while original.clients.len() < 4 {
        original.tick();
    }
    let ann = PlayerId(0);
    let first = original.clients[&PlayerId(0)];
    let command = |number: u32| commands::walk(5.0, number as f32 / 100.0).numbered(number);
    let first_datagram = original.datagram(first, &[command(1_002)]);
    original.now += TICK;
    original.room.tick(original.now, &mut vec![first_datagram], &mut Vec::new());
    let mut copy = original.restored_copy();
    copy.finish_replay(original.now);
    original.links.insert(ClientId(91), Link::new(LinkConfig::client()));
    let repeated = original.datagram(ClientId(91), &[command(1_001), command(1_003)]);
    original.now += TICK;
    let join = RoomInput::Join {
        client: ClientId(91),
        player: ann,
        account: None,
        name: "ann".into(),
        coding: PoseCoding::Auto,
    };
    copy.tick(original.now, &mut vec![join, repeated], &mut Vec::new());
    assert_eq!(command_numbers(&copy), [1_003]);
    let stats = copy.stats();
    assert_eq!((stats.commands_outdated, stats.commands_repeated), (1, 0));
}

#[test]
fn an_invalid_saved_room_is_refused() {
    let mut original = PlayedRoom::new("field", &[("npcs", "3"), ("size", "60x60")]);
    for _ in 0..60 {
        original.tick();
    }
    let saved = original.room.save().expect("the room can be saved");
    for length in 0..saved.len() {
        let (config, game) = prepared(&original.header);
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
        let (config, game) = prepared(&original.header);
        // The result may be a valid, but different room. Only a panic is an error.
        let _ = Room::restore(config, game, &bytes);
    }
    let (config, _) = prepared(&original.header);
    let (_, other) = prepared(&Header { game: "cubes".into(), ..Header::default() });
    assert!(Room::restore(config, other, &saved).is_err());
}

/// The numbers of the commands that the room has executed at its last tick.
fn command_numbers(room: &Room) -> Vec<u32> {
    let numbers = room.journal().iter().filter_map(|input| match input {
        RoomInput::Command { number, .. } => Some(*number),
        _ => None,
    });
    numbers.collect()
}

/// The saved states of the world and of the game.
fn state(room: &Room) -> (Vec<u8>, Option<Vec<u8>>) {
    let mut world = Vec::new();
    room.world().save(&mut world);
    (world, room.game().save())
}

fn prepared(header: &Header) -> (RoomConfig, Box<dyn Game>) {
    ambit_game_server::standard().prepare(header).expect("valid parameters")
}

/// A room with four players who act at random.
struct PlayedRoom {
    header: Header,
    room: Room,
    now: GameTime,
    rng: Rng,
    links: BTreeMap<ClientId, Link>,
    clients: BTreeMap<PlayerId, ClientId>,
    commands: u32,
}

impl PlayedRoom {
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
        PlayedRoom {
            header,
            room,
            now: GameTime::ZERO,
            rng: Rng::with_seed(9),
            links: BTreeMap::new(),
            clients: BTreeMap::new(),
            commands: 0,
        }
    }

    fn restored_copy(&self) -> Room {
        let (config, game) = prepared(&self.header);
        let saved = self.room.save().expect("a game that can be saved");
        let copy = Room::restore(config, game, &saved).expect("a saved room");
        assert!(state(&copy) == state(&self.room), "the restored state differs");
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
                        account: None,
                        name: format!("player {player}"),
                        coding: PoseCoding::Auto,
                    });
                }
                (Some(client), 0) => {
                    self.clients.remove(&player);
                    inputs.push(RoomInput::Disconnect { client, player });
                }
                (Some(_), 1) => {
                    self.clients.remove(&player);
                    inputs.push(RoomInput::Remove { player, why: Left::Kicked });
                }
                (Some(_), 2) => {
                    inputs.push(RoomInput::Rename { player, name: format!("late {player}") });
                }
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
                link.handle_datagram(self.now.into(), &bytes).expect("the room's own datagram");
                while link.poll_event().is_some() {}
            }
        }
    }

    /// Writes a datagram with these commands.
    fn datagram(&mut self, client: ClientId, commands: &[Command]) -> RoomInput {
        let link = self.links.get_mut(&client).expect("a client of the room");
        for command in commands {
            let bytes = wire::encode(&mut command.clone()).into();
            link.send_reliable(self.now.into(), bytes, None).expect("the queue has room");
        }
        let mut datagram = Vec::new();
        link.write_datagram(self.now.into(), &mut datagram, |_, _| {});
        RoomInput::Datagram { client, at: self.now, bytes: datagram.into() }
    }

    fn command(&mut self, client: ClientId) -> RoomInput {
        let (x, y) = (self.rng.f32() * 60.0, self.rng.f32() * 60.0);
        let command = match self.rng.u8(..4) {
            0 => commands::walk(x, y),
            // A bolt without a point: the game refuses it.
            1 => commands::cast(0, None),
            _ => commands::cast(self.rng.u8(..4), Some((x, y))),
        };
        self.commands += 1;
        self.datagram(client, &[command.numbered(self.commands)])
    }
}
