//! What gateways call: verify, charge, reserve, extend, settle, release and forward-auth.

pub mod charge;
pub(super) mod counts;
mod errors;
pub mod extractors;
pub mod forward_auth;
pub(super) mod requests;
pub mod reservations;
mod responses;
pub mod verify;

pub use self::errors::ReasonBody;
