//! Files that survive this process: the shell of `planner`.
//!
//! At the start the segments in the folder are read; then a thread appends to them, and another
//! one syncs them, so that what comes during an `fsync` is written. No other thread waits for them.
//! Written data survives the end of the process, synced data that of the machine.
//!
//! Files: `lock`, `rooms-NUMBER.log` for each segment, `unfinished-start` from the start until all
//! rooms have run for a moment, and `set-aside/room-ID.rec` for each room that ended the process or
//! that no host could restore.
//! Only their owner may read them: they have the tokens that resume sessions.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ambit_lobby::RecordKey;
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;
use ambit_room::journal::{JournalEntry, RoomSnapshot};
use ambit_room::recording::recording_of;
use ambit_transport::random::system_random;
use anyhow::Context as _;
use parking_lot::{Condvar, Mutex};

use super::log::{self, KeptState, LogSalt};
use super::planner::{KeepPlanner, KeepStats, KeepWork, RoomSetAside};
use super::starts::{StartPlan, UnfinishedStarts};
use super::waiting::QueuedEntry;

/// What comes within this time is written at once.
const GATHER_TIME: Duration = Duration::from_millis(5);
/// Entries are hashed and written in parts of about this size.
const WRITE_BYTES: usize = 1 << 20;
/// How long the last write may take.
const FINISH_TIMEOUT: Duration = Duration::from_secs(1);
const UNFINISHED_START: &str = "unfinished-start";
const SET_ASIDE: &str = "set-aside";
/// Files of rooms that were set aside, on the page for operators.
const MOST_LISTED: usize = 64;

/// Takes what is to be kept; see the module.
#[derive(Debug)]
pub(crate) struct Keeper {
    planner: Mutex<KeepPlanner>,
    /// There is something to write or to sync, or something was.
    wake: Condvar,
    /// Files that are not synced, in order; the last one is the newest.
    unsynced: Mutex<Vec<Arc<File>>>,
    /// Whether the last write or sync has failed, for the log.
    was_failing: AtomicBool,
    started: Instant,
    folder: PathBuf,
    start: Mutex<ThisStart>,
    /// The files of the rooms that were set aside, by name.
    set_aside: Mutex<Vec<String>>,
    /// Locked as long as this lives.
    _lock: File,
}

/// How far this start is.
#[derive(Debug)]
struct ThisStart {
    plan: StartPlan,
    /// What the folder said before it.
    before: UnfinishedStarts,
    noted: UnfinishedStarts,
    /// Whether all restored rooms have run for a moment.
    is_done: bool,
}

impl Keeper {
    /// Reads what the folder has, and starts the thread. Refuses a folder that cannot be
    /// written, that another server uses, or whose files have another version.
    pub(crate) fn open(
        folder: &Path,
        sync_interval: Duration,
    ) -> anyhow::Result<(Arc<Self>, KeptState)> {
        let opened = Self::open_without_context(folder, sync_interval);
        opened.with_context(|| {
            format!("cannot keep rooms in {} (`--keep` chooses another folder)", folder.display())
        })
    }

    fn open_without_context(
        folder: &Path,
        sync_interval: Duration,
    ) -> anyhow::Result<(Arc<Self>, KeptState)> {
        create_folder(folder)?;
        let lock = folder.join("lock");
        check_regular(&lock)?;
        let lock = owner_only().truncate(false).open(lock)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => anyhow::bail!("another server uses it"),
            Err(fs::TryLockError::Error(error)) => return Err(error.into()),
        }
        let mut kept = KeptState::default();
        let segments = find_segments(folder)?;
        for &segment in &segments {
            let path = path_of(folder, segment);
            check_regular(&path)?;
            let bytes = fs::read(&path).with_context(|| path.display().to_string())?;
            if bytes.is_empty() {
                tracing::warn!(
                    path = %path.display(),
                    "this file of rooms is empty. A server that ended right after it had made the \
                     file leaves it so; if it was longer, what it had is lost"
                );
            }
            let read = kept.read(segment, &bytes);
            read.with_context(|| path.display().to_string())?;
        }
        report(folder, &kept);
        let start = ThisStart::begin(folder, !kept.rooms.is_empty())?;
        let set_aside = list_set_aside(folder)?;
        let salt: LogSalt = system_random()?;
        let keeper = Arc::new(Self {
            planner: Mutex::new(KeepPlanner::new(sync_interval, &kept, segments)),
            wake: Condvar::new(),
            unsynced: Mutex::default(),
            was_failing: AtomicBool::new(false),
            started: now(),
            folder: folder.to_owned(),
            start: Mutex::new(start),
            set_aside: Mutex::new(set_aside),
            _lock: lock,
        });
        let mut files = SegmentFiles::new(folder, salt);
        // A disk that takes nothing is noticed now.
        keeper.write_next(&mut files)?;
        let writer = Arc::clone(&keeper);
        std::thread::Builder::new().name("ambit-keep".into()).spawn(move || writer.run(files))?;
        let syncer = Arc::clone(&keeper);
        std::thread::Builder::new()
            .name("ambit-keep-sync".into())
            .spawn(move || syncer.run_syncs())?;
        Ok((keeper, kept))
    }

    pub(crate) fn stats(&self) -> KeepStats {
        KeepStats { set_aside: self.set_aside.lock().len() as u64, ..self.planner.lock().stats() }
    }

    /// How rooms are to be restored.
    pub(crate) fn start_plan(&self) -> StartPlan {
        self.start.lock().plan
    }

    /// Notes which room is tried, and waits until the disk has it.
    pub(crate) fn note_trial(&self, room: Option<RoomId>) {
        let mut start = self.start.lock();
        if start.is_done {
            return;
        }
        start.noted = start.noted.trying(room);
        if let Some(room) = room {
            tracing::info!(room = room.0, "trying a kept room alone");
        }
        if let Err(error) = write_start(&self.folder, start.noted) {
            tracing::error!(
                folder = %self.folder.display(),
                "cannot note which kept room is tried: if the server ends now, no room is set \
                 aside: {error}"
            );
            // It would name another room.
            let _ = fs::remove_file(self.folder.join(UNFINISHED_START));
        }
    }

    /// All restored rooms have run for a moment.
    pub(crate) fn finish_start(&self) {
        let mut start = self.start.lock();
        if std::mem::replace(&mut start.is_done, true) {
            return;
        }
        if start.plan.unfinished > 0 {
            tracing::warn!("all kept rooms have run for a moment: this start has finished");
        }
        self.write_end_of_start(UnfinishedStarts::default());
    }

    /// Moves a room that ended the process out of the way, as a recording, before it returns.
    pub(crate) fn set_aside_now(&self, room: &RoomSetAside) -> io::Result<()> {
        set_aside(&self.folder, room)?;
        self.list_set_aside()
    }

    /// The first of the files of the rooms that were set aside, by name.
    pub(crate) fn files_set_aside(&self) -> Vec<String> {
        let files = self.set_aside.lock();
        files.iter().take(MOST_LISTED).cloned().collect()
    }

    /// The same in its turn, before the room is forgotten.
    pub(crate) fn set_aside(&self, room: RoomSetAside) {
        self.planner.lock().set_aside(room);
        self.wake.notify_all();
    }

    pub(crate) fn keep_records(
        &self,
        records: impl IntoIterator<Item = (RecordKey, Option<Vec<u8>>)>,
    ) {
        self.planner.lock().handle_records(records);
        self.wake.notify_all();
    }

    pub(crate) fn keep_snapshot(&self, room: RoomId, snapshot: &RoomSnapshot) {
        if !self.planner.lock().wants_snapshot(room) {
            return;
        }
        // It may be large: it is copied without the lock, and hashed when it is written.
        let snapshot = snapshot.clone();
        self.planner.lock().handle_snapshot(room, snapshot);
        self.wake.notify_all();
    }

    pub(crate) fn keep_tick(&self, room: RoomId, tick: &JournalEntry) {
        self.planner.lock().handle_tick(room, tick);
        self.wake.notify_all();
    }

    /// Waits until the file has all that came until now, so that it survives this process; if the
    /// disk is late or fails, no longer than some moments.
    pub(crate) async fn until_written(&self) {
        let write = self.planner.lock().write_of_all();
        let written = async {
            while !self.planner.lock().is_over(write) {
                tokio::time::sleep(GATHER_TIME).await;
            }
        };
        let _ = tokio::time::timeout(FINISH_TIMEOUT, written).await;
    }

    /// Something of the room is missing until its next snapshot.
    pub(crate) fn interrupt(&self, room: RoomId) {
        self.planner.lock().interrupt(room);
    }

    pub(crate) fn forget(&self, room: RoomId) {
        self.planner.lock().forget(room);
        self.wake.notify_all();
    }

    /// Keeps nothing more of what the lobby does: this process ends.
    pub(crate) fn freeze(&self) {
        self.planner.lock().freeze();
    }

    /// Writes and syncs what waits, and ends the thread. Waits for it, within a limit.
    pub(crate) fn finish(&self) {
        let start = self.start.lock();
        if !start.is_done {
            // It was ended on purpose: it counts for nothing.
            self.write_end_of_start(start.before.trying(None));
        }
        drop(start);
        let mut planner = self.planner.lock();
        planner.finish();
        self.wake.notify_all();
        let is_at_work = |planner: &mut KeepPlanner| !planner.is_finished();
        let waited = self.wake.wait_while_for(&mut planner, is_at_work, FINISH_TIMEOUT);
        if waited.timed_out() {
            tracing::warn!("shutdown: the newest changes of rooms were not written in time");
        }
    }

    /// Writes what is due, until all is written.
    fn run(&self, mut files: SegmentFiles) {
        let mut left_out = 0;
        let mut is_slow = false;
        loop {
            self.report(self.write_next(&mut files).err());
            let stats = self.stats();
            if stats.left_out > left_out && !is_slow {
                tracing::warn!(
                    "the disk is too slow to keep all rooms: some are left out until their next \
                     snapshots"
                );
            }
            // One line each time that the disk cannot keep up.
            is_slow = stats.left_out > left_out || is_slow && stats.waiting_bytes > 0;
            left_out = stats.left_out;
            if !self.wait_until_due(KeepPlanner::next_deadline) {
                return;
            }
            std::thread::sleep(GATHER_TIME);
        }
    }

    /// Syncs what is due, until all is synced.
    fn run_syncs(&self) {
        while self.wait_until_due(KeepPlanner::next_sync) {
            self.report(self.sync_next().err());
        }
    }

    /// Writes what is due.
    fn write_next(&self, files: &mut SegmentFiles) -> io::Result<()> {
        let Some(work) = self.planner.lock().poll(self.time()) else {
            return Ok(());
        };
        let mut written = files.carry_out(&work, &self.unsynced);
        if !work.set_aside.is_empty() {
            written = written.and_then(|()| self.list_set_aside());
        }
        self.planner.lock().handle_done(self.time(), &work, written.is_ok());
        self.wake.notify_all();
        written
    }

    fn list_set_aside(&self) -> io::Result<()> {
        *self.set_aside.lock() = list_set_aside(&self.folder)?;
        Ok(())
    }

    /// Syncs if that is due.
    fn sync_next(&self) -> io::Result<()> {
        if !self.planner.lock().poll_sync(self.time()) {
            return Ok(());
        }
        let files = self.unsynced.lock().clone();
        let synced = files
            .iter()
            .try_for_each(|file| file.sync_data())
            // The names of new files.
            .and_then(|()| File::open(&self.folder)?.sync_all());
        // What could not be synced is written again to another file. The newest file goes on.
        let done = files.len().saturating_sub(usize::from(synced.is_ok()));
        self.unsynced.lock().retain(|file| !files[..done].iter().any(|it| Arc::ptr_eq(it, file)));
        let unneeded = self.planner.lock().handle_synced(self.time(), synced.is_ok());
        self.wake.notify_all();
        for segment in unneeded {
            delete_segment(&self.folder, segment);
        }
        synced
    }

    /// Logs that rooms are not kept, or are kept again, once each.
    fn report(&self, error: Option<io::Error>) {
        if let Some(error) = error {
            if !self.was_failing.swap(true, Ordering::Relaxed) {
                tracing::error!(
                    folder = %self.folder.display(),
                    "rooms are not kept: they run on, and it is tried again: {error}"
                );
            }
        } else if !self.planner.lock().stats().is_failing
            && self.was_failing.swap(false, Ordering::Relaxed)
        {
            tracing::warn!("rooms are kept again, each from its next snapshot on");
        }
    }

    /// Waits until that is due. Returns whether there will be something to do.
    fn wait_until_due(&self, due: impl Fn(&KeepPlanner) -> Option<LocalTime>) -> bool {
        let mut planner = self.planner.lock();
        loop {
            if planner.is_finished() {
                return false;
            }
            let now = self.time();
            match due(&planner) {
                Some(at) if at <= now => return true,
                Some(at) => {
                    self.wake.wait_for(&mut planner, at.since(now));
                }
                None => self.wake.wait(&mut planner),
            }
        }
    }

    fn write_end_of_start(&self, starts: UnfinishedStarts) {
        if let Err(error) = write_start(&self.folder, starts) {
            tracing::warn!(
                folder = %self.folder.display(),
                "cannot note that this start has finished: {error}"
            );
        }
    }

    fn time(&self) -> LocalTime {
        LocalTime::from_micros(self.started.elapsed().as_micros() as u64)
    }
}

impl ThisStart {
    fn begin(folder: &Path, has_rooms: bool) -> anyhow::Result<Self> {
        let path = folder.join(UNFINISHED_START);
        check_regular(&path)?;
        let text = match fs::read(&path) {
            Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error).with_context(|| path.display().to_string()),
        };
        let before = UnfinishedStarts::parse(text.as_deref());
        let mut plan = before.plan();
        let mut noted = before.begin();
        if !has_rooms {
            (plan, noted) = (StartPlan::default(), UnfinishedStarts::default());
        }
        if plan.one_at_a_time {
            tracing::warn!(
                folder = %folder.display(),
                starts = plan.unfinished,
                "the last start ended before all kept rooms had run for a moment: they are \
                 restored one at a time"
            );
        }
        if has_rooms || text.is_some() {
            write_start(folder, noted)?;
        }
        Ok(Self { plan, before, noted, is_done: !has_rooms })
    }
}

/// Writes what the next start reads, so that it survives the end of the process or the machine.
fn write_start(folder: &Path, starts: UnfinishedStarts) -> io::Result<()> {
    let path = folder.join(UNFINISHED_START);
    match starts.to_text() {
        Some(text) => {
            let new_path = folder.join(format!("{UNFINISHED_START}.new"));
            let mut file = owner_only().truncate(true).open(&new_path)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&new_path, &path)?;
        }
        None => match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        },
    }
    File::open(folder)?.sync_all()
}

/// Writes a room to a file of its own, and waits until the disk has it.
fn set_aside(kept: &Path, room: &RoomSetAside) -> io::Result<()> {
    let RoomSetAside { header, saved, build, why } = room;
    let folder = kept.join(SET_ASIDE);
    create_folder(&folder)?;
    let path = folder.join(format!("room-{}.rec", header.room));
    let mut file = owner_only().truncate(true).open(&path)?;
    file.write_all(&recording_of(header, saved))?;
    file.sync_all()?;
    File::open(&folder)?.sync_all()?;
    File::open(kept)?.sync_all()?;
    tracing::error!(
        room = header.room,
        game = header.game,
        build,
        path = %path.display(),
        "a kept room was set aside: {why}. Its players are told that it was closed. `replay` shows \
         what is in the file, with the build that saved it; then delete the file"
    );
    Ok(())
}

fn list_set_aside(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder.join(SET_ASIDE)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let name = |entry: io::Result<fs::DirEntry>| {
        entry.map(|entry| format!("{SET_ASIDE}/{}", entry.file_name().to_string_lossy()))
    };
    let mut names = entries.map(name).collect::<io::Result<Vec<_>>>()?;
    names.sort_unstable();
    Ok(names)
}

/// Writes the files of the segments.
struct SegmentFiles {
    folder: PathBuf,
    salt: LogSalt,
    /// The newest segment.
    newest: Option<Arc<File>>,
    /// Entries with their hashes.
    buffer: Vec<u8>,
}

impl SegmentFiles {
    fn new(folder: &Path, salt: LogSalt) -> Self {
        Self { folder: folder.to_owned(), salt, newest: None, buffer: Vec::new() }
    }

    fn carry_out(&mut self, work: &KeepWork, unsynced: &Mutex<Vec<Arc<File>>>) -> io::Result<()> {
        let done = self.try_to_carry_out(work, unsynced);
        if done.is_err() {
            // The next work begins a new segment, and does not count on these.
            self.newest = None;
            unsynced.lock().clear();
        }
        done
    }

    fn try_to_carry_out(
        &mut self,
        work: &KeepWork,
        unsynced: &Mutex<Vec<Arc<File>>>,
    ) -> io::Result<()> {
        for room in &work.set_aside {
            set_aside(&self.folder, room)?;
        }
        if !work.append.is_empty() {
            let newest = self.newest.clone();
            let newest = newest.ok_or_else(|| io::Error::other("no segment was begun"))?;
            self.write(&newest, &work.append)?;
        }
        if let Some((number, entries)) = &work.begin {
            let path = path_of(&self.folder, *number);
            let file = Arc::new(owner_only().create_new(true).open(&path)?);
            log::begin_segment(self.salt, &mut self.buffer);
            if let Err(error) = self.write(&file, entries) {
                // It has nothing that is not elsewhere.
                let _ = fs::remove_file(&path);
                return Err(error);
            }
            unsynced.lock().push(Arc::clone(&file));
            self.newest = Some(file);
        }
        Ok(())
    }

    /// Writes what is in the buffer, then these entries.
    fn write(&mut self, mut file: &File, entries: &[QueuedEntry]) -> io::Result<()> {
        let mut buffer = std::mem::take(&mut self.buffer);
        for entry in entries {
            log::append(self.salt, entry.as_entry(), &mut buffer);
            if buffer.len() >= WRITE_BYTES {
                file.write_all(&buffer)?;
                buffer.clear();
            }
        }
        file.write_all(&buffer)?;
        buffer.clear();
        // A large snapshot need not stay in memory.
        buffer.shrink_to(WRITE_BYTES);
        self.buffer = buffer;
        Ok(())
    }
}

fn delete_segment(folder: &Path, segment: u64) {
    let path = path_of(folder, segment);
    if let Err(error) = fs::remove_file(&path)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(path = %path.display(), "cannot delete what is not needed: {error}");
    }
}

fn report(folder: &Path, kept: &KeptState) {
    if kept.damaged_bytes > 0 {
        tracing::error!(
            folder = %folder.display(),
            bytes = kept.damaged_bytes,
            "files of rooms are damaged: what follows from the damaged parts is lost"
        );
    }
    tracing::info!(
        folder = %folder.display(),
        rooms = kept.rooms.len(),
        records = kept.records.len(),
        torn_bytes = kept.torn_bytes,
        "rooms and sessions are kept here"
    );
}

/// Refuses an existing file that is not a regular file. To open a FIFO would wait for its other
/// end.
fn check_regular(path: &Path) -> anyhow::Result<()> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => anyhow::bail!(
            "{} is {}, but a regular file is expected: move it to another place",
            path.display(),
            kind_of(found.file_type())
        ),
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| path.display().to_string())
        }
        _ => Ok(()),
    }
}

fn kind_of(found: fs::FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if found.is_fifo() {
            return "a FIFO";
        } else if found.is_socket() {
            return "a socket";
        } else if found.is_block_device() || found.is_char_device() {
            return "a device";
        }
    }
    if found.is_dir() { "a folder" } else { "something else" }
}

fn find_segments(folder: &Path) -> io::Result<BTreeSet<u64>> {
    let mut segments = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let number: Option<u64> = name.to_str().and_then(|name| {
            let digits = name.strip_prefix("rooms-")?.strip_suffix(".log")?;
            digits.parse().ok()
        });
        segments.extend(number);
    }
    Ok(segments)
}

fn path_of(folder: &Path, segment: u64) -> PathBuf {
    folder.join(format!("rooms-{segment:08}.log"))
}

fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn owner_only() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[expect(clippy::disallowed_methods, reason = "a shell's clock")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use ambit_proto::time::GameTime;
    use ambit_room::journal::SavedRoom;
    use ambit_room::recording::Header;

    use super::*;

    const ROOM: RoomId = RoomId(7);
    const SYNC: Duration = Duration::from_secs(1);

    #[test]
    fn what_was_kept_is_there_at_the_next_start_for_its_owner_only() {
        let folder = scratch("kept");
        let (keeper, kept) = Keeper::open(&folder, SYNC).unwrap();
        assert_eq!(kept, KeptState::default());
        keeper.keep_records([(RecordKey::Ids, Some(vec![5]))]);
        keeper.keep_snapshot(ROOM, &snapshot());
        keeper.keep_tick(ROOM, &tick(100));
        keeper.finish();
        assert!(keeper.stats().syncs > 0);
        drop(keeper);
        for _ in 0..2 {
            let (keeper, kept) = open_later(&folder);
            assert_eq!(kept.records, [(RecordKey::Ids, vec![5])].into());
            assert_eq!(kept.rooms[&ROOM].saved.journal, [tick(100)]);
            assert_eq!(kept.damaged_bytes + kept.torn_bytes, 0);
            keeper.finish();
        }
        #[cfg(unix)]
        for entry in fs::read_dir(&folder).unwrap() {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = entry.unwrap().metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0);
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_second_server_is_refused_and_so_are_files_and_other_versions() {
        let folder = scratch("refused");
        let (keeper, _) = Keeper::open(&folder, SYNC).unwrap();
        let error = format!("{:#}", Keeper::open(&folder, SYNC).unwrap_err());
        assert!(error.contains("another server uses it"), "{error}");
        keeper.finish();
        drop(keeper);
        let file = folder.join("file");
        fs::write(&file, "x").unwrap();
        let error = format!("{:#}", Keeper::open(&file, SYNC).unwrap_err());
        assert!(error.contains("--keep"), "{error}");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_regular_file_is_refused_without_waiting_for_it() {
        let folder = scratch("no-file");
        let error_with = |name: &str, make: &dyn Fn(&Path)| {
            fs::create_dir_all(&folder).unwrap();
            let path = folder.join(name);
            make(&path);
            let (sender, refused) = mpsc::sync_channel(1);
            let opened = folder.clone();
            std::thread::spawn(move || sender.send(Keeper::open(&opened, SYNC).map(drop)));
            let refused = refused.recv_timeout(Duration::from_mins(1)).expect("no wait for it");
            let error = format!("{:#}", refused.unwrap_err());
            assert!(error.contains(path.to_str().unwrap()), "{error}");
            fs::remove_dir_all(&folder).unwrap();
            error
        };
        let make_fifo = |path: &Path| {
            let made = std::process::Command::new("mkfifo").arg(path).status();
            assert!(made.unwrap().success());
        };
        for name in ["rooms-00000003.log", "lock", UNFINISHED_START] {
            let error = error_with(name, &make_fifo);
            assert!(error.contains("is a FIFO, but a regular file is expected"), "{error}");
            let error = error_with(name, &|path| fs::create_dir(path).unwrap());
            assert!(error.contains("is a folder"), "{error}");
            let link_to_null = |path: &Path| std::os::unix::fs::symlink("/dev/null", path).unwrap();
            let error = error_with(name, &link_to_null);
            assert!(error.contains("is a device"), "{error}");
        }
    }

    #[test]
    fn a_directory_that_is_gone_stops_nobody_and_is_counted() {
        let folder = scratch("gone");
        let (keeper, _) = Keeper::open(&folder, Duration::ZERO).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        keeper.keep_snapshot(ROOM, &snapshot());
        while keeper.stats().failures == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(keeper.stats().is_failing);
        keeper.finish();
    }

    #[test]
    fn the_room_that_was_tried_when_the_process_ended_is_known_later() {
        let folder = scratch("tried");
        let (keeper, _) = Keeper::open(&folder, SYNC).unwrap();
        keeper.keep_snapshot(ROOM, &snapshot());
        keeper.finish();
        let begun = folder.join(UNFINISHED_START);
        assert!(!begun.exists(), "it restored no room");
        // It ends without a word, and so does the next one, which tries the room.
        let keeper = reopen(&folder, keeper);
        assert_eq!(keeper.start_plan(), StartPlan::default());
        assert!(begun.exists());
        let keeper = reopen(&folder, keeper);
        assert!(keeper.start_plan().one_at_a_time);
        keeper.note_trial(Some(ROOM));
        let keeper = reopen(&folder, keeper);
        assert_eq!(keeper.start_plan().set_aside, Some(ROOM));
        let room = room_set_aside();
        keeper.set_aside_now(&room).unwrap();
        assert_eq!(keeper.stats().set_aside, 1);
        assert_eq!(keeper.files_set_aside(), [format!("set-aside/room-{}.rec", ROOM.0)]);
        let recording = fs::read(folder.join("set-aside/room-7.rec")).unwrap();
        assert_eq!(recording, recording_of(&room.header, &room.saved));
        // One that is ended on purpose, or has restored all rooms, leaves nothing.
        keeper.note_trial(None);
        keeper.finish_start();
        assert!(!begun.exists());
        let keeper = reopen(&folder, keeper);
        assert!(!keeper.start_plan().one_at_a_time);
        assert_eq!(keeper.stats().set_aside, 1);
        keeper.finish();
        assert!(!begun.exists());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_room_that_cannot_go_on_is_in_a_file_before_it_is_forgotten() {
        let folder = scratch("aside");
        let (keeper, _) = Keeper::open(&folder, SYNC).unwrap();
        keeper.keep_snapshot(ROOM, &snapshot());
        let room = room_set_aside();
        let recording = recording_of(&room.header, &room.saved);
        keeper.set_aside(room);
        keeper.forget(ROOM);
        keeper.finish();
        assert_eq!(keeper.stats().set_aside, 1);
        drop(keeper);
        let (keeper, kept) = open_later(&folder);
        assert!(kept.rooms.is_empty());
        assert_eq!(fs::read(folder.join("set-aside/room-7.rec")).unwrap(), recording);
        assert_eq!(keeper.stats().set_aside, 1);
        // A server that ends leaves its rooms to the next one.
        keeper.freeze();
        let other = Header { room: 8, ..Header::default() };
        keeper.set_aside(RoomSetAside { header: other, ..room_set_aside() });
        keeper.finish();
        assert_eq!(keeper.stats().set_aside, 1);
        fs::remove_dir_all(&folder).unwrap();
    }

    fn room_set_aside() -> RoomSetAside {
        RoomSetAside {
            header: Header { room: ROOM.0, ..Header::default() },
            saved: SavedRoom { snapshot: snapshot(), journal: vec![tick(100)] },
            build: "1".into(),
            why: "no host can read it".into(),
        }
    }

    /// The next process; the last one was killed.
    fn reopen(folder: &Path, keeper: Arc<Keeper>) -> Arc<Keeper> {
        keeper.planner.lock().finish();
        keeper.wake.notify_all();
        drop(keeper);
        open_later(folder).0
    }

    /// The thread of the last keeper may still hold the lock for a moment.
    fn open_later(folder: &Path) -> (Arc<Keeper>, KeptState) {
        loop {
            if let Ok(opened) = Keeper::open(folder, SYNC) {
                return opened;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn snapshot() -> RoomSnapshot {
        RoomSnapshot { at: GameTime::from_millis(50), state: vec![1; 100] }
    }

    fn tick(ms: u64) -> JournalEntry {
        JournalEntry { at: GameTime::from_millis(ms), inputs: vec![2; 10] }
    }

    fn scratch(name: &str) -> PathBuf {
        let name = format!("ambit-keep-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&folder);
        folder
    }
}
