//! The setting `trusted`: addresses and ranges of addresses, or `off`.

use std::fmt;
use std::str::FromStr;

use ambit_lobby::LobbyConfig;
use ambit_transport::address::AddressRange;

/// Addresses without a limit on connections per address; none for `off`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedAddresses(pub Vec<AddressRange>);

impl Default for TrustedAddresses {
    fn default() -> Self {
        Self(LobbyConfig::default().trusted)
    }
}

impl FromStr for TrustedAddresses {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "off" {
            return Ok(Self(Vec::new()));
        }
        let ranges = text.split(',').map(|part| {
            part.parse()
                .map_err(|_| format!("{part:?} is not an address or a range such as 192.0.2.0/24"))
        });
        ranges.collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for TrustedAddresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("off");
        }
        let ranges: Vec<String> = self.0.iter().map(AddressRange::to_string).collect();
        f.write_str(&ranges.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trusted_addresses_are_ranges_or_off() {
        for text in ["off", "127.0.0.0/8,::1", "192.0.2.7"] {
            let parsed: TrustedAddresses = text.parse().expect(text);
            assert_eq!(parsed.to_string(), text);
        }
        assert_eq!(TrustedAddresses::default().to_string(), "127.0.0.0/8,::1");
        for text in ["", "on", "127.0.0.1,", "127.0.0.1,off", "127.0.0.1/8"] {
            assert!(text.parse::<TrustedAddresses>().is_err(), "{text:?}");
        }
    }
}
