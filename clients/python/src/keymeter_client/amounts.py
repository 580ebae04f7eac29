"""Amounts of money, as whole trillionths of a dollar: exact, and what the service rounds to."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from typing import Final

Usd = str | int | float | Decimal
"""Dollars. A float is rounded to 12 decimals; the others are exact up to there."""

PICO: Final = 10**12
PICO_PER_QUOTA: Final = PICO // 500_000
_LAST_DECIMAL: Final = Decimal("1e-12")
# More digits than any balance has; beyond it an amount is refused.
_CONTEXT: Final = Context(prec=40, rounding=ROUND_HALF_EVEN)


def pico_dollars(usd: Usd) -> int:
    """Raises ValueError if it is not an amount of 0 or more."""
    if isinstance(usd, bool) or not isinstance(usd, (str, int, float, Decimal)):
        raise ValueError("usd must be a str, Decimal, int or float")
    try:
        # The text of a float is the shortest that means it, as in JSON. Subclasses may have another repr.
        exact = Decimal(float.__repr__(usd) if isinstance(usd, float) else usd)
        # NaN and infinity are refused here too.
        rounded = exact.quantize(_LAST_DECIMAL, context=_CONTEXT)
        if rounded.is_nan() or rounded < 0:
            raise ValueError
        return int(rounded.scaleb(12, context=_CONTEXT))
    except (InvalidOperation, ValueError):
        raise ValueError("usd must be an amount of 0 or more") from None


def usd_text(pico: int) -> str:
    whole, part = divmod(pico, PICO)
    return f"{whole}.{part:012d}".rstrip("0").rstrip(".")
