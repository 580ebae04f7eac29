//! The proof of the ledger: which of its invariants the rows of some tokens or wallets violate (docs/ledger.md).
//!
//! L2 and L4 cannot be proved on the rows: L2 follows from how operations are applied, and L4 from the commit before
//! the answer.

use std::fmt::Display;

use crate::domain::time::Day;
use crate::storage::consistency::{
    DayViolation, Violation, list_day_violations, list_token_limit_violations, list_token_violations,
    list_wallet_limit_violations, list_wallet_violations,
};
use crate::storage::price_proof::{PriceViolation, list_price_violations};
use crate::storage::{Conn, StorageError};

/// A violated invariant, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvariantViolation {
    /// Such as `L3`.
    pub invariant: &'static str,
    pub text: String,
}

impl InvariantViolation {
    pub fn new(invariant: &'static str, text: impl Display) -> Self {
        Self { invariant, text: format!("{invariant}: {text}") }
    }
}

/// Proves L3, L5, L9 and L10 of tokens with ids in `from..=to`; L5 and L10 of charges since the day `since`.
///
/// # Errors
/// The database.
pub async fn prove_tokens(
    conn: &mut Conn,
    (from, to): (i64, i64),
    zone: &str,
    since: Day,
) -> Result<Vec<InvariantViolation>, StorageError> {
    let mut findings = Vec::new();
    for Violation { id, recorded, sum } in list_token_violations(conn, from, to).await? {
        let text = format!("token {id} has used {recorded}, but its charges and open reservations are {sum}");
        findings.push(InvariantViolation::new("L3", text));
    }
    for Violation { id, recorded, sum } in list_token_limit_violations(conn, from, to).await? {
        let text = format!(
            "token {id} counts {recorded} as held or as used in a period, but its reservations or charges are {sum}"
        );
        findings.push(InvariantViolation::new("L9", text));
    }
    for violation in list_day_violations(conn, from, to, zone, since).await? {
        let DayViolation { token_id, day, recorded, sum } = violation;
        let text = format!("token {token_id} spent {recorded} on {day}, but its charges of that day are {sum}");
        findings.push(InvariantViolation::new("L5", text));
    }
    for violation in list_price_violations(conn, from, to, since).await? {
        let PriceViolation { charge_id, token_id, recorded, by_price } = violation;
        let what = match by_price {
            Some(units) => format!("by its price it costs {units}"),
            None => "its price is gone".to_owned(),
        };
        findings.push(InvariantViolation::new(
            "L10",
            format!("charge {charge_id} of token {token_id} took {recorded}, but {what}"),
        ));
    }
    Ok(findings)
}

/// Proves L3 and L9 of the wallets of users with ids in `from..=to`.
///
/// # Errors
/// The database.
pub async fn prove_wallets(conn: &mut Conn, (from, to): (i64, i64)) -> Result<Vec<InvariantViolation>, StorageError> {
    let mut findings = Vec::new();
    for Violation { id, recorded, sum } in list_wallet_violations(conn, from, to).await? {
        let text = format!("the wallet of user {id} has used {recorded}, but its tokens have used {sum}");
        findings.push(InvariantViolation::new("L3", text));
    }
    for Violation { id, recorded, sum } in list_wallet_limit_violations(conn, from, to).await? {
        let text = format!(
            "the wallet of user {id} counts {recorded} as held or as used in a period, but its tokens have {sum}"
        );
        findings.push(InvariantViolation::new("L9", text));
    }
    Ok(findings)
}
