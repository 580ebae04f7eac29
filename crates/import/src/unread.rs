//! Columns that have values there and are not read here: what a newer version or a fork added. Some restrict what
//! accounts and keys may do; such a restriction must not vanish without a word.

use std::collections::BTreeMap;

use futures_util::StreamExt;

use super::ImportError;
use super::findings::{Detail, Finding, FoundInRow};
use super::report::ImportReport;
use super::schema::ForeignSchema;
use super::source::{ForeignDatabase, InvalidUtf8};

/// Columns of JSON objects, each of whose members is looked at.
const OBJECTS: [&str; 2] = ["setting", "settings"];

/// Members of `users.setting` in new-api that are named like a restriction and are none.
const HARMLESS: [&str; 3] = ["accept_unset_model_ratio_model", "record_ip_log", "upstream_model_update_notify_enabled"];

/// Reports the columns that are set and not read, and blocks because of restrictions that are not accepted. Returns all
/// restrictions.
///
/// # Errors
/// The other database cannot be read.
pub async fn report_unread(
    source: &mut ForeignDatabase,
    schema: &ForeignSchema,
    accepted: &[String],
    report: &mut ImportReport,
) -> Result<Vec<FoundInRow>, ImportError> {
    let (mut found, mut lost) = (Vec::new(), Vec::new());
    for (name, rows) in unread(source, schema).await? {
        if is_restriction(&name) {
            found.push(FoundInRow::new(Finding::RestrictionLost, Detail::Rows { name: name.clone(), rows }));
            if !accepted.contains(&name) {
                lost.push((name, rows));
            }
        } else {
            report.not_moved.insert(format!("values of `{name}`"), rows);
        }
    }
    if !lost.is_empty() {
        let named: Vec<String> = lost.iter().map(|(name, rows)| format!("`{name}` (rows: {rows})")).collect();
        let names: Vec<String> = lost.into_iter().map(|(name, _)| name).collect();
        let message = format!(
            "these columns look like restrictions and are not read, so what they forbid there is open here: {}; accept that \
             with --accept {}",
            named.join(", "),
            names.join(",")
        );
        report.block("restrictions_lost", message);
    }
    Ok(found)
}

/// The columns that are set and not read, and members of objects in them, with the number of rows.
async fn unread(source: &mut ForeignDatabase, schema: &ForeignSchema) -> Result<BTreeMap<String, i64>, ImportError> {
    let mut found = BTreeMap::new();
    for table in ["users", "tokens"] {
        let columns = source.column_defaults(table).await?;
        let columns = schema.unread(table, columns);
        if columns.is_empty() {
            continue;
        }
        let counts = source.fetch(schema.count_set(table, &columns)).await?.into_iter().next().unwrap_or_default();
        for ((name, _), count) in columns.iter().zip(counts) {
            let rows = count.and_then(|count| count.parse().ok()).unwrap_or(0);
            if rows == 0 {
                continue;
            }
            if OBJECTS.contains(&name.to_ascii_lowercase().as_str()) {
                let mut values = source.stream(schema.set_values(table, name), InvalidUtf8::Replaced);
                while let Some(row) = values.next().await {
                    for member in members(row?.into_iter().next().flatten().as_deref().unwrap_or_default()) {
                        let part = member.map_or(String::new(), |member| format!(".{member}"));
                        *found.entry(format!("{table}.{name}{part}")).or_default() += 1;
                    }
                }
            } else {
                found.insert(format!("{table}.{name}"), rows);
            }
        }
    }
    Ok(found)
}

/// The members of an object that are set; `None` for a text that is no object.
fn members(text: &str) -> Vec<Option<String>> {
    use serde_json::Value;
    let Ok(Value::Object(object)) = serde_json::from_str(text) else {
        return vec![None];
    };
    let is_set = |value: &Value| match value {
        Value::Null => false,
        Value::Bool(on) => *on,
        Value::Number(number) => number.as_i64() != Some(0),
        Value::String(text) => !text.is_empty(),
        Value::Array(values) => !values.is_empty(),
        Value::Object(members) => !members.is_empty(),
    };
    // A name of the other database, which the report repeats.
    let shown = |name: String| name.chars().filter(|c| !c.is_control()).take(100).collect();
    object.into_iter().filter(|(_, value)| is_set(value)).map(|(name, _)| Some(shown(name))).collect()
}

/// Returns true if the last part of the name speaks of limits, models, groups or addresses.
fn is_restriction(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    if HARMLESS.contains(&last) {
        return false;
    }
    let lower = last.to_ascii_lowercase();
    let mut words = String::new();
    for c in last.chars() {
        if c.is_ascii_uppercase() {
            words.push('_');
        }
        words.push(c.to_ascii_lowercase());
    }
    ["limit", "model", "group", "subnet", "whitelist"].iter().any(|part| lower.contains(part))
        || [&words, &lower].iter().any(|name| {
            name.split(|c: char| !c.is_ascii_alphabetic()).any(|word| matches!(word, "ip" | "ips" | "allowips"))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restrictions_are_told_by_their_names() {
        for name in [
            "users.setting.model_limits",
            "users.daily_token_limit",
            "tokens.auto_groups",
            "tokens.ip_whitelist",
            "tokens.allowIps",
            "tokens.allowips",
            "users.RPMLimit",
            "tokens.models",
            "tokens.subnet",
            "users.IP",
        ] {
            assert!(is_restriction(name), "{name}");
        }
        for name in [
            "users.stripe_customer",
            "users.description",
            "users.setting.notify_type",
            "users.setting.record_ip_log",
            "users.setting.accept_unset_model_ratio_model",
            "users.aff_code",
            "users.last_login_at",
        ] {
            assert!(!is_restriction(name), "{name}");
        }
    }

    #[test]
    fn the_members_of_an_object_that_are_set_count() {
        let names = |text: &str| members(text).into_iter().map(|name| name.unwrap_or_else(|| "?".into())).collect();
        let table: [(&str, &[&str]); 4] = [
            (
                r#"{"a":1,"b":0,"c":"","d":"x","e":[],"f":[1],"g":{},"h":false,"i":true,"j":null}"#,
                &["a", "d", "f", "i"],
            ),
            ("{}", &[]),
            ("text", &["?"]),
            ("[1]", &["?"]),
        ];
        for (text, expected) in table {
            let found: Vec<String> = names(text);
            assert_eq!(found, expected, "{text}");
        }
    }
}
