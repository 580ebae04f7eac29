//! Which texts match.

use serde::Deserialize;

/// A rule for texts. Capitals and small letters are the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextRule {
    Equals(SmallLetters),
    StartsWith(SmallLetters),
    EndsWith(SmallLetters),
    Contains(SmallLetters),
    Or(Vec<TextRule>),
    And(Vec<TextRule>),
}

/// A text without capitals.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(from = "String")]
pub struct SmallLetters(String);

impl From<String> for SmallLetters {
    fn from(text: String) -> Self {
        Self(text.to_lowercase())
    }
}

impl TextRule {
    pub fn matches(&self, text: &str) -> bool {
        self.matches_small_letters(&text.to_lowercase())
    }

    fn matches_small_letters(&self, text: &str) -> bool {
        match self {
            Self::Equals(SmallLetters(rule)) => text == rule,
            Self::StartsWith(SmallLetters(rule)) => text.starts_with(rule),
            Self::EndsWith(SmallLetters(rule)) => text.ends_with(rule),
            Self::Contains(SmallLetters(rule)) => text.contains(rule),
            Self::Or(rules) => rules.iter().any(|rule| rule.matches_small_letters(text)),
            Self::And(rules) => rules.iter().all(|rule| rule.matches_small_letters(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_match_texts() {
        for (rule, matching, other) in [
            (r#"{"equals": "Audio"}"#, "AUDIO", "AUDIO_2"),
            (r#"{"starts_with": "web_"}"#, "Web_Search", "a web_search"),
            (r#"{"ends_with": "_call"}"#, "web_search_CALL", "web_search_calls"),
            (r#"{"contains": "SEARCH"}"#, "web_search_call", "web_fetch_call"),
            (r#"{"or": [{"equals": "a"}, {"equals": "b"}]}"#, "B", "c"),
            (r#"{"and": [{"starts_with": "a"}, {"ends_with": "z"}]}"#, "A to Z", "a"),
        ] {
            let rule: TextRule = serde_json::from_str(rule).unwrap();
            assert!(rule.matches(matching) && !rule.matches(other), "{rule:?}");
        }
    }
}
