//! The rows of new-api and one-api that an import reads, as they are stored there.

use super::source::TextRow;

/// A row of `users`.
#[derive(Debug, Clone, Default)]
pub struct ForeignUser {
    pub id: i64,
    pub username: String,
    /// A bcrypt hash, or empty.
    pub password: String,
    pub display_name: String,
    /// 1, 10 or 100.
    pub role: i64,
    /// 1 enabled, 2 disabled, 3 deleted (one-api).
    pub status: i64,
    pub email: String,
    /// In plain text, or empty.
    pub access_token: String,
    /// May be negative.
    pub quota: i64,
    pub used_quota: i64,
    pub request_count: i64,
    pub group: String,
    pub created_time: i64,
    pub is_deleted: bool,
    /// The account is linked to an identity of another service.
    pub has_linked_identity: bool,
    pub affiliate_quota: i64,
    /// A one-time password or a passkey beside the password.
    pub has_second_factor: bool,
}

/// A row of `tokens`.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the columns there")]
pub struct ForeignToken {
    pub id: i64,
    pub user_id: i64,
    /// Without `sk-`; may be padded with spaces.
    pub key: String,
    /// 1 enabled, 2 disabled, 3 expired, 4 exhausted.
    pub status: i64,
    pub name: String,
    pub created_time: i64,
    pub accessed_time: i64,
    /// -1 is never.
    pub expired_time: i64,
    /// May be negative.
    pub remain_quota: i64,
    pub unlimited_quota: bool,
    pub used_quota: i64,
    pub model_limits_enabled: bool,
    /// Comma-separated.
    pub model_limits: String,
    /// Separated by line breaks (new-api) or commas (one-api).
    pub allow_ips: String,
    pub group: String,
    pub cross_group_retry: bool,
    pub is_deleted: bool,
}

/// The consumption of one token, day and model, summed from `logs`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForeignUsage {
    pub user_id: i64,
    /// 0 in older versions and for requests without a token.
    pub token_id: i64,
    /// Only if `token_id` is 0.
    pub token_name: String,
    /// Days since 1970-01-01.
    pub day: i64,
    pub model: String,
    /// Less what was refunded; may be negative.
    pub quota: i64,
    pub requests: i64,
    pub prompt_tokens: i64,
    pub completion_tokens: i64,
}

/// A line of `logs` that is consumption.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignRequest {
    pub id: i64,
    pub user_id: i64,
    /// 0 in older versions and for requests without a token.
    pub token_id: i64,
    pub token_name: String,
    pub at: i64,
    pub model: String,
    pub quota: i64,
    pub prompt_tokens: i64,
    pub completion_tokens: i64,
}

/// Reads the values of a row from left to right.
struct Fields(std::vec::IntoIter<Option<String>>);

impl Fields {
    fn new(row: TextRow) -> Self {
        Self(row.into_iter())
    }

    /// PostgreSQL pads `char(n)` with spaces, and accepts no NUL.
    fn text(&mut self) -> String {
        let text = self.0.next().flatten().unwrap_or_default();
        let text = text.trim_end_matches(' ');
        if text.contains('\0') { text.replace('\0', "") } else { text.to_owned() }
    }

    /// Null counts as 0, as it does for the other service. So a token without a status is not enabled.
    fn int(&mut self) -> i64 {
        self.0.next().flatten().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
    }

    fn flag(&mut self) -> bool {
        matches!(self.text().to_ascii_lowercase().as_str(), "1" | "t" | "true")
    }
}

impl ForeignUser {
    /// From a row with the columns of [`super::schema::ForeignSchema::users`].
    pub fn new(row: TextRow) -> Self {
        let mut fields = Fields::new(row);
        Self {
            id: fields.int(),
            username: fields.text(),
            password: fields.text(),
            display_name: fields.text(),
            role: fields.int(),
            status: fields.int(),
            email: fields.text(),
            access_token: fields.text(),
            quota: fields.int(),
            used_quota: fields.int(),
            request_count: fields.int(),
            group: fields.text(),
            created_time: fields.int(),
            is_deleted: fields.flag(),
            has_linked_identity: fields.flag(),
            affiliate_quota: fields.int(),
            has_second_factor: fields.flag(),
        }
    }
}

impl ForeignToken {
    /// From a row with the columns of [`super::schema::ForeignSchema::tokens`].
    pub fn new(row: TextRow) -> Self {
        let mut fields = Fields::new(row);
        Self {
            id: fields.int(),
            user_id: fields.int(),
            key: fields.text(),
            status: fields.int(),
            name: fields.text(),
            created_time: fields.int(),
            accessed_time: fields.int(),
            expired_time: fields.int(),
            remain_quota: fields.int(),
            unlimited_quota: fields.flag(),
            used_quota: fields.int(),
            model_limits_enabled: fields.flag(),
            model_limits: fields.text(),
            allow_ips: fields.text(),
            group: fields.text(),
            cross_group_retry: fields.flag(),
            is_deleted: fields.flag(),
        }
    }
}

impl ForeignRequest {
    /// From a row with the columns of [`super::schema::LogSchema::requests`].
    pub fn new(row: TextRow) -> Self {
        let mut fields = Fields::new(row);
        Self {
            id: fields.int(),
            user_id: fields.int(),
            token_id: fields.int(),
            token_name: fields.text(),
            at: fields.int(),
            model: fields.text(),
            quota: fields.int(),
            prompt_tokens: fields.int(),
            completion_tokens: fields.int(),
        }
    }
}

impl ForeignUsage {
    /// From a row with the columns of [`super::schema::LogSchema::usage`].
    pub fn new(row: TextRow) -> Self {
        let mut fields = Fields::new(row);
        Self {
            user_id: fields.int(),
            token_id: fields.int(),
            token_name: fields.text(),
            day: fields.int(),
            model: fields.text(),
            quota: fields.int(),
            requests: fields.int(),
            prompt_tokens: fields.int(),
            completion_tokens: fields.int(),
        }
    }
}
