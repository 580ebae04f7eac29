//! What people see of a request.

use serde::Deserialize;
use serde_json::Value;

use super::terminal::{dollars, print_facts, printable, time_of_day};

/// A request that was charged or refused.
#[derive(Deserialize)]
pub struct RequestEntry {
    pub id: String,
    pub at: i64,
    pub outcome: String,
    token_id: Option<i64>,
    pub token_name: Option<String>,
    username: Option<String>,
    pub model: String,
    pub quota: i64,
    shortfall: i64,
    pub prompt_tokens: i64,
    pub completion_tokens: i64,
    units: Option<Value>,
    priced_by: Option<String>,
    hold_reason: Option<String>,
    ip: Option<String>,
    #[serde(rename = "request_id")]
    pub gateways_id: Option<String>,
    reservation_id: Option<String>,
    gateway_name: Option<String>,
    pub refusal: Option<EntryRefusal>,
    /// Of a charge that was asked for by its id.
    details: Option<Details>,
}

#[derive(Deserialize)]
pub struct EntryRefusal {
    pub reason: String,
    message: String,
    call: String,
    requested: Option<i64>,
    retry_after: Option<i64>,
    suppressed: i64,
    cured: Option<Cure>,
    remedy: Option<Remedy>,
}

/// The same request would pass now.
#[derive(Deserialize)]
struct Cure {
    at: Option<i64>,
}

/// What lets a refused request pass.
#[derive(Deserialize)]
struct Remedy {
    action: String,
    field: Option<String>,
    value: Option<String>,
    by: String,
}

#[derive(Deserialize)]
struct Details {
    reservation: Option<EndedReservation>,
    price: Option<UsedPrice>,
}

#[derive(Deserialize)]
struct EndedReservation {
    held: i64,
}

#[derive(Deserialize)]
struct UsedPrice {
    ratio: String,
    lines: Vec<PriceLine>,
}

#[derive(Deserialize)]
struct PriceLine {
    unit: String,
    count: String,
    rate: String,
    per: u32,
}

impl RequestEntry {
    /// One line: when, how it ended, the key, the model, and the cost or why it was refused.
    pub fn line(&self) -> String {
        let Self { outcome, model, .. } = self;
        let key = self.token_name.as_deref().unwrap_or("-");
        let model = if model.is_empty() { "-" } else { model };
        let end = self.refusal.as_ref().map_or_else(|| dollars(self.quota), |refusal| refusal.message.clone());
        printable(&format!("{}  {outcome:<8}  {key}  {model}  {end}", time_of_day(self.at)))
    }

    /// Prints everything that is known of it.
    pub fn print(self) {
        let key = match (self.token_name, self.token_id) {
            (Some(name), Some(id)) => Some(format!("{name} (id {id})")),
            (name, _) => name,
        };
        let count = |count: i64| (count != 0).then(|| count.to_string());
        let seconds = |seconds: i64| format!("{seconds} s");
        let refusal = self.refusal.as_ref();
        let details = self.details.as_ref();
        let facts = [
            ("id", Some(self.id)),
            ("at", Some(time_of_day(self.at))),
            ("outcome", Some(self.outcome)),
            ("refused because", refusal.map(|refusal| refusal.message.clone())),
            ("reason", refusal.map(|refusal| refusal.reason.clone())),
            ("call", refusal.map(|refusal| refusal.call.clone())),
            ("asked for", refusal.and_then(|refusal| refusal.requested).map(dollars)),
            ("retry after", refusal.and_then(|refusal| refusal.retry_after).map(seconds)),
            ("more like it", refusal.and_then(|refusal| count(refusal.suppressed))),
            ("passes now", refusal.and_then(|refusal| refusal.cured.as_ref()).map(Cure::sentence)),
            ("what ends it", refusal.and_then(|refusal| refusal.remedy.as_ref()).map(Remedy::sentence)),
            ("key", key),
            ("user", self.username),
            ("model", Some(self.model)),
            ("cost", refusal.is_none().then(|| dollars(self.quota))),
            ("held", details.and_then(|details| details.reservation.as_ref()).map(|ended| dollars(ended.held))),
            ("not covered", (self.shortfall != 0).then(|| dollars(self.shortfall))),
            ("input tokens", count(self.prompt_tokens)),
            ("output tokens", count(self.completion_tokens)),
            ("units", self.units.map(|units| units.to_string()).filter(|units| units != "{}")),
            ("priced by", self.priced_by),
            ("price", details.and_then(|details| details.price.as_ref()).map(UsedPrice::sentence)),
            ("why the hold", self.hold_reason),
            ("address", self.ip),
            ("request id", self.gateways_id),
            ("reservation", self.reservation_id),
            ("gateway", self.gateway_name),
        ];
        let known = facts.into_iter().filter_map(|(name, value)| Some((name, value.filter(|text| !text.is_empty())?)));
        print_facts(&known.collect::<Vec<_>>());
    }
}

impl Cure {
    fn sentence(&self) -> String {
        self.at.map_or_else(|| "yes".to_owned(), |at| format!("yes, since a change at {}", time_of_day(at)))
    }
}

impl Remedy {
    /// `add_quota remain_quota, by the owner`
    fn sentence(&self) -> String {
        let what = [Some(&self.action), self.field.as_ref(), self.value.as_ref()];
        let what: Vec<&str> = what.into_iter().flatten().map(String::as_str).collect();
        format!("{}, by the {}", what.join(" "), self.by)
    }
}

impl UsedPrice {
    /// `12000 input_tokens at $2 for 1000000, times 1.5`
    fn sentence(&self) -> String {
        let line = |line: &PriceLine| format!("{} {} at ${} for {}", line.count, line.unit, line.rate, line.per);
        let lines: Vec<String> = self.lines.iter().map(line).collect();
        let ratio = if self.ratio == "1" { String::new() } else { format!(", times {}", self.ratio) };
        format!("{}{ratio}", lines.join(" + "))
    }
}
