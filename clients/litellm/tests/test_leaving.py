"""A client that leaves, and an attempt that takes too long: the provider works on, and bills it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import litellm
import openai
import pytest
from conftest import Proxies, client, cost, plan
from programs import Key, Keymeter, LiteLLM, Upstream, eventually, quota

CHAT = "/v1/chat/completions"
# Most of the answer is not seen by the client.
THOUGHTS = {"prompt_tokens": 30, "completion_tokens": 40_000, "chunks": 8, "delay": 0.2}


def ask(path: str, **fields: object) -> dict[str, Any]:
    """The body of a stream on this path, whose provider does what the fields say."""
    text = json.dumps(fields)
    message = [{"role": "user", "content": text}]
    if "generate" in path.lower():
        return {"contents": [{"role": "user", "parts": [{"text": text}]}]}
    return {
        CHAT: {"model": "chat", "messages": message, "stream": True},
        "/v1/completions": {"model": "text", "prompt": text, "stream": True},
        "/v1/responses": {"model": "chat", "input": text, "stream": True},
        "/v1/messages": {"model": "claude", "max_tokens": 50, "messages": message, "stream": True},
    }[path]


STREAMS = [CHAT, "/v1/completions", "/v1/responses", "/v1/messages", "/v1beta/models/gemini:streamGenerateContent"]


def leave(proxy: LiteLLM, key: Key, path: str, body: dict[str, Any], after: str = "data") -> None:
    """Reads the stream until this text comes."""
    headers = {"Authorization": f"Bearer {key.secret}"}
    with httpx.stream("POST", f"{proxy.url}{path}", json=body, headers=headers, timeout=60) as answer:
        assert answer.status_code == 200, answer.read()
        assert any(after in line for line in answer.iter_lines())


@pytest.mark.parametrize("path", STREAMS)
def test_a_stream_that_the_client_leaves_is_charged_to_its_end(proxy: LiteLLM, key: Key, path: str) -> None:
    leave(proxy, key, path, ask(path, **THOUGHTS))
    assert key.held() > 0
    key.settled(cost(30, 40_000))


def test_one_that_leaves_before_the_first_chunk_is_charged_to_its_end(proxy: LiteLLM, key: Key) -> None:
    for fields in ({**THOUGHTS, "wait": 2}, {**THOUGHTS, "chunks": 2, "delay": 2}):
        with pytest.raises(openai.APITimeoutError):
            client(key, proxy).with_options(timeout=1).chat.completions.create(
                model="chat", messages=plan(**fields), stream=True
            )
        assert key.held() > 0
    key.settled(cost(30, 40_000), cost(30, 40_000))


def test_its_place_is_taken_until_the_end(proxy: LiteLLM, keymeter: Keymeter) -> None:
    key = keymeter.key(rate_limits={"concurrency": 1})
    leave(proxy, key, CHAT, ask(CHAT, **THOUGHTS))
    with pytest.raises(openai.RateLimitError) as refused:
        client(key, proxy).chat.completions.create(model="chat", messages=plan())
    assert refused.value.code == "too_many_concurrent"
    key.settled(cost(30, 40_000))
    client(key, proxy).chat.completions.create(model="chat", messages=plan())
    key.settled(cost(30, 40_000), cost())


@pytest.mark.parametrize("options", [{}, {"stream_options": None}, {"stream_options": {"include_usage": False}}])
@pytest.mark.parametrize("path", [CHAT, "/v1/completions"])
def test_the_provider_counts_a_stream_whatever_the_client_asks(
    http: httpx.Client, key: Key, path: str, options: dict[str, Any]
) -> None:
    """Without its counts LiteLLM would count the words that the client sees."""
    answer = http.post(path, json={**ask(path, **{**THOUGHTS, "delay": 0}), **options})
    assert answer.status_code == 200, answer.text
    chunks = [json.loads(line.removeprefix("data: ")) for line in answer.text.splitlines() if line.startswith("data: {")]
    assert len(chunks) >= 8
    # Some clients read the first choice of each chunk.
    assert all(chunk["choices"] for chunk in chunks)
    # LiteLLM shows them on the older route.
    assert path != CHAT or not any(chunk.get("usage") for chunk in chunks)
    key.settled(cost(30, 40_000))


def test_who_asks_for_the_counts_gets_them(http: httpx.Client, key: Key) -> None:
    body = {**ask(CHAT, **{**THOUGHTS, "delay": 0}), "stream_options": {"include_usage": True}}
    assert '"completion_tokens":40000' in http.post(CHAT, json=body).text.replace(" ", "")
    key.settled(cost(30, 40_000))


ACROSS = [(CHAT, "claude"), ("/v1/responses", "claude"), ("/v1/messages", "gemini")]


@pytest.mark.parametrize(("path", "model"), [*((path, None) for path in STREAMS), *ACROSS])
def test_a_stream_of_equal_chunks_is_charged_to_its_end(http: httpx.Client, key: Key, path: str, model: str | None) -> None:
    """A prompt can ask for them. LiteLLM would end the stream after a hundred, before the provider's counts."""
    body = ask(path, prompt_tokens=30, completion_tokens=40_000, chunks=150)
    answer = http.post(path, json=body if model is None else {**body, "model": model})
    assert answer.status_code == 200, answer.text
    key.settled(cost(30, 40_000))


@pytest.fixture(scope="module")
def hasty(folder: Path, upstream: Upstream, keymeter: Keymeter) -> Iterator[LiteLLM]:
    """With two seconds for each attempt, and one repetition."""
    made = Proxies(folder, upstream, keymeter)
    yield made.start(retries=1, more="request_timeout: 2")
    made.stop()


def hold(messages: list[dict[str, Any]], max_tokens: int) -> Any:
    return cost(litellm.token_counter(model="openai/chat", messages=messages), max_tokens)


def test_attempts_that_end_by_time_cost_the_hold(hasty: LiteLLM, key: Key, upstream: Upstream) -> None:
    messages = plan(wait=4, id=key.name)
    with pytest.raises(openai.APIStatusError):
        client(key, hasty).chat.completions.create(model="chat", messages=messages, max_tokens=300)
    assert upstream.calls()[f"id {key.name}"] == 2
    key.settled(hold(messages, 300))


def test_a_later_answer_costs_what_it_cost(hasty: LiteLLM, key: Key, upstream: Upstream) -> None:
    client(key, hasty).chat.completions.create(model="chat", messages=plan(wait=4, slow_first=1, id=key.name))
    assert upstream.calls()[f"id {key.name}"] == 2
    key.settled(cost())


def test_a_later_failure_does_not_make_it_free(hasty: LiteLLM, key: Key, upstream: Upstream) -> None:
    messages = plan(wait=4, slow_first=1, fail_later=True, id=key.name)
    with pytest.raises(openai.APIStatusError):
        client(key, hasty).chat.completions.create(model="chat", messages=messages, max_tokens=300)
    assert upstream.calls()[f"id {key.name}"] == 2
    key.settled(hold(messages, 300))


@pytest.mark.parametrize("path", STREAMS)
def test_a_stream_that_ends_by_time_costs_the_hold(hasty: LiteLLM, key: Key, path: str) -> None:
    body = ask(path, **THOUGHTS | {"pause_after": 3, "pause": 20})
    if "Generate" in path:
        body["generationConfig"] = {"maxOutputTokens": 300}
    else:
        body["max_output_tokens" if "responses" in path else "max_tokens"] = 300
    headers = {"Authorization": f"Bearer {key.secret}"}
    with httpx.stream("POST", f"{hasty.url}{path}", json=body, headers=headers, timeout=60) as answer:
        list(answer.iter_raw())
    eventually(lambda: key.charges() and not key.held())
    assert key.now()["used_quota"] > quota(cost(0, 300))


@pytest.mark.parametrize("path", STREAMS)
def test_an_answer_that_fails_on_its_way_is_not_free(http: httpx.Client, key: Key, path: str) -> None:
    body = ask(path, prompt_tokens=30, completion_tokens=40_000, chunks=8, break_after=4, delay=0.05)
    with contextlib.suppress(httpx.RemoteProtocolError):
        http.post(path, json=body)
    eventually(lambda: key.charges() and not key.held(), 30)
    assert key.now()["used_quota"] > 0


def test_a_provider_that_cannot_be_reached_costs_nothing(proxies: Proxies, key: Key) -> None:
    proxy = proxies.make(retries=0)
    path = Path(proxy.command[proxy.command.index("--config") + 1])
    path.write_text(path.read_text().replace(proxies.upstream.url, "http://127.0.0.1:9"))
    proxy.start()
    with pytest.raises(openai.APIStatusError):
        client(key, proxy).chat.completions.create(model="chat", messages=plan())
    key.settled()


def test_a_stream_is_read_for_the_time_of_its_request(hasty: LiteLLM, key: Key, upstream: Upstream) -> None:
    """The provider sends on and on. Two seconds after its begin nobody waits any more for what it bills."""
    body = {**ask(CHAT, chunks=40, delay=0.5), "max_tokens": 300}
    leave(hasty, key, CHAT, body)
    key.settled(hold(body["messages"], 300))
    eventually(lambda: "had its time" in hasty.log())
    # What LiteLLM reports of the part later is not charged again.
    assert quota(hold(body["messages"], 300)) == key.now()["used_quota"]


def test_who_leaves_after_the_time_of_the_request_pays_to_the_end_too(hasty: LiteLLM, key: Key) -> None:
    """Each chunk came in time, and the answer took longer."""
    body = ask(CHAT, prompt_tokens=30, completion_tokens=40_000, chunks=30, delay=0.1)
    headers = {"Authorization": f"Bearer {key.secret}"}
    with httpx.stream("POST", f"{hasty.url}{CHAT}", json=body, headers=headers, timeout=60) as answer:
        words = 0
        for line in answer.iter_lines():
            words += line.count("word")
            if words == 28:
                break
    key.settled(cost(30, 40_000))


def test_a_plain_call_that_the_client_leaves_has_the_same_time(hasty: LiteLLM, key: Key) -> None:
    messages = plan(wait=4)
    with pytest.raises(openai.APITimeoutError):
        client(key, hasty).with_options(timeout=1).chat.completions.create(model="chat", messages=messages, max_tokens=300)
    key.settled(hold(messages, 300))


def test_a_client_that_leaves_while_it_sends_costs_nothing(proxy: LiteLLM, key: Key) -> None:
    def part() -> Iterator[bytes]:
        yield b'{"model": "chat", '
        raise ConnectionAbortedError

    with pytest.raises(ConnectionAbortedError):
        httpx.post(f"{proxy.url}{CHAT}", content=part(), headers={"Authorization": f"Bearer {key.secret}"})
    client(key, proxy).chat.completions.create(model="chat", messages=plan())
    key.settled(cost())
