//! Configuration of a link, and the events for its owner.

use std::time::Duration;

use bytes::Bytes;

use super::chunk::MAX_SET_BITS;
use super::format::{MAX_HEADER_BITS, Messages};
use super::{
    BudgetConfig, ChunkConfig, MAX_DATAGRAM, MAX_MESSAGE, MESSAGE_WINDOW, MIN_BODY_BYTES,
    MessageId, PingSchedule,
};
use crate::ids::Seq;
use crate::time::LocalTime;

/// Configuration of a link. The two ends may differ in everything but the constants of this module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkConfig {
    /// Longest datagram to write, in bytes: 1,072 (the longest message and a body must fit) to
    /// [`MAX_DATAGRAM`].
    pub max_datagram: usize,
    /// How many reliable messages may wait for their acknowledgement, at most [`MESSAGE_WINDOW`].
    /// More of them cost their memory.
    pub queue_limit: usize,
    /// The assumed round trip before it is measured.
    pub initial_rtt: Duration,
    /// A datagram never counts as lost by time alone before this: schedulers are late, too.
    pub min_timeout: Duration,
    /// A datagram without an answer is lost after this at the latest.
    pub max_timeout: Duration,
    /// How long an acknowledgement may wait for a datagram that can carry it.
    pub ack_delay: Duration,
    /// How many datagrams may wait for their acknowledgement.
    pub ack_after: u16,
    /// Whether messages are sent twice while the path loses datagrams. Costs bytes on such paths.
    pub copies: bool,
    /// When to ping for the peer's clock; clients do.
    pub pings: Option<PingSchedule>,
    /// How much may leave; `None` for no limit.
    pub budget: Option<BudgetConfig>,
    /// How blocks are sent, and which are accepted.
    pub chunks: ChunkConfig,
    /// For datagrams of a recording, which another link has answered: what they say of its
    /// datagrams (acknowledgements, sets of slices, pongs) counts for nothing.
    pub is_replay: bool,
    /// Number of the first datagram.
    pub first_seq: Seq,
    /// Id of the first message.
    pub first_message: u32,
}

impl Default for LinkConfig {
    fn default() -> Self {
        Self {
            max_datagram: MAX_DATAGRAM,
            queue_limit: 256,
            initial_rtt: Duration::from_millis(200),
            min_timeout: Duration::from_millis(50),
            max_timeout: Duration::from_secs(2),
            ack_delay: Duration::from_millis(25),
            ack_after: 8,
            copies: true,
            pings: None,
            budget: None,
            chunks: ChunkConfig::default(),
            is_replay: false,
            first_seq: Seq(0),
            first_message: 0,
        }
    }
}

impl LinkConfig {
    /// The default, with pings, and for blocks of up to 4 MiB. What clients send has no time of
    /// effect, so there are no copies.
    pub fn client() -> Self {
        let chunks = ChunkConfig { largest_block: 4 << 20, ..ChunkConfig::default() };
        Self { copies: false, pings: Some(PingSchedule::default()), chunks, ..Self::default() }
    }

    /// The default, with a budget of 256 kbit/s.
    pub fn server() -> Self {
        Self { budget: Some(BudgetConfig::default()), ..Self::default() }
    }

    /// Panics if a limit is out of its range.
    pub(super) fn assert_valid(&self) {
        let least_bits = MAX_HEADER_BITS
            + MAX_SET_BITS
            + Messages::bits_of_one(MAX_MESSAGE)
            + 8 * MIN_BODY_BYTES;
        assert!(
            (least_bits..=8 * MAX_DATAGRAM).contains(&(8 * self.max_datagram)),
            "max_datagram is out of range: {self:?}"
        );
        assert!(
            (1..=MESSAGE_WINDOW as usize).contains(&self.queue_limit),
            "queue_limit is out of range: {self:?}"
        );
    }
}

/// An event for the owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkEvent<P = ()> {
    /// The peer has received that datagram, which had this payload.
    Acked(Seq, P),
    /// That datagram counts as lost: its contents are to be sent again, in their newest state.
    Lost(Seq, P),
    /// The peer has received that message of ours. A message that was in flight when it expired may
    /// be reported, too.
    MessageAcked(MessageId),
    /// A reliable message of the peer.
    Message(Bytes),
    /// A whole block of the peer.
    Block(Bytes),
    /// The oldest of our blocks that was not reported yet has arrived.
    BlockSent,
    /// An answered ping, for [`ClockEstimate`](crate::clock::ClockEstimate).
    Pong {
        /// When the ping left here.
        sent: LocalTime,
        /// When it arrived there, in microseconds of the peer's clock.
        received_by_peer: u64,
        /// When the answer left there, in microseconds of the peer's clock.
        sent_by_peer: u64,
        /// When the answer arrived here.
        arrived: LocalTime,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_takes_only_limits_that_are_in_range() {
        let is_valid = |config: LinkConfig| {
            let result = std::panic::catch_unwind(|| config.assert_valid());
            result.is_ok()
        };
        let datagrams_of = |max_datagram| LinkConfig { max_datagram, ..LinkConfig::default() };
        assert!(!is_valid(datagrams_of(1_071)));
        assert!(is_valid(datagrams_of(1_072)));
        assert!(is_valid(datagrams_of(MAX_DATAGRAM)));
        assert!(!is_valid(datagrams_of(MAX_DATAGRAM + 1)));
        let queue_of = |queue_limit| LinkConfig { queue_limit, ..LinkConfig::default() };
        assert!(!is_valid(queue_of(0)));
        assert!(is_valid(queue_of(1)));
        assert!(is_valid(queue_of(MESSAGE_WINDOW as usize)));
        assert!(!is_valid(queue_of(MESSAGE_WINDOW as usize + 1)));
    }
}
