"""The metering front, as this directory ships it: nginx.conf, secrets.conf.example and keymeter.lua, with ports and paths of
the tests. Keymeter and the provider are those of the tests of clients/litellm."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
from processes import Program, eventually, free_port
from programs import Key

HERE = Path(__file__).parent
SOURCE = HERE.parent
UPSTREAM_KEY = "sk-of-the-upstream"
PRICES = {"prompt": Decimal("1.2"), "completion": Decimal("4.7"), "cached": Decimal("0.3"), "cache_write": Decimal("1.5")}
MILLION = 10**6

# nginx's own directories are not of whoever runs the tests.
HTTP = """http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
"""


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
        *lines: str,
        workers: int = 1,
        read_timeout: str = "600s",
        **settings: object,
    ) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.folder = Path(tempfile.mkdtemp(prefix="front-", dir=folder))
        self.access_log = self.folder / "access.log"
        shutil.copy(SOURCE / "keymeter.lua", self.folder)
        put = [f"set $keymeter_{name} {value};" for name, value in settings.items()]
        self.write(
            "secrets.conf.example",
            "secrets.conf",
            {"PUT-THE-CREDENTIAL-HERE": credential, "Bearer PUT-THE-KEY-OF-THE-UPSTREAM-HERE": f"Bearer {UPSTREAM_KEY}"},
        )
        self.write(
            "nginx.conf",
            "nginx.conf",
            {
                "events {": f"error_log stderr info;\npid nginx.pid;\ndaemon off;\nworker_processes {workers};\nevents {{",
                "proxy_read_timeout 600s;": f"proxy_read_timeout {read_timeout};",
                "http {": HTTP.format(folder=self.folder),
                "/var/log/nginx/access.log": str(self.access_log),
                "127.0.0.1:8080": f"127.0.0.1:{self.port}",
                "127.0.0.1:9000": upstream_url.removeprefix("http://"),
                "http://127.0.0.1:3000": keymeter_url,
                "include secrets.conf;": "\n".join(["include secrets.conf;", *put, *lines]),
            },
        )
        if os.geteuid() == 0:
            # Workers would be `nobody`, who cannot enter the directories of the tests.
            path = self.folder / "nginx.conf"
            path.write_text("user root;\n" + path.read_text())
        nginx = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
        assert nginx, "nginx is missing: scripts/gateways.sh says how to get it"
        command = [nginx, "-p", f"{self.folder}/", "-c", "nginx.conf"]
        super().__init__(command, {}, self.folder / "error.log")

    def write(self, source: str, name: str, replaced: dict[str, str]) -> None:
        text = (SOURCE / source).read_text()
        for old, new in replaced.items():
            assert old in text, f"{source} lacks {old}"
            text = text.replace(old, new)
        (self.folder / name).write_text(text)

    def start(self) -> None:
        super().start()

        def listens() -> bool:
            assert self.process is not None
            assert self.process.poll() is None, self.log()
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", self.port)) == 0

        eventually(listens)

    def reload(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGHUP)

    def post(self, key: Key | str, body: object, path: str = "/v1/chat/completions", **options: Any) -> httpx.Response:
        secret = key if isinstance(key, str) else key.secret
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json", **options.pop("headers", {})}
        return httpx.post(f"{self.url}{path}", content=content, headers=headers, timeout=options.pop("timeout", 30), **options)

    def logs(self) -> str:
        return self.log() + self.access_log.read_text(errors="replace")


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
