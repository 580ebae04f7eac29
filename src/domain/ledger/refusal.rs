//! Why the ledger refuses an operation.

/// Why an operation was refused, in the order in which the reasons are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The key is unknown, or its token is deleted.
    #[error("this API key is not valid")]
    InvalidKey,
    /// The token is switched off.
    #[error("this token is disabled")]
    TokenDisabled,
    /// The token's expiry time has come.
    #[error("this token has expired")]
    TokenExpired,
    /// The token's owner is disabled.
    #[error("the account of this token is disabled")]
    UserDisabled,
    /// The owner was moved to another group, or the group was removed from the settings.
    #[error("the owner of this token may not use its group")]
    GroupNotAllowed,
    /// The model is not in the token's `model_limits`.
    #[error("this token may not use this model")]
    ModelNotAllowed,
    /// The address is not in the token's `allow_ips`.
    #[error("this token may not be used from this address")]
    IpNotAllowed,
    /// The token has no quota left.
    #[error("this token has used up its quota")]
    TokenExhausted,
    /// The token has less quota left than the amount.
    #[error("insufficient token quota for this amount")]
    TokenQuotaInsufficient,
    /// The owner's wallet has less quota left than the amount.
    #[error("insufficient account quota for this amount")]
    UserQuotaInsufficient,
    /// Never made, made by another gateway, or deleted long after it ended.
    #[error("reservation not found")]
    NoReservation,
    /// It has ended in another way (L7).
    #[error("this reservation has already ended")]
    ReservationEnded,
}
