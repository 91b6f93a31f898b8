//! The hosts that run rooms.
//!
//! A host is a link (`WorldEnd`): messages go out, messages come in, and the end of the link is the
//! end of the host. The lobby knows no more. Whether the other end is in this process (`embedded`),
//! in a child process (`process`) or on another machine (`remote`) matters only to the code that
//! created the link.
//!
//! The lobby's actor has one mailbox for players and hosts. What keeps a host alive does not wait
//! in it: checkpoints are stored and heartbeats answered here (`heard_hosts`), and other reports
//! queue for the mailbox without holding those up.

pub(crate) mod embedded;
pub(crate) mod heard_hosts;
pub(crate) mod process;
pub(crate) mod remote;
pub mod room_checkpoints;

use std::sync::Arc;
use std::time::Duration;

use actix::Addr;
use ambit_host::host_link::{HOST_QUEUE, WorldEnd};
use ambit_host_protocol::generated::WorldToHost;
use ambit_host_protocol::messages::{HostMessage, HostReady, WorldOrder};
use ambit_host_protocol::protobuf::host_message_of;
use ambit_lobby::{HostId, HostReport, Origin};
use tokio::sync::mpsc;

use crate::actor::calls::{RegisteredHost, call, in_lobby};
use crate::actor::{LobbyClock, WorldServer};

use self::heard_hosts::HeardHosts;
use self::room_checkpoints::RoomCheckpoints;

/// How long a host may take to send its first message.
const READY_TIMEOUT: Duration = Duration::from_secs(10);

/// Why the link to a host ended.
pub(crate) struct DisconnectCause {
    /// For logs and players.
    pub(crate) reason: String,
    /// What follows, if the host failed; for the log.
    pub(crate) consequence: Option<&'static str>,
}

impl DisconnectCause {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), consequence: None }
    }
}

/// A host that is ready and registered in the lobby.
pub(crate) struct HostSession {
    id: HostId,
    link: WorldEnd,
    world: Addr<WorldServer>,
    clock: LobbyClock,
    checkpoints: Arc<RoomCheckpoints>,
    heard_hosts: Arc<HeardHosts>,
    /// Whether the ticks and heartbeats of the host are acknowledged.
    acknowledges: bool,
}

impl HostSession {
    /// Waits for the host's first message and registers the host in the lobby, if `admit` accepts
    /// it.
    pub(crate) async fn register(
        mut link: WorldEnd,
        world: Addr<WorldServer>,
        origin: Origin,
        admit: impl FnOnce(&HostReady) -> Result<(), String>,
    ) -> Result<Self, String> {
        let first = first_message(&mut link).await?;
        Self::register_with(first, link, world, origin, admit).await
    }

    /// Registers a host that has sent its first message.
    pub(crate) async fn register_with(
        first: HostMessage,
        link: WorldEnd,
        world: Addr<WorldServer>,
        origin: Origin,
        admit: impl FnOnce(&HostReady) -> Result<(), String>,
    ) -> Result<Self, String> {
        let HostMessage::Ready(ready) = first else {
            return Err("its first message was not `Ready`".into());
        };
        admit(&ready)?;
        let lobby_ended = |_| "the lobby has ended".to_owned();
        let (orders, instance) = (link.orders.clone(), ready.instance.clone());
        let registered =
            call(move |world, ctx| world.register_host(ctx, orders, origin, &instance));
        let registered = world.send(registered).await.map_err(lobby_ended)?;
        let RegisteredHost { id, clock, checkpoints, heard_hosts } = registered;
        let ready = HostReport::Message(HostMessage::Ready(ready));
        let reported = in_lobby(move |lobby, now| lobby.handle_host(now, id, ready));
        world.send(reported).await.map_err(lobby_ended)?;
        Ok(Self {
            id,
            link,
            world,
            clock,
            checkpoints,
            heard_hosts,
            acknowledges: origin == Origin::Remote,
        })
    }

    /// Forwards the host's messages to the lobby until the link ends; then `why` returns the
    /// cause.
    pub(crate) async fn run<W: Future<Output = DisconnectCause>>(
        mut self,
        why: impl FnOnce() -> W,
    ) {
        let (reports, waiting) = mpsc::channel(HOST_QUEUE);
        let world = self.world.clone();
        let id = self.id;
        tokio::join!(self.read_messages(reports), pass_reports(world, id, waiting));
        let DisconnectCause { reason, consequence } = why().await;
        if let Some(consequence) = consequence {
            tracing::warn!(host = self.id.0, "host disconnected: {reason}; {consequence}");
        } else {
            tracing::info!(host = self.id.0, "host disconnected: {reason}");
        }
        let lost = call(move |world, ctx| world.lose_host(ctx, id, &reason));
        let _ = self.world.send(lost).await;
    }

    /// Reads the host's messages until the link ends. What the lobby has to know goes to `reports`.
    async fn read_messages(&mut self, reports: mpsc::Sender<HostReport>) {
        // Only the lobby's sender keeps the link open: when the lobby drops it, the link ends.
        let commands = self.link.orders.downgrade();
        self.link.orders = mpsc::channel(1).0;
        while let Some(message) = self.link.messages.recv().await {
            self.heard_hosts.note(self.id, || self.clock.now());
            let Some(message) = host_message_of(message) else {
                tracing::debug!(host = self.id.0, "skipped an unknown message of a host");
                continue;
            };
            let (mut acknowledgement, mut is_heartbeat) = (None, false);
            match &message {
                HostMessage::Journal { number, .. } => {
                    acknowledgement = Some(WorldOrder::AcknowledgeJournal(*number));
                }
                HostMessage::Heartbeat(number) => {
                    acknowledgement = self.heard_hosts.acknowledge(self.id, *number);
                    is_heartbeat = true;
                }
                _ => {}
            }
            // Most messages are only stored as checkpoints and do not reach the lobby.
            let report = self.checkpoints.receive(self.clock.now(), self.id, message);
            if let (true, Some(order), Some(commands)) =
                (self.acknowledges, acknowledgement, commands.upgrade())
            {
                // If the queue is full, a later acknowledgement covers this one.
                let _ = commands.try_send(WorldToHost::from(order));
            }
            // If the queue of reports is full, the host waits for the lobby.
            if let Some(report) = report
                && !is_heartbeat
                && reports.send(report).await.is_err()
            {
                return;
            }
        }
    }
}

/// Passes reports on to the lobby, which may have a full mailbox.
async fn pass_reports(
    world: Addr<WorldServer>,
    id: HostId,
    mut reports: mpsc::Receiver<HostReport>,
) {
    while let Some(report) = reports.recv().await {
        let passed = match report {
            HostReport::Message(HostMessage::Answered { number, answer, .. }) => {
                world.send(call(move |world, _| world.take_room_answer(id, number, answer))).await
            }
            report => {
                world.send(in_lobby(move |lobby, now| lobby.handle_host(now, id, report))).await
            }
        };
        if passed.is_err() {
            return;
        }
    }
}

/// Waits for a host's first message.
pub(crate) async fn first_message(link: &mut WorldEnd) -> Result<HostMessage, String> {
    let first = tokio::time::timeout(READY_TIMEOUT, link.messages.recv()).await;
    let first = first.map_err(|_| {
        let seconds = READY_TIMEOUT.as_secs();
        format!("it sent no `Ready` within {seconds} s")
    })?;
    let first = first.and_then(host_message_of);
    first.ok_or_else(|| "it ended before its first message".into())
}

#[cfg(test)]
mod tests {
    use actix::{Actor as _, Arbiter, System};
    use ambit_host::host_link::{HostEnd, host_link};
    use ambit_host_protocol::VERSION;
    use ambit_host_protocol::generated::HostToWorld;
    use ambit_host_protocol::protobuf::order_of;
    use ambit_lobby::ConnId;
    use ambit_proto::ids::RoomId;
    use ambit_room::journal::JournalEntry;
    use bytes::Bytes;

    use super::*;
    use crate::actor::tests::idle::{hold, world_server};

    #[test]
    fn heartbeats_are_answered_while_the_lobby_s_mailbox_is_full() {
        System::new().block_on(async {
            let thread = Arbiter::new();
            let world = WorldServer::start_in_arbiter(&thread.handle(), |_| world_server());
            let mut host = connect_host(&world).await;

            // The lobby's thread is busy, and its mailbox is full.
            let release = hold(&thread).await;
            let request = || call(|world, ctx| world.take_frame(ctx, ConnId(1), &Bytes::new()));
            while world.try_send(request()).is_ok() {}

            for number in 1..=100 {
                // Reports wait, and hold nothing up.
                host.send(HostMessage::Stats(Box::default()));
                host.send(HostMessage::Heartbeat(number));
                let order = host.end.orders.recv().await.unwrap();
                let lease = Duration::from_millis(1_750);
                let expected = WorldOrder::AcknowledgeHeartbeat { number, lease };
                assert_eq!(order_of(order), Some(expected));
            }
            drop(release);
            let snapshot = world.send(call(|world, _| world.snapshot())).await.unwrap();
            assert_eq!(snapshot.hosts.len(), 1);
        });
    }

    #[test]
    fn heartbeats_of_a_host_that_was_given_up_are_not_answered() {
        System::new().block_on(async {
            let world = world_server().start();
            let (world_end, end) = host_link();
            let mut host = TestHost { end };
            host.send(HostMessage::Ready(ready()));
            let session = HostSession::register(world_end, world, Origin::Remote, |_| Ok(()));
            let session = session.await.unwrap();
            let heard_hosts = Arc::clone(&session.heard_hosts);
            let id = session.id;
            tokio::spawn(session.run(|| async { DisconnectCause::new("test") }));
            host.expect_configure().await;
            host.send(HostMessage::Heartbeat(1));
            assert!(host.end.orders.recv().await.is_some());
            heard_hosts.remove(id);
            host.send(HostMessage::Heartbeat(2));
            // What comes later is answered, so the second heartbeat was not.
            let entry = JournalEntry::default();
            host.send(HostMessage::Journal { room: RoomId(1), entry, number: 7 });
            let order = host.end.orders.recv().await.unwrap();
            assert_eq!(order_of(order), Some(WorldOrder::AcknowledgeJournal(7)));
        });
    }

    /// A host's end of its link.
    struct TestHost {
        end: HostEnd,
    }

    impl TestHost {
        fn send(&self, message: HostMessage) {
            self.end.messages.try_send(HostToWorld::from(message)).unwrap();
        }

        async fn expect_configure(&mut self) {
            let first = self.end.orders.recv().await.unwrap();
            assert!(matches!(order_of(first), Some(WorldOrder::Configure(_))));
        }
    }

    async fn connect_host(world: &Addr<WorldServer>) -> TestHost {
        let (world_end, end) = host_link();
        let mut host = TestHost { end };
        host.send(HostMessage::Ready(ready()));
        let session = HostSession::register(world_end, world.clone(), Origin::Remote, |_| Ok(()));
        let session = session.await.unwrap();
        tokio::spawn(session.run(|| async { DisconnectCause::new("test") }));
        host.expect_configure().await;
        host
    }

    fn ready() -> HostReady {
        HostReady {
            version: VERSION,
            address: "127.0.0.1:7800".into(),
            certificate_sha256: vec![0; 32],
            capacity: 1,
            ..HostReady::default()
        }
    }
}
