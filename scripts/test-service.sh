#!/usr/bin/env bash
# Tests the service. Needs DATABASE_URL (scripts/with-postgres.sh gives one). ARG… go to `cargo test`.
#
#   scripts/test-service.sh [ARG…]
#
# Environment:
#   KEYMETER_TEST_WITHOUT  programs that are not installed here, such as `nginx,caddy,traefik,envoy,mariadb`: the tests that
#                          have their names are left out and counted
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

IFS=, read -ra without <<<"${KEYMETER_TEST_WITHOUT:-}"
skipped=()
for program in ${without[@]+"${without[@]}"}; do
    case $program in
    nginx | caddy | mariadb) ;;
    traefik | envoy) no_pypi=yes ;;
    *)
        printf 'test-service: KEYMETER_TEST_WITHOUT may name nginx, caddy, traefik, envoy and mariadb, not %q\n' "$program" >&2
        exit 2
        ;;
    esac
    skipped+=(--skip "$program")
done

# Tests that need one of these fail with its name if it could not be installed.
[[ -n ${no_pypi:-} ]] || scripts/proxies.sh || true

# What is left out is at the end of the arguments, behind `--`.
has_separator=
for argument in "$@"; do
    [[ $argument != -- ]] || has_separator=yes
done
if ((${#skipped[@]} > 0)) && [[ -z $has_separator ]]; then
    skipped=(-- "${skipped[@]}")
fi
status=0
cargo test --locked "$@" ${skipped[@]+"${skipped[@]}"} || status=$?
for program in ${without[@]+"${without[@]}"}; do
    count=$(cargo test --locked --quiet --test it -- --list "$program" 2>/dev/null | grep -c ': test$') || true
    printf 'test-service: LEFT OUT, because KEYMETER_TEST_WITHOUT names %s: %s tests\n' "$program" "$count"
done
exit "$status"
