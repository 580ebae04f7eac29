-- The metering front: each request to an API of language models is reserved in Keymeter before it is passed on, and charged
-- afterwards at what it cost. README.md in this directory has the settings and what is charged when. Lua 5.1 with lua-cjson.

local cjson = require("cjson.safe").new()
cjson.decode_invalid_numbers(false)

local find, sub, byte, lower = string.find, string.sub, string.byte, string.lower
local ceil, floor, min, max = math.ceil, math.floor, math.min, math.max
local null = cjson.null

local TIMEOUT = 2 -- seconds for one answer of Keymeter
local MOST_TOKENS = 1e12 -- cjson writes larger numbers with an exponent
local LONGEST_LINE = 1024 * 1024 -- of a streamed answer
local LONGEST_ANSWER = 8 * 1024 * 1024 -- of a whole one; beyond it only its end is looked at
local LONGEST_END = 64 * 1024
local SENDERS = 4 -- at once, in each worker
local LAST_TRIES = 5 -- of a worker that ends

local ROUTES = {
  ["/v1/chat/completions"] = "chat",
  ["/v1/completions"] = "completions",
  ["/v1/responses"] = "responses",
  ["/v1/messages"] = "messages",
  ["/v1/embeddings"] = "embeddings",
}
-- Of each kind, the members that limit its output. An upstream ignores those of other kinds.
local LIMITS = { chat = { "max_completion_tokens", "max_tokens" }, completions = { "max_tokens" },
  responses = { "max_output_tokens" }, messages = { "max_tokens" }, embeddings = {} }
-- Members by which a gateway takes another model or another upstream than the one that was checked and priced.
local REFUSED = { "fallbacks", "context_window_fallbacks", "content_policy_fallbacks", "models", "model_list", "route", "num_retries",
  "api_base", "base_url", "api_key", "user_config", "user_model", "speed" }
local TIERS = { auto = true, default = true, flex = true, standard = true, standard_only = true } -- others are dearer
local REPEATS = { "n", "best_of" }
-- What is read of a body.
local READ = { model = true, stream = true, stream_options = true, background = true, prompt = true, n = true, best_of = true,
  max_completion_tokens = true, max_tokens = true, max_output_tokens = true }
-- Of a client's headers, only these reach the upstream. Any other may have a key that was not checked, tell a gateway to send its
-- own key elsewhere (x-portkey-custom-host), or ask for an answer that cannot be read (accept-encoding).
local PASSED = { host = true, connection = true, ["content-length"] = true, ["content-type"] = true, ["transfer-encoding"] = true,
  accept = true, expect = true, ["user-agent"] = true, traceparent = true, ["anthropic-version"] = true, ["anthropic-beta"] = true,
  ["openai-beta"] = true }

local function is_table(value) return type(value) == "table" end
local function present(value) return value ~= nil and value ~= null end
local function tokens(value) return type(value) == "number" and min(floor(max(value, 0)), MOST_TOKENS) or 0 end

-- --- Keymeter ----------------------------------------------------------------------------------------------------------

-- Sends one call. Returns the status, the answer and `Retry-After`; or nil, the reason, and whether Keymeter may have got it.
local function call_once(target, path, payload, deadline)
  local socket = ngx.socket.tcp()
  local function remaining() socket:settimeout(max(1, (deadline - ngx.now()) * 1000)) end
  remaining()
  local ok, err = socket:connect(target.host, target.port)
  if not ok then return nil, err, false end
  local reused = socket:getreusedtimes() > 0
  if target.tls and not reused then
    ok, err = socket:sslhandshake(nil, target.host, true)
    if not ok then return nil, err, false end
  end
  remaining()
  -- HTTP/1.0, so that the answer comes with its length and not in chunks.
  ok, err = socket:send({ "POST ", target.path, "/api/gateway/", path, " HTTP/1.0\r\nHost: ", target.host,
    "\r\nConnection: keep-alive\r\nAuthorization: Bearer ", target.credential,
    "\r\nContent-Type: application/json\r\nContent-Length: ", #payload, "\r\n\r\n", payload })
  if not ok then return nil, err, true, reused end
  local headers, line = {}, nil
  remaining()
  line, err = socket:receive("*l")
  if not line then return nil, err, true, reused end
  local status = tonumber(line:match("^HTTP/1%.%d (%d%d%d)"))
  repeat
    remaining()
    line, err = socket:receive("*l")
    if not line then return nil, err, true end
    local name, value = line:match("^([^:]+):%s*(.-)%s*$")
    if name then headers[lower(name)] = value end
  until line == ""
  local length = tonumber(headers["content-length"])
  if not status or not length or length > LONGEST_LINE then return nil, "not an answer of Keymeter", true end
  remaining()
  local text
  text, err = socket:receive(length)
  if not text then return nil, err, true end
  if headers.connection ~= "close" then socket:setkeepalive(10000, 32) end
  local answer = cjson.decode(text)
  if not is_table(answer) or answer.success == nil then return nil, "not an answer of Keymeter", true end
  return status, answer, headers["retry-after"]
end

local function call(target, path, body)
  ngx.update_time() -- reading a large body took some
  local payload, deadline = assert(cjson.encode(body)), ngx.now() + TIMEOUT
  local status, answer, more, reused = call_once(target, path, payload, deadline)
  -- A connection from the pool may have been closed meanwhile. Each call can be repeated: it has a `request_id` or a
  -- `reservation_id`.
  if not status and reused and answer ~= "timeout" then
    status, answer, more = call_once(target, path, payload, deadline)
    more = more or not status
  end
  return status, answer, more
end

-- --- Settlements -------------------------------------------------------------------------------------------------------

-- Of this worker. `open` counts the requests under way and the settlements that wait.
local queue, open, senders, pause = {}, 0, 0, 0

-- Whether time, or the operator, can help.
local function may_pass(status, answer) return not status or status >= 500 or answer.error == "invalid_gateway" end

-- Returns whether the job is done, and else why not.
local function attempt(job)
  if not job.body.reservation_id then
    -- The answer of `reserve` was lost. The same `request_id` returns the first reservation.
    local status, answer = call(job.target, "reserve", job.reserve)
    if status ~= 200 then return not may_pass(status, answer), status or answer end
    job.body.reservation_id = answer.data.reservation_id
  end
  local status, answer = call(job.target, job.path, job.body)
  if status == 200 then return true end
  if may_pass(status, answer) then return false, status or answer end
  if job.path == "settle" and not job.body.quota and (status == 400 or status == 403) then
    ngx.log(ngx.WARN, "Keymeter refused a cost (", tostring(answer.error), "): the hold is charged")
    job.body = { reservation_id = job.body.reservation_id, quota = job.reserved }
    return attempt(job)
  end
  ngx.log(ngx.ERR, "Keymeter refused a ", job.path, " with ", status, " ", tostring(answer.error))
  return true
end

local wake

local function drain()
  local tries = 0
  while queue[1] do
    local job = table.remove(queue, 1)
    local ran, done, reason = pcall(attempt, job)
    if ran and done then
      open, pause = open - 1, 0
    else
      if not ran then
        -- A defect of this file, or an answer that it cannot read. The hold can be charged all the same.
        job.failures = (job.failures or 0) + 1
        if job.body.reservation_id and job.reserved then
          job.path, job.body = "settle", { reservation_id = job.body.reservation_id, quota = job.reserved }
        end
      end
      if (job.failures or 0) > 5 then
        open = open - 1
        ngx.log(ngx.ERR, "a settlement was given up, and its hold expires: ", tostring(done))
      else
        queue[#queue + 1] = job
      end
      pause = min(max(pause * 2, 0.5), 30)
      ngx.log(ngx.WARN, #queue, " settlements wait for Keymeter: ", tostring(ran and reason or done))
      if not ngx.worker.exiting() then break end
      -- A worker that ends can plan nothing any more.
      tries = tries + 1
      if tries >= LAST_TRIES then
        ngx.log(ngx.ERR, #queue, " settlements could not be sent before the worker ended: their holds expire")
        break
      end
      ngx.sleep(min(pause, 2))
    end
  end
  senders = senders - 1
  if queue[1] and senders == 0 and not ngx.worker.exiting() then wake(pause) end
end

function wake(delay)
  senders = senders + 1
  local ok, err = ngx.timer.at(delay, drain)
  if not ok then
    senders = senders - 1
    ngx.log(ngx.ERR, "no timer for the settlements: ", err)
  end
end

local function enqueue(job)
  queue[#queue + 1] = job
  if senders < (pause == 0 and SENDERS or 1) then wake(0) end
end

-- --- Refusals ----------------------------------------------------------------------------------------------------------

local ANTHROPIC_TYPES = { [400] = "invalid_request_error", [401] = "authentication_error", [402] = "billing_error",
  [403] = "permission_error", [404] = "not_found_error", [429] = "rate_limit_error" }

-- Ends the request. `retry` is what an SDK shall do: false, or the seconds for `Retry-After`.
local function refuse(status, kind, code, message, retry, wait)
  local body = { error = { message = message, type = kind, param = null, code = code } }
  if ngx.var.uri == "/v1/messages" then
    body = { type = "error", error = { type = ANTHROPIC_TYPES[status] or "api_error", message = message } }
  end
  ngx.status = status
  ngx.header["Content-Type"] = "application/json"
  ngx.header["Cache-Control"] = "no-store"
  if retry == false then ngx.header["x-should-retry"] = "false" end
  ngx.header["Retry-After"] = wait
  ngx.say(cjson.encode(body))
  return ngx.exit(status)
end

local function refuse_body(message, code)
  return refuse(400, "invalid_request_error", code or "invalid_request", message, false)
end

local function refuse_key(message) return refuse(401, "invalid_request_error", "invalid_api_key", message, false) end

local function refuse_unavailable(reason)
  ngx.log(ngx.WARN, "refused, because Keymeter is unavailable: ", reason)
  return refuse(503, "api_error", "keymeter_unavailable", "API keys cannot be checked now; retry shortly", nil, 2)
end

-- What Keymeter refused, as SDKs of model providers read it.
local function refuse_as(status, answer, wait)
  local code, message = answer.error, answer.message
  if status >= 500 then return refuse_unavailable(status) end
  if code == "invalid_key" then return refuse_key(message) end
  if status == 402 then return refuse(402, "insufficient_quota", code, message, false) end
  if status == 403 then return refuse(403, "permission_error", code, message, false) end
  if status == 429 and find(code or "", "_period_exceeded$") then
    return refuse(429, "rate_limit_error", code, message, false, wait)
  end
  if status == 429 then return refuse(429, "rate_limit_error", code, message, nil, wait) end
  ngx.log(ngx.ERR, "Keymeter refuses the front itself: ", status, " ", tostring(code), ": ", tostring(message))
  return refuse(500, "api_error", "keymeter_misconfigured", "internal error; tell your operator")
end

-- --- access: reserve ---------------------------------------------------------------------------------------------------

local function target_of()
  local scheme, authority, path = (ngx.var.keymeter_url or ""):match("^(https?)://([^/]+)(.-)/*$")
  local credential = ngx.var.keymeter_credential
  if not scheme or not credential or credential == "" then error("set $keymeter_url and $keymeter_credential") end
  local host, port = authority:match("^(%[.-%]):?(%d*)$")
  if not host then host, port = authority:match("^([^:]*):?(%d*)$") end
  return { tls = scheme == "https", host = host, port = tonumber(port) or (scheme == "https" and 443 or 80), path = path,
    credential = credential }
end

local function key_of()
  if ngx.re.find(ngx.var.request_uri, "[?&;](k|%[46]b)(e|%[46]5)(y|%[57]9)=", "ijo") then
    return refuse_key("send the API key in a header, not in the address")
  end
  local authorization = ngx.var.http_authorization
  local key = authorization and authorization:match("^[Bb]earer +(%S+) *$") or not authorization and ngx.var.http_x_api_key
  if not key or key == "" or #key > 256 then
    return refuse_key("send a valid API key as `Authorization: Bearer` or `x-api-key`")
  end
  return key
end

local function read_body()
  ngx.req.read_body()
  local text, path = ngx.req.get_body_data(), ngx.req.get_body_file()
  if not text and path then
    local file = assert(io.open(path, "rb"))
    text = file:read("*a")
    file:close()
  end
  return text or ""
end

-- Where the value of each top-level member begins and ends, in a JSON object that cjson accepted. Returns nil and a name if the
-- upstream might read another value than cjson: if there are two members of one name, or one is spelt otherwise, because servers
-- written in Go take `Model`, and some letters beyond ASCII, for `model`.
local function find_members(text)
  local members, depth, position = {}, 0, 1
  local name, begin
  while true do
    local at = find(text, '["{}%[%],]', position)
    if not at then return members end
    local char = sub(text, at, at)
    position = at + 1
    if char == '"' then
      local close = at
      repeat
        close = find(text, '["\\]', close + 1)
        local escape = byte(text, close) == 92
        if escape then close = close + 1 end
      until not escape
      position = close + 1
      if depth == 1 and not name then
        local exact = cjson.decode("[" .. sub(text, at, close) .. "]")[1]
        name = lower(exact)
        if members[name] or (name ~= exact and READ[name]) or find(name, "[\128-\255]") then return nil, exact end
        begin = find(text, ":", position, true) + 1
        position = begin
      end
    elseif char == "{" or char == "[" then
      depth = depth + 1
    else
      if depth == 1 and name then
        members[name] = { begin, at - 1 }
        name = nil
      end
      if char ~= "," then depth = depth - 1 end
    end
  end
end

-- An estimate from above of the tokens of the prompt: most text has more than three bytes for each, lists of tokens have two.
local function prompt_limit(kind, body, length)
  local input = kind == "completions" and body.prompt or kind == "embeddings" and body.input
  return ceil(length / ((is_table(input) and type(input[1]) ~= "string") and 2 or 3))
end

-- The most tokens of output that the request may make.
local function output_limit(kind, body, default)
  if kind == "embeddings" then return 0 end
  local function count(names, default_count)
    local most
    for _, name in ipairs(names) do
      local value = body[name]
      -- Many upstreams take 0 for no limit.
      if present(value) and value ~= 0 then
        if type(value) ~= "number" or value < 0 or value > 1e9 or value ~= floor(value) then
          return refuse_body("`" .. name .. "` must be a whole number")
        end
        most = max(most or 0, value)
      end
    end
    return most or default_count
  end
  local answers = max(count(REPEATS, 1), 1)
  -- Each prompt of a list gets its own answers. A list of numbers is one prompt.
  local prompts = kind == "completions" and is_table(body.prompt) and type(body.prompt[1]) ~= "number" and #body.prompt or 1
  return min(count(LIMITS[kind], default) * answers * max(prompts, 1), MOST_TOKENS)
end

-- Without this, OpenAI's streams do not tell what they cost. The body is changed as text: encoding it again turns [] into {}.
local function ask_for_usage(text, body, members)
  local options = body.stream_options
  if not members.stream_options then
    local first = find(text, "{", 1, true)
    return sub(text, 1, first) .. '"stream_options":{"include_usage":true},' .. sub(text, first + 1)
  end
  -- Written again, because two spellings of one member may be in it.
  local written = { include_usage = true }
  if is_table(options) then written.include_obfuscation = options.include_obfuscation end
  local range = members.stream_options
  return sub(text, 1, range[1] - 1) .. cjson.encode(written) .. sub(text, range[2] + 1)
end

-- What a client can say besides the body: nothing by which the upstream reads it otherwise, as a form or with `?model=`.
local function remove_headers()
  for name in pairs(ngx.req.get_headers(0)) do
    if not PASSED[name] then ngx.req.clear_header(name) end
  end
  if ngx.req.get_method() == "POST" then ngx.req.set_header("Content-Type", "application/json") end
  ngx.req.set_uri_args(ngx.var.arg_beta == "true" and "beta=true" or "")
end

-- The list of models is free for every key that may be used and has something left.
local function verify(target, key)
  local status, answer, wait = call(target, "verify", { key = key, ip = ngx.var.remote_addr, quota = 1 })
  if not status then return refuse_unavailable(answer) end
  if status ~= 200 then return refuse_as(status, answer, wait) end
  if answer.data.valid ~= true then
    local reason = tostring(answer.data.reason)
    local code = reason == "invalid_key" and 401 or find(reason, "_exceeded$") and 429
      or (find(reason, "_exhausted$") or find(reason, "_insufficient$")) and 402 or 403
    return refuse_as(code, { error = reason, message = "this API key may not be used: " .. reason })
  end
  remove_headers()
end

local function number_of(name, default)
  local value = ngx.var["keymeter_" .. name]
  return tonumber(value) or (value and value ~= "" and error("$keymeter_" .. name .. " is no number")) or default
end

local M = {}

function M.access()
  -- As the client wrote it, because the upstream may read `..` and `%2e` otherwise than nginx.
  local path, method = ngx.var.request_uri:match("^[^?]*"), ngx.req.get_method()
  local kind = method == "POST" and ROUTES[path]
  local models = method == "GET" and path == "/v1/models"
  if not kind and not models then
    return refuse(404, "invalid_request_error", "not_metered", method .. " " .. ngx.var.uri .. " is not served here", false)
  end
  local key, target = key_of(), target_of()
  if models then return verify(target, key) end

  if open >= number_of("max_requests", 1000) then return refuse_unavailable("too many settlements wait") end
  local text = read_body()
  local body = find(text, "^%s*{") and cjson.decode(text)
  if not is_table(body) then return refuse_body("the body must be a JSON object", "invalid_json") end
  local members, wrong = find_members(text)
  if not members then return refuse_body("the body has an ambiguous member: `" .. wrong .. "`") end
  local model, stream = body.model, body.stream
  if type(model) ~= "string" or model == "" or #model > 128 then return refuse_body("`model` must be a name") end
  if present(stream) and type(stream) ~= "boolean" then return refuse_body("`stream` must be true or false") end
  if present(body.background) and body.background ~= false then
    return refuse(403, "permission_error", "not_metered", "`background` is not served here: its cost is not known in time", false)
  end
  stream = stream == true
  for _, name in ipairs(REFUSED) do
    if members[name] then
      return refuse(403, "permission_error", "not_metered", "`" .. name .. "` is not served here: it can change the cost", false)
    end
  end
  if present(body.service_tier) and not TIERS[body.service_tier] then
    return refuse(403, "permission_error", "not_metered", "this `service_tier` is not served here: it has no price", false)
  end

  local var = ngx.var
  local usd = var.keymeter_hold_usd
  local reserve = {
    key = key,
    model = model,
    ip = var.remote_addr,
    request_id = var.request_id,
    prompt_tokens = prompt_limit(kind, body, #text),
    completion_tokens = output_limit(kind, body, number_of("max_tokens", 4096)),
    ttl_seconds = number_of("ttl_seconds", 3600),
    on_expiry = var.keymeter_on_expiry or "charge",
    usd = usd ~= "" and usd or nil,
  }
  if open >= number_of("max_requests", 1000) then return refuse_unavailable("too many settlements wait") end
  open = open + 1
  local state = { kind = kind, target = target, reserve = reserve, stream = stream, raw = {}, rest = "", seen = 0, bytes = 0,
    model = var.keymeter_answer_model == "on" and model or nil }
  ngx.ctx.keymeter = state
  local status, answer, more = call(target, "reserve", reserve)
  if status ~= 200 then
    -- Without an answer it may be held nevertheless, and is released later.
    state.lost = (not status and more) or (status and status >= 500)
    if not status then return refuse_unavailable(answer) end
    return refuse_as(status, answer, more)
  end
  state.reservation_id, state.reserved = answer.data.reservation_id, answer.data.reserved

  remove_headers()
  if stream and (kind == "chat" or kind == "completions") then
    local changed = ask_for_usage(text, body, members)
    if changed ~= text then ngx.req.set_body_data(changed) end
  end
end

-- --- The answer: what it cost ------------------------------------------------------------------------------------------

-- `final`: these are the counts of the whole answer.
local function read_usage(state, usage, final)
  if not is_table(usage) then return end
  local raw = state.raw
  local details = is_table(usage.prompt_tokens_details) and usage.prompt_tokens_details
    or is_table(usage.input_tokens_details) and usage.input_tokens_details or {}
  for _, part in ipairs({ usage, details }) do
    for name, value in pairs(part) do
      -- Counts that come more than once are sums of all until then.
      if type(value) == "number" and name ~= "cost" then raw[name] = max(raw[name] or 0, value) end
    end
  end
  -- 0 is also what gateways write that do not know.
  if type(usage.cost) == "number" and usage.cost > 0 and usage.cost < 1e6 then state.usd = usage.cost end
  state.final = state.final or final
end

local function text_bytes(value)
  if type(value) == "string" then return #value end
  local sum = 0
  if is_table(value) then
    for name, part in pairs(value) do
      if name ~= "type" and name ~= "role" and name ~= "id" then sum = sum + text_bytes(part) end
    end
  end
  return sum
end

local function read_line(state, line)
  local event = cjson.decode(line:match("^data: *(.-)\r?$") or "")
  if not is_table(event) then return end
  if is_table(event.choices) then
    for _, choice in ipairs(event.choices) do
      local bytes = is_table(choice) and text_bytes(choice.delta) + text_bytes(choice.text) or 0
      if bytes > 0 then state.seen, state.bytes = state.seen + 1, state.bytes + bytes end
    end
  elseif present(event.delta) then
    local bytes = text_bytes(event.delta)
    if bytes > 0 then state.seen, state.bytes = state.seen + 1, state.bytes + bytes end
  end
  if event.type == "error" or event.type == "response.failed" or is_table(event.error) then state.broken = true end
  if is_table(event.message) then read_usage(state, event.message.usage, false) end -- message_start
  if is_table(event.response) then
    read_usage(state, event.response.usage, true)
    if is_table(event.response.usage) then state.answer_model = event.response.model end
  end
  read_usage(state, event.usage, true)
  state.answer_model = event.model or is_table(event.message) and event.message.model or state.answer_model
end

local function read_stream(state, chunk, last)
  local position = 1
  while true do
    local stop = find(chunk, "\n", position, true)
    if not stop then break end
    if not state.too_long then read_line(state, state.rest .. sub(chunk, position, stop - 1)) end
    state.rest, state.too_long = "", false
    position = stop + 1
  end
  local rest = sub(chunk, position)
  if state.too_long or #state.rest + #rest > LONGEST_LINE then
    -- The longest events of Responses repeat the request.
    local bytes = state.kind == "responses" and 0 or #state.rest + #rest
    state.bytes, state.rest, state.too_long = state.bytes + bytes, "", true
  else
    state.rest = state.rest .. rest
  end
  if last and not state.too_long then read_line(state, state.rest) end
end

local function read_whole(state, chunk, last)
  state.length = (state.length or 0) + #chunk
  if state.length <= LONGEST_ANSWER then
    state.parts = state.parts or {}
    state.parts[#state.parts + 1] = chunk
  else
    if state.parts then state.rest, state.parts = table.concat(state.parts), nil end
    state.rest = sub(state.rest .. chunk, -LONGEST_END)
  end
  if not last then return end
  if state.parts then
    local answer = cjson.decode(table.concat(state.parts))
    if is_table(answer) then
      read_usage(state, answer.usage, true)
      state.answer_model = answer.model
    end
  else
    -- Text of the answer cannot look like this: its quotation marks are escaped.
    local usage = state.rest:match('.*"usage"%s*:%s*(%b{})')
    read_usage(state, usage and cjson.decode(usage), true)
  end
  state.parts = nil
end

function M.header_filter()
  local state = ngx.ctx.keymeter
  if not state or not state.reservation_id then return end
  state.status = ngx.status
  state.streamed = find(lower(ngx.header["Content-Type"] or ""), "text/event-stream", 1, true) ~= nil
  -- LiteLLM writes 0 if it does not know, and the headers of a stream before it knows.
  local cost = not state.streamed and ngx.header["x-litellm-response-cost"]
  if cost and (tonumber(cost) or 0) > 0 then state.header_usd = cost end
end

function M.body_filter()
  local state = ngx.ctx.keymeter
  if not state or not state.status or state.status >= 300 then return end
  local chunk, last = ngx.arg[1], ngx.arg[2]
  state.complete = state.complete or last
  local ok, err = pcall(state.streamed and read_stream or read_whole, state, chunk, last)
  if not ok then ngx.log(ngx.ERR, "the answer could not be read: ", err) end
end

-- --- log: settle -------------------------------------------------------------------------------------------------------

-- The counts of the answer, which may lack some.
local function counts(state)
  local raw = state.raw
  local read, write = tokens(raw.cached_tokens), tokens(raw.cache_write_tokens)
  local function larger(one, other) return one and other and max(one, other) or one or other end
  local prompt = larger(raw.prompt_tokens, raw.input_tokens)
  local completion = larger(raw.completion_tokens, raw.output_tokens)
  if state.kind == "messages" then
    -- Anthropic's input_tokens are without the cache, Keymeter's prompt_tokens with it.
    read, write = tokens(raw.cache_read_input_tokens), tokens(raw.cache_creation_input_tokens)
    prompt = prompt and prompt + read + write
  elseif state.kind == "embeddings" then
    completion = 0
  elseif prompt and completion and raw.total_tokens then
    -- Some providers count thinking only in the total.
    completion = max(completion, raw.total_tokens - prompt)
  end
  return prompt and tokens(prompt), completion and tokens(completion), read, write
end

-- What is to be settled, or nil if nothing was done.
local function cost(state)
  local connected = find(ngx.var.upstream_connect_time or "", "%d")
  -- 499, or 0, of a client that left. All else without an answer is nginx's word for an upstream that failed.
  local left = not state.status and ngx.status < 500
  -- The request was sent, and no answer came in time: the provider finishes and bills it.
  local timed_out = state.status == 504 and not find(ngx.var.upstream_header_time or "", "%d")
  if connected and timed_out then return { quota = state.reserved } end
  if not connected or (state.status or 0) >= 300 or not state.status and not left then return nil end
  local usd = state.usd or state.header_usd
  if usd then return { usd = usd } end
  local prompt, completion, read, write = counts(state)
  -- A prompt of no tokens is what gateways write that do not know.
  local whole = state.final and (prompt or 0) > 0 and completion
  local streamed = state.streamed or not state.status and state.stream
  local seen = max(state.seen, ceil(state.bytes / 3))
  if not whole and not (streamed and (not state.complete or state.broken)) then
    if state.reserve.usd or seen <= state.reserve.completion_tokens then return { quota = state.reserved } end
    prompt, completion = state.reserve.prompt_tokens, seen
  elseif not whole then
    if state.broken and state.seen == 0 and not prompt then return nil end
    prompt, completion = (prompt or 0) > 0 and prompt or state.reserve.prompt_tokens, max(completion or 0, seen)
  elseif not state.complete then
    completion = max(completion, seen)
  end
  local model = state.model and type(state.answer_model) == "string" and state.answer_model or nil
  read = min(read, prompt)
  return { prompt_tokens = prompt, completion_tokens = completion, cached_tokens = read,
    cache_write_tokens = min(write, prompt - read), model = model }
end

function M.log()
  local state = ngx.ctx.keymeter
  if not state then return end
  if not state.reservation_id and not state.lost then
    open = open - 1
    return
  end
  local body = state.reservation_id and cost(state)
  local job = { target = state.target, path = body and "settle" or "release", body = body or {}, reserved = state.reserved,
    reserve = state.lost and state.reserve or nil }
  job.body.reservation_id = state.reservation_id
  enqueue(job)
end

return M
