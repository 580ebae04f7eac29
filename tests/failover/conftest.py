from __future__ import annotations

import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster import Cluster
from load import KEYS, REPORTS, Books
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
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    folder = Path(tempfile.mkdtemp(prefix="keymeter-failover-", dir="/var/tmp"))
    folder.chmod(0o755)
    cluster = Cluster(folder)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
        if request.session.testsfailed:
            print(f"\nfailover: the logs are in {folder}")
        else:
            shutil.rmtree(folder)


@pytest.fixture(scope="session")
def servers(cluster: Cluster) -> Iterator[Servers]:
    servers = Servers(cluster)
    try:
        servers.start()
        servers.set_up()
        yield servers
    finally:
        servers.stop()


@pytest.fixture(scope="session")
def keys(servers: Servers) -> list[tuple[int, str]]:
    return [servers.create_key(number % 3, f"key {number}") for number in range(KEYS)]


@pytest.fixture(scope="session")
def books() -> Books:
    return Books()
