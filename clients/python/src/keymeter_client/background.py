"""Sends in a thread what must not be lost. `async_background` does it in tasks of an event loop."""

from __future__ import annotations

import atexit
import threading
import time

from .errors import Refused, Unavailable
from .exchange import Settings
from .outbox import CLOSE_SECONDS, Ending, Outbox
from .transport import Transport


class Background(Transport):
    def __init__(self, settings: Settings, max_spends: int) -> None:
        self._outbox = Outbox(max_spends)
        self._hurry = threading.Event()
        self._worker: threading.Thread | None = None
        super().__init__(settings)

    def _forked(self) -> None:
        super()._forked()
        self._outbox = self._outbox.of_child()
        self._hurry = threading.Event()
        self._worker = None

    def close(self) -> None:
        """Waits up to 5 seconds for settlements that were not sent yet, and closes the connections."""
        self._outbox.closed = True
        self._hurry.set()
        if self._worker is not None:
            self._worker.join(CLOSE_SECONDS)
            atexit.unregister(self.close)
        self._outbox.give_up()
        self._close()

    def _later(self, ending: Ending, undo: bool = False) -> None:
        must_deliver = self._outbox.add_undo(ending) if undo else self._outbox.add(ending)
        if must_deliver:
            if self._worker is None:
                # A program may end without closing.
                atexit.register(self.close)
            self._worker = threading.Thread(target=self._deliver, name="keymeter-settlements", daemon=True)
            self._worker.start()

    def _deliver(self) -> None:
        self._run(self._outbox.deliver(), self._wait)

    def _wait(self, seconds: float) -> None:
        """Sleeps; until the client closes, if that is sooner."""
        if self._hurry.is_set():
            time.sleep(seconds)
        else:
            self._hurry.wait(seconds)

    def _end(self, ending: Ending, error: BaseException | None) -> None:
        """Sends it once; later again, if there is no answer. Why the work ended, `error`, is for asyncio."""
        try:
            self._run(ending.program())
        except Refused as refusal:
            ending.refused(refusal)
        except BaseException as failure:
            self._later(ending)
            if not isinstance(failure, Unavailable):
                raise
            return
        self._outbox.leave_place()
