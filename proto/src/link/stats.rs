//! What a link counts.

/// Counters since the link began, and the round trips as measured now.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LinkStats {
    /// Smoothed time from a datagram's departure to its acknowledgement, with the peer's tick in it, in milliseconds.
    pub rtt_ms: f32,
    /// Smoothed time on the way, there and back, without the peer's tick, in milliseconds; zero without pings.
    pub ping_ms: f32,
    /// Datagrams written.
    pub sent: u64,
    /// Datagrams taken: fresh and well formed.
    pub received: u64,
    /// Datagrams reported as acknowledged.
    pub acked: u64,
    /// Datagrams reported as lost, of those that asked for an acknowledgement.
    pub lost: u64,
    /// Datagrams acknowledged after they had been reported as lost: what they carried was sent again in vain.
    pub wasted: u64,
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
}
