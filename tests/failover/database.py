"""What servers, load and books need of a database."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import psycopg2


class Database(Protocol):
    # Of the logs and of what servers keep.
    folder: Path

    def sql(self, statement: str) -> list[tuple[Any, ...]]: ...


def query(statement: str, **connection: Any) -> list[tuple[Any, ...]]:
    """`connection` are arguments of `psycopg2.connect`."""
    opened = psycopg2.connect(**connection, connect_timeout=3, options="-c statement_timeout=60000")
    try:
        opened.autocommit = True
        with opened.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall() if cursor.description else []
    finally:
        opened.close()
