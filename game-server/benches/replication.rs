//! The cost of a room with many clients that all move, and what it sends.
//!
//! The workload is that of `tests/bench crowd` without sockets: the test game `walking_crowd`, in
//! which the server moves every avatar at 4 m/s (`walk=steered`: headings turn at random at each
//! tick, sent as poses; `walk=waypoints`: straight lines, sent as paths), 20 ticks a second, zones
//! of 3 x 3 cells of 10 m, and a density at which a client follows some 30 avatars. Each client is
//! a link of its own: it acknowledges each datagram one tick later, with the keys that it sends 20
//! times a second. The benchmark measures `Room::tick`, which is all that a server does for a
//! client except sockets and encryption, in CPU time of the thread. Clients are not measured; they
//! evict caches between two ticks as sockets do. Machine: any; a client should cost the same
//! however many there are.
//!
//! A second table says what an operator costs who looks at the room from above, four times a second
//! and through one client: the same room with and without, in turns.
//!
//! Run with `cargo bench -p ambit-game-server --bench replication [-- 1000 [steered]]`.

// The tests of the whole system use the same game.
#[allow(
    dead_code,
    unreachable_pub,
    reason = "this bench uses a part of what the tests' library makes public"
)]
#[path = "../../tests/src/walking_crowd/mod.rs"]
mod walking_crowd;

use std::time::Duration;

use ambit_proto::ids::{ClientId, PlayerId};
use ambit_proto::keymap::Keymap;
use ambit_proto::link::{Link, LinkConfig};
use ambit_proto::message::{self, Uplink};
use ambit_proto::pose::PoseCoding;
use ambit_proto::time::GameTime;
use ambit_proto::wire::Wire;
use ambit_room::questions::RoomQuestion;
use ambit_room::recording::Header;
use ambit_room::room::{Room, RoomInput, RoomOutput};
use ambit_room::stats::{EncodingReuse, RoomStats};
use bytes::Bytes;

use self::walking_crowd::WalkingCrowd;

const TICK: Duration = Duration::from_millis(50);
/// Ticks before the measurement: all clients have joined and received their surroundings.
const SETTLING: u32 = 100;
/// Ticks that are measured.
const MEASURED: u32 = 200;
/// Edges of maps on which each of 1,000 walkers sees some 30 others. Walkers between waypoints are
/// denser in the middle.
const EDGES_OF_1000_M: [(&str, f64); 2] = [("steered", 165.0), ("waypoints", 200.3)];

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let is_test = std::env::args().any(|argument| argument == "--test");
    let counts = match arguments.first().and_then(|count| count.parse().ok()) {
        Some(count) => vec![count],
        None if is_test => vec![50],
        None => vec![250, 500, 1_000, 2_000],
    };
    let walks = EDGES_OF_1000_M.iter().map(|(walk, _)| *walk);
    let walks = walks.filter(|walk| arguments.get(1).is_none_or(|wanted| *wanted == *walk));
    println!("{TABLE_HEAD}");
    for walk in walks {
        for &count in &counts {
            println!("{}", measure(walk, count));
        }
    }
    println!("\n| clients | us a tick | us more while an operator looks | per cent |");
    println!("| --- | --- | --- | --- |");
    for count in counts {
        println!("{}", measure_looks(count));
    }
}

/// Ticks between two looks.
const LOOK_TICKS: u32 = 5;

/// What a watcher adds to a tick, in one line of the second table.
fn measure_looks(count: u32) -> String {
    let mut rooms = [(); 2].map(|()| BenchRoom::new("steered", count));
    let mut times = [Duration::ZERO; 2];
    for tick in 0..SETTLING + 4 * MEASURED {
        for (index, room) in rooms.iter_mut().enumerate() {
            let mut time = room.tick();
            if index == 1 && tick % LOOK_TICKS == 0 {
                let question = RoomQuestion::Above { player: Some(PlayerId(1)) };
                time += thread_cpu_time(|| {
                    std::hint::black_box(question.ask(&mut room.room).encode());
                });
            }
            if tick >= SETTLING {
                times[index] += time;
            }
        }
    }
    let [without, with] = times.map(|time| time.as_secs_f64() * 1e6 / f64::from(4 * MEASURED));
    let more = with - without;
    format!("| {count} | {without:.0} | {more:.0} | {:.1} |", 100.0 * more / without)
}

const TABLE_HEAD: &str = "\
| walk | clients | followed | us a client and tick: best tenth, median, mean | bytes/s | \
datagrams/s | enters/s | bits a client and tick: stamp, records, poses, their indices, link | \
poses/s sent, extrapolated, deferred | uses of an encoding: records, poses |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |";

/// One line of the table.
fn measure(walk: &str, count: u32) -> String {
    let mut town = BenchRoom::new(walk, count);
    for _ in 0..SETTLING {
        town.tick();
    }
    let before = town.room.stats().clone();
    let mut times: Vec<Duration> = (0..MEASURED).map(|_| town.tick()).collect();
    let after = town.room.stats();
    times.sort_unstable();
    let client_ticks = f64::from(count * MEASURED);
    let micros = |time: Duration| time.as_secs_f64() * 1e6 / f64::from(count);
    let mean = times.iter().sum::<Duration>() / MEASURED;
    let a_tick = |of: fn(&RoomStats) -> u64| (of(after) - of(&before)) as f64 / client_ticks;
    let a_second = |of: fn(&RoomStats) -> u64| a_tick(of) / TICK.as_secs_f64();
    let sharing = |of: fn(&RoomStats) -> EncodingReuse| {
        let after = of(after);
        let before = of(&before);
        EncodingReuse { encoded: after.encoded - before.encoded, uses: after.uses - before.uses }
            .uses_per_encoding()
    };
    format!(
        "| {walk} | {count} | {:.1} | {:.2}, {:.2}, {:.2} | {:.0} | {:.1} | {:.1} | \
         {:.0}, {:.0}, {:.0}, {:.0}, {:.0} | {:.0}, {:.0}, {:.0} | {:.1}, {:.1} |",
        town.mean_followed(),
        micros(times[times.len() / 10]),
        micros(times[times.len() / 2]),
        micros(mean),
        a_second(|stats| stats.bytes_out),
        a_second(|stats| stats.datagrams_out),
        a_second(|stats| stats.enters),
        a_tick(|stats| stats.bits.stamps),
        a_tick(|stats| stats.bits.records),
        a_tick(|stats| stats.bits.pose_contents),
        a_tick(|stats| stats.bits.pose_headers + stats.bits.pose_indices),
        a_tick(|stats| stats.bits.link_headers + stats.bits.messages + stats.bits.padding),
        a_second(|stats| stats.poses.sent),
        a_second(|stats| stats.poses.extrapolated),
        a_second(|stats| stats.poses.deferred),
        sharing(|stats| stats.records),
        sharing(|stats| stats.pose_codes),
    )
}

/// A room and its clients.
struct BenchRoom {
    room: Room,
    now: GameTime,
    links: Vec<Link>,
    inputs: Vec<RoomInput>,
    outputs: Vec<RoomOutput>,
    /// Datagrams in flight to the clients.
    in_flight: Vec<(ClientId, Bytes)>,
}

impl BenchRoom {
    fn new(walk: &str, count: u32) -> Self {
        let of_1000 =
            EDGES_OF_1000_M.iter().find(|(other, _)| *other == walk).expect("a known walk").1;
        let edge_m = of_1000 * (f64::from(count) / 1_000.0).sqrt();
        let parameters = [
            ("size", format!("{edge_m:.1}x{edge_m:.1}")),
            ("walk", walk.to_owned()),
            ("inner", "1".to_owned()),
            ("outer", "1".to_owned()),
        ];
        let parameters = parameters.map(|(key, value)| (key.to_owned(), value)).into();
        let header = Header {
            game: WalkingCrowd::INFO.name.to_owned(),
            seed: 42,
            capacity: count,
            parameters,
            ..Header::default()
        };
        let room = ambit_game_server::standard()
            .with(WalkingCrowd::INFO, WalkingCrowd::create)
            .create_room(&header)
            .expect("parameters of the game");
        let join = |client| RoomInput::Join {
            client: ClientId(client),
            player: PlayerId(client.into()),
            account: None,
            name: client.to_string(),
            coding: PoseCoding::Auto,
        };
        BenchRoom {
            room,
            now: GameTime::ZERO,
            links: (0..count).map(|_| Link::new(LinkConfig::client())).collect(),
            inputs: (0..count).map(join).collect(),
            outputs: Vec::new(),
            in_flight: Vec::new(),
        }
    }

    /// Runs a tick; returns the CPU time of the room.
    fn tick(&mut self) -> Duration {
        self.now += TICK;
        for (client, bytes) in self.in_flight.drain(..) {
            let link = &mut self.links[client.0 as usize];
            link.handle_datagram(self.now.into(), &bytes).expect("the room's own datagram");
            while link.poll_event().is_some() {}
        }
        for (client, link) in (0..).zip(&mut self.links) {
            let mut bytes = Vec::with_capacity(64);
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
        let time = thread_cpu_time(|| {
            self.room.tick(self.now, &mut self.inputs, &mut self.outputs);
        });
        let datagrams = self.outputs.drain(..).filter_map(|output| match output {
            RoomOutput::Datagram { client, bytes } => Some((client, bytes)),
            _ => None,
        });
        self.in_flight.extend(datagrams);
        time
    }

    /// How many others a client follows, on average.
    fn mean_followed(&self) -> f64 {
        let network = self.room.network();
        let followed: usize = network
            .viewers()
            .map(|viewer| network.interest().followed(viewer.client).count() - 1)
            .sum();
        followed as f64 / self.links.len() as f64
    }
}

/// The CPU time of this thread during `work`.
fn thread_cpu_time(work: impl FnOnce()) -> Duration {
    let now = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    };
    let start = now();
    work();
    now().saturating_sub(start)
}
