"""Sends in tasks of the event loop what must not be lost. `background` does it in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from .async_transport import AsyncTransport
from .errors import Refused, Unavailable
from .exchange import Settings
from .outbox import CLOSE_SECONDS, Ending, Outbox, log

if TYPE_CHECKING:
    from .async_client import AsyncSpend

T = TypeVar("T")


class AsyncBackground(AsyncTransport):
    def __init__(self, settings: Settings, max_spends: int) -> None:
        self._outbox = Outbox(max_spends)
        self._hurry = asyncio.Event()
        # The loop itself keeps only weak references to tasks.
        self._tasks: set[asyncio.Task[Any]] = set()
        self._renewals: set[asyncio.Task[None]] = set()
        super().__init__(settings)

    def _forked(self) -> None:
        super()._forked()
        self._of_parent += [self._tasks, self._renewals]
        self._outbox = self._outbox.of_child()
        self._hurry = asyncio.Event()
        self._tasks, self._renewals = set(), set()

    async def close(self) -> None:
        """Waits up to 5 seconds for settlements that were not sent yet, and closes the connections."""
        self._outbox.closed = True
        self._hurry.set()
        for renewal in self._renewals:
            renewal.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSE_SECONDS)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._outbox.give_up()
        await self._close()

    def _later(self, ending: Ending, undo: bool = False) -> None:
        must_deliver = self._outbox.add_undo(ending) if undo else self._outbox.add(ending)
        if must_deliver:
            task = _start(self._run(self._outbox.deliver(), self._wait), self._tasks)
            task.add_done_callback(lambda task: self._outbox.give_up() if task.cancelled() else None)

    async def _wait(self, seconds: float) -> None:
        """Sleeps; until the client closes, if that is sooner."""
        if self._hurry.is_set():
            await asyncio.sleep(seconds)
            return
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._hurry.wait(), seconds)

    async def _end(self, ending: Ending, error: BaseException | None) -> None:
        """Sends it in a task of its own, because its caller may be cancelled. `error` is why the work ended."""
        task = _start(self._send(ending), self._tasks)
        # Here, because the event loop may end before the task begins.
        task.add_done_callback(lambda task: self._outbox.abandon(ending) if task.cancelled() else None)
        if not isinstance(error, asyncio.CancelledError):
            # Cancelling this does not cancel the task.
            await asyncio.wait([task])

    async def _send(self, ending: Ending) -> None:
        """Once; later again, if there is no answer."""
        try:
            await self._run(ending.program())
        except Unavailable:
            self._later(ending)
            return
        except Refused as error:
            ending.refused(error)
        self._outbox.leave_place()

    def _renews(self, spend: AsyncSpend) -> asyncio.Task[None]:
        return _start(_renews(spend), self._renewals)


async def _renews(spend: AsyncSpend) -> None:
    """Extends the hold each time half of it is over, until it is refused or the spend ends."""
    pause = spend._ttl_seconds / 2
    while True:
        await asyncio.sleep(pause)
        try:
            await spend.extend(ttl_seconds=spend._ttl_seconds)
            pause = spend._ttl_seconds / 2
        except Unavailable:
            pause = min(5.0, spend._ttl_seconds / 10)
        except Refused as refusal:
            reservation_id = spend.reservation.reservation_id
            log.warning("%s is not extended and may end before its work: %s", reservation_id, refusal)
            return


def _start(work: Coroutine[Any, Any, T], tasks: set[asyncio.Task[T]]) -> asyncio.Task[T]:
    task = asyncio.get_running_loop().create_task(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)
    return task
