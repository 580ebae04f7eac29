"""Keymeter or the proxy ends in the middle of requests. Nothing is free, nothing is lost, nothing is charged twice."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import litellm
import openai
import pytest
from conftest import Proxies, client, cost, plan
from programs import Key, Keymeter, eventually, quota


@pytest.fixture
def second(keymeter: Keymeter, folder: Path) -> Iterator[Keymeter]:
    """Another server on the same database, which may be killed. The first one goes on, and expires what is overdue."""
    program = Keymeter(os.environ["KEYMETER_PROGRAM"], os.environ["DATABASE_URL"], folder)
    program.start()
    yield program
    program.stop(signal.SIGKILL)


def test_keymeter_is_killed_while_a_stream_runs(proxies: Proxies, second: Keymeter, keymeter: Keymeter) -> None:
    keys = [keymeter.key() for _ in range(3)]
    proxy = proxies.start(KEYMETER_URL=second.url)
    streams = [
        client(key, proxy).chat.completions.create(
            model="chat", messages=plan(chunks=20, delay=0.2), stream=True, stream_options={"include_usage": True}
        )
        for key in keys
    ]
    for stream in streams:
        next(stream)
    assert all(key.held() for key in keys)
    second.stop(signal.SIGKILL)
    # The streams end for their clients as they would.
    assert all(sum(1 for _ in stream) > 18 for stream in streams)
    for _ in range(2):
        answer = httpx.post(
            f"{proxy.url}/v1/chat/completions",
            json={"model": "chat", "messages": plan()},
            headers={"Authorization": f"Bearer {keys[0].secret}"},
            timeout=30,
        )
        error = answer.json()["error"]
        assert (answer.status_code, error["type"], error["code"]) == (503, "api_error", "keymeter_unavailable")
        assert answer.headers["retry-after"] == "2"
        assert "x-should-retry" not in answer.headers
    # The log counts what waits.
    eventually(lambda: "settlements wait" in proxy.log())
    second.start()
    for key in keys:
        key.settled(cost())
    client(keys[0], proxy).chat.completions.create(model="chat", messages=plan())
    keys[0].settled(cost(), cost())


def test_a_full_queue_refuses_new_requests(proxies: Proxies, second: Keymeter, keymeter: Keymeter) -> None:
    key = keymeter.key()
    proxy = proxies.start(KEYMETER_URL=second.url, LITELLM_KEYMETER_MAX_REQUESTS="2")
    with ThreadPoolExecutor(2) as pool:
        answers = [
            pool.submit(client(key, proxy).chat.completions.create, model="chat", messages=plan(wait=3)) for _ in range(2)
        ]
        eventually(lambda: key.held() > 0)
        time.sleep(1)
        # Both places are taken by requests that are under way.
        with pytest.raises(openai.InternalServerError) as refused:
            client(key, proxy).chat.completions.create(model="chat", messages=plan())
        assert (refused.value.status_code, refused.value.code) == (503, "keymeter_unavailable")
        second.stop(signal.SIGKILL)
        assert all(answer.result() for answer in answers)
    # And then by their settlements.
    with pytest.raises(openai.InternalServerError) as refused:
        client(key, proxy).chat.completions.create(model="chat", messages=plan())
    assert refused.value.status_code == 503
    assert refused.value.response.headers["retry-after"] == "2"
    second.start()
    key.settled(cost(), cost())
    client(key, proxy).chat.completions.create(model="chat", messages=plan())
    key.settled(cost(), cost(), cost())


def test_a_proxy_that_is_stopped_settles_first(proxies: Proxies, keymeter: Keymeter) -> None:
    keys = [keymeter.key() for _ in range(8)]
    proxy = proxies.start()

    def send(key: Key) -> None:
        client(key, proxy).chat.completions.create(model="chat", messages=plan())

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(send, keys))
    assert proxy.stop(signal.SIGTERM) in (0, -signal.SIGTERM)
    for key in keys:
        assert [row["quota"] for row in key.charges()] == [quota(cost())]


def test_two_workers_share_keys_and_charge_each_request_once(proxies: Proxies, keymeter: Keymeter) -> None:
    key = keymeter.key()
    proxy = proxies.start("--num_workers", "2", "--timeout_worker_healthcheck", "60")
    workers: set[str] = set()

    def send(number: int) -> None:
        with httpx.Client(timeout=60) as http:
            answer = http.post(
                f"{proxy.url}/v1/chat/completions",
                json={"model": "chat", "messages": plan(prompt_tokens=100 + number, wait=0.2)},
                headers={"Authorization": f"Bearer {key.secret}"},
            )
        assert answer.status_code == 200, answer.text

    with ThreadPoolExecutor(10) as pool:
        list(pool.map(send, range(30)))
    key.settled(*(cost(100 + number) for number in range(30)))
    workers = {
        line.split("[")[1].split("]")[0]
        for line in proxy.log().splitlines()
        if line.startswith("INFO:     Started server process [")
    }
    assert len(workers) == 2


@pytest.mark.last
def test_the_hold_of_a_killed_proxy_is_charged(proxies: Proxies, keymeter: Keymeter) -> None:
    """The last test: Keymeter ends such holds only after it has run for five minutes, so that a proxy may settle after an
    outage."""
    charged, released = keymeter.key(), keymeter.key()
    messages = plan(chunks=100, delay=0.5)
    prompt = litellm.token_counter(model="openai/chat", messages=messages)
    for key, on_expiry in ((charged, {}), (released, {"LITELLM_KEYMETER_ON_EXPIRY": "release"})):
        proxy = proxies.start(LITELLM_KEYMETER_TTL_SECONDS="5", **on_expiry)
        stream = client(key, proxy).chat.completions.create(model="chat", messages=messages, stream=True, max_tokens=500)
        next(stream)
        proxy.stop(signal.SIGKILL)
    hold = quota(cost(prompt, 500))
    assert charged.now()["used_quota"] == hold
    eventually(lambda: charged.held() == 0, 400)
    assert charged.now()["used_quota"] == hold
    released.settled()
