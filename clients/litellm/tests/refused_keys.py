"""Keys that are refused, each for a reason of its own."""

from __future__ import annotations

import time

import httpx
from programs import Key, Keymeter, quota


def nobody(keymeter: Keymeter) -> Key:
    return Key(keymeter, 0, "sk-nobody", "nobody")


def disabled(keymeter: Keymeter) -> Key:
    key = keymeter.key()
    key.disable()
    return key


def of_a_poor_owner(keymeter: Keymeter) -> Key:
    """The key may spend a dollar, its owner has none."""
    name = f"poor{time.time_ns() % 10**9}"
    keymeter.ask("POST", "/api/admin/users", {"username": name, "password": "long enough 1"})
    session = httpx.Client(base_url=keymeter.url, headers={"Origin": keymeter.url})
    session.post("/api/user/login", json={"username": name, "password": "long enough 1"}).raise_for_status()
    made = session.post(
        "/api/token/", json={"name": "poor", "remain_quota": quota("1")}, headers={"Prefer": "return=representation"}
    ).json()["data"]
    return Key(keymeter, made["id"], made["key"], "poor")


def expired(keymeter: Keymeter) -> Key:
    return keymeter.key(expired_time=int(time.time()) - 60)
