//! How lists are printed: as tables for people; as JSON or CSV, or only some of the fields, for scripts.

use std::collections::BTreeSet;
use std::fmt;

use clap::Args;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::terminal::Table;
use super::{Remote, client};
use crate::failure::CommandFailure;
use crate::output::{print_error, print_line};
use keymeter::api::csv;

/// Options of every list.
#[derive(Debug, Clone, Args)]
pub struct ListOptions {
    /// Print CSV with a header line: every field as the server writes it, or those of --fields.
    #[arg(long, conflicts_with = "json", help_heading = "Output options")]
    pub csv: bool,
    /// Only these fields, separated by commas, with the names that --json has: id,name,state. A point leads into an
    /// object: refusal.reason.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Output options")]
    pub fields: Vec<String>,
}

impl ListOptions {
    /// Whether something else than the usual table or the usual JSON is asked for.
    pub const fn are_given(&self) -> bool {
        self.csv || !self.fields.is_empty()
    }

    /// The names of the columns: those that were asked for, or all that an entry has.
    fn columns(&self, entries: &[Members]) -> Vec<String> {
        if self.fields.is_empty() {
            return names(entries);
        }
        for field in &self.fields {
            if !entries.is_empty() && entries.iter().all(|entry| entry.get(field).is_none()) {
                let known = names(entries).join(", ");
                print_error(&format!("nothing here has the field `{field}`; there are: {known}"));
            }
        }
        self.fields.clone()
    }
}

/// The members of a JSON object, in the order in which they were written.
struct Members(Vec<(String, Box<RawValue>)>);

impl Members {
    /// The JSON of a field.
    fn get(&self, field: &str) -> Option<String> {
        let (name, rest) = field.split_once('.').map_or((field, None), |(name, rest)| (name, Some(rest)));
        let (_, value) = self.0.iter().find(|(member, _)| member == name)?;
        match rest {
            None => Some(value.get().to_owned()),
            // The object may be absent in one entry and there in the next.
            Some(_) if value.get() == "null" => Some("null".to_owned()),
            Some(rest) => serde_json::from_str::<Self>(value.get()).ok()?.get(rest),
        }
    }

    fn cells(&self, columns: &[String]) -> Vec<String> {
        columns.iter().map(|column| self.get(column).map_or_else(String::new, |json| csv::cell(&json))).collect()
    }

    /// An object with these fields.
    fn json(&self, columns: &[String]) -> String {
        let member = |column: &String| {
            let value = self.get(column).unwrap_or_else(|| "null".to_owned());
            format!("{}:{value}", serde_json::Value::from(column.as_str()))
        };
        format!("{{{}}}", columns.iter().map(member).collect::<Vec<_>>().join(","))
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

/// The names of all members, in the order in which they are first seen.
fn names(entries: &[Members]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let all = entries.iter().flat_map(|Members(members)| members).map(|(name, _)| name);
    all.filter(|name| seen.insert(name.as_str())).cloned().collect()
}

/// A line of CSV, without its line break.
fn csv_line(cells: &[String]) -> String {
    let mut line = String::new();
    csv::push_line(&mut line, cells);
    line.truncate(line.trim_end_matches(['\r', '\n']).len());
    line
}

impl Remote {
    /// Prints the entries of a list as `options` say: without any as one array, or as `table` shows them. `things` is
    /// what there are none of.
    pub fn print_entries<T: DeserializeOwned>(
        &self,
        entries: &[Box<RawValue>],
        options: &ListOptions,
        things: &str,
        table: impl FnOnce(Vec<T>) -> Table,
    ) -> Result<(), CommandFailure> {
        if options.are_given() {
            return self.print_fields(entries, options, things);
        }
        if self.json {
            print_line(&array(entries.iter().map(|entry| entry.get())));
        } else {
            table(entries.iter().map(|entry| client::read(entry.get())).collect::<Result<_, _>>()?).print(things);
        }
        Ok(())
    }

    /// Prints fields of entries, as `options` say.
    pub fn print_fields(
        &self,
        entries: &[Box<RawValue>],
        options: &ListOptions,
        things: &str,
    ) -> Result<(), CommandFailure> {
        let entries = entries.iter().map(|entry| client::read(entry.get())).collect::<Result<Vec<Members>, _>>()?;
        let columns = options.columns(&entries);
        if self.json {
            let objects: Vec<String> = entries.iter().map(|entry| entry.json(&columns)).collect();
            print_line(&array(objects.iter().map(String::as_str)));
            return Ok(());
        }
        let rows = entries.iter().map(|entry| entry.cells(&columns));
        if options.csv {
            // Without entries nobody knows what fields they would have.
            if !columns.is_empty() {
                print_line(&csv_line(&columns));
            }
            rows.for_each(|row| print_line(&csv_line(&row)));
        } else {
            let titles: Vec<String> = columns.iter().map(|column| column.to_uppercase()).collect();
            let mut table = Table::new(&titles.iter().map(String::as_str).collect::<Vec<_>>());
            rows.for_each(|row| table.row(row));
            table.print(things);
        }
        Ok(())
    }
}

/// A JSON array with an entry a line.
fn array<'a>(entries: impl Iterator<Item = &'a str>) -> String {
    format!("[{}]", entries.collect::<Vec<_>>().join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(json: &str) -> Members {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn fields_are_found_also_in_objects_and_keep_their_order() {
        let entries = [
            members(r#"{"id": 7, "name": "a \"b\", c", "refusal": {"reason": "x"}, "limits": {"day": -1}}"#),
            members(r#"{"id": 8, "refusal": null, "extra": [1, 2]}"#),
        ];
        assert_eq!(names(&entries), ["id", "name", "refusal", "limits", "extra"]);
        let columns = ["name", "refusal.reason", "limits.day", "extra", "id"].map(str::to_owned);
        assert_eq!(entries[0].cells(&columns), ["a \"b\", c", "x", "-1", "", "7"]);
        assert_eq!(entries[1].cells(&columns), ["", "", "", "[1, 2]", "8"]);
        assert_eq!(csv_line(&entries[0].cells(&columns)), "\"a \"\"b\"\", c\",x,-1,,7");
        assert_eq!(entries[1].json(&columns[3..]), r#"{"extra":[1, 2],"id":8}"#);
        assert_eq!(entries[1].json(&columns[..2]), r#"{"name":null,"refusal.reason":null}"#);
    }
}
