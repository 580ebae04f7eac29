//! Errors of the database, as services distinguish them.

use std::sync::Arc;

use sqlx::error::DatabaseError;

use crate::domain::username::UsernameConflict;

/// Cloned, because the requests of a batch share one.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StorageError {
    /// The database is unreachable, restarting or overloaded. The same request may succeed shortly.
    #[error("the database is unavailable: {0}")]
    Unavailable(#[source] Arc<sqlx::Error>),
    /// A constraint that services turn into an error of their own.
    #[error("violates the constraint {0:?}")]
    Constraint(Constraint),
    /// A deadlock, a serialization failure, or a partition that was attached meanwhile. An immediate retry is likely to
    /// succeed.
    #[error("another transaction was in the way: {0}")]
    Contended(#[source] Arc<sqlx::Error>),
    /// Another transaction kept a row locked for longer than `lock_timeout`.
    #[error("another transaction holds a row: {0}")]
    Blocked(#[source] Arc<sqlx::Error>),
    /// A commit that may not be on a standby: the wait for it was cancelled.
    #[error("the wait for the disk or a standby was cancelled")]
    NotDurable,
    /// A commit has waited for the disk or a standby for too long, so nothing was begun.
    #[error("nothing is changed while a commit waits for the disk or a standby")]
    Stalled,
    /// The database accepts no writes, so what it shows may be old.
    #[error("the database accepts no writes")]
    ReadOnly,
    /// The task that ran the batch ended before it answered.
    #[error("the batch ended without an outcome")]
    GivenUp,
    /// A bounded queue of requests is full.
    #[error("too many requests are waiting")]
    Busy,
    /// The price list in force is another one than this server has.
    #[error("this server could not read the price list in force")]
    OtherPrices,
    /// Any other error: a defect of this program or of the database.
    #[error("database error: {0}")]
    Broken(#[source] Arc<sqlx::Error>),
}

/// Constraints that correct requests can violate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constraint {
    /// Another live account has this name.
    UsernameUnique,
    /// Another live account has a confusable name.
    UsernameSkeletonUnique,
    /// The account has a pending request already.
    OnePendingRequest,
    /// The id was sent before, or another server has just written its record.
    RequestIdUnique,
    /// Another batch has just made a reservation with this id.
    ReservationIdUnique,
}

impl Constraint {
    const ALL: [Self; 5] = [
        Self::UsernameUnique,
        Self::UsernameSkeletonUnique,
        Self::OnePendingRequest,
        Self::RequestIdUnique,
        Self::ReservationIdUnique,
    ];

    /// The name in `migrations/`.
    const fn name(self) -> &'static str {
        match self {
            Self::UsernameUnique => "users_username_unique",
            Self::UsernameSkeletonUnique => "users_username_skeleton_unique",
            Self::OnePendingRequest => "enablement_requests_one_pending",
            Self::RequestIdUnique => "idempotency_records_pkey",
            Self::ReservationIdUnique => "reservations_pkey",
        }
    }

    /// The constraint that an error names: in its own field, or, behind proxies that leave the field empty, in the
    /// quoted text of the message. Extensions add a suffix for a shard, and PostgreSQL for an index that is being
    /// replaced.
    fn of(error: &dyn DatabaseError) -> Option<Self> {
        let is_violation = error.code().is_some_and(|code| code.starts_with("23"));
        let names = |constraint: &Self| match error.constraint() {
            Some(name) if name.starts_with(constraint.name()) => true,
            Some(_) | None => error.message().contains(&format!("\"{}", constraint.name())),
        };
        Self::ALL.into_iter().find(|constraint| is_violation && names(constraint))
    }
}

impl From<sqlx::Error> for StorageError {
    fn from(error: sqlx::Error) -> Self {
        if let Some(constraint) = error.as_database_error().and_then(Constraint::of) {
            return Self::Constraint(constraint);
        }
        let error = Arc::new(error);
        let code = error.as_database_error().and_then(DatabaseError::code);
        match code.as_deref() {
            Some("40001" | "40P01") => return Self::Contended(error),
            // A check without a name is the bound of a partition: a partition was attached while the row was on its way
            // into the default one.
            Some("23514") if error.as_database_error().is_some_and(|error| error.constraint().is_none()) => {
                return Self::Contended(error);
            }
            Some("55P03") => return Self::Blocked(error),
            _ => {}
        }
        if is_outage(&error) { Self::Unavailable(error) } else { Self::Broken(error) }
    }
}

/// Returns true if the error is not about the statement: the same one may succeed shortly.
pub(super) fn is_outage(error: &sqlx::Error) -> bool {
    use sqlx::Error::{BeginFailed, Io, PoolClosed, PoolTimedOut, Protocol, Tls, WorkerCrashed};
    let code = error.as_database_error().and_then(DatabaseError::code);
    code.is_some_and(|code| TRANSIENT_CLASSES.iter().any(|class| code.starts_with(class)))
        || matches!(error, Io(_) | Tls(_) | Protocol(_) | PoolTimedOut | PoolClosed | WorkerCrashed | BeginFailed)
}

/// The error of what PostgreSQL did not answer in time.
pub(super) fn no_answer() -> sqlx::Error {
    sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())
}

/// Classes of SQLSTATE that are not about the statement: the server, the connection or the session cannot serve it, and
/// the same request may succeed shortly, here or on the server that takes over.
///
/// 08 connection exception, 25 invalid transaction state (25006: the server is read-only; 25P03: idle for too long), 28
/// invalid authorization, 3D no such database, 53 insufficient resources (disk full, out of memory, too many
/// connections), 55 not in prerequisite state, 57 operator intervention (shut down, crash, statement timeout), 58
/// system error, F0 configuration file, XX internal error.
const TRANSIENT_CLASSES: [&str; 10] = ["08", "25", "28", "3D", "53", "55", "57", "58", "F0", "XX"];

impl StorageError {
    /// The constraint that refused the statement, if one did.
    pub const fn constraint(&self) -> Option<Constraint> {
        if let Self::Constraint(constraint) = self { Some(*constraint) } else { None }
    }

    /// The conflict with the username of another account, if that is the error.
    pub const fn username_conflict(&self) -> Option<UsernameConflict> {
        match self.constraint() {
            Some(Constraint::UsernameUnique) => Some(UsernameConflict::Taken),
            Some(Constraint::UsernameSkeletonUnique) => Some(UsernameConflict::Confusable),
            Some(Constraint::OnePendingRequest | Constraint::RequestIdUnique | Constraint::ReservationIdUnique)
            | None => None,
        }
    }

    /// Returns true if another transaction has locked a row, or the statement took too long: with fewer rows, or later,
    /// it may succeed.
    pub fn may_pass_with_fewer_rows(&self) -> bool {
        match self {
            Self::Blocked(_) | Self::Contended(_) => true,
            // The statement was cancelled, by its timeout.
            Self::Unavailable(error) => {
                error.as_database_error().and_then(DatabaseError::code).is_some_and(|code| code == "57014")
            }
            Self::Constraint(_)
            | Self::NotDurable
            | Self::Stalled
            | Self::ReadOnly
            | Self::GivenUp
            | Self::Busy
            | Self::OtherPrices
            | Self::Broken(_) => false,
        }
    }

    /// Returns true if the database does not answer or takes no writes, so that the same may succeed shortly.
    pub const fn is_outage(&self) -> bool {
        match self {
            Self::Unavailable(_) | Self::Blocked(_) | Self::ReadOnly => true,
            Self::Constraint(_)
            | Self::Contended(_)
            | Self::NotDurable
            | Self::Stalled
            | Self::GivenUp
            | Self::Busy
            | Self::OtherPrices
            | Self::Broken(_) => false,
        }
    }

    /// Returns true if the server or the connection to it may be the cause.
    pub const fn may_concern_server(&self) -> bool {
        match self {
            Self::Unavailable(_) | Self::Broken(_) | Self::GivenUp | Self::ReadOnly => true,
            Self::Constraint(_)
            | Self::Contended(_)
            | Self::Blocked(_)
            | Self::NotDurable
            | Self::Stalled
            | Self::Busy
            | Self::OtherPrices => false,
        }
    }

    /// Returns true if one row or value of a batch may be the cause, so that the rest may succeed without it.
    pub fn may_concern_one_row(&self) -> bool {
        match self {
            Self::Broken(_) | Self::Constraint(_) => true,
            Self::Unavailable(error) => {
                let code = error.as_database_error().and_then(DatabaseError::code);
                // A damaged page, or an error of the file system.
                code.is_some_and(|code| code.starts_with("XX") || code.starts_with("58"))
            }
            // Blocked rows are left out of the batch earlier, so this is a lock on a whole table.
            Self::Blocked(_)
            | Self::Contended(_)
            | Self::NotDurable
            | Self::Stalled
            | Self::ReadOnly
            | Self::GivenUp
            | Self::Busy
            | Self::OtherPrices => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::error::Error;

    use sqlx::error::ErrorKind;

    use super::*;

    /// A unique violation, as PostgreSQL, a proxy or an extension may report it.
    #[derive(Debug)]
    struct Violation {
        code: &'static str,
        constraint: Option<&'static str>,
        message: &'static str,
    }

    impl std::fmt::Display for Violation {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str(self.message)
        }
    }

    impl Error for Violation {}

    impl DatabaseError for Violation {
        fn message(&self) -> &str {
            self.message
        }

        fn code(&self) -> Option<Cow<'_, str>> {
            Some(self.code.into())
        }

        fn constraint(&self) -> Option<&str> {
            self.constraint
        }

        fn kind(&self) -> ErrorKind {
            ErrorKind::UniqueViolation
        }

        fn as_error(&self) -> &(dyn Error + Send + Sync + 'static) {
            self
        }

        fn as_error_mut(&mut self) -> &mut (dyn Error + Send + Sync + 'static) {
            self
        }

        fn into_error(self: Box<Self>) -> Box<dyn Error + Send + Sync + 'static> {
            self
        }
    }

    #[test]
    fn a_constraint_is_recognised_by_its_field_or_by_the_message() {
        let message = r#"duplicate key value violates unique constraint "idempotency_records_pkey_102008""#;
        let table = [
            ("23505", Some("idempotency_records_pkey"), "", Some(Constraint::RequestIdUnique)),
            ("23505", None, message, Some(Constraint::RequestIdUnique)),
            ("23505", Some("idempotency_records_pkey_102008"), message, Some(Constraint::RequestIdUnique)),
            (
                "23505",
                Some("idempotency_records_pkey_ccold"),
                "doppelter Schlüsselwert verletzt Unique-Constraint »idempotency_records_pkey_ccold«",
                Some(Constraint::RequestIdUnique),
            ),
            ("23P01", Some("users_username_skeleton_unique"), "", Some(Constraint::UsernameSkeletonUnique)),
            ("23505", Some("tokens_key_digest_unique"), r#"violates "tokens_key_digest_unique""#, None),
            ("42601", Some("idempotency_records_pkey"), message, None),
        ];
        for (code, constraint, message, expected) in table {
            assert_eq!(Constraint::of(&Violation { code, constraint, message }), expected, "{constraint:?} {message}");
        }
    }
}
