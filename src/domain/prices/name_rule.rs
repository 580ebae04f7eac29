//! Which names are names of a model or a provider.

use fancy_regex::{Regex, RegexBuilder};
use serde::Deserialize;

/// How often a pattern with look-around may go back before it counts as no match. Clients choose names.
const MAX_BACKTRACKS: usize = 10_000;

/// A rule for names in lower case.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NameRule {
    Equals(LowerCase),
    StartsWith(LowerCase),
    EndsWith(LowerCase),
    Contains(LowerCase),
    Regex(Pattern),
    Or(Vec<NameRule>),
    And(Vec<NameRule>),
}

/// A text in lower case.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "String")]
pub struct LowerCase(String);

impl From<String> for LowerCase {
    fn from(text: String) -> Self {
        Self(text.to_lowercase())
    }
}

/// A pattern that is found anywhere in a name.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub struct Pattern(Regex);

impl TryFrom<String> for Pattern {
    type Error = Box<fancy_regex::Error>;

    fn try_from(pattern: String) -> Result<Self, Self::Error> {
        Ok(Self(RegexBuilder::new(&pattern).backtrack_limit(MAX_BACKTRACKS).build()?))
    }
}

impl NameRule {
    /// Returns true if a name in lower case is one of these.
    pub fn matches(&self, name: &str) -> bool {
        match self {
            Self::Equals(LowerCase(text)) => name == text,
            Self::StartsWith(LowerCase(text)) => name.starts_with(text),
            Self::EndsWith(LowerCase(text)) => name.ends_with(text),
            Self::Contains(LowerCase(text)) => name.contains(text),
            Self::Regex(Pattern(pattern)) => pattern.is_match(name).unwrap_or(false),
            Self::Or(rules) => rules.iter().any(|rule| rule.matches(name)),
            Self::And(rules) => rules.iter().all(|rule| rule.matches(name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_match_names() {
        let table = [
            (r#"{"equals": "GPT-5"}"#, "gpt-5", "gpt-5-mini"),
            (r#"{"starts_with": "claude-3.5"}"#, "claude-3.5-haiku", "a-claude-3.5"),
            (r#"{"ends_with": ":free"}"#, "kimi:free", "kimi:freed"),
            (r#"{"contains": "Claude"}"#, "eu.claude-2", "claud"),
            (r#"{"regex": "^gpt-4o(-\\d{4})?$"}"#, "gpt-4o-2024", "gpt-4o-mini"),
            (r#"{"regex": "^o1(?!-mini)"}"#, "o1-pro", "o1-mini"),
            (r#"{"or": [{"equals": "a"}, {"equals": "b"}]}"#, "b", "c"),
            (r#"{"and": [{"starts_with": "a"}, {"ends_with": "z"}]}"#, "abz", "ab"),
            (r#"{"and": []}"#, "anything", ""),
        ];
        for (json, yes, no) in table {
            let rule: NameRule = serde_json::from_str(json).unwrap();
            assert!(rule.matches(yes), "{json} {yes}");
            assert!(no.is_empty() || !rule.matches(no), "{json} {no}");
        }
    }

    #[test]
    fn what_is_no_rule_is_refused() {
        for json in [r#"{"sounds_like": "a"}"#, r#"{"regex": "("}"#, r#"{"equals": "a", "contains": "b"}"#, r#""a""#] {
            assert!(serde_json::from_str::<NameRule>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn a_pattern_that_goes_back_too_often_matches_nothing() {
        let rule: NameRule = serde_json::from_str(r#"{"regex": "^(?=(a+)+b)(a+)+b$"}"#).unwrap();
        assert!(!rule.matches(&"a".repeat(120)));
    }
}
