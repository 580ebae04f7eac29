//! Columns that become domain types when they are read. A value that its type does not allow is an error of the row: it
//! was changed by hand, or the database is damaged.

use sqlx::Postgres;
use sqlx::postgres::{PgTypeInfo, PgValueRef};

use crate::domain::group::Group;
use crate::domain::ip_allowlist::IpAllowlist;
use crate::domain::model_limits::ModelLimits;
use crate::domain::token::{TokenName, TokenNote};

/// Text columns, each with the function that checks them.
macro_rules! text_columns {
    ($($column:ty: $parse:expr;)*) => {$(
        impl sqlx::Type<Postgres> for $column {
            fn type_info() -> PgTypeInfo {
                <str as sqlx::Type<Postgres>>::type_info()
            }

            fn compatible(ty: &PgTypeInfo) -> bool {
                <str as sqlx::Type<Postgres>>::compatible(ty)
            }
        }

        impl<'r> sqlx::Decode<'r, Postgres> for $column {
            fn decode(value: PgValueRef<'r>) -> Result<Self, sqlx::error::BoxDynError> {
                let text = <&str as sqlx::Decode<Postgres>>::decode(value)?;
                Ok($parse(text)?)
            }
        }
    )*};
}

text_columns! {
    Group: |text| Ok::<_, std::convert::Infallible>(Group::from_text(text));
    IpAllowlist: IpAllowlist::parse;
    ModelLimits: ModelLimits::parse;
    TokenName: |text: &str| TokenName::from_stored(text.to_owned());
    TokenNote: TokenNote::parse;
}

/// A value of each row, for a statement that takes its rows as an array a column.
pub fn column<T, U>(rows: &[T], value: impl Fn(&T) -> U) -> Vec<U> {
    rows.iter().map(value).collect()
}

/// The period limits of a row of `tokens` or `users`.
macro_rules! period_limits {
    ($row:expr) => {
        crate::domain::period_limits::PeriodLimits {
            day: $row.day_limit,
            week: $row.week_limit,
            month: $row.month_limit,
        }
    };
}

/// The period counters of a row of `tokens` or `users`.
macro_rules! period_counters {
    ($row:expr) => {
        crate::domain::period_limits::PeriodCounters {
            day: $row.period_day,
            day_used: $row.day_used,
            week_used: $row.week_used,
            month_used: $row.month_used,
        }
    };
}

/// The account of a row of `tokens` or `users` with this budget.
macro_rules! account {
    ($row:expr, $budget:expr) => {
        crate::domain::account::Account {
            budget: $budget,
            used: $row.used_quota,
            held: $row.held,
            period_limits: crate::storage::columns::period_limits!($row),
            period_counters: crate::storage::columns::period_counters!($row),
        }
    };
}

/// The account of a row of `tokens`.
macro_rules! token_account {
    ($row:expr) => {
        crate::storage::columns::account!(
            $row,
            crate::domain::account::Budget::new($row.remain_quota, $row.unlimited_quota)
        )
    };
}

/// The account of a row of `users`.
macro_rules! wallet {
    ($row:expr) => {
        crate::storage::columns::account!($row, crate::domain::account::Budget::Limited { remain: $row.quota })
    };
}

/// The rate limits of a row of `tokens`.
macro_rules! rate_limits {
    ($row:expr) => {
        crate::domain::rate_limits::RateLimits {
            requests_per_minute: $row.requests_per_minute,
            tokens_per_minute: $row.tokens_per_minute,
            concurrency: $row.concurrency,
        }
    };
}

/// The rate counters of a row of `tokens`.
macro_rules! rate_counters {
    ($row:expr) => {
        crate::domain::rate_limits::RateCounters {
            requests_tat: $row.requests_tat,
            tokens_tat: $row.tokens_tat,
            open_reservations: $row.open_reservations,
        }
    };
}

pub(super) use {account, period_counters, period_limits, rate_counters, rate_limits, token_account, wallet};
