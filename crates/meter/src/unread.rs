//! Numbers in an answer that nobody reads: the first sign of a new thing that providers bill.

use std::collections::BTreeSet;
use std::ptr;

use crate::json_value::JsonValue;

/// Names of one answer.
pub const MAX_NAMES: usize = 100;

/// Characters of a name.
pub const MAX_NAME: usize = 64;

/// Members that count nothing that is billed: sums of other members, other names of them, and times.
const NOT_BILLED: [&str; 12] = [
    "cacheReadInputTokenCount",
    "cacheWriteInputTokenCount",
    "completion_time",
    "prompt_cache_miss_tokens",
    "prompt_time",
    "queue_time",
    "text_tokens",
    "totalTokenCount",
    "totalTokens",
    "total_time",
    "total_tokens",
    "visible_tokens",
];

/// Adds the names of numbers other than 0 in `usage` that are not among `read`: `iterations.input_tokens`.
pub fn add_unread(names: &mut BTreeSet<String>, usage: &JsonValue, read: &[&JsonValue]) {
    walk(names, "", usage, read);
}

/// As deep as the value, which is bounded.
fn walk(names: &mut BTreeSet<String>, name: &str, value: &JsonValue, read: &[&JsonValue]) {
    if names.len() >= MAX_NAMES {
        return;
    }
    match value {
        JsonValue::Number(text) => {
            let is_zero = !text.split(['e', 'E']).next().unwrap_or_default().contains(|c| matches!(c, '1'..='9'));
            if !is_zero && !read.iter().any(|read| ptr::eq(*read, value)) && !names.contains(name) {
                names.insert(name.to_owned());
            }
        }
        JsonValue::Object(members) => {
            for (member, value) in members.iter().filter(|(member, _)| !NOT_BILLED.contains(&member.as_str())) {
                let dot = if name.is_empty() { "" } else { "." };
                walk(names, &printable(&format!("{name}{dot}{member}")), value, read);
            }
        }
        JsonValue::List(items) => items.iter().for_each(|item| walk(names, name, item, read)),
        JsonValue::Null | JsonValue::Bool(_) | JsonValue::Text(_) => {}
    }
}

/// The name with question marks for what is not printable ASCII.
fn printable(name: &str) -> String {
    name.chars().take(MAX_NAME).map(|c| if matches!(c, ' '..='~') { c } else { '?' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unread(json: &str) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        add_unread(&mut names, &JsonValue::read(json).unwrap(), &[]);
        names
    }

    #[test]
    fn numbers_other_than_0_are_named() {
        let names =
            unread(r#"{"a": {"b": 1, "c": "2"}, "d": [{"b": 3}, {"b": 0.0e5}], "e\n": 0.5, "total_tokens": 9}"#);
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["a.b", "d.b", "e?"]);
    }

    #[test]
    fn names_are_bounded() {
        let members = (0..500).map(|index| format!(r#""{}{index}": 1"#, "ä".repeat(60))).collect::<Vec<_>>();
        let names = unread(&format!("{{{}}}", members.join(",")));
        assert_eq!(names.len(), MAX_NAMES);
        assert!(names.iter().all(|name| name.len() <= MAX_NAME));
    }
}
