"""Makes LiteLLM call no plug-in before a request, as a version would that has renamed the hook."""

from __future__ import annotations

from typing import Any

from litellm.integrations.custom_logger import CustomLogger
from litellm.proxy.utils import ProxyLogging


async def pre_call_hook(self: Any, *arguments: Any, data: Any = None, **named: Any) -> Any:
    return data


ProxyLogging.pre_call_hook = pre_call_hook
saboteur = CustomLogger()
