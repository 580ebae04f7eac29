"""What both clients need of httpx."""

from __future__ import annotations

from typing import Final

import httpx

from .exchange import NoAnswer

# Keymeter closes connections that are idle for 75 seconds; ours end before.
LIMITS: Final = httpx.Limits(max_connections=100, max_keepalive_connections=100, keepalive_expiry=60)
CLOSED: Final = NoAnswer("this client was closed", sent=False)


def no_answer(error: httpx.HTTPError) -> NoAnswer:
    """What it says is only shown where it cannot have parts of the request."""
    sent = not isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol))
    kind = type(error).__name__
    return NoAnswer(f"{kind}: {error}" if isinstance(error, httpx.ConnectError) else kind, sent)
