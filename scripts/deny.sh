#!/usr/bin/env bash
# Checks the licences, bans and sources of all dependencies against deny.toml, with cargo-deny.
#
#   scripts/deny.sh               licences, bans, sources
#   scripts/deny.sh advisories    known vulnerabilities; downloads the RustSec database
#
# cargo-deny is built once into target/tools, unoptimised: that takes a minute or two.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

release=0.20.2
tools=$PWD/target/tools
deny=$tools/bin/cargo-deny

case $* in
'') checks=(licenses bans sources) ;;
advisories) checks=(advisories) ;;
*)
    echo 'deny: usage: scripts/deny.sh [advisories]' >&2
    exit 1
    ;;
esac

if [[ $("$deny" --version 2>/dev/null) != "cargo-deny $release" ]]; then
    echo "deny: building cargo-deny $release" >&2
    CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR=$tools/build \
        cargo install --quiet --debug --locked --root "$tools" "cargo-deny@$release"
    rm -rf "$tools/build"
fi
"$deny" --log-level error check --hide-inclusion-graph "${checks[@]}"
