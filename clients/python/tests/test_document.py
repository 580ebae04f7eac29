"""The client knows every field and every error code of the gateway calls in the OpenAPI document."""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import Iterator
from typing import Any

import pytest

from keymeter_client import (
    AsyncKeymeter,
    AsyncKeymeterTokens,
    Charge,
    Charged,
    Extended,
    Keymeter,
    KeymeterTokens,
    NewToken,
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
    spending,
)
from keymeter_client.amounts import PICO, PICO_PER_QUOTA
from keymeter_client.errors import CODES, TOKEN_CODES, Unavailable

from .conftest import ROOT

DOCUMENT: dict[str, Any] = json.loads((ROOT / "dashboard/openapi.json").read_text())
CALLS = {
    path.removeprefix("/api/gateway/"): operations["post"]
    for path, operations in DOCUMENT["paths"].items()
    if path.startswith("/api/gateway/") and "post" in operations
}
ANSWERS: dict[str, type] = {
    "verify": Verification,
    "charge": Charged,
    "charges": Charged,
    "reserve": Reservation,
    "extend": Extended,
    "settle": Settled,
    "release": Released,
}
# What a failure has beside its code: the figures of LimitExceeded, and which of many tokens is the reason.
FIGURES = {"success", "error", "message", "code", "period", "limit", "used", "resets_at", "retry_after"}
PLACE = {"index", "id"}
# The calls for one's own tokens, and what they are in the document.
TOKEN_CALLS: dict[str, tuple[str, str]] = {
    "create": ("post", "/api/token/"),
    "create_many": ("post", "/api/token/bulk"),
    "get": ("get", "/api/token/{id}/details"),
    "reveal": ("post", "/api/token/{id}/key"),
    "list": ("get", "/api/token/"),
    "update": ("put", "/api/token/"),
    "update_many": ("patch", "/api/token/bulk"),
    "delete": ("delete", "/api/token/{id}"),
    "restore": ("post", "/api/token/{id}/restore"),
    "rotate": ("post", "/api/token/{id}/rotate"),
    "old_keys": ("get", "/api/token/{id}/old_keys"),
    "end_old_key": ("delete", "/api/token/{id}/old_keys/{key_id}"),
}
# Names of the same fields for one-api.
ALIASES = {"models", "subnet"}


def resolve(schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def fields(schema: dict[str, Any]) -> set[str]:
    """The names of the members, also of the alternatives and parts that a schema is made of."""
    schema = resolve(schema)
    parts = [part for word in ("allOf", "oneOf", "anyOf") for part in schema.get(word, [])]
    return set(schema.get("properties", {})).union(*(fields(part) for part in parts))


def codes(operation: dict[str, Any]) -> Iterator[tuple[str, int]]:
    for status, answer in operation["responses"].items():
        if status != "200":
            parts = answer["content"]["application/json"]["schema"]["allOf"]
            for code in next(part["properties"]["error"]["enum"] for part in parts if "properties" in part):
                yield code, int(status)


def parameters(call: str, client: type) -> set[str]:
    if call == "charges":
        return {field.name for field in dataclasses.fields(Charge)}
    return set(inspect.signature(getattr(client, call)).parameters) - {"self"}


def test_the_client_has_every_call() -> None:
    assert set(CALLS) == set(ANSWERS)


@pytest.mark.parametrize("call", CALLS)
def test_a_call_has_every_field_of_its_body(call: str) -> None:
    body = CALLS[call]["requestBody"]["content"]["application/json"]["schema"]
    if call == "charges":
        assert fields(body) == {"charges"}
        body = resolve(body)["properties"]["charges"]["items"]
    for client in (Keymeter, AsyncKeymeter):
        assert fields(body) == parameters(call, client)


@pytest.mark.parametrize("call", CALLS)
def test_an_answer_has_every_field(call: str) -> None:
    data = resolve(CALLS[call]["responses"]["200"]["content"]["application/json"]["schema"])["properties"]["data"]
    known = {field.name for field in dataclasses.fields(ANSWERS[call])}
    if call == "charges":
        assert fields(data["items"]) == known | (FIGURES - {"code"})
    else:
        assert fields(data) == known


@pytest.mark.parametrize("call", CALLS)
def test_every_error_code_has_its_error(call: str) -> None:
    for code, status in codes(CALLS[call]):
        known_status, kind = CODES[code]
        assert known_status == status, code
        assert (kind is Unavailable) == (status >= 500), code


def test_no_error_code_is_known_that_no_call_answers() -> None:
    assert set(CODES) == {code for call in CALLS.values() for code, _ in codes(call)}


def test_a_failure_has_no_field_that_the_errors_lack() -> None:
    # `faults` is of a call of administrators.
    assert fields({"$ref": "#/components/schemas/Failure"}) <= FIGURES | PLACE | {"faults"}


def named(name: str) -> set[str]:
    return fields({"$ref": f"#/components/schemas/{name}"})


@pytest.mark.parametrize("client", [KeymeterTokens, AsyncKeymeterTokens])
def test_a_token_has_every_field_when_it_is_made_and_changed(client: type) -> None:
    bulk = {"tokens"} == named("BulkCreateBody") and {"ids", "set"} == named("BulkChangeBody")
    assert bulk
    made, changed = named("CreateBody") - ALIASES, named("UpdateBody") - ALIASES
    assert parameters("create", client) == made | {"idempotency_key"}
    assert {field.name for field in dataclasses.fields(NewToken)} == made
    # `status` is read from `update_many` only.
    own = {"token_id", "if_match", "idempotency_key"}
    assert parameters("update", client) == (changed - {"id", "status"}) | own
    assert parameters("update_many", client) == (changed - {"id"}) | {"token_ids", "idempotency_key"}
    assert parameters("rotate", client) == named("RotateBody") | {"token_id", "idempotency_key"}
    query = {each["name"] for each in DOCUMENT["paths"]["/api/token/"]["get"]["parameters"]}
    assert parameters("list", client) == query - {"deleted", "p", "size", "page_size", "ps"}


def test_what_is_answered_about_tokens_has_every_field() -> None:
    for kind, name in ((Token, "TokenBody"), (OldKey, "OldKeyBody"), (Rotated, "RotatedBody")):
        assert {field.name for field in dataclasses.fields(kind)} - {"etag"} == named(name) - ALIASES
    for limits, name in ((PeriodLimits, "PeriodLimitsBody"), (RateLimits, "RateLimitsBody")):
        assert set(limits.__annotations__) == named(name)
    assert set(PeriodUsage.__annotations__) == named("PeriodUsageBody")
    assert set(PeriodUse.__annotations__) == named("PeriodBody")


def test_every_error_code_of_a_call_for_tokens_has_its_error() -> None:
    found: dict[str, int] = {}
    for method, path in TOKEN_CALLS.values():
        found |= dict(codes(DOCUMENT["paths"][path][method]))
    assert {code: status for code, (status, _) in TOKEN_CODES.items()} == found
    assert {code for code, (_, kind) in TOKEN_CODES.items() if kind is Unavailable} == {
        code for code, status in found.items() if status >= 500
    }


def test_the_unit_of_quota_and_the_longest_hold_are_those_of_the_service() -> None:
    limits = DOCUMENT["x-limits"]
    assert limits["quota_per_usd"] * PICO_PER_QUOTA == PICO
    assert limits["reservation_seconds"] > spending.DEFAULT_TTL_SECONDS
