//! The actix actor around the lobby.
//!
//! Sessions' frames and hosts' messages come in through a bounded mailbox; what the lobby puts out
//! goes to sessions and hosts. All that decides is in `lobby`.
//!
//! Who sends to it waits for the answer, so that each session and each host has one message in the
//! mailbox at most; who is sent to is never waited for: a session or host whose queue is full is
//! cut off, and nobody else notices.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use actix::prelude::*;
use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::host::{HostStats, HostToWorld, OpenRoom, WorldToHost, world_to_host};
use ambit_proto::control::world::{Servers, WorldToClient, world_to_client};
use ambit_proto::frame::encode_frame;
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;
use bytes::Bytes;
use prost::Message as _;
use tokio::sync::{mpsc, oneshot, watch};

use crate::admin::snapshot::{Snapshot, add_stats};
use crate::cluster::held::Held;
use crate::cluster::store::{Desk, Progress};
use crate::hosts::kept::KeptRooms;
use crate::line::ClientLine;
use crate::lobby::{ConnId, HostId, Lobby, Origin, Output};
use crate::session::{Close, Deliver, Session};

/// Frames to a client that wait for the directory, at most; who has more is cut off. More than a
/// client is answered while a broker elects a leader.
const MOST_HELD: usize = 256;
/// Orders to a host that wait for the directory, at most.
const MOST_ORDERS_HELD: usize = 4_096;

/// Messages that may wait for the lobby before their senders do.
const MAILBOX: usize = 1_024;

/// A connection is here.
#[derive(Message)]
#[rtype(result = "ConnId")]
pub(crate) struct Connect {
    pub(crate) address: IpAddr,
    pub(crate) session: Addr<Session>,
    pub(crate) line: ClientLine,
}

/// A connection has sent a frame.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Frame {
    pub(crate) conn: ConnId,
    pub(crate) frame: Bytes,
}

/// A connection has sent what is no frame.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Malformed {
    pub(crate) conn: ConnId,
    pub(crate) code: ErrorCode,
}

/// A connection is gone.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Disconnect {
    pub(crate) conn: ConnId,
    /// Whether the client closed it on purpose.
    pub(crate) quit: bool,
}

/// A host is here.
#[derive(Message)]
#[rtype(result = "(HostId, Clock, Arc<KeptRooms>)")]
pub(crate) struct HostStart(pub(crate) mpsc::Sender<WorldToHost>, pub(crate) Origin);

/// A host has said something.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct HostSays(pub(crate) HostId, pub(crate) HostToWorld);

/// A host is gone.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct HostGone(pub(crate) HostId, pub(crate) String);

/// The server ends. The sender is answered once no connection is left.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct DrainNow(pub(crate) oneshot::Sender<()>);

/// What is there to be shown?
#[derive(Message)]
#[rtype(result = "Box<Snapshot>")]
pub(crate) struct Look;

/// The servers of the cluster have changed.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct SetServers(pub(crate) Servers);

/// The writing of the directory has got on, or is ill.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Written(pub(crate) Progress);

struct Client {
    session: Addr<Session>,
    line: ClientLine,
    /// What waits for the directory.
    held: Held<Bytes>,
}

struct HostLink {
    commands: mpsc::Sender<WorldToHost>,
    /// What waits for the directory.
    held: Held<WorldToHost>,
}

/// See the module.
pub(crate) struct WorldServer {
    lobby: Lobby,
    clock: Clock,
    clients: BTreeMap<ConnId, Client>,
    hosts: BTreeMap<HostId, HostLink>,
    /// Of a cluster: where records go, and how far the writing is.
    desk: Option<Arc<Desk>>,
    progress: Progress,
    /// The clients for which something waits for that.
    holding: BTreeSet<ConnId>,
    /// How many children are to be kept.
    children: watch::Sender<u32>,
    /// What hosts have said of their rooms.
    kept: Arc<KeptRooms>,
    last_conn: u64,
    last_host: u64,
    alarm: Option<(LocalTime, SpawnHandle)>,
    /// Sums of the hosts that are gone, so that what is shown never goes down.
    gone: HostStats,
    /// Sessions whose mailbox was full, hosts that did not read.
    slow_sessions: u64,
    slow_hosts: u64,
    draining: bool,
    drained: Option<oneshot::Sender<()>>,
    /// Where rooms are recorded, if they are.
    record: Option<PathBuf>,
    /// Dropped with the actor, so that its end, which only a panic can bring, is noticed.
    _lifeline: oneshot::Sender<Infallible>,
}

/// The lobby's clock. Its origin is also the origin of the wall clock's time that tickets count
/// from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    origin: Instant,
}

impl Clock {
    /// Starts the clock, and tells the time since 1970 at its origin.
    #[expect(clippy::disallowed_methods, reason = "a shell's clock")]
    pub(crate) fn start() -> (Self, Duration) {
        let epoch_unix = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        (
            Self {
                origin: Instant::now(),
            },
            epoch_unix,
        )
    }

    /// The time since then.
    pub(crate) fn now(self) -> LocalTime {
        LocalTime::from_micros(self.origin.elapsed().as_micros() as u64)
    }
}

impl WorldServer {
    pub(crate) fn new(
        lobby: Lobby,
        clock: Clock,
        children: watch::Sender<u32>,
        desk: Option<Arc<Desk>>,
        record: Option<PathBuf>,
        lifeline: oneshot::Sender<Infallible>,
    ) -> Self {
        let last_host = lobby.last_host().0;
        Self {
            lobby,
            clock,
            clients: BTreeMap::new(),
            hosts: BTreeMap::new(),
            desk,
            progress: Progress::default(),
            holding: BTreeSet::new(),
            children,
            kept: Arc::default(),
            last_conn: 0,
            last_host,
            alarm: None,
            gone: HostStats::default(),
            slow_sessions: 0,
            slow_hosts: 0,
            draining: false,
            drained: None,
            record,
            _lifeline: lifeline,
        }
    }

    /// Carries out what the lobby wants done, and sees to it that it is called again in time. What
    /// confirms something, and what a host is told, waits until the directory has what came of the
    /// same call.
    fn settle(&mut self, ctx: &mut Context<Self>) {
        let (mut outputs, mut records) = (Vec::new(), Vec::new());
        while let Some(output) = self.lobby.poll_output() {
            match output {
                Output::Record { key, value } => records.push((key, value)),
                output => outputs.push(output),
            }
        }
        let after = match &self.desk {
            Some(desk) if !records.is_empty() => desk.put(records),
            _ => 0,
        };
        for output in outputs {
            match output {
                Output::Send { conn, message } => {
                    // Answers, also to those who had to wait for a host's word, and the way into a
                    // game that was started.
                    let confirms = message.request != 0
                        || matches!(message.body, Some(world_to_client::Body::Ticket(_)));
                    let after = if confirms { after } else { 0 };
                    let strict =
                        matches!(message.body, Some(world_to_client::Body::RoomCreated(_)));
                    self.say(conn, after, strict, &encode(&message));
                }
                Output::Broadcast { conns, message } => {
                    let frame = encode(&message);
                    for conn in conns {
                        self.say(conn, 0, false, &frame);
                    }
                }
                Output::Close {
                    conn,
                    code,
                    message,
                } => self.close(conn, code, message),
                Output::Host { host, message } => self.order(host, after, message),
                // Without our end of the link it ends, and a child that does not end with it is
                // killed.
                Output::Forsake { host } => drop(self.hosts.remove(&host)),
                Output::Condemn { order } => self.keep_condemned(order),
                Output::Forget { room } => self.forget_room(room),
                Output::Adopt { room, host } => self.kept.adopt(self.clock.now(), room, host),
                Output::Record { .. } => {}
                Output::Children(count) => drop(self.children.send_replace(count)),
            }
        }
        if self.lobby.is_drained()
            && let Some(drained) = self.drained.take()
        {
            // Nobody waits for it any more when the time for it is over.
            let _ = drained.send(());
        }
        self.wake_at(self.lobby.next_deadline(), ctx);
    }

    /// A room is gone, with the orders to open it that nobody has been given yet.
    fn forget_room(&mut self, room: RoomId) {
        self.kept.forget(room);
        for link in self.hosts.values_mut() {
            let opens = |order: &WorldToHost| matches!(&order.body, Some(world_to_host::Body::OpenRoom(open)) if open.room == room.0);
            link.held.retain(|order| !opens(order));
        }
    }

    /// Delivers a frame, or lets it wait for the directory.
    fn say(&mut self, conn: ConnId, after: u64, strict: bool, frame: &Bytes) {
        let progress = self.progress;
        let Some(client) = self.clients.get_mut(&conn) else {
            return;
        };
        if client.held.is_empty() && (after <= progress.written || progress.ill && !strict) {
            self.deliver(conn, frame);
        } else if client.held.len() < MOST_HELD {
            client.held.push(after, strict, frame.clone());
            self.holding.insert(conn);
        } else {
            self.cut_off(conn);
        }
    }

    /// Gives a host an order, or lets it wait for the directory, so that what it makes the host
    /// forget is known there. While that is ill only those wait that give the host a room, and what
    /// comes after them.
    fn order(&mut self, host: HostId, after: u64, message: WorldToHost) {
        let Progress { written, ill } = self.progress;
        let Some(link) = self.hosts.get_mut(&host) else {
            return;
        };
        let is_heard = matches!(message.body, Some(world_to_host::Body::Heard(_)));
        let gives = matches!(message.body, Some(world_to_host::Body::OpenRoom(_)));
        let waits = after > written && (gives || !ill);
        // What is said of one room keeps its order.
        let is_behind = || {
            link.held
                .iter()
                .any(|earlier| room_of(earlier) == room_of(&message))
        };
        if is_heard || !waits && !is_behind() {
            self.tell_host(host, message);
        } else if link.held.len() < MOST_ORDERS_HELD {
            link.held.push(after, gives, message);
        } else {
            tracing::error!(
                host = host.0,
                "too many orders wait for the directory: the host is let go"
            );
            self.slow_hosts += 1;
            self.hosts.remove(&host);
        }
    }

    /// Lets go what has waited for the directory.
    fn release(&mut self) {
        let Progress { written, ill } = self.progress;
        let mut frames = Vec::new();
        self.holding.retain(|&conn| {
            let Some(client) = self.clients.get_mut(&conn) else {
                return false;
            };
            frames.extend(
                std::iter::from_fn(|| client.held.pop(written, ill)).map(|frame| (conn, frame)),
            );
            !client.held.is_empty()
        });
        for (conn, frame) in frames {
            self.deliver(conn, &frame);
        }
        let mut orders = Vec::new();
        for (&host, link) in &mut self.hosts {
            orders.extend(
                link.held
                    .pop_by(written, ill, room_of)
                    .into_iter()
                    .map(|order| (host, order)),
            );
        }
        for (host, order) in orders {
            self.tell_host(host, order);
        }
    }

    fn deliver(&mut self, conn: ConnId, frame: &Bytes) {
        if let Some(client) = self.clients.get(&conn)
            && client.session.try_send(Deliver(frame.clone())).is_err()
        {
            self.cut_off(conn);
        }
    }

    fn close(&mut self, conn: ConnId, code: ErrorCode, message: String) {
        if let Some(client) = self.clients.get(&conn)
            && client.session.try_send(Close { code, message }).is_err()
        {
            self.cut_off(conn);
        }
    }

    /// A session that does not take its messages: the connection's end will be told like any other.
    fn cut_off(&mut self, conn: ConnId) {
        let Some(client) = self.clients.get(&conn) else {
            return;
        };
        if !client.line.is_closed() {
            self.slow_sessions += 1;
            let code = ErrorCode::SlowReader;
            client.line.close(code, &codes::name(code));
        }
    }

    fn tell_host(&mut self, host: HostId, mut message: WorldToHost) {
        if let Some(world_to_host::Body::OpenRoom(open)) = &mut message.body {
            let room = RoomId(open.room);
            // Without it the host says that it can't go on with the room, and the lobby does what
            // is left to do.
            let now = self.clock.now();
            let resume = open.resume.take();
            open.resume = resume.map(|order| self.kept.resume(now, room, order));
            self.kept.place(now, room, host);
        }
        let Some(link) = self.hosts.get(&host) else {
            return;
        };
        if link.commands.try_send(message).is_err() {
            // Full: it has not read thousands of messages. Without our end of the link it is gone,
            // which is told like any other host's end.
            tracing::error!(host = host.0, "a host does not take its messages");
            self.slow_hosts += 1;
            self.hosts.remove(&host);
        }
    }

    /// Writes down what is known of a room that kills its hosts, if rooms are recorded, on a thread
    /// that may wait for the disk.
    fn keep_condemned(&self, mut order: OpenRoom) {
        let room = RoomId(order.room);
        let Some(path) = self
            .record
            .as_ref()
            .map(|directory| directory.join(format!("room-{room}.kept")))
        else {
            return tracing::error!(
                room = room.0,
                "with `--record` what is known of such a room is kept"
            );
        };
        let now = self.clock.now();
        order.resume = order
            .resume
            .take()
            .map(|wanted| self.kept.resume(now, room, wanted));
        let written = std::thread::Builder::new().name("ambit-kept".into()).spawn(move || {
            match std::fs::write(&path, order.encode_to_vec()) {
                Ok(()) => tracing::error!(room = room.0, path = %path.display(), "what is known of the room is kept"),
                Err(error) => tracing::error!(room = room.0, path = %path.display(), "not kept: {error}"),
            }
        });
        if let Err(error) = written {
            tracing::error!(
                room = room.0,
                "what is known of the room is not kept: {error}"
            );
        }
    }

    fn wake_at(&mut self, deadline: Option<LocalTime>, ctx: &mut Context<Self>) {
        if self.alarm.map(|(at, _)| at) == deadline {
            return;
        }
        if let Some((_, handle)) = self.alarm.take() {
            ctx.cancel_future(handle);
        }
        self.alarm = deadline.map(|at| {
            let handle = ctx.run_later(at.since(self.clock.now()), |actor, ctx| {
                actor.alarm = None;
                actor.lobby.handle_timeout(actor.clock.now());
                actor.settle(ctx);
            });
            (at, handle)
        });
    }

    fn forget_host(&mut self, host: HostId) {
        self.hosts.remove(&host);
        let last = self
            .lobby
            .hosts()
            .find(|(id, _)| *id == host)
            .map(|(_, host)| &host.stats);
        if let Some(last) = last {
            add_stats(&mut self.gone, last);
        }
    }

    fn snapshot(&self) -> Snapshot {
        let drops = [
            ("lobby_mailbox/slow_session", self.slow_sessions),
            ("host_commands/slow_host", self.slow_hosts),
        ];
        Snapshot {
            lobby: self.lobby.stats(),
            rooms: self.lobby.rooms(),
            hosts: self
                .lobby
                .hosts()
                .map(|(id, host)| (id, host.clone()))
                .collect(),
            gone: self.gone.clone(),
            drops: drops
                .into_iter()
                .map(|(name, count)| (name.to_owned(), count))
                .collect(),
            draining: self.draining,
            role: None,
        }
    }
}

/// The room that an order is about; none for the host itself.
fn room_of(order: &WorldToHost) -> Option<u64> {
    match order.body.as_ref()? {
        world_to_host::Body::OpenRoom(order) => Some(order.room),
        world_to_host::Body::CloseRoom(order) => Some(order.room),
        world_to_host::Body::RemovePlayer(order) => Some(order.room),
        world_to_host::Body::RenamePlayer(order) => Some(order.room),
        world_to_host::Body::LetGo(order) => Some(order.room),
        world_to_host::Body::Stay(order) => Some(order.room),
        world_to_host::Body::Admit(order) => Some(order.room),
        world_to_host::Body::Roster(order) => Some(order.room),
        world_to_host::Body::Configure(_)
        | world_to_host::Body::Drain(_)
        | world_to_host::Body::Heard(_)
        | world_to_host::Body::Kept(_) => None,
    }
}

fn encode(message: &WorldToClient) -> Bytes {
    encode_frame(message)
}

impl Actor for WorldServer {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(MAILBOX);
    }
}

impl Handler<Connect> for WorldServer {
    type Result = MessageResult<Connect>;

    fn handle(
        &mut self,
        Connect {
            address,
            session,
            line,
        }: Connect,
        ctx: &mut Self::Context,
    ) -> Self::Result {
        self.last_conn += 1;
        let conn = ConnId(self.last_conn);
        self.clients.insert(
            conn,
            Client {
                session,
                line,
                held: Held::default(),
            },
        );
        self.lobby.handle_connect(self.clock.now(), conn, address);
        self.settle(ctx);
        MessageResult(conn)
    }
}

impl Handler<Frame> for WorldServer {
    type Result = ();

    fn handle(&mut self, Frame { conn, frame }: Frame, ctx: &mut Self::Context) {
        self.lobby.handle_frame(self.clock.now(), conn, &frame);
        self.settle(ctx);
    }
}

impl Handler<Malformed> for WorldServer {
    type Result = ();

    fn handle(&mut self, Malformed { conn, code }: Malformed, ctx: &mut Self::Context) {
        self.lobby.handle_malformed(self.clock.now(), conn, code);
        self.settle(ctx);
    }
}

impl Handler<Disconnect> for WorldServer {
    type Result = ();

    fn handle(&mut self, Disconnect { conn, quit }: Disconnect, ctx: &mut Self::Context) {
        self.clients.remove(&conn);
        let now = self.clock.now();
        if quit {
            self.lobby.handle_quit(now, conn);
        } else {
            self.lobby.handle_disconnect(now, conn);
        }
        self.settle(ctx);
    }
}

impl Handler<HostStart> for WorldServer {
    type Result = MessageResult<HostStart>;

    fn handle(
        &mut self,
        HostStart(commands, origin): HostStart,
        ctx: &mut Self::Context,
    ) -> Self::Result {
        self.last_host += 1;
        let host = HostId(self.last_host);
        self.hosts.insert(
            host,
            HostLink {
                commands,
                held: Held::default(),
            },
        );
        self.lobby.handle_host_start(self.clock.now(), host, origin);
        self.settle(ctx);
        MessageResult((host, self.clock, Arc::clone(&self.kept)))
    }
}

impl Handler<HostSays> for WorldServer {
    type Result = ();

    fn handle(&mut self, HostSays(host, message): HostSays, ctx: &mut Self::Context) {
        self.lobby.handle_host(self.clock.now(), host, message);
        self.settle(ctx);
    }
}

impl Handler<HostGone> for WorldServer {
    type Result = ();

    fn handle(&mut self, HostGone(host, reason): HostGone, ctx: &mut Self::Context) {
        self.forget_host(host);
        self.lobby.handle_host_gone(self.clock.now(), host, &reason);
        self.settle(ctx);
    }
}

impl Handler<SetServers> for WorldServer {
    type Result = ();

    fn handle(&mut self, SetServers(servers): SetServers, ctx: &mut Self::Context) {
        self.lobby.set_servers(servers);
        self.settle(ctx);
    }
}

impl Handler<Written> for WorldServer {
    type Result = ();

    fn handle(&mut self, Written(progress): Written, _: &mut Self::Context) {
        if progress.ill != self.progress.ill {
            tracing::warn!(works = !progress.ill, "the directory");
        }
        self.progress = progress;
        self.lobby.set_directory_works(!progress.ill);
        self.release();
    }
}

impl Handler<DrainNow> for WorldServer {
    type Result = ();

    fn handle(&mut self, DrainNow(drained): DrainNow, ctx: &mut Self::Context) {
        self.draining = true;
        self.drained = Some(drained);
        self.lobby.drain(self.clock.now());
        self.settle(ctx);
    }
}

impl Handler<Look> for WorldServer {
    type Result = MessageResult<Look>;

    fn handle(&mut self, _: Look, _: &mut Self::Context) -> Self::Result {
        MessageResult(Box::new(self.snapshot()))
    }
}
