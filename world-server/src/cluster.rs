//! Several WorldServers as one: one leads, the others follow it and relay their clients to it.
//!
//! The leader runs the lobby. The directory (`store`) stores what the lobby knows. What the lobby
//! confirms waits in it for the write. Hosts connect to the leader. When the leader is lost,
//! another server takes the leadership by a write to the directory (`leadership`) and restores the
//! lobby from it; clients and hosts reconnect to that server by themselves. A leader that finds
//! that another server has written ends, and its supervisor (systemd, Kubernetes) restarts it.
//!
//! This module is the shell: tasks, connections and pauses. Why there is one leader, and what is
//! lost when: docs/cluster.md.

mod follow;
mod kept_rooms;
mod lead;
pub(crate) mod leadership;
pub(crate) mod nats;
mod records_copy;
mod server_list;
pub(crate) mod store;
pub(crate) mod write_queue;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use actix::Addr;
use ambit_lobby::RecordKey;
use ambit_lobby::directory::{Leader, Sign};
use ambit_proto::frame::encode_frame;
use ambit_proto::ids::RoomId;
use ambit_room::journal::SavedRoom;
use ambit_transport::quic::Fingerprint;
use anyhow::bail;
use parking_lot::Mutex;
use prost::Message;
use quinn::Connection;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

pub(crate) use self::follow::relay_client;
pub(crate) use self::lead::FollowerAcceptor;
use self::leadership::{ElectionStep, LeaderElection};
use self::records_copy::RecordsCopy;
pub(crate) use self::server_list::ServerList;
use self::store::{DirectoryStore, WriteProgress, audit, refresh_copies, run_writer};
use self::write_queue::WriteQueue;
use crate::actor::calls::{call, in_lobby};
use crate::actor::{LobbyClock, WorldServer};
use crate::hosts::room_checkpoints::RoomCheckpoints;

/// Version of the protocol between the servers of a cluster.
const VERSION: u32 = 2;
/// Roles of servers that prove to each other that they have the key.
const FOLLOWER: &str = "follower";
const LEADER: &str = "leader";
/// How often both ends of a link send a heartbeat, and the silence after which an end counts as
/// lost.
const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(250);
const SILENCE_TIMEOUT: Duration = Duration::from_millis(750);
/// How often clients probe their server.
pub(crate) const PROBE_INTERVAL: Duration = Duration::from_millis(400);
/// Pause before the directory is asked again after an error.
const RETRY_DELAY: Duration = Duration::from_millis(200);
/// Attempts to read the whole directory. Each is answered by any of the brokers: of three, one of
/// which alone has all, eight attempts in a row miss that one in 4 of 100 cases.
const READ_ATTEMPTS: u32 = 8;
/// If one has succeeded, no further one begins after this time.
const MAX_READ_TIME: Duration = Duration::from_secs(2);
/// How long the last write of an ending leader may take.
const LAST_WRITE_TIMEOUT: Duration = Duration::from_secs(1);
/// Longest message between two servers, relayed bytes not included.
const MAX_MESSAGE_BYTES: usize = 4_096;

/// The role of a WorldServer in its cluster; a server without a cluster leads.
#[derive(Clone)]
pub(crate) enum ClusterRole {
    /// It looks for the leader, or tries to become it.
    Seeking,
    /// It relays its clients to the leader.
    Following {
        address: String,
        /// The connection to the leader.
        link: Connection,
    },
    /// It runs the lobby.
    Leading {
        /// The lobby's actor.
        world: Addr<WorldServer>,
        /// The fencing token: the sequence number of the write that took the leadership. 0 without
        /// a cluster.
        epoch: u64,
    },
}

impl ClusterRole {
    pub(crate) fn is_settled(&self) -> bool {
        !matches!(self, Self::Seeking)
    }
}

/// Starts the lobby's actor from what an earlier leader has stored.
pub(crate) type StartLobby = Box<dyn Fn(StoredLobby) -> anyhow::Result<StartedLobby> + Send + Sync>;

/// What a new leader begins with.
pub(crate) struct StoredLobby {
    pub(crate) write_queue: Arc<WriteQueue>,
    /// The records of the directory.
    pub(crate) records: BTreeMap<RecordKey, Vec<u8>>,
    /// With `--keep`: the rooms that were kept.
    pub(crate) rooms: BTreeMap<RoomId, SavedRoom>,
}

/// A lobby that runs.
pub(crate) struct StartedLobby {
    pub(crate) world: Addr<WorldServer>,
    /// Resolves when the actor ends.
    pub(crate) ended: oneshot::Receiver<Infallible>,
    pub(crate) checkpoints: Arc<RoomCheckpoints>,
}

/// One server of a cluster.
pub(crate) struct ClusterMember {
    pub(crate) store: DirectoryStore,
    pub(crate) process: [u8; 16],
    /// The address for the other servers and the hosts.
    pub(crate) address: String,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) servers: ServerList,
    /// The shared secret of the cluster (`--host-key`).
    pub(crate) key: String,
    pub(crate) clock: LobbyClock,
    pub(crate) start_lobby: StartLobby,
    /// With `--keep`: how often rooms are stored.
    pub(crate) keep_interval: Option<Duration>,
    pub(crate) roles: watch::Sender<ClusterRole>,
}

impl ClusterMember {
    /// Takes part in the cluster until `stop`; returns an error when the server has to end.
    pub(crate) async fn run(self, stop: CancellationToken) -> anyhow::Result<()> {
        let copy = Mutex::new(RecordsCopy::default());
        let epoch = tokio::select! {
            () = stop.cancelled() => return Ok(()),
            never = self.copy_directory(&copy) => match never {},
            epoch = self.follow_until_elected() => epoch?,
        };
        let copy = copy.into_inner();
        let ended = self.lead(epoch, copy, &stop).await;
        self.roles.send_replace(ClusterRole::Seeking);
        ended
    }

    /// Keeps a copy of the directory, in case its brokers lose some of it together with the leader.
    async fn copy_directory(&self, copy: &Mutex<RecordsCopy>) -> Infallible {
        loop {
            if let Err(error) = self.store.copy_changes(copy).await {
                tracing::debug!("the copy of the directory begins again: {error:#}");
            }
            tokio::time::sleep(RETRY_DELAY).await;
        }
    }

    /// Follows the current leader until this server becomes the leader. Returns the epoch.
    async fn follow_until_elected(&self) -> anyhow::Result<u64> {
        let mut leadership = LeaderElection::new(self.address.clone());
        let mut reported = false;
        loop {
            match leadership.next_step(self.clock.now()) {
                ElectionStep::Wait(pause) => tokio::time::sleep(pause).await,
                ElectionStep::Read => match self.store.look_up_leader().await {
                    Ok(found) => {
                        reported = false;
                        leadership.note_lookup(self.clock.now(), found);
                    }
                    Err(error) => {
                        if !std::mem::replace(&mut reported, true) {
                            tracing::warn!(
                                "the directory can't be read; trying again (NATS at {}): {error:#}",
                                self.store.broker_addresses()
                            );
                        }
                        leadership.discard_lookup();
                        tokio::time::sleep(RETRY_DELAY).await;
                    }
                },
                ElectionStep::Follow(leader) => match self.connect_to_leader(&leader).await {
                    Ok(link) => {
                        tracing::info!(leader = leader.address, "this server follows the leader");
                        let (address, connection) =
                            (leader.address.clone(), link.connection.clone());
                        self.roles
                            .send_replace(ClusterRole::Following { address, link: connection });
                        let why = link.run_until_lost(&self.servers).await;
                        tracing::warn!(
                            leader = leader.address,
                            "link to the leader lost; looking for a leader: {why}"
                        );
                        self.roles.send_replace(ClusterRole::Seeking);
                        leadership.note_lost_link(&leader);
                    }
                    Err(error) => {
                        tracing::debug!(
                            leader = leader.address,
                            "cannot connect to the leader: {error:#}"
                        );
                        leadership.note_failed_connect(self.clock.now(), &leader);
                    }
                },
                ElectionStep::Take { after } => {
                    match self.store.take_lead(after, &self.leader_record()).await {
                        Ok(epoch) => return Ok(epoch),
                        Err(error) => {
                            tracing::info!("another attempt to find a leader follows: {error:#}");
                            leadership.discard_lookup();
                            tokio::time::sleep(RETRY_DELAY).await;
                        }
                    }
                }
            }
        }
    }

    fn leader_record(&self) -> Leader {
        Leader {
            process: self.process.to_vec(),
            address: self.address.clone(),
            certificate_sha256: self.fingerprint.0.to_vec(),
            renewals: 0,
            free: false,
            epoch: 0,
        }
    }

    /// Leads until `stop`, or until another server leads.
    async fn lead(
        &self,
        epoch: u64,
        copy: RecordsCopy,
        stop: &CancellationToken,
    ) -> anyhow::Result<()> {
        let records = self.read_records(epoch, copy).await?;
        tracing::info!(epoch, records = records.len(), "this server leads the cluster");
        let (kept, rooms) = match self.keep_interval {
            Some(interval) => match self.store.open_kept_rooms(interval, epoch).await {
                Ok((kept, rooms)) => {
                    tracing::info!(rooms = rooms.len(), "rooms are kept in NATS");
                    (Some(kept), rooms)
                }
                // Rooms whose hosts live go on, so it leads all the same.
                Err(error) => {
                    tracing::error!("as long as this server leads, no room is kept: {error:#}");
                    (None, BTreeMap::new())
                }
            },
            None => (None, BTreeMap::new()),
        };
        let write_queue = Arc::new(WriteQueue::new(records.clone()));
        let StartedLobby { world, ended: mut lobby_ended, checkpoints } =
            (self.start_lobby)(StoredLobby {
                write_queue: Arc::clone(&write_queue),
                records,
                rooms,
            })?;
        let progress = watch::Sender::new(WriteProgress::default());
        let done = watch::Sender::new(false);
        let mut keeping = JoinSet::new();
        if let Some(kept) = kept {
            let lobby = world.clone();
            // The next store begins after the answer.
            let report = move |rooms: Vec<RoomId>| {
                let told =
                    lobby.send(in_lobby(move |lobby, now| lobby.handle_rooms_stored(now, &rooms)));
                async move { told.await.is_ok() }
            };
            keeping.spawn(kept.run(checkpoints, report));
        }
        tokio::spawn(report_progress(progress.subscribe(), world.clone()));
        let refreshing = refresh_copies(self.store.clone(), Arc::clone(&write_queue));
        let refreshing = tokio::spawn(refreshing);
        let auditing = audit(self.store.clone(), Arc::clone(&write_queue), progress.subscribe());
        let auditing = tokio::spawn(auditing);
        let writing = run_writer(
            self.store.clone(),
            self.leader_record(),
            epoch,
            write_queue,
            progress,
            done.subscribe(),
        );
        let mut writing = tokio::spawn(writing);
        let publishing = tokio::spawn(self.servers.clone().keep_published(world.clone()));
        self.roles.send_replace(ClusterRole::Leading { world, epoch });
        tokio::select! {
            _ = &mut lobby_ended => bail!("the lobby has crashed; this is a bug in the server, \
                please report it"),
            _ = &mut writing => bail!("another WorldServer leads now; this server ends and has to \
                be restarted"),
            () = stop.cancelled() => {}
        }
        for task in [refreshing, auditing, publishing] {
            task.abort();
        }
        self.roles.send_replace(ClusterRole::Seeking);
        free_leadership(keeping, &done).await;
        if tokio::time::timeout(LAST_WRITE_TIMEOUT, writing).await.is_err() {
            tracing::warn!(
                "leadership not released in time; the other servers have to detect the loss"
            );
        }
        Ok(())
    }

    /// All records as of the epoch: this server's copy, if that is what the former leader had.
    /// Otherwise reads the directory until it has found that, or nothing more is to be expected.
    async fn read_records(
        &self,
        epoch: u64,
        mut copy: RecordsCopy,
    ) -> anyhow::Result<BTreeMap<RecordKey, Vec<u8>>> {
        copy.note_last_sequence(epoch);
        if copy.is_complete_at(epoch - 1) {
            tracing::debug!("the copy of the directory is complete");
            return Ok(copy.into_records());
        }
        let began_at = self.clock.now();
        let mut was_read = false;
        for attempt in 1..=READ_ATTEMPTS {
            match self.store.read_records(epoch).await {
                Ok(read) => {
                    if let Some(records) = copy.complete_with(read) {
                        return Ok(records);
                    }
                    was_read = true;
                }
                Err(error) if attempt == READ_ATTEMPTS && !was_read => {
                    return Err(error.context("cannot read the directory"));
                }
                Err(error) => {
                    tracing::warn!("cannot read the whole directory; trying again: {error:#}");
                }
            }
            if was_read && self.clock.now().since(began_at) > MAX_READ_TIME {
                break;
            }
        }
        let expected = copy.expected().map(|summary| summary.count);
        let records = copy.into_records();
        tracing::warn!(
            found = records.len(),
            expected,
            "the brokers deliver other records than the former leader has written; some may be \
             lost, old, or removed"
        );
        Ok(records)
    }
}

/// Has the leadership freed, once this server stores no more rooms: its successor deletes what it
/// does not know.
async fn free_leadership(mut keeping: JoinSet<()>, done: &watch::Sender<bool>) {
    keeping.shutdown().await;
    done.send_replace(true);
}

/// Reports the progress of the directory writes to the lobby.
async fn report_progress(mut progress: watch::Receiver<WriteProgress>, world: Addr<WorldServer>) {
    while progress.changed().await.is_ok() {
        let now = *progress.borrow_and_update();
        if world.send(call(move |world, ctx| world.note_progress(ctx, now))).await.is_err() {
            return;
        }
    }
}

/// Reads exactly one message, and nothing after it.
async fn read_message<M: Message + Default>(
    from: &mut (impl AsyncRead + Unpin),
) -> anyhow::Result<M> {
    let mut length = [0; 4];
    from.read_exact(&mut length).await?;
    let length = u32::from_be_bytes(length) as usize;
    anyhow::ensure!(
        length <= MAX_MESSAGE_BYTES,
        "a message of {length} bytes, at most {MAX_MESSAGE_BYTES} were expected"
    );
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes).await?;
    Ok(M::decode(&bytes[..])?)
}

/// Sends heartbeats, notes those of the other end if they change, and waits until it is silent for
/// too long or the stream fails. Returns the reason.
async fn exchange_heartbeats(
    (mut to, mut from): (impl AsyncWrite + Unpin, impl AsyncRead + Unpin),
    mut next: impl FnMut() -> Sign,
    received: watch::Sender<Sign>,
) -> String {
    let send = async {
        loop {
            if let Err(error) = to.write_all(&encode_frame(&next())).await {
                return error.to_string();
            }
            tokio::time::sleep(HEARTBEAT_INTERVAL).await;
        }
    };
    let receiving = async {
        loop {
            let sign = read_message::<Sign>(&mut from);
            match tokio::time::timeout(SILENCE_TIMEOUT, sign).await {
                Ok(Ok(sign)) => {
                    received.send_if_modified(|known| {
                        let is_new = *known != sign;
                        *known = sign;
                        is_new
                    });
                }
                Ok(Err(error)) => return format!("{error:#}"),
                Err(_) => {
                    return format!("nothing was received for {} ms", SILENCE_TIMEOUT.as_millis());
                }
            }
        }
    };
    tokio::select! {
        reason = send => reason,
        reason = receiving => reason,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    /// Notes whether it was dropped before the leadership was freed.
    struct Keeping {
        freed: watch::Receiver<bool>,
        ended_before: Arc<AtomicBool>,
    }

    impl Drop for Keeping {
        fn drop(&mut self) {
            let ended_before = !*self.freed.borrow();
            self.ended_before.store(ended_before, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_leader_stores_no_rooms_when_it_frees_the_leadership() {
        actix::System::new().block_on(async {
            let done = watch::Sender::new(false);
            let ended_before = Arc::default();
            let task = Keeping { freed: done.subscribe(), ended_before: Arc::clone(&ended_before) };
            let mut keeping = JoinSet::new();
            keeping.spawn(async move {
                let _task = task;
                std::future::pending::<()>().await;
            });
            tokio::task::yield_now().await;
            free_leadership(keeping, &done).await;
            assert!(*done.borrow() && ended_before.load(Ordering::Relaxed));
        });
    }
}
