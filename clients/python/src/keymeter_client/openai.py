"""What the client of a gateway is told, in the shape of OpenAI's API, which SDKs read."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from .errors import InvalidKey, KeymeterError, LimitExceeded, NotAllowed, QuotaExhausted, RateLimited, Refused, Unavailable

log: Final = logging.getLogger("keymeter_client")

# Refusals that a repetition does not change. The SDKs of OpenAI and Anthropic obey it.
_NO_RETRY: Final = {"x-should-retry": "false"}


@dataclass(frozen=True)
class Refusal:
    """An answer of the gateway."""

    status: int
    type: str
    code: str
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def error(self) -> dict[str, object]:
        """The body, as an object."""
        return {"error": {"message": self.message, "type": self.type, "param": None, "code": self.code}}

    @property
    def body(self) -> bytes:
        return json.dumps(self.error).encode()


def refusal_of(error: KeymeterError) -> Refusal:
    """What to answer for this error. A mistake of the gateway is logged, and its reason is not shown to the client."""
    if isinstance(error, Unavailable):
        log.warning("a request was refused, because Keymeter is unavailable: %s", error)
        message = "the spending limits of this key cannot be checked now; retry shortly"
        return Refusal(503, "api_error", "keymeter_unavailable", message, {"Retry-After": "2"})
    retry_after = getattr(error, "retry_after", None)
    waits = {} if retry_after is None else {"Retry-After": str(retry_after)}
    match error:
        case InvalidKey():
            return Refusal(401, "invalid_request_error", "invalid_api_key", error.message, _NO_RETRY)
        case QuotaExhausted():
            return Refusal(402, "insufficient_quota", error.code, error.message, _NO_RETRY)
        case NotAllowed():
            return Refusal(403, "permission_error", error.code, error.message, _NO_RETRY)
        case LimitExceeded():
            return Refusal(429, "rate_limit_error", error.code, error.message, waits | _NO_RETRY)
        case RateLimited():
            # Without a time, the request is larger than the rate allows at any time.
            return Refusal(429, "rate_limit_error", error.code, error.message, waits or _NO_RETRY)
    request_id = error.request_id if isinstance(error, Refused) else None
    log.error("a request was refused, because this gateway uses Keymeter wrongly: %s (X-Request-Id %s)", error, request_id)
    return Refusal(500, "api_error", "keymeter_misconfigured", "this gateway is misconfigured; tell its operator")
