//! Addresses of peers as limits see them.
//!
//! A [`SourceNetwork`] is what one subscriber has, so limits count by it. An [`AddressRange`] is
//! what an operator names in a setting.

use std::net::{IpAddr, Ipv6Addr};

use cidr::IpCidr;
use derive_more::{Display, FromStr};

/// The network that a peer comes from: an IPv4 address or an IPv6 /64. An IPv4 address that is
/// mapped to IPv6 counts as IPv4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceNetwork(IpAddr);

impl SourceNetwork {
    /// The network of an address.
    pub fn of(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V4(address) => IpAddr::V4(address),
            IpAddr::V6(address) => {
                IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)))
            }
        })
    }

    /// The lowest address of the network; [`Self::of`] turns it into the network again.
    pub fn first_address(self) -> IpAddr {
        self.0
    }
}

/// An address, or all addresses with a common prefix: `192.0.2.7`, `192.0.2.0/24`,
/// `2001:db8::/32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, FromStr)]
#[from_str(error(NotAnAddressRange, |_| NotAnAddressRange))]
pub struct AddressRange(IpCidr);

impl AddressRange {
    /// Whether the address is in the range. An IPv4 address that is mapped to IPv6 counts as IPv4.
    pub fn contains(self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }
}

/// Not an address, and not a range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an address such as 192.0.2.7, or a range such as 192.0.2.0/24 or 2001:db8::/32")]
pub struct NotAnAddressRange;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_an_ipv4_address_or_an_ipv6_slash_64() {
        let network = |text| SourceNetwork::of(address(text));
        assert_eq!(network("10.0.0.1"), network("::ffff:10.0.0.1"));
        assert_ne!(network("10.0.0.1"), network("10.0.0.2"));
        assert_eq!(network("2001:db8:1:2::1"), network("2001:db8:1:2:ffff:ffff::9"));
        assert_ne!(network("2001:db8:1:2::1"), network("2001:db8:1:3::1"));
        for text in ["10.0.0.1", "::ffff:10.0.0.1", "2001:db8:1:2::1"] {
            let network = network(text);
            assert_eq!(SourceNetwork::of(network.first_address()), network);
        }
    }

    #[test]
    fn a_range_contains_the_addresses_with_its_prefix() {
        let check = |range: &str, within: &[&str], outside: &[&str]| {
            let parsed: AddressRange = range.parse().expect(range);
            assert_eq!(parsed.to_string(), range);
            for text in within {
                assert!(parsed.contains(address(text)), "{text} is in {range}");
            }
            for text in outside {
                assert!(!parsed.contains(address(text)), "{text} is not in {range}");
            }
        };
        check(
            "127.0.0.0/8",
            &["127.0.0.1", "127.255.255.255", "::ffff:127.0.0.1"],
            &["128.0.0.1", "126.255.255.255", "::1"],
        );
        check("192.0.2.7", &["192.0.2.7"], &["192.0.2.6", "::c000:207"]);
        check("0.0.0.0/0", &["0.0.0.0", "255.255.255.255"], &["::"]);
        check("::1", &["::1"], &["::2", "127.0.0.1"]);
        check("2001:db8::/33", &["2001:db8:7fff::1"], &["2001:db8:8000::1"]);
        check("::/0", &["ffff::"], &["10.0.0.1"]);
    }

    #[test]
    fn a_range_with_other_bits_than_its_prefix_is_refused() {
        for text in [
            "",
            "localhost",
            "10.0.0.1/8",
            "10.0.0.0/33",
            "10.0.0.0/",
            "10.0.0.0/-1",
            "2001:db8::1/64",
            "2001:db8::/129",
            "10.0.0.1:80",
        ] {
            assert_eq!(text.parse::<AddressRange>(), Err(NotAnAddressRange), "{text:?}");
        }
    }

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }
}
