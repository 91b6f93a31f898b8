//! The congestion controller of every connection: a window of constant size.
//!
//! QUIC's controllers limit datagrams by the window of a bulk transfer. Measured from server to
//! client at 40 ms one way, with 2.4 Mbit/s of datagrams: at 2 % loss 98 % arrive with a fixed
//! window, but 40 % with cubic (New Reno alike), six times as late; at 20 % loss 80 % against 14 %.
//! Jitter alone is enough for that, since reordering looks like loss. quinn's BBR works, but is
//! marked experimental, and its window grows to a size that limits nothing either.
//!
//! A game doesn't probe a path for its capacity. It sends a limited amount of state, and delayed
//! bytes only arrive older. So the rate is limited at its source:
//! 1. a room sends a client a few datagrams of at most 1,150 bytes a tick, within the link's
//!    budget, which adapts to the path; a client sends less; both repeat only what the link reports
//!    as lost;
//! 2. QUIC's datagram buffer holds 32 KiB, a tick's datagrams with slices of blocks, and drops the
//!    oldest;
//! 3. the control stream carries few messages, under rate limits and flow control.
//!
//! The window does limit the unacknowledged bytes in flight. A dead path, or a peer that
//! acknowledges nothing, gets 128 KiB and no more until the idle timeout. quinn paces at 1.25
//! windows a round trip (13 Mbit/s at 100 ms): a ceiling for the only burst, a list of a thousand
//! rooms. The link paces bulk data (initial worlds).
//!
//! Invariant: `window()` is the same before and after every event. Unit: bytes in flight.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use quinn::congestion::{Controller, ControllerFactory};

/// Bytes that one connection may have in flight: half a second at 2 Mbit/s, which is eight times a
/// game's target rate.
pub const WINDOW_BYTES: u64 = 128 << 10;

/// The controller, and the factory that makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedWindow {
    bytes: u64,
}

impl FixedWindow {
    /// A window of `bytes`, at least two of the largest packets.
    pub fn new(bytes: u64) -> Self {
        Self { bytes: bytes.max(2 * 1_452) }
    }
}

impl Default for FixedWindow {
    fn default() -> Self {
        Self::new(WINDOW_BYTES)
    }
}

impl ControllerFactory for FixedWindow {
    fn build(self: Arc<Self>, _now: Instant, _current_mtu: u16) -> Box<dyn Controller> {
        Box::new(*self)
    }
}

impl Controller for FixedWindow {
    fn on_congestion_event(
        &mut self,
        _now: Instant,
        _sent: Instant,
        _is_persistent: bool,
        _lost_bytes: u64,
    ) {
    }

    fn on_mtu_update(&mut self, _new_mtu: u16) {}

    fn window(&self) -> u64 {
        self.bytes
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }

    fn initial_window(&self) -> u64 {
        self.bytes
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the trait wants an Instant; any will do")]
    fn loss_leaves_the_window_unchanged() {
        let now = Instant::now();
        let mut controller = Arc::new(FixedWindow::default()).build(now, 1_200);
        assert_eq!(controller.initial_window(), WINDOW_BYTES);
        controller.on_congestion_event(now, now, true, 100_000);
        controller.on_mtu_update(1_452);
        assert_eq!(controller.window(), WINDOW_BYTES);
        assert_eq!(controller.clone_box().window(), WINDOW_BYTES);
    }

    #[test]
    fn every_window_holds_at_least_a_packet() {
        assert!(FixedWindow::new(0).window() >= 1_452);
    }
}
