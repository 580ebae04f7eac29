//! Reads a JSON text that comes in pieces, and keeps of it what is picked.

use std::collections::BTreeMap;

use crate::json_scanner::{Bracket, JsonScanner, JsonToken};
use crate::json_value::JsonValue;
use crate::picks::{Pick, Picked};

/// Values that are kept of one answer or event: that of a provider has some hundred.
const MAX_KEPT: usize = 10_000;

/// Bytes of a name or a text that is kept. Names of members, models and tiers are shorter.
const MAX_TEXT: usize = 256;

/// Letters and digits without a space or a mark, beyond which they are no words: a picture that is written as text.
const MAX_WORD: u32 = 256;

/// The members whose text a model wrote. In others are ids, and pictures and sound, which are no text.
const OUTPUT_NAMES: [&str; 11] = [
    "arguments",
    "content",
    "delta",
    "input",
    "partial_json",
    "reasoning",
    "reasoning_content",
    "refusal",
    "text",
    "thinking",
    "transcript",
];

/// A JSON text as far as it was read.
#[derive(Debug)]
pub struct PickedReader<'p> {
    pick: &'p Pick,
    scanner: JsonScanner,
    value: PickedValue<'p>,
    is_broken: bool,
}

/// What was kept of a JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// `None` if it was not JSON, or too much of it would be kept.
    pub value: Option<JsonValue>,
    /// Bytes of output of the model that were in it.
    pub output_bytes: u64,
}

impl<'p> PickedReader<'p> {
    pub fn new(pick: &'p Pick) -> Self {
        Self { pick, scanner: JsonScanner::default(), value: PickedValue::new(pick), is_broken: false }
    }

    /// Reads the next bytes.
    pub fn read(&mut self, bytes: &[u8]) {
        if !self.is_broken {
            self.is_broken = self.scanner.scan(bytes, |token| self.value.take(token)).is_err();
        }
    }

    /// What was kept of the text. The next one begins.
    pub fn end(&mut self) -> Kept {
        let is_whole = !self.is_broken && self.scanner.end(|token| self.value.take(token));
        let next = Self::new(self.pick);
        let PickedValue { root, kept, output_bytes, .. } = std::mem::replace(self, next).value;
        Kept { value: root.filter(|_| is_whole && kept <= MAX_KEPT), output_bytes }
    }
}

#[derive(Debug)]
struct PickedValue<'p> {
    whole: Picked<'p>,
    open: Vec<Frame<'p>>,
    /// Levels inside of a value of which nothing is kept or counted.
    skipped: usize,
    text: Vec<u8>,
    text_is_cut: bool,
    escape: Escape,
    /// Letters and digits since the last space or mark.
    word: u32,
    root: Option<JsonValue>,
    kept: usize,
    output_bytes: u64,
}

/// An object or a list that is open.
#[derive(Debug)]
struct Frame<'p> {
    picked: Picked<'p>,
    value: JsonValue,
    /// The name of the member whose value comes.
    name: Option<String>,
}

/// Where in an escape of a string it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Escape {
    None,
    Begun,
    /// So many digits of `\u0041` follow.
    Digits(u8),
}

impl<'p> PickedValue<'p> {
    const fn new(pick: &'p Pick) -> Self {
        Self {
            whole: Picked::whole(pick),
            open: Vec::new(),
            skipped: 0,
            text: Vec::new(),
            text_is_cut: false,
            escape: Escape::None,
            word: 0,
            root: None,
            kept: 0,
            output_bytes: 0,
        }
    }

    fn take(&mut self, token: JsonToken<'_>) {
        match token {
            JsonToken::Open(_) if self.skipped > 0 => self.skipped += 1,
            JsonToken::Open(bracket) => {
                let picked = self.next();
                if picked.is_kept() || picked.is_output() {
                    let value = match bracket {
                        Bracket::Object => JsonValue::Object(BTreeMap::new()),
                        Bracket::List => JsonValue::List(Vec::new()),
                    };
                    self.open.push(Frame { picked, value, name: None });
                } else {
                    self.put(picked, JsonValue::Null);
                    self.skipped = 1;
                }
            }
            JsonToken::Close(_) if self.skipped > 0 => self.skipped -= 1,
            JsonToken::Close(_) => {
                if let Some(Frame { picked, value, .. }) = self.open.pop() {
                    self.put(picked, value);
                }
            }
            JsonToken::Piece { .. } | JsonToken::StringEnd { .. } | JsonToken::Scalar(_) if self.skipped > 0 => {}
            JsonToken::Piece { is_name, text } => {
                self.keep_piece(text);
                if !is_name && self.is_output() {
                    self.output_bytes += self.count(text);
                }
            }
            JsonToken::StringEnd { is_name: true } => {
                let name = self.take_text();
                if let Some(frame) = self.open.last_mut() {
                    frame.name = name;
                }
            }
            JsonToken::StringEnd { is_name: false } => {
                let text = self.take_text().unwrap_or_default();
                self.put(self.next(), JsonValue::Text(text));
            }
            JsonToken::Scalar(text) => {
                let value = match text {
                    "null" => JsonValue::Null,
                    "true" | "false" => JsonValue::Bool(text == "true"),
                    number => JsonValue::Number(number.to_owned()),
                };
                self.put(self.next(), value);
            }
        }
    }

    /// What is kept of the value that comes next.
    fn next(&self) -> Picked<'p> {
        match self.open.last() {
            None => self.whole,
            Some(Frame { picked, value: JsonValue::Object(_), name }) => picked.member(name.as_deref()),
            Some(Frame { picked, .. }) => picked.item(),
        }
    }

    /// Puts a value that is complete where it stands. Of a list, values that are not kept are null, so that the others
    /// stay where they are.
    fn put(&mut self, picked: Picked<'_>, value: JsonValue) {
        let value = if picked.is_kept() { value } else { JsonValue::Null };
        let Some(Frame { value: parent, name, picked: in_parent }) = self.open.last_mut() else {
            self.root = Some(value);
            return;
        };
        if self.kept > MAX_KEPT || !in_parent.is_kept() {
            return;
        }
        match (parent, name) {
            (JsonValue::Object(members), Some(name)) if picked.is_kept() => {
                members.insert(name.clone(), value);
                self.kept += 1;
            }
            (JsonValue::List(items), _) if in_parent.item().is_kept() => {
                items.push(value);
                self.kept += 1;
            }
            _ => {}
        }
    }

    fn keep_piece(&mut self, piece: &[u8]) {
        let room = MAX_TEXT.saturating_sub(self.text.len());
        self.text.extend(piece.iter().take(room));
        self.text_is_cut |= piece.len() > room;
    }

    /// Returns true if a model wrote the text that comes: its member, or that of the list that it is in, says so.
    fn is_output(&self) -> bool {
        let mut objects = self.open.iter().rev().filter(|frame| matches!(frame.value, JsonValue::Object(_)));
        let name = objects.next().and_then(|frame| frame.name.as_deref());
        self.next().is_output() && name.is_some_and(|name| OUTPUT_NAMES.contains(&name))
    }

    /// The bytes of the text that these stand for: of escapes, as many as they are for at most.
    fn count(&mut self, piece: &[u8]) -> u64 {
        let mut bytes = 0;
        for byte in piece {
            self.escape = match (self.escape, byte) {
                (Escape::None, b'\\') => Escape::Begun,
                (Escape::Begun, b'u') => {
                    bytes += 3;
                    Escape::Digits(4)
                }
                (Escape::Digits(left), _) if left > 1 => Escape::Digits(left - 1),
                (Escape::Digits(_), _) => Escape::None,
                (Escape::None | Escape::Begun, byte) => {
                    let is_word = byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
                    self.word = if is_word { self.word.saturating_add(1) } else { 0 };
                    bytes += u64::from(self.word <= MAX_WORD);
                    Escape::None
                }
            };
        }
        bytes
    }

    /// The text that has ended; `None` if it is too long.
    fn take_text(&mut self) -> Option<String> {
        let text = std::mem::take(&mut self.text);
        self.escape = Escape::None;
        if std::mem::take(&mut self.text_is_cut) {
            return None;
        }
        if !text.contains(&b'\\') {
            return String::from_utf8(text).ok();
        }
        serde_json::from_slice(&[b"\"", text.as_slice(), b"\""].concat()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extractor::Extractor;

    fn pick() -> Pick {
        let extractor: Extractor = serde_json::from_str(
            r#"{"root": "usage", "context": {"tier": "tier"}, "mappings": [
                {"path": "in", "dest": "input_tokens"},
                {"count": {"path": "output", "item": {"type": "array-match", "field": "type",
                    "match": {"equals": "search"}}}, "dest": "web_searches"}]}"#,
        )
        .unwrap();
        Pick::of(&extractor)
    }

    /// What is kept, as JSON, and the bytes of output, of a text in pieces of so many bytes.
    fn kept(json: &str, size: usize) -> (Option<String>, u64) {
        let pick = pick();
        let mut reader = PickedReader::new(&pick);
        json.as_bytes().chunks(size).for_each(|piece| reader.read(piece));
        let Kept { value, output_bytes } = reader.end();
        (value.map(|value| value.to_string()), output_bytes)
    }

    #[test]
    fn what_paths_name_is_kept_and_the_text_of_the_model_counted_wherever_it_is_cut() {
        let long = "x".repeat(MAX_TEXT + 1);
        let image = format!(r#"{{"choices": [{{"delta": {{"images": [{{"url": "{long}"}}], "content": "ab"}}}}]}}"#);
        let table = [
            (r#"{"usage": {"in": 3, "new": {"a": [1]}}, "text": "abc"}"#, r#"{"usage":{"in":3,"new":{"a":[1]}}}"#, 0),
            (r#"{"tier": "t\u0041", "model": "m", "id": 5}"#, r#"{"model":"m","tier":"tA"}"#, 0),
            (
                r#"{"output": [{"type": "message", "content": "abc"}, {"type": "search"}]}"#,
                r#"{"output":[{"type":"message"},{"type":"search"}]}"#,
                3,
            ),
            (r#"{"choices": [{"delta": {"content": "a\n\u4e2d", "id": "abc"}}]}"#, r#"{"choices":[{"delta":{}}]}"#, 5),
            (
                r#"{"choices": [{"delta": {"tool_calls": [{"function": {"arguments": "ab"}}]}}]}"#,
                r#"{"choices":[{"delta":{}}]}"#,
                2,
            ),
            (r#"{"choices": [{"text": "abc"}], "x": {"delta": "abc"}}"#, r#"{"choices":[{"text":"abc"}]}"#, 3),
            (r#"{"choices": null, "error": {"message": "a"}}"#, r#"{"choices":null,"error":{}}"#, 0),
            (r#"{"type": "d", "delta": {"thinking": "abc", "type": "def"}}"#, r#"{"delta":{},"type":"d"}"#, 3),
            (r#"{"type": "d", "delta": "abc"}"#, r#"{"delta":"abc","type":"d"}"#, 3),
            (&image, r#"{"choices":[{"delta":{}}]}"#, 2),
            (
                r#"{"response": {"usage": {"in": 1}, "output": []}}"#,
                r#"{"response":{"output":[],"usage":{"in":1}}}"#,
                0,
            ),
        ];
        for (json, expected, output) in table {
            for size in [1, 2, 7, 10_000] {
                assert_eq!(kept(json, size), (Some(expected.to_owned()), output), "{json}");
            }
        }
        for json in ["[DONE]", r#"{"usage": {"in": 3}"#, r#"{"usage": {"in": 3}} 5"#, ""] {
            assert_eq!(kept(json, 3).0, None, "{json}");
        }
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let many = |count: usize| format!(r#"{{"usage": {{"in": [{}]}}}}"#, vec!["1"; count].join(","));
        assert!(kept(&many(MAX_KEPT - 10), 999).0.is_some());
        assert_eq!(kept(&many(MAX_KEPT + 10), 999).0, None);
        let not_kept = format!(r#"{{"data": [{}], "usage": {{"in": 1}}}}"#, vec!["[0.5, 0.25]"; 50_000].join(","));
        assert_eq!(kept(&not_kept, 999).0.as_deref(), Some(r#"{"usage":{"in":1}}"#));
        let names = format!(r#"{{"{}": 1, "usage": {{"in": 1}}}}"#, "n".repeat(1_000_000));
        assert_eq!(kept(&names, 999).0.as_deref(), Some(r#"{"usage":{"in":1}}"#));
    }
}
