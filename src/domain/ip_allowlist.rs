//! From which addresses a token may be used (spec §2.1).

use std::net::IpAddr;
use std::sync::Arc;

use ipnet::{IpNet, Ipv4Net};

use super::bounds;

/// Spec §2.1 `allow_ips`: the networks that requests may come from. An empty list admits every address.
#[derive(Debug, Clone, Default)]
pub struct IpAllowlist {
    /// One entry a line, as the owner wrote it.
    text: Arc<str>,
    networks: Arc<[IpNet]>,
}

/// Why a list of addresses was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IpsInvalid {
    /// One entry cannot be read; the whole list is refused.
    #[error("`allow_ips` contains {0:?}, which is neither an IP address nor a network in CIDR notation")]
    Entry(String),
    /// More than [`bounds::MAX_IPS`] entries: every request of a gateway compares all of them.
    #[error("`allow_ips` has more than {} entries", bounds::MAX_IPS)]
    TooMany,
}

impl IpAllowlist {
    /// IPv4, IPv6 and CIDR, separated by newlines (commas are tolerated). Empty and repeated entries are dropped.
    ///
    /// # Errors
    /// The first entry that cannot be read; too many entries.
    pub fn parse(text: &str) -> Result<Self, IpsInvalid> {
        let (mut entries, mut networks) = (Vec::new(), Vec::new());
        for entry in text.split(['\n', ',']).map(str::trim) {
            if entry.is_empty() || entries.contains(&entry) {
                continue;
            }
            let Some(network) = network(entry) else {
                return Err(IpsInvalid::Entry(entry.chars().take(100).collect()));
            };
            if entries.len() == bounds::MAX_IPS {
                return Err(IpsInvalid::TooMany);
            }
            entries.push(entry);
            networks.push(network);
        }
        Ok(Self { text: entries.join("\n").into(), networks: networks.into() })
    }

    /// The form of the API and of the database: one entry a line.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Each entry as it is written.
    pub fn entries(&self) -> impl Iterator<Item = &str> {
        self.text.lines()
    }

    /// Returns true if no address is refused.
    pub fn is_empty(&self) -> bool {
        self.networks.is_empty()
    }

    /// Returns true if a request from `ip` is allowed. An IPv4-mapped IPv6 address is compared as IPv4.
    pub fn admits(&self, ip: IpAddr) -> bool {
        let ip = ip.to_canonical();
        self.is_empty() || self.networks.iter().any(|network| network.contains(&ip))
    }

    /// The memory that the list takes, in bytes.
    pub fn size(&self) -> usize {
        self.text.len() + size_of_val(&*self.networks)
    }
}

impl PartialEq for IpAllowlist {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for IpAllowlist {}

/// The address that a request for a token comes from, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClientAddress {
    /// The gateway did not send it: the list is not applied.
    #[default]
    NotSent,
    /// It could not be determined: only a token without a list may be used.
    Unknown,
    /// This address.
    Known(IpAddr),
}

impl ClientAddress {
    /// Returns true if `list` allows a request from this address.
    pub fn passes(self, list: &IpAllowlist) -> bool {
        match self {
            Self::NotSent => true,
            Self::Unknown => list.is_empty(),
            Self::Known(ip) => list.admits(ip),
        }
    }

    /// The address, if there is one.
    pub const fn known(self) -> Option<IpAddr> {
        match self {
            Self::Known(ip) => Some(ip),
            Self::NotSent | Self::Unknown => None,
        }
    }
}

/// A network in CIDR notation, or an address as the network of itself, as it is compared.
pub fn network(entry: &str) -> Option<IpNet> {
    if let Ok(ip) = entry.parse::<IpAddr>() {
        return Some(IpNet::from(ip.to_canonical()));
    }
    entry.parse().ok().map(canonical)
}

/// A network as it is compared: one of IPv4-mapped addresses is the IPv4 network that it means.
pub fn canonical(net: IpNet) -> IpNet {
    let IpNet::V6(v6) = net else { return net };
    let mapped = v6.network().to_ipv4_mapped().zip(v6.prefix_len().checked_sub(MAPPED_PREFIX));
    mapped.and_then(|(ip, prefix)| Ipv4Net::new(ip, prefix).ok()).map_or(net, IpNet::V4)
}

/// The bits of `::ffff:0:0/96`, the network of IPv4-mapped addresses.
const MAPPED_PREFIX: u8 = 96;

/// An address as proxies and gateways write it: bare or in brackets, with or without a port or a zone.
pub fn address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bare = match text.strip_prefix('[') {
        Some(rest) => {
            let (bare, port) = rest.split_once(']')?;
            let is_port = port.is_empty() || port.strip_prefix(':').is_some_and(is_port);
            // Only an IPv6 address is in brackets.
            is_port.then_some(bare).filter(|bare| bare.contains(':'))?
        }
        None => match text.split_once(':') {
            Some((ip, port)) if ip.contains('.') && is_port(port) => ip,
            Some(_) | None => text,
        },
    };
    let bare = match bare.split_once('%') {
        Some((ip, zone)) if ip.contains(':') && !zone.is_empty() => ip,
        Some(_) | None => bare,
    };
    bare.parse().ok().map(|ip: IpAddr| ip.to_canonical())
}

fn is_port(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ips(text: &str) -> IpAllowlist {
        IpAllowlist::parse(text).unwrap()
    }

    #[test]
    fn an_address_is_read_as_proxies_and_gateways_write_it() {
        for (text, ip) in [
            ("203.0.113.7", "203.0.113.7"),
            (" 203.0.113.7 ", "203.0.113.7"),
            ("203.0.113.7:61598", "203.0.113.7"),
            ("203.0.113.7:0", "203.0.113.7"),
            ("[2001:db8::7]", "2001:db8::7"),
            ("[2001:db8::7]:443", "2001:db8::7"),
            ("2001:db8::7", "2001:db8::7"),
            ("fe80::1%eth0", "fe80::1"),
            ("[fe80::1%25eth0]:443", "fe80::1"),
            ("::ffff:203.0.113.7", "203.0.113.7"),
            ("[::ffff:203.0.113.7]:61598", "203.0.113.7"),
        ] {
            assert_eq!(address(text), Some(ip.parse().unwrap()), "{text}");
        }
        for text in [
            "",
            ":",
            "203.0.113",
            "203.0.113.7:",
            "203.0.113.7:x",
            "203.0.113.7:+1",
            "203.0.113.7:65536",
            "203.0.113.7:1:2",
            "[203.0.113.7]:1",
            "[2001:db8::7",
            "[2001:db8::7]443",
            "[2001:db8::7]:65536",
            "2001:db8::7]:1",
            "203.0.113.7%eth0",
            "fe80::1%",
            "unknown",
            "_hidden",
            "203.0.113.7, 10.0.0.1",
            "10.0.0.0/8",
        ] {
            assert_eq!(address(text), None, "{text}");
        }
    }

    #[test]
    fn a_network_of_mapped_addresses_is_the_ipv4_network_that_it_means() {
        for (entry, means) in [
            ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
            ("::ffff:a00:0/104", "10.0.0.0/8"),
            ("::ffff:0:0/96", "0.0.0.0/0"),
            ("::ffff:192.0.2.1/128", "192.0.2.1/32"),
            ("2001:db8::/32", "2001:db8::/32"),
            ("::/0", "::/0"),
            ("10.0.0.0/8", "10.0.0.0/8"),
        ] {
            assert_eq!(network(entry), Some(means.parse().unwrap()), "{entry}");
        }
        let list = ips("::ffff:10.0.0.0/104");
        assert!(list.admits("10.1.2.3".parse().unwrap()) && list.admits("::ffff:10.1.2.3".parse().unwrap()));
        assert!(!list.admits("11.1.2.3".parse().unwrap()));
        assert_eq!(list.as_str(), "::ffff:10.0.0.0/104", "as it was written");
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn one_bad_entry_refuses_the_list_with_its_text() {
        assert_eq!(ips(" 10.0.0.1 \n\n192.168.0.0/16,::1 ").as_str(), "10.0.0.1\n192.168.0.0/16\n::1");
        for bad in ["localhost", "10.0.0.0/33", "10.0.0", "1.2.3.4/", "::1/129", "fe80::1%eth0"] {
            let list = format!("10.0.0.1\n{bad}");
            assert_eq!(IpAllowlist::parse(&list), Err(IpsInvalid::Entry(bad.into())));
        }
        let many = |n: usize| (0..n).map(|i| format!("10.0.0.{i}")).collect::<Vec<_>>().join("\n");
        assert!(IpAllowlist::parse(&many(100)).is_ok());
        assert_eq!(IpAllowlist::parse(&many(101)), Err(IpsInvalid::TooMany));
    }

    #[test]
    fn addresses_are_admitted_by_address_and_by_network() {
        let list = ips("10.1.2.3/8\n2001:db8::/32\n192.0.2.7");
        for inside in ["10.255.0.1", "2001:db8::9", "192.0.2.7", "::ffff:192.0.2.7"] {
            assert!(list.admits(ip(inside)), "{inside}");
        }
        for outside in ["11.0.0.1", "2001:db9::", "192.0.2.8", "::1"] {
            assert!(!list.admits(ip(outside)), "{outside}");
        }
        assert!(IpAllowlist::default().admits(ip("203.0.113.9")));
        assert!(ips("::ffff:192.0.2.7").admits(ip("192.0.2.7")));
    }

    #[test]
    fn the_memory_of_a_list_is_that_of_its_text_and_its_networks() {
        assert_eq!(IpAllowlist::default().size(), 0);
        assert_eq!(ips("10.0.0.1").size(), "10.0.0.1".len() + size_of::<IpNet>());
        assert_eq!(ips("10.0.0.1,::1").size(), "10.0.0.1\n::1".len() + 2 * size_of::<IpNet>());
    }

    #[test]
    fn lists_are_equal_if_their_texts_are() {
        assert_eq!(ips("10.0.0.1,::1"), ips("10.0.0.1\n::1"));
        assert_ne!(ips("10.0.0.1"), ips("10.0.0.2"));
    }

    #[test]
    fn an_unknown_address_passes_only_an_empty_list_and_one_that_was_not_sent_passes_any() {
        let (none, list) = (IpAllowlist::default(), ips("10.0.0.0/8"));
        let passes = |address: ClientAddress| [address.passes(&none), address.passes(&list)];
        assert_eq!(passes(ClientAddress::NotSent), [true, true]);
        assert_eq!(passes(ClientAddress::Unknown), [true, false]);
        assert_eq!(passes(ClientAddress::Known(ip("10.0.0.1"))), [true, true]);
        assert_eq!(passes(ClientAddress::Known(ip("11.0.0.1"))), [true, false]);
    }

    proptest! {
        #[test]
        fn parsing_any_text_returns_a_list_or_an_error(text: String) {
            let _ = IpAllowlist::parse(&text);
        }

        #[test]
        fn a_list_admits_just_its_networks(net: u32, bits in 0_u8..=32, address: u32) {
            let net = std::net::Ipv4Addr::from(net);
            let list = ips(&format!("{net}/{bits}"));
            let mask = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
            let inside = u32::from(net) & mask == address & mask;
            prop_assert_eq!(list.admits(IpAddr::from(address.to_be_bytes())), inside);
        }

        #[test]
        fn a_parsed_list_reads_back_the_same(entries in prop::collection::vec(any::<IpAddr>(), 0..20)) {
            let text = entries.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ,\n");
            let list = ips(&text);
            prop_assert_eq!(&IpAllowlist::parse(list.as_str()).unwrap(), &list);
            for entry in entries {
                prop_assert!(list.admits(entry));
            }
        }
    }
}
