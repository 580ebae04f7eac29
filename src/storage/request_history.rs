//! Single charges with everything that is known of them, in windows of time. They are found by token and time; those of
//! everyone by time.

use super::{Conn, StorageError};
use crate::domain::id::{TokenId, UserId};
use crate::domain::request_history::{PastRequest, Position, RequestFilter, Window};
use crate::domain::time::UnixTime;

/// Whose requests.
#[derive(Debug, Clone, Copy)]
pub enum Whose {
    Everyone,
    /// Of all tokens of a user, deleted ones included.
    User(UserId),
    Token(TokenId),
}

/// Evaluates `$read!($args…, $from)` with the `from` clause of these charges. Its parameter is the last one, `$9`.
macro_rules! of {
    ($whose:expr, $read:ident) => {
        match $whose {
            Whose::Everyone => $read!("(select * from charges where at between $1 and $2 and $9::bigint = 0) c", 0_i64),
            Whose::User(user) => $read!(
                "(select c.* from tokens t cross join lateral \
                  (select * from charges where token_id = t.id and at between $1 and $2 offset 0) c where t.user_id = $9) c",
                user.get()
            ),
            Whose::Token(token) => {
                $read!("(select * from charges where token_id = $9 and at between $1 and $2) c", token.get())
            }
        }
    };
}

/// The newest requests of a window after `after` that pass the filter, newest first.
pub async fn list(
    conn: &mut Conn,
    whose: Whose,
    window: Window,
    after: Position,
    filter: &RequestFilter,
    most: i64,
) -> Result<Vec<PastRequest>, StorageError> {
    macro_rules! read {
        ($from:tt, $bind:expr) => {
            sqlx::query_as!(
                PastRequest,
                r#"select c.id as "id!", c.at as "at!: UnixTime", c.token_id as "token_id!: TokenId",
                   coalesce((select name from tokens where id = c.token_id), '') as "token_name!",
                   c.user_id as "user_id!: UserId",
                   coalesce((select username from users where id = c.user_id), '') as "username!",
                   c.model as "model!", c.quota as "quota!: crate::domain::money::Quota",
                   c.shortfall as "shortfall!: crate::domain::money::Quota", c.prompt_tokens as "prompt_tokens!",
                   c.completion_tokens as "completion_tokens!", c.ip as "ip?", c.request_id as "request_id?",
                   c.reservation_id as "reservation_id?: crate::domain::id::ReservationId",
                   c.gateway_id as "gateway_id?: crate::domain::id::GatewayId",
                   (select name from gateways where id = c.gateway_id) as "gateway_name?"
                   from "# + $from + r#"
                   where (c.at, c.id) < ($3, $4) and ($5::text is null or c.model = $5)
                     and ($6::bigint is null or c.gateway_id = $6) and ($7::text is null or c.request_id = $7)
                   order by c.at desc, c.id desc limit $8"#,
                window.from as UnixTime,
                window.to as UnixTime,
                after.at as UnixTime,
                after.id,
                filter.model.as_deref(),
                filter.gateway_id.map(crate::domain::id::GatewayId::get),
                filter.request_id.as_deref(),
                most,
                $bind
            )
            .fetch_all(conn)
            .await?
        };
    }
    Ok(of!(whose, read))
}

/// How many requests a window has, whatever their filter; at most `most`.
pub async fn count(conn: &mut Conn, whose: Whose, window: Window, most: i64) -> Result<i64, StorageError> {
    let Window { from, to } = window;
    let count = match whose {
        Whose::Everyone => {
            sqlx::query_scalar!(
                r#"select count(*) as "count!" from (select 1 from charges where at between $1 and $2 limit $3) c"#,
                from as UnixTime,
                to as UnixTime,
                most
            )
            .fetch_one(conn)
            .await?
        }
        Whose::User(user) => {
            sqlx::query_scalar!(
                r#"select count(*) as "count!" from (select 1 from tokens t cross join lateral
                   (select 1 from charges where token_id = t.id and at between $1 and $2 offset 0) c
                   where t.user_id = $4 limit $3) c"#,
                from as UnixTime,
                to as UnixTime,
                most,
                user as UserId
            )
            .fetch_one(conn)
            .await?
        }
        Whose::Token(token) => {
            sqlx::query_scalar!(
                r#"select count(*) as "count!" from
                   (select 1 from charges where token_id = $4 and at between $1 and $2 limit $3) c"#,
                from as UnixTime,
                to as UnixTime,
                most,
                token as TokenId
            )
            .fetch_one(conn)
            .await?
        }
    };
    Ok(count)
}
