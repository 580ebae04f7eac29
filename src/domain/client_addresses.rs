//! Which addresses of end clients are stored with requests. Lists of allowed addresses are checked in any case.

use std::net::IpAddr;

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// The setting `usage.client_addresses`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClientAddresses {
    #[default]
    Full,
    /// The /24 of an IPv4 address, the /48 of an IPv6 address: what a provider or a company has.
    Networks,
    None,
}

/// An address or a network, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAddress(String);

impl ClientAddresses {
    /// What is stored of an address.
    pub fn stored(self, ip: IpAddr) -> Option<StoredAddress> {
        match self {
            Self::Full => Some(StoredAddress(ip.to_string())),
            Self::Networks => network(ip).map(|network| StoredAddress(network.to_string())),
            Self::None => None,
        }
    }

    /// What may be stored again of an address that was stored under another setting.
    pub fn stored_again(self, stored: StoredAddress) -> Option<StoredAddress> {
        match self {
            // As it is: every charge passes here.
            Self::Full => Some(stored),
            Self::Networks => stored.ip().map_or(Some(stored), |ip| self.stored(ip)),
            Self::None => None,
        }
    }
}

/// The /24 of an IPv4 address, the /48 of an IPv6 address.
pub(super) fn network(ip: IpAddr) -> Option<IpNet> {
    let network = match ip {
        IpAddr::V4(ip) => Ipv4Net::new(ip, 24).map(IpNet::V4),
        IpAddr::V6(ip) => Ipv6Net::new(ip, 48).map(IpNet::V6),
    };
    network.ok().map(|network| network.trunc())
}

impl StoredAddress {
    /// Of a row.
    pub const fn from_stored(text: String) -> Self {
        Self(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The address; `None` for a network.
    pub fn ip(&self) -> Option<IpAddr> {
        self.0.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_stored_whole_as_its_network_or_not_at_all() {
        let table = [
            (ClientAddresses::Full, "203.0.113.77", Some("203.0.113.77")),
            (ClientAddresses::Full, "2001:db8:1:2::3", Some("2001:db8:1:2::3")),
            (ClientAddresses::Networks, "203.0.113.77", Some("203.0.113.0/24")),
            (ClientAddresses::Networks, "2001:db8:1:2::3", Some("2001:db8:1::/48")),
            (ClientAddresses::None, "203.0.113.77", None),
        ];
        for (setting, ip, stored) in table {
            let found = setting.stored(ip.parse().unwrap());
            assert_eq!(found.as_ref().map(StoredAddress::as_str), stored, "{setting:?} {ip}");
            assert_eq!(found.and_then(|found| found.ip()).is_some(), setting == ClientAddresses::Full);
        }
    }

    #[test]
    fn an_address_that_was_stored_whole_is_cut_when_it_is_stored_again() {
        use ClientAddresses::{Full, Networks, None as Nothing};
        for (before, now, again) in [
            (Full, Full, Some("203.0.113.77")),
            (Full, Networks, Some("203.0.113.0/24")),
            (Full, Nothing, None),
            (Networks, Full, Some("203.0.113.0/24")),
            (Networks, Nothing, None),
        ] {
            let stored = before.stored("203.0.113.77".parse().unwrap()).unwrap();
            let found = now.stored_again(stored);
            assert_eq!(found.as_ref().map(StoredAddress::as_str), again, "{before:?} {now:?}");
        }
    }
}
