"""The proof at the start: requests of the plug-in's own through this very proxy, and calls to this very Keymeter.

It needs no API key. The requests have a key that only this process knows, a model that answers without a provider, and a
spend that is written down instead of sent. Keymeter is asked what must be refused in one certain way, which only a service
with these calls and a good credential does.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import os
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import httpx
import litellm
from keymeter_client import Conflict, InvalidKey, KeymeterError, Reservation, Unavailable
from litellm.proxy import proxy_server
from litellm.types.router import Deployment, LiteLLM_Params, ModelInfo

from . import layout

if TYPE_CHECKING:
    from .metering import _PROXY_Keymeter

log: Final = logging.getLogger("keymeter_litellm")

LOGGERS: Final = ("LiteLLM", "LiteLLM Proxy", "LiteLLM Router")
KEYMETER_SECONDS: Final = 30
EVENT_SECONDS: Final = 10
PROMPT_USD: Final = 0.000001
COMPLETION_USD: Final = 0.000002


class ProofSpend:
    """In place of a spend of Keymeter."""

    def __init__(self) -> None:
        self.reservation = Reservation("proof", 0, 1, 0)
        self.usd = Decimal(0)
        self.ended = False
        self.failed = False
        self.done = asyncio.Event()

    def cost(self, *, usd: Decimal, prompt_tokens: int = 0, completion_tokens: int = 0) -> None:
        self.usd += usd

    async def end(self, error: BaseException | None = None) -> None:
        self.ended = True
        self.failed = error is not None
        self.done.set()


class Proof:
    def __init__(self) -> None:
        self._key = f"sk-proof-{os.urandom(32).hex()}"
        self.model = f"keymeter-proof-{os.urandom(8).hex()}"
        self.spends: list[ProofSpend] = []

    def __repr__(self) -> str:
        return "Proof()"

    def has(self, key: object) -> bool:
        return isinstance(key, str) and hmac.compare_digest(key.encode(), self._key.encode())

    def spend(self) -> Any:
        self.spends.append(ProofSpend())
        return self.spends[-1]

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._key}"}


class _Quiet(logging.Filter):
    """LiteLLM logs refusals and failures. Those of the proof are meant."""

    def filter(self, record: logging.LogRecord) -> bool:
        return "keymeter-proof" not in record.getMessage()


class NotProven(Exception):
    """A request would not be metered."""


async def prove(plugin: _PROXY_Keymeter, auth: Callable[..., Any], proof: Proof) -> None:
    """Raises NotProven, which says what is wrong."""
    await _ask_keymeter(plugin)
    while proxy_server.llm_router is None:  # noqa: ASYNC110 # LiteLLM tells nobody
        # LiteLLM reads its configuration, the models last. Without models no request is answered, so there is nothing to prove.
        await asyncio.sleep(0.05)
    if proxy_server.user_custom_auth is not auth:
        raise NotProven("general_settings.custom_auth is not keymeter_litellm.auth")
    if plugin not in litellm.callbacks:
        raise NotProven("litellm_settings.callbacks lacks keymeter_litellm.plugin")
    if missing := layout.missing_of_router(proxy_server.llm_router):
        raise NotProven("; ".join(missing))
    await _ask_litellm(plugin, proof)


async def _ask_keymeter(plugin: _PROXY_Keymeter) -> None:
    """What must be refused in one certain way. A wrong credential, address or version is refused in another."""
    keymeter, ttl = plugin.keymeter, plugin.settings.ttl_seconds
    calls: tuple[tuple[str, Callable[[], Any], type[KeymeterError], str], ...] = (
        (
            "reserve",
            lambda: keymeter.reserve("sk-proof", usd="0.000002", ttl_seconds=ttl, on_expiry=plugin.settings.on_expiry),
            InvalidKey,
            "invalid_key",
        ),
        ("settle", lambda: keymeter.settle("r0.0", usd="0.000002"), Conflict, "reservation_not_found"),
        ("extend", lambda: keymeter.extend("r0.0", ttl_seconds=ttl), Conflict, "reservation_not_found"),
    )
    for name, call, kind, code in calls:
        await _ask(name, call, kind, code)


async def _ask(name: str, call: Callable[[], Any], kind: type[KeymeterError], code: str) -> None:
    deadline = asyncio.get_running_loop().time() + KEYMETER_SECONDS
    while True:
        try:
            await call()
        except Unavailable as error:
            if asyncio.get_running_loop().time() > deadline:
                raise NotProven(f"Keymeter does not answer {name}: {error}") from None
            log.warning("LiteLLM waits for Keymeter: %s", error)
            await asyncio.sleep(1)
            continue
        except kind as error:
            if getattr(error, "code", None) == code:
                return
            raise NotProven(f"Keymeter answers {name} with: {error}") from None
        except KeymeterError as error:
            raise NotProven(f"Keymeter answers {name} with: {error}") from None
        raise NotProven(f"Keymeter accepts {name} of what does not exist")


async def _ask_litellm(plugin: _PROXY_Keymeter, proof: Proof) -> None:
    router: Any = proxy_server.llm_router
    names = []
    quiet = _Quiet()
    handlers = [handler for name in LOGGERS for handler in logging.getLogger(name).handlers]
    for handler in handlers:
        handler.addFilter(quiet)
    for suffix, mock in (("", "proof"), ("-fails", Exception("proof"))):
        deployment = Deployment(
            model_name=proof.model + suffix,
            litellm_params=LiteLLM_Params(
                model="openai/keymeter-proof",
                api_key="none",
                mock_response=mock,
                input_cost_per_token=PROMPT_USD,
                output_cost_per_token=COMPLETION_USD,
            ),
            model_info=ModelInfo(id=proof.model + suffix),
        )
        router.add_deployment(deployment)
        names.append(proof.model + suffix)
    try:
        transport = httpx.ASGITransport(app=proxy_server.app, client=("127.0.0.1", 1), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://proof", headers=proof.headers) as client:

            async def ask(model: str, **options: object) -> httpx.Response:
                # Never the same, because LiteLLM may have a cache.
                messages = [{"role": "user", "content": f"keymeter-proof {os.urandom(8).hex()}"}]
                body = {"model": model, "messages": messages, "user": "keymeter-proof", **options}
                return await client.post("/v1/chat/completions", json=body)

            await _costs(proof, await ask(proof.model))
            await _costs(proof, await ask(proof.model, stream=True))
            # With these arguments LiteLLM would answer with an error.
            await _costs(proof, await ask(proof.model, mock_timeout=True, timeout=0.001))
            answer = await ask(proof.model + "-fails")
            spend = await _ended(proof, answer)
            if spend.usd or not spend.failed:
                raise NotProven("a request that fails is not released")
            # A route on which LiteLLM puts exceptions into others.
            refused = await client.post("/v1/images/generations", json={"model": proof.model, "keymeter-proof": 1})
            if refused.status_code != 403 or refused.json().get("error", {}).get("code") != "not_metered":
                raise NotProven(f"what is not metered is answered with {_short(refused)}")
    finally:
        for name in names:
            router.delete_deployment(id=name)
        for handler in handlers:
            handler.removeFilter(quiet)


async def _costs(proof: Proof, answer: httpx.Response) -> None:
    spend = await _ended(proof, answer)
    if answer.status_code != 200:
        raise NotProven(f"a request is answered with {_short(answer)}")
    if not spend.usd or spend.failed:
        raise NotProven("a request is not charged")


async def _ended(proof: Proof, answer: httpx.Response) -> ProofSpend:
    if len(proof.spends) != 1:
        raise NotProven(f"a request makes {len(proof.spends)} reservations, and is answered with {_short(answer)}")
    spend = proof.spends.pop()
    try:
        await asyncio.wait_for(spend.done.wait(), EVENT_SECONDS)
    except asyncio.TimeoutError:
        raise NotProven(f"the end of a request is not reported; it was answered with {_short(answer)}") from None
    return spend


def _short(answer: httpx.Response) -> str:
    try:
        return f"{answer.status_code} {json.dumps(answer.json())[:300]}"
    except ValueError:
        return f"{answer.status_code} {answer.text[:300]!r}"
