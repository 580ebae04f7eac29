"""Processes that fork, as `gunicorn --preload` does: parent and child have nothing in common."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from .clients import wait_until
from .service import Account, Key, LossyProxy, Service, free_port

# Runs in a process of its own. The event loop of the parent is in a thread, so that it goes on while children run.
PROGRAM = """
import asyncio, inspect, json, logging, os, sys, threading
from keymeter_client import AsyncKeymeter, AsyncKeymeterTokens, Keymeter, KeymeterTokens

logging.basicConfig(level=logging.INFO)
name, url, credential, *keys = sys.argv[1:]
client = globals()[name](url, credential)
loop = asyncio.new_event_loop()
threading.Thread(target=loop.run_forever, daemon=True).start()

async def done(call):
    return await call if inspect.isawaitable(call) else call

async def field(call, name):
    return getattr(await done(call), name)

def parent(work):
    return asyncio.run_coroutine_threadsafe(work, loop).result()

def fork(work):
    "Runs this in a child; returns where its result can be read."
    read, write = os.pipe()
    if os.fork() == 0:
        os.close(read)
        os.write(write, json.dumps(asyncio.run(work)).encode())
        os._exit(0)
    os.close(write)
    return read

def result(read):
    with open(read) as said:
        return json.load(said)

def say(value):
    print(json.dumps(value), flush=True)

"""
KINDS = ["Keymeter", "AsyncKeymeter"]


class Program:
    def __init__(self, code: str, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM + code, *arguments],
            env={"PYTHONPATH": "src"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def says(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise AssertionError(self._process.communicate(timeout=30)[1])
        return json.loads(line)

    def goes_on(self) -> str:
        """Lets it read a line, and returns what it logged until its end."""
        errors = self._process.communicate("\n", timeout=60)[1]
        assert self._process.returncode == 0, errors
        return errors


@pytest.mark.parametrize("kind", [*KINDS, "KeymeterTokens", "AsyncKeymeterTokens"])
def test_each_process_gets_the_answers_to_its_own_questions(
    service: Service, account: Account, proxy: LossyProxy, kind: str
) -> None:
    keys = [account.key() for _ in range(4)]
    if "Tokens" in kind:
        credential, asked, call = account.access_token, [str(key.token_id) for key in keys], "get(int(key)), 'id'"
    else:
        credential, asked, call = service.credential, [key.text for key in keys], "verify(key), 'token_id'"
    code = f"""
async def asks(key):
    return [await field(client.{call}) for _ in range(40)]

first = parent(asks(keys[0]))
children = [fork(asks(key)) for key in keys[1:]]
again = parent(asks(keys[0]))
say([first + again, *[result(child) for child in children]])
"""
    program = Program(code, kind, proxy.url, credential, *asked)
    said = program.says()
    assert [set(ids) for ids in said] == [{key.token_id} for key in keys]
    program.goes_on()
    assert proxy.connections == 4


@pytest.mark.parametrize("kind", KINDS)
def test_a_settlement_that_waits_is_that_of_the_parent(
    service: Service, account: Account, proxy: LossyProxy, kind: str
) -> None:
    key = account.key(100)
    code = """
async def spends():
    spend = client.spend(keys[0], quota=50)
    await done(spend.begin())
    spend.cost(quota=20)
    await done(spend.end())

async def child():
    waiting = client.waiting
    await done(client.close())
    return waiting

parent(spends())
say([client.waiting, result(fork(child()))])
input()
parent(done(client.close()))
"""
    proxy.keep, proxy.drop = 1, 10**6
    program = Program(code, kind, proxy.url, service.credential, key.text)
    assert program.says() == [1, 0]
    proxy.drop = 0
    assert "not sent" not in program.goes_on()
    assert (account.used(key), len(account.charges(key))) == (20, 1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_spend_ends_in_the_process_in_which_it_began(service: Service, account: Account, kind: str) -> None:
    key = account.key(100)
    code = """
spend = client.spend(keys[0], quota=50)
parent(done(spend.begin()))

async def child():
    said = []
    for call in (lambda: spend.cost(quota=1), lambda: spend.extend(quota=60)):
        try:
            await done(call())
        except RuntimeError as error:
            said.append(str(error))
    await done(spend.end(SystemExit()))
    await done(client.close())
    return said

say(result(fork(child())))
spend.cost(quota=20)
parent(done(spend.end()))
parent(done(client.close()))
"""
    program = Program(code, kind, service.url, service.credential, key.text)
    assert program.says() == ["this spend began in another process: tell its costs there"] * 2
    program.goes_on()
    assert (account.used(key), len(account.charges(key))) == (20, 1)


@pytest.mark.parametrize("kind", KINDS)
def test_copies_of_a_spend_hold_and_charge_each_for_itself(service: Service, account: Account, kind: str) -> None:
    key = account.key(100)
    code = """
spend = client.spend(keys[0], quota=20)

async def child(quota):
    await done(spend.begin())
    spend.cost(quota=quota)
    await done(spend.end())
    charged = await done(client.charge(keys[0], quota=1))
    return [spend.reservation.reservation_id, charged.request_id]

children = [fork(child(quota)) for quota in (10, 11, 12)]
say([result(child) for child in children])
"""
    program = Program(code, kind, service.url, service.credential, key.text)
    reservations, request_ids = zip(*program.says(), strict=True)
    assert (len(set(reservations)), len(set(request_ids))) == (3, 3)
    program.goes_on()
    assert (account.used(key), len(account.charges(key))) == (36, 6)


@pytest.mark.parametrize("kind", KINDS)
def test_a_closed_client_is_closed_in_a_child_too(service: Service, kind: str) -> None:
    code = """
parent(done(client.close()))

async def child():
    said = []
    for call in (lambda: client.verify("sk-1"), lambda: client.spend("sk-1", quota=1).begin()):
        try:
            await done(call())
        except Exception as error:
            said.append(str(error))
    return said

say(result(fork(child())))
"""
    program = Program(code, kind, service.url, service.credential)
    assert program.says() == ["no answer from Keymeter (this client was closed)", "this client was closed"]
    program.goes_on()


APPLICATION = """
import os
from keymeter_client import Keymeter

km = Keymeter()
# As a program that checks its settings before it serves: the connection is that of the first process.
assert km.verify("sk-1").reason == "invalid_key"

def application(environ, start_response):
    token_id = km.verify(environ["HTTP_X_KEY"]).token_id
    start_response("200 OK", [("X-Process", str(os.getpid()))])
    return [str(token_id).encode()]
"""


def test_the_workers_of_gunicorn_with_preload_get_the_answers_to_their_own_questions(
    service: Service, account: Account, proxy: LossyProxy, tmp_path: Path
) -> None:
    # Long enough for all workers to ask before the first answer.
    proxy.delay = 0.2
    (tmp_path / "application.py").write_text(APPLICATION)
    keys = [account.key() for _ in range(12)]
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "--preload", "--workers=4", f"--bind=127.0.0.1:{port}", "application"]
    environment = {
        "KEYMETER_URL": proxy.url,
        "KEYMETER_CREDENTIAL": service.credential,
        "PYTHONPATH": str(Path("src").absolute()),
    }
    limits = httpx.Limits(max_keepalive_connections=0)
    with (
        subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE) as server,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30, limits=limits) as http,
        ThreadPoolExecutor(len(keys)) as pool,
    ):

        def asks(key: Key) -> tuple[str, str]:
            answer = http.get("/", headers={"X-Key": key.text}).raise_for_status()
            return answer.text, answer.headers["x-process"]

        def listens() -> bool:
            try:
                return asks(keys[0]) is not None
            except httpx.ConnectError:
                return False

        try:
            wait_until("it listens", listens)
            answers = list(pool.map(asks, keys * 2))
        finally:
            server.terminate()
    assert [token_id for token_id, _ in answers] == [str(key.token_id) for key in keys] * 2
    assert len({process for _, process in answers}) > 1
