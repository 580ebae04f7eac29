"""What a client may send. LiteLLM's arguments, headers and query do not steer a request past its price."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest
from conftest import Proxies, client, cost, plan
from programs import Key, Keymeter, LiteLLM, Upstream
from test_routes import wav

from keymeter_litellm import gate


def chat(**fields: object) -> dict[str, Any]:
    return {"model": "chat", "messages": plan(), **fields}


def responses(**fields: object) -> dict[str, Any]:
    return {"model": "chat", "input": "a cat", **fields}


def messages(**fields: object) -> dict[str, Any]:
    return {"model": "claude", "max_tokens": 100, "messages": plan(), **fields}


def google(**fields: object) -> dict[str, Any]:
    return {"contents": [{"role": "user", "parts": [{"text": "a cat"}]}], **fields}


CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"
GOOGLE = "/v1beta/models/gemini:generateContent"
FUNCTION = {"type": "function", "function": {"name": "a", "parameters": {"type": "object", "properties": {}}}}
OTHER = {"model": "other"}

REFUSED: list[tuple[str, dict[str, Any], str]] = [
    (CHAT, chat(custom_llm_provider="groq", extra_body=OTHER), "`extra_body`"),
    (CHAT, chat(extra_headers={"a": "b"}), "`extra_headers`"),
    (CHAT, chat(extra_query={"a": "b"}), "`extra_query`"),
    (CHAT, chat(nobody_knows=1), "`nobody_knows`"),
    (CHAT, chat(num_generations=5), "`num_generations`"),
    (CHAT, chat(user_config={"model_list": []}), "`user_config`"),
    (CHAT, chat(background=True), "`background`"),
    (CHAT, chat(tools=[{"type": "mcp", "server_label": "a", "server_url": "litellm_proxy"}]), "`mcp`"),
    (CHAT, chat(tools=[{**FUNCTION, "googleSearch": {}}]), "`tools.googleSearch`"),
    (CHAT, chat(tools=[{**FUNCTION, "metadata": {}}]), "`tools.metadata`"),
    (CHAT, chat(web_search_options={}), "a web search"),
    (CHAT, chat(service_tier="priority"), "the service tier priority"),
    ("/v1/completions", {"model": "text", "prompt": "a", "extra_body": OTHER}, "`extra_body`"),
    ("/v1/embeddings", {"model": "embedding", "input": "a", "extra_body": OTHER}, "`extra_body`"),
    (RESPONSES, responses(extra_body=OTHER), "`extra_body`"),
    (RESPONSES, responses(extra_body={"background": True}), "`extra_body`"),
    (RESPONSES, responses(background=1), "`background`"),
    (RESPONSES, responses(metadata={"tags": ["a"]}), "`metadata`"),
    (RESPONSES, responses(metadata='{"tags": ["a"]}'), "`metadata`"),
    (RESPONSES, responses(tools=[{"type": "image_generation", "model": "gpt-image-1"}]), "`image_generation`"),
    (RESPONSES, responses(tools=[{"type": "code_interpreter"}]), "`code_interpreter`"),
    (RESPONSES, responses(tools=[{"type": "mcp", "server_label": "a", "server_url": "litellm_proxy/mcp/a"}]), "this proxy"),
    (RESPONSES, responses(tools=[{"type": "namespace", "tools": [{"type": "code_interpreter"}]}]), "`code_interpreter`"),
    (MESSAGES, messages(extra_body=OTHER), "`extra_body`"),
    (MESSAGES, messages(inference_geo="us"), "`inference_geo`"),
    (MESSAGES, messages(tools=[{"type": "code_execution_20250825", "name": "a"}]), "`code_execution_20250825`"),
    (GOOGLE, google(extra_body=OTHER), "`extra_body`"),
    (GOOGLE, google(config={"maxOutputTokens": 60000}, generationConfig={"maxOutputTokens": 1}), "`config`"),
    (GOOGLE, google(generationConfig={"modelSelectionConfig": {}}), "`generationConfig.modelSelectionConfig`"),
    (GOOGLE, google(generationConfig={"http_options": {}}), "`generationConfig.http_options`"),
    (GOOGLE, google(tools=[{"enterpriseWebSearch": {}}]), "`enterpriseWebSearch`"),
    ("/v1/images/generations", {"model": "image", "prompt": "a", "extra_body": {"n": 10}}, "`extra_body`"),
    ("/v1/audio/speech", {"model": "speech", "input": "a", "voice": "alloy", "extra_body": OTHER}, "`extra_body`"),
    ("/v1/moderations", {"model": "moderation", "input": "a", "extra_body": OTHER}, "`extra_body`"),
    ("/v1/rerank", {"model": "rerank", "query": "a", "documents": ["b"], "extra_body": OTHER}, "`extra_body`"),
    ("/v1/messages/count_tokens", messages(extra_body=OTHER), "`extra_body`"),
]


@pytest.mark.parametrize(("path", "body", "name"), REFUSED, ids=[f"{path} {name}" for path, _, name in REFUSED])
def test_what_is_not_the_providers_is_refused_by_its_name(
    http: httpx.Client, key: Key, upstream: Upstream, path: str, body: dict[str, Any], name: str
) -> None:
    before = upstream.calls()
    answer = http.post(path, json=body)
    assert answer.status_code == 403, answer.text
    error = answer.json()["error"]
    assert name in error["message"]
    assert path.startswith("/v1/messages") or error["code"] == "not_metered"
    assert answer.headers["x-should-retry"] == "false"
    assert upstream.calls() == before
    key.settled()


INVALID: list[tuple[str, bytes | dict[str, Any]]] = [
    (CHAT, b'{"model": "chat"'),
    (CHAT, b'["chat"]'),
    (CHAT, b"[" * 500 + b"]" * 500),
    (CHAT, b'{"model": "chat", "messages": ' + b'{"a":' * 500 + b"1" + b"}" * 500 + b"}"),
    (CHAT, chat(max_tokens=-1)),
    (CHAT, chat(max_tokens="all")),
    (CHAT, chat(max_tokens=1.5)),
    (CHAT, chat(n=True)),
    (CHAT, chat(stream=1)),
    (CHAT, chat(stream="true")),
    (CHAT, chat(tools="all")),
    (GOOGLE, google(generationConfig={"maxOutputTokens": 1, "max_output_tokens": 60000})),
    (GOOGLE, google(generationConfig={"candidateCount": [8]})),
    (GOOGLE, google(generationConfig=[["modelSelectionConfig", {}]])),
]


@pytest.mark.parametrize(("path", "body"), INVALID)
def test_what_cannot_be_counted_is_invalid(http: httpx.Client, key: Key, path: str, body: bytes | dict[str, Any]) -> None:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = http.post(path, content=content, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_request")
    key.settled()


OWN: dict[str, Any] = {
    "custom_llm_provider": "groq",
    "api_base": "http://127.0.0.1:1",
    "base_url": "http://127.0.0.1:1",
    "api_key": "sk-other",
    "api_version": "1",
    "timeout": 0.001,
    "request_timeout": 0.001,
    "stream_timeout": 0.001,
    "mock_response": "nothing",
    "mock_timeout": True,
    "cache": {"no-cache": True, "ttl": 1},
    "caching": True,
    "ttl": 1,
    "metadata": {"tags": ["a"], "model_group": "free", "user_api_key": "a"},
    "litellm_metadata": {"tags": ["a"]},
    "tags": ["a"],
    "model_info": {"id": "a", "input_cost_per_token": 0},
    "input_cost_per_token": 0,
    "output_cost_per_token": 0,
    "prompt_id": "a",
    "prompt_variables": {},
    "guardrails": ["a"],
    "drop_params": True,
    "allowed_openai_params": ["messages"],
    "additional_drop_params": ["messages"],
    "proxy_server_request": {"body": {}},
    "litellm_call_id": "a",
    "no-log": True,
    "max_output_tokens": 1,
    "maxOutputTokens": 1,
    "callbacks": [],
    # Of other APIs.
    "prompt": "a",
    "best_of": 10,
    "generationConfig": {"candidateCount": 10},
}


@pytest.mark.parametrize("stream", [False, True])
def test_litellms_own_arguments_are_removed(http: httpx.Client, key: Key, upstream: Upstream, stream: bool) -> None:
    answer = http.post(CHAT, json={**OWN, **chat(messages=plan(id=key.name), stream=stream)})
    assert answer.status_code == 200, answer.text
    key.settled(cost())
    assert set(upstream.body(key.name)) <= {"model", "messages", "stream", "stream_options"}


HEADERS = {
    "x-litellm-timeout": "0.5",
    "x-litellm-stream-timeout": "0.5",
    "x-litellm-num-retries": "3",
    "x-litellm-tags": "a",
    "x-litellm-model": "other",
    "x-litellm-spend-logs-metadata": "{}",
    "x-litellm-disable-callbacks": "keymeter_litellm.plugin",
    "x-litellm-priority": "1",
    "x-litellm-nobody-knows": "1",
    "x-amzn-bedrock-request-metadata": "{}",
    "openai-organization": "other",
    "cache-control": "s-maxage=1000",
    "baggage": "session.id=1",
}


@pytest.mark.parametrize("stream", [False, True])
def test_headers_and_query_steer_nothing(http: httpx.Client, key: Key, upstream: Upstream, stream: bool) -> None:
    """A time of half a second would end the request, whose provider works on and bills it."""
    answer = http.post(
        CHAT + "?model=other&api-version=1&timeout=0.5&api_base=http%3A%2F%2F127.0.0.1%3A1",
        json=chat(messages=plan(wait=2, id=key.name), stream=stream),
        headers=HEADERS,
    )
    assert answer.status_code == 200, answer.text
    key.settled(cost())
    sent = upstream.request(key.name)
    assert not set(HEADERS) & set(sent["headers"])
    assert sent["query"] == ""
    assert json.loads(sent["body"])["model"] == "chat"


def test_a_model_in_the_query_is_not_another_one(http: httpx.Client, key: Key, upstream: Upstream) -> None:
    prompt = json.dumps({"id": key.name})
    for path, body in (("/v1/completions", {"model": "text"}), ("/v1/images/generations", {"model": "image"})):
        assert http.post(f"{path}?model=nobody-knows-this", json={**body, "prompt": prompt}).status_code == 200
        assert upstream.body(key.name)["model"] == body["model"]


OF_OPENAI: dict[str, Any] = {
    "temperature": 0.5,
    "top_p": 0.9,
    "max_tokens": 60,
    "max_completion_tokens": 50,
    "n": 2,
    "stop": ["x"],
    "seed": 1,
    "frequency_penalty": 0.1,
    "presence_penalty": 0.1,
    "logit_bias": {"1": 1},
    "logprobs": True,
    "top_logprobs": 2,
    "response_format": {"type": "json_object"},
    "tools": [FUNCTION],
    "tool_choice": "auto",
    "parallel_tool_calls": False,
    "service_tier": "default",
    "store": False,
    "safety_identifier": "a",
    "prompt_cache_key": "a",
}


def test_members_of_the_providers_api_reach_it(http: httpx.Client, key: Key, upstream: Upstream) -> None:
    answer = http.post(CHAT, json=chat(messages=plan(id=key.name), **OF_OPENAI))
    assert answer.status_code == 200, answer.text
    assert {name: value for name, value in upstream.body(key.name).items() if name in OF_OPENAI} == OF_OPENAI
    key.settled(cost())


def test_tools_that_the_provider_bills_in_tokens_reach_it(http: httpx.Client, key: Key, upstream: Upstream) -> None:
    tools = [
        {"type": "function", "name": "a", "parameters": {"type": "object", "properties": {}}, "strict": True},
        {"type": "mcp", "server_label": "a", "server_url": "https://127.0.0.1:1/mcp", "require_approval": "never"},
        {"type": "mcp", "server_label": "b", "connector_id": "connector_a", "server_url": None},
    ]
    answer = http.post(RESPONSES, json=responses(input=json.dumps({"id": key.name}), tools=tools))
    assert answer.status_code == 200, answer.text
    assert [each["type"] for each in upstream.body(key.name)["tools"]] == ["function", "mcp", "mcp"]
    key.settled(cost())


def test_what_was_checked_is_what_is_sent(http: httpx.Client, key: Key, upstream: Upstream) -> None:
    """Of a name that is given twice, the last one is checked and sent. The type of the content changes nothing."""
    text = json.dumps(plan(id=key.name))
    body = f'{{"model": "other", "n": 1, "messages": {text}, "model": "chat", "n": 2, "extra_body": null}}'
    answer = http.post(CHAT, content=body, headers={"Content-Type": "text/plain; charset=form"})
    assert answer.status_code == 200, answer.text
    assert (upstream.body(key.name)["model"], upstream.body(key.name)["n"]) == ("chat", 2)
    key.settled(cost())


def test_forms_are_checked_too(http: httpx.Client, key: Key, upstream: Upstream) -> None:
    fields = {"model": "image", "prompt": json.dumps({"id": key.name})}
    files = {"image": ("a.png", b"png", "image/png")}
    answer = http.post("/v1/images/edits?model=other", data={**fields, "timeout": "0.001", "api_key": "a"}, files=files)
    assert answer.status_code == 200, answer.text
    assert {name.removesuffix("[]") for name in upstream.request(key.name)["form"]} == {"model", "prompt"}
    key.settled("0.04")
    several = [("image[]", ("a.png", b"png", "image/png")), ("image[]", ("b.png", b"png", "image/png"))]
    assert http.post("/v1/images/edits", data={**fields, "n": "2"}, files=several).status_code == 200
    key.settled("0.04", "0.08")
    for more, status, code in (
        ({"extra_body": '{"n": 10}'}, 403, "not_metered"),
        ({"n[]": "10"}, 403, "not_metered"),
        ({"n": "many"}, 400, "invalid_request"),
        ({"n": ["1", "10"]}, 400, "invalid_request"),
    ):
        refused = http.post("/v1/images/edits", data={**fields, **more}, files=files)
        assert (refused.status_code, refused.json()["error"]["code"]) == (status, code)
    refused = http.post("/v1/images/edits", data={"model": "image"}, files={**files, "prompt": b"a"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_request")
    refused = http.post("/v1/audio/transcriptions", data={"model": "transcription", "extra_body": "{}"}, files={"file": wav()})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "not_metered")
    key.settled("0.04", "0.08")


def test_a_form_is_no_body_of_a_chat(http: httpx.Client, key: Key) -> None:
    refused = http.post(CHAT, data={"model": "chat", "messages": json.dumps(plan())})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_request")
    key.settled()


@pytest.fixture(scope="module")
def lenient(folder: Any, upstream: Upstream, keymeter: Keymeter) -> Iterator[LiteLLM]:
    made = Proxies(folder, upstream, keymeter)
    yield made.start(LITELLM_KEYMETER_ALLOW="top_k, X-Tenant code_interpreter")
    made.stop()


def test_an_operator_allows_more(lenient: LiteLLM, key: Key, upstream: Upstream) -> None:
    sdk = client(key, lenient)
    sdk.chat.completions.create(model="chat", messages=plan(id=key.name), extra_body={"top_k": 5})
    assert upstream.body(key.name)["top_k"] == 5
    sdk.responses.create(
        model="chat", input=json.dumps({"id": key.name}), tools=[{"type": "code_interpreter", "container": {"type": "auto"}}]
    )
    assert upstream.body(key.name)["tools"][0]["type"] == "code_interpreter"
    with pytest.raises(openai.PermissionDeniedError):
        sdk.chat.completions.create(model="chat", messages=plan(), extra_body={"nobody_knows": 5})
    key.settled(cost(), cost())


@pytest.mark.parametrize("body", [chat(), chat(model="unpriced"), chat(nobody_knows=1), b"{", {}])
def test_a_strangers_key_is_refused_before_anything_is_counted(proxy: LiteLLM, body: dict[str, Any] | bytes) -> None:
    answer = httpx.post(
        proxy.url + CHAT,
        content=body if isinstance(body, bytes) else json.dumps(body).encode(),
        headers={"Authorization": "Bearer sk-stranger"},
    )
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", {"model": "chat", "max_tokens": 0}),
        ("/v1/chat/completions", {"model": "chat", "max_completion_tokens": 0}),
        ("/v1/responses", {"model": "chat", "max_output_tokens": 0, "input": "a"}),
        ("/v1/messages", {"model": "chat", "max_tokens": 0}),
        ("/v1beta/models/gemini:generateContent", {"contents": [], "generationConfig": {"maxOutputTokens": 0}}),
    ],
)
def test_a_limit_of_0_is_refused(http: httpx.Client, key: Key, path: str, body: dict[str, Any]) -> None:
    """Some providers would take it for none."""
    if "chat" in path or "messages" in path:
        body = {**body, "messages": [{"role": "user", "content": "a"}]}
    answer = http.post(path, json=body)
    assert answer.status_code == 400
    assert "must be a whole number of 1 or more" in answer.text
    key.settled()


def test_a_body_that_is_too_large_is_refused(http: httpx.Client, key: Key) -> None:
    answer = http.post("/v1/chat/completions", content=b" " * (gate.MAX_BODY + 1))
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "body_too_large")
    key.settled()
