"""Needs KEYMETER_PROGRAM, KEYMETER_RUNNING and DATABASE_URL, as clients/litellm/tests does, and PORTKEY and SDKS,
where npm installed them: scripts/gateways.sh gives all of them, and the path of the shared modules."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fixtures import folder, pytest_collection_modifyitems, running_keymeter, upstream
from front import HERE, Door, EnvoyDoor, Front
from programs import Key, Keymeter, Upstream

__all__ = ["folder", "pytest_collection_modifyitems", "upstream"]

# As Ctrl-C does, it ends the programs too. scripts/gateways.sh sends it.
signal.signal(signal.SIGTERM, signal.default_int_handler)


@pytest.fixture(scope="session")
def keymeter(folder: Path) -> Iterator[Keymeter]:
    yield from running_keymeter(folder, str(HERE / "keymeter.toml"))


@pytest.fixture
def second(keymeter: Keymeter, folder: Path) -> Iterator[Keymeter]:
    """Another server on the same database, which may be killed."""
    program = Keymeter(os.environ["KEYMETER_PROGRAM"], os.environ["DATABASE_URL"], folder, config=str(HERE / "keymeter.toml"))
    program.start()
    yield program
    program.stop(signal.SIGKILL)


@pytest.fixture
def start(folder: Path, upstream: Upstream, keymeter: Keymeter) -> Iterator[Callable[..., Front]]:
    """Starts a front with settings of its own, and ends it after the test."""
    started: list[Front] = []

    def begin(*lines: str, to: str | None = None, **settings: Any) -> Front:
        url = settings.pop("keymeter_url", keymeter.url)
        credential = settings.pop("credential", keymeter.credential)
        made = Front(folder, url, credential, to or upstream.url, *lines, **settings)
        started.append(made)
        made.start()
        return made

    yield begin
    for each in started:
        each.stop(signal.SIGTERM)


@pytest.fixture(params=[Front, EnvoyDoor])
def open_door(
    request: pytest.FixtureRequest, folder: Path, upstream: Upstream, keymeter: Keymeter
) -> Iterator[Callable[..., Door]]:
    """Starts a front or an Envoy before this upstream, and ends it after the test."""
    opened: list[Door] = []

    def begin(to: str | None = None, keymeter_url: str | None = None, **settings: object) -> Door:
        door: Door = request.param(folder, keymeter_url or keymeter.url, keymeter.credential, to or upstream.url, **settings)
        opened.append(door)
        door.start()
        return door

    yield begin
    for each in opened:
        each.stop(signal.SIGTERM)


@pytest.fixture(scope="session")
def front(folder: Path, upstream: Upstream, keymeter: Keymeter) -> Iterator[Front]:
    """One for all tests that need no other settings. It ends when it has settled all."""
    program = Front(folder, keymeter.url, keymeter.credential, upstream.url)
    program.start()
    yield program
    program.stop(signal.SIGTERM)


@pytest.fixture
def key(keymeter: Keymeter) -> Key:
    """With one dollar."""
    return keymeter.key()
