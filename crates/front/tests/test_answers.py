"""Each kind of answer, whole and streamed, is charged at what its usage says, to the unit."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import anthropic
import httpx
import openai
import pytest
from fixtures import plan
from front import UPSTREAM_KEY, Front, cost, hold, upstream_that_sends
from programs import Key, Keymeter, Upstream

SHAPES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "/v1/chat/completions": lambda fields: {"model": "chat", "messages": plan(**fields)},
    "/v1/completions": lambda fields: {"model": "chat", "prompt": plan(**fields)[0]["content"]},
    "/v1/responses": lambda fields: {"model": "chat", "input": plan(**fields)[0]["content"]},
    "/v1/messages": lambda fields: {"model": "claude-1", "max_tokens": 1000, "messages": plan(**fields)},
}


@pytest.mark.parametrize("path", SHAPES)
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("cached", [0, 700])
def test_an_answer_is_charged_by_its_usage(front: Front, key: Key, path: str, stream: bool, cached: int) -> None:
    body = SHAPES[path]({"prompt_tokens": 1001, "completion_tokens": 77, "cached_tokens": cached})
    answer = front.post(key, {**body, "stream": stream}, path)
    assert answer.status_code == 200, answer.text
    assert ("data: " in answer.text) == stream
    # The usage of legacy completions says nothing of a cache in this provider either way.
    key.settled(cost(1001, 77, cached))
    row = key.charges()[0]
    assert (row["prompt_tokens"], row["completion_tokens"], row["model_name"]) == (1001, 77, body["model"])


@pytest.mark.parametrize("stream", [False, True])
def test_anthropics_parts_of_the_prompt_are_added_up(front: Front, key: Key, stream: bool) -> None:
    body = SHAPES["/v1/messages"](
        {"prompt_tokens": 3000, "completion_tokens": 9, "cached_tokens": 500, "cache_write_tokens": 2000}
    )
    front.post(key, {**body, "stream": stream}, "/v1/messages")
    key.settled(cost(3000, 9, 500, 2000))


def test_embeddings_have_no_output(front: Front, key: Key) -> None:
    text = plan(prompt_tokens=321)[0]["content"]
    assert front.post(key, {"model": "chat", "input": text}, "/v1/embeddings").status_code == 200
    key.settled(cost(321, 0))


def test_a_stream_of_responses_that_ends_at_its_limit(front: Front, key: Key) -> None:
    body = SHAPES["/v1/responses"]({"incomplete": True, "completion_tokens": 31})
    front.post(key, {**body, "stream": True}, "/v1/responses")
    key.settled(cost(100, 31))


@pytest.mark.parametrize("stream", [False, True])
def test_a_cost_in_dollars_comes_before_counts(start: Callable[..., Front], key: Key, stream: bool) -> None:
    start(shape="openrouter").post(key, {**SHAPES["/v1/chat/completions"]({"cost": 0.0123456}), "stream": stream})
    key.settled("0.0123456")


def test_a_cost_of_litellm_comes_before_counts(front: Front, key: Key) -> None:
    front.post(key, SHAPES["/v1/chat/completions"]({"headers": {"x-litellm-response-cost": "3.2e-05"}}))
    key.settled("0.000032")


def test_a_cost_of_litellm_that_is_zero_is_none(front: Front, key: Key) -> None:
    front.post(key, SHAPES["/v1/chat/completions"]({"headers": {"x-litellm-response-cost": "0.0"}}))
    key.settled(cost())


@pytest.mark.parametrize(
    ("usage", "charged"),
    [
        # Thinking that is only in the total.
        ('{"prompt_tokens":32,"completion_tokens":9,"total_tokens":135}', cost(32, 103)),
        # Costs that mean nothing.
        ('{"prompt_tokens":3000,"completion_tokens":9,"cost":0}', cost(3000, 9)),
        ('{"prompt_tokens":10,"completion_tokens":7,"cost":1e999}', cost(10, 7)),
        ('{"prompt_tokens":10,"completion_tokens":7,"cost":-1}', cost(10, 7)),
    ],
)
def test_an_odd_usage(start: Callable[..., Front], key: Key, usage: str, charged: Decimal) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
    with upstream_that_sends(head, f'{{"usage":{usage}}}'.encode()) as url:
        start(to=url).post(key, SHAPES["/v1/chat/completions"]({}))
    key.settled(charged)


def test_the_upstream_reads_the_body_as_the_front_did(front: Front, key: Key, upstream: Upstream) -> None:
    body = SHAPES["/v1/chat/completions"]({"id": key.name})
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    front.post(key, body, "/v1/chat/completions?model=dear&beta=true", headers=form)
    sent = httpx.get(f"{upstream.url}/requests/{key.name}").json()
    assert (sent["headers"]["content-type"], sent["query"]) == ("application/json", "beta=true")
    key.settled(cost())


def test_an_answer_larger_than_what_is_kept(front: Front, key: Key) -> None:
    answer = front.post(key, SHAPES["/v1/chat/completions"]({"padding": 9 * 1024 * 1024}))
    assert len(answer.content) > 9 * 1024 * 1024
    key.settled(cost())


@pytest.mark.parametrize("stream", [False, True])
def test_usage_that_never_comes_costs_the_hold(front: Front, key: Key, stream: bool) -> None:
    body = json.dumps({**SHAPES["/v1/chat/completions"]({"usage": False}), "stream": stream}).encode()
    assert front.post(key, body).status_code == 200
    key.settled(hold(body))


def test_a_large_body(front: Front, keymeter: Keymeter, upstream: Upstream) -> None:
    key = keymeter.key("5")
    messages = [{"role": "user", "content": "x" * 3_000_000}, *plan(id=key.name)]
    assert front.post(key, {"model": "chat", "messages": messages, "stream": True}).status_code == 200
    sent = json.loads(httpx.get(f"{upstream.url}/requests/{key.name}").json()["body"])
    assert sent["messages"] == messages
    assert sent["stream_options"] == {"include_usage": True}
    key.settled(cost())


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"include_usage": True}),
        ({"stream_options": None}, {"include_usage": True}),
        ({"stream_options": {"include_usage": False, "include_obfuscation": False}}, None),
    ],
)
def test_usage_is_asked_for_and_nothing_else_changes(
    front: Front, key: Key, upstream: Upstream, given: dict[str, Any], expected: dict[str, Any] | None
) -> None:
    body = {**SHAPES["/v1/chat/completions"]({"id": key.name}), "tools": [], "logit_bias": {}, "stream": True, **given}
    text = json.dumps(body, indent=1)
    front.post(key, text.encode())
    sent = httpx.get(f"{upstream.url}/requests/{key.name}").json()["body"]
    assert json.loads(sent) == {
        **body,
        "stream_options": expected or {"include_usage": True, "include_obfuscation": False},
    }
    assert '"tools":[]' in sent
    assert '"logit_bias":{}' in sent
    key.settled(cost())


def test_a_body_that_comes_in_chunks(front: Front, key: Key, upstream: Upstream) -> None:
    text = json.dumps({**SHAPES["/v1/chat/completions"]({"id": key.name}), "stream": True}).encode()
    headers = {"Authorization": f"Bearer {key.secret}", "Expect": "100-continue"}
    pieces = (text[at : at + 7] for at in range(0, len(text), 7))
    assert httpx.post(f"{front.url}/v1/chat/completions", content=pieces, headers=headers).status_code == 200
    sent = httpx.get(f"{upstream.url}/requests/{key.name}").json()
    assert json.loads(sent["body"]) == {**json.loads(text), "stream_options": {"include_usage": True}}
    assert int(sent["headers"]["content-length"]) == len(sent["body"])
    key.settled(cost())


def test_a_body_that_is_not_streamed_is_passed_on_as_it_is(front: Front, key: Key, upstream: Upstream) -> None:
    text = json.dumps({**SHAPES["/v1/chat/completions"]({"id": key.name}), "tools": []}, indent=3)
    front.post(key, text.encode())
    assert httpx.get(f"{upstream.url}/requests/{key.name}").json()["body"] == text
    key.settled(cost())


def test_only_the_upstreams_own_key_reaches_it(front: Front, key: Key, upstream: Upstream) -> None:
    others = {
        "x-api-key": "sk-other",
        "api-key": "sk-other",
        "x-goog-api-key": "sk-other",
        "x-portkey-custom-host": "http://127.0.0.1:1",
        "Accept-Encoding": "gzip",
        "Cookie": "a=b",
        "anthropic-version": "2023-06-01",
    }
    assert front.post(key, SHAPES["/v1/chat/completions"]({"id": key.name}), headers=others).status_code == 200
    headers = httpx.get(f"{upstream.url}/requests/{key.name}").json()["headers"]
    assert headers["authorization"] == f"Bearer {UPSTREAM_KEY}"
    assert headers["anthropic-version"] == "2023-06-01"
    assert not {"x-api-key", "api-key", "x-goog-api-key", "x-portkey-custom-host", "accept-encoding", "cookie"} & set(headers)
    key.settled(cost())


def test_the_sdk_of_openai(front: Front, key: Key) -> None:
    sdk = openai.OpenAI(api_key=key.secret, base_url=f"{front.url}/v1", max_retries=0)
    assert sdk.models.list().data[0].id == "chat"
    chat = sdk.chat.completions.create(model="chat", messages=plan())  # type: ignore[arg-type]
    assert chat.choices[0].message.content == "hello"
    streamed = sdk.chat.completions.create(model="chat", messages=plan(), stream=True)  # type: ignore[arg-type]
    assert sum(1 for chunk in streamed for _ in chunk.choices) == 6
    answer = sdk.responses.create(model="chat", input=plan()[0]["content"])
    assert answer.output_text == "hello"
    events = sdk.responses.create(model="chat", input=plan()[0]["content"], stream=True)
    assert [event.type for event in events][-1] == "response.completed"
    assert len(sdk.embeddings.create(model="chat", input=plan()[0]["content"], encoding_format="float").data) == 1
    key.settled(*[cost()] * 4, cost(100, 0))


def test_the_sdk_of_anthropic(front: Front, key: Key) -> None:
    sdk = anthropic.Anthropic(api_key=key.secret, base_url=front.url, max_retries=0)
    whole = sdk.messages.create(model="claude-1", max_tokens=100, messages=plan())  # type: ignore[arg-type]
    assert whole.usage.output_tokens == 50
    with sdk.messages.stream(model="claude-1", max_tokens=100, messages=plan()) as events:  # type: ignore[arg-type]
        assert events.get_final_text() == "word " * 5
    key.settled(cost(), cost())
