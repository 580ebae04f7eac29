//! Search patterns (spec §4.2, §8).

use super::bounds;
use super::key::{self, ApiKey};

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
    #[error("a search needs at least {} characters beside `%`", bounds::MIN_SEARCH_CHARS)]
    TooShort,
    /// Spec §8.
    #[error("a search may contain at most {} wildcards (`%`)", bounds::MAX_SEARCH_WILDCARDS)]
    TooManyWildcards,
    /// Two wildcards in a row mean the same as one, so they are probably a mistake of the client.
    #[error("a search may not contain `%%`")]
    DoubleWildcard,
    /// No name and no key contains control characters, and PostgreSQL accepts no NUL.
    #[error("a search may not contain control characters")]
    Control,
    /// Of all users' keys, only the characters that lists show have an index.
    #[error(
        "a search of all keys needs the first or the last {} characters of the key, or more; \
         one `*` or `%` stands for what is between them",
        key::HINT_CHARS
    )]
    NotEnds,
    /// See [`bounds::MAX_KEY_CANDIDATES`].
    #[error("too many keys have these characters; send more of them")]
    TooManyKeys,
}

impl SearchPattern {
    /// A part of a name; upper and lower case are equal. Empty means no filter.
    ///
    /// # Errors
    /// See [`SearchInvalid`].
    pub fn of_name(text: &str) -> Result<Option<Self>, SearchInvalid> {
        Self::parse(&text.to_lowercase())
    }

    /// A part of a key, or a masked key; case-sensitive, and `sk-` may be repeated. Empty means no filter.
    ///
    /// # Errors
    /// See [`SearchInvalid`].
    pub fn of_key(text: &str) -> Result<Option<Self>, SearchInvalid> {
        let text = &unmasked(text.trim());
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
        if wildcards > bounds::MAX_SEARCH_WILDCARDS {
            return Err(SearchInvalid::TooManyWildcards);
        }
        if text.chars().count() - wildcards < bounds::MIN_SEARCH_CHARS {
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
    pub fn like(&self) -> String {
        let literal = |piece: &String| piece.replace('\\', r"\\").replace('_', r"\_").replace('%', r"\%");
        self.pieces.iter().map(literal).collect::<Vec<_>>().join("%")
    }

    /// Returns true if the key matches, with or without its `sk-`.
    pub fn matches_key(&self, key: &ApiKey) -> bool {
        self.matches(key.expose()) || self.matches(key::without_prefixes(key.expose()))
    }

    /// Returns true if `text` matches, with the meaning of [`SearchPattern::like`].
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

/// The first and the last characters of a key, by which administrators find it among the keys of all users.
#[derive(Clone, PartialEq, Eq)]
pub enum KeyEnds {
    /// `sk-ab12` or `ab12%`.
    First(String),
    /// `%wxyz`.
    Last(String),
    /// `sk-ab12**********wxyz` or `ab12%wxyz`.
    Both(String, String),
    /// `ab12`: the key begins or ends with it.
    Either(String),
}

impl KeyEnds {
    /// Case-sensitive; `sk-` may be absent or repeated. Empty means no filter.
    ///
    /// # Errors
    /// See [`SearchInvalid`].
    pub fn parse(text: &str) -> Result<Option<Self>, SearchInvalid> {
        let text = &unmasked(text.trim());
        if text.is_empty() {
            return Ok(None);
        }
        if text.chars().any(char::is_control) {
            return Err(SearchInvalid::Control);
        }
        let bare = key::without_prefixes(text);
        let has_prefix = bare.len() < text.len();
        let ends = match bare.split_once('%') {
            None if has_prefix => Self::First(bare.to_owned()),
            None => Self::Either(bare.to_owned()),
            Some((first, "")) => Self::First(first.to_owned()),
            Some(("", last)) => Self::Last(last.to_owned()),
            Some((first, last)) => Self::Both(first.to_owned(), last.to_owned()),
        };
        let is_short = |text: &String| text.chars().count() < key::HINT_CHARS;
        let is_invalid = match &ends {
            Self::First(text) | Self::Last(text) | Self::Either(text) => is_short(text) || text.contains('%'),
            Self::Both(first, last) => (is_short(first) && is_short(last)) || last.contains('%'),
        };
        if is_invalid { Err(SearchInvalid::NotEnds) } else { Ok(Some(ends)) }
    }

    /// The first four characters of the keys that may match, if they are known.
    pub fn first_chars(&self) -> Option<String> {
        match self {
            Self::First(text) | Self::Either(text) | Self::Both(text, _) => {
                let chars: String = text.chars().take(key::HINT_CHARS).collect();
                (chars.chars().count() == key::HINT_CHARS).then_some(chars)
            }
            Self::Last(_) => None,
        }
    }

    /// The last four characters of the keys that may match, if they are known.
    pub fn last_chars(&self) -> Option<String> {
        match self {
            Self::Last(text) | Self::Either(text) | Self::Both(_, text) => {
                let skip = text.chars().count().checked_sub(key::HINT_CHARS)?;
                Some(text.chars().skip(skip).collect())
            }
            Self::First(_) => None,
        }
    }

    /// Returns true if a key may have the characters at either end.
    pub const fn is_either(&self) -> bool {
        matches!(self, Self::Either(_))
    }

    /// Returns true if the key has these ends.
    pub fn matches(&self, key: &ApiKey) -> bool {
        let bare = key::without_prefixes(key.expose());
        match self {
            Self::First(text) => bare.starts_with(text),
            Self::Last(text) => bare.ends_with(text),
            Self::Either(text) => bare.starts_with(text) || bare.ends_with(text),
            Self::Both(first, last) => {
                bare.len() >= first.len() + last.len() && bare.starts_with(first) && bare.ends_with(last)
            }
        }
    }
}

impl std::fmt::Debug for KeyEnds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeyEnds(…)")
    }
}

/// The text with `%` for each run of `*`: no key contains `*`, and lists hide the middle of a key behind a run of them.
fn unmasked(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '*' if pattern.ends_with('%') => {}
            '*' => pattern.push('%'),
            c => pattern.push(c),
        }
    }
    pattern
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

    #[test]
    fn a_masked_key_matches_the_keys_with_its_ends() {
        let key = ApiKey::from_vault(Zeroizing::new("sk-ab12345wxyz".into()));
        let part = |text: &str| SearchPattern::of_key(text).unwrap().unwrap();
        for (text, expected) in [
            ("sk-ab12**********wxyz", true),
            ("ab12**********wxyz", true),
            ("sk-ab12*wxyz", true),
            ("sk-ab12**********wxyZ", false),
            ("sk-b123**********wxyz", false),
            ("sk-ab12**********", true),
            ("**********wxyz", true),
        ] {
            assert_eq!(part(text).matches_key(&key), expected, "{text}");
            assert_eq!(KeyEnds::parse(text).unwrap().unwrap().matches(&key), expected, "{text}");
        }
    }

    #[test]
    fn all_keys_are_searched_by_their_first_and_last_characters() {
        let key = ApiKey::from_vault(Zeroizing::new("sk-ab12345wxyz".into()));
        let table = [
            // the text, whether it matches, the first and the last characters to look up
            ("sk-ab12", true, Some("ab12"), None),
            ("sk-sk-ab1234", true, Some("ab12"), None),
            ("sk-wxyz", false, Some("wxyz"), None),
            ("ab12", true, Some("ab12"), Some("ab12")),
            (" 45wxyz ", true, Some("45wx"), Some("wxyz")),
            ("AB12", false, Some("AB12"), Some("AB12")),
            ("%5wxyz", true, None, Some("wxyz")),
            ("ab12%", true, Some("ab12"), None),
            ("ab1%wxyz", true, None, Some("wxyz")),
            ("ab12%z", true, Some("ab12"), None),
            ("ab12345wxyz%wxyz", false, Some("ab12"), Some("wxyz")),
        ];
        for (text, matches, first, last) in table {
            let ends = KeyEnds::parse(text).unwrap().unwrap();
            assert_eq!(ends.matches(&key), matches, "{text}");
            assert_eq!((ends.first_chars().as_deref(), ends.last_chars().as_deref()), (first, last), "{text}");
            assert_eq!(format!("{ends:?}"), "KeyEnds(…)");
        }
        let is_either = |text| KeyEnds::parse(text).unwrap().unwrap().is_either();
        assert_eq!(["ab12", "sk-ab12", "%wxyz", "ab12%wxyz"].map(is_either), [true, false, false, false]);
        assert_eq!(KeyEnds::parse(" "), Ok(None));
        for text in ["a", "abc", "sk-", "sk-abc", "%abc", "abc%xyz", "%abcd%", "abcd%e%", "a%b%cdef", "%"] {
            assert_eq!(KeyEnds::parse(text), Err(SearchInvalid::NotEnds), "{text}");
        }
        assert_eq!(KeyEnds::parse("abcd\0"), Err(SearchInvalid::Control));
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_as_ends_without_a_panic(text: String) {
            if let Ok(Some(ends)) = KeyEnds::parse(&text) {
                prop_assert!(ends.first_chars().is_some() || ends.last_chars().is_some());
            }
        }

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
