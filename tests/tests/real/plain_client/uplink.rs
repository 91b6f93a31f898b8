//! The controls of the player, as the client sends them.

use ambit_proto::control::game::Joined;

use super::bits::BitWriter;

/// The held controls, and the changes that the host may not know.
#[derive(Default)]
pub(super) struct Controls {
    held: u32,
    /// The newest last.
    changes: Vec<Change>,
    /// How many axes the game has; this player moves none.
    axes: usize,
}

struct Change {
    /// Room time.
    at_ms: u64,
    /// Those that went down or came up.
    controls: u32,
    /// The first datagram that contained it.
    sent_in: Option<u64>,
}

impl Controls {
    pub(super) fn new(joined: &Joined) -> Self {
        let controls = joined.schema.iter().flat_map(|schema| &schema.controls);
        Controls {
            axes: controls.filter(|control| control.axis != 0).count(),
            ..Controls::default()
        }
    }

    /// Samples the controls.
    pub(super) fn hold(&mut self, held: u32, room_ms: u64) {
        let controls = self.held ^ held;
        if controls != 0 {
            self.held = held;
            self.changes.push(Change { at_ms: room_ms, controls, sent_in: None });
        }
    }

    /// The host has this datagram.
    pub(super) fn forget_until(&mut self, acked: Option<u64>) {
        self.changes.retain(|change| {
            change.sent_in.is_none_or(|sent_in| acked.is_none_or(|acked| acked < sent_in))
        });
    }

    /// The body of datagram `number`.
    pub(super) fn write(&mut self, number: u64, room_ms: u64, writer: &mut BitWriter) {
        writer.flag(false); // No report.
        writer.flag(true);
        writer.bits(room_ms, 24);
        writer.varint(self.held.into());
        for _ in 0..self.axes {
            writer.bits(0, 8);
        }
        writer.bits(self.changes.len() as u64, 5);
        let mut later = None;
        for change in self.changes.iter_mut().rev() {
            let before = match later {
                None => room_ms.saturating_sub(change.at_ms),
                Some(later_ms) => later_ms - change.at_ms - 1,
            };
            later = Some(change.at_ms);
            change.sent_in.get_or_insert(number);
            writer.varint(before);
            if change.controls.is_power_of_two() {
                writer.flag(false);
                writer.bits(change.controls.trailing_zeros().into(), 5);
            } else {
                writer.flag(true);
                writer.varint(change.controls.into());
            }
        }
        writer.flag(false); // It has not lost track: with whole poses it cannot.
    }
}
