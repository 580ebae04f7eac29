"""The real program on its own private PostgreSQL, and a proxy in front of it that loses answers."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from keymeter_client import Keymeter

PASSWORD = "the password of a test"
# A group that not everyone may use.
CONFIGURATION = """
[groups.default]
description = ""
ratio = "1"
[groups.vip]
description = ""
ratio = "1"
open = false
[prices]
"priced-*" = { prompt = "2", completion = "10", cached = "0.2", cache_write = "3" }
"""


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@dataclass(frozen=True)
class Key:
    text: str
    token_id: int


class Account:
    """A person with a wallet, who makes keys."""

    _names = itertools.count()

    def __init__(self, service: Service, wallet: int, group: str = "default", limits: dict[str, int] | None = None) -> None:
        self.service = service
        self.name = f"user{next(self._names)}"
        body = {
            "username": self.name,
            "password": PASSWORD,
            "token_api_enabled": True,
            "quota": wallet,
            "group": group,
            "period_limits": limits,
        }
        self.user_id: int = service.root("POST", "/api/admin/users", body)["id"]
        self.access_token = service.sign_in(self.name, PASSWORD)

    def key(self, remain_quota: int | None = None, **fields: Any) -> Key:
        """A key with that quota, or with none of its own."""
        name = f"key {next(self._names)}"
        quota = {"unlimited_quota": True} if remain_quota is None else {"remain_quota": remain_quota}
        made = self.service.call("POST", "/api/token/", self.access_token, {"name": name, **quota, **fields})
        return Key(made["key"], made["id"])

    def edit(self, key: Key, **fields: Any) -> None:
        self.service.call("PUT", "/api/token/", self.access_token, {"id": key.token_id, **fields})

    def disable(self, key: Key) -> None:
        self.service.call("PUT", "/api/token/?status_only=1", self.access_token, {"id": key.token_id, "status": 2})

    def hold(self, key: Key) -> None:
        """Leaves one unit held."""
        with Keymeter(self.service.url, self.service.credential) as client:
            client.reserve(key.text, quota=1)

    def used(self, key: Key) -> int:
        """What the key was charged, and what is held on it."""
        path = f"/api/token/{key.token_id}/details"
        used: int = self.service.call("GET", path, self.access_token)["used_quota"]
        return used

    def charges(self, key: Key) -> list[dict[str, Any]]:
        charges: list[dict[str, Any]] = self.service.call("GET", "/api/log/token", f"Bearer {key.text}")
        return charges


class Service:
    """A running `keymeter serve`. It keeps its port and its data when it is started again."""

    def __init__(self, program: Path, directory: Path) -> None:
        self._log = directory / "log"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        configuration = directory / "keymeter.toml"
        configuration.write_text(CONFIGURATION)
        self._command = [str(program), "--config", str(configuration)]
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("KEYMETER_")}
        programs = os.environ.get("KEYMETER_DATABASE__PROGRAMS")
        self._environment = inherited | {
            "KEYMETER_DATA_DIR": str(directory / "data"),
            "KEYMETER_SERVER__LISTEN": f"127.0.0.1:{self.port}",
            "KEYMETER_ROOT__PASSWORD": PASSWORD,
            "KEYMETER_SERVER__STOP_DELAY_SECONDS": "0",
            "KEYMETER_LIMITS__DROP_IN_PER_MINUTE": "0",
            **({"KEYMETER_DATABASE__PROGRAMS": programs} if programs else {}),
        }
        # Made once, because it reads all certificates of the system.
        self._http = httpx.Client(base_url=self.url, timeout=30)
        self.start()
        self._access_token = self.sign_in("root", PASSWORD)
        self.credential = self.gateway()

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen([*self._command, "serve"], env=self._environment, stdout=log, stderr=log)
        for _ in range(1200):
            if self._process.poll() is not None:
                break
            try:
                if self._http.get("/readyz").status_code == 200:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.05)
        raise AssertionError(f"the service did not start:\n{self._log.read_text()}")

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        self._http.close()
        self._process.terminate()
        assert self._process.wait(60) == 0

    def doctor(self) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*self._command, "doctor"], env=self._environment, capture_output=True, text=True, check=False)

    def output(self) -> str:
        return self._log.read_text()

    def sign_in(self, username: str, password: str) -> str:
        """A new access token."""
        person = {"username": username, "password": password}
        self._http.post("/api/user/login", json=person).raise_for_status()
        answer = self._http.get("/api/user/token", headers={"Origin": self.url}).raise_for_status()
        self._http.cookies.clear()
        token: str = answer.json()["data"]
        return token

    def call(self, method: str, path: str, access_token: str, body: object = None) -> Any:
        headers = {"Authorization": access_token, "Prefer": "return=representation"}
        answer = self._http.request(method, path, headers=headers, json=body)
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json().get("data")

    def root(self, method: str, path: str, body: object = None) -> Any:
        return self.call(method, path, self._access_token, body)

    def gateway(self) -> str:
        """The credential of a new gateway."""
        name = f"gateway {next(Account._names)}"
        credential: str = self.root("POST", "/api/admin/gateways", {"name": name})["credential"]
        return credential


class LossyProxy:
    """Passes requests on. After `keep` answers it loses the next `drop` requests, and the next `lose` answers that the service
    has given.
    """

    def __init__(self, port: int) -> None:
        self._target = ("127.0.0.1", port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._clients: list[socket.socket] = []
        self.keep = 0
        self.drop = 0
        self.lose = 0
        self.lost = 0
        self.stalls = False
        self.delay = 0.0
        self.passed = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self._clients.append(client)
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.create_connection(self._target) as service:
            threading.Thread(target=self._pump, args=(client, service), daemon=True).start()
            while answer := _receive(service):
                while self.stalls:
                    time.sleep(0.01)
                if self.keep > 0:
                    self.keep -= 1
                elif self.lose > 0:
                    self.lose -= 1
                    self.lost += 1
                    break
                time.sleep(self.delay)
                self.passed += 1
                client.sendall(answer)
            _end(client)

    def _pump(self, client: socket.socket, service: socket.socket) -> None:
        while request := _receive(client):
            if self.keep == 0 and self.drop > 0:
                self.drop -= 1
                _end(client)
                return
            service.sendall(request)

    @property
    def connections(self) -> int:
        """How many there have been."""
        return len(self._clients)

    def close(self) -> None:
        """Refuses connections, and ends those it has."""
        for connection in [self._listener, *self._clients]:
            _end(connection)
        self._listener.close()


def _end(connection: socket.socket) -> None:
    """Not only closed: another thread may read it."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _receive(connection: socket.socket) -> bytes:
    try:
        return connection.recv(65536)
    except OSError:
        return b""
