"""Answers that are huge, endless or lie about their length: they cost the hold, and take little memory of what meters them."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from fixtures import plan
from front import Door, EnvoyDoor, hold
from processes import Program, eventually
from programs import Key

MIB = 1024 * 1024
# Of each answer so much is sent, or taken by its client.
SENT = 48 * MIB
# What may be taken for it: the front has two buffers of 64 KiB, keymeter-envoy 1 MiB that Envoy has sent ahead, and both the
# 10,000 members of a usage that the meter keeps. The rest are pages of the program that its first request needs. Seen: at most
# 14 MiB, of 48 MiB as of 400.
MEMORY = 24 * MIB

WHOLE = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
EIGHT_GB = WHOLE + b"Content-Length: 8589934592\r\n\r\n"
WORDS = b"word " * 1000
EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"' + WORDS + b'"}}]}\n\n'

# What it begins with, and what is repeated.
ANSWERS: dict[str, tuple[bytes, bytes]] = {
    "8 GB of one string": (EIGHT_GB + b'{"id":"', b"x"),
    "8 GB of choices": (EIGHT_GB + b'{"choices":[', b'{"index":0,"message":{"content":"' + WORDS + b'"}},'),
    "8 GB of usage": (EIGHT_GB + b'{"usage":{"prompt_tokens_details":[', b'{"cached_tokens":1},'),
    "an endless stream": (STREAM, EVENT),
    "an endless line": (STREAM + b'data: {"choices":[{"index":0,"delta":{"content":"', WORDS),
    "endless lines of one event": (STREAM, b"data: " + b"[1," * 1000 + b"\n"),
    "an endless name of a field": (STREAM, b"data"),
}


class Endless:
    """An upstream that sends this, and repeats the last part until so much is sent or nobody takes it."""

    def __init__(self, begin: bytes, part: bytes, length: float) -> None:
        self.begin, self.block, self.length = begin, part * (64 * 1024 // len(part)), length
        self.sent = 0

    def serve(self, listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection, suppress(OSError):
            connection.recv(100_000)
            connection.sendall(self.begin)
            while self.sent < self.length:
                connection.sendall(self.block)
                self.sent += len(self.block)

    def stalls(self) -> bool:
        before = self.sent
        time.sleep(1)
        return self.sent == before


@contextmanager
def upstream_of(begin: bytes, part: bytes, length: float) -> Iterator[tuple[str, Endless]]:
    endless = Endless(begin, part, length)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=endless.serve, args=(listener,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", endless
        thread.join(30)
        assert not thread.is_alive(), "the upstream still sends"


def memory(program: Program, of: str = "VmRSS") -> int:
    """Its memory in bytes: now, or with VmHWM the most that it had since `forget_peak`."""
    assert program.process is not None
    found = re.search(rf"{of}:\s+(\d+) kB", Path(f"/proc/{program.process.pid}/status").read_text())
    assert found
    return int(found[1]) * 1024


def forget_peak(program: Program) -> None:
    assert program.process is not None
    Path(f"/proc/{program.process.pid}/clear_refs").write_text("5")


@contextmanager
def in_little_memory(program: Program) -> Iterator[None]:
    forget_peak(program)
    before = memory(program)
    yield
    grown = memory(program, "VmHWM") - before
    assert grown < MEMORY, f"{grown // MIB} MiB"


@contextmanager
def asked(door: Door, key: Key, body: bytes) -> Iterator[httpx.Response]:
    headers = {"Authorization": f"Bearer {key.secret}"}
    with httpx.stream("POST", f"{door.url}/v1/chat/completions", content=body, headers=headers, timeout=60) as answer:
        assert answer.status_code == 200
        yield answer


def ended(door: Door, key: Key, body: bytes, is_seen: bool) -> None:
    """It costs the hold. Envoy leaves the API as soon as its client leaves: then what was seen counts if that is more, up to
    all that the key has. The front reads on, and charges the hold when it has read 64 MiB."""
    eventually(lambda: key.charges() and key.held() == 0, 60)
    key.settled("1" if is_seen and isinstance(door, EnvoyDoor) else hold(body, 500))


@pytest.mark.parametrize("kind", ANSWERS)
def test_an_answer_that_is_too_long_costs_the_hold(open_door: Callable[..., Door], key: Key, kind: str) -> None:
    begin, part = ANSWERS[kind]
    is_stream = begin.startswith(STREAM)
    body = json.dumps({"model": "chat", "max_tokens": 500, "messages": plan(), "stream": is_stream}).encode()
    taken = 0
    # A whole answer is cut, and a stream goes on until its client leaves.
    with upstream_of(begin, part, float("inf") if is_stream else SENT) as (url, endless):
        door = open_door(to=url)
        with in_little_memory(door.meter):
            with asked(door, key, body) as answer, suppress(httpx.RemoteProtocolError, httpx.ReadError):
                for chunk in answer.iter_raw():
                    taken += len(chunk)
                    if is_stream and taken > SENT:
                        break
                else:
                    raise AssertionError("an answer that broke ended well")
            ended(door, key, body, is_seen=kind in ("an endless stream", "an endless line"))
    assert taken > SENT // 2
    assert endless.sent >= taken - len(begin)


def test_a_client_that_takes_nothing_fills_no_memory(open_door: Callable[..., Door], key: Key) -> None:
    body = json.dumps({"model": "chat", "max_tokens": 500, "messages": plan(), "stream": True}).encode()
    with upstream_of(STREAM, EVENT, float("inf")) as (url, endless):
        door = open_door(to=url)
        with in_little_memory(door.meter), asked(door, key, body):
            assert any(endless.stalls() for _ in range(30)), f"{endless.sent // MIB} MiB were read ahead"
        ended(door, key, body, is_seen=True)
