#!/usr/bin/env bash
# Checks the LiteLLM plug-in and tests it with the real proxy, the oldest and the newest that it supports, against the real
# program on a throwaway PostgreSQL.
#
#   scripts/gateways.sh [ARG…]
#
# Needs Python 3.10 or newer with venv, DATABASE_URL with an empty database (scripts/with-postgres.sh gives one) and a built
# keymeter. Installs all else into target/ once, in the versions of requirements-test.txt. ARG… go to pytest.
#
# Environment:
#   KEYMETER_PROGRAM  the program; default target/debug/keymeter
#   LITELLM           oldest or newest: test only that one
set -euo pipefail

die() {
    printf 'gateways: %s\n' "$*" >&2
    exit 1
}
step() { printf 'gateways: %s (after %s s)\n' "$*" "$SECONDS" >&2; }

cd "$(dirname "${BASH_SOURCE[0]}")/.."

[[ -n ${DATABASE_URL:-} ]] || die 'DATABASE_URL is missing; run scripts/with-postgres.sh scripts/gateways.sh'
KEYMETER_PROGRAM=$(realpath "${KEYMETER_PROGRAM:-target/debug/keymeter}")
export KEYMETER_PROGRAM
[[ -x $KEYMETER_PROGRAM ]] || die "$KEYMETER_PROGRAM is missing; build it with: cargo test --locked --no-run"
python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
    die 'Python 3.10 or newer with venv is missing: install it (Debian and Ubuntu: apt-get install python3-venv)'

package=$PWD/clients/litellm
sum=$(cat "$package"/requirements-*.txt clients/python/pyproject.toml "$package/pyproject.toml" | sha256sum)
venv=$PWD/target/gateways-${sum:0:12}
export PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1
if [[ ! -e $venv/complete ]]; then
    step "installing LiteLLM's proxy and the tools into ${venv#"$PWD"/}"
    rm -rf "$venv"
    python3 -m venv "$venv"
    # The file names all that is needed. Left to search, pip takes a release of today for `pydantic[email]`, which has no hash there.
    "$venv/bin/pip" install --quiet --require-hashes --only-binary :all: --no-deps -r "$package/requirements-test.txt" ||
        die 'the oldest LiteLLM could not be installed from PyPI'
    # Its requirements are those of the oldest: the registry may not have the newest certificates yet.
    "$venv/bin/pip" install --quiet --require-hashes --only-binary :all: --no-deps --target "$venv/newest" \
        -r "$package/requirements-newest.txt" || die 'the newest LiteLLM could not be installed from PyPI'
    "$venv/bin/pip" install --quiet --no-deps --no-build-isolation -e clients/python -e "$package" ||
        die 'the plug-in could not be installed'
    "$venv/bin/pip" check --quiet || die 'requirements-test.txt lacks a requirement'
    touch "$venv/complete"
fi

cd "$package"
# Their caches belong to target/ too.
export RUFF_CACHE_DIR=$venv/ruff MYPY_CACHE_DIR=$venv/mypy
step ruff
"$venv/bin/ruff" check --quiet
"$venv/bin/ruff" format --check --quiet
step 'mypy --strict'
"$venv/bin/mypy"

# One Keymeter for all runs. It charges the holds of a killed proxy only after it has run for five minutes.
coproc SERVER { exec "$venv/bin/python" tests/programs.py; }
read -r KEYMETER_RUNNING <&"${SERVER[0]}" || die 'Keymeter did not start; see above'
export KEYMETER_RUNNING
input=${SERVER[1]}

for which in ${LITELLM:-oldest newest}; do
    path=
    [[ $which == newest ]] && path=$venv/newest
    version=$(PYTHONPATH=$path "$venv/bin/python" -c 'from importlib.metadata import version; print(version("litellm"))')
    step "the real proxy, LiteLLM $version"
    PYTHONPATH=$path "$venv/bin/python" -m pytest -o cache_dir="$venv/pytest" "$@"
done
exec {input}>&-
wait
step passed
