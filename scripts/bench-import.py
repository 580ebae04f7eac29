#!/usr/bin/env python3
"""Measures an import: its time, its memory, and what imported keys cost afterwards.

    scripts/bench-import.py [--users N] [--keys N] [--logs N] [--write]

Makes a SQLite database of new-api with so many users, keys and log lines, imports it into the database DATABASE_URL
(scripts/with-postgres.sh gives one), examines it with `keymeter doctor`, and starts the server on it. Then verifies
imported keys and keys made here in turn over one connection. --write puts the table into docs/performance.md.

KEYMETER_BIN is the program; target/release/keymeter by default.
"""

import argparse
import http.client
import json
import os
import pathlib
import random
import resource
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("KEYMETER_BIN", str(ROOT / "target/release/keymeter"))
PASSWORD = "the root password"
ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
ROUNDS, CALLS = 9, 1000
# Of each kind, verified in turn.
VERIFIED_KEYS = 100


def say(text):
    print(f"bench-import: {text}", file=sys.stderr)


def make_source(path, users, keys, logs):
    """A database of new-api. Returns some of its keys."""
    dice = random.Random(1)
    texts = ["".join(dice.choices(ALPHABET, k=48)) for _ in range(keys)]
    now = int(time.time())
    database = sqlite3.connect(path)
    database.executescript((ROOT / "tests/it/import/new_api.sqlite.sql").read_text())
    database.executemany(
        "insert into users (id, username, password, role, quota, used_quota, created_at) values (?, ?, '', ?, 1000000, 0, ?)",
        ((n, "root" if n == 1 else f"user{n}", 100 if n == 1 else 1, now) for n in range(1, users + 1)),
    )
    database.executemany(
        "insert into tokens (id, user_id, key, name, created_time, remain_quota) values (?, ?, ?, ?, ?, 1000)",
        ((n + 1, n % users + 1, text, f"key {n}", now) for n, text in enumerate(texts)),
    )
    database.executemany(
        "insert into logs (user_id, created_at, type, model_name, quota, token_id) values (?, ?, 2, ?, 1, ?)",
        ((n % keys % users + 1, now - dice.randrange(86400 * 80), f"model-{n % 5}", n % keys + 1) for n in range(logs)),
    )
    database.commit()
    database.close()
    return dice.sample(texts, min(VERIFIED_KEYS, keys))


class Installation:
    """The program with its data directory, on DATABASE_URL."""

    def __init__(self, directory):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{listener.getsockname()[1]}"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("KEYMETER_")}
        self.environment = kept | {
            "KEYMETER_SERVER__LISTEN": self.address,
            "KEYMETER_DATA_DIR": directory,
            "KEYMETER_ROOT__PASSWORD": PASSWORD,
        }
        self.log = pathlib.Path(directory) / "log"

    def run(self, *arguments):
        """The output, the seconds and the MiB that a command took."""
        begin = time.monotonic()
        done = subprocess.run([PROGRAM, *arguments], env=self.environment, capture_output=True, text=True, check=False)
        seconds = time.monotonic() - begin
        if done.returncode != 0:
            sys.exit(f"bench-import: keymeter {arguments[0]} failed: {done.stderr}{done.stdout}")
        return done.stdout, seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024

    def start(self):
        """The server's process, and the seconds until it was ready."""
        begin = time.monotonic()
        with open(self.log, "wb") as log:
            process = subprocess.Popen([PROGRAM], env=self.environment, stdout=log, stderr=log)
        while process.poll() is None:
            try:
                urllib.request.urlopen(f"http://{self.address}/readyz").close()
                return process, time.monotonic() - begin
            except OSError:
                time.sleep(0.02)
        sys.exit(f"bench-import: the server did not start:\n{self.log.read_text()}")

    def call(self, method, path, body=None, **headers):
        request = urllib.request.Request(
            f"http://{self.address}{path}", json.dumps(body).encode() if body else None, headers, method=method
        )
        with urllib.request.urlopen(request) as answer:
            return json.load(answer).get("data"), answer.headers


def resident(process):
    """The MiB that a process has in memory."""
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0


def stop(process):
    process.terminate()
    process.wait()


def keys_made_here(here):
    """A gateway's credential, and keys with a checksum. The root account of the source has no password, so it has that of
    this installation."""
    _, headers = here.call("POST", "/api/user/login", {"username": "root", "password": PASSWORD})
    cookie = headers["Set-Cookie"].split(";")[0]
    root = here.call("GET", "/api/user/token", Cookie=cookie, Origin=f"http://{here.address}")[0]
    made = [
        here.call("POST", "/api/token/", {"name": f"own {n}", "remain_quota": 1000}, Authorization=root, Prefer="return=representation")
        for n in range(VERIFIED_KEYS)
    ]
    gateway, _ = here.call("POST", "/api/admin/gateways", {"name": "bench"}, Authorization=root)
    return gateway["credential"], [token["key"] for token, _ in made]


def time_of_verify(here, credential, keys):
    """The median microseconds of a verification, over one connection."""
    connection = http.client.HTTPConnection(here.address)
    headers = {"Authorization": f"Bearer {credential}", "Content-Type": "application/json"}
    times = []
    for n in range(CALLS):
        body = json.dumps({"key": keys[n % len(keys)]})
        begin = time.perf_counter()
        connection.request("POST", "/api/gateway/verify", body, headers)
        answer = connection.getresponse().read()
        times.append(time.perf_counter() - begin)
        assert b'"valid":true' in answer, answer
    connection.close()
    return statistics.median(times) * 1e6


def write(table):
    page = ROOT / "docs/performance.md"
    text = page.read_text()
    begin, end = "<!-- import -->\n", "<!-- end of import -->"
    before, rest = text.split(begin, 1)
    page.write_text(before + begin + table + end + rest.split(end, 1)[1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--users", type=int, default=100_000)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--logs", type=int, default=1_000_000)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        here = Installation(directory)
        source = f"{directory}/one-api.db"
        say(f"making {options.users:,} users, {options.keys:,} keys and {options.logs:,} log lines")
        imported = make_source(source, options.users, options.keys, options.logs)
        server, ready_before = here.start()
        memory_before = resident(server)
        stop(server)
        say("importing")
        _, seconds, memory = here.run("import", "new-api", source)
        say(f"imported in {seconds:.0f} s; examining")
        report, _, _ = here.run("doctor")
        assert report.endswith("no errors found\n"), report
        server, ready_after = here.start()
        memory_after = resident(server)
        say("verifying")
        credential, own = keys_made_here(here)
        pairs = []
        time_of_verify(here, credential, own), time_of_verify(here, credential, imported)
        for _ in range(ROUNDS):
            pairs.append((time_of_verify(here, credential, own), time_of_verify(here, credential, imported)))
        stop(server)
    ratio = statistics.median(imported / own for own, imported in pairs)
    table = f"""\
{options.users:,} users, {options.keys:,} keys and {options.logs:,} lines of `logs` in SQLite, imported into PostgreSQL on
the same machine.

| measured | value |
|---|---:|
| time of the import | {seconds:.0f} s |
| accounts and keys per second | {(options.users + options.keys) / seconds:.0f} |
| memory of the import, at most | {memory:.0f} MiB |
| memory of an idle server before and after | {memory_before:.0f} and {memory_after:.0f} MiB |
| start of a server before and after | {ready_before:.2f} and {ready_after:.2f} s |
| `verify` of an imported key ÷ of a key with checksum | **{ratio:.2f}** |
"""
    print(table)
    if options.write:
        write(table)


if __name__ == "__main__":
    main()
