"""What a client gets that is refused, and what its SDK does about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anthropic
import httpx
import openai
import pytest
from conftest import Proxies, client, plan
from programs import Key, Keymeter, LiteLLM, Upstream, eventually, free_port, quota
from refused_keys import disabled, expired, nobody, of_a_poor_owner

REFUSALS: list[tuple[Callable[[Keymeter], Key], int, str, str, dict[str, str | None]]] = [
    (nobody, 401, "invalid_request_error", "invalid_api_key", {"x-should-retry": "false", "retry-after": None}),
    (
        lambda each: each.key("0.0001"),
        402,
        "insufficient_quota",
        "token_quota_insufficient",
        {"x-should-retry": "false", "retry-after": None},
    ),
    (of_a_poor_owner, 402, "insufficient_quota", "user_quota_insufficient", {"x-should-retry": "false", "retry-after": None}),
    (disabled, 403, "permission_error", "token_disabled", {"x-should-retry": "false", "retry-after": None}),
    (expired, 403, "permission_error", "token_expired", {"x-should-retry": "false", "retry-after": None}),
    (
        lambda each: each.key(model_limits_enabled=True, model_limits="other"),
        403,
        "permission_error",
        "model_not_allowed",
        {"x-should-retry": "false", "retry-after": None},
    ),
    (
        lambda each: each.key(allow_ips="127.0.0.9"),
        403,
        "permission_error",
        "ip_not_allowed",
        {"x-should-retry": "false", "retry-after": None},
    ),
    # Larger than the whole limit: time does not help.
    (
        lambda each: each.key(period_limits={"day": 1}),
        429,
        "rate_limit_error",
        "token_period_exceeded",
        {"x-should-retry": "false", "retry-after": None},
    ),
    (
        lambda each: each.key(rate_limits={"concurrency": 0}),
        429,
        "rate_limit_error",
        "too_many_concurrent",
        {"x-should-retry": None},
    ),
]


@pytest.mark.parametrize(("make", "status", "kind", "code", "headers"), REFUSALS, ids=[row[3] for row in REFUSALS])
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/images/generations", "/v1/rerank"])
def test_each_refusal(
    proxy: LiteLLM,
    keymeter: Keymeter,
    upstream: Upstream,
    make: Callable[[Keymeter], Key],
    status: int,
    kind: str,
    code: str,
    headers: dict[str, str | None],
    path: str,
) -> None:
    key = make(keymeter)
    model = {"/v1/chat/completions": "chat", "/v1/images/generations": "image", "/v1/rerank": "rerank"}[path]
    body = {"model": model, "messages": plan(), "prompt": "a", "query": "a", "documents": ["b"]}
    before = upstream.calls()
    answer = httpx.post(f"{proxy.url}{path}", json=body, headers={"Authorization": f"Bearer {key.secret}"}, timeout=30)
    error = answer.json()["error"]
    assert answer.status_code == status, answer.text
    assert list(error) == ["message", "type", "param", "code"]
    assert (error["type"], error["param"], error["code"]) == (kind, None, code)
    assert error["message"]
    assert key.secret not in answer.text
    for name, value in headers.items():
        assert answer.headers.get(name) == value, name
    assert upstream.calls() == before


def used_up(keymeter: Keymeter, proxy: LiteLLM, **limits: object) -> Key:
    key = keymeter.key(**limits)
    client(key, proxy).chat.completions.create(model="chat", messages=plan(), max_tokens=60)
    eventually(lambda: key.charges())
    return key


def attempts(key: Key, proxy: LiteLLM, count: int = 2) -> tuple[openai.APIStatusError, int]:
    """How often the SDK sends a request that is refused. It may repeat it twice."""
    sent: list[httpx.Request] = []
    http = openai.DefaultHttpxClient(event_hooks={"request": [sent.append]})
    with pytest.raises(openai.APIStatusError) as refused:
        client(key, proxy, retries=count, http_client=http).chat.completions.create(
            model="chat", messages=plan(), max_tokens=60
        )
    return refused.value, len(sent)


def test_a_period_limit_is_not_repeated_and_says_when(proxy: LiteLLM, keymeter: Keymeter) -> None:
    error, sent = attempts(used_up(keymeter, proxy, period_limits={"day": quota("0.0004")}), proxy)
    assert (error.status_code, error.code, sent) == (429, "token_period_exceeded", 1)
    assert error.response.headers["x-should-retry"] == "false"
    assert 0 < int(error.response.headers["retry-after"]) <= 86_400


def test_a_rate_is_repeated_by_the_sdk(proxy: LiteLLM, keymeter: Keymeter) -> None:
    error, sent = attempts(used_up(keymeter, proxy, rate_limits={"requests_per_minute": 1}), proxy, 0)
    assert (error.status_code, error.code, sent) == (429, "rate_limited", 1)
    assert 0 < int(error.response.headers["retry-after"]) <= 60
    assert "x-should-retry" not in error.response.headers


@pytest.mark.parametrize("make", [nobody, disabled, lambda keymeter: keymeter.key("0")])
def test_the_sdk_repeats_nothing_that_time_does_not_help(
    proxy: LiteLLM, keymeter: Keymeter, make: Callable[[Keymeter], Key]
) -> None:
    assert attempts(make(keymeter), proxy)[1] == 1


def test_refusals_of_messages_have_the_shape_of_anthropic(proxy: LiteLLM, keymeter: Keymeter) -> None:
    sdk = anthropic.Anthropic(api_key=keymeter.key("0").secret, base_url=proxy.url, max_retries=2)
    with pytest.raises(anthropic.APIStatusError) as refused:
        sdk.messages.create(model="claude", max_tokens=10, messages=[{"role": "user", "content": "a"}])
    body: Any = refused.value.response.json()
    assert refused.value.status_code == 402
    assert body["type"] == "error"
    assert body["error"]["message"]
    assert refused.value.response.headers["x-should-retry"] == "false"
    with pytest.raises(anthropic.AuthenticationError):
        anthropic.Anthropic(api_key="sk-nobody", base_url=proxy.url).messages.create(
            model="claude", max_tokens=10, messages=[{"role": "user", "content": "a"}]
        )


@pytest.mark.parametrize(
    "headers", [{"x-api-key": "{}"}, {"api-key": "{}"}, {"x-goog-api-key": "{}"}, {"x-litellm-api-key": "Bearer {}"}]
)
def test_the_key_is_taken_from_any_header_that_litellm_knows(proxy: LiteLLM, key: Key, headers: dict[str, str]) -> None:
    sent = {name: value.format(key.secret) for name, value in headers.items()}
    assert (
        httpx.post(f"{proxy.url}/v1/chat/completions", json={"model": "chat", "messages": plan()}, headers=sent).status_code
        == 200
    )


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer " + "x" * 2000}])
def test_no_key_and_no_possible_key_is_refused_unasked(proxy: LiteLLM, headers: dict[str, str]) -> None:
    answer = httpx.post(f"{proxy.url}/v1/chat/completions", json={"model": "chat", "messages": plan()}, headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key")


def test_a_streamed_request_is_refused_before_its_stream(proxy: LiteLLM, keymeter: Keymeter) -> None:
    with pytest.raises(openai.APIStatusError) as refused:
        client(keymeter.key("0"), proxy).chat.completions.create(model="chat", messages=plan(), stream=True)
    assert refused.value.status_code == 402


def test_a_revoked_credential_is_the_operators_concern(proxies: Proxies, keymeter: Keymeter, key: Key) -> None:
    made = keymeter.ask("POST", "/api/admin/gateways", {"name": f"revoked {free_port()}"})
    proxy = proxies.start(KEYMETER_CREDENTIAL=made["credential"])
    client(key, proxy).chat.completions.create(model="chat", messages=plan())
    eventually(lambda: key.charges())
    keymeter.ask("DELETE", f"/api/admin/gateways/{made['id']}")
    answer = httpx.post(
        f"{proxy.url}/v1/chat/completions",
        json={"model": "chat", "messages": plan()},
        headers={"Authorization": f"Bearer {key.secret}"},
        timeout=30,
    )
    error = answer.json()["error"]
    assert (answer.status_code, error["type"], error["code"]) == (500, "api_error", "keymeter_misconfigured")
    assert "gateway credential" not in answer.text
    assert "invalid_gateway" not in answer.text
    assert "invalid_gateway" in proxy.log()
    assert made["credential"] not in proxy.log()


def test_no_key_is_in_the_log(proxy: LiteLLM, key: Key) -> None:
    client(key, proxy).chat.completions.create(model="chat", messages=plan())
    assert key.secret not in proxy.log()
