"""What the plug-in needs of LiteLLM beyond its documented settings, and a check that all of it is there."""

from __future__ import annotations

import asyncio
import inspect
import logging
import sys
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import Any, Final

import litellm
from litellm.integrations.custom_logger import CustomLogger
from litellm.litellm_core_utils.litellm_logging import Logging
from litellm.litellm_core_utils.logging_worker import GLOBAL_LOGGING_WORKER
from litellm.proxy import proxy_server
from litellm.proxy._types import ProxyException, UserAPIKeyAuth
from litellm.types.utils import all_litellm_params

from .holds import FALLBACKS

log: Final = logging.getLogger("keymeter_litellm")

# The parameters of what LiteLLM calls: exactly these, because a call with another one would fail.
_CALLED: Final[dict[str, tuple[str, ...]]] = {
    "async_pre_call_hook": ("user_api_key_dict", "cache", "data", "call_type"),
    "async_log_success_event": ("kwargs", "response_obj", "start_time", "end_time"),
    "async_log_failure_event": ("kwargs", "response_obj", "start_time", "end_time"),
    "async_post_call_failure_hook": ("request_data", "original_exception", "user_api_key_dict", "traceback_str"),
}
# The parameters of what the plug-in calls: at least these.
_CALLS: Final[tuple[tuple[object, str, tuple[str, ...]], ...]] = (
    (litellm, "token_counter", ("model", "text", "messages", "use_default_image_token_count")),
    (litellm.Router, "get_model_list", ("model_name",)),
    (litellm.Router, "get_deployment", ("model_id",)),
    (litellm.Router, "get_deployment_model_info", ("model_id", "model_name")),
    (litellm.Router, "add_deployment", ("deployment",)),
    (litellm.Router, "delete_deployment", ("id",)),
    (ProxyException, "__init__", ("message", "type", "param", "code", "headers")),
    (proxy_server, "proxy_shutdown_event", ()),
    (type(GLOBAL_LOGGING_WORKER), "flush", ()),
)
_FIELDS: Final = (
    (proxy_server, ("app", "general_settings", "llm_router", "master_key", "user_custom_auth")),
    (proxy_server.app.router, ("middleware_stack",)),
    (UserAPIKeyAuth, ("model_fields",)),
    (Logging, ("async_success_log_enqueued", "should_run_callback")),
    (litellm, ("callbacks", "model_cost", "request_timeout", "REPEATED_STREAMING_CHUNK_LIMIT")),
)
STRIP_USAGE: Final = "_litellm_strip_stream_usage"
"""An argument by which LiteLLM keeps the counts at the end of a stream from a client that has not asked for them."""
_KEY_FIELDS: Final = ("api_key", "user_id", "key_alias", "user_role")


def check() -> None:
    """Raises RuntimeError if this LiteLLM has not what the plug-in needs. Then LiteLLM does not start."""
    if missing := missing_of(CustomLogger, UserAPIKeyAuth):
        raise RuntimeError(
            f"keymeter-litellm does not work with LiteLLM {version('litellm')}, so LiteLLM does not start: {'; '.join(missing)}"
        )


def missing_of(logger: Any, key: Any) -> list[str]:
    missing = []
    for name, parameters in _CALLED.items():
        found = _parameters(getattr(logger, name, None))
        if found != parameters:
            missing.append(f"{name} has the parameters {found}, not {parameters}")
    for owner, name, parameters in _CALLS:
        found = _parameters(getattr(owner, name, None))
        if found is None or not set(parameters) <= set(found):
            missing.append(f"{name} has the parameters {found}, without some of {parameters}")
    for owner, names in _FIELDS:
        missing += [f"{owner!r} has no {name}" for name in names if not hasattr(owner, name)]
    if STRIP_USAGE not in all_litellm_params:
        missing.append(f"{STRIP_USAGE} is no argument")
    missing += [f"UserAPIKeyAuth has no field {name}" for name in _KEY_FIELDS if name not in getattr(key, "model_fields", {})]
    return missing


def missing_of_router(router: Any) -> list[str]:
    """Of the router that LiteLLM has made. Its fields are not those of its class."""
    return [f"LiteLLM's router has no {name}" for name in (*FALLBACKS, "timeout") if not hasattr(router, name)]


def _parameters(function: object) -> tuple[str, ...] | None:
    if not callable(function):
        return None
    return tuple(name for name in inspect.signature(function).parameters if name != "self")


def let_streams_end() -> None:
    """LiteLLM breaks a stream off after so many equal chunks, before the provider's counts. A prompt can ask for them."""
    litellm.REPEATED_STREAMING_CHUNK_LIMIT = sys.maxsize


def before_routes(gate: Callable[[Any], Any]) -> None:
    """After LiteLLM's middleware, which unpacks bodies and finds the path. `gate` gets the application behind it."""
    router = proxy_server.app.router
    router.middleware_stack = gate(router.middleware_stack)


def before_shutdown(close: Callable[[], Awaitable[None]]) -> None:
    """LiteLLM has no hook for its end, and a process that SIGTERM stopped runs nothing after it."""
    original = proxy_server.proxy_shutdown_event

    async def shut_down(*arguments: Any, **named: Any) -> None:
        try:
            await close()
        except Exception:
            log.exception("what was not settled could not be sent")
        await original(*arguments, **named)

    proxy_server.proxy_shutdown_event = shut_down


async def flush_events(seconds: float) -> bool:
    """Waits until LiteLLM has reported what its requests cost. False if it has not in this time."""
    try:
        await asyncio.wait_for(GLOBAL_LOGGING_WORKER.flush(), seconds)
    except asyncio.TimeoutError:
        return False
    return True
