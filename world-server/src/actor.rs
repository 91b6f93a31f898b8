//! The actix actor around the lobby.
//!
//! Frames of sessions and messages of hosts come in through a bounded mailbox. The lobby's outputs
//! go to sessions and hosts. All decisions are made in [`ambit_lobby`].
//!
//! Senders wait until their message is handled, so each session and each host has at most one
//! message in the mailbox. This actor never waits for a receiver. News for a client whose queue is
//! full are dropped, and the client learns later what it has missed; a client or host for whom more
//! waits than it may is disconnected. No other client is affected.

pub(crate) mod calls;
mod questions;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use actix::prelude::*;
use ambit_host_protocol::generated::WorldToHost;
use ambit_host_protocol::messages::WorldOrder;
use ambit_host_protocol::protobuf::messages_of_order;
use ambit_host_protocol::stats::HostStats;
use ambit_lobby::{ConnId, FrameKind, HostId, Lobby, LobbyAction};
use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::world::WorldToClient;
use ambit_proto::frame::encode_frame;
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;
use ambit_room::recording::{Header, recording_of};
use bytes::Bytes;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use self::questions::RoomQuestions;
use crate::accounts::AccountDesk;
use crate::admin::snapshot::{Snapshot, add_stats};
use crate::client_connection::ClientConnection;
use crate::cluster::write_queue::WriteQueue;
use crate::hosts::heard_hosts::HeardHosts;
use crate::hosts::room_checkpoints::RoomCheckpoints;
use crate::operator_log::OperatorLog;
use crate::outgoing::{Enqueued, OutgoingQueue};

/// Messages in the mailbox; senders beyond that wait.
const MAILBOX_MESSAGES: usize = 1_024;

struct ConnectedClient {
    connection: ClientConnection,
    queue: Arc<OutgoingQueue>,
}

/// The lobby with its clients and hosts; see the module.
pub(crate) struct WorldServer {
    lobby: Lobby,
    clock: LobbyClock,
    accounts: AccountDesk,
    operator_log: OperatorLog,
    clients: BTreeMap<ConnId, ConnectedClient>,
    /// Where the orders to each host go.
    hosts: BTreeMap<HostId, mpsc::Sender<WorldToHost>>,
    /// Only in a cluster: takes the lobby's records for the directory.
    write_queue: Option<Arc<WriteQueue>>,
    /// Whether the directory does not work.
    is_directory_away: bool,
    /// The number of child processes that the lobby wants.
    children: watch::Sender<u32>,
    /// The newest state of each room, as its host sent it.
    checkpoints: Arc<RoomCheckpoints>,
    /// When each host was heard last.
    heard_hosts: Arc<HeardHosts>,
    questions: RoomQuestions,
    last_conn: u64,
    last_host: u64,
    wakeup: Option<(LocalTime, SpawnHandle)>,
    /// Counters of the hosts that were lost, so that totals never decrease.
    lost_host_stats: HostStats,
    /// Sessions and hosts that were disconnected because their queue was full.
    slow_sessions: u64,
    /// News that clients have missed, by their names in metrics.
    missed_news: BTreeMap<&'static str, u64>,
    slow_hosts: u64,
    draining: bool,
    /// This process ends, and hosts get no more orders.
    holds_orders: bool,
    drained: Option<oneshot::Sender<()>>,
    /// Shuts the server down.
    stop: CancellationToken,
    /// The directory of room recordings (`--record`).
    recording_directory: Option<PathBuf>,
    /// Dropped with the actor. Only a panic ends the actor, so the receiver detects a panic.
    _lifeline: oneshot::Sender<Infallible>,
}

/// The lobby's clock. Its origin is also the origin of `LobbyConfig::epoch_unix`, from which the
/// expiry of tickets is computed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LobbyClock {
    origin: Instant,
}

impl LobbyClock {
    /// Starts the clock. Returns it with the time since 1970 at its origin.
    #[expect(clippy::disallowed_methods, reason = "a shell's clock")]
    pub(crate) fn start() -> (Self, Duration) {
        let epoch_unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        (Self { origin: Instant::now() }, epoch_unix)
    }

    /// The time since the origin.
    pub(crate) fn now(self) -> LocalTime {
        LocalTime::from_micros(self.origin.elapsed().as_micros() as u64)
    }
}

/// What the actor shares with the tasks that answer HTTP; clones share it.
#[derive(Clone)]
pub(crate) struct LobbyDesks {
    pub(crate) accounts: AccountDesk,
    pub(crate) operator_log: OperatorLog,
}

/// What the actor begins with.
pub(crate) struct ActorParts {
    pub(crate) lobby: Lobby,
    pub(crate) clock: LobbyClock,
    pub(crate) desks: LobbyDesks,
    /// The number of child processes that the lobby wants.
    pub(crate) children: watch::Sender<u32>,
    /// Only in a cluster.
    pub(crate) write_queue: Option<Arc<WriteQueue>>,
    /// The directory of room recordings (`--record`).
    pub(crate) recording_directory: Option<PathBuf>,
    pub(crate) checkpoints: Arc<RoomCheckpoints>,
    /// Shuts the server down.
    pub(crate) stop: CancellationToken,
    /// Dropped with the actor.
    pub(crate) lifeline: oneshot::Sender<Infallible>,
}

impl WorldServer {
    pub(crate) fn new(parts: ActorParts) -> Self {
        let ActorParts { lobby, clock, desks, children, write_queue, .. } = parts;
        let last_host = lobby.last_host().0;
        Self {
            lobby,
            clock,
            accounts: desks.accounts,
            operator_log: desks.operator_log,
            clients: BTreeMap::new(),
            hosts: BTreeMap::new(),
            write_queue,
            is_directory_away: false,
            children,
            checkpoints: parts.checkpoints,
            heard_hosts: Arc::default(),
            questions: RoomQuestions::default(),
            last_conn: 0,
            last_host,
            wakeup: None,
            lost_host_stats: HostStats::default(),
            slow_sessions: 0,
            missed_news: BTreeMap::new(),
            slow_hosts: 0,
            draining: false,
            holds_orders: false,
            drained: None,
            stop: parts.stop,
            recording_directory: parts.recording_directory,
            _lifeline: parts.lifeline,
        }
    }

    /// Calls the lobby, then carries out its outputs. If one of its timers is due, the lobby first
    /// receives when each host was heard; see `heard_hosts`.
    fn call_lobby(&mut self, ctx: &mut Context<Self>, call: impl FnOnce(&mut Lobby, LocalTime)) {
        let heard_hosts = Arc::clone(&self.heard_hosts);
        let mut now = self.clock.now();
        let is_due = self.lobby.next_deadline().is_some_and(|at| at <= now);
        let mut held = is_due.then(|| heard_hosts.hold());
        if let Some(held) = &held {
            // No time in the table is newer than this.
            now = self.clock.now();
            for (&host, &silence) in held.iter() {
                self.lobby.set_host_silence(host, silence);
            }
        }
        call(&mut self.lobby, now);
        let outputs: Vec<LobbyAction> = std::iter::from_fn(|| self.lobby.poll_output()).collect();
        if let Some(held) = &mut held {
            for output in &outputs {
                if let LobbyAction::DisconnectHost { host } = output {
                    held.remove(host);
                }
            }
        }
        drop(held);
        self.process_outputs(outputs, ctx);
    }

    /// Carries out the lobby's outputs and schedules the next timeout. Rooms are set aside before
    /// the records of the same call say that they are gone. What waits until the directory has
    /// stored records, the lobby knows.
    fn process_outputs(&mut self, all: Vec<LobbyAction>, ctx: &mut Context<Self>) {
        let mut outputs = Vec::new();
        let mut records = Vec::new();
        for output in all {
            match output {
                LobbyAction::Record { key, value } => records.push((key, value)),
                LobbyAction::SetAsideRoom { header, build, why } => {
                    self.checkpoints.set_aside(header, build, why);
                }
                output => outputs.push(output),
            }
        }
        if let Some(keeper) = self.checkpoints.keeper()
            && !records.is_empty()
        {
            keeper.keep_records(records.iter().cloned());
        }
        if let Some(write_queue) = &self.write_queue
            && !records.is_empty()
        {
            write_queue.enqueue(self.lobby.newest_write(), records);
        }
        for output in outputs {
            match output {
                LobbyAction::Send { conn, message } => {
                    self.deliver(conn, FrameKind::of(&message), &encode(&message));
                }
                LobbyAction::Broadcast { conns, message } => {
                    let kind = FrameKind::of(&message);
                    let frame = encode(&message);
                    for conn in conns {
                        self.deliver(conn, kind, &frame);
                    }
                }
                LobbyAction::Close { conn, code: ErrorCode::SlowReader, .. } => {
                    self.close_slow_client(conn);
                }
                LobbyAction::Close { conn, code, message } => self.close(conn, code, &message),
                // The next server gives the rooms to hosts.
                LobbyAction::Host { .. } if self.holds_orders => {}
                LobbyAction::Host { host, order } => self.send_to_host(host, order),
                LobbyAction::Store { request, job } => self.begin_store_job(ctx, request, job),
                LobbyAction::StoreLast { request, job } => self.accounts.begin_last(request, job),
                LobbyAction::ForgetStoreJobs { lineage, room } => {
                    tokio::spawn(self.accounts.clone().forget_room(lineage, room));
                }
                LobbyAction::Account { source, job } => {
                    self.begin_account_job(ctx, source, job);
                }
                // Dropping our end closes the link; a child that does not exit then is killed.
                LobbyAction::DisconnectHost { host } => {
                    self.heard_hosts.remove(host);
                    self.hosts.remove(&host);
                }
                LobbyAction::SaveCondemned { header } => self.save_condemned_room(header),
                LobbyAction::NoteTrial { room } => {
                    if let Some(keeper) = self.checkpoints.keeper() {
                        keeper.note_trial(room);
                    }
                }
                LobbyAction::RestoreDone => {
                    if let Some(keeper) = self.checkpoints.keeper() {
                        keeper.finish_start();
                    }
                }
                LobbyAction::ForgetRoom { room } => self.checkpoints.remove(room),
                LobbyAction::AdoptRoom { room, host } => {
                    self.checkpoints.adopt(self.clock.now(), room, host);
                }
                LobbyAction::Record { .. } | LobbyAction::SetAsideRoom { .. } => {}
                LobbyAction::Report(event) => self.operator_log.report(event),
                LobbyAction::SetChildCount(count) => drop(self.children.send_replace(count)),
            }
        }
        if self.lobby.is_drained()
            && let Some(drained) = self.drained.take()
        {
            // The receiver is dropped when the drain has timed out.
            let _ = drained.send(());
        }
        if self.lobby.is_end_due(self.clock.now()) {
            self.stop.cancel();
        }
        self.wake_at(self.lobby.next_deadline(), ctx);
    }

    fn deliver(&mut self, conn: ConnId, kind: FrameKind, frame: &Bytes) {
        let Some(client) = self.clients.get(&conn) else {
            return;
        };
        match client.queue.push(kind, frame) {
            Enqueued::Waits => {}
            Enqueued::Dropped => self.count_missed(kind),
            Enqueued::Full => self.close_slow_client(conn),
        }
    }

    fn count_missed(&mut self, kind: FrameKind) {
        if let Some(name) = kind.drop_name() {
            *self.missed_news.entry(name).or_default() += 1;
        }
    }

    fn close(&self, conn: ConnId, code: ErrorCode, message: &str) {
        if let Some(client) = self.clients.get(&conn)
            && !client.queue.close(code, message)
        {
            // There is no stream yet for a last message.
            client.connection.close(code, message);
        }
    }

    /// Closes a client for whom too much waits. The session then reports the end of the connection
    /// as usual.
    fn close_slow_client(&mut self, conn: ConnId) {
        let Some(client) = self.clients.get(&conn) else {
            return;
        };
        if !client.connection.is_closed() {
            self.slow_sessions += 1;
            let code = ErrorCode::SlowReader;
            client.connection.close(code, &codes::name(code));
        }
    }

    fn send_to_host(&mut self, host: HostId, order: WorldOrder) {
        let order = self.checkpoints.complete_order(self.clock.now(), host, order);
        let Some(link) = self.hosts.get(&host) else {
            return;
        };
        let mut messages = messages_of_order(order).into_iter();
        if messages.any(|message| link.try_send(message).is_err()) {
            // The queue holds thousands of messages: the host does not read. Dropping our end
            // closes the link, and the end of the link is reported as usual.
            tracing::error!(host = host.0, "host disconnected: it does not read its messages");
            self.slow_hosts += 1;
            self.hosts.remove(&host);
        }
    }

    /// Saves a room that seems to crash its hosts for analysis, if rooms are recorded. A thread of
    /// its own waits for the disk.
    fn save_condemned_room(&self, header: Header) {
        let room = header.room;
        let Some(path) = self
            .recording_directory
            .as_ref()
            .map(|directory| directory.join(format!("room-{room}-condemned.rec")))
        else {
            return tracing::error!(
                room,
                "room state not saved for analysis: start with `--record DIR` to save it"
            );
        };
        let Some(saved) = self.checkpoints.saved(RoomId(room)) else {
            return tracing::error!(room, "room state not saved for analysis: no checkpoint");
        };
        let written = std::thread::Builder::new().name("ambit-condemned".into()).spawn(move || {
            match std::fs::write(&path, recording_of(&header, &saved)) {
                Ok(()) => tracing::error!(
                    room,
                    path = %path.display(),
                    "room state saved for analysis"
                ),
                Err(error) => tracing::error!(
                    room,
                    path = %path.display(),
                    "cannot save the room state for analysis: {error}"
                ),
            }
        });
        if let Err(error) = written {
            tracing::error!(
                room,
                "cannot start a thread to save the room state for analysis: {error}"
            );
        }
    }

    fn wake_at(&mut self, deadline: Option<LocalTime>, ctx: &mut Context<Self>) {
        if self.wakeup.map(|(at, _)| at) == deadline {
            return;
        }
        if let Some((_, handle)) = self.wakeup.take() {
            ctx.cancel_future(handle);
        }
        self.wakeup = deadline.map(|at| {
            let handle = ctx.run_later(at.since(self.clock.now()), |actor, ctx| {
                actor.wakeup = None;
                actor.call_lobby(ctx, Lobby::handle_timeout);
            });
            (at, handle)
        });
    }

    fn forget_host(&mut self, host: HostId) {
        self.heard_hosts.remove(host);
        self.hosts.remove(&host);
        let last = self.lobby.hosts().find(|(id, _)| *id == host).map(|(_, host)| &host.stats);
        if let Some(last) = last {
            add_stats(&mut self.lost_host_stats, last);
        }
    }

    /// The state that `/metrics` and the page show.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let drops = [
            ("lobby_mailbox/slow_session", self.slow_sessions),
            ("host_commands/slow_host", self.slow_hosts + self.lobby.overflowed_hosts()),
        ];
        let mut missed = self.missed_news.clone();
        for (name, count) in self.lobby.missed_news() {
            *missed.entry(name).or_default() += count;
        }
        let drops = drops.into_iter().chain(missed);
        Snapshot {
            lobby: self.lobby.stats(),
            rooms: self.lobby.rooms(),
            hosts: self.lobby.hosts().map(|(id, host)| (id, host.clone())).collect(),
            lost_host_stats: self.lost_host_stats.clone(),
            drops: drops.map(|(name, count)| (name.to_owned(), count)).collect(),
            draining: self.draining,
            planned_end: self.lobby.planned_end(self.clock.now()),
            kept: self.checkpoints.keep_stats(),
            waiting_rooms: self.lobby.waiting_rooms(),
            files_set_aside: self.checkpoints.files_set_aside(),
            // The shell adds what it counts itself.
            wire: BTreeMap::new(),
            role: None,
        }
    }
}

fn encode(message: &WorldToClient) -> Bytes {
    encode_frame(message)
}

impl Actor for WorldServer {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(MAILBOX_MESSAGES);
    }
}

#[cfg(test)]
pub(crate) mod tests;
