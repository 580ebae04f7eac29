//! Reading reservations. Batches of the ledger write them: see [`super::ledger::write`].

use std::collections::BTreeMap;

use super::{Conn, StorageError};
use crate::domain::client_addresses::StoredAddress;
use crate::domain::group::Ratio;
use crate::domain::id::{ReservationId, UserId};
use crate::domain::ledger::{
    Counts, OnExpiry, RequestDetails, Reservation, ReservationHandle, ReservationState, Settlement,
};
use crate::domain::time::UnixTime;

/// Reservations by id, each with what it was made for. A caller that holds the locks of their wallets is the only one to change
/// them.
pub async fn list_by_ids(
    conn: &mut Conn,
    ids: &[ReservationId],
) -> Result<BTreeMap<ReservationId, (Reservation, RequestDetails)>, StorageError> {
    let rows = sqlx::query!(
        "select id, token_id, user_id, gateway_id, model, request_id, ip, held, from_remain, expires_at, charge_on_expiry, ratio, state, requested, charged, \
         shortfall, was_expired from reservations where id = any($1)",
        ids as &[ReservationId]
    )
    .fetch_all(conn)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| {
            let on_expiry = if row.charge_on_expiry { OnExpiry::Charge } else { OnExpiry::Release };
            // The table's constraints allow these states and no others.
            let state = match (row.state.as_str(), row.requested, row.charged, row.shortfall) {
                ("settled", Some(requested), Some(charged), Some(shortfall)) => {
                    let was_expired = row.was_expired.unwrap_or_default();
                    let settlement = Settlement { requested, charged, shortfall, was_expired };
                    // What expiry charges is the hold. An older version gives it back instead, and a gateway can settle it then.
                    match on_expiry {
                        OnExpiry::Charge if was_expired && (requested, charged) == (row.held, row.held) => {
                            ReservationState::ChargedOnExpiry(settlement)
                        }
                        OnExpiry::Charge | OnExpiry::Release => ReservationState::Settled(settlement),
                    }
                }
                ("released", ..) => ReservationState::Released,
                ("expired", ..) => ReservationState::Expired,
                _ => ReservationState::Open,
            };
            let reservation = Reservation {
                token_id: row.token_id,
                user_id: row.user_id,
                gateway_id: row.gateway_id,
                held: row.held,
                from_remain: row.from_remain,
                expires_at: row.expires_at,
                on_expiry,
                // Only ratios are ever written.
                ratio: row.ratio.and_then(|billionths| Ratio::new(billionths).ok()).unwrap_or(Ratio::ONE),
                state,
            };
            // Only an address is ever written.
            let ip = row.ip.map(StoredAddress::from_stored);
            (row.id, (reservation, RequestDetails { model: row.model, request_id: row.request_id, ip }))
        })
        .collect())
}

/// The counts of the charges that settled reservations became.
pub async fn list_settled_counts(
    conn: &mut Conn,
    ids: &[ReservationId],
) -> Result<BTreeMap<ReservationId, Counts>, StorageError> {
    let rows = sqlx::query!(
        r#"select r.id as "id: ReservationId", c.prompt_tokens, c.completion_tokens, c.cached_tokens, c.cache_write_tokens
           from reservations r join charges c on c.token_id = r.token_id and c.at = r.ended_time and c.reservation_id = r.id
           where r.id = any($1)"#,
        ids as &[ReservationId]
    )
    .fetch_all(conn)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| {
            let counts = Counts {
                prompt_tokens: row.prompt_tokens,
                completion_tokens: row.completion_tokens,
                cached_tokens: row.cached_tokens,
                cache_write_tokens: row.cache_write_tokens,
            };
            (row.id, counts)
        })
        .collect())
}

/// Open reservations whose time is over at `now`, oldest first, at most `limit`. Without `charged`, only those whose hold is
/// given back then.
pub async fn list_overdue(
    conn: &mut Conn,
    now: UnixTime,
    charged: bool,
    limit: i64,
) -> Result<Vec<ReservationHandle>, StorageError> {
    let rows = sqlx::query!(
        r#"select id, user_id as "owner: UserId" from reservations
           where state = 'open' and expires_at <= $1 and ($2 or not charge_on_expiry)
           order by expires_at limit $3"#,
        now as UnixTime,
        charged,
        limit
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| ReservationHandle { owner: row.owner, id: row.id }).collect())
}
