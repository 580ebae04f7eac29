//! What gateways call: verify, charge, reserve, extend, settle, release and forward-auth.

pub mod charge;
mod counts;
mod errors;
pub mod extractors;
pub mod forward_auth;
mod requests;
pub mod reservations;
mod responses;
pub mod verify;

pub use self::errors::ReasonBody;
