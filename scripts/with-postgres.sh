#!/usr/bin/env bash
# Runs a command with a private PostgreSQL that is removed when the command ends.
#
#   scripts/with-postgres.sh CMD [ARG…]
#
# CMD gets DATABASE_URL (user `postgres`, database `postgres`, 127.0.0.1 at a free port) and PG_BIN (the
# directory of the server's programs). Its exit code is passed through. Messages of this script go to standard error.
#
# Environment variables:
#   KEYMETER_TEST_DATABASE_URL  use this database and start none; its user needs the right to create databases
#   KEYMETER_TEST_FSYNC=on      write to disk as in production (for benchmarks); default off
#   PG_BIN                      directory of the server's programs; default: search for them
#   TMPDIR                      directory of the cluster; default /dev/shm if that has room, else /tmp; with fsync /var/tmp
set -euo pipefail

readonly start_attempts=10

say() { printf 'with-postgres: %s\n' "$*" >&2; }
die() {
    say "$*"
    exit 1
}

if (($# == 0)); then
    die 'nothing to run; usage: scripts/with-postgres.sh CMD [ARG…]'
fi

if [[ -n ${KEYMETER_TEST_DATABASE_URL:-} ]]; then
    export DATABASE_URL=$KEYMETER_TEST_DATABASE_URL
    exec "$@"
fi

if ! bin=$("$(dirname "${BASH_SOURCE[0]}")/postgres-programs.sh"); then
    die 'PostgreSQL 14 or newer is missing: scripts/setup.sh test gets it; or set PG_BIN to the directory of its programs, or' \
        'KEYMETER_TEST_DATABASE_URL to a database'
fi

# PG… variables of the caller are meant for another server.
for name in "${!PG@}"; do
    unset "$name"
done

# --- Choose the cluster's owner and its place ------------------------------------------------------------------

# PostgreSQL refuses to run as root.
owner=
if ((EUID == 0)); then
    for candidate in postgres nobody; do
        if id -u "$candidate" >/dev/null 2>&1; then
            owner=$candidate
            break
        fi
    done
    [[ -n $owner ]] || die 'PostgreSQL does not run as root, and neither of the users postgres and nobody exists'
fi

# Runs a program as the cluster's owner, in a directory that every user may enter.
as_owner() (
    cd /
    if [[ -z $owner ]]; then
        exec "$@"
    elif command -v runuser >/dev/null; then
        exec runuser -u "$owner" -- "$@"
    elif command -v setpriv >/dev/null; then
        exec setpriv --reuid="$owner" --regid="$(id -g "$owner")" --clear-groups -- "$@"
    else
        exec su -s /bin/sh "$owner" -c "$(printf '%q ' "$@")"
    fi
)

home=
child=
status=0

# Stops the cluster and removes it. Runs at every exit; no signal interrupts it.
# shellcheck disable=SC2317,SC2329 # called by a trap
clean_up() {
    local code=$?
    trap '' INT TERM HUP
    trap - EXIT
    if [[ -n $home ]]; then
        if [[ -f $home/data/postmaster.pid ]]; then
            as_owner "$bin/pg_ctl" stop -D "$home/data" -m immediate -t 20 >/dev/null 2>&1 || true
        fi
        rm -rf "$home"
    fi
    exit "$code"
}
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# Succeeds if there are 4 GiB in memory for files. The tests take about one; a container often has 64 MiB.
has_memory() {
    local free available
    free=$(df --output=avail --block-size=1M /dev/shm 2>/dev/null | tail -n 1) || return
    available=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo 2>/dev/null) || return
    ((free >= 4096 && available >= 4096))
}

# Removes what killed runs left in memory. A cluster that is in use holds its lock.
remove_leftovers() {
    local left
    find /dev/shm -maxdepth 1 -name 'keymeter-pg.*' -mmin +1 2>/dev/null | while read -r left; do
        if [[ -e $left/lock ]]; then flock --nonblock "$left/lock" rm -rf "$left" || true; fi
    done
}

durable=off
places=("${TMPDIR:-/tmp}" /tmp)
if [[ -z ${TMPDIR:-} ]] && command -v flock >/dev/null && has_memory; then
    # A database has about 300 files. On a disk, creating them takes the kernel ten times as long, and most tests have one.
    remove_leftovers
    places=(/dev/shm /tmp)
fi
if [[ ${KEYMETER_TEST_FSYNC:-off} == on ]]; then
    durable=on
    places=("${TMPDIR:-/var/tmp}" /var/tmp /tmp)
fi

for place in "${places[@]}"; do
    home=$(mktemp -d "${place%/}/keymeter-pg.XXXXXX" 2>/dev/null) || continue
    if [[ -n $owner ]]; then
        chown "$owner:$(id -g "$owner")" "$home"
    fi
    # The owner needs access, and the path of a Unix socket has at most 103 bytes.
    if as_owner test -w "$home" 2>/dev/null && ((${#home} + ${#start_attempts} + 18 <= 103)); then
        break
    fi
    rm -rf "$home"
    home=
done
[[ -n $home ]] || die "no usable directory for the cluster; tried ${places[*]}"

# All processes of this run inherit the lock.
exec {lock}>"$home/lock"
if command -v flock >/dev/null; then flock "$lock"; fi

if [[ $durable == on && $(stat -f -c %T "$home" 2>/dev/null) == tmpfs ]]; then
    say "fsync is on, but $home is in memory; set TMPDIR to a directory on a disk to measure that disk"
fi

# --- Make and start the cluster ---------------------------------------------------------------------------------

make_cluster() {
    as_owner "$bin/initdb" -D "$home/data" -U postgres --auth=trust --encoding=UTF8 --no-sync "$@" >"$home/log" 2>&1
}

# Shows the last lines of the logs. The server writes its own log, as its own user.
show_log() { tail -q -n 20 "$home/log" "$home/server.log" >&2 2>/dev/null || true; }

# Some systems do not have C.UTF-8; C sorts the same way.
if ! make_cluster --locale=C.UTF-8 && ! make_cluster --locale=C; then
    show_log
    die 'initdb failed; see its output above'
fi

# In memory, the log may be no larger than it has to be; on a disk it is as in production.
log_size=
if [[ $durable == off ]]; then log_size='max_wal_size = 256MB'; fi

as_owner tee -a "$home/data/postgresql.conf" >/dev/null <<CONF
listen_addresses = '127.0.0.1'
unix_socket_directories = '$home'
max_connections = 500
fsync = $durable
synchronous_commit = $durable
full_page_writes = $durable
$log_size
# As in the service's own sessions.
jit = off
timezone = 'UTC'
log_timezone = 'UTC'
CONF

# Succeeds if 127.0.0.1:$1 is in use. If it becomes used afterwards, PostgreSQL fails and the next port is tried.
taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

port=
for ((attempt = 0; attempt < start_attempts; attempt++)); do
    # Below the range of ports for outgoing connections.
    trial=$((15432 + RANDOM % 16000))
    if taken "$trial"; then
        continue
    fi
    if as_owner "$bin/pg_ctl" start -D "$home/data" -l "$home/server.log" -w -t 60 -o "-p $trial" \
        >"$home/log" 2>&1 </dev/null; then
        port=$trial
        break
    fi
done
if [[ -z $port ]]; then
    show_log
    die 'PostgreSQL did not start; see its output above'
fi

export DATABASE_URL="postgres://postgres@127.0.0.1:$port/postgres"
export PG_BIN=$bin

# --- Run the command --------------------------------------------------------------------------------------------

# The shell handles signals only between commands, so CMD runs in the background and the shell waits. A terminal sends
# Ctrl-C to CMD as well; other signals reach only this script, which passes them on. A second signal kills CMD.
signals=0
# shellcheck disable=SC2317,SC2329 # called by a trap
pass_on() {
    signals=$((signals + 1))
    if ((signals > 1)); then
        kill -s KILL "$child" 2>/dev/null || true
    elif [[ $1 != INT ]] || ! (: >/dev/tty) 2>/dev/null; then
        kill -s "$1" "$child" 2>/dev/null || true
    fi
}
trap 'pass_on HUP' HUP
trap 'pass_on INT' INT
trap 'pass_on TERM' TERM

# A background command does not read standard input and ignores Ctrl-C; restore both.
(
    trap - HUP INT QUIT TERM EXIT
    exec "$@"
) <&0 &
child=$!
if ((signals > 0)); then
    kill -s TERM "$child" 2>/dev/null || true # it arrived before CMD was started
fi

while true; do
    before=$signals
    code=0
    wait "$child" || code=$?
    # 127 also means that the shell has already reported this exit.
    if ((code != 127 || status == 0)); then
        status=$code
    fi
    if ((signals == before)); then
        break
    fi
done
exit "$status"
