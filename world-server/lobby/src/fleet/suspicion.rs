//! Rooms that may crash their hosts.
//!
//! A room that loses its host again soon after it was resumed, or twice before that, may crash its
//! hosts. If it was the only room there, it is closed, so that it cannot take down the other rooms
//! again and again. (What crashes a host because of the room's own state happens again in the same
//! place, and the next host starts there.) If there were other rooms, any of them may be the cause:
//! each becomes a *suspect* room and is quarantined, that is, it gets a host that no other suspect
//! has and that gets no other room for a while, an idle one if there is one. Suspects without a
//! free host wait. The suspect that loses that host too is closed; the others are cleared once they
//! have run there for long enough. A host that was asked to end says so and counts as no loss.

use std::time::Duration;

use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;

use crate::rooms::room::{LobbyRoom, LobbyRooms};

/// A room that loses a second host within this time after it was resumed may crash its hosts.
pub(super) const SUSPECT_WINDOW: Duration = Duration::from_secs(3);
/// So may a room that has lost this many hosts before they could resume it. One such loss is not
/// enough: the host may have been failing already.
const MAX_FAILED_RESUMES: u32 = 2;

/// What the loss of its host says of a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LossVerdict {
    /// Nothing.
    Harmless,
    /// The room may have crashed its hosts.
    MayCrashHosts,
    /// The room does not fit the build of its hosts, which is another one than saved it.
    Misfit,
}

/// Judges a room that has lost a host of this build. `was_resuming`: before the host could resume
/// it; `failed_resumes` of the room counts that already.
pub(super) fn judge_loss(
    now: LocalTime,
    room: &LobbyRoom,
    build: &str,
    was_resuming: bool,
) -> LossVerdict {
    let has_failed_often = room.run.failed_resumes >= MAX_FAILED_RESUMES;
    let too_soon = room.run.resumed_at.is_some_and(|at| now.since(at) < SUSPECT_WINDOW);
    if was_resuming && room.run.build != build && has_failed_often {
        LossVerdict::Misfit
    } else if too_soon || has_failed_often {
        LossVerdict::MayCrashHosts
    } else {
        LossVerdict::Harmless
    }
}

/// The room that alone can have crashed the host, of the rooms that were `lost` with it. `may` are
/// those of them that may crash hosts.
pub(super) fn culprit(rooms: &LobbyRooms, lost: &[RoomId], may: &[RoomId]) -> Option<RoomId> {
    match may[..] {
        [only] if lost.len() == 1 || rooms.at(only).run.suspect => Some(only),
        _ => None,
    }
}
