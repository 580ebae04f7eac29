-- What an import from another service leaves (docs/moving-in.md): usage from before the import, keys of another format,
-- history, and which rows were imported. `users.password_hash` may also be a bcrypt hash now, or empty: no password
-- matches.

alter table users
    -- What the account had used before its import; a part of `used_quota` (L3). Not the sum of that of its tokens: the
    -- other service also counted tokens that it deleted later.
    add column opening_used bigint not null default 0,
    add constraint users_opening_used_not_negative check (opening_used >= 0);

alter table tokens
    -- As in `users`.
    add column opening_used bigint not null default 0,
    -- The key was issued by another service and has no checksum of ours.
    add column key_foreign boolean not null default false,
    add constraint tokens_opening_used_not_negative check (opening_used >= 0);

-- Every server reads the digests of all foreign keys (service/foreign_keys.rs).
create index tokens_foreign on tokens (id) where key_foreign and deleted_time is null;

-- Usage from before an import, with the columns of `usage_daily`. Read by reports, never by the ledger or its checks.
create table usage_imported (
    -- 0: a token that was not imported.
    token_id bigint not null,
    day date not null,
    model text not null,
    user_id bigint not null,
    quota bigint not null,
    requests bigint not null,
    prompt_tokens bigint not null,
    completion_tokens bigint not null,
    constraint usage_imported_pkey primary key (user_id, day, token_id, model),
    constraint usage_imported_not_negative
        check (quota >= 0 and requests >= 0 and prompt_tokens >= 0 and completion_tokens >= 0)
);

-- The usage of a token, and of everyone, by day.
create index usage_imported_by_token on usage_imported (token_id, day);
create index usage_imported_by_day on usage_imported (day);

-- What reports show: what was charged here, and what was used before an import.
create view usage_reported as
    select token_id, day, model, user_id, quota, requests, prompt_tokens, completion_tokens from usage_daily
    union all
    select token_id, day, model, user_id, quota, requests, prompt_tokens, completion_tokens from usage_imported;

-- One row for each imported row, written in the transaction that writes the row itself: another run finds out what is
-- there already.
create table imports (
    -- The name of the other installation.
    source text not null,
    -- `history` is that of the account `foreign_id`.
    kind text not null,
    foreign_id bigint not null,
    local_id bigint not null,
    at bigint not null,
    constraint imports_pkey primary key (source, kind, foreign_id),
    constraint imports_kind_known check (kind in ('user', 'token', 'access_token', 'history'))
);

create index imports_by_local on imports (kind, local_id);

-- What each run of an import did, for administrators. A run that was killed leaves no row.
create table import_runs (
    id bigint generated always as identity primary key,
    -- The name of the other installation.
    source text not null,
    at bigint not null,
    -- False: it failed in the middle.
    complete boolean not null,
    -- As the command writes it, with fewer rows for each finding.
    report jsonb not null
);
