"""pgBackRest: the drill of docs/scaling.md."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from cluster import Cluster, Node
from load import Books, Keys, Load, check_books, goes_on
from processes import ACCOUNT, eventually, give
from servers import Servers


def pgbackrest(node: Node, *arguments: str) -> str:
    return as_account(node, ["pgbackrest", "--stanza=keymeter", *arguments])


def as_account(node: Node, command: list[str], **environment: str) -> str:
    account = {"user": ACCOUNT, "group": ACCOUNT, "extra_groups": []} if ACCOUNT else {}
    done = subprocess.run(
        command,
        env={"PATH": os.environ["PATH"], "LANG": "C"} | node.patroni.environment | environment,
        cwd="/",
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **account,
    )
    assert done.returncode == 0, f"{command} ended with {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def archived(cluster: Cluster) -> Node:
    """The primary, with an archive."""
    backup = cluster.folder / "backup"
    backup.mkdir()
    give(backup)
    for node in cluster.nodes:
        config = Path(node.patroni.environment["PGBACKREST_CONFIG"])
        config.write_text(
            cluster.filled("pgbackrest.conf", node) + f"log-path={node.folder}\nlock-path={node.folder}\n"
        )
        give(config)
    pgbackrest(cluster.primary(), "stanza-create")
    push = "archive_command=pgbackrest --stanza=keymeter archive-push %p"
    settings = ["-p", "archive_mode=on", "-p", "archive_timeout=60", "-p", push]
    cluster.patronictl("edit-config", "--force", *settings)
    eventually("archive_mode needs a restart", lambda: "Pending restart" in cluster.patronictl("list"))
    cluster.patronictl("restart", "keymeter", "--force")
    cluster.heal()
    primary = cluster.primary()
    pgbackrest(primary, "check")
    return primary


def wait_for_archive(cluster: Cluster) -> None:
    last = cluster.sql("select pg_walfile_name(pg_switch_wal())")[0][0]
    archived_last = "select last_archived_wal from pg_stat_archiver"
    eventually("the archive has all", lambda: (cluster.sql(archived_last)[0][0] or "") >= last)


def test_a_backup_is_restored_and_the_doctor_finds_nothing(
    cluster: Cluster, servers: Servers, keys: Keys, books: Books, archived: Node
) -> None:
    load = Load(servers, keys, books)
    load.start()
    goes_on(load)
    pgbackrest(archived, "backup")
    goes_on(load)
    load.stop()
    check_books(cluster, servers, keys, load)
    charges = cluster.sql("select count(*) from charges")[0][0]
    wait_for_archive(cluster)
    environment = archived.folder / "keymeter.env"
    environment.write_text(cluster.filled("keymeter.env"))
    give(environment)
    programs = archived.folder / "bin"
    programs.mkdir()
    # As if it were installed, and where the account may run it.
    program = programs / "keymeter"
    program.write_bytes(Path(os.environ["KEYMETER_PROGRAM"]).read_bytes())
    program.chmod(0o755)
    script = archived.folder / "drill.sh"
    drill = cluster.filled("drill.sh", archived).replace("/etc/keymeter.env", str(environment))
    script.write_text(drill.replace("/var/lib/postgresql/drill", str(archived.folder / "drill")))
    path = f"{programs}:{os.environ['PATH']}"
    report = as_account(archived, ["sh", str(script)], PATH=path, KEYMETER_DATA_DIR=str(archived.folder / "none"))
    assert "no errors found" in report
    assert f"\n{charges} charges" in f"\n{report}"
    print(f"\nfailover: restored\n{report}")


def test_a_lost_cluster_is_restored(
    cluster: Cluster, servers: Servers, keys: Keys, books: Books, archived: Node
) -> None:
    """All data directories are lost, and etcd's as good as."""
    wait_for_archive(cluster)
    for server in servers.all:
        server.program.terminate()
    for node in cluster.nodes:
        node.patroni.terminate()
        shutil.rmtree(node.data)
    cluster.patronictl("remove", "keymeter", answers="keymeter\nYes I am aware\n")
    first, *others = cluster.nodes
    pgbackrest(first, "restore")
    settings = "-c listen_addresses= -c synchronous_standby_names="
    # The backup may be of another node, whose paths differ here.
    settings += f" -c unix_socket_directories={first.folder} -c hba_file={first.data}/pg_hba.conf"
    postgres = [f"{os.environ['PG_BIN']}/pg_ctl", "-D", str(first.data), "-w", "-l", str(first.folder / "restore.log")]
    as_account(first, [*postgres, "start", "-o", settings])
    psql = ["psql", "-h", str(first.folder), "-Atc", "select pg_is_in_recovery()"]
    eventually("all is replayed", lambda: as_account(first, psql) == "f\n")
    as_account(first, [*postgres, "stop"])
    first.patroni.start()
    eventually("it is the leader", lambda: cluster.primary() is first)
    for node in others:
        node.patroni.start()
    cluster.heal()
    # The backup has the settings that were in etcd.
    assert cluster.sql("show archive_mode") == [("on",)]
    wait_for_archive(cluster)
    servers.start()
    load = Load(servers, keys, books)
    load.start()
    goes_on(load)
    load.stop()
    check_books(cluster, servers, keys, load)
