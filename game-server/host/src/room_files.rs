//! What a room writes to disk, if the operator asks for it: the ground truth (`--trace`) and a
//! recording (`--record`).
//!
//! Ticks hand over lines and bytes; a thread of the room's own turns them into text and writes
//! them. When the disk can't keep up the room waits for it: both files are worthless with gaps, and
//! an operator who wants them measures nothing else.
//!
//! `room-ID.jsonl`: JSON objects, one a line. The first has `ev` = `room` and what the room is
//! (metres, cells, ms); each other one has `t` (when it takes effect: room time in ms), `ev`, and
//! the object's `id`: `move` (`x`, `y`, `z`, `cell`), `spawn` (those and `kind`), `despawn`,
//! `hide`, `reveal`, `join` (`player`, `name`), `leave` (`player`). What is room-wide has no place;
//! its changes are `state` (`kind`, the `player` whose row it is, `components`). `room-ID.rec`: see
//! `record`.
//!
//! The recording gets its end with the room: when it was closed or handed over, or has panicked.
//! Its folder is kept within a bound ([`RecordFolder`]); when there is no more space, the recording
//! ends before the room does.
//!
//! An existing file is never overwritten: each run numbers rooms from 1 again, so a later room of
//! that id is `room-ID-2`, then `room-ID-3`, both files alike.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use ambit_proto::schema::{Component, ObjectKind};
use ambit_proto::time::GameTime;
use anyhow::Context as _;
use serde_json::{Map, Value, json};
use tokio::sync::watch;

use crate::host::counters::{Counters, DropReason};
use crate::record_folder::RecordFolder;
use ambit_host_core::making::PreparedRoom;
use ambit_room::digest::{Digester, TickDigest};
use ambit_room::journal::JournalEntry;
use ambit_room::logic::world::{TraceEvent, TraceLine};
use ambit_room::recording::{Header, Recorder};
use ambit_room::room::{Room, RoomInput};

/// Ticks that may wait for the disk: three seconds at 20 Hz. Then the room waits.
const QUEUE: usize = 64;

enum Block {
    Trace(Vec<TraceLine>),
    Record(JournalEntry, Option<TickDigest>),
}

/// How long the end of a process waits for the files of rooms.
const WAIT_AT_MOST: Duration = Duration::from_secs(1);

/// Counts the rooms whose files are open.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenFiles(Arc<watch::Sender<usize>>);

impl OpenFiles {
    /// Waits until all are complete, for a while.
    pub(crate) async fn wait(&self) {
        let mut count = self.0.subscribe();
        if tokio::time::timeout(WAIT_AT_MOST, count.wait_for(|count| *count == 0)).await.is_err() {
            tracing::warn!("not all traces and recordings are complete");
        }
    }

    fn open(&self) -> OpenFile {
        self.0.send_modify(|count| *count += 1);
        OpenFile(self.clone())
    }
}

/// Counts as long as it lives.
struct OpenFile(OpenFiles);

impl Drop for OpenFile {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}

/// Makes the directory if it does not exist, and checks that files can be made in it.
pub fn check_directory(directory: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(directory)
        .with_context(|| format!("cannot make the directory {}", directory.display()))?;
    let probe = directory.join(format!(".ambit-{}", std::process::id()));
    File::create(&probe)
        .and_then(|_| fs::remove_file(&probe))
        .with_context(|| format!("cannot write to the directory {}", directory.display()))
}

/// See the module. Costs nothing if no files are asked for.
#[derive(Default)]
pub(crate) struct RoomFiles {
    blocks: Option<SyncSender<Block>>,
    /// Until the recording ends, at the latest with the room.
    is_recorded: Arc<AtomicBool>,
    digester: Digester,
    /// Of the state that the last tick has led to; goes into the entry of the next one.
    before: Option<TickDigest>,
}

impl RoomFiles {
    /// Makes the files that are asked for and writes their beginnings. What the disk does not take
    /// later is counted in `lost`.
    pub(crate) fn open(
        trace: Option<&Path>,
        record: Option<&RecordFolder>,
        prepared: &PreparedRoom,
        lost: Arc<Counters>,
        open_files: &OpenFiles,
    ) -> io::Result<Self> {
        if trace.is_none() && record.is_none() {
            return Ok(Self::default());
        }
        let header = prepared.header();
        let room = prepared.room();
        let id = header.room;
        let mut bytes = Vec::new();
        let recorder = Recorder::begin(header, prepared.snapshot().as_ref(), &mut bytes);
        let mut record = record;
        let mut allowance = 0;
        if let Some(folder) = record {
            allowance = folder.step(bytes.len() as u64);
            if !folder.make_space(allowance)? {
                tracing::warn!(
                    room = id,
                    "the room is not recorded: its recording would exceed `--record-mb`, and all \
                     others are being written"
                );
                lost.dropped(DropReason::RecordingsFull);
                record = None;
            }
        }
        let directory = record.map(|folder| &*folder.directory);
        let (trace, file) = create_both(trace, directory, id)?;
        let is_recorded = Arc::new(AtomicBool::new(file.is_some()));
        let mut files = Files { room: id, trace, record: None, kinds: kinds(room), lost };
        if let Some(file) = &mut files.trace {
            write_line(file, &opening(header, room))?;
        }
        if let (Some(mut file), Some(folder)) = (file, record) {
            // Where there are no locks, the bound of the folder ends recordings earlier.
            let _ = file.get_ref().lock();
            file.write_all(&bytes)?;
            file.flush()?;
            let folder = folder.clone();
            allowance -= bytes.len() as u64;
            let is_recorded = Arc::clone(&is_recorded);
            files.record = Some(RecordFile { file, recorder, folder, allowance, is_recorded });
        }
        let (blocks, arrivals) = sync_channel(QUEUE);
        let open_file = open_files.open();
        std::thread::Builder::new().name(format!("ambit-files-{id}")).spawn(move || {
            files.write_all(&arrivals);
            drop((files, open_file));
        })?;
        Ok(Self { blocks: Some(blocks), is_recorded, ..Self::default() })
    }

    /// Notes the inputs of a tick, before it runs: so the recording of a room that panics holds the
    /// tick that caused it.
    pub(crate) fn record(&mut self, now: GameTime, inputs: &[RoomInput]) {
        if self.is_recorded() {
            let before = self.before.take();
            self.hand_over(Block::Record(JournalEntry::new(now, inputs), before));
        }
    }

    /// Notes what state the tick has led to, so that a replay can be compared.
    pub(crate) fn record_state(&mut self, room: &Room) {
        if self.is_recorded() {
            self.before = Some(self.digester.digest(room));
        }
    }

    /// Notes the ground truth of a tick; empty unless the room was configured to trace it.
    pub(crate) fn trace(&mut self, lines: &[TraceLine]) {
        if !lines.is_empty() {
            self.hand_over(Block::Trace(lines.to_vec()));
        }
    }

    fn is_recorded(&self) -> bool {
        self.is_recorded.load(Ordering::Relaxed)
    }

    fn hand_over(&mut self, block: Block) {
        if let Some(blocks) = &self.blocks {
            // The writer takes them for as long as there is a room, see `Files::write_all`.
            let _ = blocks.send(block);
        }
    }
}

struct Files {
    room: u64,
    trace: Option<BufWriter<File>>,
    record: Option<RecordFile>,
    kinds: Vec<ObjectKind>,
    lost: Arc<Counters>,
}

/// A recording that goes on.
struct RecordFile {
    /// Locked, so that no process deletes it.
    file: BufWriter<File>,
    recorder: Recorder,
    folder: RecordFolder,
    /// Bytes for which there is space in the folder.
    allowance: u64,
    is_recorded: Arc<AtomicBool>,
}

impl RecordFile {
    /// Writes a tick. `false` if the folder has no more space for it.
    fn append(&mut self, entry: &JournalEntry, before: Option<&TickDigest>) -> io::Result<bool> {
        let mut bytes = Vec::new();
        let mut recorder = self.recorder.clone();
        recorder.append(entry, before, &mut bytes);
        let size = bytes.len() as u64;
        if size > self.allowance {
            // What waits for the disk counts, too.
            self.file.flush()?;
            let step = self.folder.step(size);
            if !self.folder.make_space(step)? {
                return Ok(false);
            }
            self.allowance = step;
        }
        self.allowance -= size;
        self.recorder = recorder;
        self.file.write_all(&bytes)?;
        Ok(true)
    }

    fn end(mut self) -> io::Result<()> {
        self.is_recorded.store(false, Ordering::Relaxed);
        let mut bytes = Vec::new();
        self.recorder.end(&mut bytes);
        self.file.write_all(&bytes)?;
        self.file.flush()
    }
}

impl Files {
    /// Takes blocks for as long as the room runs, also when they can't be written: then they are
    /// counted.
    fn write_all(&mut self, arrivals: &Receiver<Block>) {
        if let Err(error) = self.write(arrivals) {
            let room = self.room;
            tracing::error!(room, "the room's files can't be written any more: {error}");
            self.lost.dropped(DropReason::FilesFailed);
            for _ in arrivals {
                self.lost.dropped(DropReason::FilesFailed);
            }
        }
    }

    fn write(&mut self, arrivals: &Receiver<Block>) -> io::Result<()> {
        while let Ok(first) = arrivals.recv() {
            self.write_block(first)?;
            while let Ok(next) = arrivals.try_recv() {
                self.write_block(next)?;
            }
            let record = self.record.as_mut().map(|record| &mut record.file);
            for file in self.trace.iter_mut().chain(record) {
                file.flush()?;
            }
        }
        self.record.take().map_or(Ok(()), RecordFile::end)
    }

    fn write_block(&mut self, block: Block) -> io::Result<()> {
        match (block, &mut self.trace, &mut self.record) {
            (Block::Trace(lines), Some(file), _) => {
                lines.iter().try_for_each(|line| write_line(file, &as_json(line, &self.kinds)))
            }
            (Block::Record(entry, before), _, Some(record)) => {
                if !record.append(&entry, before.as_ref())? {
                    tracing::warn!(
                        room = self.room,
                        "the recording of the room ends here: it would exceed `--record-mb`, and \
                         all others are being written"
                    );
                    self.lost.dropped(DropReason::RecordingsFull);
                    return self.record.take().map_or(Ok(()), RecordFile::end);
                }
                Ok(())
            }
            (Block::Trace(_) | Block::Record(..), ..) => Ok(()),
        }
    }
}

type NewFile = Option<BufWriter<File>>;

/// Makes a room's files under the first name that is free for both.
fn create_both(
    trace: Option<&Path>,
    record: Option<&Path>,
    room: u64,
) -> io::Result<(NewFile, NewFile)> {
    let mut name = format!("room-{room}");
    let mut count = 1;
    loop {
        let trace = trace.map(|directory| directory.join(format!("{name}.jsonl")));
        let record = record.map(|directory| directory.join(format!("{name}.rec")));
        match create_named(trace.as_deref(), record.as_deref()) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => count += 1,
            made => return made,
        }
        name = format!("room-{room}-{count}");
    }
}

/// Both or none.
fn create_named(trace: Option<&Path>, record: Option<&Path>) -> io::Result<(NewFile, NewFile)> {
    let made = create(trace)?;
    let recorded = create(record);
    if let (Err(_), Some(trace)) = (&recorded, trace) {
        // It is still empty.
        let _ = fs::remove_file(trace);
    }
    Ok((made, recorded?))
}

fn create(path: Option<&Path>) -> io::Result<NewFile> {
    let Some(path) = path else { return Ok(None) };
    let file = File::create_new(path)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    Ok(Some(BufWriter::new(file)))
}

fn write_line(file: &mut impl Write, line: &Value) -> io::Result<()> {
    writeln!(file, "{line}")
}

fn kinds(room: &Room) -> Vec<ObjectKind> {
    room.world().schema().kinds.clone()
}

fn opening(header: &Header, room: &Room) -> Value {
    let config = room.config();
    let kinds = room.world().schema().kinds.iter().map(|kind| match &kind.interest_radii {
        _ if kind.is_room_wide() => json!({ "name": kind.name, "room_wide": true }),
        Some(sight) => json!({ "name": kind.name, "inner": sight.inner, "outer": sight.outer }),
        None => json!({ "name": kind.name, "inner": config.inner, "outer": config.outer }),
    });
    json!({
        "ev": "room", "room": header.room, "game": header.game, "seed": config.seed,
        "tick_hz": config.tick_hz, "delay_ms": config.delay.as_millis() as u64,
        "width": config.width, "height": config.height, "cell": config.cell,
        "inner": config.inner, "outer": config.outer, "margin": config.margin_m,
        "kinds": kinds.collect::<Vec<_>>(),
    })
}

/// A component as it is stored: of a timeline all points.
fn component_json(component: &Component) -> Value {
    let ms = |time: GameTime| time.millis();
    match component {
        Component::Gauge(gauge) => gauge
            .points()
            .map(|(t, at)| json!({ "t": ms(t), "value": at.value, "rate": at.rate, "max": at.max }))
            .collect(),
        Component::Flag(flag) => {
            flag.points().map(|(t, at)| json!({ "t": ms(t), "value": at.0 })).collect()
        }
        Component::Number(number) => json!(number),
        Component::Decimal(decimal) => json!(decimal.rounded()),
        Component::Text(text) => json!(text),
        Component::Counts(counts) => json!(counts),
        Component::Bytes(bytes) => json!(bytes),
        Component::Rows(rows) => json!(rows),
        // Only objects with a place have these; their lines say where they are.
        Component::Path(_) | Component::Pose(_) => Value::Null,
    }
}

fn as_json(line: &TraceLine, kinds: &[ObjectKind]) -> Value {
    let (t, id) = (line.at.micros() as f64 / 1_000.0, line.object.0);
    match &line.event {
        TraceEvent::Moved { position: at, cell } => {
            json!({ "t": t, "ev": "move", "id": id, "x": at.x, "y": at.y, "z": at.z, "cell": cell })
        }
        TraceEvent::Spawned { kind, place } => {
            let kind = kinds.get(usize::from(*kind)).map(|kind| &kind.name);
            let mut json = json!({ "t": t, "ev": "spawn", "id": id, "kind": kind });
            if let Some((at, cell)) = place {
                let place = [("x", json!(at.x)), ("y", json!(at.y)), ("z", json!(at.z))];
                for (key, value) in place.into_iter().chain([("cell", json!(cell))]) {
                    json[key] = value;
                }
            }
            json
        }
        TraceEvent::State { kind, owner, components } => {
            let kind = kinds.get(usize::from(*kind));
            let names = kind.iter().flat_map(|kind| &kind.components);
            let named = names
                .zip(components)
                .map(|(spec, component)| (spec.name.clone(), component_json(component)));
            json!({
                "t": t, "ev": "state", "id": id, "kind": kind.map(|kind| &kind.name),
                "player": owner.map(|player| player.0), "components": named.collect::<Map<_, _>>(),
            })
        }
        TraceEvent::Despawned => json!({ "t": t, "ev": "despawn", "id": id }),
        TraceEvent::Hidden => json!({ "t": t, "ev": "hide", "id": id }),
        TraceEvent::Revealed => json!({ "t": t, "ev": "reveal", "id": id }),
        TraceEvent::Joined { player, name } => {
            json!({ "t": t, "ev": "join", "id": id, "player": player.0, "name": name })
        }
        TraceEvent::Left { player } => {
            json!({ "t": t, "ev": "leave", "id": id, "player": player.0 })
        }
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::ids::{ObjectId, PlayerId};
    use ambit_proto::schema::{Codec, ComponentSpec};
    use ambit_proto::space::Position;
    use ambit_room::recording::Recording;

    use super::*;
    use crate::record_bound::RecordBound;

    #[test]
    fn a_later_run_leaves_the_files_of_an_earlier_one_alone() {
        let directory =
            std::env::temp_dir().join(format!("ambit-room-files-{}", std::process::id()));
        let [trace, record] = ["trace", "record"].map(|name| directory.join(name));
        for path in [&trace, &record] {
            fs::create_dir_all(path).unwrap();
        }
        let names = |path: &Path| {
            let entries = fs::read_dir(path)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap());
            entries.collect::<std::collections::BTreeSet<_>>()
        };
        create_both(Some(&trace), Some(&record), 1).unwrap();
        fs::write(trace.join("room-1.jsonl"), "the first run").unwrap();
        create_both(None, Some(&record), 1).unwrap();
        create_both(Some(&trace), Some(&record), 1).unwrap();
        create_both(Some(&trace), Some(&record), 2).unwrap();
        assert_eq!(
            names(&trace),
            ["room-1.jsonl", "room-1-3.jsonl", "room-2.jsonl"].map(String::from).into()
        );
        let recorded = ["room-1.rec", "room-1-2.rec", "room-1-3.rec", "room-2.rec"];
        assert_eq!(names(&record), recorded.map(String::from).into());
        assert_eq!(fs::read_to_string(trace.join("room-1.jsonl")).unwrap(), "the first run");
        fs::remove_dir_all(&directory).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_directory_that_takes_no_files_is_refused() {
        // No user can create files there, not even root.
        let error = check_directory(Path::new("/proc")).unwrap_err().to_string();
        assert_eq!(error, "cannot write to the directory /proc");
        let error = check_directory(Path::new("/proc/none/deep")).unwrap_err();
        assert!(error.to_string().contains("cannot make"), "{error}");
        let directory = std::env::temp_dir().join(format!("ambit-check-{}", std::process::id()));
        check_directory(&directory).unwrap();
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
        fs::remove_dir(&directory).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn blocks_that_cannot_be_written_are_counted_as_lost() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut files = files_to(full, None);
        let (blocks, arrivals) = sync_channel(QUEUE);
        // A block is larger than the buffer, so that already the first one fails.
        for _ in 0..3 {
            blocks.send(block(1, 1 << 16)).unwrap();
        }
        drop(blocks);
        files.write_all(&arrivals);
        assert_eq!(files.lost.read().drops["room_files/failed"], 3);
    }

    #[test]
    fn a_recording_ends_with_its_room_or_where_its_folder_is_full() {
        let directory =
            std::env::temp_dir().join(format!("ambit-record-bound-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let run = |name: &str, bytes: Option<u64>, ticks: u64| {
            let path = directory.join(name);
            let mut files = files_to(File::create_new(&path).unwrap(), bytes);
            let record = files.record.as_mut().unwrap();
            record.folder.directory.clone_from(&directory);
            let mut begun = Vec::new();
            record.recorder = Recorder::begin(&Header::default(), None, &mut begun);
            record.file.write_all(&begun).unwrap();
            let (blocks, arrivals) = sync_channel(QUEUE);
            let is_recorded = Arc::clone(&record.is_recorded);
            for tick in 1..=ticks {
                blocks.send(block(tick, 1_000)).unwrap();
            }
            drop(blocks);
            files.write_all(&arrivals);
            assert!(!is_recorded.load(Ordering::Relaxed));
            let bytes = fs::read(&path).unwrap();
            Recording::read(&bytes).expect("it has its end");
            // Each tick has its inputs, their length, its time and 20 bytes more.
            let count = bytes.len() / 1_000;
            (count, bytes.len() as u64, files.lost.read().drops["room_files/over_bound"])
        };
        let (count, bytes, over_bound) = run("room-1.rec", None, 20);
        assert!((count, over_bound) == (20, 0) && bytes > 20_000, "{bytes}");
        // The bound is that of the folder: the older recording goes, and this one ends.
        let (count, bytes, over_bound) = run("room-2.rec", Some(12_000), 20);
        assert!((8..12).contains(&count) && over_bound == 1, "{count}");
        assert!((9_000..=12_000).contains(&bytes), "{bytes}");
        assert!(!directory.join("room-1.rec").exists());
        fs::remove_dir_all(&directory).unwrap();
    }

    fn files_to(file: File, bytes: Option<u64>) -> Files {
        file.lock().unwrap();
        let bound = RecordBound { bytes, age: None };
        let record = RecordFile {
            file: BufWriter::new(file),
            recorder: Recorder::begin(&Header::default(), None, &mut Vec::new()),
            folder: RecordFolder { directory: "/".into(), bound },
            allowance: 0,
            is_recorded: Arc::new(AtomicBool::new(true)),
        };
        let lost = Arc::new(Counters::default());
        Files { room: 1, trace: None, record: Some(record), kinds: Vec::new(), lost }
    }

    fn block(tick: u64, bytes: usize) -> Block {
        let at = GameTime::from_millis(50 * tick);
        Block::Record(JournalEntry { at, inputs: vec![0; bytes] }, None)
    }

    #[test]
    fn trace_lines_have_the_documented_format() {
        let position = Position::new(1.5, 2.25, 0.0);
        let check = |event, expected: &str| {
            let line = TraceLine { at: GameTime::from_micros(1_500), object: ObjectId(7), event };
            let health = ComponentSpec::public("health", Codec::Gauge { max: 9.0 });
            let level = ComponentSpec::public("level", Codec::Number { min: 0, max: 9 });
            let name = "orc".to_owned();
            let components = vec![health, level];
            let kinds = [ObjectKind { name, components, ..ObjectKind::default() }];
            assert_eq!(as_json(&line, &kinds), expected.parse::<Value>().unwrap());
        };
        check(
            TraceEvent::Spawned { kind: 0, place: None },
            r#"{"t":1.5,"ev":"spawn","id":7,"kind":"orc"}"#,
        );
        let components =
            vec![Component::gauge(GameTime::ZERO, 4.5, -1.0, 9.0), Component::Number(2)];
        check(
            TraceEvent::State { kind: 0, owner: Some(PlayerId(3)), components },
            r#"{"t":1.5,"ev":"state","id":7,"kind":"orc","player":3,"components":{
                "health":[{"t":0,"value":4.5,"rate":-1.0,"max":9.0}],"level":2}}"#,
        );
        check(
            TraceEvent::Spawned { kind: 0, place: Some((position, 3)) },
            r#"{"t":1.5,"ev":"spawn","id":7,"kind":"orc","x":1.5,"y":2.25,"z":0.0,"cell":3}"#,
        );
        check(
            TraceEvent::Moved { position, cell: 3 },
            r#"{"t":1.5,"ev":"move","id":7,"x":1.5,"y":2.25,"z":0.0,"cell":3}"#,
        );
        check(TraceEvent::Hidden, r#"{"t":1.5,"ev":"hide","id":7}"#);
        check(
            TraceEvent::Joined { player: PlayerId(2), name: "ann".into() },
            r#"{"t":1.5,"ev":"join","id":7,"player":2,"name":"ann"}"#,
        );
        check(
            TraceEvent::Left { player: PlayerId(2) },
            r#"{"t":1.5,"ev":"leave","id":7,"player":2}"#,
        );
    }
}
