"""What Keymeter answers. Unknown fields are ignored. Amounts are quota units: 500,000 are one dollar."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from typing import Any, TypeVar


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


@dataclass(frozen=True)
class Released:
    """A reservation that was released."""

    remain_quota: int


T = TypeVar("T")


def read(kind: type[T], data: object) -> T:
    """Raises ValueError if `data` lacks a field."""
    if not isinstance(data, dict):
        raise ValueError("an object was expected")
    known: dict[str, Any] = {}
    for field in fields(kind):  # type: ignore[arg-type]  # a dataclass, always
        if data.get(field.name) is not None:
            known[field.name] = data[field.name]
        elif field.default is MISSING:
            raise ValueError(f"{field.name} is missing")
    return kind(**known)
