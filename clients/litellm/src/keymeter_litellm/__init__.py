"""LiteLLM's proxy with keys of Keymeter: each request is reserved before it is sent, and charged at what it cost.

In LiteLLM's configuration:

    general_settings: {custom_auth: keymeter_litellm.auth}
    litellm_settings: {callbacks: [keymeter_litellm.plugin]}
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._version import VERSION as __version__

if TYPE_CHECKING:
    from .metering import auth, plugin

__all__ = ["__version__", "auth", "plugin"]


def __getattr__(name: str) -> object:
    # Made when LiteLLM asks for them, because they read the environment and import the whole of LiteLLM.
    if name in ("auth", "plugin"):
        from . import metering

        return getattr(metering, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
