"""Meters an ASGI application: a hold before each request, and its cost when the answer was sent or the client left."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Final

from .amounts import Usd
from .async_client import AsyncKeymeter, AsyncSpend
from .errors import InvalidKey, KeymeterError
from .exchange import OnExpiry
from .openai import refusal_of

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

# Where the scope has what the middleware knows of the request.
_NAME: Final = "keymeter"
# In the list of addresses of no key, unless that allows every address.
_UNKNOWN_ADDRESS: Final = "0.0.0.0"  # noqa: S104  # nothing is bound to it
# `[2001:db8::7]:61598`, `[2001:db8::7]` or `203.0.113.7:61598`.
_WITH_PORT: Final = re.compile(r"\[([^]]*)](?::[0-9]{1,5})?|((?:::ffff:)?[0-9]+\.[0-9.]+):[0-9]{1,5}", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class RequestHold:
    """What a request may cost at most. Exactly one of `usd` and `quota`; the rest as for `AsyncKeymeter.spend`."""

    usd: Usd | None = None
    quota: int | None = None
    model: str | None = None
    ttl_seconds: int | None = None
    on_expiry: OnExpiry | None = None


class Metered:
    """A request and its spend, which begins before the handler or in it."""

    def __init__(self, keymeter: AsyncKeymeter, scope: Scope) -> None:
        self._keymeter = keymeter
        self._scope = scope
        self.spend: AsyncSpend | None = None

    async def begin(self, hold: RequestHold) -> AsyncSpend:
        """Holds, for the key and the address of the client. Raises KeymeterError, which the middleware answers."""
        if self.spend is not None:
            raise RuntimeError("the spend of this request has begun already")
        key = _key(self._scope)
        if key is None:
            raise InvalidKey(401, "invalid_key", "send your API key as `Authorization: Bearer …`")
        spend = self._keymeter.spend(
            key,
            usd=hold.usd,
            quota=hold.quota,
            model=hold.model,
            ip=_address(self._scope),
            ttl_seconds=hold.ttl_seconds,
            on_expiry=hold.on_expiry,
        )
        await spend.begin()
        self.spend = spend
        return spend


class KeymeterMiddleware:
    """Refuses requests whose key may not be used for `hold`, and charges the others.

    `hold` is an amount in dollars, or a function of the scope that returns a `RequestHold`, or None for a request that costs
    nothing. Without `hold`, requests cost something where the handler says so (`metered(scope).begin`,
    `keymeter_client.fastapi`). The key is in `Authorization: Bearer` or `x-api-key`; the address is that of the connection.

    A request with an answer is charged what `spend.cost` was told, or the whole hold if it was told nothing. One that fails
    before its answer, or whose answer has a status of 400 or more, is charged what was told.
    """

    def __init__(
        self,
        app: App,
        keymeter: AsyncKeymeter,
        hold: Usd | Callable[[Scope], RequestHold | None] | None = None,
    ) -> None:
        self._app = app
        self._keymeter = keymeter
        self._hold = hold

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        hold = self._hold_of(scope)
        if scope["type"] != "http":
            # Nothing says what a part of a WebSocket costs. Unmetered it would be free.
            if hold is None:
                await self._app(scope, receive, send)
            else:
                await send({"type": "websocket.close", "code": 1008})
            return
        request = Metered(self._keymeter, scope)
        scope[_NAME] = request
        status: int | None = None

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        error: BaseException | None = None
        try:
            if hold is not None:
                await request.begin(hold)
            await self._app(scope, receive, watch)
        except KeymeterError as refused:
            error = refused
            if status is not None:
                raise
            await _answer(send, refused)
        except BaseException as failure:
            error = failure
            raise
        finally:
            if request.spend is not None:
                await request.spend.end(_outcome(status, error))

    def _hold_of(self, scope: Scope) -> RequestHold | None:
        if self._hold is None or callable(self._hold):
            return None if self._hold is None else self._hold(scope)
        return RequestHold(usd=self._hold)


def metered(scope: Scope) -> Metered:
    """The request of this scope, below KeymeterMiddleware."""
    request = scope.get(_NAME)
    if not isinstance(request, Metered):
        raise RuntimeError("KeymeterMiddleware is not installed")
    return request


def current_spend(scope: Scope) -> AsyncSpend:
    """The spend of this request. Call its `cost`."""
    spend = metered(scope).spend
    if spend is None:
        raise RuntimeError("this request has no hold; give KeymeterMiddleware one, or call `begin`")
    return spend


class _Failed(Exception):
    """The handler answered with an error."""


def _outcome(status: int | None, error: BaseException | None) -> BaseException | None:
    """How the spend ends. An answer that has begun is never free, also if its client left; one with an error is a failure."""
    return (error or _Failed()) if status is None or status >= 400 else None


def _key(scope: Scope) -> str | None:
    headers: dict[bytes, str] = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
    scheme, _, key = headers.get(b"authorization", "").partition(" ")
    if scheme.lower() == "bearer" and key.strip():
        return key.strip()
    return headers.get(b"x-api-key", "").strip() or None


def _address(scope: Scope) -> str:
    """Of the connection: servers replace it by what a trusted proxy says, and by nothing else."""
    client = scope.get("client")
    host = client[0] if client else None
    if not isinstance(host, str):
        # A Unix socket. A key with a list of addresses is refused.
        return _UNKNOWN_ADDRESS
    # Some proxies, such as those of Azure, add the port.
    with_port = _WITH_PORT.fullmatch(host.strip())
    try:
        address = ip_address(with_port[1] or with_port[2] if with_port else host.strip())
    except ValueError:
        return _UNKNOWN_ADDRESS
    return str(getattr(address, "ipv4_mapped", None) or address).partition("%")[0]


async def _answer(send: Send, error: KeymeterError) -> None:
    refusal = refusal_of(error)
    body = refusal.body
    headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **refusal.headers}
    encoded = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": refusal.status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})
