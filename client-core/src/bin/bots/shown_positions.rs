//! Where some clients show what they see: to be held against the truth that the server traces.
//!
//! A client and the time go in, a line for each object in sight comes out: `client ms id x y`, with
//! the room's time in milliseconds of which this is the picture, the client's own number for the
//! object, and metres. Lines go through a bounded queue to a thread that writes; what does not fit
//! is left out, since each line stands for itself.

use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::sync::mpsc::SyncSender;

use ambit_client_core::client::Client;
use ambit_proto::time::LocalTime;

use crate::dump::{self, DumpWriter};

/// Bots that look: a few hundred thousand samples in ten seconds are plenty.
pub(crate) const WATCHERS: usize = 10;

/// Where bots put what they show.
#[derive(Clone, Debug)]
pub(crate) struct ShownPositions {
    lines: SyncSender<String>,
}

/// Starts to write to `path`.
pub(crate) fn start(path: &Path) -> io::Result<(ShownPositions, DumpWriter)> {
    let (lines, writer) = dump::write_lines(path)?;
    Ok((ShownPositions { lines }, writer))
}

impl ShownPositions {
    /// Writes what bot number `index` shows now.
    pub(crate) fn write(&self, index: usize, seen: &str) {
        let seen = seen.replace('@', &index.to_string());
        let _ = self.lines.try_send(seen);
    }
}

/// What `client` shows at `now`; `@` stands for its number. `Unchanged` before there is anything.
pub(crate) fn visible_positions(client: &mut Client, now: LocalTime) -> Option<String> {
    // What is simulated goes on to the present.
    client.handle_timeout(now);
    let (t, shown) = (client.room_time(now)?, client.shown_time(now)?);
    let mut lines = String::new();
    for object in client.objects() {
        if let Some(place) = object.position(t) {
            let of = if object.newest_pose_stamp().is_some() {
                shown
            } else {
                t
            };
            let ms = of.micros() as f64 / 1_000.0;
            writeln!(
                lines,
                "@ {ms:.3} {} {:.4} {:.4}",
                object.id, place.x, place.y
            )
            .expect("a String takes all");
        }
    }
    lines.pop();
    (!lines.is_empty()).then_some(lines)
}
