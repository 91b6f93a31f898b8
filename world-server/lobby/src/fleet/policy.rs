//! The placement strategies that an operator can choose from.
//!
//! [`PlacementPolicy`] is the name, [`PlacementPolicy::to_placement`] returns the [`Placement`]
//! behind it: by load (see `placement`), reported or booked by the lobby alone; or by static zones
//! for worlds of several maps, where each map has a home host.
//!
//! Source: "Architectures de développement adaptées aux MMOGs" (Project Deus), section 2.1 (users
//! to servers that are not overloaded; static zones).

use derive_more::{Display, FromStr};

use crate::fleet::placement::{HostCandidate, MeasuredPlacement, Placement, PlacementRequest};
use crate::fleet::pool::ChildPoolConfig;
use crate::output::HostId;

/// Which host gets the next room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Display, FromStr)]
#[display(rename_all = "kebab-case")]
#[from_str(rename_all = "kebab-case")]
#[from_str(error(String, |_| "one of `measured`, `least-loaded` and `zones`".to_owned()))]
pub enum PlacementPolicy {
    /// The least loaded host by booked or reported load, whichever is higher.
    #[default]
    Measured,
    /// The least loaded host by booked load: the same rooms give the same placement.
    LeastLoaded,
    /// The home host of the map; as `Measured` if that is full.
    Zones,
}

impl PlacementPolicy {
    /// Returns the strategy. `children.min` hosts are always used.
    pub(super) fn to_placement(self, children: ChildPoolConfig) -> Box<dyn Placement> {
        let spread = if children.max == 0 { usize::MAX } else { children.min as usize };
        let by_load = MeasuredPlacement { spread };
        match self {
            Self::Measured => Box::new(by_load),
            Self::LeastLoaded => Box::new(BookedPlacement(by_load)),
            Self::Zones => Box::new(ZonePlacement { fallback: by_load }),
        }
    }
}

/// Places by the known cost of rooms and players.
#[derive(Clone, Copy, Debug)]
struct BookedPlacement(MeasuredPlacement);

impl Placement for BookedPlacement {
    fn place(&self, request: PlacementRequest<'_>, hosts: &[HostCandidate]) -> Option<HostId> {
        let booked: Vec<_> = hosts
            .iter()
            .map(|host| HostCandidate { load_permille: host.booked_permille, ..*host })
            .collect();
        self.0.place(request, &booked)
    }
}

/// Places each map on its home host. The order of the hosts depends on the world alone, and the
/// maps of a world take the hosts in turn. So the numbers of maps on the hosts differ by at most
/// one, worlds begin on different hosts, and no state is needed. Running maps stay where they are
/// when hosts connect or end. Capacity counts, load does not (the cost of static zones).
#[derive(Clone, Copy, Debug)]
struct ZonePlacement {
    fallback: MeasuredPlacement,
}

impl Placement for ZonePlacement {
    fn place(&self, request: PlacementRequest<'_>, hosts: &[HostCandidate]) -> Option<HostId> {
        let mut order: Vec<&HostCandidate> = hosts.iter().collect();
        order.sort_by_key(|host| {
            std::cmp::Reverse((weight(request.world.0, host.host.0), host.host))
        });
        let home = order.get(request.map as usize % order.len().max(1))?;
        if home.has_capacity() { Some(home.host) } else { self.fallback.place(request, hosts) }
    }
}

/// The weight of a host for a world: the same on all machines (rendezvous hashing with the
/// finaliser of splitmix64).
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
    fn policy_names_survive_a_round_trip() {
        use PlacementPolicy::{LeastLoaded, Measured, Zones};
        let named = [(Measured, "measured"), (LeastLoaded, "least-loaded"), (Zones, "zones")];
        for (policy, name) in named {
            assert_eq!((policy.to_string().as_str(), name.parse()), (name, Ok(policy)));
        }
        assert!(
            "best".parse::<PlacementPolicy>().is_err_and(|allowed| allowed.contains("`zones`"))
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
        let first: BTreeSet<_> = (1..50).filter_map(|world| place(world, 0, &hosts)).collect();
        assert_eq!(first.len(), 4, "all hosts get first maps of worlds");
    }

    #[test]
    fn a_map_without_a_free_home_host_is_placed_by_load() {
        let hosts: Vec<_> = (1..=3).map(|id| candidate(id, id as u32)).collect();
        let home = place(7, 0, &hosts).expect("a place");
        let full = |host: &HostCandidate| {
            if host.host == home { HostCandidate { rooms: 64, ..*host } } else { *host }
        };
        let others: Vec<_> = hosts.iter().map(full).collect();
        let elsewhere = place(7, 0, &others).expect("another place");
        let least = hosts
            .iter()
            .filter(|host| host.host != home)
            .min_by_key(|host| host.rooms)
            .expect("two are left");
        assert_eq!(elsewhere, least.host);
        let others: Vec<_> = hosts.iter().filter(|host| host.host != home).copied().collect();
        assert!(place(7, 0, &others).is_some());
        assert_eq!(place(7, 0, &[]), None);
    }

    #[test]
    fn booked_placement_ignores_reports() {
        let hosts = [HostCandidate { load_permille: 900, ..candidate(1, 1) }, candidate(2, 2)];
        let place = |policy: PlacementPolicy| {
            policy
                .to_placement(ChildPoolConfig::default())
                .place(request(1, 0), &hosts)
                .map(|host| host.0)
        };
        assert_eq!(
            (place(PlacementPolicy::LeastLoaded), place(PlacementPolicy::Measured)),
            (Some(1), Some(2))
        );
    }

    fn place(world: u64, map: u32, hosts: &[HostCandidate]) -> Option<HostId> {
        PlacementPolicy::Zones
            .to_placement(ChildPoolConfig::default())
            .place(request(world, map), hosts)
    }

    fn request(world: u64, map: u32) -> PlacementRequest<'static> {
        PlacementRequest { game: "field", players: 10, world: RoomId(world), map }
    }

    fn candidate(id: u64, rooms: u32) -> HostCandidate {
        let players = 0;
        let expected = 0;
        let booked_permille = rooms;
        let load_permille = rooms;
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
