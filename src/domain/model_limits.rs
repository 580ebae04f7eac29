//! Which models a token may be used for (spec §2.1).
//!
//! An entry that ends in `*` after at least one character is a pattern: it matches every name that begins like it. `\*`
//! stands for the character itself; lists of versions without patterns and imported ones have it.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::bounds;

/// Spec §2.1 `model_limits`: names and patterns of models in the owner's order, without repetitions. Clones share the
/// text, because a batch of charges holds many.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelLimits(Arc<str>);

/// Why a list of models was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelsInvalid {
    /// More than [`bounds::MAX_MODELS`] names.
    #[error("`model_limits` names more than {} models", bounds::MAX_MODELS)]
    TooMany,
    /// A name of more than [`bounds::MAX_MODEL_CHARS`] characters.
    #[error("`model_limits` contains a name of more than {} characters", bounds::MAX_MODEL_CHARS)]
    NameTooLong,
    /// More than [`bounds::MAX_LIST_BYTES`] in all: every server remembers the lists of the keys in use.
    #[error("`model_limits` is longer than {} bytes", bounds::MAX_LIST_BYTES)]
    TooLong,
    /// A line break, a tab or another control character.
    #[error("`model_limits` contains control characters; separate names with commas")]
    Control,
    /// A star that is not the end of a pattern.
    #[error("`model_limits` may have `*` only at the end of a name, after at least one character: `gpt-4o-*`")]
    Star,
}

/// An entry of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelEntry<'a> {
    /// One model, as it is written in the list.
    Name(&'a str),
    /// All models whose names begin like this.
    Prefix(&'a str),
}

impl<'a> ModelEntry<'a> {
    fn of(entry: &'a str) -> Self {
        match entry.strip_suffix('*') {
            Some(prefix) if !prefix.ends_with('\\') => Self::Prefix(prefix),
            Some(_) | None => Self::Name(entry),
        }
    }

    /// Returns true if a model is meant by it.
    pub fn matches(self, model: &str) -> bool {
        match self {
            Self::Name(name) => unescaped(name) == model,
            Self::Prefix(prefix) => model.starts_with(&*unescaped(prefix)),
        }
    }

    /// The text without `\*`.
    pub fn text(self) -> Cow<'a, str> {
        match self {
            Self::Name(text) | Self::Prefix(text) => unescaped(text),
        }
    }
}

fn unescaped(text: &str) -> Cow<'_, str> {
    if text.contains("\\*") { Cow::Owned(text.replace("\\*", "*")) } else { Cow::Borrowed(text) }
}

impl ModelLimits {
    /// Comma-separated names. White space around them, empty and repeated names are dropped.
    ///
    /// # Errors
    /// Too many or too long names; control characters; a star elsewhere than at the end of a pattern.
    pub fn parse(text: &str) -> Result<Self, ModelsInvalid> {
        Self::from_names(text.split(','))
    }

    /// Like [`parse`](Self::parse), from a list.
    ///
    /// # Errors
    /// As [`parse`](Self::parse). A name that contains a comma counts as two.
    pub fn from_names<'a>(names: impl Iterator<Item = &'a str>) -> Result<Self, ModelsInvalid> {
        let mut seen = BTreeSet::new();
        let mut kept = Vec::new();
        for name in names.flat_map(|name| name.split(',')).map(str::trim) {
            if name.is_empty() || !seen.insert(name) {
                continue;
            }
            if name.chars().any(char::is_control) {
                return Err(ModelsInvalid::Control);
            }
            let text = ModelEntry::of(name).text();
            let stars = |text: &str| text.chars().filter(|c| *c == '*').count();
            let (written, escaped) = (stars(name), name.matches("\\*").count());
            let is_pattern = matches!(ModelEntry::of(name), ModelEntry::Prefix(_));
            if written - escaped > usize::from(is_pattern) || (is_pattern && text.is_empty()) {
                return Err(ModelsInvalid::Star);
            }
            if text.chars().count() > bounds::MAX_MODEL_CHARS {
                return Err(ModelsInvalid::NameTooLong);
            }
            kept.push(name);
        }
        if kept.len() > bounds::MAX_MODELS {
            return Err(ModelsInvalid::TooMany);
        }
        let list = kept.join(",");
        if unescaped(&list).len() > bounds::MAX_LIST_BYTES {
            return Err(ModelsInvalid::TooLong);
        }
        Ok(Self(list.into()))
    }

    /// The form of the API and of the database: comma-separated.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Each entry as it is written.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split(',').filter(|name| !name.is_empty())
    }

    /// Each entry.
    pub fn entries(&self) -> impl Iterator<Item = ModelEntry<'_>> {
        self.names().map(ModelEntry::of)
    }

    /// Returns true if a model is in the list.
    pub fn allow(&self, model: &str) -> bool {
        self.entries().any(|entry| entry.matches(model))
    }

    /// The names of models that the list allows: its own, and of `known` those that its patterns match.
    pub fn allowed_of(&self, known: &[String]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for entry in self.entries() {
            let found = match entry {
                ModelEntry::Name(_) => vec![entry.text().into_owned()],
                ModelEntry::Prefix(_) => known.iter().filter(|name| entry.matches(name)).cloned().collect(),
            };
            for name in found {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }

    /// A name with its stars escaped, so that it is no pattern.
    pub fn literal(name: &str) -> String {
        name.replace('*', "\\*")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn models_are_trimmed_and_not_repeated() {
        assert_eq!(ModelLimits::parse(" gpt-4o , ,o3,gpt-4o").unwrap().as_str(), "gpt-4o,o3");
        assert_eq!(ModelLimits::from_names(["a", "b,c"].into_iter()).unwrap().as_str(), "a,b,c");
        assert_eq!(ModelLimits::parse("").unwrap().names().count(), 0);
        assert!(ModelLimits::parse("gpt-4o,o3").unwrap().names().eq(["gpt-4o", "o3"]));
        assert!(ModelLimits::parse(&"ü".repeat(128)).is_ok());
        assert_eq!(ModelLimits::parse(&"m".repeat(129)), Err(ModelsInvalid::NameTooLong));
        assert_eq!(ModelLimits::parse("a\nb"), Err(ModelsInvalid::Control));
        let many = |n: usize| (0..n).map(|i| i.to_string()).collect::<Vec<_>>().join(",");
        assert!(ModelLimits::parse(&many(1_000)).is_ok());
        assert_eq!(ModelLimits::parse(&many(1_001)), Err(ModelsInvalid::TooMany));
        let long = |names: usize| (0..names).map(|i| format!("{i:0127}")).collect::<Vec<_>>().join(",");
        let longest = format!("{},{}", long(127), "m".repeat(bounds::MAX_MODEL_CHARS));
        assert_eq!(longest.len(), bounds::MAX_LIST_BYTES);
        assert!(ModelLimits::parse(&longest).is_ok());
        assert_eq!(ModelLimits::parse(&longest.replace("0,0", "0,00")), Err(ModelsInvalid::TooLong));
        assert_eq!(ModelLimits::parse(&long(129)), Err(ModelsInvalid::TooLong));
    }

    #[test]
    fn a_star_at_the_end_matches_by_prefix_and_is_refused_elsewhere() {
        let list = ModelLimits::parse("gpt-4o-*, o3, claude*").unwrap();
        assert_eq!(list.as_str(), "gpt-4o-*,o3,claude*");
        for (model, allowed) in [
            ("gpt-4o-mini", true),
            ("gpt-4o-", true),
            ("gpt-4o", false),
            ("gpt-4o-*", true),
            ("o3", true),
            ("o3-mini", false),
            ("claude", true),
            ("Claude-x", false),
            ("xclaude", false),
            ("", false),
        ] {
            assert_eq!(list.allow(model), allowed, "{model}");
        }
        for bad in ["*", "**", "a**", "*a", "a*b", "a*b*", "ok,*", "\\**b"] {
            assert_eq!(ModelLimits::parse(bad), Err(ModelsInvalid::Star), "{bad}");
        }
        assert!(ModelLimits::parse(&format!("{}*", "m".repeat(128))).is_ok());
        assert_eq!(ModelLimits::parse(&format!("{}*", "m".repeat(129))), Err(ModelsInvalid::NameTooLong));
    }

    #[test]
    fn an_escaped_star_is_a_character_of_a_name() {
        let list = ModelLimits::parse("foo\\*,a\\*b*,\\*").unwrap();
        for (model, allowed) in [
            ("foo*", true),
            ("foobar", false),
            ("foo\\*", false),
            ("a*bc", true),
            ("axbc", false),
            ("*", true),
            ("x", false),
        ] {
            assert_eq!(list.allow(model), allowed, "{model}");
        }
        assert_eq!(ModelLimits::parse(list.as_str()), Ok(list.clone()), "it can be sent back");
        for name in ["*", "a*", "*a*", "plain"] {
            let list = ModelLimits::parse(&ModelLimits::literal(name)).unwrap();
            assert!(list.allow(name) && !list.allow("ab"), "{name}");
        }
        assert!(ModelLimits::parse(&ModelLimits::literal(&"*".repeat(128))).is_ok(), "the escapes do not count");
    }

    #[test]
    fn a_list_allows_its_names_and_of_the_known_ones_those_that_its_patterns_match() {
        let known = ["gpt-4o", "gpt-4o-mini", "gpt-4o-audio", "o3"].map(str::to_owned);
        let allowed = |text: &str| ModelLimits::parse(text).unwrap().allowed_of(&known);
        assert_eq!(allowed("gpt-4o-*,other,gpt-4o-mini"), ["gpt-4o-mini", "gpt-4o-audio", "other"]);
        assert_eq!(allowed("x*"), [""; 0]);
        assert_eq!(allowed("foo\\*"), ["foo*"]);
    }

    proptest! {
        /// The rule in other words: a name matches itself, and every beginning of it with a star matches it.
        #[test]
        fn every_beginning_with_a_star_matches(name in "[a-z*\\\\-]{1,12}", at in 1_usize..12) {
            let beginning: String = name.chars().take(at).collect();
            let pattern = format!("{}*", ModelLimits::literal(&beginning));
            if !beginning.ends_with('\\') && let Ok(list) = ModelLimits::parse(&pattern) {
                prop_assert!(list.allow(&name), "{} {}", pattern, name);
                let other = format!("~{name}");
                prop_assert!(!list.allow(&other));
            }
        }

        #[test]
        fn parsing_any_text_returns_a_list_or_an_error(text: String) {
            let _ = ModelLimits::parse(&text);
        }
    }
}
