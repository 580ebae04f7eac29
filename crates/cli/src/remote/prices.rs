//! `keymeter prices …` on a server. For administrators.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Remote;
use super::terminal::{Table, printable, time};
use crate::failure::CommandFailure;
use crate::output::{print_error, print_line};

/// What is downloaded is not waited for longer than this, and not larger.
const DOWNLOAD_TIMEOUT: Duration = Duration::from_mins(1);
const MAX_DOWNLOAD: u64 = 16 * 1024 * 1024;

/// How many models that were left out are named.
const SHOWN: usize = 20;

#[derive(Deserialize)]
struct PriceList {
    number: i64,
    file: Box<RawValue>,
    left_out: Vec<LeftOut>,
}

#[derive(Deserialize)]
struct LeftOut {
    provider: String,
    model: String,
    reason: String,
}

#[derive(Deserialize)]
struct Version {
    number: i64,
    created_time: i64,
    created_by: i64,
    note: String,
}

impl Remote {
    /// Sets a list of files or URLs: one's own file is a JSON object, the published data a JSON array.
    pub fn set_prices(&self, sources: &[String], note: &str, accept: bool) -> Result<(), CommandFailure> {
        let (mut file, mut data) = (None, None);
        for source in sources {
            let text = read(source)?;
            let json: Box<RawValue> = serde_json::from_str(&text).map_err(|error| format!("{source}: {error}"))?;
            let part = match json.get().chars().next() {
                Some('{') => &mut file,
                Some('[') => &mut data,
                _ => return Err(format!("{source} is neither a file of prices nor the data of providers").into()),
            };
            if part.replace(json).is_some() {
                return Err(format!("{source} is the second of its kind; send one file and one set of data").into());
            }
        }
        let member = |name: &str, json: Option<Box<RawValue>>| json.map(|json| format!("\"{name}\":{}", json.get()));
        let note = serde_json::Value::from(note);
        let parts = [member("file", file), member("data", data), Some(format!("\"note\":{note},\"accept\":{accept}"))];
        let body = format!("{{{}}}", parts.into_iter().flatten().collect::<Vec<_>>().join(","));
        self.put_prices(&body)
    }

    /// Sets the list of a former version again.
    pub fn roll_back_prices(&self, version: i64, note: &str, accept: bool) -> Result<(), CommandFailure> {
        self.put_prices(&serde_json::json!({ "version": version, "note": note, "accept": accept }).to_string())
    }

    fn put_prices(&self, body: &str) -> Result<(), CommandFailure> {
        let data = self.client.put_text("/api/admin/prices", body)?;
        self.show(&data, |list: PriceList| {
            print_line(&format!("version {} of the prices is in force", list.number));
            print_left_out(&list.left_out);
        })
    }

    /// Prints one's own prices of the version in force.
    pub fn show_prices(&self) -> Result<(), CommandFailure> {
        let data = self.client.get("/api/admin/prices", &[])?;
        self.show(&data, |list: PriceList| {
            print_line(list.file.get());
            print_left_out(&list.left_out);
        })
    }

    pub fn list_price_versions(&self) -> Result<(), CommandFailure> {
        let data = self.client.get("/api/admin/prices/versions", &[])?;
        self.show(&data, |versions: Vec<Version>| {
            let mut table = Table::new(&["VERSION", "SET", "BY", "NOTE"]);
            for Version { number, created_time, created_by, note } in versions {
                table.row(vec![number.to_string(), time(created_time), created_by.to_string(), printable(&note)]);
            }
            table.print();
        })
    }
}

fn print_left_out(left_out: &[LeftOut]) {
    if left_out.is_empty() {
        return;
    }
    print_error(&format!("{} models of these providers have no price:", left_out.len()));
    for LeftOut { provider, model, reason } in left_out.iter().take(SHOWN) {
        print_error(&printable(&format!("  {provider}/{model}: {reason}")));
    }
    if left_out.len() > SHOWN {
        print_error("  …; all are in the answer with --json");
    }
}

/// The text of a file, or of an https URL.
fn read(source: &str) -> Result<String, CommandFailure> {
    if !source.contains("://") {
        return std::fs::read_to_string(source).map_err(|error| format!("cannot read {source}: {error}").into());
    }
    let agent =
        ureq::Agent::config_builder().https_only(true).timeout_global(Some(DOWNLOAD_TIMEOUT)).build().new_agent();
    let failed = |error: ureq::Error| CommandFailure::from(format!("cannot download {source}: {error}"));
    let mut answer = agent.get(source).call().map_err(failed)?;
    answer.body_mut().with_config().limit(MAX_DOWNLOAD).read_to_string().map_err(failed)
}
