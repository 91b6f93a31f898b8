//! Writes the positions that some clients show, to compare them with the true positions that the
//! server traces.
//!
//! A client and the time go in, a line for each object in sight comes out: `client ms id x y`, with
//! the room time shown in milliseconds, the client's id of the object, and metres. Lines go through
//! a bounded queue to a thread that writes; lines that do not fit are dropped, since each line is
//! independent.

use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::sync::mpsc::SyncSender;

use ambit_client_core::client::Client;
use ambit_proto::time::LocalTime;

use crate::dump::{self, DumpWriter};

/// Number of bots that write: they give a few hundred thousand samples in ten seconds.
pub(crate) const WATCHERS: usize = 10;

/// A handle for the bots to write positions.
#[derive(Clone, Debug)]
pub(crate) struct ShownPositions {
    lines: SyncSender<String>,
}

/// Starts to write to the file `path`.
pub(crate) fn start(path: &Path) -> io::Result<(ShownPositions, DumpWriter)> {
    let (lines, writer) = dump::write_lines(path)?;
    Ok((ShownPositions { lines }, writer))
}

impl ShownPositions {
    /// Writes the lines of bot number `index`.
    pub(crate) fn write(&self, index: usize, seen: &str) {
        let seen = seen.replace('@', &index.to_string());
        let _ = self.lines.try_send(seen);
    }
}

/// The lines of `client` at `now`, with `@` for its number. `None` if it shows nothing.
pub(crate) fn visible_positions(client: &mut Client, now: LocalTime) -> Option<String> {
    // Advances simulated objects to the present.
    client.handle_timeout(now);
    let t = client.room_time(now)?;
    let shown = client.shown_time(now)?;
    let mut lines = String::new();
    for object in client.objects() {
        if let Some(position) = object.position(t) {
            let of = if object.newest_pose_stamp().is_some() { shown } else { t };
            let ms = of.micros() as f64 / 1_000.0;
            writeln!(lines, "@ {ms:.3} {} {:.4} {:.4}", object.id, position.x, position.y)
                .expect("writing to a String succeeds");
        }
    }
    lines.pop();
    (!lines.is_empty()).then_some(lines)
}
