"""Parts without a proxy."""

from __future__ import annotations

import asyncio
import copy
import importlib
import json
import pickle
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from keymeter_client import LimitExceeded, RateLimited, Refused, Unavailable
from keymeter_client.errors import CODES
from litellm.integrations.custom_logger import CustomLogger
from litellm.proxy._types import UserAPIKeyAuth

from keymeter_litellm import holds, layout, metering, refusals, routes, settings

TEXT: dict[str, Any] = {"input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6}


def hold(price: dict[str, Any], call_type: str = "acompletion", **data: Any) -> Decimal:
    data = {"messages": [{"role": "user", "content": "hello"}], **data}
    return holds.hold_usd(price, holds.need_of(call_type, data, "openai/a"), 4096)


PROMPT = hold({**TEXT, "output_cost_per_token": 0}, max_tokens=1)


@pytest.mark.parametrize(
    ("data", "tokens"),
    [
        ({}, 4096),
        ({"max_tokens": 10}, 10),
        ({"max_completion_tokens": 20, "max_tokens": 10}, 20),
        ({"max_completion_tokens": 1, "max_tokens": 60_000}, 60_000),
        ({"max_tokens": 1, "max_completion_tokens": 60_000}, 60_000),
        ({"max_output_tokens": 30}, 30),
        ({"generationConfig": {"maxOutputTokens": 40}}, 40),
        ({"generationConfig": {"maxOutputTokens": 1, "max_output_tokens": 50}}, 50),
        ({"generationConfig": {"maxOutputTokens": 10, "candidateCount": 4}}, 40),
        ({"max_tokens": 10, "n": 3}, 30),
        ({"max_tokens": 10, "best_of": 4, "n": 3}, 40),
        ({"max_tokens": -1}, 4096),
        ({"max_tokens": True}, 4096),
        ({"max_tokens": "50"}, 50),
        ({"max_tokens": 50.0}, 50),
    ],
)
def test_the_output_that_is_held(data: dict[str, Any], tokens: int) -> None:
    assert hold(TEXT, **data) - PROMPT == tokens * Decimal("0.000002")


def test_not_more_than_the_model_can_give() -> None:
    assert hold({**TEXT, "max_output_tokens": 100}, max_tokens=10**9) - PROMPT == 100 * Decimal("0.000002")


def test_dearer_rates_that_may_apply() -> None:
    long = "word " * 3000
    price = {**TEXT, "input_cost_per_token_above_2k_tokens": 5e-6, "output_cost_per_token_above_2k_tokens": 9e-6}
    tokens = hold({"input_cost_per_token": 1}, messages=[{"role": "user", "content": long}], max_tokens=1)
    assert tokens > 2000
    assert hold(price, messages=[{"role": "user", "content": long}], max_tokens=10) == tokens * Decimal(
        "0.000005"
    ) + 10 * Decimal("0.000009")
    assert hold(price, max_tokens=10) == PROMPT + 10 * Decimal("0.000002")
    priority = {**TEXT, "output_cost_per_token_priority": 8e-6, "output_cost_per_token_batches": 1}
    assert hold(priority, max_tokens=10, service_tier="priority") == PROMPT + 10 * Decimal("0.000008")
    assert hold(priority, max_tokens=10) == PROMPT + 10 * Decimal("0.000002")
    assert hold({**TEXT, "output_cost_per_reasoning_token": 3e-6}, max_tokens=10) == PROMPT + 10 * Decimal("0.000003")
    tiers = {"tiered_pricing": [{"output_cost_per_token": 1e-6}, {"output_cost_per_token": 7e-6}]}
    assert hold(tiers, max_tokens=10) == 10 * Decimal("0.000007")


@pytest.mark.parametrize(
    ("call_type", "price", "data", "usd"),
    [
        ("image_generation", {"output_cost_per_image": 0.04}, {"prompt": "a", "n": 3}, "0.12"),
        ("image_generation", {"input_cost_per_pixel": 1e-8}, {"prompt": "a", "size": "512x512"}, "0.00262144"),
        ("aspeech", {"input_cost_per_character": 1e-5}, {"input": "x" * 50}, "0.0005"),
        ("rerank", {"input_cost_per_query": 0.002}, {"query": "a", "documents": ["b"] * 250}, "0.006"),
        (
            "aembedding",
            {"input_cost_per_token": 1e-6, "output_cost_per_token": 1},
            {"input": [1, 2, 3], "messages": None},
            "0.000003",
        ),
        ("acompletion", {"input_cost_per_second": 0.001}, {}, "0.06"),
    ],
)
def test_other_units(call_type: str, price: dict[str, Any], data: dict[str, Any], usd: str) -> None:
    assert hold(price, call_type, **data) == Decimal(usd)


def test_answers_to_several_prompts_are_several() -> None:
    price = {"output_cost_per_token": 1}
    assert hold(price, "atext_completion", messages=None, prompt=["a", "b", "c"], n=2, max_tokens=10) == 60
    assert hold(price, "atext_completion", messages=None, prompt=[[1, 2], [3]], max_tokens=10) == 20
    assert hold(price, "atext_completion", messages=None, prompt=[1, 2, 3], max_tokens=10) == 10


def test_text_is_counted_wherever_it_is() -> None:
    price = {"input_cost_per_token": 1}
    text = "word " * 5000
    for data in (
        {"tools": [{"type": "function", "function": {"name": "a", "parameters": {"properties": {"source": {"a": text}}}}}]},
        {"response_format": {"type": "json_schema", "json_schema": {"schema": {"description": text}}}},
        {"functions": [{"name": "a", "description": text}]},
        {"messages": [{"role": "user", "content": [{"type": "tool_use", "input": {"file": text}}]}]},
        {"messages": [{"role": "user", "content": [{"type": "document", "source": {"type": "text", "data": text}}]}]},
        {"messages": None, "contents": [{"parts": [{"functionResponse": {"response": {"source": text}}}]}]},
        {"messages": None, "prompt": {"id": "a", "variables": {"a": text}}},
        {"messages": None, "prompt": "a", "suffix": text},
        {"output_config": {"format": {"type": "json_schema", "schema": {"description": text}}}},
        {"messages": None, "generationConfig": {"responseSchema": {"description": text}}},
        {"messages": None, "generationConfig": {"responseJsonSchema": {"description": text}}},
        {"messages": [{"role": "user", "content": [{"type": "search_result", "source": text}]}]},
        {"messages": [{"role": "assistant", "content": "a", "thinking_blocks": [{"type": "thinking", "thinking": text}]}]},
        {"messages": [{"role": "assistant", "content": [{"type": "text", "text": "a", "citations": [{"cited_text": text}]}]}]},
        {"tools": json.loads('{"a":' * 90 + json.dumps(text) + "}" * 90)},
    ):
        assert 5000 < hold(price, **data) < 12_000, data
    predicted = hold({"output_cost_per_token": 1}, prediction={"type": "content", "content": text}, max_tokens=10)
    assert 5000 < predicted < 12_000


def test_a_short_limit_of_messages_is_held_as_it_is_sent() -> None:
    """LiteLLM asks OpenAI's Responses for 16 tokens at least."""
    price = {"output_cost_per_token": 1}
    assert hold(price, "anthropic_messages", max_tokens=5) == 16
    assert hold(price, "anthropic_messages", max_tokens=20) == 20


def test_a_long_document_is_searched_as_several() -> None:
    price = {"input_cost_per_query": 1}
    assert hold(price, "rerank", query="a", documents=["word " * 4_000] * 100) >= 8
    assert hold(price, "rerank", query="a", documents=[{"text": "word " * 4_000}] * 100) >= 8


def test_images_and_files_are_not_counted_as_text() -> None:
    content = [{"type": "input_text", "text": "hello"}, {"type": "input_image", "image_url": "data:" + "A" * 500_000}]
    tokens = hold({"input_cost_per_token": 1}, "aresponses", messages=None, input=[{"role": "user", "content": content}])
    assert 1_000 < tokens < 3_000


def test_a_price_of_nothing_is_a_price() -> None:
    assert holds.is_price({"input_cost_per_token": 0})
    assert holds.is_price({"tiered_pricing": [{}]})
    assert not holds.is_price({"input_cost_per_token": None, "max_tokens": 5})
    assert not holds.is_price({})


def test_all_models_that_may_answer() -> None:
    router = SimpleNamespace(
        fallbacks=[{"a": ["b", {"model": "c"}]}, {"openai/d": ["e"]}],
        context_window_fallbacks=[{"b": ["a", "d"]}],
        content_policy_fallbacks=None,
    )
    assert holds.fallbacks_of(router, "a") == {"b", "c", "d", "e"}
    assert holds.fallbacks_of(router, "c") == set()
    router.content_policy_fallbacks = [{"*": ["b"]}]
    assert holds.fallbacks_of(router, "c") == {"a", "b", "d", "e"}


def test_what_costs_nothing_has_only_prices_of_nothing() -> None:
    assert holds.is_free({"input_cost_per_token": 0, "output_cost_per_token": 0.0, "max_tokens": 5})
    assert not holds.is_free({"input_cost_per_token": 0, "output_cost_per_token": 1e-9})
    assert not holds.is_free({"input_cost_per_token": 0, "search_context_cost_per_query": {"search_context_size_low": 0.01}})
    assert not holds.is_free({"tiered_pricing": [{"input_cost_per_token": 0}, {"input_cost_per_token": 1}]})
    assert not holds.is_free({})


def test_a_cost_by_the_counts_of_the_answer() -> None:
    tokens = {"prompt_tokens": 10, "completion_tokens": 5}
    assert holds.usage_usd(TEXT, tokens) == Decimal("0.00002")
    assert holds.usage_usd({"input_cost_per_second": 0.1}, {"metadata": {"usage_object": {"seconds": 2.5}}}) == Decimal("0.25")
    assert holds.usage_usd(TEXT, {"prompt_tokens": 0, "completion_tokens": 0, "metadata": None}) is None
    assert holds.usage_usd({"output_cost_per_image": 1}, tokens) is None
    assert holds.usage_usd(TEXT, None) is None


@pytest.mark.parametrize(
    ("data", "what"),
    [
        ({}, None),
        ({"service_tier": "flex"}, None),
        ({"service_tier": "priority"}, "the service tier priority"),
        ({"web_search_options": {}}, "a web search"),
        ({"tools": [{"type": "web_search_20250305"}]}, "a web search"),
        ({"tools": [{"type": "function"}]}, None),
    ],
)
def test_what_has_no_price(data: dict[str, Any], what: str | None) -> None:
    assert holds.unpriced({**TEXT, "input_cost_per_token_priority": None}, data) == what
    searches = {"search_context_size_medium": 0.01}
    priced = {**TEXT, "input_cost_per_token_priority": 1e-6, "search_context_cost_per_query": searches}
    assert holds.unpriced(priced, data) is None


# Members of the providers' SDKs that do not pass, each with its reason.
NOT_PASSED = {
    "background": "answers in the background are not metered",
    "inference_geo": "multiplies the price, and no hold counts it",
    "speed": "multiplies the price, and no hold counts it",
    "container": "of tools that the provider bills apart",
    "user_profile_id": "whom the provider bills is the operator's choice",
    "workspace_id": "whom the provider bills is the operator's choice",
    "partial_images": "of streams that LiteLLM does not read",
    "stream_format": "of streams that LiteLLM does not read",
    "metadata": "LiteLLM's own where it does not pass it on",
}


@pytest.mark.parametrize(
    ("path", "module", "name"),
    [
        ("/v1/chat/completions", "openai.types.chat.completion_create_params", "CompletionCreateParamsBase"),
        ("/v1/completions", "openai.types.completion_create_params", "CompletionCreateParamsBase"),
        ("/v1/embeddings", "openai.types.embedding_create_params", "EmbeddingCreateParams"),
        ("/v1/responses", "openai.types.responses.response_create_params", "ResponseCreateParamsBase"),
        ("/v1/images/generations", "openai.types.image_generate_params", "ImageGenerateParamsBase"),
        ("/v1/images/edits", "openai.types.image_edit_params", "ImageEditParamsBase"),
        ("/v1/audio/speech", "openai.types.audio.speech_create_params", "SpeechCreateParams"),
        ("/v1/audio/transcriptions", "openai.types.audio.transcription_create_params", "TranscriptionCreateParamsBase"),
        ("/v1/moderations", "openai.types.moderation_create_params", "ModerationCreateParams"),
        ("/v1/messages", "anthropic.types.message_create_params", "MessageCreateParamsBase"),
    ],
)
def test_every_member_of_the_sdks_passes_or_has_a_reason(path: str, module: str, name: str) -> None:
    members = set(getattr(importlib.import_module(module), name).__annotations__)
    api = routes.api_of("POST", path)
    assert api is not None
    assert not members - {each.removesuffix("[]") for each in api.members} - set(NOT_PASSED)


def test_a_request_is_never_written_or_shown() -> None:
    from keymeter_litellm.metering import MeteredKey, MeteredRequest, request_in, request_of

    request = MeteredRequest("sk-secret", "127.0.0.1")
    key = MeteredKey(api_key="hash")
    key._request = request
    assert "sk-secret" not in repr(request) + repr(key) + str(key.model_dump()) + key.model_dump_json()
    assert copy.deepcopy(key)._request is request
    assert key.model_copy(update={"metadata": {}})._request is request
    with pytest.raises(TypeError):
        pickle.dumps(request)
    assert request_of(UserAPIKeyAuth(api_key="hash")) is None
    assert request_in({"litellm_params": {"litellm_metadata": {"user_api_key_auth": key}}}) is request
    # A client can send what looks like it.
    assert request_in({"litellm_params": {"metadata": {"user_api_key_auth": {"_request": request}}}}) is None


class Ledger:
    """In place of the client."""

    def __init__(self) -> None:
        self.charged: list[tuple[str, Decimal]] = []
        self.ids: set[str] = set()
        self.failures = 0

    async def charge(self, key: str, *, usd: Decimal, model: str | None, request_id: str) -> None:
        self.ids.add(request_id)
        if self.failures:
            self.failures -= 1
            raise Unavailable("no answer")
        self.charged.append((key, usd))


def test_a_cost_without_a_reservation_is_charged_and_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from keymeter_litellm import metering

    ledger = Ledger()
    ledger.failures = 1
    monkeypatch.setattr(metering.plugin, "keymeter", ledger)
    key = metering.MeteredKey(api_key="hash")
    key._request = metering.MeteredRequest("sk-secret", "127.0.0.1")

    async def report(start: int, owner: object = key) -> None:
        metadata = {"user_api_key_auth": owner}
        kwargs = {"response_cost": 0.01, "litellm_call_id": "a", "litellm_params": {"metadata": metadata}}
        await metering.plugin.async_log_success_event(kwargs, None, start, start + 1)

    async def run() -> None:
        await report(1)
        # The same report again, another one of the same request, and one that no key made.
        await report(1)
        await report(2)
        await report(3, UserAPIKeyAuth(api_key="hash"))
        await asyncio.wait(metering.plugin._tasks)

    asyncio.run(run())
    assert ledger.charged == [("sk-secret", Decimal("0.01"))] * 2
    # The repeated charge had the ID of the first.
    assert len(ledger.ids) == 2
    assert caplog.text.count("without a reservation: it is charged now") == 2
    assert caplog.text.count("which nobody is charged") == 1
    assert "sk-secret" not in caplog.text


def test_a_renamed_hook_is_found() -> None:
    assert layout.missing_of(CustomLogger, UserAPIKeyAuth) == []

    class Renamed(CustomLogger):
        async_pre_call_hook = None

        async def async_log_success_event(
            self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any, more: Any
        ) -> None: ...

    missing = layout.missing_of(Renamed, UserAPIKeyAuth)
    assert len(missing) == 2
    assert "async_pre_call_hook" in missing[0]
    assert "async_log_success_event" in missing[1]
    assert layout.missing_of(CustomLogger, Renamed) != []
    router = SimpleNamespace(fallbacks=[], context_window_fallbacks=[], content_policy_fallbacks=[], timeout=1)
    assert layout.missing_of_router(router) == []
    del router.context_window_fallbacks
    assert layout.missing_of_router(router) == ["LiteLLM's router has no context_window_fallbacks"]


@pytest.mark.parametrize(
    ("method", "path", "kind"),
    [
        ("POST", "/v1/chat/completions", routes.Kind.METERED),
        ("POST", "/openai/deployments/a/b/chat/completions", routes.Kind.METERED),
        ("POST", "/models/a/b:streamGenerateContent", routes.Kind.METERED),
        ("GET", "/v1/models/a/b", routes.Kind.FREE),
        ("GET", "/v1/chat/completions", routes.Kind.NOT_METERED),
        ("POST", "/v1/chat/completions/", routes.Kind.NOT_METERED),
        ("POST", "/v1/chat/completions/1", routes.Kind.NOT_METERED),
        ("POST", "/anything/v1/chat/completions", routes.Kind.NOT_METERED),
        ("DELETE", "/v1/models", routes.Kind.NOT_METERED),
        (None, "/v1/responses", routes.Kind.NOT_METERED),
    ],
)
def test_routes(method: str | None, path: str, kind: routes.Kind) -> None:
    assert routes.kind_of(method, path) is kind


def test_every_code_of_keymeter_has_an_answer() -> None:
    for code, (status, kind) in CODES.items():
        error = Unavailable("m", status, code) if kind is Unavailable else kind(status, code, "m")
        answer = refusals.refusal_of(error)
        shape = (answer.code, answer.type, answer.error_code)
        if code == "invalid_key":
            assert shape == ("401", "invalid_request_error", "invalid_api_key")
        elif status == 402:
            assert shape == ("402", "insufficient_quota", code)
        elif status == 403:
            assert shape == ("403", "permission_error", code)
        elif status == 429:
            assert shape == ("429", "rate_limit_error", code)
        elif status >= 500:
            assert shape == ("503", "api_error", "keymeter_unavailable")
            assert answer.headers == {"Retry-After": "2"}
        else:
            assert shape == ("500", "api_error", "keymeter_misconfigured")
            assert code not in str(answer.to_dict())
    limit = refusals.refusal_of(LimitExceeded(429, "token_period_exceeded", "m", 60))
    assert limit.headers == {"x-should-retry": "false", "Retry-After": "60"}
    assert refusals.refusal_of(RateLimited(429, "rate_limited", "m", 3)).headers == {"Retry-After": "3"}
    assert refusals.refusal_of(Refused(403, "new_code", "m")).error_code == "new_code"
    # Words with which LiteLLM changes a status.
    assert refusals.refusal_of(Refused(403, "a", "No deployments available")).code == "403"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MARKUP", "-1"),
        ("MARKUP", "NaN"),
        ("TTL_SECONDS", "1.5"),
        ("TTL_SECONDS", "86401"),
        ("UNPRICED_USD", "free"),
        ("ON_EXPIRY", "x"),
    ],
)
def test_wrong_settings_are_named(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=f"LITELLM_KEYMETER_{name}"):
        settings.read({f"LITELLM_KEYMETER_{name}": value})


def test_the_defaults_are_safe() -> None:
    assert settings.read({}) == settings.Settings(Decimal(1), 900, "charge", 4096, None, 10_000)
    assert settings.read({"LITELLM_KEYMETER_UNPRICED_USD": "0"}).unpriced_usd == 0
    assert settings.read({"LITELLM_KEYMETER_ALLOW": "top_k, X-Tenant"}).allow == {"top_k", "X-Tenant"}


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("203.0.113.7:5678", "203.0.113.7"),
        ("2001:db8::7", "2001:db8::7"),
        ("[2001:db8::7]:5678", "2001:db8::7"),
        ("fe80::1%eth0", "fe80::1"),
        ("203.0.113.7:x", metering.NO_ADDRESS),
        ("unknown", metering.NO_ADDRESS),
    ],
)
def test_the_address_has_no_port(host: str, address: str) -> None:
    request = SimpleNamespace(client=SimpleNamespace(host=host))
    assert metering._address(request) == address
