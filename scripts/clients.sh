#!/usr/bin/env bash
# Checks the clients and tests them against the real program, on a private PostgreSQL of their own.
#
#   scripts/clients.sh                      both
#   scripts/clients.sh python [ARG…]        the Python client; ARG… go to pytest
#   scripts/clients.sh typescript [ARG…]    the TypeScript client; ARG… go to vitest
#   scripts/clients.sh generate             writes the generated files of the Python client; needs no keymeter
#
# Needs PostgreSQL's programs and a built keymeter; Python 3.10 or newer with venv, and Node.js 20.19 or newer with npm.
# Installs the tools into target/ and clients/typescript/node_modules once, in the versions of requirements-test.txt and
# package-lock.json.
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

# Sets `venv`, which has what is needed, and goes to the client.
enter_python() {
    python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
        die 'Python 3.10 or newer with venv is missing: install it (Debian and Ubuntu: apt-get install python3-venv)'
    local requirements=clients/python/requirements-test.txt sum
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
}

check_python() {
    enter_python
    step 'python: ruff'
    "$venv/bin/ruff" check --quiet
    "$venv/bin/ruff" format --check --quiet
    step 'python: mypy --strict'
    "$venv/bin/mypy"
    step 'python: pytest, against the real program'
    "$venv/bin/pytest" -o cache_dir="$venv/pytest" "$@"
}

check_typescript() {
    scripts/dashboard.sh has-node || die 'Node.js 20.19 or newer with npm is missing: install it (https://nodejs.org)'
    cd clients/typescript
    # npm leaves a copy of the lock file that it installed last.
    if [[ ! node_modules/.package-lock.json -nt package-lock.json ]]; then
        step 'installing TypeScript, Biome, Vitest and what they need into clients/typescript/node_modules'
        npm ci --no-audit --no-fund --loglevel=error || die 'the tools could not be installed from npm'
        touch node_modules/.package-lock.json
    fi
    step 'typescript: tsc, biome'
    npm run --silent check
    step 'typescript: build, publint, attw'
    npm run --silent build
    npm run --silent check-package
    step 'typescript: vitest, against the real program'
    npm run --silent test -- "$@"
}

if [[ $* == generate ]]; then
    enter_python
    exec "$venv/bin/python" generate.py
fi

clients=(python typescript)
if (($# > 0)); then
    clients=("$1")
    shift
fi
for client in "${clients[@]}"; do
    [[ $(type -t "check_$client") == function ]] || die 'usage: scripts/clients.sh [[python | typescript] [ARG…] | generate]'
done

KEYMETER_PROGRAM=$(realpath "${KEYMETER_PROGRAM:-target/debug/keymeter}")
export KEYMETER_PROGRAM
[[ -x $KEYMETER_PROGRAM ]] || die "$KEYMETER_PROGRAM is missing; build it with: cargo test --locked --no-run"
KEYMETER_DATABASE__PROGRAMS=$(scripts/postgres-programs.sh) ||
    die 'PostgreSQL 14 or newer is missing: scripts/setup.sh test gets it; or set PG_BIN to the directory of its programs'
export KEYMETER_DATABASE__PROGRAMS

for client in "${clients[@]}"; do
    (check_"$client" "$@")
done
