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
    Charge,
    Charged,
    Extended,
    Keymeter,
    Released,
    Reservation,
    Settled,
    Verification,
    spending,
)
from keymeter_client.amounts import PICO, PICO_PER_QUOTA
from keymeter_client.errors import CODES, Unavailable

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
# What a failure has beside its code: the figures of LimitExceeded.
FIGURES = {"success", "error", "message", "code", "period", "limit", "used", "resets_at", "retry_after"}


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
    assert fields({"$ref": "#/components/schemas/Failure"}) <= FIGURES


def test_the_unit_of_quota_and_the_longest_hold_are_those_of_the_service() -> None:
    limits = DOCUMENT["x-limits"]
    assert limits["quota_per_usd"] * PICO_PER_QUOTA == PICO
    assert limits["reservation_seconds"] > spending.DEFAULT_TTL_SECONDS
