"""A client of Keymeter: verify, reserve, settle and charge API keys with hard spending limits, and manage your own."""

from ._version import __version__
from .amounts import Usd
from .answers import (
    Charged,
    Extended,
    OldKey,
    PeriodLimits,
    PeriodUsage,
    PeriodUse,
    RateLimits,
    Released,
    Reservation,
    Rotated,
    Settled,
    Token,
    Verification,
)
from .async_client import AsyncKeymeter, AsyncSpend
from .async_token_client import AsyncKeymeterTokens
from .client import Keymeter, Spend
from .errors import (
    BadRequest,
    Conflict,
    InvalidAccessToken,
    InvalidGateway,
    InvalidKey,
    KeymeterError,
    LimitExceeded,
    NotAllowed,
    NotFound,
    QuotaExhausted,
    RateLimited,
    Refused,
    TokenChanged,
    Unavailable,
)
from .exchange import Charge, OnExpiry, new_request_id
from .token_client import KeymeterTokens
from .tokens import GraceFrom, NewToken

__all__ = [
    "AsyncKeymeter",
    "AsyncKeymeterTokens",
    "AsyncSpend",
    "BadRequest",
    "Charge",
    "Charged",
    "Conflict",
    "Extended",
    "GraceFrom",
    "InvalidAccessToken",
    "InvalidGateway",
    "InvalidKey",
    "Keymeter",
    "KeymeterError",
    "KeymeterTokens",
    "LimitExceeded",
    "NewToken",
    "NotAllowed",
    "NotFound",
    "OldKey",
    "OnExpiry",
    "PeriodLimits",
    "PeriodUsage",
    "PeriodUse",
    "QuotaExhausted",
    "RateLimited",
    "RateLimits",
    "Refused",
    "Released",
    "Reservation",
    "Rotated",
    "Settled",
    "Spend",
    "Token",
    "TokenChanged",
    "Unavailable",
    "Usd",
    "Verification",
    "__version__",
    "new_request_id",
]
