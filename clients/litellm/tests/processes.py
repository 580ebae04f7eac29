"""Processes of the tests, with nothing but Python's own library: Keymeter runs before the rest is installed.

python processes.py FILE [CONFIG]: runs Keymeter until SIGTERM, and writes its port and DATABASE_URL into FILE when it answers.
CONFIG is a file with settings.
"""

from __future__ import annotations

import http.client
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any


def free_port() -> int:
    """Below the range of ports for outgoing connections, which may take another one before the program listens."""
    while True:
        port = random.randrange(10_000, 32_768)
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def eventually(check: Callable[[], object], seconds: float = 15) -> Any:
    """What `check` returns as soon as it is true; else fails with the last one."""
    end = time.monotonic() + seconds
    while not (found := check()):
        assert time.monotonic() < end, f"not within {seconds} s: {found!r}"
        time.sleep(0.05)
    return found


class Program:
    """A process with its log in a file."""

    def __init__(self, command: list[str], environment: dict[str, str], log: Path) -> None:
        self.command, self.environment, self.log_path = command, environment, log
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        keep = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "TMPDIR")}
        with self.log_path.open("ab") as log:
            # A group of its own, which has the workers too.
            self.process = subprocess.Popen(
                self.command,
                env=keep | self.environment,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    def stop(self, how: signal.Signals = signal.SIGTERM, seconds: float = 40) -> int | None:
        if self.process is None:
            return None
        if self.process.poll() is None:
            if how is signal.SIGKILL:
                os.killpg(self.process.pid, how)
            else:
                self.process.send_signal(how)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            raise

    def ready(self, url: str, seconds: float = 90) -> None:
        def answers() -> bool:
            assert self.process is not None
            assert self.process.poll() is None, f"it ended: {self.log()[-3000:]}"
            try:
                with urllib.request.urlopen(url, timeout=2) as answer:
                    return bool(answer.status == 200)
            except (OSError, http.client.HTTPException):
                return False

        try:
            eventually(answers, seconds)
        except BaseException:
            # Also at Ctrl-C: nobody else would end it.
            self.stop(signal.SIGKILL)
            raise

    def log(self) -> str:
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""


class KeymeterServer(Program):
    def __init__(self, program: str, database: str, folder: Path, port: int | None = None, config: str | None = None) -> None:
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        environment = {
            "DATABASE_URL": database,
            "KEYMETER_DATA_DIR": str(folder / "data"),
            "KEYMETER_SERVER__LISTEN": f"127.0.0.1:{self.port}",
            "KEYMETER_ROOT__PASSWORD": "of the tests",
            "KEYMETER_ACCOUNTS__TOKEN_API": "enabled",
            "KEYMETER_SECRETS__MASTER_KEY": "5" * 64,
            **{f"KEYMETER_LIMITS__{name}_PER_MINUTE": "100000" for name in ("USAGE", "DROP_IN", "WRONG_KEYS", "SEARCH")},
        }
        self.arguments = ["--config", config] if config else []
        super().__init__([program, "serve", *self.arguments], environment, folder / "keymeter.log")

    def start(self) -> None:
        super().start()
        self.ready(f"{self.url}/readyz")

    def doctor(self) -> str:
        environment = {"PATH": os.environ["PATH"], **self.environment}
        command = [self.command[0], "doctor", *self.arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


if __name__ == "__main__":

    def end(*_: object) -> None:
        raise SystemExit

    signal.signal(signal.SIGTERM, end)
    # From the terminal. Who started this process ends it when the tests have ended.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with tempfile.TemporaryDirectory() as temporary:
        server = KeymeterServer(
            os.environ["KEYMETER_PROGRAM"],
            os.environ["DATABASE_URL"],
            Path(temporary),
            config=sys.argv[2] if len(sys.argv) > 2 else None,
        )
        try:
            server.start()
            Path(sys.argv[1]).write_text(f"{server.port} {os.environ['DATABASE_URL']}\n")
            while True:
                signal.pause()
        finally:
            server.stop()
