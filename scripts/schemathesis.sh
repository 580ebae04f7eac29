#!/usr/bin/env bash
# Checks that the OpenAPI document is valid, then tests the running service against it with Schemathesis, as one or more
# kinds of caller.
#
#   scripts/schemathesis.sh [ARG…]
#
# Needs Python 3.10 or newer with venv, DATABASE_URL with an empty database (scripts/with-postgres.sh gives one) and a
# built keymeter. Installs both into target/ once. ARG… go to every run of `schemathesis run`.
#
# Environment:
#   SEED          of the generated requests; default 1
#   CALLERS       kinds of caller, separated by commas, as in scripts/schemathesis/run.py; default all
#   KEYMETER_BIN  the program; default target/debug/keymeter
set -euo pipefail

readonly version=4.32.5 validator_version=0.9.0

die() {
    printf 'schemathesis: %s\n' "$*" >&2
    exit 1
}

cd "$(dirname "${BASH_SOURCE[0]}")/.."

[[ -n ${DATABASE_URL:-} ]] || die 'DATABASE_URL is missing; run scripts/with-postgres.sh scripts/schemathesis.sh'
python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
    die 'Python 3.10 or newer with venv is missing: install it (Debian and Ubuntu: apt-get install python3-venv)'

venv=$PWD/target/schemathesis-$version-$validator_version
if [[ ! -x $venv/bin/schemathesis ]]; then
    rm -rf "$venv"
    printf 'schemathesis: installing Schemathesis %s, openapi-spec-validator %s\n' "$version" "$validator_version" >&2
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$version" \
        "openapi-spec-validator==$validator_version" || {
        rm -rf "$venv"
        die 'Schemathesis or openapi-spec-validator could not be installed from PyPI'
    }
fi

export KEYMETER_BIN=${KEYMETER_BIN:-$PWD/target/debug/keymeter}
[[ -x $KEYMETER_BIN ]] || die "$KEYMETER_BIN is missing; build it with: cargo test --locked --no-run"

# The tests of the service compare this file with what it serves.
"$venv/bin/openapi-spec-validator" dashboard/openapi.json

exec "$venv/bin/python" scripts/schemathesis/run.py "$venv/bin/schemathesis" "$@"
