//! Reads pages of users' tokens, those of requests that wait together in one statement.

use std::collections::HashMap;

use crate::domain::page::Page;
use crate::domain::token::Token;
use crate::storage::loader::Loads;
use crate::storage::tokens::{self, OwnersPage};
use crate::storage::{Conn, Db, StorageError};

/// Pages of live tokens, newest first.
#[derive(Debug)]
pub struct TokenPages(pub Db);

impl Loads for TokenPages {
    type Key = OwnersPage;
    type Row = Page<Token>;

    /// Few: a page may have a hundred tokens, its statement counts all of its owner's, and all in it wait for the
    /// slowest.
    const MAX_KEYS: usize = 16;

    /// Reading a page takes PostgreSQL about as long as all the rest takes this server, so one at a time would leave a
    /// processor idle.
    const STATEMENTS: usize = 2;

    async fn read(&self, pages: &[OwnersPage]) -> Result<HashMap<OwnersPage, Page<Token>>, StorageError> {
        self.0.bounded_not_reserved(async |conn: &mut Conn| tokens::list_pages(conn, pages).await).await
    }
}
