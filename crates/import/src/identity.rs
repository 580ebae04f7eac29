//! Whether the other database is the installation that earlier imports of the same name read, or a newer copy of it.
//! Two installations have the same ids, and often the same usernames; they never have the same keys.

use std::collections::HashMap;

use super::names;
use super::rows::{ForeignToken, ForeignUser};
use crate::statements::ImportedRow;
use keymeter::domain::key::{ApiKey, Digest, DigestKey};

/// The digest of the password hash there, by which another run knows the account; `None` without a password.
pub fn password_digest(user: &ForeignUser, digests: &DigestKey) -> Option<Digest> {
    (!user.password.is_empty()).then(|| digests.digest(&user.password))
}

/// What earlier imports of this name left.
#[derive(Debug, Clone, Copy, Default)]
pub struct Earlier {
    pub accounts: i64,
    /// They recorded a key, a password or an access token.
    pub has_digests: bool,
}

/// What imported rows were like when they were imported, by their ids there.
#[derive(Debug, Default)]
pub struct Marks {
    names: HashMap<i64, String>,
    passwords: HashMap<i64, Digest>,
    access_tokens: HashMap<i64, Digest>,
    keys: HashMap<i64, Digest>,
}

/// What an account there has in common with what was imported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sameness {
    /// Its key, password or access token is the one that was imported.
    pub is_proven: bool,
    /// Tokens that had another key when they were imported.
    pub other_keys: Vec<i64>,
    /// The name that it had when it was imported, if it is another one.
    pub renamed_from: Option<String>,
}

impl Marks {
    pub fn add_accounts(&mut self, rows: Vec<ImportedRow>) {
        for row in rows {
            self.names.extend(row.name.map(|name| (row.foreign_id, name)));
            self.passwords.extend(row.digest.map(|digest| (row.foreign_id, digest)));
        }
    }

    pub fn add_access_tokens(&mut self, rows: Vec<ImportedRow>) {
        self.access_tokens.extend(digests(rows));
    }

    pub fn add_tokens(&mut self, rows: Vec<ImportedRow>) {
        self.keys.extend(digests(rows));
    }

    /// Compares an account and its tokens, deleted ones included. A password and an access token can change there, a
    /// key cannot.
    pub fn compare(&self, user: &ForeignUser, tokens: &[ForeignToken], digest_key: &DigestKey) -> Sameness {
        let mut same = Sameness::default();
        for token in tokens {
            let Some(imported) = self.keys.get(&token.id) else {
                continue;
            };
            let key = ApiKey::parse_foreign(&token.key);
            if key.is_ok_and(|key| digest_key.digest(key.expose()) == *imported) {
                same.is_proven = true;
            } else {
                same.other_keys.push(token.id);
            }
        }
        let password = password_digest(user, digest_key);
        same.is_proven |= password.is_some() && password.as_ref() == self.passwords.get(&user.id);
        let access_token = self.access_tokens.get(&user.id);
        same.is_proven |= access_token.is_some_and(|imported| digest_key.digest(user.access_token.trim()) == *imported);
        let name = self.names.get(&user.id).filter(|name| !names::may_be_of(name, &user.username, user.id));
        same.renamed_from = name.cloned();
        same
    }
}

fn digests(rows: Vec<ImportedRow>) -> impl Iterator<Item = (i64, Digest)> {
    rows.into_iter().filter_map(|row| Some((row.foreign_id, row.digest?)))
}

/// What a pass over all accounts has found out.
#[derive(Debug, Default)]
pub struct Identity {
    is_proven: bool,
    is_renamed: bool,
    /// The first token with another key, and how many there are.
    other_key: Option<i64>,
    other_keys: usize,
    /// The first account with another name that nothing else proves, and to which something would be added: its id and
    /// its names then and now.
    stranger: Option<(i64, String, String)>,
}

impl Identity {
    /// Adds an account.
    pub fn add(&mut self, same: &Sameness) {
        self.is_proven |= same.is_proven;
        self.is_renamed |= same.renamed_from.is_some();
        self.other_key = self.other_key.or_else(|| same.other_keys.first().copied());
        self.other_keys += same.other_keys.len();
    }

    /// Something would be added to this account.
    pub fn add_changed(&mut self, user: &ForeignUser, same: &Sameness) {
        if let Some(before) = &same.renamed_from
            && !same.is_proven
            && self.stranger.is_none()
        {
            self.stranger = Some((user.id, before.clone(), names::kept(&user.username)));
        }
    }

    /// Why the rows there must not be added to those of the source `source`; `None` if they may.
    pub fn problem(&self, earlier: Earlier, source: &str) -> Option<String> {
        if earlier.accounts == 0 {
            return None;
        }
        if let Some(token) = self.other_key {
            return Some(format!(
                "this is another installation than the one that was imported as `{source}`: {} of its keys, such as that of \
                 the token {token}, differ from those that were imported with the same ids; name it with --source NAME",
                self.other_keys
            ));
        }
        if !self.is_proven && (earlier.has_digests || self.is_renamed) {
            return Some(format!(
                "nothing shows that this is the installation that was imported as `{source}`: no key, password or access token \
                 is the same; if it is another one, name it with --source NAME"
            ));
        }
        let (id, before, now) = self.stranger.as_ref()?;
        Some(format!(
            "the account {id} was called {before:?} when it was imported as `{source}` and is called {now:?} now, and none of \
             its keys, its password and its access token is the same; rename it there if it is the same person, and name \
             another installation with --source NAME"
        ))
    }
}

#[cfg(test)]
mod tests {
    use zeroize::Zeroizing;

    use super::*;

    const KEY: &str = "Zk3vQm9TtY2wRr8uNn5xHh1cGg6bFf0dEe4sAa7pLl3jKk9i";
    const OTHER_KEY: &str = "0123456789abcdef0123456789abcdef";

    fn digest_key() -> DigestKey {
        DigestKey::new(Zeroizing::new([7; 32]))
    }

    fn digest(text: &str) -> Digest {
        digest_key().digest(text)
    }

    /// What is recorded of the account 3, with its token 17.
    fn marks() -> Marks {
        let mut marks = Marks::default();
        let name = Some("ana".to_owned());
        marks.add_accounts(vec![ImportedRow { digest: Some(digest("hash")), name, ..ImportedRow::new(3, 3) }]);
        marks.add_access_tokens(vec![ImportedRow { digest: Some(digest("access")), ..ImportedRow::new(3, 1) }]);
        marks.add_tokens(vec![
            ImportedRow { digest: Some(digest(&format!("sk-{KEY}"))), ..ImportedRow::new(17, 17) },
            ImportedRow::new(18, 18),
        ]);
        marks
    }

    fn user(username: &str, password: &str, access_token: &str) -> ForeignUser {
        let texts = (username.to_owned(), password.to_owned(), access_token.to_owned());
        ForeignUser { id: 3, username: texts.0, password: texts.1, access_token: texts.2, ..ForeignUser::default() }
    }

    fn token(id: i64, key: &str) -> ForeignToken {
        ForeignToken { id, user_id: 3, key: key.into(), ..ForeignToken::default() }
    }

    #[test]
    fn a_key_a_password_or_an_access_token_proves_an_account() {
        let table: [(ForeignUser, Vec<ForeignToken>, bool, &[i64]); 8] = [
            (user("ana", "hash", ""), vec![], true, &[]),
            (user("ana", "changed", "access  "), vec![], true, &[]),
            (user("ana", "", ""), vec![token(17, &format!("{KEY}   "))], true, &[]),
            (user("ana", "changed", "changed"), vec![], false, &[]),
            (user("ana", "", ""), vec![], false, &[]),
            // Nothing is known of the key of 18, and 19 is new.
            (user("ana", "", ""), vec![token(18, OTHER_KEY), token(19, KEY)], false, &[]),
            (user("ana", "", ""), vec![token(17, OTHER_KEY)], false, &[17]),
            (user("ana", "hash", ""), vec![token(17, "none")], true, &[17]),
        ];
        for (user, tokens, is_proven, other_keys) in table {
            let same = marks().compare(&user, &tokens, &digest_key());
            let expected = Sameness { is_proven, other_keys: other_keys.to_vec(), renamed_from: None };
            assert_eq!(same, expected, "{user:?} {tokens:?}");
        }
        let renamed = marks().compare(&user("bob", "", ""), &[], &digest_key());
        assert_eq!(renamed.renamed_from.as_deref(), Some("ana"));
    }

    /// An account, and whether something is added to it.
    type Account = (Sameness, bool);

    #[test]
    fn another_installation_is_told_by_its_keys_or_by_what_it_does_not_have() {
        let same = |is_proven, other_keys: &[i64], renamed_from: Option<&str>| Sameness {
            is_proven,
            other_keys: other_keys.to_vec(),
            renamed_from: renamed_from.map(str::to_owned),
        };
        let earlier = Earlier { accounts: 2, has_digests: true };
        let unmarked = Earlier { accounts: 2, has_digests: false };
        let none = Earlier::default();
        let (proven, unknown) = (same(true, &[], None), same(false, &[], None));
        let renamed = |is_proven| same(is_proven, &[], Some("ana"));
        // The beginning of the answer is last.
        let table: [(Earlier, Vec<Account>, &str); 11] = [
            (none, vec![(unknown.clone(), true)], ""),
            (earlier, vec![(proven.clone(), true), (unknown.clone(), true)], ""),
            (earlier, vec![(same(true, &[17, 18], None), false)], "this is another installation"),
            (earlier, vec![(proven.clone(), true), (same(false, &[9], None), true)], "this is another installation"),
            (earlier, vec![(unknown.clone(), false)], "nothing shows"),
            (earlier, vec![], "nothing shows"),
            (unmarked, vec![(unknown, true)], ""),
            (unmarked, vec![(renamed(false), false)], "nothing shows"),
            (earlier, vec![(renamed(true), true)], ""),
            (earlier, vec![(proven.clone(), true), (renamed(false), false)], ""),
            (earlier, vec![(proven, true), (renamed(false), true)], "the account 3 was called \"ana\""),
        ];
        for (earlier, accounts, expected) in table {
            let mut identity = Identity::default();
            for (same, is_changed) in &accounts {
                identity.add(same);
                if *is_changed {
                    identity.add_changed(&user("bob", "", ""), same);
                }
            }
            let problem = identity.problem(earlier, "east").unwrap_or_default();
            assert!(
                problem.starts_with(expected) && problem.is_empty() == expected.is_empty(),
                "{accounts:?}: {problem}"
            );
        }
    }
}
