//! What is known now of a refusal: whether it is cured, and what ends it.

use serde::Serialize;
use utoipa::ToSchema;

use crate::domain::remedy::{OfferedRemedy, Outlook};
use crate::domain::time::UnixTime;
use crate::domain::user::Role;

/// What is known now of a refusal.
#[derive(Debug, Serialize, ToSchema)]
pub struct OutlookBody {
    /// The same request would pass now. Null if it would not, or if that is not known: of rates and reservations, of
    /// keys that are not valid, of a row that stands for others, and of addresses that are not stored whole.
    cured: Option<CureBody>,
    /// What lets it pass; null if it would pass, or if nothing does.
    remedy: Option<RemedyBody>,
}

/// A refused request would pass now.
#[derive(Debug, Serialize, ToSchema)]
pub struct CureBody {
    /// The last change of the key, its owner's account or the prices since the refusal, Unix timestamp; null if there
    /// was none: a limit has renewed, or the settings of the service have changed.
    at: Option<i64>,
}

/// The change that ends a refusal.
#[derive(Debug, Serialize, ToSchema)]
pub struct RemedyBody {
    /// `enable_key`, `extend_key`, `change_group`, `allow_model`, `allow_address`, `add_quota`, `raise_limit`,
    /// `add_price`, `enable_account`, `top_up_account` or `raise_account_limit`.
    action: &'static str,
    /// The member of the key or the account that is changed, such as `period_limits.day`; null for a price.
    field: Option<&'static str>,
    /// The model or the address to add.
    value: Option<String>,
    /// Who may do it at least: `owner`, `administrator` or `root`.
    by: &'static str,
    /// You may do it.
    allowed: bool,
}

impl From<Outlook> for OutlookBody {
    fn from(Outlook { cured, remedy }: Outlook) -> Self {
        let cured = cured.map(|cure| CureBody { at: cure.at.map(UnixTime::get) });
        Self { cured, remedy: remedy.map(RemedyBody::from) }
    }
}

impl From<OfferedRemedy> for RemedyBody {
    fn from(OfferedRemedy { remedy, is_allowed }: OfferedRemedy) -> Self {
        let by = match remedy.by {
            Role::User => "owner",
            Role::Admin | Role::Root => remedy.by.as_str(),
        };
        Self { action: remedy.action.as_str(), field: remedy.field, value: remedy.value, by, allowed: is_allowed }
    }
}
