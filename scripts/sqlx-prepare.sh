#!/usr/bin/env bash
# Updates .sqlx, so that builds can check the SQL without a database.
#
#   scripts/sqlx-prepare.sh           replace .sqlx
#   scripts/sqlx-prepare.sh --check   run clippy and check that .sqlx is up to date, change nothing
#
# Does what `cargo sqlx prepare` does, without sqlx-cli: applies the migrations to a new database and compiles
# every target against it. Variables that sqlx's macros read:
#   SQLX_OFFLINE=false   with DATABASE_URL: describe each statement by asking the database
#   SQLX_OFFLINE_DIR     write the descriptions there as query-<hash>.json (the directory must exist)
# Neither these variables nor a new migration make cargo compile again, so the crate roots are touched.
set -euo pipefail

say() { printf 'sqlx-prepare: %s\n' "$*" >&2; }
die() {
    say "$*"
    exit 1
}

cd "$(dirname "${BASH_SOURCE[0]}")/.."

check=
case $# in
0) ;;
1)
    [[ $1 == --check ]] || die "unknown argument $1; usage: scripts/sqlx-prepare.sh [--check]"
    check=yes
    ;;
*) die 'usage: scripts/sqlx-prepare.sh [--check]' ;;
esac

# Run again with a database.
if [[ -z ${KEYMETER_SQLX_INSIDE:-} ]]; then
    export KEYMETER_SQLX_INSIDE=yes
    exec scripts/with-postgres.sh scripts/sqlx-prepare.sh "$@"
fi
unset KEYMETER_SQLX_INSIDE

psql=${PG_BIN:+$PG_BIN/}psql
command -v "$psql" >/dev/null || psql=psql
command -v "$psql" >/dev/null || die 'psql is required: install the PostgreSQL client programs'

# --- A separate database, also on a server that is not ours -----------------------------------------------------

database=keymeter_sqlx_$$
server_url=$DATABASE_URL
parameters=
if [[ $server_url == *\?* ]]; then
    parameters="?${server_url#*\?}"
fi
our_url="${server_url%%\?*}"
our_url="${our_url%/*}/$database$parameters"

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
fresh=$(mktemp -d "$(cd "$target" && pwd)/sqlx-prepare.XXXXXX")

# Runs psql on the server's own database ($1 = server) or on ours ($1 = ours).
sql() {
    local url=$server_url
    [[ $1 == server ]] || url=$our_url
    shift
    PGOPTIONS='-c client_min_messages=warning' "$psql" --no-psqlrc --quiet -v ON_ERROR_STOP=1 --dbname="$url" "$@" >/dev/null
}

# shellcheck disable=SC2317,SC2329 # called by a trap
clean_up() {
    rm -rf "$fresh"
    sql server -c "drop database if exists $database" 2>/dev/null || true
}
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

sql server -c "create database $database"

# sqlx's table of applied migrations, so that statements may name it.
sql ours <<'SQL'
create table _sqlx_migrations (
    version bigint primary key,
    description text not null,
    installed_on timestamptz not null default now(),
    success boolean not null,
    checksum bytea not null,
    execution_time bigint not null
);
SQL

# In numerical order, like sqlx.
count=0
while IFS= read -r migration; do
    once=(--single-transaction)
    if [[ $(head -n 1 "migrations/$migration") == '-- no-transaction'* ]]; then
        once=()
    fi
    sql ours ${once[@]+"${once[@]}"} --file="migrations/$migration" || die "migrations/$migration failed"
    count=$((count + 1))
done < <(cd migrations && find . -maxdepth 1 -name '[0-9]*_*.sql' ! -name '*.down.sql' | cut -c 3- | sort -t _ -k 1,1n)
((count > 0)) || die 'there are no migrations in migrations/'

# --- Compile against it -------------------------------------------------------------------------------------------

for root in src/lib.rs crates/*/src/lib.rs crates/*/src/main.rs tests/it/main.rs benches/*/main.rs; do
    if [[ -f $root ]]; then
        touch "$root"
    fi
done

# A check compiles as clippy does, once for both.
compile=(cargo clippy --workspace --all-targets --features otlp --locked)
if [[ -n $check ]]; then
    compile+=(-- -D warnings)
fi
say "migrations applied: $count; compiling every target against them"
DATABASE_URL=$our_url SQLX_OFFLINE=false SQLX_OFFLINE_DIR=$fresh \
    "${compile[@]}" || die 'clippy found something, or a statement does not compile; .sqlx is unchanged'

shopt -s nullglob
queries=("$fresh"/query-*.json)
if ((${#queries[@]} == 0)) && grep -rqE '\bquery(_as|_scalar)?!' src crates tests; then
    die 'the code has checked queries, but none was written; .sqlx is unchanged'
fi

# --- Compare or replace -------------------------------------------------------------------------------------------

if [[ -n $check ]]; then
    outdated=0
    for query in "${queries[@]+"${queries[@]}"}"; do
        if ! cmp -s "$query" ".sqlx/${query##*/}"; then
            outdated=$((outdated + 1))
            if [[ -f .sqlx/${query##*/} ]]; then
                say "differs: .sqlx/${query##*/}"
            else
                say "missing: .sqlx/${query##*/}"
            fi
            grep -m 1 '^  "query": ' "$query" | cut -c 1-160 >&2 || true
        fi
    done
    for query in .sqlx/query-*.json; do
        if [[ ! -f $fresh/${query##*/} ]]; then
            outdated=$((outdated + 1))
            say "no longer used: $query"
        fi
    done
    if ((outdated > 0)); then
        die ".sqlx does not match the code and the migrations ($outdated differences above); run \`make sqlx\` and commit .sqlx"
    fi
    say ".sqlx is up to date; statements: ${#queries[@]}"
else
    mkdir -p .sqlx
    rm -f .sqlx/query-*.json
    if ((${#queries[@]} > 0)); then
        cp "${queries[@]}" .sqlx/
    fi
    say "statements written to .sqlx: ${#queries[@]}; commit them"
fi
