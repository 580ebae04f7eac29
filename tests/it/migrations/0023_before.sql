-- A deleted token of an older version.
insert into tokens (id, user_id, key_digest, key_sealed, key_hint, name, name_folded, note, created_time, accessed_time, remain_quota,
    unlimited_quota, used_quota, model_limits_enabled, model_limits, allow_ips, group_name, cross_group_retry, deleted_time)
    overriding system value
values (922, 901, decode(repeat('22', 32), 'hex'), '\x01', 'abcdwxyz', 'gone', 'gone', '', 1, 1, 95, false, 5, false, '', '', '', false, 7);
