"""Each call, with both clients."""

from __future__ import annotations

import time
from decimal import Decimal
from typing import Any

import pytest

from keymeter_client import Charge, Charged, Keymeter, NotAllowed, Unavailable

from .clients import client, wait_until
from .service import Account, LossyProxy, Service


def test_a_charge_says_whose_it_is(km: Keymeter, account: Account) -> None:
    key = account.key(100)
    charged = km.charge(key.text, quota=30, model="gpt-5", prompt_tokens=9, completion_tokens=4)
    assert (charged.charged, charged.remain_quota) == (30, 70)
    assert (charged.token_id, charged.user_id, charged.group) == (key.token_id, account.user_id, "default")
    assert charged.name.startswith("key ")
    (charge,) = account.charges(key)
    assert (charge["quota"], charge["prompt_tokens"], charge["completion_tokens"]) == (30, 9, 4)


@pytest.mark.parametrize(
    ("usd", "quota"),
    [("0.02", 10_000), (Decimal("0.000002"), 1), ("0.000002000001", 2), (0.1 + 0.2, 150_000), (2, 10**6), (0, 0)],
)
def test_dollars_are_charged_to_the_unit(km: Keymeter, account: Account, usd: str | float | Decimal, quota: int) -> None:
    key = account.key().text
    assert km.charge(key, usd=usd).charged == quota
    reservation = km.reserve(key, usd=usd)
    assert reservation.reserved == quota
    assert km.settle(reservation.reservation_id, usd=usd).charged == quota
    (outcome,) = km.charges([Charge(key=key, usd=usd)])
    assert isinstance(outcome, Charged)
    assert outcome.charged == quota
    assert km.verify(key, usd=usd).valid


def test_counts_cost_what_the_price_of_the_model_says(km: Keymeter, account: Account) -> None:
    key = account.key()
    # 700 prompt tokens in no cache, the two parts, and the output.
    counts: dict[str, Any] = {"prompt_tokens": 900, "completion_tokens": 100, "cached_tokens": 100, "cache_write_tokens": 100}
    quota = 700 + 10 + 150 + 500
    assert km.verify(key.text, model="priced-1", **counts).valid
    assert km.verify(key.text, model="free", **counts).reason == "model_not_priced"
    assert km.charge(key.text, model="priced-1", **counts).charged == quota
    reservation = km.reserve(key.text, model="priced-1", prompt_tokens=1000, completion_tokens=200)
    # Prompt tokens that are not said to be cached are held at the dearest rate of input.
    assert reservation.reserved == 2500
    assert km.settle(reservation.reservation_id, model="priced-2", **counts).charged == quota
    outcomes = km.charges([Charge(key=key.text, model=model, **counts) for model in ("priced-1", "free")])
    assert isinstance(outcomes[0], Charged)
    assert outcomes[0].charged == quota
    assert isinstance(outcomes[1], NotAllowed)
    assert outcomes[1].code == "model_not_priced"


def test_a_reservation_says_whose_it_is_and_is_settled_or_released(km: Keymeter, account: Account) -> None:
    key = account.key(100)
    reservation = km.reserve(key.text, quota=40, ttl_seconds=60, request_id=f"mine {key.token_id}")
    assert (reservation.reserved, reservation.remain_quota) == (40, 60)
    assert (reservation.token_id, reservation.user_id, reservation.group) == (key.token_id, account.user_id, "default")
    assert abs(reservation.expires_at - time.time() - 60) < 5
    assert km.reserve(key.text, quota=40, ttl_seconds=60, request_id=f"mine {key.token_id}") == reservation
    settled = km.settle(reservation.reservation_id, quota=15, prompt_tokens=1, completion_tokens=2)
    assert (settled.charged, settled.shortfall, settled.expired, settled.remain_quota) == (15, 0, False, 85)
    other = km.reserve(key.text, quota=85)
    assert km.release(other.reservation_id).remain_quota == 85


def test_a_hold_is_extended_and_never_shrinks(km: Keymeter, account: Account) -> None:
    key = account.key(100)
    reservation = km.reserve(key.text, quota=40, ttl_seconds=60)
    extended = km.extend(reservation.reservation_id, quota=70, ttl_seconds=600)
    assert (extended.reservation_id, extended.reserved, extended.remain_quota) == (reservation.reservation_id, 70, 30)
    assert abs(extended.expires_at - time.time() - 600) < 5
    again = km.extend(reservation.reservation_id, usd="0.000002", ttl_seconds=1)
    assert (again.reserved, again.expires_at) == (70, extended.expires_at)
    assert km.release(reservation.reservation_id).remain_quota == 100


@pytest.mark.parametrize("kind", ["threads", "asyncio"])
def test_a_lost_answer_charges_and_holds_once(service: Service, account: Account, proxy: LossyProxy, kind: str) -> None:

    key = account.key(100)
    with client(kind, proxy.url, service.credential) as km:
        proxy.lose = 2
        assert km.charge(key.text, quota=10).charged == 10
        assert account.used(key) == 10
        proxy.lose = 2
        km.charges([Charge(key=key.text, quota=5), Charge(key=key.text, quota=5)])
        assert account.used(key) == 20
        proxy.lose = 2
        reservation = km.reserve(key.text, quota=30)
        assert account.used(key) == 50
        proxy.lose = 2
        assert km.settle(reservation.reservation_id, quota=5).charged == 5
        assert account.used(key) == 25
        assert proxy.lost == 8
        proxy.lose = 3
        with pytest.raises(Unavailable) as error:
            km.charge(key.text, quota=1)
        assert error.value.sent
        assert proxy.lose == 0, "three tries"


def test_a_reservation_whose_answer_was_lost_for_good_is_released(
    service: Service, account: Account, proxy: LossyProxy
) -> None:

    key = account.key(100)
    for kind in ("threads", "asyncio"):
        with client(kind, proxy.url, service.credential) as km:
            proxy.lose = 3
            with pytest.raises(Unavailable), km.spend(key.text, quota=30, on_expiry="charge"):
                raise AssertionError("the work began")
            wait_until("the hold is given back", lambda: account.used(key) == 0)
