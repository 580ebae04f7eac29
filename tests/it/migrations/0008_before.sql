-- Tokens and accounts that are on, and such that somebody switched off.
insert into users (id, username, username_folded, display_name, email, password_hash, role, status, group_name,
    quota, used_quota, request_count, token_api_enabled, created_time) overriding system value
values (801, 'ana', 'ana', '', '', '', 1, 1, 'default', 0, 0, 0, false, 1),
    (802, 'ben', 'ben', '', '', '', 1, 2, 'default', 0, 0, 0, false, 1);

insert into tokens (id, user_id, key_digest, key_sealed, key_hint, switched_on, name, name_folded, created_time,
    accessed_time, remain_quota, unlimited_quota, used_quota, model_limits_enabled, model_limits, allow_ips,
    group_name, cross_group_retry) overriding system value
values (801, 801, decode(repeat('01', 32), 'hex'), '\x01', '', true, 'on', 'on', 1, 1, 0, false, 0, false, '', '', '',
        false),
    (802, 801, decode(repeat('02', 32), 'hex'), '\x01', '', false, 'off', 'off', 1, 1, 0, false, 0, false, '', '', '',
        false);
