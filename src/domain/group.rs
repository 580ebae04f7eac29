//! Groups: through which channels a gateway sends a token's requests, and who may use them (spec §2.1).

use std::collections::BTreeMap;

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
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        match text {
            "" => Self::Own,
            "auto" => Self::Auto,
            name => Self::Named(name.to_owned()),
        }
    }

    /// The text of the API and of the database.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Own => "",
            Self::Auto => "auto",
            Self::Named(name) => name,
        }
    }

    /// The name that gateways are told: this group's, or `owners` for the owner's own.
    #[must_use]
    pub fn name_or<'a>(&'a self, owners: &'a str) -> &'a str {
        match self {
            Self::Own => owners,
            Self::Auto | Self::Named(_) => self.as_str(),
        }
    }

    /// `cross_group_retry` if this group allows it, else false.
    #[must_use]
    pub const fn retry_allowed(&self, requested: bool) -> bool {
        match self {
            Self::Auto => requested,
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
    /// The price factor that gateways apply. Text, so that it stays exact (`"1"`, `"0.5"`).
    pub ratio: String,
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

    /// All groups, by name.
    pub fn all(&self) -> impl Iterator<Item = (&str, &GroupInfo)> {
        self.0.iter().map(|(name, info)| (name.as_str(), info))
    }

    /// Returns true if a group of this name is configured. Users may only be put into such groups.
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
    use super::*;

    #[test]
    fn closed_groups_are_for_their_own_users() {
        let info = |open| GroupInfo { description: String::new(), ratio: "1".into(), open };
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
        let all: Vec<_> = groups().all().map(|(name, info)| (name.to_owned(), info.ratio.clone())).collect();
        assert_eq!(all, [("default".to_owned(), "1".to_owned()), ("vip".to_owned(), "0.5".to_owned())]);
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
