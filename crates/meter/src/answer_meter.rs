//! What an answer did cost, however it came and ended.

use std::collections::BTreeMap;

use crate::event_stream::{EventPart, EventStream};
use crate::extraction::{ExtractError, Extracted, Extraction};
use crate::extractor::Extractor;
use crate::json_value::JsonValue;
use crate::number::ExactNumber;
use crate::picked_value::{Kept, PickedReader};
use crate::picks::Pick;

/// Events that begin an answer. Their usage is that of the prompt, or none yet.
const BEGINNINGS: [&str; 4] = ["message_start", "response.created", "response.in_progress", "response.queued"];

/// The names of two units, which every extractor counts.
pub const INPUT_TOKENS: &str = "input_tokens";
pub const OUTPUT_TOKENS: &str = "output_tokens";

/// The beginning of an answer.
#[derive(Debug, Clone, Copy, Default)]
pub struct AnswerHead<'a> {
    pub status: u16,
    /// The header `Content-Encoding`, if there is one.
    pub content_encoding: Option<&'a str>,
    /// Dollars that a header of a gateway says it cost.
    pub told_usd: Option<&'a str>,
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// As the upstream ended it.
    Complete,
    /// The connection broke, or the upstream said that it would send more.
    Broken,
    /// The client left, and the upstream was left too.
    Left,
    /// The upstream was too slow, or the answer too long to be read to its end.
    GivenUp,
}

/// What is known of a request before it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expected {
    /// Tokens of input and output that are held.
    pub input: u64,
    pub output: u64,
    /// The model shows all that it thinks, so that output seen is all there is.
    pub shows_thinking: bool,
    /// Something that it asked for is in no counts, so it costs its hold.
    pub is_uncounted: bool,
}

/// What is charged for a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Charge {
    Nothing,
    /// What was held.
    Hold,
    /// By the price of these units.
    Units,
    /// So many dollars.
    Told(ExactNumber),
}

/// What becomes of a reservation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub charge: Charge,
    /// Why, as a sentence without its first capital and full stop.
    pub why: &'static str,
    /// What was counted, also where something else is charged.
    pub units: BTreeMap<String, ExactNumber>,
    /// What selects the price, such as the tier that was served.
    pub context: BTreeMap<String, String>,
    /// The model that answered.
    pub model: Option<String>,
}

impl Outcome {
    /// Of a request that the upstream did not do.
    pub fn nothing(why: &'static str) -> Self {
        Self::of(Charge::Nothing, why, Extracted::default())
    }

    /// Of a request of which nothing but the hold is known.
    pub fn hold(why: &'static str) -> Self {
        Self::of(Charge::Hold, why, Extracted::default())
    }

    fn of(charge: Charge, why: &'static str, extracted: Extracted) -> Self {
        let Extracted { model, units, context, .. } = extracted;
        Self { charge, why, units, context, model }
    }

    fn counted(extracted: Extracted, told: Option<ExactNumber>) -> Self {
        match extracted.cost.or(told) {
            Some(dollars) => Self::of(Charge::Told(dollars), "the answer tells its cost", extracted),
            None => Self::of(Charge::Units, "the answer has its usage", extracted),
        }
    }
}

/// Reads an answer as it passes. What it keeps is bounded.
#[derive(Debug)]
pub struct AnswerMeter<'a> {
    expected: Expected,
    status: u16,
    is_encoded: bool,
    told: Option<ExactNumber>,
    kind: Option<Kind>,
    events: EventStream,
    reader: PickedReader<'a>,
    seen: Seen<'a>,
}

/// Whether it is one JSON text or a stream of events. The first byte says it: no line of a stream begins as JSON does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Whole,
    Stream,
}

/// What an answer said until now.
#[derive(Debug)]
struct Seen<'a> {
    extraction: Extraction<'a>,
    /// Of counts that cannot be.
    error: Option<ExtractError>,
    /// There is usage, other than that of the beginning, and no text came after it.
    usage_is_newest: bool,
    /// The answer says that it has ended: usage after it is that of all.
    has_ended: bool,
    has_failed: bool,
    output_bytes: u64,
    /// Events with text: none has less than a token.
    output_events: u64,
}

impl<'a> AnswerMeter<'a> {
    /// Reads what `pick`, which is that of the extractor, keeps.
    pub fn new(extractor: &'a Extractor, pick: &'a Pick, expected: Expected, head: AnswerHead<'_>) -> Self {
        let is_identity =
            |encoding: &str| encoding.trim().is_empty() || encoding.trim().eq_ignore_ascii_case("identity");
        let told = head.told_usd.and_then(|text| ExactNumber::read(text.trim()));
        Self {
            expected,
            status: head.status,
            is_encoded: head.content_encoding.is_some_and(|encoding| !is_identity(encoding)),
            told: told.filter(|dollars| *dollars > ExactNumber::ZERO),
            kind: None,
            events: EventStream::default(),
            reader: PickedReader::new(pick),
            seen: Seen {
                extraction: extractor.stream(),
                error: None,
                usage_is_newest: false,
                has_ended: false,
                has_failed: false,
                output_bytes: 0,
                output_events: 0,
            },
        }
    }

    /// Reads the next bytes of the body.
    pub fn read(&mut self, bytes: &[u8]) {
        if self.status >= 300 || self.is_encoded {
            return;
        }
        let is_space = |byte: &u8| byte.is_ascii_whitespace();
        let kind = self.kind.or_else(|| match bytes.iter().find(|byte| !is_space(byte))? {
            b'{' | b'[' => Some(Kind::Whole),
            _ => Some(Kind::Stream),
        });
        self.kind = kind;
        match kind {
            Some(Kind::Whole) => self.reader.read(bytes),
            Some(Kind::Stream) | None => {
                let (reader, seen) = (&mut self.reader, &mut self.seen);
                self.events.read(bytes, |part| seen.take(reader, part));
            }
        }
    }

    /// What is charged.
    pub fn end(mut self, end: End) -> Outcome {
        if self.status >= 300 {
            return Outcome::nothing("the upstream refused it");
        }
        if self.is_encoded {
            return Outcome::hold("the answer is compressed");
        }
        match self.kind {
            Some(Kind::Whole) => self.end_whole(end),
            Some(Kind::Stream) => {
                let (reader, seen) = (&mut self.reader, &mut self.seen);
                self.events.end(|part| seen.take(reader, part));
                self.end_stream(end)
            }
            None => Outcome::hold("the answer is empty"),
        }
    }

    fn end_whole(mut self, end: End) -> Outcome {
        let kept = self.reader.end();
        if end != End::Complete || kept.value.is_none() {
            return Outcome::hold("the answer was not read to its end");
        }
        self.seen.add_event(kept, b"");
        let (told, expected) = (self.told, self.expected);
        let (has_failed, has_output) = (self.seen.has_failed, self.seen.output_bytes > 0);
        match self.seen.finish() {
            Ok(extracted) if has_failed && !has_output && !counts_something(&extracted) => {
                Outcome::nothing("the upstream failed before any output")
            }
            Ok(extracted) if expected.is_uncounted => Outcome::of(Charge::Hold, UNCOUNTED, extracted),
            Ok(extracted) => Outcome::counted(extracted, told),
            Err(_) if has_failed && !has_output => Outcome::nothing("the upstream failed before any output"),
            Err(_) if expected.is_uncounted => Outcome::hold(UNCOUNTED),
            Err(_) if told.is_some() => Outcome::counted(Extracted::default(), told),
            Err(_) => Outcome::hold("the answer has no usage that can be read"),
        }
    }

    fn end_stream(self, end: End) -> Outcome {
        let expected = self.expected;
        let Seen { usage_is_newest, has_ended, has_failed, output_events, output_bytes, .. } = self.seen;
        let has_output = output_bytes > 0;
        let read = self.seen.finish();
        if has_failed && !has_output && !read.as_ref().is_ok_and(counts_something) {
            return Outcome::nothing("the upstream failed before any output");
        }
        if expected.is_uncounted {
            return Outcome::of(Charge::Hold, UNCOUNTED, read.unwrap_or_default());
        }
        let seen = output_events.max(output_bytes.div_ceil(3));
        match (read, end) {
            (Ok(extracted), end) if usage_is_newest && (has_ended || end == End::Complete) => {
                Outcome::counted(extracted, None)
            }
            (Ok(extracted), _) if has_failed && !has_output => Outcome::counted(extracted, None),
            (Err(_), End::Complete) if !has_failed => Outcome::hold("the stream has no usage that can be read"),
            (_, End::GivenUp) => Outcome::hold("the upstream was too slow"),
            // More than is held, if the upstream did not keep to its limit.
            (read, _) if expected.shows_thinking || seen > expected.output => {
                Outcome::of(Charge::Units, "the stream ended early", with_seen(read.ok(), expected.input, seen))
            }
            _ => Outcome::hold("the stream ended early, and its model may have thought unseen"),
        }
    }
}

const UNCOUNTED: &str = "it used something that no counts tell";

/// The usage that a stream had until it ended, with the prompt as it was held if that had none, and the output seen.
fn with_seen(extracted: Option<Extracted>, input: u64, output: u64) -> Extracted {
    let mut extracted = extracted.unwrap_or_default();
    extracted.units.entry(INPUT_TOKENS.to_owned()).or_insert_with(|| ExactNumber::whole(input));
    let counted = extracted.units.entry(OUTPUT_TOKENS.to_owned()).or_default();
    *counted = ExactNumber::whole(output).max(*counted);
    extracted
}

impl Seen<'_> {
    fn take(&mut self, reader: &mut PickedReader<'_>, part: EventPart<'_>) {
        match part {
            EventPart::Data(bytes) => reader.read(bytes),
            EventPart::End { name } => self.add_event(reader.end(), name),
        }
    }

    fn add_event(&mut self, Kept { value, output_bytes }: Kept, name: &[u8]) {
        self.has_failed |= name == b"error" || value.as_ref().is_some_and(tells_failure);
        self.output_bytes += output_bytes;
        self.output_events += u64::from(output_bytes > 0);
        let value = value.filter(|value| matches!(value, JsonValue::Object(_)));
        let has_usage = match value.as_ref().map(|value| self.extraction.event(value)) {
            Some(Ok(has_usage)) => has_usage,
            Some(Err(error)) => {
                self.error.get_or_insert(error);
                false
            }
            None => false,
        };
        self.has_ended |= value.as_ref().is_some_and(tells_end);
        if has_usage {
            let kind = value.as_ref().and_then(|value| member(value, "type"));
            self.usage_is_newest = !matches!(kind, Some(JsonValue::Text(kind)) if BEGINNINGS.contains(&kind.as_str()));
        } else if output_bytes > 0 {
            self.usage_is_newest = false;
        }
    }

    fn finish(self) -> Result<Extracted, ExtractError> {
        self.error.map_or_else(|| self.extraction.finish(), Err)
    }
}

/// Returns true if an event says that the answer has ended.
fn tells_end(value: &JsonValue) -> bool {
    const ENDS: [&str; 4] = ["message_stop", "response.completed", "response.incomplete", "response.failed"];
    let is_text = |value: Option<&JsonValue>| matches!(value, Some(JsonValue::Text(text)) if !text.is_empty());
    let has_reason = member(value, "delta").is_some_and(|delta| is_text(member(delta, "stop_reason")));
    let has_ended = match member(value, "choices") {
        Some(JsonValue::List(choices)) => {
            choices.is_empty() || choices.iter().any(|choice| is_text(member(choice, "finish_reason")))
        }
        Some(JsonValue::Null) => true,
        _ => false,
    };
    has_reason
        || has_ended
        || matches!(member(value, "type"), Some(JsonValue::Text(kind)) if ENDS.contains(&kind.as_str()))
}

/// Returns true if something was counted, and not nothing: gateways write 0 where they failed.
fn counts_something(extracted: &Extracted) -> bool {
    extracted.cost.is_some() || extracted.units.values().any(|count| *count > ExactNumber::ZERO)
}

/// Returns true if an answer or an event says that the request failed.
fn tells_failure(value: &JsonValue) -> bool {
    let is_error = |value: &JsonValue| match member(value, "error") {
        None | Some(JsonValue::Null | JsonValue::Bool(false)) => false,
        Some(JsonValue::Text(text)) => !text.is_empty(),
        Some(JsonValue::Bool(true) | JsonValue::Number(_) | JsonValue::List(_) | JsonValue::Object(_)) => true,
    };
    let is_null = |name: &str| member(value, name) == Some(&JsonValue::Null);
    let is_type = matches!(member(value, "type"), Some(JsonValue::Text(kind)) if kind == "error");
    is_type || is_null("choices") || is_error(value) || member(value, "response").is_some_and(is_error)
}

fn member<'j>(value: &'j JsonValue, name: &str) -> Option<&'j JsonValue> {
    if let JsonValue::Object(members) = value { members.get(name) } else { None }
}
