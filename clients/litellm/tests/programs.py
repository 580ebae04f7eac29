"""The programs that the tests start: Keymeter, the provider, LiteLLM's proxy. All listen on loopback."""

from __future__ import annotations

import json
import math
import os
import secrets
import shutil
import sys
from decimal import ROUND_HALF_EVEN, Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx
from processes import KeymeterServer, Program, eventually, free_port

HERE = Path(__file__).parent
MASTER_KEY = "sk-master-of-the-tests"
QUOTA_PER_USD = 500_000
PICO = Decimal("1e-12")


def quota(usd: str | Decimal) -> int:
    """What Keymeter charges for it."""
    return math.ceil(Decimal(usd).quantize(PICO, ROUND_HALF_EVEN) * QUOTA_PER_USD)


class Keymeter(KeymeterServer):
    def sign_in(self) -> None:
        self.root = httpx.Client(base_url=self.url, headers={"Origin": self.url}, timeout=10)
        self.id = self.ask("POST", "/api/user/login", {"username": "root", "password": "of the tests"})["id"]
        self.ask("POST", f"/api/admin/users/{self.id}/quota", {"delta": 10**12})
        self.credential: str = self.ask("POST", "/api/admin/gateways", {"name": f"litellm {secrets.token_hex(4)}"})[
            "credential"
        ]

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Any:
        answer = self.root.request(method, path, json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        assert answer.json()["success"], answer.text
        return answer.json().get("data")

    def key(self, usd: str = "1", **fields: object) -> Key:
        name = f"key {secrets.token_hex(8)}"
        body = {"name": name, "remain_quota": quota(usd), **fields}
        made = self.ask("POST", "/api/token/", body, Prefer="return=representation")
        return Key(self, made["id"], made["key"], name)


class Key:
    """An API key, and what was charged to it."""

    def __init__(self, keymeter: Keymeter, number: int, secret: str, name: str) -> None:
        self.keymeter, self.id, self.secret, self.name = keymeter, number, secret, name

    def __repr__(self) -> str:
        return f"Key({self.name})"

    def now(self) -> dict[str, Any]:
        found: dict[str, Any] = self.keymeter.ask("GET", f"/api/token/{self.id}")
        return found

    def edit(self, **fields: object) -> None:
        self.keymeter.ask("PUT", "/api/token/", {"id": self.id, **fields})

    def disable(self) -> None:
        self.keymeter.ask("PUT", "/api/token/?status_only=true", {"id": self.id, "status": 2})

    def charges(self) -> list[dict[str, Any]]:
        """Newest first."""
        found = self.keymeter.ask("GET", f"/api/log/self?token_name={self.name.replace(' ', '%20')}&page_size=100")
        rows: list[dict[str, Any]] = found["items"] if isinstance(found, dict) else found
        return rows

    def settled(self, *usd: str | Decimal) -> None:
        """Exactly these costs were charged, to the unit, and nothing is held any more."""
        expected = sorted(quota(each) for each in usd)

        def charged() -> bool:
            charged = sorted(row["quota"] for row in self.charges() if row["quota"])
            return charged == [each for each in expected if each] and self.now()["used_quota"] == sum(expected)

        try:
            eventually(charged)
        except AssertionError:
            charges, used = [row["quota"] for row in self.charges()], self.now()["used_quota"]
            raise AssertionError(f"charged {charges}, used {used}, expected {expected}") from None

    def held(self) -> int:
        """What is held now: used without a charge."""
        used: int = self.now()["used_quota"]
        return used - sum(row["quota"] for row in self.charges())


class Upstream(Program):
    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        super().__init__([sys.executable, str(HERE / "upstream.py"), str(self.port)], {}, folder / "upstream.log")

    def start(self) -> None:
        super().start()
        self.ready(f"{self.url}/calls")

    def calls(self) -> dict[str, int]:
        counts: dict[str, int] = httpx.get(f"{self.url}/calls").json()
        return counts

    def request(self, name: str) -> dict[str, Any]:
        """The last one whose plan had this "id"."""
        found: dict[str, Any] = httpx.get(f"{self.url}/requests/{name}").json()
        return found

    def body(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.request(name)["body"])
        return found


class LiteLLM(Program):
    def __init__(
        self, config: str, folder: Path, keymeter_url: str, credential: str, *arguments: str, **environment: str
    ) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        path = folder / f"config-{self.port}.yaml"
        path.write_text(config)
        # LiteLLM finds plug-ins that are not installed beside its configuration.
        for name in ("recorder.py", "saboteur.py", "forgetful.py"):
            shutil.copy(HERE / name, folder)
        self.reports_path = folder / f"reports-{self.port}"
        program = Path(sys.executable).parent / "litellm"
        command = [str(program), "--config", str(path), "--host", "127.0.0.1", "--port", str(self.port), *arguments]
        settings = {
            "KEYMETER_URL": keymeter_url,
            "KEYMETER_CREDENTIAL": credential,
            "LITELLM_MASTER_KEY": MASTER_KEY,
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_TELEMETRY": "False",
            "PYTHONUNBUFFERED": "1",
            "REPORTS": str(self.reports_path),
            # Where scripts/gateways.sh has the newest LiteLLM.
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            **environment,
        }
        super().__init__(command, settings, folder / f"litellm-{self.port}.log")

    def start_only(self) -> None:
        super().start()

    def start(self) -> None:
        self.start_only()
        self.ready(f"{self.url}/health/liveliness")
        running = Path(f"{self.reports_path}.version").read_text()
        expected = os.environ.get("LITELLM_VERSION") or version("litellm")
        assert running == expected, f"LiteLLM {running} runs, not {expected}"

    def reports(self, key: Key) -> list[Decimal]:
        """What LiteLLM says that the requests with this key cost, in dollars."""
        text = self.reports_path.read_text() if self.reports_path.exists() else ""
        rows = [json.loads(line) for line in text.splitlines()]
        # Floats, as LiteLLM adds them up: 0.00035499999999999996.
        return [Decimal(row["usd"]).quantize(PICO) for row in rows if row["key"] == key.name]

    def reported(self, key: Key, count: int, seconds: float = 15) -> list[Decimal]:
        """The same, as soon as there are so many."""
        eventually(lambda: len(self.reports(key)) >= count, seconds)
        found = self.reports(key)
        assert len(found) == count, found
        return found
