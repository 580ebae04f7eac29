//! Requests of the token API, and how they become domain types (spec §4.4, §4.5, §4.7).

use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use crate::api::dialects::one_api;
use crate::api::errors::code::ErrorCode;
use crate::api::errors::failure::ApiError;
use crate::api::extract::query_flag;
use crate::api::limits::{PeriodLimitsChange, RateLimitsChange, RawLimit};
use crate::api::member_names::MemberNames;
use crate::api::other_names::{self, OtherNames};
use crate::domain::bounds;
use crate::domain::group::Group;
use crate::domain::id::TokenId;
use crate::domain::model_limits::ModelLimits;
use crate::domain::time::Lifetime;
use crate::domain::token::{RequestedQuota, Switch, TokenName, TokenNote};
use crate::domain::token_patch::{NewToken, QuotaChange, TokenPatch};

/// `model_limits`: comma-separated text, or a list.
#[derive(Debug, ToSchema)]
#[schema(value_type = String)]
pub struct Models(Vec<String>);

impl<'de> Deserialize<'de> for Models {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrList;
        impl<'de> serde::de::Visitor<'de> for TextOrList {
            type Value = Models;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a comma-separated string of names")
            }

            fn visit_str<E>(self, text: &str) -> Result<Models, E> {
                Ok(Models(vec![text.to_owned()]))
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<Models, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = list.next_element()? {
                    names.push(name);
                }
                Ok(Models(names))
            }
        }
        deserializer.deserialize_any(TextOrList)
    }
}

impl Models {
    pub fn read(&self) -> Result<ModelLimits, ApiError> {
        Ok(ModelLimits::from_names(self.0.iter().map(String::as_str))?)
    }
}

/// Declares the bodies of a creation and of an edit, which share these members of a token.
macro_rules! token_bodies {
    ($($(#[$meta:meta])* $member:ident: $type:ty,)*) => {
        /// Spec §4.4. An absent or `null` field has its default.
        #[derive(Debug, Deserialize, ToSchema)]
        pub struct CreateBody {
            /// 1 to 50 characters.
            #[schema(required)]
            name: Option<String>,
            /// Quota units, 0 to 500,000,000,000,000. 500,000 are one dollar.
            remain_quota: Option<i64>,
            $($(#[$meta])* pub(in crate::api) $member: Option<$type>,)*
            /// Clients of this family send an empty one.
            #[schema(ignore)]
            key: Option<RawLimit>,
            /// They send 1.
            #[schema(ignore)]
            status: Option<RawLimit>,
        }

        /// Spec §4.5a. An absent or `null` field keeps its value.
        #[derive(Debug, Deserialize, ToSchema)]
        pub struct UpdateBody {
            /// The token to update.
            #[schema(required)]
            id: Option<i64>,
            /// 1 to 50 characters.
            name: Option<String>,
            /// Quota units. Overwrites what is charged meanwhile; `add_quota` does not.
            remain_quota: Option<i64>,
            /// Quota units to add to `remain_quota`; negative to take some away. Not together with `remain_quota`.
            add_quota: Option<i64>,
            $($(#[$meta])* pub(in crate::api) $member: Option<$type>,)*
            /// Only with `status_only=1`: 1 enables, 2 disables. Else only 2 for a token that is enabled is refused.
            #[schema(value_type = Option<i64>)]
            status: Option<RawLimit>,
            /// That of the token, also masked; another one is refused.
            #[schema(ignore)]
            key: Option<RawLimit>,
        }

        /// What both bodies can say of a token beside its name and its quota.
        struct Members {
            $($member: Option<$type>,)*
        }

        impl CreateBody {
            fn members(self) -> Members {
                Members { $($member: self.$member,)* }
            }
        }

        impl UpdateBody {
            fn members(self) -> Members {
                Members { $($member: self.$member,)* }
            }
        }
    };
}

token_bodies! {
    /// Free text, at most 500 characters.
    note: String,
    /// Whether users of the key see the addresses of its requests (`GET /api/usage/token/requests`).
    show_addresses: bool,
    /// Unix timestamp; -1 or 0 for never.
    expired_time: i64,
    /// Only the owner's wallet limits the token.
    unlimited_quota: bool,
    /// Limits that renew every day, week and month.
    #[schema(value_type = Option<PeriodLimitsChange>)]
    period_limits: RawLimit,
    /// Limits per minute, and of open reservations.
    #[schema(value_type = Option<RateLimitsChange>)]
    rate_limits: RawLimit,
    /// Whether `model_limits` applies.
    model_limits_enabled: bool,
    /// Comma-separated names; one that ends in `*` matches every name that begins like it.
    model_limits: Models,
    /// Addresses or CIDR networks, one a line.
    allow_ips: String,
    /// The name of `model_limits` in one-api; an empty list allows every model.
    models: Models,
    /// The name of `allow_ips` in one-api.
    subnet: String,
    /// Empty, `auto`, or one of your groups.
    group: String,
    /// Only for the group `auto`.
    cross_group_retry: bool,
}

impl Members {
    /// The patch. `name` and `quota` read what is beside the members, in the order of errors.
    fn patch(
        self,
        name: impl FnOnce() -> Result<Option<TokenName>, ApiError>,
        quota: impl FnOnce() -> Result<Option<QuotaChange>, ApiError>,
    ) -> Result<TokenPatch, ApiError> {
        let (models, old) = (self.model_limits.as_ref(), self.models.as_ref());
        let (model_limits, enabled) = one_api::read_models(models, self.model_limits_enabled, old)?;
        Ok(TokenPatch {
            name: name()?,
            note: self.note.as_deref().map(TokenNote::parse).transpose()?,
            show_addresses: self.show_addresses,
            lifetime: self.expired_time.map(Lifetime::from_wire).transpose()?,
            remain_quota: quota()?,
            unlimited_quota: self.unlimited_quota,
            period_limits: PeriodLimitsChange::read(self.period_limits.as_deref())?,
            rate_limits: RateLimitsChange::read(self.rate_limits.as_deref())?,
            model_limits_enabled: enabled,
            model_limits,
            allow_ips: one_api::read_ips(self.allow_ips.as_deref(), self.subnet.as_deref())?,
            group: self.group.as_deref().map(|group| Group::from_text(group.trim())),
            cross_group_retry: self.cross_group_retry,
        })
    }
}

/// Members of a token that no request changes.
const READ_ONLY: &str = "\
    user_id masked_key imported disabled_by state state_until created_time accessed_time used_quota period_usage \
    deleted_time restorable_until";

impl MemberNames for CreateBody {
    const NOT_READ: &'static str = READ_ONLY;
    const OTHER_NAMES: &'static [OtherNames] = other_names::OF_TOKENS;
}

impl CreateBody {
    /// A key that it names. Only one of the caller's own may be there, of an object that was read.
    pub fn key(&self) -> Result<Option<String>, ApiError> {
        read_key(self.key.as_deref())
    }

    /// As [`read`](Self::read), of one of many, which names no key.
    pub fn read_without_key(self) -> Result<NewToken, ApiError> {
        match self.key()? {
            None => self.read(),
            Some(_) => Err(ApiError::new(ErrorCode::InvalidField, "`key` is made here; leave it out")),
        }
    }

    pub fn read(self) -> Result<NewToken, ApiError> {
        if self.status.as_deref().is_some_and(|status| !says_enabled(status)) {
            let message = "a token is created enabled; disable it with `status` 2 to `PUT /api/token/?status_only=1`";
            return Err(ApiError::new(ErrorCode::InvalidStatus, message));
        }
        let name = self.name.clone().unwrap_or_default();
        let (quota, unlimited) = (self.remain_quota.map(RequestedQuota::new), self.unlimited_quota.unwrap_or(false));
        let fields = self.members().patch(
            || Ok(Some(TokenName::parse(&name)?)),
            || {
                // Its range is checked before the members that follow.
                quota.map(|quota| quota.budget(unlimited)).transpose()?;
                Ok(quota.map(QuotaChange::Set))
            },
        )?;
        Ok(NewToken { name: TokenName::parse(&name)?, fields })
    }
}

impl MemberNames for UpdateBody {
    const NOT_READ: &'static str = READ_ONLY;
    const OTHER_NAMES: &'static [OtherNames] = other_names::OF_TOKENS;
}

/// What a body says that an edit does not change. It must be so already: a caller who is answered 200 believes it.
#[derive(Debug)]
pub struct Claims {
    pub id: TokenId,
    pub key: Option<String>,
    pub is_disabled: bool,
    /// One that is not accepted any more.
    pub expired_time: Option<i64>,
}

/// A `status`, whatever it was sent as: a word, or a number as it is usually written.
fn status_text(value: &RawValue) -> String {
    let text = value.get().trim_matches('"').trim().to_ascii_lowercase();
    text.parse::<f64>().map_or(text, |number| number.to_string())
}

/// Returns true if the `status` of a new token does not say that it cannot be used yet. Those of tokens that were read
/// may say that they are expired or used up.
fn says_enabled(value: &RawValue) -> bool {
    let other = ["", "null", "0", "true", "enabled", "active", "3", "expired", "4", "exhausted"];
    let text = status_text(value);
    text == "1" || other.contains(&&*text)
}

/// Returns true if a `status` says *disabled*. All else says nothing that restricts: clients send 1, or what they read.
fn says_disabled(value: &RawValue) -> bool {
    let words = "disabled inactive blocked revoked suspended paused banned false disable off locked";
    let text = status_text(value);
    text == "2" || words.split(' ').any(|word| word == text)
}

/// A `key` that is not empty.
fn read_key(value: Option<&RawValue>) -> Result<Option<String>, ApiError> {
    let key = value.map(|value| serde_json::from_str::<Option<String>>(value.get())).transpose();
    let key = key.map_err(|_| ApiError::new(ErrorCode::InvalidField, "`key` must be a string"))?;
    Ok(key.flatten().filter(|key| !key.trim().is_empty()))
}

impl UpdateBody {
    /// Takes what it says of its token that an edit does not change; `None` if that restricts nothing.
    pub fn take_claims(&mut self) -> Result<Option<Claims>, ApiError> {
        let key = read_key(self.key.as_deref())?;
        let is_disabled = self.status.as_deref().is_some_and(says_disabled);
        let expired_time = self.expired_time.take_if(|time| *time > bounds::LAST_SECOND);
        if key.is_none() && !is_disabled && expired_time.is_none() {
            return Ok(None);
        }
        Ok(Some(Claims { id: required_id(self.id)?, key, is_disabled, expired_time }))
    }

    /// Refuses a key: it cannot be that of many tokens.
    pub fn take_no_key(&self) -> Result<(), ApiError> {
        match read_key(self.key.as_deref())? {
            None => Ok(()),
            Some(_) => Err(ApiError::new(ErrorCode::InvalidField, "`key` cannot be changed; leave it out")),
        }
    }

    pub fn token_id(&self) -> Result<TokenId, ApiError> {
        required_id(self.id)
    }

    pub fn read(self) -> Result<(TokenId, TokenPatch), ApiError> {
        let id = self.id;
        let patch = self.patch()?;
        Ok((required_id(id)?, patch))
    }

    /// What changes of this token: the body names no other one, no key and no status.
    pub fn patch_of(self, id: TokenId) -> Result<TokenPatch, ApiError> {
        if self.id.is_some_and(|named| named != id.get()) {
            return Err(ApiError::new(ErrorCode::InvalidId, "`id` must be that of the path; leave it out"));
        }
        if self.status.is_some() {
            let message = "an edit changes no `status`; send it to `POST /api/admin/tokens/{id}/status`";
            return Err(ApiError::new(ErrorCode::InvalidStatus, message));
        }
        self.take_no_key()?;
        self.patch()
    }

    /// What changes, whatever token it is for.
    pub fn patch(self) -> Result<TokenPatch, ApiError> {
        let (name, set, add) = (self.name.clone(), self.remain_quota, self.add_quota);
        self.members().patch(
            || Ok(name.as_deref().map(TokenName::parse).transpose()?),
            || match (set, add) {
                (None, None) => Ok(None),
                (Some(units), None) => Ok(Some(QuotaChange::Set(RequestedQuota::new(units)))),
                (None, Some(units)) => Ok(Some(QuotaChange::Add(units))),
                (Some(_), Some(_)) => {
                    let message = "send either `remain_quota` or `add_quota`, in quota units";
                    Err(ApiError::new(ErrorCode::InvalidQuota, message))
                }
            },
        )
    }
}

/// Spec §4.5b.
#[derive(Debug, Deserialize, ToSchema)]
pub struct SwitchBody {
    /// The token to update. Not needed where the path contains it.
    id: Option<i64>,
    /// 1 enables, 2 disables.
    #[schema(required)]
    status: Option<i64>,
}

impl MemberNames for SwitchBody {
    const NOT_READ: &'static str = "unlimited_quota period_limits rate_limits model_limits_enabled model_limits";
}

impl SwitchBody {
    pub fn read(&self) -> Result<(TokenId, Switch), ApiError> {
        Ok((required_id(self.id)?, self.switch()?))
    }

    /// `None` if the body has no `status`.
    pub fn optional_switch(&self) -> Result<Option<Switch>, ApiError> {
        self.status.is_some().then(|| self.switch()).transpose()
    }

    pub fn switch(&self) -> Result<Switch, ApiError> {
        match self.status {
            Some(1) => Ok(Switch::On),
            Some(2) => Ok(Switch::Off),
            _ => Err(ApiError::new(ErrorCode::InvalidStatus, "`status` must be 1 (enable) or 2 (disable)")),
        }
    }
}

fn required_id(id: Option<i64>) -> Result<TokenId, ApiError> {
    id.map(TokenId::new).ok_or_else(|| ApiError::new(ErrorCode::MissingField, "`id` is required"))
}

/// Selects the status-only update.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct UpdateQuery {
    /// If present and not empty, `0` or `false`, only `status` of the body is read.
    status_only: Option<String>,
}

impl UpdateQuery {
    pub fn is_status_only(&self) -> bool {
        query_flag(self.status_only.as_deref())
    }
}

/// The tokens of a batch.
#[derive(Debug, Deserialize, ToSchema)]
pub struct IdsBody {
    /// Repeated ids count once.
    #[schema(required)]
    pub(in crate::api) ids: Option<Vec<i64>>,
}

impl IdsBody {
    pub fn read(self, most: usize) -> Result<Vec<TokenId>, ApiError> {
        let mut ids = self.ids.ok_or_else(|| ApiError::new(ErrorCode::MissingField, "`ids` is required"))?;
        ids.sort_unstable();
        ids.dedup();
        if ids.is_empty() || ids.len() > most {
            return Err(ApiError::new(ErrorCode::InvalidIds, format!("`ids` must have 1 to {most} entries")));
        }
        Ok(ids.into_iter().map(TokenId::new).collect())
    }
}
