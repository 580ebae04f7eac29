"""Carries programs out by httpx: for threads and for asyncio."""

from __future__ import annotations

import asyncio
import os
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TypeVar

import httpx

from .exchange import Answer, NoAnswer, Program, Send, Settings, Sleep

T = TypeVar("T")

# For each request httpx compares every connection with every other, and all of them with every request that waits: 300
# requests at once on 100 connections took it eight seconds. So there are few, and requests wait at a semaphore of ours.
CONNECTIONS: Final = 16
# Keymeter closes connections that are idle for 75 seconds; ours end before.
LIMITS: Final = httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS, keepalive_expiry=60)
NO_CONNECTION: Final = NoAnswer("all connections are in use", sent=False)
CLOSED: Final = NoAnswer("this client was closed", sent=False)


def no_answer(error: httpx.HTTPError) -> NoAnswer:
    """What it says is only shown where it cannot have parts of the request."""
    sent = not isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol))
    kind = type(error).__name__
    return NoAnswer(f"{kind}: {error}" if isinstance(error, httpx.ConnectError) else kind, sent)


def options(settings: Settings) -> dict[str, Any]:
    """Of a client of httpx. It follows no redirect, so that the credential goes nowhere else."""
    return {
        "base_url": settings.url,
        "headers": settings.headers,
        "limits": LIMITS,
        # A proxy of the environment would read what is not encrypted. It tunnels https, and sees the name of the service.
        "trust_env": settings.encrypted,
    }


class OfProcess(ABC):
    """Has connections, locks and threads, which are those of one process."""

    @abstractmethod
    def _forked(self) -> None:
        """Runs in a child process, which begins with nothing of its parent's. On the same connections each would read the
        answers of the other, and the locks may be held by threads that the child does not have.
        """


_of_process: weakref.WeakSet[OfProcess] = weakref.WeakSet()


def _forked() -> None:
    for each in list(_of_process):
        each._forked()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forked)


class Transport(OfProcess):
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._closed = False
        self._http: httpx.Client | None = httpx.Client(**options(settings))
        self._opening = threading.Lock()
        self._connections = threading.Semaphore(CONNECTIONS)
        _of_process.add(self)

    def _forked(self) -> None:
        self._http = None
        self._opening = threading.Lock()
        self._connections = threading.Semaphore(CONNECTIONS)

    def _opened(self) -> httpx.Client | None:
        """None if it was closed."""
        with self._opening:
            if self._closed:
                return None
            if self._http is None:
                self._http = httpx.Client(**options(self._settings))
            return self._http

    def _close(self) -> None:
        with self._opening:
            self._closed = True
        if self._http is not None:
            self._http.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(url={self._settings.url!r})"

    def _run(self, program: Program[T], sleep: Callable[[float], object] = time.sleep) -> T:
        received: Answer | NoAnswer | None = None
        while True:
            try:
                step = program.send(received)
            except StopIteration as done:
                result: T = done.value
                return result
            received = None
            if isinstance(step, Send):
                received = self._post(step)
            else:
                sleep(step.seconds)

    def _post(self, send: Send) -> Answer | NoAnswer:
        if not self._connections.acquire(timeout=max(send.seconds, 0)):
            return NO_CONNECTION
        try:
            return self._exchange(send)
        finally:
            self._connections.release()

    def _exchange(self, send: Send) -> Answer | NoAnswer:
        http = self._opened()
        if http is None:
            return CLOSED
        try:
            # Connecting, sending and each part of the answer have this time.
            request = http.stream(
                send.method, send.path, content=send.body, headers=send.headers, timeout=max(send.seconds, 0.01)
            )
            with request as response:
                body = bytearray()
                for chunk in response.iter_raw():
                    body += chunk
                    if len(body) > send.max_answer_bytes:
                        return NoAnswer("the answer is too long")
                return Answer(response.status_code, response.headers, bytes(body))
        except httpx.HTTPError as error:
            return no_answer(error)


class AsyncTransport(OfProcess):
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._closed = False
        self._http: httpx.AsyncClient | None = httpx.AsyncClient(**options(settings))
        self._connections = asyncio.Semaphore(CONNECTIONS)
        self._of_parent: list[object] = []
        _of_process.add(self)

    def _forked(self) -> None:
        # Kept, because its end would use the event loop of the parent.
        self._of_parent.append(self._http)
        self._http = None
        self._connections = asyncio.Semaphore(CONNECTIONS)

    def _opened(self) -> httpx.AsyncClient | None:
        """None if it was closed."""
        if self._closed:
            return None
        if self._http is None:
            self._http = httpx.AsyncClient(**options(self._settings))
        return self._http

    async def _close(self) -> None:
        self._closed = True
        if self._http is not None:
            await self._http.aclose()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(url={self._settings.url!r})"

    async def _run(self, program: Program[T], hurry: asyncio.Event | None = None) -> T:
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
            elif hurry is None:
                await asyncio.sleep(step.seconds)
            else:
                await _wait(hurry, step)

    async def _post(self, send: Send) -> Answer | NoAnswer:
        if not await _acquire(self._connections, send.seconds):
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


async def _acquire(semaphore: asyncio.Semaphore, seconds: float) -> bool:
    """Not by `asyncio.wait_for`, which loses a cancellation that comes together with the result before Python 3.12."""
    if not semaphore.locked():
        return await semaphore.acquire()
    waiter = asyncio.ensure_future(semaphore.acquire())
    try:
        await asyncio.wait([waiter], timeout=max(seconds, 0))
    except asyncio.CancelledError:
        if not waiter.cancel():
            semaphore.release()
        raise
    return not waiter.cancel()


async def _wait(hurry: asyncio.Event, sleep: Sleep) -> None:
    """Sleeps; until the client closes, if that is sooner."""
    if hurry.is_set():
        await asyncio.sleep(sleep.seconds)
        return
    with suppress(asyncio.TimeoutError):
        await asyncio.wait_for(hurry.wait(), sleep.seconds)
