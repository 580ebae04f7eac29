"""How a request can go. Nothing that was done is free, and nothing else is charged."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import httpx
import pytest
from fixtures import plan
from front import Front, cost, hold, upstream_that_sends
from processes import eventually, free_port
from programs import Key, Keymeter, Upstream, quota


def body_of(stream: bool = False, path: str = "/v1/chat/completions", **fields: object) -> bytes:
    if path == "/v1/responses":
        return json.dumps({"model": "chat", "input": plan(**fields)[0]["content"], "stream": stream}).encode()
    return json.dumps({"model": "chat", "max_tokens": 500, "messages": plan(**fields), "stream": stream}).encode()


def charged(key: Key) -> int:
    """The one charge, as soon as nothing is held."""
    eventually(lambda: key.charges() and key.held() == 0)
    rows = key.charges()
    assert len(rows) == 1
    used: int = rows[0]["quota"]
    return used


def leave(front: Front, key: Key, body: bytes, path: str, chunks: int) -> None:
    headers = {"Authorization": f"Bearer {key.secret}"}
    with httpx.stream("POST", f"{front.url}{path}", content=body, headers=headers, timeout=30) as answer:
        for _, _ in zip(range(chunks), answer.iter_lines(), strict=False):
            pass


@pytest.fixture
def own_machine(start: Callable[..., Front]) -> Front:
    """It stops when the client does, and its models show all they think."""
    return start(on_leave="close", shows_thinking="*")


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses", "/v1/messages"])
def test_a_stream_that_the_client_leaves_is_read_to_its_end(front: Front, key: Key, path: str) -> None:
    leave(front, key, body_of(True, path, chunks=20, delay=0.05), path, 5)
    key.settled(cost())


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses", "/v1/messages"])
def test_a_stream_that_the_client_leaves_costs_the_hold(start: Callable[..., Front], key: Key, path: str) -> None:
    body = body_of(True, path, chunks=100, delay=0.05)
    leave(start(on_leave="close"), key, body, path, 5)
    key.settled(hold(body, 4096 if path == "/v1/responses" else 500))


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses", "/v1/messages"])
def test_a_stream_of_an_own_machine_that_the_client_leaves_costs_its_part(own_machine: Front, key: Key, path: str) -> None:
    body = body_of(True, path, chunks=100, delay=0.05, prompt_tokens=150)
    leave(own_machine, key, body, path, 30)
    # Anthropic tells the prompt at the start.
    prompt = 150 if path == "/v1/messages" else -(-len(body) // 3)
    used = charged(key)
    assert quota(cost(prompt, 6)) <= used <= quota(cost(prompt, 60))
    assert used < quota(hold(body, 500))


@pytest.mark.parametrize("limit", [{"max_tokens": 1}, {"max_completion_tokens": 1, "max_tokens": 2}])
def test_what_was_seen_of_a_left_stream_is_charged_whatever_limit_was_said(
    start: Callable[..., Front], key: Key, limit: dict[str, int]
) -> None:
    front = start(on_leave="close")
    body = json.dumps({"model": "chat", "messages": plan(chunks=100, delay=0.05), "stream": True, **limit}).encode()
    leave(front, key, body, "/v1/chat/completions", 30)
    assert quota(cost(-(-len(body) // 3), 10)) <= charged(key)


def test_a_call_that_takes_too_long_costs_its_hold(start: Callable[..., Front], upstream: Upstream, key: Key) -> None:
    body = body_of(wait=5)
    answer = start(to=upstream.url, read_timeout_seconds=1).post(key, body)
    assert answer.status_code == 504
    key.settled(hold(body, 500))


@pytest.mark.parametrize("stream", [False, True])
def test_a_call_that_the_client_leaves_is_read_to_its_end(front: Front, key: Key, stream: bool) -> None:
    with pytest.raises(httpx.ReadTimeout):
        front.post(key, body_of(stream, wait=2), timeout=1)
    key.settled(cost())


@pytest.mark.parametrize("stream", [False, True])
def test_a_call_of_an_own_machine_that_the_client_leaves_costs_its_hold(own_machine: Front, key: Key, stream: bool) -> None:
    body = body_of(stream, wait=3)
    with pytest.raises(httpx.ReadTimeout):
        own_machine.post(key, body, timeout=1)
    key.settled(hold(body, 500))


def test_a_stream_that_breaks_costs_its_part_or_the_hold(front: Front, own_machine: Front, keymeter: Keymeter) -> None:
    # "word " four times.
    for program, output in ((own_machine, 7), (front, 500)):
        key = keymeter.key()
        body = body_of(True, chunks=10, break_after=4, delay=0.05)
        with pytest.raises(httpx.RemoteProtocolError):
            program.post(key, body)
        key.settled(hold(body, output))


def test_a_stream_that_says_that_it_failed_costs_its_part(own_machine: Front, key: Key) -> None:
    body = body_of(True, "/v1/messages", chunks=10, error_after=6, prompt_tokens=99)
    assert own_machine.post(key, body, "/v1/messages").status_code == 200
    key.settled(cost(99, 7))


def test_a_stream_that_says_at_once_that_it_failed_costs_nothing(front: Front, key: Key) -> None:
    assert front.post(key, body_of(True, error_after=0)).status_code == 200
    key.settled()
    assert key.charges() == []


def test_the_upstream_that_refuses_its_key_is_the_operators_concern(front: Front, key: Key) -> None:
    answer = front.post(key, body_of(status=401))
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "keymeter_misconfigured")
    key.settled()


@pytest.mark.parametrize("status", [400, 404, 429, 500, 503])
@pytest.mark.parametrize("stream", [False, True])
def test_a_failure_of_the_upstream_costs_nothing(front: Front, key: Key, status: int, stream: bool) -> None:
    answer = front.post(key, body_of(stream, status=status))
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, "planned")
    key.settled()
    assert key.charges() == []


def test_an_upstream_that_refuses_connections_costs_nothing(start: Callable[..., Front], key: Key) -> None:
    front = start(to=f"http://127.0.0.1:{free_port()}")
    assert front.post(key, body_of()).status_code == 502
    key.settled()


def test_a_whole_answer_that_breaks_costs_the_hold(start: Callable[..., Front], key: Key) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
    body = body_of()
    with upstream_that_sends(head, b'{"id":') as url, pytest.raises(httpx.RemoteProtocolError):
        start(to=url).post(key, body)
    key.settled(hold(body, 500))


def test_an_upstream_cannot_send_the_request_elsewhere(start: Callable[..., Front], key: Key) -> None:
    answer = b'{"usage":{"prompt_tokens":9,"completion_tokens":8}}'
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Accel-Redirect: /v1/models\r\n\r\n"
    with upstream_that_sends(head, answer) as url:
        assert start(to=url).post(key, body_of()).content == answer
    key.settled(cost(9, 8))


STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
USAGE = b'data: {"choices":[],"usage":{"prompt_tokens":1234,"completion_tokens":56,"total_tokens":1290}}'


def test_lines_that_come_in_pieces(start: Callable[..., Front], key: Key) -> None:
    """With what OpenRouter puts between them, line ends of two characters, and none at the end."""
    text = b': OPENROUTER PROCESSING\r\n\r\ndata: {"choices":[{"delta":{"content":"\xc3\xa4"}}]}\r\n\r\n' + USAGE
    with upstream_that_sends(STREAM, *(text[at : at + 1] for at in range(len(text)))) as url:
        assert start(to=url).post(key, body_of(True)).content == text
    key.settled(cost(1234, 56))


def test_a_line_longer_than_what_is_kept(start: Callable[..., Front], key: Key) -> None:
    line = b"data: " + b"x" * 3_000_000 + b"\n\n"
    with upstream_that_sends(STREAM, line, USAGE, b"\n\ndata: [DONE]\n\n") as url:
        assert len(start(to=url).post(key, body_of(True)).content) > 3_000_000
    key.settled(cost(1234, 56))


def test_an_upstream_that_breaks_before_its_answer_costs_nothing(start: Callable[..., Front], key: Key) -> None:
    with upstream_that_sends() as url:
        assert start(to=url).post(key, body_of()).status_code == 502
    key.settled()


@pytest.mark.parametrize("answer", [b'{"usage":{"prompt_tokens":0,"completion_tokens":0}}', b"hello", b'{"usage":[]}', b"[]"])
def test_an_answer_that_cannot_be_read_costs_the_hold(start: Callable[..., Front], key: Key, answer: bytes) -> None:
    body = body_of()
    with upstream_that_sends(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", answer) as url:
        assert start(to=url).post(key, body).content == answer
    key.settled(hold(body, 500))


def held_by(front: Front, key: Key, path: str = "/v1/chat/completions", **fields: object) -> tuple[int, int]:
    """What is held while a request with these fields is under way, and the bytes of its body."""
    text = plan(wait=1.5)[0]["content"]
    prompt = {"prompt": text} if path == "/v1/completions" else {"messages": [{"role": "user", "content": text}]}
    body = json.dumps({"model": "chat", **prompt, **fields}).encode()
    thread = threading.Thread(target=front.post, args=(key, body, path))
    thread.start()
    held: int = eventually(key.held, 10)
    thread.join()
    return held, len(body)


def test_the_hold_is_the_most_that_the_request_may_cost(front: Front, start: Callable[..., Front], keymeter: Keymeter) -> None:
    other, flat = start(max_tokens=100), start(hold_usd="0.25")
    text = plan(wait=1.5)[0]["content"]
    rows: list[tuple[Front, str, dict[str, object], int | None]] = [
        (front, "/v1/chat/completions", {"max_tokens": 700}, 700),
        (front, "/v1/chat/completions", {"max_tokens": 5, "max_completion_tokens": 300, "n": 3}, 900),
        (front, "/v1/chat/completions", {"max_tokens": None}, 4096),
        (front, "/v1/completions", {"max_tokens": 10, "best_of": 4}, 40),
        (front, "/v1/completions", {"max_tokens": 10, "prompt": ["a", text]}, 20),
        (other, "/v1/chat/completions", {}, 100),
        (flat, "/v1/chat/completions", {"max_tokens": 10_000}, None),
    ]
    with ThreadPoolExecutor(len(rows)) as pool:
        found = list(pool.map(lambda row: held_by(row[0], keymeter.key(), row[1], **row[2]), rows))
    for (_, _, fields, completion), (held, length) in zip(rows, found, strict=True):
        expected = Decimal("0.25") if completion is None else cost(-(-length // 3), completion)
        assert held == quota(expected), fields


def test_a_flat_hold_for_a_gateway_that_knows_its_costs(start: Callable[..., Front], key: Key) -> None:
    front = start(hold_usd="0.05")
    body = {"model": "without-a-price", "messages": plan(headers={"x-litellm-response-cost": "0.00321"})}
    assert front.post(key, body).status_code == 200
    key.settled("0.00321")


def test_a_model_without_a_price_costs_its_flat_hold(start: Callable[..., Front], key: Key) -> None:
    front = start(hold_usd="0.05")
    assert front.post(key, {"model": "without-a-price", "messages": plan()}).status_code == 200
    key.settled("0.05")


def test_a_cost_that_is_no_number_is_none(front: Front, key: Key) -> None:
    assert front.post(key, body_of(headers={"x-litellm-response-cost": "0x10"})).status_code == 200
    key.settled(cost())


def test_the_model_of_the_answer_may_decide(start: Callable[..., Front], keymeter: Keymeter) -> None:
    for stream in (False, True):
        for front, times in ((start(answer_model="true"), 10), (start(), 1)):
            key = keymeter.key()
            front.post(key, {"model": "chat", "stream": stream, "messages": plan(answer_model="dear")})
            key.settled(cost() * times)


def test_a_cost_beyond_the_hold_takes_what_is_left(front: Front, keymeter: Keymeter) -> None:
    key = keymeter.key("0.001")
    assert front.post(key, {"model": "chat", "max_tokens": 10, "messages": plan(completion_tokens=10_000)}).status_code == 200
    key.settled("0.001")
    assert key.now()["remain_quota"] == 0


def test_the_address_is_that_of_the_connection(front: Front, keymeter: Keymeter) -> None:
    key = keymeter.key(allow_ips="127.0.0.9")

    def status(source: str, method: str, path: str, forwarded: str | None) -> int:
        headers = {"Authorization": f"Bearer {key.secret}"}
        if forwarded:
            headers |= {"X-Forwarded-For": forwarded, "X-Real-IP": forwarded, "Forwarded": f"for={forwarded}"}
        content = body_of() if method == "POST" else None
        with httpx.Client(transport=httpx.HTTPTransport(local_address=source), headers=headers, timeout=30) as sender:
            return sender.request(method, f"{front.url}{path}", content=content).status_code

    for method, path in (("POST", "/v1/chat/completions"), ("GET", "/v1/models")):
        assert status("127.0.0.9", method, path, None) == 200
        assert status("127.0.0.5", method, path, None) == 403
        assert status("127.0.0.5", method, path, "127.0.0.9") == 403
    key.settled(cost())


def test_forty_at_once_with_quota_for_five(front: Front, keymeter: Keymeter, upstream: Upstream) -> None:
    """Half of them streams."""
    name = f"forty {time.time_ns()}"

    def body_with(prompt_tokens: int, stream: bool) -> bytes:
        text = json.dumps(
            {"id": name, "wait": 1, "completion_tokens": 500, "prompt_tokens": prompt_tokens, "filler": "x" * 600}
        )
        body = {"model": "chat", "max_tokens": 500, "messages": [{"role": "user", "content": text}], "stream": stream}
        # All of one length.
        return json.dumps(body).replace('"stream": true', '"stream":  true').encode()

    # Each costs exactly what is held. Both numbers have three digits.
    prompt = -(-len(body_with(999, True)) // 3)
    bodies = [body_with(prompt, stream) for stream in (False, True)]
    each = quota(cost(prompt, 500))
    key = keymeter.key()
    key.edit(remain_quota=each * 5)
    with ThreadPoolExecutor(40) as pool:
        statuses = list(pool.map(lambda number: front.post(key, bodies[number % 2]).status_code, range(40)))
    assert sorted(statuses) == [200] * 5 + [402] * 35
    key.settled(*[cost(prompt, 500)] * 5)
    assert key.now()["remain_quota"] == 0
    assert upstream.calls()[f"id {name}"] == 5
