//! Places for connections that any client can open.
//!
//! A new connection always gets a place. If its address has its share, it takes that of the oldest
//! connection from there. If all places are taken, it takes one from the address that has the most,
//! the oldest of these. So a client that opens many connections only replaces its own, and one that
//! needs its place for a moment keeps it that long.
//!
//! Invariant: at most `total` places are taken, at most `share` of them by one address, a
//! [`SourceNetwork`]. Cost: a lock, held for a look at each address that has a place.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use ambit_transport::acceptance_limits::LimitReached;
use ambit_transport::address::SourceNetwork;
use parking_lot::Mutex;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// See the module. Copies share the places.
#[derive(Clone, Debug)]
pub(crate) struct ContendedPlaces {
    total: usize,
    share: usize,
    taken: Arc<Mutex<TakenPlaces>>,
}

/// A place, until it is dropped or lost to another connection.
#[derive(Debug)]
pub(crate) struct Place {
    places: ContendedPlaces,
    network: SourceNetwork,
    number: u64,
    lost: CancellationToken,
}

#[derive(Debug, Default)]
struct TakenPlaces {
    /// Higher than all that were given.
    next: u64,
    count: usize,
    /// Oldest first, each with what tells that it is lost. No address is here without a place.
    by_network: BTreeMap<SourceNetwork, BTreeMap<u64, CancellationToken>>,
}

impl ContendedPlaces {
    pub(crate) fn new(total: usize, share: usize) -> Self {
        Self { total, share, taken: Arc::default() }
    }

    /// Takes a place for a connection from `address`. Also returns the limit because of which
    /// another one has lost its place.
    pub(crate) fn take(&self, address: IpAddr) -> (Place, Option<LimitReached>) {
        let network = SourceNetwork::of(address);
        let mut taken = self.taken.lock();
        let of_network = taken.by_network.get(&network).map_or(0, BTreeMap::len);
        let limit = if of_network >= self.share {
            taken.shed_oldest_of(network);
            Some(LimitReached::Share)
        } else if taken.count >= self.total {
            taken.shed_oldest_of_most();
            Some(LimitReached::Total)
        } else {
            None
        };
        let (number, lost) = taken.add(network);
        (Place { places: self.clone(), network, number, lost }, limit)
    }
}

impl Place {
    /// Resolves when a newer connection has taken the place.
    pub(crate) fn lost(&self) -> WaitForCancellationFutureOwned {
        self.lost.clone().cancelled_owned()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.taken.lock().remove(self.network, self.number);
    }
}

impl TakenPlaces {
    fn add(&mut self, network: SourceNetwork) -> (u64, CancellationToken) {
        let number = self.next;
        let lost = CancellationToken::new();
        self.by_network.entry(network).or_default().insert(number, lost.clone());
        self.next += 1;
        self.count += 1;
        (number, lost)
    }

    fn shed_oldest_of_most(&mut self) {
        let of_network = |places: &BTreeMap<u64, _>| (places.len(), Reverse(first_of(places)));
        let most = self.by_network.iter().max_by_key(|(_, places)| of_network(places));
        if let Some((&network, _)) = most {
            self.shed_oldest_of(network);
        }
    }

    fn shed_oldest_of(&mut self, network: SourceNetwork) {
        let oldest = self.by_network.get(&network).and_then(first_of);
        if let Some(lost) = oldest.and_then(|number| self.remove(network, number)) {
            lost.cancel();
        }
    }

    /// Frees a place, unless it was lost.
    fn remove(&mut self, network: SourceNetwork, number: u64) -> Option<CancellationToken> {
        let places = self.by_network.get_mut(&network)?;
        let lost = places.remove(&number)?;
        if places.is_empty() {
            self.by_network.remove(&network);
        }
        self.count -= 1;
        Some(lost)
    }
}

fn first_of<T>(places: &BTreeMap<u64, T>) -> Option<u64> {
    places.keys().next().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOTAL: usize = 64;
    const SHARE: usize = 16;

    #[test]
    fn an_address_with_its_share_replaces_its_own_oldest_connection() {
        let places = ContendedPlaces::new(TOTAL, SHARE);
        let (host, _) = places.take(address(1));
        let mut strangers = Vec::new();
        for knock in 0..1_000 {
            let (place, limit) = places.take(address(2));
            assert_eq!(limit.is_some(), knock >= SHARE);
            strangers.push(place);
            assert_eq!(
                strangers.iter().filter(|place| !is_lost(place)).count(),
                places_of(&places, 2)
            );
            assert_eq!(is_lost(&strangers[0]), knock >= SHARE);
        }
        assert!(!is_lost(&host));
        assert_eq!(places.taken.lock().count, SHARE + 1);
        drop((host, strangers));
        let taken = places.taken.lock();
        assert_eq!((taken.count, taken.by_network.len()), (0, 0), "an address without a place");
    }

    #[test]
    fn when_all_places_are_taken_the_oldest_connection_of_equals_is_replaced() {
        let places = ContendedPlaces::new(TOTAL, SHARE);
        let mut taken: Vec<Place> =
            (0..TOTAL).map(|number| places.take(address(number)).0).collect();
        for number in 0..1_000 {
            assert!(!is_lost(&taken[number]));
            let (place, limit) = places.take(address(TOTAL + number));
            assert_eq!(limit, Some(LimitReached::Total), "a new one always gets a place");
            taken.push(place);
            assert!(is_lost(&taken[number]));
        }
        assert_eq!(places.taken.lock().count, TOTAL);
        drop(taken.remove(3));
        assert_eq!(places.taken.lock().count, TOTAL, "it was lost before");
    }

    #[test]
    fn few_addresses_that_take_all_places_replace_only_each_other() {
        let places = ContendedPlaces::new(TOTAL, SHARE);
        let mut strangers: Vec<Place> =
            (0..TOTAL).map(|number| places.take(address(number % 4)).0).collect();
        let (oldest, _) = places.take(address(99));
        for number in 0..1_000 {
            strangers.push(places.take(address(number % 4)).0);
        }
        assert!(!is_lost(&oldest));
        assert_eq!(places.taken.lock().count, TOTAL);
    }

    fn places_of(places: &ContendedPlaces, number: usize) -> usize {
        places.taken.lock().by_network[&SourceNetwork::of(address(number))].len()
    }

    fn is_lost(place: &Place) -> bool {
        place.lost.is_cancelled()
    }

    fn address(number: usize) -> IpAddr {
        IpAddr::from([10, 0, (number >> 8) as u8, number as u8])
    }
}
