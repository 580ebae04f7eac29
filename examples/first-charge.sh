#!/usr/bin/env bash
# A key with a limit of 5 dollars is charged until it is refused. Each run makes a key and a gateway of its own.
#
#   ROOT_PASSWORD=… examples/first-charge.sh        the password that the first start printed
#   BASE=https://keys.example.org ROOT_PASSWORD=… examples/first-charge.sh
set -euo pipefail
# A proxy for plain HTTP would read the password and the keys.
unset http_proxy all_proxy ALL_PROXY

BASE=${BASE:-http://127.0.0.1:3000}
[[ -n ${ROOT_PASSWORD:-} ]] || {
    echo 'first-charge: set ROOT_PASSWORD to the password of root, which the first start printed' >&2
    exit 1
}
cookies=$(mktemp)
trap 'rm -f "$cookies"' EXIT

# send METHOD PATH JSON ARGUMENTS OF CURL…: prints the answer.
send() {
    curl --silent --show-error --max-time 30 --request "$1" --cookie "$cookies" --cookie-jar "$cookies" \
        --header "Origin: $BASE" --data-binary "$3" "${@:4}" "$BASE$2"
}
# pick NAME ANSWER: prints a member of the answer, a number or a text.
pick() {
    local value
    value=$(sed -nE "s/.*\"$1\":\"?([^\",}]+).*/\1/p" <<<"$2")
    [[ -n $value ]] || {
        printf 'first-charge: %s\n' "$2" >&2
        exit 1
    }
    printf '%s' "$value"
}

# 500,000 quota units are one dollar.
password=${ROOT_PASSWORD//\\/\\\\}
password=${password//\"/\\\"}
root=$(pick id "$(send POST /api/user/login "{\"username\":\"root\",\"password\":\"$password\"}")")
gateway=$(pick credential "$(send POST /api/admin/gateways "{\"name\":\"first-charge $RANDOM$RANDOM\"}")")
send POST "/api/admin/users/$root/quota" '{"delta":2500000}' >/dev/null
key=$(pick key "$(send POST /api/token/ '{"name":"first charge","remain_quota":2500000}' --header 'Prefer: return=representation')")
printf 'A key with a limit of 5 dollars: %s\n' "$key"

# call NAME JSON: a call of the gateway, with the key.
call() {
    local answer
    answer=$(send POST "/api/gateway/$1" "{\"key\":\"$key\",${2#\{}" --header "Authorization: Bearer $gateway" \
        --write-out ' %{http_code}')
    printf '\n%s %s\n%s %s\n' "$1" "$2" "${answer##* }" "${answer% *}"
}
call verify '{"model":"gpt-5"}'
call charge '{"model":"gpt-5","quota":1500000}'
call charge '{"model":"gpt-5","quota":1500000}'
call charge '{"model":"gpt-5","quota":1000000}'
call verify '{"model":"gpt-5"}'
