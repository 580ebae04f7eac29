//! What the units of a request cost: units and their rates as `genai-prices` describes them, computed exactly.
//!
//! A request counts units (tokens, seconds, searches). Some units are parts of others: tokens that were read from a
//! cache are input tokens. A part with a rate of its own is taken out of its whole; one without is billed as its whole.
//! Nothing is free because a rate is missing: a unit that has none, and whose wholes have none, has no price.

pub mod conditions;
pub mod cost;
pub mod cost_line;
pub mod count;
pub mod list;
pub mod list_changes;
pub mod model_prices;
pub mod name_rule;
pub mod priced_by;
pub mod rate;
pub mod rates;
pub mod unit;
pub mod units;
pub mod unknown;
pub mod version;
