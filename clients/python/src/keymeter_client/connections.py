"""What the transports for threads and for asyncio have in common: their connections, and what a fork does to them."""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import Any, Final

import httpx

from .exchange import NoAnswer, Settings

# How the pauses of a program are made.
Sleeps = Callable[[float], object]
AsyncSleeps = Callable[[float], Awaitable[object]]

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

    def __init__(self) -> None:
        _of_process.add(self)

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


class Connections(threading.Semaphore):
    """Those that are free, for threads."""

    def __init__(self) -> None:
        super().__init__(CONNECTIONS)

    def take(self, seconds: float) -> bool:
        """Waits for one. Returns false if there was none in time."""
        return self.acquire(timeout=max(seconds, 0))


class AsyncConnections(asyncio.Semaphore):
    """The same for asyncio."""

    def __init__(self) -> None:
        super().__init__(CONNECTIONS)

    async def take(self, seconds: float) -> bool:
        # Not by `asyncio.wait_for`, which loses a cancellation that comes together with the result before Python 3.12.
        if not self.locked():
            return await self.acquire()
        waiter = asyncio.ensure_future(self.acquire())
        try:
            await asyncio.wait([waiter], timeout=max(seconds, 0))
        except asyncio.CancelledError:
            if not waiter.cancel():
                self.release()
            raise
        return not waiter.cancel()
