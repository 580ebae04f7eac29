#!/usr/bin/env bash
# Proves an upgrade without a window: servers of an older program and of this one on one PostgreSQL, under load.
#
#   scripts/upgrade.sh [ARG…]
#
# Builds the older program from the commit that tests/upgrade/OLDER names, in target/older: the first time as long as a
# first build, then seconds. Needs a clone of the repository, a built keymeter, PostgreSQL 14 or newer (scripts/setup.sh
# test gets it) and Python 3.10 or newer with venv. Shares the packages of scripts/failover.sh. ARG… go to pytest, such
# as -k edits. Takes less than two minutes without the build.
#
# Environment:
#   KEYMETER_PROGRAM        the newer program; default target/debug/keymeter
#   KEYMETER_OLDER_PROGRAM  the older program, instead of a build
#   PG_BIN                  directory of PostgreSQL's programs
#   and those of scripts/with-postgres.sh
set -euo pipefail

die() {
    printf 'upgrade: %s\n' "$*" >&2
    exit 1
}
say() { printf 'upgrade: %s\n' "$*" >&2; }

cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly root=$PWD

KEYMETER_PROGRAM=$(realpath "${KEYMETER_PROGRAM:-target/debug/keymeter}")
[[ -x $KEYMETER_PROGRAM ]] || die "$KEYMETER_PROGRAM is missing; build it with: cargo test --locked --no-run"

# --- The older program ------------------------------------------------------------------------------------------------

readonly tree=$root/target/older/tree

# Checks the commit $1 out at $tree, where it may be already.
check_out() {
    local top
    git worktree prune
    top=$(git -C "$tree" rev-parse --show-toplevel 2>/dev/null) || top=
    if [[ $top != "$(realpath -m "$tree")" ]]; then
        rm -rf "$tree"
        git worktree prune
        git worktree add --quiet --detach "$tree" "$1"
    elif [[ $(git -C "$tree" rev-parse HEAD) != "$1" ]]; then
        git -C "$tree" checkout --quiet --force --detach "$1"
    fi
}

build_older() {
    local commit
    commit=$(grep -v '^#' tests/upgrade/OLDER)
    [[ $commit =~ ^[0-9a-f]{40}$ ]] || die 'tests/upgrade/OLDER needs one line that is a whole commit id'
    git rev-parse --git-dir >/dev/null 2>&1 ||
        die 'this is no clone of the repository: set KEYMETER_OLDER_PROGRAM to a program of the version before'
    if ! git cat-file -e "$commit^{commit}" 2>/dev/null; then
        say "fetching the commit $commit"
        git fetch --quiet --depth 1 origin "$commit" ||
            die "this clone lacks the commit $commit. Fetch it (a shallow clone: git fetch --unshallow), or set" \
                'KEYMETER_OLDER_PROGRAM to a program of the version before'
    fi
    command -v cargo >/dev/null || die 'cargo is missing: scripts/setup.sh run gets it, or set KEYMETER_OLDER_PROGRAM'
    check_out "$commit" || die "the commit $commit could not be checked out at ${tree#"$root"/}; see above"
    say "building the older program, of ${commit:0:12}"
    (cd "$tree" && CARGO_TARGET_DIR=$root/target/older/build SQLX_OFFLINE=true \
        cargo build --locked --package keymeter-cli --bin keymeter) ||
        die 'the older program could not be built; see above'
}

if [[ -z ${KEYMETER_OLDER_PROGRAM:-} ]]; then
    build_older
    KEYMETER_OLDER_PROGRAM=target/older/build/debug/keymeter
fi
KEYMETER_OLDER_PROGRAM=$(realpath "$KEYMETER_OLDER_PROGRAM")
[[ -x $KEYMETER_OLDER_PROGRAM ]] || die "$KEYMETER_OLDER_PROGRAM is missing"

# --- The tests --------------------------------------------------------------------------------------------------------

python=$(scripts/failover-python.sh)
# As in production.
export KEYMETER_TEST_FSYNC=${KEYMETER_TEST_FSYNC:-on}
export KEYMETER_PROGRAM KEYMETER_OLDER_PROGRAM PYTHONDONTWRITEBYTECODE=1
cd tests/upgrade
exec "$root/scripts/with-postgres.sh" "$python" -m pytest "$@"
