//! Pages of tokens.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::columns::{select_tokens, token_of};
use crate::domain::bounds;
use crate::domain::id::{TokenId, UserId};
use crate::domain::order::Order;
use crate::domain::page::{Page, PageRequest};
use crate::domain::time::UnixTime;
use crate::domain::token::Token;
use crate::domain::token_listing::TokenListing;
use crate::storage::columns::column;
use crate::storage::{Conn, StorageError};

/// A page of an owner's live tokens, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OwnersPage {
    pub owner: UserId,
    /// The pattern for the folded name; `None` matches all.
    pub like: Option<String>,
    pub page: PageRequest,
}

/// These pages with their totals.
pub async fn list_pages(
    conn: &mut Conn,
    pages: &[OwnersPage],
) -> Result<HashMap<OwnersPage, Page<Token>>, StorageError> {
    let (named, all): (Vec<OwnersPage>, Vec<_>) = pages.iter().cloned().partition(|wanted| wanted.like.is_some());
    let mut found = HashMap::with_capacity(pages.len());
    // Without a pattern the total is counted in the index alone.
    if !all.is_empty() {
        let rows = select_tokens!(
            r#", wanted.n as "n!", counted.total as "total!"
               from unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[]) with ordinality
                 as wanted (owner, pattern, size, skipped, n)
               cross join lateral (select count(*) as total from tokens
                 where user_id = wanted.owner and deleted_time is null) as counted
               cross join lateral (select * from tokens
                 where user_id = wanted.owner and deleted_time is null
                 order by id desc limit wanted.size offset wanted.skipped) as tokens"#,
            &column(&all, |wanted| wanted.owner) as &[UserId],
            &column(&all, |wanted| wanted.like.clone()) as &[Option<String>],
            &column(&all, |wanted| wanted.page.size()),
            &column(&all, |wanted| wanted.page.offset())
        )
        .fetch_all(&mut *conn)
        .await?;
        fill(&mut found, all, rows.into_iter().map(|row| (row.n, row.total, token_of!(row))));
    }
    if !named.is_empty() {
        let rows = select_tokens!(
            r#", wanted.n as "n!", counted.total as "total!"
               from unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[]) with ordinality
                 as wanted (owner, pattern, size, skipped, n)
               cross join lateral (select count(*) as total from tokens
                 where user_id = wanted.owner and deleted_time is null and name_folded like wanted.pattern escape '\') as counted
               cross join lateral (select * from tokens
                 where user_id = wanted.owner and deleted_time is null and name_folded like wanted.pattern escape '\'
                 order by id desc limit wanted.size offset wanted.skipped) as tokens"#,
            &column(&named, |wanted| wanted.owner) as &[UserId],
            &column(&named, |wanted| wanted.like.clone()) as &[Option<String>],
            &column(&named, |wanted| wanted.page.size()),
            &column(&named, |wanted| wanted.page.offset())
        )
        .fetch_all(&mut *conn)
        .await?;
        fill(&mut found, named, rows.into_iter().map(|row| (row.n, row.total, token_of!(row))));
    }
    // Past the last page there is no row to hold the total. The row of the first token has it.
    let first = |wanted: &OwnersPage| OwnersPage { page: PageRequest::first_item(), ..wanted.clone() };
    let is_past = |wanted: &OwnersPage, page: &Page<Token>| page.items.is_empty() && wanted.page.offset() > 0;
    let past = found.iter().filter(|(wanted, page)| is_past(wanted, page));
    let firsts: HashSet<OwnersPage> = past.map(|(wanted, _)| first(wanted)).collect();
    if !firsts.is_empty() {
        let totals = Box::pin(list_pages(conn, &Vec::from_iter(firsts))).await?;
        for (wanted, page) in &mut found {
            if is_past(wanted, page) {
                page.total = totals.get(&first(wanted)).map_or(0, |first| first.total);
            }
        }
    }
    Ok(found)
}

/// Puts tokens into their pages.
fn fill(
    found: &mut HashMap<OwnersPage, Page<Token>>,
    wanted: Vec<OwnersPage>,
    rows: impl Iterator<Item = (i64, i64, Token)>,
) {
    let mut pages: Vec<Page<Token>> = wanted.iter().map(|wanted| wanted.page.holding(Vec::new(), 0)).collect();
    for (n, total, token) in rows {
        if let Some(page) = usize::try_from(n - 1).ok().and_then(|at| pages.get_mut(at)) {
            page.total = total;
            page.items.push(token);
        }
    }
    for (wanted, mut page) in wanted.into_iter().zip(pages) {
        // The statement returns them in this order, but does not promise it: that would cost a sort.
        page.items.sort_by_key(|token| Reverse(token.id));
        found.insert(wanted, page);
    }
}

/// Which tokens to list, and in which order.
#[derive(Debug, Clone, Copy)]
pub struct Listed<'a> {
    /// `None`: those of all users.
    pub owner: Option<UserId>,
    /// Only these; `None`: all of the owner, or the [`bounds::MAX_LISTED_TOKENS`] newest of all users.
    pub ids: Option<&'a [TokenId]>,
    /// The pattern for the folded name.
    pub like: &'a str,
    pub listing: &'a TokenListing,
    /// The moment of the status.
    pub now: UnixTime,
}

/// A page of live tokens, and their total.
pub async fn list_listed(conn: &mut Conn, what: Listed<'_>, page: PageRequest) -> Result<Page<Token>, StorageError> {
    // Of the three arrays only one is read. The status is that of `Token::status`.
    let rows = select_tokens!(
        r#", count(*) over () as "total!" from tokens
           where id = any(case when $9::bigint[] is not null then $9
                 when $8::bigint is not null
                   then array(select id from tokens where user_id = $8 and deleted_time is null)
                 else array(select id from tokens where deleted_time is null order by id desc limit $10) end)
             and deleted_time is null and ($8 is null or user_id = $8) and name_folded like $11 escape '\'
             and ($1::smallint is null or $1 = case when switched_off_by is not null then 2
                 when expires_at <= $3 then 3
                 when not unlimited_quota and remain_quota = 0 and used_quota > 0 then 4
                 else 1 end)
             and ($2::text is null or group_name = $2)
           order by
               case when $4::text = 'name' and not $5::boolean then name_folded collate "C" end,
               case when $4 = 'name' and $5 then name_folded collate "C" end desc,
               case when $5 then -1 else 1 end * case $4
                   when 'remain_quota' then
                       case when unlimited_quota then 9223372036854775807 else remain_quota end
                   when 'used_quota' then used_quota
                   when 'accessed_time' then accessed_time
                   when 'expired_time' then coalesce(expires_at, 9223372036854775807) end,
               case when $5 then -id else id end
           limit $6 offset $7"#,
        what.listing.status.map(crate::domain::status::Status::code),
        what.listing.group.as_ref().map(crate::domain::group::Group::as_str),
        what.now as UnixTime,
        what.listing.sort.as_str(),
        what.listing.order == Order::Descending,
        page.size(),
        page.offset(),
        what.owner as Option<UserId>,
        what.ids as Option<&[TokenId]>,
        bounds::MAX_LISTED_TOKENS,
        what.like
    )
    .fetch_all(&mut *conn)
    .await?;
    let total = match rows.first() {
        Some(row) => row.total,
        None if page.offset() == 0 => 0,
        // Past the last page, the first row has the total.
        None => Box::pin(list_listed(conn, what, PageRequest::first_item())).await?.total,
    };
    Ok(page.holding(rows.into_iter().map(|row| token_of!(row)).collect(), total))
}

/// Returns true if there are more than [`bounds::MAX_LISTED_TOKENS`] live tokens.
pub async fn are_more_than_listed(conn: &mut Conn) -> Result<bool, StorageError> {
    let exists = sqlx::query_scalar!(
        r#"select exists (
               select 1 from tokens where deleted_time is null order by id desc limit 1 offset $1) as "exists!""#,
        bounds::MAX_LISTED_TOKENS
    );
    Ok(exists.fetch_one(conn).await?)
}

/// A page of the live tokens of all users whose folded name is like `pattern`, newest first.
pub async fn list_all_users(conn: &mut Conn, pattern: &str, page: PageRequest) -> Result<Page<Token>, StorageError> {
    let rows = select_tokens!(
        r" from tokens where deleted_time is null and name_folded like $1 escape '\'
           order by id desc limit $2 offset $3",
        pattern,
        page.size(),
        page.offset()
    )
    .fetch_all(&mut *conn)
    .await?;
    let total = match page.total_if_last(rows.len()) {
        Some(total) => total,
        None => {
            sqlx::query_scalar!(
                r#"select count(*) as "count!" from tokens
                   where deleted_time is null and name_folded like $1 escape '\'"#,
                pattern
            )
            .fetch_one(conn)
            .await?
        }
    };
    Ok(page.holding(rows.into_iter().map(|row| token_of!(row)).collect(), total))
}
