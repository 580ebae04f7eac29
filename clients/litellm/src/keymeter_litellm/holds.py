"""What a request may cost at most, by LiteLLM's prices, and whether there is a price at all."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import litellm

log: Final = logging.getLogger("keymeter_litellm")

LEAST_USD: Final = Decimal("0.000002")
"""One quota unit. A model that costs nothing is held with it, so that a key with nothing left is refused."""

# What cannot be counted before the request: rather too much than too little.
_TOKENS_OF_A_MEDIUM: Final = 1_600
_TOKENS_OF_AN_IMAGE: Final = 6_240
_PIXELS_OF_AN_IMAGE: Final = 1024 * 1024
_SECONDS_OF_A_REQUEST: Final = 60
_BYTES_OF_A_SECOND: Final = 2_000
_CHARACTERS_OF_A_SECOND: Final = 10
_AUDIO_TOKENS_OF_A_SECOND: Final = 50
_DOCUMENTS_OF_A_QUERY: Final = 100

_MEDIA: Final = frozenset(
    {"image_url", "input_audio", "file", "file_data", "source", "inline_data", "inlineData", "file_url", "b64_json"}
)
_LIMITS: Final = ("max_completion_tokens", "max_tokens", "max_output_tokens", "maxOutputTokens", "max_tokens_to_sample")
_TEXTS: Final = (
    *("messages", "prompt", "input", "contents", "query", "documents", "system", "systemInstruction"),
    *("instructions", "tools", "functions", "response_format", "text"),
)
_ABOVE: Final = re.compile(r"_above_(\d+)k_tokens")
_TIERS: Final = re.compile(r"_(priority|flex|balanced|ultrafast|batches)\b")
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


def prices(router: Any, model: str) -> list[Price]:
    """Of each deployment that may answer for this model. Without a price: an empty one. No deployment: no price."""
    deployments = list(router.get_model_list(model_name=model) or [])
    if not deployments and (deployment := router.get_deployment(model_id=model)) is not None:
        deployments = [deployment.to_json(exclude_none=True)]
    return [price_of(router, each["model_info"]["id"], each["litellm_params"]["model"]) for each in deployments]


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
    model_limit = _whole(price.get("max_output_tokens"))
    output = max_tokens if need.output_limit is None else need.output_limit
    if model_limit:
        output = min(output, model_limit)
    units = dict(need.units)
    if "output_cost_per_token" not in units:
        units["output_cost_per_token"] = output * need.answers
    rates: list[Price] = [tier for tier in price.get("tiered_pricing") or [] if isinstance(tier, Mapping)]
    return max(_cost({**price, **tier}, units, need) for tier in rates or [{}])


def _cost(price: Price, units: Mapping[str, int], need: Need) -> Decimal:
    total = Decimal(0)
    for name, quantity in units.items():
        if quantity:
            total += _rate(price, name, need) * quantity
    return total


# Prices of the same tokens, of which the dearest is held.
_ALSO: Final = {
    "input_cost_per_token": ("cache_creation_input_token_cost",),
    "output_cost_per_token": ("output_cost_per_reasoning_token",),
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
    answers = max(1, *(_whole(data.get(name)) or 1 for name in ("n", "best_of")))
    if call_type == "atext_completion" and isinstance(data.get("prompt"), list):
        prompts = data["prompt"]
        if prompts and not isinstance(prompts[0], int):
            answers *= len(prompts)
    units: dict[str, int] = {"input_cost_per_token": prompt}
    if call_type in ("aembedding", "moderation", "rerank"):
        units["output_cost_per_token"] = 0
    if call_type == "rerank":
        documents = data.get("documents")
        units["input_cost_per_query"] = (
            max(1, -(-len(documents) // _DOCUMENTS_OF_A_QUERY)) if isinstance(documents, list) else 1
        )
    elif call_type == "aembedding":
        units["input_cost_per_query"] = 1
        units["input_cost_per_character"] = sum(map(len, _texts(data.get("input"))))
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
        characters = sum(map(len, _texts(data.get("input"))))
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
            "input_cost_per_second": seconds,
            "output_cost_per_second": seconds,
            "input_cost_per_audio_token": seconds * _AUDIO_TOKENS_OF_A_SECOND,
            "input_cost_per_token": seconds * _AUDIO_TOKENS_OF_A_SECOND,
        }
    else:
        units |= {
            "input_cost_per_second": _SECONDS_OF_A_REQUEST,
            "output_cost_per_second": _SECONDS_OF_A_REQUEST,
        }
        if isinstance(data.get("modalities"), list) and "audio" in data["modalities"]:
            units["output_cost_per_audio_token"] = (_limit(data) or _TOKENS_OF_A_MEDIUM) * answers
    tier = data.get("service_tier")
    return Need(prompt, units, _limit(data), answers, tier if isinstance(tier, str) else None)


def _limit(data: Mapping[str, Any]) -> int | None:
    for place in (data, data.get("generationConfig"), data.get("config")):
        if isinstance(place, Mapping):
            for name in _LIMITS:
                if (limit := _whole(place.get(name))) is not None:
                    return limit
    return None


def _prompt_tokens(data: Mapping[str, Any], model: str) -> int:
    messages = data.get("messages")
    if isinstance(messages, list) and "system" not in data:
        try:
            # Without this argument LiteLLM downloads images to count them.
            return int(
                litellm.token_counter(
                    model=model,
                    messages=messages,
                    tools=data.get("tools"),
                    tool_choice=data.get("tool_choice"),
                    use_default_image_token_count=True,
                )
            )
        except Exception as error:
            log.debug("LiteLLM cannot count these messages: %s", error)
    total = 0
    texts: list[str] = []
    for name in _TEXTS:
        value = data.get(name)
        if isinstance(value, list) and value and all(isinstance(each, int) for each in value):
            total += len(value)
            continue
        for text in _texts(value):
            if text:
                texts.append(text)
            else:
                total += _TOKENS_OF_A_MEDIUM
    text = "\n".join(texts)
    try:
        return total + int(litellm.token_counter(model=model, text=text)) + 8 * len(texts)
    except Exception:
        return total + math.ceil(len(text.encode()) / 2)


def _texts(value: object, depth: int = 0) -> Iterator[str]:
    """All texts in it, and an empty one for each image, sound or file."""
    if isinstance(value, str):
        yield value or " "
    elif isinstance(value, Mapping) and depth < 20:
        for name, each in value.items():
            if name in _MEDIA:
                yield ""
            else:
                yield str(name)
                yield from _texts(each, depth + 1)
    elif isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)) and depth < 20:
        for each in value:
            yield from _texts(each, depth + 1)
    elif isinstance(value, (int, float)):
        yield "0"


def _pixels(size: object) -> int:
    match = re.fullmatch(r"(\d{1,5})x(\d{1,5})", size) if isinstance(size, str) else None
    return int(match[1]) * int(match[2]) if match else _PIXELS_OF_AN_IMAGE


def _size(file: object) -> int:
    buffer = getattr(file, "getbuffer", None)
    return len(buffer()) if callable(buffer) else 25 * 1024 * 1024


def _whole(value: object) -> int | None:
    """Also of forms, which have only texts."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
