"""The metering front, `keymeter front`. Keymeter and the provider are those of the tests of clients/litellm."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
from processes import Program, eventually, free_port
from programs import HERE as PROVIDER
from programs import Key, Upstream

HERE = Path(__file__).parent
PROJECT = HERE.parent.parent.parent
UPSTREAM_KEY = "sk-of-the-upstream"
PRICES = {"prompt": Decimal("1.2"), "completion": Decimal("4.7"), "cached": Decimal("0.3"), "cache_write": Decimal("1.5")}
MILLION = 10**6


def cost(prompt: int = 100, completion: int = 50, cached: int = 0, cache_write: int = 0) -> Decimal:
    """In dollars, by the prices of keymeter.toml."""
    counts = {"prompt": prompt - cached - cache_write, "completion": completion, "cached": cached, "cache_write": cache_write}
    return sum((PRICES[name] * count for name, count in counts.items()), Decimal()) / MILLION


def hold(body: bytes, completion: int = 4096) -> Decimal:
    """What is held for a request with this body."""
    return cost(-(-len(body) // 3), completion)


@contextmanager
def upstream_that_sends(*pieces: bytes) -> Iterator[str]:
    """Answers one request with these pieces, one after the other."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection.recv(100_000)
                for piece in pieces:
                    connection.sendall(piece)
                    time.sleep(0.002)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        thread.join()


class Front(Program):
    def __init__(
        self,
        folder: Path,
        keymeter_url: str,
        credential: str,
        upstream_url: str,
        *arguments: str,
        port: int | None = None,
        **settings: object,
    ) -> None:
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.folder = Path(tempfile.mkdtemp(prefix="front-", dir=folder))
        secret = self.folder / "upstream-key"
        secret.write_text(f"{UPSTREAM_KEY}\n")
        options = [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]
        command = [
            os.environ["KEYMETER_PROGRAM"],
            "front",
            f"--listen=127.0.0.1:{self.port}",
            f"--upstream={upstream_url}/v1",
            f"--upstream-key-file={secret}",
            *options,
            *arguments,
        ]
        environment = {"KEYMETER_URL": keymeter_url, "KEYMETER_CREDENTIAL": credential}
        super().__init__(command, environment, self.folder / "front.log")

    @property
    def meter(self) -> Program:
        """The process that meters."""
        return self

    def start(self) -> None:
        """Returns when it can serve: it listens, and knows how answers are read if Keymeter answers."""
        super().start()

        def listens() -> bool:
            assert self.process is not None
            assert self.process.poll() is None, self.log()
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", self.port)) == 0

        eventually(listens)
        eventually(lambda: "how answers are read" in self.log() or "extractors of Keymeter cannot be read" in self.log())

    def post(self, key: Key | str, body: object, path: str = "/v1/chat/completions", **options: Any) -> httpx.Response:
        return post(self.url, key, body, path, **options)


# Bodies in both directions in pieces that are sent on as they are answered.
FULL_DUPLEX = (
    ("request_body_mode: BUFFERED", "request_body_mode: FULL_DUPLEX_STREAMED"),
    ("response_body_mode: STREAMED", "response_body_mode: FULL_DUPLEX_STREAMED"),
)


class EnvoyDoor:
    """Envoy with keymeter-envoy, which is beside the program."""

    def __init__(
        self, folder: Path, keymeter_url: str, credential: str, upstream_url: str, *changes: tuple[str, str], **settings: object
    ) -> None:
        """`changes` are parts of examples/envoy/metering.yaml, and what stands there instead."""
        self.port, processor = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        folder = Path(tempfile.mkdtemp(prefix="envoy-", dir=folder))
        environment = {"KEYMETER_URL": keymeter_url, "KEYMETER_CREDENTIAL": credential}
        options = [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]
        command = [f"{os.environ['KEYMETER_PROGRAM']}-envoy", f"--listen=127.0.0.1:{processor}", *options]
        self.processor = Program(command, environment, folder / "processor.log")
        text = (PROJECT / "examples/envoy/metering.yaml").read_text()
        ports = {8080: self.port, 9901: free_port(), 13050: processor, 9000: urlsplit(upstream_url).port}
        own = [(f"port_value: {documented} ", f"port_value: {port} ") for documented, port in ports.items()]
        for old, new in (*own, *changes):
            assert old in text, old
            text = text.replace(old, new)
        config = folder / "envoy.yaml"
        config.write_text(text)
        command = [str(PROJECT / "target/proxies/bin/envoy"), "--disable-hot-restart", "--concurrency", "1", "-c", str(config)]
        self.envoy = Program(command, {}, folder / "envoy.log")

    @property
    def meter(self) -> Program:
        """The process that meters."""
        return self.processor

    def start(self) -> None:
        self.processor.start()
        eventually(lambda: "how answers are read" in self.processor.log())
        self.envoy.start()

        def passes() -> bool:
            try:
                return httpx.get(f"{self.url}/v1/models").status_code == 401
            except httpx.HTTPError:
                return False

        eventually(passes)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        self.envoy.stop(how)
        self.processor.stop(how)

    def log(self) -> str:
        return self.processor.log()

    def post(self, key: Key | str, body: object, path: str = "/v1/chat/completions", **options: Any) -> httpx.Response:
        return post(self.url, key, body, path, **options)


Door = Front | EnvoyDoor


def post(url: str, key: Key | str, body: object, path: str, **options: Any) -> httpx.Response:
    secret = key if isinstance(key, str) else key.secret
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json", **options.pop("headers", {})}
    return httpx.post(f"{url}{path}", content=content, headers=headers, timeout=options.pop("timeout", 30), **options)


class Http2Upstream(Upstream):
    """The same provider in a server that speaks HTTP/2 too, without TLS."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        options = ["--interface=asgi", "--http=auto", f"--port={self.port}", "--no-ws"]
        self.command = [sys.executable, "-m", "granian", *options, "upstream:app"]
        self.environment = {"PYTHONPATH": str(PROVIDER)}
        self.log_path = folder / "upstream-http2.log"


class Portkey(Program):
    """Portkey's gateway, from npm. It listens on all addresses."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        program = Path(os.environ["PORTKEY"]) / "node_modules/@portkey-ai/gateway/build/start-server.js"
        super().__init__(["node", str(program), f"--port={self.port}", "--headless"], {}, folder / "portkey.log")

    def start(self) -> None:
        super().start()
        self.ready(f"{self.url}/")
