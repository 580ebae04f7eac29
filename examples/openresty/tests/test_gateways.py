"""Gateways without hooks behind the front."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from front import UPSTREAM_KEY, Front, Portkey, cost, plan
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
        "proxy_set_header X-Portkey-Provider openai;",
        f"proxy_set_header X-Portkey-Custom-Host {upstream.url}/v1;",
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
