"""Each refusal of the service becomes its error."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from functools import cache
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from keymeter_client import (
    BadRequest,
    Charge,
    Charged,
    Conflict,
    InvalidGateway,
    InvalidKey,
    Keymeter,
    LimitExceeded,
    NotAllowed,
    QuotaExhausted,
    RateLimited,
    Refused,
    Unavailable,
)

from .service import Account, Key, Service


def exhausted(account: Account) -> Key:
    key = account.key(3)
    with Keymeter(account.service.url, account.service.credential) as client:
        client.charge(key.text, quota=3)
    return key


def disabled(account: Account) -> Key:
    key = account.key()
    account.disable(key)
    return key


def expired(account: Account) -> Key:
    key = account.key(expired_time=int(time.time()) + 1)
    time.sleep(2.1)
    return key


def of_a_disabled_account(account: Account) -> Key:
    other = Account(account.service, wallet=100)
    key = other.key()
    account.service.root("PATCH", f"/api/admin/users/{other.user_id}", {"status": 2})
    return key


def of_a_foreign_group(account: Account) -> Key:
    other = Account(account.service, wallet=100, group="vip")
    key = other.key(group="vip")
    account.service.root("PATCH", f"/api/admin/users/{other.user_id}", {"group": "default"})
    return key


def busy(account: Account) -> Key:
    key = account.key(rate_limits={"concurrency": 1})
    account.hold(key)
    return key


KEYS: list[tuple[Callable[[Account], Key], int, str, type[Refused]]] = [
    (lambda account: Key("sk-none", 0), 401, "invalid_key", InvalidKey),
    (exhausted, 402, "token_exhausted", QuotaExhausted),
    (lambda account: account.key(4), 402, "token_quota_insufficient", QuotaExhausted),
    (lambda account: Account(account.service, wallet=4).key(), 402, "user_quota_insufficient", QuotaExhausted),
    (disabled, 403, "token_disabled", NotAllowed),
    (expired, 403, "token_expired", NotAllowed),
    (of_a_disabled_account, 403, "user_disabled", NotAllowed),
    (of_a_foreign_group, 403, "group_not_allowed", NotAllowed),
    (lambda account: account.key(models=["o1"]), 403, "model_not_allowed", NotAllowed),
    (lambda account: account.key(allow_ips="10.0.0.0/8"), 403, "ip_not_allowed", NotAllowed),
    (lambda account: account.key(period_limits={"day": 4}), 429, "token_period_exceeded", LimitExceeded),
    (lambda account: Account(account.service, 100, limits={"week": 4}).key(), 429, "user_period_exceeded", LimitExceeded),
    (lambda account: account.key(rate_limits={"requests_per_minute": 0}), 429, "rate_limited", RateLimited),
    (busy, 429, "too_many_concurrent", RateLimited),
]


@cache
def made(make: Callable[[Account], Key], account: Account) -> Key:
    """Once for both clients: a refused key stays as it is."""
    return make(account)


@pytest.mark.parametrize(("make", "status", "code", "kind"), KEYS, ids=[code for _, _, code, _ in KEYS])
def test_a_key_that_may_not_be_used_is_refused(
    km: Keymeter, account: Account, make: Callable[[Account], Key], status: int, code: str, kind: type[Refused]
) -> None:
    key = made(make, account)
    with pytest.raises(Refused) as refused, km.spend(key.text, quota=5, model="gpt-5", ip="192.0.2.1"):
        raise AssertionError("the work began")
    assert (type(refused.value), refused.value.status, refused.value.code) == (kind, status, code)
    assert refused.value.request_id
    assert refused.value.message[0].islower()
    copy = pickle.loads(pickle.dumps(refused.value))
    assert vars(copy) == vars(refused.value)


def test_a_limit_of_a_period_has_its_figures(km: Keymeter, account: Account) -> None:
    key = account.key(period_limits={"day": 10})
    km.charge(key.text, quota=7)
    with pytest.raises(LimitExceeded) as refused:
        km.charge(key.text, quota=4)
    error = refused.value
    assert (error.period, error.limit, error.used) == ("day", 10, 7)
    assert error.resets_at is not None
    assert error.retry_after is not None
    assert abs(time.time() + error.retry_after - error.resets_at) < 5
    with pytest.raises(LimitExceeded) as refused:
        km.charge(key.text, quota=11)
    assert refused.value.retry_after is None, "it never fits"


def test_a_verification_says_why_a_key_may_not_be_used(km: Keymeter, account: Account) -> None:
    key = account.key(models=["o1"])
    verified = km.verify(key.text, model="gpt-5")
    assert (verified.valid, verified.reason, verified.token_id) == (False, "model_not_allowed", key.token_id)
    assert km.verify(key.text, model="o1").valid
    assert km.verify("sk-none").reason == "invalid_key"


def reserved(km: Keymeter, account: Account) -> str:
    return km.reserve(account.key().text, quota=5).reservation_id


def settled(km: Keymeter, account: Account) -> str:
    reservation_id = reserved(km, account)
    km.settle(reservation_id, quota=5)
    return reservation_id


def reused(km: Keymeter, account: Account) -> None:
    key = account.key().text
    km.charge(key, quota=1, request_id=f"used {key[-8:]}")
    km.charge(key, quota=2, request_id=f"used {key[-8:]}")


MISTAKES: list[tuple[Callable[[Keymeter, Account], Any], int, str, type[Refused]]] = [
    (lambda km, account: km.release(settled(km, account)), 409, "reservation_ended", Conflict),
    (reused, 409, "request_id_reused", Conflict),
    (lambda km, account: km.settle("r1.1", quota=1), 404, "reservation_not_found", Conflict),
    (lambda km, account: km.charge(account.key().text), 400, "missing_field", BadRequest),
    (lambda km, account: km.charge(account.key().text, quota=-1), 400, "invalid_quota", BadRequest),
    (lambda km, account: km.charge(account.key().text, quota=1, usd=1), 400, "ambiguous_amount", BadRequest),
    (lambda km, account: km.reserve(account.key().text, usd=10**12), 400, "invalid_usd", BadRequest),
    (lambda km, account: km.reserve(account.key().text, quota=1, ttl_seconds=-1), 400, "invalid_ttl", BadRequest),
    (
        lambda km, account: km.reserve(account.key().text, quota=1, on_expiry="keep"),  # type: ignore[arg-type]
        400,
        "invalid_on_expiry",
        BadRequest,
    ),
    (lambda km, account: km.charge(account.key().text, quota=1, request_id="\n"), 400, "invalid_request_id", BadRequest),
    (lambda km, account: km.charge(account.key().text, quota=1, model="m" * 129), 400, "invalid_model", BadRequest),
    (lambda km, account: km.charge(account.key().text, quota=1, ip="here"), 400, "invalid_ip", BadRequest),
    (lambda km, account: km.charge(account.key().text, quota=1, prompt_tokens=-1), 400, "invalid_count", BadRequest),
    (lambda km, account: km.charge(account.key().text, quota="1"), 400, "invalid_field", BadRequest),  # type: ignore[arg-type]
    (lambda km, account: km.charges([]), 400, "invalid_charges", BadRequest),
]


@pytest.mark.parametrize(("call", "status", "code", "kind"), MISTAKES, ids=[code for _, _, code, _ in MISTAKES])
def test_a_mistake_is_refused(
    km: Keymeter,
    account: Account,
    call: Callable[[Keymeter, Account], Any],
    status: int,
    code: str,
    kind: type[Refused],
) -> None:
    with pytest.raises(Refused) as refused:
        call(km, account)
    assert (type(refused.value), refused.value.status, refused.value.code) == (kind, status, code)


def test_a_wrong_credential_is_refused(service: Service) -> None:
    with Keymeter(service.url, "kmg_wrong") as client, pytest.raises(InvalidGateway) as refused:
        client.verify("sk-none")
    assert (refused.value.status, refused.value.code) == (401, "invalid_gateway")


def test_each_charge_of_many_succeeds_or_fails_alone(km: Keymeter, account: Account) -> None:
    key, poor = account.key(), account.key(1)
    again = Charge(key=key.text, quota=3, request_id=f"again {key.token_id}")
    charges = [again, Charge(key="sk-none", quota=1), Charge(key=poor.text, quota=2), again, Charge(key=key.text, quota=4)]
    first, unknown, short, second, last = km.charges(charges)
    assert isinstance(first, Charged)
    assert (first, first.charged) == (second, 3)
    assert isinstance(unknown, InvalidKey)
    assert unknown.status == 401
    assert isinstance(short, QuotaExhausted)
    assert (short.status, short.code) == (402, "token_quota_insufficient")
    assert isinstance(last, Charged)
    assert account.used(key) == 7
    limited = account.key(period_limits={"day": 1})
    (refused,) = km.charges([Charge(key=limited.text, quota=2)])
    assert isinstance(refused, LimitExceeded)
    assert (refused.status, refused.period, refused.limit, refused.retry_after) == (429, "day", 1, None)


def test_a_wrong_path_is_refused(service: Service) -> None:
    with Keymeter(f"{service.url}/elsewhere", service.credential) as client, pytest.raises(Refused) as refused:
        client.verify("sk-none")
    assert (type(refused.value), refused.value.status, refused.value.code) == (Refused, 404, "not_found")


def test_an_answer_that_is_not_keymeters_permits_nothing() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as other:
        Thread(target=other.serve_forever).start()
        with Keymeter(f"http://127.0.0.1:{other.server_port}", "kmg_any") as client, pytest.raises(Unavailable) as error:
            client.verify("sk-none")
        other.shutdown()
    # It answers GET.
    assert error.value.status == 501
    assert "is KEYMETER_URL right?" in str(error.value)
