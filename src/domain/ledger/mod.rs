//! The rules of the ledger: which operations fit which balances.
//!
//! [`Balances`] are the rows that a batch has locked. Operations are applied to them one after the other, in the order
//! of arrival; what has changed afterwards is written. Nothing here reads a clock or a database, so the invariants are
//! tested as properties:
//!
//! - **L1** `remain` and `used` are never negative, neither of a token nor of a wallet.
//! - **L2** `remain + used` of a limited token changes only when quota is granted or edited, never by use.
//! - **L3** `used` of a token and of a wallet is the sum of its charges and its open reservations, and of what it had
//!   used before an import.
//! - **L4** what was answered is committed; a retry with the same request id charges nothing again (`service::ledger`).
//! - **L5** the usage of a day is the sum of its charges (`storage::ledger`, one statement).
//! - **L6** nothing is taken from a token that is disabled, deleted or expired, or whose owner is disabled, and nothing
//!   by a replaced key after its deadline.
//! - **L7** a hold ends exactly once: settled, released or expired. An expired reservation has given its hold back;
//!   settling it afterwards is a charge without a hold, at most once. Or, if it was made so, its expiry has charged the
//!   hold, and nothing follows. Only the gateway that made a reservation can extend, settle or release it.
//! - **L8** overload refuses or waits; it drops nothing and never skips the ledger (`service::ledger`).
//! - **L9** the counters of a period are the sum of the usage of its days, and `held` is the sum of the open
//!   reservations, of a token and of a wallet. Nothing is admitted beyond a period limit.
//! - **L10** a charge that was computed from counts is what its price says: quota and shortfall together.

mod accounts;
mod admission;
mod balances;
mod key_state;
mod locked_token;
mod refusal;
mod reservation;
mod settled_cost;
#[cfg(test)]
pub(super) mod tests;
mod used_keys;

pub use accounts::Accounts;
pub use admission::{Admitted, Purpose, RequestContext, RequestDetails, TokenState, admit, admit_use};
pub use balances::{Balances, ChargeOutcome, Effect, Wallet};
pub use key_state::{KeyState, StateCounts, StateName};
pub use locked_token::{CurrentPolicy, LockedToken};
pub use refusal::{Figures, Refusal, RefusalReason};
pub use reservation::{
    Asked, Extension, OnExpiry, Reservation, ReservationHandle, ReservationHandleInvalid, ReservationState, Settlement,
    repeat,
};
pub use settled_cost::settled_cost;
pub use used_keys::UsedKeys;
