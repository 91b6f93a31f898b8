//! The newest state of each room, as its host sent it, so that another host can resume the room.
//!
//! Checkpoints are stored on the way in, and the lobby learns of all other messages; on the way out
//! they are added to the orders to resume rooms. Only the host on which the
//! lobby placed a room may update its checkpoint. Messages of another host, which was given up and
//! is still alive, are dropped.
//!
//! Bound: for each room its newest state and the ticks since then, at most `MAX_ROOM_TICKS` and
//! `MAX_ROOM_JOURNAL_BYTES`. If a room sends more than that without a newer state, its checkpoint
//! is discarded. A state is at most `MAX_ROOM_STATE_BYTES`; large ones come and go in pieces.

use std::collections::BTreeMap;
use std::sync::Arc;

use ambit_host_protocol::messages::{HostMessage, RoomResume, WorldOrder};
use ambit_host_protocol::{MAX_ROOM_JOURNAL_BYTES, MAX_ROOM_STATE_BYTES};
use ambit_lobby::{HostId, HostReport};
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;
use ambit_room::journal::{JournalEntry, RoomSnapshot, SavedRoom};
use ambit_room::recording::Header;
use parking_lot::Mutex;

use crate::keep::keeper::Keeper;
use crate::keep::log::MAX_ROOM_TICKS;
use crate::keep::planner::{KeepStats, RoomSetAside};

/// The checkpoints of all rooms; see the module.
#[derive(Debug, Default)]
pub struct RoomCheckpoints {
    rooms: Mutex<BTreeMap<RoomId, RoomCheckpoint>>,
    /// Gets them all, if they are to survive this process.
    keeper: Option<Arc<Keeper>>,
    /// With a cluster that keeps rooms: what was stored.
    store: Mutex<Option<KeepStats>>,
    /// Without a keeper: rooms that could not go on, until they are stored.
    set_aside: Mutex<Vec<RoomSetAside>>,
}

#[derive(Debug, Default)]
struct RoomCheckpoint {
    host: HostId,
    saved: Option<SavedRoom>,
    journal_bytes: usize,
    /// The first pieces of a state whose last piece has not arrived.
    incoming: Vec<u8>,
    /// The pieces up to the next last one belong to a state that is too large.
    skips_pieces: bool,
    /// The newest state was too large: nothing of the room is kept until one fits.
    is_too_large: bool,
    /// When the newest message arrived.
    received_at: LocalTime,
    /// How often it has changed.
    version: u64,
}

/// What a piece of a snapshot has led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SavedPiece {
    Incomplete,
    /// The room has its first snapshot.
    First,
    /// It has a new one.
    Next,
}

impl RoomCheckpoint {
    fn new(now: LocalTime, host: HostId) -> Self {
        Self { host, received_at: now, ..Self::default() }
    }

    /// A snapshot, or a piece of one.
    fn save(&mut self, room: RoomId, mut piece: RoomSnapshot, has_more: bool) -> SavedPiece {
        if self.skips_pieces {
            self.skips_pieces = has_more;
            return SavedPiece::Incomplete;
        }
        let bytes = self.incoming.len() + piece.state.len();
        if bytes > MAX_ROOM_STATE_BYTES {
            if !std::mem::replace(&mut self.is_too_large, true) {
                tracing::error!(
                    room = room.0,
                    "a room's state is too large to be kept: until it is smaller, the room would \
                     end with its host"
                );
            }
            (self.saved, self.incoming) = (None, Vec::new());
            self.skips_pieces = has_more;
            return SavedPiece::Incomplete;
        }
        if has_more {
            self.incoming.append(&mut piece.state);
            return SavedPiece::Incomplete;
        }
        if !self.incoming.is_empty() {
            self.incoming.append(&mut piece.state);
            piece.state = std::mem::take(&mut self.incoming);
        }
        self.is_too_large = false;
        let is_first = self.saved.is_none();
        // The journal keeps its memory.
        let saved = self.saved.get_or_insert_default();
        saved.snapshot = piece;
        saved.journal.clear();
        self.journal_bytes = 0;
        if is_first { SavedPiece::First } else { SavedPiece::Next }
    }

    /// Returns whether the tick is kept.
    fn add_tick(&mut self, room: RoomId, tick: JournalEntry) -> bool {
        let Some(saved) = &mut self.saved else {
            return false;
        };
        self.journal_bytes += tick.inputs.len();
        if saved.journal.len() >= MAX_ROOM_TICKS || self.journal_bytes > MAX_ROOM_JOURNAL_BYTES {
            tracing::error!(
                room = room.0,
                "a room's journal is too long to be kept: until its next snapshot the room would \
                 end with its host"
            );
            self.saved = None;
            return false;
        }
        saved.journal.push(tick);
        true
    }
}

impl RoomCheckpoints {
    /// The checkpoints that an earlier process has kept, of rooms without a host. All further ones
    /// go to the keeper, too.
    pub(crate) fn with_kept(
        now: LocalTime,
        kept: impl IntoIterator<Item = (RoomId, SavedRoom)>,
        keeper: Option<Arc<Keeper>>,
    ) -> Self {
        let checkpoint = |(room, saved)| {
            // No host has this number.
            let mut checkpoint = RoomCheckpoint::new(now, HostId(0));
            checkpoint.saved = Some(saved);
            (room, checkpoint)
        };
        Self {
            rooms: Mutex::new(kept.into_iter().map(checkpoint).collect()),
            keeper,
            store: Mutex::default(),
            set_aside: Mutex::default(),
        }
    }

    /// The checkpoints that an earlier process has left, and nothing keeps further ones.
    pub fn restored(now: LocalTime, kept: impl IntoIterator<Item = (RoomId, SavedRoom)>) -> Self {
        Self::with_kept(now, kept, None)
    }

    /// The rooms, and a number of each that grows with each change. Those that cannot be kept are
    /// left out: an earlier state of them must not come back.
    pub(crate) fn versions(&self) -> BTreeMap<RoomId, u64> {
        let rooms = self.rooms.lock();
        let rooms = rooms.iter().filter(|(_, room)| !room.is_too_large);
        rooms.map(|(id, room)| (*id, room.version)).collect()
    }

    /// A room's newest checkpoint, and its number.
    pub(crate) fn newest(&self, room: RoomId) -> Option<(u64, SavedRoom)> {
        let rooms = self.rooms.lock();
        let room = rooms.get(&room)?;
        Some((room.version, room.saved.clone()?))
    }

    /// A cluster has stored a room.
    pub(crate) fn note_stored(&self, bytes: usize) {
        let mut store = self.store.lock();
        store.get_or_insert_default().bytes += bytes as u64;
    }

    /// A cluster has put a room aside.
    pub(crate) fn note_set_aside(&self) {
        let mut store = self.store.lock();
        store.get_or_insert_default().set_aside += 1;
    }

    /// A cluster has stored all rooms that have changed, or failed.
    pub(crate) fn note_store(&self, is_failing: bool) {
        let mut store = self.store.lock();
        let stats = store.get_or_insert_default();
        stats.syncs += u64::from(!is_failing);
        stats.failures += u64::from(is_failing);
        stats.is_failing = is_failing;
    }

    /// What was kept.
    pub(crate) fn keep_stats(&self) -> Option<KeepStats> {
        let store = *self.store.lock();
        self.keeper.as_ref().map(|keeper| keeper.stats()).or(store)
    }

    /// The files of rooms that were set aside, below the folder of `--keep`; the first of many.
    pub(crate) fn files_set_aside(&self) -> Vec<String> {
        self.keeper.as_ref().map(|keeper| keeper.files_set_aside()).unwrap_or_default()
    }

    pub(crate) fn keeper(&self) -> Option<&Keeper> {
        self.keeper.as_deref()
    }

    /// Waits until what has been kept until now survives this process.
    pub(crate) async fn until_kept(&self) {
        if let Some(keeper) = &self.keeper {
            keeper.until_written().await;
        }
    }

    /// Completes an order to a host. An order to open a room places it there: from now on only that
    /// host updates its checkpoint. An order to resume a room takes its checkpoint along; without
    /// one, the host answers that it cannot resume the room, and the lobby closes it.
    pub fn complete_order(&self, now: LocalTime, host: HostId, order: WorldOrder) -> WorldOrder {
        let WorldOrder::OpenRoom(assignment, resume) = order else {
            return order;
        };
        let room = assignment.room;
        let resume = resume.map(|resume| self.resume(now, room, resume));
        let mut rooms = self.rooms.lock();
        let checkpoint = rooms.entry(room).or_insert(RoomCheckpoint::new(now, host));
        checkpoint.host = host;
        checkpoint.incoming.clear();
        checkpoint.skips_pieces = false;
        self.interrupt(room);
        WorldOrder::OpenRoom(assignment, resume)
    }

    /// A host runs a room already: discards the room's checkpoint, since ticks may be missing in
    /// it.
    pub fn adopt(&self, now: LocalTime, room: RoomId, host: HostId) {
        let mut rooms = self.rooms.lock();
        rooms.insert(room, RoomCheckpoint::new(now, host));
        self.interrupt(room);
    }

    /// Puts a room aside that could not go on, so that it is not lost when it is removed.
    pub(crate) fn set_aside(&self, header: Header, build: String, why: String) {
        let room = RoomId(header.room);
        let Some(saved) = self.saved(room) else {
            return tracing::error!(
                room = room.0,
                "a kept room could not go on, and there is no checkpoint of it to set aside: {why}"
            );
        };
        let aside = RoomSetAside { header, saved, build, why };
        match &self.keeper {
            Some(keeper) => keeper.set_aside(aside),
            None => self.set_aside.lock().push(aside),
        }
    }

    /// The rooms that a cluster is to put aside.
    pub(crate) fn take_set_aside(&self) -> Vec<RoomSetAside> {
        std::mem::take(&mut self.set_aside.lock())
    }

    /// Those that it could not put aside.
    pub(crate) fn return_set_aside(&self, rooms: impl IntoIterator<Item = RoomSetAside>) {
        self.set_aside.lock().extend(rooms);
    }

    /// Removes the checkpoint of a closed room.
    pub fn remove(&self, room: RoomId) {
        let mut rooms = self.rooms.lock();
        rooms.remove(&room);
        if let Some(keeper) = &self.keeper {
            keeper.forget(room);
        }
    }

    /// The keeper waits for the room's next snapshot.
    fn interrupt(&self, room: RoomId) {
        if let Some(keeper) = &self.keeper {
            keeper.interrupt(room);
        }
    }

    /// Receives a host's message. Returns what the lobby has to know: that a room has its first
    /// checkpoint, and every message that is not a checkpoint.
    pub fn receive(
        &self,
        now: LocalTime,
        host: HostId,
        message: HostMessage,
    ) -> Option<HostReport> {
        match message {
            HostMessage::SnapshotPiece(room, piece) => self.save(now, host, room, piece, true),
            HostMessage::Snapshot(room, last) => self.save(now, host, room, last, false),
            HostMessage::Journal { room, entry, .. } => {
                self.update_from(now, host, room, |checkpoint| {
                    let is_kept = checkpoint.add_tick(room, entry);
                    let newest = checkpoint.saved.as_ref();
                    let newest = newest.and_then(|saved| saved.journal.last());
                    match (&self.keeper, newest) {
                        (Some(keeper), Some(tick)) if is_kept => keeper.keep_tick(room, tick),
                        (Some(keeper), _) => keeper.interrupt(room),
                        (None, _) => {}
                    }
                });
                None
            }
            message => Some(HostReport::Message(message)),
        }
    }

    fn save(
        &self,
        now: LocalTime,
        host: HostId,
        room: RoomId,
        piece: RoomSnapshot,
        has_more: bool,
    ) -> Option<HostReport> {
        let saved_piece = self.update_from(now, host, room, |checkpoint| {
            let saved_piece = checkpoint.save(room, piece, has_more);
            match (&self.keeper, &checkpoint.saved, saved_piece) {
                (None, ..) | (_, Some(_), SavedPiece::Incomplete) => {}
                // What was kept before must not come back later.
                (Some(keeper), None, _) if checkpoint.is_too_large => keeper.forget(room),
                (Some(keeper), None, _) => keeper.interrupt(room),
                (Some(keeper), Some(saved), SavedPiece::First | SavedPiece::Next) => {
                    keeper.keep_snapshot(room, &saved.snapshot);
                }
            }
            saved_piece
        })?;
        let is_first = matches!(saved_piece, SavedPiece::First);
        is_first.then_some(HostReport::Checkpointed(room))
    }

    /// The checkpoint of a room.
    pub fn saved(&self, room: RoomId) -> Option<SavedRoom> {
        self.rooms.lock().get(&room)?.saved.clone()
    }

    fn resume(&self, now: LocalTime, room: RoomId, mut resume: RoomResume) -> RoomResume {
        if let Some(checkpoint) = self.rooms.lock().get(&room)
            && let Some(saved) = &checkpoint.saved
        {
            resume.now = saved.last_tick() + now.since(checkpoint.received_at);
            resume.saved.clone_from(saved);
        }
        resume
    }

    pub fn len(&self) -> usize {
        self.rooms.lock().len()
    }

    /// Whether there is no room.
    pub fn is_empty(&self) -> bool {
        self.rooms.lock().is_empty()
    }

    fn update_from<T>(
        &self,
        now: LocalTime,
        host: HostId,
        room: RoomId,
        then: impl FnOnce(&mut RoomCheckpoint) -> T,
    ) -> Option<T> {
        let mut rooms = self.rooms.lock();
        let checkpoint = rooms.get_mut(&room).filter(|checkpoint| checkpoint.host == host)?;
        checkpoint.received_at = now;
        checkpoint.version += 1;
        Some(then(checkpoint))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ambit_host_protocol::ROOM_PIECE_BYTES;
    use ambit_host_protocol::messages::{RoomAssignment, RoomMember};
    use ambit_host_protocol::protobuf::{host_message_of, messages_of};
    use ambit_proto::ids::PlayerId;
    use ambit_proto::time::GameTime;

    use super::*;

    const NOW: LocalTime = LocalTime::ZERO;
    const ROOM: RoomId = RoomId(7);
    const FIRST: HostId = HostId(1);
    const SECOND: HostId = HostId(2);

    #[test]
    fn a_checkpoint_is_the_newest_state_and_the_ticks_since() {
        let checkpoints = RoomCheckpoints::default();
        place(&checkpoints, FIRST);
        assert!(checkpoints.receive(NOW, FIRST, tick(50)).is_none());
        assert_eq!(
            resume_at(&checkpoints, NOW),
            None,
            "ticks without a saved state are not enough"
        );
        assert_eq!(
            checkpoints.receive(NOW, FIRST, saved(100, 1)),
            Some(HostReport::Checkpointed(ROOM)),
            "the lobby is notified once"
        );
        assert!(
            checkpoints.receive(NOW, FIRST, tick(150)).is_none()
                && checkpoints.receive(NOW, FIRST, tick(200)).is_none()
        );
        assert_eq!(known_ticks(&checkpoints), (vec![1], vec![150, 200]));
        assert_eq!(checkpoints.receive(NOW, FIRST, saved(200, 2)), None);
        assert!(checkpoints.receive(NOW, FIRST, tick(250)).is_none());
        assert_eq!(known_ticks(&checkpoints), (vec![2], vec![250]));
        assert!(
            resume_at(&checkpoints, NOW + Duration::from_millis(7))
                .is_some_and(|resume| resume.now == GameTime::from_millis(257))
        );
        checkpoints.remove(ROOM);
        assert_eq!(resume_at(&checkpoints, NOW), None);
    }

    #[test]
    fn other_messages_are_passed_on() {
        let checkpoints = RoomCheckpoints::default();
        let beat = || HostMessage::Heartbeat(5);
        let report = checkpoints.receive(NOW, FIRST, beat());
        assert_eq!(report, Some(HostReport::Message(beat())));
    }

    #[test]
    fn messages_of_a_rooms_former_host_are_dropped() {
        let checkpoints = RoomCheckpoints::default();
        place(&checkpoints, FIRST);
        checkpoints.receive(NOW, FIRST, saved(100, 1));
        place(&checkpoints, SECOND);
        checkpoints.receive(NOW, FIRST, saved(900, 9));
        checkpoints.receive(NOW, FIRST, tick(950));
        checkpoints.receive(NOW, SECOND, tick(150));
        assert_eq!(known_ticks(&checkpoints), (vec![1], vec![150]));
    }

    #[test]
    fn a_large_state_arrives_in_pieces_and_counts_once_it_is_complete() {
        let checkpoints = RoomCheckpoints::default();
        place(&checkpoints, FIRST);
        checkpoints.receive(NOW, FIRST, saved(100, 1));
        checkpoints.receive(NOW, FIRST, tick(150));
        let snapshot = RoomSnapshot {
            at: GameTime::from_millis(200),
            state: (0..20_000_000_u32).map(|byte| byte as u8).collect(),
        };
        let messages = messages_of(HostMessage::Snapshot(ROOM, snapshot.clone()));
        assert!(messages.len() > 16, "{}", messages.len());
        for message in messages {
            assert!(prost::Message::encoded_len(&message) < 2 * ROOM_PIECE_BYTES);
            let before = checkpoints.saved(ROOM).expect("a checkpoint");
            assert_eq!((before.snapshot.state.len(), before.journal.len()), (1, 1));
            let message = host_message_of(message).expect("a known message");
            checkpoints.receive(NOW, FIRST, message);
        }
        let kept = checkpoints.saved(ROOM).expect("a checkpoint");
        assert!(kept.snapshot == snapshot && kept.journal.is_empty());
    }

    #[test]
    fn a_state_that_is_too_large_is_not_kept_and_the_next_one_is() {
        let checkpoints = RoomCheckpoints::default();
        place(&checkpoints, FIRST);
        checkpoints.receive(NOW, FIRST, saved(100, 1));
        let piece = |has_more| {
            let state = vec![0; MAX_ROOM_STATE_BYTES / 4];
            let kind = if has_more { HostMessage::SnapshotPiece } else { HostMessage::Snapshot };
            kind(ROOM, RoomSnapshot { at: GameTime::ZERO, state })
        };
        assert_eq!(checkpoints.versions().len(), 1);
        for has_more in [true, true, true, true, true, true, false] {
            checkpoints.receive(NOW, FIRST, piece(has_more));
        }
        assert_eq!(checkpoints.saved(ROOM), None);
        assert!(checkpoints.versions().is_empty(), "what was stored is deleted");
        checkpoints.receive(NOW, FIRST, saved(200, 2));
        assert_eq!(known_ticks(&checkpoints).0, [2]);
        assert_eq!(checkpoints.versions().len(), 1);
    }

    #[test]
    fn an_old_state_of_a_room_that_grew_too_large_does_not_come_back() {
        let directory = std::env::temp_dir().join(format!("ambit-large-{}", std::process::id()));
        let (keeper, _) = Keeper::open(&directory, Duration::from_secs(1)).expect("a directory");
        let checkpoints = RoomCheckpoints::with_kept(NOW, [], Some(keeper));
        place(&checkpoints, FIRST);
        checkpoints.receive(NOW, FIRST, saved(100, 1));
        let state = vec![0; MAX_ROOM_STATE_BYTES + 1];
        let large = RoomSnapshot { at: GameTime::ZERO, state };
        checkpoints.receive(NOW, FIRST, HostMessage::Snapshot(ROOM, large));
        checkpoints.receive(NOW, FIRST, tick(150));
        checkpoints.keeper().expect("it is given").finish();
        let segment = std::fs::read(directory.join("rooms-00000001.log")).expect("a segment");
        let mut kept = crate::keep::log::KeptState::default();
        kept.read(1, &segment).expect("this version");
        assert!(kept.rooms.is_empty() && segment.len() > 100);
        std::fs::remove_dir_all(&directory).expect("it exists");
    }

    #[test]
    fn pieces_of_a_host_that_died_are_not_mixed_with_the_next_one_s() {
        let checkpoints = RoomCheckpoints::default();
        place(&checkpoints, FIRST);
        let piece = RoomSnapshot { at: GameTime::from_millis(100), state: vec![1] };
        checkpoints.receive(NOW, FIRST, HostMessage::SnapshotPiece(ROOM, piece));
        place(&checkpoints, SECOND);
        checkpoints.receive(NOW, SECOND, saved(200, 2));
        assert_eq!(known_ticks(&checkpoints).0, [2]);
    }

    #[test]
    fn a_journal_of_too_many_bytes_is_not_kept() {
        let checkpoints = RoomCheckpoints::default();
        place(&checkpoints, FIRST);
        checkpoints.receive(NOW, FIRST, saved(0, 1));
        let long = |at_ms: u64| {
            let inputs = vec![0; MAX_ROOM_JOURNAL_BYTES / 4];
            let entry = JournalEntry { at: GameTime::from_millis(at_ms), inputs };
            HostMessage::Journal { room: ROOM, entry, number: 0 }
        };
        for at_ms in 1..=4 {
            checkpoints.receive(NOW, FIRST, long(at_ms));
        }
        assert!(checkpoints.saved(ROOM).is_some());
        checkpoints.receive(NOW, FIRST, long(5));
        assert_eq!(checkpoints.saved(ROOM), None);
        // The next snapshot makes up for it.
        checkpoints.receive(NOW, FIRST, saved(6, 1));
        checkpoints.receive(NOW, FIRST, long(7));
        assert_eq!(known_ticks(&checkpoints), (vec![1], vec![7]));
    }

    #[test]
    fn the_number_of_kept_ticks_is_bounded() {
        let checkpoints = RoomCheckpoints::default();
        place(&checkpoints, FIRST);
        checkpoints.receive(NOW, FIRST, saved(0, 1));
        for at in 0..=MAX_ROOM_TICKS as u64 {
            checkpoints.receive(NOW, FIRST, tick(at));
        }
        assert_eq!(resume_at(&checkpoints, NOW), None);
    }

    fn place(checkpoints: &RoomCheckpoints, host: HostId) {
        checkpoints.complete_order(NOW, host, order(None));
    }

    /// Places the room on `FIRST` and returns what that host gets to resume it; `None` if there is
    /// no checkpoint.
    fn resume_at(checkpoints: &RoomCheckpoints, now: LocalTime) -> Option<RoomResume> {
        let members = vec![RoomMember { player: PlayerId(3), name: "ann".into() }];
        let order = checkpoints.complete_order(now, FIRST, order(Some(members.clone())));
        let WorldOrder::OpenRoom(_, Some(resume)) = order else { panic!("{order:?}") };
        assert_eq!(resume.members, Some(members));
        (!resume.saved.snapshot.state.is_empty()).then_some(resume)
    }

    fn order(members: Option<Vec<RoomMember>>) -> WorldOrder {
        let assignment = RoomAssignment { room: ROOM, ..RoomAssignment::default() };
        let resume =
            members.map(|members| RoomResume { members: Some(members), ..RoomResume::default() });
        WorldOrder::OpenRoom(assignment, resume)
    }

    fn known_ticks(checkpoints: &RoomCheckpoints) -> (Vec<u8>, Vec<u64>) {
        let resume = resume_at(checkpoints, NOW).expect("a room with a checkpoint");
        let SavedRoom { snapshot, journal } = resume.saved;
        (snapshot.state, journal.iter().map(|tick| tick.at.micros() / 1_000).collect())
    }

    fn saved(at_ms: u64, state: u8) -> HostMessage {
        let at = GameTime::from_millis(at_ms);
        HostMessage::Snapshot(ROOM, RoomSnapshot { at, state: vec![state] })
    }

    fn tick(at_ms: u64) -> HostMessage {
        let entry = JournalEntry { at: GameTime::from_millis(at_ms), inputs: Vec::new() };
        HostMessage::Journal { room: ROOM, entry, number: 0 }
    }
}
