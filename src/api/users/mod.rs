//! Accounts: a user's own account, and all accounts for administrators.

pub mod bulk;
mod errors;
mod requests;
mod responses;
mod role;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;

use self::errors::{CreateErrors, EditErrors, EditOwnErrors};
use self::requests::{GrantBody, NewUserBody, SelfBody, UserFilterQuery, UserPatchBody};
use self::responses::GroupBody;
pub use self::responses::UserBody;
use super::auth::{Admin, SignedIn};
use super::envelope::{Done, Envelope};
use super::extract::{Id, Query};
use super::idempotency_key::{IdempotencyErrors, IdempotencyKeyHeader, Keyed};
use super::member_names::CheckedJson;
use super::page::{KeywordQuery, PageBody, PageQuery};
use super::state::AppState;
use crate::api::errors::code::codes::{
    InvalidFilter, InvalidQuota, InvalidSearch, InvalidText, NotFound, OwnAccount, RoleTooLow,
};
use crate::api::errors::fails::Fails;
use crate::api::errors::failure::ApiError;
use crate::domain::audit::Actor;
use crate::domain::id::UserId;
use crate::domain::idempotency_key::Idempotent;
use crate::domain::text;

/// Your account.
#[utoipa::path(get, path = "/api/user/self", operation_id = "show_self", tag = "accounts",
    responses((status = 200, body = Envelope<UserBody>)))]
pub async fn show_own(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
) -> Result<Envelope<UserBody>, Fails<NotFound>> {
    let user = app.users.show_own(&caller).await?;
    Ok(Envelope::of(UserBody::new(user, &app)))
}

/// Change your display name, e-mail address or password.
#[utoipa::path(put, path = "/api/user/self", operation_id = "edit_self", tag = "accounts", request_body = SelfBody,
    responses((status = 200, body = Envelope<UserBody>)))]
pub async fn edit_own(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
    CheckedJson(body): CheckedJson<SelfBody>,
) -> Result<Envelope<UserBody>, Fails<EditOwnErrors>> {
    let user = app.users.edit_own(&caller, body.try_into()?).await?;
    Ok(Envelope::of(UserBody::new(user, &app)))
}

/// The groups that your tokens can use, by name.
#[utoipa::path(get, path = "/api/user/self/groups", tag = "accounts",
    responses((status = 200, body = Envelope<BTreeMap<String, GroupBody>>)))]
pub async fn groups(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
) -> Result<Envelope<BTreeMap<String, GroupBody>>, Fails> {
    let mut groups = BTreeMap::new();
    for (name, info) in app.tokens.groups().open_to(&caller.user.group) {
        let ratio = serde_json::value::RawValue::from_string(info.ratio.to_string()).map_err(ApiError::internal)?;
        groups.insert(name.to_owned(), GroupBody { desc: info.description.clone(), ratio });
    }
    Ok(Envelope::of(groups))
}

/// The names of the configured models.
#[utoipa::path(get, path = "/api/user/models", tag = "accounts",
    responses((status = 200, body = Envelope<Vec<String>>)))]
pub async fn models(State(app): State<Arc<AppState>>, _: SignedIn) -> Envelope<Vec<String>> {
    Envelope::of(app.settings.models.clone())
}

/// The names of the configured models.
#[utoipa::path(get, path = "/api/user/self/models", tag = "accounts",
    responses((status = 200, body = Envelope<Vec<String>>)))]
pub async fn own_models(state: State<Arc<AppState>>, caller: SignedIn) -> Envelope<Vec<String>> {
    models(state, caller).await
}

/// The names of the configured models, at the path of one-api.
#[utoipa::path(get, path = "/api/user/available_models", tag = "drop-in",
    responses((status = 200, body = Envelope<Vec<String>>)))]
pub async fn available_models(state: State<Arc<AppState>>, caller: SignedIn) -> Envelope<Vec<String>> {
    models(state, caller).await
}

/// All accounts, or those whose name matches `keyword`; newest first.
#[utoipa::path(get, path = "/api/admin/users", operation_id = "list_users", tag = "administration",
    params(KeywordQuery, UserFilterQuery, PageQuery),
    responses((status = 200, body = Envelope<PageBody<UserBody>>)))]
pub async fn list(
    State(app): State<Arc<AppState>>,
    _: Admin,
    Query(query): Query<KeywordQuery>,
    Query(filter): Query<UserFilterQuery>,
    Query(page): Query<PageQuery>,
) -> Result<Envelope<PageBody<UserBody>>, Fails<(InvalidSearch, InvalidFilter)>> {
    let filter = filter.read(app.tokens.groups())?;
    let page = app.users.list(query.read()?, &filter, page.read(app.settings.first_page)?).await?;
    Ok(Envelope::of(page.map(|user| UserBody::new(user, &app)).into()))
}

/// An account.
#[utoipa::path(get, path = "/api/admin/users/{id}", operation_id = "show_user", tag = "administration",
    params(("id" = i64, Path)), responses((status = 200, body = Envelope<UserBody>)))]
pub async fn show(
    State(app): State<Arc<AppState>>,
    _: Admin,
    Id(id): Id,
) -> Result<Envelope<UserBody>, Fails<NotFound>> {
    let user = app.users.show(UserId::new(id)).await?;
    Ok(Envelope::of(UserBody::new(user, &app)))
}

/// Create an account.
#[utoipa::path(post, path = "/api/admin/users", operation_id = "create_user", tag = "administration",
    request_body = NewUserBody, responses((status = 200, body = Envelope<UserBody>)))]
pub async fn create(
    State(app): State<Arc<AppState>>,
    Admin(admin): Admin,
    CheckedJson(body): CheckedJson<NewUserBody>,
) -> Result<Envelope<UserBody>, Fails<CreateErrors>> {
    let user = app.users.create(Actor::from(&admin), body.try_into()?).await?;
    Ok(Envelope::of(UserBody::new(user, &app)))
}

/// Change an account.
#[utoipa::path(patch, path = "/api/admin/users/{id}", operation_id = "edit_user", tag = "administration",
    params(("id" = i64, Path)), request_body = UserPatchBody,
    responses((status = 200, body = Envelope<UserBody>)))]
pub async fn edit(
    State(app): State<Arc<AppState>>,
    Admin(admin): Admin,
    Id(id): Id,
    CheckedJson(body): CheckedJson<UserPatchBody>,
) -> Result<Envelope<UserBody>, Fails<EditErrors>> {
    let user = app.users.edit(&admin, UserId::new(id), body.try_into()?).await?;
    Ok(Envelope::of(UserBody::new(user, &app)))
}

/// Delete an account with its tokens (soft delete). All its credentials stop working.
#[utoipa::path(delete, path = "/api/admin/users/{id}", operation_id = "delete_user", tag = "administration",
    params(("id" = i64, Path)), responses((status = 200, body = Done)))]
pub async fn delete(
    State(app): State<Arc<AppState>>,
    Admin(admin): Admin,
    Id(id): Id,
) -> Result<Done, Fails<(RoleTooLow, OwnAccount, NotFound)>> {
    app.users.delete(&admin, UserId::new(id)).await?;
    Ok(Done::default())
}

/// Add to a wallet, or set it.
#[utoipa::path(post, path = "/api/admin/users/{id}/quota", operation_id = "grant", tag = "administration",
    params(("id" = i64, Path), IdempotencyKeyHeader), request_body = GrantBody,
    responses((status = 200, body = Envelope<UserBody>)))]
pub async fn grant(
    State(app): State<Arc<AppState>>,
    Admin(admin): Admin,
    Id(id): Id,
    Keyed(request, CheckedJson(body)): Keyed<CheckedJson<GrantBody>>,
) -> Result<Idempotent<Envelope<UserBody>>, Fails<(InvalidQuota, InvalidText, RoleTooLow, NotFound, IdempotencyErrors)>>
{
    let note = text::label("note", body.note.as_deref().unwrap_or_default())?;
    let user = app.users.grant(&admin, UserId::new(id), body.try_into()?, &note, request.as_ref()).await?;
    Ok(user.map(|user| Envelope::of(UserBody::new(user, &app))))
}
