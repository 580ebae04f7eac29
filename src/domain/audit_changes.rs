//! What an edit changed, field by field, for the audit log.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::bounds;
use super::money::Quota;
use super::period_limits::PeriodLimits;

/// What an edit did to one field.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FieldChange {
    /// Its name in the API; a limit with its group before it, as in `period_limits.day`.
    pub field: String,
    /// The value before, as text. `None`: there was none, the field is a list, or its value is a secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// The value after, in the same way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
    /// Entries that a list has now and had not before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    /// Entries that it has no longer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// How many more entries were added or removed. They had no room.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
const fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The changes of one edit. Values and entries take [`bounds::MAX_AUDIT_CHANGES_BYTES`] in all; what is cut ends in
/// `…`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldChanges {
    changes: Vec<FieldChange>,
    /// Bytes that are left for values and entries.
    room: usize,
}

impl Default for FieldChanges {
    /// No changes yet.
    fn default() -> Self {
        Self { changes: Vec::new(), room: bounds::MAX_AUDIT_CHANGES_BYTES }
    }
}

impl FieldChanges {
    pub const fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Notes a field whose values are these, if they differ.
    pub fn value<T: PartialEq>(&mut self, field: &str, values: (&T, &T), text: impl Fn(&T) -> String) {
        self.optional(field, (Some(values.0), Some(values.1)), text);
    }

    /// Notes a field that may have no value, if it differs.
    pub fn optional<T: PartialEq>(
        &mut self,
        field: &str,
        (old, new): (Option<&T>, Option<&T>),
        text: impl Fn(&T) -> String,
    ) {
        if old != new {
            let [old, new] = [old, new].map(|value| value.map(|value| self.cut(text(value))));
            self.changes.push(FieldChange { old, new, ..FieldChange::of(field) });
        }
    }

    /// Notes the limits of periods that differ.
    pub fn period_limits(&mut self, old: &PeriodLimits, new: &PeriodLimits) {
        let PeriodLimits { day, week, month } = new;
        let text = |limit: &Quota| limit.get().to_string();
        self.optional("period_limits.day", (old.day.as_ref(), day.as_ref()), text);
        self.optional("period_limits.week", (old.week.as_ref(), week.as_ref()), text);
        self.optional("period_limits.month", (old.month.as_ref(), month.as_ref()), text);
    }

    /// Notes the entries that a list has gained and lost, if there are any. To be called after the values, which must
    /// have room.
    pub fn list<'a>(
        &mut self,
        field: &str,
        old: impl IntoIterator<Item = &'a str>,
        new: impl IntoIterator<Item = &'a str>,
    ) {
        let (old, new): (Vec<_>, Vec<_>) = (old.into_iter().collect(), new.into_iter().collect());
        let [before, after] = [&old, &new].map(|entries| entries.iter().copied().collect::<BTreeSet<_>>());
        let mut change = FieldChange::of(field);
        for (entries, absent_in, list) in [(new, &before, &mut change.added), (old, &after, &mut change.removed)] {
            for entry in entries.into_iter().filter(|entry| !absent_in.contains(entry)) {
                match self.room.checked_sub(entry.len()) {
                    Some(room) => {
                        self.room = room;
                        list.push(entry.to_owned());
                    }
                    None => change.left_out += 1,
                }
            }
        }
        if change != FieldChange::of(field) {
            self.changes.push(change);
        }
    }

    /// Notes a field whose values are secret.
    pub fn secret(&mut self, field: &str) {
        self.changes.push(FieldChange::of(field));
    }

    /// The names of the changed fields, each once; the limits of one group together.
    pub fn fields(&self) -> String {
        let mut names: Vec<_> =
            self.changes.iter().map(|change| change.field.split('.').next().unwrap_or_default()).collect();
        names.dedup();
        names.join(",")
    }

    /// The changes, in the order in which they were noted.
    pub fn into_vec(self) -> Vec<FieldChange> {
        self.changes
    }

    /// As much of a text as has room.
    fn cut(&mut self, mut text: String) -> String {
        let room = self.room.min(bounds::MAX_AUDIT_VALUE_BYTES);
        if text.len() > room {
            text.truncate(text.floor_char_boundary(room));
            self.room -= text.len();
            text.push('…');
        } else {
            self.room -= text.len();
        }
        text
    }
}

impl FieldChange {
    fn of(field: &str) -> Self {
        Self { field: field.to_owned(), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value(field: &str, old: Option<&str>, new: Option<&str>) -> FieldChange {
        let [old, new] = [old, new].map(|text| text.map(str::to_owned));
        FieldChange { old, new, ..FieldChange::of(field) }
    }

    #[test]
    fn only_what_differs_is_noted_with_both_values() {
        let mut changes = FieldChanges::default();
        changes.value("name", (&"one", &"two"), |name| (*name).to_owned());
        changes.value("note", (&"same", &"same"), |note| (*note).to_owned());
        let limit = |units| Some(Quota::grant(units).unwrap());
        let old = PeriodLimits { day: limit(5), week: limit(9), month: None };
        let new = PeriodLimits { day: None, week: limit(9), month: limit(7) };
        changes.period_limits(&old, &new);
        changes.secret("password");
        assert_eq!(changes.fields(), "name,period_limits,password");
        let expected = [
            value("name", Some("one"), Some("two")),
            value("period_limits.day", Some("5"), None),
            value("period_limits.month", None, Some("7")),
            value("password", None, None),
        ];
        assert_eq!(changes.into_vec(), expected);
    }

    #[test]
    fn a_list_is_noted_as_what_was_added_and_removed() {
        let mut changes = FieldChanges::default();
        changes.list("models", ["a", "b", "c"], ["d", "c", "a", "e"]);
        changes.list("same", ["b", "a"], ["a", "b"]);
        let [added, removed] = [vec!["d", "e"], vec!["b"]].map(|list| list.into_iter().map(str::to_owned).collect());
        assert_eq!(changes.into_vec(), [FieldChange { added, removed, ..FieldChange::of("models") }]);
    }

    #[test]
    fn a_long_value_is_cut_visibly() {
        let mut changes = FieldChanges::default();
        // Two bytes a character; the bound is even.
        let long = "é".repeat(bounds::MAX_AUDIT_VALUE_BYTES);
        changes.value("note", (&String::new(), &long), Clone::clone);
        let new = changes.into_vec()[0].new.clone().unwrap();
        assert_eq!(new, format!("{}…", "é".repeat(bounds::MAX_AUDIT_VALUE_BYTES / 2)));
    }

    proptest! {
        #[test]
        fn changes_are_bounded_and_every_entry_of_a_list_is_named_or_counted(
            texts in prop::collection::vec(".{0,300}", 0..20),
            old in prop::collection::btree_set("[a-z]{1,60}", 0..80),
            new in prop::collection::btree_set("[a-z]{1,60}", 0..80),
        ) {
            let mut changes = FieldChanges::default();
            for text in &texts {
                changes.value("text", (&String::new(), text), Clone::clone);
            }
            changes.list("list", old.iter().map(String::as_str), new.iter().map(String::as_str));
            let changes = changes.into_vec();
            let marks = changes.iter().filter(|change| change.new.as_ref().is_some_and(|new| new.ends_with('…'))).count();
            let bytes: usize = changes
                .iter()
                .flat_map(|change| change.old.iter().chain(&change.new).chain(&change.added).chain(&change.removed))
                .map(String::len)
                .sum();
            prop_assert!(bytes <= bounds::MAX_AUDIT_CHANGES_BYTES + marks * '…'.len_utf8());
            let list = changes.iter().find(|change| change.field == "list");
            let noted = list.map_or(0, |list| list.added.len() + list.removed.len() + list.left_out);
            prop_assert_eq!(noted, old.symmetric_difference(&new).count());
            for change in &changes {
                let json = serde_json::to_string(change).unwrap();
                prop_assert_eq!(&serde_json::from_str::<FieldChange>(&json).unwrap(), change);
            }
        }
    }
}
