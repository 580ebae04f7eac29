#!/usr/bin/env bash
# Checks what operators take from this repository: alerts, board, and manifests of Kubernetes.
#
#   scripts/ops.sh check    alerts and their tests with promtool, manifests with kubernetes-validate
#   scripts/ops.sh board    every expression of board and alerts, in a real Prometheus that scrapes a real keymeter
#
# Needs Debian's package prometheus (promtool), and Python 3.10 or newer: `check` with venv, for kubernetes-validate, which
# it installs into target/ once; `board` with PostgreSQL's programs and psql, and a built keymeter.
#
# Environment:
#   KEYMETER_PROGRAM  the program; default target/debug/keymeter
set -euo pipefail

readonly validator=1.37.0

die() {
    printf 'ops: %s\n' "$*" >&2
    exit 1
}

cd "$(dirname "${BASH_SOURCE[0]}")/.."

needs() { command -v "$1" >/dev/null || die "$1 is missing: install $2 (Debian and Ubuntu: apt-get install $2)"; }

check() {
    needs promtool prometheus
    promtool check config ops/prometheus/prometheus.yml
    promtool test rules ops/prometheus/alerts_test.yml

    python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
        die 'Python 3.10 or newer with venv is missing: install it (Debian and Ubuntu: apt-get install python3-venv)'
    local venv=$PWD/target/kubernetes-validate-$validator
    if [[ ! -e $venv/complete ]]; then
        rm -rf "$venv"
        printf 'ops: installing kubernetes-validate %s\n' "$validator" >&2
        python3 -m venv "$venv"
        "$venv/bin/pip" install --quiet --disable-pip-version-check "kubernetes-validate==$validator" ||
            die 'kubernetes-validate could not be installed from PyPI'
        touch "$venv/complete"
    fi
    "$venv/bin/python" ops/check.py "$venv/bin/kubernetes-validate"
}

board() {
    needs prometheus prometheus
    needs psql postgresql-client
    KEYMETER_PROGRAM=$(realpath "${KEYMETER_PROGRAM:-target/debug/keymeter}")
    export KEYMETER_PROGRAM
    [[ -x $KEYMETER_PROGRAM ]] || die "$KEYMETER_PROGRAM is missing; build it with: cargo test --locked --no-run"
    exec scripts/with-postgres.sh python3 ops/try_board.py
}

case $* in
check | board) "$1" ;;
*) die 'usage: scripts/ops.sh check|board' ;;
esac
