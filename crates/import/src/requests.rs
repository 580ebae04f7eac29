//! Single requests: the newest lines of the logs of the other service, so that nobody's list is empty after a move.
//! They are read after the accounts, some thousand at a time. Another run reads them again, and adds those that are
//! missing.

use std::collections::{BTreeSet, HashMap};

use super::rows::ForeignRequest;
use super::rules::cut_model;
use super::schema::LogSchema;
use super::source::{ForeignDatabase, InvalidUtf8, SourceError};
use super::{Destination, ImportError};
use crate::statements;
use keymeter::domain::bounds;
use keymeter::domain::id::TokenId;
use keymeter::domain::money::Quota;
use keymeter::domain::time::UnixTime;
use keymeter::storage::imported_requests::{self, ImportedRequest};
use keymeter::storage::{self, Conn, StorageError};

/// Lines that are read and written at once.
const BATCH: usize = 5_000;

/// Names of keys that are looked up at once: each reads all keys of its account.
const NAMES: usize = 200;

/// The lines of the logs between two seconds.
pub struct RequestLines {
    first_id: i64,
    /// In the other database, also of accounts and keys that were not imported.
    pub count: i64,
    seconds: (i64, i64),
}

impl RequestLines {
    /// Looks for the first line and counts all; `None` if there are none, or lines have no ids.
    ///
    /// # Errors
    /// The other database cannot be read.
    pub async fn find(
        logs: &mut ForeignDatabase,
        schema: &LogSchema,
        seconds: (i64, i64),
    ) -> Result<Option<Self>, SourceError> {
        if !schema.has_ids() {
            return Ok(None);
        }
        let count = logs.number(schema.count_requests(seconds)).await?;
        let first_id = logs.number(schema.first_request(seconds)).await?;
        Ok((count > 0).then_some(Self { first_id, count, seconds }))
    }

    /// Writes the lines of imported keys. Calls `progress` with the number of lines that were read. Returns how many
    /// were written.
    ///
    /// # Errors
    /// One of the databases. What was written stays.
    pub async fn import(
        &self,
        logs: &mut ForeignDatabase,
        schema: &LogSchema,
        source: &str,
        here: &Destination,
        mut progress: impl FnMut(u64),
    ) -> Result<i64, ImportError> {
        let (mut next, mut written) = (self.first_id, 0);
        let mut named = HashMap::new();
        loop {
            let sql = schema.requests(next, self.seconds, BATCH);
            let rows = logs.fetch_as(sql, InvalidUtf8::Replaced).await?;
            let read = rows.len();
            let lines: Vec<ForeignRequest> = rows.into_iter().map(ForeignRequest::new).collect();
            let Some(last) = lines.last() else {
                return Ok(written);
            };
            next = last.id.saturating_add(1);
            let mut tx = here.db.begin().await?;
            statements::set_up_transaction(&mut tx).await?;
            find_named(&mut tx, source, &lines, &mut named).await?;
            let lines: Vec<ImportedRequest> = lines.into_iter().map(|line| mapped(line, &named)).collect();
            written += imported_requests::insert(&mut tx, source, &lines).await?;
            storage::commit(tx).await?;
            progress(u64::try_from(read).unwrap_or(0));
            if read < BATCH {
                return Ok(written);
            }
        }
    }
}

/// The keys here of accounts there, by their names; `None` if there is none of this name, or several.
type Named = HashMap<(i64, String), Option<TokenId>>;

/// Looks up the names that lines without the id of a key have and that are not known yet.
async fn find_named(
    conn: &mut Conn,
    source: &str,
    lines: &[ForeignRequest],
    named: &mut Named,
) -> Result<(), StorageError> {
    let unknown: BTreeSet<(i64, String)> = lines
        .iter()
        .filter(|line| line.token_id == 0 && !line.token_name.is_empty())
        .map(|line| (line.user_id, line.token_name.clone()))
        .filter(|name| !named.contains_key(name))
        .collect();
    let unknown: Vec<(i64, String)> = unknown.into_iter().collect();
    for names in unknown.chunks(NAMES) {
        let found = imported_requests::list_tokens_by_name(conn, source, names).await?;
        named.extend(names.iter().map(|name| (name.clone(), None)));
        named.extend(found.into_iter().map(|(user, name, token)| ((user, name), Some(token))));
    }
    Ok(())
}

/// The line as it is stored here. The ids are still those of the other service.
fn mapped(line: ForeignRequest, named: &Named) -> ImportedRequest {
    ImportedRequest {
        named_token: named.get(&(line.user_id, line.token_name)).copied().flatten().filter(|_| line.token_id == 0),
        model: cut_model(&line.model).to_owned(),
        foreign_id: line.id,
        foreign_user_id: line.user_id,
        foreign_token_id: line.token_id,
        at: UnixTime::new(line.at.max(0)),
        quota: Quota::grant(line.quota.clamp(0, bounds::MAX_QUOTA)).unwrap_or_default(),
        prompt_tokens: line.prompt_tokens.max(0),
        completion_tokens: line.completion_tokens.max(0),
    }
}
