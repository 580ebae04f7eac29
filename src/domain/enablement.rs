//! Enablement: an account must be enabled for the token API before it can use it (spec §1, §5.3).

use super::id::{EnablementRequestId, UserId};
use super::time::UnixTime;
use crate::domain::named::named;

/// A user's request to be enabled.
#[derive(Debug, Clone)]
pub struct EnablementRequest {
    /// Unique among all requests.
    pub id: EnablementRequestId,
    /// The account to enable.
    pub user_id: UserId,
    /// The username of that account.
    pub username: String,
    /// Why the user asks.
    pub reason: String,
    /// Pending, or how it was decided.
    pub state: EnablementState,
    /// When it was sent.
    pub created_time: UnixTime,
    /// When it was decided.
    pub decided_time: Option<UnixTime>,
    /// The username of the administrator who decided.
    pub decided_by_name: Option<String>,
    /// The administrator's note to the user; may be empty.
    pub note: String,
}

named! {
    /// The state of an enablement request.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::Type)]
    #[sqlx(type_name = "text", rename_all = "lowercase")]
    pub enum EnablementState {
        /// Not decided yet.
        Pending = "pending",
        /// The account was enabled.
        Approved = "approved",
        /// The account was not enabled.
        Refused = "refused",
    }
}

/// An administrator's decision about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Enable the account.
    Approve,
    /// Leave it as it is.
    Refuse,
}

impl Decision {
    /// The state of the request after this decision.
    pub const fn state(self) -> EnablementState {
        match self {
            Self::Approve => EnablementState::Approved,
            Self::Refuse => EnablementState::Refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_states_read_back() {
        use EnablementState::{Approved, Pending, Refused};
        for (state, name) in [(Pending, "pending"), (Approved, "approved"), (Refused, "refused")] {
            assert_eq!(state.as_str(), name);
            assert_eq!(EnablementState::parse(name), Some(state));
        }
        assert_eq!(EnablementState::parse("Pending"), None);
        assert_eq!([Decision::Approve.state(), Decision::Refuse.state()], [Approved, Refused]);
    }
}
