"""Carries programs out by httpx."""

from __future__ import annotations

import asyncio
from threading import Lock
from typing import TypeVar

import httpx

from .connections import CLOSED, NO_CONNECTION, AsyncConnections, AsyncSleeps, OfProcess, no_answer, options
from .exchange import Answer, NoAnswer, Program, Send, Settings

T = TypeVar("T")


class AsyncTransport(OfProcess):
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._closed = False
        self._http: httpx.AsyncClient | None = httpx.AsyncClient(**options(settings))
        # For threads. Nobody waits while holding it.
        self._opening = Lock()
        self._connections = AsyncConnections()
        self._of_parent: list[object] = []  # asyncio only
        super().__init__()

    def _forked(self) -> None:
        # asyncio only: kept, because its end would use the event loop of the parent.
        self._of_parent.append(self._http)  # asyncio only
        self._http = None
        self._opening = Lock()
        self._connections = AsyncConnections()

    def _opened(self) -> httpx.AsyncClient | None:
        """None if it was closed."""
        with self._opening:
            if self._closed:
                return None
            if self._http is None:
                self._http = httpx.AsyncClient(**options(self._settings))
            return self._http

    async def _close(self) -> None:
        with self._opening:
            self._closed = True
        if self._http is not None:
            await self._http.aclose()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(url={self._settings.url!r})"

    async def _run(self, program: Program[T], sleep: AsyncSleeps = asyncio.sleep) -> T:
        received: Answer | NoAnswer | None = None
        while True:
            try:
                step = program.send(received)
            except StopIteration as done:
                result: T = done.value
                return result
            received = None
            if isinstance(step, Send):
                received = await self._post(step)
            else:
                await sleep(step.seconds)

    async def _post(self, send: Send) -> Answer | NoAnswer:
        if not await self._connections.take(send.seconds):
            return NO_CONNECTION
        try:
            return await self._exchange(send)
        finally:
            self._connections.release()

    async def _exchange(self, send: Send) -> Answer | NoAnswer:
        http = self._opened()
        if http is None:
            return CLOSED
        try:
            # Connecting, sending and each part of the answer have this time.
            request = http.stream(
                send.method, send.path, content=send.body, headers=send.headers, timeout=max(send.seconds, 0.01)
            )
            async with request as response:
                body = bytearray()
                async for chunk in response.aiter_raw():
                    body += chunk
                    if len(body) > send.max_answer_bytes:
                        return NoAnswer("the answer is too long")
                return Answer(response.status_code, response.headers, bytes(body))
        except httpx.HTTPError as error:
            return no_answer(error)
