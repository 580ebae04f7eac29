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
    if time alone does not help. `request_id` is the `X-Request-Id` of the answer: quote it to your operator. If one of many
    tokens is the reason, `index` is its place among those to be created, from 0, or `token_id` its ID.
    """

    index: int | None = None
    token_id: int | None = None

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
    """The reservation has ended or is unknown, an ID was used for something else, or the token does not allow it now."""


class BadRequest(Refused):
    """A mistake in the calling program; the message names the field."""


class InvalidGateway(Refused):
    """The gateway credential is wrong or revoked."""


class InvalidAccessToken(Refused):
    """The access token is wrong, expired or revoked."""


class NotFound(Refused):
    """There is no such token or old key of yours."""


class TokenChanged(Refused):
    """The token was changed since it was read; nothing was done. `etag` is its present version."""

    etag: str = ""


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
    "invalid_usage": (400, BadRequest),
    "invalid_context": (400, BadRequest),
    "invalid_charges": (400, BadRequest),
    "body_too_large": (413, BadRequest),
    "unsupported_encoding": (415, BadRequest),
    "internal": (500, Unavailable),
    "database_read_only": (503, Unavailable),
    "database_unavailable": (503, Unavailable),
    "program_too_old": (503, Unavailable),
    "not_durable": (503, Unavailable),
    "too_many_connections": (503, Unavailable),
    "server_busy": (503, Unavailable),
    "ledger_busy": (503, Unavailable),
    "timeout": (503, Unavailable),
}

# Every error code that a call for one's own tokens can answer. The same code may have another status than for a gateway.
TOKEN_CODES: Final[Mapping[str, tuple[int, type[Refused] | type[Unavailable]]]] = {
    "not_signed_in": (401, InvalidAccessToken),
    "invalid_credential": (401, InvalidAccessToken),
    "user_mismatch": (401, InvalidAccessToken),
    "token_api_not_enabled": (403, NotAllowed),
    "user_disabled": (403, NotAllowed),
    "cross_site_request": (403, NotAllowed),
    "not_found": (404, NotFound),
    "token_expired": (409, Conflict),
    "token_exhausted": (409, Conflict),
    "token_limit_reached": (409, Conflict),
    "insufficient_quota": (409, Conflict),
    "too_many_old_keys": (409, Conflict),
    "key_rotated": (409, Conflict),
    "token_changed": (412, TokenChanged),
    "idempotency_key_reused": (422, Conflict),
    "rate_limited": (429, RateLimited),
    "switched_off_by_administrator": (403, NotAllowed),
    "switched_off_by_root": (403, NotAllowed),
    "invalid_json": (400, BadRequest),
    "invalid_body": (400, BadRequest),
    "invalid_field": (400, BadRequest),
    "missing_field": (400, BadRequest),
    "invalid_query": (400, BadRequest),
    "invalid_page": (400, BadRequest),
    "invalid_filter": (400, BadRequest),
    "invalid_id": (400, BadRequest),
    "invalid_ids": (400, BadRequest),
    "invalid_tokens": (400, BadRequest),
    "invalid_name": (400, BadRequest),
    "invalid_note": (400, BadRequest),
    "invalid_expiry": (400, BadRequest),
    "invalid_quota": (400, BadRequest),
    "invalid_period_limit": (400, BadRequest),
    "invalid_rate_limit": (400, BadRequest),
    "invalid_models": (400, BadRequest),
    "invalid_ips": (400, BadRequest),
    "invalid_group": (400, BadRequest),
    "invalid_status": (400, BadRequest),
    "invalid_grace": (400, BadRequest),
    "invalid_if_match": (400, BadRequest),
    "invalid_idempotency_key": (400, BadRequest),
    "body_too_large": (413, BadRequest),
    "unsupported_encoding": (415, BadRequest),
    "internal": (500, Unavailable),
    "database_read_only": (503, Unavailable),
    "database_unavailable": (503, Unavailable),
    "program_too_old": (503, Unavailable),
    "not_durable": (503, Unavailable),
    "too_many_connections": (503, Unavailable),
    "server_busy": (503, Unavailable),
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
    codes: Mapping[str, tuple[int, type[Refused] | type[Unavailable]]] = CODES,
) -> KeymeterError:
    """The error that a failure stands for. `status` is missing for one of many charges; its code says it."""
    code, message = str(failure.get("error")), str(failure.get("message"))
    known_status, kind = codes.get(code, (0, _BY_STATUS.get(status or 0, Refused)))
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
    error = kind(status, code, message, retry_after, request_id)
    error.index = _integer(failure.get("index"))
    error.token_id = _integer(failure.get("id"))
    return error


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) else None
