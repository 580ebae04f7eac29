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

python=$(scripts/failover-python.sh)
cd tests/failover
exec "$python" -m pytest test_page.py test_faults.py test_backup.py "$@"
