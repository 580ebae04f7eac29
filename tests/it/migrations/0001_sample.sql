-- One row of every table of 0001_initial.sql, so that the next migration runs over rows.

insert into installation (id, key_check, cell_label, created_time) values (1, '\x00', '00', 1);

insert into users (id, username, username_folded, display_name, email, password_hash, role, status, group_name, quota,
    used_quota, request_count, token_api_enabled, created_time, username_skeleton) overriding system value values (1,
    'Ana', 'ana', '', '', '', 1, 1, 'default', 0, 0, 0, false, 1, text_range('ana', 'ana', '[]'));

insert into sessions (digest, data, expires_at) values ('\x01', '{"user_id": 1}', 1);

insert into access_tokens (id, user_id, name, digest, created_time) overriding system value values (1, 1, 'one',
    decode(repeat('01', 32), 'hex'), 1);

insert into enablement_requests (id, user_id, requested_by, reason, state, created_time, note) overriding system value
    values (1, 1, 1, 'x', 'pending', 1, '');

insert into tokens (id, user_id, key_digest, key_sealed, key_hint, name, name_folded, note, created_time,
    accessed_time, remain_quota, unlimited_quota, used_quota, model_limits_enabled, model_limits, allow_ips,
    group_name, cross_group_retry) overriding system value values (1, 1, decode(repeat('01', 32), 'hex'), '\x01',
    'abcdwxyz', 'one', 'one', '', 1, 1, 0, false, 0, false, '', '', '', false);

insert into usage_daily (token_id, user_id, day, model, quota, requests, prompt_tokens, completion_tokens) values (1,
    1, '2026-03-10', 'o1', 0, 0, 0, 0);

insert into gateways (id, name, created_time, created_by) overriding system value values (1, 'edge', 1, 1);

insert into gateway_credentials (id, gateway_id, digest, hint, created_time, created_by) overriding system value
    values (1, 1, decode(repeat('01', 32), 'hex'), 'wxyz', 1, 1);

insert into audit_log (id, at, actor_name, action, subject_kind, ip, request_id, details) overriding system value
    values (1, 1, '', '', '', '', '', '{}');

insert into charges (at, token_id, user_id, model, quota, shortfall, prompt_tokens, completion_tokens) values (1, 1,
    1, '', 0, 0, 0, 0);

insert into reservations (id, token_id, user_id, model, held, from_remain, created_time, expires_at, state) values (1,
    1, 1, '', 0, true, 1, 2, 'open');

insert into idempotency_records (gateway_id, request_id, user_id, created_time, request_hash, charged, remain_quota)
    values (1, 'r1', 1, 1, decode(repeat('01', 32), 'hex'), 0, 0);
