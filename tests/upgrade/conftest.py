from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from load import Books, Keys
from servers import Servers
from upgrade import OLDER, PlainDatabase, Upgrade

pytest_plugins = ["plugin"]


@pytest.fixture(scope="session")
def database(folder: Path) -> Iterator[PlainDatabase]:
    database = PlainDatabase(folder, os.environ["DATABASE_URL"])
    database.create()
    yield database
    database.drop()


@pytest.fixture(scope="session")
def servers(database: PlainDatabase) -> Iterator[Servers]:
    """Of the older program, which made the database."""
    servers = Servers([database.server(number, OLDER) for number in range(3)])
    try:
        servers.start()
        servers.set_up()
        yield servers
    finally:
        servers.stop()


@pytest.fixture(scope="session")
def upgrade(database: PlainDatabase, servers: Servers, keys: Keys, books: Books) -> Upgrade:
    return Upgrade(database, servers, keys, books)
