#!/usr/bin/env bash
# Builds what a release consists of, for the platform it runs on, into target/release-files:
#
#   keymeter-VERSION-PLATFORM.tar.gz   the program, its settings and its systemd units
#   keymeter-VERSION-PLATFORM.cdx.json, keymeter-VERSION-PLATFORM-dashboard.cdx.json
#                                      what it is made of: crates and npm packages (SBOM, CycloneDX)
#   keymeter-VERSION-PLATFORM.sha256   their checksums
#
#   scripts/release.sh [TAG]           TAG, such as v0.1.0, must be the version in Cargo.toml
#
# Needs Rust, Node.js, and cargo-cyclonedx (cargo install --locked cargo-cyclonedx). The same commit gives the same archive,
# except for the compiler's own paths.
set -euo pipefail

say() { printf 'release: %s\n' "$*" >&2; }
die() {
    say "$*"
    exit 1
}

cd "$(dirname "${BASH_SOURCE[0]}")/.."
read -r version target < <(cargo metadata --format-version 1 --no-deps --offline | node -p '
    const { packages, target_directory } = JSON.parse(require("fs").readFileSync(0));
    [packages.find(({ name }) => name === "keymeter-cli").version, target_directory].join(" ")')
tag=${1:-v$version}
[[ $tag == "v$version" ]] || die "the tag $tag is not the version in Cargo.toml, $version"
grep -q "^## \[$version\] - 20" CHANGELOG.md || die "CHANGELOG.md has no date for $version"
command -v cargo-cyclonedx >/dev/null || die 'cargo-cyclonedx is missing: cargo install --locked cargo-cyclonedx'
scripts/dashboard.sh has-node || die 'Node.js 20.19 or newer with npm is required: install it (https://nodejs.org)'

commit=$(git rev-parse --short=12 HEAD)
export SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(git show --no-patch --format=%ct HEAD)
day=$(date --utc --date="@$SOURCE_DATE_EPOCH" +%F)
[[ -z $(git status --porcelain --untracked-files=no) ]] || commit+=-changed
export KEYMETER_VERSION="$version ($commit, $day)"
name=keymeter-$version-$(uname -m)-linux
out=target/release-files
rm -rf "$out"
mkdir -p "$out/$name"

say "building $KEYMETER_VERSION"
scripts/dashboard.sh build
SQLX_OFFLINE=true cargo build --profile dist --locked --package keymeter-cli --package keymeter-envoy --bins
program=$target/dist/keymeter
said=$("$program" --version)
[[ $said == "keymeter $KEYMETER_VERSION" ]] || die "the program says it is \"$said\""

cp "$program" "$program-envoy" LICENSE CHANGELOG.md "$out/$name"
cp config/default.toml "$out/$name/default.toml"
cp examples/systemd/keymeter.service examples/systemd/keymeter-front.service "$out/$name"
tar --create --gzip --file "$out/$name.tar.gz" --directory "$out" --sort=name --mtime="@$SOURCE_DATE_EPOCH" \
    --owner=0 --group=0 --numeric-owner "$name"
rm -r "${out:?}/$name"

say 'listing what it is made of'
cargo cyclonedx --manifest-path crates/cli/Cargo.toml --format json --override-filename release-sbom --quiet
mv crates/cli/release-sbom.json "$out/$name.cdx.json"
# It writes one beside each Cargo.toml of the workspace.
rm -f release-sbom.json crates/*/release-sbom.json
(cd dashboard && npm sbom --sbom-format cyclonedx --omit dev) >"$out/$name-dashboard.cdx.json"
(cd "$out" && sha256sum ./*.tar.gz ./*.cdx.json | sed 's| \./| |' >"$name.sha256")
ls -l "$out" >&2
