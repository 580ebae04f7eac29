-- Accounts, tokens, and what is recorded of them.
-- Times are Unix seconds, amounts are quota units, secrets are keyed digests or sealed.

-- One row: tells whether the master key is the one this database was made with.
create table installation (
    id smallint constraint installation_pkey primary key,
    key_check bytea not null,
    created_time bigint not null,
    constraint installation_one_row check (id = 1)
);

create table users (
    id bigint generated always as identity constraint users_pkey primary key,
    username text not null,
    username_folded text not null,
    display_name text not null,
    email text not null,
    password_hash text not null,
    role smallint not null,
    status smallint not null,
    group_name text not null,
    quota bigint not null,
    used_quota bigint not null,
    request_count bigint not null,
    token_api_enabled boolean not null,
    max_tokens bigint,
    created_time bigint not null,
    deleted_time bigint,
    constraint users_role_known check (role in (1, 10, 100)),
    constraint users_status_known check (status in (1, 2)),
    constraint users_quota_not_negative check (quota >= 0),
    constraint users_used_quota_not_negative check (used_quota >= 0),
    constraint users_request_count_not_negative check (request_count >= 0),
    constraint users_max_tokens_not_negative check (max_tokens >= 0)
);

-- A deleted account gives its name free.
create unique index users_username_unique on users (username_folded) where deleted_time is null;

-- Found by the digest of the cookie, so that a dump opens no session.
create table sessions (
    digest bytea constraint sessions_pkey primary key,
    user_id bigint constraint sessions_user_fk references users (id),
    data jsonb not null,
    expires_at bigint not null
);

create index sessions_by_user on sessions (user_id);
create index sessions_by_expiry on sessions (expires_at);

create table access_tokens (
    id bigint generated always as identity constraint access_tokens_pkey primary key,
    user_id bigint not null constraint access_tokens_user_fk references users (id),
    name text not null,
    digest bytea not null,
    created_time bigint not null,
    expires_at bigint,
    constraint access_tokens_digest_unique unique (digest),
    constraint access_tokens_digest_whole check (octet_length(digest) = 32)
);

create index access_tokens_by_user on access_tokens (user_id, id desc);

create table token_api_requests (
    id bigint generated always as identity constraint token_api_requests_pkey primary key,
    user_id bigint not null constraint token_api_requests_user_fk references users (id),
    asked_by bigint not null constraint token_api_requests_asked_by_fk references users (id),
    reason text not null,
    state text not null,
    created_time bigint not null,
    decided_by bigint constraint token_api_requests_decided_by_fk references users (id),
    decided_time bigint,
    note text not null,
    constraint token_api_requests_state_known check (state in ('pending', 'approved', 'refused')),
    constraint token_api_requests_decided check ((state = 'pending') = (decided_time is null))
);

create unique index token_api_requests_one_pending on token_api_requests (user_id) where state = 'pending';
create index token_api_requests_by_user on token_api_requests (user_id, id desc);

create table tokens (
    id bigint generated always as identity constraint tokens_pkey primary key,
    user_id bigint not null constraint tokens_user_fk references users (id),
    key_digest bytea not null,
    key_sealed bytea not null,
    key_hint text not null,
    switched_on boolean not null,
    name text not null,
    name_folded text not null,
    created_time bigint not null,
    accessed_time bigint not null,
    expires_at bigint,
    remain_quota bigint not null,
    unlimited_quota boolean not null,
    used_quota bigint not null,
    model_limits_enabled boolean not null,
    model_limits text not null,
    allow_ips text not null,
    group_name text not null,
    cross_group_retry boolean not null,
    deleted_time bigint,
    constraint tokens_key_digest_unique unique (key_digest),
    constraint tokens_key_digest_whole check (octet_length(key_digest) = 32),
    constraint tokens_key_hint_short check (char_length(key_hint) <= 8),
    constraint tokens_name_length check (char_length(name) between 1 and 50),
    constraint tokens_expires_after_1970 check (expires_at > 0),
    constraint tokens_remain_quota_not_negative check (remain_quota >= 0),
    constraint tokens_used_quota_not_negative check (used_quota >= 0),
    constraint tokens_retry_only_in_auto check (not cross_group_retry or group_name = 'auto')
);

-- Every list, count and search of one user's tokens walks this and nothing of anybody else's.
create index tokens_of_user on tokens (user_id, id desc) where deleted_time is null;

-- What a token spent on one day with one model. Filled by the ledger.
create table usage_daily (
    token_id bigint not null constraint usage_daily_token_fk references tokens (id),
    day date not null,
    model text not null,
    quota bigint not null,
    requests bigint not null,
    prompt_tokens bigint not null,
    completion_tokens bigint not null,
    constraint usage_daily_pkey primary key (token_id, day, model),
    constraint usage_daily_not_negative
        check (quota >= 0 and requests >= 0 and prompt_tokens >= 0 and completion_tokens >= 0)
);

create table gateways (
    id bigint generated always as identity constraint gateways_pkey primary key,
    name text not null,
    digest bytea not null,
    created_time bigint not null,
    created_by bigint constraint gateways_created_by_fk references users (id),
    constraint gateways_digest_unique unique (digest),
    constraint gateways_digest_whole check (octet_length(digest) = 32)
);

-- Who did what to what, from where. Never a secret.
create table audit_log (
    id bigint generated always as identity constraint audit_log_pkey primary key,
    at bigint not null,
    actor_id bigint,
    actor_name text not null,
    action text not null,
    subject_kind text not null,
    subject_id bigint,
    user_id bigint,
    ip text not null,
    request_id text not null,
    details jsonb not null
);

create index audit_log_by_subject on audit_log (subject_kind, subject_id, id desc);
create index audit_log_by_actor on audit_log (actor_id, id desc);
create index audit_log_by_user on audit_log (user_id, id desc);
