//! What the tables of the other service look like: it differs between new-api and one-api, and between their versions.
//! The catalogue decides which columns are read; missing ones get a default.

use std::collections::BTreeSet;

use super::days::DayOffsets;
use super::source::{Dialect, ForeignDatabase, SourceError};

/// Which service it is, by its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    NewApi,
    OneApi,
}

impl Service {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NewApi => "new-api",
            Self::OneApi => "one-api",
        }
    }
}

/// Columns without which a table is not that of these services.
const REQUIRED_OF_USERS: [&str; 8] =
    ["id", "username", "password", "role", "status", "quota", "used_quota", "request_count"];
const REQUIRED_OF_TOKENS: [&str; 7] = ["id", "user_id", "key", "status", "name", "remain_quota", "unlimited_quota"];
const REQUIRED_OF_LOGS: [&str; 4] = ["user_id", "created_at", "type", "quota"];

/// Columns that link an account to an identity of another service.
const IDENTITIES: [&str; 8] =
    ["github_id", "discord_id", "oidc_id", "wechat_id", "telegram_id", "lark_id", "linux_do_id", "google_id"];

/// Tables of second factors, by account.
const SECOND_FACTORS: [&str; 2] = ["two_fas", "passkey_credentials"];

/// Tables of what is not moved; the report counts their rows.
pub const NOT_MOVED: [(&str, &str); 6] = [
    ("two_fas", "two-factor secrets"),
    ("passkey_credentials", "passkeys"),
    ("user_oauth_bindings", "links to other identity providers"),
    ("user_subscriptions", "subscriptions"),
    ("redemptions", "redemption codes"),
    ("channels", "channels"),
];

/// A table and the columns that exist.
struct Table {
    dialect: Dialect,
    columns: BTreeSet<String>,
}

impl Table {
    fn has(&self, column: &str) -> bool {
        self.columns.contains(column)
    }

    fn name(&self, column: &str) -> String {
        quoted(self.dialect, column)
    }

    /// A text, or an empty one if the column does not exist.
    fn text(&self, column: &str) -> String {
        if self.has(column) { as_text(self.dialect, &self.name(column)) } else { "''".to_owned() }
    }

    /// A whole number, or `default` if the column does not exist.
    fn int(&self, column: &str, default: i64) -> String {
        if self.has(column) { as_int(self.dialect, &self.name(column)) } else { format!("'{default}'") }
    }

    fn is_deleted(&self) -> String {
        if self.has("deleted_at") {
            condition(&format!("{} is not null", self.name("deleted_at")))
        } else {
            "''".to_owned()
        }
    }
}

fn quoted(dialect: Dialect, name: &str) -> String {
    match dialect {
        Dialect::Sqlite | Dialect::Postgres => format!("\"{}\"", name.replace('"', "\"\"")),
        Dialect::MySql => format!("`{}`", name.replace('`', "``")),
    }
}

/// `1` if the condition holds.
fn condition(condition: &str) -> String {
    format!("case when {condition} then '1' else '' end")
}

/// The largest amount of one line of the logs: the sum of two has 64 bits.
const MAX_AMOUNT: i64 = 1 << 62;

/// The expression, not below `-most` and not above `most`.
fn within(dialect: Dialect, expression: &str, most: i64) -> String {
    let (least, greatest) = if dialect == Dialect::Sqlite { ("min", "max") } else { ("least", "greatest") };
    format!("{least}({greatest}({expression}, -{most}), {most})")
}

/// The sum of a column within 64 bits, as a whole number.
fn sum(dialect: Dialect, column: &str) -> String {
    if dialect != Dialect::Sqlite {
        let sum = within(dialect, &format!("sum({column})"), i64::MAX);
        return format!("cast({sum} as {})", if dialect == Dialect::MySql { "signed" } else { "bigint" });
    }
    // SQLite refuses sums beyond 2^63, also in between. So it sums the halves of each number.
    let (high, low) = (format!("sum({column} >> 32)"), format!("sum({column} & 4294967295)"));
    format!(
        "case when {high} >= 1073741824 then {max} when {high} < -1073741824 then -{max} \
         else {high} * 4294967296 + {low} end",
        max = i64::MAX
    )
}

/// Texts of values that mean nothing was set.
const UNSET: [&str; 8] = ["", "0", "false", "null", "{}", "[]", "f", "0000-00-00 00:00:00"];

/// The most digits after the point that are compared with a default.
const MAX_SCALE: usize = 10;

/// The column has another value than none and its default.
fn is_set(dialect: Dialect, column: &str, default: &str) -> String {
    let column = quoted(dialect, column);
    let default = default_text(default);
    let same: &[&str] = if default.eq_ignore_ascii_case("true") { &["1", "t", "true"] } else { &[&default] };
    let unset = UNSET.iter().chain(same).flat_map(|text| spellings(text));
    // MySQL reads a backslash as the start of an escape, so a default that has one is not compared.
    let unset = unset.filter(|text| !text.contains('\\')).map(|text| format!("'{}'", text.replace('\'', "''")));
    let unset = unset.collect::<Vec<_>>().join(", ");
    format!("({column} is not null and {} not in ({unset}))", as_text(dialect, &column))
}

/// A number with any number of zeros after the point, as columns of a fixed scale show it; the text itself otherwise.
fn spellings(text: &str) -> Vec<String> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) || fraction.len() > MAX_SCALE {
        return vec![text.to_owned()];
    }
    let separator = if digits.contains('.') { "" } else { "." };
    let padded = (1..=MAX_SCALE - fraction.len()).map(|zeros| format!("{text}{separator}{}", "0".repeat(zeros)));
    std::iter::once(text.to_owned()).chain(padded).collect()
}

/// The value of a default as catalogues write it: `'default'`, `'default'::text`, `-1`. Expressions stay as they are.
fn default_text(default: &str) -> String {
    let default = default.trim();
    let Some(rest) = default.strip_prefix('\'') else {
        return default.trim_matches(['(', ')']).to_owned();
    };
    let literal = rest.rsplit_once('\'').map_or(rest, |(literal, _)| literal);
    literal.replace("''", "'")
}

fn as_text(dialect: Dialect, expression: &str) -> String {
    match dialect {
        Dialect::Sqlite | Dialect::Postgres => format!("cast({expression} as text)"),
        Dialect::MySql => format!("cast({expression} as char)"),
    }
}

fn as_int(dialect: Dialect, expression: &str) -> String {
    let kind = match dialect {
        Dialect::Sqlite => "integer",
        Dialect::MySql => "signed",
        Dialect::Postgres => "bigint",
    };
    as_text(dialect, &format!("cast({expression} as {kind})"))
}

/// The tables `users` and `tokens`.
pub struct ForeignSchema {
    pub service: Service,
    dialect: Dialect,
    users: Table,
    tokens: Table,
    /// Conditions of accounts that have a second factor.
    second_factors: Vec<String>,
}

impl ForeignSchema {
    /// Reads the catalogue.
    ///
    /// # Errors
    /// A table or a column is missing: it is another service's database.
    pub async fn read(source: &mut ForeignDatabase) -> Result<Self, SourceError> {
        let users = table(source, "users", &REQUIRED_OF_USERS).await?;
        let tokens = table(source, "tokens", &REQUIRED_OF_TOKENS).await?;
        let is_one_api = !tokens.has("model_limits") && (tokens.has("models") || tokens.has("subnet"));
        let service = if is_one_api { Service::OneApi } else { Service::NewApi };
        let mut second_factors = Vec::new();
        for table in SECOND_FACTORS {
            let columns = source.columns(table).await?;
            if !columns.contains("user_id") {
                continue;
            }
            let enabled = if columns.contains("is_enabled") { " and f.is_enabled" } else { "" };
            let live = if columns.contains("deleted_at") { " and f.deleted_at is null" } else { "" };
            let condition = format!("exists (select 1 from {table} f where f.user_id = users.id{enabled}{live})");
            second_factors.push(condition);
        }
        Ok(Self { service, dialect: source.dialect, users, tokens, second_factors })
    }

    /// The ids of all accounts, deleted ones included.
    pub fn user_ids(&self) -> String {
        format!("select {} from users", self.users.int("id", 0))
    }

    /// The number of tokens of each `user_id`.
    pub fn token_counts(&self) -> String {
        let (dialect, user) = (self.dialect, self.tokens.name("user_id"));
        format!("select {}, {} from tokens group by {user}", as_int(dialect, &user), as_int(dialect, "count(*)"))
    }

    /// The largest id of a table up to `most`.
    pub fn max_id(&self, table: &str, most: i64) -> String {
        format!("select {} from {table} where id <= {most}", as_int(self.dialect, "max(id)"))
    }

    /// The accounts with ids in a range, in the order of [`super::rows::ForeignUser`].
    pub fn users(&self, from: i64, to: i64) -> String {
        let users = &self.users;
        let identities: Vec<String> = IDENTITIES
            .iter()
            .filter(|column| users.has(column))
            .map(|column| format!("coalesce({}, '') <> ''", users.name(column)))
            .collect();
        let linked = if identities.is_empty() { "''".to_owned() } else { condition(&identities.join(" or ")) };
        let second_factor = match self.second_factors.as_slice() {
            [] => "''".to_owned(),
            conditions => condition(&conditions.join(" or ")),
        };
        let columns = [
            users.int("id", 0),
            users.text("username"),
            users.text("password"),
            users.text("display_name"),
            users.int("role", 1),
            users.int("status", 1),
            users.text("email"),
            users.text("access_token"),
            users.int("quota", 0),
            users.int("used_quota", 0),
            users.int("request_count", 0),
            users.text("group"),
            users.int("created_at", 0),
            users.is_deleted(),
            linked,
            users.int("aff_quota", 0),
            second_factor,
        ];
        let id = users.name("id");
        // Qualified: the first column of the result has the same name in PostgreSQL, and is text.
        format!("select {} from users where {id} between {from} and {to} order by users.{id}", columns.join(", "))
    }

    /// The tokens of accounts with ids in a range, in the order of [`super::rows::ForeignToken`].
    pub fn tokens(&self, from: i64, to: i64) -> String {
        let tokens = &self.tokens;
        let (limits_enabled, limits) = if tokens.has("model_limits") {
            (tokens.text("model_limits_enabled"), tokens.text("model_limits"))
        } else if tokens.has("models") {
            (condition("coalesce(models, '') <> ''"), tokens.text("models"))
        } else {
            ("''".to_owned(), "''".to_owned())
        };
        let allow_ips = if tokens.has("allow_ips") { tokens.text("allow_ips") } else { tokens.text("subnet") };
        let columns = [
            tokens.int("id", 0),
            tokens.int("user_id", 0),
            tokens.text("key"),
            tokens.int("status", 1),
            tokens.text("name"),
            tokens.int("created_time", 0),
            tokens.int("accessed_time", 0),
            tokens.int("expired_time", -1),
            tokens.int("remain_quota", 0),
            tokens.text("unlimited_quota"),
            tokens.int("used_quota", 0),
            limits_enabled,
            limits,
            allow_ips,
            tokens.text("group"),
            tokens.text("cross_group_retry"),
            tokens.is_deleted(),
        ];
        let (user, id) = (tokens.name("user_id"), tokens.name("id"));
        format!(
            "select {} from tokens where {user} between {from} and {to} order by tokens.{user}, tokens.{id}",
            columns.join(", ")
        )
    }

    /// What all accounts have used.
    ///
    /// # Errors
    /// As [`ForeignDatabase::fetch`].
    pub async fn read_used_quota(&self, source: &mut ForeignDatabase) -> Result<i128, SourceError> {
        let row = source.fetch(self.used_quota()).await?.into_iter().next().unwrap_or_default();
        let part = |at: usize| row.get(at).cloned().flatten().and_then(|text| text.parse().ok()).unwrap_or(0_i128);
        Ok(part(0).saturating_mul(1 << 32).saturating_add(part(1)))
    }

    /// Two numbers, of which the first counts 2^32 each. SQLite refuses sums beyond 2^63, the other databases have no
    /// bound.
    fn used_quota(&self) -> String {
        let used = self.users.name("used_quota");
        let dialect = self.dialect;
        let (high, low) = match dialect {
            Dialect::Sqlite => {
                (format!("sum(cast({used} as integer) >> 32)"), format!("sum(cast({used} as integer) & 4294967295)"))
            }
            Dialect::MySql | Dialect::Postgres => ("0".to_owned(), format!("sum({used})")),
        };
        format!("select {}, {} from users", as_text(dialect, &high), as_text(dialect, &low))
    }

    /// Those of the columns of `users` or `tokens` that no statement here reads.
    pub fn unread(&self, table: &str, columns: Vec<(String, String)>) -> Vec<(String, String)> {
        let read = if table == "users" { self.users(0, 0) } else { self.tokens(0, 0) };
        let is_read = |name: &str| read.contains(&quoted(self.dialect, &name.to_lowercase()));
        columns.into_iter().filter(|(name, _)| !is_read(name)).collect()
    }

    /// How many live rows have a value in each of these columns, given with their defaults.
    pub fn count_set(&self, table: &str, columns: &[(String, String)]) -> String {
        let dialect = self.dialect;
        let counts: Vec<String> = columns
            .iter()
            .map(|(name, default)| {
                as_int(dialect, &format!("sum(case when {} then 1 else 0 end)", is_set(dialect, name, default)))
            })
            .collect();
        format!("select {} from {table} where {}", counts.join(", "), self.is_live(table))
    }

    /// The values of a column in live rows.
    pub fn set_values(&self, table: &str, column: &str) -> String {
        let value = as_text(self.dialect, &quoted(self.dialect, column));
        format!("select {value} from {table} where {} and {}", is_set(self.dialect, column, ""), self.is_live(table))
    }

    fn is_live(&self, table: &str) -> String {
        let (columns, extra) =
            if table == "users" { (&self.users, " and coalesce(status, 1) <> 3") } else { (&self.tokens, "") };
        let deleted = columns.has("deleted_at").then(|| format!("{} is null", columns.name("deleted_at")));
        format!("{}{extra}", deleted.unwrap_or_else(|| "1 = 1".to_owned()))
    }

    /// A value of the table `options`.
    pub fn option(&self, name: &str) -> String {
        let dialect = self.dialect;
        let (key, value) = (quoted(dialect, "key"), quoted(dialect, "value"));
        format!("select {} from options where {key} = '{name}'", as_text(dialect, &value))
    }

    /// The number of rows of a table of [`NOT_MOVED`].
    pub fn count(&self, table: &str) -> String {
        format!("select {} from {table}", as_int(self.dialect, "count(*)"))
    }
}

/// The table `logs`, which may be in another database.
pub struct LogSchema(Table);

impl LogSchema {
    /// Reads the catalogue; `None` if there is no table `logs`.
    ///
    /// # Errors
    /// A column is missing.
    pub async fn read(source: &mut ForeignDatabase) -> Result<Option<Self>, SourceError> {
        if source.columns("logs").await?.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self(table(source, "logs", &REQUIRED_OF_LOGS).await?)))
    }

    /// `1` if there is a row.
    pub fn has_rows(&self) -> String {
        format!("select {} from (select 1 as one from logs limit 1) as first", as_int(self.0.dialect, "count(*)"))
    }

    /// A number of a line, 0 if it has none.
    fn or_zero(&self, column: &str) -> String {
        if self.0.has(column) { format!("coalesce({}, 0)", self.0.name(column)) } else { "0".to_owned() }
    }

    /// An amount of a line, as large as may be.
    fn amount(&self, column: &str) -> String {
        within(self.0.dialect, &self.or_zero(column), MAX_AMOUNT)
    }

    /// Whether lines have ids, by which they are read in order.
    pub fn has_ids(&self) -> bool {
        self.0.has("id")
    }

    /// The number of single requests between two seconds.
    pub fn count_requests(&self, seconds: (i64, i64)) -> String {
        format!("select {} from logs where {}", as_int(self.0.dialect, "count(*)"), self.is_request(seconds))
    }

    /// The id of the first of them. As a sum, so that no database reads its ids from the oldest one on.
    pub fn first_request(&self, seconds: (i64, i64)) -> String {
        let id = as_int(self.0.dialect, &format!("coalesce(min({} + 0), 0)", self.0.name("id")));
        format!("select {id} from logs where {}", self.is_request(seconds))
    }

    /// Consumption; what was refunded later stays in the list. A time in milliseconds is beyond every day.
    fn is_request(&self, (since, until): (i64, i64)) -> String {
        format!("{} = 2 and {} between {since} and {until}", self.0.name("type"), self.0.name("created_at"))
    }

    /// The next single requests from an id on, at most `limit`, in the order of [`super::rows::ForeignRequest`].
    pub fn requests(&self, from: i64, seconds: (i64, i64), limit: usize) -> String {
        let logs = &self.0;
        let dialect = logs.dialect;
        let id = logs.name("id");
        let amount = |column: &str| as_int(dialect, &self.amount(column));
        let columns = [
            as_int(dialect, &id),
            as_int(dialect, &logs.name("user_id")),
            logs.int("token_id", 0),
            logs.text("token_name"),
            logs.int("created_at", 0),
            logs.text("model_name"),
            amount("quota"),
            amount("prompt_tokens"),
            amount("completion_tokens"),
        ];
        // With its table: a column of the answer has the same name, and is a text.
        format!(
            "select {} from logs where {} and {id} >= {from} order by logs.{id} limit {limit}",
            columns.join(", "),
            self.is_request(seconds)
        )
    }

    /// The consumption of accounts with ids in a range since a second, summed by token, day and model, in the order of
    /// [`super::rows::ForeignUsage`]. Lines after `until` count as written then. Type 2 is consumption, type 6 a
    /// refund.
    pub fn usage(&self, from: i64, to: i64, (since, until): (i64, i64), offsets: &DayOffsets) -> String {
        let logs = &self.0;
        let dialect = logs.dialect;
        let int = |expression: &str| as_int(dialect, expression);
        let (user, kind, at) = (logs.name("user_id"), logs.name("type"), logs.name("created_at"));
        let or_empty = |column: &str| {
            let text = if logs.has(column) { format!("coalesce({}, '')", logs.name(column)) } else { "''".to_owned() };
            // Otherwise MySQL sums names that differ in case only, and all emoji.
            if dialect == Dialect::MySql { format!("convert({text} using utf8mb4) collate utf8mb4_bin") } else { text }
        };
        let token = self.or_zero("token_id");
        let name = format!("case when {token} = 0 then {} else '' end", or_empty("token_name"));
        // A time in the future, such as one in milliseconds, is that of the import.
        let time = format!("{}({at}, {until})", if dialect == Dialect::Sqlite { "min" } else { "least" });
        let day = offsets.day(&time, if dialect == Dialect::MySql { "div" } else { "/" });
        let quota = self.amount("quota");
        let sum = |column: &str| as_text(dialect, &sum(dialect, column));
        let columns = [
            int("user_id"),
            int("token"),
            as_text(dialect, "token_name"),
            int("day"),
            as_text(dialect, "model"),
            sum("quota"),
            sum("requests"),
            sum("prompt"),
            sum("completion"),
        ];
        let rows = [
            format!("{user} as user_id"),
            format!("{token} as token"),
            format!("{name} as token_name"),
            format!("{day} as day"),
            format!("{} as model", or_empty("model_name")),
            format!("case when {kind} = 2 then {quota} else -{quota} end as quota"),
            format!("case when {kind} = 2 then 1 else 0 end as requests"),
            format!("case when {kind} = 2 then {} else 0 end as prompt", self.amount("prompt_tokens")),
            format!("case when {kind} = 2 then {} else 0 end as completion", self.amount("completion_tokens")),
        ];
        format!(
            "select {} from (select {} from logs where {kind} in (2, 6) and {user} between {from} and {to} \
             and {at} >= {since}) as consumption group by user_id, token, token_name, day, model order by consumption.user_id",
            columns.join(", "),
            rows.join(", ")
        )
    }
}

async fn table(
    source: &mut ForeignDatabase,
    name: &'static str,
    required: &[&'static str],
) -> Result<Table, SourceError> {
    let columns = source.columns(name).await?;
    if columns.is_empty() {
        return Err(SourceError::NoTable(source.label.clone(), name));
    }
    if let Some(missing) = required.iter().find(|column| !columns.contains(**column)) {
        return Err(SourceError::NoColumn(source.label.clone(), name, missing));
    }
    Ok(Table { dialect: source.dialect, columns })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_read_as_catalogues_write_them() {
        for (text, expected) in [
            ("'none'", "none"),
            ("'none'::character varying", "none"),
            ("'it''s'::text", "it's"),
            ("-1", "-1"),
            ("(-1)", "-1"),
            ("NULL", "NULL"),
            ("", ""),
        ] {
            assert_eq!(default_text(text), expected);
        }
    }

    #[test]
    fn numbers_are_compared_at_any_scale() {
        assert_eq!(spellings("5.5")[..3], ["5.5", "5.50", "5.500"]);
        assert_eq!(spellings("-1")[..3], ["-1", "-1.0", "-1.00"]);
        for text in ["", "none", "1e5", "5.5.5", "-"] {
            assert_eq!(spellings(text), [text]);
        }
    }
}
