//! What a token may be used for: models, addresses, group (spec §2.1).

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;

use ipnet::IpNet;

use super::policy;

/// Spec §2.1 `model_limits`: names of models, in the caller's order, none twice. Copies share the text, because a batch
/// of charges holds many.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelLimits(Arc<str>);

/// Why a list of models was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelsInvalid {
    /// Longer than a restriction would be.
    #[error("`model_limits` names more than {} models", policy::MAX_MODELS)]
    TooMany,
    /// No model is called like that.
    #[error("`model_limits` contains a name of more than {} characters", policy::MAX_MODEL_CHARS)]
    NameTooLong,
    /// Long enough to hurt everyone who shares the memory and the database with it.
    #[error("`model_limits` is longer than {} bytes", policy::MAX_LIST_BYTES)]
    TooLong,
    /// A line break, a tab, a NUL …
    #[error("`model_limits` contains control characters; separate names with commas")]
    Control,
}

impl ModelLimits {
    /// Comma-separated names; white space around them, empty and repeated ones are dropped.
    ///
    /// # Errors
    /// More names or longer names than `policy` allows, and control characters.
    pub fn parse(text: &str) -> Result<Self, ModelsInvalid> {
        Self::from_names(text.split(','))
    }

    /// The same from a list.
    ///
    /// # Errors
    /// As [`ModelLimits::parse`]; a name containing a comma counts as two.
    pub fn from_names<'a>(names: impl Iterator<Item = &'a str>) -> Result<Self, ModelsInvalid> {
        let mut seen = BTreeSet::new();
        let mut kept = Vec::new();
        for name in names.flat_map(|name| name.split(',')).map(str::trim) {
            if name.is_empty() || !seen.insert(name) {
                continue;
            }
            if name.chars().any(char::is_control) {
                return Err(ModelsInvalid::Control);
            }
            if name.chars().count() > policy::MAX_MODEL_CHARS {
                return Err(ModelsInvalid::NameTooLong);
            }
            kept.push(name);
        }
        if kept.len() > policy::MAX_MODELS {
            return Err(ModelsInvalid::TooMany);
        }
        let list = kept.join(",");
        if list.len() > policy::MAX_LIST_BYTES {
            return Err(ModelsInvalid::TooLong);
        }
        Ok(Self(list.into()))
    }

    /// As it was parsed before, and stored.
    #[must_use]
    pub fn from_stored(text: &str) -> Self {
        Self(text.into())
    }

    /// The wire's form: names with commas between.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// One name after the other.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split(',').filter(|name| !name.is_empty())
    }
}

/// Spec §2.1 `allow_ips`: addresses and networks, one a line as the owner wrote them. Empty
/// admits everyone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IpAllowlist(Arc<str>);

/// Why a list of addresses was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IpsInvalid {
    /// The entry that cannot be read; the whole list is refused for it.
    #[error("`allow_ips` contains {0:?}, which is neither an IP address nor a network in CIDR notation")]
    Entry(String),
    /// Every request of a gateway walks the list.
    #[error("`allow_ips` has more than {} entries", policy::MAX_IPS)]
    TooMany,
    /// As for models. A hundred entries stay below it; leading zeros do not.
    #[error("`allow_ips` is longer than {} bytes", policy::MAX_LIST_BYTES)]
    TooLong,
}

impl IpAllowlist {
    /// IPv4, IPv6 and CIDR, separated by newlines (commas are tolerated).
    ///
    /// # Errors
    /// The first entry that is none of these, or too many entries.
    pub fn parse(text: &str) -> Result<Self, IpsInvalid> {
        let mut kept = Vec::new();
        for entry in text.split(['\n', ',']).map(str::trim) {
            if entry.is_empty() || kept.contains(&entry) {
                continue;
            }
            if network(entry).is_none() {
                return Err(IpsInvalid::Entry(entry.chars().take(100).collect()));
            }
            if kept.len() == policy::MAX_IPS {
                return Err(IpsInvalid::TooMany);
            }
            kept.push(entry);
        }
        let list = kept.join("\n");
        if list.len() > policy::MAX_LIST_BYTES {
            return Err(IpsInvalid::TooLong);
        }
        Ok(Self(list.into()))
    }

    /// As it was parsed before, and stored.
    #[must_use]
    pub fn from_stored(text: &str) -> Self {
        Self(text.into())
    }

    /// The wire's form: one entry a line.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `ip` may use the token. An IPv4 address in IPv6 clothes is an IPv4 address.
    #[must_use]
    pub fn admits(&self, ip: IpAddr) -> bool {
        let ip = ip.to_canonical();
        self.0.is_empty() || self.0.lines().filter_map(network).any(|net| net.contains(&ip))
    }
}

/// The address that a request for a token comes from, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClientAddress {
    /// The gateway did not send it, so it is not checked.
    #[default]
    NotSent,
    /// It had to be found out and could not be: only a token without a list may be used.
    Unknown,
    /// This one.
    Known(IpAddr),
}

impl ClientAddress {
    /// Whether `list` admits a request from here.
    #[must_use]
    pub fn passes(self, list: &IpAllowlist) -> bool {
        match self {
            Self::NotSent => true,
            Self::Unknown => list.as_str().is_empty(),
            Self::Known(ip) => list.admits(ip),
        }
    }
}

/// A network in CIDR notation, or an address as the network of itself.
#[must_use]
pub fn network(entry: &str) -> Option<IpNet> {
    match entry.parse::<IpAddr>() {
        Ok(ip) => Some(IpNet::from(ip.to_canonical())),
        Err(_) => entry.parse().ok(),
    }
}

/// Spec §2.1 `group`: the channels a token's requests go through.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Group {
    /// `""`: its owner's own group.
    #[default]
    Own,
    /// `auto`: the gateway chooses; the only group in which `cross_group_retry` counts.
    Auto,
    /// One of the configured groups.
    Named(String),
}

impl Group {
    /// Reads the wire's or the database's text. Whether the owner may use it is asked of [`Groups`].
    #[must_use]
    pub fn read(text: &str) -> Self {
        match text {
            "" => Self::Own,
            "auto" => Self::Auto,
            name => Self::Named(name.to_owned()),
        }
    }

    /// The wire's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Own => "",
            Self::Auto => "auto",
            Self::Named(name) => name,
        }
    }

    /// `cross_group_retry` as far as this group allows it.
    #[must_use]
    pub const fn retry_allowed(&self, asked: bool) -> bool {
        match self {
            Self::Auto => asked,
            Self::Own | Self::Named(_) => false,
        }
    }
}

/// One configured group.
#[derive(Debug, Clone, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupInfo {
    /// Shown to users.
    pub description: String,
    /// The price factor that gateways apply, as text so that it stays exact (`"1"`, `"0.5"`).
    pub ratio: String,
    /// Whether everyone may choose it; otherwise only users who are in it.
    #[serde(default = "everyone")]
    pub open: bool,
}

const fn everyone() -> bool {
    true
}

/// The configured groups, by name.
#[derive(Debug, Clone, Default)]
pub struct Groups(BTreeMap<String, GroupInfo>);

/// The owner may not use this group.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`group` must be empty, `auto`, or one of: {allowed}")]
pub struct GroupRefused {
    /// The names the owner may use.
    pub allowed: String,
}

impl Groups {
    /// From the configuration.
    #[must_use]
    pub const fn new(groups: BTreeMap<String, GroupInfo>) -> Self {
        Self(groups)
    }

    /// The groups that a user of the group `own` may choose, by name.
    pub fn open_to<'a>(&'a self, own: &'a str) -> impl Iterator<Item = (&'a str, &'a GroupInfo)> {
        self.0
            .iter()
            .filter(move |(name, info)| info.open || name.as_str() == own)
            .map(|(name, info)| (name.as_str(), info))
    }

    /// Whether there is a group of this name: only such names may be given to users.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The names of all groups, for messages.
    #[must_use]
    pub fn names(&self) -> String {
        self.0.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
    }

    /// Returns true if the token of a user of the group `own` may be used in `group`: the user may have moved to
    /// another group since the token was made.
    #[must_use]
    pub fn allow(&self, own: &str, group: &Group) -> bool {
        match group {
            Group::Own | Group::Auto => true,
            Group::Named(name) => self.0.get(name).is_some_and(|info| info.open || name == own),
        }
    }

    /// Checks that a user of the group `own` may give `group` to a token.
    ///
    /// # Errors
    /// A group that is not configured or not open to them; the error names those that are.
    pub fn admit(&self, own: &str, group: &Group) -> Result<(), GroupRefused> {
        match group {
            group if self.allow(own, group) => Ok(()),
            _ => Err(GroupRefused { allowed: self.open_to(own).map(|(name, _)| name).collect::<Vec<_>>().join(", ") }),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ips(text: &str) -> IpAllowlist {
        IpAllowlist::parse(text).unwrap()
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn models_are_trimmed_and_not_repeated() {
        assert_eq!(ModelLimits::parse(" gpt-4o , ,o3,gpt-4o").unwrap().as_str(), "gpt-4o,o3");
        assert_eq!(ModelLimits::from_names(["a", "b,c"].into_iter()).unwrap().as_str(), "a,b,c");
        assert_eq!(ModelLimits::parse("").unwrap().names().count(), 0);
        assert_eq!(ModelLimits::parse(&"m".repeat(129)), Err(ModelsInvalid::NameTooLong));
        assert_eq!(ModelLimits::parse("a\nb"), Err(ModelsInvalid::Control));
        let many = |n: usize| (0..n).map(|i| i.to_string()).collect::<Vec<_>>().join(",");
        assert!(ModelLimits::parse(&many(1_000)).is_ok());
        assert_eq!(ModelLimits::parse(&many(1_001)), Err(ModelsInvalid::TooMany));
        let long = |names: usize| (0..names).map(|i| format!("{i:0127}")).collect::<Vec<_>>().join(",");
        assert!(ModelLimits::parse(&long(128)).is_ok());
        assert_eq!(ModelLimits::parse(&long(129)), Err(ModelsInvalid::TooLong));
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
    fn closed_groups_are_for_their_own_users() {
        let info = |open| GroupInfo { description: String::new(), ratio: "1".into(), open };
        let groups = Groups::new(BTreeMap::from([("default".to_owned(), info(true)), ("vip".to_owned(), info(false))]));
        assert!(groups.admit("default", &Group::Own).is_ok());
        assert!(groups.admit("default", &Group::Auto).is_ok());
        assert!(groups.admit("vip", &Group::read("vip")).is_ok());
        let refused = groups.admit("default", &Group::read("vip")).unwrap_err();
        assert_eq!(refused.to_string(), "`group` must be empty, `auto`, or one of: default");
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text: String) {
            let _ = (ModelLimits::parse(&text), IpAllowlist::parse(&text));
        }

        #[test]
        fn a_list_admits_just_its_networks(net: u32, bits in 0_u8..=32, asked: u32) {
            let net = std::net::Ipv4Addr::from(net);
            let list = ips(&format!("{net}/{bits}"));
            let mask = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
            let inside = u32::from(net) & mask == asked & mask;
            prop_assert_eq!(list.admits(IpAddr::from(asked.to_be_bytes())), inside);
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
