//! The columns of `charges` that count units: four of them by name, and `units` for all others, a JSON object.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::domain::prices::count::UnitCount;
use crate::domain::prices::unit::{CACHE_READ_TOKENS, CACHE_WRITE_TOKENS, INPUT_TOKENS, OUTPUT_TOKENS};
use crate::domain::prices::units::Units;

/// The units of a row: input, output, read from the cache and written to it, and all others.
pub fn read(input: i64, output: i64, cached: (Option<i64>, Option<i64>), others: Option<&str>) -> Units {
    let mut units = Units::from_iter([
        (INPUT_TOKENS, Some(input)),
        (OUTPUT_TOKENS, Some(output)),
        (CACHE_READ_TOKENS, cached.0),
        (CACHE_WRITE_TOKENS, cached.1),
    ]);
    // Only what can be read is ever written.
    let others: BTreeMap<String, Box<RawValue>> =
        others.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default();
    for (unit, count) in others {
        let _ = UnitCount::read(count.get()).map(|count| units.add(&unit, count));
    }
    units
}

/// The column `units`; null if there are no others.
pub fn others(units: &Units) -> Option<String> {
    let member = |(unit, count): (&str, UnitCount)| {
        let count = RawValue::from_string(count.to_string()).ok()?;
        Some((unit.to_owned(), count))
    };
    let others: BTreeMap<String, Box<RawValue>> = units.others().filter_map(member).collect();
    if others.is_empty() { None } else { serde_json::to_string(&others).ok() }
}
