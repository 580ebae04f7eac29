"""What a spend is, without input and output: what it was told, and how it ends."""

from __future__ import annotations

import logging
from typing import Final

from . import exchange
from .amounts import PICO, PICO_PER_QUOTA, Usd, pico_dollars, usd_text
from .answers import Reservation, Settled
from .errors import Refused, Unavailable
from .exchange import Hold
from .outbox import Ending

# The service refuses more, as `MAX_QUOTA` and `MAX_COUNT`.
MAX_PICO: Final = 10**9 * PICO
MAX_TOKENS: Final = 10**12
DEFAULT_TTL_SECONDS: Final = 600


class Spending:
    """The part of `Spend` and `AsyncSpend` that is the same."""

    def __init__(self, hold: Hold, ttl_seconds: int | None) -> None:
        self._hold = hold
        self._ttl_seconds = ttl_seconds or DEFAULT_TTL_SECONDS
        self._reservation: Reservation | None = None
        self._reserved = 0
        self._ended = False
        self._pico = 0
        self._told = False
        self._unknown = False
        self._prompt_tokens: int | None = None
        self._completion_tokens: int | None = None
        self.settled: Settled | None = None
        """What was charged, when Keymeter has answered it."""

    def __repr__(self) -> str:
        reservation = self._reservation.reservation_id if self._reservation else None
        return f"{type(self).__name__}(reservation_id={reservation!r}, usd={self.usd!r}, ended={self._ended})"

    @property
    def reservation(self) -> Reservation:
        """The hold, and whose it is. Raises RuntimeError before it was made."""
        if self._reservation is None:
            raise RuntimeError("the spend has not begun")
        return self._reservation

    @property
    def usd(self) -> str:
        """The cost that was told so far, in dollars."""
        return usd_text(self._pico)

    def cost(
        self,
        *,
        usd: Usd | None = None,
        quota: int | None = None,
        prompt_tokens: int = 0,
        completion_tokens: int = 0,
    ) -> None:
        """Tells what something cost, as `usd` or as `quota`. May be called often; it adds up.

        Raises ValueError if this is no amount. What it was is then unknown, so at least the whole hold is charged.
        """
        if self._ended:
            raise RuntimeError("the spend has ended; this cost is not charged")
        try:
            if (usd is None) == (quota is None):
                raise ValueError("give the cost as usd or as quota")
            if quota is not None:
                pico = _count(quota, "quota", MAX_PICO // PICO_PER_QUOTA) * PICO_PER_QUOTA
            else:
                assert usd is not None
                pico = pico_dollars(usd)
            pico += self._pico
            prompt = _count(prompt_tokens, "prompt_tokens", MAX_TOKENS) + (self._prompt_tokens or 0)
            completion = _count(completion_tokens, "completion_tokens", MAX_TOKENS) + (self._completion_tokens or 0)
            if pico > MAX_PICO or prompt > MAX_TOKENS or completion > MAX_TOKENS:
                raise ValueError("the cost is too large")
        except ValueError:
            self._unknown = True
            raise
        self._pico = pico
        self._told = True
        self._prompt_tokens = prompt or None
        self._completion_tokens = completion or None

    def _begun(self, reservation: Reservation) -> None:
        self._reservation = reservation
        self._reserved = reservation.reserved

    def _end(self, failed: bool) -> Ending | None:
        """How it ends; None if it has ended before.

        With a cost: settle it. By an exception without one: release. Otherwise nobody said what the work cost: the whole hold.
        """
        reservation_id = self.reservation.reservation_id
        if self._ended:
            return None
        self._ended = True
        if failed and not self._told and not self._unknown:
            return Ending(
                f"the release of {reservation_id}", lambda: exchange.release(reservation_id, tries=1), logging.WARNING
            )
        pico, tokens = self._pico, (self._prompt_tokens, self._completion_tokens)
        if self._unknown or not self._told:
            pico = max(pico, self._reserved * PICO_PER_QUOTA)
        # As quota where that says the same: so the hold is settled at exactly itself.
        quota, part = divmod(pico, PICO_PER_QUOTA)
        usd = usd_text(pico) if part else None

        def settle() -> exchange.Program[Settled]:
            self.settled = yield from exchange.settle(reservation_id, usd, None if usd else quota, *tokens, tries=1)
            return self.settled

        return Ending(f"the settlement of {reservation_id} at {usd_text(pico)} USD", settle)

    @staticmethod
    def _holds_nothing(error: BaseException) -> bool:
        """Whether a reservation that failed with this error was certainly not made."""
        return isinstance(error, Refused) or (isinstance(error, Unavailable) and not error.sent)

    def _undo(self) -> Ending:
        hold = self._hold
        return Ending("a reservation without an answer", lambda: exchange.undo(hold), logging.DEBUG)


def _count(value: int, name: str, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise ValueError(f"{name} must be a whole number from 0 to {most}")
    return value
