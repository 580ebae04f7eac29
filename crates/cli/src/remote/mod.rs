//! Commands that act on a server with an access token.

pub mod access_tokens;
mod address;
pub mod api;
pub mod audit;
mod client;
mod comparison;
pub mod enablement;
mod figures;
pub mod gateways;
mod key_edits;
mod key_fields;
mod key_filters;
mod key_lists;
mod key_update_all;
mod key_view;
pub mod keys;
pub mod list_options;
pub mod login;
mod login_file;
pub mod named;
pub mod open;
mod period_limits;
mod prices;
mod request_pages;
mod request_tail;
mod request_view;
pub mod requests;
mod rotation;
mod scope_args;
pub mod sessions;
pub mod target;
pub mod terminal;
pub mod top;
mod top_report;
mod top_up;
pub mod usage;
pub mod users;
pub mod values;

use chrono::DateTime;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use self::client::{Client, ClientCredential, Data};
use self::list_options::ListOptions;
use self::target::{PlaceOptions, RemoteOptions};
use self::terminal::Table;
use super::failure::{CommandFailure, exit};
use crate::output::{print_error, print_line};
use keymeter::domain::bounds::MAX_PAGE_SIZE;
use keymeter::domain::clock::{Clock, SystemClock};
use keymeter::domain::time::{DAY, UnixTime};
use keymeter::service::rng::Rng;

/// A server that commands act on, and how they print its answers.
pub struct Remote {
    client: Client,
    json: bool,
}

/// Parameters of lists in the API, and the options that set them.
const LIST_OPTIONS: [(&str, &str); 8] = [
    ("keyword", "--search"),
    ("status", "--status"),
    ("state", "--state"),
    ("group", "--group"),
    ("sort", "--sort"),
    ("from", "--from"),
    ("to", "--to"),
    ("action", "--action"),
];

#[derive(Deserialize)]
struct Page {
    items: Vec<Box<RawValue>>,
    total: usize,
}

/// A list that is read page by page.
struct Listing<'a> {
    path: &'a str,
    filters: Vec<(&'a str, String)>,
    /// How many entries are wanted.
    limit: usize,
    /// Leaves out what is older. The list must have the newest first.
    since: Option<UnixTime>,
}

/// The entries of a page, newest first, that are not older than `since`, and whether there are older ones.
fn not_before(since: Option<UnixTime>, entries: Vec<Box<RawValue>>) -> (Vec<Box<RawValue>>, bool) {
    #[derive(Deserialize)]
    struct At {
        at: i64,
    }

    let Some(since) = since else { return (entries, false) };
    let count = entries.len();
    let is_wanted = |json: &str| serde_json::from_str::<At>(json).is_ok_and(|entry| entry.at >= since.get());
    let wanted: Vec<_> = entries.into_iter().take_while(|entry| is_wanted(entry.get())).collect();
    let is_past = wanted.len() < count;
    (wanted, is_past)
}

/// `from` of the API for a list of what happened since a moment, which then leaves out what is older: the day before,
/// because the server's days may be those of any time zone.
fn day_before(since: UnixTime) -> String {
    day_of(since.plus(-DAY))
}

/// The day of a moment, in UTC. Nothing is from before 1970.
fn day_of(moment: UnixTime) -> String {
    DateTime::from_timestamp(moment.get().max(0), 0).unwrap_or_default().format("%Y-%m-%d").to_string()
}

impl Remote {
    /// Finds the server and says on standard error which one it is, so that also a failure says where it happened.
    pub fn connect(options: &RemoteOptions) -> Result<Self, CommandFailure> {
        let target = target::find(&options.server)?;
        print_error(&format!("on {target}"));
        let client = Client::new(target.address, ClientCredential::AccessToken(target.access_token), &options.server)?;
        Ok(Self { client, json: options.json })
    }

    /// Prints data: as they came, or as `print` shows them to people.
    fn show<T: DeserializeOwned>(&self, data: &Data, print: impl FnOnce(T)) -> Result<(), CommandFailure> {
        if self.json {
            print_line(data.text());
        } else {
            print(data.read()?);
        }
        Ok(())
    }

    /// Says on standard error that something was done; as JSON prints the server's data.
    fn done(&self, data: &Data, sentence: &str) {
        if self.json {
            print_line(data.text());
        } else {
            print_error(sentence);
        }
    }

    /// Prints the entries of a list, as `options` say or as `table` shows them. `things` is what there may be none of.
    fn list<T: DeserializeOwned>(
        &self,
        listing: &Listing<'_>,
        options: &ListOptions,
        things: &str,
        table: impl FnOnce(Vec<T>) -> Table,
    ) -> Result<(), CommandFailure> {
        let (mut entries, total) = self.entries(listing)?;
        entries.truncate(listing.limit);
        if entries.len() < total {
            print_error(&format!("these are {} of {total}; --limit N shows more", entries.len()));
        }
        self.print_entries(&entries, options, things, table)
    }

    /// Reads the pages of a list until there are `limit` entries or more. Also returns how many there are in all.
    fn entries(&self, listing: &Listing<'_>) -> Result<(Vec<Box<RawValue>>, usize), CommandFailure> {
        let Listing { path, filters, limit, since } = listing;
        let mut entries = Vec::new();
        let mut total = 0;
        for number in 1_usize.. {
            let page = [("p", number.to_string()), ("page_size", MAX_PAGE_SIZE.to_string())];
            let page = self.client.get(path, &[filters.as_slice(), &page].concat());
            let page: Page = page.map_err(|failure| failure.naming(&LIST_OPTIONS))?.read()?;
            let is_last = page.items.is_empty();
            total = page.total;
            let (wanted, is_past) = not_before(*since, page.items);
            entries.extend(wanted);
            if is_past {
                total = entries.len();
            }
            if is_last || entries.len() >= total.min(*limit) {
                break;
            }
        }
        Ok((entries, total))
    }

    /// All entries of a list without pages.
    fn array(&self, path: &str, query: &[(&str, String)]) -> Result<Vec<Box<RawValue>>, CommandFailure> {
        self.client.get(path, query)?.read()
    }

    /// Creates something under a random `Idempotency-Key`, so that a proxy that repeats this request makes nothing
    /// twice. Asks for what was created.
    fn create_once(&self, path: &str, body: &Value) -> Result<Data, CommandFailure> {
        self.client.create(path, body, &[("Idempotency-Key", &idempotency_key()), ("Prefer", "return=representation")])
    }

    /// Changes something in the same way. If it may be done although no answer came, asks again.
    fn change_once(&self, path: &str, body: &Value) -> Result<Data, CommandFailure> {
        let key = idempotency_key();
        let send = || self.client.patch_with(path, body, &[("Idempotency-Key", &key)]);
        send().or_else(|failure| if failure.may_be_done { send() } else { Err(failure) })
    }
}

fn idempotency_key() -> String {
    Rng::system().generate_fast(|rng| format!("{:016x}{:016x}", rng.next_u64(), rng.next_u64()))
}

impl PlaceOptions {
    /// Finds the server for a command that could also act on the local database.
    pub fn connect(&self) -> Result<Remote, CommandFailure> {
        Remote::connect(&self.remote).map_err(|failure| {
            let message = format!("{}; or act on the local database with --local", failure.message);
            CommandFailure { message, ..failure }
        })
    }
}

fn now() -> UnixTime {
    SystemClock.micros().seconds()
}

/// A filter that was named.
fn filter<'a>(name: &'a str, value: Option<&impl ToString>) -> Option<(&'a str, String)> {
    value.map(|value| (name, value.to_string()))
}

/// The members of a body that have a value.
fn members<'a>(members: impl IntoIterator<Item = (&'a str, Option<Value>)>) -> Map<String, Value> {
    members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

fn nothing_to_change(help: &str) -> CommandFailure {
    CommandFailure::new(exit::USAGE, format!("name what to change; `{help}` lists the fields"))
}
