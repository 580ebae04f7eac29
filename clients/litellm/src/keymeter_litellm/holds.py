"""What a request may cost at most, by LiteLLM's prices, and whether there is a price at all."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import litellm

from . import routes

log: Final = logging.getLogger("keymeter_litellm")

LEAST_USD: Final = Decimal("0.000002")
"""One quota unit: of a model with a price, also where nothing of this request can be counted."""

# What cannot be counted before the request: rather too much than too little.
_TOKENS_OF_A_MEDIUM: Final = 1_600
_TOKENS_OF_AN_IMAGE: Final = 6_240
_PIXELS_OF_AN_IMAGE: Final = 1024 * 1024
_SECONDS_OF_A_REQUEST: Final = 60
# Opus of speech has 750.
_BYTES_OF_A_SECOND: Final = 500
_CHARACTERS_OF_A_SECOND: Final = 10
_AUDIO_TOKENS_OF_A_SECOND: Final = 50
_DOCUMENTS_OF_A_QUERY: Final = 100
# Of 500 tokens, after which a document counts as another one.
_BYTES_OF_A_DOCUMENT: Final = 1_000
# Of Responses, which LiteLLM asks for if the messages are for OpenAI.
_LEAST_OUTPUT: Final = 16

_MEDIA: Final = frozenset(
    {
        *("image_url", "input_audio", "file", "file_data", "fileData", "file_id", "file_url", "source"),
        *("inline_data", "inlineData", "b64_json"),
    }
)
# Google's are in an object of their own.
_PLACES: Final = ("generationConfig", "generation_config", "config")
# Arguments and results of tools. What has the name of a picture there is a text.
_ARGUMENTS: Final = frozenset({"input", "args", "arguments", "response"})
_CONTENTS: Final = ("messages", "prompt", "input", "contents", "query", "documents", "system", "systemInstruction")
_TEXTS: Final = ("instructions", "tools", "functions", "response_format", "text", "suffix", "output_config")
_SCHEMAS: Final = ("responseSchema", "responseJsonSchema")
# What LiteLLM counts of messages whose contents are texts.
_COUNTED: Final = frozenset({"role", "content", "name", "tool_calls", "tool_call_id", "function_call"})
_COUNTED_PART: Final = frozenset({"type", "text"})
_DEPTH: Final = 50
# Tiers of service that cost no more than the usual one.
_USUAL_TIERS: Final = ("auto", "default", "flex", "standard", "standard_only")
_ABOVE: Final = re.compile(r"_above_(\d+)k_tokens")
_TIERS: Final = re.compile(r"_(priority|flex|balanced|ultrafast|batches)\b")
FALLBACKS: Final = ("fallbacks", "context_window_fallbacks", "content_policy_fallbacks")
"""Of LiteLLM's router."""
Price = Mapping[str, Any]


@dataclass(frozen=True)
class Need:
    """What a request may use at most, in the units in which models are priced."""

    prompt_tokens: int
    units: Mapping[str, int]
    """By the beginning of the name of the rate."""
    output_limit: int | None
    answers: int
    tier: str | None
    predicted_tokens: int = 0
    """Text that the client expects as the answer. The provider bills what it does not use of it as output too."""


def prices(router: Any, model: str) -> list[Price]:
    """Of each deployment that may answer for this model. Without a price: an empty one. No deployment: no price."""
    deployments = list(router.get_model_list(model_name=model) or [])
    if not deployments and (deployment := router.get_deployment(model_id=model)) is not None:
        deployments = [deployment.to_json(exclude_none=True)]
    return [price_of(router, each["model_info"]["id"], each["litellm_params"]["model"]) for each in deployments]


def fallbacks_of(router: Any, model: str) -> set[str]:
    """The models that the configuration lets answer when this one fails, and when those fail."""
    rules = [rule for kind in FALLBACKS for rule in getattr(router, kind) or []]
    found: set[str] = set()
    new = {model}
    while new:
        found |= new
        new = {each for name in new for rule in rules for each in _next(rule, name)} - found
    return found - {model}


def _next(rule: object, model: str) -> Iterator[str]:
    if isinstance(rule, str):
        yield rule
    elif isinstance(rule, Mapping):
        for name, targets in rule.items():
            # LiteLLM finds a rule also without the provider's name before it.
            if name == "*" or name.rpartition("/")[2] == model.rpartition("/")[2]:
                for target in targets if isinstance(targets, list) else [targets]:
                    if isinstance(found := target.get("model") if isinstance(target, Mapping) else target, str):
                        yield found


def price_of(router: Any, deployment: str, model: str) -> Price:
    info = router.get_deployment_model_info(model_id=deployment, model_name=model)
    price = dict(info or {})
    if not is_price(price):
        # Some images are priced by their size: "1024-x-1024/dall-e-3".
        sized = _sized(model)
        if sized:
            price["output_cost_per_image"] = max(sized)
    return price


def is_price(price: Price) -> bool:
    """0 is a price too."""
    return bool(price.get("tiered_pricing")) or any("cost_per" in name and value is not None for name, value in price.items())


def is_free(price: Price) -> bool:
    """The model on one's own machine, for example."""
    rates = {name: each for name, each in price.items() if "cost" in name or "pricing" in name}
    return is_price(price) and not any(_rates(rates))


def _rates(value: object) -> Iterator[float]:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        yield value
    elif isinstance(value, (Mapping, list)):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _rates(each)


def unpriced(price: Price, data: Mapping[str, Any]) -> str | None:
    """What this request asks for and the model has no price of, so that LiteLLM would count it as the usual or not at all."""
    tier = data.get("service_tier")
    if (
        isinstance(tier, str)
        and tier not in _USUAL_TIERS
        and not any(value and name.endswith(f"_{tier}") for name, value in price.items())
    ):
        return f"the service tier {tier[:32]}"
    tools = data.get("tools")
    types = [str(tool.get("type")) for tool in tools if isinstance(tool, Mapping)] if isinstance(tools, list) else []
    searches = data.get("web_search_options") is not None or any(each.startswith("web_search") for each in types)
    if searches and not any(_rates(price.get("search_context_cost_per_query"))):
        return "a web search"
    return None


def is_unheard(price: Price, call_type: str, report: object) -> bool:
    """Speech whose sound has a price and no count."""
    has_count = isinstance(report, Mapping) and bool(report.get("completion_tokens"))
    rates = {name: value for name, value in price.items() if name.startswith("output_cost_per_")}
    return call_type == "aspeech" and not has_count and any(_rates(rates))


def timeouts(router: Any, model: str) -> Iterator[float]:
    """Of the deployments that have one of their own, in seconds."""
    for deployment in router.get_model_list(model_name=model) or []:
        for name in ("timeout", "stream_timeout"):
            if isinstance(seconds := deployment["litellm_params"].get(name), (int, float)):
                yield seconds


def usage_usd(price: Price, report: object) -> Decimal | None:
    """What it cost by the counts that LiteLLM reports and this price; None if there are none that have one."""

    def count(place: object, name: str) -> Decimal:
        value = place.get(name) if isinstance(place, Mapping) else None
        return Decimal(repr(value)) if isinstance(value, (int, float)) and value > 0 else Decimal(0)

    metadata = report.get("metadata") if isinstance(report, Mapping) else None
    usage = metadata.get("usage_object") if isinstance(metadata, Mapping) else None
    counts = {
        "input_cost_per_token": count(report, "prompt_tokens"),
        "output_cost_per_token": count(report, "completion_tokens"),
        "output_cost_per_second": count(usage, "seconds"),
    }
    need = Need(int(counts["input_cost_per_token"]), {}, None, 1, None)
    return sum((quantity * _rate(price, name, need) for name, quantity in counts.items()), Decimal(0)) or None


def _sized(model: str) -> list[float]:
    names = (f"/{model}", f"/{model.rpartition('/')[2]}")
    return [
        cost * 1024 * 1024 if pixel else cost
        for name, entry in litellm.model_cost.items()
        if name.endswith(names) and "-x-" in name
        for rate, pixel in (("output_cost_per_image", False), ("input_cost_per_image", False), ("input_cost_per_pixel", True))
        if isinstance(cost := entry.get(rate), (int, float))
    ]


def hold_usd(price: Price, need: Need, max_tokens: int) -> Decimal:
    """The most that this request costs at this price."""
    model_limit = whole(price.get("max_output_tokens"))
    output = max_tokens if need.output_limit is None else need.output_limit
    if model_limit:
        output = min(output, model_limit)
    units = dict(need.units)
    if "output_cost_per_token" not in units:
        units["output_cost_per_token"] = (output + need.predicted_tokens) * need.answers
    rates: list[Price] = [tier for tier in price.get("tiered_pricing") or [] if isinstance(tier, Mapping)]
    return max(_cost({**price, **tier}, units, need) for tier in rates or [{}])


def _cost(price: Price, units: Mapping[str, int], need: Need) -> Decimal:
    total = Decimal(0)
    for name, quantity in units.items():
        if quantity:
            total += _rate(price, name, need) * quantity
    return total


# Prices of the same tokens and seconds, of which the dearest is held.
_ALSO: Final = {
    "input_cost_per_token": ("cache_creation_input_token_cost",),
    "output_cost_per_token": ("output_cost_per_reasoning_token",),
    "output_cost_per_second": ("input_cost_per_second",),
}


def _rate(price: Price, name: str, need: Need) -> Decimal:
    """The dearest of this name that may apply to the request."""
    dearest = Decimal(0)
    for key, value in price.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            continue
        if not any(key == each or key.startswith(f"{each}_") for each in (name, *_ALSO.get(name, ()))):
            continue
        above = _ABOVE.search(key)
        if above is not None and need.prompt_tokens <= int(above[1]) * 1000:
            continue
        tier = _TIERS.search(key)
        if tier is not None and tier[1] != need.tier:
            continue
        dearest = max(dearest, Decimal(repr(float(value))))
    return dearest


def need_of(call_type: str, data: Mapping[str, Any], model: str) -> Need:
    """Counts tokens, which takes a while: run it in a thread."""
    prompt = _prompt_tokens(data, model)
    limit = max(_wholes(data, routes.LIMITS), default=None)
    if call_type == "anthropic_messages" and limit is not None:
        limit = max(limit, _LEAST_OUTPUT)
    answers = max([1, *_wholes(data, routes.ANSWERS)])
    if call_type == "atext_completion" and isinstance(data.get("prompt"), list):
        prompts = data["prompt"]
        if prompts and not isinstance(prompts[0], int):
            answers *= len(prompts)
    units: dict[str, int] = {"input_cost_per_token": prompt}
    if call_type in ("aembedding", "moderation", "rerank"):
        units["output_cost_per_token"] = 0
    if call_type == "rerank":
        documents = data.get("documents")
        sizes = [len(str(each).encode()) for each in documents] if isinstance(documents, list) else []
        count = sum(max(1, math.ceil(size / _BYTES_OF_A_DOCUMENT)) for size in sizes)
        units["input_cost_per_query"] = max(1, math.ceil(count / _DOCUMENTS_OF_A_QUERY))
    elif call_type == "aembedding":
        units["input_cost_per_query"] = 1
        units["input_cost_per_character"] = _characters(data.get("input"))
    elif call_type in ("image_generation", "aimage_edit"):
        pixels = _pixels(data.get("size"))
        units |= {
            "input_cost_per_image": answers,
            "output_cost_per_image": answers,
            "input_cost_per_pixel": pixels * answers,
            "output_cost_per_pixel": pixels * answers,
            "output_cost_per_image_token": _TOKENS_OF_AN_IMAGE * answers,
            "output_cost_per_token": _TOKENS_OF_AN_IMAGE * answers,
        }
        if call_type == "aimage_edit":
            images = data.get("image")
            units["input_cost_per_image_token"] = _TOKENS_OF_AN_IMAGE * (len(images) if isinstance(images, list) else 1)
    elif call_type == "aspeech":
        characters = _characters(data.get("input"))
        seconds = 1 + characters // _CHARACTERS_OF_A_SECOND
        units |= {
            "input_cost_per_character": characters,
            "output_cost_per_second": seconds,
            "output_cost_per_token": seconds * _AUDIO_TOKENS_OF_A_SECOND,
            "output_cost_per_audio_token": seconds * _AUDIO_TOKENS_OF_A_SECOND,
        }
    elif call_type == "transcription":
        seconds = 1 + _size(data.get("file")) // _BYTES_OF_A_SECOND
        units |= {
            "output_cost_per_second": seconds,
            "input_cost_per_audio_token": seconds * _AUDIO_TOKENS_OF_A_SECOND,
            "input_cost_per_token": seconds * _AUDIO_TOKENS_OF_A_SECOND,
        }
    else:
        units["output_cost_per_second"] = _SECONDS_OF_A_REQUEST
        media = _media_of_the_answer(data)
        if "audio" in media:
            units["output_cost_per_audio_token"] = (limit or _TOKENS_OF_A_MEDIUM) * answers
        if "image" in media:
            units |= {"output_cost_per_image": answers, "output_cost_per_image_token": _TOKENS_OF_AN_IMAGE * answers}
    tier = data.get("service_tier")
    predicted = _tokens_of(_parts(data.get("prediction")), model)
    return Need(prompt, units, limit, answers, tier if isinstance(tier, str) else None, predicted)


def _media_of_the_answer(data: Mapping[str, Any]) -> set[str]:
    config = data.get("generationConfig")
    media = data.get("modalities") or (config.get("responseModalities") if isinstance(config, Mapping) else None)
    return {str(each).lower() for each in media} if isinstance(media, list) else set()


def _wholes(data: Mapping[str, Any], names: Iterable[str]) -> list[int]:
    """All values of these names, wherever a provider may look for them."""
    places = [data, *(data[name] for name in _PLACES if isinstance(data.get(name), Mapping))]
    spellings = [*names, *(re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name) for name in names)]
    return [number for place in places for name in spellings if (number := whole(place.get(name))) is not None]


def _prompt_tokens(data: Mapping[str, Any], model: str) -> int:
    total = 0
    messages = data.get("messages")
    counted = isinstance(messages, list) and "system" not in data and all(map(_is_counted, messages))
    if counted:
        try:
            # LiteLLM knows how a model writes messages. Without the last argument it downloads pictures.
            total = int(litellm.token_counter(model=model, messages=messages, use_default_image_token_count=True))
        except Exception as error:
            log.debug("LiteLLM cannot count these messages: %s", error)
            counted = False
    parts = [part for name in _CONTENTS if not (counted and name == "messages") for part in _parts(data.get(name))]
    config = data.get("generationConfig")
    schemas = [config.get(name) for name in _SCHEMAS] if isinstance(config, Mapping) else []
    for text in (*(data.get(name) for name in _TEXTS), *schemas):
        parts += _parts(text, media=False)
    return total + _tokens_of(parts, model)


def _is_counted(message: object) -> bool:
    """LiteLLM counts all of this message."""
    if not isinstance(message, Mapping) or not message.keys() <= _COUNTED:
        return False
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    return all(isinstance(part, Mapping) and part.keys() <= _COUNTED_PART for part in parts)


def _tokens_of(parts: Iterable[str | int], model: str) -> int:
    parts = list(parts)
    total = sum(part for part in parts if isinstance(part, int))
    texts = [part for part in parts if isinstance(part, str)]
    if not texts:
        return total
    text = "\n".join(texts)
    try:
        return total + int(litellm.token_counter(model=model, text=text)) + 8 * len(texts)
    except Exception:
        return total + math.ceil(len(text.encode()) / 2)


def _parts(value: object, media: bool = True, depth: int = 0) -> Iterator[str | int]:
    """All texts in it; and as numbers the tokens of pictures, sounds and files, and of texts that are tokens already."""
    if isinstance(value, str):
        yield value
    elif depth == _DEPTH and isinstance(value, (Mapping, list)):
        yield repr(value)
    elif isinstance(value, Mapping):
        for name, each in value.items():
            if media and _is_medium(str(name), each):
                yield _TOKENS_OF_A_MEDIUM
            else:
                yield str(name)
                yield from _parts(each, media and name not in _ARGUMENTS, depth + 1)
    elif isinstance(value, list):
        if value and all(isinstance(each, int) for each in value):
            yield len(value)
        else:
            for each in value:
                yield from _parts(each, media, depth + 1)
    elif isinstance(value, (int, float)):
        yield "0"


def _is_medium(name: str, value: object) -> bool:
    if isinstance(value, Mapping):
        return name in _MEDIA and value.get("type") not in ("text", "content")
    # Of a search result it is a text.
    return name in _MEDIA and name != "source"


def _characters(value: object) -> int:
    return sum(len(part) for part in _parts(value) if isinstance(part, str))


def _pixels(size: object) -> int:
    match = re.fullmatch(r"(\d{1,5})x(\d{1,5})", size) if isinstance(size, str) else None
    return int(match[1]) * int(match[2]) if match else _PIXELS_OF_AN_IMAGE


def _size(file: object) -> int:
    buffer = getattr(file, "getbuffer", None)
    return len(buffer()) if callable(buffer) else 25 * 1024 * 1024


def whole(value: object) -> int | None:
    """Also of forms, which have only texts."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
