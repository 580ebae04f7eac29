"""What a client gets that is refused, in the shape of OpenAI and of Anthropic."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anthropic
import httpx
import openai
import pytest
from fixtures import plan
from front import Front
from processes import Program, eventually, free_port
from programs import Key, Keymeter, Upstream, quota
from refused_keys import disabled, expired, nobody, of_a_poor_owner

CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"
NO_RETRY = {"x-should-retry": "false", "retry-after": None}


def body_of(path: str = CHAT, **fields: object) -> dict[str, Any]:
    return {"model": "claude-1" if path == MESSAGES else "chat", "max_tokens": 60, "messages": plan(**fields)}


def check(answer: httpx.Response, path: str, status: int, kind: str, code: str, headers: dict[str, str | None]) -> None:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    for name, value in headers.items():
        assert answer.headers.get(name) == value, name
    body = answer.json()
    assert body["error"]["message"]
    if path == MESSAGES:
        kinds = {401: "authentication_error", 402: "billing_error", 500: "api_error", 503: "api_error"}
        expected = kinds.get(status, kind)
        assert body == {"type": "error", "error": {"type": expected, "message": body["error"]["message"]}}
    else:
        expected_error = {"message": body["error"]["message"], "type": kind, "param": None, "code": code}
        assert body == {"error": expected_error}


REFUSALS: list[tuple[Callable[[Keymeter], Key], int, str, str, dict[str, str | None]]] = [
    (nobody, 401, "invalid_request_error", "invalid_api_key", NO_RETRY),
    (lambda each: each.key("0.000002"), 402, "insufficient_quota", "token_quota_insufficient", NO_RETRY),
    (of_a_poor_owner, 402, "insufficient_quota", "user_quota_insufficient", NO_RETRY),
    (disabled, 403, "permission_error", "token_disabled", NO_RETRY),
    (expired, 403, "permission_error", "token_expired", NO_RETRY),
    (
        lambda each: each.key(model_limits_enabled=True, model_limits="other"),
        403,
        "permission_error",
        "model_not_allowed",
        NO_RETRY,
    ),
    (lambda each: each.key(allow_ips="127.0.0.9"), 403, "permission_error", "ip_not_allowed", NO_RETRY),
    # Larger than the whole limit: time does not help.
    (lambda each: each.key(period_limits={"day": 1}), 429, "rate_limit_error", "token_period_exceeded", NO_RETRY),
    (
        lambda each: each.key(rate_limits={"concurrency": 0}),
        429,
        "rate_limit_error",
        "too_many_concurrent",
        {"x-should-retry": None},
    ),
]


@pytest.mark.parametrize(("make", "status", "kind", "code", "headers"), REFUSALS, ids=[row[3] for row in REFUSALS])
@pytest.mark.parametrize("path", [CHAT, MESSAGES])
def test_each_refusal(
    front: Front,
    keymeter: Keymeter,
    upstream: Upstream,
    make: Callable[[Keymeter], Key],
    status: int,
    kind: str,
    code: str,
    headers: dict[str, str | None],
    path: str,
) -> None:
    key = make(keymeter)
    before = upstream.calls()
    answer = front.post(key, body_of(path), path)
    check(answer, path, status, kind, code, headers)
    assert key.secret not in answer.text
    assert upstream.calls() == before


@pytest.mark.parametrize("path", [CHAT, MESSAGES])
def test_limits_that_end_say_when(front: Front, keymeter: Keymeter, path: str) -> None:
    period = keymeter.key(period_limits={"day": quota("0.0005")})
    rate = keymeter.key(rate_limits={"requests_per_minute": 1})
    for key, code, retry in ((period, "token_period_exceeded", "false"), (rate, "rate_limited", None)):
        assert front.post(key, body_of(path), path).status_code == 200
        eventually(lambda key=key: key.charges())
        answer = front.post(key, body_of(path), path)
        check(answer, path, 429, "rate_limit_error", code, {"x-should-retry": retry})
        assert 0 < int(answer.headers["retry-after"]) <= 86_400


@pytest.mark.parametrize("path", [CHAT, MESSAGES])
def test_a_model_without_a_price(front: Front, key: Key, path: str) -> None:
    answer = front.post(key, {**body_of(path), "model": "without-a-price"}, path)
    check(answer, path, 403, "permission_error", "model_not_priced", NO_RETRY)
    key.settled()


@pytest.mark.parametrize("path", [CHAT, MESSAGES])
def test_no_keymeter(start: Callable[..., Front], path: str, key: Key, upstream: Upstream) -> None:
    front = start(keymeter_url=f"http://127.0.0.1:{free_port()}")
    before = upstream.calls()
    answer = front.post(key, body_of(path), path)
    check(answer, path, 503, "api_error", "keymeter_unavailable", {"retry-after": "2", "x-should-retry": None})
    models = httpx.get(f"{front.url}/v1/models", headers={"Authorization": f"Bearer {key.secret}"})
    check(models, "", 503, "api_error", "keymeter_unavailable", {"retry-after": "2"})
    assert upstream.calls() == before


@contextmanager
def answering(content: bytes) -> Iterator[str]:
    """Something at the place of Keymeter that always answers the same; nothing if it is empty."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        connections: list[socket.socket] = []

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                connections.append(connection)
                if content:
                    connection.recv(100_000)
                    connection.sendall(content)
                    connection.close()

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
        for each in connections:
            each.close()


def test_a_keymeter_that_is_silent(start: Callable[..., Front], key: Key) -> None:
    with answering(b"") as url:
        front = start(keymeter_url=url)
        began = time.monotonic()
        answer = front.post(key, body_of())
        check(answer, CHAT, 503, "api_error", "keymeter_unavailable", {"retry-after": "2", "x-should-retry": None})
        assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    "content",
    [
        b'HTTP/1.1 503 X\r\nContent-Length: 52\r\n\r\n{"success":false,"message":"x","error":"ledger_busy"}',
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nhello",
        b"not HTTP\r\n\r\n",
    ],
)
def test_an_answer_that_is_none(start: Callable[..., Front], key: Key, content: bytes) -> None:
    with answering(content) as url:
        answer = start(keymeter_url=url).post(key, body_of())
        check(answer, CHAT, 503, "api_error", "keymeter_unavailable", {"retry-after": "2", "x-should-retry": None})


@pytest.mark.parametrize("path", [CHAT, MESSAGES])
def test_a_wrong_credential_is_the_operators_concern(start: Callable[..., Front], path: str, key: Key) -> None:
    front = start(credential="kmg_wrong")
    answer = front.post(key, body_of(path), path)
    check(answer, path, 500, "api_error", "keymeter_misconfigured", {})
    assert "invalid_gateway" not in answer.text
    assert "credential" not in answer.text
    assert "invalid_gateway" in front.log()
    assert "kmg_wrong" not in front.log()


def test_a_wrong_setting_is_named_at_the_start(folder: Path, keymeter: Keymeter) -> None:
    front = Front(folder, keymeter.url, keymeter.credential, "http://127.0.0.1:1", on_expiry="perhaps")
    Program.start(front)
    assert front.process is not None
    assert front.process.wait(10) == 2
    assert "invalid value 'perhaps' for '--on-expiry <WHAT>'\n  [possible values: charge, release]" in front.log()


WRONG: list[bytes] = [
    b"",
    b"hello",
    b"[]",
    b'["model"]',
    b'"model"',
    b"{",
    b'{"model":"chat"',
    b'{"model":"chat"} x',
    b'{"messages":[]}',
    b'{"model":null}',
    b'{"model":7}',
    b'{"model":""}',
    b'{"model":"' + b"m" * 129 + b'"}',
    b'{"model":"chat","max_tokens":"9"}',
    b'{"model":"chat","max_tokens":-1}',
    b'{"model":"chat","max_tokens":1.5}',
    b'{"model":"chat","max_tokens":0x10}',
    b'{"model":"chat","max_tokens":NaN}',
    b'{"model":"chat","max_tokens":1e300}',
    b'{"model":"chat","max_tokens":[]}',
    b'{"model":"chat","stream":1}',
    b'{"model":"chat","stream":"true"}',
    # What another parser may read otherwise.
    b'{"model":"chat","messages":[],"model":"dear"}',
    b'{"model":"chat","mod\\u0065l":"dear"}',
    b'{"model":"chat","Model":"dear"}',
    b'{"model":"chat","Max_Tokens":100000}',
    b'{"model":"chat","x":"\\"","\\u006dodel":"dear"}',
    '{"model":"chat","max_to\u212aens":100000}'.encode(),
    b'{"model":"chat","a":1,"a":2}',
]


@pytest.mark.parametrize("content", WRONG, ids=[repr(each[:40]) for each in WRONG])
@pytest.mark.parametrize("path", [CHAT, MESSAGES])
def test_a_body_that_is_not_to_be_metered(front: Front, key: Key, upstream: Upstream, path: str, content: bytes) -> None:
    before = upstream.calls()
    answer = front.post(key, content, path)
    assert answer.status_code == 400, answer.text
    assert answer.headers["x-should-retry"] == "false"
    assert answer.json()["error"]["type"] == "invalid_request_error"
    assert ("type" in answer.json()) == (path == MESSAGES)
    assert upstream.calls() == before
    key.settled()


def test_bodies_that_look_strange_and_are_not(front: Front, key: Key) -> None:
    for text in (
        '\n {"metadata":{"a\\"b":"{[,:\\\\","y":[{"a":1},{"a":1}]},"model" : "chat" ,"messages":[]}',
        ' {"model":"chat"}',
    ):
        assert front.post(key, text.encode()).status_code == 200, text


def test_work_in_the_background_is_refused(front: Front, key: Key) -> None:
    answer = front.post(key, {"model": "chat", "input": "a", "background": True}, "/v1/responses")
    check(answer, "", 403, "permission_error", "not_metered", NO_RETRY)
    key.settled()


@pytest.mark.parametrize("member", [{"fallbacks": ["dear"]}, {"Models": ["dear"]}, {"api_base": "http://127.0.0.1:1"}])
def test_members_that_can_change_the_cost_are_refused(
    front: Front, key: Key, upstream: Upstream, member: dict[str, object]
) -> None:
    before = upstream.calls()
    answer = front.post(key, {"model": "chat", "messages": plan(), **member})
    check(answer, "", 403, "permission_error", "not_metered", NO_RETRY)
    assert upstream.calls() == before
    key.settled()


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("GET", "/v1/chat/completions"),
        ("POST", "/v1/models"),
        ("DELETE", "/v1/models"),
        ("POST", "/v1/images/generations"),
        ("POST", "/v1/chat/completions/"),
        ("POST", "//v1/chat/completions"),
        ("POST", "/v1/images/../chat/completions"),
        ("POST", "/v1/chat/complet%69ons"),
        ("POST", "/v1/chat/completions/..%2f..%2fimages"),
    ],
)
def test_no_other_route(front: Front, key: Key, upstream: Upstream, method: str, path: str) -> None:
    before = upstream.calls()
    with socket.create_connection(("127.0.0.1", front.port)) as connection:
        body = json.dumps(body_of())
        connection.sendall(
            f"{method} {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key.secret}\r\nConnection: close\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
        )
        text = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
    assert text.startswith("HTTP/1.1 404 "), text
    assert '"code":"not_metered"' in text
    assert upstream.calls() == before
    key.settled()


@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": ""}, {"Authorization": "Basic abc"}, {"Authorization": "Bearer " + "x" * 2000}]
)
def test_no_key_and_no_possible_key(front: Front, headers: dict[str, str]) -> None:
    for path in (CHAT, MESSAGES):
        answer = httpx.post(f"{front.url}{path}", json=body_of(path), headers=headers)
        check(answer, path, 401, "invalid_request_error", "invalid_api_key", NO_RETRY)


@pytest.mark.parametrize("name", ["key", "KEY", "%6bey"])
def test_a_key_in_the_address(front: Front, key: Key, name: str) -> None:
    answer = front.post(key, body_of(), f"{CHAT}?a=b&{name}={key.secret}")
    check(answer, CHAT, 401, "invalid_request_error", "invalid_api_key", NO_RETRY)
    key.settled()
    assert key.secret not in front.log()


def test_the_key_of_anthropics_clients(front: Front, key: Key) -> None:
    for headers in ({"x-api-key": key.secret}, {"Authorization": f"bearer {key.secret}", "x-api-key": "sk-other"}):
        assert httpx.post(f"{front.url}{MESSAGES}", json=body_of(MESSAGES), headers=headers).status_code == 200
    eventually(lambda: len(key.charges()) == 2)


def test_the_list_of_models_is_for_keys_that_may_be_used(front: Front, keymeter: Keymeter) -> None:
    def models(key: Key) -> httpx.Response:
        return httpx.get(f"{front.url}/v1/models", headers={"Authorization": f"Bearer {key.secret}"})

    key = keymeter.key()
    assert models(key).json()["data"][0]["id"] == "chat"
    key.settled()
    check(models(nobody(keymeter)), "", 401, "invalid_request_error", "invalid_api_key", NO_RETRY)
    check(models(disabled(keymeter)), "", 403, "permission_error", "token_disabled", NO_RETRY)
    # It is free, so a key that is used up may see it.
    assert models(keymeter.key("0")).status_code == 200


def test_sdks_repeat_nothing_that_time_does_not_help(front: Front, keymeter: Keymeter) -> None:
    secret, sent = keymeter.key("0").secret, []
    http = openai.DefaultHttpxClient(event_hooks={"request": [sent.append]})
    with pytest.raises(openai.APIStatusError) as refused:
        openai.OpenAI(api_key=secret, base_url=f"{front.url}/v1", http_client=http).chat.completions.create(**body_of())
    assert (refused.value.status_code, refused.value.code, len(sent)) == (402, "token_quota_insufficient", 1)
    other = anthropic.DefaultHttpxClient(event_hooks={"request": [sent.append]})
    with pytest.raises(anthropic.APIStatusError):
        anthropic.Anthropic(api_key=secret, base_url=front.url, http_client=other).messages.create(**body_of(MESSAGES))
    assert len(sent) == 2


def test_no_key_is_in_a_log(front: Front, key: Key) -> None:
    front.post(key, body_of())
    front.post(key, body_of(status=500))
    front.post(key.secret + "x", body_of())
    key.settled("0.000355")
    logs = front.log()
    assert key.secret.removeprefix("sk-") not in logs
    assert "kmg_" not in logs
    assert "sk-of-the-upstream" not in logs
