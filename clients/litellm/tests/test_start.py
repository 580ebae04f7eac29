"""LiteLLM does not start if its requests would not be metered."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from conftest import Proxies, client, plan
from programs import Key, Keymeter, LiteLLM, eventually, free_port


def ends(proxy: LiteLLM, seconds: float = 60) -> str:
    """Its log, when it has ended with an error."""
    proxy.start_only()
    process = proxy.process
    assert process is not None
    assert eventually(lambda: process.poll() is not None, seconds)
    assert process.poll() != 0
    return proxy.log()


@pytest.mark.parametrize(
    ("environment", "reason"),
    [
        ({"KEYMETER_CREDENTIAL": "kmg_wrong"}, "invalid_gateway"),
        ({"LITELLM_KEYMETER_ON_EXPIRY": "maybe"}, "LITELLM_KEYMETER_ON_EXPIRY"),
    ],
)
def test_a_wrong_setting(proxies: Proxies, environment: dict[str, str], reason: str) -> None:
    assert reason in ends(proxies.make(**environment))


def test_a_hook_that_is_not_called(proxies: Proxies) -> None:
    log = ends(proxies.make(callbacks="[saboteur.saboteur, keymeter_litellm.plugin]"))
    assert "LiteLLM does not start, because its requests would not be metered: a request makes 0 reservations" in log


def test_callbacks_without_the_plug_in(proxies: Proxies) -> None:
    log = ends(proxies.make(callbacks="[recorder.recorder]"))
    assert "litellm_settings.callbacks lacks keymeter_litellm.plugin" in log


def test_requests_wait_until_keymeter_answers(proxies: Proxies, keymeter: Keymeter, key: Key) -> None:
    """Then the proxy serves them. A Keymeter that never answers ends it."""
    proxy = proxies.start(KEYMETER_URL=f"http://127.0.0.1:{free_port()}")
    answer = httpx.post(
        f"{proxy.url}/v1/chat/completions",
        json={"model": "chat", "messages": plan()},
        headers={"Authorization": f"Bearer {key.secret}"},
        timeout=30,
    )
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "keymeter_unavailable")
    assert proxy.process is not None
    process: Any = proxy.process
    eventually(lambda: process.poll() is not None, 60)
    assert process.poll() == 3
    assert "Keymeter does not answer reserve" in proxy.log()


def test_without_custom_auth_nothing_is_served(proxies: Proxies, key: Key) -> None:
    proxy = proxies.make()
    path = next(iter(proxy.command[proxy.command.index("--config") + 1 :]))
    with open(path) as file:
        text = file.read()
    with open(path, "w") as file:
        file.write(text.replace("general_settings: {custom_auth: keymeter_litellm.auth}", ""))
    assert "general_settings.custom_auth is not keymeter_litellm.auth" in ends(proxy)


def test_the_proof_leaves_nothing_behind(proxy: LiteLLM, key: Key) -> None:
    models = [each.id for each in client(key, proxy).models.list()]
    assert not [each for each in models if "proof" in each]
    assert "keymeter-proof" not in proxy.log()
    key.settled()
