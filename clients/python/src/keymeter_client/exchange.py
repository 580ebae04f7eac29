"""The protocol without input and output: what to send, how to read an answer, when to repeat.

A `Program` yields what is to be done, a `Send` or a `Sleep`, and gets back what came of a `Send`. So the rules are written
once, and the clients for threads and for asyncio only carry them out.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any, Final, Generic, Literal, TypeVar
from urllib.parse import urlsplit

from ._version import __version__
from .amounts import Usd, pico_dollars, usd_text
from .answers import Charged, Extended, Released, Reservation, Settled, Verification, read
from .errors import KeymeterError, Refused, Unavailable, error_of
from .provider_usage import plain

T = TypeVar("T")
OnExpiry = Literal["release", "charge"]

TRIES: Final = 3
TRY_SECONDS: Final = 2.0
TOTAL_SECONDS: Final = 10.0
FIRST_PAUSE_SECONDS: Final = 0.1
# The largest answer is that of 1,000 charges, a few hundred bytes each.
MAX_ANSWER_BYTES: Final = 4 * 1024 * 1024


@dataclass(frozen=True)
class Send:
    """Send this body to this path, and give up after so many seconds."""

    path: str
    body: bytes | None = field(repr=False)
    seconds: float
    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Beside those of the client."""
    max_answer_bytes: int = MAX_ANSWER_BYTES


@dataclass(frozen=True)
class Sleep:
    seconds: float


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


@dataclass(frozen=True)
class NoAnswer:
    why: str
    sent: bool = True
    """False if the request certainly did not reach Keymeter."""


Program = Generator[Send | Sleep, Answer | NoAnswer | None, T]


class Settings:
    """Where the service is, and the credential for it. Its repr does not show the credential."""

    def __init__(
        self,
        url: str | None,
        credential: str | None,
        variable: str = "KEYMETER_CREDENTIAL",
        meaning: str = "a gateway credential (keymeter gateway create NAME)",
    ) -> None:
        self.url = (url or os.environ.get("KEYMETER_URL", "")).strip().rstrip("/")
        credential = (credential or os.environ.get(variable, "")).strip()
        if not self.url:
            raise ValueError("set KEYMETER_URL to the address of Keymeter, such as http://127.0.0.1:3000")
        if not credential:
            raise ValueError(f"set {variable} to {meaning}")
        # What is wrong is not shown, because it may be a secret.
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("KEYMETER_URL must be an http or https address without a query")
        if parts.username is not None or parts.password is not None:
            raise ValueError("KEYMETER_URL must not have a user or a password")
        self.encrypted: Final = parts.scheme == "https"
        if not all("!" <= character <= "~" for character in credential):
            raise ValueError(f"{variable} must be printable ASCII without blanks")
        self.headers: Final = {
            "Authorization": f"Bearer {credential}",
            "Content-Type": "application/json",
            "User-Agent": f"keymeter-client-python/{__version__}",
            # Answers are small, and their size is checked as they arrive.
            "Accept-Encoding": "identity",
        }

    def __repr__(self) -> str:
        return f"Settings(url={self.url!r})"


class Tries:
    """How often and how long a call is still tried."""

    def __init__(self, count: int = TRIES, try_seconds: float = TRY_SECONDS, total_seconds: float = TOTAL_SECONDS) -> None:
        self._left = count - 1
        self._try_seconds = try_seconds
        self._deadline = time.monotonic() + total_seconds
        self._pause = FIRST_PAUSE_SECONDS

    def seconds(self) -> float:
        """For the next try."""
        return min(self._try_seconds, self._deadline - time.monotonic())

    def pause(self, error: Unavailable) -> float | None:
        """Seconds to wait before the next try after this error; None if it was the last."""
        if self._left == 0 or not error.repeatable:
            return None
        seconds = self._pause * random.uniform(0.5, 1.0)
        if error.retry_after is not None:
            seconds = max(seconds, error.retry_after)
        if time.monotonic() + seconds >= self._deadline:
            return None
        self._left -= 1
        self._pause *= 2
        return seconds


@dataclass(frozen=True)
class Call(Generic[T]):
    path: str
    # It may have a key.
    body: Mapping[str, object] = field(repr=False)
    read: Callable[[Any], T]

    def send(self, seconds: float) -> Send:
        return Send(f"/api/gateway/{self.path}", json.dumps(self.body).encode(), seconds)

    def value(self, envelope: Mapping[str, Any], headers: Mapping[str, str]) -> T:
        """What a success says. Raises ValueError, LookupError or TypeError if it is not what Keymeter answers."""
        return self.read(envelope["data"])

    def failure(self, envelope: Mapping[str, Any], status: int, headers: Mapping[str, str]) -> KeymeterError:
        return error_of(envelope, status, seconds(headers.get("retry-after")), headers.get("x-request-id"))

    def after_silence(self, error: Refused) -> T:
        """What it means that this was refused after a try without an answer, which may have been carried out."""
        raise error

    def result(self, received: Answer | NoAnswer | None) -> T:
        """Raises Unavailable or Refused."""
        if not isinstance(received, Answer):
            why = received.why if received else "nothing was sent"
            raise Unavailable(f"no answer from Keymeter ({why})", sent=received is not None and received.sent)
        try:
            envelope = json.loads(received.body)
            if received.status == 200 and envelope["success"] is True:
                return self.value(envelope, received.headers)
            is_failure = envelope["success"] is False and isinstance(envelope["error"], str)
        except (ValueError, LookupError, TypeError):
            is_failure = False
        if not is_failure:
            # What reports errors with their variables would show a key in it.
            envelope = None
            raise Unavailable(
                f"the answer is not one of Keymeter (HTTP status {received.status}); is KEYMETER_URL right?",
                received.status,
                request_id=received.headers.get("x-request-id"),
                # A proxy in front answers 502, 503 and 504 itself.
                repeatable=received.status >= 500,
            )
        raise self.failure(envelope, received.status, received.headers)


def seconds(header: str | None) -> int | None:
    return int(header) if header is not None and header.isascii() and header.isdigit() and len(header) < 10 else None


def ask(call: Call[T], tries: Tries) -> Program[T]:
    sent = False
    while True:
        # Not in a variable: what reports errors with their variables would show the key.
        received = yield call.send(tries.seconds())
        try:
            return call.result(received)
        except Unavailable as error:
            error.sent = sent = sent or error.sent
            pause = tries.pause(error)
            if pause is None:
                raise
        except Refused as error:
            if sent:
                return call.after_silence(error)
            raise
        yield Sleep(pause)


# --- The calls --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Charge:
    """One of the charges of `charges`. One of `usd` and `quota`, or what the price of `model` is for: counts or `usage`."""

    key: str = field(repr=False)
    usd: Usd | None = None
    quota: int | None = None
    model: str | None = None
    ip: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    units: Mapping[str, float] | None = None
    """Counts by unit, such as `{"input_tokens": 368, "web_searches": 2}`."""
    usage: object | None = field(default=None, repr=False)
    """What the provider says that was used: its whole answer or the usage of it, as its SDK or its API returns it."""
    flavor: str | None = None
    """Of which API of the provider `usage` is, such as `chat`, `responses` or `embeddings`. Found by default."""
    context: Mapping[str, str] | None = None
    """What the price depends on besides the model, such as `{"service_tier": "priority"}`."""
    provider: str | None = None
    """Whose price of the model counts, and whose `usage` it is."""
    request_id: str | None = None


def _body(usd: Usd | None, **fields: object) -> dict[str, object]:
    """Without what is None: absent and null mean the same to Keymeter."""
    fields["usd"] = None if usd is None else usd_text(pico_dollars(usd))
    if fields.get("usage") is not None:
        fields["usage"] = plain(fields["usage"])
    return {name: value for name, value in fields.items() if value is not None}


def _reads(kind: type[T]) -> Callable[[object], T]:
    return lambda data: read(kind, data)


def new_request_id() -> str:
    """Begins with the time: Keymeter finds ids of about the same time faster than ids that are only random."""
    return f"{time.time_ns() // 1_000_000:012x}{token_hex(10)}"


def verify(usd: Usd | None, **fields: object) -> Program[Verification]:
    return ask(Call("verify", _body(usd, **fields), _reads(Verification)), Tries())


def _charge_body(charge: Charge) -> dict[str, object]:
    return _body(
        charge.usd,
        key=charge.key,
        quota=charge.quota,
        model=charge.model,
        ip=charge.ip,
        prompt_tokens=charge.prompt_tokens,
        completion_tokens=charge.completion_tokens,
        cached_tokens=charge.cached_tokens,
        cache_write_tokens=charge.cache_write_tokens,
        units=charge.units,
        usage=charge.usage,
        flavor=charge.flavor,
        context=charge.context,
        provider=charge.provider,
        request_id=charge.request_id or new_request_id(),
    )


def charge(charge: Charge, tries: int = TRIES) -> Program[Charged]:
    return ask(Call("charge", _charge_body(charge), _reads(Charged)), Tries(tries))


def _outcome(data: Mapping[str, Any]) -> Charged | KeymeterError:
    if data["success"] is True:
        return read(Charged, data)
    retry_after = data.get("retry_after")
    return error_of(data, retry_after=retry_after if isinstance(retry_after, int) else None)


def charges(charges: Sequence[Charge]) -> Program[list[Charged | KeymeterError]]:
    """Those that could not be decided are sent again, with the same IDs."""
    bodies = [_charge_body(charge) for charge in charges]
    tries = Tries()
    outcomes: list[Charged | KeymeterError] = []
    undecided = list(range(len(bodies)))
    while True:

        def outcomes_of(data: list[Mapping[str, Any]], count: int = len(undecided)) -> list[Charged | KeymeterError]:
            if len(data) != count:
                raise ValueError("not one outcome for each charge")
            return [_outcome(each) for each in data]

        call = Call("charges", {"charges": [bodies[index] for index in undecided]}, outcomes_of)
        try:
            answer = yield from ask(call, tries)
        except (Unavailable, Refused):
            # What was decided before is not lost.
            if not outcomes:
                raise
            return outcomes
        outcomes = outcomes or list(answer)
        for index, outcome in zip(undecided, answer, strict=True):
            outcomes[index] = outcome
        undecided = [index for index in undecided if isinstance(outcomes[index], Unavailable)]
        first = next((error for error in outcomes if isinstance(error, Unavailable)), None)
        pause = None if first is None else tries.pause(first)
        if pause is None:
            return outcomes
        yield Sleep(pause)


@dataclass(frozen=True)
class Hold:
    """A reservation to be made. The same one, sent again, returns the first reservation."""

    body: Mapping[str, object] = field(repr=False)

    @classmethod
    def of(cls, usd: Usd | None, request_id: str | None = None, **fields: object) -> Hold:
        return cls(_body(usd, request_id=request_id or new_request_id(), **fields))

    def again(self) -> Hold:
        """Another reservation of the same."""
        return Hold({**self.body, "request_id": new_request_id()})


def reserve(hold: Hold, tries: int = TRIES) -> Program[Reservation]:
    return ask(Call("reserve", hold.body, _reads(Reservation)), Tries(tries))


def undo(hold: Hold) -> Program[object]:
    """Releases a reservation whose answer was lost. Nobody knows its ID but Keymeter, which returns it again."""
    reservation = yield from reserve(hold, tries=1)
    return (yield from release(reservation.reservation_id, tries=1))


def extend(reservation_id: str, usd: Usd | None, quota: int | None, ttl_seconds: int | None) -> Program[Extended]:
    body = _body(usd, reservation_id=reservation_id, quota=quota, ttl_seconds=ttl_seconds)
    return ask(Call("extend", body, _reads(Extended)), Tries())


def settle(usd: Usd | None, tries: int = TRIES, **fields: object) -> Program[Settled]:
    return ask(Call("settle", _body(usd, **fields), _reads(Settled)), Tries(tries))


def release(reservation_id: str, tries: int = TRIES) -> Program[Released]:
    return ask(Call("release", {"reservation_id": reservation_id}, _reads(Released)), Tries(tries))
