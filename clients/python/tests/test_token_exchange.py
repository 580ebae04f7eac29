"""The calls for one's own tokens: what is sent again, and how lists are read, with answers that no service has to give."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TypeVar

import pytest

from keymeter_client import BadRequest, Conflict, NewToken, NotFound, Token, TokenChanged, Unavailable, tokens
from keymeter_client.exchange import Answer, NoAnswer, Program, Send
from keymeter_client.tokens import Listing

T = TypeVar("T")
LOST = NoAnswer("ReadTimeout")
NOWHERE = NoAnswer("ConnectError", sent=False)
USE = {"limit": -1, "used": 0, "remaining": -1, "resets_at": 9}


def token(number: int, **fields: object) -> dict[str, object]:
    periods = ("day", "week", "month")
    return {
        "id": number,
        "user_id": 1,
        "key": "",
        "masked_key": "sk-ab12**********wxyz",
        "status": 1,
        "state": "working",
        "name": "n",
        "note": "",
        "created_time": 1,
        "accessed_time": 1,
        "expired_time": -1,
        "remain_quota": 5,
        "unlimited_quota": False,
        "used_quota": 0,
        "period_limits": dict.fromkeys(periods, -1),
        "period_usage": dict.fromkeys(periods, USE),
        "rate_limits": {"requests_per_minute": -1, "tokens_per_minute": -1, "concurrency": -1},
        "model_limits_enabled": False,
        "model_limits": "",
        "allow_ips": "",
        "group": "",
        "cross_group_retry": False,
        "show_addresses": False,
        **fields,
    }


def success(data: object = None, etag: str = '"1"') -> Answer:
    return Answer(200, {"etag": etag}, json.dumps({"success": True, "message": "", "data": data}).encode())


def failure(status: int, code: str, **fields: object) -> Answer:
    envelope = {"success": False, "message": "m", "error": code, **fields}
    return Answer(status, {"etag": '"2"', "x-request-id": "x"}, json.dumps(envelope).encode())


def run(program: Program[T], *received: Answer | NoAnswer) -> tuple[Any, list[Send]]:
    """The outcome, and what was sent."""
    answers = iter(received)
    sent: list[Send] = []
    got: Answer | NoAnswer | None = None
    outcome: Any = None
    try:
        while True:
            step = program.send(got)
            got = None
            if isinstance(step, Send):
                assert 2 < step.seconds <= 10
                sent.append(step)
                got = next(answers)
    except StopIteration as done:
        outcome = done.value
    except Exception as error:
        outcome = error
    assert next(answers, None) is None, "not all answers were used"
    return outcome, sent


KEYED = [
    (lambda: tokens.create(NewToken(name="n"), None), "POST", "/api/token/", success(token(7, key="sk-1"))),
    (lambda: tokens.create_many([NewToken(name="n")], None), "POST", "/api/token/bulk", success([token(7, key="sk-1")])),
    (lambda: tokens.update(7, "*", None, note="x"), "PUT", "/api/token/", success(token(7))),
    (lambda: tokens.update_many([7], None, status=2), "PATCH", "/api/token/bulk", success([token(7)])),
    (
        lambda: tokens.rotate(7, None, None, None),
        "POST",
        "/api/token/7/rotate",
        success({"id": 7, "key": "sk-2", "masked_key": "m", "old_keys": []}),
    ),
]


@pytest.mark.parametrize(("call", "method", "path", "answer"), KEYED, ids=[f"{each[1]} {each[2]}" for each in KEYED])
def test_all_tries_of_a_call_have_its_own_key(call: Any, method: str, path: str, answer: Answer) -> None:
    outcome, sent = run(call(), LOST, failure(503, "timeout"), answer)
    assert not isinstance(outcome, Exception)
    assert [(send.method, send.path) for send in sent] == [(method, path)] * 3
    assert len({send.body for send in sent}) == 1
    (key,) = {send.headers["Idempotency-Key"] for send in sent}
    assert len(key) == 32
    _, (other,) = run(call(), answer)
    assert other.headers["Idempotency-Key"] != key


def test_a_key_of_the_caller_is_sent() -> None:
    _, (sent,) = run(tokens.rotate(7, 0, "now", "mine"), failure(409, "token_expired"))
    assert sent.headers["Idempotency-Key"] == "mine"
    assert sent.body is not None
    assert json.loads(sent.body) == {"grace_seconds": 0, "grace_from": "now"}


def test_an_update_sends_the_fields_that_are_named_and_its_version() -> None:
    changes = {"note": "", "remain_quota": None, "allow_ips": ["10.0.0.0/8", "::1"], "model_limits": ("a", "b")}
    outcome, (sent,) = run(tokens.update(7, '"1"', None, **changes), success(token(7), '"2"'))
    assert sent.body is not None
    body = {"id": 7, "note": "", "allow_ips": "10.0.0.0/8\n::1", "model_limits": ["a", "b"]}
    assert json.loads(sent.body) == body
    assert sent.headers["If-Match"] == '"1"'
    assert outcome.etag == '"2"'
    _, (sent,) = run(tokens.update(7, "*", None), success(token(7)))
    assert "If-Match" not in sent.headers


def test_a_changed_token_says_its_present_version() -> None:
    outcome, sent = run(tokens.update(7, '"1"', None, note="x"), failure(412, "token_changed"))
    assert type(outcome) is TokenChanged
    assert (outcome.etag, outcome.status, outcome.request_id) == ('"2"', 412, "x")
    assert len(sent) == 1


def test_a_token_without_a_version_cannot_be_changed_by_it() -> None:
    with pytest.raises(ValueError, match="came from a list"):
        tokens.update(7, "", None, note="x")
    with pytest.raises(ValueError, match="came from a list"):
        tokens.delete(7, None)  # type: ignore[arg-type]
    for wrong in ("é", '"1"\r\nX-Other: 1', "x" * 256):
        with pytest.raises(ValueError, match="printable ASCII"):
            tokens.update(7, wrong, None)
        with pytest.raises(ValueError, match="printable ASCII"):
            tokens.create(NewToken(name="n"), wrong)


@pytest.mark.parametrize("number", ["7/rotate", "7", True, 7.0])
def test_an_id_is_a_number(number: Any) -> None:
    with pytest.raises(ValueError, match="whole number"):
        tokens.get(number)


def test_a_deletion_without_an_answer_was_carried_out_if_nothing_is_there() -> None:
    assert run(tokens.delete(7, "*"), LOST, failure(404, "not_found"))[0] is True
    assert run(tokens.end_old_key(7, 3), LOST, failure(404, "not_found"))[0] is True
    for first in ([], [NOWHERE]):
        outcome, _ = run(tokens.delete(7, "*"), *first, failure(404, "not_found"))
        assert type(outcome) is NotFound
    outcome, _ = run(tokens.delete(7, '"1"'), LOST, failure(412, "token_changed"))
    assert type(outcome) is TokenChanged


def test_a_restoration_without_an_answer_is_looked_up() -> None:
    outcome, sent = run(tokens.restore(7), LOST, failure(404, "not_found"), success(token(7), '"3"'))
    assert (outcome.id, outcome.etag) == (7, '"3"')
    assert [send.path for send in sent] == ["/api/token/7/restore"] * 2 + ["/api/token/7/details"]
    outcome, sent = run(tokens.restore(7), failure(404, "not_found"))
    assert type(outcome) is NotFound
    assert len(sent) == 1


def test_a_refusal_says_which_of_many_tokens_is_the_reason() -> None:
    outcome, _ = run(tokens.create_many([NewToken(name="")], None), failure(400, "invalid_name", index=0))
    assert type(outcome) is BadRequest
    assert (outcome.index, outcome.token_id) == (0, None)
    outcome, _ = run(tokens.update_many([7], None, add_quota=-9), failure(409, "insufficient_quota", id=7))
    assert type(outcome) is Conflict
    assert (outcome.index, outcome.token_id) == (None, 7)


def test_a_refusal_with_status_200_is_one() -> None:
    """With the setting `http.errors_as_200`."""
    outcome, _ = run(tokens.get(7), failure(200, "not_found"))
    assert type(outcome) is NotFound
    assert outcome.status == 404


@pytest.mark.parametrize("data", [None, [], {"id": 7}, "sk-1", {"items": [], "total": None}])
def test_an_answer_that_is_not_keymeters_is_none(data: object) -> None:
    for call in (
        tokens.get(7),
        tokens.reveal(7),
        tokens.create(NewToken(name="n"), None),
        tokens.rotate(7, None, None, None),
        Listing().next(),
    ):
        outcome, _ = run(call, success(data))
        assert isinstance(outcome, Unavailable)
        assert "is KEYMETER_URL right?" in str(outcome)


class Lists:
    """A service with tokens, newest first."""

    def __init__(self, count: int) -> None:
        self.ids = list(range(count, 0, -1))
        self.requests = 0

    def answer(self, send: Send) -> Answer:
        self.requests += 1
        query = dict(part.split("=") for part in send.path.partition("?")[2].split("&"))
        begin = (int(query["p"]) - 1) * int(query["page_size"])
        page = self.ids[begin : begin + int(query["page_size"])]
        return success({"page": 1, "page_size": 100, "total": len(self.ids), "items": [token(number) for number in page]})

    def each(self) -> Iterator[Token]:
        listing = Listing()
        while not listing.complete:
            program = listing.next()
            send = next(program)
            assert isinstance(send, Send)
            try:
                program.send(self.answer(send))
            except StopIteration as done:
                yield from done.value


@pytest.mark.parametrize("count", [0, 1, 99, 100, 101, 250])
def test_a_list_has_every_token_once(count: int) -> None:
    lists = Lists(count)
    assert [each.id for each in lists.each()] == list(range(count, 0, -1))
    assert lists.requests == count // 100 + 1


@pytest.mark.parametrize("count", [100, 101, 200, 250, 430])
@pytest.mark.parametrize("nth", [1, 2, 3])
def test_a_list_misses_none_of_those_that_stay_while_others_are_deleted(count: int, nth: int) -> None:
    lists = Lists(count)
    seen = []
    for each in lists.each():
        seen.append(each.id)
        if len(seen) % nth == 0:
            lists.ids.remove(each.id)
    assert sorted(seen) == list(range(1, count + 1))


def test_a_list_has_no_token_twice_while_others_are_created() -> None:
    lists = Lists(250)
    seen = []
    for each in lists.each():
        seen.append(each.id)
        if len(seen) % 50 == 0:
            lists.ids.insert(0, 1000 + len(seen))
    assert seen == list(range(250, 0, -1))
