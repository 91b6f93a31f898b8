//! The owner of the host core: one task, which carries between the core, the link to the
//! WorldServer, and the rooms.
//!
//! Commands of the host's control side, orders of the WorldServer, messages of rooms and the
//! `Join`s of clients come in through bounded queues. What the core puts out is carried out here,
//! in its order. What rooms and connections have to know at once is published ([`Published`]): they
//! wait for nothing but the answer to a `Join`. The owner waits for no one of them either.
//!
//! [`Published`]: super::shared::Published

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Release;
use std::time::Duration;

use ambit_host_protocol::generated::{HostToWorld, WorldToHost};
use ambit_host_protocol::messages::HostMessage;
use ambit_host_protocol::protobuf::{messages_of, order_of};
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::Error;
use ambit_proto::ids::RoomId;
use tokio::sync::oneshot::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::counters::DropReason;
use super::reports::HostReports;
use super::room_mailbox::RoomCall;
use super::room_start::{RoomParts, make_room, start_room};
use super::shared::{JoinRequest, Shared};
use crate::host_link::HostEnd;
use ambit_host_core::host::{HostCore, HostEnding, HostOutput};
use ambit_host_core::making::RoomPlan;
use ambit_host_core::room_task::RoomTask;

/// How long a host that ends its rooms waits until their clients have the message.
pub(super) const ROOMS_WITHIN: Duration = Duration::from_secs(2);

/// What the host's control side wants.
pub(super) enum OwnerCommand {
    /// Serve a WorldServer. The answer comes when the link ends, and leaves it open for the last
    /// messages of the rooms that end with it.
    Serve {
        link: HostEnd,
        /// Asks the process to end.
        stop: CancellationToken,
        ended: oneshot::Sender<(HostEnding, EndingRooms)>,
    },
    /// Close the link, behind what rooms have sent.
    CloseLink(oneshot::Sender<()>),
    /// Close all rooms: no WorldServer will ask for them.
    CloseRooms(oneshot::Sender<EndingRooms>),
    /// Are there rooms?
    HasRooms(oneshot::Sender<bool>),
}

/// Rooms that were sent their order to end.
#[derive(Default)]
pub(super) struct EndingRooms {
    orders: Vec<oneshot::Receiver<()>>,
    /// Whether a room did not take its order.
    has_stuck_room: bool,
}

/// The queues whose other ends are not the core's.
pub(super) struct OwnerQueues {
    pub(super) commands: mpsc::Receiver<OwnerCommand>,
    pub(super) messages: mpsc::Receiver<HostMessage>,
    pub(super) admissions: mpsc::Receiver<JoinRequest>,
}

/// See the module.
pub(super) struct HostOwner {
    shared: Arc<Shared>,
    core: HostCore,
    /// `None` between two links.
    link: Option<ServedLink>,
    making: JoinSet<Made>,
    /// Rooms that were made, until the core says what becomes of them.
    made: BTreeMap<RoomId, Box<RoomParts>>,
    /// The rooms that run; each ends with its shell.
    running: JoinSet<(RoomId, u32)>,
    ending_rooms: EndingRooms,
    reports: HostReports,
}

/// A link to a WorldServer.
struct ServedLink {
    messages: mpsc::Sender<HostToWorld>,
    /// `None` when the core has ended the link, and only messages leave.
    served: Option<ServedOrders>,
}

struct ServedOrders {
    orders: mpsc::Receiver<WorldToHost>,
    stop: CancellationToken,
    is_stopping: bool,
    ended: oneshot::Sender<(HostEnding, EndingRooms)>,
}

/// What a link brings.
enum WorldLinkEvent {
    /// `None` at the end of the link.
    Order(Option<WorldToHost>),
    /// This process is asked to end.
    Stop,
}

/// The result of making a room.
struct Made {
    room: RoomId,
    incarnation: u32,
    result: Result<Box<RoomParts>, Error>,
}

impl EndingRooms {
    pub(super) fn is_empty(&self) -> bool {
        !self.has_stuck_room && self.orders.is_empty()
    }

    /// Waits until the rooms have carried out their orders to end. Returns whether all have done so
    /// in time.
    pub(super) async fn wait(self) -> bool {
        let ending = futures_util::future::join_all(self.orders);
        let in_time = tokio::time::timeout(ROOMS_WITHIN, ending).await.is_ok();
        in_time && !self.has_stuck_room
    }
}

impl ServedLink {
    /// The next event of the link; never, if there is none or the core has ended it.
    async fn next_event(link: &mut Option<Self>) -> WorldLinkEvent {
        let Some(Self { served: Some(served), .. }) = link else {
            return std::future::pending().await;
        };
        tokio::select! {
            order = served.orders.recv() => WorldLinkEvent::Order(order),
            () = served.stop.cancelled(), if !served.is_stopping => {
                served.is_stopping = true;
                WorldLinkEvent::Stop
            }
        }
    }
}

impl HostOwner {
    pub(super) fn new(shared: Arc<Shared>, core: HostCore) -> Self {
        let reports = HostReports::begin(&shared);
        Self {
            shared,
            core,
            link: None,
            making: JoinSet::new(),
            made: BTreeMap::new(),
            running: JoinSet::new(),
            ending_rooms: EndingRooms::default(),
            reports,
        }
    }

    /// Runs until the host's control side is dropped.
    pub(super) async fn run(mut self, queues: OwnerQueues) {
        let OwnerQueues { mut commands, mut messages, mut admissions } = queues;
        loop {
            self.carry_out();
            let deadline = self.core.next_deadline();
            tokio::select! {
                command = commands.recv() => match command {
                    Some(command) => self.handle_command(command, &mut messages),
                    None => return,
                },
                event = ServedLink::next_event(&mut self.link) => self.handle_event(event),
                Some(message) = messages.recv() => self.core.handle_room_message(message),
                Some(admission) = admissions.recv() => self.admit(admission),
                Some(made) = self.making.join_next() => {
                    self.take_made(made.expect("making a room does not panic"));
                }
                Some(ended) = self.running.join_next() => {
                    let (room, incarnation) = ended.expect("waiting for a room does not panic");
                    self.core.handle_room_ended(room, incarnation);
                }
                () = self.shared.sleep_until(deadline) => {
                    self.core.handle_timeout(self.shared.time());
                }
            }
        }
    }

    fn handle_command(
        &mut self,
        command: OwnerCommand,
        messages: &mut mpsc::Receiver<HostMessage>,
    ) {
        // An answer that is not waited for any more has no meaning.
        match command {
            OwnerCommand::Serve { link: HostEnd { orders, messages: to_world }, stop, ended } => {
                // These were sent without a link.
                self.forward_all(messages);
                self.ending_rooms = EndingRooms::default();
                self.reports = HostReports::begin(&self.shared);
                let served = ServedOrders { orders, stop, is_stopping: false, ended };
                self.link = Some(ServedLink { messages: to_world, served: Some(served) });
                self.core.connect(self.shared.time());
            }
            OwnerCommand::CloseLink(closed) => {
                self.forward_all(messages);
                self.disconnect();
                let _ = closed.send(());
            }
            OwnerCommand::CloseRooms(closing) => {
                self.core.close_all(ErrorCode::HostDied);
                self.carry_out();
                let _ = closing.send(std::mem::take(&mut self.ending_rooms));
            }
            OwnerCommand::HasRooms(answer) => {
                let _ = answer.send(self.core.has_rooms());
            }
        }
    }

    fn handle_event(&mut self, event: WorldLinkEvent) {
        let now = self.shared.time();
        match event {
            WorldLinkEvent::Order(order) => match order.map(order_of) {
                Some(Some(order)) => self.core.handle_order(now, order),
                Some(None) => tracing::warn!(
                    "the WorldServer has sent an order that this build does not know"
                ),
                None => self.core.handle_link_lost(now),
            },
            WorldLinkEvent::Stop => self.core.handle_stop(now),
        }
    }

    fn admit(&mut self, JoinRequest { join, answer }: JoinRequest) {
        // A client that has gone meanwhile keeps its ticket.
        if !answer.is_closed() {
            let _ = answer.send(self.core.admit(self.shared.time(), &join));
        }
    }

    fn forward_all(&mut self, messages: &mut mpsc::Receiver<HostMessage>) {
        while let Ok(message) = messages.try_recv() {
            self.core.handle_room_message(message);
        }
        self.carry_out();
    }

    fn disconnect(&mut self) {
        self.core.disconnect();
        self.link = None;
    }

    /// Carries out what the core has put out.
    fn carry_out(&mut self) {
        self.publish();
        while let Some(output) = self.core.poll() {
            match output {
                HostOutput::World(message) => self.send(message),
                HostOutput::SendStats => {
                    self.shared.parted_clients.close_late(self.shared.clock.now());
                    self.send_stats();
                }
                HostOutput::MakeRoom(plan) => self.make(*plan),
                HostOutput::StartRoom { room, incarnation, clock } => {
                    if let Some(parts) = self.made.remove(&room) {
                        let end = start_room(&self.shared, room, incarnation, clock, *parts);
                        self.running.spawn(async move {
                            let _ = end.await;
                            (room, incarnation)
                        });
                    }
                }
                HostOutput::DiscardRoom(room) => drop(self.made.remove(&room)),
                HostOutput::Room(room, task) => self.pass_on(room, task),
                HostOutput::JournalAcknowledged(number) => {
                    self.shared.published.journal_acknowledged.send_if_modified(|kept| {
                        let is_newer = *kept < number;
                        *kept = number.max(*kept);
                        is_newer
                    });
                }
                HostOutput::SavedFrom(room, number) => {
                    if let Some(inlet) = self.shared.rooms.get(&room) {
                        inlet.saved_from.store(number, Release);
                    }
                }
                HostOutput::End(ending) => self.end(ending),
            }
        }
    }

    /// Tells those who wait for the lease of a change, and all others whether the host is in
    /// service.
    fn publish(&self) {
        let published = &self.shared.published;
        let until = self.core.lease_until();
        published.lease_until.send_if_modified(|known| {
            let is_new = *known != until;
            *known = until;
            is_new
        });
        published.is_in_service.store(self.core.is_in_service(), Release);
    }

    fn send(&mut self, message: HostMessage) {
        let Some(ServedLink { messages: link, .. }) = &self.link else { return };
        let is_expendable = message.is_expendable();
        let mut messages = messages_of(message).into_iter();
        if messages.all(|message| link.try_send(message).is_ok()) {
            return;
        }
        if is_expendable {
            self.shared.counters.dropped(DropReason::StatsFull);
        } else {
            // The WorldServer has not read for a long time: the link counts as lost.
            self.core.handle_link_lost(self.shared.time());
        }
    }

    fn send_stats(&mut self) {
        let refused = self.core.refused_tickets();
        let refused = refused.map(|(reason, count)| (reason.name().to_owned(), count)).collect();
        let stats = self.reports.make(&self.shared, refused);
        self.send(HostMessage::Stats(Box::new(stats)));
    }

    fn pass_on(&mut self, room: RoomId, task: RoomTask) {
        if !matches!(task, RoomTask::Close(_) | RoomTask::HandOver) {
            if let Some(inlet) = self.shared.rooms.get(&room) {
                let _ = inlet.post(RoomCall::Order(task));
            }
        } else if let Some((_, inlet)) = self.shared.rooms.remove(&room) {
            let orders = &mut self.ending_rooms.orders;
            orders.retain_mut(|ending| matches!(ending.try_recv(), Err(TryRecvError::Empty)));
            match inlet.post(RoomCall::Order(task)) {
                Some(ending) => self.ending_rooms.orders.push(ending),
                None => self.ending_rooms.has_stuck_room = true,
            }
        }
    }

    fn make(&mut self, plan: RoomPlan) {
        let shared = Arc::clone(&self.shared);
        self.making.spawn_blocking(move || Made {
            room: RoomId(plan.header.room),
            incarnation: plan.incarnation,
            result: make_room(&shared, plan),
        });
    }

    fn take_made(&mut self, made: Made) {
        let Made { room, incarnation, result } = made;
        let now = self.shared.time();
        let result = result.map(|mut parts| {
            let snapshot = parts.new.snapshot.take();
            self.made.insert(room, parts);
            snapshot
        });
        self.core.handle_made(now, room, incarnation, result);
    }

    /// The core serves the link no more.
    fn end(&mut self, ending: HostEnding) {
        let Some(served) = self.link.as_mut().and_then(|link| link.served.take()) else {
            return;
        };
        if ending == HostEnding::Stalled {
            // Nothing may be sent any more.
            self.disconnect();
        }
        let rooms = std::mem::take(&mut self.ending_rooms);
        // If it is not waited for any more, the control side is gone, and this task ends.
        let _ = served.ended.send((ending, rooms));
    }
}
