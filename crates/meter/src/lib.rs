//! Reads from the answers of providers what they counted: units, the model, told costs.

pub mod extractor;
pub mod json_value;
pub mod number;
pub mod text_rule;
pub mod value_path;
