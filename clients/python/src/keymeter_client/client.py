# Generated from async_client.py by `scripts/clients.sh generate`. Do not edit.
"""The client for programs without asyncio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType

from . import exchange
from .amounts import Usd
from .answers import Charged, Extended, Released, Reservation, Settled, Verification
from .background import Background
from .errors import KeymeterError
from .exchange import Charge, Hold, OnExpiry, Settings
from .spending import Spending


class Keymeter(Background):
    """Keymeter's calls for gateways. Safe to use from several threads, and in the children of a fork.

    `url` and `credential` default to the environment variables `KEYMETER_URL` and `KEYMETER_CREDENTIAL`. `max_spends` is how
    many spends may be open or wait for their settlement at a time; beyond it, new ones raise Unavailable.
    """

    def __init__(self, url: str | None = None, credential: str | None = None, *, max_spends: int = 10_000) -> None:
        super().__init__(Settings(url, credential), max_spends)

    @property
    def waiting(self) -> int:
        """How many settlements could not be sent yet."""
        return len(self._outbox)

    def __enter__(self) -> Keymeter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def verify(
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
        units: Mapping[str, float] | None = None,
        context: Mapping[str, str] | None = None,
        provider: str | None = None,
    ) -> Verification:
        """Asks whether a key may be used. Charges nothing, and raises nothing for a key that may not: read `valid`.

        `units`, `context` and `provider` are those of `Charge`: the most that the request may have, and what its price is.
        """
        return self._run(
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
                units=units,
                context=context,
                provider=provider,
            )
        )

    def charge(
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
        units: Mapping[str, float] | None = None,
        usage: object | None = None,
        flavor: str | None = None,
        context: Mapping[str, str] | None = None,
        provider: str | None = None,
        request_id: str | None = None,
    ) -> Charged:
        """Charges a known cost, or what counts cost by the price of `model`, or what the provider's `usage` says.

        `usage` is the answer of the provider or the usage of it, as its SDK or its API returns it. `flavor` says of which of
        its APIs, and is found by default. `units`, `context` and `provider` are those of `Charge`.
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
            units=units,
            usage=usage,
            flavor=flavor,
            context=context,
            provider=provider,
            request_id=request_id,
        )
        return self._run(exchange.charge(charge))

    def charges(self, charges: Sequence[Charge]) -> list[Charged | KeymeterError]:
        """Up to 1,000 charges. Each succeeds or fails on its own: the errors are in the list, in the order of the charges."""
        return self._run(exchange.charges(charges))

    def reserve(
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
        units: Mapping[str, float] | None = None,
        context: Mapping[str, str] | None = None,
        provider: str | None = None,
        ttl_seconds: int | None = None,
        on_expiry: OnExpiry | None = None,
        request_id: str | None = None,
    ) -> Reservation:
        """Holds what a request may cost at most, for 600 seconds if `ttl_seconds` says nothing else.

        `units`, `context` and `provider` are those of `Charge`: the most that the request may have, and what its price is.
        """
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
            units=units,
            context=context,
            provider=provider,
            ttl_seconds=ttl_seconds,
            on_expiry=on_expiry,
        )
        return self._run(exchange.reserve(hold))

    def extend(
        self,
        reservation_id: str,
        *,
        usd: Usd | None = None,
        quota: int | None = None,
        ttl_seconds: int | None = None,
    ) -> Extended:
        """Holds more, or for longer. The amount is the whole hold afterwards, the time counts from now; neither shrinks."""
        return self._run(exchange.extend(reservation_id, usd, quota, ttl_seconds))

    def settle(
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
        units: Mapping[str, float] | None = None,
        usage: object | None = None,
        flavor: str | None = None,
        context: Mapping[str, str] | None = None,
        provider: str | None = None,
    ) -> Settled:
        """Charges what it cost, and gives back the rest of the hold. `model` is the one that answered, if it is another one.

        `usage`, `flavor`, `units`, `context` and `provider` are those of `charge`. Usage that cannot be read costs the whole
        hold: read `priced_by`.
        """
        return self._run(
            exchange.settle(
                usd,
                reservation_id=reservation_id,
                quota=quota,
                model=model,
                prompt_tokens=prompt_tokens,
                completion_tokens=completion_tokens,
                cached_tokens=cached_tokens,
                cache_write_tokens=cache_write_tokens,
                units=units,
                usage=usage,
                flavor=flavor,
                context=context,
                provider=provider,
            )
        )

    def release(self, reservation_id: str) -> Released:
        """Gives the whole hold back."""
        return self._run(exchange.release(reservation_id))

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
        units: Mapping[str, float] | None = None,
        context: Mapping[str, str] | None = None,
        provider: str | None = None,
        ttl_seconds: int | None = None,
        on_expiry: OnExpiry | None = None,
    ) -> Spend:
        """Holds what the work may cost at most, for as long as a `with` block runs, and charges what it cost.

        The hold ends after `ttl_seconds`, 600 if it says nothing else; `Spend.extend` gives it more time.
        `on_expiry` says what happens if this program dies meanwhile.
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
            units=units,
            context=context,
            provider=provider,
            ttl_seconds=ttl_seconds,
            on_expiry=on_expiry,
        )
        return Spend(
            self,
            hold,
            ttl_seconds,
        )


class Spend(Spending):
    """What `Keymeter.spend` returns. Use it with `with`; or call `begin`, and `end` in any case."""

    def __init__(
        self,
        client: Keymeter,
        hold: Hold,
        ttl_seconds: int | None,
    ) -> None:
        super().__init__(hold, ttl_seconds)
        self._client = client

    def __enter__(self) -> Spend:
        self.begin()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.end(error)

    def begin(self) -> Reservation:
        """Makes the hold. Raises Unavailable, or Refused."""
        hold = self._starts()
        client = self._client
        client._outbox.take_place()
        try:
            reservation = client._run(exchange.reserve(hold))
        except BaseException as error:
            if self._elsewhere:
                pass  # The place, and the doubt, are the parent's.
            elif self._holds_nothing(error):
                client._outbox.leave_place()
            else:
                client._later(self._undo(), undo=True)
            raise
        self._begun(reservation)
        return reservation

    def extend(self, *, usd: Usd | None = None, quota: int | None = None, ttl_seconds: int | None = None) -> Extended:
        """Holds more, or for longer, as `Keymeter.extend`."""
        self._must_be_here()
        reservation_id = self.reservation.reservation_id
        extended = self._client.extend(reservation_id, usd=usd, quota=quota, ttl_seconds=ttl_seconds)
        self._reserved = extended.reserved
        return extended

    def end(self, error: BaseException | None = None) -> None:
        """Settles or releases, as the block ended. Raises nothing: what cannot be sent now is sent in the background."""
        ending = self._end(error is not None)
        if ending is not None:
            self._client._end(ending, error)
