"""Starts keymeter on the database DATABASE_URL, creates one caller of each kind, and runs Schemathesis as each of them.

Called by scripts/schemathesis.sh, which documents the environment variables.
"""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
PASSWORD = "the root password"
# Requests per operation and phase. With a fixed seed, a run sends the same requests every time.
EXAMPLES = "8"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """The program, with limits off, so that only the document is tested."""

    def __init__(self, directory):
        self.base = f"http://127.0.0.1:{free_port()}"
        self.log = pathlib.Path(directory) / "log"
        settings = {
            "KEYMETER_SERVER__LISTEN": self.base.removeprefix("http://"),
            "KEYMETER_DATA_DIR": directory,
            "KEYMETER_ROOT__PASSWORD": PASSWORD,
            "KEYMETER_ACCOUNTS__REGISTRATION": "open",
            "KEYMETER_SERVER__MAX_CONNECTIONS": "1000",
        }
        for limit in ["SEARCH", "LOGIN", "USAGE", "WRONG_KEYS", "REGISTER"]:
            settings[f"KEYMETER_LIMITS__{limit}_PER_MINUTE"] = "0"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("KEYMETER_")}
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([os.environ["KEYMETER_BIN"]], env=kept | settings, stdout=log, stderr=log)

    def wait(self):
        for _ in range(300):
            if self.process.poll() is not None:
                break
            try:
                return urllib.request.urlopen(f"{self.base}/readyz")
            except OSError:
                time.sleep(0.1)
        sys.exit(f"schemathesis: the server did not start:\n{self.log.read_text()}")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=30)

    def call(self, method, path, body=None, **headers):
        """The `data` of an answer, and its headers."""
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.base + path, data, headers, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer).get("data"), answer.headers


def access_token(server, username, password):
    _, headers = server.call("POST", "/api/user/login", {"username": username, "password": password})
    cookie = headers["Set-Cookie"].split(";")[0]
    return server.call("GET", "/api/user/token", Cookie=cookie, Origin=server.base)[0]


def callers(server):
    """Each kind of caller: its headers and the operations that it tests."""
    root = access_token(server, "root", PASSWORD)
    account = {"username": "ana", "password": "ana's password", "token_api_enabled": True, "quota": 10**12}
    server.call("POST", "/api/admin/users", account, Authorization=root)
    user = access_token(server, "ana", account["password"])
    token = {"name": "spent", "unlimited_quota": True}
    token, _ = server.call("POST", "/api/token/", token, Authorization=user, Prefer="return=representation")
    gateway, _ = server.call("POST", "/api/admin/gateways", {"name": "edge"}, Authorization=root)
    os.environ["KEYMETER_TEST_KEY"] = token["key"]
    key, gateway = f"Bearer {token['key']}", f"Bearer {gateway['credential']}"
    # The administrator comes last, because it deletes accounts and gateways.
    return [
        ("anyone", [], ["--exclude-path-regex", "^/api/(admin|token|gateway)"]),
        ("API key", [f"Authorization: {key}"], ["--include-path-regex", "^/api/usage/"]),
        ("gateway", [f"Authorization: {gateway}"], ["--include-path-regex", "^/api/gateway/[^a]"]),
        (
            "gateway in front",
            [f"Authorization: {key}", f"X-Gateway-Credential: {gateway}"],
            ["--include-path", "/api/gateway/auth"],
        ),
        ("user", [f"Authorization: {user}"], ["--include-path-regex", "^/api/(token|user)"]),
        ("administrator", [f"Authorization: {root}"], ["--include-path-regex", "^/(api/admin|metrics|api/user/self$)"]),
    ]


def chosen(every):
    """The callers of CALLERS, or all."""
    names = [name for name in os.environ.get("CALLERS", "").split(",") if name]
    known = [name for name, _, _ in every]
    if unknown := set(names) - set(known):
        sys.exit(f"schemathesis: unknown in CALLERS: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    return [caller for caller in every if not names or caller[0] in names]


def run(schemathesis, directory, base, headers, selection, arguments):
    command = [schemathesis, "--config-file", str(HERE / "schemathesis.toml"), "run", f"{base}/api/openapi.json"]
    command += ["--seed", os.environ.get("SEED", "1"), "--max-examples", EXAMPLES]
    command += ["--generation-database", "none", "--no-color", *selection]
    for header in headers:
        command += ["--header", header]
    environment = os.environ | {"SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1"}
    # It leaves files in its working directory.
    return subprocess.run(command + arguments, env=environment, cwd=directory, check=False).returncode


def main():
    schemathesis, arguments = sys.argv[1], sys.argv[2:]
    failed = []
    with tempfile.TemporaryDirectory() as directory:
        server = Server(directory)
        try:
            server.wait()
            for name, headers, selection in chosen(callers(server)):
                started = time.monotonic()
                print(f"schemathesis: as {name}", flush=True)
                if run(schemathesis, directory, server.base, headers, selection, arguments) != 0:
                    failed.append(name)
                print(f"schemathesis: as {name}: {time.monotonic() - started:.0f} s", flush=True)
        finally:
            server.stop()
    if failed:
        sys.exit(f"schemathesis: failed as {', '.join(failed)}")


main()
