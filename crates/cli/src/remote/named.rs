//! Keys, users and gateways that arguments name: digits are an id, anything else is a name, and so is what follows
//! `name:`.

use std::fmt;
use std::process::ExitCode;
use std::str::FromStr;

use serde_json::Value;
use serde_json::value::RawValue;

use super::terminal::printable;
use super::{Listing, Remote, client};
use crate::failure::{CommandFailure, exit};
use crate::output::print_error;
use keymeter::domain::key::ApiKey;

/// What the help of commands says about it.
pub const HELP: &str =
    "Keys, users and gateways are given by name or by id: digits are an id, and name:7 is a name that is digits.";

/// An argument that names something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Without `name:`.
    pub text: String,
    id: Option<i64>,
}

impl FromStr for Named {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(name) = text.strip_prefix("name:") {
            return Ok(Self { text: name.to_owned(), id: None });
        }
        if ApiKey::parse(text).is_ok() {
            return Err("arguments are seen by others: give the key's name or id, not the key".to_owned());
        }
        if text.is_empty() {
            return Err("give a name or an id".to_owned());
        }
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        let id = is_number.then(|| text.parse::<i64>()).transpose();
        let id = id.map_err(|_| format!("an id is at most {}; name:{text} is a name", i64::MAX))?;
        Ok(Self { text: text.to_owned(), id })
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&printable(&self.text))
    }
}

impl Named {
    /// What it names, if it is an id.
    pub fn by_id(&self) -> Option<Found> {
        self.id.map(|id| Found { id, name: None })
    }
}

/// What an argument names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub id: i64,
    /// If it was found by it.
    name: Option<String>,
}

impl fmt::Display for Found {
    /// `7`, or `ci (id 7)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            None => write!(f, "{}", self.id),
            Some(name) => write!(f, "{} (id {})", printable(name), self.id),
        }
    }
}

/// Something with a name, and what tells it from others with the same.
#[derive(Debug)]
pub struct Candidate {
    pub id: i64,
    pub name: String,
    pub details: String,
}

/// What can be named, and how it is found.
pub struct Kind {
    noun: &'static str,
    /// The list of them in the API.
    path: &'static str,
    /// What to ask it for.
    query: &'static [(&'static str, &'static str)],
    is_paged: bool,
    /// Whether `keyword` searches the list without a limit on searches.
    has_search: bool,
    /// The member that is the name.
    name: &'static str,
    /// Whether names that differ in case are the same, as the server has it.
    ignores_case: bool,
    /// Members that tell namesakes apart.
    details: &'static [&'static str],
    /// The command that shows them.
    list: &'static str,
}

/// The caller's own keys.
pub const OWN_KEYS: Kind = Kind {
    noun: "key",
    path: "/api/token/",
    query: &[],
    is_paged: true,
    has_search: false,
    name: "name",
    ignores_case: false,
    details: &["masked_key", "state"],
    list: "keymeter key list",
};

/// Deleted keys that can be restored.
pub const DELETED_KEYS: Kind =
    Kind { noun: "deleted key", query: &[("deleted", "1")], list: "keymeter key list --deleted", ..OWN_KEYS };

/// The keys of all users, for administrators.
pub const ALL_KEYS: Kind =
    Kind { path: "/api/admin/tokens", has_search: true, details: &["username", "masked_key", "state"], ..OWN_KEYS };

pub const USERS: Kind = Kind {
    noun: "user",
    path: "/api/admin/users",
    query: &[],
    is_paged: true,
    has_search: true,
    name: "username",
    ignores_case: true,
    details: &["group"],
    list: "keymeter user list",
};

pub const GATEWAYS: Kind = Kind {
    noun: "gateway",
    path: "/api/admin/gateways",
    query: &[],
    is_paged: false,
    has_search: false,
    name: "name",
    ignores_case: false,
    details: &[],
    list: "keymeter gateway list",
};

/// The caller's own access tokens.
pub const ACCESS_TOKENS: Kind =
    Kind { noun: "access token", path: "/api/user/access_tokens", list: "keymeter access-token list", ..GATEWAYS };

/// Requests for the token API that nobody decided yet, by the names of their users.
pub const PENDING_REQUESTS: Kind = Kind {
    noun: "pending request",
    path: "/api/admin/token_api_requests",
    query: &[("state", "pending")],
    has_search: false,
    details: &["reason"],
    list: "keymeter enablement list",
    ..USERS
};

impl Kind {
    /// The only one that has this name.
    ///
    /// # Errors
    /// None or several have it. Several are listed on standard error.
    pub fn only(&self, named: &Named, candidates: Vec<Candidate>) -> Result<Found, CommandFailure> {
        let Self { noun, list, .. } = self;
        let namesakes = candidates.into_iter().filter(|candidate| self.is_same(&candidate.name, &named.text));
        match <[Candidate; 1]>::try_from(namesakes.collect::<Vec<_>>()) {
            Ok([Candidate { id, name, .. }]) => Ok(Found { id, name: Some(name) }),
            Err(none) if none.is_empty() => {
                let message = format!("there is no {noun} named \"{named}\"; `{list}` shows them");
                Err(CommandFailure::new(exit::NOT_FOUND, message))
            }
            Err(several) => {
                for Candidate { id, details, .. } in &several {
                    print_error(&printable(&format!("  {id}  {details}")));
                }
                let message = format!("{} {noun}s are named \"{named}\"; give the id of one", several.len());
                Err(CommandFailure::new(exit::USAGE, message))
            }
        }
    }

    fn is_same(&self, name: &str, wanted: &str) -> bool {
        name == wanted || self.ignores_case && name.to_lowercase() == wanted.to_lowercase()
    }

    /// From an entry of the list.
    fn candidate(&self, entry: &RawValue) -> Result<Candidate, CommandFailure> {
        let entry: Value = client::read(entry.get())?;
        let text = |member: &str| entry[member].as_str().unwrap_or_default().to_owned();
        let details: Vec<String> = self.details.iter().map(|member| text(member)).collect();
        let id = entry["id"].as_i64().unwrap_or_default();
        Ok(Candidate { id, name: text(self.name), details: details.join("  ") })
    }
}

impl Remote {
    /// Finds what an argument names.
    pub fn find(&self, kind: &Kind, named: &Named) -> Result<Found, CommandFailure> {
        match named.by_id() {
            Some(found) => Ok(found),
            None => kind.only(named, self.candidates(kind, &named.text)?),
        }
    }

    /// Finds a user. Older versions took only names, also those that are digits: where one user has them as the id and
    /// another one as the name, it is neither.
    pub fn find_user(&self, named: &Named) -> Result<Found, CommandFailure> {
        let Some(by_id) = named.by_id() else { return self.find(&USERS, named) };
        let candidates = self.candidates(&USERS, &named.text)?;
        let namesake = candidates.into_iter().find(|candidate| USERS.is_same(&candidate.name, &named.text));
        let Some(namesake) = namesake.filter(|namesake| namesake.id != by_id.id) else { return Ok(by_id) };
        match self.client.get(&format!("/api/admin/users/{}", by_id.id), &[]) {
            Err(failure) if failure.code == ExitCode::from(exit::NOT_FOUND) => {
                Ok(Found { id: namesake.id, name: Some(namesake.name) })
            }
            Err(failure) => Err(failure),
            Ok(data) => {
                let user: Value = data.read()?;
                let name = printable(user["username"].as_str().unwrap_or_default());
                let message = format!(
                    "{named} is the id of the user {name} and the name of the user {}; give {name} or name:{named}",
                    namesake.id
                );
                Err(CommandFailure::new(exit::USAGE, message))
            }
        }
    }

    /// Entries that may have the name.
    fn candidates(&self, kind: &Kind, name: &str) -> Result<Vec<Candidate>, CommandFailure> {
        let mut query: Vec<_> = kind.query.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        // A search needs two characters, and takes `%` for a pattern.
        if kind.has_search && name.chars().count() >= 2 && !name.contains('%') {
            query.push(("keyword", name.to_owned()));
        }
        let entries = if kind.is_paged {
            self.entries(&Listing { path: kind.path, filters: query, limit: usize::MAX, since: None })?.0
        } else {
            self.array(kind.path, &query)?
        };
        entries.iter().map(|entry| kind.candidate(entry)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_an_id_and_anything_else_is_a_name() {
        for (text, name, id) in [
            ("7", "7", Some(7)),
            ("007", "007", Some(7)),
            ("name:7", "7", None),
            ("name:name:x", "name:x", None),
            ("ci", "ci", None),
            ("7a", "7a", None),
            ("-7", "-7", None),
            ("密钥", "密钥", None),
        ] {
            assert_eq!(text.parse::<Named>(), Ok(Named { text: name.to_owned(), id }), "{text}");
        }
        for text in ["", "9223372036854775808"] {
            assert!(text.parse::<Named>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_name_is_found_if_exactly_one_has_it() {
        let named = |text: &str| text.parse::<Named>().unwrap();
        let candidates = |names: &[&str]| -> Vec<Candidate> {
            let named = names.iter().zip(1..);
            named.map(|(name, id)| Candidate { id, name: (*name).to_owned(), details: String::new() }).collect()
        };
        let found = OWN_KEYS.only(&named("ci"), candidates(&["CI", "ci", "ci 2"])).unwrap();
        assert_eq!((found.id, found.to_string().as_str()), (2, "ci (id 2)"));
        assert_eq!(USERS.only(&named("ANA"), candidates(&["bob", "ana"])).unwrap().id, 2);

        let none = OWN_KEYS.only(&named("c"), candidates(&["CI", "ci"])).unwrap_err();
        assert_eq!(none.message, "there is no key named \"c\"; `keymeter key list` shows them");
        assert_eq!(none.code, ExitCode::from(exit::NOT_FOUND));
        let several = OWN_KEYS.only(&named("ci"), candidates(&["ci", "x", "ci"])).unwrap_err();
        assert_eq!(several.message, "2 keys are named \"ci\"; give the id of one");
        assert_eq!(several.code, ExitCode::from(exit::USAGE));
    }
}
