//! A bounded number of places, of which one address gets a share.
//!
//! An address goes in, a place or the reason why there is none comes out; dropping a place gives it
//! back. So a peer that takes all it can get leaves most places to everybody else.
//!
//! Invariants:
//! 1. At most `most` places are taken, at most `share` of them by one address.
//! 2. An address without a place takes no memory.
//!
//! Units: an address is what one subscriber has, an IPv4 address or an IPv6 /64. Cost: a lock, held
//! for two look-ups.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ambit_proto::codes::ErrorCode;

/// Why there is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// All are taken.
    Places,
    /// The address has its share.
    Share,
}

impl Full {
    /// What a peer that finds no place is told.
    pub fn code(self) -> ErrorCode {
        match self {
            Self::Places => ErrorCode::TooManyConnections,
            Self::Share => ErrorCode::TooManyFromAddress,
        }
    }
}

/// See the module. Copies share the places.
#[derive(Clone, Debug)]
pub struct Places {
    most: usize,
    share: usize,
    taken: Arc<Mutex<Taken>>,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub struct Place {
    places: Places,
    address: IpAddr,
    crowded: bool,
}

/// Things by where they come from.
#[derive(Debug, Default)]
pub struct AddressCount(BTreeMap<IpAddr, usize>);

#[derive(Debug, Default)]
struct Taken {
    count: usize,
    by_address: AddressCount,
}

impl Places {
    /// `most` free places, of which one address gets `share`.
    pub fn new(most: usize, share: usize) -> Self {
        Self {
            most,
            share,
            taken: Arc::default(),
        }
    }

    /// Takes a place.
    pub fn take(&self, address: IpAddr) -> Result<Place, Full> {
        let mut taken = self.lock();
        let of_address = taken.by_address.of(address);
        if taken.count >= self.most {
            return Err(Full::Places);
        }
        if of_address >= self.share {
            return Err(Full::Share);
        }
        taken.count += 1;
        taken.by_address.add(address);
        let crowded = taken.count > self.most / 2 || of_address >= self.share / 2;
        Ok(Place {
            places: self.clone(),
            address,
            crowded,
        })
    }

    fn give_back(&self, address: IpAddr) {
        let mut taken = self.lock();
        taken.count -= 1;
        taken.by_address.remove(address);
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Whether it was in the second half of all places, or of the address's share.
    pub fn crowded(&self) -> bool {
        self.crowded
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.give_back(self.address);
    }
}

impl AddressCount {
    /// How many there are from this address.
    pub fn of(&self, address: IpAddr) -> usize {
        self.0
            .get(&network_of(address))
            .copied()
            .unwrap_or_default()
    }

    /// One more.
    pub fn add(&mut self, address: IpAddr) {
        *self.0.entry(network_of(address)).or_default() += 1;
    }

    /// One that was added is gone.
    pub fn remove(&mut self, address: IpAddr) {
        let network = network_of(address);
        let count = self.0.get_mut(&network).expect("what is removed was added");
        *count -= 1;
        if *count == 0 {
            self.0.remove(&network);
        }
    }
}

/// What one subscriber has: an IPv4 address, or 64 bits of IPv6.
fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(
            address.to_bits() & !u128::from(u64::MAX),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_gets_its_share_and_leaves_the_rest_to_others() {
        let places = Places::new(8, 2);
        let greedy: Vec<_> = (0..2_600)
            .map(|_| places.take(address("10.0.0.1")))
            .collect();
        assert_eq!(greedy.iter().filter(|place| place.is_ok()).count(), 2);
        assert!(
            greedy[2..]
                .iter()
                .all(|place| matches!(place, Err(Full::Share)))
        );
        let others: Vec<_> = (2..8)
            .map(|n| places.take(address(&format!("10.0.0.{n}"))))
            .collect();
        assert!(others.iter().all(Result::is_ok));
        assert_eq!(places.take(address("10.0.0.9")).unwrap_err(), Full::Places);
    }

    #[test]
    fn a_dropped_place_is_free_again_and_leaves_nothing_behind() {
        let places = Places::new(2, 1);
        let first = places.take(address("2001:db8:1:2::1")).unwrap();
        assert_eq!(
            places.take(address("2001:db8:1:2::2")).unwrap_err(),
            Full::Share
        );
        drop(first);
        drop(places.take(address("2001:db8:1:2::2")).unwrap());
        let taken = places.lock();
        assert_eq!((taken.count, taken.by_address.0.len()), (0, 0));
    }

    #[test]
    fn the_second_half_of_the_places_and_of_each_share_is_crowded() {
        let places = Places::new(8, 4);
        let mut taken = Vec::new();
        let mut crowded = |text: &str| {
            taken.push(places.take(address(text)).unwrap());
            taken.last().is_some_and(Place::crowded)
        };
        assert_eq!(["10.0.0.1"; 3].map(&mut crowded), [false, false, true]);
        assert_eq!(
            ["10.0.0.2", "10.0.0.3", "10.0.0.4"].map(&mut crowded),
            [false, true, true]
        );
    }

    #[test]
    fn one_subscriber_counts_as_one_address() {
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
        for text in [
            "10.0.0.1",
            "10.0.0.1",
            "2001:db8:1:2::1",
            "2001:db8:1:2::1",
            "2001:db8:1:3::1",
        ] {
            count.remove(address(text));
        }
        assert!(count.0.is_empty());
    }

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }
}
