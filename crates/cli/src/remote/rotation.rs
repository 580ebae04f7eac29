//! `keymeter key rotate`, `old-keys`, `end-old-key` and `restore`.

use std::io::{IsTerminal, stdin};

use clap::{Args, ValueEnum};
use serde::Deserialize;
use serde_json::json;

use super::Remote;
use super::list_options::ListOptions;
use super::named::{DELETED_KEYS, Named, OWN_KEYS};
use super::terminal::{Table, confirm, time};
use super::values::duration_arg;
use crate::failure::CommandFailure;
use crate::output::{print_error, print_line};

/// `keymeter key rotate`
#[derive(Debug, Args)]
pub struct RotateArgs {
    /// The key's name or id.
    key: Named,
    /// How long the old key goes on working: 24h, 7d, at most 30d; 0s with `--grace-from now` ends it at once.
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = duration_arg)]
    grace: i64,
    /// What the time counts from.
    #[arg(long, value_enum, default_value_t = GraceFrom::FirstUse)]
    grace_from: GraceFrom,
    /// Do not ask at a terminal whether to end the old key at once.
    #[arg(long, short)]
    yes: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum GraceFrom {
    /// The first use of the new key.
    FirstUse,
    /// This moment.
    Now,
}

impl GraceFrom {
    /// The value of the API.
    const fn as_str(self) -> &'static str {
        match self {
            Self::FirstUse => "first_use",
            Self::Now => "now",
        }
    }
}

#[derive(Deserialize)]
struct Rotated {
    key: String,
    old_keys: Vec<OldKey>,
}

#[derive(Deserialize)]
struct OldKey {
    id: i64,
    masked_key: String,
    expires_at: Option<i64>,
    last_used_at: Option<i64>,
}

impl Remote {
    pub fn rotate(&self, args: &RotateArgs) -> Result<(), CommandFailure> {
        // Scripts of older versions do this without --yes.
        if args.grace == 0 && matches!(args.grace_from, GraceFrom::Now) && stdin().is_terminal() {
            confirm(&format!("replace the key {}; the old one stops working at once", args.key), args.yes)?;
        }
        let body = json!({ "grace_seconds": args.grace, "grace_from": args.grace_from.as_str() });
        let id = self.find(&OWN_KEYS, &args.key)?.id;
        let rotated = self.create_once(&format!("/api/token/{id}/rotate"), &body);
        let data = rotated.map_err(|failure| failure.naming(&[("grace_seconds", "--grace")]))?;
        self.show(&data, |rotated: Rotated| {
            // The first is the one that was replaced now.
            for (index, old) in rotated.old_keys.iter().enumerate() {
                let end = match old.expires_at {
                    None if index == 0 => format!("{} after the first use of the new key", seconds(args.grace)),
                    _ => old.end(),
                };
                print_error(&format!("the old key {} works until {end}", old.masked_key));
            }
            print_line(&rotated.key);
        })
    }

    pub fn list_old_keys(&self, key: &Named, options: &ListOptions) -> Result<(), CommandFailure> {
        let id = self.find(&OWN_KEYS, key)?.id;
        let entries = self.array(&format!("/api/token/{id}/old_keys"), &[])?;
        self.print_entries(&entries, options, "old keys", |old_keys: Vec<OldKey>| {
            let mut table = Table::new(&["ID", "KEY", "WORKS UNTIL", "LAST USED"]);
            for old in old_keys {
                let last_used = old.last_used_at.map_or_else(|| "never".to_owned(), time);
                table.row(vec![old.id.to_string(), old.masked_key.clone(), old.end(), last_used]);
            }
            table
        })
    }

    pub fn end_old_key(&self, key: &Named, id: i64, yes: bool) -> Result<(), CommandFailure> {
        confirm(&format!("end the old key {id} of the key {key}; it stops working at once"), yes)?;
        let found = self.find(&OWN_KEYS, key)?;
        let data = self.client.delete(&format!("/api/token/{}/old_keys/{id}", found.id))?;
        self.done(&data, &format!("ended the old key {id} of the key {found}"));
        Ok(())
    }

    pub fn restore_key(&self, key: &Named) -> Result<(), CommandFailure> {
        let found = self.find(&DELETED_KEYS, key)?;
        let data = self.client.post(&format!("/api/token/{}/restore", found.id), &json!({}))?;
        self.done(&data, &format!("restored the key {found}"));
        Ok(())
    }
}

/// A duration in its largest whole unit: `1 day`, `36 hours`.
fn seconds(count: i64) -> String {
    let units = [(86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")];
    let (unit, name) = units.into_iter().find(|(unit, _)| count % unit == 0).unwrap_or((1, "second"));
    let number = count / unit;
    format!("{number} {name}{}", if number == 1 { "" } else { "s" })
}

impl OldKey {
    /// When it ends. The time of one that waits for the first use of the new key is not known yet.
    fn end(&self) -> String {
        self.expires_at.map_or_else(|| "some time after the first use of the new key".to_owned(), time)
    }
}
