//! `keymeter user grant --file`: many wallets in one call, all or none.

use serde::Deserialize;
use serde_json::json;

use super::Remote;
use super::terminal::{Table, dollars, text_from};
use crate::failure::CommandFailure;
use crate::output::print_error;

#[derive(Deserialize)]
struct ToppedUp {
    users: Vec<ToppedUpUser>,
}

#[derive(Deserialize)]
struct ToppedUpUser {
    username: String,
    /// Absent if the call was carried out before.
    before: Option<Wallet>,
    after: Wallet,
}

#[derive(Deserialize)]
struct Wallet {
    quota: i64,
}

impl Remote {
    /// Adds to the wallets of a file, `-` for standard input, with lines `user,usd` or `user,usd,note`.
    pub fn top_up(&self, file: &str, note: Option<&str>, dry_run: bool) -> Result<(), CommandFailure> {
        let csv = text_from(file)?;
        let body = json!({ "csv": csv, "note": note, "dry_run": dry_run });
        let changed = self.create_once("/api/admin/users/bulk", &body);
        let data = changed.map_err(|failure| failure.naming(&[("csv", "--file"), ("note", "--note")]))?;
        self.show(&data, |ToppedUp { users }| {
            let mut table = Table::with_amounts(&["USER", "BEFORE", "AFTER"], &["BEFORE", "AFTER"]);
            let count = users.len();
            for ToppedUpUser { username, before, after } in users {
                let before = before.map(|before| dollars(before.quota)).unwrap_or_default();
                table.row(vec![username, before, dollars(after.quota)]);
            }
            table.print("users");
            if dry_run {
                print_error(&format!("nothing was changed; without --dry-run, {count} wallets would be"));
            } else {
                print_error(&format!("changed {count} wallets; with --json, `undo` is the body that takes it back"));
            }
        })
    }
}
