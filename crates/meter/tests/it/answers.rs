//! What is read from answers as providers and gateways send them.

use std::collections::{BTreeMap, BTreeSet};

use keymeter_meter::extraction::Extracted;
use keymeter_meter::extractors::{Extractors, OWN_EXTRACTORS};
use keymeter_meter::json_value::JsonValue;
use serde::Deserialize;
use serde_json::value::RawValue;

/// An answer and what is read from it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerCase {
    name: String,
    provider: String,
    api_flavor: String,
    answer: Box<RawValue>,
    /// Whether an extractor that `genai-prices` publishes is needed beside ours.
    #[serde(default)]
    needs_published: bool,
    model: Option<String>,
    /// Those above 0.
    units: BTreeMap<String, String>,
    cost: Option<String>,
    #[serde(default)]
    context: BTreeMap<String, String>,
    #[serde(default)]
    unread: BTreeSet<String>,
}

/// Our extractors alone.
pub(crate) fn own_extractors() -> Extractors {
    let mut extractors = Extractors::default();
    extractors.add_own(OWN_EXTRACTORS, |_| true).unwrap();
    extractors
}

/// The units above 0, as texts.
fn units(extracted: &Extracted) -> BTreeMap<String, String> {
    let units = extracted.units.iter().map(|(unit, number)| (unit.clone(), number.to_string()));
    units.filter(|(_, number)| number != "0").collect()
}

/// Compares the cases in `answers.json` with what is read from them.
pub(crate) fn check_answers(extractors: &Extractors, has_published: bool) {
    let cases: Vec<AnswerCase> = serde_json::from_str(include_str!("answers.json")).unwrap();
    for case in cases.into_iter().filter(|case| has_published || !case.needs_published) {
        let extractor = extractors.get(&case.provider, &case.api_flavor).unwrap();
        let extracted = extractor.extract(&JsonValue::read(case.answer.get()).unwrap()).unwrap();
        assert_eq!(units(&extracted), case.units, "{}", case.name);
        assert_eq!(extracted.cost.map(|cost| cost.to_string()), case.cost, "{}", case.name);
        assert_eq!(extracted.model, case.model, "{}", case.name);
        assert_eq!(extracted.context, case.context, "{}", case.name);
        assert_eq!(extracted.unread, case.unread, "{}", case.name);
    }
}

#[test]
fn answers_are_read_by_our_extractors() {
    let extractors = own_extractors();
    assert_eq!(extractors.left_out, []);
    check_answers(&extractors, false);
}

/// A caller may pass the counts without the answer.
#[test]
fn counts_alone_are_read_alike() {
    let extractors = own_extractors();
    let extractor = extractors.get("anthropic", "default").unwrap();
    let counts = r#"{"input_tokens": 6, "output_tokens": 9, "cache_read_input_tokens": 3, "service_tier": "batch"}"#;
    let answer = format!(r#"{{"type": "message", "usage": {counts}}}"#);
    let [alone, whole] = [counts, &answer].map(|json| extractor.extract(&JsonValue::read(json).unwrap()).unwrap());
    assert_eq!(alone, whole);
    assert_eq!(alone.context["processing"], "batch");
}

#[test]
fn the_answers_of_another_provider_are_an_error() {
    let extractors = own_extractors();
    for (provider, api_flavor, json) in [
        ("openai", "chat", r#"{"usage": {"input_tokens": 3, "output_tokens": 4}}"#),
        ("openai", "responses", r#"{"usage": {"prompt_tokens": 3, "completion_tokens": 4}}"#),
        ("anthropic", "default", r#"{"usageMetadata": {"promptTokenCount": 3}}"#),
        ("anthropic", "default", r#"{"error": {"type": "overloaded_error"}}"#),
        ("openrouter", "chat", r#"{"usage": {"cost": 0.5}}"#),
    ] {
        let extracted = extractors.get(provider, api_flavor).unwrap().extract(&JsonValue::read(json).unwrap());
        assert_eq!(extracted.unwrap_err().to_string(), "there are no counts at `usage`", "{json}");
    }
}

/// The library adds the counts of events: here it has 22 input tokens and 92 output tokens.
#[test]
fn the_events_of_a_message_are_merged() {
    let extractors = own_extractors();
    let mut stream = extractors.get("anthropic", "default").unwrap().stream();
    for event in [
        r#"{"type": "message_start", "message": {"model": "claude-opus-5", "usage": {"input_tokens": 11,
            "output_tokens": 1, "cache_read_input_tokens": 0, "service_tier": "standard"}}}"#,
        r#"{"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "usage"}}"#,
        r#"{"type": "message_delta", "usage": {"output_tokens": 40}}"#,
        r#"{"type": "message_delta", "usage": {"input_tokens": 11, "output_tokens": 51}}"#,
        r#"{"type": "message_stop", "usage": {"input_tokens": 0, "output_tokens": 0}}"#,
    ] {
        stream.event(&JsonValue::read(event).unwrap()).unwrap();
    }
    let extracted = stream.finish().unwrap();
    let expected = [("input_tokens", "11"), ("output_tokens", "51")];
    assert_eq!(units(&extracted), expected.map(|(unit, number)| (unit.to_owned(), number.to_owned())).into());
    assert_eq!(extracted.model.as_deref(), Some("claude-opus-5"));
    assert_eq!(extracted.context["processing"], "standard");
    assert_eq!(extracted.unread, BTreeSet::new());
}
