//! The report of an import: for people on standard output, and as JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde::{Serialize, Serializer};
use zeroize::Zeroizing;

use super::findings::{Detail, Finding, FoundInRow};
use super::planned::UsageTally;
use keymeter::domain::money::Quota;

/// Rows named in the JSON report for each finding; beyond that they are counted.
const MAX_ROWS: usize = 10_000;

/// Rows kept in the database for each finding.
const MAX_STORED_ROWS: usize = 20;

/// Rows named in the report for people.
const MAX_EXAMPLES: usize = 5;

/// The row that a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingSubject {
    User(i64),
    Token {
        id: i64,
        user_id: i64,
    },
    /// A whole table, or the installation.
    All,
}

/// What an import did, or would do.
#[derive(Debug, Serialize)]
pub struct ImportReport {
    /// The database that was read, without its credentials.
    pub source: String,
    /// The database of this installation, without its credentials.
    pub target: String,
    /// `new-api` or `one-api`.
    pub service: &'static str,
    /// The name of the other installation, under which another run finds what is there already.
    pub name: String,
    pub dry_run: bool,
    /// Why nothing was imported.
    pub blockers: Vec<Blocker>,
    pub accounts: ReportCounts,
    pub keys: ReportCounts,
    pub access_tokens: ReportCounts,
    pub usage: UsageCounts,
    pub requests: RequestCounts,
    pub sums: Sums,
    pub findings: BTreeMap<&'static str, FindingReport>,
    /// Rows of tables that are not moved, and values of columns that are not read.
    pub not_moved: BTreeMap<String, i64>,
    pub notes: Vec<Note>,
    /// New passwords, in plain text. Only here: they are stored as hashes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passwords: Vec<IssuedPassword>,
    #[serde(skip)]
    kinds: BTreeMap<&'static str, Finding>,
    #[serde(skip)]
    groups: BTreeMap<String, GroupUse>,
}

/// Something that has to be changed before an import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Blocker {
    pub code: &'static str,
    pub message: String,
    /// Lines to add to the settings file.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub settings: String,
}

/// The new password of an account whose own was not imported.
#[derive(Serialize)]
pub struct IssuedPassword {
    /// The id there.
    pub user_id: i64,
    pub username: String,
    #[serde(serialize_with = "plain")]
    pub password: Zeroizing<String>,
}

impl std::fmt::Debug for IssuedPassword {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "IssuedPassword({}, …)", self.user_id)
    }
}

/// Something about the whole run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    pub code: &'static str,
    pub message: String,
    /// The value of the other service, where a note compares the two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_value: Option<String>,
    /// The value of this installation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_value: Option<i64>,
}

impl Note {
    /// There are no logs to read the history from.
    pub fn no_logs() -> Self {
        let message = "there is no table `logs` that this account may read, so no history is imported; --logs names \
                       another database that has it";
        Self { code: "no_logs", message: message.to_owned(), source_value: None, target_value: None }
    }

    /// There is no line in the logs although something was used.
    pub fn logs_empty() -> Self {
        let message = "the table `logs` has no row although quota was used, so no history is imported; if LOG_SQL_DSN of \
                       the other service names another database, name it with --logs";
        Self { code: "logs_empty", message: message.to_owned(), source_value: None, target_value: None }
    }

    /// The other service worked during the rehearsal.
    pub fn still_growing(grown: i128, seconds: u64) -> Self {
        let message = format!(
            "what accounts there have used changed by {grown} quota units in {seconds} s, so the other service still works; \
             before the import, take the traffic away from it, wait until this stands still, and stop it then"
        );
        Self { code: "still_growing", message, source_value: Some(grown.to_string()), target_value: None }
    }

    /// 1 USD is another number of quota units there.
    pub fn quota_units_differ(there: &str, here: i64) -> Self {
        let message = format!("1 USD is {there} quota units there and {here} here; quota units are moved as they are");
        Self { code: "quota_units_differ", message, source_value: Some(there.to_owned()), target_value: Some(here) }
    }
}

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReportCounts {
    /// Rows in the other database, without deleted ones.
    pub found: i64,
    /// Imported by this run.
    pub imported: i64,
    /// Imported by an earlier run, and left as they are.
    pub present: i64,
    /// Left out; the findings say why.
    pub left_out: i64,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct UsageCounts {
    /// Accounts whose usage was imported by this run, and by an earlier one.
    pub accounts: i64,
    pub present: i64,
    /// Sums of what was imported.
    pub quota: i64,
    pub requests: i64,
    /// The sum in the other database, of the same accounts and days.
    pub source_quota: i64,
}

/// Single requests of the newest days.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct RequestCounts {
    /// In the other database, also of keys that are not imported.
    pub found: i64,
    /// Imported by this run; null in a rehearsal, which does not read them.
    pub imported: Option<i64>,
}

/// Sums over the accounts and keys that this run imported: in the other database, and as they are written here. They
/// differ by the amounts of the findings.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sums {
    pub wallets: Pair,
    pub wallets_used: Pair,
    pub keys_remaining: Pair,
    pub keys_used: Pair,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Pair {
    pub source: i128,
    pub imported: i128,
}

impl Pair {
    pub fn add(&mut self, source: i64, imported: Quota) {
        self.source += i128::from(source);
        self.imported += i128::from(imported.get());
    }
}

#[derive(Debug, Default, Serialize)]
pub struct FindingReport {
    pub meaning: &'static str,
    pub count: i64,
    /// The sum of quota units, for findings about amounts.
    #[serde(skip_serializing_if = "is_zero")]
    pub amount: i128,
    pub rows: Vec<Row>,
}

fn plain<S: Serializer>(password: &Zeroizing<String>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(password)
}

const fn is_zero(amount: &i128) -> bool {
    *amount == 0
}

#[derive(Debug, Serialize)]
pub struct Row {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
}

#[derive(Debug, Default)]
struct GroupUse {
    accounts: i64,
    keys: i64,
}

impl ImportReport {
    pub fn new(source: String, target: String, service: &'static str, name: String, dry_run: bool) -> Self {
        Self {
            source,
            target,
            service,
            name,
            dry_run,
            blockers: Vec::new(),
            accounts: ReportCounts::default(),
            keys: ReportCounts::default(),
            access_tokens: ReportCounts::default(),
            usage: UsageCounts::default(),
            requests: RequestCounts::default(),
            sums: Sums::default(),
            findings: BTreeMap::new(),
            not_moved: BTreeMap::new(),
            notes: Vec::new(),
            passwords: Vec::new(),
            kinds: BTreeMap::new(),
            groups: BTreeMap::new(),
        }
    }

    /// Adds what was found about a row.
    pub fn add(&mut self, subject: FindingSubject, found: impl Into<FoundInRow>) {
        let found = found.into();
        let name = found.finding.as_str();
        self.kinds.insert(name, found.finding);
        let entry = self.findings.entry(name).or_default();
        entry.meaning = found.finding.meaning();
        entry.count += 1;
        entry.amount += i128::from(found.amount());
        if entry.rows.len() < MAX_ROWS {
            let (user_id, token_id) = match subject {
                FindingSubject::User(id) => (Some(id), None),
                FindingSubject::Token { id, user_id } => (Some(user_id), Some(id)),
                FindingSubject::All => (None, None),
            };
            entry.rows.push(Row { user_id, token_id, detail: found.detail });
        }
    }

    /// Adds the usage of an account.
    pub fn add_usage(&mut self, user: i64, tally: UsageTally) {
        let usage = &mut self.usage;
        usage.quota = usage.quota.saturating_add(tally.quota);
        usage.requests = usage.requests.saturating_add(tally.requests);
        usage.source_quota = usage.source_quota.saturating_add(tally.source_quota);
        for found in tally.found {
            self.add(FindingSubject::User(user), found);
        }
    }

    /// Takes back what was planned and could not be written.
    pub fn leave_out(&mut self, subject: FindingSubject, finding: Finding) {
        let counts = if matches!(finding, Finding::KeyTaken | Finding::TokenOrphaned) {
            Some(&mut self.keys)
        } else if finding == Finding::AccessTokenSkipped {
            Some(&mut self.access_tokens)
        } else {
            None
        };
        if let Some(counts) = counts {
            counts.imported -= 1;
            counts.left_out += 1;
        }
        self.add(subject, finding);
    }

    /// An account or a key needs this group, which is not configured.
    pub fn needs_group(&mut self, name: &str, of_account: bool) {
        let group = self.groups.entry(name.to_owned()).or_default();
        if of_account { group.accounts += 1 } else { group.keys += 1 }
    }

    /// Turns the missing groups into blockers, with the settings to add.
    pub fn block_missing_groups(&mut self, options: &GroupOptions) {
        for (name, GroupUse { accounts, keys }) in std::mem::take(&mut self.groups) {
            let message = format!(
                "the group `{name}` is not configured here; accounts that need it: {accounts}, keys: {keys}; add it to the \
                 settings"
            );
            self.blockers.push(Blocker { code: "unknown_group", message, settings: options.settings(&name) });
        }
    }

    /// Returns true if nothing may be imported.
    pub const fn is_blocked(&self) -> bool {
        !self.blockers.is_empty()
    }

    /// # Errors
    /// Never, in practice.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// The report as JSON for administrators, without passwords.
    ///
    /// # Errors
    /// Never, in practice.
    pub fn stored(&self) -> Result<serde_json::Value, serde_json::Error> {
        // As text first: a sum above 64 bits has no value.
        let mut report: serde_json::Value = serde_json::from_str(&self.json()?)?;
        if let Some(report) = report.as_object_mut() {
            report.remove("passwords");
        }
        let findings = report.get_mut("findings").and_then(serde_json::Value::as_object_mut);
        for finding in findings.into_iter().flat_map(serde_json::Map::values_mut) {
            if let Some(rows) = finding.get_mut("rows").and_then(serde_json::Value::as_array_mut) {
                rows.truncate(MAX_STORED_ROWS);
            }
        }
        Ok(report)
    }

    /// The report for people.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.write_text(&mut text);
        text
    }

    fn write_text(&self, text: &mut String) -> std::fmt::Result {
        let did = if self.dry_run { "would be imported" } else { "imported" };
        writeln!(text, "Source: {} ({}), named `{}`", self.source, self.service, self.name)?;
        writeln!(text, "Target: {}", self.target)?;
        if self.is_blocked() {
            writeln!(text, "\nBlocked; nothing was imported:")?;
            for blocker in &self.blockers {
                writeln!(text, "  - {}", blocker.message)?;
            }
            let settings: Vec<&str> = self
                .blockers
                .iter()
                .map(|blocker| blocker.settings.as_str())
                .filter(|lines| !lines.is_empty())
                .collect();
            if !settings.is_empty() {
                writeln!(
                    text,
                    "\nAdd to the settings file beside its other groups, and adapt. A file that names any group names all, \
                     so repeat `default` if it is in use:\n\n{}",
                    settings.join("\n")
                )?;
            }
        } else {
            writeln!(text)?;
            for (what, counts) in
                [("accounts", &self.accounts), ("keys", &self.keys), ("access tokens", &self.access_tokens)]
            {
                let ReportCounts { found, imported, present, left_out } = counts;
                writeln!(
                    text,
                    "{what:<14} {imported:>10} {did}; {found} found, {present} here before, {left_out} left out"
                )?;
            }
            let UsageCounts { accounts, present, quota, requests, .. } = self.usage;
            writeln!(
                text,
                "{:<14} {requests:>10} requests, {} USD, of {accounts} accounts {did}; {present} accounts had theirs before",
                "history",
                usd(quota.into())
            )?;
            match self.requests {
                RequestCounts { found, imported: Some(imported) } => {
                    writeln!(text, "{:<14} {imported:>10} {did}; {found} found", "requests")?;
                }
                RequestCounts { found, imported: None } => {
                    writeln!(text, "{:<14} {found:>10} found; those of keys that are imported are moved", "requests")?;
                }
            }
            writeln!(text, "\nSums in USD of this run          there                 here")?;
            let sums = &self.sums;
            for (what, pair) in [
                ("wallets", sums.wallets),
                ("wallets, used", sums.wallets_used),
                ("keys, remaining", sums.keys_remaining),
                ("keys, used", sums.keys_used),
            ] {
                writeln!(text, "{what:<16} {:>21} {:>20}", usd(pair.source), usd(pair.imported))?;
            }
        }
        if !self.findings.is_empty() {
            writeln!(text, "\nChanged or left out:")?;
        }
        for finding in self.findings.values() {
            writeln!(text, "  {:>6}  {}", finding.count, finding.meaning)?;
            if finding.amount != 0 {
                writeln!(text, "          {} USD in all", usd(finding.amount))?;
            }
            for row in finding.rows.iter().take(MAX_EXAMPLES) {
                writeln!(text, "          {}", row.text())?;
            }
            if finding.rows.len() > MAX_EXAMPLES {
                writeln!(text, "          …")?;
            }
        }
        if self.not_moved.values().any(|count| *count > 0) {
            writeln!(text, "\nNot moved:")?;
            for (what, count) in self.not_moved.iter().filter(|(_, count)| **count > 0) {
                writeln!(text, "  {count:>6}  {what}")?;
            }
        }
        if self.blockers.is_empty() {
            let what = "Prices of models are not moved; `keymeter prices convert --from new-api` makes them a section of the settings.";
            writeln!(text, "\n{what}")?;
        }
        if !self.passwords.is_empty() {
            writeln!(text, "\nNew passwords, which are shown only here; let these people change them:")?;
            for IssuedPassword { user_id, username, password } in &self.passwords {
                writeln!(text, "  {username} (account {user_id}): {}", **password)?;
            }
        }
        for note in &self.notes {
            writeln!(text, "\nNote: {}", note.message)?;
        }
        Ok(())
    }
}

impl Row {
    fn text(&self) -> String {
        let subject = match (self.user_id, self.token_id) {
            (Some(user), Some(token)) => format!("key {token} of account {user}"),
            (Some(user), None) => format!("account {user}"),
            (None, _) => String::new(),
        };
        let detail = self.detail.as_ref().map(Detail::to_string).unwrap_or_default();
        let parts: Vec<&str> = [subject.as_str(), &detail].into_iter().filter(|part| !part.is_empty()).collect();
        parts.join(": ")
    }
}

/// Quota units as dollars, rounded to cents towards zero.
fn usd(units: i128) -> String {
    let cents = units * 100 / i128::from(keymeter::domain::bounds::QUOTA_PER_USD);
    let sign = if cents < 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", cents.abs() / 100, cents.abs() % 100)
}

/// What the options of the other service say about groups: the ratio of each, and those that every account may use.
#[derive(Debug, Default)]
pub struct GroupOptions {
    ratios: BTreeMap<String, String>,
    usable: BTreeMap<String, String>,
    names: BTreeSet<String>,
}

impl GroupOptions {
    /// From the values of `GroupRatio` and `UserUsableGroups`, each a JSON object; anything else counts as empty.
    pub fn new(group_ratio: &str, usable_groups: &str) -> Self {
        let parse = |text: &str| serde_json::from_str::<BTreeMap<String, serde_json::Value>>(text).unwrap_or_default();
        let texts = |value: serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let map = |text: &str| parse(text).into_iter().map(|(name, value)| (name, texts(value))).collect();
        let (ratios, usable): (BTreeMap<String, String>, BTreeMap<String, String>) =
            (map(group_ratio), map(usable_groups));
        let names = ratios.keys().chain(usable.keys()).cloned().collect();
        Self { ratios, usable, names }
    }

    /// The settings of a group.
    pub fn settings(&self, name: &str) -> String {
        let is_bare =
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        // A JSON string is a basic string of TOML, which can be a key too.
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let key = if is_bare { name.to_owned() } else { quoted(name) };
        let description = self.usable.get(name).map_or(name, String::as_str);
        let ratio = self.ratios.get(name).map_or("1", String::as_str);
        let open = self.usable.is_empty() && !self.names.contains(name) || self.usable.contains_key(name);
        format!("[groups.{key}]\ndescription = {}\nratio = {}\nopen = {open}\n", quoted(description), quoted(ratio))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_of_a_group_come_from_the_options_of_the_other_service() {
        let options = GroupOptions::new(
            r#"{"default":1,"vip":0.5,"svip":"0.25"}"#,
            r#"{"default":"默认分组","vip":"VIP \"1\""}"#,
        );
        let vip: toml::Table = toml::from_str(&options.settings("vip")).unwrap();
        let vip = &vip["groups"]["vip"];
        assert_eq!((vip["description"].as_str(), vip["open"].as_bool()), (Some("VIP \"1\""), Some(true)));
        assert_eq!(vip["ratio"].as_str(), Some("0.5"));
        assert_eq!(options.settings("svip"), "[groups.svip]\ndescription = \"svip\"\nratio = \"0.25\"\nopen = false\n");
        assert_eq!(options.settings("a b"), "[groups.\"a b\"]\ndescription = \"a b\"\nratio = \"1\"\nopen = false\n");
        let none = GroupOptions::new("", "not JSON");
        assert_eq!(none.settings("vip"), "[groups.vip]\ndescription = \"vip\"\nratio = \"1\"\nopen = true\n");
        for name in ["vip", "a b", "\"", "it's \"q\"", "a\nb", "分组"] {
            assert!(toml::from_str::<toml::Table>(&options.settings(name)).is_ok(), "{name}");
        }
    }

    #[test]
    fn dollars_are_rounded_towards_zero() {
        for (units, text) in [(0, "0.00"), (500_000, "1.00"), (4_999, "0.00"), (-5_000, "-0.01"), (1_234_567, "2.46")] {
            assert_eq!(usd(units), text);
        }
    }

    #[test]
    fn a_report_counts_findings_and_names_the_first_rows() {
        let mut report = ImportReport::new("SQLite x".into(), "PostgreSQL y".into(), "new-api", "new-api".into(), true);
        for id in 0..7 {
            report.add(FindingSubject::Token { id, user_id: 3 }, FoundInRow::quota(Finding::TokenDebt, 500_000));
        }
        report.add(FindingSubject::User(4), FoundInRow::new(Finding::UsernameTaken, Detail::changed("ANA", "ANA-4")));
        let text = report.text();
        let debts = "       7  remaining quotas were below zero and became 0\n          7.00 USD in all\n          key 0 of account 3: 500000\n";
        assert!(text.contains(debts) && text.contains("key 4 of account 3: 500000\n          …\n"), "{text}");
        assert!(text.contains("          account 4: \"ANA\" became \"ANA-4\"\n"), "{text}");
        let json: serde_json::Value = serde_json::from_str(&report.json().unwrap()).unwrap();
        let debts = &json["findings"]["token_debt"];
        assert_eq!((debts["count"].as_i64(), debts["amount"].as_i64()), (Some(7), Some(3_500_000)));
        assert_eq!(
            debts["rows"][6],
            serde_json::json!({ "user_id": 3, "token_id": 6, "detail": { "quota": 500_000 } })
        );
    }
}
