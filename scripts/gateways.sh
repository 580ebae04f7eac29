#!/usr/bin/env bash
# Checks the LiteLLM plug-in and tests it with the real proxy, the oldest and the newest that it supports, and tests the metering
# front (crates/front), all against the real program. They run at the same time, each with a Keymeter and a
# throwaway PostgreSQL (scripts/with-postgres.sh) of its own.
#
#   scripts/gateways.sh [ARG…]
#
# Needs Python 3.10 or newer with venv, Node.js with npm, PostgreSQL's programs (scripts/setup.sh test gets them)
# and a built keymeter. Installs all else into target/ once, in the versions of requirements-test.txt. ARG… go to pytest.
#
# Environment:
#   KEYMETER_PROGRAM  the program; default target/debug/keymeter
#   ONLY              oldest, newest or front: test only that one, with the output of pytest as it comes
set -euo pipefail

die() {
    printf 'gateways: %s\n' "$*" >&2
    exit 1
}
step() { printf 'gateways: %s (after %s s)\n' "$*" "$SECONDS" >&2; }

cd "$(dirname "${BASH_SOURCE[0]}")/.."

KEYMETER_PROGRAM=$(realpath "${KEYMETER_PROGRAM:-target/debug/keymeter}")
export KEYMETER_PROGRAM
[[ -x $KEYMETER_PROGRAM ]] || die "$KEYMETER_PROGRAM is missing; build it with: cargo test --locked --no-run"
python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
    die 'Python 3.10 or newer with venv is missing: install it (Debian and Ubuntu: apt-get install python3-venv)'
# For the Keymeter of a test that needs a database of its own.
KEYMETER_DATABASE__PROGRAMS=$(scripts/postgres-programs.sh) ||
    die 'PostgreSQL 14 or newer is missing: scripts/setup.sh test gets it; or set PG_BIN to the directory of its programs'
export KEYMETER_DATABASE__PROGRAMS
read -ra subjects <<<"${ONLY:-front oldest newest}"
has_front() { [[ " ${subjects[*]} " == *' front '* ]]; }
if has_front; then
    command -v npm >/dev/null || die 'npm is missing: scripts/setup.sh test gets it'
    [[ -x $KEYMETER_PROGRAM-envoy ]] || die "$KEYMETER_PROGRAM-envoy is missing; build it with: cargo test --workspace --no-run"
    scripts/proxies.sh
fi

package=$PWD/clients/litellm front=$PWD/crates/front/tests
sum=$(cat "$package"/requirements-*.txt clients/python/pyproject.toml "$package/pyproject.toml" | sha256sum)
venv=$PWD/target/gateways-${sum:0:12}
# Where the npm packages of a folder of the front's tests are.
npm_home() {
    local sum
    sum=$(sha256sum <"$front/$1/package-lock.json")
    printf '%s' "$PWD/target/$1-${sum:0:12}"
}
portkey=$(npm_home portkey) sdks=$(npm_home sdks)
export PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1

# --- A Keymeter for each subject --------------------------------------------------------------------------------------

run=$(mktemp -d)
declare -A servers=() tests=()

# Runs at every exit.
# shellcheck disable=SC2317,SC2329 # called by a trap
clean_up() {
    local code=$? which
    trap '' INT TERM HUP
    trap - EXIT
    for which in "${!tests[@]}"; do kill "${tests[$which]}" 2>/dev/null || true; done
    for which in "${!tests[@]}"; do wait "${tests[$which]}" 2>/dev/null || true; done
    for which in "${!servers[@]}"; do kill "${servers[$which]}" 2>/dev/null || true; done
    for which in "${!servers[@]}"; do wait "${servers[$which]}" 2>/dev/null || true; done
    rm -rf "$run"
    exit "$code"
}
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# First of all, because Keymeter charges the hold of a killed gateway only after it has run for five minutes.
step 'starting Keymeter'
for which in "${subjects[@]}"; do
    settings=()
    if [[ $which == front ]]; then settings=("$front/keymeter.toml"); fi
    scripts/with-postgres.sh python3 "$package/tests/processes.py" "$run/$which.server" "${settings[@]}" </dev/null &
    servers[$which]=$!
done
for which in "${subjects[@]}"; do
    until [[ -s $run/$which.server ]]; do
        kill -0 "${servers[$which]}" 2>/dev/null || die 'Keymeter did not start; see above'
        sleep 0.1
    done
done

# --- LiteLLM and the tools --------------------------------------------------------------------------------------------

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

# Installs the npm packages of a folder of the front's tests into its home.
install_npm() {
    local name=$1 home=$2
    if [[ -e $home/complete ]]; then return; fi
    step "installing what the tests need from npm into ${home#"$PWD"/}"
    rm -rf "$home"
    mkdir "$home"
    cp "$front/$name"/*.json "$home"
    (cd "$home" && npm ci --silent --no-audit --no-fund --ignore-scripts) || die "the npm packages of $name could not be installed"
    touch "$home/complete"
}
if has_front; then
    install_npm portkey "$portkey"
    install_npm sdks "$sdks"
fi

cd "$package"
# Their caches belong to target/ too.
export RUFF_CACHE_DIR=$venv/ruff MYPY_CACHE_DIR=$venv/mypy
step ruff
"$venv/bin/ruff" check --quiet --config pyproject.toml . "$front"
"$venv/bin/ruff" format --check --quiet --config pyproject.toml . "$front"
step 'mypy --strict'
"$venv/bin/mypy"

# --- The tests --------------------------------------------------------------------------------------------------------

path_of() { if [[ $1 == newest ]]; then printf '%s' "$venv/newest"; fi; }
# As it was asked for. The tests compare it with the version that runs.
version_of() {
    local file=requirements-test.txt
    if [[ $1 == newest ]]; then file=requirements-newest.txt; fi
    sed -n 's/^litellm==\([^ ]*\).*/\1/p' "$package/$file"
}
name_of() { if [[ $1 == front ]]; then printf 'the metering front'; else printf 'LiteLLM %s' "$(version_of "$1")"; fi; }
# Becomes the tests of this subject.
test_with() {
    local which=$1 options=()
    shift
    read -r KEYMETER_RUNNING DATABASE_URL <"$run/$which.server"
    export KEYMETER_RUNNING DATABASE_URL
    PYTHONPATH=$(path_of "$which")
    if [[ $which == front ]]; then
        export PORTKEY=$portkey SDKS=$sdks
        # The programs and the provider of the plug-in's tests.
        PYTHONPATH=$package/tests
        options=(-c "$package/pyproject.toml" --rootdir "$front" -o testpaths=.)
        cd "$front"
    else
        LITELLM_VERSION=$(version_of "$which")
        export LITELLM_VERSION
    fi
    export PYTHONPATH
    exec "$venv/bin/python" -m pytest "${options[@]}" -o cache_dir="$venv/pytest-$which" "$@"
}

if ((${#subjects[@]} == 1)); then
    step "the real program, $(name_of "${subjects[0]}")"
    (test_with "${subjects[0]}" "$@")
    step passed
    exit
fi

declare -A names=()
for which in "${subjects[@]}"; do
    names[$which]=$(name_of "$which")
    step "the real program, ${names[$which]}; its output is shown when it ends, and is in $run/$which.log meanwhile"
    (
        trap - HUP TERM EXIT
        test_with "$which" "$@"
    ) >"$run/$which.log" 2>&1 </dev/null &
    tests[$which]=$!
done
failed=()
while ((${#tests[@]} > 0)); do
    sleep 0.5
    for which in "${!tests[@]}"; do
        if kill -0 "${tests[$which]}" 2>/dev/null; then continue; fi
        outcome=passed
        wait "${tests[$which]}" || {
            outcome=failed
            failed+=("${names[$which]}")
        }
        unset "tests[$which]"
        step "${names[$which]} $outcome; its output:"
        cat "$run/$which.log"
    done
done
((${#failed[@]} == 0)) || die "with these a test failed, see above:$(printf ' (%s)' "${failed[@]}")"
step passed
