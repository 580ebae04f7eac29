//! Free texts of accounts and resources: names, e-mail addresses, reasons.

use icu_properties::CodePointSetData;
use icu_properties::props::{BidiControl, DefaultIgnorableCodePoint};

use super::bounds;

/// Why a text was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TextInvalid {
    /// Not an e-mail address.
    #[error("`email` is not an e-mail address")]
    Email,
    /// Not a label; the name of the field.
    #[error(
        "`{0}` must have at most {max} characters, without control or invisible characters",
        max = bounds::MAX_LABEL_CHARS
    )]
    Label(&'static str),
    /// Too long a text; the name of the field.
    #[error("`{0}` must have at most {max} characters", max = bounds::MAX_REASON_CHARS)]
    TooLong(&'static str),
    /// An empty text; the name of the field.
    #[error("`{0}` is required")]
    Missing(&'static str),
}

/// An e-mail address, or an empty text.
///
/// # Errors
/// The text is not like an address, too long, or contains invisible characters.
pub fn email(text: &str) -> Result<String, TextInvalid> {
    let text = text.trim();
    let well_formed = text.split_once('@').is_some_and(|(local, domain)| {
        !local.is_empty() && domain.contains('.') && !domain.contains('@') && !domain.ends_with('.')
    });
    let clean = !text.chars().any(|c| c.is_whitespace() || c.is_control()) && !hides_something(text);
    if text.is_empty() || (well_formed && clean && text.chars().count() <= bounds::MAX_EMAIL_CHARS) {
        return Ok(text.to_owned());
    }
    Err(TextInvalid::Email)
}

/// A short text of one line, such as a display name; trimmed, may be empty.
///
/// # Errors
/// Too long; control or invisible characters.
pub fn label(field: &'static str, text: &str) -> Result<String, TextInvalid> {
    let text = text.trim();
    let is_long = text.chars().count() > bounds::MAX_LABEL_CHARS;
    if is_long || text.chars().any(char::is_control) || hides_something(text) {
        return Err(TextInvalid::Label(field));
    }
    Ok(text.to_owned())
}

/// A text of one or more lines, such as a reason; trimmed, may be empty. NUL is dropped, because PostgreSQL cannot
/// store it.
///
/// # Errors
/// Too long.
pub fn multiline(field: &'static str, text: &str) -> Result<String, TextInvalid> {
    let text = text.trim().replace('\0', "");
    if text.chars().count() > bounds::MAX_REASON_CHARS {
        return Err(TextInvalid::TooLong(field));
    }
    Ok(text)
}

/// The text, which must not be empty.
///
/// # Errors
/// Empty.
pub fn required(field: &'static str, text: String) -> Result<String, TextInvalid> {
    if text.is_empty() { Err(TextInvalid::Missing(field)) } else { Ok(text) }
}

/// Returns true if `text` contains invisible characters or characters that change the direction of writing. Joiners and
/// variation selectors are allowed after another character, because emoji, Persian and Indic scripts need them.
pub fn hides_something(text: &str) -> bool {
    let (ignorable, bidi) =
        (CodePointSetData::new::<DefaultIgnorableCodePoint>(), CodePointSetData::new::<BidiControl>());
    let shapes = |c| matches!(c, '\u{200c}' | '\u{200d}' | '\u{180b}'..='\u{180d}' | '\u{fe00}'..='\u{fe0f}');
    // Line separators, annotation marks and the blank Braille pattern are invisible too, but have other properties.
    let is_hidden = |c| {
        ignorable.contains(c)
            || bidi.contains(c)
            || matches!(c, '\u{2028}' | '\u{2029}' | '\u{2800}' | '\u{fff9}'..='\u{fffb}')
    };
    text.starts_with(shapes) || text.chars().any(|c| !shapes(c) && is_hidden(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_email_address_has_one_at_sign_and_a_domain() {
        assert_eq!(email(""), Ok(String::new()));
        assert_eq!(email(" ana@example.org "), Ok("ana@example.org".into()));
        let malformed = ["ana", "@example.org", "ana@", "ana@example", "ana@example.", "a@b@example.org"];
        let unclean = ["a na@example.org", "a\u{7f}na@example.org", "a\u{200b}na@example.org"];
        for bad in malformed.into_iter().chain(unclean) {
            assert_eq!(email(bad), Err(TextInvalid::Email), "{bad:?}");
        }
        let long = |chars: usize| format!("{}@example.org", "ü".repeat(chars - "@example.org".len()));
        assert!(email(&long(254)).is_ok());
        assert_eq!(email(&long(255)), Err(TextInvalid::Email));
    }

    #[test]
    fn a_label_has_one_line_of_at_most_100_visible_characters() {
        assert_eq!(label("name", " Ana Ruiz "), Ok("Ana Ruiz".into()));
        assert_eq!(label("name", "  "), Ok(String::new()));
        assert!(label("name", &"ü".repeat(100)).is_ok());
        for bad in ["ü".repeat(101).as_str(), "Ana\nRuiz", "Ana\0", "Ana\u{202e}Ruiz"] {
            assert_eq!(label("name", bad), Err(TextInvalid::Label("name")), "{bad:?}");
        }
    }

    #[test]
    fn a_text_of_several_lines_has_at_most_2000_characters() {
        assert_eq!(multiline("reason", " one\ntwo\0 "), Ok("one\ntwo".into()));
        assert!(multiline("reason", &"ü".repeat(2_000)).is_ok());
        assert_eq!(multiline("reason", &"ü".repeat(2_001)), Err(TextInvalid::TooLong("reason")));
    }

    #[test]
    fn a_required_text_is_not_empty() {
        assert_eq!(required("reason", "x".into()), Ok("x".into()));
        assert_eq!(required("reason", String::new()), Err(TextInvalid::Missing("reason")));
    }

    #[test]
    fn joiners_are_allowed_and_invisible_characters_are_not() {
        for fine in
            ["", "plain", "❤\u{fe0f}", "👩\u{200d}💻", "می\u{200c}خواهم", "1\u{fe0f}\u{20e3}", "日本", "e\u{301}"]
        {
            assert!(!hides_something(fine), "{fine:?}");
        }
        for hidden in [
            '\u{ad}',
            '\u{34f}',
            '\u{61c}',
            '\u{115f}',
            '\u{200b}',
            '\u{200e}',
            '\u{2028}',
            '\u{202e}',
            '\u{2060}',
            '\u{2066}',
            '\u{2800}',
            '\u{3164}',
            '\u{feff}',
            '\u{ffa0}',
            '\u{fff9}',
            '\u{1d173}',
            '\u{e0041}',
        ] {
            assert!(hides_something(&format!("a{hidden}b")), "{hidden:?}");
        }
        assert!(hides_something("\u{200d}"));
        assert!(hides_something("\u{fe0f}a"));
    }
}
