//! All extractors, by provider and API: ours, and those that `genai-prices` publishes.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::extraction::{ExtractError, Extracted};
use crate::extractor::Extractor;
use crate::json_value::JsonValue;

/// What the published extractors do not say: a list of extractors, each with the APIs that it is for by provider.
pub const OWN_EXTRACTORS: &str = include_str!("own_extractors.json");

/// The APIs that answers are most often of.
const USUAL_FLAVORS: [&str; 4] = ["default", "chat", "responses", "anthropic"];

/// Extractors by provider and API. Of one API the first counts, and later ones add what it does not read.
#[derive(Debug, Clone, Default)]
pub struct Extractors {
    by_provider: BTreeMap<String, BTreeMap<String, Extractor>>,
    /// Extractors that were left out.
    pub left_out: Vec<LeftOutExtractor>,
}

/// An extractor that was left out, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOutExtractor {
    pub provider: String,
    pub api_flavor: String,
    /// A sentence without its first capital and full stop.
    pub reason: String,
}

/// An extractor of ours, for APIs of several providers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnExtractor {
    providers: BTreeMap<String, Vec<String>>,
    extractor: Extractor,
}

/// A provider as it is published; nothing else of it is read here.
#[derive(Deserialize)]
struct PublishedProvider {
    id: String,
    extractors: Option<Vec<Box<RawValue>>>,
}

impl Extractors {
    /// Adds extractors in the shape of [`OWN_EXTRACTORS`]. One with a unit that is not `is_unit` is left out.
    ///
    /// # Errors
    /// They have another shape.
    pub fn add_own(&mut self, own: &str, is_unit: impl Fn(&str) -> bool) -> serde_json::Result<()> {
        for OwnExtractor { providers, extractor } in serde_json::from_str::<Vec<OwnExtractor>>(own)? {
            for (provider, flavors) in providers {
                for api_flavor in flavors {
                    let mut extractor = extractor.clone();
                    extractor.api_flavor = api_flavor;
                    self.add(&provider, extractor, &is_unit);
                }
            }
        }
        Ok(())
    }

    /// Adds those of a published list of providers. One that cannot be read, or has a unit that is not `is_unit`, is
    /// left out.
    ///
    /// # Errors
    /// It is no list of providers.
    pub fn add_published(&mut self, published: &str, is_unit: impl Fn(&str) -> bool) -> serde_json::Result<()> {
        for PublishedProvider { id, extractors } in serde_json::from_str::<Vec<PublishedProvider>>(published)? {
            for json in extractors.unwrap_or_default() {
                match serde_json::from_str(json.get()) {
                    Ok(extractor) => self.add(&id, extractor, &is_unit),
                    Err(error) => self.leave_out(&id, flavor_of(json.get()), error.to_string()),
                }
            }
        }
        Ok(())
    }

    pub fn get(&self, provider: &str, api_flavor: &str) -> Option<&Extractor> {
        self.by_provider.get(provider)?.get(api_flavor)
    }

    /// Reads an answer, or its usage. Without the name of the API, it is read as each that the provider has: the usual
    /// ones first, and the one that leaves the fewest numbers unread.
    ///
    /// # Errors
    /// See [`ExtractError`].
    pub fn extract(
        &self,
        provider: &str,
        api_flavor: Option<&str>,
        answer: &JsonValue,
    ) -> Result<Extracted, ExtractError> {
        let unknown = || ExtractError::Unknown {
            provider: provider.to_owned(),
            api_flavor: api_flavor.unwrap_or("any").to_owned(),
        };
        let flavors = self.by_provider.get(provider).ok_or_else(unknown)?;
        if let Some(api_flavor) = api_flavor {
            return flavors.get(api_flavor).ok_or_else(unknown)?.extract(answer);
        }
        let usual = USUAL_FLAVORS.iter().filter_map(|flavor| flavors.get(*flavor));
        let others = flavors.iter().filter(|(flavor, _)| !USUAL_FLAVORS.contains(&flavor.as_str()));
        let mut best: Result<Extracted, ExtractError> = Err(unknown());
        for extractor in usual.chain(others.map(|(_, extractor)| extractor)) {
            match (extractor.extract(answer), &best) {
                (Ok(extracted), _) if extracted.unread.is_empty() => return Ok(extracted),
                (Ok(extracted), Ok(before)) if extracted.unread.len() >= before.unread.len() => {}
                (Ok(extracted), _) => best = Ok(extracted),
                // It counts nothing that this one knows.
                (Err(error @ ExtractError::NoCounts(_)), Err(_)) => best = Err(error),
                (Err(error), Err(_)) => return Err(error),
                (Err(_), Ok(_)) => {}
            }
        }
        best
    }

    fn add(&mut self, provider: &str, extractor: Extractor, is_unit: impl Fn(&str) -> bool) {
        if let Some(mapping) = extractor.mappings.iter().find(|mapping| !is_unit(&mapping.unit)) {
            let reason = format!("it counts the unknown unit `{}`", mapping.unit);
            return self.leave_out(provider, extractor.api_flavor, reason);
        }
        let flavors = self.by_provider.entry(provider.to_owned()).or_default();
        match flavors.get_mut(&extractor.api_flavor) {
            None => {
                flavors.insert(extractor.api_flavor.clone(), extractor);
            }
            Some(before) if before.root == extractor.root => before.add(extractor),
            Some(before) => {
                let reason = format!("its root is `{}`, and before it is one with `{}`", extractor.root, before.root);
                self.leave_out(provider, extractor.api_flavor, reason);
            }
        }
    }

    fn leave_out(&mut self, provider: &str, api_flavor: String, reason: String) {
        self.left_out.push(LeftOutExtractor { provider: provider.to_owned(), api_flavor, reason });
    }
}

/// The API of an extractor that could not be read.
fn flavor_of(json: &str) -> String {
    #[derive(Deserialize)]
    struct Flavored {
        api_flavor: String,
    }
    serde_json::from_str(json).map_or_else(|_| "?".to_owned(), |extractor: Flavored| extractor.api_flavor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn published(extractors: &str) -> Extractors {
        let mut all = Extractors::default();
        let json = format!(r#"[{{"id": "acme", "models": [], "extractors": {extractors}}}, {{"id": "other"}}]"#);
        all.add_published(&json, |unit| unit.ends_with("_tokens")).unwrap();
        all
    }

    #[test]
    fn a_published_extractor_with_something_unknown_is_left_out_and_named() {
        let all = published(
            r#"[
                {"api_flavor": "chat", "root": "usage", "mappings": [{"path": "a", "dest": "input_tokens"}]},
                {"api_flavor": "images", "root": "usage", "mappings": [{"path": "a", "dest": "pictures"}]},
                {"api_flavor": "video", "root": "usage", "mappings": [], "scale": 5},
                {"api_flavor": "chat", "root": "usage_info", "mappings": []}
            ]"#,
        );
        assert!(
            all.get("acme", "chat").is_some() && all.get("acme", "images").is_none() && all.get("b", "c").is_none()
        );
        let left_out = all.left_out.iter().map(|left_out| {
            let LeftOutExtractor { provider, api_flavor, reason } = left_out;
            format!("{provider} {api_flavor}: {}", reason.split(',').next().unwrap())
        });
        assert_eq!(
            left_out.collect::<Vec<_>>(),
            [
                "acme images: it counts the unknown unit `pictures`",
                "acme video: unknown field `scale`",
                "acme chat: its root is `usage_info`",
            ]
        );
    }

    #[test]
    fn without_the_name_of_the_api_the_one_that_reads_most_is_taken() {
        let mapping = |path: &str, unit: &str| format!(r#"{{"path": "{path}", "dest": "{unit}"}}"#);
        let flavor = |name: &str, mappings: &[String]| {
            format!(r#"{{"api_flavor": "{name}", "root": "usage", "mappings": [{}]}}"#, mappings.join(","))
        };
        let (input, output) = (mapping("in", "input_tokens"), mapping("out", "output_tokens"));
        let all = published(&format!(
            "[{},{},{},{}]",
            flavor("chat", &[mapping("prompt", "input_tokens"), mapping("completion", "output_tokens")]),
            flavor("embeddings", &[mapping("prompt", "input_tokens")]),
            flavor("images", &[input.clone(), output.clone(), mapping("pictures", "input_image_tokens")]),
            flavor("responses", &[input, output]),
        ));
        let read = |flavor: Option<&str>, usage: &str| {
            let answer = JsonValue::read(&format!(r#"{{"usage": {usage}}}"#)).unwrap();
            let extracted = all.extract("acme", flavor, &answer).map_err(|error| error.to_string())?;
            let units = extracted.units.iter().map(|(unit, count)| format!("{unit}={count}"));
            Ok::<_, String>(units.collect::<Vec<_>>().join(" "))
        };
        let table = [
            (None, r#"{"prompt": 3, "completion": 4}"#, Ok("input_tokens=3 output_tokens=4")),
            (None, r#"{"prompt": 3, "completion": 4, "new": 5}"#, Ok("input_tokens=3 output_tokens=4")),
            (None, r#"{"in": 3, "out": 4}"#, Ok("input_tokens=3 output_tokens=4")),
            (None, r#"{"in": 3, "out": 4, "pictures": 2}"#, Ok("input_image_tokens=2 input_tokens=3 output_tokens=4")),
            // Not as another API, which would count less.
            (None, r#"{"prompt": 3}"#, Err("`usage.completion` is missing")),
            (Some("embeddings"), r#"{"prompt": 3}"#, Ok("input_tokens=3")),
            (None, r#"{"tokens": 3}"#, Err("there are no counts at `usage`")),
            (Some("video"), r#"{"in": 3}"#, Err("nothing says how answers of `video` of \"acme\" are read")),
        ];
        for (flavor, usage, expected) in table {
            let found = read(flavor, usage);
            assert_eq!(found.as_deref().map_err(String::as_str), expected, "{usage}");
        }
    }

    #[test]
    fn a_later_extractor_adds_what_the_first_does_not_read() {
        let mut all = Extractors::default();
        all.add_own(
            r#"[{"providers": {"acme": ["chat"]}, "extractor": {"root": "usage", "mappings": [
                {"rest": {"path": "hits", "less": ["cached"]}, "dest": "cache_read_tokens"}]}}]"#,
            |_| true,
        )
        .unwrap();
        let json = r#"[{"id": "acme", "extractors": [{"api_flavor": "chat", "root": "usage", "mappings": [
            {"path": "hits", "dest": "cache_read_tokens"}, {"path": "hits", "dest": "input_tokens"}]}]}]"#;
        all.add_published(json, |_| true).unwrap();
        let units = all.get("acme", "chat").unwrap().mappings.iter().map(|mapping| mapping.unit.as_str());
        assert_eq!(units.collect::<Vec<_>>(), ["cache_read_tokens", "input_tokens"]);
    }
}
