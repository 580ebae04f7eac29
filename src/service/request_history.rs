//! Single requests: a user's own, and everyone's for administrators (spec §13.8).

use std::sync::Arc;

use super::report_queue::ReportQueue;
use super::usage_reports::{ReportScope, UsageReportsError, own_scope, require};
use crate::domain::bounds;
use crate::domain::caller::Caller;
use crate::domain::clock::Clock;
use crate::domain::id::TokenId;
use crate::domain::request_history::{PagePlace, PastRequest, Position, RequestFilter, RequestPage, Window};
use crate::domain::time::UnixTime;
use crate::storage::request_history::Whose;
use crate::storage::{Conn, Db, StorageError, request_history};

#[derive(Debug)]
pub struct RequestHistory {
    db: Db,
    clock: Arc<dyn Clock>,
    reports: Arc<ReportQueue>,
}

impl RequestHistory {
    #[must_use]
    pub const fn new(db: Db, clock: Arc<dyn Clock>, reports: Arc<ReportQueue>) -> Self {
        Self { db, clock, reports }
    }

    /// The requests of the caller's tokens, or of one of them; deleted ones included.
    ///
    /// # Errors
    /// The token is not the caller's; too many reports at once; the database.
    pub async fn list_own(
        &self,
        caller: &Caller,
        token: Option<TokenId>,
        filter: RequestFilter,
        place: PagePlace,
    ) -> Result<RequestPage, UsageReportsError> {
        let (db, user, now) = (self.db.clone(), caller.user.id, self.clock.now());
        let page = async move {
            let mut conn = db.acquire().await?;
            let scope = own_scope(&mut conn, user, token).await?;
            Ok(read(&mut conn, scope, &filter, place, now).await?)
        };
        self.reports.run(user, page).await
    }

    /// All requests that [`list_own`](Self::list_own) has pages of, for a file.
    ///
    /// # Errors
    /// As there; too many requests.
    pub async fn export_own(
        &self,
        caller: &Caller,
        token: Option<TokenId>,
        filter: RequestFilter,
    ) -> Result<Vec<PastRequest>, UsageReportsError> {
        let (db, user, now) = (self.db.clone(), caller.user.id, self.clock.now());
        let requests = async move {
            let mut conn = db.acquire().await?;
            let scope = own_scope(&mut conn, user, token).await?;
            read_all(&mut conn, scope, &filter, now).await
        };
        self.reports.run(user, requests).await
    }

    /// All requests that [`list`](Self::list) has pages of, for a file.
    ///
    /// # Errors
    /// As there; too many requests.
    pub async fn export(
        &self,
        caller: &Caller,
        scope: ReportScope,
        filter: RequestFilter,
    ) -> Result<Vec<PastRequest>, UsageReportsError> {
        let (db, now) = (self.db.clone(), self.clock.now());
        let requests = async move {
            let mut conn = db.acquire().await?;
            require(&mut conn, scope).await?;
            read_all(&mut conn, scope, &filter, now).await
        };
        self.reports.run(caller.user.id, requests).await
    }

    /// The requests of everyone, of one user or of one token, for administrators.
    ///
    /// # Errors
    /// There is no such user or token; too many reports at once; the database.
    pub async fn list(
        &self,
        caller: &Caller,
        scope: ReportScope,
        filter: RequestFilter,
        place: PagePlace,
    ) -> Result<RequestPage, UsageReportsError> {
        let (db, now) = (self.db.clone(), self.clock.now());
        let page = async move {
            let mut conn = db.acquire().await?;
            require(&mut conn, scope).await?;
            Ok(read(&mut conn, scope, &filter, place, now).await?)
        };
        self.reports.run(caller.user.id, page).await
    }
}

/// Reads all pages, as long as they are not too many.
async fn read_all(
    conn: &mut Conn,
    scope: ReportScope,
    filter: &RequestFilter,
    now: UnixTime,
) -> Result<Vec<PastRequest>, UsageReportsError> {
    let most = usize::try_from(bounds::MAX_REPORT_ROWS).unwrap_or(usize::MAX);
    let (mut requests, mut next) = (Vec::new(), Some(Position::NEWEST));
    while let Some(after) = next {
        let page = read(conn, scope, filter, PagePlace { after, size: most }, now).await?;
        requests.extend(page.requests);
        if requests.len() > most || (requests.len() == most && page.next.is_some()) {
            return Err(UsageReportsError::TooManyRequests);
        }
        next = page.next;
    }
    Ok(requests)
}

/// Reads one window after the other until the page is full, the time of the filter ends, or enough rows were read.
async fn read(
    conn: &mut Conn,
    scope: ReportScope,
    filter: &RequestFilter,
    PagePlace { after, size }: PagePlace,
    now: UnixTime,
) -> Result<RequestPage, StorageError> {
    let whose = match scope {
        ReportScope::Everyone => Whose::Everyone,
        ReportScope::User(user) => Whose::User(user),
        ReportScope::Token(token) => Whose::Token(token),
    };
    let (mut requests, mut unread) = (Vec::new(), bounds::MAX_REQUESTS_READ);
    for window in Window::back_from(filter.to.min(after.at), filter.from, now) {
        // Without a filter, every row that is read is on the page.
        if filter.is_selective() {
            let count = request_history::count(conn, whose, window, unread + 1).await?;
            if count > unread && unread < bounds::MAX_REQUESTS_READ {
                let next = Some(Position::before(window.to.plus(1)));
                return Ok(RequestPage { requests, next });
            }
            unread = (unread - count).max(0);
        }
        // One more, to know whether another page follows.
        let most = size.saturating_sub(requests.len()).saturating_add(1);
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        requests.extend(request_history::list(conn, whose, window, after, filter, most).await?);
        if requests.len() > size {
            requests.truncate(size);
            let next = requests.last().map(|last| Position { at: last.at, id: last.id });
            return Ok(RequestPage { requests, next });
        }
    }
    Ok(RequestPage { requests, next: None })
}
