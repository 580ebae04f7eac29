"""The spend of a request as a dependency of FastAPI. Needs KeymeterMiddleware in the application."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.requests import Request

from .amounts import Usd
from .asgi import RequestHold, current_spend, metered
from .async_client import AsyncSpend

__all__ = ["spending"]


def spending(
    hold: Usd | RequestHold | Callable[[Request], Awaitable[RequestHold]] | None = None,
) -> Callable[[Request], Awaitable[AsyncSpend]]:
    """A dependency that holds `hold` before the handler runs, and gives it the spend.

    `hold` is an amount in dollars, a `RequestHold`, or a function that reads the request, such as its model. Without `hold`
    it is the spend of the middleware's own hold. The spend ends when the answer was sent or the client left.
    """

    async def begun(request: Request) -> AsyncSpend:
        if hold is None:
            return current_spend(request.scope)
        if isinstance(hold, RequestHold):
            return await metered(request.scope).begin(hold)
        if callable(hold):
            return await metered(request.scope).begin(await hold(request))
        return await metered(request.scope).begin(RequestHold(usd=hold))

    return begun
