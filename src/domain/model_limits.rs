//! Which models a token may be used for (spec §2.1).

use std::collections::BTreeSet;
use std::sync::Arc;

use super::policy;

/// Spec §2.1 `model_limits`: names of models in the owner's order, without repetitions. Clones share the text, because a
/// batch of charges holds many.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelLimits(Arc<str>);

/// Why a list of models was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelsInvalid {
    /// More than [`policy::MAX_MODELS`] names.
    #[error("`model_limits` names more than {} models", policy::MAX_MODELS)]
    TooMany,
    /// A name of more than [`policy::MAX_MODEL_CHARS`] characters.
    #[error("`model_limits` contains a name of more than {} characters", policy::MAX_MODEL_CHARS)]
    NameTooLong,
    /// More than [`policy::MAX_LIST_BYTES`] in all: every server remembers the lists of the keys in use.
    #[error("`model_limits` is longer than {} bytes", policy::MAX_LIST_BYTES)]
    TooLong,
    /// A line break, a tab or another control character.
    #[error("`model_limits` contains control characters; separate names with commas")]
    Control,
}

impl ModelLimits {
    /// Comma-separated names. White space around them, empty and repeated names are dropped.
    ///
    /// # Errors
    /// Too many or too long names; control characters.
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
            if name.chars().count() > policy::MAX_MODEL_CHARS {
                return Err(ModelsInvalid::NameTooLong);
            }
            kept.push(name);
        }
        if kept.len() > policy::MAX_MODELS {
            return Err(ModelsInvalid::TooMany);
        }
        let list = kept.join(",");
        if list.len() > policy::MAX_LIST_BYTES {
            return Err(ModelsInvalid::TooLong);
        }
        Ok(Self(list.into()))
    }

    /// The form of the API and of the database: comma-separated.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Each name.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split(',').filter(|name| !name.is_empty())
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
        let longest = format!("{},{}", long(127), "m".repeat(policy::MAX_MODEL_CHARS));
        assert_eq!(longest.len(), policy::MAX_LIST_BYTES);
        assert!(ModelLimits::parse(&longest).is_ok());
        assert_eq!(ModelLimits::parse(&longest.replace("0,0", "0,00")), Err(ModelsInvalid::TooLong));
        assert_eq!(ModelLimits::parse(&long(129)), Err(ModelsInvalid::TooLong));
    }

    proptest! {
        #[test]
        fn parsing_any_text_returns_a_list_or_an_error(text: String) {
            let _ = ModelLimits::parse(&text);
        }
    }
}
