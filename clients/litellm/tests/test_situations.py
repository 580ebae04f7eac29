"""How a request can go, and that it is charged what LiteLLM reports, to the unit."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import httpx
import litellm
import openai
import pytest
from conftest import COMPLETION_USD, PROMPT_USD, Proxies, client, cost, plan
from programs import Key, Keymeter, LiteLLM, Upstream, eventually, quota
from refused_keys import of_a_poor_owner


@pytest.fixture(scope="module")
def special(folder: object, upstream: Upstream, keymeter: Keymeter) -> object:
    """With a cache, retries, a markup and a price for what has none; holds are short."""
    from pathlib import Path

    assert isinstance(folder, Path)
    made = Proxies(folder, upstream, keymeter)
    more = "cache: true\n  cache_params: {type: local}"
    yield made.start(
        more=more,
        retries=2,
        LITELLM_KEYMETER_MARKUP="1.37",
        LITELLM_KEYMETER_UNPRICED_USD="0.01",
        LITELLM_KEYMETER_TTL_SECONDS="8",
        LITELLM_KEYMETER_MAX_TOKENS="100",
    )
    made.stop()


MARKUP = Decimal("1.37")


def test_an_answer_of_the_cache_costs_nothing(special: LiteLLM, key: Key, upstream: Upstream) -> None:
    messages = plan(id=key.name)
    for _ in range(2):
        answer = client(key, special).chat.completions.create(model="chat", messages=messages)
        assert answer.choices[0].message.content == "hello"
        eventually(lambda: key.charges() and key.held() == 0)
    assert upstream.calls()[f"id {key.name}"] == 1
    assert special.reported(key, 2) == [cost(), 0]
    key.settled(cost() * MARKUP, 0)
    assert len(key.charges()) == 2


def test_a_part_of_the_cache_does_not_make_the_rest_free(special: LiteLLM, key: Key) -> None:
    known = json.dumps({"prompt_tokens": 1000, "name": key.name})
    client(key, special).embeddings.create(model="embedding", input=[known])
    client(key, special).embeddings.create(model="embedding", input=[known, f"new {key.name}"])
    eventually(lambda: len(key.charges()) == 2 and not key.held())
    assert key.now()["used_quota"] > quota(cost(1000, 0) * MARKUP)


def test_an_answer_after_a_retry_is_charged_once(special: LiteLLM, key: Key, upstream: Upstream) -> None:
    client(key, special).chat.completions.create(model="chat", messages=plan(id=key.name, fail_first=1))
    assert upstream.calls()[f"id {key.name}"] == 2
    key.settled(cost() * MARKUP)
    assert special.reported(key, 1) == [cost()]


def test_an_answer_of_a_configured_fallback_is_charged(proxy: LiteLLM, key: Key, upstream: Upstream) -> None:
    client(key, proxy).chat.completions.create(model="falls-back", messages=plan(id=key.name, fail_models=["falls-back"]))
    assert upstream.calls()[f"id {key.name}"] == 2
    key.settled(*proxy.reported(key, 1))
    assert proxy.reports(key) == [cost()]


def test_when_all_attempts_fail_the_hold_is_released(special: LiteLLM, key: Key, upstream: Upstream) -> None:
    with pytest.raises(openai.InternalServerError):
        client(key, special).chat.completions.create(model="chat", messages=plan(id=key.name, status=500))
    assert upstream.calls()[f"id {key.name}"] == 3
    key.settled()
    assert key.charges() == []


@pytest.mark.parametrize("status", [400, 401, 404, 429, 503])
def test_each_failure_of_the_provider_releases(proxy: LiteLLM, key: Key, status: int) -> None:
    with pytest.raises(openai.APIStatusError):
        client(key, proxy).chat.completions.create(model="chat", messages=plan(status=status))
    key.settled()


def test_a_stream_that_breaks_is_charged_its_part(proxy: LiteLLM, key: Key) -> None:
    with pytest.raises(openai.APIError):  # noqa: PT012
        stream = client(key, proxy).chat.completions.create(
            model="chat", messages=plan(chunks=10, break_after=4, delay=0.05), stream=True
        )
        for _ in stream:
            pass
    reported = proxy.reported(key, 1)
    assert 0 < reported[0] < cost(1000, 20)
    key.settled(*reported)


def test_a_request_whose_end_is_not_reported_is_charged_its_hold(proxies: Proxies, key: Key) -> None:
    callbacks = "[forgetful.forgetful, keymeter_litellm.plugin, recorder.recorder]"
    proxy = proxies.start(callbacks=callbacks, LITELLM_KEYMETER_TTL_SECONDS="8")
    messages = plan(note="forget this")
    client(key, proxy).chat.completions.create(model="chat", messages=messages, max_tokens=300)
    assert key.held() > 0
    prompt = litellm.token_counter(model="openai/chat", messages=messages)
    key.settled(cost(prompt, 300))
    assert proxy.reports(key) == []


def test_a_client_that_leaves_a_plain_call_pays_all(proxy: LiteLLM, key: Key) -> None:
    with pytest.raises(openai.APITimeoutError):
        client(key, proxy).with_options(timeout=1).chat.completions.create(model="chat", messages=plan(wait=3))
    assert key.held() > 0
    key.settled(cost())
    assert proxy.reports(key) == [cost()]


def test_a_model_without_a_price_is_refused_before_the_call(proxy: LiteLLM, key: Key, upstream: Upstream) -> None:
    for model in ("unpriced", "nobody-knows-this-model", "gpt-4o"):
        with pytest.raises(openai.PermissionDeniedError) as refused:
            client(key, proxy).chat.completions.create(model=model, messages=plan())
        assert refused.value.code == "model_not_priced"
        assert refused.value.type == "permission_error"
    assert "nobody-knows-its-price" not in upstream.calls()
    key.settled()


def test_a_model_without_a_price_may_have_a_flat_one(special: LiteLLM, key: Key) -> None:
    client(key, special).chat.completions.create(model="unpriced", messages=plan())
    with pytest.raises(openai.InternalServerError):
        client(key, special).chat.completions.create(model="unpriced", messages=plan(status=500))
    key.settled("0.01")


def test_a_fallback_without_a_price_is_never_free(proxy: LiteLLM, special: LiteLLM, keymeter: Keymeter) -> None:
    one, two = keymeter.key(), keymeter.key()
    messages = plan(fail_models=["falls-back"], completion_tokens=1)
    client(one, proxy).chat.completions.create(model="falls-to-unpriced", messages=messages, max_tokens=1000)
    # Nobody knows what it cost: all that was held.
    prompt = litellm.token_counter(model="openai/falls-back", messages=messages)
    one.settled(cost(prompt, 1000))
    client(two, special).chat.completions.create(model="falls-to-unpriced", messages=messages)
    two.settled("0.01")


def test_a_model_that_costs_nothing_needs_no_quota(proxy: LiteLLM, key: Key, keymeter: Keymeter) -> None:
    client(key, proxy).chat.completions.create(model="free", messages=plan())
    key.settled(0)
    used_up = keymeter.key("0.0001")
    # It costs more than is held, and so all that the key has.
    client(used_up, proxy).chat.completions.create(model="chat", messages=plan(), max_tokens=1)
    used_up.settled("0.0001")
    for poor in (used_up, keymeter.key("0"), of_a_poor_owner(keymeter)):
        client(poor, proxy).chat.completions.create(model="free", messages=plan())
        with pytest.raises(openai.APIStatusError) as refused:
            client(poor, proxy).chat.completions.create(model="chat", messages=plan())
        assert refused.value.status_code == 402


def test_a_model_that_costs_nothing_and_falls_back_to_a_dear_one(proxy: LiteLLM, key: Key, keymeter: Keymeter) -> None:
    fails = {"fail_models": ["falls-back"]}
    client(key, proxy).chat.completions.create(model="free-falls-back", messages=plan(**fails))
    key.settled(cost())
    with pytest.raises(openai.APIStatusError) as refused:
        client(keymeter.key("0"), proxy).chat.completions.create(model="free-falls-back", messages=plan(**fails))
    assert refused.value.status_code == 402


def test_limits_of_requests_hold_for_a_model_that_costs_nothing(proxy: LiteLLM, keymeter: Keymeter) -> None:
    for limits in ({"concurrency": 0}, {"requests_per_minute": 0}):
        key = keymeter.key(rate_limits=limits)
        with pytest.raises(openai.RateLimitError):
            client(key, proxy).chat.completions.create(model="free", messages=plan())
    with pytest.raises(openai.PermissionDeniedError):
        client(keymeter.key(model_limits_enabled=True, model_limits="chat"), proxy).chat.completions.create(
            model="free", messages=plan()
        )


@pytest.mark.parametrize(
    "extra",
    [
        {"fallbacks": ["other"]},
        {"fallbacks": [{"model": "other"}]},
        {"fallbacks": [{"chat": ["other"]}]},
        {"context_window_fallbacks": [{"chat": ["other"]}]},
        {"content_policy_fallbacks": [{"chat": ["other"]}]},
        {"router_settings_override": {"fallbacks": [{"chat": ["other"]}], "num_retries": 3}},
        {"num_retries": 3},
    ],
)
def test_a_client_chooses_no_fallbacks_and_no_retries(
    proxy: LiteLLM, key: Key, upstream: Upstream, extra: dict[str, object]
) -> None:
    status = 400 if "policy" in str(extra) or "window" in str(extra) else 500
    with pytest.raises(openai.APIStatusError):
        client(key, proxy).chat.completions.create(model="chat", messages=plan(id=key.name, status=status), extra_body=extra)
    with pytest.raises(openai.APIStatusError):
        client(key, proxy, default_headers={"x-litellm-num-retries": "3"}).chat.completions.create(
            model="chat", messages=plan(id=key.name, status=500)
        )
    assert upstream.calls()[f"id {key.name}"] == 2
    assert "other" not in upstream.calls()
    key.settled()


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/responses", {"model": "chat", "input": "a", "background": True}),
        ("/v1/chat/completions", {"model": "chat,other", "messages": [{"role": "user", "content": "a"}]}),
        ("/v1/chat/completions", {"model": "chat, other", "fastest_response": True, "messages": []}),
    ],
)
def test_what_cannot_be_metered_is_refused(http: httpx.Client, key: Key, path: str, body: object) -> None:
    refused = http.post(path, json=body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "not_metered")
    key.settled()


def test_a_request_without_a_model_is_refused(http: httpx.Client, key: Key) -> None:
    refused = http.post("/v1/chat/completions", json={"messages": [{"role": "user", "content": "a"}]})
    assert refused.status_code == 400
    key.settled()


def test_a_request_that_nobody_may_log_is_charged(proxy: LiteLLM, key: Key) -> None:
    header = {"x-litellm-disable-callbacks": "keymeter_litellm.plugin,custom"}
    client(key, proxy).chat.completions.create(
        model="chat",
        messages=plan(),
        extra_body={"no-log": True, "callbacks": [], "litellm_disabled_callbacks": ["plugin"]},
        extra_headers=header,
    )
    key.settled(cost())


def test_four_requests_with_one_call_id_are_four_charges(proxy: LiteLLM, keymeter: Keymeter) -> None:
    keys = [keymeter.key(), keymeter.key()]

    def send(number: int) -> None:
        client(keys[number % 2], proxy, default_headers={"x-litellm-call-id": "the-same"}).chat.completions.create(
            model="chat", messages=plan(prompt_tokens=100 + number, wait=0.5)
        )

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(send, range(4)))
    keys[0].settled(cost(100), cost(102))
    keys[1].settled(cost(101), cost(103))


def while_it_runs(proxy: LiteLLM, key: Key, **options: object) -> int:
    """What is held while a request with these options is under way."""
    body = {"model": "chat", **options}
    thread = threading.Thread(
        target=lambda: httpx.post(
            f"{proxy.url}/v1/chat/completions", json=body, headers={"Authorization": f"Bearer {key.secret}"}, timeout=30
        )
    )
    thread.start()
    held: int = eventually(key.held, 10)
    thread.join()
    return held


def test_the_hold_is_the_most_that_the_request_may_cost(proxy: LiteLLM, special: LiteLLM, keymeter: Keymeter) -> None:
    messages = plan(wait=2)
    prompt = litellm.token_counter(model="openai/chat", messages=messages)
    expected = [
        (proxy, {"max_tokens": 700}, cost(prompt, 700)),
        (proxy, {"max_completion_tokens": 300, "n": 3}, cost(prompt, 900)),
        (proxy, {"max_completion_tokens": 1, "max_tokens": 600}, cost(prompt, 600)),
        (proxy, {"max_output_tokens": 1, "maxOutputTokens": 1}, cost(prompt, 4096)),
        (proxy, {}, cost(prompt, 4096)),
        # The dearest of two deployments.
        (proxy, {"model": "pair", "max_tokens": 10}, cost(prompt, 10) * 10),
        # The dearest fallback.
        (proxy, {"model": "falls-to-pair", "max_tokens": 10}, cost(prompt, 10) * 10),
        # With a markup and another default.
        (special, {"model": "pair"}, cost(prompt, 100) * 10 * MARKUP),
    ]
    with ThreadPoolExecutor(len(expected)) as pool:
        held = pool.map(lambda row: while_it_runs(row[0], keymeter.key(), messages=messages, **row[1]), expected)
        assert list(held) == [quota(usd) for _, _, usd in expected]


def test_a_cost_beyond_the_hold_takes_what_is_left(proxy: LiteLLM, keymeter: Keymeter) -> None:
    key = keymeter.key("0.001")
    messages = plan(completion_tokens=10_000)
    client(key, proxy).chat.completions.create(model="chat", messages=messages, max_tokens=10)
    key.settled("0.001")
    assert key.now()["remain_quota"] == 0


def test_the_hold_of_a_long_stream_is_renewed(special: LiteLLM, key: Key) -> None:
    stream = client(key, special).chat.completions.create(model="chat", messages=plan(chunks=14, delay=1), stream=True)
    started, held = time.monotonic(), []
    for _ in stream:
        held.append(key.held())
    assert time.monotonic() - started > 12
    # The report of the last chunks overlaps the settlement.
    assert len(held) > 10
    assert all(held[:10])
    key.settled(*(each * MARKUP for each in special.reported(key, 1)))


def test_the_address_is_that_of_the_connection(proxy: LiteLLM, keymeter: Keymeter) -> None:
    key = keymeter.key(allow_ips="127.0.0.9")

    def status(source: str, forwarded: str | None = None) -> tuple[int, str | None]:
        headers = {"Authorization": f"Bearer {key.secret}"} | ({"X-Forwarded-For": forwarded} if forwarded else {})
        with httpx.Client(transport=httpx.HTTPTransport(local_address=source), headers=headers, timeout=30) as sender:
            answer = sender.post(f"{proxy.url}/v1/chat/completions", json={"model": "chat", "messages": plan()})
        return answer.status_code, (answer.json().get("error") or {}).get("code")

    assert status("127.0.0.9") == (200, None)
    assert status("127.0.0.5") == (403, "ip_not_allowed")
    # A forged header. uvicorn believes only 127.0.0.1.
    assert status("127.0.0.5", "127.0.0.9") == (403, "ip_not_allowed")
    assert status("127.0.0.1", "127.0.0.9") == (200, None)
    assert status("127.0.0.1", "nobody") == (403, "ip_not_allowed")
    key.settled(cost(), cost())


def test_forty_at_once_with_quota_for_five(proxy: LiteLLM, keymeter: Keymeter, upstream: Upstream) -> None:
    messages = plan(prompt_tokens=20, completion_tokens=100, wait=1)
    prompt = litellm.token_counter(model="openai/chat", messages=messages)
    text = json.loads(messages[0]["content"]) | {"prompt_tokens": prompt}
    messages[0]["content"] = json.dumps(text)
    assert litellm.token_counter(model="openai/chat", messages=messages) == prompt
    # Each costs exactly what was held.
    each = quota(cost(prompt, 100))
    key = keymeter.key()
    key.edit(remain_quota=each * 5)
    before = upstream.calls().get("chat", 0)

    def send(_: int) -> int:
        try:
            client(key, proxy).chat.completions.create(model="chat", messages=messages, max_tokens=100)
        except openai.APIStatusError as error:
            return error.status_code
        return 200

    with ThreadPoolExecutor(40) as pool:
        statuses = list(pool.map(send, range(40)))
    assert (statuses.count(200), statuses.count(402)) == (5, 35)
    key.settled(*[cost(prompt, 100)] * 5)
    assert key.now()["remain_quota"] == 0
    assert upstream.calls()["chat"] == before + 5


def test_prices_are_those_of_the_configuration() -> None:
    assert cost(1, 0) == PROMPT_USD
    assert cost(0, 1) == COMPLETION_USD


def test_speech_is_not_charged_for_its_text_alone(http: httpx.Client, key: Key) -> None:
    answer = http.post("/v1/audio/speech", json={"model": "voice", "voice": "alloy", "input": "the cat sat. " * 300})
    assert answer.status_code == 200, answer.text
    eventually(lambda: key.charges() and not key.held())
    # About four minutes of sound.
    assert key.now()["used_quota"] > quota(Decimal("0.00025") * 240)
