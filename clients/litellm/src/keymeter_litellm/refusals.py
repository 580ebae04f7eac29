"""What a client gets that is refused: OpenAI's shape, with headers that its SDK obeys."""

from __future__ import annotations

import logging
from typing import Any, Final

from fastapi import Request
from keymeter_client import InvalidGateway, KeymeterError, LimitExceeded, QuotaExhausted, RateLimited, Refused, Unavailable
from keymeter_client.errors import CODES
from litellm.proxy._types import ProxyException

log: Final = logging.getLogger("keymeter_litellm")

# So that clients do not repeat what time cannot help.
NO_RETRY: Final = {"x-should-retry": "false"}
UNAVAILABLE_SECONDS: Final = 2


class Refusal(ProxyException):
    """LiteLLM answers it as it is. Its own exceptions put the status where OpenAI has the code."""

    def __init__(self, status: int, type: str, code: str, message: str, headers: dict[str, str] | None = None) -> None:  # noqa: A002
        super().__init__(message=message, type=type, param=None, code=status, headers=dict(headers or {}))
        # LiteLLM changes the status if the message has certain words.
        self.code = str(status)
        self.error_code = code

    def to_dict(self) -> dict[str, Any]:
        return {"message": self.message, "type": self.type, "param": None, "code": self.error_code}


def invalid(message: str) -> Refusal:
    return Refusal(400, "invalid_request_error", "invalid_request", message, NO_RETRY)


def too_large(most: int) -> Refusal:
    return Refusal(413, "invalid_request_error", "body_too_large", f"the body has more than {most} bytes", NO_RETRY)


def not_metered(message: str) -> Refusal:
    return Refusal(403, "permission_error", "not_metered", message, NO_RETRY)


def model_not_priced(model: str) -> Refusal:
    message = f"the model {model} has no price here, so its use cannot be charged"
    return Refusal(403, "permission_error", "model_not_priced", message, NO_RETRY)


def invalid_key() -> Refusal:
    return Refusal(401, "invalid_request_error", "invalid_api_key", "incorrect API key provided", NO_RETRY)


def unavailable() -> Refusal:
    return Refusal(
        503,
        "api_error",
        "keymeter_unavailable",
        "the service that meters API keys cannot answer now; retry shortly",
        {"Retry-After": str(UNAVAILABLE_SECONDS)},
    )


def misconfigured() -> Refusal:
    return Refusal(500, "api_error", "keymeter_misconfigured", "this gateway is not set up right; tell its operator")


def refusal_of(error: KeymeterError) -> Refusal:
    """What a client gets for what Keymeter answered. What is the operator's concern is only in the log."""
    if isinstance(error, Unavailable):
        log.warning("a request got 503: %s", error)
        return unavailable()
    if not isinstance(error, Refused):
        raise error
    if error.status == 401 and not isinstance(error, InvalidGateway):
        return invalid_key()
    if error.status == 402:
        return Refusal(402, "insufficient_quota", error.code, error.message, NO_RETRY)
    if error.status == 403:
        return Refusal(403, "permission_error", error.code, error.message, NO_RETRY)
    if error.status == 429:
        headers = {} if isinstance(error, RateLimited) else dict(NO_RETRY)
        if error.retry_after is not None:
            headers["Retry-After"] = str(error.retry_after)
        return Refusal(429, "rate_limit_error", error.code, error.message, headers)
    log.error("a request got 500, because Keymeter refused this gateway: %s", error)
    return misconfigured()


def refusal_of_reason(code: str, retry_after: int | None) -> Refusal:
    """The same for a `reason` of verify."""
    status, kind = CODES.get(code, (403, Refused))
    message = f"this API key may not be used now ({code})"
    if issubclass(kind, LimitExceeded):
        return refusal_of(LimitExceeded(status, code, message, retry_after))
    if issubclass(kind, Refused):
        return refusal_of(kind(status, code, message, retry_after))
    return unavailable()


def is_amount(code: str) -> bool:
    """A reason that refuses only what costs something."""
    return issubclass(CODES.get(code, (403, Refused))[1], (QuotaExhausted, LimitExceeded))


def keep_in_answers(request: Request) -> None:
    """Some of LiteLLM's routes put exceptions into others, without their code and headers. The answer is that of ours."""
    handlers = request.scope["starlette.exception_handlers"][0]
    original = handlers[ProxyException]
    if getattr(original, "keeps_refusals", False):
        return

    async def answer(request: Request, error: ProxyException) -> Any:
        return await original(request, _innermost(error))

    answer.keeps_refusals = True  # type: ignore[attr-defined]
    handlers[ProxyException] = answer


def _innermost(error: ProxyException) -> ProxyException:
    cause: BaseException | None = error
    for _ in range(10):
        if cause is None or isinstance(cause, Refusal):
            break
        cause = cause.__cause__ or cause.__context__
    return cause if isinstance(cause, Refusal) else error
