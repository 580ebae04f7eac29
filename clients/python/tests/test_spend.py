"""How a spend ends, with both clients."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from keymeter_client import AsyncKeymeter, Keymeter, QuotaExhausted, Settled

from .clients import eventually
from .service import Account, LossyProxy, Service


def test_a_cost_is_settled_and_adds_up(km: Keymeter, account: Account) -> None:
    key = account.key(100_000)
    with km.spend(key.text, usd="0.1") as spend:
        assert account.used(key) == 50_000
        assert spend.reservation.token_id == key.token_id
        spend.cost(usd="0.01", prompt_tokens=900, completion_tokens=400)
        spend.cost(usd=0.1 + 0.2 - 0.28)
        spend.cost(usd="0.0000000000004")
        spend.cost(quota=7, completion_tokens=3)
        assert spend.usd == "0.030014"
    assert spend.settled == Settled(charged=15_007, shortfall=0, expired=False, remain_quota=84_993, priced_by="told")
    (charge,) = account.charges(key)
    assert (charge["quota"], charge["prompt_tokens"], charge["completion_tokens"]) == (15_007, 900, 403)


def test_parts_of_a_unit_add_up_and_are_rounded_up_once(km: Keymeter, account: Account) -> None:
    key = account.key(100)
    with km.spend(key.text, quota=50) as spend:
        for _ in range(10):
            spend.cost(usd="0.00000051")
    assert account.used(key) == 3


def test_counts_without_an_amount_cost_what_the_price_of_the_model_says(km: Keymeter, account: Account) -> None:
    key = account.key(10_000)
    with km.spend(key.text, model="priced-1", prompt_tokens=1000, completion_tokens=100) as spend:
        assert spend.reservation.reserved == 2000
        spend.cost(prompt_tokens=500, completion_tokens=0, cached_tokens=100)
        spend.cost(prompt_tokens=0, completion_tokens=7)
    assert spend.settled is not None
    assert spend.settled.charged == 400 + 10 + 35
    (charge,) = account.charges(key)
    assert (charge["prompt_tokens"], charge["completion_tokens"]) == (500, 7)


def test_a_spend_is_told_in_amounts_or_in_counts(km: Keymeter, account: Account) -> None:
    key = account.key(10_000)
    with km.spend(key.text, model="priced-1", quota=900) as spend:
        spend.cost(prompt_tokens=500, completion_tokens=0)
        with pytest.raises(ValueError, match="all as counts"):
            spend.cost(quota=1)
        with pytest.raises(ValueError, match="prompt_tokens and completion_tokens"):
            spend.cost(prompt_tokens=1)
        with pytest.raises(ValueError, match="parts of prompt_tokens"):
            spend.cost(prompt_tokens=1, completion_tokens=1, cached_tokens=600)
    # What it cost is unknown.
    assert account.used(key) == 900


def test_counts_of_a_model_without_a_price_charge_the_hold(km: Keymeter, account: Account) -> None:
    key = account.key(10_000)
    with km.spend(key.text, model="free", quota=900) as spend:
        spend.cost(prompt_tokens=5, completion_tokens=5)
    assert account.used(key) == 900


def test_a_cost_above_the_hold_is_taken_as_far_as_the_balance_reaches(km: Keymeter, account: Account) -> None:
    key = account.key(100)
    with km.spend(key.text, quota=50) as spend:
        spend.cost(quota=130)
    assert spend.settled is not None
    assert (spend.settled.charged, spend.settled.shortfall) == (100, 30)


def test_an_exception_without_a_cost_gives_the_hold_back(km: Keymeter, account: Account) -> None:
    key = account.key(100)
    with pytest.raises(LookupError), km.spend(key.text, quota=50):
        raise LookupError
    assert account.used(key) == 0
    assert account.charges(key) == []


def test_an_exception_after_a_cost_charges_it(km: Keymeter, account: Account) -> None:
    key = account.key(100)
    with pytest.raises(LookupError), km.spend(key.text, quota=50) as spend:
        spend.cost(quota=20)
        raise LookupError
    assert account.used(key) == 20


def test_no_word_of_the_cost_charges_the_whole_hold(km: Keymeter, account: Account) -> None:
    key = account.key(100)
    with km.spend(key.text, quota=50):
        pass
    assert account.used(key) == 50
    with km.spend(key.text, quota=10) as spend:
        spend.extend(quota=40)
    assert account.used(key) == 90


def test_a_cost_of_nothing_is_free(km: Keymeter, account: Account) -> None:
    key = account.key(100)
    with km.spend(key.text, quota=50) as spend:
        spend.cost(usd=0)
    assert account.used(key) == 0
    assert len(account.charges(key)) == 1


@pytest.mark.parametrize(
    "cost",
    [
        {},
        {"usd": "1", "quota": 1},
        {"usd": None},
        {"usd": "many"},
        {"usd": -1},
        {"usd": float("nan")},
        {"usd": 10**9 + 1},
        {"quota": -1},
        {"quota": 0.5},
        {"quota": True},
        {"quota": 1, "prompt_tokens": -1},
        {"quota": 1, "completion_tokens": 10**12 + 1},
    ],
)
def test_a_cost_that_cannot_be_read_charges_at_least_the_hold(km: Keymeter, account: Account, cost: dict[str, object]) -> None:
    key = account.key(100)
    with pytest.raises(ValueError, match=r"must be|give the cost|too large"), km.spend(key.text, quota=50) as spend:
        spend.cost(quota=10)
        spend.cost(**cost)  # type: ignore[arg-type]
    assert account.used(key) == 50
    with pytest.raises(ValueError, match=r"must be|give the cost|too large"), km.spend(key.text, quota=50) as spend:
        spend.cost(**cost)  # type: ignore[arg-type]
    assert account.used(key) == 100


def test_a_cost_after_the_end_is_an_error(km: Keymeter, account: Account) -> None:
    with km.spend(account.key().text, quota=50) as spend:
        spend.cost(quota=1)
    with pytest.raises(RuntimeError, match="not charged"):
        spend.cost(quota=1)
    # Its end is repeated without effect.
    spend.end()
    with pytest.raises(RuntimeError, match="begins once"):
        spend.begin()


def test_a_spend_that_is_refused_does_no_work(km: Keymeter, account: Account) -> None:
    with pytest.raises(QuotaExhausted), km.spend(account.key(10).text, quota=11):
        raise AssertionError("the work began")


def test_a_spend_that_was_not_begun_has_no_reservation(km: Keymeter) -> None:
    spend = km.spend("sk-none", quota=1)
    with pytest.raises(RuntimeError, match="not begun"):
        _ = spend.reservation


@pytest.mark.parametrize("end", ["settle", "release"])
def test_a_spend_whose_reservation_somebody_ended_fails_nobody(
    km: Keymeter, account: Account, caplog: pytest.LogCaptureFixture, end: str
) -> None:
    key = account.key(100)
    with km.spend(key.text, quota=50) as spend:
        reservation_id = spend.reservation.reservation_id
        if end == "settle":
            km.settle(reservation_id, quota=5)
        else:
            km.release(reservation_id)
        spend.cost(quota=20)
    assert f"the settlement of {reservation_id} at 0.00004 USD was refused: reservation_ended" in caplog.text


def test_forty_at_once_with_quota_for_five(km: Keymeter, account: Account) -> None:
    key = account.key(50)

    def works(number: int) -> bool:
        try:
            with km.spend(key.text, quota=10) as spend:
                time.sleep(0.2)
                spend.cost(quota=10)
        except QuotaExhausted:
            return False
        return True

    with ThreadPoolExecutor(40) as pool:
        assert sum(pool.map(works, range(40))) == 5
    assert account.used(key) == 50


async def test_forty_tasks_at_once_with_quota_for_five(akm: AsyncKeymeter, account: Account) -> None:
    key = account.key(50)

    async def work() -> None:
        async with akm.spend(key.text, quota=10) as spend:
            await asyncio.sleep(0.2)
            spend.cost(quota=10)

    outcomes = await asyncio.gather(*(work() for _ in range(40)), return_exceptions=True)
    assert sum(outcome is None for outcome in outcomes) == 5
    assert {type(outcome) for outcome in outcomes} == {type(None), QuotaExhausted}
    assert account.used(key) == 50


@pytest.mark.parametrize(("told", "used"), [(20, 20), (None, 0)])
async def test_a_cancelled_spend_is_charged_what_was_told(
    akm: AsyncKeymeter, account: Account, told: int | None, used: int
) -> None:
    key = account.key(100)
    began = asyncio.Event()

    async def work() -> None:
        async with akm.spend(key.text, quota=50) as spend:
            if told is not None:
                spend.cost(quota=told)
            began.set()
            await asyncio.sleep(60)

    task = asyncio.create_task(work())
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await eventually("it ends", lambda: account.used(key) == used)


async def test_a_spend_that_is_cancelled_while_it_begins_holds_nothing(
    service: Service, account: Account, proxy: LossyProxy
) -> None:
    key = account.key(100)
    async with AsyncKeymeter(proxy.url, service.credential) as akm:
        proxy.stalls = True
        task = asyncio.create_task(akm.spend(key.text, quota=50).begin())
        await eventually("it is held", lambda: account.used(key) == 50)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        proxy.stalls = False
        await eventually("nothing is held", lambda: account.used(key) == 0)


async def test_a_spend_is_cancelled_while_it_settles(akm: AsyncKeymeter, account: Account) -> None:
    key = account.key(100)
    spend = akm.spend(key.text, quota=50)
    await spend.begin()
    spend.cost(quota=20)
    task = asyncio.create_task(spend.end())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await eventually("it is settled", lambda: spend.settled is not None)
    assert account.used(key) == 20


async def test_a_generator_that_is_left_is_charged_what_was_told(akm: AsyncKeymeter, account: Account) -> None:
    key = account.key(100)

    async def stream() -> AsyncIterator[int]:
        async with akm.spend(key.text, quota=50) as spend:
            for number in range(10):
                spend.cost(quota=5)
                yield number

    generator = stream()
    assert [await anext(generator), await anext(generator)] == [0, 1]
    await generator.aclose()  # type: ignore[attr-defined]
    await eventually("it is settled", lambda: account.used(key) == 10)


async def test_a_long_spend_renews_its_hold(akm: AsyncKeymeter, account: Account) -> None:
    key = account.key(100)
    async with akm.spend(key.text, quota=50, ttl_seconds=2) as spend:
        await asyncio.sleep(3.5)
        # After its end this is refused.
        assert (await spend.extend(ttl_seconds=1)).reserved == 50
        spend.cost(quota=20)
    assert account.used(key) == 20


async def test_a_hold_that_cannot_be_renewed_is_named_and_the_work_goes_on(
    akm: AsyncKeymeter, account: Account, caplog: pytest.LogCaptureFixture
) -> None:
    key = account.key(100)
    async with akm.spend(key.text, quota=50, ttl_seconds=4) as spend:
        account.disable(key)
        await eventually("it is refused", lambda: "is not extended" in caplog.text)
        spend.cost(quota=20)
    assert f"{spend.reservation.reservation_id} is not extended and may end before its work: token_disabled" in caplog.text
    assert account.used(key) == 20
