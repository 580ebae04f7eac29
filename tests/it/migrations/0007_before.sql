-- An imported account with an access token, a token with its key as imported, and one whose key was replaced.

insert into users (id, username, username_folded, display_name, email, password_hash, role, status, group_name, quota,
    used_quota, request_count, token_api_enabled, created_time, username_skeleton) overriding system value values
    (71, 'Eve-7', 'eve-7', '', '', '', 1, 1, 'default', 5, 0, 0, false, 1, text_range('eve-7', 'eve-7', '[]'));

insert into tokens (id, user_id, key_digest, key_sealed, key_hint, key_foreign, name, name_folded, note, created_time,
    accessed_time, remain_quota, unlimited_quota, used_quota, model_limits_enabled, model_limits, allow_ips,
    group_name, cross_group_retry, deleted_time) overriding system value values
    (71, 71, decode(repeat('71', 32), 'hex'), '\x01', 'abcdwxyz', true, 'one', 'one', '', 1, 1, 3, false, 0, false, '', '',
    '', false, null),
    (72, 71, decode(repeat('72', 32), 'hex'), '\x01', 'abcdwxyz', false, 'two', 'two', '', 1, 1, 3, false, 0, false, '', '',
    '', false, null);

insert into access_tokens (id, user_id, name, digest, expires_at, created_time) overriding system value values
    (71, 71, 'imported', decode(repeat('73', 32), 'hex'), null, 1);

insert into imports (source, kind, foreign_id, local_id, at) values
    ('new-api', 'user', 7, 71, 1), ('new-api', 'token', 8, 71, 1), ('new-api', 'token', 9, 72, 1),
    ('new-api', 'access_token', 7, 71, 1), ('new-api', 'history', 7, 71, 1);
