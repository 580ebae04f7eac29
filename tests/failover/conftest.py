from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster import Cluster
from servers import Servers

pytest_plugins = ["plugin"]


@pytest.fixture(scope="session")
def cluster(folder: Path) -> Iterator[Cluster]:
    cluster = Cluster(folder)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture(scope="session")
def servers(cluster: Cluster) -> Iterator[Servers]:
    servers = Servers([cluster.server(number) for number in range(3)])
    try:
        servers.start()
        servers.set_up()
        yield servers
    finally:
        servers.stop()
