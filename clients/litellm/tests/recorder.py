"""A plug-in beside ours. It writes down the version of LiteLLM, and a line of JSON for each request that ended."""

from __future__ import annotations

import json
import os
from importlib.metadata import version
from typing import Any

from litellm.integrations.custom_logger import CustomLogger


# Its name as that of ours, so that "no-log" is for others.
class _PROXY_Recorder(CustomLogger):  # noqa: N801
    def write(self, name: object, usd: object) -> None:
        with open(os.environ["REPORTS"], "a") as file:
            file.write(json.dumps({"key": name, "usd": repr(usd)}) + "\n")

    async def async_log_success_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
        parameters = kwargs["litellm_params"]
        metadata = (parameters.get("metadata") or {}) | (parameters.get("litellm_metadata") or {})
        self.write(metadata.get("user_api_key_alias"), kwargs.get("response_cost"))

    async def async_post_call_failure_hook(
        self, request_data: Any, original_exception: Any, user_api_key_dict: Any, traceback_str: Any = None
    ) -> None:
        if request_data.get("response_cost"):
            self.write(user_api_key_dict.key_alias, request_data["response_cost"])


recorder = _PROXY_Recorder()
# Several workers may write it while it is read.
with open(name := f"{os.environ['REPORTS']}.{os.getpid()}", "w") as file:
    file.write(version("litellm"))
os.replace(name, os.environ["REPORTS"] + ".version")
