#!/usr/bin/env bash
# A walk through Keymeter with curl: from the first sign-in to a deleted key.
#
#   ROOT_PASSWORD=… examples/walk.sh
#   BASE=https://keys.example.org ROOT_PASSWORD=… examples/walk.sh
#
# It makes an account of its own and removes it at the end, so it can be run as often as you like.
# Exits 0 when every answer was right, else 1 with a sentence.
set -euo pipefail

BASE=${BASE:-http://127.0.0.1:3000}
BASE=${BASE%/}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
step=0 status='' body=''

die() {
    printf 'walk: %s\n' "$*" >&2
    exit 1
}

[[ -n ${ROOT_PASSWORD:-} ]] || die 'set ROOT_PASSWORD to the password of root'
command -v curl >/dev/null || die 'curl is needed'

say() {
    step=$((step + 1))
    printf '\n%2d. %s\n' "$step" "$*"
}

# call METHOD PATH [JSON]: sends what `as` says beside, shows the answer, leaves it in $status and $body.
as=()
call() {
    local method=$1 path=$2 json=()
    if (($# > 2)); then
        json=(--header 'Content-Type: application/json' --data-binary @-)
    fi
    printf '    %s %s\n' "$method" "$path"
    status=$(printf '%s' "${3:-}" | curl --silent --show-error --max-time 30 --request "$method" \
        --output "$scratch/body" --write-out '%{http_code}' ${as[@]+"${as[@]}"} ${json[@]+"${json[@]}"} "$BASE$path") ||
        die "nobody answers at $BASE; is the service running?"
    body=$(cat "$scratch/body")
    printf '    %s %s\n' "$status" "$body"
}

# wants STATUS TEXT…: the answer must have this status and hold each text.
wants() {
    local text
    [[ $status == "$1" ]] || die "step $step should be answered $1, not $status"
    for text in "${@:2}"; do
        [[ $body == *"$text"* ]] || die "the answer to step $step should hold $text"
    done
}

# pick NAME: the value of a member of the answer, a number or a text without quotes in it.
pick() {
    local value
    value=$(sed -nE 's/.*"'"$1"'":"?([^",}]+).*/\1/p' "$scratch/body")
    [[ -n $value ]] || die "the answer to step $step should hold a value for $1"
    printf '%s' "$value"
}

# A text as a JSON string.
quote() { printf '"%s"' "$(printf '%s' "$1" | sed 's/[\\"]/\\&/g')"; }

name=walker-$(date +%s)-$$
password=$name-password

by_cookie=(--cookie "$scratch/cookies" --cookie-jar "$scratch/cookies" --header "Origin: $BASE")

say 'Sign in as root: the answer brings a session cookie'
as=(--cookie-jar "$scratch/cookies")
call POST /api/user/login "{\"username\":\"root\",\"password\":$(quote "$ROOT_PASSWORD")}"
wants 200 '"success":true' '"role":100'

say "Create the user $name (a write by cookie says where it comes from: Origin)"
as=("${by_cookie[@]}")
call POST /api/admin/users "{\"username\":\"$name\",\"password\":\"$password\"}"
wants 200 '"success":true' "\"username\":\"$name\"" '"token_api_enabled":false'
user=$(pick id)

say "Sign in as $name"
as=(--cookie-jar "$scratch/own-cookies")
call POST /api/user/login "{\"username\":\"$name\",\"password\":\"$password\"}"
wants 200 '"success":true'

say 'Mint an access token, which programs send in place of the cookie'
as=(--cookie "$scratch/own-cookies")
call GET /api/user/token
wants 200 '"success":true'
access_token=$(pick data)
by_token=(--header "Authorization: $access_token")

say 'The token API is closed until an administrator opens it'
as=("${by_token[@]}")
call GET /api/token/
wants 403 '"error":"token_api_not_enabled"'

say 'Ask for it'
call POST /api/user/token_api_request '{"reason":"I walk through the API"}'
wants 200 '"state":"pending"'
request=$(pick id)

say 'Root approves'
as=("${by_cookie[@]}")
call POST "/api/admin/token_api_requests/$request" '{"decision":"approve"}'
wants 200 '"state":"approved"'

say 'Create a key worth one dollar (500,000 quota units)'
as=("${by_token[@]}")
call POST /api/token/ '{"name":"walking stick","remain_quota":500000}'
wants 200 '{"success":true,"message":""}'

say 'List: the key itself stays empty'
call GET '/api/token/?p=0&size=10'
wants 200 '"total":1' '"name":"walking stick"' '"key":""'
id=$(pick id)

say 'Search by a part of the name'
call GET '/api/token/search?keyword=STICK'
wants 200 '"total":1' "\"id\":$id"

say 'Get: the one read that shows the key'
call GET "/api/token/$id"
wants 200 '"key":"sk-'
key=$(pick key)

say 'Edit: what is left out stays as it is'
call PUT /api/token/ "{\"id\":$id,\"remain_quota\":1000000}"
wants 200 '"remain_quota":1000000' '"name":"walking stick"'

say 'Disable'
call PUT '/api/token/?status_only=1' "{\"id\":$id,\"status\":2}"
wants 200 '"status":2'

say 'Enable'
call PUT '/api/token/?status_only=1' "{\"id\":$id,\"status\":1}"
wants 200 '"status":1'

say 'What the key has left, asked by the key itself'
as=(--header "Authorization: Bearer $key")
call GET /api/usage/token/
wants 200 '"code":true' '"total_usd_available":2,' '"total_usd_used":0,'

say 'What it spent today'
as=("${by_token[@]}")
call GET "/api/token/$id/usage"
wants 200 '"success":true' '"daily":[{'

say 'Delete'
call DELETE "/api/token/$id"
wants 200 '{"success":true,"message":""}'

say 'Now it is gone'
call GET "/api/token/$id"
wants 404 '"error":"not_found"'
as=(--header "Authorization: Bearer $key")
call GET /api/usage/token/
wants 401 '"error":"invalid_key"'

say "Root removes $name"
as=("${by_cookie[@]}")
call DELETE "/api/admin/users/$user"
wants 200 '"success":true'

printf '\nAll %d steps were answered as they should be.\n' "$step"
