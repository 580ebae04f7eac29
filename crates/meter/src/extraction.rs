//! Reads answers, whole or as the events of a stream.

use std::collections::{BTreeMap, BTreeSet};

use crate::answer::Answer;
use crate::extractor::{CostRule, Extractor, MappingSource, SumRule};
use crate::json_value::JsonValue;
use crate::number::ExactNumber;
use crate::unread;
use crate::value_path::{ValuePath, WrongType};

/// What an answer counted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Extracted {
    pub model: Option<String>,
    /// By name of the unit, with 9 decimals at most. A unit that is absent was not counted.
    pub units: BTreeMap<String, ExactNumber>,
    /// The cost in dollars that the answer tells, above 0.
    pub cost: Option<ExactNumber>,
    /// What selects prices, such as the service tier. Values can be unknown ones.
    pub context: BTreeMap<String, String>,
    /// Names of numbers other than 0 that no path reads, at most 100 of 64 printable characters. They may be billed.
    pub unread: BTreeSet<String>,
}

/// Why an answer is not read. Its counts are unknown then, never 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExtractError {
    #[error("nothing says how answers of `{api_flavor}` of {provider:?} are read")]
    Unknown { provider: String, api_flavor: String },
    #[error("there are no counts at `{0}`")]
    NoCounts(String),
    #[error("`{0}` is missing")]
    Missing(String),
    #[error("`{0}` is not a number from 0 to below 10^15")]
    NotANumber(String),
    #[error(transparent)]
    WrongType(#[from] WrongType),
    #[error("the sum of `{0}` is too large")]
    TooLarge(String),
}

impl Extractor {
    /// Reads an answer, an event that contains it, or only the part of it on the way to the root: `answer.usage`.
    ///
    /// # Errors
    /// See [`ExtractError`].
    pub fn extract(&self, answer: &JsonValue) -> Result<Extracted, ExtractError> {
        let mut extraction = self.stream();
        let found = match Answer::in_event(answer, &self.root)? {
            None => Answer::in_part(answer, &self.root)?,
            found => found,
        };
        if let Some(found) = found {
            extraction.read(&found)?;
        }
        extraction.finish()
    }

    /// Starts to read the events of a stream.
    pub fn stream(&self) -> Extraction<'_> {
        Extraction {
            extractor: self,
            numbers: BTreeMap::new(),
            item_counts: vec![0; self.mappings.len()],
            flags: BTreeSet::new(),
            extracted: Extracted::default(),
        }
    }
}

/// The events of a stream, merged: of each path the largest number counts, of each text the last one.
///
/// Providers repeat counts, count up, and end with zeros. The library adds the counts of events, so it would count what
/// is repeated twice.
#[derive(Debug)]
pub struct Extraction<'a> {
    extractor: &'a Extractor,
    numbers: BTreeMap<&'a ValuePath, ExactNumber>,
    /// The items that each mapping counts.
    item_counts: Vec<u32>,
    /// Paths at which is `true`.
    flags: BTreeSet<&'a ValuePath>,
    /// Without units and cost.
    extracted: Extracted,
}

impl Extraction<'_> {
    /// Reads an event. The answer may be the event, or its member `response` or `message`. One without counts is not
    /// read. Returns true if it has some.
    ///
    /// # Errors
    /// See [`ExtractError`].
    pub fn event(&mut self, event: &JsonValue) -> Result<bool, ExtractError> {
        let answer = Answer::in_event(event, &self.extractor.root)?;
        answer.map_or(Ok(false), |answer| self.read(&answer).map(|()| true))
    }

    /// The result of all events.
    ///
    /// # Errors
    /// See [`ExtractError`].
    pub fn finish(self) -> Result<Extracted, ExtractError> {
        let units = self.units()?;
        let cost = self.cost()?;
        Ok(Extracted { units, cost, ..self.extracted })
    }

    fn read(&mut self, answer: &Answer<'_>) -> Result<(), ExtractError> {
        let mut read = Vec::new();
        for path in self.extractor.number_paths() {
            if let Some(value) = answer.root_value(path)? {
                read.push(value);
                self.keep_largest(path, value)?;
            }
        }
        for CostRule { path, r#if, .. } in &self.extractor.costs {
            if let Some(value) = answer.root_value(path)? {
                read.push(value);
                // A cost below 0 is none.
                if !matches!(value, JsonValue::Number(text) if text.starts_with('-')) {
                    self.keep_largest(path, value)?;
                }
            }
            if let Some(flag) = r#if
                && answer.root_value(flag)? == Some(&JsonValue::Bool(true))
            {
                self.flags.insert(flag);
            }
        }
        self.read_items(answer)?;
        self.read_texts(answer)?;
        unread::add_unread(&mut self.extracted.unread, answer.usage, &read);
        Ok(())
    }

    fn read_items(&mut self, answer: &Answer<'_>) -> Result<(), ExtractError> {
        for (mapping, count) in self.extractor.mappings.iter().zip(&mut self.item_counts) {
            if let MappingSource::Count(rule) = &mapping.source
                && let Some(JsonValue::List(items)) = answer.answer_value(&rule.path)?
            {
                let matching = items.iter().filter(|item| rule.item.matches(item)).count();
                *count = u32::try_from(matching).unwrap_or(u32::MAX).max(*count);
            }
        }
        Ok(())
    }

    fn read_texts(&mut self, answer: &Answer<'_>) -> Result<(), ExtractError> {
        for (name, path) in &self.extractor.context {
            if let Some(JsonValue::Text(text)) = answer.answer_value(path)? {
                self.extracted.context.insert(name.clone(), text.clone());
            }
        }
        // As in the library, a model that is no text is none.
        if let Ok(Some(JsonValue::Text(model))) = answer.answer_value(&self.extractor.model_path)
            && !model.is_empty()
        {
            self.extracted.model = Some(model.clone());
        }
        Ok(())
    }
}

impl<'a> Extraction<'a> {
    fn keep_largest(&mut self, path: &'a ValuePath, value: &JsonValue) -> Result<(), ExtractError> {
        let number = if let JsonValue::Number(text) = value { ExactNumber::read(text) } else { None };
        let number = number.ok_or_else(|| ExtractError::NotANumber(self.full_path(path)))?;
        let largest = self.numbers.entry(path).or_default();
        *largest = number.max(*largest);
        Ok(())
    }

    fn units(&self) -> Result<BTreeMap<String, ExactNumber>, ExtractError> {
        let mut units: BTreeMap<String, ExactNumber> = BTreeMap::new();
        let mut has_counts = false;
        let mut missing = None;
        for (mapping, items) in self.extractor.mappings.iter().zip(&self.item_counts) {
            if !mapping.when.as_ref().map_or(Ok(true), |when| self.holds(when))? {
                continue;
            }
            let number = match &mapping.source {
                MappingSource::Number { path, is_required } => {
                    let number = self.numbers.get(path).copied();
                    if number.is_none() && *is_required {
                        missing = missing.or(Some(path));
                    }
                    has_counts |= number.is_some();
                    number
                }
                MappingSource::Rest(rest) => {
                    let number = self.numbers.get(&rest.path).copied().unwrap_or_default();
                    Some(number.without(self.sum(&rest.less)?)).filter(|rest| *rest > ExactNumber::ZERO)
                }
                MappingSource::Count(_) => Some(ExactNumber::whole((*items).into())).filter(|_| *items > 0),
            };
            if let Some(number) = number {
                let sum = units.entry(mapping.unit.clone()).or_default();
                *sum = sum.checked_add(number).ok_or_else(|| ExtractError::TooLarge(mapping.unit.clone()))?;
            }
        }
        match missing {
            _ if !has_counts => Err(ExtractError::NoCounts(self.extractor.root.to_string())),
            Some(path) => Err(ExtractError::Missing(self.full_path(path))),
            None => Ok(units.into_iter().map(|(unit, number)| (unit, number.in_billionths())).collect()),
        }
    }

    fn cost(&self) -> Result<Option<ExactNumber>, ExtractError> {
        let mut cost = ExactNumber::ZERO;
        for CostRule { path, per_dollar, r#if } in &self.extractor.costs {
            if r#if.as_ref().is_some_and(|flag| !self.flags.contains(flag)) {
                continue;
            }
            match self.numbers.get(path) {
                Some(told) => {
                    let told = told.divided_by(*per_dollar);
                    cost = cost.checked_add(told).ok_or_else(|| ExtractError::TooLarge(self.full_path(path)))?;
                }
                None if r#if.is_some() => return Err(ExtractError::Missing(self.full_path(path))),
                None => {}
            }
        }
        Ok(Some(cost).filter(|cost| *cost > ExactNumber::ZERO))
    }

    fn holds(&self, when: &SumRule) -> Result<bool, ExtractError> {
        Ok(self.numbers.get(&when.equals) == Some(&self.sum(&when.sum)?))
    }

    fn sum(&self, paths: &[ValuePath]) -> Result<ExactNumber, ExtractError> {
        let numbers = paths.iter().map(|path| (path, self.numbers.get(path).copied().unwrap_or_default()));
        numbers.into_iter().try_fold(ExactNumber::ZERO, |sum, (path, number)| {
            sum.checked_add(number).ok_or_else(|| ExtractError::TooLarge(self.full_path(path)))
        })
    }

    fn full_path(&self, path: &ValuePath) -> String {
        format!("{}.{path}", self.extractor.root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extractor(members: &str) -> Extractor {
        serde_json::from_str(&format!(r#"{{"root": "usage", {members}}}"#)).unwrap()
    }

    /// An extractor with a required path, two optional ones into one unit, and a nested one.
    fn example() -> Extractor {
        extractor(
            r#""mappings": [
                {"path": "input", "dest": "input_tokens"},
                {"path": "cached", "dest": "input_tokens", "required": false},
                {"path": "cached", "dest": "cache_read_tokens", "required": false},
                {"path": ["details", "audio"], "dest": "input_audio_tokens", "required": false}
            ]"#,
        )
    }

    fn extract(extractor: &Extractor, json: &str) -> Result<Extracted, ExtractError> {
        extractor.extract(&JsonValue::read(json).unwrap())
    }

    /// The units as text, or the error.
    fn units(extracted: Result<Extracted, ExtractError>) -> String {
        match extracted {
            Ok(extracted) => {
                let units = extracted.units.iter().map(|(unit, number)| format!("{unit}={number}"));
                units.collect::<Vec<_>>().join(" ")
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn paths_are_units_or_an_error_says_which_is_wrong() {
        let number = "is not a number from 0 to below 10^15";
        for (json, expected) in [
            (r#"{"usage": {"input": 3, "cached": 4}}"#, "cache_read_tokens=4 input_tokens=7".to_owned()),
            (r#"{"usage": {"input": 0.1, "cached": 0.2}}"#, "cache_read_tokens=0.2 input_tokens=0.3".to_owned()),
            (r#"{"usage": {"input": 0, "cached": null, "details": null}}"#, "input_tokens=0".to_owned()),
            (r#"{"usage": {"input": 1e-10}}"#, "input_tokens=0.000000001".to_owned()),
            (r#"{"usage": {"cached": 4}}"#, "`usage.input` is missing".to_owned()),
            (r#"{"usage": {"input": null, "cached": 4}}"#, "`usage.input` is missing".to_owned()),
            (r#"{"usage": {"input": "3"}}"#, format!("`usage.input` {number}")),
            (r#"{"usage": {"input": true}}"#, format!("`usage.input` {number}")),
            (r#"{"usage": {"input": 3, "cached": -1}}"#, format!("`usage.cached` {number}")),
            (r#"{"usage": {"input": 3, "cached": [4]}}"#, format!("`usage.cached` {number}")),
            (r#"{"usage": {"input": 1e15}}"#, format!("`usage.input` {number}")),
            (r#"{"usage": {"input": 3, "details": 5}}"#, "`usage.details` is not an object".to_owned()),
            (r#"{"usage": "3 tokens"}"#, "`usage` is not an object".to_owned()),
            (r#"{"usage": [{"input": 3}]}"#, "`usage` is not an object".to_owned()),
            (r#"{"usage": null}"#, "there are no counts at `usage`".to_owned()),
            (r#"{"usage": {"prompt_tokens": 3}}"#, "there are no counts at `usage`".to_owned()),
            (
                r#"{"usage": {"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {"input": 3}}}}}}}}}}"#,
                "there are no counts at `usage`".to_owned(),
            ),
            ("[]", "`answer` is not an object".to_owned()),
        ] {
            assert_eq!(units(extract(&example(), json)), expected, "{json}");
        }
    }

    #[test]
    fn an_answer_an_event_or_a_part_of_it_is_read() {
        let nested: Extractor = serde_json::from_str(
            r#"{"root": ["usage", "billed"], "context": {"tier": ["usage", "tier"]},
                "mappings": [{"path": "input", "dest": "input_tokens"}]}"#,
        )
        .unwrap();
        for (json, model, tier) in [
            (r#"{"model": "m", "usage": {"billed": {"input": 3}, "tier": "t"}}"#, Some("m"), Some("t")),
            (r#"{"response": {"model": "m", "usage": {"billed": {"input": 3}, "tier": "t"}}}"#, Some("m"), Some("t")),
            (r#"{"message": {"model": "m", "usage": {"billed": {"input": 3}}}}"#, Some("m"), None),
            (r#"{"model": "m", "x_groq": {"usage": {"billed": {"input": 3}}}}"#, None, None),
            (r#"{"model": "m", "choices": [{"usage": {"billed": {"input": 3}}}, 5]}"#, None, None),
            (r#"{"billed": {"input": 3}, "tier": "t", "model": "of something else"}"#, None, Some("t")),
            (r#"{"input": 3, "tier": "of something else"}"#, None, None),
        ] {
            let extracted = extract(&nested, json).unwrap();
            assert_eq!(extracted.units["input_tokens"].to_string(), "3", "{json}");
            assert_eq!(extracted.model.as_deref(), model, "{json}");
            assert_eq!(extracted.context.get("tier").map(String::as_str), tier, "{json}");
        }
    }

    #[test]
    fn of_a_stream_the_largest_numbers_count() {
        let example = example();
        let mut stream = example.stream();
        for event in [
            r#"{"type": "start", "message": {"model": "m", "usage": {"input": 9, "cached": 2}}}"#,
            r#"{"type": "delta", "index": 5, "usage": null}"#,
            r#"{"type": "delta", "usage": {"details": {"audio": 1}}}"#,
            r#"{"type": "delta", "usage": {"cached": 7, "details": {"audio": 4}}}"#,
            r#"{"type": "stop", "model": "", "usage": {"input": 0, "cached": 0, "new": 1}}"#,
            r#""[DONE]""#,
        ] {
            match stream.event(&JsonValue::read(event).unwrap()) {
                Ok(_) => {}
                Err(error) => assert_eq!(error.to_string(), "`answer` is not an object", "{event}"),
            }
        }
        let extracted = stream.finish().unwrap();
        assert_eq!(extracted.model.as_deref(), Some("m"));
        assert_eq!(extracted.unread.iter().collect::<Vec<_>>(), ["new"]);
        assert_eq!(units(Ok(extracted)), "cache_read_tokens=7 input_audio_tokens=4 input_tokens=16");
        assert_eq!(units(example.stream().finish()), "there are no counts at `usage`");
    }

    #[test]
    fn sums_rests_and_counts_say_what_paths_cannot() {
        let own = extractor(
            r#""mappings": [
                {"path": "input", "dest": "input_tokens"},
                {"path": "cached", "dest": "input_tokens", "required": false,
                 "when": {"sum": ["input", "cached"], "equals": "total"}},
                {"rest": {"path": "total", "less": ["input", "cached"]}, "dest": "output_tokens"},
                {"count": {"path": "output", "item":
                    {"type": "array-match", "field": "type", "match": {"equals": "search"}}}, "dest": "web_searches"}
            ]"#,
        );
        for (json, expected) in [
            (r#"{"usage": {"input": 3, "cached": 2, "total": 5}}"#, "input_tokens=5"),
            (r#"{"usage": {"input": 3, "cached": 2, "total": 9}}"#, "input_tokens=3 output_tokens=4"),
            (r#"{"usage": {"input": 3, "cached": 2, "total": 1}}"#, "input_tokens=3"),
            (r#"{"usage": {"input": 3, "cached": 2}}"#, "input_tokens=3"),
            (
                r#"{"usage": {"input": 3}, "output": [{"type": "search"}, {"type": "text"}, 1, {"type": "search"}]}"#,
                "input_tokens=3 web_searches=2",
            ),
            (r#"{"usage": {"total": 5}, "output": [{"type": "search"}]}"#, "there are no counts at `usage`"),
        ] {
            assert_eq!(units(extract(&own, json)), expected, "{json}");
        }
    }

    #[test]
    fn told_costs_add_up() {
        let own = extractor(
            r#""mappings": [{"path": "input", "dest": "input_tokens"}], "costs": [
                {"path": "cost", "per_dollar": 100},
                {"path": ["details", "upstream"], "per_dollar": 1, "if": "own_key"}
            ]"#,
        );
        let upstream = r#""details": {"upstream": 2}"#;
        for (members, expected) in [
            (r#""cost": 5e-1"#.to_owned(), Ok(Some("0.005"))),
            (r#""cost": 0"#.to_owned(), Ok(None)),
            (r#""cost": -1"#.to_owned(), Ok(None)),
            (format!(r#""cost": 5, "own_key": false, {upstream}"#), Ok(Some("0.05"))),
            (format!(r#""cost": 5, "own_key": true, {upstream}"#), Ok(Some("2.05"))),
            (format!(r#""cost": 0, "own_key": true, {upstream}"#), Ok(Some("2"))),
            (r#""cost": 5, "own_key": true"#.to_owned(), Err("`usage.details.upstream` is missing")),
            (r#""cost": "5""#.to_owned(), Err("`usage.cost` is not a number from 0 to below 10^15")),
        ] {
            let cost = extract(&own, &format!(r#"{{"usage": {{"input": 1, {members}}}}}"#))
                .map(|extracted| extracted.cost.map(|cost| cost.to_string()))
                .map_err(|error| error.to_string());
            assert_eq!(cost.as_ref().map(Option::as_deref).map_err(String::as_str), expected, "{members}");
        }
    }
}
