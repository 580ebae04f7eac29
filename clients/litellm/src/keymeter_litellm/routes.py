"""Which requests a key may be used for. What is not in these tables is refused, because nothing would meter it."""

from __future__ import annotations

import re
from enum import Enum
from typing import Final


class Kind(Enum):
    METERED = "metered"
    FREE = "free"
    """Costs nothing; the key is verified."""
    NOT_METERED = "not metered"


# After /v1, or nothing, or what the clients of Azure send.
_METERED: Final = (
    "chat/completions",
    "completions",
    "embeddings",
    "images/generations",
    "images/edits",
    "audio/speech",
    "audio/transcriptions",
    "moderations",
    "rerank",
    "responses",
)
_OF_A_DEPLOYMENT: Final = ("chat/completions", "completions", "embeddings", "images/generations", "images/edits")
_METERED_PATHS: Final = re.compile(
    rf"(?:/v1)?/(?:{'|'.join(_METERED)})"
    rf"|/(?:openai/deployments|engines)/[^?#]+/(?:{'|'.join(_OF_A_DEPLOYMENT)})"
    r"|/v2/rerank|/openai/v1/responses|/v1/messages"
    r"|(?:/v1beta)?/models/[^?#]+:(?:generateContent|streamGenerateContent)"
)
_FREE: Final = {
    "GET": re.compile(r"(?:/v1)?/models(?:/[^?#]+)?|(?:/v1)?/model/info"),
    "POST": re.compile(r"/v1/messages/count_tokens|(?:/v1beta)?/models/[^?#]+:countTokens"),
}

CALL_TYPES: Final = frozenset(
    {
        "acompletion",
        "atext_completion",
        "aembedding",
        "aimage_edit",
        "image_generation",
        "aspeech",
        "transcription",
        "moderation",
        "rerank",
        "aresponses",
        "anthropic_messages",
        "agenerate_content",
        "agenerate_content_stream",
    }
)
"""What LiteLLM calls these requests where they are reserved."""


def kind_of(method: str | None, path: str) -> Kind:
    """`method` is None for WebSockets."""
    if method is None:
        return Kind.NOT_METERED
    if method == "POST" and _METERED_PATHS.fullmatch(path):
        return Kind.METERED
    free = _FREE.get(method)
    if free is not None and free.fullmatch(path):
        return Kind.FREE
    return Kind.NOT_METERED
