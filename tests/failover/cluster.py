"""Three nodes with etcd, Patroni and PostgreSQL, and HAProxy before them, with the files of recipe/.

The nodes have addresses of the loopback network, so that the ports are those of the files.
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
import random
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import psutil
from database import query
from processes import ACCOUNT, Program, eventually, family, give, signal_all
from relay import RelayProcess
from servers import MASTER_KEY, Server

RECIPE = Path(__file__).parent / "recipe"
NODES = ("db1", "db2", "db3")
PASSWORDS = {
    f"PASSWORD-OF-{name.upper()}": f"{name}-of-the-tests"
    for name in ("patroni", "postgres", "replicator", "rewind", "keymeter")
}


def patroni_program(name: str) -> str:
    return str(Path(sys.executable).parent / name)


class Node:
    """A database machine."""

    def __init__(self, cluster: Cluster, name: str, address: str) -> None:
        self.cluster, self.name, self.address = cluster, name, address
        self.folder = cluster.folder / name
        self.folder.mkdir()
        give(self.folder)
        self.data = self.folder / "data"
        self.config = self.folder / "patroni.yml"
        self.config.write_text(cluster.filled("patroni.yml", self))
        give(self.config)
        lines = cluster.filled("etcd.env", self).splitlines()
        etcd = dict(line.split("=", 1) for line in lines)
        self.etcd = Program(["etcd"], etcd, self.folder / "etcd.log", ACCOUNT)
        backup = {"PGBACKREST_CONFIG": str(self.folder / "pgbackrest.conf")}
        command = [patroni_program("patroni"), str(self.config)]
        self.patroni = Program(command, backup, self.folder / "patroni.log", ACCOUNT)

    def postgres(self) -> list[psutil.Process]:
        with contextlib.suppress(OSError, ValueError, psutil.NoSuchProcess):
            pid = int((self.data / "postmaster.pid").read_text().splitlines()[0])
            process = psutil.Process(pid)
            if process.name() == "postgres":
                return family(process)
        return []

    def replay(self) -> list[psutil.Process]:
        """What applies the log of the primary. Patroni would continue it after `pg_wal_replay_pause()`."""
        return [process for process in self.postgres() if "startup recovering" in " ".join(process.cmdline())]

    def processes(self) -> list[psutil.Process]:
        """Of Patroni and PostgreSQL."""
        return list({process.pid: process for process in self.patroni.family() + self.postgres()}.values())

    def kill(self) -> None:
        processes = self.processes()
        # Nobody reacts to the end of another.
        signal_all(processes, signal.SIGSTOP)
        signal_all(processes, signal.SIGKILL)
        self.patroni.kill()

    def pause(self) -> None:
        """Stops all of the machine until the cluster is healed."""
        signal_all(self.processes() + self.etcd.family(), signal.SIGSTOP)

    def resume(self) -> None:
        signal_all(self.processes() + self.etcd.family(), signal.SIGCONT)

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        return as_superuser(self.address, 5432, statement)


def as_superuser(host: str, port: int, statement: str, database: str = "keymeter") -> list[tuple[Any, ...]]:
    password = PASSWORDS["PASSWORD-OF-POSTGRES"]
    return query(statement, host=host, port=port, dbname=database, user="postgres", password=password)


class Cluster:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.network = f"127.{random.randrange(10, 250)}.{random.randrange(10, 250)}."
        self.proxy_address = f"{self.network}9"
        self.nodes = [Node(self, name, f"{self.network}{number}") for number, name in enumerate(NODES, 1)]
        config = folder / "haproxy.cfg"
        config.write_text(self.filled("haproxy.cfg"))
        self.proxy = Program(["haproxy", "-W", "-f", str(config)], {}, folder / "haproxy.log")
        self.proxy.environment = {"PATH": f"{os.environ['PATH']}:/usr/sbin"}
        # Between each server and HAProxy.
        self.relays: list[RelayProcess] = []

    def filled(self, file: str, node: Node | None = None) -> str:
        """A file of the recipe with what is particular to this machine."""
        changes = dict(PASSWORDS)
        changes |= {
            "10.0.0.0/24": "127.0.0.0/8",
            "10.0.0.": self.network,
            "127.0.0.1:5000": f"{self.proxy_address}:5000",
            "/run/haproxy/admin.sock": str(self.folder / "haproxy.sock"),
            "MASTER-KEY": MASTER_KEY,
            "/backup/pgbackrest": str(self.folder / "backup"),
        }
        if node:
            changes |= {
                "NODE": node.name,
                "ADDRESS": node.address,
                "/var/lib/etcd/keymeter": str(node.folder / "etcd"),
                "/var/lib/postgresql/keymeter.pgpass": str(node.folder / "pgpass"),
                "/var/lib/postgresql/keymeter": str(node.data),
                "/var/run/postgresql": str(node.folder),
                "/usr/lib/postgresql/15/bin": os.environ.get("PG_BIN", "/usr/lib/postgresql/15/bin"),
            }
        if os.geteuid() != 0:
            changes |= {"    user haproxy\n    group haproxy\n": ""}
        text = (RECIPE / file).read_text()
        for old, new in changes.items():
            text = text.replace(old, new)
        return text

    def start(self) -> None:
        for node in self.nodes:
            node.etcd.start()
        for node in self.nodes:
            node.patroni.start()
        self.proxy.start()
        eventually("three nodes replicate", self.is_healthy, 180)
        eventually("HAProxy finds the primary", lambda: self.sql("select 1", "postgres"))
        password = PASSWORDS["PASSWORD-OF-KEYMETER"]
        self.sql(f"create role keymeter login password '{password}'", "postgres")
        create = "create database keymeter owner keymeter encoding 'UTF8' template template0"
        self.sql(create, "postgres")

    def stop(self) -> None:
        for node in self.nodes:
            node.resume()
            node.kill()
            node.etcd.kill()
        self.proxy.kill()
        for relay in self.relays:
            relay.stop()

    def server(self, number: int, database: str = "") -> Server:
        """A server of the recipe, behind a relay of its own. `database` is an address, instead of HAProxy's."""
        proxy = f"{self.proxy_address}:5000"
        relay = f"{self.network}{10 + number}:5000"
        self.relays.append(RelayProcess(relay, database or proxy))
        lines = self.filled("keymeter.env").replace(proxy, relay).splitlines()
        return Server(self.folder / f"keymeter{number}", dict(line.split("=", 1) for line in lines))

    def sql(self, statement: str, database: str = "keymeter") -> list[tuple[Any, ...]]:
        """On the primary, through HAProxy."""
        return as_superuser(self.proxy_address, 5000, statement, database)

    def members(self) -> list[dict[str, Any]]:
        for node in self.nodes:
            url = f"http://{node.address}:8008/cluster"
            with contextlib.suppress(OSError, ValueError), urllib.request.urlopen(url, timeout=2) as answer:
                return json.load(answer)["members"]
        return []

    def is_healthy(self) -> bool:
        """Returns true if there is a primary, a synchronous standby and another one, all up to date."""
        members = self.members()
        roles = sorted(member["role"] for member in members)
        states = [member["state"] for member in members if member["role"] != "leader"]
        timelines = {member.get("timeline") for member in members}
        return roles == ["leader", "replica", "sync_standby"] and set(states) == {"streaming"} and len(timelines) == 1

    def with_role(self, role: str) -> Node:
        name = next(member["name"] for member in self.members() if member["role"] == role)
        return self.nodes[NODES.index(name)]

    def primary(self) -> Node:
        return self.with_role("leader")

    def standbys(self) -> list[Node]:
        primary = self.primary()
        return [node for node in self.nodes if node is not primary]

    def servers_up(self) -> set[str]:
        """Names of the nodes that HAProxy sends connections to."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self.folder / "haproxy.sock"))
            connection.sendall(b"show stat\n")
            text = connection.makefile().read()
        rows = csv.DictReader(text.removeprefix("# ").splitlines())
        return {row["svname"] for row in rows if row["svname"] in NODES and row["status"] == "UP"}

    def patronictl(self, *arguments: str, answers: str = "") -> str:
        command = [patroni_program("patronictl"), "-c", str(self.nodes[0].config), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, input=answers, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def heal(self) -> None:
        """Starts what a test has killed, and continues what it has stopped."""
        for node in self.nodes:
            node.resume()
            if not node.etcd.family():
                node.etcd.start()
            if not node.patroni.family():
                node.patroni.start()
        eventually("three nodes replicate again", self.is_healthy, 180)
        eventually("HAProxy finds the primary", lambda: self.sql("select 1", "postgres"))
