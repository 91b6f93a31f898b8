//! Several WorldServers as one: one of them leads, the others follow it and relay their clients to
//! it.
//!
//! The leader has the lobby; what it knows is in the directory (`store`), what it confirms waits
//! for that (`held`). Hosts connect to the leader. When it is gone, another one takes its place by
//! a write to the directory (`leadership`), reads the lobby from there, and clients and hosts come
//! to it by themselves. A leader that finds that somebody else has written ends: whoever keeps the
//! process starts it anew.
//!
//! Here is the shell: tasks, calls and pauses. Why one leader, and what is lost when:
//! ARCHITECTURE.md, "A cluster".

mod follow;
mod lead;
pub(crate) mod leadership;
pub(crate) mod pending_writes;
pub(crate) mod store;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use actix::Addr;
use ambit_proto::control::directory::Leader;
use ambit_proto::control::world::Server;
use ambit_proto::frame::encode_frame;
use ambit_proto::quic::Fingerprint;
use anyhow::{Context as _, bail};
use prost::Message;
use quinn::{Connection, RecvStream};
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

pub(crate) use self::follow::relay_client;
pub(crate) use self::lead::{FollowerAcceptor, Followers};
use self::leadership::{ElectionStep, LeaderElection};
use self::store::{DirectoryStore, WriteProgress, WriteQueue, run_writer};
use crate::actor::{DirectoryProgress, LobbyClock, WorldServer};
use crate::lobby::RecordKey;

/// Of what the servers of a cluster say to each other.
const VERSION: u32 = 1;
/// How often both ends of a link say that they live, and the silence after which the other one
/// counts as gone.
const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(250);
const SILENCE_TIMEOUT: Duration = Duration::from_millis(750);
/// How often clients ask whether their server lives.
pub(crate) const PROBE_INTERVAL: Duration = Duration::from_millis(400);
/// Pause after a directory that could not be read.
const RETRY_DELAY: Duration = Duration::from_millis(200);
/// How often the directory is read when it can't be read as a whole.
const READ_ATTEMPTS: u32 = 5;
/// How long the last write of a leader that ends may take.
const LAST_WRITE_TIMEOUT: Duration = Duration::from_secs(1);
/// Longest message between two servers beside relayed bytes.
const MAX_MESSAGE_BYTES: usize = 4_096;

/// What a WorldServer is in its cluster; one that is alone leads.
#[derive(Clone)]
pub(crate) enum ClusterRole {
    /// It looks for the leader, or for a way to become it.
    Seeking,
    /// Its clients are relayed.
    Following {
        /// Where the leader is.
        address: String,
        /// The way to it.
        link: Connection,
    },
    /// It has the lobby.
    Leading {
        /// The lobby's actor.
        world: Addr<WorldServer>,
        /// The fencing token: the sequence of the write that took the place. 0 without a cluster.
        epoch: u64,
    },
}

impl ClusterRole {
    pub(crate) fn is_settled(&self) -> bool {
        !matches!(self, Self::Seeking)
    }
}

/// Makes the lobby's actor of what is in the directory.
pub(crate) type StartLobby = Box<
    dyn Fn(
            Arc<WriteQueue>,
            BTreeMap<RecordKey, Vec<u8>>,
        ) -> anyhow::Result<(Addr<WorldServer>, oneshot::Receiver<Infallible>)>
        + Send
        + Sync,
>;

/// What one server of a cluster is made of.
pub(crate) struct ClusterMember {
    pub(crate) store: DirectoryStore,
    pub(crate) process: [u8; 16],
    /// Where the other servers and the hosts find this one.
    pub(crate) address: String,
    /// Where players do.
    pub(crate) public_address: String,
    pub(crate) fingerprint: Fingerprint,
    /// What the servers show each other.
    pub(crate) key: String,
    pub(crate) clock: LobbyClock,
    pub(crate) start_lobby: StartLobby,
    pub(crate) roles: watch::Sender<ClusterRole>,
}

impl ClusterMember {
    /// Takes part until `stop`; an error when it can't any more.
    pub(crate) async fn run(self, stop: CancellationToken) -> anyhow::Result<()> {
        let ended = tokio::select! {
            () = stop.cancelled() => return Ok(()),
            epoch = self.follow_until_elected() => self.lead(epoch?, &stop).await,
        };
        self.roles.send_replace(ClusterRole::Seeking);
        ended
    }

    /// Follows whoever leads, until this server does: gives the epoch.
    async fn follow_until_elected(&self) -> anyhow::Result<u64> {
        let mut leadership = LeaderElection::new(self.address.clone());
        let mut complained = false;
        loop {
            match leadership.next_step(self.clock.now()) {
                ElectionStep::WaitState(pause) => tokio::time::sleep(pause).await,
                ElectionStep::Read => match self.store.look_up_leader().await {
                    Ok(found) => {
                        complained = false;
                        leadership.note_lookup(self.clock.now(), found);
                    }
                    Err(error) => {
                        if !std::mem::replace(&mut complained, true) {
                            tracing::warn!(
                                "the directory can't be read, and is asked again and again (NATS at {}): {error:#}",
                                self.store.broker_addresses()
                            );
                        }
                        leadership.discard_lookup();
                        tokio::time::sleep(RETRY_DELAY).await;
                    }
                },
                ElectionStep::Follow(leader) => match self.connect_to_leader(&leader).await {
                    Ok(link) => {
                        tracing::info!(leader = leader.address, "following");
                        let (address, connection) =
                            (leader.address.clone(), link.connection.clone());
                        self.roles.send_replace(ClusterRole::Following {
                            address,
                            link: connection,
                        });
                        let why = link.run_until_lost().await;
                        tracing::warn!(leader = leader.address, "the leader is lost: {why}");
                        self.roles.send_replace(ClusterRole::Seeking);
                        leadership.note_lost_link(&leader);
                    }
                    Err(error) => {
                        tracing::debug!(leader = leader.address, "cannot follow: {error:#}");
                        leadership.note_failed_connect(self.clock.now(), &leader);
                    }
                },
                ElectionStep::Take { after } => {
                    match self.store.take_lead(after, &self.leader_record()).await {
                        Ok(epoch) => return Ok(epoch),
                        Err(error) => {
                            tracing::info!("{error:#}");
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
        }
    }

    /// What clients are told of this server.
    pub(crate) fn server_entry(&self) -> Server {
        Server {
            address: self.public_address.clone(),
            certificate_sha256: self.fingerprint.0.to_vec(),
        }
    }

    /// Leads until `stop`, or until somebody else does.
    async fn lead(&self, epoch: u64, stop: &CancellationToken) -> anyhow::Result<()> {
        let records = self.read_records(epoch).await?;
        tracing::info!(epoch, records = records.len(), "leading");
        let desk = Arc::<WriteQueue>::default();
        let (world, mut lobby_ended) = (self.start_lobby)(Arc::clone(&desk), records)?;
        let progress = watch::Sender::new(WriteProgress::default());
        let done = watch::Sender::new(false);
        tokio::spawn(report_progress(progress.subscribe(), world.clone()));
        let writing = run_writer(
            self.store.clone(),
            self.leader_record(),
            epoch,
            desk,
            progress,
            done.subscribe(),
        );
        let mut writing = tokio::spawn(writing);
        lead::publish_servers(&world, [self.server_entry()]).await;
        self.roles
            .send_replace(ClusterRole::Leading { world, epoch });
        tokio::select! {
            _ = &mut lobby_ended => bail!("the lobby has crashed; this is a fault of the server"),
            _ = &mut writing => bail!("another WorldServer leads now; this one ends, so that it can be started anew"),
            () = stop.cancelled() => {}
        }
        self.roles.send_replace(ClusterRole::Seeking);
        done.send_replace(true);
        if tokio::time::timeout(LAST_WRITE_TIMEOUT, writing)
            .await
            .is_err()
        {
            tracing::warn!("the place could not be given up in time: the others have to find out");
        }
        Ok(())
    }

    async fn read_records(&self, epoch: u64) -> anyhow::Result<BTreeMap<RecordKey, Vec<u8>>> {
        for _ in 1..READ_ATTEMPTS {
            match self.store.read_records(epoch).await {
                Ok(records) => return Ok(records),
                Err(error) => tracing::warn!("the directory could not be read whole: {error:#}"),
            }
        }
        self.store
            .read_records(epoch)
            .await
            .context("cannot read the directory")
    }
}

/// Tells the lobby how the writing goes.
async fn report_progress(mut progress: watch::Receiver<WriteProgress>, world: Addr<WorldServer>) {
    while progress.changed().await.is_ok() {
        let now = *progress.borrow_and_update();
        if world.send(DirectoryProgress(now)).await.is_err() {
            return;
        }
    }
}

/// Reads exactly one message, and nothing behind it.
async fn read_message<M: Message + Default>(from: &mut RecvStream) -> anyhow::Result<M> {
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

/// Says again and again that this end lives, and waits for the other one to fall silent. Gives the
/// reason.
async fn exchange_heartbeats(mut to: quinn::SendStream, mut from: RecvStream) -> String {
    let say = async {
        let sign = encode_frame(&ambit_proto::control::directory::Sign {});
        loop {
            if let Err(error) = to.write_all(&sign).await {
                return error.to_string();
            }
            tokio::time::sleep(HEARTBEAT_INTERVAL).await;
        }
    };
    let hear = async {
        loop {
            let sign = read_message::<ambit_proto::control::directory::Sign>(&mut from);
            match tokio::time::timeout(SILENCE_TIMEOUT, sign).await {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => return format!("{error:#}"),
                Err(_) => return format!("no sign of life for {} ms", SILENCE_TIMEOUT.as_millis()),
            }
        }
    };
    tokio::select! {
        why = say => why,
        why = hear => why,
    }
}
