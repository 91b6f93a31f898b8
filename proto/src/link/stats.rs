//! What a link counts.

use super::Pressure;

/// Counters since the link began, and what is measured now: round trips, and what the path seems to
/// carry.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LinkStats {
    /// Smoothed time from a datagram's departure to its acknowledgement, with the peer's tick in
    /// it, in milliseconds.
    pub rtt_ms: f32,
    /// Smoothed time on the way, there and back, without the peer's tick, in milliseconds; zero
    /// without pings.
    pub ping_ms: f32,
    /// Datagrams written.
    pub sent: u64,
    /// Datagrams taken: fresh and well formed.
    pub received: u64,
    /// Datagrams reported as acknowledged.
    pub acked: u64,
    /// Datagrams reported as lost, of those that asked for an acknowledgement.
    pub lost: u64,
    /// Datagrams acknowledged after they had been reported as lost: what they carried was sent
    /// again in vain.
    pub acked_after_loss: u64,
    /// Datagrams received again and dropped.
    pub duplicates: u64,
    /// Datagrams dropped because they are older than the window.
    pub too_old: u64,
    /// Datagrams refused with an error.
    pub malformed: u64,
    /// Datagrams and reports dropped because the owner did not poll.
    pub overrun: u64,
    /// Reliable messages written for the first time.
    pub messages_sent: u64,
    /// Reliable messages written again because the datagram that carried them was lost.
    pub resent: u64,
    /// Reliable messages given up at the end of their use, not known to have arrived.
    pub expired: u64,
    /// Reliable messages delivered.
    pub messages_received: u64,
    /// Copies of messages that had been delivered already.
    pub messages_repeated: u64,
    /// SliceSet of blocks written for the first time.
    pub slices_sent: u64,
    /// SliceSet written again because they were lost, or because it was not known in time that they
    /// were not.
    pub slices_resent: u64,
    /// SliceSet taken for the first time.
    pub slices_received: u64,
    /// Copies of slices that had been taken already.
    pub slices_repeated: u64,
    /// Datagrams that left although the budget did not allow for them: only an owner that writes
    /// unasked does that.
    pub over_budget: u64,
    /// What may leave now, in bytes a second with all overhead; zero for a link without a budget.
    pub budget_bytes_per_s: u32,
    /// Why that is less than the owner allows.
    pub pressure: Pressure,
    /// By how much the latest round trips exceed the shortest, in milliseconds: a queue on the
    /// path.
    pub queueing_ms: f32,
    /// What the path loses whatever is sent, from 0 to 1.
    pub usual_loss: f32,
}
