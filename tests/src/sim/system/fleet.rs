//! Hosts that are processes of their own: they start, hang, wake up and die, and messages to and
//! from them take their time.
//!
//! The rules are those of the real shells. A host's messages leave the process one after the other,
//! and what has left arrives, whatever becomes of the process. What is sent to a hung host waits
//! for it. The clients of a dead one notice nothing until their connections time out. A child that
//! is given up is killed. A host on another machine that is given up wakes up at some time, goes on
//! with its rooms, and learns a little later that its link is cut.
//!
//! Checked all along: two hosts with a link never have the same room, and no client receives
//! anything of a room from a host after it has received something from a later host of that room.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use ambit_client_core::client::Client;
use ambit_client_core::client::lobby::CloseReason;
use ambit_host::host_core::HostEnding;
use ambit_host::protocol::messages::{
    HostToWorld, Kept, WorldToHost, host_to_world, world_to_host,
};
use ambit_proto::control::game::{ClientToGame, game_to_client};
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;
use ambit_room::logic::registry::Registry;
use ambit_world_server::lobby::{HostId, HostOrder, Origin};
use bytes::Bytes;
use fastrand::Rng;
use prost::Message;

use super::{Parcel, System};
use crate::sim::host::{GameConn, SimHost};

/// How long a client waits for a host that says nothing.
pub(super) const NO_ANSWER: Duration = Duration::from_secs(10);
/// Rooms of a host.
const CAPACITY: u32 = 8;

/// An event at a host, or about one.
pub(super) enum HostEvent {
    /// The process has started.
    Started { origin: Origin, address: String },
    /// A client connects.
    Connecting { guest: usize, conn: GameConn },
    /// A client's attempt to connect times out.
    NoAnswer { conn: GameConn },
    /// A client's connection may time out.
    Idle { conn: GameConn },
    /// Something on a game connection.
    Conn { conn: GameConn, what: ToHost },
    /// A room has been made.
    Made { room: RoomId },
    /// The next of its messages leaves the process.
    Written,
    /// A message of the lobby has arrived.
    FromLobby(Box<WorldToHost>),
    /// Its message has arrived at the lobby.
    AtLobby(Box<HostToWorld>),
    /// The lobby learns that the link has ended.
    LinkEnded,
    /// It learns that the lobby has cut the link.
    LinkCut,
    /// It has ended by itself.
    Exited,
}

/// What a client sends on a game connection.
pub(super) enum ToHost {
    Control(Vec<u8>),
    Datagram(Bytes),
    Gone,
}

/// A host and its process.
pub(super) struct Node {
    pub(super) host: SimHost,
    origin: Origin,
    state: State,
    linked: bool,
    /// Whether it was asked to end.
    is_stopping: bool,
    /// What waits for it to wake up.
    inbox: Vec<HostEvent>,
    /// Messages that have not left the process.
    queue: VecDeque<HostToWorld>,
    /// Whether the next of them is about to leave.
    writing: bool,
    /// When the newest message to the lobby, and from it, arrives.
    up_at: LocalTime,
    down_at: LocalTime,
}

/// The state of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It runs.
    Awake,
    /// It is stopped.
    Hung,
    /// It sends what it has to send, then it ends.
    Ending,
    /// It is about to vanish.
    Ended,
}

/// All of them.
pub(super) struct Fleet {
    registry: Registry,
    rng: Rng,
    /// How many children are to be kept.
    pub(super) wanted: u32,
    starting: u32,
    last: u64,
    /// Connections that were accepted.
    taken: BTreeSet<GameConn>,
    /// Which room a game connection is in.
    joined: BTreeMap<GameConn, RoomId>,
    /// How often a room had been given to a host when it was given to this one.
    incarnations: BTreeMap<(HostId, RoomId), u32>,
    orders: BTreeMap<RoomId, u32>,
    /// Rooms that were closed since they seem to kill their hosts.
    condemned: Vec<RoomId>,
    /// The newest incarnation of a room of which a guest has received something.
    heard: BTreeMap<(usize, RoomId), u32>,
}

impl Node {
    pub(super) fn embedded(host: SimHost) -> Self {
        Node::new(host, Origin::Embedded)
    }

    fn new(host: SimHost, origin: Origin) -> Self {
        Node {
            host,
            origin,
            state: State::Awake,
            linked: true,
            is_stopping: false,
            inbox: Vec::new(),
            queue: VecDeque::new(),
            writing: false,
            up_at: LocalTime::ZERO,
            down_at: LocalTime::ZERO,
        }
    }

    pub(super) fn is_embedded(&self) -> bool {
        self.origin == Origin::Embedded
    }

    pub(super) fn is_awake(&self) -> bool {
        self.state == State::Awake
    }

    /// Whether it has a link to the lobby.
    pub(super) fn is_linked(&self) -> bool {
        self.linked
    }
}

impl Fleet {
    pub(super) fn new(seed: u64, registry: Registry, wanted: u32) -> Self {
        Fleet {
            registry,
            rng: Rng::with_seed(seed ^ 0xf1ee7),
            wanted,
            starting: 0,
            last: super::FIRST_APART - 1,
            taken: BTreeSet::new(),
            joined: BTreeMap::new(),
            incarnations: BTreeMap::new(),
            orders: BTreeMap::new(),
            condemned: Vec::new(),
            heard: BTreeMap::new(),
        }
    }

    pub(super) fn note_condemned(&mut self, room: RoomId) {
        self.condemned.push(room);
    }

    pub(super) fn time_of_making(&mut self) -> Duration {
        let most_ms = if self.rng.u8(..8) == 0 { 400 } else { 30 };
        self.up_to_ms(most_ms)
    }

    fn up_to_ms(&mut self, most: u64) -> Duration {
        Duration::from_micros(self.rng.u64(100..=1_000 * most))
    }
}

/// What tests do to hosts.
impl System {
    /// Starts a host on another machine, with this address.
    pub fn add_remote(&mut self, address: &str) {
        let what = HostEvent::Started {
            origin: Origin::Remote,
            address: address.to_owned(),
        };
        self.agenda.add(
            self.now,
            Parcel::AtHost {
                host: HostId(0),
                what,
            },
        );
    }

    /// The hosts that are processes of their own, and their states.
    pub fn hosts(&self) -> Vec<(HostId, Origin, State)> {
        let apart = self.hosts.iter().filter(|(_, node)| !node.is_embedded());
        apart
            .map(|(&id, node)| (id, node.origin, node.state))
            .collect()
    }

    /// How often rooms were given to a host.
    pub fn orders(&self) -> u64 {
        self.fleet
            .orders
            .values()
            .map(|&orders| u64::from(orders))
            .sum()
    }

    /// Rooms that were closed because they seem to kill their hosts.
    pub fn condemned(&self) -> &[RoomId] {
        &self.fleet.condemned
    }

    /// How often this room was.
    pub fn orders_of(&self, room: RoomId) -> u32 {
        self.fleet.orders.get(&room).copied().unwrap_or_default()
    }

    /// How many rooms the shell of the lobby keeps, and how many hosts have.
    pub fn rooms_left(&self) -> (usize, usize) {
        (
            self.checkpoints.len(),
            self.hosts.values().map(|node| node.host.room_count()).sum(),
        )
    }

    /// A process dies, with all that has not left it.
    pub fn kill_host(&mut self, id: HostId) {
        let Some(node) = self.hosts.remove(&id) else {
            return;
        };
        if node.linked {
            self.lose_link(id, node.up_at);
        }
        self.leave_clients(id);
        self.start_children();
        self.pump();
    }

    /// A process stops.
    pub fn hang_host(&mut self, id: HostId) {
        if let Some(node) = self.hosts.get_mut(&id).filter(|node| node.is_awake()) {
            node.state = State::Hung;
            self.leave_clients(id);
        }
    }

    /// It goes on.
    pub fn wake_host(&mut self, id: HostId) {
        let Some(node) = self
            .hosts
            .get_mut(&id)
            .filter(|node| node.state == State::Hung)
        else {
            return;
        };
        node.state = State::Awake;
        for what in std::mem::take(&mut node.inbox) {
            self.agenda.add(self.now, Parcel::AtHost { host: id, what });
        }
    }

    /// A process is asked to end, and hands its rooms over.
    pub fn end_host(&mut self, id: HostId) {
        let Some(node) = self.hosts.get_mut(&id).filter(|node| node.is_awake()) else {
            return;
        };
        let now = self.now;
        node.is_stopping = true;
        node.host.stop(now);
        self.pump();
    }
}

impl System {
    /// Starts the children that are missing.
    pub(super) fn start_children(&mut self) {
        let children = self
            .hosts
            .values()
            .filter(|node| node.origin == Origin::Child)
            .count() as u32;
        while children + self.fleet.starting < self.fleet.wanted {
            self.fleet.starting += 1;
            let at = self.now + Duration::from_millis(50) + self.fleet.up_to_ms(200);
            let address = format!(
                "127.0.0.1:{}",
                9_000 + self.fleet.last + u64::from(self.fleet.starting)
            );
            let what = HostEvent::Started {
                origin: Origin::Child,
                address,
            };
            self.agenda.add(
                at,
                Parcel::AtHost {
                    host: HostId(0),
                    what,
                },
            );
        }
    }

    pub(super) fn order_host(&mut self, host: HostId, order: HostOrder) {
        let message = self.checkpoints.message_of(self.now, host, order);
        if self.hosts.get(&host).is_some_and(Node::is_embedded) {
            let now = self.now;
            return self
                .hosts
                .get_mut(&host)
                .expect("it is there")
                .host
                .handle_world(now, message);
        }
        if let Some(world_to_host::Body::OpenRoom(open)) = &message.body {
            let room = RoomId(open.room);
            let orders = self.fleet.orders.entry(room).or_default();
            *orders += 1;
            self.fleet.incarnations.insert((host, room), *orders);
            let mut others = self
                .hosts
                .iter()
                .filter(|(id, node)| **id != host && node.linked);
            let other = others.find(|(_, node)| node.host.has(room));
            assert!(
                other.is_none(),
                "seed {}: {room:?} would have two hosts at {:?}",
                self.seed,
                self.now
            );
        }
        let at = self.now + self.fleet.up_to_ms(6);
        let Some(node) = self.hosts.get_mut(&host).filter(|node| node.linked) else {
            return;
        };
        node.down_at = node.down_at.max(at);
        self.agenda.add(
            node.down_at,
            Parcel::AtHost {
                host,
                what: HostEvent::FromLobby(Box::new(message)),
            },
        );
    }

    /// A host's message has arrived at the WorldServer.
    pub(super) fn report(&mut self, host: HostId, message: HostToWorld) {
        if let Some(report) = self.checkpoints.receive(self.now, host, message) {
            self.lobby.handle_host(self.now, host, report);
        }
    }

    /// The lobby gives a host up.
    pub(super) fn cut_link(&mut self, host: HostId) {
        let Some(node) = self.hosts.get_mut(&host) else {
            return;
        };
        if node.origin == Origin::Child {
            return self.kill_host(host);
        }
        let up_at = node.up_at;
        node.linked = false;
        self.lose_link(host, up_at);
        let at = self.now + self.fleet.up_to_ms(20);
        self.agenda.add(
            at,
            Parcel::AtHost {
                host,
                what: HostEvent::LinkCut,
            },
        );
    }

    pub(super) fn send_to_host(&mut self, conn: GameConn, what: ToHost) {
        let Some(&(_, host)) = self.games.get(&conn) else {
            return;
        };
        self.handle_host_event(host, HostEvent::Conn { conn, what });
    }

    pub(super) fn queue_message(&mut self, host: HostId, message: HostToWorld) {
        self.hosts
            .get_mut(&host)
            .expect("it runs")
            .queue
            .push_back(message);
        self.write_soon(host);
    }

    /// A host does not serve the lobby any more. It ends when all that it has sent has left it; one
    /// that has lost its link, or was stopped for too long, ends at once.
    pub(super) fn host_ended(&mut self, id: HostId, ending: &HostEnding) {
        let now = self.now;
        let node = self.hosts.get_mut(&id).expect("it has just ended");
        match ending {
            HostEnding::Drained | HostEnding::HandedOver => {
                node.state = State::Ending;
                self.write_soon(id);
            }
            HostEnding::LinkLost | HostEnding::Unserved => {
                node.host.close_all(now);
                node.state = State::Ended;
                self.agenda.add(
                    now,
                    Parcel::AtHost {
                        host: id,
                        what: HostEvent::Exited,
                    },
                );
            }
            HostEnding::Stalled => {
                node.state = State::Ended;
                self.agenda.add(
                    now,
                    Parcel::AtHost {
                        host: id,
                        what: HostEvent::Exited,
                    },
                );
            }
            HostEnding::Refused(why) => panic!("{id:?} refuses the lobby: {why}"),
        }
    }

    pub(super) fn handle_host_event(&mut self, host: HostId, what: HostEvent) {
        let now = self.now;
        match what {
            HostEvent::Started { origin, address } => return self.start_process(origin, &address),
            HostEvent::AtLobby(message) => {
                self.acknowledge_journal(host, &message);
                return self.report(host, *message);
            }
            HostEvent::LinkEnded => {
                return self.lobby.handle_host_lost(now, host, "its link has ended");
            }
            HostEvent::NoAnswer { conn } if self.fleet.taken.contains(&conn) => return,
            HostEvent::NoAnswer { conn } => return self.give_call_up(conn),
            HostEvent::Idle { conn } => {
                let called = self
                    .games
                    .get(&conn)
                    .and_then(|(_, host)| self.hosts.get(host));
                if called.is_none_or(|node| node.state == State::Hung) {
                    self.give_call_up(conn);
                }
                return;
            }
            _ => {}
        }
        let Some(node) = self.hosts.get_mut(&host) else {
            return;
        };
        if node.state == State::Hung {
            return node.inbox.push(what);
        }
        match what {
            HostEvent::Exited => self.exited(host),
            HostEvent::Connecting { guest, conn } => {
                self.fleet.taken.insert(conn);
                let at = self.guests[guest].down.stream(now);
                self.agenda.add(at, Parcel::GameOpened { guest, conn });
            }
            HostEvent::Conn {
                conn,
                what: ToHost::Control(frame),
            } => {
                let message = ClientToGame::decode(&frame[..]).expect("the client's own message");
                node.host.handle_control(now, conn, message);
            }
            HostEvent::Conn {
                conn,
                what: ToHost::Datagram(bytes),
            } => node.host.handle_datagram(now, conn, bytes),
            HostEvent::Conn {
                conn,
                what: ToHost::Gone,
            } => node.host.handle_closed(now, conn),
            HostEvent::Made { room } => node.host.finish(now, room),
            HostEvent::Written => self.write(host),
            HostEvent::FromLobby(_) if node.state != State::Awake => {}
            HostEvent::FromLobby(message) => node.host.handle_world(now, *message),
            HostEvent::LinkCut => node.host.lose_link(now),
            _ => unreachable!("done above"),
        }
    }

    /// A client receives nothing of a room from a host after it has received something from a later
    /// host of that room.
    pub(super) fn check_owner(
        &mut self,
        conn: GameConn,
        guest: usize,
        told: Option<&game_to_client::Body>,
    ) {
        if let Some(game_to_client::Body::Joined(joined)) = told {
            self.fleet.joined.insert(conn, RoomId(joined.room));
        }
        let (Some(&room), Some(&(_, host))) = (self.fleet.joined.get(&conn), self.games.get(&conn))
        else {
            return;
        };
        let Some(&incarnation) = self.fleet.incarnations.get(&(host, room)) else {
            return;
        };
        let newest = self.fleet.heard.entry((guest, room)).or_default();
        assert!(
            incarnation >= *newest,
            "seed {}, at {:?}: guest {guest} receives something of {room:?} from {host:?}, number \
             {incarnation}, after number {newest}",
            self.seed,
            self.now
        );
        *newest = incarnation;
    }

    fn start_process(&mut self, origin: Origin, address: &str) {
        if origin == Origin::Child {
            self.fleet.starting -= 1;
        }
        self.fleet.last += 1;
        let id = HostId(self.fleet.last);
        let mut host = SimHost::of_its_own(self.fleet.registry.clone(), address, CAPACITY, id.0);
        host.connect(self.now);
        self.hosts.insert(id, Node::new(host, origin));
        self.lobby.handle_host_start(self.now, id, origin);
        self.start_children();
    }

    /// What reads the messages of a host on another machine acknowledges its journal.
    fn acknowledge_journal(&mut self, host: HostId, message: &HostToWorld) {
        let Some(node) = self.hosts.get(&host) else {
            return;
        };
        if let (Origin::Remote, Some(host_to_world::Body::RoomTick(tick))) =
            (node.origin, &message.body)
        {
            let kept = Kept {
                serial: tick.serial,
            };
            self.order_host(host, HostOrder::Message(world_to_host::Body::Kept(kept)));
        }
    }

    /// A process has ended by itself. One that came by itself comes again.
    fn exited(&mut self, host: HostId) {
        let node = &self.hosts[&host];
        let (origin, address) = (node.origin, node.host.address().to_owned());
        let comes_again = origin == Origin::Remote && !node.is_stopping;
        self.kill_host(host);
        if comes_again {
            let what = HostEvent::Started { origin, address };
            self.agenda.add(
                self.now + Duration::from_millis(500),
                Parcel::AtHost {
                    host: HostId(0),
                    what,
                },
            );
        }
    }

    fn write_soon(&mut self, host: HostId) {
        let at = self.now + self.fleet.up_to_ms(2);
        let node = self.hosts.get_mut(&host).expect("it runs");
        if !std::mem::replace(&mut node.writing, true) {
            self.agenda.add(
                at,
                Parcel::AtHost {
                    host,
                    what: HostEvent::Written,
                },
            );
        }
    }

    /// The next message leaves the process. Of a child's journal that is enough to know: the pipe
    /// outlives it.
    fn write(&mut self, host: HostId) {
        let (now, at) = (self.now, self.now + self.fleet.up_to_ms(8));
        let node = self.hosts.get_mut(&host).expect("it runs");
        node.writing = false;
        let message = node.queue.pop_front();
        if let (Origin::Child, Some(host_to_world::Body::RoomTick(tick))) = (
            node.origin,
            message.as_ref().and_then(|message| message.body.as_ref()),
        ) {
            node.host.note_journal_written(now, tick.serial);
        }
        if let Some(message) = message.filter(|_| node.linked) {
            node.up_at = node.up_at.max(at);
            self.agenda.add(
                node.up_at,
                Parcel::AtHost {
                    host,
                    what: HostEvent::AtLobby(Box::new(message)),
                },
            );
        }
        let (is_silent, is_ending) = (node.queue.is_empty(), node.state == State::Ending);
        // The datagrams that have waited for that.
        self.pump();
        if !self.hosts.contains_key(&host) {
            // The lobby has given it up.
        } else if !is_silent {
            self.write_soon(host);
        } else if is_ending {
            self.kill_host(host);
        }
    }

    /// The lobby learns that a host is gone, after all its messages.
    fn lose_link(&mut self, host: HostId, up_at: LocalTime) {
        let at = up_at.max(self.now + self.fleet.up_to_ms(10));
        self.agenda.add(
            at,
            Parcel::AtHost {
                host,
                what: HostEvent::LinkEnded,
            },
        );
    }

    /// The connections of its clients time out.
    fn leave_clients(&mut self, host: HostId) {
        let there = self.guests.iter().filter_map(|guest| guest.game);
        for conn in there.filter(|conn| self.games.get(conn).is_some_and(|(_, at)| *at == host)) {
            self.agenda.add(
                self.now + NO_ANSWER,
                Parcel::AtHost {
                    host,
                    what: HostEvent::Idle { conn },
                },
            );
        }
    }

    fn give_call_up(&mut self, conn: GameConn) {
        if let Some(guest) = self.playing(conn) {
            self.guests[guest].game = None;
            self.with(guest, |client: &mut Client, now| {
                client.handle_game_closed(now, CloseReason::Broken("timed out".into()));
            });
        }
    }
}
