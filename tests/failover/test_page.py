"""docs/scaling.md shows the files that the tests use."""

from __future__ import annotations

from pathlib import Path

from cluster import RECIPE


def test_the_page_shows_the_files() -> None:
    page = (Path(__file__).parents[2] / "docs/scaling.md").read_text()
    missing = [file.name for file in sorted(RECIPE.iterdir()) if f"\n{file.read_text()}```" not in page]
    assert not missing, f"docs/scaling.md shows something else than tests/failover/recipe/: {missing}"


def test_the_page_installs_what_is_tested() -> None:
    page = (Path(__file__).parents[2] / "docs/scaling.md").read_text()
    patroni = (Path(__file__).parent / "requirements.in").read_text().splitlines()
    version = next(line for line in patroni if line.startswith("patroni"))
    assert f"pip install '{version}'" in page
