"""What a spend is, without input and output: what it was told, and how it ends."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from typing import Any, Final

from . import exchange
from .amounts import PICO, PICO_PER_QUOTA, Usd, pico_dollars, usd_text
from .answers import Reservation, Settled
from .errors import BadRequest, NotAllowed, Refused, Unavailable
from .exchange import Hold
from .outbox import Ending
from .provider_usage import plain

# The service refuses more, as `MAX_QUOTA` and `MAX_COUNT`.
MAX_PICO: Final = 10**9 * PICO
MAX_TOKENS: Final = 10**12
DEFAULT_TTL_SECONDS: Final = 600
COUNTS: Final = ("prompt_tokens", "completion_tokens", "cached_tokens", "cache_write_tokens")


class Spending:
    """The part of `Spend` and `AsyncSpend` that is the same."""

    def __init__(self, hold: Hold, ttl_seconds: int | None) -> None:
        self._hold = hold
        self._ttl_seconds = ttl_seconds or DEFAULT_TTL_SECONDS
        self._reservation: Reservation | None = None
        self._reserved = 0
        self._ended = False
        self._process = 0
        self._pico = 0
        self._told = False
        # Whether costs are told as counts alone, which the price of the model is for; None before the first one.
        self._by_price: bool | None = None
        self._unknown = False
        self._counts = dict.fromkeys(COUNTS, 0)
        # What the settlement says of a cost with the usage of a provider or counts by unit.
        self._more: dict[str, Any] = {}
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
        prompt_tokens: int | None = None,
        completion_tokens: int | None = None,
        cached_tokens: int | None = None,
        cache_write_tokens: int | None = None,
        units: Mapping[str, float] | None = None,
        usage: object | None = None,
        flavor: str | None = None,
        context: Mapping[str, str] | None = None,
        provider: str | None = None,
    ) -> None:
        """Tells what something cost, as `usd` or as `quota`. May be called often; it adds up.

        Without an amount, `prompt_tokens` and `completion_tokens` are required, and Keymeter charges what they cost by the
        price of the model. All costs of a spend are told in one of these two ways. `cached_tokens` and `cache_write_tokens`
        are parts of `prompt_tokens`. Instead of them, `usage` or `units` say what was used, as for `charge`, with `flavor`,
        `context` and `provider`; such a cost is the only one of its spend.

        Raises ValueError or TypeError if this is no cost. What it was is then unknown, so at least the whole hold is charged.
        """
        self._must_be_here()
        if self._ended:
            raise RuntimeError("the spend has ended; this cost is not charged")
        try:
            if usd is not None and quota is not None:
                raise ValueError("give the cost as usd or as quota")
            by_price = usd is None and quota is None
            if by_price and units is None and usage is None and (prompt_tokens is None or completion_tokens is None):
                raise ValueError(
                    "give the cost as usd or as quota, or for its price as usage, units, or prompt_tokens and completion_tokens"
                )
            told_more = {"units": units, "flavor": flavor, "context": context, "provider": provider}
            given = {name: value for name, value in told_more.items() if value is not None}
            # A copy: it is sent when the spend ends.
            more = json.loads(json.dumps(given, allow_nan=False))
            if usage is not None:
                more["usage"] = plain(usage)
            if self._told and (more or self._more):
                raise ValueError("a cost with usage or units must be the only one of its spend; charge others by themselves")
            if self._by_price not in (None, by_price):
                raise ValueError("give all costs of a spend as amounts, or all as counts for their price")
            pico = self._pico
            if quota is not None:
                pico += _count(quota, "quota", MAX_PICO // PICO_PER_QUOTA) * PICO_PER_QUOTA
            elif usd is not None:
                pico += pico_dollars(usd)
            told = dict(zip(COUNTS, (prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens), strict=True))
            if more:
                # A 0 that was not told would say another count.
                more |= {name: count for name, count in told.items() if count is not None}
            counts = {name: self._counts[name] + _count(count or 0, name, MAX_TOKENS) for name, count in told.items()}
            if counts["cached_tokens"] + counts["cache_write_tokens"] > counts["prompt_tokens"]:
                raise ValueError("cached_tokens and cache_write_tokens are parts of prompt_tokens")
            if pico > MAX_PICO or max(counts.values()) > MAX_TOKENS:
                raise ValueError("the cost is too large")
        except (TypeError, ValueError):
            self._unknown = True
            raise
        self._pico = pico
        self._told = True
        self._by_price = by_price
        self._counts = counts
        self._more = more

    def _starts(self) -> Hold:
        """What is to be held. With a new ID, because several processes may begin their copies of one spend."""
        if self._reservation is not None:
            raise RuntimeError("a spend begins once")
        self._process = os.getpid()
        self._hold = self._hold.again()
        return self._hold

    def _begun(self, reservation: Reservation) -> None:
        self._reservation = reservation
        self._reserved = reservation.reserved

    def _end(self, failed: bool) -> Ending | None:
        """How it ends; None if it has ended before, or if another process ends it.

        With a cost: settle it. By an exception without one: release. Otherwise nobody said what the work cost: the whole hold.
        """
        reservation_id = self.reservation.reservation_id
        if self._ended or self._elsewhere:
            return None
        self._ended = True
        if failed and not self._told and not self._unknown:
            return Ending(
                f"the release of {reservation_id}", lambda: exchange.release(reservation_id, tries=1), logging.WARNING
            )
        pico, by_price = self._pico, bool(self._by_price) and not self._unknown
        more = {} if self._unknown else self._more
        zeros = by_price and not more
        counts: dict[str, int | None] = {name: count if zeros else count or None for name, count in self._counts.items()}
        if self._unknown or not self._told:
            pico = max(pico, self._reserved * PICO_PER_QUOTA)
        # As quota where that says the same: so the hold is settled at exactly itself.
        quota, part = divmod(pico, PICO_PER_QUOTA)
        usd = usd_text(pico) if part and not by_price else None
        amount = None if usd or by_price else quota

        def settle() -> exchange.Program[Settled]:
            try:
                fields = counts | more
                self.settled = yield from exchange.settle(usd, 1, reservation_id=reservation_id, quota=amount, **fields)
            except (BadRequest, NotAllowed):
                if not by_price and not more:
                    raise
                # Keymeter cannot read it, or has no price. The work is done; the hold is the most it was expected to cost.
                known = self._reserved if by_price else amount
                self.settled = yield from exchange.settle(usd, 1, reservation_id=reservation_id, quota=known, **counts)
            return self.settled

        cost = "the price of its model" if by_price else f"{usd_text(pico)} USD"
        return Ending(f"the settlement of {reservation_id} at {cost}", settle)

    @property
    def _elsewhere(self) -> bool:
        """Whether this is the copy of a child process. Its parent began the spend, knows what the work costs and ends it."""
        return self._process != os.getpid()

    def _must_be_here(self) -> None:
        if self._reservation is not None and self._elsewhere:
            raise RuntimeError("this spend began in another process: tell its costs there")

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
