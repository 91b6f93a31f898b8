//! A limit of connections, and a smaller one for each address.
//!
//! An address goes in; a permit, or the limit that is reached, comes out. Dropping a permit frees
//! its place. So a peer that takes all that it can get leaves most places to other peers.
//!
//! Invariants:
//! 1. At most `total` permits are out, at most `share` of them for one address.
//! 2. An address without a permit takes no memory.
//!
//! Units: an address is what one subscriber has, a [`SourceNetwork`]. Cost: a lock, held for two
//! look-ups.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use ambit_proto::codes::ErrorCode;
use parking_lot::Mutex;

use crate::address::SourceNetwork;

/// Why there is no permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitReached {
    /// All permits are out.
    Total,
    /// The address has its share.
    Share,
}

impl LimitReached {
    /// The code that the peer gets.
    pub fn code(self) -> ErrorCode {
        match self {
            Self::Total => ErrorCode::TooManyConnections,
            Self::Share => ErrorCode::TooManyFromAddress,
        }
    }
}

/// See the module. Copies share the limits.
#[derive(Clone, Debug)]
pub struct AcceptanceLimits {
    total: usize,
    share: usize,
    taken: Arc<Mutex<PermitCounts>>,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub struct AcceptancePermit {
    limits: AcceptanceLimits,
    address: IpAddr,
    is_crowded: bool,
}

/// How many connections come from each address.
#[derive(Debug, Default)]
pub struct AddressCount(BTreeMap<SourceNetwork, usize>);

#[derive(Debug, Default)]
struct PermitCounts {
    count: usize,
    by_address: AddressCount,
}

impl AcceptanceLimits {
    /// `total` free places, of which one address gets `share`.
    pub fn new(total: usize, share: usize) -> Self {
        Self { total, share, taken: Arc::default() }
    }

    /// Takes a place for a connection from `address`, until the permit is dropped.
    pub fn take(&self, address: IpAddr) -> Result<AcceptancePermit, LimitReached> {
        let mut taken = self.taken.lock();
        let of_address = taken.by_address.of(address);
        if taken.count >= self.total {
            return Err(LimitReached::Total);
        }
        if of_address >= self.share {
            return Err(LimitReached::Share);
        }
        taken.count += 1;
        taken.by_address.add(address);
        let is_crowded = taken.count > self.total / 2 || of_address >= self.share / 2;
        Ok(AcceptancePermit { limits: self.clone(), address, is_crowded })
    }

    fn give_back(&self, address: IpAddr) {
        let mut taken = self.taken.lock();
        taken.count -= 1;
        taken.by_address.remove(address);
    }
}

impl AcceptancePermit {
    /// Whether it was in the second half of all permits, or of the address's share.
    pub fn is_crowded(&self) -> bool {
        self.is_crowded
    }
}

impl Drop for AcceptancePermit {
    fn drop(&mut self) {
        self.limits.give_back(self.address);
    }
}

impl AddressCount {
    /// How many there are from this address.
    pub fn of(&self, address: IpAddr) -> usize {
        self.0.get(&SourceNetwork::of(address)).copied().unwrap_or_default()
    }

    /// Counts one more.
    pub fn add(&mut self, address: IpAddr) {
        *self.0.entry(SourceNetwork::of(address)).or_default() += 1;
    }

    /// Counts one less.
    ///
    /// # Panics
    /// If none from this address was added.
    pub fn remove(&mut self, address: IpAddr) {
        let network = SourceNetwork::of(address);
        let count = self.0.get_mut(&network).expect("what is removed was added");
        *count -= 1;
        if *count == 0 {
            self.0.remove(&network);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_is_limited_to_its_share_of_all_permits() {
        let limits = AcceptanceLimits::new(8, 2);
        let greedy: Vec<_> = (0..2_600).map(|_| limits.take(address("10.0.0.1"))).collect();
        assert_eq!(greedy.iter().filter(|permit| permit.is_ok()).count(), 2);
        assert!(greedy[2..].iter().all(|permit| matches!(permit, Err(LimitReached::Share))));
        let others: Vec<_> = (2..8).map(|n| limits.take(address(&format!("10.0.0.{n}")))).collect();
        assert!(others.iter().all(Result::is_ok));
        assert_eq!(limits.take(address("10.0.0.9")).unwrap_err(), LimitReached::Total);
    }

    #[test]
    fn a_dropped_permit_is_released_and_its_address_forgotten() {
        let limits = AcceptanceLimits::new(2, 1);
        let first = limits.take(address("2001:db8:1:2::1")).unwrap();
        assert_eq!(limits.take(address("2001:db8:1:2::2")).unwrap_err(), LimitReached::Share);
        drop(first);
        drop(limits.take(address("2001:db8:1:2::2")).unwrap());
        let taken = limits.taken.lock();
        assert_eq!((taken.count, taken.by_address.0.len()), (0, 0));
    }

    #[test]
    fn the_second_half_of_all_permits_and_of_each_share_is_crowded() {
        let limits = AcceptanceLimits::new(8, 4);
        let mut taken = Vec::new();
        let mut crowded = |text: &str| {
            taken.push(limits.take(address(text)).unwrap());
            taken.last().is_some_and(AcceptancePermit::is_crowded)
        };
        assert_eq!(["10.0.0.1"; 3].map(&mut crowded), [false, false, true]);
        assert_eq!(["10.0.0.2", "10.0.0.3", "10.0.0.4"].map(&mut crowded), [false, true, true]);
    }

    #[test]
    fn addresses_of_one_subscriber_count_as_one() {
        let mut count = AddressCount::default();
        for text in [
            "10.0.0.1",
            "::ffff:10.0.0.1",
            "2001:db8:1:2::1",
            "2001:db8:1:2:ffff::9",
            "2001:db8:1:3::1",
        ] {
            count.add(address(text));
        }
        assert_eq!(count.of(address("10.0.0.1")), 2);
        assert_eq!(count.of(address("10.0.0.2")), 0);
        assert_eq!(count.of(address("2001:db8:1:2::77")), 2);
        assert_eq!(count.of(address("2001:db8:1:3::77")), 1);
        for text in
            ["10.0.0.1", "10.0.0.1", "2001:db8:1:2::1", "2001:db8:1:2::1", "2001:db8:1:3::1"]
        {
            count.remove(address(text));
        }
        assert!(count.0.is_empty());
    }

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }
}
