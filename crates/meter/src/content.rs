//! What a body contains besides text: pictures, sound, documents, tools; and what of it is counted apart.

use std::collections::BTreeMap;

use crate::refusal::MeterRefusal;
use crate::request_json::RequestJson;
use crate::settings::MeterSettings;

/// What a type of content is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// What counts as the bytes that it has.
    Text,
    Image,
    Document,
    /// Tokens that have a unit of their own.
    Apart(&'static str),
    /// It has `content` or `output` with parts.
    Nested,
    /// It stands for something whose size is not known.
    Reference,
}

/// The types of content. What is not in here is refused.
const PARTS: &[(&str, Part)] = &[
    ("apply_patch_call", Part::Text),
    ("apply_patch_call_output", Part::Text),
    ("audio_url", Part::Reference),
    ("custom_tool_call", Part::Text),
    ("custom_tool_call_output", Part::Nested),
    ("document", Part::Document),
    ("file", Part::Document),
    ("function_call", Part::Text),
    ("function_call_output", Part::Nested),
    ("image", Part::Image),
    ("image_url", Part::Image),
    ("input_audio", Part::Apart("input_audio_tokens")),
    ("input_file", Part::Document),
    ("input_image", Part::Image),
    ("input_text", Part::Text),
    ("item_reference", Part::Reference),
    ("local_shell_call", Part::Text),
    ("local_shell_call_output", Part::Text),
    ("message", Part::Nested),
    ("output_text", Part::Text),
    ("reasoning", Part::Text),
    ("reasoning_text", Part::Text),
    ("redacted_thinking", Part::Text),
    ("refusal", Part::Text),
    ("search_result", Part::Text),
    ("server_tool_use", Part::Text),
    ("summary_text", Part::Text),
    ("text", Part::Text),
    ("thinking", Part::Text),
    ("tool_result", Part::Nested),
    ("tool_use", Part::Text),
    ("video_url", Part::Apart("input_video_tokens")),
    ("web_search_call", Part::Text),
    ("web_search_tool_result", Part::Text),
];

/// The types of tools, each with the unit that providers bill it by. Those of Anthropic end with a date. What is not in
/// here is refused.
const TOOLS: &[(&str, Option<&str>)] = &[
    ("apply_patch", None),
    ("bash", None),
    ("code_execution", Some("code_executions")),
    ("code_interpreter", Some("code_executions")),
    ("computer", None),
    ("computer_use_preview", None),
    ("custom", None),
    ("file_search", Some("storage_searches")),
    ("function", None),
    ("local_shell", None),
    ("memory", None),
    ("text_editor", None),
    ("web_search", Some(WEB_SEARCHES)),
    ("web_search_preview", Some(WEB_SEARCHES)),
];

const WEB_SEARCHES: &str = "web_searches";

const NOT_COUNTED: &str = "the answers of this provider do not tell how much of it was used";
const UNKNOWN: &str = "nothing would count it";
const REFERENCE: &str = "it is named by address or id, so its size is not known";

/// What was found.
pub(crate) struct Content<'s> {
    settings: &'s MeterSettings,
    /// Whether answers tell how much was used of a unit.
    is_told: &'s dyn Fn(&str) -> bool,
    pub(crate) images: u64,
    /// Bytes of the text of pictures, which is no text.
    pub(crate) image_bytes: u64,
    /// The least of each unit that is held besides tokens in and out; those of a tool by its own limit.
    pub(crate) units: BTreeMap<&'static str, u64>,
    /// Something costs the hold, because no counts tell it.
    pub(crate) is_uncounted: bool,
}

impl<'s> Content<'s> {
    pub(crate) fn new(settings: &'s MeterSettings, is_told: &'s dyn Fn(&str) -> bool) -> Self {
        Self { settings, is_told, images: 0, image_bytes: 0, units: BTreeMap::new(), is_uncounted: false }
    }

    /// Messages, an input or a content: a text, a part, or a list of such.
    pub(crate) fn add(&mut self, value: &RequestJson<'_>) -> Result<(), MeterRefusal> {
        match value {
            RequestJson::List(items) => items.iter().try_for_each(|item| self.add(item)),
            RequestJson::Object(_) => self.add_part(value),
            RequestJson::Null | RequestJson::Bool(_) | RequestJson::Number(_) | RequestJson::Text(_) => Ok(()),
        }
    }

    fn add_part(&mut self, part: &RequestJson<'_>) -> Result<(), MeterRefusal> {
        let Some(kind) = part.get("type") else { return self.add_nested(part) };
        let kind = kind.text().ok_or_else(|| MeterRefusal::request("a `type` must be a text"))?;
        match PARTS.iter().find(|(name, _)| *name == kind).map(|(_, part)| *part) {
            Some(Part::Text) => Ok(()),
            Some(Part::Nested) => self.add_nested(part),
            Some(Part::Image) => {
                self.images += 1;
                self.image_bytes += image_bytes(part);
                Ok(())
            }
            Some(Part::Document) if refers(part) => self.add_reference(kind),
            // A document can be a list of parts.
            Some(Part::Document) => {
                part.get("source").and_then(|source| source.get("content")).map_or(Ok(()), |content| self.add(content))
            }
            Some(Part::Apart(unit)) => self.add_unit(kind, unit, text_bytes(part).div_ceil(3).max(1)),
            Some(Part::Reference) => self.add_reference(kind),
            None => self.add_unknown(kind),
        }
    }

    /// A message, or the answer of a tool.
    fn add_nested(&mut self, part: &RequestJson<'_>) -> Result<(), MeterRefusal> {
        if part.get("audio").is_some() {
            self.add_unit("audio", "input_audio_tokens", 1)?;
        }
        ["content", "output"].into_iter().filter_map(|name| part.get(name)).try_for_each(|content| self.add(content))
    }

    /// Tools that a model may use.
    pub(crate) fn add_tools(&mut self, tools: &RequestJson<'_>, max_calls: Option<u64>) -> Result<(), MeterRefusal> {
        for tool in tools.items() {
            let kind = match tool.get("type") {
                None => "custom",
                Some(kind) => {
                    kind.text().ok_or_else(|| MeterRefusal::request("the `type` of a tool must be a text"))?
                }
            };
            match TOOLS.iter().find(|(name, _)| *name == without_date(kind)) {
                Some((_, None)) => {}
                Some((_, Some(unit))) => {
                    let max_uses = match tool.get("max_uses") {
                        Some(RequestJson::Number(Some(number))) => u64::try_from(*number).ok(),
                        _ => max_calls,
                    };
                    self.add_unit(kind, unit, max_uses.unwrap_or(self.settings.max_searches).max(1))?;
                }
                None => self.add_unknown(kind)?,
            }
        }
        Ok(())
    }

    /// So many of a unit that is told apart; `name` is what asks for it.
    pub(crate) fn add_unit(&mut self, name: &str, unit: &'static str, count: u64) -> Result<(), MeterRefusal> {
        if (self.is_told)(unit) {
            let sum = self.units.entry(unit).or_default();
            *sum = sum.saturating_add(count);
            return Ok(());
        }
        self.add_uncounted(name, NOT_COUNTED)
    }

    pub(crate) fn add_reference(&self, name: &str) -> Result<(), MeterRefusal> {
        if self.settings.references { Ok(()) } else { Err(MeterRefusal::not_metered(name, REFERENCE)) }
    }

    pub(crate) fn add_unknown(&mut self, name: &str) -> Result<(), MeterRefusal> {
        self.add_uncounted(name, UNKNOWN)
    }

    fn add_uncounted(&mut self, name: &str, why: &str) -> Result<(), MeterRefusal> {
        if !self.settings.uncounted.iter().any(|uncounted| uncounted == name) {
            return Err(MeterRefusal::not_metered(name, why));
        }
        self.is_uncounted = true;
        Ok(())
    }
}

/// A type without the date at its end, as in `web_search_20250305` and `web_search_2025_08_26`.
fn without_date(kind: &str) -> &str {
    let name = kind.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
    let date = kind.get(name.len()..).unwrap_or_default();
    if date.bytes().filter(u8::is_ascii_digit).count() == 8 && date.starts_with('_') { name } else { kind }
}

/// The bytes of a picture's text, if that is in the body. Only what says that it is a picture counts as one.
fn image_bytes(part: &RequestJson<'_>) -> u64 {
    let url = part.get("image_url").map(|url| url.get("url").unwrap_or(url));
    let source = part.get("source");
    let is_image = |source: &&RequestJson<'_>| {
        source.get("media_type").and_then(RequestJson::text).is_some_and(|kind| kind.starts_with("image/"))
    };
    let data = source.filter(is_image).and_then(|source| source.get("data"));
    let url = url.and_then(RequestJson::text).filter(|url| url.starts_with("data:image/"));
    let data = data.and_then(RequestJson::text);
    url.into_iter().chain(data).map(|text| u64::try_from(text.len()).unwrap_or(u64::MAX)).sum()
}

/// Returns true if a document is somewhere else.
fn refers(part: &RequestJson<'_>) -> bool {
    let inside = [Some(part), part.get("file"), part.get("source")];
    let names = ["file_id", "file_url", "url", "container_id"];
    let is_elsewhere = |value: &RequestJson<'_>| names.iter().any(|name| value.get(name).is_some());
    inside.into_iter().flatten().any(is_elsewhere)
}

/// The bytes of all texts inside of a value.
fn text_bytes(value: &RequestJson<'_>) -> u64 {
    match value {
        RequestJson::Text(text) => u64::try_from(text.len()).unwrap_or(u64::MAX),
        RequestJson::List(items) => items.iter().map(text_bytes).sum(),
        RequestJson::Object(members) => members.iter().map(|(_, value)| text_bytes(value)).sum(),
        RequestJson::Null | RequestJson::Bool(_) | RequestJson::Number(_) => 0,
    }
}
