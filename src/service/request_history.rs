//! Single requests: of a user, of a key for its holder, and of all users for administrators (spec §13.8).

use std::net::IpAddr;
use std::sync::Arc;

use super::key_holders::{KeyHolderError, KeyHolders};
use super::outlooks::Outlooks;
use super::prices::Prices;
use super::report_queue::{self, ReportQueue};
use super::usage_reports::{UsageReportsError, resolve};
use super::{request_details, request_lookup};
use crate::domain::bounds;
use crate::domain::caller::Caller;
use crate::domain::page::{Page, PageRequest};
use crate::domain::request_history::{
    OutcomeKind, PagePlace, PastRequest, Position, RequestFilter, RequestPage, Window,
};
use crate::domain::scope::{Scope, Viewer};
use crate::domain::spend::{Spend, SpendParts};
use crate::domain::time::UnixTime;
use crate::domain::user::User;
use crate::service::core::Core;
use crate::storage::{self, Conn, StorageError, request_history, spend, users};

/// Rows that are read for one page with a filter.
const MAX_ROWS: i64 = bounds::MAX_REQUESTS_READ;

#[derive(Debug)]
pub struct RequestHistory {
    core: Core,
    key_holders: Arc<KeyHolders>,
    reports: Arc<ReportQueue>,
    outlooks: Outlooks,
    prices: Arc<Prices>,
}

impl RequestHistory {
    pub const fn new(
        core: Core,
        key_holders: Arc<KeyHolders>,
        reports: Arc<ReportQueue>,
        outlooks: Outlooks,
        prices: Arc<Prices>,
    ) -> Self {
        Self { core, key_holders, reports, outlooks, prices }
    }

    /// The requests of the token with this key, with addresses if its owner allows that: a key may have several users.
    /// Disabled, expired and exhausted tokens are answered too.
    ///
    /// # Errors
    /// No live token has this key (counted against `ip`); its owner is disabled; too many requests; too many reports at
    /// once.
    pub async fn list_of_key(
        &self,
        key: &str,
        ip: Option<IpAddr>,
        filter: RequestFilter,
        place: PagePlace,
    ) -> Result<RequestPage, UsageReportsError> {
        let digest = self.key_holders.admit(key, ip, |limits| &limits.usage)?;
        let token = {
            // Given back before the report waits for its turn.
            let mut conn = self.core.db.acquire().await.map_err(KeyHolderError::Storage)?;
            self.key_holders.find_token(&mut conn, &digest, ip, self.core.clock.now()).await?
        };
        let (db, scope, now) = (self.core.db.clone(), Scope::Token(token.id), self.core.clock.now());
        let outlooks = self.outlooks.clone();
        let page = async move {
            let mut conn = db.acquire().await?;
            let mut page = find_or_read(&mut conn, scope, &filter, place, now).await?;
            outlooks.add_to_requests(&mut conn, &mut page.requests, None).await?;
            Ok(page)
        };
        let mut page = self.reports.run::<_, UsageReportsError>(token.user_id, page).await?;
        if !token.show_addresses {
            for request in &mut page.requests {
                request.ip = None;
            }
        }
        Ok(page)
    }

    /// A page of the requests that the viewer asks for, with what would let the refused ones pass for `reader`, who
    /// asks.
    ///
    /// # Errors
    /// There is no such user or token, or it is not the viewer's; too many reports at once; the database.
    pub async fn list(
        &self,
        viewer: Viewer,
        reader: &User,
        filter: RequestFilter,
        place: PagePlace,
    ) -> Result<RequestPage, UsageReportsError> {
        let (db, now) = (self.core.db.clone(), self.core.clock.now());
        let (outlooks, reader, prices) = (self.outlooks.clone(), reader.clone(), Arc::clone(&self.prices));
        let page = async move {
            let mut tx = db.begin_reading().await?;
            let scope = resolve(&mut tx, viewer).await?;
            let mut page = find_or_read(&mut tx, scope, &filter, place, now).await?;
            outlooks.add_to_requests(&mut tx, &mut page.requests, Some(&reader)).await?;
            if filter.only.is_some() {
                request_details::add(&mut tx, &prices, &mut page.requests).await?;
            }
            storage::end(tx).await?;
            Ok(page)
        };
        self.reports.run(viewer.user(), page).await
    }

    /// All requests that [`list`](Self::list) has pages of, for a file.
    ///
    /// # Errors
    /// As there; too many requests.
    pub async fn export(&self, viewer: Viewer, filter: RequestFilter) -> Result<Vec<PastRequest>, UsageReportsError> {
        let (db, now) = (self.core.db.clone(), self.core.clock.now());
        let requests = async move {
            let mut tx = db.begin_reading().await?;
            let scope = resolve(&mut tx, viewer).await?;
            request_history::use_index_of_time(&mut tx, scope).await?;
            let requests = read_all(&mut tx, scope, &filter, now).await?;
            storage::end(tx).await?;
            Ok(requests)
        };
        self.reports.run(viewer.user(), requests).await
    }

    /// The newest requests of the token with this key, at most 1,000. Disabled, expired and used up tokens are answered
    /// too.
    ///
    /// # Errors
    /// No live token has this key (counted against `ip`); its owner is disabled; too many requests.
    pub async fn list_newest_of_key(
        &self,
        key: &str,
        ip: Option<IpAddr>,
        filter: RequestFilter,
    ) -> Result<Vec<PastRequest>, KeyHolderError> {
        let digest = self.key_holders.admit(key, ip, |limits| &limits.drop_in)?;
        let mut conn = self.core.db.acquire().await?;
        let token = self.key_holders.find_token(&mut conn, &digest, ip, self.core.clock.now()).await?;
        let most = usize::try_from(bounds::MAX_CHARGES_OF_KEY).unwrap_or_default();
        let scope = Scope::Token(token.id);
        let place = PagePlace { after: Position::NEWEST, size: most };
        Ok(read(&mut conn, scope, &filter, place, self.core.clock.now(), i64::MAX).await?.requests)
    }

    /// A page of the requests of the caller's tokens, deleted ones included, with their total. It reaches the newest
    /// 10,000.
    ///
    /// # Errors
    /// Too many requests, or too many reports at once; the database.
    pub async fn list_newest(
        &self,
        caller: &Caller,
        filter: RequestFilter,
        page: PageRequest,
    ) -> Result<Page<PastRequest>, UsageReportsError> {
        let (db, user, now) = (self.core.db.clone(), caller.user.id, self.core.clock.now());
        self.core.rate_limiter.charges.take(user)?;
        let report =
            async move { Ok(read_page(&mut *db.acquire().await?, Scope::User(user), &filter, page, now).await?) };
        self.reports.run(user, report).await
    }

    /// What the caller's tokens spent. Without a filter it is everything the account ever spent.
    ///
    /// # Errors
    /// Too many requests, or too many reports at once; the database.
    pub async fn spend(&self, caller: &Caller, filter: Option<RequestFilter>) -> Result<Spend, UsageReportsError> {
        let (db, user, used, zone) =
            (self.core.db.clone(), caller.user.id, caller.user.wallet.used, self.core.calendar.zone);
        self.core.rate_limiter.charges.take(user)?;
        let now = self.core.clock.now();
        let report = async move {
            let mut conn = db.acquire().await?;
            let (requests_per_minute, tokens_per_minute) =
                spend::count_tokens_of_user(&mut conn, user, now.plus(-59), now).await?;
            let quota = if let Some(filter) = filter {
                let since = spend::find_charges_since(&mut conn).await?;
                let parts = SpendParts::new(filter.from, filter.to, since, now);
                spend::sum_of_user(&mut conn, user, &filter, &parts, zone.name()).await?
            } else {
                users::find(&mut conn, user).await?.map_or(used, |user| user.wallet.used)
            };
            Ok(Spend { quota, requests_per_minute, tokens_per_minute })
        };
        self.reports.run(user, report).await
    }
}

/// A page by its number. Reads its rows and those before it, and counts the others, no further than the last page.
async fn read_page(
    conn: &mut Conn,
    scope: Scope,
    filter: &RequestFilter,
    page: PageRequest,
    now: UnixTime,
) -> Result<Page<PastRequest>, StorageError> {
    let bound = bounds::MAX_LISTED_CHARGES;
    let mut found = page.holding(Vec::new(), bound);
    if page.offset() < bound {
        let end = page.offset().saturating_add(page.size()).min(bound);
        let place = PagePlace { after: Position::NEWEST, size: usize::try_from(end).unwrap_or_default() };
        found = page.of(read(conn, scope, filter, place, now, i64::MAX).await?.requests);
        if found.total < end {
            return Ok(found);
        }
    }
    let (from, to) = filter.seconds();
    let mut total = 0;
    for kind in filter.outcomes {
        total += request_history::count(conn, *kind, scope, Window { from, to }, Some(filter), bound).await?;
    }
    Ok(Page { total: total.min(bound), ..found })
}

/// A page: the requests with an id of any time, or those that are read one window after the other. That of all users is
/// read in a transaction.
async fn find_or_read(
    conn: &mut Conn,
    scope: Scope,
    filter: &RequestFilter,
    place: PagePlace,
    now: UnixTime,
) -> Result<RequestPage, StorageError> {
    if let Some(id) = filter.id_of_any_time()
        && place.after == Position::NEWEST
    {
        return request_lookup::find(conn, scope, (filter, id), place.size, now).await;
    }
    request_history::use_index_of_time(conn, scope).await?;
    let page = read(conn, scope, filter, place, now, MAX_ROWS).await?;
    request_history::use_all_indexes(conn, scope).await?;
    Ok(page)
}

/// Reads all pages, as long as they are not too many.
async fn read_all(
    conn: &mut Conn,
    scope: Scope,
    filter: &RequestFilter,
    now: UnixTime,
) -> Result<Vec<PastRequest>, UsageReportsError> {
    let most = usize::try_from(bounds::MAX_REPORT_ROWS).unwrap_or(usize::MAX);
    let (mut requests, mut next) = (Vec::new(), Some(Position::NEWEST));
    for _ in 0..bounds::MAX_PAGES_READ {
        let Some(after) = next.filter(|_| requests.len() <= most) else { break };
        let place = PagePlace { after, size: most + 1 - requests.len() };
        let page = read(conn, scope, filter, place, now, MAX_ROWS).await?;
        requests.extend(page.requests);
        next = page.next;
    }
    match next {
        _ if requests.len() > most => Err(UsageReportsError::TooManyRequests),
        Some(_) => Err(UsageReportsError::TooManyRead),
        None => Ok(requests),
    }
}

/// Reads one window after the other until the page is full, the time of the filter ends, or `most_rows` rows were read.
async fn read(
    conn: &mut Conn,
    scope: Scope,
    filter: &RequestFilter,
    PagePlace { after, size }: PagePlace,
    now: UnixTime,
    most_rows: i64,
) -> Result<RequestPage, StorageError> {
    let kinds = OutcomeKind::ALL.into_iter().filter(|kind| filter.allows(*kind));
    let (mut requests, mut unread) = (Vec::new(), most_rows);
    let (from, to) = filter.seconds();
    for window in Window::back_from(to.min(after.at), from, now) {
        if !report_queue::has_caller() {
            return Err(StorageError::GivenUp);
        }
        // Without a filter, every row that is read is on the page.
        if filter.is_selective() && most_rows < i64::MAX {
            let mut count = 0;
            for kind in kinds.clone() {
                count += request_history::count(conn, kind, scope, window, None, unread + 1).await?;
            }
            if count > unread && unread < most_rows {
                let next = Some(Position::before(window.to.plus(1)));
                return Ok(RequestPage { requests, next, searched_from: None });
            }
            unread = (unread - count).max(0);
        }
        // One more, to know whether another page follows.
        let most = size.saturating_sub(requests.len()).saturating_add(1);
        let limit = i64::try_from(most).unwrap_or(i64::MAX);
        let mut found = Vec::new();
        for kind in kinds.clone() {
            found.extend(match kind {
                OutcomeKind::Charged => {
                    request_history::list_charges(conn, scope, window, after, filter, limit).await?
                }
                OutcomeKind::Refused => {
                    request_history::list_refusals(conn, scope, window, after, filter, limit).await?
                }
                OutcomeKind::Imported => {
                    request_history::list_imported(conn, scope, window, after, filter, limit).await?
                }
            });
        }
        found.sort_by_key(|request| std::cmp::Reverse(request.position()));
        found.truncate(most);
        requests.extend(found);
        if requests.len() > size {
            requests.truncate(size);
            let next = requests.last().map(PastRequest::position);
            return Ok(RequestPage { requests, next, searched_from: None });
        }
    }
    Ok(RequestPage { requests, next: None, searched_from: None })
}
