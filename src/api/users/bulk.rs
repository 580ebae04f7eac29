//! Many users in one call, all or none (spec §10.7).

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::errors::BulkErrors;
use super::requests::status;
use crate::api::auth::Admin;
use crate::api::envelope::Envelope;
use crate::api::errors::code::ErrorCode;
use crate::api::errors::fails::Fails;
use crate::api::errors::failure::ApiError;
use crate::api::idempotency_key::{IdempotencyErrors, IdempotencyKeyHeader, Keyed};
use crate::api::ledger::requests::UsdText;
use crate::api::limits::{PeriodLimitsBody, PeriodLimitsChange, RawLimit};
use crate::api::member_names::{CheckedJson, MemberNames};
use crate::api::other_names::{self, OtherNames};
use crate::api::state::AppState;
use crate::domain::bulk_users::{self, BulkChange, ChosenUser, UserBulk};
use crate::domain::id::UserId;
use crate::domain::idempotency_key::Idempotent;
use crate::domain::period_limits::PeriodLimitsPatch;
use crate::domain::user::{User, UserPatch};
use crate::domain::{text, top_up_file};
use crate::service::users::{ChangedUser, ChangedUsers, UndoRequest};

/// Which users to change, by exactly one of `ids`, `usernames` and `csv`, and how. What is left out stays as it is.
#[derive(Deserialize, ToSchema)]
pub struct BulkUsersBody {
    /// 1 to 1,000 ids, each once.
    ids: Option<Vec<i64>>,
    /// 1 to 1,000 usernames, each once, in any case.
    usernames: Option<Vec<String>>,
    /// 1 to 1,000 lines `user,usd` or `user,usd,note`, each with the dollars to add to this wallet. A header line is
    /// skipped.
    csv: Option<String>,
    /// Quota units to add to each wallet; negative to take some away. Not with `csv`.
    add_quota: Option<i64>,
    /// Dollars to add to each wallet, instead of `add_quota`.
    usd: Option<UsdText>,
    /// Limits of all tokens of a user together. Members that are left out keep their value.
    #[schema(value_type = Option<PeriodLimitsChange>)]
    period_limits: Option<RawLimit>,
    /// One of the configured groups.
    group: Option<String>,
    /// 1 enables, 2 disables.
    status: Option<i64>,
    /// Why, for the audit log; at most 100 characters. A note of `csv` comes before it.
    note: Option<String>,
    /// True to change nothing, and to answer what would be changed.
    dry_run: Option<bool>,
    /// Takes back what a call added: `data.undo` of its answer. Only with `ids`, `note` and `dry_run`.
    undo: Option<String>,
}

impl MemberNames for BulkUsersBody {
    const OTHER_NAMES: &'static [OtherNames] = other_names::OF_USERS;
}

impl BulkUsersBody {
    fn read(self) -> Result<UserBulk, ApiError> {
        let note = text::label("note", self.note.as_deref().unwrap_or_default())?;
        let is_dry_run = self.dry_run.unwrap_or(false);
        let amount = self.amount()?;
        let period_limits = PeriodLimitsChange::read(self.period_limits.as_deref())?;
        let status = self.status.map(status).transpose()?;
        let fields = UserPatch { group: self.group, period_limits, ..UserPatch::default() };
        let has_fields = fields.group.is_some() || status.is_some() || period_limits != PeriodLimitsPatch::default();
        let undo = self.undo.filter(|batch| !batch.is_empty());
        let is_undo = undo.is_some();
        let change = match undo {
            Some(batch) => BulkChange::Undo(batch),
            None => BulkChange::Edit { fields, status },
        };
        let has_csv = self.csv.is_some();
        if is_undo && (has_csv || amount.is_some() || has_fields) {
            let message = "`undo` takes back what was added, and changes nothing else; send it with `ids`";
            return Err(ApiError::new(ErrorCode::InvalidField, message));
        }
        if has_csv && amount.is_some() {
            let message = "each line of `csv` has its own amount; leave `add_quota` and `usd` out";
            return Err(ApiError::new(ErrorCode::AmbiguousAmount, message));
        }
        if !is_undo && !has_csv && amount.is_none() && !has_fields {
            let message = "say what to change: `add_quota`, `usd`, `period_limits`, `group` or `status`";
            return Err(ApiError::new(ErrorCode::MissingField, message));
        }
        let mut chosen = choose(self.ids, self.usernames, self.csv, amount.unwrap_or(0))?;
        for one in chosen.iter_mut().filter(|one| one.note.is_empty()) {
            one.note.clone_from(&note);
        }
        Ok(UserBulk { chosen, change, is_dry_run })
    }

    fn amount(&self) -> Result<Option<i64>, ApiError> {
        match (self.add_quota, &self.usd) {
            (units, None) => Ok(units),
            (None, Some(usd)) => match usd.quota() {
                Ok(quota) => Ok(Some(quota.get())),
                Err(invalid) => Err(ApiError::new(ErrorCode::InvalidUsd, format!("`usd` {invalid}"))),
            },
            (Some(_), Some(_)) => {
                Err(ApiError::new(ErrorCode::AmbiguousAmount, "send either `add_quota` or `usd`, not both"))
            }
        }
    }
}

/// The accounts that are chosen in one of these ways, with `add` for each wallet.
fn choose(
    ids: Option<Vec<i64>>,
    usernames: Option<Vec<String>>,
    csv: Option<String>,
    add: i64,
) -> Result<Vec<ChosenUser>, ApiError> {
    match (ids, usernames, csv) {
        (Some(ids), None, None) => Ok(bulk_users::by_ids(&ids, add)?),
        (None, Some(names), None) => Ok(bulk_users::by_names(&names, add)?),
        (None, None, Some(file)) => Ok(top_up_file::read(&file)?),
        (None, None, None) => {
            Err(ApiError::new(ErrorCode::MissingField, "say whom to change: `ids`, `usernames` or `csv`"))
        }
        _ => Err(ApiError::new(ErrorCode::InvalidUsers, "send only one of `ids`, `usernames` and `csv`")),
    }
}

/// What became of the users, or what would.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChangedUsersBody {
    /// True if nothing was changed.
    dry_run: bool,
    /// In the order in which they were chosen.
    users: Vec<ChangedUserBody>,
    /// The body of a call that takes back what was added; null if nothing was.
    undo: Option<UndoBody>,
}

/// A user before and after a change.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChangedUserBody {
    /// User ID.
    id: i64,
    /// The name to sign in with.
    username: String,
    /// Null if the request was carried out before.
    before: Option<UserStateBody>,
    after: UserStateBody,
}

/// What many users can be changed in.
#[derive(Debug, Serialize, ToSchema)]
pub struct UserStateBody {
    /// The wallet, in quota units.
    quota: i64,
    /// Limits of all its tokens together.
    period_limits: PeriodLimitsBody,
    /// The group of its tokens that name no other group.
    group: String,
    /// 1 enabled, 2 disabled.
    status: i16,
}

/// The body of a call that takes back what another one added.
#[derive(Debug, Serialize, ToSchema)]
pub struct UndoBody {
    /// The users to whose wallets something was added.
    ids: Vec<i64>,
    /// The name of the call.
    undo: String,
}

impl ChangedUsersBody {
    fn new(changed: ChangedUsers, dry_run: bool) -> Self {
        let ChangedUsers { users, undo } = changed;
        Self { dry_run, users: users.into_iter().map(Into::into).collect(), undo: undo.map(Into::into) }
    }
}

impl From<ChangedUser> for ChangedUserBody {
    fn from(ChangedUser { before, after }: ChangedUser) -> Self {
        let username = after.username.as_str().to_owned();
        Self { id: after.id.get(), username, before: before.map(Into::into), after: after.into() }
    }
}

impl From<User> for UserStateBody {
    fn from(user: User) -> Self {
        Self {
            quota: user.wallet.remain().get(),
            period_limits: user.wallet.period_limits.into(),
            group: user.group,
            status: user.status.code(),
        }
    }
}

impl From<UndoRequest> for UndoBody {
    fn from(UndoRequest { ids, batch }: UndoRequest) -> Self {
        Self { ids: ids.into_iter().map(UserId::get).collect(), undo: batch }
    }
}

/// Change up to 1,000 users, all or none: top up, limit, group, enable, disable; or take top-ups back.
#[utoipa::path(post, path = "/api/admin/users/bulk", operation_id = "change_users", tag = "administration",
    params(IdempotencyKeyHeader), request_body = BulkUsersBody,
    responses((status = 200, body = Envelope<ChangedUsersBody>)))]
pub async fn change(
    State(app): State<Arc<AppState>>,
    Admin(admin): Admin,
    Keyed(request, CheckedJson(body)): Keyed<CheckedJson<BulkUsersBody>>,
) -> Result<Idempotent<Envelope<ChangedUsersBody>>, Fails<(BulkErrors, IdempotencyErrors)>> {
    let bulk = body.read()?;
    let changed = app.users.change_all(&admin, &bulk, request.as_ref()).await?;
    Ok(changed.map(|changed| Envelope::of(ChangedUsersBody::new(changed, bulk.is_dry_run))))
}
