//! Reads from the answers of providers what they counted: units, the model, told costs.

mod answer;
pub mod extraction;
pub mod extractor;
pub mod extractors;
pub mod json_value;
pub mod number;
pub mod text_rule;
mod unread;
pub mod value_path;
