//! Budgets of what requests cost: chat messages by their receivers, lists by their size.
//!
//! A request takes one token of its connection, whatever it asks for. Some cost the server a
//! thousand times more than others: a line to the whole lobby is one message for each player, and a
//! list may have 1 MB. These have budgets of their own, for each address and for the whole lobby,
//! so that one address leaves most of the server to the others. The budgets for the whole lobby
//! keep what all strangers together can cause within what the server can send.
//!
//! A request is accepted as long as a budget has anything left, and is charged what it has cost; a
//! debt is paid before the next one. So a budget is exceeded by one request at most, and a request
//! that costs more than a whole budget is still possible. A request over the budget of an address
//! is refused with `rate_limited`, one over that of the lobby with `try_again`. A player may join a
//! room even so: that uses up what is left, makes no debt, and is limited for each connection.
//!
//! Many addresses together can use up what the lobby has for chat. So each has a share of it that
//! they cannot take (`fair_shares`): with that, a message is accepted although nothing is left, and
//! the lobby's budget goes into a debt of a second at most, which is paid before it has anything
//! for all again.
//!
//! Addresses of [`LobbyConfig::trusted`] have no budgets of their own: a thousand bots on one
//! machine are a thousand players. The budgets for the whole lobby hold for them too.

use std::collections::BTreeMap;

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::world_to_client::Body;
use ambit_proto::time::LocalTime;
use ambit_room::token_bucket::TokenBucket;
use ambit_transport::address::SourceNetwork;
use prost::Message;

use crate::config::{CostLimit, LobbyConfig};
use crate::refusal::LobbyRefusal;
use crate::sessions::fair_shares::FairShares;

/// What may be used at once after a pause, in seconds of the rate.
const BURST_S: u32 = 2;
/// What messages of addresses with credit may use beyond that.
const MAX_DEBT_S: u32 = 1;

/// A full bucket is removed once there are this many more than after the last removal.
const SPARE_BUCKETS: usize = 1_024;

/// The budgets of the lobby.
#[derive(Debug)]
pub(super) struct LobbyBudgets {
    /// Messages that chat and new names cause, one for each receiver.
    deliveries: CostBudget,
    pub(super) delivery_shares: FairShares,
    /// Lists that are asked for, in KiB.
    lists: CostBudget,
    /// Lists for clients that have missed news, in KiB. Clients do not ask for them, and they must
    /// not wait for lists that clients ask for, so they have a budget of their own.
    pub(super) catch_ups: TokenBucket,
}

/// One budget for each address, and one for all of them.
#[derive(Debug)]
struct CostBudget {
    limit: CostLimit,
    all: TokenBucket,
    by_network: BTreeMap<SourceNetwork, TokenBucket>,
    /// Full buckets are removed when there are more than this.
    remove_above: usize,
}

/// The budget that has nothing left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exhausted {
    OfAddress,
    OfAll,
}

impl LobbyBudgets {
    pub(super) fn new(config: &LobbyConfig) -> Self {
        let CostLimit { per_s, per_s_of_address } = config.chat_deliveries;
        Self {
            deliveries: CostBudget::new(config.chat_deliveries),
            delivery_shares: FairShares::new(per_s, per_s_of_address),
            lists: CostBudget::new(config.list_kib),
            catch_ups: bucket(config.list_kib.per_s),
        }
    }
}

impl CostBudget {
    fn new(limit: CostLimit) -> Self {
        Self {
            limit,
            all: bucket(limit.per_s),
            by_network: BTreeMap::new(),
            remove_above: SPARE_BUCKETS,
        }
    }

    /// Checks that there is something left. No network: only the budget of all counts.
    fn check(&self, now: LocalTime, network: Option<SourceNetwork>) -> Result<(), Exhausted> {
        let of_network = network.and_then(|network| self.by_network.get(&network));
        if of_network.is_some_and(|bucket| !bucket.has_token(now)) {
            Err(Exhausted::OfAddress)
        } else if !self.all.has_token(now) {
            Err(Exhausted::OfAll)
        } else {
            Ok(())
        }
    }

    /// Whether the budget of all may be overdrawn for an address with credit.
    fn may_overdraw(&self, now: LocalTime) -> bool {
        let most = self.limit.per_s.saturating_mul(MAX_DEBT_S);
        self.all.has_token_with_debt(now, most)
    }

    /// Charges a request. What is used up is not charged further.
    fn charge(&mut self, now: LocalTime, network: Option<SourceNetwork>, cost: u32) {
        charge_if_left(&mut self.all, now, cost);
        self.charge_network(now, network, cost);
    }

    /// Charges a request that the budget of all is overdrawn for.
    fn overdraw(&mut self, now: LocalTime, network: Option<SourceNetwork>, cost: u32) {
        self.all.charge(now, cost);
        self.charge_network(now, network, cost);
    }

    fn charge_network(&mut self, now: LocalTime, network: Option<SourceNetwork>, cost: u32) {
        let Some(network) = network else {
            return;
        };
        if self.by_network.len() > self.remove_above {
            self.by_network.retain(|_, bucket| !bucket.is_full(now));
            self.remove_above = self.by_network.len() + SPARE_BUCKETS;
        }
        let per_s = self.limit.per_s_of_address;
        let of_network = self.by_network.entry(network);
        charge_if_left(of_network.or_insert_with(|| bucket(per_s)), now, cost);
    }
}

fn charge_if_left(budget: &mut TokenBucket, now: LocalTime, cost: u32) {
    if budget.has_token(now) {
        budget.charge(now, cost);
    }
}

fn bucket(per_s: u32) -> TokenBucket {
    TokenBucket::new(per_s, per_s.saturating_mul(BURST_S))
}

impl LobbyBudgets {
    /// Takes a message to `receivers` receivers from the budgets of chat. `from` is where its
    /// sender is; `network` the same, if it has a budget of its own.
    pub(super) fn charge_deliveries(
        &mut self,
        now: LocalTime,
        network: Option<SourceNetwork>,
        from: Option<SourceNetwork>,
        receivers: usize,
    ) -> Result<(), LobbyRefusal> {
        let cost = u32::try_from(receivers).unwrap_or(u32::MAX);
        let Self { deliveries: budget, delivery_shares: shares, .. } = self;
        let limit = budget.limit;
        match budget.check(now, network) {
            Ok(()) => budget.charge(now, network, cost),
            Err(Exhausted::OfAddress) => {
                let message = format!(
                    "players at one address may send {} chat messages a second, counted once for \
                     each receiver; wait a little",
                    limit.per_s_of_address
                );
                return Err(LobbyRefusal::new(ErrorCode::RateLimited, message));
            }
            Err(Exhausted::OfAll) => {
                let has_share = budget.may_overdraw(now)
                    && from.is_some_and(|from| shares.spend(now, from, cost));
                if !has_share {
                    let message = format!(
                        "the server delivers {} chat messages a second, counted once for each \
                         receiver, and there are more at the moment; try again in a few seconds",
                        limit.per_s
                    );
                    return Err(LobbyRefusal::new(ErrorCode::TryAgain, message));
                }
                budget.overdraw(now, network, cost);
            }
        }
        Ok(())
    }

    /// Checks that a connection from this network may get a list.
    pub(super) fn check_lists(
        &self,
        now: LocalTime,
        network: Option<SourceNetwork>,
    ) -> Result<(), LobbyRefusal> {
        self.lists.check(now, network).map_err(|exhausted| match exhausted {
            Exhausted::OfAddress => {
                let per_s = self.lists.limit.per_s_of_address;
                list_refusal(per_s, "players at one address together")
            }
            Exhausted::OfAll => LobbyRefusal::new(
                ErrorCode::TryAgain,
                "more lists are asked for than the server can send; try again in a few \
                     seconds, or subscribe to the list of rooms",
            ),
        })
    }

    /// Charges a list that was asked for from this network.
    pub(super) fn charge_list(&mut self, now: LocalTime, network: Option<SourceNetwork>, kib: u32) {
        self.lists.charge(now, network, kib);
    }
}

/// The size of an answer in KiB, if it is a list.
pub(super) fn list_kib(answer: &Body) -> Option<u32> {
    let bytes = match answer {
        Body::RoomList(list) => list.encoded_len(),
        Body::PlayerList(list) => list.encoded_len(),
        Body::RoomJoined(joined) => joined.encoded_len(),
        Body::GameDescription(description) => description.encoded_len(),
        _ => return None,
    };
    Some(whole_kib(bytes))
}

/// For those who ask for too many lists.
pub(super) fn list_refusal(kib_per_s: u32, who: &str) -> LobbyRefusal {
    let message = format!(
        "{who} may get {kib_per_s} KiB of lists a second; wait a little, or subscribe to the \
         list of rooms"
    );
    LobbyRefusal::new(ErrorCode::RateLimited, message)
}

/// KiB, begun ones included: even an empty list costs something.
pub(super) fn whole_kib(bytes: usize) -> u32 {
    u32::try_from(bytes / 1_024).unwrap_or(u32::MAX - 1) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_cannot_use_up_the_budget_of_all() {
        let mut budget = CostBudget::new(CostLimit { per_s: 100, per_s_of_address: 25 });
        let spent = |budget: &mut CostBudget, network| {
            let accepted = (0..1_000).take_while(|_| {
                let accepted = budget.check(at(0), network).is_ok();
                if accepted {
                    budget.charge(at(0), network, 1);
                }
                accepted
            });
            accepted.count()
        };
        let [ann, bob] = [1, 2].map(|number| Some(network(number)));
        assert_eq!(spent(&mut budget, ann), 50);
        assert_eq!(budget.check(at(0), ann), Err(Exhausted::OfAddress));
        assert_eq!(spent(&mut budget, bob), 50);
        // A trusted one has no other limit than all together.
        assert_eq!(spent(&mut budget, None), 100);
        let late = Some(network(3));
        assert_eq!(budget.check(at(0), late), Err(Exhausted::OfAll));
        assert_eq!(budget.check(at(10), late), Ok(()));
        assert_eq!(budget.check(at(10), ann), Err(Exhausted::OfAddress));
        assert_eq!(budget.check(at(40), ann), Ok(()));
    }

    #[test]
    fn what_is_used_up_makes_no_further_debt() {
        let mut budget = CostBudget::new(CostLimit { per_s: 100, per_s_of_address: 100 });
        let ann = Some(network(1));
        for _ in 0..1_000 {
            budget.charge(at(0), ann, 300);
        }
        // One charge goes 100 below zero.
        assert!(budget.check(at(1_000), ann).is_err());
        assert_eq!(budget.check(at(1_020), ann), Ok(()));
    }

    #[test]
    fn the_budget_of_all_is_overdrawn_by_a_second_at_most() {
        let mut budget = CostBudget::new(CostLimit { per_s: 100, per_s_of_address: 100 });
        budget.charge(at(0), None, 200);
        assert_eq!(budget.check(at(0), None), Err(Exhausted::OfAll));
        assert!(budget.may_overdraw(at(0)));
        budget.overdraw(at(0), None, 100);
        assert!(!budget.may_overdraw(at(0)));
        assert!(!budget.may_overdraw(at(9)));
        assert!(budget.may_overdraw(at(10)));
        // The debt is paid before there is something for all.
        assert_eq!(budget.check(at(1_009), None), Err(Exhausted::OfAll));
        assert_eq!(budget.check(at(1_010), None), Ok(()));
    }

    #[test]
    fn full_buckets_are_removed_only_when_there_are_many() {
        let mut budget = CostBudget::new(CostLimit { per_s: 1_000_000, per_s_of_address: 10 });
        let mut kept_after = |millis, number| {
            budget.charge(at(millis), Some(network(number)), 1);
            budget.by_network.len()
        };
        assert_eq!(kept_after(0, 0), 1);
        // All are full again long before the next one comes.
        for number in 1..=SPARE_BUCKETS as u32 {
            assert_eq!(kept_after(1_000 * u64::from(number), number), number as usize + 1);
        }
        assert_eq!(kept_after(10_000_000, u32::MAX), 1);
    }

    #[test]
    fn only_addresses_that_have_spent_something_lately_are_kept() {
        let mut budget = CostBudget::new(CostLimit { per_s: 1_000_000, per_s_of_address: 10 });
        for number in 0..20_000_u32 {
            let now = at(u64::from(number));
            budget.charge(now, Some(network(number)), 1);
        }
        // Each is full again after 100 ms.
        assert!(budget.by_network.len() <= 100 + 2 * SPARE_BUCKETS, "{}", budget.by_network.len());
    }

    fn network(number: u32) -> SourceNetwork {
        SourceNetwork::of(std::net::Ipv4Addr::from_bits(number).into())
    }

    fn at(millis: u64) -> LocalTime {
        LocalTime::from_millis(millis)
    }
}
