//! What a request may cost: whether it is let through, and what is held for it.

use std::collections::BTreeMap;

use crate::answer_meter::{Expected, INPUT_TOKENS, OUTPUT_TOKENS};
use crate::content::Content;
use crate::extractor::Extractor;
use crate::refusal::MeterRefusal;
use crate::request_json::{RequestJson, RequestMembers, folded};
use crate::route::Route;
use crate::settings::MeterSettings;

/// Longer names no list of models has.
const MAX_MODEL_CHARS: usize = 128;

/// Tokens and units that a hold can have of each.
const MAX_COUNT: u64 = 1_000_000_000_000;

/// Tiers that have the standard price, or of which the answer says which it was.
const STANDARD_TIERS: [&str; 4] = ["auto", "default", "standard", "standard_only"];

/// The values of `anthropic-beta` that add nothing which is billed apart, or only what a body asks for, without their
/// dates.
const BETAS: &[&str] = &[
    "advanced-tool-use",
    "advisor-tool",
    "claude-code",
    "computer-use",
    "context-1m",
    "context-management",
    "effort",
    "extended-cache-ttl",
    "fine-grained-tool-streaming",
    "interleaved-thinking",
    "mid-conversation-system",
    "model-context-window-exceeded",
    "oauth",
    "output-128k",
    "pdfs",
    "prompt-caching",
    "prompt-caching-scope",
    "redact-thinking",
    "search-results",
    "structured-outputs",
    "thinking-display-updates",
    "thinking-token-count",
    "token-counting",
    "token-efficient-tools",
    "tool-search-tool",
];

/// What streams may be told. Others can make them tell less, or what they cost twice.
const STREAM_OPTIONS: [&str; 2] = ["include_usage", "include_obfuscation"];

/// A request that is let through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeteredRequest {
    pub model: String,
    /// Whether its answer is a stream.
    pub is_stream: bool,
    /// The most that it can use, by unit.
    pub hold: BTreeMap<&'static str, u64>,
    /// What selects its price, such as the tier that it asks for.
    pub context: BTreeMap<String, String>,
    /// The body that the upstream gets, if it is another one.
    pub body: Option<Vec<u8>>,
    /// What is charged depends on it.
    pub expected: Expected,
}

/// Reads the body of a request. `extractor` is the one that will read its answer; `None` on routes that are free.
///
/// # Errors
/// See [`MeterRefusal`].
pub fn read_request(
    route: Route,
    body: &[u8],
    extractor: Option<&Extractor>,
    settings: &MeterSettings,
) -> Result<MeteredRequest, MeterRefusal> {
    let members = RequestMembers::read(body).map_err(|error| {
        MeterRefusal::body(format!("the body must be a JSON object that every parser reads alike: {error}"))
    })?;
    check_members(route, &members, settings)?;
    let model = model(&members)?;
    let is_stream = flag(&members, "stream")?;
    if flag(&members, "background")? {
        return Err(MeterRefusal::not_metered("background", "its cost is not known in time"));
    }
    let is_told = |unit: &str| extractor.is_some_and(|extractor| extractor.mappings.iter().any(|of| of.unit == unit));
    let mut content = Content::new(route, settings, &is_told);
    let output = output_limit(route, &members, settings)?;
    if !route.is_free() {
        add_content(&mut content, &members, output)?;
    }
    let input = input_tokens(route, body, &members, &content, settings);
    // Searches and sound are not in the text that is seen.
    let shows_thinking = settings.shows_thinking(model) && content.units.is_empty();
    let expected = Expected { input, output, shows_thinking, is_uncounted: content.is_uncounted };
    let mut hold = content.units;
    hold.extend([(INPUT_TOKENS, input), (OUTPUT_TOKENS, output)].into_iter().filter(|(_, count)| *count > 0));
    let body = (is_stream && route.needs_include_usage() && settings.takes_stream_options(model))
        .then(|| with_usage(&members))
        .flatten();
    Ok(MeteredRequest { model: model.to_owned(), is_stream, hold, context: context(&members)?, body, expected })
}

/// Checks the values of a beta header, separated by commas.
///
/// # Errors
/// One of them is not known to add nothing that is billed apart.
pub fn check_betas(header: &str, settings: &MeterSettings) -> Result<(), MeterRefusal> {
    for beta in header.split(',').map(str::trim).filter(|beta| !beta.is_empty()) {
        let name = beta.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
        let is_known = BETAS.contains(&name) || settings.betas.iter().any(|known| known == beta);
        if !is_known {
            return Err(MeterRefusal::not_metered(beta, "it can change what is billed"));
        }
    }
    Ok(())
}

fn check_members(route: Route, members: &RequestMembers<'_>, settings: &MeterSettings) -> Result<(), MeterRefusal> {
    let is_known =
        |name: &str| route.members().any(|known| known == name) || settings.members.iter().any(|known| known == name);
    for member in &members.0 {
        let name = member.name.as_ref();
        if is_known(name) {
            continue;
        }
        // Some servers would read it as the member that it resembles.
        if is_known(&folded(name)) {
            return Err(MeterRefusal::request(format!("write `{}`, not `{name}`", folded(name))));
        }
        return Err(MeterRefusal::not_metered(name, "it can change the cost"));
    }
    Ok(())
}

fn model<'m>(members: &'m RequestMembers<'_>) -> Result<&'m str, MeterRefusal> {
    let model = members.get("model").and_then(RequestJson::text).unwrap_or_default();
    // Some gateways take a list of names for a request to each.
    let is_one = !model.contains(|c: char| c.is_control() || c == ',') && model.trim() == model;
    let is_name = (1..=MAX_MODEL_CHARS).contains(&model.chars().count()) && is_one;
    if is_name { Ok(model) } else { Err(MeterRefusal::request("`model` must be the name of one model")) }
}

fn flag(members: &RequestMembers<'_>, name: &str) -> Result<bool, MeterRefusal> {
    match members.get(name) {
        None => Ok(false),
        Some(RequestJson::Bool(value)) => Ok(*value),
        Some(_) => Err(MeterRefusal::request(format!("`{name}` must be true or false"))),
    }
}

/// A whole number above 0; `None` for 0.
fn number(members: &RequestMembers<'_>, name: &str) -> Result<Option<u64>, MeterRefusal> {
    match members.get(name) {
        None | Some(RequestJson::Number(Some(0))) => Ok(None),
        Some(RequestJson::Number(Some(-1))) => {
            Err(MeterRefusal::request(format!("leave `{name}` out for no limit of your own")))
        }
        Some(RequestJson::Number(Some(number))) if *number > 0 => Ok(u64::try_from(*number).ok()),
        Some(_) => Err(MeterRefusal::request(format!("`{name}` must be a whole number"))),
    }
}

fn largest(members: &RequestMembers<'_>, names: &[&str]) -> Result<Option<u64>, MeterRefusal> {
    names.iter().try_fold(None, |most, name| Ok(most.max(number(members, name)?)))
}

/// What a request lets a model think, where some gateways add that to the limit of the output.
fn thinking_budget(members: &RequestMembers<'_>) -> Result<Option<u64>, MeterRefusal> {
    let mut most = None;
    for (name, budget) in [("thinking", "budget_tokens"), ("reasoning", "max_tokens")] {
        if let Some(RequestJson::Number(Some(number))) =
            members.get(name).map(|of| of.get(budget)).transpose()?.flatten()
        {
            most = most.max(u64::try_from(*number).ok());
        }
    }
    Ok(most)
}

/// The most tokens of output, as far as the upstream keeps to what it is told.
fn output_limit(route: Route, members: &RequestMembers<'_>, settings: &MeterSettings) -> Result<u64, MeterRefusal> {
    if route == Route::Embeddings || route.is_free() {
        return Ok(0);
    }
    let is_zero = |name: &&str| members.get(name) == Some(&RequestJson::Number(Some(0)));
    // Many upstreams take 0 for no limit.
    let default = route.output_limits().iter().any(is_zero).then_some(settings.max_tokens);
    let limit = largest(members, route.output_limits())?.max(default).unwrap_or(settings.max_tokens);
    let limit = limit.max(thinking_budget(members)?.map_or(0, |budget| budget.saturating_add(settings.max_tokens)));
    let answers = largest(members, &["n", "best_of"])?.unwrap_or(1);
    // Each prompt of a list gets its own answers. A list of numbers is one prompt.
    let prompts = members.get("prompt").filter(|_| route == Route::Completions).map_or(&[][..], RequestJson::items);
    let is_list = !matches!(prompts.first(), None | Some(RequestJson::Number(_)));
    let prompts = if is_list { length(prompts) } else { 1 };
    Ok(limit.saturating_mul(answers).saturating_mul(prompts).min(MAX_COUNT))
}

/// The most tokens of input: one for each three bytes, two of lists of tokens.
fn input_tokens(
    route: Route,
    body: &[u8],
    members: &RequestMembers<'_>,
    content: &Content<'_>,
    settings: &MeterSettings,
) -> u64 {
    if route.is_free() {
        return 0;
    }
    let is_tokens = |value: &RequestJson<'_>| match value.items().first() {
        Some(RequestJson::Number(_)) => true,
        Some(first) => matches!(first.items().first(), Some(RequestJson::Number(_))),
        None => false,
    };
    let of_tokens = ["prompt", "input"].into_iter().filter_map(|name| members.get(name)).any(is_tokens);
    let bytes = u64::try_from(body.len()).unwrap_or(u64::MAX).saturating_sub(content.image_bytes);
    let images = content.images.saturating_mul(settings.image_tokens());
    bytes.div_ceil(if of_tokens { 2 } else { 3 }).saturating_add(images).min(MAX_COUNT)
}

/// Looks for what is counted apart, and for what cannot be counted.
fn add_content(content: &mut Content<'_>, members: &RequestMembers<'_>, output: u64) -> Result<(), MeterRefusal> {
    for name in ["messages", "input"] {
        if let Some(value) = members.get(name) {
            content.add(value)?;
        }
    }
    for name in ["system", "prediction"] {
        if let Some(value) = members.get(name) {
            content.add_content(value)?;
        }
    }
    if let Some(tools) = members.get("tools") {
        content.add_tools(tools, number(members, "max_tool_calls")?)?;
    }
    if members.get("web_search_options").is_some() {
        // Models of OpenAI that search in chats do not tell how often they did.
        content.add_unknown("web_search_options")?;
    }
    if members.get("modalities").is_some_and(|modalities| !matches!(modalities, RequestJson::List(_))) {
        return Err(MeterRefusal::request("`modalities` must be a list"));
    }
    if let Some(edits) = members.get("context_management").map(|edits| edits.get("edits")).transpose()?.flatten() {
        for edit in edits.items() {
            // Compaction is a request of its own.
            let kind = edit.get_text("type")?.unwrap_or("edits");
            if !kind.starts_with("clear_") {
                content.add_unknown(kind)?;
            }
        }
    }
    for modality in members.get("modalities").map_or(&[][..], RequestJson::items) {
        match modality.text() {
            Some("text") => {}
            Some("audio") => content.add_unit("audio", "output_audio_tokens", output.max(1))?,
            Some("image") => content.add_unit("image", "output_image_tokens", output.max(1))?,
            other => content.add_unknown(other.unwrap_or("modalities"))?,
        }
    }
    // A completion's `prompt` is text; that of a response is the id of a template.
    let template = members.get("prompt").filter(|prompt| matches!(prompt, RequestJson::Object(_)));
    let named = ["previous_response_id", "conversation"].map(|name| (name, members.get(name)));
    for (name, _) in named.into_iter().chain([("prompt", template)]).filter(|(_, value)| value.is_some()) {
        content.add_reference(name)?;
    }
    Ok(())
}

/// What selects the price.
fn context(members: &RequestMembers<'_>) -> Result<BTreeMap<String, String>, MeterRefusal> {
    let mut context = BTreeMap::new();
    for name in ["service_tier", "speed"] {
        let Some(value) = members.get(name) else { continue };
        let value = value.text().ok_or_else(|| MeterRefusal::request(format!("`{name}` must be a text")))?;
        if !STANDARD_TIERS.contains(&value) {
            context.insert(name.to_owned(), value.to_owned());
        }
    }
    Ok(context)
}

/// The body with `include_usage`, without which OpenAI's streams do not tell what they cost. `None` if it has that.
fn with_usage(members: &RequestMembers<'_>) -> Option<Vec<u8>> {
    let mut options = BTreeMap::from([("include_usage", true)]);
    if let Some(RequestJson::Object(sent)) = members.get("stream_options") {
        let is_known = |name: &str| STREAM_OPTIONS.contains(&name);
        if sent.iter().all(|(name, _)| is_known(name))
            && sent.iter().any(|(name, value)| name == "include_usage" && *value == RequestJson::Bool(true))
        {
            return None;
        }
        for (name, value) in sent {
            if let RequestJson::Bool(value) = value
                && is_known(name)
            {
                options.entry(name).or_insert(*value);
            }
        }
    }
    let options = serde_json::to_string(&options).ok()?;
    let others = members.0.iter().filter(|member| member.name != "stream_options");
    let mut body = format!("{{\"stream_options\":{options}").into_bytes();
    for member in others {
        body.push(b',');
        serde_json::to_writer(&mut body, &member.name).ok()?;
        body.push(b':');
        body.extend_from_slice(member.text.as_bytes());
    }
    body.push(b'}');
    Some(body)
}

fn length(items: &[RequestJson<'_>]) -> u64 {
    u64::try_from(items.len()).unwrap_or(u64::MAX)
}
