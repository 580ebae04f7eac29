//! Usernames of imported accounts. They must be unique here in any case and spelling, and must not look like others;
//! the other service compares them in its own way.

use std::collections::{HashMap, HashSet};

use super::findings::{Detail, Finding, FoundInRow};
use keymeter::domain::bounds;
use keymeter::domain::text::hides_something;
use keymeter::domain::username::Username;

/// The usernames in use here.
#[derive(Debug, Clone, Default)]
pub struct Names {
    folded: HashSet<String>,
    /// The ranges of equal-looking names, by their common part. Ranges with different common parts never overlap.
    looks: HashMap<String, Vec<(String, String)>>,
}

impl Names {
    /// Adds a name in use.
    pub fn add(&mut self, name: &Username) {
        let skeleton = name.skeleton();
        self.folded.insert(name.folded());
        self.looks.entry(skeleton.common).or_default().push((skeleton.first, skeleton.last));
    }

    /// Removes a name that becomes free.
    pub fn remove(&mut self, name: &Username) {
        let skeleton = name.skeleton();
        self.folded.remove(&name.folded());
        if let Some(ranges) = self.looks.get_mut(&skeleton.common) {
            ranges.retain(|range| *range != (skeleton.first.clone(), skeleton.last.clone()));
        }
    }

    fn is_free(&self, name: &Username) -> bool {
        let skeleton = name.skeleton();
        let overlaps = |(first, last): &(String, String)| *first <= skeleton.last && skeleton.first <= *last;
        !self.folded.contains(&name.folded())
            && !self.looks.get(&skeleton.common).is_some_and(|ranges| ranges.iter().any(overlaps))
    }

    /// The name of the account `id` that is called `wanted` in the other service, and why it is another one. It is in
    /// use from then on.
    pub fn choose(&mut self, wanted: &str, id: i64) -> (Option<Username>, Vec<FoundInRow>) {
        let mut found = Vec::new();
        let changed = |name: &Username| Detail::changed(wanted, name.as_str());
        let base = allowed(wanted, id);
        if let Some(base) = base.as_ref().filter(|base| base.as_str() != wanted) {
            found.push(FoundInRow::new(Finding::UsernameChanged, changed(base)));
        }
        let suffixed = |n: u32| {
            let suffix = if n == 1 { format!("-{id}") } else { format!("-{id}-{n}") };
            let most = bounds::USERNAME_CHARS.end() - suffix.chars().count();
            let start: String = base.as_ref().map_or("user", Username::as_str).chars().take(most).collect();
            Username::typed(&format!("{start}{suffix}")).ok()
        };
        let name = base.as_ref().filter(|base| self.is_free(base)).cloned().or_else(|| {
            let free = (1..100).filter_map(suffixed).find(|name| self.is_free(name));
            found.extend(free.iter().map(|name| FoundInRow::new(Finding::UsernameTaken, changed(name))));
            free
        });
        if let Some(name) = &name {
            self.add(name);
        }
        (name, found)
    }
}

/// The name itself, or what is left of it without white space, control and hidden characters. Names that mix scripts
/// cannot be created here, but are kept, because people sign in with them.
fn allowed(wanted: &str, id: i64) -> Option<Username> {
    if let Ok(name) = Username::parse(wanted) {
        return Some(name);
    }
    let is_shown = |c: &char| !c.is_control() && !hides_something(c.encode_utf8(&mut [0; 4]));
    let shown: String = wanted.trim().chars().filter(is_shown).collect();
    let joined: String = shown.chars().map(|c| if c.is_whitespace() { '_' } else { c }).collect();
    let cut: String = joined.chars().take(*bounds::USERNAME_CHARS.end()).collect();
    [cut.as_str(), &format!("user-{id}")]
        .into_iter()
        .find_map(|name| Username::parse(name).or_else(|_| Username::typed(name)).ok())
}

/// Characters of a username there that are kept.
const KEPT_CHARS: usize = 100;

/// The username there as it is kept, so that another run knows the account.
pub fn kept(username: &str) -> String {
    username.chars().take(KEPT_CHARS).collect()
}

/// Returns true if `name` is the username `wanted` of the account `id` there, or what [`Names::choose`] made of it.
pub fn may_be_of(name: &str, wanted: &str, id: i64) -> bool {
    if name == kept(wanted) {
        return true;
    }
    let base = allowed(wanted, id);
    let base = base.as_ref().map_or("user", Username::as_str);
    let folded = |name: &str| Username::typed(name).map_or_else(|_| name.to_owned(), |name| name.folded());
    if folded(name) == folded(base) {
        return true;
    }
    name.rsplit_once(&format!("-{id}")).is_some_and(|(start, end)| {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        !start.is_empty() && base.starts_with(start) && (end.is_empty() || end.strip_prefix('-').is_some_and(is_number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(names: &mut Names, wanted: &str, id: i64) -> (String, Vec<Finding>) {
        let (name, found) = names.choose(wanted, id);
        (name.unwrap().as_str().to_owned(), found.into_iter().map(|found| found.finding).collect())
    }

    #[test]
    fn a_name_is_kept_if_it_is_allowed_and_free() {
        use Finding::{UsernameChanged, UsernameTaken};
        let mut names = Names::default();
        names.add(&Username::parse("root").unwrap());
        let long = "x".repeat(60);
        let table: [(&str, i64, String, &[Finding]); 13] = [
            ("ana", 1, "ana".into(), &[]),
            ("ANA", 2, "ANA-2".into(), &[UsernameTaken]),
            ("root", 3, "root-3".into(), &[UsernameTaken]),
            ("ann1", 4, "ann1".into(), &[]),
            ("annl", 5, "annl".into(), &[]),
            ("coco", 6, "coco".into(), &[]),
            ("\u{441}\u{43e}\u{441}\u{43e}", 7, "\u{441}\u{43e}\u{441}\u{43e}-7".into(), &[UsernameTaken]),
            ("ana maria", 8, "ana_maria".into(), &[UsernameChanged]),
            ("", 9, "user-9".into(), &[UsernameChanged]),
            ("\u{200b}", 10, "user-10".into(), &[UsernameChanged]),
            (&long, 11, "x".repeat(50), &[UsernameChanged]),
            ("p\u{430}ypal", 12, "p\u{430}ypal".into(), &[]),
            (&long, 13, format!("{}-13", "x".repeat(47)), &[UsernameChanged, UsernameTaken]),
        ];
        for (wanted, id, expected, findings) in table {
            assert_eq!(chosen(&mut names, wanted, id), (expected, findings.to_vec()), "{wanted:?}");
        }
    }

    #[test]
    fn a_suffix_that_is_taken_gets_another_one() {
        let mut names = Names::default();
        for name in ["ana", "ana-2"] {
            names.add(&Username::parse(name).unwrap());
        }
        assert_eq!(chosen(&mut names, "ana", 2).0, "ana-2-2");
    }

    #[test]
    fn a_name_is_known_again_also_if_it_was_changed_here() {
        let mut names = Names::default();
        let long = "x".repeat(60);
        for (wanted, id) in [("ana", 2), ("ANA", 3), ("ana", 3), ("two words", 4), ("", 5), (&long, 6), (&long, 7)] {
            let (name, _) = chosen(&mut names, wanted, id);
            assert!(may_be_of(&name, wanted, id), "{name} {wanted:?}");
            assert!(may_be_of(&kept(wanted), wanted, id), "{wanted:?}");
        }
        for (name, wanted, id) in [("ana", "bob", 2), ("ana-3", "ana", 2), ("ana-2", "bob", 2), ("-2", "ana", 2)] {
            assert!(!may_be_of(name, wanted, id), "{name} {wanted}");
        }
    }

    #[test]
    fn a_name_that_is_removed_is_free() {
        let mut names = Names::default();
        let root = Username::parse("root").unwrap();
        names.add(&root);
        names.remove(&root);
        assert_eq!(chosen(&mut names, "root", 1), ("root".into(), vec![]));
    }
}
