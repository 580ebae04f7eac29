"""Writes the client for threads from the client for asyncio, so that each call is written once.

To change a generated file, change its source and run `scripts/clients.sh generate`, which runs this.

What is not the same on both sides is in `background.py` and `async_background.py`, which are written by hand. A line of
a source with the comment `asyncio only` is left out.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import unasync  # type: ignore[import-untyped]

HERE = Path(__file__).parent
PACKAGE = HERE / "src" / "keymeter_client"
# The source of each has the same name with `async_` in front.
GENERATED = ("client.py", "token_client.py", "transport.py")
ONLY = "# asyncio only"

# Beside what unasync knows itself, and names that begin with `Async` or `async_`, which lose that.
NAMES = {"aclose": "close", "aiter_raw": "iter_raw", "asyncio": "time"}  # asyncio.sleep
# What the documentation of the client for threads says instead.
TEXTS = {
    "an `async with`": "a `with`",
    "`async with`": "`with`",
    "`Async": "`",
    ', for asyncio."""': ', for programs without asyncio."""',
    'client for asyncio."""': 'client for programs without asyncio."""',
    "gateways, for asyncio. Use it in one event loop of each process.": (
        "gateways. Safe to use from several threads, and in the children of a fork."
    ),
    "Use it in one event loop.": "Safe to use from several threads.",
    "`renew` extends the hold before it ends. `on_expiry` says what happens if this program dies meanwhile.": (
        "The hold ends after `ttl_seconds`, 600 if it says nothing else; `Spend.extend` gives it more time.\n"
        "        `on_expiry` says what happens if this program dies meanwhile."
    ),
}
HEADER = "# Generated from {source} by `scripts/clients.sh generate`. Do not edit.\n"


def generated() -> dict[str, str]:
    """The text of each generated file."""
    sources = {name: (PACKAGE / f"async_{name}").read_text() for name in GENERATED}
    for text in TEXTS:
        assert any(text in source for source in sources.values()), f"no source says: {text}"
    return {name: HEADER.format(source=f"async_{name}") + _of_threads(name, source) for name, source in sources.items()}


def _of_threads(name: str, source: str) -> str:
    for text, instead in TEXTS.items():
        source = source.replace(text, instead)
    source = "".join(line for line in source.splitlines(keepends=True) if ONLY not in line)
    names = {found: re.sub("^(Async|async_)", "", found) for found in re.findall(r"\b(?:Async[A-Z]|async_)\w+", source)}
    with TemporaryDirectory() as folder:
        # unasync replaces the folder by the other one in the name of the file that it writes.
        path = Path(folder) / "asyncio" / name
        path.parent.mkdir()
        path.write_text(source)
        rule = unasync.Rule("/asyncio/", "/threads/", additional_replacements={**names, **NAMES})
        unasync.unasync_files([str(path)], [rule])
        text = (Path(folder) / "threads" / name).read_text()
    # Lines are shorter without `async` and `await`, and names are in another order.
    for command in ("check", "--fix-only", "--select=I"), ("format",):
        ruff = [sys.executable, "-m", "ruff", *command, "--quiet", f"--stdin-filename={PACKAGE / name}", "-"]
        text = subprocess.run(ruff, cwd=HERE, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout
    return text


if __name__ == "__main__":
    for name, text in generated().items():
        (PACKAGE / name).write_text(text)
