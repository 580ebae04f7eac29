"""The calls for one's own tokens, without input and output, as in `exchange`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, Literal, TypeVar
from urllib.parse import urlencode

from .answers import OldKey, PeriodLimits, RateLimits, Rotated, Token, read
from .errors import TOKEN_CODES, KeymeterError, NotFound, Refused, TokenChanged, error_of
from .exchange import TRIES, Call, Program, Send, Settings, Tries, ask, new_request_id, seconds

T = TypeVar("T")
Status = Literal[1, 2, 3, 4]
Sort = Literal["id", "name", "remain_quota", "used_quota", "accessed_time", "expired_time"]
Order = Literal["asc", "desc"]
GraceFrom = Literal["first_use", "now"]

# A call may change 1,000 tokens.
TRY_SECONDS: Final = 10.0
TOTAL_SECONDS: Final = 30.0
# The names of models and the addresses of 1,000 tokens.
MAX_ANSWER_BYTES: Final = 32 * 1024 * 1024
PAGE_SIZE: Final = 100
ANY_VERSION: Final = "*"


@dataclass(frozen=True, kw_only=True)
class NewToken:
    """One of the tokens of `create_many`. What is None has its default."""

    name: str
    remain_quota: int | None = None
    unlimited_quota: bool | None = None
    expired_time: int | None = None
    period_limits: PeriodLimits | None = None
    rate_limits: RateLimits | None = None
    model_limits_enabled: bool | None = None
    model_limits: str | Sequence[str] | None = None
    allow_ips: str | Sequence[str] | None = None
    group: str | None = None
    cross_group_retry: bool | None = None
    show_addresses: bool | None = None
    note: str | None = None


def settings(url: str | None, access_token: str | None) -> Settings:
    return Settings(url, access_token, "KEYMETER_ACCESS_TOKEN", "an access token, which Keymeter's dashboard makes")


@dataclass(frozen=True, kw_only=True)
class TokenCall(Call[T]):
    """`path` is below `/api/token/`. `headers` are beside those of the client."""

    method: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def send(self, seconds: float) -> Send:
        body = json.dumps(self.body).encode() if self.body else None
        return Send(f"/api/token/{self.path}", body, seconds, self.method, self.headers, MAX_ANSWER_BYTES)

    def value(self, envelope: Mapping[str, Any], headers: Mapping[str, str]) -> T:
        # Some calls answer no data.
        return self.read(envelope.get("data"))

    def failure(self, envelope: Mapping[str, Any], status: int, headers: Mapping[str, str]) -> KeymeterError:
        # With `http.errors_as_200` the code says the status.
        known = None if status == 200 and envelope["error"] in TOKEN_CODES else status
        retry_after, request_id = seconds(headers.get("retry-after")), headers.get("x-request-id")
        error = error_of(envelope, known, retry_after, request_id, TOKEN_CODES)
        if isinstance(error, TokenChanged):
            error.etag = headers.get("etag", "")
        return error


class OneToken(TokenCall[Token]):
    """Its answer has the version of the token."""

    def value(self, envelope: Mapping[str, Any], headers: Mapping[str, str]) -> Token:
        return replace(super().value(envelope, headers), etag=headers.get("etag", ""))


class Ending(TokenCall[bool]):
    """What is gone after a try without an answer was ended by it."""

    def after_silence(self, error: Refused) -> bool:
        if isinstance(error, NotFound):
            return True
        raise error


class Restoring(TokenCall["Token | None"]):
    """Of a restored token, a second try says that there is no such deleted one."""

    def value(self, envelope: Mapping[str, Any], headers: Mapping[str, str]) -> Token | None:
        token = super().value(envelope, headers)
        return token and replace(token, etag=headers.get("etag", ""))

    def after_silence(self, error: Refused) -> Token | None:
        if isinstance(error, NotFound):
            return None
        raise error


def _ask(call: TokenCall[T]) -> Program[T]:
    return ask(call, Tries(TRIES, TRY_SECONDS, TOTAL_SECONDS))


def _token(data: object) -> Token:
    return read(Token, data)


def _list_of(kind: type[T]) -> Callable[[Any], list[T]]:
    def of(data: object) -> list[T]:
        if not isinstance(data, list):
            raise ValueError("a list was expected")
        return [read(kind, each) for each in data]

    return of


def _done(_: object) -> bool:
    return True


def _named(**values: object) -> dict[str, object]:
    """Without what is None: absent and null mean the same to Keymeter."""
    named = {name: value for name, value in values.items() if value is not None}
    addresses = named.get("allow_ips")
    if addresses is not None and not isinstance(addresses, str):
        assert isinstance(addresses, Sequence)
        named["allow_ips"] = "\n".join(addresses)
    models = named.get("model_limits")
    if models is not None and not isinstance(models, str):
        assert isinstance(models, Sequence)
        named["model_limits"] = list(models)
    return named


def _new(token: NewToken) -> dict[str, object]:
    return _named(**{each.name: getattr(token, each.name) for each in fields(token)})


def _id(number: int) -> str:
    if isinstance(number, bool) or not isinstance(number, int):
        raise ValueError("an ID must be a whole number")
    return str(number)


def _if_match(etag: str) -> dict[str, str]:
    """Without a version, the header has no effect on a token that exists."""
    if etag == ANY_VERSION:
        return {}
    if not isinstance(etag, str) or not etag:
        raise ValueError("if_match has no version, because this token came from a list: read it with get() first")
    return {"If-Match": _header("if_match", etag)}


def _once(key: str | None) -> dict[str, str]:
    """All tries of a call have the same key, so that it is carried out once."""
    return {"Idempotency-Key": _header("idempotency_key", new_request_id() if key is None else key)}


def _header(name: str, value: str) -> str:
    if not 0 < len(value) <= 255 or not all(" " <= character <= "~" for character in value):
        raise ValueError(f"{name} must be 1 to 255 printable ASCII characters")
    return value


# --- The calls --------------------------------------------------------------------------------------------------------


def create(token: NewToken, key: str | None) -> Program[Token]:
    headers = {"Prefer": "return=representation", **_once(key)}
    return _ask(OneToken(path="", method="POST", body=_new(token), read=_token, headers=headers))


def create_many(tokens: Sequence[NewToken], key: str | None) -> Program[list[Token]]:
    body = {"tokens": [_new(token) for token in tokens]}
    return _ask(TokenCall(path="bulk", method="POST", body=body, read=_list_of(Token), headers=_once(key)))


def get(token_id: int) -> Program[Token]:
    return _ask(OneToken(path=f"{_id(token_id)}/details", method="GET", body={}, read=_token))


def reveal(token_id: int) -> Program[str]:
    def key(data: Mapping[str, Any]) -> str:
        return str(data["key"])

    return _ask(TokenCall(path=f"{_id(token_id)}/key", method="POST", body={}, read=key))


def update(token_id: int, if_match: str, key: str | None, **changes: object) -> Program[Token]:
    headers = {**_if_match(if_match), **_once(key)}
    body = {"id": int(_id(token_id)), **_named(**changes)}
    return _ask(OneToken(path="", method="PUT", body=body, read=_token, headers=headers))


def update_many(token_ids: Sequence[int], key: str | None, **changes: object) -> Program[list[Token]]:
    body = {"ids": list(token_ids), "set": _named(**changes)}
    return _ask(TokenCall(path="bulk", method="PATCH", body=body, read=_list_of(Token), headers=_once(key)))


def delete(token_id: int, if_match: str) -> Program[bool]:
    return _ask(Ending(path=_id(token_id), method="DELETE", body={}, read=_done, headers=_if_match(if_match)))


def restore(token_id: int) -> Program[Token]:
    restored = yield from _ask(Restoring(path=f"{_id(token_id)}/restore", method="POST", body={}, read=_token))
    return restored or (yield from get(token_id))


def rotate(token_id: int, grace_seconds: int | None, grace_from: GraceFrom | None, key: str | None) -> Program[Rotated]:
    def rotated(data: Mapping[str, Any]) -> Rotated:
        return replace(read(Rotated, data), old_keys=_list_of(OldKey)(data["old_keys"]))

    body = _named(grace_seconds=grace_seconds, grace_from=grace_from)
    path = f"{_id(token_id)}/rotate"
    return _ask(TokenCall(path=path, method="POST", body=body, read=rotated, headers=_once(key)))


def old_keys(token_id: int, ended: bool) -> Program[list[OldKey]]:
    path = f"{_id(token_id)}/old_keys{'?ended=1' if ended else ''}"
    return _ask(TokenCall(path=path, method="GET", body={}, read=_list_of(OldKey)))


def end_old_key(token_id: int, key_id: int) -> Program[bool]:
    path = f"{_id(token_id)}/old_keys/{_id(key_id)}"
    return _ask(Ending(path=path, method="DELETE", body={}, read=_done))


class Listing:
    """The tokens of a list, page by page, each once.

    If the list becomes shorter meanwhile, for example because the program deletes what it gets, the next page begins with
    tokens that come later. So it goes back as many pages as tokens were lost, and leaves out those that it had before.
    """

    def __init__(self, **filters: object) -> None:
        self._filters = _named(**filters)
        self._page = 1
        self._total = 0
        self._seen: set[int] = set()
        self.complete = False

    def next(self) -> Program[list[Token]]:
        """Those of the next page that are new. There may be none although the list goes on: see `complete`."""
        query = urlencode({**self._filters, "p": self._page, "page_size": PAGE_SIZE})
        total, tokens = yield from _ask(TokenCall(path=f"?{query}", method="GET", body={}, read=_page))
        lost = self._total - total
        self._total = total
        if lost > 0 and self._page > 1:
            self._page = max(1, self._page + lost // -PAGE_SIZE)
            return []
        self._page += 1
        self.complete = len(tokens) < PAGE_SIZE
        new = [token for token in tokens if token.id not in self._seen]
        self._seen.update(token.id for token in new)
        return new


def _page(data: Mapping[str, Any]) -> tuple[int, list[Token]]:
    return int(data["total"]), _list_of(Token)(data["items"])
