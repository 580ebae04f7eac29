//! Limits and times that are not settings, with their reasons (spec §8). Settings are in `config/default.toml`.

use std::time::Duration;

use super::time::DAY;

/// Micro-dollars in one quota unit: 1 USD = 500,000 quota (spec §1).
pub const MICRO_USD_PER_QUOTA: i128 = 2;

/// Quota units in one dollar (spec §1). Clients read it at `/api/status`.
pub const QUOTA_PER_USD: i64 = 500_000;

/// The largest amount a token or a wallet can be granted: 1,000,000,000 × `QuotaPerUnit` (spec §8). The `remain_quota`
/// of an unlimited token is never spent, so any number is accepted there, and one outside the range is stored as 0:
/// clients of this API family send values such as -1.
pub const MAX_QUOTA: i64 = 500_000_000_000_000;

/// The largest rate or number of open reservations that a token can be limited to; no server reaches it.
pub const MAX_RATE: i64 = 1_000_000_000;

/// Seconds by which the model tokens of one charge can use up a rate in advance, so that a wrong count does not lock a
/// token for good.
pub const MAX_RATE_DEBT_SECONDS: i64 = 3_600;

/// Characters in a token's name, after trimming (spec §8). Characters, not bytes.
pub const MAX_NAME_CHARS: usize = 50;

/// Page size if the caller sends none or 0; the usual one of this API family.
pub const DEFAULT_PAGE_SIZE: i64 = 10;

/// The largest page. Larger sizes are reduced to it; the answer has the size in `page_size`.
pub const MAX_PAGE_SIZE: i64 = 100;

/// Wildcards in one search text (spec §8).
pub const MAX_SEARCH_WILDCARDS: usize = 2;

/// Characters of a search text, not counting wildcards (spec §8).
pub const MIN_SEARCH_CHARS: usize = 2;

/// Keys that a search of all users' keys decrypts and compares. Random keys share their first or last four characters
/// with one in 14 million others, so only imported keys with a common beginning reach this.
pub const MAX_KEY_CANDIDATES: i64 = 1_000;

/// Tokens among which a list of all users' tokens filters and orders: the newest ones. Balances and the last use change
/// with every charge, so an index by them would make every charge write more, and without one every token would be
/// read.
pub const MAX_LISTED_TOKENS: i64 = 10_000;

/// Accounts among which a list of accounts orders: the newest ones, for the same reason.
pub const MAX_LISTED_USERS: i64 = 10_000;

/// Characters of a token's `note`.
pub const MAX_NOTE_CHARS: usize = 500;

/// Names in one token's `model_limits`. A longer list is probably a mistake.
pub const MAX_MODELS: usize = 1_000;

/// Characters in one model name.
pub const MAX_MODEL_CHARS: usize = 128;

/// Entries in one token's `allow_ips`. Every request of a gateway searches the list.
pub const MAX_IPS: usize = 100;

/// Bytes of one token's `model_limits`. Every server caches them for the keys in use, so the lists of one owner use
/// memory that all share. A hundred long model names fit.
pub const MAX_LIST_BYTES: usize = 16 * 1_024;

/// Lines of the audit log in one CSV file: a few MiB.
pub const MAX_AUDIT_CSV_LINES: i64 = 10_000;

/// Ids in one batch delete: one statement, well below the body limit.
pub const MAX_BATCH: usize = 1_000;

/// Keys revealed by one call. Each is a line in the audit log.
pub const MAX_KEY_BATCH: usize = 100;

/// Charges that one answer lists for the holder of a key: what other APIs of this family return.
pub const MAX_CHARGES_OF_KEY: i64 = 1_000;

/// How far back the pages of a user's charges reach. Older ones are found by a shorter range.
pub const MAX_LISTED_CHARGES: i64 = 10_000;

/// Charges that are read for one page of requests with a filter: well below a second. The next page reads on.
pub const MAX_REQUESTS_READ: i64 = 50_000;

/// Charges among which one is searched by its id, if its day has no index by ids: some seconds. As many refusals.
pub const MAX_REQUESTS_SEARCHED: i64 = 2_000_000;

/// Rows that one statement of such a search reads.
pub const MAX_REQUESTS_READ_AT_ONCE: i64 = 250_000;

/// How long such a search reads further statements: a large table on a slow disk is not searched to the end.
pub const REQUEST_SEARCH_TIME: Duration = Duration::from_secs(5);

/// Pages that are read for one file of requests. With a filter that little passes, all of history would be read.
pub const MAX_PAGES_READ: usize = 10;

/// What a key of unlimited quota may spend, as the billing calls show it with `compat.unlimited_limit = "sentinel"`:
/// 100 million dollars, the number that other APIs of this family send.
pub const UNLIMITED_SENTINEL: i64 = 100_000_000 * QUOTA_PER_USD;

/// Days from the first to the last day of a daily usage answer (spec §8).
pub const MAX_USAGE_DAYS: i64 = 7;

/// Days of a usage report: a leap year.
pub const MAX_REPORT_DAYS: i64 = 366;

/// Days of a usage report in a time zone of the caller's own, which is summed from single charges.
pub const MAX_OWN_ZONE_DAYS: i64 = 31;

/// Days of a usage report by hour, which is summed from single charges.
pub const MAX_HOURLY_DAYS: i64 = 2;

/// An administrator is told of a wallet that is empty, or that lasts fewer days than these at its pace in a usage
/// report of [`DEFAULT_REPORT_DAYS`].
pub const LOW_WALLET_DAYS: i64 = 7;

/// Days of a usage report if the caller sends no `from`.
pub const DEFAULT_REPORT_DAYS: i64 = 30;

/// Lines of a usage report: about 10 MiB.
pub const MAX_REPORT_ROWS: i64 = 50_000;

/// Rows of usage that a report reads: some seconds, and within the time limit of a statement also on a busy machine.
/// For a year of 1,000 tokens with 20 models, these are 240,000 by token and month, and at most 1,200,000 of the days
/// of months that are not whole.
pub const MAX_REPORT_READ: i64 = 2_000_000;

/// Reports that are made at once. Each uses a connection, and one over much usage runs for seconds.
pub const REPORTS_RUNNING: usize = 2;

/// Reports that may wait for the others.
pub const REPORTS_WAITING: usize = 64;

/// Reports of one user at once, one of which is made while the others wait: more than a page of the dashboard asks for,
/// and few enough that one user does not fill the line.
pub const MAX_REPORTS_OF_USER: usize = 8;

/// Lines of a report of refused requests if the caller asks for no page: the largest counts, which are those that
/// somebody has to look at.
pub const MAX_REFUSED_ROWS: i64 = 100;

/// Counts of refused requests that wait to be written: about a megabyte. A count has a day, a token and a reason; what
/// does not fit is not counted.
pub const MAX_REFUSED_WAITING: usize = 10_000;

/// Seconds between two writes of the counts and samples of refused requests.
pub const REFUSED_WRITE_SECONDS: u64 = 5;

/// Single refused requests of one key and reason that are kept in a minute.
pub const MAX_REFUSALS_A_MINUTE: u32 = 5;

/// Single refused requests that a server writes at once: 50 a second.
pub const MAX_REFUSALS_WRITTEN: usize = 250;

/// Single refused requests of tokens that wait to be written: less than a megabyte.
pub const MAX_REFUSALS_WAITING: usize = 1_000;

/// Those with keys that nobody has.
pub const MAX_UNKNOWN_REFUSALS_WAITING: usize = 100;

/// Networks of which requests with keys that nobody has are told apart in a minute.
pub const MAX_UNKNOWN_REFUSAL_KINDS: usize = 500;

/// Tokens and reasons of which refused requests are told apart in a minute: about two megabytes.
pub const MAX_REFUSAL_KINDS: usize = 10_000;

/// Single refused requests that are kept in all: about four gigabytes.
pub const MAX_REFUSALS: i64 = 20_000_000;

/// Seconds of which an overview shows what was refused.
pub const RECENT_REFUSALS_SECONDS: i64 = 3_600;

/// Refused requests that are read for an overview, the newest.
pub const MAX_RECENT_REFUSALS_READ: i64 = 20_000;

/// Lines of what was refused in an overview, the largest numbers.
pub const MAX_RECENT_REFUSALS: i64 = 20;

/// Entries of the audit log, the newest, that are looked through for the last change of a token or an account.
pub const MAX_CHANGES_SOUGHT: i64 = 10_000;

/// Days for which single refused requests are kept.
pub const REFUSAL_DAYS: i64 = 7;

/// How often the database's clock is read.
pub const CLOCK_INTERVAL: Duration = Duration::from_secs(1);

/// The age at which the database's clock must be read again before a key is judged: several readings have failed then.
pub const CLOCK_CURRENT: Duration = Duration::from_secs(5);

/// How long an exact reading of the database's clock counts before less exact ones: two clocks drift apart.
pub const CLOCK_READING_KEPT: Duration = Duration::from_mins(1);

/// Days by which the day of a charge may be ahead of today: after a change of `usage.time_zone` it can be by one. A
/// later day was charged while the database's clock was wrong.
pub const MAX_DAYS_AHEAD: i64 = 1;

/// How long a key that was valid skips the limit on wrong keys.
pub const VALID_KEY_REMEMBERED: Duration = Duration::from_mins(10);

/// How long a daily usage answer is cached (spec §8).
pub const DAILY_USAGE_CACHE: Duration = Duration::from_mins(10);

/// How long a cached key or credential is used without reading it again. It bounds how late a change on another server
/// takes effect if its notification is lost.
pub const CACHE_AGE: Duration = Duration::from_secs(2);

/// The age at which a cached key or credential in use is read again in the background, so that no request waits.
pub const CACHE_REFRESH_AGE: Duration = Duration::from_secs(1);

/// Days of spend on an overview, including today.
pub const OVERVIEW_DAYS: i64 = 7;

/// The last second of the year 9999. What says a later time is not in seconds, and calendars end there.
pub const LAST_SECOND: i64 = 253_402_300_799;

/// The first second after it.
pub const AFTER_LAST_SECOND: i64 = LAST_SECOND + 1;

/// A token that expires within this many seconds needs attention.
pub const EXPIRES_SOON_SECONDS: i64 = 7 * DAY;

/// Tokens that an overview lists; it counts all others.
pub const MAX_ATTENTION: usize = 20;

/// Charges in one call: well below the body limit.
pub const MAX_CHARGES: usize = 1_000;

/// Characters of a charge's `request_id`.
pub const MAX_REQUEST_ID_CHARS: usize = 128;

/// Seconds after which a reservation expires, if the request does not set `ttl_seconds`.
pub const RESERVATION_SECONDS: i64 = 600;

/// The longest time, in seconds, for which a reservation may hold quota.
pub const MAX_RESERVATION_SECONDS: i64 = 86_400;

/// How long the database has to be reachable to a server before its job charges holds whose time is over: after an
/// outage, gateways get to settle first.
pub const CHARGE_ON_EXPIRY_AFTER: Duration = Duration::from_mins(5);

/// Dollars for a million tokens, or for a request, in a price.
pub const MAX_RATE_USD: i64 = 1_000_000;

/// The highest rate of a unit, in dollars for as many of it as the rate is for.
pub const MAX_UNIT_RATE_USD: i64 = 1_000_000_000;

/// Bytes of a price as the database knows it, in ASCII. A row of its unique index has at most 2,704 bytes.
pub const MAX_PRICE_CONTENT_CHARS: usize = 2_600;

/// Units of one's own in a price list: each is compared with all others.
pub const MAX_OWN_UNITS: usize = 200;

/// Models in the published data of a price list.
pub const MAX_PUBLISHED_MODELS: usize = 20_000;

/// Prices in the price list.
pub const MAX_PRICES: usize = 10_000;

/// Input or output tokens of one request. Sums over many requests do not overflow.
pub const MAX_COUNT: i64 = 1_000_000_000_000;

/// Different units of one request.
pub const MAX_UNITS: usize = 64;

/// Members of the context of one request.
pub const MAX_CONTEXT_MEMBERS: usize = 8;

/// Characters of a name or a value in the context of a request, and of the name of a provider.
pub const MAX_CONTEXT_CHARS: usize = 64;

/// Seconds for which an idempotency record is kept: a retry with the same `request_id` gets the first answer.
pub const IDEMPOTENCY_RECORD_SECONDS: i64 = 72 * 3_600;

/// Tokens that one call creates (spec §15.4). Each has a key, which is encrypted while the account is locked.
pub const MAX_BULK_CREATE: usize = 100;

/// Tokens that one call gives other keys, for the same reason.
pub const MAX_BULK_ROTATE: usize = 100;

/// Tokens that one call changes by their ids.
pub const MAX_BULK_CHANGE: usize = 1_000;

/// How long such a call goes on to further owners: well below the time limit of a request.
pub const BULK_CHANGE_TIME: Duration = Duration::from_secs(5);

/// Accounts that one call changes (spec §10.7).
pub const MAX_BULK_USERS: usize = 1_000;

/// Characters of an `Idempotency-Key` (spec §15.3).
pub const MAX_IDEMPOTENCY_KEY_CHARS: usize = 255;

/// The longest grace period of a replaced key, in seconds (spec §15.1).
pub const MAX_GRACE_SECONDS: i64 = 30 * DAY;

/// The grace period of a rotation that names none: a day, so that programs that restart every night get the new key.
pub const DEFAULT_GRACE_SECONDS: i64 = DAY;

/// Seconds after a rotation at which the grace period begins at the latest, so that a new key that nobody uses does not
/// keep the old one alive for ever.
pub const GRACE_STARTS_SECONDS: i64 = 30 * DAY;

/// Replaced keys of a token that still work.
pub const MAX_OLD_KEYS: i64 = 3;

/// Replaced keys of a token that are remembered; more than a rotation a day leaves in 90 days.
pub const MAX_ENDED_KEYS: i64 = 100;

/// Seconds for which a replaced key that ended is remembered: its owner sees where it is still tried, and a retry of a
/// charge gets its answer.
pub const ENDED_KEY_SECONDS: i64 = 90 * DAY;

/// Replaced keys whose use waits to be written.
pub const MAX_OLD_KEY_USES: usize = 10_000;

/// Characters of a password: long enough to resist guessing, and limited because hashing takes time.
pub const PASSWORD_CHARS: std::ops::RangeInclusive<usize> = 8..=128;

/// Passwords that may wait to be hashed or checked. Two are hashed at a time, so the last one waits about two seconds.
pub const PASSWORDS_WAITING: usize = 64;

/// Keys that one rate limit counts separately: usernames, addresses, API keys. Enough for one minute, in a few MiB.
pub const MAX_RATE_LIMIT_KEYS: usize = 50_000;

/// Characters of a username.
pub const USERNAME_CHARS: std::ops::RangeInclusive<usize> = 1..=50;

/// Characters of a display name, and of the name of a credential.
pub const MAX_LABEL_CHARS: usize = 100;

/// Bytes of a value in the changes of an edit, in the audit log. Only notes and addresses of people are longer.
pub const MAX_AUDIT_VALUE_BYTES: usize = 256;

/// Bytes of all values and entries of lists in the changes of one edit. Lists may have thousands of entries.
pub const MAX_AUDIT_CHANGES_BYTES: usize = 2_048;

/// Characters of an e-mail address (RFC 5321's limit of a path, less its brackets).
pub const MAX_EMAIL_CHARS: usize = 254;

/// Characters of the reason of an enablement request, and of the note of its decision.
pub const MAX_REASON_CHARS: usize = 2_000;

/// Live access tokens of one user: enough for every machine, few enough to review.
pub const MAX_ACCESS_TOKENS: i64 = 100;

/// Credentials of one gateway: two during a replacement, and more for slow rollouts.
pub const MAX_GATEWAY_CREDENTIALS: i64 = 10;

/// Seconds between two updates of a gateway credential's last use: precise enough to see whether it is still used.
pub const LAST_USED_SECONDS: i64 = 60;

/// The same, where uptimes are compared.
pub const LAST_USED_INTERVAL: Duration = Duration::from_secs(LAST_USED_SECONDS.unsigned_abs());

/// Days after its last use on which a session expires. A use more than a day after the last renewal renews it.
pub const SESSION_DAYS: i64 = 30;

/// Sessions that a user sees; those used last. Older ones end by themselves.
pub const MAX_LISTED_SESSIONS: i64 = 100;

/// Days for which a network from which somebody signed in to an account is known there. A holiday is shorter.
pub const KNOWN_NETWORK_DAYS: i64 = 90;

/// Known networks of one account; those used last. A phone changes its network often.
pub const MAX_KNOWN_NETWORKS: i64 = 100;

/// Seconds for which administrators see that sign-ins to an account were refused.
pub const LOCKOUT_SECONDS: i64 = DAY;

/// The same for names without an account, which nobody sees.
pub const UNKNOWN_LOCKOUT_SECONDS: i64 = 600;

/// Locked accounts in one list.
pub const MAX_LOCKED_ACCOUNTS: i64 = 100;

/// Characters of a `User-Agent` that are kept with a session: enough to tell browser and system.
pub const MAX_USER_AGENT_CHARS: usize = 300;

/// The largest token limit that an administrator may set for one user.
pub const MAX_TOKENS_OVERRIDE: i64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_that_are_computed_have_the_documented_values() {
        assert_eq!(MAX_LIST_BYTES, 16_384);
        assert_eq!(EXPIRES_SOON_SECONDS, 604_800);
        assert_eq!(IDEMPOTENCY_RECORD_SECONDS, 259_200);
        assert_eq!(UNLIMITED_SENTINEL, 50_000_000_000_000);
        assert_eq!(i128::from(QUOTA_PER_USD) * MICRO_USD_PER_QUOTA, 1_000_000);
    }
}
