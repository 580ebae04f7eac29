//! The columns of a token, and what becomes of a row of them.

/// All columns of a token. `$tail` is the rest of the statement: more columns, and from where.
macro_rules! select_tokens {
    ($tail:literal $(, $bind:expr)* $(,)?) => {
        sqlx::query!(
            "select id, user_id, key_hint, key_foreign, switched_off_by, name, note, show_addresses, created_time, accessed_time, expires_at, \
             remain_quota, unlimited_quota, used_quota, held, day_limit, week_limit, month_limit, period_day, day_used, \
             week_used, month_used, requests_per_minute, tokens_per_minute, concurrency, requests_tat, tokens_tat, \
             open_reservations, model_limits_enabled, model_limits, allow_ips, group_name, cross_group_retry, version"
            + $tail
            $(, $bind)*
        )
    };
}

/// The token of a row.
macro_rules! token_of {
    ($row:expr) => {
        Token {
            id: $row.id,
            user_id: $row.user_id,
            key_hint: $row.key_hint,
            key_foreign: $row.key_foreign,
            name: $row.name,
            note: $row.note,
            show_addresses: $row.show_addresses,
            created_time: $row.created_time,
            accessed_time: $row.accessed_time,
            policy: std::sync::Arc::new(crate::storage::tokens::columns::policy_of!($row)),
            account: crate::storage::columns::token_account!($row),
            rate_limits: crate::storage::columns::rate_limits!($row),
            rate_counters: crate::storage::columns::rate_counters!($row),
        }
    };
}

/// The policy of a row.
macro_rules! policy_of {
    ($row:expr) => {
        crate::domain::token_policy::TokenPolicy {
            version: $row.version,
            disabled_by: $row.switched_off_by,
            lifetime: crate::domain::time::Lifetime::from($row.expires_at),
            model_limits_enabled: $row.model_limits_enabled,
            model_limits: $row.model_limits,
            allow_ips: $row.allow_ips,
            group: $row.group_name,
            cross_group_retry: $row.cross_group_retry,
        }
    };
}

/// The locked token of a row.
macro_rules! locked_token {
    ($row:expr) => {
        LockedToken {
            id: $row.id,
            user_id: $row.user_id,
            version: $row.version,
            accessed_time: $row.accessed_time,
            account: crate::storage::columns::token_account!($row),
            rate_limits: crate::storage::columns::rate_limits!($row),
            rate_counters: crate::storage::columns::rate_counters!($row),
        }
    };
}

pub(in crate::storage) use {locked_token, policy_of, select_tokens, token_of};
