"""What both clients need of httpx."""

from __future__ import annotations

from typing import Final

import httpx

from .exchange import NoAnswer

# For each request httpx compares every connection with every other, and all of them with every request that waits: 300
# requests at once on 100 connections took it eight seconds. So there are few, and requests wait at a semaphore of ours.
CONNECTIONS: Final = 16
# Keymeter closes connections that are idle for 75 seconds; ours end before.
LIMITS: Final = httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS, keepalive_expiry=60)
NO_CONNECTION: Final = NoAnswer("all connections are in use", sent=False)
CLOSED: Final = NoAnswer("this client was closed", sent=False)


def no_answer(error: httpx.HTTPError) -> NoAnswer:
    """What it says is only shown where it cannot have parts of the request."""
    sent = not isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol))
    kind = type(error).__name__
    return NoAnswer(f"{kind}: {error}" if isinstance(error, httpx.ConnectError) else kind, sent)
