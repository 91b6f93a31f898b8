//! Bans of the whole server: who may not play, or not chat, why, and until when.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

use ambit_proto::ids::AccountId;
use cidr::IpCidr;

use crate::database::Value;

/// Prefixes of networks at least: a shorter one by mistake would bar a whole country.
const MIN_IPV4_PREFIX: u8 = 16;
const MIN_IPV6_PREFIX: u8 = 32;
/// What one subscriber has: of an IPv6 address no more than this counts.
const MAX_IPV6_PREFIX: u8 = 64;

/// Whom a ban is for. As text: `account:` and 32 hexadecimal digits, `name:` and a player's name,
/// or `address:` and an address or a network.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BanTarget {
    /// An account, from any address.
    Account(AccountId),
    /// Who comes with this name, or one that looks like it.
    Name(String),
    /// Who comes from there: IPv4 addresses, or networks of IPv6 with a prefix of 64 bits or less.
    Network(IpCidr),
}

/// What a ban bars from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BanScope {
    /// From the server.
    Play,
    /// From chat: a mute.
    Chat,
}

/// Why, and until when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BanTerm {
    /// For the player.
    pub reason: String,
    /// In seconds since 1970; `None` if it has no end.
    pub ends_at: Option<i64>,
}

/// A ban of the whole server. (Rooms have bans of their own.)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerBan {
    /// Whom it is for.
    pub target: BanTarget,
    /// What it bars from.
    pub scope: BanScope,
    /// Why, and until when.
    pub term: BanTerm,
    /// Of its making.
    pub note: BanNote,
}

/// What operators read about the making of a ban. It bars by none of this.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BanNote {
    /// When, in seconds since 1970; set when it is stored.
    pub made_at: i64,
    /// The operator, by the name of the key; empty if it was made in a shell.
    pub made_by: String,
    /// The name of the player whom it was made for; empty if that is not known.
    pub player: String,
}

/// Not a [`BanTarget`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidBanTarget(String);

impl BanTarget {
    /// The address itself, or the network of an IPv6 address.
    pub fn of_address(address: IpAddr) -> Self {
        let network = match address.to_canonical() {
            IpAddr::V4(address) => IpCidr::new_host(IpAddr::V4(address)),
            IpAddr::V6(address) => subscriber_of(address),
        };
        Self::Network(network)
    }

    /// An address, or a network such as `192.0.2.0/24`.
    pub fn parse_network(text: &str) -> Result<Self, InvalidBanTarget> {
        if let Ok(address) = text.parse() {
            return Ok(Self::of_address(address));
        }
        let expected = "expected an address such as 192.0.2.7, or a network such as 192.0.2.0/24 \
                        or 2001:db8::/64";
        let network: IpCidr = text.parse().map_err(|_| InvalidBanTarget(expected.to_owned()))?;
        let (network, min) = match network {
            IpCidr::V4(_) => (network, MIN_IPV4_PREFIX),
            IpCidr::V6(known) if known.network_length() > MAX_IPV6_PREFIX => {
                (subscriber_of(known.first_address()), MIN_IPV6_PREFIX)
            }
            IpCidr::V6(_) => (network, MIN_IPV6_PREFIX),
        };
        if network.network_length() < min {
            let problem = format!("{network} is too large: at least /{min} is expected");
            return Err(InvalidBanTarget(problem));
        }
        Ok(Self::Network(network))
    }

    /// For the tables.
    pub(crate) fn key(&self) -> [Value; 2] {
        match self {
            Self::Account(account) => [1.into(), account.0[..].into()],
            Self::Name(name) => [2.into(), name.as_bytes().into()],
            Self::Network(network) => [3.into(), network.to_string().as_bytes().into()],
        }
    }
}

impl fmt::Display for BanTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Account(account) => write!(f, "account:{account}"),
            Self::Name(name) => write!(f, "name:{name}"),
            Self::Network(network) => write!(f, "address:{network}"),
        }
    }
}

impl FromStr for BanTarget {
    type Err = InvalidBanTarget;

    /// An account needs no `account:`.
    fn from_str(text: &str) -> Result<Self, InvalidBanTarget> {
        if let Some(name) = text.strip_prefix("name:") {
            return Ok(Self::Name(name.to_owned()));
        }
        if let Some(network) = text.strip_prefix("address:") {
            return Self::parse_network(network);
        }
        let account = text.strip_prefix("account:").unwrap_or(text);
        let expected = "expected `account:` and 32 hexadecimal digits, `name:` and a name, or \
                        `address:` and an address";
        account.parse().map(Self::Account).map_err(|_| InvalidBanTarget(expected.to_owned()))
    }
}

impl BanScope {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Play, Self::Chat];

    /// As operators write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Play => "play",
            Self::Chat => "chat",
        }
    }

    pub(crate) fn number(self) -> i64 {
        match self {
            Self::Play => 1,
            Self::Chat => 2,
        }
    }
}

impl BanTerm {
    /// Whether it has ended.
    pub fn is_over(&self, now: i64) -> bool {
        self.ends_at.is_some_and(|end| end <= now)
    }
}

fn subscriber_of(address: Ipv6Addr) -> IpCidr {
    let first = Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX));
    IpCidr::new(IpAddr::V6(first), MAX_IPV6_PREFIX).expect("the other bits are zero")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_read_as_it_is_shown() {
        let check = |text: &str, shown: &str| {
            let target: BanTarget = text.parse().expect(text);
            assert_eq!(target.to_string(), shown);
            assert_eq!(shown.parse(), Ok(target));
        };
        let account = "07".repeat(16);
        check(&account, &format!("account:{account}"));
        check("name:ann", "name:ann");
        check("address:192.0.2.7", "address:192.0.2.7");
        check("address:::ffff:192.0.2.7", "address:192.0.2.7");
        check("address:192.0.0.0/16", "address:192.0.0.0/16");
        check("address:2001:db8::7", "address:2001:db8::/64");
        check("address:2001:db8::/96", "address:2001:db8::/64");
        check("address:2001:db8::/32", "address:2001:db8::/32");
        for wrong in
            ["", "ann", "address:", "address:10.0.0.0/8", "address:::/0", "address:10.0.0.1/16"]
        {
            assert!(wrong.parse::<BanTarget>().is_err(), "{wrong:?}");
        }
    }
}
