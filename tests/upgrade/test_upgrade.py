"""An upgrade without a window: servers of two programs on one database, under load.

If a migration between the programs is not rolling, the older one must end and refuse to start, and the sentence must
say why. `installation.min_migration` tells which of both is right.
"""

from __future__ import annotations

import time

import pytest
from load import Watch, goes_on
from servers import Servers
from upgrade import NEWER, OLDER, REFUSAL, Upgrade


def test_servers_are_replaced_one_after_the_other(upgrade: Upgrade) -> None:
    first, second, third = upgrade.servers.all
    with upgrade.load("rolling upgrade") as load:
        upgrade.replace(first, NEWER)
        newest, is_rolling = upgrade.database.newest_migration(), upgrade.is_rolling()
        says = "rolling" if is_rolling else "not rolling"
        upgrade.note(f"migrations of the older program end with {upgrade.newest_of_older}, now {newest}: {says}")
        if is_rolling:
            goes_on(load)
            for server, program in ((third, OLDER), (first, NEWER)):
                upgrade.kill(server)
                time.sleep(1)
                upgrade.start(server, program)
                goes_on(load)
            upgrade.replace(second, NEWER)
            goes_on(load)
            upgrade.replace(third, NEWER)
        else:
            for server in (second, third):
                upgrade.assert_refused(server)
                upgrade.start(server, NEWER)


def test_a_server_goes_back_to_the_older_program(upgrade: Upgrade) -> None:
    second = upgrade.servers.all[1]
    upgrade.arrange(NEWER, NEWER, NEWER)
    with upgrade.load("a server goes back") as load:
        if upgrade.is_rolling():
            upgrade.replace(second, OLDER)
            goes_on(load)
            upgrade.kill(second)
            upgrade.start(second, OLDER)
        else:
            assert second.program.terminate() == 0
            second.program.command[0] = OLDER
            second.program.start()
            upgrade.assert_refused(second)
            with pytest.raises(AssertionError, match=REFUSAL):
                second.doctor()
            upgrade.start(second, NEWER)


@pytest.mark.parametrize(("here", "there"), [(0, 1), (1, 0)], ids=["newer_to_older", "older_to_newer"])
def test_edits_through_one_program_are_seen_by_the_other(
    upgrade: Upgrade, servers: Servers, here: int, there: int
) -> None:
    if not upgrade.is_rolling():
        pytest.skip("a migration is not rolling: the older program does not run beside the newer one")
    upgrade.arrange(NEWER, OLDER, NEWER)
    owner = servers.owners[0]
    with upgrade.load(f"edits on server {here + 1}"):
        token, key = servers.create_key(0, f"made by server {here + 1}", here)
        charge = {"key": key, "quota": 7, "request_id": f"by both {here}"}
        charged = servers.call(there, "charge", charge).data()
        assert servers.call(here, "charge", charge).data() == charged
        hold = {"key": key, "quota": 5, "request_id": f"hold {here}", "ttl_seconds": 60}
        reservation = servers.call(here, "reserve", hold).data()["reservation_id"]
        servers.call(there, "settle", {"reservation_id": reservation, "quota": 3}).data()

        edit = {"id": token, "note": "edited"}
        servers.all[here].call("PUT", "/api/token/", edit, **owner).data()
        seen = servers.all[there].call("GET", f"/api/token/{token}", **owner).data()
        assert (seen["note"], seen["used_quota"]) == ("edited", 10)

        gateway = servers.all[here].call("POST", "/api/admin/gateways", {"name": f"of {here}"}, **servers.root).data()
        credential = {"authorization": f"Bearer {gateway['credential']}"}
        verified = servers.all[there].call("POST", "/api/gateway/verify", {"key": key}, **credential).data()
        assert verified["valid"]

        watch = Watch(servers, key)
        time.sleep(1)
        disabled = servers.all[here].call("PUT", "/api/token/?status_only=1", {"id": token, "status": 2}, **owner)
        edited = time.monotonic()
        disabled.data()
        time.sleep(4)
        watch.stop()
        assert {server for _, server, _ in watch.admitted} == {0, 1, 2}
        watch.assert_refused_since(edited)
