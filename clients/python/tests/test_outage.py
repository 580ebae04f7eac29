"""The service is away: nothing is permitted, and nothing that was done is lost."""

from __future__ import annotations

import asyncio
import logging
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

import pytest

from keymeter_client import AsyncKeymeter, Charged, Keymeter, Unavailable, connections

from .clients import client, wait_until
from .service import Account, LossyProxy, Service

T = TypeVar("T")
KINDS = ["threads", "asyncio"]


def both(work: Callable[[str], T]) -> list[T]:
    """What takes long, with both clients at the same time."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(work, KINDS))


@pytest.mark.parametrize("kind", KINDS)
def test_the_service_is_killed_mid_spend_and_the_settlement_arrives(
    service: Service, account: Account, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    caplog.set_level(logging.INFO)
    key, other = account.key(100), account.key(100)
    with client(kind, service.url, service.credential) as km:
        with km.spend(key.text, quota=50) as spend:
            service.kill()
            spend.cost(quota=20)
        with pytest.raises(Unavailable, match="no answer from Keymeter"), km.spend(key.text, quota=1):
            raise AssertionError("the work began")
        with pytest.raises(Unavailable):
            km.charge(other.text, quota=1)
        assert km.waiting == 1
        wait_until("the log counts it", lambda: "1 settlements wait" in caplog.text)
        service.start()
        wait_until("the settlement arrives", lambda: km.waiting == 0)
    assert (account.used(key), account.used(other)) == (20, 0)
    assert len(account.charges(key)) == 1
    assert "all settlements were sent" in caplog.text


def test_a_service_that_does_not_answer_is_unavailable_in_bounded_time(service: Service, account: Account) -> None:
    key = account.key(100)

    def fails(kind: str) -> float:
        with client(kind, service.url, service.credential) as km:
            started = time.monotonic()
            with pytest.raises(Unavailable, match="Timeout"):
                km.charge(key.text, quota=1, request_id=f"{kind} {key.token_id}")
            return time.monotonic() - started

    service.signal(signal.SIGSTOP)
    try:
        # Three tries of two seconds each.
        assert all(5.5 < seconds < 9 for seconds in both(fails))
    finally:
        service.signal(signal.SIGCONT)
    with Keymeter(service.url, service.credential) as km:
        for kind in KINDS:
            assert km.charge(key.text, quota=1, request_id=f"{kind} {key.token_id}").charged == 1
    assert account.used(key) == 2


def test_a_request_that_waits_for_a_connection_has_its_time_for_the_answer(
    service: Service, account: Account, proxy: LossyProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "CONNECTIONS", 1)
    key = account.key(100)
    proxy.delay = 1.2

    def charges(kind: str) -> int:
        with client(kind, proxy.url, service.credential) as km, ThreadPoolExecutor(2) as pool:
            return sum(charged.charged for charged in pool.map(lambda quota: km.charge(key.text, quota=quota), [1, 2]))

    assert both(charges) == [3, 3]
    assert proxy.passed == 4, "none was sent again"


async def test_a_request_that_is_cancelled_while_it_waits_keeps_no_connection(
    service: Service, account: Account, proxy: LossyProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "CONNECTIONS", 1)
    key = account.key(100)
    async with AsyncKeymeter(proxy.url, service.credential) as km:
        proxy.delay = 0.2
        tasks = [asyncio.create_task(km.charge(key.text, quota=1)) for _ in range(20)]
        for task in tasks[1:19]:
            await asyncio.sleep(0.01)
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert [isinstance(outcome, Charged) for outcome in outcomes] == [True] + [False] * 18 + [True]
        proxy.delay = 0
        assert (await km.charge(key.text, quota=1)).charged == 1


@pytest.mark.parametrize("kind", KINDS)
def test_when_all_places_are_taken_new_spends_are_refused_and_no_settlement_is_lost(
    service: Service, account: Account, kind: str
) -> None:
    key = account.key(100)
    with client(kind, service.url, service.credential, max_spends=3) as km:
        spends = [km.spend(key.text, quota=10) for _ in range(3)]
        for spend in spends:
            spend.begin()
        with pytest.raises(Unavailable, match="3 requests wait for Keymeter, 0 of them"), km.spend(key.text, quota=1):
            raise AssertionError("the work began")
        service.kill()
        try:
            for spend in spends:
                spend.cost(quota=7)
                spend.end()
            assert km.waiting == 3
            with pytest.raises(Unavailable, match="3 requests wait for Keymeter, 3 of them"), km.spend(key.text, quota=1):
                raise AssertionError("the work began")
        finally:
            service.start()
        wait_until("they are settled", lambda: km.waiting == 0)
        assert account.used(key) == 21
        with km.spend(key.text, quota=9):
            pass
    assert account.used(key) == 30


@pytest.mark.parametrize("kind", KINDS)
def test_a_settlement_that_is_refused_in_the_background_is_named_and_holds_up_no_other(
    service: Service, account: Account, proxy: LossyProxy, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    key = account.key(100)
    with client(kind, proxy.url, service.credential) as km, Keymeter(service.url, service.credential) as direct:
        spends = [km.spend(key.text, quota=30) for _ in range(2)]
        for spend in spends:
            spend.begin()
        # The first try, and the first in the background, of the first; the first of the second.
        proxy.drop = 3
        for spend in spends:
            spend.cost(quota=20)
            spend.end()
        direct.release(spends[0].reservation.reservation_id)
        wait_until("both have ended", lambda: km.waiting == 0)
    assert (
        f"the settlement of {spends[0].reservation.reservation_id} at 0.00004 USD was refused: reservation_ended" in caplog.text
    )
    assert (account.used(key), spends[0].settled) == (20, None)
    assert spends[1].settled is not None


@pytest.mark.parametrize("kind", KINDS)
def test_of_reservations_without_an_answer_only_a_few_wait(
    service: Service, account: Account, proxy: LossyProxy, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    key = account.key(100)
    said = "a reservation without an answer ends by itself, as its on_expiry says"
    with client(kind, proxy.url, service.credential, max_spends=10) as km:
        proxy.lose = 100
        for waiting in (1, 2, 2, 2):
            with pytest.raises(Unavailable), km.spend(key.text, quota=10):
                raise AssertionError("the work began")
            assert km.waiting == waiting
        assert [record.levelname for record in caplog.records if record.message == said] == ["WARNING"]
        proxy.lose = 0
        wait_until("they are released", lambda: km.waiting == 0)
        assert account.used(key) == 20, "two are left"
        spends = [km.spend(key.text, quota=1) for _ in range(10)]
        for spend in spends:
            spend.begin()
        for spend in spends:
            spend.end()


@pytest.mark.parametrize("kind", KINDS)
def test_closing_waits_for_settlements(service: Service, account: Account, proxy: LossyProxy, kind: str) -> None:
    key = account.key(100)
    with client(kind, proxy.url, service.credential) as km:
        with km.spend(key.text, quota=50) as spend:
            spend.cost(quota=20)
            # The first try, and two in the background.
            proxy.lose = 3
        assert km.waiting == 1
    assert account.used(key) == 20
    assert spend.settled is not None
    assert proxy.lost == 3


def test_closing_gives_up_after_five_seconds_and_says_so(
    service: Service, account: Account, proxy: LossyProxy, caplog: pytest.LogCaptureFixture
) -> None:
    key = account.key(100)
    barrier = Barrier(2)

    def closes(kind: str) -> float:
        with client(kind, proxy.url, service.credential) as km:
            late = km.spend(key.text, quota=1)
            late.begin()
            with km.spend(key.text, quota=20):
                barrier.wait()
                proxy.close()
            started = time.monotonic()
        seconds = time.monotonic() - started
        if kind == "threads":
            late.end()
            assert f"{late.reservation.reservation_id} at 0.000002 USD was not sent, because the client" in caplog.text
        return seconds

    assert all(4.5 < seconds < 8 for seconds in both(closes))
    said = "1 settlements were not sent: these reservations end as their on_expiry says"
    assert caplog.text.count(said) == 2


def test_a_program_that_ends_without_closing_sends_its_settlements(
    service: Service, account: Account, proxy: LossyProxy
) -> None:
    key = account.key(100)
    proxy.keep, proxy.drop = 1, 1
    program = """
import sys
from keymeter_client import Keymeter
with Keymeter(sys.argv[1], sys.argv[2]).spend(sys.argv[3], quota=50) as spend:
    spend.cost(quota=20)
"""
    command = [sys.executable, "-c", program, proxy.url, service.credential, key.text]
    subprocess.run(command, check=True, env={"PYTHONPATH": "src"})
    assert (account.used(key), proxy.drop) == (20, 0)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("asyncio.CancelledError()", "the release of {} was not sent, because the client or its event loop has ended"),
        ("None", "1 settlements were not sent"),
    ],
)
def test_an_event_loop_that_ends_without_closing_says_what_was_not_sent(
    service: Service, account: Account, proxy: LossyProxy, error: str, said: str
) -> None:
    proxy.keep, proxy.drop = 1, 100
    program = f"""
import asyncio, sys
from keymeter_client import AsyncKeymeter

async def main():
    spend = AsyncKeymeter(sys.argv[1], sys.argv[2]).spend(sys.argv[3], quota=20)
    await spend.begin()
    await spend.end({error})
    return spend.reservation.reservation_id

print(asyncio.run(main()))
"""
    command = [sys.executable, "-c", program, proxy.url, service.credential, account.key(100).text]
    ran = subprocess.run(command, check=True, env={"PYTHONPATH": "src"}, capture_output=True, text=True)
    assert said.format(ran.stdout.strip()) in ran.stderr


async def test_a_task_that_is_cancelled_with_its_client_settles_first(service: Service, account: Account) -> None:
    key = account.key(100)
    began = asyncio.Event()

    async def work() -> None:
        async with AsyncKeymeter(service.url, service.credential) as km, km.spend(key.text, quota=50) as spend:
            spend.cost(quota=20)
            began.set()
            await asyncio.sleep(60)

    task = asyncio.create_task(work())
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert account.used(key) == 20


def test_ctrl_c_while_a_settlement_is_sent_loses_nothing(
    service: Service, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = account.key(100)
    with Keymeter(service.url, service.credential) as km:
        post = km._post
        with pytest.raises(KeyboardInterrupt), km.spend(key.text, quota=50) as spend:
            spend.cost(quota=20)

            def interrupted(send: object) -> None:
                monkeypatch.setattr(km, "_post", post)
                raise KeyboardInterrupt

            monkeypatch.setattr(km, "_post", interrupted)
    assert account.used(key) == 20
