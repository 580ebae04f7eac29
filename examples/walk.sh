#!/usr/bin/env bash
# Walks through the token API with curl, from a sign-in to a deleted key.
#
#   ROOT_PASSWORD=… examples/walk.sh
#   BASE=https://keys.example.org ROOT_PASSWORD=… examples/walk.sh
#
# It creates an account of its own and deletes it at the end, so it can be run repeatedly.
# Exits with 0 if every answer was as expected, else with 1 and a message.
set -euo pipefail
# A proxy for plain HTTP would read the password and the keys.
unset http_proxy all_proxy ALL_PROXY

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
command -v curl >/dev/null || die 'curl is required'

say() {
    step=$((step + 1))
    printf '\n%2d. %s\n' "$step" "$*"
}

# call METHOD PATH [JSON]: sends a request with the curl arguments in `as`, prints the answer, sets $status and $body.
as=()
call() {
    local method=$1 path=$2 json=()
    if (($# > 2)); then
        json=(--header 'Content-Type: application/json' --data-binary @-)
    fi
    printf '    %s %s\n' "$method" "$path"
    status=$(printf '%s' "${3:-}" | curl --silent --show-error --max-time 30 --request "$method" \
        --output "$scratch/body" --write-out '%{http_code}' ${as[@]+"${as[@]}"} ${json[@]+"${json[@]}"} "$BASE$path") ||
        die "no answer from $BASE; is the service running?"
    body=$(cat "$scratch/body")
    printf '    %s %s\n' "$status" "$body"
}

# expect STATUS TEXT…: the answer must have this status and contain each text.
expect() {
    local text
    [[ $status == "$1" ]] || die "step $step: expected status $1, got $status"
    for text in "${@:2}"; do
        [[ $body == *"$text"* ]] || die "step $step: expected the answer to contain $text"
    done
}

# pick NAME: prints the value of a member of the answer, a number or a string without quotes in it.
pick() {
    local value
    value=$(sed -nE 's/.*"'"$1"'":"?([^",}]+).*/\1/p' "$scratch/body")
    [[ -n $value ]] || die "step $step: expected the answer to contain a value for $1"
    printf '%s' "$value"
}

# Prints a text as a JSON string.
quote() { printf '"%s"' "$(printf '%s' "$1" | sed 's/[\\"]/\\&/g')"; }

name=walker-$(date +%s)-$$
password=$name-password

by_cookie=(--cookie "$scratch/cookies" --cookie-jar "$scratch/cookies" --header "Origin: $BASE")

say 'Sign in as root; the answer sets a session cookie'
as=(--cookie-jar "$scratch/cookies")
call POST /api/user/login "{\"username\":\"root\",\"password\":$(quote "$ROOT_PASSWORD")}"
expect 200 '"success":true' '"role":100'

say "Create the user $name (writes by cookie need the header Origin)"
as=("${by_cookie[@]}")
call POST /api/admin/users "{\"username\":\"$name\",\"password\":\"$password\"}"
expect 200 '"success":true' "\"username\":\"$name\"" '"token_api_enabled":false'
user=$(pick id)

say "Sign in as $name"
as=(--cookie-jar "$scratch/own-cookies")
call POST /api/user/login "{\"username\":\"$name\",\"password\":\"$password\"}"
expect 200 '"success":true'

say 'Make an access token, which programs send instead of the cookie'
as=(--cookie "$scratch/own-cookies" --header "Origin: $BASE")
call GET /api/user/token
expect 200 '"success":true'
access_token=$(pick data)
by_token=(--header "Authorization: $access_token")

say 'The token API is refused until an administrator enables the account'
as=("${by_token[@]}")
call GET /api/token/
expect 403 '"error":"token_api_not_enabled"'

say 'Ask for enablement'
call POST /api/user/token_api_request '{"reason":"to try the API"}'
expect 200 '"state":"pending"'
request=$(pick id)

say 'Approve the request as root'
as=("${by_cookie[@]}")
call POST "/api/admin/token_api_requests/$request" '{"decision":"approve"}'
expect 200 '"state":"approved"'

say 'Create a key worth one dollar (500,000 quota units)'
as=("${by_token[@]}")
call POST /api/token/ '{"name":"example key","remain_quota":500000}'
expect 200 '{"success":true,"message":""}'

say 'List; the key is empty'
call GET '/api/token/?p=0&size=10'
expect 200 '"total":1' '"name":"example key"' '"key":""'
id=$(pick id)

say 'Search for a part of the name'
call GET '/api/token/search?keyword=MPLE'
expect 200 '"total":1' "\"id\":$id"

say 'Read one token; the answer contains its key'
call GET "/api/token/$id"
expect 200 '"key":"sk-'
key=$(pick key)

say 'Edit; omitted fields stay as they are'
call PUT /api/token/ "{\"id\":$id,\"remain_quota\":1000000}"
expect 200 '"remain_quota":1000000' '"name":"example key"'

say 'Disable'
call PUT '/api/token/?status_only=1' "{\"id\":$id,\"status\":2}"
expect 200 '"status":2'

say 'Enable'
call PUT '/api/token/?status_only=1' "{\"id\":$id,\"status\":1}"
expect 200 '"status":1'

say 'Usage of the key, queried with the key itself'
as=(--header "Authorization: Bearer $key")
call GET /api/usage/token/
expect 200 '"code":true' '"total_usd_available":2,' '"total_usd_used":0,'

say 'Daily usage'
as=("${by_token[@]}")
call GET "/api/token/$id/usage"
expect 200 '"success":true' '"daily":[{'

say 'Delete'
call DELETE "/api/token/$id"
expect 200 '{"success":true,"message":""}'

say 'The deleted token is not found, and its key is not valid'
call GET "/api/token/$id"
expect 404 '"error":"not_found"'
as=(--header "Authorization: Bearer $key")
call GET /api/usage/token/
expect 401 '"error":"invalid_key"'

say "Delete the user $name as root"
as=("${by_cookie[@]}")
call DELETE "/api/admin/users/$user"
expect 200 '"success":true'

printf '\nAll %d steps passed.\n' "$step"
