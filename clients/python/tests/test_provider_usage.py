"""What providers answer, as it came: costs by it with both clients, and what is sent of it."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from keymeter_client import BadRequest, Charge, Charged, Keymeter
from keymeter_client.provider_usage import plain

from .service import Account, Key, Service

# A token in costs a unit of quota.
RATES = {"input_mtok": 2, "cache_read_mtok": 0.2, "output_mtok": 10, "web_searches_kcount": 10}
PRICES = {
    "file": {
        "providers": ["openai", "anthropic", "google"],
        "models": {
            "mine": {"input_mtok": "2", "output_mtok": "10"},
            # That of the settings, which this list replaces.
            "priced-*": {"input_mtok": "2", "output_mtok": "10", "cache_read_mtok": "0.2", "cache_write_mtok": "3"},
        },
    },
    "data": [
        {
            "id": "openai",
            "name": "OpenAI",
            "models": [
                {
                    "id": "gpt",
                    "match": {"starts_with": "gpt"},
                    "prices": RATES,
                    "price_variants": [{"when": {"service_tier": "priority"}, "prices": RATES | {"input_mtok": 4}}],
                }
            ],
            "extractors": [
                {
                    "api_flavor": "embeddings",
                    "root": "usage",
                    "model_path": "model",
                    "mappings": [{"path": "prompt_tokens", "dest": "input_tokens", "required": True}],
                }
            ],
        },
        {
            "id": "anthropic",
            "name": "Anthropic",
            "models": [
                {"id": "claude", "match": {"starts_with": "claude"}, "prices": RATES | {"cache_write_mtok": 2.5}},
            ],
        },
        {
            "id": "google",
            "name": "Google",
            "models": [{"id": "gemini", "match": {"starts_with": "gemini"}, "prices": {"input_mtok": 2, "output_mtok": 10}}],
            "extractors": [
                {
                    "api_flavor": "default",
                    "root": "usageMetadata",
                    "model_path": "modelVersion",
                    "mappings": [
                        {"path": "promptTokenCount", "dest": "input_tokens", "required": False},
                        {"path": "candidatesTokenCount", "dest": "output_tokens", "required": False},
                        {"path": "thoughtsTokenCount", "dest": "output_tokens", "required": False},
                    ],
                }
            ],
        },
    ],
}


class Pydantic:
    """As the objects of SDKs are."""

    def __init__(self, members: Any) -> None:
        self._members = members

    def model_dump(self, *, mode: str, by_alias: bool, exclude_none: bool) -> Any:
        assert (mode, by_alias, exclude_none) == ("json", True, True)
        return self._members


class Older:
    def dict(self) -> dict[str, Any]:
        return {"prompt_tokens": 7, "completion_tokens": 3}


class Googles:
    def to_dict(self) -> dict[str, Any]:
        return {"usageMetadata": {"promptTokenCount": 1}}


CHAT = {
    "object": "chat.completion",
    "model": "gpt-5-2026",
    "choices": [{"message": {"role": "assistant", "content": "x" * 70_000}}],
    "service_tier": "default",
    "usage": {
        "prompt_tokens": 1000,
        "completion_tokens": 10,
        "total_tokens": 1010,
        "prompt_tokens_details": {"cached_tokens": 900},
    },
}
RESPONSE = {
    "model": "gpt-5",
    "service_tier": "priority",
    "output": [{"type": "web_search_call", "id": "ws_1"}, {"type": "message", "content": [{"text": "x" * 70_000}]}],
    "usage": {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110},
}
MESSAGE = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 40}
GEMINI = {
    "candidates": [{"content": {"parts": [{"text": "x" * 70_000}]}}],
    "modelVersion": "gemini-3-pro",
    "usageMetadata": {"promptTokenCount": 120, "candidatesTokenCount": 10, "thoughtsTokenCount": 30},
}
COSTS = [
    ("gpt-5", {"usage": CHAT}, 240),
    ("gpt-5", {"usage": Pydantic(CHAT)}, 240),
    ("gpt-5", {"usage": Pydantic(CHAT["usage"])}, 240),
    ("gpt-5", {"usage": RESPONSE}, 200 + 50 + 5000),
    ("gpt-5", {"usage": CHAT["usage"], "units": {"web_searches": 2}}, 10_240),
    ("gpt-5", {"usage": CHAT["usage"], "context": {"service_tier": "priority"}}, 340),
    ("gpt-5", {"usage": {"prompt_tokens": 8, "total_tokens": 8}, "flavor": "embeddings"}, 8),
    ("claude-5", {"usage": MESSAGE}, 10 + 90 + 50 + 25),
    ("claude-5", {"usage": {"type": "message", "content": [], "model": "claude-5", "usage": Pydantic(MESSAGE)}}, 175),
    ("gemini-3", {"usage": GEMINI}, 120 + 50 + 150),
    ("mine", {"usage": Older()}, 22),
    ("gpt-5", {"prompt_tokens": 7, "completion_tokens": 0, "units": {"web_searches": 1}}, 5007),
    ("mine", {"units": {"input_tokens": 7, "output_tokens": 3}, "provider": "openai"}, 22),
]


@pytest.fixture(scope="module", autouse=True)
def prices(service: Service) -> None:
    service.root("PUT", "/api/admin/prices", PRICES)


@pytest.fixture
def key(account: Account) -> Iterator[Key]:
    key = account.key()
    yield key
    assert all("x" * 100 not in str(charge) for charge in account.charges(key))


@pytest.mark.parametrize(("model", "fields", "cost"), COSTS)
def test_usage_costs_what_its_units_cost(km: Keymeter, key: Key, model: str, fields: dict[str, Any], cost: int) -> None:
    charged = km.charge(key.text, model=model, **fields)
    assert (charged.charged, charged.priced_by, charged.hold_reason) == (cost, "units", None)
    (outcome,) = km.charges([Charge(key=key.text, model=model, **fields)])
    assert isinstance(outcome, Charged)
    assert (outcome.charged, outcome.priced_by) == (cost, "units")
    reservation = km.reserve(key.text, model=model, quota=77_777)
    settled = km.settle(reservation.reservation_id, **fields)
    assert (settled.charged, settled.priced_by, settled.hold_reason) == (cost, "units", None)
    with km.spend(key.text, model=model, quota=77_777) as spend:
        spend.cost(**fields)
    assert spend.settled is not None
    assert (spend.settled.charged, spend.settled.priced_by) == (cost, "units")


def test_units_and_what_prices_depend_on_are_held_and_verified(km: Keymeter, key: Key, account: Account) -> None:
    most: dict[str, Any] = {"model": "gpt-5", "units": {"input_tokens": 100, "web_searches": 1}}
    for context, cost in (({}, 5100), ({"service_tier": "priority"}, 5200)):
        reservation = km.reserve(key.text, context=context, provider="openai", **most)
        assert reservation.reserved == cost
        km.release(reservation.reservation_id)
        with km.spend(key.text, context=context, provider="openai", **most) as spend:
            spend.cost(quota=0)
        assert spend.reservation.reserved == cost
    poor = account.key(5100).text
    assert km.verify(poor, **most).valid
    assert km.verify(poor, context={"service_tier": "priority"}, **most).reason == "token_quota_insufficient"
    assert km.verify(key.text, provider="nobody", **most).reason == "model_not_priced"


def test_usage_that_cannot_be_read_costs_the_hold(km: Keymeter, key: Key) -> None:
    unreadable = {"id": "x", "usage": {"words": 3}}
    with pytest.raises(BadRequest) as error:
        km.charge(key.text, model="gpt-5", usage=unreadable)
    assert error.value.code == "invalid_usage"
    (outcome,) = km.charges([Charge(key=key.text, model="gpt-5", usage=unreadable)])
    assert isinstance(outcome, BadRequest)
    settled = km.settle(km.reserve(key.text, model="gpt-5", quota=777).reservation_id, usage=unreadable)
    assert (settled.charged, settled.priced_by, settled.hold_reason) == (777, "hold", "invalid_usage")
    told = km.settle(km.reserve(key.text, model="gpt-5", quota=777).reservation_id, usage=unreadable, quota=5)
    assert (told.charged, told.priced_by, told.hold_reason) == (5, "told", None)


def test_a_spend_is_charged_the_hold_where_its_settlement_is_refused(km: Keymeter, key: Key) -> None:
    # What is no context.
    fields: dict[str, Any] = {"usage": MESSAGE, "context": {"speed": 1}}
    with km.spend(key.text, model="claude-5", quota=777) as spend:
        spend.cost(**fields)
    assert spend.settled is not None
    assert spend.settled.charged == 777
    with km.spend(key.text, model="claude-5", quota=777) as spend:
        spend.cost(quota=5, **fields)
    assert spend.settled is not None
    assert spend.settled.charged == 5


def test_a_spend_has_one_cost_with_usage(km: Keymeter, key: Key, account: Account) -> None:
    costs: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"usage": MESSAGE}, {"usage": MESSAGE}),
        ({"quota": 1}, {"quota": 1, "units": {"web_searches": 1}}),
    ]
    for first, second in costs:
        with pytest.raises(ValueError, match="the only one"), km.spend(key.text, model="claude-5", quota=777) as spend:
            spend.cost(**first)
            spend.cost(**second)
    assert account.used(key) == 2 * 777


def test_what_is_too_long_is_not_sent(km: Keymeter, key: Key, account: Account) -> None:
    with pytest.raises(ValueError, match="longer than 64 KiB"):
        km.charge(key.text, model="mine", usage={"text": "x" * 70_000})
    with pytest.raises(ValueError, match="longer than 64 KiB"), km.spend(key.text, model="mine", quota=5) as spend:
        spend.cost(usage={"text": "x" * 70_000})
    assert account.used(key) == 5


@pytest.mark.parametrize(
    "usage", [object(), {"usage": {1, 2}}, SimpleNamespace(dict="no method"), float("nan"), Pydantic(b"x")]
)
def test_what_is_no_json_is_not_sent(km: Keymeter, key: Key, account: Account, usage: object) -> None:
    for call in (
        lambda: km.charge(key.text, model="mine", usage=usage),
        lambda: km.charges([Charge(key=key.text, quota=1), Charge(key=key.text, model="mine", usage=usage)]),
        lambda: km.settle("r1.1", usage=usage),
    ):
        with pytest.raises(TypeError, match="usage must be what becomes JSON"):
            call()
    assert account.used(key) == 0
    with pytest.raises(TypeError), km.spend(key.text, model="mine", quota=5) as spend:
        spend.cost(usage=usage)
    assert account.used(key) == 5


def test_of_a_whole_answer_only_what_a_cost_depends_on_is_sent() -> None:
    assert plain(Pydantic(CHAT)) == {name: CHAT[name] for name in ("model", "service_tier", "usage")}
    output = [{"type": "web_search_call"}, {"type": "message"}]
    assert plain(RESPONSE | {"id": "r"}) == RESPONSE | {"output": output}
    assert plain(GEMINI) == {name: GEMINI[name] for name in ("modelVersion", "usageMetadata")}
    assert plain({"usage_metadata": {}, "candidates": []}) == {"usage_metadata": {}}
    assert plain(Googles()) == {"usageMetadata": {"promptTokenCount": 1}}
    assert plain({"usage": {}, "output": "text"}) == {"usage": {}}
    # A usage alone, or an answer with another root.
    for whole in (MESSAGE, {"stats": {"read": 7}, "model": "m", "text": "t"}, "text"):
        assert plain(whole) == whole
    assert plain(plain(RESPONSE)) == plain(RESPONSE)
    assert "x" * 100 not in repr(Charge(key="sk-1", usage=CHAT))
