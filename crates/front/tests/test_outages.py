"""Keymeter is killed while it reserves, or does not answer for a minute, behind the front and behind Envoy. Nothing passes
unmetered, and every reservation ends once."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from fixtures import plan
from front import Door, EnvoyDoor, Front, cost
from processes import eventually
from programs import Key, Keymeter, Upstream
from relay import Relay

# In seconds, of examples/envoy/metering.yaml. Both doors wait for Keymeter for 2.
MESSAGE_TIMEOUT = 5
OUTAGE = 60


def body_of(**fields: object) -> dict[str, object]:
    return {"model": "chat", "max_tokens": 500, "messages": plan(**fields)}


def asked(statement: str, *values: object) -> list[tuple[Any, ...]]:
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        return connection.execute(statement, values).fetchall()


def reservations(*keys: Key) -> dict[str, int]:
    """How many of these keys have ended in which way, or are open."""
    statement = "select state, count(*) from reservations where token_id = any(%s) group by state"
    return dict(asked(statement, [key.id for key in keys]))


def settled(key: Key, *usd: Decimal) -> None:
    """Exactly these costs were charged, each by the settlement of one reservation, and none is open."""
    eventually(lambda: "open" not in reservations(key), 40)
    key.settled(*usd)
    assert reservations(key).get("settled", 0) == len(usd)
    assert reservations(key).get("expired", 0) == 0


def is_unavailable(answer: httpx.Response) -> bool:
    is_ours = (answer.status_code, answer.headers.get("retry-after")) == (503, "2")
    return is_ours and answer.json()["error"]["code"] == "keymeter_unavailable"


# --- Killed while it reserves -----------------------------------------------------------------------------------------


@contextmanager
def locked(statement: str, *values: object) -> Iterator[None]:
    """Locks rows or a table for as long as it lasts."""
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        connection.execute(statement, values)
        yield
        connection.rollback()


def is_writing() -> bool:
    written = "wait_event_type = 'Lock' and strpos(query, 'insert into reservations') > 0"
    return bool(asked(f"select from pg_stat_activity where {written}"))


@pytest.mark.parametrize("moment", ["it waits for its owner", "it is written", "its answer is on its way"])
def test_keymeter_is_killed_while_it_reserves(
    open_door: Callable[..., Door], second: Keymeter, keymeter: Keymeter, upstream: Upstream, key: Key, moment: str
) -> None:
    relay = Relay(second.port)
    door = open_door(keymeter_url=relay.url)
    sent = body_of(id=key.name)
    with ThreadPoolExecutor(1) as pool:
        if moment == "its answer is on its way":
            relay.passes.clear()
            answer = pool.submit(door.post, key, sent)
            assert relay.held_back.wait(5)
            assert reservations(key) == {"open": 1}
            second.stop(signal.SIGKILL)
            relay.passes.set()
        elif moment == "it is written":
            with locked("lock table reservations in share mode"):
                answer = pool.submit(door.post, key, sent)
                eventually(is_writing, 5)
                second.stop(signal.SIGKILL)
        else:
            with locked("select from users where id = %s for update", keymeter.id):
                answer = pool.submit(door.post, key, sent)
                assert relay.reserving.wait(5)
                second.stop(signal.SIGKILL)
        refused = answer.result()
    assert is_unavailable(refused), refused.text
    assert f"id {key.name}" not in upstream.calls()
    second.start()
    # It is asked for again, and released: one and the same, if Keymeter had made it or not.
    eventually(lambda: reservations(key) == {"released": 1}, 40)
    settled(key)
    assert door.post(key, sent).status_code == 200
    settled(key, cost())
    assert reservations(key) == {"released": 1, "settled": 1}
    assert upstream.calls()[f"id {key.name}"] == 1
    keymeter.doctor()


def test_keymeter_is_killed_again_and_again_under_load(
    open_door: Callable[..., Door], second: Keymeter, keymeter: Keymeter, upstream: Upstream
) -> None:
    door = open_door(keymeter_url=second.url)
    keys = [keymeter.key() for _ in range(8)]
    ends = threading.Event()

    def load(key: Key) -> Counter[int]:
        statuses: Counter[int] = Counter()
        while not ends.is_set():
            answer = door.post(key, {**body_of(id=key.name), "stream": statuses.total() % 2 == 1})
            statuses[answer.status_code] += 1
            assert answer.status_code == 200 or is_unavailable(answer), answer.text
            time.sleep(0.1)
        return statuses

    with ThreadPoolExecutor(len(keys)) as pool:
        loads = [pool.submit(load, key) for key in keys]
        try:
            for _ in range(3):
                time.sleep(1)
                second.stop(signal.SIGKILL)
                time.sleep(0.5)
                second.start()
        finally:
            ends.set()
        found = [each.result() for each in loads]
    assert sum(statuses[200] for statuses in found) > 0
    assert sum(statuses[503] for statuses in found) > 0
    # It ends when nothing waits for Keymeter.
    door.stop(signal.SIGTERM)
    for key, statuses in zip(keys, found, strict=True):
        settled(key, *[cost()] * statuses[200])
        assert reservations(key).get("released", 0) <= statuses[503]
        assert upstream.calls().get(f"id {key.name}", 0) == statuses[200]
    keymeter.doctor()


# --- A minute without Keymeter ----------------------------------------------------------------------------------------


class UnderWay:
    """Requests that are under way when Keymeter stops, and those that come meanwhile, at one door."""

    def __init__(self, door: Door, keymeter: Keymeter) -> None:
        self.door, self.running, self.late = door, keymeter.key(), keymeter.key()

    def post(self, **fields: object) -> httpx.Response:
        return self.door.post(self.running, {**body_of(**fields), "stream": "chunks" in fields}, timeout=100)

    def passes(self) -> bool:
        return self.post().status_code == 200

    def refused(self, number: int) -> bool:
        """A request of each kind is refused within the time that is documented, so that Envoy does not give it up."""
        bodies = [body_of(id=self.late.name), {**body_of(id=self.late.name), "stream": True}]
        # Its key is verified before it is read.
        large = {**body_of(id=self.late.name), "user": "x" * 100_000}
        answer = self.door.post(self.late, [*bodies, large][number % 3], timeout=MESSAGE_TIMEOUT)
        return is_unavailable(answer)


def test_a_minute_without_keymeter(folder: Path, second: Keymeter, keymeter: Keymeter, upstream: Upstream) -> None:
    """Its process is stopped: connections are taken, and nobody answers. Both doors at once."""
    doors: list[Door] = [kind(folder, second.url, keymeter.credential, upstream.url) for kind in (Front, EnvoyDoor)]
    for door in doors:
        door.start()
    tried = [UnderWay(door, keymeter) for door in doors]
    assert second.process is not None
    process = second.process
    try:
        with ThreadPoolExecutor(20) as pool:
            running = [
                pool.submit(each.post, **fields)
                for each in tried
                # A stream and an answer that end meanwhile, and a stream that ends afterwards.
                for fields in ({"chunks": 20, "delay": 0.5}, {"wait": 20}, {"chunks": 65, "delay": 1})
            ]
            eventually(lambda: reservations(*(each.running for each in tried)) == {"open": 6})
            process.send_signal(signal.SIGSTOP)
            stopped = time.monotonic()
            for number in range(12):
                refusals = [pool.submit(each.refused, number) for each in tried]
                assert all(each.result() for each in refusals)
                time.sleep(max(0, stopped + OUTAGE * (number + 1) / 12 - time.monotonic()))
            # Those that have ended wait.
            assert [answer.result().status_code for answer in running if answer.done()] == [200] * 4
            assert reservations(*(each.running for each in tried)) == {"open": 6}
            assert not any(f"id {each.late.name}" in upstream.calls() for each in tried)
            process.send_signal(signal.SIGCONT)
            for each in tried:
                # Keymeter serves again. What waits is sent at the latest 30 seconds later.
                eventually(each.passes)
            assert all(answer.result().status_code == 200 for answer in running)
        for each in tried:
            settled(each.running, *[cost()] * 4)
            # It ends when nothing waits for Keymeter.
            each.door.stop(signal.SIGTERM)
            settled(each.late)
            assert reservations(each.late) == {"released": 8}
        assert not any(f"id {each.late.name}" in upstream.calls() for each in tried)
        keymeter.doctor()
    finally:
        process.send_signal(signal.SIGCONT)
        for door in doors:
            door.stop()
