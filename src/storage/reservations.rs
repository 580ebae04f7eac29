//! The table `reservations`. Batches of the ledger make and end reservations.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::columns::column;
use super::conn::Conn;
use super::errors::StorageError;
use super::units;
use crate::domain::client_addresses::StoredAddress;
use crate::domain::group::Ratio;
use crate::domain::id::{GatewayId, ReservationId, UserId};
use crate::domain::ledger::{
    Asked, OnExpiry, RequestDetails, Reservation, ReservationHandle, ReservationState, Settlement,
};
use crate::domain::prices::model_prices::PriceContext;
use crate::domain::prices::priced_by::{HoldReason, PricedBy};
use crate::domain::prices::units::Units;
use crate::domain::time::UnixTime;

/// What a reservation was made for.
#[derive(Debug, Clone, Default)]
pub struct ReservedFor {
    pub request: RequestDetails,
    pub asked: Asked,
}

/// Reservations by id, each with what it was made for. A caller that holds the locks of their wallets is the only one
/// to change them.
pub async fn list_by_ids(
    conn: &mut Conn,
    ids: &[ReservationId],
) -> Result<BTreeMap<ReservationId, (Reservation, ReservedFor)>, StorageError> {
    let rows = sqlx::query!(
        "select id, token_id, user_id, gateway_id, model, request_id, ip, held, from_remain, created_time, expires_at, \
         charge_on_expiry, ratio, asked::text as asked, state, requested, charged, shortfall, was_expired from reservations where id = any($1)",
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
                    // What expiry charges is the hold. An older version gives it back instead, and a gateway can settle
                    // it then.
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
                created_time: UnixTime::new(row.created_time),
                expires_at: row.expires_at,
                on_expiry,
                // Only ratios are ever written.
                ratio: row.ratio.and_then(|billionths| Ratio::new(billionths).ok()).unwrap_or(Ratio::ONE),
                state,
            };
            // Only an address is ever written.
            let ip = row.ip.map(StoredAddress::from_stored);
            let request = RequestDetails { model: row.model, request_id: row.request_id, ip };
            let asked = row.asked.and_then(|json| serde_json::from_str::<AskedColumn>(&json).ok());
            (row.id, (reservation, ReservedFor { request, asked: asked.unwrap_or_default().into() }))
        })
        .collect())
}

/// The column `asked`. A member that says nothing is left out.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct AskedColumn {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    input: bool,
    #[serde(skip_serializing_if = "PriceContext::is_empty")]
    context: PriceContext,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    ratio_of_told: bool,
}

impl From<AskedColumn> for Asked {
    fn from(AskedColumn { input, context, provider, ratio_of_told }: AskedColumn) -> Self {
        Self { names_input: input, context, provider, has_ratio_of_told: ratio_of_told }
    }
}

impl AskedColumn {
    /// The value of the column.
    fn json(Asked { names_input, context, provider, has_ratio_of_told }: Asked) -> Option<String> {
        let column = Self { input: names_input, context, provider, ratio_of_told: has_ratio_of_told };
        (column != Self::default()).then(|| serde_json::to_string(&column).ok()).flatten()
    }
}

/// By what a reservation was settled, for those who settle it again.
#[derive(Debug, Clone, PartialEq)]
pub struct SettledBy {
    pub units: Units,
    /// Of all of it, if it was more than the four counts that have columns.
    pub digest: Option<Vec<u8>>,
    pub priced_by: PricedBy,
}

/// By what settled reservations became charges.
pub async fn list_settled_by(
    conn: &mut Conn,
    ids: &[ReservationId],
) -> Result<BTreeMap<ReservationId, SettledBy>, StorageError> {
    let rows = sqlx::query!(
        r#"select r.id as "id: ReservationId", c.prompt_tokens, c.completion_tokens, c.cached_tokens, c.cache_write_tokens,
             c.settled_digest, c.hold_reason, c.price_id is not null as "has_rates!"
           from reservations r join charges c on c.token_id = r.token_id and c.at = r.ended_time and c.reservation_id = r.id
           where r.id = any($1)"#,
        ids as &[ReservationId]
    )
    .fetch_all(conn)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| {
            let cached = (row.cached_tokens, row.cache_write_tokens);
            let units = units::read(row.prompt_tokens, row.completion_tokens, cached, None);
            let priced_by = PricedBy::of(row.has_rates, row.hold_reason.and_then(|name| HoldReason::parse(&name)));
            (row.id, SettledBy { units, digest: row.settled_digest, priced_by })
        })
        .collect())
}

/// Open reservations whose time is over at `now`, oldest first, at most `limit`, of all owners but `except`. Without
/// `charged`, only those whose hold is given back then.
pub async fn list_overdue(
    conn: &mut Conn,
    now: UnixTime,
    charged: bool,
    except: &[UserId],
    limit: i64,
) -> Result<Vec<ReservationHandle>, StorageError> {
    let rows = sqlx::query!(
        r#"select id, user_id as "owner: UserId" from reservations
           where state = 'open' and expires_at <= $1 and ($2 or not charge_on_expiry) and user_id <> all($3)
           order by expires_at limit $4"#,
        now as UnixTime,
        charged,
        except as &[UserId],
        limit
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| ReservationHandle { owner: row.owner, id: row.id }).collect())
}

/// A reservation to be inserted.
#[derive(Debug, Clone)]
pub struct NewReservation {
    pub id: ReservationId,
    pub reservation: Reservation,
    pub reserved_for: ReservedFor,
}

/// Inserts reservations and changes others, for a batch of the ledger (see
/// [`ledger::write()`](super::ledger::write())).
pub async fn write(
    conn: &mut Conn,
    now: UnixTime,
    new: &[NewReservation],
    changed: &[(ReservationId, Reservation)],
) -> Result<(), StorageError> {
    sqlx::query!(
        "with inserted as ( \
           insert into reservations (created_time, state, id, token_id, user_id, gateway_id, model, request_id, ip, \
             held, from_remain, expires_at, charge_on_expiry, ratio, asked) \
           select $1, 'open', unnest($2::bigint[]), unnest($3::bigint[]), unnest($4::bigint[]), unnest($5::bigint[]), \
             unnest($6::text[]), unnest($7::text[]), unnest($8::text[]), unnest($9::bigint[]), \
             unnest($10::boolean[]), unnest($11::bigint[]), unnest($12::boolean[]), unnest($13::bigint[]), \
             unnest($23::text[])::jsonb) \
           update reservations r set ended_time = case when v.state <> 'open' then $1 end, state = v.state, \
             held = v.held, from_remain = v.from_remain, expires_at = v.expires_at, \
             requested = v.requested, charged = v.charged, shortfall = v.shortfall, \
             was_expired = v.was_expired \
           from (select unnest($14::bigint[]) as id, unnest($15::text[]) as state, unnest($16::bigint[]) as held, \
             unnest($17::boolean[]) as from_remain, unnest($18::bigint[]) as expires_at, \
             unnest($19::bigint[]) as requested, unnest($20::bigint[]) as charged, unnest($21::bigint[]) as shortfall, \
             unnest($22::boolean[]) as was_expired) v \
           where r.id = any(array[v.id])",
        now as UnixTime,
        // new
        &column(new, |new| new.id.get()),
        &column(new, |new| new.reservation.token_id.get()),
        &column(new, |new| new.reservation.user_id.get()),
        &column(new, |new| new.reservation.gateway_id.map(GatewayId::get)) as &[Option<i64>],
        &column(new, |new| new.reserved_for.request.model.clone()),
        &column(new, |new| new.reserved_for.request.request_id.clone()) as &[Option<String>],
        &column(new, |new| new.reserved_for.request.address()) as &[Option<String>],
        &column(new, |new| new.reservation.held.get()),
        &column(new, |new| new.reservation.from_remain),
        &column(new, |new| new.reservation.expires_at.get()),
        &column(new, |new| new.reservation.on_expiry == OnExpiry::Charge),
        &column(new, |new| new.reservation.ratio.billionths()),
        // changed
        &column(changed, |(id, _)| id.get()),
        &column(changed, |(_, now)| now.state.as_str().to_owned()),
        &column(changed, |(_, now)| now.held.get()),
        &column(changed, |(_, now)| now.from_remain),
        &column(changed, |(_, now)| now.expires_at.get()),
        &column(changed, |(_, now)| now.state.settlement().map(|s| s.requested.get())) as &[Option<i64>],
        &column(changed, |(_, now)| now.state.settlement().map(|s| s.charged.get())) as &[Option<i64>],
        &column(changed, |(_, now)| now.state.settlement().map(|s| s.shortfall.get())) as &[Option<i64>],
        &column(changed, |(_, now)| now.state.settlement().map(|s| s.was_expired)) as &[Option<bool>],
        // new, too
        &column(new, |new| AskedColumn::json(new.reserved_for.asked.clone())) as &[Option<String>],
    )
    .execute(conn)
    .await?;
    Ok(())
}
