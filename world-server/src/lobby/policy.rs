//! The ways to place rooms that an operator can choose from.
//!
//! [`Policy`] is the name, [`Policy::with`] the [`Placement`] behind it. By load (see `placement`),
//! measured or from the lobby's own books alone; or by static zones, for worlds of several maps:
//! the load of each part of the world is where its home is.
//!
//! Source: reference 003, section 2.1 (users to servers that are not overloaded; static zones).

use std::fmt;
use std::str::FromStr;

use super::output::HostId;
use super::placement::{Candidate, MeasuredLoad, Placement, Wish};
use super::pool::Children;

/// Which host gets the next room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// The one that has the least to carry, by the lobby's books or by its own reports, whichever
    /// says more.
    #[default]
    Measured,
    /// The one that has the least to carry by the lobby's books: the same rooms give the same
    /// places.
    LeastLoaded,
    /// The home of the map; where that is full, as measured.
    Zones,
}

impl Policy {
    const ALL: [(Policy, &str); 3] = [
        (Self::Measured, "measured"),
        (Self::LeastLoaded, "least-loaded"),
        (Self::Zones, "zones"),
    ];

    /// The policy at work, over hosts of which so many are kept in use.
    pub(super) fn with(self, children: Children) -> Box<dyn Placement> {
        let spread = if children.max == 0 {
            usize::MAX
        } else {
            children.min as usize
        };
        let by_load = MeasuredLoad { spread };
        match self {
            Self::Measured => Box::new(by_load),
            Self::LeastLoaded => Box::new(LeastLoaded(by_load)),
            Self::Zones => Box::new(StaticZones { otherwise: by_load }),
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (_, name) = Self::ALL
            .iter()
            .find(|(policy, _)| policy == self)
            .expect("every policy has a name");
        f.write_str(name)
    }
}

impl FromStr for Policy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.iter().find(|(_, name)| *name == text);
        known
            .map(|(policy, _)| *policy)
            .ok_or_else(|| "one of `measured`, `least-loaded` and `zones`".to_owned())
    }
}

/// By what rooms and players are known to cost.
#[derive(Clone, Copy, Debug)]
struct LeastLoaded(MeasuredLoad);

impl Placement for LeastLoaded {
    fn place(&self, wish: Wish<'_>, hosts: &[Candidate]) -> Option<HostId> {
        let booked: Vec<_> = hosts
            .iter()
            .map(|host| Candidate {
                load_permille: host.booked_permille,
                ..*host
            })
            .collect();
        self.0.place(wish, &booked)
    }
}

/// Each map has a home: hosts stand in an order that depends on the world alone, and its maps go
/// round in it. So the maps of one world are spread to within one, worlds begin at different hosts,
/// and nothing has to be remembered. Maps that run stay where they are when hosts come and go; load
/// does not count (that is the price of zones that are static), capacity does.
#[derive(Clone, Copy, Debug)]
struct StaticZones {
    otherwise: MeasuredLoad,
}

impl Placement for StaticZones {
    fn place(&self, wish: Wish<'_>, hosts: &[Candidate]) -> Option<HostId> {
        let mut order: Vec<&Candidate> = hosts.iter().collect();
        order.sort_by_key(|host| std::cmp::Reverse((weight(wish.world.0, host.host.0), host.host)));
        let home = order.get(wish.map as usize % order.len().max(1))?;
        if home.has_room() {
            Some(home.host)
        } else {
            self.otherwise.place(wish, hosts)
        }
    }
}

/// Of a host for a world: the same on all machines (rendezvous hashing, by the finaliser of
/// splitmix64).
fn weight(world: u64, host: u64) -> u64 {
    let mixed =
        world.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ host.wrapping_mul(0xd1b5_4a32_d192_ed03);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use ambit_proto::ids::RoomId;

    use super::*;

    #[test]
    fn a_policy_s_name_is_read_back() {
        for (policy, name) in Policy::ALL {
            assert_eq!(
                (policy.to_string().as_str(), name.parse()),
                (name, Ok(policy))
            );
        }
        assert!(
            "best"
                .parse::<Policy>()
                .is_err_and(|allowed| allowed.contains("`zones`"))
        );
    }

    #[test]
    fn the_maps_of_a_world_are_spread_evenly_and_each_has_the_same_home_every_time() {
        let hosts: Vec<_> = (1..=4).map(|id| candidate(id, 0)).collect();
        for world in 1..50 {
            let mut maps: BTreeMap<HostId, u32> = BTreeMap::new();
            for map in 0..10 {
                let home = place(world, map, &hosts).expect("a place");
                assert_eq!(place(world, map, &hosts), Some(home));
                *maps.entry(home).or_default() += 1;
            }
            assert!(
                maps.len() == 4 && maps.values().all(|maps| (2..=3).contains(maps)),
                "{world}: {maps:?}"
            );
        }
        let first: BTreeSet<_> = (1..50)
            .filter_map(|world| place(world, 0, &hosts))
            .collect();
        assert_eq!(first.len(), 4, "worlds begin everywhere");
    }

    #[test]
    fn a_home_that_is_full_or_gone_is_left_to_the_load() {
        let hosts: Vec<_> = (1..=3).map(|id| candidate(id, id as u32)).collect();
        let home = place(7, 0, &hosts).expect("a place");
        let full = |host: &Candidate| {
            if host.host == home {
                Candidate { rooms: 64, ..*host }
            } else {
                *host
            }
        };
        let others: Vec<_> = hosts.iter().map(full).collect();
        let elsewhere = place(7, 0, &others).expect("another place");
        let least = hosts
            .iter()
            .filter(|host| host.host != home)
            .min_by_key(|host| host.rooms)
            .expect("two are left");
        assert_eq!(elsewhere, least.host);
        let gone: Vec<_> = hosts
            .iter()
            .filter(|host| host.host != home)
            .copied()
            .collect();
        assert!(place(7, 0, &gone).is_some());
        assert_eq!(place(7, 0, &[]), None);
    }

    #[test]
    fn by_the_books_alone_no_report_counts() {
        let hosts = [
            Candidate {
                load_permille: 900,
                ..candidate(1, 1)
            },
            candidate(2, 2),
        ];
        let place = |policy: Policy| {
            policy
                .with(Children::default())
                .place(wish(1, 0), &hosts)
                .map(|host| host.0)
        };
        assert_eq!(
            (place(Policy::LeastLoaded), place(Policy::Measured)),
            (Some(1), Some(2))
        );
    }

    fn place(world: u64, map: u32, hosts: &[Candidate]) -> Option<HostId> {
        Policy::Zones
            .with(Children::default())
            .place(wish(world, map), hosts)
    }

    fn wish(world: u64, map: u32) -> Wish<'static> {
        Wish {
            game: "field",
            players: 10,
            world: RoomId(world),
            map,
        }
    }

    fn candidate(id: u64, rooms: u32) -> Candidate {
        let (players, expected, booked_permille, load_permille) = (0, 0, rooms, rooms);
        Candidate {
            host: HostId(id),
            capacity: 64,
            rooms,
            players,
            expected,
            booked_permille,
            load_permille,
        }
    }
}
