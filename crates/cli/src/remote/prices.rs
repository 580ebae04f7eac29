//! `keymeter prices …` on a server. For administrators.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Remote;
use super::list_options::ListOptions;
use super::terminal::{self, Table, printable, time};
use crate::failure::CommandFailure;
use crate::output::{print_error, print_line};
use crate::prices::PricedRequest;

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
struct ComparedPrices {
    number: i64,
    changes: Vec<RateChange>,
    need_acceptance: Vec<String>,
    left_out: Vec<LeftOut>,
}

#[derive(Deserialize)]
struct RateChange {
    model: String,
    rate: String,
    from: Option<String>,
    to: Option<String>,
}

#[derive(Deserialize)]
struct Cost {
    quota: i64,
    hold: Option<i64>,
    ratio: String,
    lines: Vec<CostLine>,
}

#[derive(Deserialize)]
struct CostLine {
    unit: String,
    count: String,
    rate: String,
    per: u32,
    usd: String,
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
    /// Sets a list of files or URLs.
    pub fn set_prices(&self, sources: &[String], note: &str, accept: bool) -> Result<(), CommandFailure> {
        let note = serde_json::Value::from(note);
        self.put_prices(&body_of(sources, &format!("\"note\":{note},\"accept\":{accept}"))?)
    }

    /// Sets the list of a former version again.
    pub fn roll_back_prices(&self, version: i64, note: &str, accept: bool) -> Result<(), CommandFailure> {
        self.put_prices(&serde_json::json!({ "version": version, "note": note, "accept": accept }).to_string())
    }

    fn put_prices(&self, body: &str) -> Result<(), CommandFailure> {
        let data = self.client.put_text("/api/admin/prices", body)?;
        self.show(&data, |list: PriceList| {
            print_error(&format!("version {} of the prices is in force", list.number));
            print_left_out(&list.left_out);
        })
    }

    /// Prints what a list of files or URLs, or of a former version, would change.
    pub fn compare_prices(&self, sources: &[String], version: Option<i64>) -> Result<(), CommandFailure> {
        let version = serde_json::json!(version);
        let data =
            self.client.post_text("/api/admin/prices/diff", &body_of(sources, &format!("\"version\":{version}"))?)?;
        self.show(&data, |ComparedPrices { number, changes, need_acceptance, left_out }| {
            if changes.is_empty() {
                print_line(&format!("no rate would be another one than in version {number}"));
            }
            for RateChange { model, rate, from, to } in &changes {
                let [from, to] = [from, to].map(|rate| rate.as_deref().unwrap_or("no rate"));
                let colon = if rate.is_empty() { "" } else { ": " };
                print_line(&printable(&format!("{model}{colon}{rate} from {from} to {to}")));
            }
            if !need_acceptance.is_empty() {
                print_error("setting it needs --accept:");
                for why in need_acceptance {
                    print_error(&printable(&format!("  {why}")));
                }
            }
            print_left_out(&left_out);
        })
    }

    /// Prints what a request would cost.
    pub fn show_cost(&self, request: &PricedRequest) -> Result<(), CommandFailure> {
        let named = [
            ("input_tokens", &request.input_tokens),
            ("output_tokens", &request.output_tokens),
            ("cache_read_tokens", &request.cache_read_tokens),
            ("cache_write_tokens", &request.cache_write_tokens),
        ];
        let named = named.into_iter().filter_map(|(unit, count)| Some((unit, count.as_deref()?)));
        let others = request.units.iter().map(|(unit, count)| (unit.as_str(), count.as_str()));
        let mut units = serde_json::Map::new();
        for (unit, count) in named.chain(others) {
            let count: serde_json::Number = count.parse().map_err(|_| format!("{unit} must be a number"))?;
            if units.insert(unit.to_owned(), count.into()).is_some() {
                return Err(format!("{unit} was given twice").into());
            }
        }
        let context: BTreeMap<_, _> = request.context.iter().cloned().collect();
        let PricedRequest { model, provider, group, .. } = request;
        let body = serde_json::json!({ "model": model, "units": units, "context": context, "provider": provider,
            "group": group });
        let data = self.client.post("/api/prices/cost", &body)?;
        self.show(&data, |Cost { quota, hold, ratio, lines }| {
            let columns = ["UNIT", "COUNT", "DOLLARS", "FOR", "COST"];
            let mut table = Table::with_amounts(&columns, &columns[1..]);
            for CostLine { unit, count, rate, per, usd } in lines {
                table.row(vec![printable(&unit), count, rate, per.to_string(), usd]);
            }
            table.print("units");
            if ratio != "1" {
                print_line(&format!("times {ratio}, the ratio of the group"));
            }
            print_line(&format!("charged: {}", terminal::quota(quota)));
            match hold {
                Some(hold) => print_line(&format!("held by a reservation: {}", terminal::quota(hold))),
                None => print_line("a reservation needs a rate of its own for one of these units"),
            }
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

    pub fn list_price_versions(&self, options: &ListOptions) -> Result<(), CommandFailure> {
        let entries = self.array("/api/admin/prices/versions", &[])?;
        self.print_entries(&entries, options, "versions", |versions: Vec<Version>| {
            let mut table = Table::new(&["VERSION", "SET", "BY", "NOTE"]);
            for Version { number, created_time, created_by, note } in versions {
                table.row(vec![number.to_string(), time(created_time), created_by.to_string(), printable(&note)]);
            }
            table
        })
    }
}

/// The body that sends files or URLs, one's own file as a JSON object and the published data as a JSON array.
fn body_of(sources: &[String], more: &str) -> Result<String, CommandFailure> {
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
    let parts = [member("file", file), member("data", data), Some(more.to_owned())];
    Ok(format!("{{{}}}", parts.into_iter().flatten().collect::<Vec<_>>().join(",")))
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
