#!/usr/bin/env bash
# Prints the path of a Python that has the packages of tests/failover/requirements.txt. The first time, installs them
# from PyPI into target/. The user postgres can run it too. Needs Python 3.10 or newer with venv.
set -euo pipefail

die() {
    printf 'failover: %s\n' "$*" >&2
    exit 1
}
say() { printf 'failover: %s\n' "$*" >&2; }

cd "$(dirname "${BASH_SOURCE[0]}")/.."
requirements=tests/failover/requirements.txt

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

sum=$(sha256sum <"$requirements")
venv=$PWD/target/failover-${sum:0:12}
if [[ ! -e $venv/complete ]]; then
    python=$(find_python) ||
        die 'Python 3.10 or newer with venv is missing or closed to the user postgres (Debian: python3-venv)'
    say "installing Patroni into ${venv#"$PWD"/}"
    rm -rf "$venv"
    "$python" -m venv "$venv"
    # Two packages have no wheel; pip warns about how it builds them.
    "$venv/bin/pip" install -qq --disable-pip-version-check --require-hashes --no-deps -r "$requirements" >&2 ||
        die 'Patroni could not be installed from PyPI'
    "$venv/bin/pip" check --quiet >&2 || die 'requirements.txt lacks a requirement'
    touch "$venv/complete"
fi
as_account "$venv/bin/patroni" --version >/dev/null ||
    die "the user postgres cannot run $venv/bin/patroni: check out below a directory that it may enter"
printf '%s\n' "$venv/bin/python"
