# Generated from async_token_client.py by `scripts/clients.sh generate`. Do not edit.
"""The client for one's own tokens, for programs without asyncio."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Literal

from . import tokens
from .answers import OldKey, PeriodLimits, RateLimits, Rotated, Token
from .tokens import ANY_VERSION, GraceFrom, Listing, NewToken, Order, Sort, Status
from .transport import Transport

# In the class, `list` is the call.
Tokens = list[Token]
OldKeys = list[OldKey]


class KeymeterTokens(Transport):
    """Creates, changes, rotates and deletes your own tokens, with an access token. Safe to use from several threads.

    `url` and `access_token` default to the environment variables `KEYMETER_URL` and `KEYMETER_ACCESS_TOKEN`.

    A call that has no answer is tried again. Calls that make or change something have an idempotency key, by which the
    service carries them out once; give `idempotency_key` to repeat a call after a restart of your program, within 72 hours.
    `if_match` is the `etag` of a token that you read: if it was changed since, TokenChanged is raised and nothing is done.
    """

    def __init__(self, url: str | None = None, access_token: str | None = None) -> None:
        super().__init__(tokens.settings(url, access_token))

    def __enter__(self) -> KeymeterTokens:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._close()

    def create(
        self,
        name: str,
        *,
        remain_quota: int | None = None,
        unlimited_quota: bool | None = None,
        expired_time: int | None = None,
        period_limits: PeriodLimits | None = None,
        rate_limits: RateLimits | None = None,
        model_limits_enabled: bool | None = None,
        model_limits: str | Sequence[str] | None = None,
        allow_ips: str | Sequence[str] | None = None,
        group: str | None = None,
        cross_group_retry: bool | None = None,
        show_addresses: bool | None = None,
        note: str | None = None,
        idempotency_key: str | None = None,
    ) -> Token:
        """Creates a token. Its `key` is in the answer.

        Without `remain_quota` and `unlimited_quota` it has no quota. 500,000 quota units are one dollar.
        """
        token = NewToken(
            name=name,
            remain_quota=remain_quota,
            unlimited_quota=unlimited_quota,
            expired_time=expired_time,
            period_limits=period_limits,
            rate_limits=rate_limits,
            model_limits_enabled=model_limits_enabled,
            model_limits=model_limits,
            allow_ips=allow_ips,
            group=group,
            cross_group_retry=cross_group_retry,
            show_addresses=show_addresses,
            note=note,
        )
        return self._run(tokens.create(token, idempotency_key))

    def create_many(self, new: Sequence[NewToken], *, idempotency_key: str | None = None) -> Tokens:
        """Creates up to 100 tokens, all or none. They are in the order of `new`, with their keys."""
        return self._run(tokens.create_many(new, idempotency_key))

    def get(self, token_id: int) -> Token:
        """Reads a token, without its key."""
        return self._run(tokens.get(token_id))

    def reveal(self, token_id: int) -> str:
        """The key of a token. The audit log has a line for that."""
        return self._run(tokens.reveal(token_id))

    def list(
        self,
        *,
        status: Status | None = None,
        state: str | None = None,
        group: str | None = None,
        sort: Sort | None = None,
        order: Order | None = None,
    ) -> Iterator[Token]:
        """Your tokens, the newest first, without their keys. Reads the next page when it is needed.

        The program may delete the tokens that it gets. A token that moves to another place meanwhile may be missed.
        """
        return self._each(Listing(status=status, state=state, group=group, sort=sort, order=order))

    def list_deleted(self) -> Iterator[Token]:
        """The tokens that can be restored, the last deleted first."""
        return self._each(Listing(deleted=1))

    def _each(self, listing: Listing) -> Iterator[Token]:
        while not listing.complete:
            for token in self._run(listing.next()):
                yield token

    def update(
        self,
        token_id: int,
        *,
        if_match: str = ANY_VERSION,
        name: str | None = None,
        add_quota: int | None = None,
        remain_quota: int | None = None,
        unlimited_quota: bool | None = None,
        expired_time: int | None = None,
        period_limits: PeriodLimits | None = None,
        rate_limits: RateLimits | None = None,
        model_limits_enabled: bool | None = None,
        model_limits: str | Sequence[str] | None = None,
        allow_ips: str | Sequence[str] | None = None,
        group: str | None = None,
        cross_group_retry: bool | None = None,
        show_addresses: bool | None = None,
        note: str | None = None,
        idempotency_key: str | None = None,
    ) -> Token:
        """Changes the fields that are given; None leaves a field as it is. `add_quota` is exact while the token is charged."""
        return self._run(
            tokens.update(
                token_id,
                if_match,
                idempotency_key,
                name=name,
                add_quota=add_quota,
                remain_quota=remain_quota,
                unlimited_quota=unlimited_quota,
                expired_time=expired_time,
                period_limits=period_limits,
                rate_limits=rate_limits,
                model_limits_enabled=model_limits_enabled,
                model_limits=model_limits,
                allow_ips=allow_ips,
                group=group,
                cross_group_retry=cross_group_retry,
                show_addresses=show_addresses,
                note=note,
            )
        )

    def update_many(
        self,
        token_ids: Sequence[int],
        *,
        status: Literal[1, 2] | None = None,
        name: str | None = None,
        add_quota: int | None = None,
        remain_quota: int | None = None,
        unlimited_quota: bool | None = None,
        expired_time: int | None = None,
        period_limits: PeriodLimits | None = None,
        rate_limits: RateLimits | None = None,
        model_limits_enabled: bool | None = None,
        model_limits: str | Sequence[str] | None = None,
        allow_ips: str | Sequence[str] | None = None,
        group: str | None = None,
        cross_group_retry: bool | None = None,
        show_addresses: bool | None = None,
        note: str | None = None,
        idempotency_key: str | None = None,
    ) -> Tokens:
        """Changes up to 1,000 tokens in the same way, all or none. `status` 1 enables them, 2 disables them."""
        return self._run(
            tokens.update_many(
                token_ids,
                idempotency_key,
                status=status,
                name=name,
                add_quota=add_quota,
                remain_quota=remain_quota,
                unlimited_quota=unlimited_quota,
                expired_time=expired_time,
                period_limits=period_limits,
                rate_limits=rate_limits,
                model_limits_enabled=model_limits_enabled,
                model_limits=model_limits,
                allow_ips=allow_ips,
                group=group,
                cross_group_retry=cross_group_retry,
                show_addresses=show_addresses,
                note=note,
            )
        )

    def delete(self, token_id: int, *, if_match: str = ANY_VERSION) -> None:
        """Deletes a token. It can be restored for some time, by default 30 days."""
        self._run(tokens.delete(token_id, if_match))

    def restore(self, token_id: int) -> Token:
        """Takes a deletion back. The key works again."""
        return self._run(tokens.restore(token_id))

    def rotate(
        self,
        token_id: int,
        *,
        grace_seconds: int | None = None,
        grace_from: GraceFrom | None = None,
        idempotency_key: str | None = None,
    ) -> Rotated:
        """Replaces the key of a token. The old one works for `grace_seconds` more, by default a day.

        They begin with the first use of the new key, or with `grace_from="now"` at once. `grace_seconds=0` and
        `grace_from="now"` end the old key with this call.
        """
        return self._run(tokens.rotate(token_id, grace_seconds, grace_from, idempotency_key))

    def old_keys(self, token_id: int, *, ended: bool = False) -> OldKeys:
        """The replaced keys that still work, or those that `ended` in the last 90 days, the last rotation first."""
        return self._run(tokens.old_keys(token_id, ended))

    def end_old_key(self, token_id: int, key_id: int) -> None:
        """Ends an old key before its time."""
        self._run(tokens.end_old_key(token_id, key_id))
