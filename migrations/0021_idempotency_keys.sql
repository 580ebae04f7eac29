-- Requests of people and scripts that were carried out with an `Idempotency-Key`: sent again, they make nothing a second time. (Those of
-- gateways, by `request_id`, are in idempotency_records.)

create table idempotency_keys (
    -- Who sent it.
    user_id bigint not null constraint idempotency_keys_user_fk references users (id),
    key text not null,
    -- SHA-256 of the call and its body.
    request_hash bytea not null,
    -- The tokens that it made or gave a key, and the digest of each key. No key: that is opened again for the answer.
    token_ids bigint[] not null,
    key_digests bytea[] not null,
    created_time bigint not null,
    constraint idempotency_keys_pkey primary key (user_id, key),
    constraint idempotency_keys_key_length check (char_length(key) between 1 and 255),
    constraint idempotency_keys_request_hash_length check (octet_length(request_hash) = 32),
    constraint idempotency_keys_digest_each check (cardinality(token_ids) = cardinality(key_digests))
);

-- For the job that deletes old ones.
create index idempotency_keys_by_time on idempotency_keys (created_time);
