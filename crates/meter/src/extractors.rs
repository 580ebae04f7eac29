//! All extractors, by provider and API: ours, and those that `genai-prices` publishes.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::extractor::Extractor;

/// What the published extractors do not say: a list of extractors, each with the APIs that it is for by provider.
pub const OWN_EXTRACTORS: &str = include_str!("own_extractors.json");

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
