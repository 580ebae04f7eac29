"""The client for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from types import TracebackType
from typing import Any, TypeVar

from . import exchange
from .amounts import Usd
from .answers import Charged, Extended, Released, Reservation, Settled, Verification
from .errors import KeymeterError, Refused, Unavailable
from .exchange import Charge, Hold, OnExpiry, Settings
from .outbox import CLOSE_SECONDS, Ending, Outbox, log
from .spending import Spending
from .transport import AsyncTransport

T = TypeVar("T")


class AsyncKeymeter(AsyncTransport):
    """Keymeter's calls for gateways, for asyncio. Use it in one event loop of each process.

    `url` and `credential` default to the environment variables `KEYMETER_URL` and `KEYMETER_CREDENTIAL`. `max_spends` is how
    many spends may be open or wait for their settlement at a time; beyond it, new ones raise Unavailable.
    """

    def __init__(self, url: str | None = None, credential: str | None = None, *, max_spends: int = 10_000) -> None:
        self._outbox = Outbox(max_spends)
        self._hurry = asyncio.Event()
        # The loop itself keeps only weak references to tasks.
        self._tasks: set[asyncio.Task[Any]] = set()
        self._renewals: set[asyncio.Task[None]] = set()
        super().__init__(Settings(url, credential))

    def _forked(self) -> None:
        super()._forked()
        self._of_parent += [self._tasks, self._renewals]
        self._outbox = self._outbox.of_child()
        self._hurry = asyncio.Event()
        self._tasks, self._renewals = set(), set()

    @property
    def waiting(self) -> int:
        """How many settlements could not be sent yet."""
        return len(self._outbox)

    async def __aenter__(self) -> AsyncKeymeter:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

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

    async def verify(
        self,
        key: str,
        *,
        usd: Usd | None = None,
        quota: int | None = None,
        model: str | None = None,
        ip: str | None = None,
        prompt_tokens: int | None = None,
        completion_tokens: int | None = None,
        cached_tokens: int | None = None,
        cache_write_tokens: int | None = None,
    ) -> Verification:
        """Asks whether a key may be used. Charges nothing, and raises nothing for a key that may not: read `valid`."""
        return await self._run(
            exchange.verify(
                usd,
                key=key,
                quota=quota,
                model=model,
                ip=ip,
                prompt_tokens=prompt_tokens,
                completion_tokens=completion_tokens,
                cached_tokens=cached_tokens,
                cache_write_tokens=cache_write_tokens,
            )
        )

    async def charge(
        self,
        key: str,
        *,
        usd: Usd | None = None,
        quota: int | None = None,
        model: str | None = None,
        ip: str | None = None,
        prompt_tokens: int | None = None,
        completion_tokens: int | None = None,
        cached_tokens: int | None = None,
        cache_write_tokens: int | None = None,
        request_id: str | None = None,
    ) -> Charged:
        """Charges a known cost, or what counts cost by the price of `model`.

        Without a `request_id` of yours it gets one, so that its retries charge once.
        """
        charge = Charge(
            key=key,
            usd=usd,
            quota=quota,
            model=model,
            ip=ip,
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            cached_tokens=cached_tokens,
            cache_write_tokens=cache_write_tokens,
            request_id=request_id,
        )
        return await self._run(exchange.charge(charge))

    async def charges(self, charges: Sequence[Charge]) -> list[Charged | KeymeterError]:
        """Up to 1,000 charges. Each succeeds or fails on its own: the errors are in the list, in the order of the charges."""
        return await self._run(exchange.charges(charges))

    async def reserve(
        self,
        key: str,
        *,
        usd: Usd | None = None,
        quota: int | None = None,
        model: str | None = None,
        ip: str | None = None,
        prompt_tokens: int | None = None,
        completion_tokens: int | None = None,
        cached_tokens: int | None = None,
        cache_write_tokens: int | None = None,
        ttl_seconds: int | None = None,
        on_expiry: OnExpiry | None = None,
        request_id: str | None = None,
    ) -> Reservation:
        """Holds what a request may cost at most, for 600 seconds if `ttl_seconds` says nothing else."""
        hold = Hold.of(
            usd,
            request_id,
            key=key,
            quota=quota,
            model=model,
            ip=ip,
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            cached_tokens=cached_tokens,
            cache_write_tokens=cache_write_tokens,
            ttl_seconds=ttl_seconds,
            on_expiry=on_expiry,
        )
        return await self._run(exchange.reserve(hold))

    async def extend(
        self,
        reservation_id: str,
        *,
        usd: Usd | None = None,
        quota: int | None = None,
        ttl_seconds: int | None = None,
    ) -> Extended:
        """Holds more, or for longer. The amount is the whole hold afterwards, the time counts from now; neither shrinks."""
        return await self._run(exchange.extend(reservation_id, usd, quota, ttl_seconds))

    async def settle(
        self,
        reservation_id: str,
        *,
        usd: Usd | None = None,
        quota: int | None = None,
        model: str | None = None,
        prompt_tokens: int | None = None,
        completion_tokens: int | None = None,
        cached_tokens: int | None = None,
        cache_write_tokens: int | None = None,
    ) -> Settled:
        """Charges what it cost, and gives back the rest of the hold. `model` is the one that answered, if it is another one."""
        return await self._run(
            exchange.settle(
                usd,
                reservation_id=reservation_id,
                quota=quota,
                model=model,
                prompt_tokens=prompt_tokens,
                completion_tokens=completion_tokens,
                cached_tokens=cached_tokens,
                cache_write_tokens=cache_write_tokens,
            )
        )

    async def release(self, reservation_id: str) -> Released:
        """Gives the whole hold back."""
        return await self._run(exchange.release(reservation_id))

    def spend(
        self,
        key: str,
        *,
        usd: Usd | None = None,
        quota: int | None = None,
        model: str | None = None,
        ip: str | None = None,
        prompt_tokens: int | None = None,
        completion_tokens: int | None = None,
        cached_tokens: int | None = None,
        cache_write_tokens: int | None = None,
        ttl_seconds: int | None = None,
        on_expiry: OnExpiry | None = None,
        renew: bool = True,
    ) -> AsyncSpend:
        """Holds what the work may cost at most, for as long as an `async with` block runs, and charges what it cost.

        `renew` extends the hold before it ends. `on_expiry` says what happens if this program dies meanwhile.
        """
        hold = Hold.of(
            usd,
            key=key,
            quota=quota,
            model=model,
            ip=ip,
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            cached_tokens=cached_tokens,
            cache_write_tokens=cache_write_tokens,
            ttl_seconds=ttl_seconds,
            on_expiry=on_expiry,
        )
        return AsyncSpend(self, hold, ttl_seconds, renew)

    def _later(self, ending: Ending, undo: bool = False) -> None:
        must_deliver = self._outbox.add_undo(ending) if undo else self._outbox.add(ending)
        if must_deliver:
            task = _start(self._run(self._outbox.deliver(), self._hurry), self._tasks)
            task.add_done_callback(lambda task: self._outbox.give_up() if task.cancelled() else None)

    def _end(self, ending: Ending) -> asyncio.Task[None]:
        """Sends it in a task of its own, because its caller may be cancelled."""
        task = _start(self._send(ending), self._tasks)
        # Here, because the event loop may end before the task begins.
        task.add_done_callback(lambda task: self._outbox.abandon(ending) if task.cancelled() else None)
        return task

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


def _start(work: Coroutine[Any, Any, T], tasks: set[asyncio.Task[T]]) -> asyncio.Task[T]:
    task = asyncio.get_running_loop().create_task(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)
    return task


class AsyncSpend(Spending):
    """What `AsyncKeymeter.spend` returns. Use it with `async with`; or call `begin`, and `end` in any case."""

    def __init__(self, client: AsyncKeymeter, hold: Hold, ttl_seconds: int | None, renew: bool) -> None:
        super().__init__(hold, ttl_seconds)
        self._client = client
        self._renew = renew
        self._renewal: asyncio.Task[None] | None = None

    async def __aenter__(self) -> AsyncSpend:
        await self.begin()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.end(error)

    async def begin(self) -> Reservation:
        """Makes the hold. Raises Unavailable, or Refused."""
        hold = self._starts()
        client = self._client
        client._outbox.take_place()
        try:
            reservation = await client._run(exchange.reserve(hold))
        except BaseException as error:
            if self._elsewhere:
                pass  # The place, and the doubt, are the parent's.
            elif self._holds_nothing(error):
                client._outbox.leave_place()
            else:
                client._later(self._undo(), undo=True)
            raise
        self._begun(reservation)
        if self._renew:
            self._renewal = _start(self._renews(), client._renewals)
        return reservation

    async def extend(self, *, usd: Usd | None = None, quota: int | None = None, ttl_seconds: int | None = None) -> Extended:
        """Holds more, or for longer, as `AsyncKeymeter.extend`."""
        self._must_be_here()
        reservation_id = self.reservation.reservation_id
        extended = await self._client.extend(reservation_id, usd=usd, quota=quota, ttl_seconds=ttl_seconds)
        self._reserved = extended.reserved
        return extended

    async def end(self, error: BaseException | None = None) -> None:
        """Settles or releases, as the block ended. Raises nothing: what cannot be sent now is sent in the background."""
        ending = self._end(error is not None)
        if ending is None:
            return
        if self._renewal is not None:
            self._renewal.cancel()
        task = self._client._end(ending)
        if not isinstance(error, asyncio.CancelledError):
            # Cancelling this does not cancel the task.
            await asyncio.wait([task])

    async def _renews(self) -> None:
        """Extends the hold each time half of it is over, until it is refused or the spend ends."""
        pause = self._ttl_seconds / 2
        while True:
            await asyncio.sleep(pause)
            try:
                await self.extend(ttl_seconds=self._ttl_seconds)
                pause = self._ttl_seconds / 2
            except Unavailable:
                pause = min(5.0, self._ttl_seconds / 10)
            except Refused as refusal:
                reservation_id = self.reservation.reservation_id
                log.warning("%s is not extended and may end before its work: %s", reservation_id, refusal)
                return
