#!/usr/bin/env bash
# Tests the service. Needs DATABASE_URL (scripts/with-postgres.sh gives one). ARG… go to `cargo test`.
#
#   scripts/test-service.sh [ARG…]
#
# Environment:
#   KEYMETER_TEST_WITHOUT  what is missing here, of `nginx,caddy,pgbouncer,traefik,envoy,genai_prices,mariadb,as_root,in_namespaces`:
#                          the tests that have these names are left out and counted. Without root, and where nothing may be
#                          mounted, the last two are added, and `of_older_commit` in a clone without that commit
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

IFS=, read -ra without <<<"${KEYMETER_TEST_WITHOUT:-}"
if ((EUID != 0)); then
    without+=(as_root in_namespaces)
elif ! unshare --mount --pid --fork --mount-proc true 2>/dev/null; then
    without+=(in_namespaces)
fi
# A shallow clone, or an archive of the sources, lacks it.
if ! git cat-file -e "$(grep -v '^#' tests/upgrade/OLDER)^{commit}" 2>/dev/null; then
    without+=(of_older_commit)
fi
skipped=()
for program in ${without[@]+"${without[@]}"}; do
    case $program in
    nginx | caddy | pgbouncer | genai_prices | mariadb | as_root | in_namespaces | of_older_commit) ;;
    traefik | envoy) no_pypi=yes ;;
    *)
        printf 'test-service: KEYMETER_TEST_WITHOUT may not name %q; see %s\n' "$program" "$0" >&2
        exit 2
        ;;
    esac
    skipped+=(--skip "$program")
done

# Tests that need one of these fail with its name if it could not be installed.
[[ -n ${no_pypi:-} ]] || scripts/proxies.sh || true

# Every database of a test is a copy of `template1`, so the migrations run once and not for each test. `cargo test` builds the
# program with the tests. A server of one's own stays as it is.
if [[ -z ${KEYMETER_TEST_DATABASE_URL:-} ]]; then
    cargo test --workspace --locked --no-run "$@"
    data=$(mktemp -d)
    KEYMETER_DATA_DIR=$data DATABASE_URL=${DATABASE_URL%/*}/template1 "${CARGO_TARGET_DIR:-target}/debug/keymeter" migrate
    rm -rf "$data"
fi

# What the test programs get is at the end of the arguments, behind `--`.
options=(-Z unstable-options --report-time ${skipped[@]+"${skipped[@]}"})
has_separator=
for argument in "$@"; do
    [[ $argument != -- ]] || has_separator=yes
done
[[ -n $has_separator ]] || options=(-- "${options[@]}")

# The test programs measure the time of a test only for this variable. It must not reach the compiler, which would then build
# everything in another way, so a runner sets it.
host=$(rustc --print host-tuple | tr a-z- A-Z_)
export "CARGO_TARGET_${host}_RUNNER=env RUSTC_BOOTSTRAP=1"
# Most tests wait for PostgreSQL and for other programs half of their time.
export RUST_TEST_THREADS=${RUST_TEST_THREADS:-$(($(nproc 2>/dev/null || sysctl -n hw.ncpu) * 2))}

output=$(mktemp)
trap 'rm -f "$output"' EXIT
status=0
cargo test --workspace --locked "$@" "${options[@]}" | tee "$output" || status=$?

echo
echo 'The slowest tests:'
sed -nE 's/^test (.*) \.\.\. (ok|FAILED|failed) <([0-9.]+)s>$/\3 s \1/p' "$output" | sort -rn | sed -n '1,10s/^/  /p'
awk '/^test result: / { ran += $4 + $6; failed += $6; ignored += $8 } / \.\.\. ignored/ { sub(/^test /, ""); print "  " $0 > "/dev/stderr" }
    END { printf "test-service: %d tests ran, %d failed, %d ignored\n", ran, failed, ignored }' "$output" 2>&1
for program in ${without[@]+"${without[@]}"}; do
    count=$(cargo test --workspace --locked --quiet --test it -- --list "$program" 2>/dev/null | grep -c ': test$') || true
    printf 'test-service: LEFT OUT for want of %s: %s tests\n' "$program" "$count"
done
exit "$status"
