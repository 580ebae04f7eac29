//! Tests of the meter with answers of providers, with the library `genai-prices`, and with random JSON.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod answers;
mod genai_prices;
mod random_json;
