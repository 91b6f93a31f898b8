//! Which orders to hosts wait until the directory has stored what they follow from.
//!
//! In a cluster, an order makes a host forget or begin something that only the leader knows. If the
//! leader died before the directory has it, its successor would not know it. So an order leaves
//! once the records of the same call are stored. While the directory does not work, only orders
//! that open a room wait, since two hosts must never run one room; the others can be revoked.
//!
//! The outputs of a call go in with [`OrderGate::pass`]; what may leave comes out of
//! [`OrderGate::poll`], also after [`OrderGate::note_progress`].
//!
//! Invariants:
//! 1. An order leaves only after the write with the records of its call, but for the exceptions
//!    above, and heartbeats, which say nothing.
//! 2. Orders about one room, and those about the host itself, keep their sequence.
//! 3. An order to open a room that is gone never leaves.
//!
//! Bound: [`MAX_WAITING`] orders for each host; a host with more is disconnected. Without a cluster
//! nothing waits.

use std::collections::{BTreeMap, VecDeque};

use ambit_host_protocol::messages::WorldOrder;
use ambit_proto::ids::RoomId;

use crate::lobby::output::{HostId, LobbyAction, OutputQueue};
use crate::lobby::pending_writes::PendingWrites;

/// More than one host is sent while a NATS broker elects a leader.
const MAX_WAITING: usize = 4_096;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct OrderGate {
    /// Whether orders wait at all.
    waits: bool,
    /// The number of the newest write.
    newest: u64,
    /// The writes up to this number are stored.
    written: u64,
    /// Whether the directory does not store writes in time.
    is_unavailable: bool,
    waiting: BTreeMap<HostId, PendingWrites<WorldOrder>>,
    /// What may leave.
    outputs: VecDeque<LobbyAction>,
    /// Hosts that were disconnected because too many orders waited.
    overflows: u64,
}

impl OrderGate {
    /// `waits`: whether orders wait for the directory.
    pub(super) fn new(waits: bool) -> Self {
        Self { waits, ..Self::default() }
    }

    /// Takes the outputs of a call. Its records come out first, so that the shell can write them
    /// under the number that the orders wait for.
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
            match action {
                LobbyAction::Host { host, order } => self.send(host, after, order),
                LobbyAction::DisconnectHost { host } => {
                    self.forget_host(host);
                    self.outputs.push_back(action);
                }
                LobbyAction::ForgetRoom { room } => {
                    self.forget_room(room);
                    self.outputs.push_back(action);
                }
                action => self.outputs.push_back(action),
            }
        }
    }

    /// What the shell has to do next.
    pub(super) fn poll(&mut self) -> Option<LobbyAction> {
        self.outputs.pop_front()
    }

    /// The number of the write that has the records which came out last.
    pub(super) fn newest_write(&self) -> u64 {
        self.newest
    }

    /// The writes up to this number are stored, and the directory works, or does not.
    pub(super) fn note_progress(&mut self, written: u64, is_unavailable: bool) {
        (self.written, self.is_unavailable) = (written, is_unavailable);
        for (&host, orders) in &mut self.waiting {
            let ready = orders.pop_ready_by_key(written, is_unavailable, room_of_order);
            let ready = ready.into_iter().map(|order| LobbyAction::Host { host, order });
            self.outputs.extend(ready);
        }
        self.waiting.retain(|_, orders| !orders.is_empty());
    }

    /// The link to the host is gone, and what waited for it.
    pub(super) fn forget_host(&mut self, host: HostId) {
        self.waiting.remove(&host);
    }

    /// Hosts that were disconnected because too many orders waited.
    pub(super) fn overflows(&self) -> u64 {
        self.overflows
    }

    fn send(&mut self, host: HostId, after: u64, order: WorldOrder) {
        let is_heard = matches!(order, WorldOrder::AcknowledgeHeartbeat { .. });
        let opens_room = matches!(order, WorldOrder::OpenRoom(..));
        let waits = after > self.written && (opens_room || !self.is_unavailable);
        let orders = self.waiting.get(&host);
        let room = room_of_order(&order);
        let is_behind =
            || orders.is_some_and(|orders| orders.iter().any(|other| room_of_order(other) == room));
        if is_heard || !waits && !is_behind() {
            self.outputs.push_back(LobbyAction::Host { host, order });
        } else if orders.is_none_or(|orders| orders.len() < MAX_WAITING) {
            self.waiting.entry(host).or_default().push(after, opens_room, order);
        } else {
            tracing::error!(
                host = host.0,
                "host disconnected: too many orders wait for the directory"
            );
            self.overflows += 1;
            self.forget_host(host);
            self.outputs.push_back(LobbyAction::DisconnectHost { host });
        }
    }

    /// Orders to open it do not leave.
    fn forget_room(&mut self, room: RoomId) {
        let opens = |order: &WorldOrder| match order {
            WorldOrder::OpenRoom(assignment, _) => assignment.room == room,
            _ => false,
        };
        for orders in self.waiting.values_mut() {
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
    use ambit_proto::codes::ErrorCode;

    use super::*;
    use crate::lobby::output::RecordKey;

    const HOST: HostId = HostId(1);

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
        assert_eq!((gate.overflows(), gate.waiting.len()), (1, 0));
    }

    #[test]
    fn without_a_cluster_everything_leaves_in_its_sequence() {
        let mut gate = OrderGate::new(false);
        let all = vec![open(1), close(1), record(), close(2)];
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
