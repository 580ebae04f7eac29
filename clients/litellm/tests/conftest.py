"""Needs KEYMETER_PROGRAM, a built keymeter, and DATABASE_URL, an empty PostgreSQL database: scripts/gateways.sh gives both, and
KEYMETER_RUNNING, the port of a Keymeter on that database. Without it, one is started."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from fixtures import folder, plan, pytest_collection_modifyitems, running_keymeter, upstream
from programs import Key, Keymeter, LiteLLM, Upstream

__all__ = ["folder", "plan", "pytest_collection_modifyitems", "upstream"]

# As Ctrl-C does, it ends the programs too. scripts/gateways.sh sends it.
signal.signal(signal.SIGTERM, signal.default_int_handler)

# Of the plug-in in this process, which asks nobody.
os.environ |= {"KEYMETER_URL": "http://127.0.0.1:1", "KEYMETER_CREDENTIAL": "kmg_none", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}

PROMPT_USD = Decimal("0.0000012")
COMPLETION_USD = Decimal("0.0000047")

CONFIG = """
model_list:
  - model_name: chat
    litellm_params: {{model: openai/chat, api_base: {url}/v1, api_key: none, input_cost_per_token: 0.0000012, output_cost_per_token: 0.0000047}}
  - model_name: other
    litellm_params: {{model: openai/other, api_base: {url}/v1, api_key: none, input_cost_per_token: 0.0000012, output_cost_per_token: 0.0000047}}
  - model_name: free
    litellm_params: {{model: openai/free, api_base: {url}/v1, api_key: none, input_cost_per_token: 0, output_cost_per_token: 0}}
  - model_name: unpriced
    litellm_params: {{model: openai/nobody-knows-its-price, api_base: {url}/v1, api_key: none}}
  - model_name: falls-back
    litellm_params: {{model: openai/falls-back, api_base: {url}/v1, api_key: none, input_cost_per_token: 0.0000012, output_cost_per_token: 0.0000047}}
  - model_name: falls-to-unpriced
    litellm_params: {{model: openai/falls-back, api_base: {url}/v1, api_key: none, input_cost_per_token: 0.0000012, output_cost_per_token: 0.0000047}}
  - model_name: free-falls-back
    litellm_params: {{model: openai/falls-back, api_base: {url}/v1, api_key: none, input_cost_per_token: 0, output_cost_per_token: 0}}
  - model_name: falls-to-pair
    litellm_params: {{model: openai/falls-back, api_base: {url}/v1, api_key: none, input_cost_per_token: 0.0000012, output_cost_per_token: 0.0000047}}
  - model_name: pair
    litellm_params: {{model: openai/cheap, api_base: {url}/v1, api_key: none, input_cost_per_token: 0.0000012, output_cost_per_token: 0.0000047}}
  - model_name: pair
    litellm_params: {{model: openai/dear, api_base: {url}/v1, api_key: none, input_cost_per_token: 0.000012, output_cost_per_token: 0.000047}}
  - model_name: claude
    litellm_params: {{model: anthropic/claude-of-the-tests, api_base: {url}, api_key: none, input_cost_per_token: 0.0000012, output_cost_per_token: 0.0000047}}
  - model_name: gemini
    litellm_params: {{model: gemini/gemini-of-the-tests, api_base: {url}, api_key: none, input_cost_per_token: 0.0000012, output_cost_per_token: 0.0000047}}
  - model_name: text
    litellm_params: {{model: text-completion-openai/text, api_base: {url}/v1, api_key: none, input_cost_per_token: 0.0000012, output_cost_per_token: 0.0000047}}
  - model_name: embedding
    litellm_params: {{model: openai/embedding, api_base: {url}/v1, api_key: none, input_cost_per_token: 0.0000012, output_cost_per_token: 0}}
  - model_name: image
    litellm_params: {{model: openai/image, api_base: {url}/v1, api_key: none, output_cost_per_image: 0.04}}
    model_info: {{mode: image_generation}}
  - model_name: speech
    litellm_params: {{model: openai/speech, api_base: {url}/v1, api_key: none, input_cost_per_character: 0.000015}}
    model_info: {{mode: audio_speech}}
  - model_name: voice
    litellm_params: {{model: openai/voice, api_base: {url}/v1, api_key: none, input_cost_per_token: 0.0000006, output_cost_per_second: 0.00025}}
    model_info: {{mode: audio_speech}}
  - model_name: transcription
    litellm_params: {{model: openai/whisper-1, api_base: {url}/v1, api_key: none}}
  - model_name: moderation
    litellm_params: {{model: openai/moderation, api_base: {url}/v1, api_key: none, input_cost_per_token: 0.0000012, output_cost_per_token: 0}}
  - model_name: rerank
    litellm_params: {{model: cohere/rerank-v3.5, api_base: {url}, api_key: none}}
litellm_settings:
  callbacks: {callbacks}
  num_retries: {retries}
  fallbacks: [{{falls-back: [chat]}}, {{falls-to-unpriced: [unpriced]}}, {{free-falls-back: [chat]}}]
  context_window_fallbacks: [{{falls-to-pair: [pair]}}]
  {more}
general_settings: {{custom_auth: keymeter_litellm.auth}}
router_settings: {{disable_cooldowns: true}}
"""


CALLBACKS = "[keymeter_litellm.plugin, recorder.recorder]"


def cost(prompt_tokens: int = 100, completion_tokens: int = 50) -> Decimal:
    return PROMPT_USD * prompt_tokens + COMPLETION_USD * completion_tokens


def client(key: Key | str, proxy: LiteLLM, retries: int = 0, **options: Any) -> openai.OpenAI:
    secret = key if isinstance(key, str) else key.secret
    return openai.OpenAI(api_key=secret, base_url=f"{proxy.url}/v1", max_retries=retries, timeout=60, **options)


@pytest.fixture(scope="session")
def keymeter(folder: Path) -> Iterator[Keymeter]:
    yield from running_keymeter(folder)


class Proxies:
    """Starts proxies, and ends them after the test."""

    def __init__(self, folder: Path, upstream: Upstream, keymeter: Keymeter) -> None:
        self.folder, self.upstream, self.keymeter = folder, upstream, keymeter
        self.started: list[LiteLLM] = []

    def make(
        self, *arguments: str, more: str = "", retries: int = 0, callbacks: str = CALLBACKS, **environment: str
    ) -> LiteLLM:
        text = CONFIG.format(url=self.upstream.url, more=more, retries=retries, callbacks=callbacks)
        url = environment.pop("KEYMETER_URL", os.environ.get("KEYMETER_SHIM") or self.keymeter.url)
        credential = environment.pop("KEYMETER_CREDENTIAL", self.keymeter.credential)
        proxy = LiteLLM(text, self.folder, url, credential, *arguments, **environment)
        self.started.append(proxy)
        return proxy

    def start(self, *arguments: str, **options: Any) -> LiteLLM:
        proxy = self.make(*arguments, **options)
        proxy.start()
        return proxy

    def stop(self) -> None:
        for proxy in self.started:
            proxy.stop()


@pytest.fixture(scope="session")
def proxy(folder: Path, upstream: Upstream, keymeter: Keymeter) -> Iterator[LiteLLM]:
    """One for all tests that need no other settings."""
    proxies = Proxies(folder, upstream, keymeter)
    yield proxies.start()
    proxies.stop()


@pytest.fixture
def proxies(folder: Path, upstream: Upstream, keymeter: Keymeter) -> Iterator[Proxies]:
    made = Proxies(folder, upstream, keymeter)
    yield made
    made.stop()


@pytest.fixture
def key(keymeter: Keymeter) -> Key:
    """With one dollar."""
    return keymeter.key()


@pytest.fixture
def http(proxy: LiteLLM, key: Key) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=proxy.url, headers={"Authorization": f"Bearer {key.secret}"}, timeout=60) as made:
        yield made
