"""Faults under load. After each of them, every acknowledged operation is in the books exactly once.

How long nothing is answered is printed. It depends on the machine, so only absurd times fail.
"""

from __future__ import annotations

import signal
import time

import pytest
from cluster import Cluster
from load import TOO_LONG, Books, Keys, Load, Watch, check_books, goes_on
from processes import eventually, signal_all
from servers import Servers


def assert_bounded(found: dict[str, float]) -> None:
    assert max(found.values()) < TOO_LONG, found


class Run:
    """A load on healthy nodes, whose books are checked when the nodes are healthy again."""

    def __init__(self, cluster: Cluster, servers: Servers, keys: Keys, books: Books) -> None:
        self.cluster, self.servers, self.keys, self.books = cluster, servers, keys, books

    def __enter__(self) -> Load:
        self.load = Load(self.servers, self.keys, self.books)
        self.load.start()
        goes_on(self.load)
        self.load.mark()
        return self.load

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.cluster.heal()
        self.load.stop(at_once=kind is not None)
        if kind is None:
            check_books(self.cluster, self.servers, self.keys, self.load)


@pytest.fixture
def run(cluster: Cluster, servers: Servers, keys: Keys, books: Books) -> Run:
    return Run(cluster, servers, keys, books)


def test_switchover(cluster: Cluster, run: Run) -> None:
    primary, standby = cluster.primary(), cluster.with_role("sync_standby")
    with run as load:
        cluster.patronictl("switchover", "--leader", primary.name, "--candidate", standby.name, "--force")
        eventually("the standby is the primary", lambda: cluster.primary() is standby)
        goes_on(load)
        assert_bounded(load.report("switchover"))


def test_kill_of_the_primary(cluster: Cluster, run: Run) -> None:
    primary = cluster.primary()
    with run as load:
        primary.kill()
        eventually("another node is the primary", lambda: cluster.primary() is not primary, TOO_LONG)
        goes_on(load)
        assert_bounded(load.report("kill -9 of PostgreSQL and Patroni of the primary"))


def test_kill_of_postgresql_alone(cluster: Cluster, run: Run) -> None:
    primary = cluster.primary()
    with run as load:
        signal_all(primary.postgres(), signal.SIGKILL)
        goes_on(load, 15)
        assert_bounded(load.report("kill -9 of PostgreSQL of the primary, Patroni stays"))


def test_the_primary_is_frozen_for_a_minute(cluster: Cluster, run: Run) -> None:
    """It wakes up as a primary that others have replaced."""
    primary = cluster.primary()
    with run as load:
        primary.pause()
        time.sleep(60)
        assert cluster.primary() is not primary
        primary.resume()
        goes_on(load, 15)
        assert_bounded(load.report("the machine of the primary frozen for a minute"))


@pytest.mark.parametrize("how", ["killed", "frozen"])
def test_the_synchronous_standby_is_lost(cluster: Cluster, run: Run, how: str) -> None:
    standby = cluster.with_role("sync_standby")
    with run as load:
        standby.kill() if how == "killed" else standby.pause()
        goes_on(load, 30)
        assert_bounded(load.report(f"the synchronous standby {how}"))


def test_all_standbys_are_lost(cluster: Cluster, servers: Servers, run: Run) -> None:
    """Nothing is charged. Keys are verified, reads are answered, and connections do not pile up."""
    with run as load:
        standbys = cluster.standbys()
        for standby in standbys:
            standby.kill()
        eventually("a charge is not durable", lambda: load.errors()[("charge", "not_durable")])
        eventually("further ones are refused", lambda: load.errors()[("charge", "ledger_busy")])
        waiting, reads = [], 0
        stalled = time.monotonic()
        while time.monotonic() < stalled + 40:
            for server in servers.all:
                assert server.call("GET", "/readyz").data() == {"degraded": ["not_durable"]}
                durable = server.call("GET", "/readyz?durable")
                assert (durable.status, durable.error) == (503, "not_durable")
                assert server.call("GET", "/api/token/", **servers.owners[0]).data()["total"] > 0
                reads += 1
            count = "select count(*) from pg_stat_activity where usename = 'keymeter' and wait_event = 'SyncRep'"
            waiting.append(cluster.sql(count)[0][0])
            time.sleep(0.5)
        assert load.errors(stalled)[("verify", "not_durable")] == 0
        verified = [event for event in list(load.events) if event.kind == "verify" and event.at > stalled]
        failed = [event.error for event in verified if event.error]
        assert len(failed) <= len(verified) / 100, failed[:10]
        assert load.gap(("verify",)) < 5
        print(f"\n  stalled: {reads} reads, {len(verified)} verifications, {len(failed)} of them failed")
        print(f"  connections that wait for a standby: {waiting[0]} at first, {max(waiting)} at most")
        assert max(waiting) <= 3 * 12
        load.mark()
        for standby in standbys:
            standby.patroni.start()
        goes_on(load)
        assert_bounded(load.report("all standbys lost for 45 s; from their start on"))
        answers = [server.call("GET", "/readyz?durable").status for server in servers.all]
        assert answers == [200] * 3


def test_etcd_is_gone(cluster: Cluster, run: Run) -> None:
    primary = cluster.primary()
    with run as load:
        for node in cluster.nodes:
            node.etcd.kill()
        time.sleep(45)
        for node in cluster.nodes:
            node.etcd.start()
        goes_on(load)
        assert_bounded(load.report("etcd gone for 45 s"))
        assert cluster.primary() is primary


@pytest.mark.parametrize(
    ("direction", "count"), [("up", 1), ("down", 1), ("both", 3)], ids=["one_way", "other_way", "both_ways"]
)
def test_packets_are_lost(cluster: Cluster, run: Run, direction: str, count: int) -> None:
    """Between Keymeter and HAProxy, for 30 seconds, while all connections stay open."""
    with run as load:
        for relay in cluster.relays[:count]:
            relay.lose(direction)
        time.sleep(30)
        for relay in cluster.relays[:count]:
            relay.lose("none")
        goes_on(load)
        name = {"up": "to the database", "down": "from the database", "both": "in both directions"}[direction]
        name = f"packets {name} lost for 30 s, of {count} of 3 servers"
        assert_bounded(load.report(f"{name}; the server that is cut off", [0]))
        if count == 1:
            assert_bounded(load.report(f"{name}; the others", [1, 2]))


def disable(servers: Servers, token: int) -> float:
    """Returns when the edit was answered with success."""

    def is_done() -> bool:
        answers = (
            server.call("PUT", "/api/token/?status_only=1", {"id": token, "status": 2}, **servers.owners[0])
            for server in servers.all
        )
        return any(answer.status == 200 for answer in answers)

    eventually("the key is disabled", is_done, TOO_LONG, 0.05)
    return time.monotonic()


def test_a_key_that_is_disabled_around_a_failover(cluster: Cluster, servers: Servers, run: Run) -> None:
    before, during = servers.create_key(0, "disabled before"), servers.create_key(0, "disabled during")
    primary = cluster.primary()
    with run as load:
        watches = [Watch(servers, before[1]), Watch(servers, during[1])]
        time.sleep(2)
        edits = [disable(servers, before[0])]
        primary.kill()
        edits.append(disable(servers, during[0]))
        goes_on(load, 10)
        load.report("kill -9 of the primary, while a key is disabled")
        for watch, edit in zip(watches, edits, strict=True):
            watch.stop()
            watch.assert_refused_since(edit)


def test_a_standby_that_is_behind_is_not_asked(
    cluster: Cluster, servers: Servers, run: Run, request: pytest.FixtureRequest
) -> None:
    token, key = servers.create_key(0, "disabled")
    primary, standbys = cluster.primary(), cluster.standbys()
    behind = cluster.server(3, f"{standbys[0].address}:5432")
    request.addfinalizer(behind.stop)
    with run as load:
        replays = [process for standby in standbys for process in standby.replay()]
        assert len(replays) == 2
        signal_all(replays, signal.SIGSTOP)
        watch = Watch(servers, key)
        time.sleep(2)
        edit = disable(servers, token)
        assert standbys[0].sql(f"select switched_off_by from tokens where id = {token}") == [(None,)]
        assert cluster.servers_up() == {primary.name}
        # A server that is connected to a standby by mistake lets rows of it decide nothing.
        behind.program.start()
        eventually("it says why", lambda: behind.call("GET", "/readyz").error == "database_read_only", 90)
        for _ in range(20):
            answer = behind.call("POST", "/api/gateway/verify", {"key": key}, **servers.gateway)
            assert answer.status == 503, answer
            time.sleep(0.2)
        watch.stop()
        watch.assert_refused_since(edit)
        signal_all(replays, signal.SIGCONT)
        goes_on(load)
        load.report("standbys that are behind")


def test_the_doctor_runs_on_a_standby(cluster: Cluster, servers: Servers) -> None:
    first = servers.all[0]
    database = first.environment["DATABASE_URL"]
    address = database.split("@")[1].split("/")[0]
    for standby in cluster.standbys():
        url = database.replace(address, f"{standby.address}:5432")
        assert "no errors found" in first.doctor(DATABASE_URL=url)
