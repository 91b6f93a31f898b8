//! Rooms that survive a leader and their host (`--keep nats`): objects in JetStream.
//!
//! At an interval the leader stores each room that has changed: a segment of the log of
//! [`crate::keep::log`] with the newest snapshot and the ticks since then. A new leader reads them
//! for rooms whose hosts are gone as well. No task waits for the store, and nothing queues for it:
//! the newest state of a room is stored when the room's turn comes.
//!
//! The name of an object is the leader's epoch and the room. So a former leader that still writes
//! overwrites nothing of its successor, and the objects of earlier epochs are deleted once they
//! have successors or their rooms are gone. A room that could not go on is set aside: it becomes an
//! object `set-aside/room-ID.rec`, a recording.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use ambit_proto::ids::RoomId;
use ambit_room::journal::SavedRoom;
use ambit_room::recording::recording_of;
use anyhow::Context as _;
use async_nats::jetstream::Context;
use async_nats::jetstream::object_store::{Config, ObjectStore};
use async_nats::jetstream::stream::Stream;
use derive_more::Display;
use futures_util::{StreamExt as _, TryStreamExt as _};
use tokio::io::AsyncReadExt as _;
use tokio::time::{MissedTickBehavior, sleep, timeout};

use crate::hosts::room_checkpoints::RoomCheckpoints;
use crate::keep::log::{self, KeptEntry, KeptState};

const BUCKET: &str = "AMBIT_ROOMS";
/// The bucket's stream, and the prefix of the subjects of its objects' contents.
const STREAM: &str = "OBJ_AMBIT_ROOMS";
const CONTENTS: &str = "$O.AMBIT_ROOMS.C.";
/// Objects that are read or written at the same time.
const OBJECTS_AT_A_TIME: usize = 8;
/// One that takes longer has failed.
const OBJECT_TIMEOUT: Duration = Duration::from_secs(10);
/// What a new leader has not read after this time is left out: hosts wait for it meanwhile.
const READ_TIMEOUT: Duration = Duration::from_secs(8);
/// Times that an object is read if that fails, and the time for each. An object that is being
/// replaced while it is read is not read to its end.
const READ_ATTEMPTS: usize = 3;
const READ_ATTEMPT_TIMEOUT: Duration = Duration::from_secs(2);
/// JetStream forgets older objects, and the traces of deleted ones.
const MAX_AGE: Duration = Duration::from_hours(24);
/// Objects have no secrets that could be guessed: the hash need not be salted.
const SALT: log::LogSalt = [0; 8];

/// The bucket of the rooms; see the module.
pub(crate) struct KeptRooms {
    bucket: ObjectStore,
    stream: Stream<()>,
    interval: Duration,
    epoch: u64,
    /// The objects of earlier leaders.
    earlier: BTreeSet<StoredRoomName>,
    /// What this leader has stored, and the version.
    stored: BTreeMap<RoomId, u64>,
    /// Whether there may be parts of objects that were not written to their ends.
    has_parts: bool,
    is_failing: bool,
}

/// Ordered by room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Display)]
#[display("{epoch}-{}", room.0)]
struct StoredRoomName {
    room: RoomId,
    epoch: u64,
}

impl StoredRoomName {
    fn parse(name: &str) -> Option<Self> {
        let (epoch, room) = name.split_once('-')?;
        let epoch = epoch.parse().ok()?;
        let room = RoomId(room.parse().ok()?);
        Some(Self { room, epoch })
    }
}

impl KeptRooms {
    /// Opens the bucket, which is created if it does not exist, and reads the newest object of each
    /// room. One that cannot be read is left out, with an error in the log; it is not deleted, so
    /// the next leader may have it.
    pub(super) async fn open(
        jetstream: &Context,
        replicas: usize,
        interval: Duration,
        epoch: u64,
    ) -> anyhow::Result<(Self, BTreeMap<RoomId, SavedRoom>)> {
        let config = Config {
            bucket: BUCKET.to_owned(),
            max_age: MAX_AGE,
            num_replicas: replicas,
            ..Config::default()
        };
        let bucket = match jetstream.get_object_store(BUCKET).await {
            Ok(bucket) => bucket,
            Err(_) => jetstream
                .create_object_store(config)
                .await
                .context("cannot create the bucket of rooms in NATS")?,
        };
        let stream = jetstream.get_stream_no_info(STREAM).await;
        let stream = stream.context("the bucket of rooms")?;
        let mut earlier = BTreeSet::new();
        let mut objects = bucket.list().await.context("the bucket of rooms")?;
        while let Some(object) = timeout(OBJECT_TIMEOUT, objects.next())
            .await
            .context("NATS did not list all rooms in time")?
        {
            let object = object.context("the bucket of rooms")?;
            earlier.extend(StoredRoomName::parse(&object.name));
        }
        // Of each room, the one of the newest epoch comes last.
        let newest: BTreeMap<RoomId, StoredRoomName> =
            earlier.iter().map(|name| (name.room, *name)).collect();
        let read = futures_util::stream::iter(newest.values().copied())
            .map(async |name| (name.room, read_room(&bucket, name).await))
            .buffer_unordered(OBJECTS_AT_A_TIME)
            .take_until(sleep(READ_TIMEOUT));
        let mut read: BTreeMap<RoomId, anyhow::Result<SavedRoom>> = read.collect().await;
        let mut rooms = BTreeMap::new();
        for (room, name) in newest {
            let saved = read.remove(&room).unwrap_or_else(|| Err(anyhow::anyhow!("NATS is late")));
            match saved {
                Ok(saved) => drop(rooms.insert(room, saved)),
                Err(error) => {
                    tracing::error!(room = room.0, "a kept room cannot be read: {error:#}");
                    earlier.remove(&name);
                }
            }
        }
        let kept = Self {
            bucket,
            stream,
            interval,
            epoch,
            earlier,
            stored: BTreeMap::new(),
            // Those of the last leader.
            has_parts: true,
            is_failing: false,
        };
        Ok((kept, rooms))
    }

    /// Stores the rooms until it is cancelled. After each turn it passes the rooms that were stored
    /// to `report`, and waits for it; it ends when that returns false.
    pub(super) async fn run<R: Future<Output = bool>>(
        mut self,
        checkpoints: Arc<RoomCheckpoints>,
        report: impl Fn(Vec<RoomId>) -> R,
    ) {
        let mut turns = tokio::time::interval(self.interval);
        turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            turns.tick().await;
            let mut stored = Vec::new();
            let result = self.store_changed(&checkpoints, &mut stored).await;
            // The next turn begins when the lobby knows of this one.
            if !report(stored).await {
                return;
            }
            match &result {
                Err(error) if !self.is_failing => {
                    tracing::error!("rooms are not kept in NATS; they run on: {error:#}");
                }
                Ok(()) if self.is_failing => tracing::warn!("rooms are kept in NATS again"),
                _ => {}
            }
            self.is_failing = result.is_err();
            checkpoints.note_store(self.is_failing);
        }
    }

    /// Stores the rooms that have changed; adds them to `done`.
    async fn store_changed(
        &mut self,
        checkpoints: &RoomCheckpoints,
        done: &mut Vec<RoomId>,
    ) -> anyhow::Result<()> {
        // Before what is set aside: a room that is missing here is among that.
        let versions = checkpoints.versions();
        self.set_aside(checkpoints).await?;
        let changed =
            versions.iter().filter(|(room, version)| self.stored.get(*room) != Some(*version));
        let changed: Vec<RoomId> = changed.map(|(room, _)| *room).collect();
        let bucket = &self.bucket;
        let epoch = self.epoch;
        let stored: Vec<anyhow::Result<Option<(RoomId, u64, usize)>>> =
            futures_util::stream::iter(changed)
                .map(async |room| {
                    // The version belongs to what is stored.
                    let Some((version, saved)) = checkpoints.newest(room) else {
                        return Ok(None);
                    };
                    let bytes = segment_of(room, &saved);
                    let name = StoredRoomName { room, epoch }.to_string();
                    let mut reader = &bytes[..];
                    let put = bucket.put(name.as_str(), &mut reader);
                    timeout(OBJECT_TIMEOUT, put).await.context("NATS is late")??;
                    anyhow::Ok(Some((room, version, bytes.len())))
                })
                .buffer_unordered(OBJECTS_AT_A_TIME)
                .collect()
                .await;
        // A room that cannot be stored holds up no other.
        let mut failure = None;
        for stored in stored {
            match stored {
                Ok(Some((room, version, bytes))) => {
                    self.stored.insert(room, version);
                    checkpoints.note_stored(bytes);
                    done.push(room);
                }
                Ok(None) => {}
                Err(error) => (failure, self.has_parts) = (Some(error), true),
            }
        }
        self.delete_unneeded(&versions).await?;
        if self.has_parts && failure.is_none() {
            timeout(OBJECT_TIMEOUT, self.delete_parts()).await.context("NATS is late")??;
            self.has_parts = false;
        }
        failure.map_or(Ok(()), Err)
    }

    /// Stores the rooms that could not go on. What fails is tried again in the next turn.
    async fn set_aside(&mut self, checkpoints: &RoomCheckpoints) -> anyhow::Result<()> {
        let mut rooms = checkpoints.take_set_aside().into_iter();
        while let Some(room) = rooms.next() {
            let name = format!("set-aside/room-{}.rec", room.header.room);
            let bytes = recording_of(&room.header, &room.saved);
            let mut reader = &bytes[..];
            let put = timeout(OBJECT_TIMEOUT, self.bucket.put(name.as_str(), &mut reader)).await;
            let put = put.context("NATS is late").and_then(|put| Ok(put?));
            if let Err(error) = put {
                self.has_parts = true;
                checkpoints.return_set_aside([room].into_iter().chain(rooms));
                return Err(error.context("a room could not be set aside"));
            }
            checkpoints.note_set_aside();
            tracing::error!(
                room = room.header.room,
                game = room.header.game,
                build = room.build,
                bucket = BUCKET,
                object = name,
                "a kept room was set aside: {}. Its players are told that it was closed. `replay` \
                 shows what is in the object, with the build that saved it",
                room.why
            );
        }
        Ok(())
    }

    /// Deletes the objects of rooms that have ended, and those that have successors.
    async fn delete_unneeded(&mut self, versions: &BTreeMap<RoomId, u64>) -> anyhow::Result<()> {
        let ended = self.stored.keys().filter(|room| !versions.contains_key(room));
        let ended: Vec<RoomId> = ended.copied().collect();
        for room in ended {
            let epoch = self.epoch;
            self.delete(StoredRoomName { room, epoch }).await?;
            self.stored.remove(&room);
        }
        let unneeded = self.earlier.iter().filter(|name| {
            self.stored.contains_key(&name.room) || !versions.contains_key(&name.room)
        });
        let unneeded: Vec<StoredRoomName> = unneeded.copied().collect();
        for name in unneeded {
            self.delete(name).await?;
            self.earlier.remove(&name);
        }
        Ok(())
    }

    /// Deletes the contents of objects that were not written to their ends. Nothing is being
    /// written now.
    async fn delete_parts(&self) -> anyhow::Result<()> {
        // Before the objects: one that is complete by then is among them.
        let contents = self.stream.info_with_subjects(format!("{CONTENTS}>")).await?;
        let contents: Vec<String> = contents.map_ok(|(subject, _)| subject).try_collect().await?;
        let mut complete = BTreeSet::new();
        let mut objects = self.bucket.list().await?;
        while let Some(object) = objects.next().await {
            complete.insert(object?.nuid);
        }
        for subject in parts_of_objects(&contents, &complete) {
            self.stream.purge().filter(subject).await?;
        }
        Ok(())
    }

    async fn delete(&self, name: StoredRoomName) -> anyhow::Result<()> {
        let name = name.to_string();
        let deleted = timeout(OBJECT_TIMEOUT, self.bucket.delete(&name));
        deleted.await.context("NATS is late")??;
        Ok(())
    }
}

/// The subjects of contents that belong to no complete object.
fn parts_of_objects<'a>(
    contents: &'a [String],
    complete: &BTreeSet<String>,
) -> impl Iterator<Item = &'a String> {
    contents.iter().filter(|subject| {
        let id = subject.strip_prefix(CONTENTS);
        id.is_some_and(|id| !complete.contains(id))
    })
}

async fn read_room(bucket: &ObjectStore, name: StoredRoomName) -> anyhow::Result<SavedRoom> {
    let mut result = Err(anyhow::anyhow!("it was not read"));
    for _attempt in 0..READ_ATTEMPTS {
        let bytes = timeout(READ_ATTEMPT_TIMEOUT, read_object(bucket, name)).await;
        result = match bytes {
            Ok(Ok(bytes)) => return room_in(name.room, &bytes)?.context("it is damaged"),
            Ok(Err(error)) => Err(error),
            Err(late) => Err(late.into()),
        };
    }
    result
}

async fn read_object(bucket: &ObjectStore, name: StoredRoomName) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut object = bucket.get(name.to_string()).await?;
    object.read_to_end(&mut bytes).await?;
    Ok(bytes)
}

/// The segment of one room.
fn segment_of(room: RoomId, saved: &SavedRoom) -> Vec<u8> {
    let mut bytes = Vec::new();
    log::begin_segment(SALT, &mut bytes);
    let snapshot = KeptEntry::Snapshot {
        room,
        number: 0,
        at: saved.snapshot.at,
        state: &saved.snapshot.state,
    };
    log::append(SALT, snapshot, &mut bytes);
    for (number, tick) in (1..).zip(&saved.journal) {
        let tick = KeptEntry::Tick { room, number, at: tick.at, inputs: &tick.inputs };
        log::append(SALT, tick, &mut bytes);
    }
    bytes
}

/// The room in a segment; `None` if it is damaged.
fn room_in(room: RoomId, segment: &[u8]) -> Result<Option<SavedRoom>, log::OtherVersion> {
    let mut state = KeptState::default();
    state.read(1, segment)?;
    Ok(state.rooms.remove(&room).map(|kept| kept.saved))
}

#[cfg(test)]
mod tests {
    use ambit_proto::time::GameTime;
    use ambit_room::journal::{JournalEntry, RoomSnapshot};

    use super::*;

    #[test]
    fn an_object_has_the_room_as_it_was_stored() {
        let saved = SavedRoom {
            snapshot: RoomSnapshot { at: GameTime::from_millis(50), state: vec![1; 100] },
            journal: vec![JournalEntry { at: GameTime::from_millis(100), inputs: vec![2; 3] }; 2],
        };
        let bytes = segment_of(RoomId(7), &saved);
        assert_eq!(room_in(RoomId(7), &bytes), Ok(Some(saved)));
        assert_eq!(room_in(RoomId(8), &bytes), Ok(None));
    }

    #[test]
    fn only_contents_without_a_complete_object_are_deleted() {
        let contents = ["$O.AMBIT_ROOMS.C.a", "$O.AMBIT_ROOMS.C.b", "$O.AMBIT_ROOMS.M.c"];
        let contents = contents.map(str::to_owned);
        let complete = ["b".to_owned()].into();
        let parts: Vec<&String> = parts_of_objects(&contents, &complete).collect();
        assert_eq!(parts, ["$O.AMBIT_ROOMS.C.a"]);
    }

    #[test]
    fn the_newest_epoch_of_a_room_comes_last() {
        let names = ["9-1", "10-1", "2-3", "other", "1-x", "10-2"];
        let names: BTreeSet<StoredRoomName> =
            names.into_iter().filter_map(StoredRoomName::parse).collect();
        let newest: BTreeMap<RoomId, String> =
            names.iter().map(|name| (name.room, name.to_string())).collect();
        let expected = [(1, "10-1"), (2, "10-2"), (3, "2-3")];
        assert_eq!(newest, expected.map(|(room, name)| (RoomId(room), name.to_owned())).into());
    }
}
