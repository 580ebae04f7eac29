-- The whole schema. Conventions:
-- * Times (`…_time`, `…_at`, `at`) are Unix seconds; `null` in an expiry means never.
-- * Amounts (`quota`, `held`, `charged`, …) are quota units: 500,000 are 1 USD.
-- * Secrets are stored as keyed digests (HMAC-SHA-256) or encrypted, never plain.
-- * Every constraint has a name that the service and the tests know.
-- * Identities of a cell begin at `cell << 40` (set when the database is first opened), below 2^53.

-- One row about this database.
create table installation (
    id smallint constraint installation_pkey primary key,
    -- Derived from the master key: shows at start whether the configured one is the right one.
    key_check bytea not null,
    -- The two characters in every key that say which cell it belongs to.
    cell_label text not null,
    created_time bigint not null,
    -- Every charge from this second on is stored; older ones were deleted for their age. Null: none was deleted yet.
    charges_since bigint,
    constraint installation_one_row check (id = 1),
    constraint installation_cell_label_format check (cell_label ~ '^[0-9A-Za-z]{2}$')
);

-- A range of texts, for confusable usernames (see below).
create type text_range as range (subtype = text, collation = "C");

create table users (
    id bigint generated always as identity constraint users_pkey primary key,
    username text not null,
    -- NFC and Unicode case folding: one name in every spelling.
    username_folded text not null,
    -- The UTS 39 skeleton as a range of texts. An ASCII name is one point in the range of its skeleton, so ASCII names
    -- never overlap; any other name is the whole range, and overlaps every name that looks like it.
    username_skeleton text_range not null,
    display_name text not null,
    email text not null,
    -- Argon2id in PHC format.
    password_hash text not null,
    -- 1 user, 10 administrator, 100 root.
    role smallint not null,
    -- 1 enabled, 2 disabled.
    status smallint not null,
    -- The role that disabled the account; no lower role may enable it again.
    disabled_by smallint,
    group_name text not null,
    -- The wallet: what all tokens of the user together may still spend.
    quota bigint not null,
    used_quota bigint not null,
    request_count bigint not null,
    token_api_enabled boolean not null,
    -- The user's own limit of live tokens; null for `accounts.max_tokens`.
    max_tokens bigint,
    created_time bigint not null,
    deleted_time bigint,
    constraint users_role_known check (role in (1, 10, 100)),
    constraint users_status_known check (status in (1, 2)),
    constraint users_disabled_by_known check (disabled_by in (10, 100)),
    constraint users_disabled_by_someone check ((status = 2) = (disabled_by is not null)),
    constraint users_quota_not_negative check (quota >= 0),
    constraint users_used_quota_not_negative check (used_quota >= 0),
    constraint users_request_count_not_negative check (request_count >= 0),
    constraint users_max_tokens_not_negative check (max_tokens >= 0)
) with (fillfactor = 70); -- Balances change with every batch; free space on the page avoids new index entries.

-- A deleted account frees its name. Made before the next constraint, so that an equal name is reported as taken and not
-- as confusable.
create unique index users_username_unique on users (username_folded) where deleted_time is null;
alter table users add constraint users_username_skeleton_unique
    exclude using gist (username_skeleton with &&) where (deleted_time is null);

-- Found by the digest of the cookie, so that a dump of the database opens no session.
create table sessions (
    digest bytea constraint sessions_pkey primary key,
    data jsonb not null,
    user_id bigint generated always as ((data ->> 'user_id')::bigint) stored
        constraint sessions_user_fk references users (id),
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
    constraint access_tokens_digest_length check (octet_length(digest) = 32)
);

create index access_tokens_by_user on access_tokens (user_id, id desc);
-- For the job that deletes expired ones.
create index access_tokens_by_expiry on access_tokens (expires_at) where expires_at is not null;

-- Requests to be enabled for the token API, and the answers.
create table enablement_requests (
    id bigint generated always as identity constraint enablement_requests_pkey primary key,
    user_id bigint not null constraint enablement_requests_user_fk references users (id),
    requested_by bigint not null constraint enablement_requests_requested_by_fk references users (id),
    reason text not null,
    state text not null,
    created_time bigint not null,
    decided_by bigint constraint enablement_requests_decided_by_fk references users (id),
    decided_time bigint,
    note text not null,
    constraint enablement_requests_state_known check (state in ('pending', 'approved', 'refused')),
    constraint enablement_requests_decided check ((state = 'pending') = (decided_time is null))
);

create unique index enablement_requests_one_pending on enablement_requests (user_id) where state = 'pending';
create index enablement_requests_by_user on enablement_requests (user_id, id desc);

create table tokens (
    id bigint generated always as identity constraint tokens_pkey primary key,
    user_id bigint not null constraint tokens_user_fk references users (id),
    -- Finds a token by its key.
    key_digest bytea not null,
    -- The key encrypted, bound to its digest.
    key_sealed bytea not null,
    -- The first and last characters, for lists.
    key_hint text not null,
    -- The role that switched the token off (1 the owner, 10 an administrator, 100 root); no lower role may switch it on
    -- again. Null: on.
    switched_off_by smallint,
    name text not null,
    -- The name folded by Unicode's rules in the service, so that search is the same under every locale.
    name_folded text not null,
    note text not null,
    created_time bigint not null,
    accessed_time bigint not null,
    expires_at bigint,
    remain_quota bigint not null,
    unlimited_quota boolean not null,
    used_quota bigint not null,
    model_limits_enabled boolean not null,
    -- Comma-separated model names.
    model_limits text not null,
    -- Newline-separated addresses and networks.
    allow_ips text not null,
    group_name text not null,
    cross_group_retry boolean not null,
    -- Raised by every edit, never by a charge: shows whether remembered restrictions are still current.
    version bigint not null default 0,
    deleted_time bigint,
    constraint tokens_key_digest_unique unique (key_digest),
    constraint tokens_key_digest_length check (octet_length(key_digest) = 32),
    constraint tokens_key_hint_length check (char_length(key_hint) <= 8),
    constraint tokens_switched_off_by_known check (switched_off_by in (1, 10, 100)),
    constraint tokens_name_length check (char_length(name) between 1 and 50),
    constraint tokens_note_length check (char_length(note) <= 500),
    constraint tokens_expires_after_1970 check (expires_at > 0),
    constraint tokens_remain_quota_not_negative check (remain_quota >= 0),
    constraint tokens_used_quota_not_negative check (used_quota >= 0),
    constraint tokens_retry_only_in_auto check (not cross_group_retry or group_name = 'auto')
) with (fillfactor = 70);

-- Lists, counts and searches of one user's live tokens read this and nothing of other users.
create index tokens_live_by_user on tokens (user_id, id desc) where deleted_time is null;
-- For the doctor: what a user spent is the sum over all tokens, deleted ones too.
create index tokens_by_user on tokens (user_id);

create table gateways (
    id bigint generated always as identity constraint gateways_pkey primary key,
    name text not null,
    created_time bigint not null,
    created_by bigint constraint gateways_created_by_fk references users (id)
);

-- A gateway keeps its id while its credentials change: request ids and reservations belong to the gateway, so that a
-- retry with a new credential finds the answer that the old one got.
create table gateway_credentials (
    id bigint generated always as identity constraint gateway_credentials_pkey primary key,
    gateway_id bigint not null
        constraint gateway_credentials_gateway_fk references gateways (id) on delete cascade,
    digest bytea not null,
    -- The last characters, for lists.
    hint text not null,
    created_time bigint not null,
    created_by bigint constraint gateway_credentials_created_by_fk references users (id),
    -- Written at most once a minute.
    last_used_time bigint,
    constraint gateway_credentials_digest_unique unique (digest),
    constraint gateway_credentials_digest_length check (octet_length(digest) = 32),
    constraint gateway_credentials_hint_length check (char_length(hint) <= 4)
);

create index gateway_credentials_by_gateway on gateway_credentials (gateway_id, id desc);

-- Who did what to what, from where. Never a secret.
create table audit_log (
    id bigint generated always as identity constraint audit_log_pkey primary key,
    at bigint not null,
    actor_id bigint,
    -- The name at that time.
    actor_name text not null,
    action text not null,
    subject_kind text not null,
    subject_id bigint,
    -- The account that the subject belongs to.
    user_id bigint,
    ip text not null,
    request_id text not null,
    details jsonb not null
);

create index audit_log_by_subject on audit_log (subject_kind, subject_id, id desc);
create index audit_log_by_actor on audit_log (actor_id, id desc);
create index audit_log_by_user on audit_log (user_id, id desc);

-- The ledger (docs/ledger.md). Only its batches write the tables below, under locks of the owner's row in `users`.

-- One row per charge, partitioned by UTC day. No foreign keys: a partition is dropped as a whole, and tokens are never
-- deleted from their table.
create table charges (
    id bigint generated always as identity,
    at bigint not null,
    gateway_id bigint,
    token_id bigint not null,
    user_id bigint not null,
    reservation_id bigint,
    model text not null,
    quota bigint not null,
    -- The part of the actual cost that neither balance could cover.
    shortfall bigint not null,
    prompt_tokens bigint not null,
    completion_tokens bigint not null,
    constraint charges_quota_not_negative check (quota >= 0),
    constraint charges_shortfall_not_negative check (shortfall >= 0),
    constraint charges_counts_not_negative check (prompt_tokens >= 0 and completion_tokens >= 0)
) partition by range (at);

create index charges_of_token on charges (token_id, at);

-- Charges of days without a partition, so that no charge fails because a job did not run.
create table charges_rest partition of charges default;

-- For the job that deletes them when they are old.
create index charges_rest_by_time on charges_rest (at);

-- The sum of a token's charges of one day with one model, written with the charges. The day is one of
-- `usage.time_zone`. No foreign key: it would look the token up again for every first charge of a day.
create table usage_daily (
    token_id bigint not null,
    day date not null,
    model text not null,
    user_id bigint not null,
    quota bigint not null,
    requests bigint not null,
    prompt_tokens bigint not null,
    completion_tokens bigint not null,
    constraint usage_daily_pkey primary key (token_id, day, model),
    constraint usage_daily_not_negative
        check (quota >= 0 and requests >= 0 and prompt_tokens >= 0 and completion_tokens >= 0)
);

-- Quota held for a request that is under way. Ids are random and made by the service.
create table reservations (
    id bigint constraint reservations_pkey primary key,
    token_id bigint not null constraint reservations_token_fk references tokens (id),
    user_id bigint not null constraint reservations_user_fk references users (id),
    gateway_id bigint,
    model text not null,
    held bigint not null,
    -- Whether the hold was taken from the token's `remain_quota`, or from the wallet alone (unlimited tokens).
    from_remain boolean not null,
    created_time bigint not null,
    expires_at bigint not null,
    state text not null,
    ended_time bigint,
    -- Of a settled one: the cost that was reported, what was charged, and the rest.
    requested bigint,
    charged bigint,
    shortfall bigint,
    -- Of a settled one: it had expired before, and its hold was given back.
    was_expired boolean,
    constraint reservations_held_not_negative check (held >= 0),
    constraint reservations_state_known check (state in ('open', 'settled', 'released', 'expired')),
    constraint reservations_ended check ((state = 'open') = (ended_time is null)),
    constraint reservations_settled check (
        (state = 'settled')
        = (requested is not null and charged is not null and shortfall is not null and was_expired is not null)
    )
);

create index reservations_open on reservations (expires_at) where state = 'open';
create index reservations_ended_by_time on reservations (ended_time) where state <> 'open';

-- What a gateway was answered to a charge with a `request_id`, for 72 hours: a retry gets the same answer.
create table idempotency_records (
    gateway_id bigint not null,
    request_id text not null,
    user_id bigint not null,
    created_time bigint not null,
    -- The same id with another request is refused.
    request_hash bytea not null,
    charged bigint not null,
    remain_quota bigint not null,
    constraint idempotency_records_pkey primary key (gateway_id, request_id),
    constraint idempotency_records_request_hash_length check (octet_length(request_hash) = 32)
);

create index idempotency_records_by_time on idempotency_records (created_time);

-- Lets every identity begin at `first`. Called once, when the database is first opened.
create function start_identities_at(first bigint) returns void language plpgsql as $$
declare
    identity record;
begin
    for identity in
        select c.relname, a.attname from pg_attribute a join pg_class c on c.oid = a.attrelid
        where c.relnamespace = current_schema()::regnamespace and a.attidentity <> '' and not c.relispartition
    loop
        execute format('alter table %I alter column %I restart with %s', identity.relname, identity.attname, first);
    end loop;
end
$$;

-- Functions of the retention job. Each is one short transaction.

create function charges_partition_name(day_start bigint) returns text language sql immutable as $$
    select 'charges_' || to_char(to_timestamp(day_start) at time zone 'UTC', 'YYYYMMDD')
$$;

-- The first seconds of those UTC days between two, inclusive, that need a partition. A day that has rows in
-- charges_rest keeps them there.
create function missing_charges_partitions(first_day bigint, last_day bigint) returns setof bigint language sql stable as $$
    select day_start from generate_series(first_day, last_day, 86400) as day_start
    where to_regclass(charges_partition_name(day_start)) is null
        and not exists (select 1 from charges_rest where at >= day_start and at < day_start + 86400)
    order by day_start
$$;

-- Makes the partition of the UTC day that begins at `day_start`. Creating the table first and attaching it then locks
-- only the new table and charges_rest; `charges` stays open to readers and to charges.
create function make_charges_partition(day_start bigint) returns void language plpgsql as $$
declare
    partition_name text := charges_partition_name(day_start);
begin
    execute format('create table %I (like charges including constraints)', partition_name);
    execute format(
        'alter table charges attach partition %I for values from (%s) to (%s)',
        partition_name, day_start, day_start + 86400
    );
end
$$;

-- Drops the oldest partition of a UTC day before `day_start`; returns false if there is none. Dropping locks `charges`,
-- and every charge would wait behind that lock: so this raises lock_not_available while anyone reads the partition
-- (a backup, a report) instead of waiting.
create function drop_oldest_charges_partition(day_start bigint) returns boolean language plpgsql as $$
declare
    oldest text;
begin
    select c.relname into oldest
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'charges'::regclass and c.relname ~ '^charges_[0-9]{8}$'
        and c.relname < charges_partition_name(day_start)
    order by c.relname limit 1;
    if oldest is null then
        return false;
    end if;
    if exists (
        select 1 from pg_locks
        where relation = to_regclass(oldest) and pid <> pg_backend_pid()
            and database = (select oid from pg_database where datname = current_database())
    ) then
        raise lock_not_available using message = format('%s is being read', oldest);
    end if;
    execute format('drop table %I', oldest);
    update installation set charges_since = greatest(
        charges_since,
        extract(epoch from to_timestamp(substr(oldest, 9), 'YYYYMMDD')::timestamp at time zone 'UTC')::bigint + 86400
    );
    return true;
end
$$;

-- Analyses one table that has rows but no statistics (after a restore, an upgrade of PostgreSQL or a first start);
-- returns its name, or null if there is none. Partitions of charges are left out: no plan depends on their contents.
create function analyze_one_table() returns text language plpgsql as $$
declare
    found_name text;
begin
    select t.relname into found_name
    from pg_stat_user_tables t join pg_class c on c.oid = t.relid
    where t.schemaname = current_schema() and c.relkind = 'r' and not c.relispartition
        and pg_relation_size(c.oid) > 0 and t.last_analyze is null and t.last_autoanalyze is null
        and not exists (select 1 from pg_stats s where s.schemaname = t.schemaname and s.tablename = t.relname)
    order by t.relname limit 1;
    if found_name is not null then
        execute format('analyze %I', found_name);
    end if;
    return found_name;
end
$$;
