-- A user and a token with usage.

insert into users (id, username, username_folded, display_name, email, password_hash, role, status, group_name, quota,
    used_quota, request_count, token_api_enabled, created_time, username_skeleton) overriding system value values
    (41, 'Dan', 'dan', '', '', '', 1, 1, 'default', 5, 12, 1, false, 1, text_range('dan', 'dan', '[]'));

insert into tokens (id, user_id, key_digest, key_sealed, key_hint, name, name_folded, note, created_time,
    accessed_time, remain_quota, unlimited_quota, used_quota, model_limits_enabled, model_limits, allow_ips,
    group_name, cross_group_retry, deleted_time) overriding system value values
    (41, 41, decode(repeat('41', 32), 'hex'), '\x01', 'abcdwxyz', 'one', 'one', '', 1, 1, 3, false, 12, false, '', '',
    '', false, null);
