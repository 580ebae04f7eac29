"""Two programs on one database, and three servers of either."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from database import query
from load import REPORTS, Books, Keys, Load, check_books, goes_on
from processes import eventually
from servers import MASTER_KEY, Server, Servers

NEWER, OLDER = os.environ["KEYMETER_PROGRAM"], os.environ["KEYMETER_OLDER_PROGRAM"]
# What a program says whose newest migration is below `installation.min_migration`.
REFUSAL = "a newer keymeter has migrated this database"
# Longer without a charge or a verification is a window.
WINDOW_SECONDS = 10


class PlainDatabase:
    """A database of its own in a PostgreSQL that runs."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url_of_server = folder, url
        self.name = f"keymeter_upgrade_{random.randrange(10**9)}"
        self.url = urlsplit(url)._replace(path=f"/{self.name}").geturl()

    def create(self) -> None:
        query(f"create database {self.name} encoding 'UTF8' template template0", dsn=self.url_of_server)

    def drop(self) -> None:
        query(f"drop database {self.name} with (force)", dsn=self.url_of_server)

    def server(self, number: int, program: str) -> Server:
        environment = {"DATABASE_URL": self.url, "KEYMETER_SECRETS__MASTER_KEY": MASTER_KEY}
        return Server(self.folder / f"keymeter{number}", environment, program)

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        return query(statement, dsn=self.url)

    def newest_migration(self) -> int:
        return self.sql("select max(version) from _sqlx_migrations where success")[0][0]

    def min_migration(self) -> int:
        """The oldest newest migration of a program that may use the database."""
        return self.sql("select min_migration from installation")[0][0]


class Upgrade:
    def __init__(self, database: PlainDatabase, servers: Servers, keys: Keys, books: Books) -> None:
        self.database, self.servers, self.keys, self.books = database, servers, keys, books
        self.newest_of_older = database.newest_migration()

    def is_rolling(self) -> bool:
        """Returns true if the older program may use the database as it is."""
        return self.database.min_migration() <= self.newest_of_older

    # --- Servers ---

    def start(self, server: Server, program: str) -> None:
        server.program.command[0] = program
        server.program.start()
        eventually("the server is ready", server.is_ready)

    def replace(self, server: Server, program: str) -> None:
        assert server.program.terminate() == 0, f"a server has not stopped cleanly; its log: {server.program.log}"
        self.start(server, program)

    def kill(self, server: Server) -> None:
        """Ends it with SIGKILL in the middle of its work."""
        assert server.program.family(), f"a server has ended; its log: {server.program.log}"
        server.program.kill()

    def arrange(self, *programs: str) -> None:
        """Replaces the servers of other programs than these, one after the other."""
        for server, program in zip(self.servers.all, programs, strict=True):
            if server.program.command[0] != program:
                self.replace(server, program)

    def assert_refused(self, server: Server) -> None:
        """A server of the older program, which runs or starts, ends and says why."""
        process = server.program.process
        assert process
        code = process.wait(60)
        assert code > 0, f"exit code {code}"
        last = server.program.log.read_text().splitlines()[-10:]
        assert any(REFUSAL in line for line in last), last

    # --- Load and books ---

    @contextmanager
    def load(self, name: str) -> Iterator[Load]:
        """A load on all servers. Afterwards nobody has waited, and all that was answered is in the books."""
        load = Load(self.servers, self.keys, self.books)
        load.start()
        try:
            goes_on(load, 1)
            load.mark()
            yield load
            goes_on(load)
        except BaseException:
            print(f"\n{name}: {dict(load.errors())}; {load.faults[:5]}")
            load.stop(at_once=True)
            raise
        gaps = load.report(name)
        load.stop()
        assert_retryable(load)
        check_books(self.database, self.servers, self.keys, load)
        if self.is_rolling():
            assert max(gaps.values()) < WINDOW_SECONDS, gaps
            assert "no errors found" in self.servers.all[0].doctor(OLDER)

    def note(self, text: str) -> None:
        REPORTS.append(text)
        print(f"\n{text}")


def assert_retryable(load: Load) -> None:
    """Errors are 503 and closed connections, as each server that ends causes them, and nothing else."""
    others = Counter(
        (event.kind, event.status, event.error)
        for event in load.events
        if event.status not in (200, 503) and event.error not in ("no_connection", "reservation_ended")
    )
    assert not others, others
