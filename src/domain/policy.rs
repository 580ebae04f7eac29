//! Numbers that are not settings, with their reasons (spec §8).
//! What an operator may want to change is a setting instead: see `config/default.toml`.

use super::time::DAY;

/// Micro-dollars in one quota unit: 1 USD = 500,000 quota (spec §1).
pub const MICRO_USD_PER_QUOTA: i128 = 2;

/// Quota units in one dollar (spec §1), told to clients at `/api/status`.
pub const QUOTA_PER_USD: i64 = 500_000;

/// The largest amount a token or a wallet can be granted: 1,000,000,000 × `QuotaPerUnit` (spec §8).
/// An unlimited token's `remain_quota` is never spent, so there any number is accepted and one
/// outside the range is kept as 0: the clients of this API family send -1 and worse.
pub const MAX_QUOTA: i64 = 500_000_000_000_000;

/// Characters in a token's name, after trimming (spec §8). Characters, not bytes.
pub const MAX_NAME_CHARS: usize = 50;

/// Page size when the caller names none or 0: what this API family's own pages show.
pub const DEFAULT_PAGE_SIZE: i64 = 10;

/// Larger pages are cut to this, and the answer says so in `page_size`.
pub const MAX_PAGE_SIZE: i64 = 100;

/// Wildcards in one search text (spec §8).
pub const MAX_SEARCH_WILDCARDS: usize = 2;

/// Characters of a search text beside its wildcards (spec §8).
pub const MIN_SEARCH_CHARS: usize = 2;

/// Characters of a token's `note`.
pub const MAX_NOTE_CHARS: usize = 500;

/// Names in one token's `model_limits`; above that a list is a mistake, not a restriction.
pub const MAX_MODELS: usize = 1_000;

/// Characters in one model name.
pub const MAX_MODEL_CHARS: usize = 128;

/// Entries in one token's `allow_ips`: every request of a gateway walks the list.
pub const MAX_IPS: usize = 100;

/// Bytes of one token's `model_limits`, and of its `allow_ips`: every server remembers them for the keys in use, so one
/// owner's lists take memory from all. A hundred long model names fit.
pub const MAX_LIST_BYTES: usize = 16 * 1_024;

/// Ids in one batch delete: one statement, well below the body limit.
pub const MAX_BATCH: usize = 1_000;

/// Keys revealed by one call: each is a line in the audit log.
pub const MAX_KEY_BATCH: usize = 100;

/// Days from the first to the last day of a daily usage answer (spec §8).
pub const MAX_USAGE_DAYS: i64 = 7;

/// Seconds a daily usage answer is kept (spec §8).
pub const DAILY_USAGE_CACHE_SECONDS: i64 = 600;

/// Seconds for which what was read of a key or a credential counts without reading it again: the bound for
/// changes made on other servers, should news of them be lost.
pub const TRUSTED_SECONDS: i64 = 2;

/// Seconds after which it is read again while it still counts, so that nobody has to wait for that.
pub const FRESH_SECONDS: i64 = 1;

/// Days of spend on an overview, today included: a week, as everyone counts it.
pub const OVERVIEW_DAYS: i64 = 7;

/// A token that ends within this many seconds is announced to its owner.
pub const EXPIRES_SOON_SECONDS: i64 = 7 * DAY;

/// Tokens that an overview names; it counts the others.
pub const MAX_ATTENTION: usize = 20;

/// Tokens that an overview looks at, the newest ones: ten times what users may have by default.
pub const MAX_OVERVIEW_TOKENS: i64 = 10_000;

/// Charges in one call: well below the body limit.
pub const MAX_CHARGES: usize = 1_000;

/// Seconds after which a reservation is given back, unless its maker says otherwise.
pub const RESERVATION_SECONDS: i64 = 600;

/// The longest a reservation may hold quota.
pub const MAX_RESERVATION_SECONDS: i64 = 86_400;

/// Input or output tokens of one request; sums of many stay countable.
pub const MAX_COUNT: i64 = 1_000_000_000_000;

/// Seconds for which a `request_id` is remembered.
pub const RECEIPT_SECONDS: i64 = 72 * 3_600;

/// Characters of a password: long enough to resist guessing, bounded so that hashing is.
pub const PASSWORD_CHARS: std::ops::RangeInclusive<usize> = 8..=128;

/// Passwords that may wait to be hashed or checked: at two at once, the last one waits for two seconds or so.
pub const PASSWORDS_WAITING: usize = 64;

/// Keys that one limit tells apart: names, addresses, API keys. More than come by in a minute, and a few MiB.
pub const MAX_LIMITED: usize = 50_000;

/// Characters of a username.
pub const USERNAME_CHARS: std::ops::RangeInclusive<usize> = 1..=50;

/// Characters of free texts: a display name, the name of a credential.
pub const MAX_LABEL_CHARS: usize = 100;

/// Characters of an e-mail address (RFC 5321's limit of a path, less its brackets).
pub const MAX_EMAIL_CHARS: usize = 254;

/// Characters of the reason of a request for enablement, and of the note that answers it.
pub const MAX_REASON_CHARS: usize = 2_000;

/// Live access tokens of one user: enough for every machine, few enough to look through.
pub const MAX_ACCESS_TOKENS: i64 = 100;

/// Credentials of one gateway: two while one replaces the other, and some for those who roll out slowly.
pub const MAX_GATEWAY_CREDENTIALS: i64 = 10;

/// Seconds between two writings of a gateway credential's last use: enough to see whether it is still used.
pub const LAST_USED_SECONDS: i64 = 60;

/// Days a session lives without being used; each use after a day of rest renews it.
pub const SESSION_DAYS: i64 = 30;

/// A token limit that an administrator may set for one user.
pub const MAX_TOKENS_OVERRIDE: i64 = 1_000_000;
