//! What a body contains besides text: pictures, sound, documents, tools; and what of it is counted apart.

use std::collections::BTreeMap;

use crate::refusal::MeterRefusal;
use crate::request_json::{RequestJson, folded};
use crate::route::Route;
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
    /// It has `tools`.
    Tools,
    /// It stands for something whose size is not known.
    Reference,
}

/// The types of content. What is not in here is refused.
const PARTS: &[(&str, Part)] = &[
    ("additional_tools", Part::Tools),
    ("agent_message", Part::Nested),
    ("apply_patch_call", Part::Text),
    ("apply_patch_call_output", Part::Text),
    ("audio_url", Part::Reference),
    ("bash_code_execution_tool_result", Part::Text),
    ("code_execution_tool_result", Part::Text),
    ("code_interpreter_call", Part::Text),
    ("compaction", Part::Text),
    ("computer_call", Part::Text),
    ("computer_call_output", Part::Nested),
    ("computer_screenshot", Part::Image),
    ("content", Part::Nested),
    ("custom_tool_call", Part::Text),
    ("custom_tool_call_output", Part::Nested),
    ("document", Part::Document),
    ("file", Part::Document),
    ("file_search_call", Part::Text),
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
    ("shell_call", Part::Text),
    ("shell_call_output", Part::Text),
    ("summary_text", Part::Text),
    ("text", Part::Text),
    ("text_editor_code_execution_tool_result", Part::Text),
    ("thinking", Part::Text),
    ("tool_reference", Part::Text),
    ("tool_result", Part::Nested),
    ("tool_search_call", Part::Text),
    ("tool_search_output", Part::Tools),
    ("tool_search_tool_result", Part::Text),
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
    ("tool_search", None),
    ("tool_search_tool_bm25", None),
    ("tool_search_tool_regex", None),
    ("web_search", Some("web_searches")),
    ("web_search_preview", Some("web_searches")),
];

/// Functions that gateways take for tools of Google, which are billed. Without `_` and case.
const HOSTED_FUNCTIONS: [&str; 6] =
    ["codeexecution", "enterprisewebsearch", "googlemaps", "googlesearch", "googlesearchretrieval", "urlcontext"];

const NOT_COUNTED: &str = "the answers of this provider do not tell how much of it was used";
const UNKNOWN: &str = "nothing would count it";
const REFERENCE: &str = "it is named by address or id, so its size is not known; send what it names, or tell your \
     operator (`references`)";

/// What was found.
pub(crate) struct Content<'s> {
    route: Route,
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

type Found = Result<(), MeterRefusal>;

impl<'s> Content<'s> {
    pub(crate) fn new(route: Route, settings: &'s MeterSettings, is_told: &'s dyn Fn(&str) -> bool) -> Self {
        Self { route, settings, is_told, images: 0, image_bytes: 0, units: BTreeMap::new(), is_uncounted: false }
    }

    /// Messages, or an input: a text, a message or an item, or a list of such.
    pub(crate) fn add(&mut self, value: &RequestJson<'_>) -> Found {
        match value {
            RequestJson::List(items) => items.iter().try_for_each(|item| self.add(item)),
            RequestJson::Object(_) if value.get("type")?.is_some() => self.add_part(value),
            RequestJson::Object(_) if value.get("role")?.is_some() => self.add_nested(value),
            RequestJson::Object(_) => Err(MeterRefusal::request("a message must have a `role`, an item a `type`")),
            RequestJson::Null | RequestJson::Bool(_) | RequestJson::Number(_) | RequestJson::Text(_) => Ok(()),
        }
    }

    /// The content of a message: a text, a part, or a list of such.
    pub(crate) fn add_content(&mut self, value: &RequestJson<'_>) -> Found {
        match value {
            RequestJson::List(items) => items.iter().try_for_each(|item| self.add_content(item)),
            RequestJson::Object(_) => self.add_part(value),
            RequestJson::Null | RequestJson::Bool(_) | RequestJson::Number(_) | RequestJson::Text(_) => Ok(()),
        }
    }

    fn add_part(&mut self, part: &RequestJson<'_>) -> Found {
        let kind = part.get_text("type")?;
        let kind = kind.ok_or_else(|| MeterRefusal::request("a part of a content must have a `type`"))?;
        match PARTS.iter().find(|(name, _)| *name == kind).map(|(_, part)| *part) {
            Some(Part::Text) => check_text(part),
            Some(Part::Nested) => self.add_nested(part),
            Some(Part::Tools) => part.get("tools")?.map_or(Ok(()), |tools| self.add_tools(tools, None)),
            Some(Part::Image) => self.add_image(kind, part),
            Some(Part::Document | Part::Apart(_)) if is_elsewhere(part)? => self.add_reference(kind),
            Some(Part::Document) => {
                match part.get("source")?.map(|source| source.get("content")).transpose()?.flatten() {
                    // A document can be a list of parts.
                    Some(content) => self.add_content(content),
                    None => Ok(()),
                }
            }
            Some(Part::Apart(unit)) => self.add_unit(kind, unit, text_bytes(part).div_ceil(3).max(1)),
            Some(Part::Reference) => self.add_reference(kind),
            None => self.add_unknown(kind),
        }
    }

    /// A message, or the answer of a tool.
    fn add_nested(&mut self, part: &RequestJson<'_>) -> Found {
        if part.get("audio")?.is_some() {
            // An answer with sound that the provider has.
            self.add_reference("audio")?;
        }
        for name in ["content", "output", "images"] {
            if let Some(content) = part.get(name)? {
                if name == "images" && content.items().iter().any(|image| image.text().is_some()) {
                    self.add_reference(name)?;
                }
                self.add_content(content)?;
            }
        }
        Ok(())
    }

    fn add_image(&mut self, kind: &str, part: &RequestJson<'_>) -> Found {
        let url = part.get("image_url")?;
        let url = url.map(|url| Ok(url.get("url")?.unwrap_or(url))).transpose()?.and_then(RequestJson::text);
        let source = part.get("source")?;
        let source_url = source.map(|source| source.get_text("url")).transpose()?.flatten();
        if [url, source_url].into_iter().flatten().any(is_other_than_image) {
            self.add_reference(kind)?;
        }
        let is_image = source.map(|source| source.get_text("media_type")).transpose()?.flatten();
        let data = source.filter(|_| is_image.is_some_and(|kind| kind.starts_with("image/")));
        let data = data.map(|source| source.get_text("data")).transpose()?.flatten();
        let in_body = url.filter(|url| url.starts_with("data:image/")).or(data);
        self.images += 1;
        self.image_bytes += in_body.map_or(0, |text| u64::try_from(text.len()).unwrap_or(u64::MAX));
        Ok(())
    }

    /// Tools that a model may use.
    pub(crate) fn add_tools(&mut self, tools: &RequestJson<'_>, max_calls: Option<u64>) -> Found {
        let RequestJson::List(tools) = tools else { return Err(MeterRefusal::request("`tools` must be a list")) };
        for tool in tools {
            let Some(kind) = tool.get("type")? else {
                // Anthropic's own tools have a type, those of a client need none.
                if self.route == Route::Chat || tool.get("name")?.is_none() || tool.get("input_schema")?.is_none() {
                    return Err(MeterRefusal::request("a tool must have a `type`"));
                }
                continue;
            };
            let kind = kind.text().ok_or_else(|| MeterRefusal::request("the `type` of a tool must be a text"))?;
            if kind == "namespace" {
                tool.get("tools")?.map_or(Ok(()), |tools| self.add_tools(tools, max_calls))?;
                continue;
            }
            let function = tool.get("function")?.unwrap_or(tool).get_text("name")?.unwrap_or_default();
            if HOSTED_FUNCTIONS.contains(&folded(function).replace('_', "").as_str()) {
                self.add_unknown(function)?;
            }
            let is_of_client = matches!(kind, "function" | "custom");
            match TOOLS.iter().find(|(name, _)| *name == without_date(kind)) {
                // Chats have no tools of the provider: what one of another does there, nothing says.
                Some(_) if self.route == Route::Chat && !is_of_client => self.add_unknown(kind)?,
                Some((_, None)) => {}
                Some((_, Some(unit))) => {
                    let max_uses = match tool.get("max_uses")? {
                        None => max_calls.unwrap_or(self.settings.max_searches),
                        Some(RequestJson::Number(Some(number))) => u64::try_from(*number).unwrap_or(0),
                        Some(_) => return Err(MeterRefusal::request("`max_uses` must be a whole number")),
                    };
                    self.add_unit(kind, unit, max_uses.max(1))?;
                }
                None => self.add_unknown(kind)?,
            }
        }
        Ok(())
    }

    /// So many of a unit that is told apart; `name` is what asks for it.
    pub(crate) fn add_unit(&mut self, name: &str, unit: &'static str, count: u64) -> Found {
        if (self.is_told)(unit) {
            let sum = self.units.entry(unit).or_default();
            *sum = sum.saturating_add(count);
            return Ok(());
        }
        self.add_uncounted(name, NOT_COUNTED)
    }

    pub(crate) fn add_reference(&self, name: &str) -> Found {
        if self.settings.references { Ok(()) } else { Err(MeterRefusal::not_metered(name, REFERENCE)) }
    }

    pub(crate) fn add_unknown(&mut self, name: &str) -> Found {
        self.add_uncounted(name, UNKNOWN)
    }

    fn add_uncounted(&mut self, name: &str, why: &str) -> Found {
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

/// Checks that a part which says that it is text is nothing else: some servers look at its members first.
fn check_text(part: &RequestJson<'_>) -> Found {
    const OTHERS: [&str; 7] = ["audio", "file", "file_id", "image", "input_audio", "uuid", "video"];
    for name in part.names() {
        let folded = folded(name);
        if folded.ends_with("_url") || OTHERS.contains(&folded.as_str()) {
            return Err(MeterRefusal::request(format!("a part of text must not have `{name}`")));
        }
    }
    Ok(())
}

/// Returns true if sound or a document is somewhere else.
fn is_elsewhere(part: &RequestJson<'_>) -> Result<bool, MeterRefusal> {
    const NAMES: [&str; 4] = ["file_id", "file_url", "url", "container_id"];
    const TEXTS: [&str; 3] = ["file_data", "data", "url"];
    let of = |name: &str| part.get(name);
    let inside = [Some(part), of("file")?, of("source")?, of("input_audio")?, of("video_url")?];
    for value in inside.into_iter().flatten() {
        for name in NAMES {
            let found = value.get(name)?;
            if found.is_some_and(|found| found.text().is_none_or(|text| !text.starts_with("data:"))) {
                return Ok(true);
            }
        }
        for name in TEXTS {
            if value.get_text(name)?.is_some_and(is_address) {
                return Ok(true);
            }
        }
    }
    Ok(of("video_url")?.and_then(RequestJson::text).is_some_and(|text| !text.starts_with("data:")))
}

fn is_address(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| !scheme.is_empty() && scheme.len() < 16)
}

/// Returns true if an address is that of a film or a document: some gateways pass them on as what they are.
fn is_other_than_image(url: &str) -> bool {
    const IMAGES: [&str; 8] = ["avif", "bmp", "gif", "heic", "jpeg", "jpg", "png", "webp"];
    if !is_address(url) {
        return url.starts_with("data:") && !url.starts_with("data:image/");
    }
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let file = path.rsplit('/').next().unwrap_or_default();
    let has_path = path.matches('/').count() > 2;
    let extension = file.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    has_path && extension.is_some_and(|extension| !IMAGES.contains(&extension.as_str()))
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
