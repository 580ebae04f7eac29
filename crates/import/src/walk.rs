//! One pass over the other database: accounts in the order of their ids, some thousand at a time, each with its tokens
//! and its history.

use std::collections::{BTreeMap, HashMap};

use chrono_tz::Tz;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use indicatif::ProgressBar;

use super::ImportError;
use super::days::DayOffsets;
use super::findings::Finding;
use super::plan::Planner;
use super::report::{FindingSubject, ImportReport};
use super::rows::{ForeignToken, ForeignUsage, ForeignUser};
use super::schema::{ForeignSchema, LogSchema};
use super::source::{ForeignDatabase, InvalidUtf8, SourceError, TextRow};
use super::target::{ImportTarget, WriteBatch};
use keymeter::domain::time::{DAY, UnixTime};

/// Accounts and tokens that are read at once. Older versions have no index on `tokens.user_id`: each part reads the
/// whole table.
const MAX_ACCOUNTS: usize = 10_000;
const MAX_TOKENS: i64 = 100_000;

/// The part of the logs that is imported.
pub struct History {
    schema: LogSchema,
    since: i64,
    until: i64,
    offsets: DayOffsets,
}

impl History {
    pub fn new(schema: LogSchema, since: i64, zone: Tz, now: UnixTime) -> Self {
        Self { schema, since, until: now.get(), offsets: DayOffsets::of(zone, since, now.plus(DAY).get()) }
    }
}

/// Ranges of account ids.
pub struct Walk<'s> {
    schema: &'s ForeignSchema,
    parts: Vec<(i64, i64)>,
    accounts: u64,
}

impl<'s> Walk<'s> {
    /// Divides the accounts into parts.
    ///
    /// # Errors
    /// The other database cannot be read.
    pub async fn prepare(source: &mut ForeignDatabase, schema: &'s ForeignSchema) -> Result<Self, SourceError> {
        let mut tokens: BTreeMap<i64, i64> = BTreeMap::new();
        for row in source.fetch(schema.token_counts()).await? {
            if let [Some(user), Some(count)] = row.as_slice() {
                tokens.insert(user.parse().unwrap_or(0), count.parse().unwrap_or(0));
            }
        }
        let mut accounts = 0;
        for row in source.fetch(schema.user_ids()).await? {
            if let [Some(user)] = row.as_slice() {
                tokens.entry(user.parse().unwrap_or(0)).or_insert(0);
                accounts += 1;
            }
        }
        Ok(Self { schema, parts: parts(&tokens), accounts })
    }

    /// The number of accounts, deleted ones included.
    pub const fn accounts(&self) -> u64 {
        self.accounts
    }

    /// Visits every account. With a `batch` it writes them; the last ones may be unwritten after an error. Without, it
    /// only reports.
    ///
    /// # Errors
    /// One of the databases.
    #[expect(clippy::too_many_arguments, reason = "both databases and everything that a pass changes")]
    pub async fn run(
        &self,
        source: &mut ForeignDatabase,
        mut logs: Option<&mut ForeignDatabase>,
        history: Option<&History>,
        planner: &mut Planner<'_>,
        target: &ImportTarget<'_>,
        report: &mut ImportReport,
        bar: &ProgressBar,
        mut batch: Option<&mut WriteBatch<'_>>,
    ) -> Result<(), ImportError> {
        for (from, to) in self.parts.iter().copied() {
            let users: Vec<_> = source.fetch(self.schema.users(from, to)).await?;
            let users: Vec<_> = users.into_iter().map(ForeignUser::new).collect();
            let tokens = source.fetch(self.schema.tokens(from, to)).await?;
            let mut tokens = by_owner(tokens.into_iter().map(ForeignToken::new));
            let known = target.find_known(&users, &tokens).await?;
            let mut usage = match history {
                Some(History { schema, since, until, offsets }) => {
                    let sql = schema.usage(from, to, (*since, *until), offsets);
                    let database: &mut ForeignDatabase = match &mut logs {
                        Some(logs) => logs,
                        None => source,
                    };
                    Some(UsageOfAccounts::new(database.stream(sql, InvalidUtf8::Replaced)))
                }
                None => None,
            };
            for user in users {
                let own_tokens = tokens.remove(&user.id).unwrap_or_default();
                let own_usage = match &mut usage {
                    Some(usage) => Some(usage.of(user.id).await?),
                    None => None,
                };
                bar.inc(1);
                let Some(planned) = planner.plan(&user, own_tokens, own_usage, &known, report)? else {
                    continue;
                };
                match &mut batch {
                    Some(batch) => batch.add(planned, report).await?,
                    None => report.add_usage(user.id, planned.usage_tally()),
                }
            }
            let mut orphans: Vec<_> = tokens.into_values().flatten().filter(|token| !token.is_deleted).collect();
            orphans.sort_unstable_by_key(|token| (token.user_id, token.id));
            for token in orphans {
                report.keys.found += 1;
                report.keys.left_out += 1;
                let subject = FindingSubject::Token { id: token.id, user_id: token.user_id };
                report.add(subject, Finding::TokenOrphaned);
            }
            if let Some(batch) = &mut batch {
                batch.write(report).await?;
            }
        }
        bar.finish_and_clear();
        Ok(())
    }
}

/// Ranges of ids with at most so many accounts and tokens, unless one account alone has more.
fn parts(tokens: &BTreeMap<i64, i64>) -> Vec<(i64, i64)> {
    let (mut parts, mut first, mut last): (Vec<(i64, i64)>, Option<i64>, i64) = (Vec::new(), None, 0);
    let (mut accounts, mut sum) = (0, 0);
    for (user, count) in tokens {
        if let Some(start) = first
            && (accounts == MAX_ACCOUNTS || sum + count > MAX_TOKENS)
        {
            parts.push((start, last));
            (first, accounts, sum) = (None, 0, 0);
        }
        first = first.or(Some(*user));
        (last, accounts, sum) = (*user, accounts + 1, sum + count);
    }
    parts.extend(first.map(|start| (start, last)));
    parts
}

fn by_owner(tokens: impl Iterator<Item = ForeignToken>) -> HashMap<i64, Vec<ForeignToken>> {
    let mut owners: HashMap<i64, Vec<ForeignToken>> = HashMap::new();
    for token in tokens {
        owners.entry(token.user_id).or_default().push(token);
    }
    owners
}

/// Reads the usage of one account after the other from a stream that is sorted by account.
struct UsageOfAccounts<'a> {
    rows: BoxStream<'a, Result<TextRow, SourceError>>,
    next: Option<ForeignUsage>,
}

impl<'a> UsageOfAccounts<'a> {
    const fn new(rows: BoxStream<'a, Result<TextRow, SourceError>>) -> Self {
        Self { rows, next: None }
    }

    /// The usage of an account; accounts must be asked for in the order of their ids.
    async fn of(&mut self, user: i64) -> Result<Vec<ForeignUsage>, SourceError> {
        let mut found = Vec::new();
        loop {
            let row = match self.next.take() {
                Some(row) => row,
                None => match self.rows.next().await {
                    Some(row) => ForeignUsage::new(row?),
                    None => return Ok(found),
                },
            };
            if row.user_id > user {
                self.next = Some(row);
                return Ok(found);
            }
            if row.user_id == user {
                found.push(row);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_so_many_accounts_and_tokens_at_most() {
        let few: BTreeMap<i64, i64> = [(3, 5), (9, 0)].into();
        assert_eq!(parts(&few), [(3, 9)]);
        assert_eq!(parts(&BTreeMap::new()), []);
        let many: BTreeMap<i64, i64> = (1..=25_000).map(|user| (user, 1)).collect();
        assert_eq!(parts(&many), [(1, 10_000), (10_001, 20_000), (20_001, 25_000)]);
        let heavy: BTreeMap<i64, i64> = [(1, 60_000), (2, 40_000), (3, 1), (4, 500_000), (5, 1)].into();
        assert_eq!(parts(&heavy), [(1, 2), (3, 3), (4, 4), (5, 5)]);
    }
}
