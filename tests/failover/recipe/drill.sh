#!/bin/sh
# Restores the newest backup into a directory of its own and lets the doctor check it. Exit code 0: it can be used.
set -eu
data=/var/lib/postgresql/drill
export PATH="/usr/lib/postgresql/15/bin:$PATH"
stop() {
    pg_ctl -D "$data" -m immediate stop >/dev/null 2>&1 || true
    rm -rf "$data"
}
trap stop EXIT
stop
pgbackrest --stanza=keymeter --pg1-path="$data" --archive-mode=off --log-level-console=warn restore
printf '%s\n' 'local all all trust' 'host keymeter keymeter 127.0.0.1/32 trust' >"$data/drill_hba.conf"
# Nothing but the doctor reaches it, and it waits for no standby.
pg_ctl -D "$data" -w -t 86400 -l "$data/drill.log" start -o "-c listen_addresses=127.0.0.1 -c port=5499 \
    -c unix_socket_directories=$data -c hba_file=$data/drill_hba.conf -c synchronous_standby_names="
until [ "$(psql -h "$data" -p 5499 -Atc 'select pg_is_in_recovery()' postgres)" = f ]; do sleep 1; done
newest="select count(*) || ' charges, the newest of ' || to_timestamp(max(at)) from charges"
psql -h "$data" -p 5499 -Atc "$newest" keymeter
set -a
. /etc/keymeter.env
DATABASE_URL=postgres://keymeter@127.0.0.1:5499/keymeter keymeter doctor
