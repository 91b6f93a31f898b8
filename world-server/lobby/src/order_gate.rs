//! Which orders to hosts, and which messages to clients, wait until the directory has stored what
//! they follow from.
//!
//! In a cluster, an order makes a host forget or begin something that only the leader knows, and an
//! answer confirms it. If the leader died before the directory has it, its successor would not know
//! it. So orders, answers (deferred ones, too) and tickets leave once the records of the same call
//! are stored. While the directory does not work, only orders that open a room wait, since two
//! hosts must never run one room, and answers that a room was made; the others can be revoked.
//!
//! The outputs of a call go in with [`OrderGate::pass`]; what may leave comes out of
//! [`OrderGate::poll`], also after [`OrderGate::note_progress`].
//!
//! Invariants:
//! 1. An order or answer leaves only after the write with the records of its call, but for the
//!    exceptions above, and heartbeats, which say nothing.
//! 2. Orders about one room, those about the host itself, and messages to one client keep their
//!    sequence.
//! 3. An order to open a room that is gone never leaves.
//!
//! Bounds: [`MAX_WAITING`] orders for each host; a host with more is disconnected. [`MAX_FRAMES`]
//! messages for each client, with more it is disconnected; beyond [`MAX_NEWS`] news are dropped,
//! and the client gets what they have led to. Without a cluster nothing waits.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ambit_host_protocol::messages::WorldOrder;
use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::world::{WorldToClient, world_to_client::Body};
use ambit_proto::ids::RoomId;

use crate::frame_kind::FrameKind;
use crate::output::{ConnId, HostId, LobbyAction, MissedNews, OutputQueue};
use crate::pending_writes::PendingWrites;

/// More than one host is sent while a NATS broker elects a leader.
const MAX_WAITING: usize = 4_096;
/// More than one client is sent in that time.
const MAX_FRAMES: usize = 256;
/// Messages beyond which news are dropped.
const MAX_NEWS: usize = 64;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct OrderGate {
    /// Whether anything waits at all.
    waits: bool,
    /// The number of the newest write.
    newest: u64,
    /// The writes up to this number are stored.
    written: u64,
    /// Whether the directory does not store writes in time.
    is_unavailable: bool,
    orders: BTreeMap<HostId, PendingWrites<WorldOrder>>,
    messages: BTreeMap<ConnId, PendingWrites<WorldToClient>>,
    missed: MissedWhileWaiting,
    /// Clients that are disconnected because too much waited.
    overflowed: BTreeSet<ConnId>,
    /// Hosts that were.
    lost_hosts: u64,
    /// What may leave.
    outputs: VecDeque<LobbyAction>,
}

/// News that were dropped.
#[derive(Debug, Default)]
struct MissedWhileWaiting {
    /// By client, until nothing waits for it.
    by_conn: BTreeMap<ConnId, MissedNews>,
    /// All, by their names in metrics.
    counts: BTreeMap<&'static str, u64>,
}

impl OrderGate {
    /// `waits`: whether orders and answers wait for the directory.
    pub(super) fn new(waits: bool) -> Self {
        Self { waits, ..Self::default() }
    }

    /// Takes the outputs of a call. Its records come out first, so that the shell can write them
    /// under the number that the others wait for.
    pub(super) fn pass(&mut self, outbox: &mut OutputQueue) {
        let all: Vec<LobbyAction> = std::iter::from_fn(|| outbox.poll()).collect();
        if !self.waits {
            self.outputs.extend(all);
            return;
        }
        let is_record = |action: &LobbyAction| matches!(action, LobbyAction::Record { .. });
        let (records, others): (Vec<_>, Vec<_>) = all.into_iter().partition(is_record);
        let after = if records.is_empty() {
            0
        } else {
            self.newest += 1;
            self.newest
        };
        self.outputs.extend(records);
        for action in others {
            self.pass_one(after, action);
        }
    }

    fn pass_one(&mut self, after: u64, action: LobbyAction) {
        match action {
            LobbyAction::Host { host, order } => return self.order(host, after, order),
            LobbyAction::Send { conn, message } => return self.send(conn, after, message),
            LobbyAction::Broadcast { conns, message } => return self.broadcast(conns, message),
            LobbyAction::DisconnectHost { host } => self.forget_host(host),
            LobbyAction::ForgetRoom { room } => self.forget_room(room),
            _ => {}
        }
        self.outputs.push_back(action);
    }

    /// What the shell has to do next.
    pub(super) fn poll(&mut self) -> Option<LobbyAction> {
        self.outputs.pop_front()
    }

    /// The number of the write that has the records which came out last.
    pub(super) fn newest_write(&self) -> u64 {
        self.newest
    }

    /// The writes up to this number are stored, and the directory works, or does not. Returns the
    /// clients for whom nothing waits any more, and who have missed news.
    pub(super) fn note_progress(
        &mut self,
        written: u64,
        is_unavailable: bool,
    ) -> Vec<(ConnId, MissedNews)> {
        (self.written, self.is_unavailable) = (written, is_unavailable);
        for (&conn, messages) in &mut self.messages {
            let ready = std::iter::from_fn(|| messages.pop_ready(written, is_unavailable));
            let ready = ready.map(|message| LobbyAction::Send { conn, message });
            self.outputs.extend(ready);
        }
        self.messages.retain(|_, messages| !messages.is_empty());
        for (&host, orders) in &mut self.orders {
            let ready = orders.pop_ready_by_key(written, is_unavailable, room_of_order);
            let ready = ready.into_iter().map(|order| LobbyAction::Host { host, order });
            self.outputs.extend(ready);
        }
        self.orders.retain(|_, orders| !orders.is_empty());
        let missed = std::mem::take(&mut self.missed.by_conn).into_iter();
        let (waiting, free): (Vec<_>, Vec<_>) =
            missed.partition(|(conn, _)| self.messages.contains_key(conn));
        self.missed.by_conn = waiting.into_iter().collect();
        free
    }

    /// The link to the host is gone, and what waited for it.
    pub(super) fn forget_host(&mut self, host: HostId) {
        self.orders.remove(&host);
    }

    /// The same of a client.
    pub(super) fn forget_conn(&mut self, conn: ConnId) {
        self.messages.remove(&conn);
        self.missed.by_conn.remove(&conn);
        self.overflowed.remove(&conn);
    }

    /// Hosts that were disconnected because too many orders waited.
    pub(super) fn lost_hosts(&self) -> u64 {
        self.lost_hosts
    }

    /// News that were dropped, by their names in metrics.
    pub(super) fn missed_counts(&self) -> &BTreeMap<&'static str, u64> {
        &self.missed.counts
    }

    fn order(&mut self, host: HostId, after: u64, order: WorldOrder) {
        let is_heard = matches!(order, WorldOrder::AcknowledgeHeartbeat { .. });
        let opens_room = matches!(order, WorldOrder::OpenRoom(..));
        let waits = after > self.written && (opens_room || !self.is_unavailable);
        let orders = self.orders.get(&host);
        let room = room_of_order(&order);
        let is_behind =
            || orders.is_some_and(|orders| orders.iter().any(|other| room_of_order(other) == room));
        if is_heard || !waits && !is_behind() {
            self.outputs.push_back(LobbyAction::Host { host, order });
        } else if orders.is_none_or(|orders| orders.len() < MAX_WAITING) {
            self.orders.entry(host).or_default().push(after, opens_room, order);
        } else {
            tracing::error!(
                host = host.0,
                "host disconnected: too many orders wait for the directory"
            );
            self.lost_hosts += 1;
            self.forget_host(host);
            self.outputs.push_back(LobbyAction::DisconnectHost { host });
        }
    }

    fn send(&mut self, conn: ConnId, after: u64, message: WorldToClient) {
        let confirms = message.request != 0 || matches!(message.body, Some(Body::Ticket(_)));
        let is_strict = matches!(message.body, Some(Body::RoomCreated(_)));
        let waits = confirms && after > self.written && (is_strict || !self.is_unavailable);
        let waiting = self.messages.get(&conn).map_or(0, PendingWrites::len);
        let kind = FrameKind::of(&message);
        if self.overflowed.contains(&conn) {
            // It is about to be disconnected.
        } else if !waits && waiting == 0 {
            self.outputs.push_back(LobbyAction::Send { conn, message });
        } else if kind != FrameKind::Essential && waiting >= MAX_NEWS {
            self.missed.by_conn.entry(conn).or_default().add(kind.as_missed());
            if let Some(name) = kind.drop_name() {
                *self.missed.counts.entry(name).or_default() += 1;
            }
        } else if waiting < MAX_FRAMES {
            let after = if confirms { after } else { 0 };
            self.messages.entry(conn).or_default().push(after, is_strict, message);
        } else {
            self.forget_conn(conn);
            self.overflowed.insert(conn);
            let (code, message) = (ErrorCode::SlowReader, codes::name(ErrorCode::SlowReader));
            self.outputs.push_back(LobbyAction::Close { conn, code, message });
        }
    }

    /// News confirm nothing, but come after what was sent before.
    fn broadcast(&mut self, conns: Vec<ConnId>, message: WorldToClient) {
        let is_behind =
            |conn: &ConnId| self.messages.contains_key(conn) || self.overflowed.contains(conn);
        let (behind, free): (Vec<ConnId>, Vec<ConnId>) = conns.into_iter().partition(is_behind);
        for conn in behind {
            self.send(conn, 0, message.clone());
        }
        if !free.is_empty() {
            self.outputs.push_back(LobbyAction::Broadcast { conns: free, message });
        }
    }

    /// Orders to open it do not leave.
    fn forget_room(&mut self, room: RoomId) {
        let opens = |order: &WorldOrder| {
            matches!(order, WorldOrder::OpenRoom(..)) && room_of_order(order) == Some(room)
        };
        for orders in self.orders.values_mut() {
            orders.retain(|order| !opens(order));
        }
    }
}

/// The room that an order is about; `None` for orders about the host itself.
fn room_of_order(order: &WorldOrder) -> Option<RoomId> {
    match order {
        WorldOrder::OpenRoom(assignment, _) => Some(assignment.room),
        WorldOrder::RoomPiece { room, .. }
        | WorldOrder::CloseRoom { room, .. }
        | WorldOrder::RoomTaken(room)
        | WorldOrder::Room(room, _) => Some(*room),
        WorldOrder::Configure(_)
        | WorldOrder::Drain
        | WorldOrder::HandOver
        | WorldOrder::AcknowledgeHeartbeat { .. }
        | WorldOrder::AcknowledgeJournal(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ambit_host_protocol::messages::RoomAssignment;
    use ambit_proto::control::world;

    use super::*;
    use crate::output::RecordKey;

    const HOST: HostId = HostId(1);
    const CONN: ConnId = ConnId(1);

    #[test]
    fn an_order_leaves_once_the_records_of_its_call_are_stored() {
        let mut gate = OrderGate::new(true);
        assert_eq!(after_call(&mut gate, vec![close(1), record()]), [record()]);
        assert_eq!(gate.newest_write(), 1);
        assert_eq!(after_call(&mut gate, vec![close(2)]), [close(2)], "it follows from no record");
        assert_eq!(after_call(&mut gate, vec![close(1)]), [], "behind another about the room");
        gate.note_progress(1, false);
        assert_eq!(left(&mut gate), [close(1), close(1)]);
        assert_eq!(after_call(&mut gate, vec![close(1)]), [close(1)]);
    }

    #[test]
    fn while_the_directory_is_away_only_orders_that_open_rooms_wait() {
        let mut gate = OrderGate::new(true);
        gate.note_progress(0, true);
        let all = vec![open(1), close(1), close(2), heartbeat(), record()];
        assert_eq!(after_call(&mut gate, all), [record(), close(2), heartbeat()]);
        gate.note_progress(0, true);
        assert_eq!(left(&mut gate), []);
        gate.note_progress(1, false);
        assert_eq!(left(&mut gate), [open(1), close(1)]);
    }

    #[test]
    fn what_waits_for_a_lost_host_or_a_room_that_is_gone_never_leaves() {
        let mut gate = OrderGate::new(true);
        let all = vec![open(1), close(2), record()];
        assert_eq!(after_call(&mut gate, all), [record()]);
        let gone = LobbyAction::ForgetRoom { room: RoomId(1) };
        assert_eq!(after_call(&mut gate, vec![gone.clone()]), [gone]);
        gate.note_progress(1, false);
        assert_eq!(left(&mut gate), [close(2)]);
        after_call(&mut gate, vec![close(3), record()]);
        gate.forget_host(HOST);
        gate.note_progress(2, false);
        assert_eq!(left(&mut gate), []);
    }

    #[test]
    fn a_host_for_whom_too_much_waits_is_disconnected() {
        let mut gate = OrderGate::new(true);
        let mut all = vec![close(1); MAX_WAITING + 1];
        all.push(record());
        let gone = LobbyAction::DisconnectHost { host: HOST };
        assert_eq!(after_call(&mut gate, all), [record(), gone]);
        assert_eq!((gate.lost_hosts(), gate.orders.len()), (1, 0));
    }

    #[test]
    fn answers_and_tickets_leave_with_their_records_and_in_sequence() {
        let mut gate = OrderGate::new(true);
        let all = vec![chat(), answer(1), ticket(), chat(), record()];
        assert_eq!(after_call(&mut gate, all), [record(), chat()]);
        let both =
            LobbyAction::Broadcast { conns: vec![CONN, ConnId(2)], message: message_of(chat()) };
        let other = LobbyAction::Broadcast { conns: vec![ConnId(2)], message: message_of(chat()) };
        assert_eq!(after_call(&mut gate, vec![both]), [other], "the first one waits");
        gate.note_progress(1, false);
        assert_eq!(left(&mut gate), [answer(1), ticket(), chat(), chat()]);
        assert_eq!(after_call(&mut gate, vec![answer(2)]), [answer(2)]);
    }

    #[test]
    fn while_the_directory_is_away_only_the_answer_that_a_room_was_made_waits() {
        let mut gate = OrderGate::new(true);
        gate.note_progress(0, true);
        let made = send(3, Body::RoomCreated(world::RoomCreated::default()));
        let all = vec![answer(1), made.clone(), answer(2), record()];
        assert_eq!(after_call(&mut gate, all), [record(), answer(1)]);
        gate.note_progress(1, false);
        assert_eq!(left(&mut gate), [made, answer(2)]);
    }

    #[test]
    fn news_that_cannot_wait_are_missed_and_known_once_nothing_waits() {
        let mut gate = OrderGate::new(true);
        let mut all = vec![answer(1), record()];
        all.extend(vec![chat(); MAX_NEWS + 5]);
        assert_eq!(after_call(&mut gate, all), [record()]);
        let missed = MissedNews { chats: 6, ..MissedNews::default() };
        assert_eq!(gate.note_progress(0, false), []);
        assert_eq!(gate.note_progress(1, false), [(CONN, missed)]);
        assert_eq!(left(&mut gate).len(), MAX_NEWS);
        assert_eq!(gate.missed_counts().values().sum::<u64>(), 6);
    }

    #[test]
    fn a_client_for_whom_too_much_waits_is_disconnected() {
        let mut gate = OrderGate::new(true);
        let mut all = vec![answer(1); MAX_FRAMES + 2];
        all.push(record());
        let left_now = after_call(&mut gate, all);
        let [_, LobbyAction::Close { conn: CONN, code: ErrorCode::SlowReader, .. }] = left_now[..]
        else {
            panic!("{left_now:?}");
        };
        assert_eq!(after_call(&mut gate, vec![answer(2), chat()]), []);
        gate.forget_conn(CONN);
        assert_eq!((gate.overflowed.len(), gate.messages.len()), (0, 0));
    }

    #[test]
    fn without_a_cluster_everything_leaves_in_its_sequence() {
        let mut gate = OrderGate::new(false);
        let all = vec![open(1), answer(1), close(1), record(), close(2)];
        assert_eq!(after_call(&mut gate, all.clone()), all);
        assert_eq!(gate.newest_write(), 0);
    }

    fn after_call(gate: &mut OrderGate, outputs: Vec<LobbyAction>) -> Vec<LobbyAction> {
        let mut outbox = OutputQueue::default();
        for output in outputs {
            outbox.push(output);
        }
        gate.pass(&mut outbox);
        left(gate)
    }

    fn left(gate: &mut OrderGate) -> Vec<LobbyAction> {
        std::iter::from_fn(|| gate.poll()).collect()
    }

    fn send(request: u64, body: Body) -> LobbyAction {
        LobbyAction::Send { conn: CONN, message: WorldToClient { request, body: Some(body) } }
    }

    fn answer(request: u64) -> LobbyAction {
        send(request, Body::Done(world::Done {}))
    }

    fn ticket() -> LobbyAction {
        send(0, Body::Ticket(world::Ticket::default()))
    }

    fn chat() -> LobbyAction {
        send(0, Body::Chat(world::Chat::default()))
    }

    fn message_of(action: LobbyAction) -> WorldToClient {
        let LobbyAction::Send { message, .. } = action else {
            panic!("{action:?} is no message");
        };
        message
    }

    fn record() -> LobbyAction {
        LobbyAction::Record { key: RecordKey::Ids, value: None }
    }

    fn close(room: u64) -> LobbyAction {
        let order = WorldOrder::CloseRoom { room: RoomId(room), reason: ErrorCode::RoomClosed };
        LobbyAction::Host { host: HOST, order }
    }

    fn open(room: u64) -> LobbyAction {
        let assignment = RoomAssignment { room: RoomId(room), ..RoomAssignment::default() };
        LobbyAction::Host { host: HOST, order: WorldOrder::OpenRoom(assignment, None) }
    }

    fn heartbeat() -> LobbyAction {
        let order = WorldOrder::AcknowledgeHeartbeat { number: 1, lease: Duration::ZERO };
        LobbyAction::Host { host: HOST, order }
    }
}
