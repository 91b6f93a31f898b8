//! The ways to place rooms that an operator can choose from.
//!
//! [`PlacementPolicy`] is the name, [`PlacementPolicy::with`] the [`Placement`] behind it. By load
//! (see `placement`), measured or from the lobby's own books alone; or by static zones, for worlds
//! of several maps: the load of each part of the world is where its home is.
//!
//! PoseSource: reference 003, section 2.1 (users to servers that are not overloaded; static zones).

use std::fmt;
use std::str::FromStr;

use super::output::HostId;
use super::placement::{HostCandidate, MeasuredPlacement, Placement, PlacementRequest};
use super::pool::ChildPoolConfig;

/// Which host gets the next room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlacementPolicy {
    /// The one that has the least to carry, by the lobby's books or by its own reports, whichever
    /// says more.
    #[default]
    ReportedLoad,
    /// The one that has the least to carry by the lobby's books: the same rooms give the same
    /// places.
    BookedPlacement,
    /// The home of the map; where that is full, as measured.
    Zones,
}

impl PlacementPolicy {
    const ALL: [(PlacementPolicy, &str); 3] = [
        (Self::ReportedLoad, "measured"),
        (Self::BookedPlacement, "least-loaded"),
        (Self::Zones, "zones"),
    ];

    /// The policy at work, over hosts of which so many are kept in use.
    pub(super) fn to_placement(self, children: ChildPoolConfig) -> Box<dyn Placement> {
        let spread = if children.max == 0 {
            usize::MAX
        } else {
            children.min as usize
        };
        let by_load = MeasuredPlacement { spread };
        match self {
            Self::ReportedLoad => Box::new(by_load),
            Self::BookedPlacement => Box::new(BookedPlacement(by_load)),
            Self::Zones => Box::new(ZonePlacement { fallback: by_load }),
        }
    }
}

impl fmt::Display for PlacementPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (_, name) = Self::ALL
            .iter()
            .find(|(policy, _)| policy == self)
            .expect("every policy has a name");
        f.write_str(name)
    }
}

impl FromStr for PlacementPolicy {
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
struct BookedPlacement(MeasuredPlacement);

impl Placement for BookedPlacement {
    fn place(&self, wish: PlacementRequest<'_>, hosts: &[HostCandidate]) -> Option<HostId> {
        let booked: Vec<_> = hosts
            .iter()
            .map(|host| HostCandidate {
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
struct ZonePlacement {
    fallback: MeasuredPlacement,
}

impl Placement for ZonePlacement {
    fn place(&self, wish: PlacementRequest<'_>, hosts: &[HostCandidate]) -> Option<HostId> {
        let mut order: Vec<&HostCandidate> = hosts.iter().collect();
        order.sort_by_key(|host| std::cmp::Reverse((weight(wish.world.0, host.host.0), host.host)));
        let home = order.get(wish.map as usize % order.len().max(1))?;
        if home.has_capacity() {
            Some(home.host)
        } else {
            self.fallback.place(wish, hosts)
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
        for (policy, name) in PlacementPolicy::ALL {
            assert_eq!(
                (policy.to_string().as_str(), name.parse()),
                (name, Ok(policy))
            );
        }
        assert!(
            "best"
                .parse::<PlacementPolicy>()
                .is_err_and(|allowed| allowed.contains("`zones`"))
        );
    }

    #[test]
    fn the_maps_of_a_world_spread_evenly_and_keep_their_home_hosts() {
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
        let full = |host: &HostCandidate| {
            if host.host == home {
                HostCandidate { rooms: 64, ..*host }
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
            HostCandidate {
                load_permille: 900,
                ..candidate(1, 1)
            },
            candidate(2, 2),
        ];
        let place = |policy: PlacementPolicy| {
            policy
                .to_placement(ChildPoolConfig::default())
                .place(wish(1, 0), &hosts)
                .map(|host| host.0)
        };
        assert_eq!(
            (
                place(PlacementPolicy::BookedPlacement),
                place(PlacementPolicy::ReportedLoad)
            ),
            (Some(1), Some(2))
        );
    }

    fn place(world: u64, map: u32, hosts: &[HostCandidate]) -> Option<HostId> {
        PlacementPolicy::Zones
            .to_placement(ChildPoolConfig::default())
            .place(wish(world, map), hosts)
    }

    fn wish(world: u64, map: u32) -> PlacementRequest<'static> {
        PlacementRequest {
            game: "field",
            players: 10,
            world: RoomId(world),
            map,
        }
    }

    fn candidate(id: u64, rooms: u32) -> HostCandidate {
        let (players, expected, booked_permille, load_permille) = (0, 0, rooms, rooms);
        HostCandidate {
            host: HostId(id),
            capacity: 64,
            rooms,
            players,
            expected_players: expected,
            booked_permille,
            load_permille,
        }
    }
}
