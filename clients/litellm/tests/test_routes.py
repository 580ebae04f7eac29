"""Each route that is metered charges what LiteLLM says it cost; all others are refused."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import anthropic
import httpx
import openai
import pytest
from conftest import client, cost, plan
from programs import MASTER_KEY, Key, LiteLLM, eventually, quota

TEXT = json.dumps({"prompt_tokens": 1234, "completion_tokens": 321})
COST = cost(1234, 321)


def test_a_whole_answer_is_charged_what_the_proxy_reports(proxy: LiteLLM, key: Key) -> None:
    answer = client(key, proxy).chat.completions.with_raw_response.create(
        model="chat", messages=plan(prompt_tokens=1234, completion_tokens=321)
    )
    assert answer.parse().choices[0].message.content == "hello"
    assert Decimal(answer.headers["x-litellm-response-cost"]) == COST
    key.settled(COST)
    charge = key.charges()[0]
    assert (charge["model_name"], charge["prompt_tokens"], charge["completion_tokens"]) == ("chat", 1234, 321)


def test_a_streamed_answer_is_charged(proxy: LiteLLM, key: Key) -> None:
    stream = client(key, proxy).chat.completions.create(
        model="chat",
        messages=plan(prompt_tokens=1234, completion_tokens=321),
        stream=True,
        stream_options={"include_usage": True},
    )
    assert sum(1 for _ in stream) > 5
    key.settled(COST)


ROUTES: list[tuple[str, dict[str, Any], Decimal]] = [
    ("/v1/chat/completions", {"model": "chat", "messages": [{"role": "user", "content": TEXT}]}, COST),
    ("/chat/completions", {"model": "chat", "messages": [{"role": "user", "content": TEXT}]}, COST),
    ("/openai/deployments/chat/chat/completions", {"messages": [{"role": "user", "content": TEXT}]}, COST),
    ("/engines/chat/chat/completions", {"messages": [{"role": "user", "content": TEXT}]}, COST),
    ("/v1/completions", {"model": "text", "prompt": TEXT}, COST),
    ("/v1/embeddings", {"model": "embedding", "input": TEXT}, cost(1234, 0)),
    ("/v1/responses", {"model": "chat", "input": TEXT}, COST),
    ("/openai/v1/responses", {"model": "chat", "input": TEXT}, COST),
    ("/engines/text/completions", {"prompt": TEXT}, COST),
    ("/openai/deployments/embedding/embeddings", {"input": TEXT}, cost(1234, 0)),
    ("/v1/messages", {"model": "claude", "max_tokens": 400, "messages": [{"role": "user", "content": TEXT}]}, COST),
    ("/v1/images/generations", {"model": "image", "prompt": "a cat", "n": 2}, Decimal("0.08")),
    ("/v1/audio/speech", {"model": "speech", "input": "twenty characters...", "voice": "alloy"}, Decimal("0.0003")),
    ("/v1/rerank", {"model": "rerank", "query": "a", "documents": ["b", "c"]}, Decimal("0.002")),
    ("/v2/rerank", {"model": "rerank", "query": "a", "documents": ["b", "c"]}, Decimal("0.002")),
    ("/models/gemini:streamGenerateContent", {"contents": [{"role": "user", "parts": [{"text": TEXT}]}]}, COST),
    ("/v1beta/models/gemini:generateContent", {"contents": [{"role": "user", "parts": [{"text": TEXT}]}]}, COST),
    # Of other providers, which LiteLLM asks by their own API. Before 1.108 it reported no such stream.
    ("/models/chat:streamGenerateContent", {"contents": [{"role": "user", "parts": [{"text": TEXT}]}]}, COST),
    ("/models/claude:streamGenerateContent", {"contents": [{"role": "user", "parts": [{"text": TEXT}]}]}, COST),
    ("/v1beta/models/chat:generateContent", {"contents": [{"role": "user", "parts": [{"text": TEXT}]}]}, COST),
]


@pytest.mark.parametrize(("path", "body", "usd"), ROUTES, ids=[path for path, _, _ in ROUTES])
def test_each_route_is_charged(http: httpx.Client, key: Key, path: str, body: dict[str, Any], usd: Decimal) -> None:
    answer = http.post(path, json=body)
    assert answer.status_code == 200, answer.text
    key.settled(usd)


def test_an_edited_image_is_charged(http: httpx.Client, key: Key) -> None:
    answer = http.post(
        "/v1/images/edits", data={"model": "image", "prompt": "a cat"}, files={"image": ("a.png", b"png", "image/png")}
    )
    assert answer.status_code == 200, answer.text
    key.settled("0.04")


def test_a_transcription_is_charged(http: httpx.Client, key: Key) -> None:
    answer = http.post(
        "/v1/audio/transcriptions", data={"model": "transcription"}, files={"file": ("a.wav", wav(), "audio/wav")}
    )
    assert answer.status_code == 200, answer.text
    key.settled(Decimal(answer.headers["x-litellm-response-cost"]))
    assert key.charges()


def test_a_sound_that_litellm_cannot_read_is_not_free(http: httpx.Client, key: Key) -> None:
    """It costs the hold, which is by its size at the lowest bitrate; or by the seconds that the provider counts."""
    sound = {"file": ("a.m4a", b"\0" * 49_500, "audio/mp4")}
    assert http.post("/v1/audio/transcriptions", data={"model": "transcription"}, files=sound).status_code == 200
    key.settled(SECOND * 100)
    counted = http.post("/v1/audio/transcriptions", data={"model": "transcription", "prompt": "counted"}, files=sound)
    assert counted.status_code == 200
    key.settled(SECOND * 100, SECOND * 2)


# Of whisper-1, in LiteLLM's list.
SECOND = Decimal("0.0001")


def wav() -> bytes:
    """Two seconds of silence."""
    import io
    import wave

    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(b"\0\0" * 16000)
    return buffer.getvalue()


def test_a_moderation_with_a_price_is_charged(http: httpx.Client, key: Key) -> None:
    """LiteLLM says that it costs nothing."""
    answer = http.post("/v1/moderations", json={"model": "moderation", "input": "a cat " * 1000})
    assert answer.status_code == 200, answer.text
    eventually(lambda: key.charges())
    assert quota(cost(1000, 0)) < key.now()["used_quota"] < quota(cost(3000, 0))


def test_streams_of_other_routes_are_charged(proxy: LiteLLM, key: Key) -> None:
    assert sum(1 for _ in client(key, proxy).responses.create(model="chat", input=TEXT, stream=True)) > 5
    key.settled(COST)
    with anthropic.Anthropic(api_key=key.secret, base_url=proxy.url, max_retries=0).messages.stream(
        model="claude", max_tokens=400, messages=[{"role": "user", "content": TEXT}]
    ) as messages:
        assert sum(1 for _ in messages) > 5
    key.settled(COST, COST)


def test_free_routes_need_a_key_and_cost_nothing(http: httpx.Client, key: Key, proxy: LiteLLM) -> None:
    models = http.get("/v1/models")
    assert models.status_code == 200, models.text
    assert "chat" in [each["id"] for each in models.json()["data"]]
    counted = http.post("/v1/messages/count_tokens", json={"model": "chat", "messages": [{"role": "user", "content": "a cat"}]})
    assert counted.status_code == 200, counted.text
    for path in ("/v1/models", "/model/info"):
        with pytest.raises(openai.AuthenticationError):
            client("sk-nobody", proxy).get(path.removeprefix("/v1"), cast_to=object)
    key.disable()
    refused = http.get("/v1/models")
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "token_disabled")
    key.settled()


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/threads"),
        ("POST", "/v1/threads/t/runs"),
        ("POST", "/v1/batches"),
        ("POST", "/v1/files"),
        ("POST", "/openai/v1/chat/completions"),
        ("POST", "/openai/chat/completions"),
        ("POST", "/anthropic/v1/messages"),
        ("POST", "/gemini/v1beta/models/gemini:generateContent"),
        ("POST", "/v1/realtime/client_secrets"),
        ("GET", "/v1/responses/resp_1"),
        ("POST", "/v1/responses/compact"),
        ("POST", "/queue/chat/completions"),
        ("POST", "/key/generate"),
        ("GET", "/config/yaml"),
        ("POST", "/model/new"),
    ],
)
def test_other_routes_are_refused(http: httpx.Client, method: str, path: str) -> None:
    answer = http.request(method, path, json={"model": "chat"} if method == "POST" else None)
    assert answer.status_code == 403, answer.text
    assert answer.json()["error"]["code"] == "not_metered"
    assert answer.headers["x-should-retry"] == "false"


def test_the_master_key_administers_and_asks_no_model(proxy: LiteLLM) -> None:
    with httpx.Client(base_url=proxy.url, headers={"Authorization": f"Bearer {MASTER_KEY}"}) as master:
        assert master.get("/v1/models").status_code == 200
        assert master.get("/config/yaml").status_code != 403
        for path in ("/v1/chat/completions", "/v1/threads", "/v1/batches"):
            refused = master.post(path, json={"model": "chat", "messages": plan()})
            assert (refused.status_code, refused.json()["error"]["code"]) == (403, "not_metered")
