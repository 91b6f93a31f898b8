//! How far ahead clients receive an object's path.
//!
//! A path goes in, the time at which its next part is due comes out. A part that was not sent does
//! not reveal where an object goes that walks out of sight or hides on its way. Clients receive the
//! points up to [`PATH_TOLD_AHEAD`] beyond the horizon; the segment after them is continued
//! straight (`SentPart::path_until` of the wire), as any observer would expect. The next part is
//! sent when the horizon reaches its first point, like the effect of a command: if the game gives
//! the object another path there, one update has both. So a walk of any length costs at most one
//! more update.
//!
//! Invariant: while nothing is lost, a client knows a turn or the end a local lag, less a tick,
//! before it shows it. Cost: a search in the path for each part.

use std::time::Duration;

use ambit_proto::schema::CONTINUED_FOR;
use ambit_proto::time::GameTime;
use ambit_proto::timeline::{Timeline, Waypoint};

/// The most of a path that clients receive, beyond the horizon.
pub const PATH_TOLD_AHEAD: Duration = Duration::from_secs(2);
/// How long a straight continuation is of use.
const RENEWED_AFTER: Duration = CONTINUED_FOR.saturating_sub(PATH_TOLD_AHEAD);

/// When clients that are sent the path at the horizon `now` need the next part of it; `None` if
/// they have all.
pub(super) fn next_part_at(path: &Timeline<Waypoint>, now: GameTime) -> Option<GameTime> {
    let untold = path.next_after(now + PATH_TOLD_AHEAD)?;
    Some(untold.min(now + RENEWED_AFTER))
}
