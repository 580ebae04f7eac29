"""What can go wrong. Every error of this package is a KeymeterError."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final


class KeymeterError(Exception):
    """Keymeter did not do what was asked."""


class Unavailable(KeymeterError):
    """No answer, or one that says that Keymeter cannot answer now. Never treat it as permission.

    `retry_after` is in seconds. `request_id` is the `X-Request-Id` of the answer, if there was one.
    """

    def __init__(
        self,
        message: str,
        status: int | None = None,
        code: str | None = None,
        retry_after: int | None = None,
        request_id: str | None = None,
        repeatable: bool = True,
        sent: bool = True,
    ) -> None:
        super().__init__(message, status, code, retry_after, request_id, repeatable, sent)
        self.message = message
        self.status = status
        self.code = code
        self.retry_after = retry_after
        self.request_id = request_id
        # Whether the same request may be answered in a moment.
        self.repeatable = repeatable
        # False if the request certainly did not reach Keymeter: it was not carried out.
        self.sent = sent

    def __str__(self) -> str:
        return self.message if self.code is None else f"{self.code}: {self.message}"


class Refused(KeymeterError):
    """Keymeter said no.

    `status` is the HTTP status, `code` the stable error code, `message` one sentence. `retry_after` is in seconds, and None
    if time alone does not help. `request_id` is the `X-Request-Id` of the answer: quote it to your operator.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        retry_after: int | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(status, code, message, retry_after, request_id)
        self.status = status
        self.code = code
        self.message = message
        self.retry_after = retry_after
        self.request_id = request_id

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class InvalidKey(Refused):
    """The key is unknown, mistyped or deleted."""


class QuotaExhausted(Refused):
    """The key or the wallet of its owner has too little left."""


class NotAllowed(Refused):
    """The key is disabled or expired, or may not be used for this model, from this address or in this group."""


class LimitExceeded(Refused):
    """A limit of a day, week or month. `limit` and `used` are quota units, `resets_at` is a Unix timestamp."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        retry_after: int | None = None,
        request_id: str | None = None,
        period: str | None = None,
        limit: int | None = None,
        used: int | None = None,
        resets_at: int | None = None,
    ) -> None:
        super().__init__(status, code, message, retry_after, request_id)
        self.period = period
        self.limit = limit
        self.used = used
        self.resets_at = resets_at


class RateLimited(Refused):
    """Too many requests or tokens per minute, or too many open reservations."""


class Conflict(Refused):
    """The reservation has ended or is unknown, or the request ID was used for something else."""


class BadRequest(Refused):
    """A mistake in the calling program; the message names the field."""


class InvalidGateway(Refused):
    """The gateway credential is wrong or revoked."""


# Every error code that a call of a gateway can answer, with its status. A test compares it with the OpenAPI document.
CODES: Final[Mapping[str, tuple[int, type[Refused] | type[Unavailable]]]] = {
    "invalid_key": (401, InvalidKey),
    "invalid_gateway": (401, InvalidGateway),
    "token_exhausted": (402, QuotaExhausted),
    "token_quota_insufficient": (402, QuotaExhausted),
    "user_quota_insufficient": (402, QuotaExhausted),
    "token_disabled": (403, NotAllowed),
    "token_expired": (403, NotAllowed),
    "user_disabled": (403, NotAllowed),
    "group_not_allowed": (403, NotAllowed),
    "model_not_allowed": (403, NotAllowed),
    "ip_not_allowed": (403, NotAllowed),
    "model_not_priced": (403, NotAllowed),
    "token_period_exceeded": (429, LimitExceeded),
    "user_period_exceeded": (429, LimitExceeded),
    "rate_limited": (429, RateLimited),
    "too_many_concurrent": (429, RateLimited),
    "reservation_not_found": (404, Conflict),
    "reservation_ended": (409, Conflict),
    "request_id_reused": (409, Conflict),
    "invalid_json": (400, BadRequest),
    "invalid_body": (400, BadRequest),
    "invalid_field": (400, BadRequest),
    "missing_field": (400, BadRequest),
    "invalid_quota": (400, BadRequest),
    "invalid_usd": (400, BadRequest),
    "ambiguous_amount": (400, BadRequest),
    "invalid_ttl": (400, BadRequest),
    "invalid_on_expiry": (400, BadRequest),
    "invalid_request_id": (400, BadRequest),
    "invalid_model": (400, BadRequest),
    "invalid_ip": (400, BadRequest),
    "invalid_count": (400, BadRequest),
    "invalid_charges": (400, BadRequest),
    "body_too_large": (413, BadRequest),
    "internal": (500, Unavailable),
    "database_unavailable": (503, Unavailable),
    "too_many_connections": (503, Unavailable),
    "server_busy": (503, Unavailable),
    "ledger_busy": (503, Unavailable),
    "timeout": (503, Unavailable),
}

# For codes of a newer service.
_BY_STATUS: Final[Mapping[int, type[Refused]]] = {
    400: BadRequest,
    402: QuotaExhausted,
    403: NotAllowed,
    409: Conflict,
    413: BadRequest,
    429: RateLimited,
}


def error_of(
    failure: Mapping[str, object],
    status: int | None = None,
    retry_after: int | None = None,
    request_id: str | None = None,
) -> KeymeterError:
    """The error that a failure stands for. `status` is missing for one of many charges; its code says it."""
    code, message = str(failure.get("error")), str(failure.get("message"))
    known_status, kind = CODES.get(code, (0, _BY_STATUS.get(status or 0, Refused)))
    status = status or known_status
    if status >= 500 or kind is Unavailable:
        return Unavailable(message, status, code, retry_after, request_id)
    if kind is LimitExceeded:
        period = failure.get("period")
        return LimitExceeded(
            status,
            code,
            message,
            retry_after,
            request_id,
            period if isinstance(period, str) else None,
            _integer(failure.get("limit")),
            _integer(failure.get("used")),
            _integer(failure.get("resets_at")),
        )
    assert issubclass(kind, Refused)
    return kind(status, code, message, retry_after, request_id)


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) else None
