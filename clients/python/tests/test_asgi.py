"""The middleware and the dependency, in a real server."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any

import httpx
import pytest
import uvicorn
from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse, StreamingResponse

from keymeter_client import AsyncKeymeter, AsyncSpend, QuotaExhausted
from keymeter_client.asgi import KeymeterMiddleware, Message, RequestHold, Scope, current_spend
from keymeter_client.fastapi import spending

from .clients import wait_until
from .service import Account, Key, Service, free_port


@dataclass
class Seen:
    """What handlers saw."""

    left: threading.Event = field(default_factory=threading.Event)


async def hold_of_body(request: Request) -> RequestHold:
    body = await request.json()
    return RequestHold(quota=body["max_tokens"], model=body["model"], ttl_seconds=60, on_expiry="release")


def application(km: AsyncKeymeter, seen: Seen) -> FastAPI:
    def hold(scope: Scope) -> RequestHold | None:
        return None if scope["path"].startswith(("/free", "/own")) else RequestHold(quota=50, model="gpt-5")

    app = FastAPI()
    app.add_middleware(KeymeterMiddleware, keymeter=km, hold=hold)

    @app.post("/work")
    async def work(
        spend: Annotated[AsyncSpend, Depends(spending())], cost: int | None = None, status: int = 200
    ) -> JSONResponse:
        if cost is not None:
            spend.cost(quota=cost, prompt_tokens=3)
        return JSONResponse({"reserved": spend.reservation.reserved}, status)

    @app.post("/breaks")
    async def breaks(request: Request, cost: int | None = None) -> None:
        if cost is not None:
            current_spend(request.scope).cost(quota=cost)
        raise LookupError("a defect")

    @app.post("/refuses")
    async def refuses(spend: Annotated[AsyncSpend, Depends(spending())]) -> None:
        raise HTTPException(422)

    @app.post("/stream")
    async def stream(spend: Annotated[AsyncSpend, Depends(spending())], told: bool = True, count: int = 5) -> StreamingResponse:
        async def parts() -> AsyncIterator[bytes]:
            try:
                for _ in range(count):
                    if told:
                        spend.cost(quota=2)
                    yield b"part" * 1000
                    await asyncio.sleep(0.02)
            finally:
                seen.left.set()

        return StreamingResponse(parts())

    @app.post("/own")
    async def own(spend: Annotated[AsyncSpend, Depends(spending("0.00002"))]) -> int:
        spend.cost(quota=4)
        return spend.reservation.reserved

    @app.post("/own/fixed")
    async def fixed(spend: Annotated[AsyncSpend, Depends(spending(RequestHold(quota=7)))]) -> int:
        return spend.reservation.reserved

    @app.post("/own/body")
    async def body(spend: Annotated[AsyncSpend, Depends(spending(hold_of_body))]) -> int:
        spend.cost(quota=1)
        return spend.reservation.reserved

    @app.post("/own/twice")
    async def twice(
        one: Annotated[AsyncSpend, Depends(spending("0.00002"))], two: Annotated[AsyncSpend, Depends(spending("0.00004"))]
    ) -> None:
        raise AssertionError("it has two holds")

    @app.get("/free")
    async def free() -> str:
        return "free"

    @app.get("/free/charges")
    async def charges(key: str) -> int:
        return (await km.charge(key, quota=3)).charged

    @app.get("/free/none")
    async def none(spend: Annotated[AsyncSpend, Depends(spending())]) -> None:
        raise AssertionError("there is no hold")

    return app


class Site:
    """An application in uvicorn, in a thread."""

    def __init__(self, url: str, credential: str) -> None:
        self.seen = Seen()
        self.km = AsyncKeymeter(url, credential)
        config = uvicorn.Config(application(self.km, self.seen), port=0, log_level="critical", lifespan="off")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))
        self._thread.start()
        wait_until("it listens", lambda: self._server.started)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        # uvicorn closes a connection after a defect of the application, so none is used twice.
        limits = httpx.Limits(max_keepalive_connections=0)
        self.http = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=20, limits=limits)

    async def _serve(self) -> None:
        await self._server.serve()
        await self.km.close()

    def post(self, path: str, key: Key | None, **fields: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {key.text}"} if key else {}
        return self.http.post(path, headers=headers, **fields)

    def close(self) -> None:
        self.http.close()
        self._server.should_exit = True
        self._thread.join()


@pytest.fixture(scope="module")
def site(service: Service) -> Iterator[Site]:
    site = Site(service.url, service.credential)
    yield site
    site.close()


def ends_at(account: Account, key: Key, quota: int, charges: int = 1) -> None:
    """The answer is sent before the settlement."""
    wait_until("it is settled", lambda: account.used(key) == quota and len(account.charges(key)) == charges)


def test_a_request_is_charged_what_its_handler_told(site: Site, account: Account) -> None:
    key = account.key(100)
    answer = site.post("/work?cost=20", key)
    assert (answer.status_code, answer.json()) == (200, {"reserved": 50})
    ends_at(account, key, 20)
    (charge,) = account.charges(key)
    assert (charge["model_name"], charge["prompt_tokens"]) == ("gpt-5", 3)
    answer = site.http.post("/work?cost=5", headers={"x-api-key": key.text})
    assert answer.status_code == 200
    ends_at(account, key, 25, 2)


def test_a_request_without_a_cost_is_charged_its_hold(site: Site, account: Account) -> None:
    key = account.key(100)
    assert site.post("/work", key).status_code == 200
    ends_at(account, key, 50)


@pytest.mark.parametrize(
    ("path", "status", "quota", "charges"),
    [
        ("/work?status=502", 502, 0, 0),
        ("/work?status=400&cost=20", 400, 20, 1),
        ("/work?cost=many", 422, 0, 0),
        ("/breaks", 500, 0, 0),
        ("/breaks?cost=20", 500, 20, 1),
        ("/refuses", 422, 0, 0),
        ("/nowhere", 404, 0, 0),
    ],
)
def test_a_request_that_fails_is_charged_what_was_told(
    site: Site, account: Account, path: str, status: int, quota: int, charges: int
) -> None:
    key = account.key(100)
    assert site.post(path, key).status_code == status
    ends_at(account, key, quota, charges)


@pytest.mark.parametrize(("query", "quota"), [("", 10), ("?told=false", 50)])
def test_a_stream_is_charged_when_it_was_sent(site: Site, account: Account, query: str, quota: int) -> None:
    key = account.key(100)
    assert len(site.post(f"/stream{query}", key).content) == 20_000
    ends_at(account, key, quota)


@pytest.mark.parametrize("told", [True, False])
def test_a_client_that_leaves_a_stream_is_charged_what_was_told_or_the_hold(site: Site, account: Account, told: bool) -> None:
    key = account.key(10_000)
    site.seen.left.clear()
    headers = {"Authorization": f"Bearer {key.text}"}
    with site.http.stream("POST", f"/stream?count=1000&told={told}", headers=headers) as answer:
        next(answer.iter_bytes())
    assert site.seen.left.wait(10)
    wait_until("it is settled", lambda: len(account.charges(key)) == 1)
    used = account.used(key)
    assert 0 < used < 1_000 if told else used == 50
    (charge,) = account.charges(key)
    assert charge["quota"] == used


def test_a_handler_may_hold_for_itself(site: Site, account: Account) -> None:
    key = account.key(100)
    assert site.post("/own", key).json() == 10
    ends_at(account, key, 4)
    assert site.post("/own/fixed", key).json() == 7
    ends_at(account, key, 11, 2)
    assert site.post("/own/body", key, json={"max_tokens": 30, "model": "o1"}).json() == 30
    ends_at(account, key, 12, 3)
    refused = site.post("/own/body", key, json={"max_tokens": 300, "model": "o1"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (402, "token_quota_insufficient")
    # A mistake of the program; the hold of the first is given back.
    assert site.post("/own/twice", key).status_code == 500
    ends_at(account, key, 12, 3)


def test_what_has_no_hold_needs_no_key(site: Site) -> None:
    assert site.http.get("/free").json() == "free"
    assert site.http.get("/free/none").status_code == 500


REFUSALS: list[tuple[str, dict[str, Any], int, str, str, dict[str, str | None]]] = [
    ("invalid", {}, 401, "invalid_request_error", "invalid_api_key", {"x-should-retry": "false", "retry-after": None}),
    ("short", {"remain_quota": 49}, 402, "insufficient_quota", "token_quota_insufficient", {"x-should-retry": "false"}),
    ("model", {"models": ["o1"]}, 403, "permission_error", "model_not_allowed", {"x-should-retry": "false"}),
    ("address", {"allow_ips": "10.0.0.1"}, 403, "permission_error", "ip_not_allowed", {"x-should-retry": "false"}),
    (
        "period",
        {"period_limits": {"day": 49}},
        429,
        "rate_limit_error",
        "token_period_exceeded",
        {"x-should-retry": "false", "retry-after": None},
    ),
    ("rate", {"rate_limits": {"requests_per_minute": 1}}, 429, "rate_limit_error", "rate_limited", {"x-should-retry": None}),
    ("busy", {"rate_limits": {"concurrency": 1}}, 429, "rate_limit_error", "too_many_concurrent", {"x-should-retry": None}),
]


@pytest.mark.parametrize(("name", "fields", "status", "kind", "code", "headers"), REFUSALS, ids=[each[0] for each in REFUSALS])
def test_a_refused_client_is_told_in_the_shape_of_openai(
    site: Site,
    account: Account,
    name: str,
    fields: dict[str, Any],
    status: int,
    kind: str,
    code: str,
    headers: dict[str, str | None],
) -> None:
    key = Key("sk-none", 0) if name == "invalid" else account.key(**fields)
    if name == "rate":
        site.post("/work?cost=0", key)
    if name == "busy":
        account.hold(key)
    answer = site.post("/work", key)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/json"
    error = answer.json()["error"]
    assert error.pop("message")
    assert error == {"type": kind, "param": None, "code": code}
    assert {name: answer.headers.get(name) for name in headers} == headers
    if name in ("rate", "busy"):
        assert 1 <= int(answer.headers["retry-after"]) <= 60


def test_a_limit_that_renews_says_when(site: Site, account: Account) -> None:
    key = account.key(period_limits={"day": 60})
    site.post("/work?cost=30", key)
    ends_at(account, key, 30)
    answer = site.post("/work", key)
    assert (answer.status_code, answer.json()["error"]["code"]) == (429, "token_period_exceeded")
    assert (answer.headers["x-should-retry"], int(answer.headers["retry-after"]) <= 86_400) == ("false", True)


def test_a_request_without_a_key_is_refused(site: Site) -> None:
    for headers in ({}, {"Authorization": "Basic sk-1"}, {"Authorization": "Bearer"}, {"x-api-key": ""}):
        answer = site.http.post("/work", headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key")


def test_a_refusal_of_the_handlers_own_call_is_answered_too(site: Site, account: Account) -> None:
    key = account.key(5)
    assert site.http.get("/free/charges", params={"key": key.text}).json() == 3
    answer = site.http.get("/free/charges", params={"key": key.text})
    assert (answer.status_code, answer.json()["error"]["code"]) == (402, "token_quota_insufficient")


def test_without_keymeter_there_is_no_answer(service: Service, account: Account) -> None:
    site = Site(f"http://127.0.0.1:{free_port()}", service.credential)
    try:
        answer = site.post("/work", account.key())
    finally:
        site.close()
    assert answer.status_code == 503
    error = answer.json()["error"]
    assert (error["type"], error["code"]) == ("api_error", "keymeter_unavailable")
    assert answer.headers["retry-after"] == "2"


def test_a_wrong_credential_is_told_to_the_log_and_not_to_the_client(
    service: Service, account: Account, caplog: pytest.LogCaptureFixture
) -> None:
    site = Site(service.url, "kmg_wrong")
    try:
        answer = site.post("/work", account.key())
    finally:
        site.close()
    assert answer.status_code == 500
    assert answer.json() == {
        "error": {
            "message": "this gateway is misconfigured; tell its operator",
            "type": "api_error",
            "param": None,
            "code": "keymeter_misconfigured",
        }
    }
    assert "invalid_gateway" in caplog.text


async def call(app: KeymeterMiddleware, **scope: Any) -> list[Message]:
    """What an application sends for this scope; it gets no request."""
    sent: list[Message] = []

    async def receive() -> Message:
        raise AssertionError("nothing is received")

    async def send(message: Message) -> None:
        sent.append(message)

    await app({"type": "http", "method": "POST", "path": "/", "client": None, **scope}, receive, send)
    return sent


async def test_a_connection_without_an_address_does_not_pass_a_list_of_addresses(akm: AsyncKeymeter, account: Account) -> None:
    async def app(scope: Scope, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    middleware = KeymeterMiddleware(app, akm, hold="0.00002")
    listed, free = account.key(allow_ips="10.0.0.1\n::1"), account.key()
    for key, status in ((listed, 403), (free, 200)):
        headers = [(b"authorization", f"bearer {key.text}".encode())]
        assert (await call(middleware, headers=headers))[0]["status"] == status
        assert (await call(middleware, headers=headers, client=("testclient", 1)))[0]["status"] == status
    headers = [(b"authorization", f"Bearer {listed.text}".encode())]
    assert (await call(middleware, headers=headers, client=("::1", 1)))[0]["status"] == 200


# As a server has them that believes `X-Forwarded-For`.
READABLE = [
    "203.0.113.7",
    "203.0.113.7:61598",
    " 203.0.113.7 ",
    "[203.0.113.7]:61598",
    "::ffff:203.0.113.7",
    "::FFFF:203.0.113.7:61598",
    "[::ffff:203.0.113.7]:61598",
    "::ffff:cb00:7107",
    "2001:db8::7",
    "[2001:db8::7]",
    "[2001:DB8::7]:61598",
    "[2001:db8:0:0:0:0:0:7]:0",
    "fe80::7%eth0",
    "[fe80::7%eth0]:61598",
]
UNREADABLE = [
    "",
    ":",
    ":61598",
    "[]:61598",
    "[203.0.113.7",
    "203.0.113.7]:61598",
    "203.0.113.7:",
    "203.0.113.7:port",
    "203.0.113.7:615980",
    "203.0.113.7:1:2",
    "203.0.113.7%eth0",
    "203.0.113.07",
    "203.0.113.256",
    "203.0.113",
    "3405803783",
    "203.0.113.7, 203.0.113.7",
    "203.0.113.7/32",
    "2001:db8::7::",
    "2001:db8::7]@[::1",
    "fe80::7%",
    "localhost",
    "unknown",
    "unix:/run/site.sock",
    "udp://203.0.113.7:61598",
    "\u0662.0.113.7",
    "203.0.113.7\n203.0.113.7",
    "203.0.113.7\0",
    "1" * 10_000,
    None,
    7,
    b"\xcb\x00q\x07",
]


async def test_an_address_may_have_a_port_and_one_that_cannot_be_read_is_in_no_list(
    akm: AsyncKeymeter, account: Account
) -> None:
    async def app(scope: Scope, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    middleware = KeymeterMiddleware(app, akm, hold="0.00002")
    listed, free = account.key(allow_ips="203.0.113.7\n2001:db8::7\nfe80::7"), account.key()
    other = account.key(allow_ips="203.0.113.8")

    async def answers(key: Key, address: object) -> list[Any]:
        client = address if address == () else (address, 1)
        sent = await call(middleware, headers=[(b"authorization", f"Bearer {key.text}".encode())], client=client)
        return [address, sent[0]["status"]]

    for address in READABLE:
        assert [await answers(key, address) for key in (listed, other)] == [[address, 200], [address, 403]]
    for unreadable in (*UNREADABLE, ()):
        expected = [[unreadable, 403], [unreadable, 200]]
        assert [await answers(key, unreadable) for key in (listed, free)] == expected


async def test_a_websocket_with_a_hold_is_refused_and_one_without_is_passed_on(akm: AsyncKeymeter) -> None:
    async def app(scope: Scope, receive: Any, send: Any) -> None:
        await send({"type": "websocket.accept"})

    held = KeymeterMiddleware(app, akm, hold="0.00002")
    assert await call(held, type="websocket", headers=[]) == [{"type": "websocket.close", "code": 1008}]
    free = KeymeterMiddleware(app, akm, hold=lambda scope: None)
    assert await call(free, type="websocket", headers=[]) == [{"type": "websocket.accept"}]
    assert await call(held, type="lifespan") == [{"type": "websocket.accept"}]


async def test_a_refusal_after_the_answer_began_is_not_answered_again(akm: AsyncKeymeter, account: Account) -> None:
    key, poor = account.key(100), account.key(1)

    async def app(scope: Scope, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await akm.charge(poor.text, quota=2)

    headers = [(b"authorization", f"Bearer {key.text}".encode())]
    with pytest.raises(QuotaExhausted):
        await call(KeymeterMiddleware(app, akm, hold="0.00002"), headers=headers)
    assert account.used(key) == 10


def test_the_log_has_no_key(site: Site, account: Account, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    key = account.key(60)
    site.post("/work?cost=20", key)
    site.post("/work", key)
    ends_at(account, key, 20)
    time.sleep(0.1)
    ours = [record for record in caplog.records if record.name != "httpx"]
    assert ours
    assert key.text not in caplog.text
