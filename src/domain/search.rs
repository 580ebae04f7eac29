//! Search patterns (spec §4.2, §8).

use super::key::{self, ApiKey};
use super::policy;

/// A search pattern: literal pieces, with any text between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPattern {
    /// The pieces between the wildcards, in order. If the first or last piece is empty, the text may begin or end with
    /// anything.
    pieces: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SearchInvalid {
    /// Spec §8.
    #[error("a search needs at least {} characters beside `%`", policy::MIN_SEARCH_CHARS)]
    TooShort,
    /// Spec §8.
    #[error("a search may contain at most {} wildcards (`%`)", policy::MAX_SEARCH_WILDCARDS)]
    TooManyWildcards,
    /// Two wildcards in a row mean the same as one, so they are probably a mistake of the client.
    #[error("a search may not contain `%%`")]
    DoubleWildcard,
    /// No name and no key contains control characters, and PostgreSQL accepts no NUL.
    #[error("a search may not contain control characters")]
    Control,
}

impl SearchPattern {
    /// A part of a name; upper and lower case are equal. Empty means no filter.
    ///
    /// # Errors
    /// See [`SearchInvalid`].
    pub fn of_name(text: &str) -> Result<Option<Self>, SearchInvalid> {
        Self::parse(&text.to_lowercase())
    }

    /// A part of a key; case-sensitive, and `sk-` may be repeated. Empty means no filter.
    ///
    /// # Errors
    /// See [`SearchInvalid`].
    pub fn of_key(text: &str) -> Result<Option<Self>, SearchInvalid> {
        let text = text.trim();
        let bare = key::without_prefixes(text);
        if bare.len() == text.len() { Self::parse(text) } else { Self::parse(&format!("sk-{bare}")) }
    }

    fn parse(text: &str) -> Result<Option<Self>, SearchInvalid> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        if text.chars().any(char::is_control) {
            return Err(SearchInvalid::Control);
        }
        if text.contains("%%") {
            return Err(SearchInvalid::DoubleWildcard);
        }
        let wildcards = text.matches('%').count();
        if wildcards > policy::MAX_SEARCH_WILDCARDS {
            return Err(SearchInvalid::TooManyWildcards);
        }
        if text.chars().count() - wildcards < policy::MIN_SEARCH_CHARS {
            return Err(SearchInvalid::TooShort);
        }
        let pieces = if wildcards == 0 {
            vec![String::new(), text.to_owned(), String::new()]
        } else {
            text.split('%').map(str::to_owned).collect()
        };
        Ok(Some(Self { pieces }))
    }

    /// The pattern for SQL's `like … escape '\'`. Everything but the wildcards is literal.
    #[must_use]
    pub fn like(&self) -> String {
        let literal = |piece: &String| piece.replace('\\', r"\\").replace('_', r"\_").replace('%', r"\%");
        self.pieces.iter().map(literal).collect::<Vec<_>>().join("%")
    }

    /// Returns true if the key matches, with or without its `sk-`.
    #[must_use]
    pub fn matches_key(&self, key: &ApiKey) -> bool {
        self.matches(key.expose()) || self.matches(key::without_prefixes(key.expose()))
    }

    /// Returns true if `text` matches, with the meaning of [`SearchPattern::like`].
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        // There are always two pieces or more.
        let [first, middle @ .., last] = self.pieces.as_slice() else {
            return false;
        };
        let Some(mut rest) = text.strip_prefix(first.as_str()) else {
            return false;
        };
        for piece in middle {
            let Some(at) = rest.find(piece.as_str()) else {
                return false;
            };
            rest = &rest[at + piece.len()..];
        }
        rest.ends_with(last.as_str())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use zeroize::Zeroizing;

    use super::*;

    fn pattern(text: &str) -> SearchPattern {
        SearchPattern::of_name(text).unwrap().unwrap()
    }

    #[test]
    fn search_texts_follow_the_limits_of_spec_8() {
        use SearchInvalid::{Control, DoubleWildcard, TooManyWildcards, TooShort};
        let table = [
            ("", Ok(false)),
            ("  ", Ok(false)),
            ("ab", Ok(true)),
            ("é1", Ok(true)),
            ("a%b", Ok(true)),
            ("%ab%", Ok(true)),
            ("a%b%", Ok(true)),
            ("a", Err(TooShort)),
            ("a%", Err(TooShort)),
            ("%", Err(TooShort)),
            ("%a%", Err(TooShort)),
            ("%a%b%", Err(TooManyWildcards)),
            ("a%%b", Err(DoubleWildcard)),
            ("%%", Err(DoubleWildcard)),
            ("a\0b", Err(Control)),
        ];
        for (text, expected) in table {
            assert_eq!(SearchPattern::of_name(text).map(|p| p.is_some()), expected, "{text:?}");
            assert_eq!(SearchPattern::of_key(text).map(|p| p.is_some()), expected, "{text:?}");
        }
    }

    #[test]
    fn a_pattern_without_wildcards_matches_anywhere_and_one_with_wildcards_is_anchored() {
        assert!(pattern("ROD").matches("my prod key"));
        assert!(pattern("prod%").matches("prod 1"));
        assert!(!pattern("prod%").matches("my prod"));
        assert!(pattern("%prod").matches("my prod"));
        assert!(pattern("my%key").matches("my prod key"));
        assert!(!pattern("my%my").matches("my"));
    }

    #[test]
    fn other_special_characters_of_sql_are_literal() {
        assert_eq!(pattern(r"a_b\").like(), r"%a\_b\\%");
        assert_eq!(pattern("a%_c").like(), r"a%\_c");
    }

    #[test]
    fn a_part_of_a_key_may_have_a_repeated_prefix() {
        let part = |text: &str| SearchPattern::of_key(text).unwrap().unwrap();
        assert!(part("sk-sk-Ab1").matches("sk-Ab1xyz"));
        assert!(part("b1x").matches("sk-Ab1xyz"));
        assert!(!part("B1x").matches("sk-Ab1xyz"));
        let key = ApiKey::from_vault(Zeroizing::new("sk-Ab1xyz".into()));
        let table =
            [("sk-Ab%", true), ("Ab1%", true), ("sk-sk-%yz", true), ("b1xyz", true), ("b1%", false), ("Ab%x", false)];
        for (search, expected) in table {
            assert_eq!(part(search).matches_key(&key), expected, "{search}");
        }
    }

    proptest! {
        /// Compares the fast implementation with a slow and obvious one.
        #[test]
        fn matching_agrees_with_a_simple_implementation(search in "[ab%]{2,6}", text in "[ab]{0,8}") {
            fn is_match(pattern: &[u8], text: &[u8]) -> bool {
                match pattern {
                    [] => text.is_empty(),
                    [b'%', rest @ ..] => (0..=text.len()).any(|at| is_match(rest, &text[at..])),
                    [c, rest @ ..] => text.first() == Some(c) && is_match(rest, &text[1..]),
                }
            }
            if let Ok(Some(pattern)) = SearchPattern::of_name(&search) {
                let full = if search.contains('%') { search } else { format!("%{search}%") };
                prop_assert_eq!(pattern.matches(&text), is_match(full.as_bytes(), text.as_bytes()));
            }
        }

        #[test]
        fn any_text_is_parsed_without_a_panic(text: String, other: String) {
            if let Ok(Some(pattern)) = SearchPattern::of_name(&text) {
                let _ = (pattern.matches(&other), pattern.like());
            }
        }
    }
}
