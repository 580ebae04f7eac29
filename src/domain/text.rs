//! What no text for people may hide: characters that nobody sees, and such as turn the direction of writing.

use icu_properties::CodePointSetData;
use icu_properties::props::{BidiControl, DefaultIgnorableCodePoint};

/// Whether something in `text` cannot be seen, or makes other text appear in another order. Joiners and variation
/// selectors shape the character before them, in emoji as in Persian and in the scripts of India, and are fine there.
#[must_use]
pub fn hides_something(text: &str) -> bool {
    let (ignorable, bidi) =
        (CodePointSetData::new::<DefaultIgnorableCodePoint>(), CodePointSetData::new::<BidiControl>());
    let shapes = |c| matches!(c, '\u{200c}' | '\u{200d}' | '\u{180b}'..='\u{180d}' | '\u{fe00}'..='\u{fe0f}');
    // Separators of lines, marks of annotations, and the Braille pattern without a dot are invisible by other rules.
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
    fn what_shapes_is_fine_and_what_hides_is_not() {
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
