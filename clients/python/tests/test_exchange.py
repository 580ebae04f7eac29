"""What is sent again, and when: answers that the real service does not give when asked."""

from __future__ import annotations

import json
from typing import Any, TypeVar

import pytest

from keymeter_client import Charge, Charged, NotAllowed, QuotaExhausted, Refused, Unavailable, exchange
from keymeter_client.answers import Settled, read
from keymeter_client.errors import error_of
from keymeter_client.exchange import Answer, NoAnswer, Program, Send, Sleep

T = TypeVar("T")

CHARGED = {"charged": 1, "remain_quota": 2, "request_id": "r", "token_id": 3, "user_id": 4, "name": "n", "group": "g"}


def success(data: object) -> Answer:
    return Answer(200, {}, json.dumps({"success": True, "message": "", "data": data}).encode())


def failure(status: int, code: str, retry_after: str | None = None) -> Answer:
    headers = {"x-request-id": "x"} | ({} if retry_after is None else {"retry-after": retry_after})
    return Answer(status, headers, json.dumps({"success": False, "message": "m", "error": code}).encode())


def run(program: Program[T], *received: Answer | NoAnswer) -> tuple[T | Exception, list[Any], list[float]]:
    """The outcome, the bodies that were sent and the pauses between them."""
    answers = iter(received)
    sent: list[Any] = []
    pauses: list[float] = []
    got: Answer | NoAnswer | None = None
    try:
        while True:
            step = program.send(got)
            got = None
            if isinstance(step, Sleep):
                pauses.append(step.seconds)
            else:
                assert isinstance(step, Send)
                assert 0 < step.seconds <= 2
                sent.append(json.loads(step.body or b""))
                got = next(answers)
    except StopIteration as done:
        assert next(answers, None) is None, "not all answers were used"
        return done.value, sent, pauses
    except Exception as error:
        assert next(answers, None) is None, "not all answers were used"
        return error, sent, pauses


def charge() -> Program[Charged]:
    return exchange.charge(Charge(key="sk-1", usd="0.02"))


def test_ids_of_requests_are_hexadecimal_and_ordered_by_time(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = []
    for millisecond in (1, 1_800_000_000_000, 1_800_000_000_001, 1_800_000_000_001):
        monkeypatch.setattr("keymeter_client.exchange.time.time_ns", lambda ms=millisecond: ms * 1_000_000 + 999_999)
        ids.append(exchange.new_request_id())
    assert [each[:12] for each in ids] == ["000000000001", "01a3185c5000", "01a3185c5001", "01a3185c5001"]
    assert ids[2] != ids[3]
    assert all(len(each) == 32 and set(each) <= set("0123456789abcdef") for each in ids)


def test_a_try_is_repeated_with_the_same_body_after_pauses_that_double() -> None:
    outcome, sent, pauses = run(charge(), NoAnswer("ReadTimeout"), failure(503, "ledger_busy"), success(CHARGED))
    assert isinstance(outcome, Charged)
    assert sent[0] == sent[1] == sent[2]
    assert sent[0].keys() == {"key", "usd", "request_id"}
    assert (sent[0]["usd"], len(sent[0]["request_id"])) == ("0.02", 32)
    assert 0.05 <= pauses[0] <= 0.1 <= pauses[1] <= 0.2


def test_retry_after_is_waited_for_if_there_is_time() -> None:
    outcome, _, pauses = run(charge(), failure(503, "database_unavailable", "3"), success(CHARGED))
    assert isinstance(outcome, Charged)
    assert pauses == [3]
    outcome, _, pauses = run(charge(), failure(503, "database_unavailable", "30"))
    assert isinstance(outcome, Unavailable)
    assert (outcome.status, outcome.code, outcome.retry_after, outcome.request_id) == (503, "database_unavailable", 30, "x")
    assert pauses == []
    # A date is not read.
    outcome, _, pauses = run(charge(), failure(503, "timeout", "Tue, 24 Nov 2026 03:00:00 GMT"), success(CHARGED))
    assert pauses[0] < 1


def test_three_tries_are_all() -> None:
    outcome, sent, _ = run(charge(), *[NoAnswer("ConnectError", sent=False)] * 3)
    assert isinstance(outcome, Unavailable)
    assert not outcome.sent
    assert str(outcome) == "no answer from Keymeter (ConnectError)"
    outcome, sent, _ = run(charge(), NoAnswer("ReadTimeout"), *[NoAnswer("ConnectError", sent=False)] * 2)
    assert isinstance(outcome, Unavailable)
    assert outcome.sent, "the first try may have been carried out"
    assert len(sent) == 3


@pytest.mark.parametrize("answer", [failure(429, "rate_limited", "1"), failure(402, "token_exhausted"), failure(400, "x")])
def test_a_refusal_is_not_repeated(answer: Answer) -> None:
    outcome, sent, _ = run(charge(), answer)
    assert isinstance(outcome, Refused)
    assert len(sent) == 1


@pytest.mark.parametrize(
    ("status", "body", "tries"),
    [
        (200, b"", 1),
        (200, b"<html>", 1),
        (200, b"[]", 1),
        (200, b"null", 1),
        (200, b'{"success":true}', 1),
        (200, b'{"success":true,"data":[]}', 1),
        (200, b'{"success":true,"data":{"charged":1}}', 1),
        (200, b'{"success":1,"data":{}}', 1),
        (204, b"", 1),
        (302, b"", 1),
        (403, b"{}", 1),
        (403, b'{"success":false}', 1),
        (502, b"<html>", 3),
        (504, b"", 3),
    ],
)
def test_an_answer_that_is_not_keymeters_is_none(status: int, body: bytes, tries: int) -> None:
    outcome, _, _ = run(charge(), *[Answer(status, {}, body)] * tries)
    assert isinstance(outcome, Unavailable)
    assert outcome.status == status
    assert "is KEYMETER_URL right?" in str(outcome)


def test_a_success_with_another_status_permits_nothing() -> None:
    outcome, _, _ = run(charge(), Answer(201, {}, success(CHARGED).body))
    assert isinstance(outcome, Unavailable)


def test_of_many_charges_only_those_without_a_decision_are_sent_again() -> None:
    charges = [Charge(key="sk-1", quota=number) for number in range(4)]
    charged = {"success": True, **CHARGED}
    busy = {"success": False, "error": "ledger_busy", "message": "m", "retry_after": 1}
    short = {"success": False, "error": "token_exhausted", "message": "m"}
    outcome, sent, pauses = run(
        exchange.charges(charges),
        success([charged, busy, short, busy]),
        success([busy, charged]),
        success([{**charged, "charged": 9}]),
    )
    assert isinstance(outcome, list)
    assert [type(each) for each in outcome] == [Charged, Charged, QuotaExhausted, Charged]
    assert isinstance(outcome[1], Charged)
    assert outcome[1].charged == 9
    assert [[each["quota"] for each in body["charges"]] for body in sent] == [[0, 1, 2, 3], [1, 3], [1]]
    assert sent[2]["charges"][0] == sent[0]["charges"][1]
    assert pauses == [1, 1]


def test_what_was_decided_is_kept_if_the_rest_cannot_be() -> None:
    charges = [Charge(key="sk-1", quota=1)] * 2
    busy = {"success": False, "error": "ledger_busy", "message": "m"}
    outcome, _, _ = run(
        exchange.charges(charges), success([{"success": True, **CHARGED}, busy]), NoAnswer("x"), failure(401, "invalid_gateway")
    )
    assert isinstance(outcome, list)
    assert [type(each) for each in outcome] == [Charged, Unavailable]
    outcome, _, _ = run(exchange.charges(charges), *[success([{"success": True, **CHARGED}, busy])], *[success([busy])] * 2)
    assert isinstance(outcome, list)
    assert [type(each) for each in outcome] == [Charged, Unavailable]
    # Another number of outcomes than of charges.
    outcome, _, _ = run(exchange.charges(charges), success([busy]))
    assert isinstance(outcome, Unavailable)


def test_a_code_of_a_newer_service_is_read_by_its_status() -> None:
    for status, kind in ((402, QuotaExhausted), (403, NotAllowed), (418, Refused), (500, Unavailable), (599, Unavailable)):
        error = error_of({"error": "new", "message": "m"}, status)
        assert type(error) is kind
    assert type(error_of({"error": "new", "message": "m"})) is Refused


def test_unknown_fields_are_ignored_and_missing_ones_are_not() -> None:
    known = {"charged": 1, "shortfall": 0, "expired": False, "remain_quota": 2}
    assert read(Settled, known | {"new": 1}) == Settled(1, 0, False, 2)
    with pytest.raises(ValueError, match="charged is missing"):
        read(Settled, {"shortfall": 0, "expired": False, "remain_quota": 2})
    with pytest.raises(ValueError, match="an object"):
        read(Settled, [])
