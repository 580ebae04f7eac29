//! Units as answers show them.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::domain::prices::units::Units;

/// Counts by unit. Their text is exact.
#[derive(Debug, Serialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = BTreeMap<String, f64>)]
pub struct UnitsBody(BTreeMap<String, Box<RawValue>>);

impl From<Units> for UnitsBody {
    fn from(units: Units) -> Self {
        let number = |text: String| RawValue::from_string(text).ok();
        let used = units.used().filter_map(|(unit, count)| Some((unit.to_owned(), number(count.to_string())?)));
        Self(used.collect())
    }
}
