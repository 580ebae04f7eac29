"""Processes of the tests: started with a log, ended with all that they started."""

from __future__ import annotations

import contextlib
import os
import pwd
import random
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import psutil

# PostgreSQL refuses to be root.
ACCOUNT = "postgres" if os.geteuid() == 0 else None


def give(path: Path) -> None:
    """Makes a file or directory that of the account which PostgreSQL runs as."""
    if ACCOUNT:
        entry = pwd.getpwnam(ACCOUNT)
        os.chown(path, entry.pw_uid, entry.pw_gid)


def eventually(what: str, check: Callable[[], Any], seconds: float = 60, pause: float = 0.2) -> Any:
    """Returns what `check` returns as soon as that is true; errors count as not yet."""
    end = time.monotonic() + seconds
    last: object = None
    while time.monotonic() < end:
        try:
            if last := check():
                return last
        except Exception as error:
            last = error
        time.sleep(pause)
    raise AssertionError(f"not within {seconds} s: {what}; last: {last!r}")


def free_port() -> int:
    """Below the ports of outgoing connections, one of which could take it before the program listens."""
    while True:
        port = random.randrange(10_000, 32_768)
        with socket.socket() as listener, contextlib.suppress(OSError):
            listener.bind(("127.0.0.1", port))
            return port


def family(process: psutil.Process) -> list[psutil.Process]:
    with contextlib.suppress(psutil.NoSuchProcess):
        return [process, *process.children(recursive=True)]
    return []


def signal_all(processes: Iterable[psutil.Process], how: signal.Signals) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(how)


class Program:
    """A process whose output goes to a file."""

    def __init__(self, command: list[str], environment: dict[str, str], log: Path, account: str | None = None) -> None:
        self.command, self.environment, self.log, self.account = command, environment, log, account
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        keep = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "TMPDIR")}
        as_account = {"user": self.account, "group": self.account, "extra_groups": []} if self.account else {}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                env=keep | self.environment,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **as_account,
            )

    def family(self) -> list[psutil.Process]:
        if self.process is None or self.process.poll() is not None:
            return []
        return family(psutil.Process(self.process.pid))

    def kill(self) -> None:
        signal_all(self.family(), signal.SIGKILL)
        if self.process:
            self.process.wait()

    def terminate(self, seconds: float = 40) -> int:
        assert self.process is not None
        self.process.terminate()
        return self.process.wait(seconds)
