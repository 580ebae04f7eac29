"""Neither the credential nor a key is in a repr, a log or an error."""

from __future__ import annotations

import logging
import pickle
import traceback
from collections.abc import Callable

import pytest

from keymeter_client import (
    AsyncKeymeter,
    AsyncKeymeterTokens,
    Charge,
    Keymeter,
    KeymeterError,
    KeymeterTokens,
    NewToken,
    Unavailable,
    tokens,
)
from keymeter_client.exchange import Answer, Settings

from .clients import client, token_client
from .service import Account, LossyProxy, Service

CREDENTIAL = "kmg_a-credential-that-nobody-may-see"


def test_no_repr_has_the_credential_or_the_key(service: Service, account: Account) -> None:
    key = account.key(100).text
    with Keymeter(service.url, service.credential) as km:
        spend = km.spend(key, quota=5)
        charge = Charge(key=key, quota=5)
        begun = km.spend(key, quota=5)
        reservation = begun.begin()
        shown = [km, spend, charge, begun, reservation, begun._hold, begun._undo(), km._settings, km.charge(key, quota=1)]
        begun.end()
    shown.append(AsyncKeymeter(service.url, service.credential))
    for each in shown:
        text = f"{each!r} {each!s}"
        assert key not in text
        assert service.credential not in text
        assert key[3:20] not in text


@pytest.mark.parametrize("kind", ["threads", "asyncio"])
def test_no_error_and_no_log_has_them(
    service: Service, account: Account, proxy: LossyProxy, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    caplog.set_level(logging.DEBUG)
    key = account.key(100, models=["o1"]).text
    errors: list[KeymeterError] = []

    def fails(call: Callable[[], object]) -> None:
        with pytest.raises(KeymeterError) as raised:
            call()
        errors.append(raised.value)

    with client(kind, proxy.url, service.credential) as km:
        fails(lambda: km.charge(key, quota=1, model="gpt-5"))
        fails(lambda: km.charge(key, quota=-1))
        fails(lambda: km.charge(key, quota=1, request_id="\n"))
        proxy.lose = 3
        fails(lambda: km.reserve(key, quota=1))
        proxy.lose = 3
        fails(lambda: km.verify(key))
        with km.spend(key, quota=5):
            proxy.lose = 2
    for error in errors:
        # The whole chain, with the variables of our functions: what reports errors may send all of it.
        report = traceback.TracebackException.from_exception(error, capture_locals=True)
        shown = "".join(report.format()) + repr(error) + repr(pickle.dumps(error))
        assert service.credential not in shown
        assert key not in "".join(traceback.format_exception(error)) + repr(error) + str(error)
        assert error.__cause__ is None
        assert error.__context__ is None
    assert "settlements wait" in caplog.text
    assert service.credential not in caplog.text
    assert key not in caplog.text


@pytest.mark.parametrize("kind", ["threads", "asyncio"])
def test_nothing_of_the_client_for_tokens_shows_the_access_token_or_a_key(
    service: Service, proxy: LossyProxy, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    caplog.set_level(logging.DEBUG)
    person = Account(service, wallet=1)
    shown: list[object] = []
    with token_client(kind, proxy.url, person.access_token) as own:
        made = own.create("n")
        (many,) = own.create_many([NewToken(name="m")])
        rotated = own.rotate(made.id)
        keys = [made.key, many.key, rotated.key]
        assert all(keys)
        shown += [own, made, many, rotated, [rotated], own.old_keys(made.id), own.get(made.id), list(own.list())]
        proxy.lose = 3
        for call in (lambda: own.reveal(made.id), lambda: own.update(made.id, if_match='"1"', note="x")):
            with pytest.raises(KeymeterError) as raised:
                call()
            shown.append("".join(traceback.format_exception(raised.value)))
            report = traceback.TracebackException.from_exception(raised.value, capture_locals=True)
            shown += [frame.locals for frame in report.stack if "keymeter_client" in frame.filename]
            assert raised.value.__cause__ is None
            assert raised.value.__context__ is None
    text = f"{shown} {[str(each) for each in shown]} {caplog.text}"
    for secret in (*keys, person.access_token):
        assert secret not in text
        assert secret[3:20] not in text


def test_no_error_shows_a_key_of_an_answer_that_is_not_understood() -> None:
    program = tokens.create(NewToken(name="n"), None)
    next(program)
    body = b'{"success": true, "message": "", "data": {"key": "sk-secret", "id": 7}}'
    with pytest.raises(Unavailable) as raised:
        program.send(Answer(200, {}, body))
    report = traceback.TracebackException.from_exception(raised.value, capture_locals=True)
    ours = [frame for frame in report.stack if frame.filename.endswith(("exchange.py", "tokens.py"))]
    assert ours
    for frame in ours:
        assert "sk-secret" not in repr(frame.locals)


def test_an_access_token_is_asked_for_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYMETER_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("KEYMETER_CREDENTIAL", CREDENTIAL)
    monkeypatch.delenv("KEYMETER_ACCESS_TOKEN", raising=False)
    for kind in (KeymeterTokens, AsyncKeymeterTokens):
        with pytest.raises(ValueError, match="set KEYMETER_ACCESS_TOKEN to an access token"):
            kind()
    monkeypatch.setenv("KEYMETER_ACCESS_TOKEN", f" {CREDENTIAL}\n")
    assert KeymeterTokens()._settings.headers["Authorization"] == f"Bearer {CREDENTIAL}"


@pytest.mark.parametrize(
    ("url", "credential", "said"),
    [
        ("", CREDENTIAL, "set KEYMETER_URL to the address"),
        ("http://127.0.0.1:1", "", "set KEYMETER_CREDENTIAL to a gateway credential"),
        ("127.0.0.1:3000", CREDENTIAL, "must be an http or https address"),
        ("http://", CREDENTIAL, "must be an http or https address"),
        (f"http://127.0.0.1:1/?credential={CREDENTIAL}", CREDENTIAL, "without a query"),
        (f"http://me:{CREDENTIAL}@127.0.0.1:1", CREDENTIAL, "must not have a user"),
        ("http://127.0.0.1:1", f"{CREDENTIAL}\nX-Other: 1", "must be printable ASCII"),
        ("http://127.0.0.1:1", f"{CREDENTIAL}é", "must be printable ASCII"),
    ],
)
def test_a_wrong_setting_is_refused_without_showing_it(
    monkeypatch: pytest.MonkeyPatch, url: str, credential: str, said: str
) -> None:
    monkeypatch.delenv("KEYMETER_URL", raising=False)
    monkeypatch.delenv("KEYMETER_CREDENTIAL", raising=False)
    for kind in (Keymeter, AsyncKeymeter):
        with pytest.raises(ValueError, match=said) as refused:
            kind(url, credential)
        assert CREDENTIAL not in "".join(traceback.format_exception(refused.value))


def test_the_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYMETER_URL", "http://127.0.0.1:1/keys/")
    monkeypatch.setenv("KEYMETER_CREDENTIAL", f" {CREDENTIAL}\n")
    settings = Settings(None, None)
    assert settings.url == "http://127.0.0.1:1/keys"
    assert settings.headers["Authorization"] == f"Bearer {CREDENTIAL}"
    assert Settings("http://127.0.0.1:2", None).url == "http://127.0.0.1:2"
