#!/usr/bin/env bash
# Runs a program of scripts/genai-prices with a release of the library genai-prices, which is installed into target/ once.
#
#   scripts/genai-prices.sh newest|before PROGRAM [ARG…]
#
# Needs Python 3.11 or newer with venv. `newest` and `before` are the last two releases that were tried; update both files
# of hashes with:
#   uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
#     -o scripts/genai-prices/newest.txt - <<<'genai-prices==VERSION'
set -euo pipefail

die() {
    printf 'genai-prices: %s\n' "$*" >&2
    exit 1
}

cd "$(dirname "${BASH_SOURCE[0]}")/.."

case ${1:-}:${2:-} in
newest:?* | before:?*) requirements=scripts/genai-prices/$1.txt program=scripts/genai-prices/$2 ;;
*) die 'usage: scripts/genai-prices.sh newest|before PROGRAM [ARG…]' ;;
esac
shift 2

version=$(sed -nE 's/^genai-prices==([0-9.]+).*/\1/p' "$requirements")
venv=$PWD/target/genai-prices-$version
if [[ ! -e $venv/complete ]]; then
    python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
        die 'Python 3.11 or newer with venv is missing: install it (Debian and Ubuntu: apt-get install python3-venv)'
    printf 'genai-prices: installing genai-prices %s\n' "$version" >&2
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r "$requirements" >&2 ||
        die 'genai-prices could not be installed from PyPI; leave its tests out: KEYMETER_TEST_WITHOUT=genai_prices'
    touch "$venv/complete"
fi

exec "$venv/bin/python" "$program" "$@"
