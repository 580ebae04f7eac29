"""Makes LiteLLM report no end of a request that says so, as it does of some that it loses."""

from __future__ import annotations

from typing import Any

from litellm.integrations.custom_logger import CustomLogger
from litellm.litellm_core_utils.litellm_logging import Logging

original = Logging.async_success_handler


async def async_success_handler(self: Any, *arguments: Any, **named: Any) -> Any:
    if "forget this" not in str(self.messages):
        await original(self, *arguments, **named)


Logging.async_success_handler = async_success_handler
forgetful = CustomLogger()
