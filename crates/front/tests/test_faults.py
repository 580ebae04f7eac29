"""Keymeter or the front ends in the middle of requests. Nothing is free, nothing is lost, nothing is charged twice."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from fixtures import plan
from front import Front, cost, hold
from processes import eventually
from programs import Key, Keymeter, quota
from relay import Relay


def body_of(**fields: object) -> dict[str, object]:
    return {"model": "chat", "max_tokens": 500, "messages": plan(**fields)}


def stream_of(front: Front, key: Key, **fields: object) -> tuple[httpx.Client, httpx.Response]:
    client = httpx.Client(timeout=30)
    request = client.build_request(
        "POST",
        f"{front.url}/v1/chat/completions",
        json={**body_of(**fields), "stream": True},
        headers={"Authorization": f"Bearer {key.secret}"},
    )
    return client, client.send(request, stream=True)


def test_keymeter_is_killed_while_streams_run(start: Callable[..., Front], second: Keymeter, keymeter: Keymeter) -> None:
    keys = [keymeter.key() for _ in range(3)]
    front = start(keymeter_url=second.url)
    streams = [stream_of(front, key, chunks=20, delay=0.1)[1] for key in keys]
    assert all(key.held() for key in keys)
    second.stop(signal.SIGKILL)
    # The streams end for their clients as they would.
    assert all("[DONE]" in stream.read().decode() for stream in streams)
    for _ in range(2):
        answer = front.post(keys[0], body_of())
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "keymeter_unavailable")
    eventually(lambda: "settlements wait for Keymeter" in front.log())
    second.start()
    for key in keys:
        key.settled(cost())
    assert front.post(keys[0], body_of()).status_code == 200
    keys[0].settled(cost(), cost())


def test_too_many_settlements_refuse_new_requests(start: Callable[..., Front], second: Keymeter, keymeter: Keymeter) -> None:
    key = keymeter.key()
    front = start(keymeter_url=second.url, max_requests=2)
    with ThreadPoolExecutor(2) as pool:
        answers = [pool.submit(front.post, key, body_of(wait=2)) for _ in range(2)]
        eventually(lambda: key.held() > 0)
        time.sleep(0.5)
        # Both places are taken by requests that are under way.
        assert front.post(key, body_of()).status_code == 503
        second.stop(signal.SIGKILL)
        assert all(answer.result().status_code == 200 for answer in answers)
    # And then by their settlements.
    eventually(lambda: "2 settlements wait" in front.log())
    assert front.post(key, body_of()).status_code == 503
    assert "too many requests and settlements are open" in front.log()
    second.start()
    key.settled(cost(), cost())
    assert front.post(key, body_of()).status_code == 200
    key.settled(cost(), cost(), cost())


def test_a_reservation_whose_answer_is_lost_is_released(start: Callable[..., Front], keymeter: Keymeter, key: Key) -> None:
    relay = Relay(keymeter.port)
    front = start(keymeter_url=relay.url)
    relay.loses = True
    assert front.post(key, body_of()).status_code == 503
    assert key.held() > 0
    relay.loses = False
    key.settled()
    assert front.post(key, body_of()).status_code == 200
    key.settled(cost())


def test_a_settlement_whose_answer_is_lost_is_charged_once(start: Callable[..., Front], keymeter: Keymeter, key: Key) -> None:
    relay = Relay(keymeter.port)
    front = start(keymeter_url=relay.url)
    _, stream = stream_of(front, key, chunks=5, delay=0.1)
    relay.loses = True
    stream.read()
    eventually(lambda: "settlements wait" in front.log())
    relay.loses = False
    time.sleep(2)
    key.settled(cost())


def test_a_new_front_starts_before_the_old_one_ends(start: Callable[..., Front], keymeter: Keymeter) -> None:
    keys = [keymeter.key() for _ in range(4)]
    front = start()
    with ThreadPoolExecutor(4) as pool:
        streams = [stream_of(front, key, chunks=20, delay=0.1)[1] for key in keys]
        # On the same port.
        start(port=front.port)
        assert front.process is not None
        front.process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        # The new one takes new requests meanwhile.
        assert front.post(keys[0], body_of()).status_code == 200
        assert all("[DONE]" in text.decode() for text in pool.map(httpx.Response.read, streams))
    for key in keys[1:]:
        key.settled(cost())
    keys[0].settled(cost(), cost())


def test_a_graceful_stop_settles_first(start: Callable[..., Front], keymeter: Keymeter) -> None:
    keys = [keymeter.key() for _ in range(4)]
    front = start()
    with ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(front.post, key, body_of(wait=1)) for key in keys]
        eventually(lambda: all(key.held() for key in keys))
        assert front.stop(signal.SIGTERM) == 0
        assert all(answer.result().status_code == 200 for answer in answers)
    # At once: all was settled when the front had ended.
    assert [key.now()["used_quota"] for key in keys] == [key.charges()[0]["quota"] for key in keys]
    for key in keys:
        key.settled(cost())


def test_a_graceful_stop_tries_what_waits_once_more(
    start: Callable[..., Front], second: Keymeter, keymeter: Keymeter, key: Key
) -> None:
    front = start(keymeter_url=second.url)
    _, stream = stream_of(front, key, chunks=3, delay=0.1)
    second.stop(signal.SIGKILL)
    stream.read()
    eventually(lambda: front.log().count("settlements wait") >= 3)
    second.start()
    # Its next try would be seconds away.
    assert front.stop(signal.SIGTERM) == 0
    key.settled(cost())


def test_a_graceful_stop_waits_a_little_for_keymeter(start: Callable[..., Front], keymeter: Keymeter, key: Key) -> None:
    between = Relay(keymeter.port)
    front = start(keymeter_url=between.url)
    _, stream = stream_of(front, key, chunks=3, delay=0.1)
    between.breaks = True
    stream.read()
    eventually(lambda: "settlements wait" in front.log())
    with ThreadPoolExecutor(1) as pool:
        before = front.log().count("settlements wait")
        stopped = pool.submit(front.stop, signal.SIGTERM)
        eventually(lambda: front.log().count("settlements wait") > before)
        assert key.held() > 0
        between.breaks = False
        assert stopped.result() == 0
    assert key.charges()[0]["quota"] == quota(cost())
    key.settled(cost())


def test_a_stop_without_keymeter_ends(start: Callable[..., Front], second: Keymeter, key: Key) -> None:
    front = start(keymeter_url=second.url, ttl_seconds=6, on_expiry="release")
    _, stream = stream_of(front, key, chunks=3, delay=0.1)
    second.stop(signal.SIGKILL)
    stream.read()
    eventually(lambda: "settlements wait" in front.log())
    assert front.stop(signal.SIGTERM) == 0
    assert "settlements could not be sent before the program ended" in front.log()
    eventually(lambda: key.held() == 0, 60)


@pytest.mark.last
def test_the_hold_of_a_killed_front(start: Callable[..., Front], keymeter: Keymeter) -> None:
    """The last test: Keymeter charges such holds only after it has run for five minutes, so that a gateway may settle after an
    outage."""
    charged, released = keymeter.key(), keymeter.key()
    bodies = []
    for key, settings in ((charged, {}), (released, {"on_expiry": "release"})):
        front = start(ttl_seconds=5, **settings)
        _, stream = stream_of(front, key, chunks=100, delay=0.5)
        front.stop(signal.SIGKILL)
        bodies.append(stream.request.content)
    expected = hold(bodies[0], 500)
    eventually(lambda: charged.held() == 0, 400)
    charged.settled(expected)
    released.settled()
