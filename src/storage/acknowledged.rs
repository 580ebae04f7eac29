//! Answers that left a row, and which of those rows are gone.

use super::conn::Conn;
use super::errors::StorageError;
use super::ledger::GatewayRequestId;
use crate::domain::id::ReservationId;

/// What an answer told, by the row that shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Acknowledged {
    /// A charge or a reservation with an id of its gateway.
    Request(GatewayRequestId),
    /// A reservation was made or extended.
    Reserved(ReservationId),
    /// A reservation was settled or released.
    Ended(ReservationId),
}

impl std::fmt::Display for Acknowledged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Request(GatewayRequestId { gateway_id, request_id }) => {
                write!(f, "request {request_id} of gateway {gateway_id}")
            }
            Self::Reserved(id) => write!(f, "reservation {id}"),
            Self::Ended(id) => write!(f, "the end of reservation {id}"),
        }
    }
}

/// Those of these answers that the database does not know any more.
pub(super) async fn list_lost(conn: &mut Conn, all: &[Acknowledged]) -> Result<Vec<Acknowledged>, StorageError> {
    let request = |one: &Acknowledged| match one {
        Acknowledged::Request(request) => Some(request.clone()),
        Acknowledged::Reserved(_) | Acknowledged::Ended(_) => None,
    };
    let reservation = |one: &Acknowledged| match one {
        Acknowledged::Reserved(id) | Acknowledged::Ended(id) => Some(id.get()),
        Acknowledged::Request(_) => None,
    };
    let requests: Vec<_> = all.iter().map(request).collect();
    let numbers = sqlx::query_scalar!(
        r#"select n as "n!" from unnest($1::bigint[], $2::text[], $3::bigint[], $4::boolean[]) with ordinality
             as told (gateway_id, request_id, reservation_id, is_ended, n)
           where case when reservation_id is null
             then not exists (select from idempotency_records r
               where r.gateway_id = told.gateway_id and r.request_id = told.request_id)
             else not exists (select from reservations r
               where r.id = told.reservation_id and (r.state <> 'open' or not told.is_ended)) end
           order by n"#,
        &requests.iter().map(|request| request.as_ref().map(|key| key.gateway_id.get())).collect::<Vec<_>>()
            as &[Option<i64>],
        &requests.iter().map(|request| request.as_ref().map(|key| key.request_id.clone())).collect::<Vec<_>>()
            as &[Option<String>],
        &all.iter().map(reservation).collect::<Vec<_>>() as &[Option<i64>],
        &all.iter().map(|one| matches!(one, Acknowledged::Ended(_))).collect::<Vec<_>>()
    )
    .fetch_all(conn)
    .await?;
    let at = |n: i64| usize::try_from(n - 1).ok().and_then(|n| all.get(n)).cloned();
    Ok(numbers.into_iter().filter_map(at).collect())
}
