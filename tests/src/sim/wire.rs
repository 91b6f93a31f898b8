//! Counts bytes on the simulated network, independently of the link and its budget.
//!
//! Input: the datagrams that a host sent, with their times. Output: numbers of bytes. Units: bytes,
//! including the overhead of the lower layers for each datagram.

use std::time::Duration;

use ambit_proto::time::LocalTime;
use bytes::Bytes;

/// The overhead that the link's budget assumes for each datagram (`BudgetConfig::overhead_bytes`):
/// 28 of IPv4 and UDP, 25 of QUIC.
pub const OVERHEAD_BYTES: u64 = 28 + 25;

/// The largest number of bytes that were sent within any second.
pub fn most_in_a_second(sent: &[(LocalTime, Bytes)]) -> u64 {
    let mut most = 0;
    let mut within = 0;
    let mut first = 0;
    for (at, datagram) in sent {
        within += size(datagram);
        while sent[first].0 + Duration::from_secs(1) <= *at {
            within -= size(&sent[first].1);
            first += 1;
        }
        most = most.max(within);
    }
    most
}

/// The bytes of all datagrams.
pub fn bytes(sent: &[(LocalTime, Bytes)]) -> u64 {
    sent.iter().map(|(_, datagram)| size(datagram)).sum()
}

fn size(datagram: &Bytes) -> u64 {
    datagram.len() as u64 + OVERHEAD_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fullest_second_may_begin_at_any_datagram() {
        let sent = |times: &[u64]| -> Vec<(LocalTime, Bytes)> {
            times
                .iter()
                .map(|&ms| (LocalTime::from_millis(ms), Bytes::from_static(&[0; 47])))
                .collect()
        };
        assert_eq!(most_in_a_second(&sent(&[])), 0);
        assert_eq!(most_in_a_second(&sent(&[0, 999, 1_000, 1_001, 2_000])), 300);
        assert_eq!(bytes(&sent(&[0, 5_000])), 200);
    }
}
