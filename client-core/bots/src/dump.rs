//! Writes every event of every client to a file, one JSON object a line, as the console prints it,
//! with the client's number.
//!
//! Lines go through a bounded queue to a thread that writes. Bound: [`MAX_LINES`]; beyond it the
//! bots wait, since the file is useless if a line is missing.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use ambit_client_core::client::event::ViewEvent;
use ambit_client_text::json;
use serde_json::json;

/// Maximum number of lines that wait to be written.
const MAX_LINES: usize = 16_384;

/// A handle for the bots to write events.
#[derive(Clone, Debug)]
pub(crate) struct EventDump {
    lines: SyncSender<String>,
}

/// The writing thread.
#[derive(Debug)]
pub(crate) struct DumpWriter {
    thread: JoinHandle<io::Result<()>>,
}

/// Starts to write to the file `path`.
pub(crate) fn start(path: &Path) -> io::Result<(EventDump, DumpWriter)> {
    let (lines, writer) = write_lines(path)?;
    Ok((EventDump { lines }, writer))
}

/// A queue of lines for a file, and the thread that writes them.
pub(crate) fn write_lines(path: &Path) -> io::Result<(SyncSender<String>, DumpWriter)> {
    let mut file = BufWriter::new(File::create(path)?);
    let (lines, written) = sync_channel::<String>(MAX_LINES);
    let thread = std::thread::spawn(move || {
        while let Ok(line) = written.recv() {
            writeln!(file, "{line}")?;
        }
        file.flush()
    });
    Ok((lines, DumpWriter { thread }))
}

impl EventDump {
    /// Writes an event, if it has a line. Waits for the disk if the queue is full.
    pub(crate) fn write(&self, client: usize, event: &ViewEvent) {
        let Some(mut line) = json::event(event) else {
            return;
        };
        line["client"] = json!(client);
        if let Err(TrySendError::Full(line)) = self.lines.try_send(line.to_string()) {
            // An error, here or above, means that an error of the disk has ended the thread:
            // `finish` returns it.
            let _ = tokio::task::block_in_place(|| self.lines.send(line));
        }
    }
}

impl DumpWriter {
    /// Waits until everything is written; all senders of lines must be dropped before.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.thread.join().unwrap_or_else(|_| Err(io::Error::other("the writing thread panicked")))
    }
}

#[cfg(test)]
mod tests {
    use ambit_client_core::client::event::{GameEvent, LobbyEvent};
    use ambit_proto::ids::ClientObjectId;
    use ambit_proto::time::GameTime;

    use super::*;

    #[test]
    fn each_event_is_a_line_with_its_client() {
        let path = std::env::temp_dir().join(format!("ambit-dump-{}", std::process::id()));
        let (dump, writer) = start(&path).expect("writable");
        let leave = GameEvent::Leave { id: ClientObjectId(9), t: GameTime::from_millis(40) };
        dump.write(3, &leave.into());
        dump.write(4, &ViewEvent::Lobby(1, LobbyEvent::Done));
        drop(dump);
        writer.finish().expect("written");
        let text = std::fs::read_to_string(&path).expect("readable");
        let _ = std::fs::remove_file(&path);
        let line: serde_json::Value = serde_json::from_str(text.trim()).expect("one object");
        assert_eq!(line, json!({ "ev": "leave", "t": 40, "id": 9, "client": 3 }));
    }
}
