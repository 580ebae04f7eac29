"""The settings, from the environment. KEYMETER_URL and KEYMETER_CREDENTIAL are read by keymeter_client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Literal

PREFIX = "LITELLM_KEYMETER_"


@dataclass(frozen=True)
class Settings:
    markup: Decimal
    """Each cost is multiplied by it."""
    ttl_seconds: int
    """How long a hold lasts if nothing renews it. Holds of longer requests are renewed."""
    on_expiry: Literal["charge", "release"]
    """What becomes of the holds of a proxy that was killed."""
    max_tokens: int
    """The output that is held for a request that sets no limit of its own."""
    unpriced_usd: Decimal | None
    """What a request to a model without a price costs; None refuses it."""
    max_requests: int
    """How many requests may be under way or wait for their settlement; beyond it, new ones get 503."""
    allow: frozenset[str] = frozenset()
    """Names of members, tools and headers that clients may send beside those of routes.APIS."""


def read(environment: Mapping[str, str]) -> Settings:
    """Raises ValueError, which names the variable."""

    def text(name: str, default: str) -> str:
        return environment.get(PREFIX + name, "").strip() or default

    def number(name: str, default: str) -> Decimal:
        try:
            value = Decimal(text(name, default))
            if value.is_finite() and 0 <= value <= 1_000_000:
                return value
        except InvalidOperation:
            pass
        raise ValueError(f"{PREFIX}{name} must be a number from 0 to 1000000")

    def whole(name: str, default: str, least: int, most: int) -> int:
        value = text(name, default)
        if value.isascii() and value.isdigit() and least <= int(value) <= most:
            return int(value)
        raise ValueError(f"{PREFIX}{name} must be a whole number from {least} to {most}")

    if text("ON_EXPIRY", "charge") not in ("charge", "release"):
        raise ValueError(f"{PREFIX}ON_EXPIRY must be charge or release")
    return Settings(
        markup=number("MARKUP", "1"),
        ttl_seconds=whole("TTL_SECONDS", "900", 2, 86_400),
        on_expiry="release" if text("ON_EXPIRY", "charge") == "release" else "charge",
        max_tokens=whole("MAX_TOKENS", "4096", 1, 10_000_000),
        unpriced_usd=number("UNPRICED_USD", "0") if text("UNPRICED_USD", "") else None,
        max_requests=whole("MAX_REQUESTS", "10000", 1, 1_000_000),
        allow=frozenset(text("ALLOW", "").replace(",", " ").split()),
    )
