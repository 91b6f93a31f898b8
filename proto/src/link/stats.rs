//! Counters of a link.

use super::Pressure;

/// Counters since the link began, and current measurements: round trips, and what the path seems to
/// carry.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LinkStats {
    /// Smoothed time from a datagram's sending to its acknowledgement, the peer's tick included, in
    /// milliseconds.
    pub rtt_ms: f32,
    /// Smoothed round trip of the path, without the peer's tick, in milliseconds; `None` before the
    /// first answer to a ping.
    pub ping_ms: Option<f32>,
    /// Datagrams written.
    pub sent: u64,
    /// Datagrams processed: fresh and well formed.
    pub received: u64,
    /// Datagrams reported as acknowledged.
    pub acked: u64,
    /// Datagrams reported as lost, of those that asked for an acknowledgement.
    pub lost: u64,
    /// Datagrams acknowledged after they had been reported as lost: their contents were sent again
    /// needlessly.
    pub acked_after_loss: u64,
    /// Datagrams received again and dropped.
    pub duplicates: u64,
    /// Datagrams dropped because they are older than the window.
    pub too_old: u64,
    /// Datagrams refused with an error.
    pub malformed: u64,
    /// Datagrams and events dropped because the owner did not poll.
    pub overrun: u64,
    /// Reliable messages written for the first time.
    pub messages_sent: u64,
    /// Reliable messages written again because the datagram that carried them was lost.
    pub resent: u64,
    /// Copies of reliable messages written because the path loses datagrams.
    pub copied: u64,
    /// Reliable messages that expired before they were known to have arrived.
    pub expired: u64,
    /// Reliable messages delivered.
    pub messages_received: u64,
    /// Copies of messages that had been delivered already.
    pub messages_repeated: u64,
    /// Slices of blocks written for the first time.
    pub slices_sent: u64,
    /// Slices written again because they were lost, or because their acknowledgement was late.
    pub slices_resent: u64,
    /// Slices received for the first time.
    pub slices_received: u64,
    /// Copies of slices that had been received already.
    pub slices_repeated: u64,
    /// Datagrams that left although the budget did not allow for them: only when the owner writes
    /// although the link does not want to send.
    pub over_budget: u64,
    /// The current rate, in bytes a second with all overhead; zero for a link without a budget.
    pub budget_bytes_per_s: u32,
    /// Why that is less than the owner allows.
    pub pressure: Pressure,
    /// By how much the latest round trips exceed the shortest, in milliseconds: a queue on the
    /// path.
    pub queueing_ms: f32,
    /// The path's own loss, from 0 to 1.
    pub usual_loss: f32,
}
