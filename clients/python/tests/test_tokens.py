"""Each call for one's own tokens, with both clients, against the real service."""

from __future__ import annotations

import pickle
import time

import pytest

from keymeter_client import (
    BadRequest,
    Conflict,
    InvalidAccessToken,
    Keymeter,
    KeymeterTokens,
    NewToken,
    NotAllowed,
    NotFound,
    Refused,
    TokenChanged,
)

from .clients import token_client
from .service import Account, LossyProxy, Service


def test_a_token_is_created_with_every_field_and_read_back(tokens: KeymeterTokens) -> None:
    end = int(time.time()) + 3600
    made = tokens.create(
        "ci",
        remain_quota=500,
        expired_time=end,
        period_limits={"day": 100},
        rate_limits={"concurrency": 3},
        model_limits_enabled=True,
        model_limits=["gpt-5", "o1-*"],
        allow_ips=["10.0.0.0/8", "::1"],
        group="auto",
        cross_group_retry=True,
        show_addresses=True,
        note="of the team",
    )
    assert made.key.startswith("sk-")
    assert (made.name, made.remain_quota, made.expired_time, made.note) == ("ci", 500, end, "of the team")
    assert made.period_limits == {"day": 100, "week": -1, "month": -1}
    assert made.rate_limits["concurrency"] == 3
    assert (made.model_limits_enabled, made.model_limits) == (True, "gpt-5,o1-*")
    assert made.allow_ips.splitlines() == ["10.0.0.0/8", "::1"]
    assert (made.group, made.cross_group_retry, made.show_addresses) == ("auto", True, True)
    assert (made.state, made.status, made.period_usage["day"]["remaining"]) == ("working", 1, 100)
    read = tokens.get(made.id)
    assert (read.key, read.etag, read.masked_key) == ("", made.etag, made.masked_key)
    assert read.etag
    assert tokens.reveal(made.id) == made.key
    assert tokens.create("rich", unlimited_quota=True).unlimited_quota


def test_a_list_has_every_token_and_its_filters(tokens: KeymeterTokens) -> None:
    new = [NewToken(name=f"n{number:03}", remain_quota=number) for number in range(230)]
    made = [each for begin in (0, 100, 200) for each in tokens.create_many(new[begin : begin + 100])]
    assert [each.name for each in made] == [each.name for each in new]
    assert all(each.key.startswith("sk-") and not each.etag for each in made)
    assert [each.id for each in tokens.list()] == [each.id for each in reversed(made)]
    assert next(tokens.list(sort="remain_quota", order="asc")).name == "n000"
    tokens.update_many([each.id for each in made[:3]], status=2)
    assert {each.name for each in tokens.list(status=2)} == {"n000", "n001", "n002"}
    assert [each.name for each in tokens.list(state="used_up")] == []
    with pytest.raises(BadRequest) as refused:
        next(tokens.list(group="elsewhere"))
    assert refused.value.code == "invalid_filter"
    for each in tokens.list():
        tokens.delete(each.id)
    assert list(tokens.list()) == []
    assert len({each.id for each in tokens.list_deleted()}) == 230


def test_an_update_changes_the_fields_that_it_names(tokens: KeymeterTokens) -> None:
    made = tokens.create("n", remain_quota=10, note="old", period_limits={"day": 5})
    changed = tokens.update(made.id, note="new", add_quota=5, period_limits={"week": 7})
    assert (changed.name, changed.note, changed.remain_quota) == ("n", "new", 15)
    assert changed.period_limits == {"day": 5, "week": 7, "month": -1}
    assert changed.etag not in ("", made.etag)
    assert tokens.update(made.id, note="").note == ""
    with pytest.raises(Conflict) as refused:
        tokens.update(made.id, add_quota=-16)
    assert (refused.value.code, refused.value.status) == ("insufficient_quota", 409)


def test_an_edit_of_somebody_else_is_not_overwritten(tokens: KeymeterTokens) -> None:
    made = tokens.create("n")
    theirs = tokens.update(made.id, if_match=made.etag, note="theirs")
    for change in (
        lambda: tokens.update(made.id, if_match=made.etag, note="mine"),
        lambda: tokens.delete(made.id, if_match=made.etag),
    ):
        with pytest.raises(TokenChanged) as refused:
            change()
        assert (refused.value.code, refused.value.etag) == ("token_changed", theirs.etag)
        assert vars(pickle.loads(pickle.dumps(refused.value))) == vars(refused.value)
    assert tokens.get(made.id).note == "theirs"
    assert tokens.update(made.id, if_match=refused.value.etag, note="mine").note == "mine"
    (listed,) = tokens.list()
    with pytest.raises(ValueError, match="came from a list"):
        tokens.update(made.id, if_match=listed.etag, note="other")


def test_a_deleted_token_is_listed_and_restored(tokens: KeymeterTokens, km: Keymeter) -> None:
    made = tokens.create("n", remain_quota=9)
    tokens.delete(made.id, if_match=made.etag)
    assert not km.verify(made.key).valid
    (deleted,) = tokens.list_deleted()
    assert deleted.id == made.id
    assert deleted.deleted_time is not None
    assert deleted.restorable_until is not None
    assert deleted.deleted_time < deleted.restorable_until
    with pytest.raises(NotFound):
        tokens.delete(made.id)
    restored = tokens.restore(made.id)
    assert (restored.remain_quota, restored.deleted_time) == (9, None)
    assert restored.etag == tokens.get(made.id).etag
    assert km.verify(made.key).valid
    with pytest.raises(NotFound) as refused:
        tokens.restore(made.id)
    assert (refused.value.status, refused.value.code) == (404, "not_found")


def test_a_key_is_replaced_and_the_old_one_ends(tokens: KeymeterTokens, km: Keymeter) -> None:
    made = tokens.create("n", remain_quota=9)
    rotated = tokens.rotate(made.id, grace_seconds=600)
    assert rotated.id == made.id
    assert rotated.key not in ("", made.key)
    (old,) = rotated.old_keys
    assert (old.masked_key, old.expires_at, old.last_used_at) == (made.masked_key, None, None)
    before = km.verify(made.key)
    assert before.valid
    assert before.key_expires_at is not None
    assert km.charge(rotated.key, quota=1).remain_quota == 8
    (old,) = tokens.old_keys(made.id)
    assert old.expires_at is not None
    tokens.end_old_key(made.id, old.id)
    assert tokens.old_keys(made.id) == []
    assert [each.id for each in tokens.old_keys(made.id, ended=True)] == [old.id]
    with pytest.raises(NotFound):
        tokens.end_old_key(made.id, old.id)
    last = tokens.rotate(made.id, grace_seconds=0, grace_from="now")
    assert last.old_keys == []
    assert tokens.reveal(made.id) == last.key
    with pytest.raises(BadRequest) as refused:
        tokens.rotate(made.id, grace_seconds=-1)
    assert refused.value.code == "invalid_grace"


def test_many_are_changed_all_or_none(tokens: KeymeterTokens) -> None:
    with pytest.raises(BadRequest) as bad:
        tokens.create_many([NewToken(name="a"), NewToken(name="")])
    assert (bad.value.code, bad.value.index) == ("invalid_name", 1)
    assert list(tokens.list()) == []
    rich, poor = tokens.create_many([NewToken(name="a", remain_quota=9), NewToken(name="b", remain_quota=1)])
    with pytest.raises(Conflict) as refused:
        tokens.update_many([rich.id, poor.id], add_quota=-5)
    assert (refused.value.code, refused.value.token_id) == ("insufficient_quota", poor.id)
    changed = tokens.update_many([poor.id, rich.id], add_quota=5, note="both", status=2)
    assert [(each.remain_quota, each.note, each.status) for each in changed] == [(14, "both", 2), (6, "both", 2)]


@pytest.mark.parametrize("kind", ["threads", "asyncio"])
def test_what_has_no_answer_is_carried_out_once(service: Service, proxy: LossyProxy, kind: str) -> None:
    person = Account(service, wallet=100)
    with token_client(kind, proxy.url, person.access_token) as tokens:

        def loses() -> None:
            proxy.lose = 1

        loses()
        made = tokens.create("n", remain_quota=10)
        loses()
        first, second = tokens.create_many([NewToken(name="a"), NewToken(name="b")])
        assert [each.id for each in tokens.list()] == [second.id, first.id, made.id]
        loses()
        changed = tokens.update(made.id, if_match=made.etag, add_quota=5)
        assert changed.remain_quota == 15, "also with the version that its first try has changed"
        loses()
        assert tokens.update_many([made.id], add_quota=5)[0].remain_quota == 20
        loses()
        rotated = tokens.rotate(made.id)
        assert (tokens.reveal(made.id), len(rotated.old_keys)) == (rotated.key, 1)
        loses()
        tokens.end_old_key(made.id, rotated.old_keys[0].id)
        loses()
        tokens.delete(made.id, if_match=tokens.get(made.id).etag)
        loses()
        assert tokens.restore(made.id).remain_quota == 20
    assert proxy.lost == 8


def test_a_key_of_the_caller_repeats_a_call(tokens: KeymeterTokens) -> None:
    made = tokens.create("n", idempotency_key="my deployment")
    again = tokens.create("n", idempotency_key="my deployment")
    assert (again.id, again.key) == (made.id, made.key)
    with pytest.raises(Conflict) as refused:
        tokens.create("other", idempotency_key="my deployment")
    assert (refused.value.status, refused.value.code) == (422, "idempotency_key_reused")


def test_who_may_not_is_refused(service: Service) -> None:
    with KeymeterTokens(service.url, "kma_wrong") as nobody, pytest.raises(InvalidAccessToken) as unknown:
        next(nobody.list())
    assert (unknown.value.status, unknown.value.code) == (401, "invalid_credential")
    other = Account(service, wallet=1)
    service.root("PATCH", f"/api/admin/users/{other.user_id}", {"token_api_enabled": False})
    with KeymeterTokens(service.url, other.access_token) as one, pytest.raises(NotAllowed) as refused:
        one.create("n")
    assert refused.value.code == "token_api_not_enabled"
    one.close()
    with pytest.raises(Exception, match="closed"):
        one.get(1)


def test_a_token_of_somebody_else_is_not_there(tokens: KeymeterTokens, account: Account) -> None:
    theirs = account.key().token_id
    for call in (tokens.get, tokens.reveal, tokens.delete, tokens.restore, tokens.rotate, tokens.old_keys, tokens.update):
        with pytest.raises(NotFound):
            call(theirs)
    with pytest.raises(Refused):
        tokens.update_many([theirs], note="mine")
