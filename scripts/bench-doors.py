#!/usr/bin/env python3
"""Measures what metering costs a proxy: the front beside nginx, and Envoy with keymeter-envoy beside Envoy without.

    scripts/bench-doors.py [--rounds N] [--streams N] [--chunks N] [--requests N]

Both of a pair take turns before the same upstream. What is compared is the processor time of the proxy (with
keymeter-envoy: of both), by the kernel's count, for a chunk of a stream and for a short request; the load generator and the
upstream are not counted. Then bodies of 32 MB that are hard to read, alone.

Needs DATABASE_URL (scripts/with-postgres.sh gives one), nginx, and Envoy (scripts/proxies.sh gets it).
KEYMETER_BIN is the program, target/release/keymeter by default; keymeter-envoy stands beside it.
"""

import argparse
import asyncio
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "clients/litellm/tests"))
from processes import KeymeterServer, Program, free_port  # noqa: E402

PROGRAM = os.environ.get("KEYMETER_BIN", str(ROOT / "target/release/keymeter"))
ENVOY = ROOT / "target/proxies/bin/envoy"
PASSWORD = "of the tests"
TICK = os.sysconf("SC_CLK_TCK")
# Between two chunks of a stream, in seconds: each is a piece of its own on its way.
PAUSE = 0.01
CHUNK = b'data: {"id":"a","choices":[{"index":0,"delta":{"content":"word "},"finish_reason":null}]}\n\n'
USAGE = b'data: {"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":10}}\n\ndata: [DONE]\n\n'
WHOLE = json.dumps({"choices": [{"message": {"content": "word"}}], "usage": {"prompt_tokens": 100, "completion_tokens": 10}}).encode()


def say(text):
    print(f"bench-doors: {text}", file=sys.stderr)


# --- The upstream -----------------------------------------------------------------------------------------------------


async def read_message(reader):
    """The head and the body of a request or an answer; `None` at the end of the connection."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
        return None
    lengths = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    if lengths:
        return head, await reader.readexactly(int(lengths[0]))
    body = b""
    if b"transfer-encoding: chunked" in head.lower():
        while size := int((await reader.readuntil(b"\r\n")).strip(), 16):
            body += await reader.readexactly(size)
            await reader.readexactly(2)
        await reader.readexactly(2)
    return head, body


def chunked(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


async def serve_upstream(reader, writer, chunks):
    while message := await read_message(reader):
        if not json.loads(message[1]).get("stream"):
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(WHOLE), WHOLE))
            continue
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(chunks):
            writer.write(chunked(CHUNK))
            await writer.drain()
            await asyncio.sleep(PAUSE)
        writer.write(chunked(USAGE) + b"0\r\n\r\n")
    writer.close()


# --- The load ---------------------------------------------------------------------------------------------------------


async def ask(port, key, body, count):
    """Sends the same request so many times over one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n"
    for _ in range(count):
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        head_of_answer, answer = await read_message(reader)
        assert b" 200 " in head_of_answer.split(b"\r\n")[0], head_of_answer + answer
        assert b"completion_tokens" in answer, answer
    writer.close()


def chat(is_stream):
    messages = [{"role": "user", "content": "hello"}]
    return json.dumps({"model": "m", "messages": messages, "max_tokens": 1000, "stream": is_stream}).encode()


async def streams(port, key, options):
    await asyncio.gather(*(ask(port, key, chat(True), 1) for _ in range(options.streams)))
    return options.streams * options.chunks


async def requests(port, key, options):
    await asyncio.gather(*(ask(port, key, chat(False), options.requests // 8) for _ in range(8)))
    return options.requests // 8 * 8


def processor_seconds(programs):
    """The processor time that programs and their workers have used."""
    total = 0
    for program in programs:
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            # Fields are counted from the state, the third: group, utime, stime.
            if int(fields[2]) == program.process.pid:
                total += int(fields[11]) + int(fields[12])
    return total / TICK


# --- The proxies ------------------------------------------------------------------------------------------------------


def nginx(folder, listen, upstream):
    (folder / "nginx.conf").write_text(
        f"""daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log stderr;
events {{ worker_connections 4096; }}
http {{
    access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/temp; fastcgi_temp_path {folder}/f;
    uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    upstream api {{ server 127.0.0.1:{upstream}; keepalive 64; }}
    server {{
        listen 127.0.0.1:{listen};
        location / {{ proxy_pass http://api; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; }}
    }}
}}
"""
    )
    return Program(["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", "stderr"], {}, folder / "nginx.log")


def envoy(folder, name, listen, upstream, processor):
    """With examples/envoy/metering.yaml; without its filter if there is no processor."""
    text = (ROOT / "examples/envoy/metering.yaml").read_text()
    for old, new in [(8080, listen), (9901, free_port()), (13050, processor or 1), (9000, upstream)]:
        text = text.replace(f"port_value: {old}", f"port_value: {new}")
    if not processor:
        begin, end = "                  - name: envoy.filters.http.ext_proc", "                  - name: envoy.filters.http.router"
        text = text[: text.index(begin)] + text[text.index(end) :]
    (folder / f"{name}.yaml").write_text(text)
    command = [str(ENVOY), "--disable-hot-restart", "--concurrency", "1", "--log-level", "warn", "-c", str(folder / f"{name}.yaml")]
    return Program(command, {}, folder / f"{name}.log")


def started(program, port):
    program.start()
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        assert program.process.poll() is None, program.log()
        try:
            asyncio.run(asyncio.wait_for(asyncio.open_connection("127.0.0.1", port), 1))
            return program
        except (OSError, TimeoutError):
            time.sleep(0.1)
    sys.exit(f"bench-doors: it does not listen: {program.log()}")


# --- Keymeter ---------------------------------------------------------------------------------------------------------


def prepared(url):
    """A key with a large quota, and the credential of a gateway."""

    def call(method, path, body, cookie=None):
        headers = {"Content-Type": "application/json", "Origin": url} | ({"Cookie": cookie} if cookie else {})
        asked = urllib.request.Request(url + path, json.dumps(body).encode(), headers, method=method)
        with urllib.request.urlopen(asked) as answer:
            return json.load(answer).get("data"), answer.headers.get("Set-Cookie", "").split(";")[0]

    _, cookie = call("POST", "/api/user/login", {"username": "root", "password": PASSWORD})
    prices = {"models": {"*": {"input_mtok": "2", "output_mtok": "10"}}}
    call("PUT", "/api/admin/prices", {"file": prices}, cookie)
    call("POST", "/api/admin/users/1/quota", {"set": 10**12}, cookie)
    gateway, _ = call("POST", "/api/admin/gateways", {"name": "bench"}, cookie)
    headers = {"Content-Type": "application/json", "Origin": url, "Cookie": cookie, "Prefer": "return=representation"}
    body = json.dumps({"name": "bench", "remain_quota": 10**11}).encode()
    with urllib.request.urlopen(urllib.request.Request(url + "/api/token/", body, headers)) as answer:
        return json.load(answer)["data"]["key"], gateway["credential"]


# --- What is measured -------------------------------------------------------------------------------------------------


async def measured(options, upstream_port, pairs, key):
    server = await asyncio.start_server(lambda r, w: serve_upstream(r, w, options.chunks), "127.0.0.1", upstream_port, limit=1 << 22)
    async with server:
        for name, work in [("a chunk of a stream", streams), ("a short request", requests)]:
            for pair, (one, other) in pairs.items():
                found = {"one": [], "other": [], "own": []}
                for round_number in range(options.rounds + 1):
                    for which, (port, programs) in (("one", one), ("other", other)):
                        before, own = processor_seconds(programs), processor_seconds(programs[:1])
                        count = await work(port, key, options)
                        # The first round warms up.
                        if round_number:
                            # Never nothing: the kernel counts in steps.
                            found[which].append(max(processor_seconds(programs) - before, 1 / TICK) / count)
                            if which == "other":
                                found["own"].append((processor_seconds(programs[:1]) - own) / count)
                ratio = statistics.median(other / one for one, other in zip(found["one"], found["other"]))
                line = f"| {pair} | {name} | {1e6 * statistics.median(found['one']):.0f} µs | "
                line += f"{1e6 * statistics.median(found['other']):.0f} µs | {ratio:.2f} |"
                if len(other[1]) > 1:
                    own = statistics.median(own / one for one, own in zip(found["one"], found["own"]))
                    line += f" Envoy alone {own:.2f} |"
                print(line, flush=True)


def status_of(program, name):
    text = pathlib.Path(f"/proc/{program.process.pid}/status").read_text()
    return int(next(line for line in text.splitlines() if line.startswith(name)).split()[1]) * 1024


def large_bodies(program, port, key):
    """32 MB of what is slow to read for others: how long until the refusal, and how much memory."""
    size = 32 * 1000 * 1000
    bodies = {
        "brackets": b'{"model":"m","messages":' + b"[" * size,
        "strings": b'{"model":"m","messages":[' + b'"",' * (size // 3) + b'""]}',
        "one line": b'{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"' + b"x" * size + b'"}],"not_known":1}',
    }
    for name, body in bodies.items():
        pathlib.Path(f"/proc/{program.process.pid}/clear_refs").write_text("5")
        before = status_of(program, "VmRSS")
        used, began = processor_seconds([program]), time.monotonic()
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        asked = urllib.request.Request(f"http://127.0.0.1:{port}/v1/chat/completions", body, headers)
        try:
            status = urllib.request.urlopen(asked, timeout=60).status
        except urllib.error.HTTPError as error:
            status = error.code
        took, used = time.monotonic() - began, processor_seconds([program]) - used
        grown = (status_of(program, "VmHWM") - before) / len(body)
        print(f"| 32 MB of {name} | {status} | {took:.2f} s | {used:.2f} s of the processor | {grown:.1f} times its size |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--streams", type=int, default=40)
    parser.add_argument("--chunks", type=int, default=200)
    parser.add_argument("--requests", type=int, default=800)
    options = parser.parse_args()
    for needed in (PROGRAM, f"{PROGRAM}-envoy", ENVOY):
        if not pathlib.Path(needed).exists():
            sys.exit(f"bench-doors: {needed} is missing: cargo build --release --workspace --bins, and scripts/proxies.sh")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        programs = []
        try:
            server = KeymeterServer(PROGRAM, os.environ["DATABASE_URL"], folder)
            programs.append(server)
            server.start()
            key, credential = prepared(server.url)
            upstream = free_port()
            environment = {"KEYMETER_URL": server.url, "KEYMETER_CREDENTIAL": credential}
            ports = {name: free_port() for name in ("nginx", "front", "plain", "metered", "processor")}
            command = [PROGRAM, "front", f"--listen=127.0.0.1:{ports['front']}", f"--upstream=http://127.0.0.1:{upstream}/v1"]
            front = Program(command, environment, folder / "front.log")
            processor = Program([f"{PROGRAM}-envoy", f"--listen=127.0.0.1:{ports['processor']}"], environment, folder / "processor.log")
            all_of_them = {
                "nginx": nginx(folder, ports["nginx"], upstream),
                "front": front,
                "processor": processor,
                "plain": envoy(folder, "plain", ports["plain"], upstream, None),
                "metered": envoy(folder, "metered", ports["metered"], upstream, ports["processor"]),
            }
            for which, program in all_of_them.items():
                programs.append(program)
                started(program, ports[which])
            time.sleep(2)
            of = lambda which, *others: (ports[which], [all_of_them[one] for one in (which, *others)])  # noqa: E731
            pairs = {
                "front beside nginx": (of("nginx"), of("front")),
                "Envoy with beside without": (of("plain"), of("metered", "processor")),
            }
            print("| Pair | What | without metering | with | ratio |\n|---|---|---|---|---|")
            asyncio.run(measured(options, upstream, pairs, key))
            large_bodies(front, ports["front"], key)
        finally:
            for program in reversed(programs):
                program.stop()


if __name__ == "__main__":
    main()
