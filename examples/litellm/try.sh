#!/usr/bin/env bash
# A chat completion is charged, the next one is refused. Starts Keymeter, LiteLLM's proxy and a provider that answers without a
# model, all on 127.0.0.1 and with data of their own, and ends them. No account anywhere is needed.
#
#   examples/litellm/try.sh             runs the example; a second run takes what the first one installed
#   examples/litellm/try.sh stay        goes on until Ctrl-C, so that you can look around
#
# Needs Rust, or a built program in KEYMETER_PROGRAM; Python 3.10 or newer with venv; PostgreSQL's programs (scripts/setup.sh
# gets them). Installs LiteLLM into target/, and nothing elsewhere.
set -euo pipefail
# A proxy for plain HTTP would read the password and the keys.
unset http_proxy all_proxy ALL_PROXY

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
say() { printf '\n%s\n' "$*"; }
die() {
    printf 'try: %s\n' "$*" >&2
    exit 1
}

program=${KEYMETER_PROGRAM:-}
if [[ -z $program ]]; then
    say 'Building Keymeter.'
    cargo build --locked
    program=target/debug/keymeter
fi
program=$(realpath "$program")
unset KEYMETER_PROGRAM
[[ -x $program ]] || die "$program is not a program"
python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
    die 'Python 3.10 or newer with venv is missing (Debian and Ubuntu: apt-get install python3-venv)'
[[ -f target/setup.env ]] || scripts/setup.sh run
# shellcheck source=/dev/null
. target/setup.env

package=clients/litellm
sum=$(sha256sum "$package/requirements-test.txt")
venv=$PWD/target/litellm-example-${sum:0:12}
if [[ ! -e $venv/complete ]]; then
    say 'Installing LiteLLM and the plug-in into target/ (once, about two minutes).'
    rm -rf "$venv"
    python3 -m venv "$venv"
    # The file names all that is needed, so pip must not search for newer releases.
    "$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: --no-deps \
        -r "$package/requirements-test.txt"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e clients/python -e "$package"
    touch "$venv/complete"
fi

data=$(mktemp -d "${TMPDIR:-/tmp}/keymeter-litellm.XXXXXX")
chmod 711 "$data"
processes=()
# shellcheck disable=SC2317,SC2329 # called by a trap
clean_up() {
    trap - EXIT
    for process in "${processes[@]}"; do kill "$process" 2>/dev/null || true; done
    for process in "${processes[@]}"; do wait "$process" 2>/dev/null || true; done
    rm -rf "$data"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Three free ports.
read -r keymeter_port provider_port litellm_port < <("$venv/bin/python" -c '
import socket
sockets = [socket.socket() for _ in range(3)]
for each in sockets: each.bind(("127.0.0.1", 0))
print(*(each.getsockname()[1] for each in sockets))')
export KEYMETER_URL=http://127.0.0.1:$keymeter_port PROVIDER_URL=http://127.0.0.1:$provider_port/v1

# waits_for NAME URL LOG: until it answers.
waits_for() {
    for ((i = 0; i < 240; i++)); do
        if curl --silent --fail --output /dev/null --max-time 2 "$2"; then return; fi
        kill -0 "${processes[-1]}" 2>/dev/null || break
        sleep 0.5
    done
    tail -n 20 "$3" >&2
    die "$1 did not start"
}
# ask METHOD PATH JSON: as root, prints the answer.
ask() {
    curl --silent --show-error --max-time 30 --request "$1" --cookie "$data/cookies" --cookie-jar "$data/cookies" \
        --header "Origin: $KEYMETER_URL" --header 'Prefer: return=representation' --data-binary "$3" "$KEYMETER_URL$2"
}
# pick NAME ANSWER: prints a member of the answer.
pick() {
    local value
    value=$(sed -nE "s/.*\"$1\":\"?([^\",}]+).*/\1/p" <<<"$2")
    [[ -n $value ]] || die "$2"
    printf '%s' "$value"
}

say "Starting Keymeter on $KEYMETER_URL."
password=$(openssl rand -hex 12)
KEYMETER_DATA_DIR=$data/keymeter KEYMETER_SERVER__LISTEN=127.0.0.1:$keymeter_port KEYMETER_ROOT__PASSWORD=$password \
    "$program" serve >"$data/keymeter.log" 2>&1 &
processes+=($!)
waits_for Keymeter "$KEYMETER_URL/readyz" "$data/keymeter.log"
root=$(pick id "$(ask POST /api/user/login "{\"username\":\"root\",\"password\":\"$password\"}")")
ask POST "/api/admin/users/$root/quota" '{"delta":2500000}' >/dev/null
KEYMETER_CREDENTIAL=$(pick credential "$(ask POST /api/admin/gateways '{"name":"litellm"}')")
export KEYMETER_CREDENTIAL
# 500,000 quota units are one dollar.
made=$(ask POST /api/token/ '{"name":"example","remain_quota":10000}')
key=$(pick key "$made")
id=$(pick id "$made")
say "A key with 2 cents, 10000 quota units: $key"

say "Starting a provider that answers without a model, and LiteLLM's proxy on http://127.0.0.1:$litellm_port."
"$venv/bin/python" examples/litellm/provider.py "$provider_port" >"$data/provider.log" 2>&1 &
processes+=($!)
LITELLM_MASTER_KEY=sk-$(openssl rand -hex 32) LITELLM_LOCAL_MODEL_COST_MAP=True LITELLM_TELEMETRY=False \
    "$venv/bin/litellm" --config examples/litellm/config.yaml --host 127.0.0.1 --port "$litellm_port" >"$data/litellm.log" 2>&1 &
processes+=($!)
waits_for LiteLLM "http://127.0.0.1:$litellm_port/health/liveliness" "$data/litellm.log"

# Each answer has 10 tokens of prompt at 10 dollars a million, and 500 of output at 30: 1.51 cents, 7,550 quota units.
chat() {
    curl --silent --show-error --max-time 60 --write-out '\n%{http_code}' "http://127.0.0.1:$litellm_port/v1/chat/completions" \
        --header "Authorization: Bearer $key" --header 'Content-Type: application/json' \
        --data-binary '{"model":"example","max_tokens":500,"messages":[{"role":"user","content":"Say hello."}]}'
}
left() { pick remain_quota "$(ask GET "/api/token/$id" '')"; }
for number in 1 2; do
    say "Chat completion $number:"
    answer=$(chat)
    printf '%s\n' "$answer"
    if [[ $number == 1 ]]; then
        [[ $answer == *$'\n200' ]] || die 'the first one was not answered'
        for ((i = 0; i < 50; i++)); do
            [[ $(left) != 2450 ]] || break
            sleep 0.1
        done
        [[ $(left) == 2450 ]] || die "the key has $(left) left, not 2450"
        say 'Charged: 7550. The key has 2450 left, half a cent.'
    else
        [[ $answer == *$'\n402' ]] || die 'the second one was not refused'
        say 'Refused, before the provider was asked: it may cost more than the key has.'
    fi
done

if [[ ${1:-} == stay ]]; then
    say "Sign in at $KEYMETER_URL as root with the password $password. Ctrl-C ends all."
    wait "${processes[-1]}"
fi
