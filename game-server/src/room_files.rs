//! What a room writes to disk, when the operator wishes it: the ground truth (`--trace`) and a recording (`--record`).
//!
//! Ticks hand over lines and bytes; a thread of the room's own turns them into text and writes them. When the disk can't
//! keep up the room waits for it: both files are worthless with holes, and whoever wants them measures nothing else.
//!
//! `room-ID.jsonl`: JSON objects, one a line. The first has `ev` = `room` and what the room is (metres, cells, ms); each other
//! one has `t` (when it takes effect: room time in ms), `ev`, and the object's `id`:
//! `move` (`x`, `y`, `z`, `cell`), `spawn` (those and `kind`), `despawn`, `hide`, `reveal`, `join` (`player`, `name`),
//! `leave` (`player`). `room-ID.rec`: see `record`.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use ambit_proto::time::GameTime;
use serde_json::{Value, json};

use crate::config::RoomConfig;
use crate::logic::world::{TraceLine, Truth};
use crate::record::{Header, Recorder};
use crate::room::{Input, Room};

/// Ticks that may wait for the disk: three seconds at 20 Hz. Then the room waits.
const QUEUE: usize = 64;

enum Block {
    Trace(Vec<TraceLine>),
    Record(Vec<u8>),
}

/// See the module. Without a wish it costs nothing.
#[derive(Default)]
pub(crate) struct RoomFiles {
    blocks: Option<SyncSender<Block>>,
    recorder: Option<Recorder>,
}

impl RoomFiles {
    /// Makes the files that are wished for and writes their beginnings.
    pub(crate) fn open(trace: Option<&Path>, record: Option<&Path>, header: &Header, room: &Room) -> io::Result<Self> {
        let mut recorder = Recorder::default();
        let name = |extension: &str| format!("room-{}.{extension}", header.room);
        let mut files = Files { trace: None, record: None, kinds: kinds(room) };
        if let Some(directory) = trace {
            let mut file = create(&directory.join(name("jsonl")))?;
            write_line(&mut file, &opening(header, room))?;
            files.trace = Some(file);
        }
        if let Some(directory) = record {
            let mut file = create(&directory.join(name("rec")))?;
            let mut bytes = Vec::new();
            recorder.start(header, &mut bytes);
            file.write_all(&bytes)?;
            file.flush()?;
            files.record = Some(file);
        }
        if files.trace.is_none() && files.record.is_none() {
            return Ok(Self::default());
        }
        let recorder = files.record.is_some().then_some(recorder);
        let (blocks, arrivals) = sync_channel(QUEUE);
        let id = header.room;
        std::thread::Builder::new().name(format!("ambit-files-{id}")).spawn(move || {
            if let Err(error) = files.write(&arrivals) {
                tracing::error!(room = id, "the room's files can't be written any more: {error}");
            }
        })?;
        Ok(Self { blocks: Some(blocks), recorder })
    }

    /// Notes what goes into a tick, before it runs: so the record of a room that panics holds the tick that did it.
    pub(crate) fn record(&mut self, now: GameTime, inputs: &[Input]) {
        if let Some(recorder) = &mut self.recorder {
            let mut bytes = Vec::new();
            recorder.tick(now, inputs, &mut bytes);
            self.hand_over(Block::Record(bytes));
        }
    }

    /// Notes what really happened in a tick; nothing unless the room was configured to tell.
    pub(crate) fn trace(&mut self, lines: &[TraceLine]) {
        if !lines.is_empty() {
            self.hand_over(Block::Trace(lines.to_vec()));
        }
    }

    fn hand_over(&mut self, block: Block) {
        if let Some(blocks) = &self.blocks
            && blocks.send(block).is_err()
        {
            // The writer has told why it gave up; the room goes on without.
            *self = Self::default();
        }
    }
}

struct Files {
    trace: Option<BufWriter<File>>,
    record: Option<BufWriter<File>>,
    kinds: Vec<String>,
}

impl Files {
    fn write(&mut self, arrivals: &Receiver<Block>) -> io::Result<()> {
        while let Ok(first) = arrivals.recv() {
            self.write_block(first)?;
            while let Ok(next) = arrivals.try_recv() {
                self.write_block(next)?;
            }
            for file in [&mut self.trace, &mut self.record].into_iter().flatten() {
                file.flush()?;
            }
        }
        Ok(())
    }

    fn write_block(&mut self, block: Block) -> io::Result<()> {
        match (block, &mut self.trace, &mut self.record) {
            (Block::Trace(lines), Some(file), _) => {
                lines.iter().try_for_each(|line| write_line(file, &as_json(line, &self.kinds)))
            }
            (Block::Record(bytes), _, Some(file)) => file.write_all(&bytes),
            (Block::Trace(_) | Block::Record(_), ..) => Ok(()),
        }
    }
}

fn create(path: &Path) -> io::Result<BufWriter<File>> {
    let file =
        File::create(path).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    Ok(BufWriter::new(file))
}

fn write_line(file: &mut impl Write, line: &Value) -> io::Result<()> {
    writeln!(file, "{line}")
}

fn kinds(room: &Room) -> Vec<String> {
    room.world().schema().kinds.iter().map(|kind| kind.name.clone()).collect()
}

fn opening(header: &Header, room: &Room) -> Value {
    let RoomConfig { seed, tick_hz, delay, width, height, cell, inner, outer, margin_m, .. } = room.config();
    let kinds = room.world().schema().kinds.iter().map(|kind| match &kind.sight {
        Some(sight) => json!({ "name": kind.name, "inner": sight.inner, "outer": sight.outer }),
        None => json!({ "name": kind.name, "inner": inner, "outer": outer }),
    });
    json!({
        "ev": "room", "room": header.room, "game": header.game, "seed": seed, "tick_hz": tick_hz,
        "delay_ms": delay.as_millis() as u64, "width": width, "height": height, "cell": cell,
        "inner": inner, "outer": outer, "margin": margin_m, "kinds": kinds.collect::<Vec<_>>(),
    })
}

fn as_json(line: &TraceLine, kinds: &[String]) -> Value {
    let (t, id) = (line.at.micros() as f64 / 1_000.0, line.object.0);
    match &line.what {
        Truth::Moved { position: at, cell } => {
            json!({ "t": t, "ev": "move", "id": id, "x": at.x, "y": at.y, "z": at.z, "cell": cell })
        }
        Truth::Spawned { kind, position: at, cell } => {
            let kind = kinds.get(usize::from(*kind));
            json!({ "t": t, "ev": "spawn", "id": id, "kind": kind, "x": at.x, "y": at.y, "z": at.z, "cell": cell })
        }
        Truth::Despawned => json!({ "t": t, "ev": "despawn", "id": id }),
        Truth::Hidden => json!({ "t": t, "ev": "hide", "id": id }),
        Truth::Revealed => json!({ "t": t, "ev": "reveal", "id": id }),
        Truth::Joined { player, name } => json!({ "t": t, "ev": "join", "id": id, "player": player.0, "name": name }),
        Truth::Left { player } => json!({ "t": t, "ev": "leave", "id": id, "player": player.0 }),
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::ids::{ObjectId, PlayerId};
    use ambit_proto::space::Position;

    use super::*;

    #[test]
    fn lines_hold_what_the_header_of_this_module_says() {
        let position = Position::new(1.5, 2.25, 0.0);
        let check = |what, expected: &str| {
            let line = TraceLine { at: GameTime::from_micros(1_500), object: ObjectId(7), what };
            assert_eq!(as_json(&line, &["orc".to_owned()]), expected.parse::<Value>().unwrap());
        };
        check(
            Truth::Spawned { kind: 0, position, cell: 3 },
            r#"{"t":1.5,"ev":"spawn","id":7,"kind":"orc","x":1.5,"y":2.25,"z":0.0,"cell":3}"#,
        );
        check(Truth::Moved { position, cell: 3 }, r#"{"t":1.5,"ev":"move","id":7,"x":1.5,"y":2.25,"z":0.0,"cell":3}"#);
        check(Truth::Hidden, r#"{"t":1.5,"ev":"hide","id":7}"#);
        check(
            Truth::Joined { player: PlayerId(2), name: "ann".into() },
            r#"{"t":1.5,"ev":"join","id":7,"player":2,"name":"ann"}"#,
        );
        check(Truth::Left { player: PlayerId(2) }, r#"{"t":1.5,"ev":"leave","id":7,"player":2}"#);
    }
}
