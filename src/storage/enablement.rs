//! The table `enablement_requests`: requests to be enabled for the token API, and the decisions.

use super::{Conn, StorageError};
use crate::domain::enablement::{EnablementRequest, EnablementState};
use crate::domain::id::{EnablementRequestId, UserId};
use crate::domain::page::{Page, PageRequest};
use crate::domain::time::UnixTime;

/// Selects requests. The only list of their columns; `$tail` is the rest of the statement.
macro_rules! select_requests {
    ($tail:tt $(, $bind:expr)* $(,)?) => {
        sqlx::query_as!(
            EnablementRequest,
            "select r.id, r.user_id, u.username as \"username: String\", r.reason, r.state, r.created_time, \
             r.decided_time, d.username as \"decided_by_name?: String\", r.note from enablement_requests r \
             join users u on u.id = r.user_id left join users d on d.id = r.decided_by " + $tail
            $(, $bind)*
        )
    };
}

/// Finds the latest request for an account.
pub async fn find_latest(conn: &mut Conn, user: UserId) -> Result<Option<EnablementRequest>, StorageError> {
    let request = select_requests!("where r.user_id = $1 order by r.id desc limit 1", user as UserId)
        .fetch_optional(conn)
        .await?;
    Ok(request)
}

/// Finds a request.
pub async fn find(conn: &mut Conn, id: EnablementRequestId) -> Result<Option<EnablementRequest>, StorageError> {
    let request = select_requests!("where r.id = $1", id as EnablementRequestId).fetch_optional(conn).await?;
    Ok(request)
}

/// Lists the requests in `state`, or all; newest first.
pub async fn list(
    conn: &mut Conn,
    state: Option<EnablementState>,
    page: PageRequest,
) -> Result<Page<EnablementRequest>, StorageError> {
    let state = state.map(EnablementState::as_str);
    let requests = select_requests!(
        "where ($1::text is null or r.state = $1) order by r.id desc limit $2 offset $3",
        state,
        page.size(),
        page.offset()
    )
    .fetch_all(&mut *conn)
    .await?;
    let total = match page.total_if_last(requests.len()) {
        Some(total) => total,
        None => {
            sqlx::query_scalar!(
                r#"select count(*) as "count!" from enablement_requests where $1::text is null or state = $1"#,
                state
            )
            .fetch_one(conn)
            .await?
        }
    };
    Ok(page.holding(requests, total))
}

/// Inserts a pending request. Fails with a [`Constraint`](super::Constraint) if one is pending already.
pub async fn insert(
    conn: &mut Conn,
    user: UserId,
    requested_by: UserId,
    reason: &str,
    now: UnixTime,
) -> Result<EnablementRequestId, StorageError> {
    let id = sqlx::query_scalar!(
        "insert into enablement_requests (user_id, requested_by, reason, state, created_time, note) \
         values ($1, $2, $3, 'pending', $4, '') returning id",
        user as UserId,
        requested_by as UserId,
        reason,
        now as UnixTime
    )
    .fetch_one(conn)
    .await?;
    Ok(id)
}

/// Writes the decision about a pending request. Returns false if it was decided already.
pub async fn update_decision(
    conn: &mut Conn,
    id: EnablementRequestId,
    state: EnablementState,
    by: UserId,
    note: &str,
    now: UnixTime,
) -> Result<bool, StorageError> {
    let done = sqlx::query!(
        "update enablement_requests set state = $2, decided_by = $3, note = $4, decided_time = $5 \
         where id = $1 and state = 'pending'",
        id as EnablementRequestId,
        state.as_str(),
        by as UserId,
        note,
        now as UnixTime
    )
    .execute(conn)
    .await?;
    Ok(done.rows_affected() > 0)
}
