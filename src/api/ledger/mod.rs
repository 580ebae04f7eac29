//! What gateways call: verify, charge, reserve, extend, settle, release and forward-auth.

pub mod charge;
pub mod forward_auth;
mod refusals;
mod requests;
pub mod reservations;
mod responses;
pub mod verify;

pub use self::refusals::ReasonBody;
