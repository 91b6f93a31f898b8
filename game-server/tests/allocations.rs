//! The allocations of a room in the steady state: none for an object, a client or a datagram. And
//! what a client takes of its memory.
//!
//! Rule: a tick allocates only the blocks that datagrams are cut from, two allocations (the block
//! and its reference count) for each 64 KiB sent. The counting allocator replaces that of the whole
//! process, so these tests have a binary of their own.

use std::time::Duration;

use ambit_proto::ids::{ClientId, ObjectId, PlayerId};
use ambit_proto::keymap::Keymap;
use ambit_proto::link::{Link, LinkConfig, MAX_DATAGRAM};
use ambit_proto::message::{self, Uplink};
use ambit_proto::pose::{PoseCoding, PoseFormat, Turning};
use ambit_proto::schema::{Codec, Component, ComponentSpec, ObjectKind, Schema};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_proto::wire::Wire;
use ambit_room::config::RoomConfig;
use ambit_room::logic::game::{Game, Left};
use ambit_room::logic::world::World;
use ambit_room::room::{Room, RoomInput, RoomOutput};

const CLIENTS: u32 = 10;
const TICKS: u32 = 100;
/// The size of a block, less the largest unused rest.
const BLOCK_BYTES: u64 = 64 * 1_024 - MAX_DATAGRAM as u64;
/// What a client may take of memory in a room in which all see each other and 30 walkers, from 16
/// clients to 48: of the room, and of its own end of the link.
const CLIENT_BYTES: i64 = 31_000;

#[test]
fn a_tick_allocates_nothing_for_an_object_a_client_or_a_datagram() {
    for walkers in [50, 200] {
        let mut scene = RoomWithClients::new(walkers, CLIENTS);
        // Buffers, links and their tables grow to their final size first.
        for _ in 0..400 {
            scene.tick();
        }
        let before = scene.room.stats().clone();
        let allocated: u64 = (0..TICKS).map(|_| scene.tick()).sum();
        let stats = scene.room.stats();
        let poses = stats.poses.sent - before.poses.sent;
        assert!(
            poses > u64::from(CLIENTS * TICKS * walkers / 2),
            "{walkers} walkers, {poses} poses"
        );
        let blocks = (stats.bytes_out - before.bytes_out).div_ceil(BLOCK_BYTES) + 1;
        assert!(
            allocated <= 2 * blocks,
            "{walkers} walkers: {allocated} allocations in {TICKS} ticks, {blocks} blocks"
        );
    }
}

#[test]
fn a_client_takes_few_kilobytes_of_a_room() {
    let live_bytes = |clients| {
        let mut kept = None;
        let counted = allocation_counter::measure(|| {
            let mut scene = RoomWithClients::new(30, clients);
            for _ in 0..400 {
                scene.tick();
            }
            kept = Some(scene);
        });
        counted.bytes_current
    };
    let (few, many) = (16, 48);
    let bytes = (live_bytes(many) - live_bytes(few)) / i64::from(many - few);
    println!("{bytes} bytes a client");
    assert!(bytes <= CLIENT_BYTES, "{bytes} bytes a client");
}

/// A game of clients at rest among walkers whose headings turn at each tick.
struct WalkerGame {
    count: u32,
    walkers: Vec<Walker>,
}

struct Walker {
    object: ObjectId,
    rng: fastrand::Rng,
    at: (f32, f32),
    heading: f32,
}

impl Game for WalkerGame {
    fn schema(&self) -> Schema {
        let pose = Codec::Pose(PoseFormat {
            per_metre: 100,
            turn: Turning::Yaw { bits: 8 },
            motion: None,
        });
        let kind = |name: &str, codec| {
            let components = vec![ComponentSpec::public("place", codec)];
            ObjectKind { name: name.into(), components, ..ObjectKind::default() }
        };
        Schema {
            game: "walkers".into(),
            kinds: vec![kind("stander", Codec::Path), kind("walker", pose)],
            ..Schema::default()
        }
    }

    fn start(&mut self, world: &mut World) {
        for seed in 0..self.count {
            let mut rng = fastrand::Rng::with_seed(seed.into());
            let at = (92.0 + rng.f32() * 16.0, 92.0 + rng.f32() * 16.0);
            let object = world.spawn(1, vec![Component::Pose(ambit_proto::pose::Pose::default())]);
            self.walkers.push(Walker { object, rng, at, heading: seed as f32 });
        }
    }

    fn join(&mut self, world: &mut World, _: PlayerId, _: &str) -> ObjectId {
        world.spawn(0, vec![Component::at_rest(world.now(), Position::on_ground(100.0, 100.0))])
    }

    fn leave(&mut self, _: &mut World, _: PlayerId, _: Left) {}

    fn step(&mut self, world: &mut World, _: Duration) {
        for walker in &mut self.walkers {
            walker.heading += (walker.rng.f32() - 0.5) * 0.35;
            let (x, y) = (
                walker.at.0 + 0.2 * walker.heading.cos(),
                walker.at.1 + 0.2 * walker.heading.sin(),
            );
            if (92.0..108.0).contains(&x) && (92.0..108.0).contains(&y) {
                walker.at = (x, y);
            } else {
                walker.heading += 2.0;
            }
            world.set_pose(
                walker.object,
                Position::on_ground(walker.at.0, walker.at.1),
                walker.heading,
                4.0,
            );
        }
    }
}

/// A room and the links of its clients.
struct RoomWithClients {
    room: Room,
    now: GameTime,
    links: Vec<Link>,
    inputs: Vec<RoomInput>,
    outputs: Vec<RoomOutput>,
}

impl RoomWithClients {
    fn new(count: u32, clients: u32) -> Self {
        let game = WalkerGame { count, walkers: Vec::new() };
        // Enough bandwidth to send every object at each tick.
        let config =
            RoomConfig { inner: 2, outer: 3, budget_bytes_per_s: 100_000, ..RoomConfig::default() };
        let join = |client: u32| RoomInput::Join {
            client: ClientId(client),
            player: PlayerId(client.into()),
            account: None,
            name: client.to_string(),
            // With static tables, and whole poses.
            coding: [PoseCoding::Auto, PoseCoding::Plain][client as usize % 2],
        };
        RoomWithClients {
            room: Room::new(config, Box::new(game)),
            now: GameTime::ZERO,
            links: (0..clients).map(|_| Link::new(LinkConfig::client())).collect(),
            inputs: (0..clients).map(join).collect(),
            outputs: Vec::with_capacity(8 * clients as usize),
        }
    }

    /// Runs a tick and returns the room's allocations. Clients acknowledge datagrams at the next
    /// tick, and hold keys.
    fn tick(&mut self) -> u64 {
        self.now += Duration::from_millis(50);
        for (client, link) in (0..).zip(&mut self.links) {
            let mut bytes = Vec::new();
            let input = Some(message::KeyInput::new(Keymap(1), self.now));
            link.write_datagram_without_ack_request(self.now.into(), &mut bytes, |writer, _| {
                Uplink { input, ..Uplink::default() }.wire(writer).expect("writing cannot fail");
            });
            self.inputs.push(RoomInput::Datagram {
                client: ClientId(client),
                at: self.now,
                bytes: bytes.into(),
            });
        }
        let RoomWithClients { room, now, inputs, outputs, .. } = self;
        let allocated =
            allocation_counter::measure(|| room.tick(*now, inputs, outputs)).count_total;
        for output in self.outputs.drain(..) {
            let RoomOutput::Datagram { client, bytes } = output else {
                continue;
            };
            let link = &mut self.links[client.0 as usize];
            link.handle_datagram(self.now.into(), &bytes).expect("the room's own datagram");
            while link.poll_event().is_some() {}
        }
        allocated
    }
}
