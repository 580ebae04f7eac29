-- A deleted and a live token with keys of another service.

insert into tokens (id, user_id, key_digest, key_sealed, key_hint, key_foreign, name, name_folded, note, created_time,
    accessed_time, remain_quota, unlimited_quota, used_quota, model_limits_enabled, model_limits, allow_ips,
    group_name, cross_group_retry, deleted_time) overriding system value values
    (101, 1, decode(repeat('a1', 32), 'hex'), '\x01', 'abcdwxyz', true, 'one', 'one', '', 1, 1, 3, false, 0, false, '', '',
    '', false, null),
    (102, 1, decode(repeat('a2', 32), 'hex'), '\x01', 'abcdwxyz', true, 'two', 'two', '', 1, 1, 3, false, 0, false, '', '',
    '', false, 5);
