"""Workers that charge, reserve, settle, release and verify on all servers, and remember what was answered.

They repeat what was not answered, as gateways do, until it is.
"""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from database import Database
from processes import eventually
from servers import Answer, Servers

# Ids of tokens, and their keys.
Keys = list[tuple[int, str]]
KEYS = 6
WORKERS = {"charge": 14, "reserve": 10, "verify": 6}
# What was measured, to be shown at the end.
REPORTS: list[str] = []
CHANGES = ("charge", "reserve", "settle", "release")
PAUSE_SECONDS = 0.12
# What is not answered by then never will be.
PATIENCE_SECONDS = 180
# Longer is no failover any more.
TOO_LONG = 120


@dataclass
class Event:
    """An answered or failed request."""

    at: float
    seconds: float
    kind: str
    server: int
    status: int
    error: str


@dataclass
class Books:
    """What was acknowledged, of all loads together."""

    charges: dict[str, tuple[int, dict[str, Any], Any]] = field(default_factory=dict)
    # How a reservation ended: the quota that was charged, or None if it was released.
    ends: dict[str, tuple[int, int | None]] = field(default_factory=dict)


class Worker(random.Random):
    """The random numbers of a worker, and the server that it asks first."""

    def __init__(self, seed: int, server: int) -> None:
        super().__init__(seed)
        self.server = server


class Load:
    numbers = itertools.count()

    def __init__(self, servers: Servers, keys: Keys, books: Books) -> None:
        self.servers, self.keys, self.books = servers, keys, books
        self.events: list[Event] = []
        # What must never be answered.
        self.faults: list[str] = []
        self.ends = threading.Event()
        self.fault_at = 0.0
        self.patience = PATIENCE_SECONDS
        actions = {"charge": self.charge, "reserve": self.reserve, "verify": self.verify}
        self.threads = [
            threading.Thread(target=self.work, args=(actions[kind], number % 3), daemon=True)
            for kind, count in WORKERS.items()
            for number in range(count)
        ]
        self.threads += [threading.Thread(target=self.probe, args=(server,), daemon=True) for server in range(3)]

    def start(self) -> None:
        for thread in self.threads:
            thread.start()

    def stop(self, at_once: bool = False) -> None:
        self.patience = 0 if at_once else PATIENCE_SECONDS
        self.ends.set()
        for thread in self.threads:
            thread.join(PATIENCE_SECONDS + 30)
        assert not any(thread.is_alive() for thread in self.threads), "a worker hangs"

    def work(self, action: Callable[[Worker], None], server: int) -> None:
        worker = Worker(next(self.numbers), server)
        while not self.ends.is_set():
            try:
                action(worker)
            except Exception as error:
                self.faults.append(f"{action.__name__}: {error!r}")
            time.sleep(PAUSE_SECONDS * worker.uniform(0.5, 1.5))

    def probe(self, server: int) -> None:
        """Asks as a load balancer does."""
        while not self.ends.is_set():
            start = time.monotonic()
            answer = self.servers.all[server].call("GET", "/readyz", timeout=3)
            now = time.monotonic()
            self.events.append(Event(now, now - start, "readyz", server, answer.status, answer.error))
            time.sleep(0.5)

    # --- Requests ---

    def once(self, kind: str, server: int, body: dict[str, Any]) -> Answer:
        start = time.monotonic()
        answer = self.servers.call(server, kind, body)
        now = time.monotonic()
        self.events.append(Event(now, now - start, kind, server, answer.status, answer.error))
        return answer

    def until_answered(self, kind: str, worker: Worker, body: dict[str, Any]) -> Answer:
        """Repeats a request, on another server each time, until it is done or refused."""
        server = worker.server
        start = time.monotonic()
        while True:
            answer = self.once(kind, server, body)
            if answer.status not in (0, 503):
                return answer
            if time.monotonic() > start + self.patience:
                raise AssertionError(f"{kind} is never answered: {answer}")
            server = (server + 1) % 3
            time.sleep(worker.uniform(0.2, 0.6))

    def charge(self, worker: Worker) -> None:
        token, key = worker.choice(self.keys)
        body = {"key": key, "quota": worker.randrange(1, 100), "request_id": f"c{next(self.numbers)}", "model": "m"}
        answer = self.until_answered("charge", worker, body)
        self.books.charges[body["request_id"]] = (token, body, answer.data())

    def reserve(self, worker: Worker) -> None:
        token, key = worker.choice(self.keys)
        body = {"key": key, "quota": 100, "request_id": f"r{next(self.numbers)}", "ttl_seconds": 3600}
        reservation = self.until_answered("reserve", worker, body).data()["reservation_id"]
        settle = {"reservation_id": reservation, "quota": worker.randrange(1, 150)}
        release = {"reservation_id": reservation}
        calls = [("settle", settle), ("release", release)]
        worker.shuffle(calls)
        # Nobody knows whether the first call did its work; the two that follow must agree on it.
        first = self.once(calls[0][0], worker.randrange(3), calls[0][1])
        answers = {call: self.until_answered(call, worker, body) for call, body in reversed(calls)}
        done = [call for call, answer in answers.items() if answer.status == 200]
        refused = [answer.error for answer in answers.values() if answer.status != 200]
        is_forgotten = first.status == 200 and done != [calls[0][0]]
        if len(done) != 1 or refused != ["reservation_ended"] or is_forgotten:
            self.faults.append(f"{reservation} ended as {answers}, {calls[0][0]} before as {first}")
            return
        charged = answers["settle"].data()["charged"] if done == ["settle"] else None
        if charged not in (None, settle["quota"]):
            self.faults.append(f"{reservation} was charged {charged} instead of {settle['quota']}")
        self.books.ends[reservation] = (token, charged)

    def verify(self, worker: Worker) -> None:
        _, key = worker.choice(self.keys)
        answer = self.once("verify", worker.server, {"key": key})
        if answer.status == 200 and not answer.data()["valid"]:
            self.faults.append(f"a valid key is not: {answer.body}")
        elif answer.status not in (0, 200, 503):
            self.faults.append(f"verify: {answer}")

    # --- What was measured ---

    def mark(self) -> None:
        """The fault begins now."""
        self.fault_at = time.monotonic()

    def gap(self, kinds: tuple[str, ...], servers: Iterable[int] = range(3)) -> float:
        """The longest time since the fault without a success on these servers."""
        end = time.monotonic()
        times = sorted(
            event.at
            for event in list(self.events)
            if event.kind in kinds and not event.error and event.at > self.fault_at and event.server in servers
        )
        return max(after - before for before, after in itertools.pairwise([self.fault_at, *times, end]))

    def slowest(self, kinds: tuple[str, ...]) -> float:
        return max((event.seconds for event in list(self.events) if event.kind in kinds), default=0)

    def errors(self, since: float = 0) -> Counter[tuple[str, str]]:
        outages = (event for event in list(self.events) if event.error not in ("", "reservation_ended"))
        return Counter((event.kind, event.error) for event in outages if event.at >= since)

    def report(self, name: str, servers: Iterable[int] = range(3)) -> dict[str, float]:
        """Prints for how long these servers did nothing."""
        kinds = {"charges": CHANGES, "verify": ("verify",), "ready": ("readyz",)}
        found = {kind: self.gap(calls, servers) for kind, calls in kinds.items()}
        times = "no charge for {charges:.1f} s, no verify for {verify:.1f} s, no server ready for {ready:.1f} s"
        REPORTS.append(f"{name}: {times.format(**found)}")
        print(f"\n{REPORTS[-1]}")
        errors = ", ".join(f"{kind} {error}: {count}" for (kind, error), count in sorted(self.errors().items()))
        print(f"  {len(self.events)} requests, the slowest took {self.slowest(CHANGES):.1f} s; {errors or 'no error'}")
        return found


def goes_on(load: Load, seconds: float = 4) -> None:
    """All servers charge and verify again, for some time."""
    since = time.monotonic()

    def successes(server: int, kind: str) -> int:
        events = list(load.events)
        return sum(
            event.at > since and event.server == server and event.kind == kind and not event.error for event in events
        )

    pairs = [(server, kind) for server in range(3) for kind in ("charge", "settle", "release", "verify")]
    eventually("all servers work", lambda: all(successes(*pair) >= 3 for pair in pairs), TOO_LONG)
    time.sleep(seconds)


class Watch:
    """Asks all servers for a key all the time, and remembers what began when and was admitted."""

    def __init__(self, servers: Servers, key: str) -> None:
        self.servers, self.key = servers, key
        self.admitted: list[tuple[float, int, str]] = []
        self.asked = 0
        self.ends = threading.Event()
        self.threads = [
            threading.Thread(target=self.ask, args=(server, call), daemon=True)
            for server in range(3)
            for call in ("verify", "charge")
        ]
        for thread in self.threads:
            thread.start()

    def ask(self, server: int, call: str) -> None:
        while not self.ends.is_set():
            start = time.monotonic()
            body = {"key": self.key} if call == "verify" else {"key": self.key, "quota": 1}
            answer = self.servers.call(server, call, body)
            self.asked += 1
            if answer.status == 200 and (call == "charge" or answer.data()["valid"]):
                self.admitted.append((start, server, call))
            time.sleep(0.1)

    def stop(self) -> None:
        self.ends.set()
        for thread in self.threads:
            thread.join()

    def assert_refused_since(self, edit: float) -> None:
        late = [(start - edit, server, call) for start, server, call in self.admitted if start >= edit + 2]
        assert not late, f"admitted, seconds after the edit: {late[:10]}"
        last = max((start - edit for start, _, _ in self.admitted), default=0)
        print(f"  asked {self.asked} times; admitted last {last:.2f} s after the answer to the edit")


def check_books(database: Database, servers: Servers, keys: Keys, load: Load) -> None:
    """Every acknowledged operation is in the books exactly once, and nothing else is."""
    books = load.books
    assert not load.faults, load.faults[:10]
    # A hold that nobody remembers would be a fault, one that was just given back not yet.
    eventually(
        "no hold is open", lambda: database.sql("select count(*) from reservations where state = 'open'") == [(0,)]
    )
    ids = ", ".join(str(token) for token, _ in keys)
    rows = database.sql(f"select token_id, request_id, reservation_id, quota from charges where token_id in ({ids})")
    written = Counter((token, request, quota) for token, request, reservation, quota in rows if reservation is None)
    expected = Counter((token, id, body["quota"]) for id, (token, body, _) in books.charges.items())
    assert written == expected, f"missing: {expected - written}; too many: {written - expected}"
    settled = Counter((token, quota) for token, _, reservation, quota in rows if reservation is not None)
    expected = Counter((token, charged) for token, charged in books.ends.values() if charged is not None)
    assert settled == expected, f"missing: {expected - settled}; too many: {settled - expected}"
    twice = Counter(reservation for _, _, reservation, _ in rows if reservation is not None).most_common(1)
    assert not twice or twice[0][1] == 1, f"a hold ended twice: {twice}"
    held = database.sql(f"select count(*) from reservations where token_id in ({ids})")
    assert held == [(len(books.ends),)], "a reservation was made twice or lost"
    used = dict(database.sql(f"select id, used_quota from tokens where id in ({ids})"))
    sums = Counter[int]()
    for token, _, _, quota in rows:
        sums[token] += quota
    assert used == {token: sums[token] for token, _ in keys}

    source = random.Random(1)
    for id in source.sample(sorted(books.charges), min(100, len(books.charges))):
        _, body, first = books.charges[id]
        again = servers.call(source.randrange(3), "charge", body).data()
        assert again == first, f"the retry of {id} is answered {again}, first {first}"
    servers.all[0].doctor()
    print(f"  books: {len(books.charges)} charges, {len(books.ends)} reservations, each exactly once; doctor clean")
