"""The client for threads is the one that is generated from the client for asyncio."""

from __future__ import annotations

import pytest

import generate


@pytest.mark.parametrize("name", generate.GENERATED)
def test_each_generated_file_is_that_of_its_source(name: str) -> None:
    assert (generate.PACKAGE / name).read_text() == generate.generated()[name], "run: scripts/clients.sh generate"
