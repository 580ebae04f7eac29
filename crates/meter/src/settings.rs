//! What an operator says about the upstream.

use serde::Deserialize;

/// What the meter has to know of an upstream. Every setting has a default.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MeterSettings {
    /// Whose answers those of the upstream look like, by the ids of `genai-prices`.
    pub shape: String,
    /// The output that is held for a request without a limit, in tokens.
    pub max_tokens: u64,
    /// What is held for a picture, in tokens: the largest number that the provider counts for one. `None`: as many as
    /// that of the shape is known to count.
    pub image_tokens: Option<u64>,
    /// The searches that are held for a request that may search, and names no limit.
    pub max_searches: u64,
    /// Members that bodies may have besides those that are known.
    pub members: Vec<String>,
    /// Beta headers that may be sent besides those that are known.
    pub betas: Vec<String>,
    /// Types of tools, of content and of output that no counts tell. They pass, and cost the hold.
    pub uncounted: Vec<String>,
    /// Whether documents and conversations may be named by address or id. Then the hold does not know their size.
    pub references: bool,
    /// Models whose upstream refuses `stream_options`; a `*` at the end stands for any.
    pub without_stream_options: Vec<String>,
    /// Models that show all they think; a `*` at the end stands for any. A stream of others that ends early costs the
    /// hold.
    pub shows_thinking: Vec<String>,
}

impl Default for MeterSettings {
    fn default() -> Self {
        Self {
            shape: "openai".to_owned(),
            max_tokens: 4_096,
            image_tokens: None,
            max_searches: 10,
            members: Vec::new(),
            betas: Vec::new(),
            uncounted: Vec::new(),
            references: false,
            without_stream_options: Vec::new(),
            shows_thinking: Vec::new(),
        }
    }
}

/// The most tokens that providers count for a picture.
const IMAGE_TOKENS: [(&str, u64); 2] = [("anthropic", 5_000), ("google", 5_000)];

/// Of the small models of OpenAI, which count the most.
const MOST_IMAGE_TOKENS: u64 = 50_000;

impl MeterSettings {
    /// What is held for a picture, in tokens.
    pub fn image_tokens(&self) -> u64 {
        let known = IMAGE_TOKENS.iter().find(|(shape, _)| *shape == self.shape).map(|(_, tokens)| *tokens);
        self.image_tokens.or(known).unwrap_or(MOST_IMAGE_TOKENS)
    }

    pub(crate) fn shows_thinking(&self, model: &str) -> bool {
        names(&self.shows_thinking, model)
    }

    pub(crate) fn takes_stream_options(&self, model: &str) -> bool {
        !names(&self.without_stream_options, model)
    }
}

fn names(patterns: &[String], model: &str) -> bool {
    patterns.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(beginning) => model.starts_with(beginning),
        None => model == pattern,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_named_whole_or_by_their_beginning() {
        let patterns = ["gpt-4o".to_owned(), "llama*".to_owned()];
        let table = [("gpt-4o", true), ("gpt-4o-mini", false), ("llama", true), ("llama-3", true), ("my-llama", false)];
        for (model, expected) in table {
            assert_eq!(names(&patterns, model), expected, "{model}");
        }
    }
}
