-- A reservation of an older version.
insert into users (id, username, username_folded, display_name, email, password_hash, role, status, group_name, quota, used_quota,
    request_count, token_api_enabled, created_time, username_skeleton) overriding system value
values (901, 'hedy', 'hedy', '', '', '', 1, 1, 'default', 95, 5, 0, false, 1, text_range('hedy', 'hedy', '[]'));
insert into tokens (id, user_id, key_digest, key_sealed, key_hint, name, name_folded, note, created_time, accessed_time, remain_quota,
    unlimited_quota, used_quota, model_limits_enabled, model_limits, allow_ips, group_name, cross_group_retry)
    overriding system value
values (901, 901, decode(repeat('19', 32), 'hex'), '\x01', 'abcdwxyz', 'one', 'one', '', 1, 1, 95, false, 5, false, '', '', '', false);
insert into reservations (id, token_id, user_id, model, held, from_remain, created_time, expires_at, state)
values (901, 901, 901, '', 5, true, 1, 2, 'open');
