# Generated from async_transport.py by `scripts/clients.sh generate`. Do not edit.
"""Carries programs out by httpx."""

from __future__ import annotations

import time
from threading import Lock
from typing import TypeVar

import httpx

from .connections import CLOSED, NO_CONNECTION, Connections, OfProcess, Sleeps, no_answer, options
from .exchange import Answer, NoAnswer, Program, Send, Settings

T = TypeVar("T")


class Transport(OfProcess):
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._closed = False
        self._http: httpx.Client | None = httpx.Client(**options(settings))
        # For threads. Nobody waits while holding it.
        self._opening = Lock()
        self._connections = Connections()
        super().__init__()

    def _forked(self) -> None:
        self._http = None
        self._opening = Lock()
        self._connections = Connections()

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

    def _run(self, program: Program[T], sleep: Sleeps = time.sleep) -> T:
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
        if not self._connections.take(send.seconds):
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
