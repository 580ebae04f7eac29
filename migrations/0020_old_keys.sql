-- Keys that a rotation replaced. They work for a while longer, so that programs can change to the new key one by one. The encrypted
-- key is not kept: an old key cannot be read back.

create table old_keys (
    -- Ascends with the rotations of a token.
    id bigint generated always as identity constraint old_keys_pkey primary key,
    -- Finds the token by the old key.
    key_digest bytea not null,
    token_id bigint not null constraint old_keys_token_fk references tokens (id),
    key_hint text not null,
    -- An import brought the key from another service: it has no checksum.
    key_foreign boolean not null,
    rotated_at bigint not null,
    -- How long it works after its grace period begins.
    grace_seconds bigint not null,
    -- From this second on it does not work. While it waits for the use of a newer key, the latest that this can be.
    expires_at bigint not null,
    -- Its grace period begins with the first use of a newer key, and none was used yet.
    waits_for_use boolean not null,
    -- It was ended at once: whatever a clock says, it does not work.
    ended boolean not null default false,
    -- At most a minute too early.
    last_used_time bigint,
    constraint old_keys_key_digest_unique unique (key_digest),
    constraint old_keys_key_digest_length check (octet_length(key_digest) = 32),
    constraint old_keys_key_hint_length check (char_length(key_hint) <= 8),
    constraint old_keys_grace_in_range check (grace_seconds between 0 and 2592000),
    constraint old_keys_expires_after_rotation check (expires_at >= rotated_at)
);

create index old_keys_by_token on old_keys (token_id, id);
-- Few: the first use of a newer key ends the waiting.
create index old_keys_waiting on old_keys (token_id, id) where waits_for_use;
-- For the job that deletes those that ended long ago.
create index old_keys_by_expiry on old_keys (expires_at);
-- Every server keeps the digests of foreign keys.
create index old_keys_foreign on old_keys (id) where key_foreign;
