"""What the tests of every gateway share: the provider, Keymeter, and the requests that tell the provider what to do."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from programs import Keymeter, Upstream


def plan(**fields: object) -> list[dict[str, Any]]:
    """Messages that tell the provider what to do. No two are the same."""
    return [{"role": "user", "content": json.dumps({"nonce": secrets.token_hex(8), **fields})}]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.get_closest_marker("last") is not None)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


@pytest.fixture(scope="session")
def upstream(folder: Path) -> Iterator[Upstream]:
    program = Upstream(folder)
    program.start()
    yield program
    program.stop()


def running_keymeter(folder: Path, config: str | None = None) -> Iterator[Keymeter]:
    """The Keymeter of KEYMETER_RUNNING, or one that is started for these tests."""
    running = os.environ.get("KEYMETER_RUNNING")
    port = int(running) if running else None
    program = Keymeter(os.environ["KEYMETER_PROGRAM"], os.environ["DATABASE_URL"], folder, port, config)
    if not running:
        program.start()
    try:
        program.sign_in()
        yield program
        # Every hold of every test has ended, and every balance is the sum of its charges.
        program.doctor()
    finally:
        program.stop()
