"""What the answer of a provider says that was used, as it is sent to Keymeter."""

from __future__ import annotations

import json
from typing import Final

# Keymeter reads no more.
MAX_BYTES: Final = 64 * 1024
_USAGE: Final = ("usage", "usageMetadata", "usage_metadata")


def plain(usage: object) -> object:
    """A usage or a whole answer as JSON: an object of a provider's SDK, or what its API answered.

    Raises TypeError if it cannot be JSON, and ValueError if it is too long.
    """
    try:
        needed = _needed(json.loads(json.dumps(usage, default=_members, allow_nan=False)))
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(
            "usage must be what becomes JSON: a dict, or an object with model_dump(), to_dict() or dict(), as those of SDKs"
        ) from error
    if len(json.dumps(needed)) > MAX_BYTES:
        raise ValueError("usage is longer than 64 KiB: give the part of the answer that has the counts")
    return needed


def _members(value: object) -> object:
    """Of an object that is not JSON itself."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        # Google's members have the names of its API only by alias.
        return dump(mode="json", by_alias=True, exclude_none=True)
    for name in ("to_dict", "dict"):
        members = getattr(value, name, None)
        if callable(members):
            return members()
    raise TypeError(f"{type(value).__name__} is not JSON")


def _needed(answer: object) -> object:
    """What a cost depends on. The rest of a whole answer is the conversation: it is nothing to Keymeter, and it may be
    longer than MAX_BYTES.
    """
    if not isinstance(answer, dict) or not any(name in answer for name in _USAGE):
        return answer
    kept = ("model", "modelVersion", "service_tier", *_USAGE)
    needed: dict[str, object] = {name: answer[name] for name in kept if name in answer}
    # In OpenAI's responses, searches are counted by the items of the output.
    if isinstance(answer.get("output"), list):
        needed["output"] = [{"type": item["type"]} for item in answer["output"] if isinstance(item, dict) and "type" in item]
    return needed
