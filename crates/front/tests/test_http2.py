"""HTTP/2 from clients to Envoy, and from Envoy to the API, in both modes of bodies: what is charged is the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import httpx
import openai
import pytest
from fixtures import plan
from front import FULL_DUPLEX, EnvoyDoor, Http2Upstream, cost, hold
from programs import Key, Keymeter
from test_answers import test_an_answer_is_charged_by_its_usage, test_usage_that_never_comes_costs_the_hold
from test_situations import test_forty_at_once_with_quota_for_five

__all__ = [
    "test_an_answer_is_charged_by_its_usage",
    "test_forty_at_once_with_quota_for_five",
    "test_usage_that_never_comes_costs_the_hold",
]

API = "    - name: api\n      load_assignment:\n"
OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"
API_BY_HTTP2 = f"""    - name: api
      typed_extension_protocol_options:
        {OPTIONS}:
          "@type": type.googleapis.com/{OPTIONS}
          explicit_http_config: {{ http2_protocol_options: {{}} }}
      load_assignment:
"""


def client() -> httpx.Client:
    """It speaks nothing but HTTP/2, without TLS."""
    return httpx.Client(http1=False, http2=True, timeout=30)


class Http2Door(EnvoyDoor):
    def post(self, key: Key | str, body: object, path: str = "/v1/chat/completions", **options: Any) -> httpx.Response:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {key if isinstance(key, str) else key.secret}"}
        with client() as own:
            answer = own.post(f"{self.url}{path}", content=content, headers=headers, **options)
        assert answer.http_version == "HTTP/2"
        return answer


@pytest.fixture(scope="module")
def upstream(folder: Path) -> Iterator[Http2Upstream]:
    program = Http2Upstream(folder)
    program.start()
    yield program
    program.stop()


@pytest.fixture(scope="module", params=[(), FULL_DUPLEX], ids=["buffered", "full duplex"])
def front(request: pytest.FixtureRequest, folder: Path, upstream: Http2Upstream, keymeter: Keymeter) -> Iterator[Http2Door]:
    """In place of the front, for the tests of this file."""
    door = Http2Door(folder, keymeter.url, keymeter.credential, upstream.url, (API, API_BY_HTTP2), *request.param)
    door.start()
    yield door
    door.stop()


@pytest.mark.parametrize("stream", [False, True])
def test_the_api_is_asked_by_http2(front: Http2Door, upstream: Http2Upstream, key: Key, stream: bool) -> None:
    body = {"model": "chat", "messages": plan(id=key.name), "stream": stream}
    assert front.post(key, body).status_code == 200
    sent = upstream.request(key.name)
    assert sent["http_version"] == "2"
    assert key.secret not in json.dumps(sent)
    key.settled(cost())


@pytest.mark.parametrize("stream", [False, True])
def test_a_body_without_a_length(front: Http2Door, upstream: Http2Upstream, key: Key, stream: bool) -> None:
    """Frames of it have a length of their own, so no header has to say it."""
    text = json.dumps({"model": "chat", "messages": plan(id=key.name), "stream": stream}).encode()
    pieces = (text[at : at + 7] for at in range(0, len(text), 7))
    with client() as own:
        answer = own.post(f"{front.url}/v1/chat/completions", content=pieces, headers={"Authorization": f"Bearer {key.secret}"})
    assert (answer.status_code, answer.http_version) == (200, "HTTP/2")
    expected = {**json.loads(text), **({"stream_options": {"include_usage": True}} if stream else {})}
    assert upstream.body(key.name) == expected
    key.settled(cost())


def test_a_stream_that_is_reset_costs_its_hold(front: Http2Door, key: Key) -> None:
    body = json.dumps({"model": "chat", "max_tokens": 500, "messages": plan(chunks=100, delay=0.05), "stream": True}).encode()
    headers = {"Authorization": f"Bearer {key.secret}"}
    with client() as own, own.stream("POST", f"{front.url}/v1/chat/completions", content=body, headers=headers) as answer:
        assert next(answer.iter_lines()).startswith("data: ")
    key.settled(hold(body, 500))


def test_the_sdks(front: Http2Door, key: Key) -> None:
    seen: list[str] = []
    options: dict[str, Any] = {
        "http1": False,
        "http2": True,
        "event_hooks": {"response": [lambda answer: seen.append(answer.http_version)]},
    }
    with openai.DefaultHttpxClient(**options) as own:
        sdk = openai.OpenAI(api_key=key.secret, base_url=f"{front.url}/v1", max_retries=0, http_client=own)
        chat = sdk.chat.completions.create(model="chat", messages=plan())  # type: ignore[arg-type]
        assert chat.choices[0].message.content == "hello"
        streamed = sdk.chat.completions.create(model="chat", messages=plan(), stream=True)  # type: ignore[arg-type]
        assert sum(1 for chunk in streamed for _ in chunk.choices) == 6
    with anthropic.DefaultHttpxClient(**options) as own:
        other = anthropic.Anthropic(api_key=key.secret, base_url=front.url, max_retries=0, http_client=own)
        with other.messages.stream(model="claude-1", max_tokens=100, messages=plan()) as events:  # type: ignore[arg-type]
            assert events.get_final_text() == "word " * 5
    assert seen == ["HTTP/2"] * 3
    key.settled(cost(), cost(), cost())


def test_a_refusal(front: Http2Door, upstream: Http2Upstream, keymeter: Keymeter) -> None:
    key = keymeter.key("0")
    answer = front.post(key, {"model": "chat", "messages": plan(id=key.name)})
    assert (answer.status_code, answer.json()["error"]["code"]) == (402, "token_quota_insufficient")
    assert f"id {key.name}" not in upstream.calls()
