//! What profiles cost a tick: 200 players with accounts, at 20 Hz, whose profiles of 1 kB change
//! each second, beside the same room whose profiles do not.
//!
//! `cargo bench -p ambit-game-server --bench profiles`. The two rooms tick in turns; printed is the
//! processor's time of a tick of each: all that a room does for its clients, without sockets and
//! encryption. Each client acknowledges each datagram one tick later. The store answers at the next
//! tick. A second pair of rooms has players without clients, so that what profiles cost is most of
//! the difference.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit::Games;
use ambit::prelude::*;
use ambit_proto::ids::{AccountId, ClientId};
use ambit_proto::link::{Link, LinkConfig};
use ambit_proto::message::Uplink;
use ambit_proto::pose::PoseCoding;
use ambit_proto::wire::Wire as _;
use ambit_room::logic::registry::{Header, Registry};
use ambit_room::logic::store::{ProfileClaim, StoreAnswer, StoreRequest};
use ambit_room::room::{REPLAY_CLIENT, Room, RoomInput, RoomOutput};
use bytes::Bytes;
use rustix::time::{ClockId, clock_gettime};

const PLAYERS: u64 = 200;
const TICK: Duration = Duration::from_millis(50);
/// Ticks of a turn: a minute, in which profiles are written six times.
const TICKS: u32 = 1_200;
const TURNS: u32 = 7;

#[derive(Kind)]
struct Walker {
    pose: YawPose,
}

#[derive(Default, Serialize, Deserialize)]
struct Bag {
    coins: u64,
    goods: BTreeMap<String, u32>,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Walker), profile = Bag)]
struct Market {
    walkers: Vec<(PlayerId, Id<Walker>)>,
    changes: bool,
    ticks: u64,
}

impl Game for Market {
    const INFO: GameInfo = GameInfo::new("market", "Buy and sell.");
    type Avatar = Walker;
    no_commands!();
    type Refusal = NoRefusal;

    fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer<'_>) -> Id<Walker> {
        if let Some(bag) = world.edit_profile(newcomer) {
            bag.goods = (0..60).map(|number| (format!("good-{number:03}"), number)).collect();
        }
        let spot = world.rng_for(1, newcomer.id.0).f32();
        let at = Position::on_ground(spot * world.width(), spot * world.height());
        let walker = world.spawn(Walker { pose: YawPose::at(at) });
        self.walkers.push((newcomer.id, walker));
        walker
    }

    fn step(&mut self, world: &mut World<Self>, _: Duration) {
        self.ticks += 1;
        let turn = self.ticks as f32 / 40.0;
        for &(player, walker) in &self.walkers {
            let Some(at) = world.position(walker) else { continue };
            let (sin, cos) = (turn + player.0 as f32).sin_cos();
            let next = Position::on_ground(at.x + cos / 10.0, at.y + sin / 10.0);
            let next = world.nearest_on_map(next);
            if let Some(mut walker) = world.edit(walker) {
                walker.pose().set(next, turn, 0.0);
            }
            // A twentieth of them at each tick.
            if self.changes
                && (self.ticks + player.0).is_multiple_of(20)
                && let Some(bag) = world.edit_profile(player)
            {
                bag.coins += 1;
            }
        }
    }
}

struct Bench {
    room: Room,
    now: GameTime,
    /// By client, from 1; none for players without clients.
    links: Vec<Link>,
    /// Datagrams on the way to the clients.
    in_flight: Vec<(ClientId, Bytes)>,
    inputs: Vec<RoomInput>,
    outputs: Vec<RoomOutput>,
    written: usize,
}

impl Bench {
    fn new(changes: bool, has_clients: bool) -> Self {
        let header = Header { game: "market".to_owned(), capacity: 300, ..Header::default() };
        let registry = Registry::from(Games::new().with::<Market>());
        let mut room = registry.create_room(&header).expect("a room");
        let game = room.arrange().1.as_any().and_then(|game| game.downcast_mut::<Market>());
        game.expect("the game of the room").changes = changes;
        let inputs = (1..=PLAYERS).map(|number| RoomInput::Join {
            client: if has_clients { ClientId(number as u32) } else { REPLAY_CLIENT },
            player: PlayerId(number),
            name: format!("player {number}"),
            account: Some(AccountId(u128::from(number).to_be_bytes())),
            coding: PoseCoding::Auto,
        });
        let inputs = inputs.collect();
        let links = if has_clients { PLAYERS } else { 0 };
        let links = (0..links).map(|_| Link::new(LinkConfig::client())).collect();
        let (outputs, in_flight) = (Vec::new(), Vec::new());
        Self { room, now: GameTime::ZERO, links, in_flight, inputs, outputs, written: 0 }
    }

    /// Returns the processor's time of the room.
    fn tick(&mut self) -> Duration {
        self.now += TICK;
        for (client, bytes) in self.in_flight.drain(..) {
            let link = &mut self.links[client.0 as usize - 1];
            link.handle_datagram(self.now.into(), &bytes).expect("the room's own datagram");
            while link.poll_event().is_some() {}
        }
        for (client, link) in (1..).zip(&mut self.links) {
            let mut bytes = Vec::with_capacity(64);
            link.write_datagram_without_ack_request(self.now.into(), &mut bytes, |writer, _| {
                Uplink::default().wire(writer).expect("writing cannot fail");
            });
            let (client, at) = (ClientId(client), self.now);
            self.inputs.push(RoomInput::Datagram { client, at, bytes: bytes.into() });
        }
        let began = processor_time();
        self.room.tick(self.now, &mut self.inputs, &mut self.outputs);
        let took = processor_time().saturating_sub(began);
        for output in self.outputs.drain(..) {
            if let RoomOutput::Datagram { client, bytes } = output {
                if !self.links.is_empty() {
                    self.in_flight.push((client, bytes));
                }
                continue;
            }
            let RoomOutput::Store(asked) = output else { continue };
            let answer = match asked.request {
                StoreRequest::ClaimProfile(_) => StoreAnswer::Claimed(ProfileClaim(1), None),
                StoreRequest::SaveProfiles(saves) => {
                    self.written += saves.len();
                    StoreAnswer::Saved(Vec::new())
                }
                _ => StoreAnswer::Done(None),
            };
            self.inputs.push(RoomInput::Stored { number: asked.number, answer });
        }
        took
    }
}

fn main() {
    println!("with clients:");
    measure(true);
    println!("without clients:");
    measure(false);
}

fn measure(has_clients: bool) {
    let mut rooms = [false, true].map(|changes| Bench::new(changes, has_clients));
    for room in &mut rooms {
        for _ in 0..TICKS {
            room.tick();
        }
        room.written = 0;
    }
    let mut times = [Duration::ZERO; 2];
    for turn in 0..TURNS {
        let mut both = [Duration::ZERO; 2];
        for (room, time) in rooms.iter_mut().zip(&mut both) {
            *time = (0..TICKS).map(|_| room.tick()).sum::<Duration>() / TICKS;
        }
        println!(
            "turn {turn}: {:?} a tick without changes, {:?} with ({:+.1} %)",
            both[0],
            both[1],
            excess(both)
        );
        (times[0], times[1]) = (times[0] + both[0], times[1] + both[1]);
    }
    println!(
        "{} profiles written of {PLAYERS} players in {} min; together {:+.1} %",
        rooms[1].written,
        TURNS,
        excess(times)
    );
    assert_eq!(rooms[0].written, 0, "nothing has changed there");
}

fn excess([without, with]: [Duration; 2]) -> f64 {
    100.0 * (with.as_secs_f64() / without.as_secs_f64() - 1.0)
}

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
