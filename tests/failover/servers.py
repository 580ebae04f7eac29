"""Three servers of Keymeter, each behind a relay of its own, and what administrators do on them."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from typing import Any

import urllib3
from cluster import Cluster
from processes import Program, eventually, free_port
from relay import RelayProcess

ROOT_PASSWORD = "root of the tests"
PLENTY = 10**11


@dataclass
class Answer:
    """Of a server; status 0 if there was none."""

    status: int
    body: dict[str, Any]
    headers: Any = None

    @property
    def error(self) -> str:
        return "" if self.status == 200 else str(self.body.get("error") or self.body.get("code") or self.status)

    def data(self) -> Any:
        assert self.status == 200, (self.status, self.body)
        return self.body.get("data")


class Server:
    def __init__(self, cluster: Cluster, number: int, database: str = "") -> None:
        """`database` is an address, instead of HAProxy's."""
        self.address = f"127.0.0.1:{free_port()}"
        proxy = f"{cluster.proxy_address}:5000"
        relay = f"{cluster.network}{10 + number}:5000"
        self.relay = RelayProcess(relay, database or proxy)
        folder = cluster.folder / f"keymeter{number}"
        folder.mkdir()
        lines = cluster.filled("keymeter.env").replace(proxy, relay).splitlines()
        self.environment = dict(line.split("=", 1) for line in lines)
        self.environment |= {
            "KEYMETER_ROOT__PASSWORD": ROOT_PASSWORD,
            "KEYMETER_SERVER__LISTEN": self.address,
            "KEYMETER_DATA_DIR": str(folder),
            "KEYMETER_LIMITS__LOGIN_PER_MINUTE": "0",
            "KEYMETER_LIMITS__WRONG_KEYS_PER_MINUTE": "0",
        }
        self.program = Program([os.environ["KEYMETER_PROGRAM"], "serve"], self.environment, folder / "keymeter.log")
        self.pool = urllib3.HTTPConnectionPool(*self.address.split(":"), maxsize=50, retries=False)

    def call(self, method: str, path: str, body: Any = None, timeout: float = 10, **headers: str) -> Answer:
        """A request whose failure is an answer too."""
        content = None if body is None else json.dumps(body)
        try:
            answer = self.pool.request(method, path, body=content, headers=headers, timeout=timeout)
        except urllib3.exceptions.TimeoutError:
            return Answer(0, {"error": "no_answer_in_time"})
        except urllib3.exceptions.HTTPError as error:
            return Answer(0, {"error": "no_connection", "message": str(error)})
        text = answer.data
        return Answer(answer.status, json.loads(text) if text[:1] == b"{" else {}, answer.headers)

    def stop(self) -> None:
        self.program.kill()
        self.relay.stop()

    def is_ready(self) -> bool:
        return self.call("GET", "/readyz", timeout=3).status == 200

    def doctor(self, **environment: str) -> str:
        done = subprocess.run(
            [self.program.command[0], "doctor"],
            env={"PATH": os.environ["PATH"]} | self.environment | environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout


class Servers:
    def __init__(self, cluster: Cluster) -> None:
        self.all = [Server(cluster, number) for number in range(3)]

    def start(self) -> None:
        for server in self.all:
            server.program.start()
        for server in self.all:
            eventually("the servers are ready", server.is_ready, 90)

    def set_up(self) -> None:
        """The users and the gateway."""
        first = self.all[0]
        self.root = self.signed_in("root", ROOT_PASSWORD)
        gateway = first.call("POST", "/api/admin/gateways", {"name": "edge"}, **self.root).data()
        self.gateway = {"authorization": f"Bearer {gateway['credential']}"}
        self.owners = [self.create_owner(f"owner{number}") for number in range(3)]

    def signed_in(self, name: str, password: str) -> dict[str, str]:
        first = self.all[0]
        login = {"username": name, "password": password}
        cookie = first.call("POST", "/api/user/login", login).headers["set-cookie"].split(";")[0]
        token = first.call("GET", "/api/user/token", cookie=cookie, origin=f"http://{first.address}").data()
        return {"authorization": token}

    def create_owner(self, name: str) -> dict[str, str]:
        """A user with a full wallet."""
        user = {"username": name, "password": f"{name} of the tests", "token_api_enabled": True, "quota": PLENTY}
        self.all[0].call("POST", "/api/admin/users", user, **self.root).data()
        return self.signed_in(name, user["password"])

    def stop(self) -> None:
        for server in self.all:
            server.stop()

    def create_key(self, owner: int, name: str) -> tuple[int, str]:
        token = {"name": name, "remain_quota": PLENTY}
        headers = self.owners[owner] | {"prefer": "return=representation"}
        created = self.all[0].call("POST", "/api/token/", token, **headers).data()
        return created["id"], created["key"]

    def call(self, server: int, call: str, body: dict[str, Any], timeout: float = 10) -> Answer:
        """A call of the gateway."""
        return self.all[server].call("POST", f"/api/gateway/{call}", body, timeout, **self.gateway)
