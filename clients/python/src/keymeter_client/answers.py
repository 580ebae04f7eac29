"""What Keymeter answers. Unknown fields are ignored. Amounts are quota units: 500,000 are one dollar."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from typing import Any, TypedDict, TypeVar


@dataclass(frozen=True)
class Verification:
    """Whether a key may be used now. If it is known, all fields of the key are there. Amounts are advice."""

    valid: bool
    reason: str | None = None
    """The error code, if `valid` is false."""
    token_id: int | None = None
    user_id: int | None = None
    name: str | None = None
    group: str | None = None
    cross_group_retry: bool | None = None
    unlimited_quota: bool | None = None
    remain_quota: int | None = None
    usable_quota: int | None = None
    """The least of what key, wallet and period limits have left."""
    expires_at: int | None = None
    """Unix timestamp; 0 means never."""
    key_expires_at: int | None = None
    """Of a key that was replaced: Unix timestamp at which it stops working, at the latest."""
    period: str | None = None
    """`day`, `week` or `month`, with the next three fields: the limit that refuses the key."""
    limit: int | None = None
    used: int | None = None
    resets_at: int | None = None
    retry_after: int | None = None
    """Seconds; None if time alone does not help."""


@dataclass(frozen=True)
class Charged:
    """A charge that was made."""

    charged: int
    remain_quota: int
    request_id: str
    token_id: int = 0
    user_id: int = 0
    name: str = ""
    group: str = ""
    priced_by: str = ""
    """`units`: the counts; `told`: the amount that was sent; `hold`: the hold, because no other amount was known."""
    hold_reason: str | None = None
    """Why it was the hold, such as `invalid_usage`."""


@dataclass(frozen=True)
class Reservation:
    """A hold on quota."""

    reservation_id: str
    expires_at: int
    """Unix timestamp at which the hold ends."""
    reserved: int
    remain_quota: int
    request_id: str = ""
    token_id: int = 0
    user_id: int = 0
    name: str = ""
    group: str = ""


@dataclass(frozen=True)
class Extended:
    """A hold that was extended: what is held now, and until when."""

    reservation_id: str
    reserved: int
    expires_at: int
    remain_quota: int


@dataclass(frozen=True)
class Settled:
    """A reservation that was settled."""

    charged: int
    shortfall: int
    """The part of the cost that neither the hold nor the balances could cover."""
    expired: bool
    """The reservation had expired before, so the charge was made without a hold."""
    remain_quota: int
    priced_by: str = ""
    """`units`: the counts; `told`: the amount that was sent; `hold`: the hold, because no other amount was known."""
    hold_reason: str | None = None
    """Why it was the hold, such as `invalid_usage`."""


@dataclass(frozen=True)
class Released:
    """A reservation that was released."""

    remain_quota: int


class PeriodLimits(TypedDict, total=False):
    """Quota units that may be used in each; -1 is no limit. In a change, what is left out stays as it is."""

    day: int
    week: int
    month: int


class RateLimits(TypedDict, total=False):
    """-1 is no limit. In a change, what is left out stays as it is."""

    requests_per_minute: int
    tokens_per_minute: int
    concurrency: int
    """Open reservations."""


class PeriodUse(TypedDict):
    """The present day, week or month, in quota units; -1 without a limit."""

    limit: int
    used: int
    remaining: int
    resets_at: int
    """Unix timestamp."""


class PeriodUsage(TypedDict):
    day: PeriodUse
    week: PeriodUse
    month: PeriodUse


@dataclass(frozen=True)
class Token:
    """The record of a key. The key itself is filled where it was made, and is not in the repr."""

    id: int
    user_id: int
    masked_key: str
    """The part of the key that may be shown."""
    status: int
    """1 enabled, 2 disabled, 3 expired, 4 quota exhausted."""
    state: str
    """`working`, or why the key does not work now. Treat an unknown one as one that does not work."""
    name: str
    note: str
    created_time: int
    """Unix timestamp, as all times."""
    accessed_time: int
    """Of the last charge; the creation time until then."""
    expired_time: int
    """-1 means never."""
    remain_quota: int
    unlimited_quota: bool
    used_quota: int
    period_limits: PeriodLimits
    period_usage: PeriodUsage
    rate_limits: RateLimits
    model_limits_enabled: bool
    """Whether `model_limits` applies."""
    model_limits: str
    """Names, comma-separated."""
    allow_ips: str
    """One address or network per line; empty allows all."""
    group: str
    """Empty: the group of the owner."""
    cross_group_retry: bool
    show_addresses: bool
    key: str = field(default="", repr=False)
    """Empty unless the token was just created."""
    etag: str = ""
    """The version of the token, for `if_match`. Empty in lists and of many tokens."""
    state_until: int | None = None
    """When the limit that is reached renews."""
    disabled_by: str | None = None
    """`administrator` or `root`, if one of them disabled it."""
    imported: bool = False
    deleted_time: int | None = None
    """Only of deleted tokens."""
    restorable_until: int | None = None
    """Only of deleted tokens."""


@dataclass(frozen=True)
class OldKey:
    """A key that was replaced. The key itself is not stored."""

    id: int
    masked_key: str
    rotated_at: int
    expires_at: int | None = None
    """Unix timestamp; None until a newer key is used, for 30 days at most."""
    last_used_at: int | None = None
    """Up to about a minute old; None if it was not used since the rotation."""


@dataclass(frozen=True)
class Rotated:
    """The new key of a token. It is not in the repr."""

    id: int
    """Of the token."""
    key: str = field(repr=False)
    masked_key: str
    old_keys: list[OldKey]
    """Those that still work, the last rotation first."""


T = TypeVar("T")


def read(kind: type[T], data: object) -> T:
    """Raises ValueError if `data` lacks a field."""
    if not isinstance(data, dict):
        raise ValueError("an object was expected")
    known: dict[str, Any] = {}
    for each in fields(kind):  # type: ignore[arg-type]  # a dataclass, always
        if data.get(each.name) is not None:
            known[each.name] = data[each.name]
        elif each.default is MISSING:
            raise ValueError(f"{each.name} is missing")
    return kind(**known)
