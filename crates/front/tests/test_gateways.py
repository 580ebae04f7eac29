"""Gateways without hooks behind the front. Portkey runs; one-api is in no registry, so an upstream answers in its shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from fixtures import plan
from front import UPSTREAM_KEY, Front, Portkey, cost, upstream_that_sends
from programs import Key, Upstream


@pytest.fixture(scope="module")
def portkey(folder: Path) -> Iterator[Portkey]:
    program = Portkey(folder)
    program.start()
    yield program
    program.stop()


@pytest.mark.parametrize("stream", [False, True])
def test_portkey(start: Callable[..., Front], portkey: Portkey, upstream: Upstream, key: Key, stream: bool) -> None:
    front = start(
        "--upstream-headers=X-Portkey-Provider: openai",
        f"--upstream-headers=X-Portkey-Custom-Host: {upstream.url}/v1",
        to=portkey.url,
    )
    body = {"model": "chat", "messages": plan(id=key.name, prompt_tokens=4321, cached_tokens=300), "stream": stream}
    # A client would send the provider's key elsewhere with this header, if it reached Portkey.
    answer = front.post(key, body, headers={"X-Portkey-Custom-Host": "http://127.0.0.1:1"})
    assert answer.status_code == 200, answer.text
    assert "word" in answer.text if stream else answer.json()["choices"][0]["message"]["content"] == "hello"
    sent = httpx.get(f"{upstream.url}/requests/{key.name}").json()["headers"]
    assert sent["authorization"] == f"Bearer {UPSTREAM_KEY}"
    key.settled(cost(4321, 50, 300))


CHUNK = '{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"chat",'
ONE_API: dict[str, tuple[str, str]] = {
    "application/json": (
        "200 OK",
        '{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"chat","choices":[{"index":0,"message":{"role":'
        '"assistant","content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":34,'
        '"total_tokens":46}}',
    ),
    "text/event-stream": (
        "200 OK",
        f'data: {CHUNK}"choices":[{{"index":0,"delta":{{"role":"assistant","content":"hello"}},"finish_reason":null}}],'
        f'"usage":null}}\n\ndata: {CHUNK}"choices":[],"usage":{{"prompt_tokens":12,"completion_tokens":34,'
        '"total_tokens":46}}\n\ndata: [DONE]\n\n',
    ),
    "application/json; charset=utf-8": (
        "429 Too Many Requests",
        '{"error":{"message":"no channel (request id: 1)","type":"one_api_error","param":"","code":"x"}}',
    ),
}


@pytest.mark.parametrize("kind", ONE_API)
def test_the_shape_of_one_api(start: Callable[..., Front], key: Key, kind: str) -> None:
    status, text = ONE_API[kind]
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nX-Oneapi-Request-Id: 1\r\n\r\n".encode()
    with upstream_that_sends(head, text.encode()) as url:
        answer = start(to=url).post(key, {"model": "chat", "messages": plan(), "stream": "event" in kind})
    assert (answer.status_code, answer.text) == (int(status[:3]), text)
    key.settled(*([cost(12, 34)] if answer.status_code == 200 else []))
