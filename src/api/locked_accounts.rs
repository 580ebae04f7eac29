//! Accounts at which sign-ins were refused, for administrators.

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::auth::Admin;
use super::envelope::Envelope;
use super::state::AppState;
use crate::api::errors::fails::Fails;
use crate::service::sign_in_limits::LockedUser;

/// An account at which sign-ins were refused because of too many wrong passwords.
#[derive(Debug, Serialize, ToSchema)]
pub struct LockedAccountBody {
    /// User ID.
    user_id: i64,
    /// The user's name.
    username: String,
    /// `network`: only single networks were refused. `new_networks`: so were all networks from which nobody had signed
    /// in.
    reason: &'static str,
    /// Unix timestamp of the last refusal, up to about a minute old.
    last_time: i64,
}

impl From<LockedUser> for LockedAccountBody {
    fn from(account: LockedUser) -> Self {
        Self {
            user_id: account.user_id.get(),
            username: account.username.as_str().to_owned(),
            reason: account.locked_out.as_str(),
            last_time: account.at.get(),
        }
    }
}

/// The accounts at which sign-ins were refused in the last 24 hours because of too many wrong passwords, the last one
/// first; at most 100.
#[utoipa::path(get, path = "/api/admin/locked_accounts", operation_id = "list_locked_accounts", tag = "administration",
    responses((status = 200, body = Envelope<Vec<LockedAccountBody>>)))]
pub async fn list(State(app): State<Arc<AppState>>, _: Admin) -> Result<Envelope<Vec<LockedAccountBody>>, Fails> {
    let accounts = app.sign_in_limits.list_locked().await?;
    Ok(Envelope::of(accounts.into_iter().map(LockedAccountBody::from).collect()))
}
