"""Settlements and releases that could not be sent at once, and how they are sent later."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from .errors import KeymeterError, Unavailable
from .exchange import Program, Sleep

log: Final = logging.getLogger("keymeter_client")

FIRST_PAUSE_SECONDS: Final = 0.5
LONGEST_PAUSE_SECONDS: Final = 30.0
CLOSE_SECONDS: Final = 5.0


@dataclass(frozen=True)
class Ending:
    """The end of a reservation, to be sent until Keymeter answers."""

    what: str
    """For the log: the call and the reservation."""
    program: Callable[[], Program[object]]
    """Makes one try."""
    level: int = logging.ERROR
    """How bad it is if Keymeter refuses it."""

    def refused(self, error: KeymeterError) -> None:
        log.log(self.level, "%s was refused: %s", self.what, error)


class Outbox:
    """A bounded queue. Each spend has a place from its beginning until Keymeter has answered its end, so that no end is ever
    dropped for want of a place: when all places are taken, new spends are refused before any work is done.

    Safe to use from several threads.
    """

    def __init__(self, places: int, closed: bool = False) -> None:
        self._places = places
        self._lock = threading.Lock()
        self._taken = 0
        self._queue: deque[Ending] = deque()
        self._delivering = False
        self._given_up = False
        self._left_undos = False
        self.closed = closed

    def of_child(self) -> Outbox:
        """That of a child process. What waits, and the places of what has begun, are the parent's."""
        return Outbox(self._places, self.closed)

    def __len__(self) -> int:
        return len(self._queue)

    def take_place(self) -> None:
        """Raises Unavailable if there is none."""
        with self._lock:
            if self.closed:
                raise RuntimeError("this client was closed")
            if self._taken >= self._places:
                raise Unavailable(
                    f"{self._taken} requests wait for Keymeter, {len(self._queue)} of them for their settlement",
                    repeatable=False,
                    sent=False,
                )
            self._taken += 1

    def leave_place(self) -> None:
        with self._lock:
            self._taken -= 1

    def add(self, ending: Ending) -> bool:
        """The place of the spend goes on with its end. Returns true if `deliver` must be run."""
        with self._lock:
            if not self._given_up:
                return self._add(ending)
        self.abandon(ending)
        return False

    def abandon(self, ending: Ending) -> None:
        """Says that it will not be sent."""
        self.leave_place()
        log.error("%s was not sent, because the client or its event loop has ended", ending.what)

    def add_undo(self, ending: Ending) -> bool:
        """The same for a reservation that may not exist. Of these only a few wait, because they end by themselves."""
        with self._lock:
            if len(self._queue) <= self._places // 10 and not self._given_up:
                return self._add(ending)
            self._taken -= 1
            first = not self._left_undos
            self._left_undos = True
        # Once, not for each request of an outage.
        log.log(logging.WARNING if first else logging.DEBUG, "%s ends by itself, as its on_expiry says", ending.what)
        return False

    def _add(self, ending: Ending) -> bool:
        self._queue.append(ending)
        must_deliver = not self._delivering
        self._delivering = True
        return must_deliver

    def deliver(self) -> Program[None]:
        """Sends what waits, one after the other, until nothing is left."""
        pause = FIRST_PAUSE_SECONDS
        failed = False
        while True:
            with self._lock:
                if not self._queue:
                    self._delivering = False
                    self._left_undos = False
                    break
                # It stays in the queue until it is answered, so that it is counted.
                ending = self._queue[0]
            try:
                yield from ending.program()
            except Unavailable as error:
                with self._lock:
                    if self._given_up:
                        return
                    self._queue.rotate(-1)
                failed = True
                seconds = FIRST_PAUSE_SECONDS if self.closed else pause
                log.warning("%d settlements wait, next try in %.1f s: %s", len(self._queue), seconds, error)
                yield Sleep(seconds)
                pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
                continue
            except KeymeterError as error:
                ending.refused(error)
            pause = FIRST_PAUSE_SECONDS
            with self._lock:
                if self._given_up:
                    return
                self._queue.popleft()
                self._taken -= 1
        if failed:
            log.info("all settlements were sent")

    def give_up(self) -> None:
        """Forgets what waits, when the client closes."""
        with self._lock:
            self._given_up = True
            left = len(self._queue)
            self._queue.clear()
            self._taken -= left
        if left:
            log.error("%d settlements were not sent: these reservations end as their on_expiry says", left)
