#!/usr/bin/env bash
# Checks the Python client and tests it against the real program, on a private PostgreSQL of its own.
#
#   scripts/clients.sh [ARG…]
#
# Needs Python 3.10 or newer with venv, PostgreSQL's programs and a built keymeter. Installs the tools into target/ once, in
# the versions of requirements-test.txt. ARG… go to pytest.
#
# Environment:
#   KEYMETER_PROGRAM  the program; default target/debug/keymeter
set -euo pipefail

die() {
    printf 'clients: %s\n' "$*" >&2
    exit 1
}
step() { printf 'clients: %s\n' "$*" >&2; }

cd "$(dirname "${BASH_SOURCE[0]}")/.."

KEYMETER_PROGRAM=$(realpath "${KEYMETER_PROGRAM:-target/debug/keymeter}")
export KEYMETER_PROGRAM
[[ -x $KEYMETER_PROGRAM ]] || die "$KEYMETER_PROGRAM is missing; build it with: cargo test --locked --no-run"
KEYMETER_DATABASE__PROGRAMS=$(scripts/postgres-programs.sh) ||
    die 'PostgreSQL 14 or newer is missing: scripts/setup.sh test gets it; or set PG_BIN to the directory of its programs'
export KEYMETER_DATABASE__PROGRAMS
python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
    die 'Python 3.10 or newer with venv is missing: install it (Debian and Ubuntu: apt-get install python3-venv)'

requirements=clients/python/requirements-test.txt
sum=$(sha256sum "$requirements")
venv=$PWD/target/clients-${sum:0:12}
if [[ ! -e $venv/complete ]]; then
    rm -rf "$venv"
    step "installing ruff, mypy, pytest and what they need into ${venv#"$PWD"/}"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r "$requirements" ||
        die 'the tools could not be installed from PyPI'
    touch "$venv/complete"
fi

cd clients/python
# Their caches belong to target/ too.
export RUFF_CACHE_DIR=$venv/ruff MYPY_CACHE_DIR=$venv/mypy PYTHONDONTWRITEBYTECODE=1
step 'ruff'
"$venv/bin/ruff" check --quiet
"$venv/bin/ruff" format --check --quiet
step 'mypy --strict'
"$venv/bin/mypy"
step 'pytest, against the real program'
"$venv/bin/pytest" -o cache_dir="$venv/pytest" "$@"
