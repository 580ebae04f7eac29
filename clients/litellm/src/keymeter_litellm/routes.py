"""Which requests a key may be used for, and what of a request is passed on: one table of the providers' APIs.

What is not in it is refused, because nothing would meter it. A client's body is LiteLLM's list of arguments, so a name that is
not the provider's could choose another provider, another price or another end of the request.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final


class Kind(Enum):
    METERED = "metered"
    FREE = "free"
    """Costs nothing; the key is verified."""
    NOT_METERED = "not metered"


@dataclass(frozen=True)
class Api:
    """One API of a provider, as LiteLLM serves it."""

    paths: str
    call_types: frozenset[str]
    """What LiteLLM calls its requests where they are reserved. None of them: it costs nothing."""
    members: frozenset[str]
    """Of the body. Those that cost what no hold and no price counts are missing, see the README."""
    limits: tuple[str, ...] = ()
    """Members that limit the output. Those of other APIs are removed."""
    least_limit: int = 1
    answers: tuple[str, ...] = ()
    """Members that multiply the answers."""
    tools: str = ""
    """The types of tools, as a pattern: what the client carries out itself, and what has a price."""
    tool_members: frozenset[str] = frozenset()
    """Members of a tool. Google's have none: their types are their members."""
    form: bool = False
    """The body may be a form."""
    nested: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Members of members that LiteLLM reads as its own arguments."""
    camel: bool = False
    """Names may be written max_output_tokens or maxOutputTokens, and are passed on as the latter."""


def _words(*texts: str) -> frozenset[str]:
    return frozenset(" ".join(texts).split())


_V1: Final = "(?:/v1)?/"
_OF_A_DEPLOYMENT: Final = "/(?:openai/deployments|engines)/[^?#]+/"
_GOOGLE: Final = "(?:/v1beta)?/models/[^?#]+:"

_SAMPLING: Final = "model temperature top_p seed stop user frequency_penalty presence_penalty logit_bias stream stream_options"
_MESSAGES: Final = _words(
    "model messages max_tokens system temperature top_p top_k stop_sequences stream tools tool_choice thinking metadata",
    "service_tier cache_control context_management output_config diagnostics",
)
_MESSAGES_TOOLS: Final = (
    r"custom|(?:bash|text_editor|computer|computer_toolset|memory|web_search|web_fetch)_\d+"
    r"|tool_search_tool_(?:bm25|regex)(?:_\d+)?"
)
_MESSAGES_TOOL: Final = _words(
    "type name description input_schema cache_control strict allowed_callers defer_loading eager_input_streaming",
    "input_examples max_uses allowed_domains blocked_domains user_location max_content_tokens citations url_sources use_cache",
    "max_characters response_inclusion configs display_width_px display_height_px display_number enable_zoom",
)
_GENERATE: Final = _words("contents systemInstruction tools toolConfig safetySettings generationConfig cachedContent labels")
_GENERATION_CONFIG: Final = _words(
    "temperature topP topK candidateCount maxOutputTokens stopSequences responseLogprobs logprobs presencePenalty",
    "frequencyPenalty seed responseMimeType responseSchema responseJsonSchema responseModalities mediaResolution speechConfig",
    "audioTimestamp thinkingConfig imageConfig",
)
_GENERATE_TOOLS: Final = "functionDeclarations|googleSearch|googleSearchRetrieval|urlContext|codeExecution|computerUse"

APIS: Final = (
    Api(
        paths=f"{_V1}chat/completions|{_OF_A_DEPLOYMENT}chat/completions",
        call_types=_words("acompletion"),
        members=_words(
            _SAMPLING,
            "messages max_tokens max_completion_tokens n functions function_call tools tool_choice parallel_tool_calls",
            "response_format logprobs top_logprobs reasoning_effort verbosity modalities audio prediction web_search_options",
            "store service_tier safety_identifier prompt_cache_key prompt_cache_options prompt_cache_retention moderation",
        ),
        limits=("max_completion_tokens", "max_tokens"),
        answers=("n",),
        tools="function|custom",
        tool_members=_words("type function custom cache_control"),
    ),
    Api(
        paths=f"{_V1}completions|{_OF_A_DEPLOYMENT}completions",
        call_types=_words("atext_completion"),
        members=_words(_SAMPLING, "prompt max_tokens n best_of echo suffix logprobs"),
        limits=("max_tokens",),
        # With `echo`, for the probabilities of the prompt.
        least_limit=0,
        answers=("n", "best_of"),
    ),
    Api(
        paths=f"{_V1}embeddings|{_OF_A_DEPLOYMENT}embeddings",
        call_types=_words("aembedding"),
        members=_words("model input dimensions encoding_format user"),
    ),
    Api(
        paths=f"{_V1}responses|/openai/v1/responses",
        call_types=_words("aresponses"),
        members=_words(
            "model input instructions max_output_tokens max_tool_calls tools tool_choice parallel_tool_calls reasoning text",
            "temperature top_p top_logprobs truncation include store previous_response_id conversation prompt metadata user",
            "service_tier safety_identifier prompt_cache_key prompt_cache_options prompt_cache_retention context_management",
            "moderation stream stream_options",
        ),
        limits=("max_output_tokens",),
        tools=(
            r"function|custom|namespace|tool_search|apply_patch|local_shell|computer|computer_use_preview|file_search|mcp"
            r"|web_search(?:_preview)?(?:_\d{4}_\d\d_\d\d)?"
        ),
        tool_members=_words(
            "type name description parameters strict format output_schema allowed_callers defer_loading tools execution",
            "display_width display_height environment filters search_context_size user_location search_content_types",
            "vector_store_ids max_num_results ranking_options server_label server_url server_description connector_id",
            "allowed_tools require_approval authorization headers",
        ),
    ),
    Api(
        paths="/v1/messages",
        call_types=_words("anthropic_messages"),
        members=_MESSAGES,
        limits=("max_tokens",),
        tools=_MESSAGES_TOOLS,
        tool_members=_MESSAGES_TOOL,
    ),
    Api(
        paths="/v1/messages/count_tokens",
        call_types=frozenset(),
        members=_MESSAGES,
        tools=_MESSAGES_TOOLS,
        tool_members=_MESSAGES_TOOL,
    ),
    Api(
        paths=f"{_V1}images/generations|{_OF_A_DEPLOYMENT}images/generations",
        call_types=_words("image_generation"),
        members=_words(
            "model prompt n size quality style response_format user background moderation output_format output_compression",
        ),
        answers=("n",),
    ),
    Api(
        paths=f"{_V1}images/edits|{_OF_A_DEPLOYMENT}images/edits",
        call_types=_words("aimage_edit"),
        members=_words(
            "model prompt image image[] mask mask[] n size quality response_format user background input_fidelity",
            "output_format output_compression",
        ),
        answers=("n",),
        form=True,
    ),
    Api(
        paths=f"{_V1}audio/speech",
        call_types=_words("aspeech"),
        members=_words("model input voice instructions response_format speed"),
    ),
    Api(
        paths=f"{_V1}audio/transcriptions",
        call_types=_words("transcription"),
        members=_words(
            "model file language languages[] prompt response_format temperature chunking_strategy include[]",
            "timestamp_granularities[] keywords[] known_speaker_names[] known_speaker_references[]",
        ),
        form=True,
    ),
    Api(paths=f"{_V1}moderations", call_types=_words("moderation"), members=_words("model input")),
    Api(
        paths=f"{_V1}rerank|/v2/rerank",
        call_types=_words("rerank"),
        members=_words("model query documents top_n rank_fields return_documents max_chunks_per_doc max_tokens_per_doc"),
    ),
    Api(
        paths=f"{_GOOGLE}(?:generateContent|streamGenerateContent)",
        call_types=_words("agenerate_content agenerate_content_stream"),
        members=_GENERATE,
        limits=("generationConfig.maxOutputTokens",),
        answers=("generationConfig.candidateCount",),
        tools=_GENERATE_TOOLS,
        nested={"generationConfig": _GENERATION_CONFIG},
        camel=True,
    ),
    Api(
        paths=f"{_GOOGLE}countTokens",
        call_types=frozenset(),
        members=_GENERATE,
        tools=_GENERATE_TOOLS,
        nested={"generationConfig": _GENERATION_CONFIG},
        camel=True,
    ),
)
_PATHS: Final = tuple((re.compile(api.paths), api) for api in APIS)
_FREE: Final = re.compile(r"(?:/v1)?/models(?:/[^?#]+)?|(?:/v1)?/model/info")

MEMBERS: Final = frozenset().union(*(api.members for api in APIS))
LIMITS: Final = frozenset(name.rpartition(".")[2] for api in APIS for name in api.limits)
ANSWERS: Final = frozenset(name.rpartition(".")[2] for api in APIS for name in api.answers)


def api_of(method: str | None, path: str) -> Api | None:
    """`method` is None for WebSockets."""
    if method != "POST":
        return None
    return next((api for pattern, api in _PATHS if pattern.fullmatch(path)), None)


def kind_of(method: str | None, path: str) -> Kind:
    if (api := api_of(method, path)) is not None:
        return Kind.METERED if api.call_types else Kind.FREE
    if method == "GET" and _FREE.fullmatch(path):
        return Kind.FREE
    return Kind.NOT_METERED
