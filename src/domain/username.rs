//! Usernames: unique in any case and spelling, and not confusable with another account's (UTS 39).

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_security::{RestrictionLevel, RestrictionLevelDetection};

use super::bounds;
use super::text::hides_something;

/// Longest accepted input in bytes, checked before any other work: 20 bytes for each of 50 decomposed characters.
const MAX_INPUT_BYTES: usize = 1_000;

/// The name of an account, without white space.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::Type)]
#[sqlx(transparent)]
pub struct Username(String);

/// The UTS 39 skeleton of a username, as a range of texts. The ranges of live accounts may not overlap. The range of an
/// ASCII name is a single text, so that `ann1` and `annl` can both exist; the range of any other name covers every name
/// with the same skeleton.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skeleton {
    /// Equal for all names that look alike.
    pub common: String,
    /// The start of the range.
    pub first: String,
    /// The end of the range, inclusive.
    pub last: String,
}

/// A live account has the username, or one that looks like it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UsernameConflict {
    #[error("this username is taken")]
    Taken,
    /// The names are confusable (UTS 39).
    #[error("this username looks like that of another account; choose a different one")]
    Confusable,
}

/// Why a username was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UsernameInvalid {
    /// Wrong length, white space or control characters.
    #[error(
        "`username` must have {} to {} characters, without white space",
        bounds::USERNAME_CHARS.start(), bounds::USERNAME_CHARS.end()
    )]
    Length,
    /// Characters that are not allowed in a name, or scripts that are not written together.
    #[error(
        "`username` may contain letters and digits of one script, and ASCII signs; \
         no invisible characters, symbols or emoji"
    )]
    Characters,
}

impl Username {
    /// Checks the name of a new account and normalises it to NFC. ASCII characters are allowed, and the characters of
    /// identifiers (UTS 39, status Allowed) of one script or of scripts that are written together. Latin mixed with
    /// Cyrillic or Greek is refused, because such names serve to deceive.
    ///
    /// # Errors
    /// See [`UsernameInvalid`].
    pub fn parse(text: &str) -> Result<Self, UsernameInvalid> {
        let name: String = Self::typed(text)?.0.nfc().collect();
        if !has_valid_length(&name) {
            return Err(UsernameInvalid::Length);
        }
        // ASCII signs belong to every script.
        let letters: String = name.chars().filter(|c| !c.is_ascii() || c.is_ascii_alphanumeric()).collect();
        let is_of_one_script = letters.check_restriction_level(RestrictionLevel::ModeratelyRestrictive);
        if !is_of_one_script || name.starts_with(is_combining_mark) || hides_something(&name) {
            return Err(UsernameInvalid::Characters);
        }
        Ok(Self(name))
    }

    /// A name typed to find an account. It is checked less strictly than [`Username::parse`], because older accounts
    /// may have names that a new account cannot get.
    ///
    /// # Errors
    /// No account can have this name.
    pub fn typed(text: &str) -> Result<Self, UsernameInvalid> {
        let name = text.trim();
        let length_fits = name.len() <= MAX_INPUT_BYTES
            && (has_valid_length(name) || has_valid_length(&name.nfc().collect::<String>()));
        if !length_fits || name.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(UsernameInvalid::Length);
        }
        Ok(Self(name.to_owned()))
    }

    /// The name as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The case-folded and normalised name, which is unique among live accounts.
    pub fn folded(&self) -> String {
        folded(&self.0)
    }

    /// The skeleton (UTS 39), in any case: `i`, `I`, `l` and `1` are equal, and so are `m` and `rn`.
    pub fn skeleton(&self) -> Skeleton {
        let skeleton: String = unicode_security::skeleton(&self.0).collect();
        let common = folded(&skeleton).replace('i', "l").replace("rn", "m");
        // No name contains control characters, so they separate the skeleton from what follows.
        if self.0.is_ascii() {
            let point = format!("{common}\u{1}{}", self.folded());
            return Skeleton { common, first: point.clone(), last: point };
        }
        Skeleton { first: format!("{common}\u{1}"), last: format!("{common}\u{2}"), common }
    }
}

fn has_valid_length(text: &str) -> bool {
    bounds::USERNAME_CHARS.contains(&text.chars().count())
}

/// Unicode's canonical caseless matching: the same text for all spellings and cases.
fn folded(text: &str) -> String {
    caseless::default_case_fold_str(&text.nfd().collect::<String>()).nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_conflict_unless_both_are_ascii() {
        let skeleton = |name: &str| Username::typed(name).unwrap().skeleton();
        let conflict = |one: &str, other: &str| {
            let (one, other) = (skeleton(one), skeleton(other));
            one.first <= other.last && other.first <= one.last
        };
        let table = [
            ("ann1", "annl", false),
            ("annI", "annl", false),
            ("O0", "0O", false),
            ("mary", "rnary", false),
            ("ana", "ANA", true),
            ("coco", "\u{441}\u{43e}\u{441}\u{43e}", true),
            ("coc", "\u{441}\u{43e}\u{441}\u{43e}", false),
            ("cocoa", "\u{441}\u{43e}\u{441}\u{43e}", false),
            ("ilya", "\u{406}\u{4cf}\u{443}\u{430}", true),
            ("i1ya", "\u{456}\u{4cf}\u{443}\u{430}", true),
            ("paypal", "p\u{430}yp\u{430}l", true),
            ("mary", "rn\u{430}ry", true),
            ("jose", "jos\u{e9}", false),
            ("josé", "jose\u{301}", true),
        ];
        for (one, other, expected) in table {
            assert_eq!(conflict(one, other), expected, "{one} {other}");
            assert_eq!(conflict(other, one), expected, "{other} {one}");
        }
    }

    #[test]
    fn names_have_1_to_50_characters_without_white_space() {
        assert!(Username::parse("ana").is_ok());
        assert_eq!(Username::parse("ana maria"), Err(UsernameInvalid::Length));
        assert_eq!(Username::parse(""), Err(UsernameInvalid::Length));
        assert_eq!(Username::parse(&"x".repeat(51)), Err(UsernameInvalid::Length));
        assert_eq!(Username::parse(&"e\u{301}".repeat(50)).unwrap().as_str(), "é".repeat(50));
        assert_eq!(Username::typed(&"x".repeat(51)), Err(UsernameInvalid::Length));
        assert_eq!(Username::typed(&"e\u{301}".repeat(2_000)), Err(UsernameInvalid::Length));
    }

    #[test]
    fn a_name_that_mixes_scripts_can_be_typed_but_not_created() {
        assert!(Username::typed("p\u{430}ypal").is_ok());
        assert_eq!(Username::parse("p\u{430}ypal"), Err(UsernameInvalid::Characters));
    }

    #[test]
    fn a_name_has_ascii_signs_but_no_hidden_characters_and_no_mark_at_the_start() {
        for good in ["ana-ruiz_1.x", "мария-1", "李雷@x", "ana\u{301}"] {
            assert!(Username::parse(good).is_ok(), "{good}");
        }
        for bad in ["\u{301}ana", "an\u{200b}a", "an\u{202e}a", "ana❤"] {
            assert_eq!(Username::parse(bad), Err(UsernameInvalid::Characters), "{bad:?}");
        }
        assert_eq!(Username::typed("an\u{7f}a"), Err(UsernameInvalid::Length));
    }

    #[test]
    fn a_name_is_folded_to_one_text_for_all_cases_and_spellings() {
        for name in ["Jos\u{e9}", "JOSE\u{301}", " jos\u{e9} "] {
            assert_eq!(Username::typed(name).unwrap().folded(), "jos\u{e9}", "{name}");
        }
        assert_eq!(Username::typed("Straße").unwrap().folded(), "strasse");
        assert_eq!(Username::typed("Ana").unwrap().as_str(), "Ana");
    }
}
