"""Three servers of Keymeter, and what administrators do on them."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import urllib3
from processes import Program, eventually, free_port

ROOT_PASSWORD = "root of the tests"
MASTER_KEY = "5" * 64
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
    def __init__(self, folder: Path, environment: dict[str, str], program: str = "") -> None:
        """`program` is a path, instead of KEYMETER_PROGRAM."""
        self.address = f"127.0.0.1:{free_port()}"
        folder.mkdir()
        self.environment = environment | {
            "KEYMETER_ROOT__PASSWORD": ROOT_PASSWORD,
            "KEYMETER_SERVER__LISTEN": self.address,
            "KEYMETER_DATA_DIR": str(folder),
            "KEYMETER_LIMITS__LOGIN_PER_MINUTE": "0",
            "KEYMETER_LIMITS__WRONG_KEYS_PER_MINUTE": "0",
        }
        command = [program or os.environ["KEYMETER_PROGRAM"], "serve"]
        self.program = Program(command, self.environment, folder / "keymeter.log")
        self.pool = urllib3.HTTPConnectionPool(*self.address.split(":"), maxsize=50, retries=False)

    def call(self, method: str, path: str, body: Any = None, timeout: float = 10, **headers: str) -> Answer:
        """A request whose failure is an answer too."""
        content = None if body is None else json.dumps(body)
        try:
            answer = self.pool.request(method, path, body=content, headers=headers, timeout=timeout)
        except urllib3.exceptions.HTTPError as error:
            # A refused connection is a subclass of one that took too long.
            is_late = isinstance(error, urllib3.exceptions.TimeoutError)
            is_refused = isinstance(error, urllib3.exceptions.NewConnectionError)
            code = "no_answer_in_time" if is_late and not is_refused else "no_connection"
            return Answer(0, {"error": code, "message": str(error)})
        text = answer.data
        return Answer(answer.status, json.loads(text) if text[:1] == b"{" else {}, answer.headers)

    def stop(self) -> None:
        self.program.kill()

    def is_ready(self) -> bool:
        return self.call("GET", "/readyz", timeout=3).status == 200

    def doctor(self, program: str = "", **environment: str) -> str:
        done = subprocess.run(
            [program or self.program.command[0], "doctor"],
            env={"PATH": os.environ["PATH"]} | self.environment | environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout


class Servers:
    def __init__(self, servers: list[Server]) -> None:
        self.all = servers

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

    def create_key(self, owner: int, name: str, server: int = 0) -> tuple[int, str]:
        token = {"name": name, "remain_quota": PLENTY}
        headers = self.owners[owner] | {"prefer": "return=representation"}
        created = self.all[server].call("POST", "/api/token/", token, **headers).data()
        return created["id"], created["key"]

    def call(self, server: int, call: str, body: dict[str, Any], timeout: float = 10) -> Answer:
        """A call of the gateway."""
        return self.all[server].call("POST", f"/api/gateway/{call}", body, timeout, **self.gateway)
