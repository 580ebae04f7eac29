#!/usr/bin/env bash
# Mutation tests of src/domain with cargo-mutants: changes the code in one place at a time, runs the unit tests, and
# prints how many changes they noticed and those that they did not notice.
#
#   scripts/mutants.sh                               all of src/domain
#   scripts/mutants.sh --file src/domain/money.rs    other arguments of `cargo mutants`; --list only lists the changes
#
# Works on a copy of src/domain in a crate of its own, target/mutants, so that each change builds in seconds. The exit
# code is that of cargo-mutants: 0 if the tests noticed every change, 2 if they missed some.
# cargo-mutants is built once into target/tools, unoptimised: that takes a minute or two.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

release=27.1.0
tools=$PWD/target/tools
mutants=$tools/bin/cargo-mutants
crate=target/mutants

if [[ $("$mutants" mutants --version 2>/dev/null) != "cargo-mutants $release" ]]; then
    echo "mutants: building cargo-mutants $release" >&2
    CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR=$tools/build \
        cargo install --quiet --debug --locked --root "$tools" "cargo-mutants@$release"
    rm -rf "$tools/build"
fi

rm -rf "$crate/src"
mkdir -p "$crate/src"
cp -R src/domain "$crate/src/domain"
echo 'pub mod domain;' >"$crate/src/lib.rs"
cp Cargo.lock "$crate/Cargo.lock"

# Prints Cargo.toml with the dependencies that src/domain names, and without features, benchmarks, lints and profiles.
manifest() {
    local section='' line name
    while IFS= read -r line; do
        if [[ $line == \[* ]]; then
            section=$line
        fi
        case $section in
        '[package]')
            # What it inherits is in [workspace.package]; src/domain is all that it has.
            [[ $line == *.workspace* ]] || printf '%s\n' "$line"
            if [[ $line == '[package]' ]]; then printf '%s\n' 'edition = "2024"'; fi
            ;;
        '[workspace.dependencies]')
            printf '%s\n' "$line"
            ;;
        '[dependencies]' | '[dev-dependencies]')
            name=${line%%[ .]*}
            if [[ $line == \[* ]] || { [[ $line == [a-z]* ]] && grep -Eqr "\b${name//-/_}(::|!)" src/domain; }; then
                printf '%s\n' "$line"
            fi
            ;;
        esac
    done <Cargo.toml
    # A workspace of its own; the tests do not need debug information.
    printf '%s\n' '[workspace]' '[profile.dev]' 'debug = false'
}
manifest >"$crate/Cargo.toml"

# A change counts as noticed only by the tests as they are: proptest must not repeat what failed with another change.
export PROPTEST_DISABLE_FAILURE_PERSISTENCE=true PROPTEST_MAX_SHRINK_ITERS=0
# An eighth of the usual cases of each property. What these notice, more cases notice too, and a run takes half the time.
export PROPTEST_CASES=${PROPTEST_CASES:-32}
export CARGO_TARGET_DIR=$PWD/$crate/target
"$mutants" mutants --dir "$crate" --in-place --cap-lints=true --cargo-arg=--lib "$@"
