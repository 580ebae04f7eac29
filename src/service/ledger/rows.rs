//! Which rows a batch locks and reads.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::id::{ReservationId, TokenId, UserId};
use crate::domain::key::Digest;
use crate::domain::token::Token;
use crate::service::key_cache::CachedKey;
use crate::storage::ledger::GatewayRequestId;

/// The rows that the operations of a batch need.
#[derive(Default)]
pub(super) struct NeededRows<'a> {
    pub(super) owners: BTreeSet<UserId>,
    /// Tokens by id, as this server remembers them.
    pub(super) tokens: BTreeMap<TokenId, &'a Token>,
    pub(super) reservations: BTreeSet<ReservationId>,
    /// Those of them whose tokens may have to pay more.
    pub(super) extended: BTreeSet<ReservationId>,
    /// Those of them that are settled by the price of a model.
    pub(super) priced: BTreeSet<ReservationId>,
    pub(super) request_ids: BTreeSet<&'a GatewayRequestId>,
    /// The keys by which they are charged.
    pub(super) keys: Vec<(TokenId, &'a Digest)>,
    /// Those of the tokens that this server remembers in more than one version, each with another key.
    pub(super) in_several_versions: BTreeSet<TokenId>,
}

impl<'a> NeededRows<'a> {
    /// Adds a token that is charged, as it was read with this key.
    pub(super) fn add_key(&mut self, key: &'a CachedKey) {
        let token = &key.token;
        self.keys.push((token.id, &key.digest));
        let known = self.tokens.entry(token.id).or_insert(token);
        if known.policy.version != token.policy.version {
            self.in_several_versions.insert(token.id);
        }
        if known.policy.version < token.policy.version {
            *known = token;
        }
    }
}
