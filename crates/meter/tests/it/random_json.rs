//! Any JSON is read or refused, and what is read is what was counted.

use keymeter_meter::json_value::JsonValue;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Map, Number, Value};

use crate::answers::own_extractors;

/// Names that our extractors know, so that random JSON comes far.
const NAMES: [&str; 24] = [
    "cache_creation",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "completion_tokens",
    "completion_tokens_details",
    "cost",
    "cost_details",
    "ephemeral_1h_input_tokens",
    "input_tokens",
    "is_byok",
    "message",
    "model",
    "output",
    "output_tokens",
    "prompt_tokens",
    "prompt_tokens_details",
    "cached_tokens",
    "response",
    "service_tier",
    "total_cost",
    "total_tokens",
    "type",
    "upstream_inference_cost",
    "usage",
];

fn any_json() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        any::<u64>().prop_map(Number::from),
        any::<i64>().prop_map(Number::from),
        (0_u32..1_000).prop_map(Number::from),
        any::<f64>().prop_filter_map("it is finite", Number::from_f64),
    ];
    let text = prop_oneof![any::<String>(), Just("web_search_call".to_owned())];
    let leaf = prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::Bool),
        5 => number.prop_map(Value::Number),
        1 => text.prop_map(Value::String),
    ];
    let name = prop_oneof![9 => proptest::sample::select(&NAMES[..]).prop_map(str::to_owned), 1 => any::<String>()];
    leaf.prop_recursive(6, 60, 12, move |inner| {
        let members = btree_map(name.clone(), inner.clone(), 0..12);
        prop_oneof![
            1 => vec(inner, 0..6).prop_map(Value::Array),
            4 => members.prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// APIs whose extractors differ.
const APIS: [(&str, &str); 5] = [
    ("openai", "chat"),
    ("openai", "responses"),
    ("anthropic", "default"),
    ("openrouter", "chat"),
    ("perplexity", "default"),
];

proptest! {
    #[test]
    fn any_json_is_read_or_refused(json in any_json(), usage in any_json()) {
        let extractors = own_extractors();
        let whole = serde_json::json!({"usage": usage, "output": json.clone()});
        for answer in [json, whole] {
            let answer = JsonValue::read(&answer.to_string()).unwrap();
            for (provider, api_flavor) in APIS {
                let extractor = extractors.get(provider, api_flavor).unwrap();
                let extracted = extractor.extract(&answer);
                let mut stream = extractor.stream();
                // An event that is repeated changes nothing.
                if stream.event(&answer).is_ok()
                    && stream.event(&answer).is_ok()
                    && let (Ok(extracted), Ok(streamed)) = (extracted, stream.finish())
                {
                    prop_assert_eq!(extracted, streamed);
                }
            }
        }
    }

    #[test]
    fn any_text_is_json_or_refused(text in any::<String>(), brackets in "[\\[{\":a,0-9\\]}]{0,200}") {
        for text in [text, brackets] {
            let is_json = serde_json::from_str::<Value>(&text).is_ok();
            prop_assert_eq!(JsonValue::read(&text).is_ok(), is_json);
        }
    }
}
