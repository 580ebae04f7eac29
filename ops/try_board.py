#!/usr/bin/env python3
"""Runs every expression of the board and of the alerts in a Prometheus that scrapes a Keymeter with some traffic.

    scripts/ops.sh board

An expression that Prometheus refuses fails, and so does one without data, unless NO_DATA says why it has none. Needs
DATABASE_URL with an empty database, KEYMETER_PROGRAM, and the programs prometheus and psql.
"""

import contextlib
import http.client
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
PASSWORD = "of the board"
# The servers make the last numbers once a minute; reservations expire every ten seconds.
LIMIT_SECONDS = 150
# What Grafana would put in, at one scrape a second.
VARIABLES = {"$job": "keymeter", "$instance": ".*", "$__rate_interval": "15s"}

# Metrics that this server does not have, and why.
NO_DATA: dict[str, str] = {}

OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def say(text):
    print(f"ops: {text}", file=sys.stderr, flush=True)


def free_port():
    """Below the range of ports for outgoing connections, which may take another one before the program listens."""
    while True:
        port = random.randrange(10_000, 32_768)
        with socket.socket() as listener, contextlib.suppress(OSError):
            listener.bind(("127.0.0.1", port))
            return port


@contextlib.contextmanager
def running(command, log, ready, environment=None):
    """Runs a program until the end of the block, which begins when the URL answers 200."""
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, stdin=subprocess.DEVNULL, env=environment)
    try:
        end = time.monotonic() + 60
        while True:
            if process.poll() is not None or time.monotonic() > end:
                sys.exit(f"ops: {command[0]} did not start:\n{log.read_text(errors='replace')[-3000:]}")
            with contextlib.suppress(OSError, http.client.HTTPException), OPENER.open(ready, timeout=2):
                break
            time.sleep(0.1)
        yield
    finally:
        process.terminate()
        try:
            process.wait(45)
        except subprocess.TimeoutExpired:
            process.kill()


# --- Traffic ----------------------------------------------------------------------------------------------------------


class Caller:
    """Sends requests as root, by cookie, or with a credential."""

    def __init__(self, url):
        self.url, self.cookie = url, ""

    def send(self, method, path, body=None, bearer=None):
        headers = {"Content-Type": "application/json", "Origin": self.url}
        headers |= {"Authorization": f"Bearer {bearer}"} if bearer else {"Cookie": self.cookie}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers | {"Prefer": "return=representation"}, method=method)
        try:
            answer = OPENER.open(request, timeout=30)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            self.cookie = (answer.headers.get("Set-Cookie") or self.cookie).split(";")[0]
            text = answer.read()
        found = json.loads(text) if text.startswith(b"{") else {}
        return answer.status, found.get("data", found)


def expect(answer, *statuses):
    if answer[0] not in statuses:
        sys.exit(f"ops: expected status {statuses} of the traffic, got {answer}")
    return answer[1]


class Traffic(threading.Thread):
    """Every kind of call that a series of the board needs, a few times a second until it is stopped."""

    def __init__(self, url):
        super().__init__(daemon=True)
        self.stopped, self.failure = threading.Event(), None
        self.caller = caller = Caller(url)
        root = expect(caller.send("POST", "/api/user/login", {"username": "root", "password": PASSWORD}), 200)["id"]
        self.gateway = expect(caller.send("POST", "/api/admin/gateways", {"name": "board"}), 200)["credential"]
        expect(caller.send("POST", f"/api/admin/users/{root}/quota", {"delta": 10**12}), 200)
        self.key = self.make_token("board", 10**11)["key"]
        self.poor = self.make_token("little", 1000)

    def make_token(self, name, quota):
        return expect(self.caller.send("POST", "/api/token/", {"name": name, "remain_quota": quota}), 200)

    def call(self, name, statuses=(200,), **body):
        return expect(self.caller.send("POST", f"/api/gateway/{name}", body, self.gateway), *statuses)

    def lock_wallet(self):
        """Another transaction has the wallet for longer than charges wait: 503 `ledger_busy`."""
        sql = "begin; select 1 from users for update; select pg_sleep(10); rollback"
        with subprocess.Popen(["psql", "-qXd", os.environ["DATABASE_URL"], "-c", sql], stdout=subprocess.DEVNULL):
            time.sleep(0.5)
            self.call("charge", statuses=(503,), key=self.key, quota=1)

    def run(self):
        try:
            self.lock_wallet()
            while not self.stopped.wait(0.2):
                self.round()
        except BaseException as error:
            self.failure = self.failure or f"{type(error).__name__}: {error}"

    def round(self):
        key = self.key
        self.call("verify", key=key, model="gpt-5")
        self.call("charge", key=key, model="gpt-5", quota=random.randrange(1, 5000))
        self.call("charges", charges=[{"key": key, "quota": n} for n in range(1, 20)])
        settled, released = (self.call("reserve", key=key, model="gpt-5", quota=1000) for _ in range(2))
        self.call("settle", reservation_id=settled["reservation_id"], quota=900)
        self.call("release", reservation_id=released["reservation_id"])
        # It expires.
        self.call("reserve", key=key, quota=10, ttl_seconds=1)
        self.call("charge", statuses=(402, 403, 429), key=self.poor["key"], quota=10**6)
        self.call("verify", statuses=(200, 401), key="sk-" + "x" * 48)
        expect(self.caller.send("GET", "/api/token/", bearer="nobody's"), 401)
        expect(self.caller.send("GET", "/api/token/"), 200)
        # A change that the server is notified of.
        expect(self.caller.send("PUT", "/api/token/", {"id": self.poor["id"], "remain_quota": 1000}), 200)


# --- Expressions ------------------------------------------------------------------------------------------------------


class Prometheus:
    def __init__(self, url):
        self.url = url

    def get(self, path, **parameters):
        try:
            answer = OPENER.open(f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}", timeout=30)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            found = json.load(answer)
        if found["status"] != "success":
            raise ValueError(found["error"])
        return found["data"]

    def has_data(self, expression):
        """Whether the last seconds have a number."""
        now = time.time()
        found = self.get("query_range", query=expression, start=now - 10, end=now, step=1)
        return any(value != "NaN" for series in found["result"] for _, value in series["values"])


def fill_in(expression):
    for name, value in VARIABLES.items():
        expression = expression.replace(name, value)
    if "$" in expression:
        sys.exit(f"ops: the board has a variable that VARIABLES lacks: {expression}")
    return expression


def expressions_of_board():
    """Name and expression."""
    board = json.loads((ROOT / "ops/grafana/keymeter.json").read_text())
    for panel in board["panels"]:
        for target in panel.get("targets", []):
            yield f"board, {panel['title']}", fill_in(target["expr"])
    for annotation in board["annotations"]["list"]:
        # No alert fires, but that of the refusals with `ledger_busy` waits for its time.
        yield "board, annotations", fill_in(annotation["expr"]).replace('"firing"', '"pending"')
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            series = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]["query"])
            yield f"board, variable {variable['name']}", f'{{{series[2]}!="",__name__!=""}} and {fill_in(series[1])}'


def expressions_of_alerts(prometheus):
    """Without the comparison at the end, because no alert fires."""
    for group in prometheus.get("rules")["groups"]:
        for rule in group["rules"]:
            inside = re.fullmatch(r"absent\((.+)\)", rule["query"])
            expression = re.sub(r"\s*[<>=]=?\s*[\d.]+(\s*\*\s*\d+)?$", "", inside[1] if inside else rule["query"])
            yield f"alert {rule['name']}", expression


def metrics_of(expression):
    return set(re.findall(r"\b(?:keymeter|process)_\w+", expression))


def failed_rules(prometheus):
    """Errors of rules, and rules that were not evaluated yet."""
    for group in prometheus.get("rules")["groups"]:
        for rule in group["rules"]:
            if rule["health"] != "ok":
                yield f"alert {rule['name']}: {rule['health']} {rule.get('lastError', '')}"


def examine(prometheus):
    """What fails and what may lack data, a line each, and how many expressions have data."""
    failures, allowed, full = list(failed_rules(prometheus)), [], 0
    for name, expression in [*expressions_of_board(), *expressions_of_alerts(prometheus)]:
        try:
            if prometheus.has_data(expression):
                full += 1
                continue
        except ValueError as error:
            failures.append(f"{name}: {error}: {expression}")
            continue
        reasons = [f"{metric}: {NO_DATA[metric]}" for metric in sorted(metrics_of(expression) & NO_DATA.keys())]
        if reasons:
            allowed.append(f"{name}: {'; '.join(reasons)}")
        else:
            failures.append(f"{name}: no data: {expression}")
    for metric in NO_DATA:
        if prometheus.has_data(metric):
            failures.append(f"{metric} has data: remove it from NO_DATA")
    return failures, allowed, full


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as programs:
        folder = pathlib.Path(name)
        port, prometheus_port = free_port(), free_port()
        url = f"http://127.0.0.1:{port}"
        environment = {name: os.environ[name] for name in ("PATH", "HOME", "DATABASE_URL") if name in os.environ} | {
            "KEYMETER_DATA_DIR": str(folder / "data"),
            "KEYMETER_SERVER__LISTEN": f"127.0.0.1:{port}",
            "KEYMETER_SERVER__STOP_DELAY_SECONDS": "0",
            "KEYMETER_ROOT__PASSWORD": PASSWORD,
            "KEYMETER_ACCOUNTS__TOKEN_API": "enabled",
            "KEYMETER_SECRETS__MASTER_KEY": "5" * 64,
        }
        keymeter = os.environ["KEYMETER_PROGRAM"]
        programs.enter_context(running([keymeter, "serve"], folder / "keymeter.log", f"{url}/readyz", environment))

        settings = (ROOT / "ops/prometheus/prometheus.yml").read_text()
        settings = settings.replace("127.0.0.1:3000", f"127.0.0.1:{port}").replace("interval: 15s", "interval: 1s")
        (folder / "prometheus.yml").write_text(settings.replace("alerts.yml", str(ROOT / "ops/prometheus/alerts.yml")))
        address = f"127.0.0.1:{prometheus_port}"
        command = ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/tsdb"]
        command.append(f"--web.listen-address={address}")
        programs.enter_context(running(command, folder / "prometheus.log", f"http://{address}/-/ready"))
        prometheus = Prometheus(f"http://{address}")

        say("traffic, until every expression has data")
        traffic = Traffic(url)
        traffic.start()
        end = time.monotonic() + LIMIT_SECONDS
        # Until the wallet is free again there are few calls.
        time.sleep(20)
        while True:
            failures, allowed, full = examine(prometheus)
            if traffic.failure:
                failures.append(f"the traffic failed: {traffic.failure}")
            if not failures or traffic.failure or time.monotonic() > end:
                break
            time.sleep(3)
        traffic.stopped.set()
        traffic.join(30)
        for line in allowed:
            say(f"without data: {line}")
        for line in failures:
            say(f"FAILED: {line}")
        say(f"{full} expressions have data, {len(allowed)} need none, {len(failures)} faults")
        sys.exit(bool(failures))


if __name__ == "__main__":
    main()
