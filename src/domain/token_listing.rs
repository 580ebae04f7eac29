//! Which tokens a list shows, and in which order (spec §13.1).

use super::group::{Group, Groups};
use super::ledger::StateName;
use super::order::Order;
use super::status::Status;
use crate::domain::named::named;

/// Which tokens a list shows, and in which order. The default is every token, newest first (spec §2.2).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TokenListing {
    /// Only tokens with this status.
    pub status: Option<Status>,
    /// Only tokens in this state.
    pub state: Option<StateName>,
    /// Only tokens of this group.
    pub group: Option<Group>,
    pub sort: TokenSort,
    pub order: Order,
}

named! {
    /// What tokens are ordered by. Tokens that are equal in it are ordered by id.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum TokenSort {
        #[default]
        Id = "id",
        /// In lower case, by code point.
        Name = "name",
        /// Unlimited tokens have more than any other.
        RemainQuota = "remain_quota",
        UsedQuota = "used_quota",
        AccessedTime = "accessed_time",
        /// Tokens that never expire come after all others.
        ExpiredTime = "expired_time",
    }
}

/// Why a filter or an order was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListingInvalid {
    #[error("`status` must be 1 (enabled), 2 (disabled), 3 (expired) or 4 (exhausted)")]
    Status,
    #[error("`state` must be one of: {}", StateName::ALL.map(StateName::as_str).join(", "))]
    State,
    /// Holds the names of the configured groups.
    #[error("`group` must be `own`, `auto`, or one of: {0}")]
    Group(String),
    #[error("`sort` must be `id`, `name`, `remain_quota`, `used_quota`, `accessed_time` or `expired_time`")]
    Sort,
    #[error("`order` must be `asc` or `desc`")]
    Order,
}

impl TokenListing {
    /// From the texts of the API; `None` and an empty text are the default. The group `own` stands for tokens without a
    /// group of their own.
    ///
    /// # Errors
    /// See [`ListingInvalid`].
    pub fn parse(
        [status, state, group, sort, order]: [Option<&str>; 5],
        groups: &Groups,
    ) -> Result<Self, ListingInvalid> {
        let read_status = |code: &str| Status::parse(code).ok_or(ListingInvalid::Status);
        let read_group = |name: &str| match name {
            "own" => Ok(Group::Own),
            "auto" => Ok(Group::Auto),
            name if groups.contains(name) => Ok(Group::Named(name.to_owned())),
            _ => Err(ListingInvalid::Group(groups.names())),
        };
        let read_sort = |name: &str| TokenSort::parse(name).ok_or(ListingInvalid::Sort);
        Ok(Self {
            status: given(status).map(read_status).transpose()?,
            state: given(state).map(|name| StateName::parse(name).ok_or(ListingInvalid::State)).transpose()?,
            group: given(group).map(read_group).transpose()?,
            sort: given(sort).map(read_sort).transpose()?.unwrap_or_default(),
            order: given(order)
                .map(|name| Order::parse(name).ok_or(ListingInvalid::Order))
                .transpose()?
                .unwrap_or_default(),
        })
    }

    /// Returns true if it shows every token, newest first.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// An empty parameter counts as omitted.
fn given(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::group::{GroupInfo, Ratio};
    use super::*;

    fn groups() -> Groups {
        let info = GroupInfo { description: String::new(), ratio: Ratio::ONE, ratio_of_told: false, open: true };
        Groups::new(BTreeMap::from([("default".to_owned(), info.clone()), ("vip".to_owned(), info)]))
    }

    fn parse([status, group, sort, order]: [&str; 4]) -> Result<TokenListing, ListingInvalid> {
        TokenListing::parse([status, "", group, sort, order].map(Some), &groups())
    }

    #[test]
    fn omitted_and_empty_parameters_list_every_token_newest_first() {
        let nothing = TokenListing::parse([None; 5], &groups());
        assert_eq!(nothing, Ok(TokenListing::default()));
        assert_eq!(parse(["", "", "", ""]), nothing);
        assert_eq!(parse(["", "", "id", "desc"]), nothing);
        assert!(nothing.unwrap().is_default());
        for other in [["1", "", "", ""], ["", "own", "", ""], ["", "", "name", ""], ["", "", "", "asc"]] {
            assert!(!parse(other).unwrap().is_default(), "{other:?}");
        }
    }

    #[test]
    fn a_state_is_one_of_those_that_lists_show() {
        let of_state = |name| TokenListing::parse([None, Some(name), None, None, None], &groups());
        for state in StateName::ALL {
            assert_eq!(of_state(state.as_str()).unwrap().state, Some(state));
        }
        assert_eq!(of_state("broken"), Err(ListingInvalid::State));
        assert!(!of_state("working").unwrap().is_default());
    }

    #[test]
    fn each_parameter_has_its_values_and_a_sentence_that_names_it() {
        for (text, status) in
            [("1", Status::Enabled), ("2", Status::Disabled), ("3", Status::Expired), ("4", Status::QuotaExhausted)]
        {
            assert_eq!(parse([text, "", "", ""]).unwrap().status, Some(status));
        }
        for (text, group) in [("own", Group::Own), ("auto", Group::Auto), ("vip", Group::Named("vip".into()))] {
            assert_eq!(parse(["", text, "", ""]).unwrap().group, Some(group));
        }
        for name in ["id", "name", "remain_quota", "used_quota", "accessed_time", "expired_time"] {
            assert_eq!(parse(["", "", name, ""]).unwrap().sort.as_str(), name);
        }
        assert_eq!(parse(["", "", "", "asc"]).unwrap().order, Order::Ascending);
        for (texts, member) in [
            (["5", "", "", ""], "`status`"),
            (["enabled", "", "", ""], "`status`"),
            (["", "gold", "", ""], "`group`"),
            (["", "", "key", ""], "`sort`"),
            (["", "", "", "up"], "`order`"),
        ] {
            let message = parse(texts).unwrap_err().to_string();
            assert!(message.starts_with(member), "{message}");
        }
        assert_eq!(
            parse(["", "gold", "", ""]).unwrap_err().to_string(),
            "`group` must be `own`, `auto`, or one of: default, vip"
        );
    }
}
