-- Usage of a day, a week and a month, open and ended reservations, and a user without any.

insert into users (id, username, username_folded, display_name, email, password_hash, role, status, group_name, quota,
    used_quota, request_count, token_api_enabled, created_time, username_skeleton) overriding system value values
    (2, 'Ben', 'ben', '', '', '', 1, 1, 'default', 0, 179, 6, false, 1, text_range('ben', 'ben', '[]')),
    (3, 'Carla', 'carla', '', '', '', 1, 1, 'default', 0, 0, 0, false, 1, text_range('carla', 'carla', '[]'));

insert into tokens (id, user_id, key_digest, key_sealed, key_hint, name, name_folded, note, created_time,
    accessed_time, remain_quota, unlimited_quota, used_quota, model_limits_enabled, model_limits, allow_ips,
    group_name, cross_group_retry, deleted_time) overriding system value values
    (2, 2, decode(repeat('02', 32), 'hex'), '\x01', 'abcdwxyz', 'two', 'two', '', 1, 1, 0, false, 139, false, '', '',
    '', false, null),
    (3, 2, decode(repeat('03', 32), 'hex'), '\x01', 'abcdwxyz', 'three', 'three', '', 1, 1, 0, false, 40, false, '',
    '', '', false, 9),
    (4, 2, decode(repeat('04', 32), 'hex'), '\x01', 'abcdwxyz', 'four', 'four', '', 1, 1, 0, false, 0, false, '', '',
    '', false, null);

-- 2026-03-11 is a Wednesday; its week began on the 9th.
insert into usage_daily (token_id, user_id, day, model, quota, requests, prompt_tokens, completion_tokens) values
    (2, 2, '2026-02-28', 'o1', 64, 1, 0, 0),
    (2, 2, '2026-03-01', 'o1', 32, 1, 0, 0),
    (2, 2, '2026-03-09', 'o1', 16, 1, 0, 0),
    (2, 2, '2026-03-11', 'o1', 8, 1, 0, 0),
    (2, 2, '2026-03-11', 'o2', 4, 1, 0, 0),
    (3, 2, '2026-03-12', 'o1', 40, 1, 0, 0);

insert into reservations (id, token_id, user_id, model, held, from_remain, created_time, expires_at, state,
    ended_time) values
    (2, 2, 2, '', 10, true, 1, 2, 'open', null),
    (3, 2, 2, '', 5, true, 1, 2, 'open', null),
    (4, 2, 2, '', 100, true, 1, 2, 'released', 3);
