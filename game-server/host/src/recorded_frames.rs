//! A recorded room from above, some times a second, for those who look at it later.
//!
//! The room goes in after each tick of a replay; out comes where all was at a time, and what the
//! client of a player had of it then. Bound: [`MOST_BYTES`]; nothing that comes later is kept.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_proto::ids::PlayerId;
use ambit_proto::time::GameTime;
use ambit_room::network::above::{MapAbove, RoomAbove, ViewAbove};
use ambit_room::room::Room;
use ambit_room::saved;

/// An hour of a room of 50 with 500 objects.
pub const MOST_BYTES: usize = 500_000_000;
/// Between two pictures.
pub const EVERY: Duration = Duration::from_millis(250);

/// See the module.
#[derive(Debug, Default)]
pub struct RecordedFrames {
    map: Option<MapAbove>,
    frames: Vec<RecordedFrame>,
    bytes: usize,
    is_full: bool,
}

#[derive(Debug)]
struct RecordedFrame {
    at: GameTime,
    /// A [`RoomAbove`] without a view.
    above: Vec<u8>,
    /// A [`ViewAbove`] of each client.
    views: BTreeMap<PlayerId, Vec<u8>>,
}

impl RecordedFrames {
    /// The room has ticked at this time.
    pub fn note(&mut self, at: GameTime, room: &mut Room) {
        let is_due = self.frames.last().is_none_or(|last| at >= last.at + EVERY);
        if self.is_full || !is_due {
            return;
        }
        // Obstacles are there from the end of the first tick on.
        self.map.get_or_insert_with(|| room.map_above());
        let above = room.above(None);
        let mut view = |player| room.above(Some(player)).view.map(|view| saved::section(&view));
        let players = above.clients.iter().map(|client| client.player);
        let views: BTreeMap<_, _> =
            players.filter_map(|player| Some((player, view(player)?))).collect();
        let above = saved::section(&above);
        self.bytes += above.len() + views.values().map(Vec::len).sum::<usize>();
        self.is_full = self.bytes > MOST_BYTES;
        self.frames.push(RecordedFrame { at, above, views });
    }

    /// What does not change; `None` before the first tick.
    pub fn map(&self) -> Option<&MapAbove> {
        self.map.as_ref()
    }

    /// The times of the first and of the last picture.
    pub fn span(&self) -> Option<(GameTime, GameTime)> {
        Some((self.frames.first()?.at, self.frames.last()?.at))
    }

    /// Whether there was more than is kept.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// The last picture before this time, with what the client of a player had then.
    pub fn at(&self, at: GameTime, player: Option<PlayerId>) -> Option<RoomAbove> {
        let place = self.frames.partition_point(|frame| frame.at <= at).saturating_sub(1);
        let frame = self.frames.get(place)?;
        let above: RoomAbove = saved::only_section(&frame.above).ok()?;
        let view = player.and_then(|player| frame.views.get(&player));
        let view: Option<ViewAbove> = view.and_then(|view| saved::only_section(view).ok());
        Some(RoomAbove { view, ..above })
    }
}
