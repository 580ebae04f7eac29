#!/usr/bin/env bash
# Builds and tests the dashboard. Needs Node.js 20.19 or newer. Skips what is up to date.
#
#   scripts/dashboard.sh has-node         succeeds if such a Node.js is installed
#   scripts/dashboard.sh install          installs its libraries
#   scripts/dashboard.sh build            builds dashboard/dist, which the server serves
#   scripts/dashboard.sh build-if-able    the same; without Node.js prints a note and succeeds
#   scripts/dashboard.sh check            checks types, format and lints
#   scripts/dashboard.sh test             tests its logic
#   scripts/dashboard.sh browse           tests it in Chromium, and opens its pages in Firefox; needs DATABASE_URL and a
#                                         built keymeter
#   scripts/dashboard.sh browse-all       the same with every page and dialog on every screen
#   scripts/dashboard.sh speed            measures it on a slow processor and network, into docs/performance.md; the same
#   scripts/dashboard.sh picture          takes the screenshots in docs/; needs the same
set -euo pipefail

say() { printf 'dashboard: %s\n' "$*" >&2; }
die() {
    say "$*"
    exit 1
}

cd "$(dirname "${BASH_SOURCE[0]}")/../dashboard"

has_node() {
    command -v npm >/dev/null && command -v node >/dev/null &&
        node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)'
}

# npm leaves a copy of the lock file that it installed last.
install() {
    if [[ ! node_modules/.package-lock.json -nt package-lock.json ]]; then
        say 'installing its libraries'
        npm ci --no-audit --no-fund --loglevel=error && touch node_modules/.package-lock.json
    fi
}

build() {
    if [[ -f dist/index.html && -z $(find . -newer dist/index.html -type f \
        -not -path './node_modules/*' -not -path './dist/*' -not -path './browse/*' -not -path './src/api/schema.d.ts' -not -path './src/api/serverLimits.ts' -print -quit) ]]; then
        return
    fi
    install && say 'building' && npm run --silent build
}

# Path of the program, wherever cargo's target directory is.
program() {
    local directory='JSON.parse(require("fs").readFileSync(0)).target_directory'
    printf '%s/debug/keymeter' "$(cd .. && cargo metadata --format-version 1 --no-deps --offline | node -p "$directory")"
}

case ${1:-} in
has-node) has_node ;;
build-if-able)
    if has_node; then
        build || say 'build failed; the service starts without the dashboard'
    else
        say 'Node.js 20.19 or newer is missing; the service starts without the dashboard'
    fi
    ;;
install | build | check | test | browse | browse-all | speed | picture)
    has_node || die 'Node.js 20.19 or newer with npm is required: install it (https://nodejs.org)'
    case $1 in
    install) install ;;
    build) build ;;
    check) install && npm run --silent check ;;
    test) install && npm run --silent test ;;
    browse | browse-all | speed | picture)
        KEYMETER_BIN=${KEYMETER_BIN:-$(program)}
        export KEYMETER_BIN
        build && install && npm run --silent "$1"
        ;;
    esac
    ;;
*) die 'usage: scripts/dashboard.sh has-node | install | build | build-if-able | check | test | browse | browse-all | speed | picture' ;;
esac
