//! Groups: through which channels a gateway sends a token's requests, and who may use them (spec §2.1).

use std::collections::BTreeMap;
use std::fmt::{Display, Formatter};

use super::decimal::{self, Decimal};

/// Spec §2.1 `group`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Group {
    /// `""`: the group of the token's owner.
    #[default]
    Own,
    /// `auto`: the gateway chooses. The only group in which `cross_group_retry` has an effect.
    Auto,
    /// One of the configured groups.
    Named(String),
}

impl Group {
    /// From the text of the API or of the database. [`Groups`] decides whether the owner may use it.
    pub fn from_text(text: &str) -> Self {
        match text {
            "" => Self::Own,
            "auto" => Self::Auto,
            name => Self::Named(name.to_owned()),
        }
    }

    /// The text of the API and of the database.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Own => "",
            Self::Auto => "auto",
            Self::Named(name) => name,
        }
    }

    /// The name that gateways are told: this group's, or `owners` for the owner's own.
    pub fn name_or<'a>(&'a self, owners: &'a str) -> &'a str {
        match self {
            Self::Own => owners,
            Self::Auto | Self::Named(_) => self.as_str(),
        }
    }

    /// `cross_group_retry` if this group allows it, else false.
    pub const fn retry_allowed(&self, requested: bool) -> bool {
        match self {
            Self::Auto => requested,
            Self::Own | Self::Named(_) => false,
        }
    }
}

/// A factor of prices, exact: 0 to 1,000,000, with nine decimals at most. In settings and in the API it is a text, such
/// as `"0.5"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize)]
#[serde(try_from = "String")]
pub struct Ratio {
    billionths: i64,
}

/// The text is not a ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a number as text, such as \"0.5\": from 0 to 1000000, with 9 decimals at most")]
pub struct RatioInvalid;

impl Ratio {
    /// Changes no price.
    pub const ONE: Self = Self { billionths: 1_000_000_000 };

    /// A ratio in billionths.
    ///
    /// # Errors
    /// It is negative or too high.
    pub fn new(billionths: i64) -> Result<Self, RatioInvalid> {
        let range = 0..=1_000_000 * Self::ONE.billionths;
        if range.contains(&billionths) { Ok(Self { billionths }) } else { Err(RatioInvalid) }
    }

    pub const fn billionths(self) -> i64 {
        self.billionths
    }
}

impl TryFrom<String> for Ratio {
    type Error = RatioInvalid;

    fn try_from(text: String) -> Result<Self, RatioInvalid> {
        match Decimal::read(&text, 9) {
            Ok(Decimal { value, is_exact: true }) => Self::new(i64::try_from(value).map_err(|_| RatioInvalid)?),
            Ok(Decimal { is_exact: false, .. }) | Err(_) => Err(RatioInvalid),
        }
    }
}

impl Display for Ratio {
    /// A decimal without zeros at its end.
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&decimal::text(self.billionths.into(), 9))
    }
}

/// One configured group.
#[derive(Debug, Clone, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupInfo {
    /// Shown to users.
    pub description: String,
    /// By which costs are multiplied that are computed from prices, here and by gateways.
    pub ratio: Ratio,
    /// Whether costs are multiplied by it too that the answers of providers tell. Amounts that gateways send never are.
    #[serde(default)]
    pub ratio_of_told: bool,
    /// Whether every user may choose it, or only users of this group.
    #[serde(default = "everyone")]
    pub open: bool,
}

const fn everyone() -> bool {
    true
}

/// The configured groups, by name.
#[derive(Debug, Clone, Default)]
pub struct Groups(BTreeMap<String, GroupInfo>);

/// The token's owner may not use this group.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`group` must be empty, `auto`, or one of: {allowed}")]
pub struct GroupRefused {
    /// The names the owner may use.
    pub allowed: String,
}

impl Groups {
    /// From the configuration.
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

    /// All groups, by name.
    pub fn all(&self) -> impl Iterator<Item = (&str, &GroupInfo)> {
        self.0.iter().map(|(name, info)| (name.as_str(), info))
    }

    /// Returns true if a group of this name is configured. Users may only be put into such groups.
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The names of all groups, for messages.
    pub fn names(&self) -> String {
        self.0.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
    }

    /// Returns true if the token of a user of the group `own` may be used in `group`: the user may have moved to
    /// another group since the token was made.
    pub fn allow(&self, own: &str, group: &Group) -> bool {
        match group {
            Group::Own | Group::Auto => true,
            Group::Named(name) => self.0.get(name).is_some_and(|info| info.open || name == own),
        }
    }

    /// By which the prices for a token of a user of the group `own` are multiplied: the ratio of the token's group. For
    /// `auto` it is that of the user's own, because only the gateway knows which group it chose. A group that is not
    /// configured any more changes no price.
    pub fn ratio(&self, own: &str, group: &Group) -> Ratio {
        self.find(own, group).map_or(Ratio::ONE, |info| info.ratio)
    }

    /// Returns true if the ratio counts also for costs that answers tell.
    pub fn has_ratio_of_told(&self, own: &str, group: &Group) -> bool {
        self.find(own, group).is_some_and(|info| info.ratio_of_told)
    }

    fn find(&self, own: &str, group: &Group) -> Option<&GroupInfo> {
        self.0.get(match group {
            Group::Own | Group::Auto => own,
            Group::Named(name) => name,
        })
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
    use super::*;

    #[test]
    fn closed_groups_are_for_their_own_users() {
        let info = |open| GroupInfo { description: String::new(), ratio: Ratio::ONE, ratio_of_told: false, open };
        let groups = Groups::new(BTreeMap::from([("default".to_owned(), info(true)), ("vip".to_owned(), info(false))]));
        assert!(groups.admit("default", &Group::Own).is_ok());
        assert!(groups.admit("default", &Group::Auto).is_ok());
        assert!(groups.admit("vip", &Group::from_text("vip")).is_ok());
        let refused = groups.admit("default", &Group::from_text("vip")).unwrap_err();
        assert_eq!(refused.to_string(), "`group` must be empty, `auto`, or one of: default");
    }

    fn groups() -> Groups {
        let text = r#"
            [default]
            description = ""
            ratio = "1"
            [vip]
            description = ""
            ratio = "0.5"
            open = false
        "#;
        Groups::new(toml::from_str(text).unwrap())
    }

    #[test]
    fn a_configured_group_is_open_unless_it_says_otherwise() {
        let open_to = |own| groups().open_to(own).map(|(name, info)| (name.to_owned(), info.open)).collect::<Vec<_>>();
        assert_eq!(open_to("default"), [("default".to_owned(), true)]);
        assert_eq!(open_to("vip"), [("default".to_owned(), true), ("vip".to_owned(), false)]);
    }

    #[test]
    fn users_can_be_put_into_configured_groups_only() {
        assert_eq!(["default", "vip", "auto", ""].map(|name| groups().contains(name)), [true, true, false, false]);
        assert_eq!(groups().names(), "default, vip");
        let all: Vec<_> = groups().all().map(|(name, info)| (name.to_owned(), info.ratio.to_string())).collect();
        assert_eq!(all, [("default".to_owned(), "1".to_owned()), ("vip".to_owned(), "0.5".to_owned())]);
    }

    #[test]
    fn a_ratio_is_that_of_the_tokens_group_and_for_auto_that_of_its_owners() {
        let ratio = |own, group| groups().ratio(own, &Group::from_text(group)).to_string();
        assert_eq!([ratio("vip", ""), ratio("vip", "auto"), ratio("vip", "default")], ["0.5", "0.5", "1"]);
        assert_eq!([ratio("default", "vip"), ratio("default", "gone"), ratio("gone", "")], ["0.5", "1", "1"]);
    }

    #[test]
    fn a_ratio_is_exact() {
        let read = |text: &str| Ratio::try_from(text.to_owned());
        for (text, shown) in [("1", "1"), ("0.50", "0.5"), ("1e-9", "0.000000001"), ("0", "0"), ("1e6", "1000000")] {
            assert_eq!(read(text).map(|ratio| ratio.to_string()), Ok(shown.to_owned()), "{text}");
        }
        for text in ["", "-1", "1e-10", "1.0000000001", "1000000.1", "half", "9e99"] {
            assert_eq!(read(text), Err(RatioInvalid), "{text}");
        }
    }

    #[test]
    fn only_the_group_auto_retries_in_another_group() {
        let allowed = |group: Group| [true, false].map(|requested| group.retry_allowed(requested));
        assert_eq!(allowed(Group::Auto), [true, false]);
        assert_eq!(allowed(Group::Own), [false, false]);
        assert_eq!(allowed(Group::Named("vip".into())), [false, false]);
    }

    #[test]
    fn the_text_of_a_group_reads_back() {
        for (text, group) in [("", Group::Own), ("auto", Group::Auto), ("vip", Group::Named("vip".into()))] {
            assert_eq!(Group::from_text(text), group);
            assert_eq!(group.as_str(), text);
        }
    }
}
