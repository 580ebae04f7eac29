//! Single requests: the newest lines of the logs of the other service, so that nobody's list is empty after a move. They are
//! read after the accounts, some thousand at a time. Another run reads them again, and adds those that are missing.

use super::rows::ForeignRequest;
use super::rules::cut_model;
use super::schema::LogSchema;
use super::source::{InvalidUtf8, Source, SourceError};
use super::{Destination, ImportError};
use crate::domain::bounds;
use crate::domain::money::Quota;
use crate::domain::time::UnixTime;
use crate::storage;
use crate::storage::imports::{self, ImportedRequest};

/// Lines that are read and written at once.
const BATCH: usize = 5_000;

/// The lines of the logs since a second.
pub struct RequestLines {
    first_id: i64,
    /// In the other database, also of accounts and keys that were not imported.
    pub count: i64,
    since: i64,
    until: i64,
}

impl RequestLines {
    /// Looks for the first line and counts all; `None` if there are none, or lines have no ids.
    ///
    /// # Errors
    /// The other database cannot be read.
    pub async fn find(
        logs: &mut Source,
        schema: &LogSchema,
        since: i64,
        until: i64,
    ) -> Result<Option<Self>, SourceError> {
        if !schema.has_ids() {
            return Ok(None);
        }
        let count = logs.number(schema.count_requests(since)).await?;
        let first_id = logs.number(schema.first_request(since)).await?;
        Ok((count > 0).then_some(Self { first_id, count, since, until }))
    }

    /// Writes the lines of imported keys. Calls `progress` with the number of lines that were read. Returns how many were
    /// written.
    ///
    /// # Errors
    /// One of the databases. What was written stays.
    pub async fn import(
        &self,
        logs: &mut Source,
        schema: &LogSchema,
        source: &str,
        here: &Destination,
        mut progress: impl FnMut(u64),
    ) -> Result<i64, ImportError> {
        let (mut next, mut written) = (self.first_id, 0);
        loop {
            let sql = schema.requests(next, (self.since, self.until), BATCH);
            let rows = logs.fetch_as(sql, InvalidUtf8::Replaced).await?;
            let read = rows.len();
            let lines: Vec<ForeignRequest> = rows.into_iter().map(ForeignRequest::new).collect();
            let Some(last) = lines.last() else {
                return Ok(written);
            };
            next = last.id.saturating_add(1);
            let lines: Vec<ImportedRequest> = lines.into_iter().map(mapped).collect();
            let mut tx = here.db.begin().await?;
            imports::set_up_transaction(&mut tx).await?;
            written += imports::insert_requests(&mut tx, source, &lines).await?;
            storage::commit(tx).await?;
            progress(u64::try_from(read).unwrap_or(0));
            if read < BATCH {
                return Ok(written);
            }
        }
    }
}

/// The line as it is stored here. The ids are still those of the other service.
fn mapped(line: ForeignRequest) -> ImportedRequest {
    ImportedRequest {
        model: cut_model(&line.model).to_owned(),
        foreign_id: line.id,
        foreign_user_id: line.user_id,
        foreign_token_id: line.token_id,
        token_name: line.token_name,
        at: UnixTime::new(line.at.max(0)),
        quota: Quota::grant(line.quota.clamp(0, bounds::MAX_QUOTA)).unwrap_or_default(),
        prompt_tokens: line.prompt_tokens.max(0),
        completion_tokens: line.completion_tokens.max(0),
    }
}
