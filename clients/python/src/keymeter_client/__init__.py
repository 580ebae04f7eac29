"""A client of Keymeter for gateways: verify, reserve, settle and charge API keys with hard spending limits."""

from ._version import __version__
from .amounts import Usd
from .answers import Charged, Extended, Released, Reservation, Settled, Verification
from .async_client import AsyncKeymeter, AsyncSpend
from .client import Keymeter, Spend
from .errors import (
    BadRequest,
    Conflict,
    InvalidGateway,
    InvalidKey,
    KeymeterError,
    LimitExceeded,
    NotAllowed,
    QuotaExhausted,
    RateLimited,
    Refused,
    Unavailable,
)
from .exchange import Charge, OnExpiry

__all__ = [
    "AsyncKeymeter",
    "AsyncSpend",
    "BadRequest",
    "Charge",
    "Charged",
    "Conflict",
    "Extended",
    "InvalidGateway",
    "InvalidKey",
    "Keymeter",
    "KeymeterError",
    "LimitExceeded",
    "NotAllowed",
    "OnExpiry",
    "QuotaExhausted",
    "RateLimited",
    "Refused",
    "Released",
    "Reservation",
    "Settled",
    "Spend",
    "Unavailable",
    "Usd",
    "Verification",
    "__version__",
]
