#!/usr/bin/env bash
# Runs what one works with: the server as a debug build with example data, and the dashboard with hot reload against it. Ctrl-C
# ends both. After a change of Rust, end it and start it again; the data in target/dev stay.
#
#   scripts/dev.sh [ARGUMENTS OF keymeter serve …]
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/dashboard.sh has-node || {
    echo 'dev: Node.js 20.19 or newer with npm is required: install it (https://nodejs.org)' >&2
    exit 1
}
scripts/dashboard.sh install
# shellcheck source=/dev/null
. target/setup.env
# Data that are not complete, because the start that made them was ended, are made again.
[[ -e target/dev/demo-password ]] || rm -rf target/dev

export KEYMETER_DATA_DIR=target/dev KEYMETER_SERVER__LISTEN=${KEYMETER_SERVER__LISTEN:-127.0.0.1:3000}
cargo build --locked
cargo run --locked --quiet -- serve --demo "$@" &
server=$!
# The server stops its PostgreSQL before it ends.
trap 'kill "$server" 2>/dev/null || true; wait "$server" || true' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
until curl --silent --output /dev/null "http://$KEYMETER_SERVER__LISTEN/readyz"; do
    kill -0 "$server" 2>/dev/null || exit 1
    sleep 0.5
done
echo 'dev: sign in as root with the password in target/dev/demo-password' >&2
KEYMETER_URL=http://$KEYMETER_SERVER__LISTEN npm --prefix dashboard --silent run dev
