"""Prices that `keymeter prices convert` makes of LiteLLM's list, against what LiteLLM says that requests cost."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import litellm
import pytest
from processes import KeymeterServer
from programs import QUOTA_PER_USD, Keymeter

tomllib = pytest.importorskip("tomllib", reason="Python 3.10 reads no TOML")
LIST = Path(litellm.__file__).with_name("model_prices_and_context_window_backup.json")
# Input and output tokens, and those parts of the input that are read from the cache and written to it.
COUNTS = [(1000, 500, 0, 0), (0, 7, 0, 0), (300_000, 10, 0, 0), (150_000, 10, 0, 0), (2000, 10, 400, 0), (5000, 10, 0, 2000)]
# LiteLLM computes these without the rates of long prompts and of writing to the cache that are in its list.
WITHOUT_ALL_RATES = "perplexity/"
MAX_CHARGES = 1000


def converted(folder: Path) -> Path:
    file = folder / "prices.toml"
    command = [os.environ["KEYMETER_PROGRAM"], "prices", "convert", "--from", "litellm", str(LIST)]
    with file.open("wb") as output:
        subprocess.run(command, stdout=output, stderr=subprocess.DEVNULL, check=True, timeout=60)
    return file


@pytest.fixture
def priced(tmp_path: Path) -> Iterator[Keymeter]:
    """A Keymeter with these prices and a database of its own: servers of one database have the same prices."""
    tmp_path.chmod(0o711)
    for parent in tmp_path.parents[:2]:
        parent.chmod(0o711)
    server = Keymeter(os.environ["KEYMETER_PROGRAM"], "", tmp_path)
    server.environment["KEYMETER_DATABASE__PROGRAMS"] = os.environ["KEYMETER_DATABASE__PROGRAMS"]
    server.command[1:1] = ["--config", str(converted(tmp_path))]
    KeymeterServer.start(server)
    try:
        server.sign_in()
        yield server
        server.doctor()
    finally:
        server.stop()


def usd_of_litellm(model: str, counts: tuple[int, int, int, int]) -> float | None:
    """None if it does not know whose model this is."""
    prompt, completion, cached, written = counts
    try:
        costs = litellm.cost_per_token(
            model=model,
            prompt_tokens=prompt,
            completion_tokens=completion,
            cache_read_input_tokens=cached,
            cache_creation_input_tokens=written,
        )
    except Exception:
        return None
    return sum(costs)


def requests(prices: dict[str, Any]) -> Iterator[tuple[str, tuple[int, int, int, int], float]]:
    listed = json.loads(LIST.read_text())
    for model, price in prices.items():
        # LiteLLM counts the hour too.
        if "off_peak_pricing" in listed[model]:
            continue
        # Signing in to it is a question over the network.
        if model.startswith((WITHOUT_ALL_RATES, "github_copilot/")):
            continue
        for counts in COUNTS:
            # LiteLLM has no price for parts without a rate; here they cost what the input does.
            if (counts[2] and "cached" not in price) or (counts[3] and "cache_write" not in price):
                continue
            usd = usd_of_litellm(model, counts)
            if usd is None:
                break
            yield model, counts, usd


def test_a_request_costs_what_litellm_says_within_one_unit(priced: Keymeter) -> None:
    key = priced.key("1000000")
    prices = tomllib.loads(Path(priced.command[2]).read_text())["prices"]
    assert len(prices) > 2000
    asked = list(requests(prices))
    assert len({model for model, _, _ in asked}) > 0.9 * len(prices)
    wrong = []
    for start in range(0, len(asked), MAX_CHARGES):
        some = asked[start : start + MAX_CHARGES]
        charges = [
            {
                "key": key.secret,
                "model": model,
                "prompt_tokens": prompt,
                "completion_tokens": completion,
                "cached_tokens": cached,
                "cache_write_tokens": written,
            }
            for model, (prompt, completion, cached, written), _ in some
        ]
        outcomes = charge(priced, charges)
        for (model, counts, usd), outcome in zip(some, outcomes, strict=True):
            units = outcome.get("charged")
            if units is None or not -1e-6 < units - usd * QUOTA_PER_USD < 1 + 1e-6:
                wrong.append((model, counts, usd, outcome))
    assert not wrong, json.dumps(wrong[:20], indent=1)


def charge(priced: Keymeter, charges: list[dict[str, Any]]) -> list[dict[str, Any]]:
    outcomes: list[dict[str, Any]] = priced.ask(
        "POST", "/api/gateway/charges", {"charges": charges}, Authorization=f"Bearer {priced.credential}"
    )
    return outcomes
