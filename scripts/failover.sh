#!/usr/bin/env bash
# Proves docs/scaling.md on this machine: three PostgreSQL under Patroni, etcd, HAProxy and three Keymeter, under load,
# with faults.
#
#   scripts/failover.sh [ARG…]
#
# Needs a built keymeter, PostgreSQL 14 or newer (scripts/setup.sh test gets it) and Python 3.10 or newer with venv.
# Installs the rest once: etcd, HAProxy and pgBackRest as packages, as root on Debian or Ubuntu, without starting a
# service; Patroni and pytest into target/. ARG… go to pytest, such as -k switchover. Takes a quarter of an hour.
#
# Environment:
#   KEYMETER_PROGRAM  the program; default target/debug/keymeter
#   PG_BIN            directory of PostgreSQL's programs
set -euo pipefail

die() {
    printf 'failover: %s\n' "$*" >&2
    exit 1
}
say() { printf 'failover: %s\n' "$*" >&2; }

cd "$(dirname "${BASH_SOURCE[0]}")/.."
tests=$PWD/tests/failover

KEYMETER_PROGRAM=$(realpath "${KEYMETER_PROGRAM:-target/debug/keymeter}")
[[ -x $KEYMETER_PROGRAM ]] || die "$KEYMETER_PROGRAM is missing; build it with: cargo test --locked --no-run"
PG_BIN=$(scripts/postgres-programs.sh) ||
    die 'PostgreSQL 14 or newer is missing: scripts/setup.sh test gets it, or set PG_BIN to its directory'
[[ -x $PG_BIN/pg_rewind && -x $PG_BIN/pg_basebackup ]] ||
    die "pg_rewind or pg_basebackup is missing in $PG_BIN (Debian: apt-get install postgresql)"
export KEYMETER_PROGRAM PG_BIN PYTHONDONTWRITEBYTECODE=1

# --- Debian's packages ------------------------------------------------------------------------------------------------

missing=()
needs() { [[ -x /usr/sbin/$1 ]] || command -v "$1" >/dev/null || missing+=("$2"); }
needs etcd etcd-server
needs haproxy haproxy
needs pgbackrest pgbackrest
if ((${#missing[@]} > 0)); then
    if ((EUID != 0)) || ! command -v apt-get >/dev/null; then
        die "install as root: apt-get install --no-install-recommends ${missing[*]} (names of Debian)"
    fi
    say "installing ${missing[*]}"
    readonly no_services=/usr/sbin/policy-rc.d
    if [[ ! -e $no_services ]]; then
        trap 'rm -f "$no_services"' EXIT
        printf '#!/bin/sh\nexit 101\n' >"$no_services"
        chmod +x "$no_services"
    fi
    export DEBIAN_FRONTEND=noninteractive
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >&2 ||
        die 'the packages could not be installed; see above'
    [[ -z $(trap -p EXIT) ]] || rm -f "$no_services"
    trap - EXIT
fi

# --- Patroni ----------------------------------------------------------------------------------------------------------

# Runs a program as the account that Patroni and PostgreSQL run as: not root.
as_account() (
    cd /
    if ((EUID == 0)); then
        exec runuser -u postgres -- "$@"
    fi
    exec "$@"
)
if ((EUID == 0)); then
    id postgres >/dev/null 2>&1 || die 'the user postgres is missing (Debian: apt-get install postgresql)'
fi

# Succeeds if the account may run Python $1, which may be in a directory that is closed to it.
serves() {
    local program
    program=$("$1" -c 'import sys, venv, ensurepip; assert sys.version_info >= (3, 10); print(sys._base_executable)') &&
        as_account "$(realpath "$program")" -c ''
} 2>/dev/null
find_python() {
    local python
    for python in python3 /usr/bin/python3; do
        if serves "$python"; then
            printf '%s\n' "$python"
            return
        fi
    done
    return 1
}

sum=$(sha256sum <"$tests/requirements.txt")
venv=$PWD/target/failover-${sum:0:12}
if [[ ! -e $venv/complete ]]; then
    python=$(find_python) ||
        die 'Python 3.10 or newer with venv is missing or closed to the user postgres (Debian: python3-venv)'
    say "installing Patroni into ${venv#"$PWD"/}"
    rm -rf "$venv"
    "$python" -m venv "$venv"
    # Two packages have no wheel; pip warns about how it builds them.
    "$venv/bin/pip" install -qq --disable-pip-version-check --require-hashes --no-deps -r "$tests/requirements.txt" ||
        die 'Patroni could not be installed from PyPI'
    "$venv/bin/pip" check --quiet || die 'requirements.txt lacks a requirement'
    touch "$venv/complete"
fi
as_account "$venv/bin/patroni" --version >/dev/null ||
    die "the user postgres cannot run $venv/bin/patroni: check out below a directory that it may enter"

cd "$tests"
exec "$venv/bin/python" -m pytest test_page.py test_faults.py test_backup.py "$@"
