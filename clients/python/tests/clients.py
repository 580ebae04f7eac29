"""The clients for asyncio with the methods of those for threads, so that a test is written once for both; and waiting."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from types import TracebackType
from typing import Any, TypeVar, cast

from keymeter_client import AsyncKeymeter, AsyncKeymeterTokens, AsyncSpend, Keymeter, KeymeterTokens, Token

T = TypeVar("T")


class BlockingSpend:
    def __init__(self, spend: AsyncSpend, run: Callable[[Coroutine[Any, Any, Any]], Any]) -> None:
        self._spend = spend
        self._run = run

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._spend, name)
        if name in ("begin", "end", "extend"):
            return lambda *args, **fields: self._run(value(*args, **fields))
        return value

    def __enter__(self) -> BlockingSpend:
        self._run(self._spend.__aenter__())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._run(self._spend.__aexit__(kind, error, trace))


class Blocking:
    """A client whose event loop runs in a thread of its own."""

    def __init__(self, client: AsyncKeymeter | AsyncKeymeterTokens) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._client = client

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._client, name)
        return (lambda *args, **fields: self._run(value(*args, **fields))) if callable(value) else value

    def __repr__(self) -> str:
        return repr(self._client)

    def spend(self, key: str, **fields: Any) -> BlockingSpend:
        assert isinstance(self._client, AsyncKeymeter)
        return BlockingSpend(self._client.spend(key, **fields), self._run)

    def list(self, **filters: Any) -> Iterator[Token]:
        assert isinstance(self._client, AsyncKeymeterTokens)
        return self._each(self._client.list(**filters))

    def list_deleted(self) -> Iterator[Token]:
        assert isinstance(self._client, AsyncKeymeterTokens)
        return self._each(self._client.list_deleted())

    def _each(self, tokens: AsyncIterator[Token]) -> Iterator[Token]:
        async def following() -> Token | None:
            return await anext(tokens, None)

        while token := self._run(following()):
            yield token

    def close(self) -> None:
        if self._loop.is_closed():
            return
        self._run(self._client.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Blocking:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def client(kind: str, url: str, credential: str, max_spends: int = 10_000) -> Keymeter:
    if kind == "threads":
        return Keymeter(url, credential, max_spends=max_spends)
    return cast(Keymeter, Blocking(AsyncKeymeter(url, credential, max_spends=max_spends)))


def token_client(kind: str, url: str, access_token: str) -> KeymeterTokens:
    if kind == "threads":
        return KeymeterTokens(url, access_token)
    return cast(KeymeterTokens, Blocking(AsyncKeymeterTokens(url, access_token)))


def wait_until(what: str, condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 15
    while not condition():
        assert time.monotonic() < end, f"not within 15 s: {what}"
        time.sleep(0.02)


async def eventually(what: str, condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 15
    while not condition():
        assert time.monotonic() < end, f"not within 15 s: {what}"
        await asyncio.sleep(0.02)
