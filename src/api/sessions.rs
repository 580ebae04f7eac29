//! A user's own sessions (spec §13.5).

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::auth::{CurrentSession, SignedIn};
use super::envelope::{Done, Envelope};
use super::extract::Id;
use super::state::AppState;
use crate::api::errors::code::codes::NotFound;
use crate::api::errors::codes_of;
use crate::api::errors::fails::Fails;
use crate::domain::id::SessionId;
use crate::domain::session::Session;
use crate::domain::time::UnixTime;
use crate::service::sessions::SessionsError;

/// A session: where you are signed in.
#[derive(Debug, Serialize, ToSchema)]
pub struct SessionBody {
    /// Session ID. It is not the secret in the cookie.
    id: i64,
    /// Unix timestamp of the sign-in; `null` if it is not known.
    created_time: Option<i64>,
    /// Unix timestamp of the last use, up to about a minute old; `null` if it is not known.
    last_seen_time: Option<i64>,
    /// Unix timestamp at which it ends if it is not used.
    expires_at: i64,
    /// The client's address at sign-in; empty if it is not known.
    ip: String,
    /// The `User-Agent` at sign-in, at most 300 characters; empty if it is not known.
    user_agent: String,
    /// True for the session of this request.
    current: bool,
}

impl From<Session> for SessionBody {
    fn from(session: Session) -> Self {
        Self {
            id: session.id.get(),
            created_time: session.created_time.map(UnixTime::get),
            last_seen_time: session.last_seen_time.map(UnixTime::get),
            expires_at: session.expires_at.get(),
            ip: session.ip,
            user_agent: session.user_agent,
            current: session.is_current,
        }
    }
}

/// Your sessions, the last used first; at most 100.
#[utoipa::path(get, path = "/api/user/sessions", operation_id = "list_sessions", tag = "accounts",
    responses((status = 200, body = Envelope<Vec<SessionBody>>)))]
pub async fn list(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
    CurrentSession(current): CurrentSession,
) -> Result<Envelope<Vec<SessionBody>>, Fails> {
    let sessions = app.sessions.list(&caller, current.as_ref()).await?;
    Ok(Envelope::of(sessions.into_iter().map(SessionBody::from).collect()))
}

/// End one of your sessions.
#[utoipa::path(delete, path = "/api/user/sessions/{id}", operation_id = "end_session", tag = "accounts",
    params(("id" = i64, Path)), responses((status = 200, body = Done)))]
pub async fn end(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
    Id(id): Id,
) -> Result<Done, Fails<NotFound>> {
    app.sessions.end(&caller, SessionId::new(id)).await?;
    Ok(Done::default())
}

/// End your sessions except the one of this request. `data` is the number of sessions ended.
#[utoipa::path(delete, path = "/api/user/sessions", operation_id = "end_other_sessions", tag = "accounts",
    responses((status = 200, body = Envelope<u64>)))]
pub async fn end_others(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
    CurrentSession(current): CurrentSession,
) -> Result<Envelope<u64>, Fails> {
    Ok(Envelope::of(app.sessions.end_others(&caller, current.as_ref()).await?))
}

codes_of! {
    SessionsError {
        NotFound => NotFound,
        .. Storage
    }
}
