//! What is known of a part of the accounts, and what is to be written for one.

use std::collections::{HashMap, HashSet};

use super::findings::FoundInRow;
use super::identity::Marks;
use super::rows::ForeignUsage;
use super::rules::{MappedToken, MappedUser};
use keymeter::domain::id::{TokenId, UserId};
use keymeter::domain::key::Digest;
use keymeter::domain::username::Username;

/// What this installation has already, of a part of the accounts.
#[derive(Debug, Default)]
pub struct Known {
    /// Imported before: ids there and here.
    pub users: HashMap<i64, i64>,
    pub tokens: HashMap<i64, i64>,
    pub access_tokens: HashSet<i64>,
    pub history: HashSet<i64>,
    /// Imported accounts, by their id here, that were deleted since.
    pub gone: HashSet<i64>,
    /// What the imported rows were like then.
    pub marks: Marks,
    /// Ids in use here.
    pub user_ids: HashSet<i64>,
    pub token_ids: HashSet<i64>,
    /// Keys in use here.
    pub keys: HashSet<Digest>,
}

/// What is to be written for an account.
pub struct PlannedImport {
    pub foreign_id: i64,
    pub account: PlannedUser,
    /// New tokens.
    pub tokens: Vec<PlannedToken>,
    /// Tokens that were imported before: ids there and here.
    pub known_tokens: HashMap<i64, i64>,
    /// The digest of an access token.
    pub access_token: Option<Digest>,
    /// `token_id` is that of the other service, 0 if none is meant.
    pub usage: Vec<ForeignUsage>,
}

/// Sums over the usage of an account, and what was found in it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct UsageTally {
    pub quota: i64,
    pub requests: i64,
    /// In the other database.
    pub source_quota: i64,
    pub found: Vec<FoundInRow>,
}

pub enum PlannedUser {
    /// It was imported before.
    Present(UserId),
    New(Box<NewPlannedUser>),
    /// The untouched root account becomes this one.
    Root(UserId, Box<NewPlannedUser>),
}

pub struct NewPlannedUser {
    /// The id to keep; `None`: a new one.
    pub id: Option<UserId>,
    pub username: Username,
    /// The username there and the digest of the password hash there, by which another run knows the account.
    pub name_there: String,
    pub password_digest: Option<Digest>,
    /// Its password is not imported, and it gets a new one.
    pub needs_password: bool,
    pub mapped: MappedUser,
}

pub struct PlannedToken {
    pub foreign_id: i64,
    /// The id to keep; `None`: a new one.
    pub id: Option<TokenId>,
    pub mapped: MappedToken,
}
