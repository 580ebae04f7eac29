"""The SDKs of OpenAI and Anthropic for Node.js get what those for Python get."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

from front import HERE, Front, cost
from programs import Key, Keymeter


def node(what: str, url: str, key: Key) -> dict[str, Any]:
    """What sdks/calls.cjs tells of these calls."""
    command = ["node", str(HERE / "sdks/calls.cjs"), what, url, key.secret]
    environment = {"PATH": os.environ["PATH"], "NODE_PATH": f"{os.environ['SDKS']}/node_modules"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)  # noqa: S603
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_node_sdk_of_openai(front: Front, key: Key) -> None:
    assert node("openai", front.url, key) == {
        "models": ["chat"],
        "chat": "hello",
        "words": "word " * 5,
        "answer": "hello",
        "last": "response.completed",
        "embeddings": 1,
    }
    key.settled(*[cost()] * 4, cost(100, 0))


def test_the_node_sdk_of_anthropic(front: Front, key: Key) -> None:
    assert node("anthropic", front.url, key) == {"output": 50, "words": "word " * 5}
    key.settled(cost(), cost())


def test_the_node_sdks_repeat_nothing_that_time_does_not_help(front: Front, keymeter: Keymeter) -> None:
    found = node("refused", front.url, keymeter.key("0"))
    openai, anthropic = found["openai"], found["anthropic"]
    assert (openai["status"], openai["code"], openai["requests"]) == (402, "token_quota_insufficient", 1)
    assert (anthropic["status"], anthropic["requests"]) == (402, 1)


def test_a_stream_that_a_node_sdk_leaves_is_read_to_its_end(front: Front, key: Key) -> None:
    assert node("leaves", front.url, key) == {"chunks": 2}
    key.settled(cost())
