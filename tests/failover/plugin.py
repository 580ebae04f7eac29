"""A plugin of pytest, for all tests that load three servers. The tests bring the fixture `servers`."""

from __future__ import annotations

import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from load import KEYS, REPORTS, Books, Keys
from servers import Servers


def pytest_configure() -> None:
    # Otherwise the programs would outlive the tests.
    for how in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(how, lambda *_: sys.exit(1))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if REPORTS:
        terminalreporter.section("measured")
    for line in REPORTS:
        terminalreporter.line(line)


@pytest.fixture(scope="session")
def folder(request: pytest.FixtureRequest) -> Iterator[Path]:
    """Of logs and data. It stays if a test fails."""
    folder = Path(tempfile.mkdtemp(prefix=f"keymeter-{request.config.rootpath.name}-", dir="/var/tmp"))
    folder.chmod(0o755)
    yield folder
    if request.session.testsfailed:
        print(f"\nthe logs are in {folder}")
    else:
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def keys(servers: Servers) -> Keys:
    return [servers.create_key(number % 3, f"key {number}") for number in range(KEYS)]


@pytest.fixture(scope="session")
def books() -> Books:
    return Books()
