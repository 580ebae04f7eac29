//! Decides what is written for one account: what is new, under which name and id, and what is left out.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::administrators::{AdmittedUser, admit};
use super::findings::{Detail, Finding, FoundInRow};
use super::identity::{self, Identity};
use super::names::{self, Names};
use super::planned::{Known, NewPlannedUser, PlannedImport, PlannedToken, PlannedUser, UsageTally};
use super::report::{FindingSubject, ImportReport};
use super::rows::{ForeignToken, ForeignUsage, ForeignUser};
use super::rules::{MappedUser, cut_model, is_deleted, map_token, map_user};
use super::target::ImportTarget;
use super::{Destination, ImportError, ImportOptions};
use crate::statements::ImportedUsage;
use keymeter::domain::bounds;
use keymeter::domain::group::Group;
use keymeter::domain::id::{TokenId, UserId};
use keymeter::domain::key::Digest;
use keymeter::domain::money::Quota;
use keymeter::domain::time::{DAY, UnixTime};
use keymeter::domain::user::Role;
use keymeter::domain::username::Username;

/// The largest id that is kept. Half of the ids of a cell remain for new ones; larger ones belong to other cells
/// ([`keymeter::domain::cell`]).
pub const MAX_KEPT_ID: i64 = (1 << 39) - 1;

/// The state of one pass.
pub struct Planner<'a> {
    here: &'a Destination,
    now: UnixTime,
    revive: bool,
    keeps_ids: bool,
    /// Administrators become ordinary users.
    lowers_roles: bool,
    untouched_root: Option<(UserId, Username)>,
    names: Names,
    /// The keys of this pass, by the start of their digests.
    seen_keys: HashSet<u64>,
    /// Which installation it is, by what earlier imports left.
    pub identity: Identity,
}

impl<'a> Planner<'a> {
    pub fn new(here: &'a Destination, options: &ImportOptions, target: &ImportTarget<'_>) -> Self {
        Self {
            here,
            now: here.clock.now(),
            revive: options.revive,
            keeps_ids: target.keeps_ids,
            lowers_roles: !target.keeps_ids && !options.keep_roles,
            untouched_root: target.untouched_root.clone(),
            names: target.names.clone(),
            seen_keys: HashSet::new(),
            identity: Identity::default(),
        }
    }

    /// What is to be written for an account and its tokens; `None` if nothing is. `usage` is `None` if no history is
    /// read.
    ///
    /// # Errors
    /// No username is free.
    pub fn plan(
        &mut self,
        user: &ForeignUser,
        tokens: Vec<ForeignToken>,
        usage: Option<Vec<ForeignUsage>>,
        known: &Known,
        report: &mut ImportReport,
    ) -> Result<Option<PlannedImport>, ImportError> {
        let subject = FindingSubject::User(user.id);
        let present = known.users.get(&user.id).copied();
        let sameness = known.marks.compare(user, &tokens, self.here.vault.digests());
        self.identity.add(&sameness);
        let left_out = match present {
            _ if is_deleted(user) => Some(Finding::UserDeleted),
            Some(local) if known.gone.contains(&local) => Some(Finding::UserGone),
            Some(_) | None => None,
        };
        if let Some(finding) = left_out {
            if finding == Finding::UserGone {
                report.accounts.found += 1;
                report.accounts.left_out += 1;
            }
            report.add(subject, finding);
            leave_out(&tokens, report);
            return Ok(None);
        }
        report.accounts.found += 1;
        let (mapped, found) = map_user(user, self.now);
        let group = if mapped.group.is_empty() { self.here.initial_group.clone() } else { mapped.group.clone() };
        let access_token = self.plan_access_token(user.id, &mapped, known, report);
        let account = if let Some(local) = present {
            report.accounts.present += 1;
            if let Some(name) = &sameness.renamed_from {
                report.add(subject, FoundInRow::new(Finding::RenamedThere, Detail::changed(name, &user.username)));
            }
            PlannedUser::Present(UserId::new(local))
        } else {
            for found in found {
                report.add(subject, found);
            }
            if !self.here.groups.contains(&group) {
                report.needs_group(&group, true);
            }
            report.accounts.imported += 1;
            report.sums.wallets.add(user.quota, mapped.quota);
            report.sums.wallets_used.add(user.used_quota, mapped.used_quota);
            self.plan_account(user, MappedUser { group: group.clone(), ..mapped }, known, report)?
        };
        let (usage, has_history) = match usage {
            Some(usage) if !known.history.contains(&user.id) => (resolve_tokens(usage, &tokens), true),
            Some(_) => {
                report.usage.present += 1;
                (Vec::new(), false)
            }
            None => (Vec::new(), false),
        };
        if has_history && !usage.is_empty() {
            report.usage.accounts += 1;
        }
        let known_tokens = tokens.iter().filter_map(|token| Some((token.id, *known.tokens.get(&token.id)?))).collect();
        let tokens = self.plan_tokens(tokens, &group, known, report);
        let is_nothing = matches!(account, PlannedUser::Present(_))
            && tokens.is_empty()
            && access_token.is_none()
            && usage.is_empty();
        if !is_nothing {
            self.identity.add_changed(user, &sameness);
        }
        let planned = PlannedImport { foreign_id: user.id, account, tokens, known_tokens, access_token, usage };
        Ok((!is_nothing).then_some(planned))
    }

    fn plan_account(
        &mut self,
        user: &ForeignUser,
        mapped: MappedUser,
        known: &Known,
        report: &mut ImportReport,
    ) -> Result<PlannedUser, ImportError> {
        let subject = FindingSubject::User(user.id);
        let is_root = self.keeps_ids && self.untouched_root.as_ref().is_some_and(|(root, _)| root.get() == user.id);
        if is_root && let Some((_, name)) = &self.untouched_root {
            self.names.remove(name);
        }
        let (username, found) = self.names.choose(&user.username, user.id);
        for found in found {
            report.add(subject, found);
        }
        let Some(username) = username else {
            return Err(ImportError::NoName(user.id, user.username.clone()));
        };
        let AdmittedUser { mapped, needs_password, found } = admit(user, mapped, &username, self.lowers_roles);
        for found in found {
            report.add(subject, found);
        }
        if is_root {
            if mapped.role == Role::Root {
                report.add(subject, FoundInRow::new(Finding::RootReplaced, Detail::text(username.as_str())));
            } else {
                report.block(
                    "root_id_differs",
                    format!(
                        "the account {} is root here and not root there, so ids cannot be kept; add --new-ids",
                        user.id
                    ),
                );
            }
            let id = UserId::new(user.id);
            // It keeps the password that it has here if none is imported.
            return Ok(PlannedUser::Root(id, self.new_account(Some(id), username, user, mapped, false)));
        }
        let id = self.id(user.id, &known.user_ids, subject, Finding::UserIdTaken, report).map(UserId::new);
        Ok(PlannedUser::New(self.new_account(id, username, user, mapped, needs_password)))
    }

    fn new_account(
        &self,
        id: Option<UserId>,
        username: Username,
        user: &ForeignUser,
        mapped: MappedUser,
        needs_password: bool,
    ) -> Box<NewPlannedUser> {
        let password_digest = identity::password_digest(user, self.here.vault.digests());
        let name_there = names::kept(&user.username);
        Box::new(NewPlannedUser { id, username, name_there, password_digest, needs_password, mapped })
    }

    /// The id to keep; `None` for a new one.
    fn id(
        &self,
        foreign: i64,
        taken: &HashSet<i64>,
        subject: FindingSubject,
        finding: Finding,
        report: &mut ImportReport,
    ) -> Option<i64> {
        if !self.keeps_ids {
            return None;
        }
        if !(1..=MAX_KEPT_ID).contains(&foreign) {
            report.add(subject, Finding::IdOutOfRange);
            return None;
        }
        if taken.contains(&foreign) {
            report.add(subject, finding);
            return None;
        }
        Some(foreign)
    }

    fn plan_access_token(
        &self,
        user: i64,
        mapped: &MappedUser,
        known: &Known,
        report: &mut ImportReport,
    ) -> Option<Digest> {
        let token = mapped.access_token.as_ref()?;
        report.access_tokens.found += 1;
        if known.access_tokens.contains(&user) {
            report.access_tokens.present += 1;
            return None;
        }
        report.access_tokens.imported += 1;
        Some(self.here.vault.digests().digest(token))
    }

    fn plan_tokens(
        &mut self,
        tokens: Vec<ForeignToken>,
        owner_group: &str,
        known: &Known,
        report: &mut ImportReport,
    ) -> Vec<PlannedToken> {
        let mut planned = Vec::new();
        for token in tokens {
            let subject = FindingSubject::Token { id: token.id, user_id: token.user_id };
            if token.is_deleted {
                report.add(subject, Finding::TokenDeleted);
                continue;
            }
            report.keys.found += 1;
            if known.tokens.contains_key(&token.id) {
                report.keys.present += 1;
                continue;
            }
            let (mapped, mut found) = map_token(&token, self.now, self.revive);
            let mapped = mapped.filter(|mapped| {
                let digest = self.here.vault.digest(&mapped.key);
                let is_free = !known.keys.contains(&digest) && self.seen_keys.insert(digest.prefix());
                if !is_free {
                    found = vec![Finding::KeyTaken.into()];
                }
                is_free
            });
            if let Some(Group::Named(group)) = mapped.as_ref().map(|mapped| &mapped.group) {
                if !self.here.groups.contains(group) {
                    report.needs_group(group, false);
                } else if !self.here.groups.allow(owner_group, &Group::Named(group.clone())) {
                    found.push(FoundInRow::new(Finding::GroupNotOpen, Detail::text(group.as_str())));
                }
            }
            for found in found {
                report.add(subject, found);
            }
            let Some(mapped) = mapped else {
                report.keys.left_out += 1;
                continue;
            };
            report.keys.imported += 1;
            // An unlimited token is charged below zero there; its remaining quota means nothing.
            if !token.unlimited_quota {
                report.sums.keys_remaining.add(token.remain_quota, mapped.budget.remain());
            }
            report.sums.keys_used.add(token.used_quota, mapped.used_quota);
            let id = self.id(token.id, &known.token_ids, subject, Finding::TokenIdTaken, report).map(TokenId::new);
            planned.push(PlannedToken { foreign_id: token.id, id, mapped });
        }
        planned
    }
}

/// Tokens of an account that is not imported.
fn leave_out(tokens: &[ForeignToken], report: &mut ImportReport) {
    for token in tokens.iter().filter(|token| !token.is_deleted) {
        report.keys.found += 1;
        report.keys.left_out += 1;
        let subject = FindingSubject::Token { id: token.id, user_id: token.user_id };
        report.add(subject, Finding::TokenOrphaned);
    }
}

/// Names the tokens of usage that has only their names: older versions log no id. A name that several tokens have
/// stands for none.
fn resolve_tokens(mut usage: Vec<ForeignUsage>, tokens: &[ForeignToken]) -> Vec<ForeignUsage> {
    let mut by_name: HashMap<&str, Option<i64>> = HashMap::new();
    for token in tokens {
        by_name.entry(token.name.as_str()).and_modify(|id| *id = None).or_insert(Some(token.id));
    }
    for row in usage.iter_mut().filter(|row| row.token_id == 0) {
        row.token_id = by_name.get(row.token_name.as_str()).copied().flatten().unwrap_or(0);
    }
    usage
}

impl PlannedImport {
    /// What findings about a token of the account are about.
    pub const fn subject_of(&self, token: &PlannedToken) -> FindingSubject {
        FindingSubject::Token { id: token.foreign_id, user_id: self.foreign_id }
    }

    /// The rows of usage, one per token, day and model, with the ids that the tokens have here.
    pub fn usage_rows(&self, local: &HashMap<i64, i64>) -> (Vec<ImportedUsage>, UsageTally) {
        let mut tally = UsageTally::default();
        let mut sums: BTreeMap<(i64, i64, &str), [i64; 4]> = BTreeMap::new();
        let mut is_cut = BTreeSet::new();
        for row in &self.usage {
            tally.source_quota = tally.source_quota.saturating_add(row.quota);
            let token = local.get(&row.token_id).copied().unwrap_or(0);
            let model = cut_model(&row.model);
            if model.len() < row.model.len() && is_cut.insert(model) {
                tally.found.push(FoundInRow::new(Finding::UsageModelCut, Detail::text(model)));
            }
            let sum = sums.entry((token, row.day, model)).or_default();
            for (sum, value) in sum.iter_mut().zip([row.quota, row.requests, row.prompt_tokens, row.completion_tokens])
            {
                *sum = sum.saturating_add(value);
            }
        }
        let mut rows = Vec::with_capacity(sums.len());
        for ((token, day, model), [quota, requests, prompt_tokens, completion_tokens]) in sums {
            let day = UnixTime::new(day.saturating_mul(DAY)).day_in(chrono_tz::Tz::UTC);
            if quota < 0 {
                let detail = Detail::Quota { quota: quota.saturating_neg(), day: Some(day.to_string()) };
                tally.found.push(FoundInRow::new(Finding::UsageBelowZero, detail));
            }
            if token == 0 {
                tally.found.push(FoundInRow::new(Finding::UsageOrphaned, Detail::Day { day: day.to_string() }));
            }
            let quota = Quota::grant(quota.clamp(0, bounds::MAX_QUOTA)).unwrap_or_default();
            tally.quota = tally.quota.saturating_add(quota.get());
            tally.requests = tally.requests.saturating_add(requests);
            rows.push(ImportedUsage {
                token_id: (token != 0).then(|| TokenId::new(token)),
                day,
                model: model.to_owned(),
                quota,
                requests: requests.max(0),
                prompt_tokens: prompt_tokens.max(0),
                completion_tokens: completion_tokens.max(0),
            });
        }
        (rows, tally)
    }

    /// What the usage would be, without writing it.
    pub fn usage_tally(&self) -> UsageTally {
        let planned = self.tokens.iter().map(|token| (token.foreign_id, token.foreign_id));
        let local = planned.chain(self.known_tokens.iter().map(|(foreign, local)| (*foreign, *local))).collect();
        self.usage_rows(&local).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(token_id: i64, token_name: &str, day: i64, quota: i64) -> ForeignUsage {
        let model = "o1".to_owned();
        ForeignUsage {
            user_id: 3,
            token_id,
            token_name: token_name.into(),
            day,
            model,
            quota,
            requests: 1,
            ..ForeignUsage::default()
        }
    }

    #[test]
    fn usage_without_the_id_of_a_token_belongs_to_the_only_token_of_that_name() {
        let token = |id, name: &str| ForeignToken { id, name: name.into(), ..ForeignToken::default() };
        let tokens = [token(1, "one"), token(2, "twice"), token(3, "twice")];
        let rows = [usage(0, "one", 5, 1), usage(0, "twice", 5, 1), usage(0, "gone", 5, 1), usage(9, "", 5, 1)];
        let resolved = resolve_tokens(rows.to_vec(), &tokens);
        assert_eq!(resolved.iter().map(|row| row.token_id).collect::<Vec<_>>(), [1, 0, 0, 9]);
    }

    #[test]
    fn usage_is_summed_by_token_day_and_model_and_never_below_zero() {
        let planned = PlannedImport {
            foreign_id: 3,
            account: PlannedUser::Present(UserId::new(3)),
            tokens: Vec::new(),
            known_tokens: HashMap::new(),
            access_token: None,
            usage: vec![
                usage(1, "", 20_522, 10),
                usage(1, "", 20_522, 5),
                usage(1, "", 20_523, -7),
                usage(2, "", 20_522, 1),
                usage(9, "", 20_522, 2),
            ],
        };
        let (rows, tally) = planned.usage_rows(&[(1, 101)].into());
        let shown: Vec<_> = rows
            .iter()
            .map(|row| (row.token_id.map(TokenId::get), row.day.to_string(), row.quota.get(), row.requests))
            .collect();
        let day = |n| format!("2026-03-{n}");
        assert_eq!(shown, [(None, day(10), 3, 2), (Some(101), day(10), 15, 2), (Some(101), day(11), 0, 1)]);
        let below_zero = Detail::Quota { quota: 7, day: Some(day(11)) };
        let expected = UsageTally {
            quota: 18,
            requests: 5,
            source_quota: 11,
            found: vec![
                FoundInRow::new(Finding::UsageOrphaned, Detail::Day { day: day(10) }),
                FoundInRow::new(Finding::UsageBelowZero, below_zero),
            ],
        };
        assert_eq!(tally, expected);
    }
}
