//! Commands that act on a server with an access token.

mod address;
pub mod audit;
mod client;
mod figures;
pub mod gateways;
mod key_edits;
mod key_fields;
mod key_lists;
mod key_view;
pub mod keys;
pub mod login;
mod login_file;
pub mod named;
mod period_limits;
mod prices;
mod rotation;
pub mod target;
pub mod terminal;
pub mod top;
mod top_report;
pub mod usage;
pub mod users;
pub mod values;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use self::client::{Client, ClientCredential, Data};
use self::target::{PlaceOptions, RemoteOptions};
use super::failure::{CommandFailure, exit};
use crate::output::{print_error, print_line};
use keymeter::domain::bounds::MAX_PAGE_SIZE;
use keymeter::domain::clock::{Clock, SystemClock};
use keymeter::domain::time::UnixTime;
use keymeter::service::rng::Rng;

/// A server that commands act on, and how they print its answers.
pub struct Remote {
    client: Client,
    json: bool,
}

/// What parameters of lists in the API are called here.
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

    /// Prints that something was done; as JSON the server's data.
    fn done(&self, data: &Data, sentence: &str) {
        print_line(if self.json { data.text() } else { sentence });
    }

    /// Prints the entries of a list as one array, or as `print` shows them; `limit` at most.
    fn list<T: DeserializeOwned>(
        &self,
        path: &str,
        filters: &[(&str, String)],
        limit: usize,
        print: impl FnOnce(Vec<T>),
    ) -> Result<(), CommandFailure> {
        let (mut items, total) = self.entries(path, filters, limit)?;
        items.truncate(limit);
        if items.len() < total {
            print_error(&format!("these are {} of {total}; --limit N shows more", items.len()));
        }
        self.print_items(&items, print)
    }

    /// Reads the pages of a list until there are `limit` entries or more. Also returns how many the list has.
    fn entries(
        &self,
        path: &str,
        filters: &[(&str, String)],
        limit: usize,
    ) -> Result<(Vec<Box<RawValue>>, usize), CommandFailure> {
        let mut items = Vec::new();
        let mut total = 0;
        for number in 1_usize.. {
            let page = [("p", number.to_string()), ("page_size", MAX_PAGE_SIZE.to_string())];
            let page = self.client.get(path, &[filters, &page].concat());
            let page: Page = page.map_err(|failure| failure.naming(&LIST_OPTIONS))?.read()?;
            let is_last = page.items.is_empty();
            total = page.total;
            items.extend(page.items);
            if is_last || items.len() >= limit.min(total) {
                break;
            }
        }
        Ok((items, total))
    }

    /// Creates something under a random `Idempotency-Key`, so that a proxy that repeats this request makes nothing
    /// twice. Asks for what was created.
    fn create_once(&self, path: &str, body: &Value) -> Result<Data, CommandFailure> {
        let id = Rng::system().generate_fast(|rng| format!("{:016x}{:016x}", rng.next_u64(), rng.next_u64()));
        self.client.create(path, body, &[("Idempotency-Key", &id), ("Prefer", "return=representation")])
    }

    fn print_items<T: DeserializeOwned>(
        &self,
        items: &[Box<RawValue>],
        print: impl FnOnce(Vec<T>),
    ) -> Result<(), CommandFailure> {
        if self.json {
            let items: Vec<&str> = items.iter().map(|item| item.get()).collect();
            print_line(&format!("[{}]", items.join(",\n")));
        } else {
            print(items.iter().map(|item| client::read(item.get())).collect::<Result<_, _>>()?);
        }
        Ok(())
    }
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

fn nothing_to_change(help: &str) -> CommandFailure {
    CommandFailure::new(exit::USAGE, format!("name what to change; `{help}` lists the fields"))
}
