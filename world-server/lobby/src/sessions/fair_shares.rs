//! A share of a budget for each address.
//!
//! The budget of the whole lobby goes to the first requests. Many addresses together, each within
//! its own budget, can take all of it. Therefore a quarter of it is handed out as credit, the same
//! to each address that is connected. When the budget is used up, a request is accepted if its
//! address has enough credit. A client that asks all the time has spent its credit. A client that
//! asks now and then gets its answer even if many others flood the lobby.
//!
//! Connections and the time go in; credit comes out. Credit is earned while connected, from nothing
//! on, so that a new connection gives no more than an old one. It is bounded, so that addresses
//! which save up for a flood together cannot cause much more than one second of the budget does.
//!
//! Bound: an entry for each address that is connected. Cost: a look-up.

use std::collections::BTreeMap;

use ambit_proto::time::LocalTime;
use ambit_transport::address::SourceNetwork;

/// The part of a budget that is handed out as credit, as a divisor.
const PARTS: u32 = 4;

/// What all networks have earned is counted in millionths: a share may be less than one a second.
const MICRO: u128 = 1_000_000;

/// The credits; see the module.
#[derive(Debug)]
pub(super) struct FairShares {
    /// For all networks together.
    per_s: u32,
    /// The most that a network can save.
    most: u128,
    /// What a network that is connected since the beginning has earned.
    earned: u128,
    earned_until: LocalTime,
    networks: BTreeMap<SourceNetwork, Share>,
}

#[derive(Debug)]
struct Share {
    connections: u32,
    /// What `earned` was when the credit was zero.
    spent_until: u128,
}

impl FairShares {
    /// Shares of a budget of `budget_per_s`; an address can save up to `most`.
    pub(super) fn new(budget_per_s: u32, most: u32) -> Self {
        Self {
            per_s: budget_per_s.div_ceil(PARTS),
            most: u128::from(most) * MICRO,
            earned: 0,
            earned_until: LocalTime::ZERO,
            networks: BTreeMap::new(),
        }
    }

    /// A connection from this network begins.
    pub(super) fn connect(&mut self, now: LocalTime, network: SourceNetwork) {
        self.earn(now);
        let share = self
            .networks
            .entry(network)
            .or_insert(Share { connections: 0, spent_until: self.earned });
        share.connections += 1;
    }

    /// A connection from this network has ended.
    pub(super) fn disconnect(&mut self, now: LocalTime, network: SourceNetwork) {
        self.earn(now);
        let Some(share) = self.networks.get_mut(&network) else {
            return;
        };
        share.connections -= 1;
        if share.connections == 0 {
            self.networks.remove(&network);
        }
    }

    /// Takes the cost of a request from the credit; `false` if there is too little. What costs more
    /// than can be saved takes all, and leaves a debt.
    pub(super) fn spend(&mut self, now: LocalTime, network: SourceNetwork, cost: u32) -> bool {
        self.earn(now);
        let earned = self.earned;
        let most = self.most;
        let cost = u128::from(cost) * MICRO;
        let Some(share) = self.networks.get_mut(&network) else {
            return false;
        };
        let spent_until = share.spent_until.max(earned.saturating_sub(most));
        let has_credit = spent_until + cost.min(most) <= earned;
        if has_credit {
            share.spent_until = spent_until + cost;
        }
        has_credit
    }

    fn earn(&mut self, now: LocalTime) {
        let micros = now.since(self.earned_until).as_micros();
        self.earned_until = self.earned_until.max(now);
        let networks = self.networks.len().max(1) as u128;
        self.earned += micros * u128::from(self.per_s) / networks;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_network_earns_the_same_and_saves_up_to_a_limit() {
        let mut shares = FairShares::new(400, 100);
        let [ann, bob] = [1, 2].map(network);
        shares.connect(at(0), ann);
        shares.connect(at(0), bob);
        shares.connect(at(0), bob);
        // 50 a second each, whatever the number of connections.
        assert!(!shares.spend(at(999), ann, 50));
        assert!(shares.spend(at(1_000), ann, 50));
        assert!(!shares.spend(at(1_000), ann, 1));
        assert!(shares.spend(at(1_000), bob, 50));
        assert!(!shares.spend(at(1_000), bob, 1));
        let spent = |shares: &mut FairShares, now, network| {
            (0..1_000).take_while(|_| shares.spend(now, network, 1)).count()
        };
        assert_eq!(spent(&mut shares, at(1_500), ann), 25);
        assert_eq!(spent(&mut shares, at(60_000), ann), 100);
        // More than can be saved is a debt.
        assert!(shares.spend(at(60_000), bob, 200));
        assert!(!shares.spend(at(62_000), bob, 1));
        assert_eq!(spent(&mut shares, at(63_000), bob), 50);
    }

    #[test]
    fn a_new_connection_begins_without_credit() {
        let mut shares = FairShares::new(400, 100);
        let ann = network(1);
        shares.connect(at(0), ann);
        assert!(shares.spend(at(10_000), ann, 100));
        shares.disconnect(at(10_000), ann);
        assert!(!shares.spend(at(20_000), ann, 1));
        shares.connect(at(20_000), ann);
        assert!(!shares.spend(at(20_000), ann, 1));
        assert!(shares.spend(at(21_000), ann, 100));
        shares.disconnect(at(21_000), ann);
        assert!(shares.networks.is_empty());
    }

    fn network(number: u32) -> SourceNetwork {
        SourceNetwork::of(std::net::Ipv4Addr::from_bits(number).into())
    }

    fn at(millis: u64) -> LocalTime {
        LocalTime::from_millis(millis)
    }
}
