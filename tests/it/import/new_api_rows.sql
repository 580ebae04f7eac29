-- Rows with every oddity, for all three databases (MySQL with ANSI_QUOTES). NOW is the present second.

insert into options ("key", value) values
    ('GroupRatio', '{"default":1,"vip":0.5,"svip":2}'), ('UserUsableGroups', '{"default":"Everyone","vip":"Paid"}'),
    ('QuotaPerUnit', '500000');
insert into two_fas (user_id, secret) values (2, 'x');
insert into channels ("key", name) values ('sk-upstream', 'one'), ('sk-upstream', 'two');

-- The password of 1 and 2 is `correct horse`.
insert into users (id, username, password, display_name, role, status, email, github_id, access_token, quota, used_quota,
    request_count, "group", aff_quota, deleted_at, created_at) values
    (1, 'boss', '$2a$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e', 'Root User', 100, 1, '', '',
        'rootrootrootrootrootrootrootroot', 100000000, 0, 0, 'default', 0, null, null),
    (2, 'Ana', '$2a$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e', 'Ana Ruiz', 1, 1, 'ana@example.org', 'ana-gh',
        '0123456789abcdef0123456789abcdef', 500000, 70000, 42, 'default', 100, null, 1700000000),
    (3, 'coco', '', '', 1, 1, 'nobody', '', null, 5000, 100, 1, 'default', 0, null, 1700000000),
    (4, 'сосо', 'plain', 'Со', 1, 1, '', '', null, 0, 0, 0, 'default', 0, null, 1700000000),
    (5, 'debtor', '', 'Debtor', 10, 2, '', '', null, -700, 0, 0, 'default', 0, null, 1700000000),
    (6, 'two words', '', 'Two', 1, 1, '', '', null, 600000000000000, 0, 0, 'vip', 0, null, 1700000000),
    (7, 'gone', '', '', 1, 1, '', '', null, 5000, 0, 0, 'nowhere', 0, '2026-01-01 00:00:00', 1700000000),
    (8, 'empty-group', '', '', 0, 9, '', '', null, 7, 0, 0, '', 0, null, 1700000000);

insert into tokens (id, user_id, "key", status, name, created_time, accessed_time, expired_time, remain_quota,
    unlimited_quota, model_limits_enabled, model_limits, allow_ips, used_quota, "group", cross_group_retry, deleted_at) values
    (11, 2, 'Zk3vQm9TtY2wRr8uNn5xHh1cGg6bFf0dEe4sAa7pLl3jKk9i', 1, 'prod', 1700000001, 1700000002, -1, 1000, false, true,
        'gpt-4o,o3', '10.0.0.1
192.168.0.0/16', 400, 'vip', false, null),
    (12, 2, '0123456789abcdef0123456789abcdef', 1, '', 1700000001, 1700000002, -1, -5000, true, false, '', null, 5000, '',
        true, null),
    (13, 2, 'a1B2c3D4e5F6g7H80123456789abcdef0123456789abcdef', 2, 'off', 1700000001, 0, -1, 10, false, false, '', '', 0, '', false,
        null),
    (14, 2, 'status3explained0123456789abcdef0123456789abcdef', 3, 'expired', 1700000001, 0, 1700000003, 10, false, false, '', '',
        0, '', false, null),
    (15, 2, 'status3puzzling00123456789abcdef0123456789abcdef', 3, 'why', 1700000001, 0, -1, 10, false, false, '', '', 0, '',
        false, null),
    (16, 2, 'status4explained0123456789abcdef0123456789abcdef', 4, 'used up', 1700000001, 0, -1, 0, false, false, '', '', 30, '',
        false, null),
    (17, 2, 'status4puzzling00123456789abcdef0123456789abcdef', 4, 'why not', 1700000001, 0, -1, 500, false, false, '', '', 0, '',
        false, null),
    (18, 2, 'expiryiszero0000123456789abcdef0123456789abcdef0', 1, 'zero', 1700000001, 0, 0, 10, false, false, '', '', 0, '', false,
        null),
    (19, 3, 'remainbelowzero00123456789abcdef0123456789abcdef', 1, 'debt', 1700000001, 0, -1, -300, false, false, '', '', 300, '',
        false, null),
    (20, 3, 'remainabovemaximum23456789abcdef0123456789abcdef', 1, 'much', 1700000001, 0, -1, 600000000000000, false, false, '',
        '', 0, '', false, null),
    (21, 3, 'longname00000000123456789abcdef00123456789abcdef', 1, 'a name of more than fifty characters, which is cut here',
        1700000001, 0, -1, 10, false, false, '', '', 0, '', false, null),
    (22, 3, 'noaddressleft00000123456789abcde0123456789abcdef', 1, 'nowhere', 1700000001, 0, -1, 10, false, false, '',
        'localhost', 0, '', false, null),
    (23, 3, 'oneaddressleft0000123456789abcde0123456789abcdef', 1, 'somewhere', 1700000001, 0, -1, 10, false, false, '',
        '10.0.0.1
localhost', 0, '', false, null),
    (24, 3, 'short', 1, 'short', 1700000001, 0, -1, 10, false, false, '', '', 0, '', false, null),
    (25, 3, 'sk-Zk3vQm9TtY2wRr8uNn5xHh1cGg6bFf0dEe4sAa7pLl3jKk9i', 1, 'twice', 1700000001, 0, -1, 10, false, false, '', '', 0, '',
        false, null),
    (26, 7, 'ofadeletedaccount0123456789abcde0123456789abcdef', 1, 'orphan', 1700000001, 0, -1, 10, false, false, '', '', 0, '',
        false, null),
    (27, 2, 'deletedtoken000000123456789abcde0123456789abcdef', 1, 'deleted', 1700000001, 0, -1, 10, false, false, '', '', 0, '',
        false, '2026-01-01 00:00:00'),
    (28, 99, 'ofnobody0000000000123456789abcde0123456789abcdef', 1, 'orphan', 1700000001, 0, -1, 10, false, false, '', '', 0, '',
        false, null),
    (29, 6, 'kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk',
        1, 'auto', 1700000001, 0, -1, 10, false, false, '', '', 0, 'auto', true, null);

insert into logs (user_id, created_at, type, token_name, model_name, quota, prompt_tokens, completion_tokens, token_id) values
    (2, NOW - 86400, 2, 'prod', 'gpt-4o', 100, 10, 1, 11),
    (2, NOW - 86400, 2, 'prod', 'gpt-4o', 50, 20, 2, 11),
    (2, NOW - 86400, 6, 'prod', 'gpt-4o', 30, 0, 0, 11),
    (2, NOW - 86400, 2, 'prod', 'o3', 7, 1, 1, 0),
    (2, NOW - 172800, 2, '', 'gpt-4o', 11, 1, 1, 12),
    (2, NOW - 172800, 2, 'deleted', 'gpt-4o', 13, 1, 1, 27),
    (2, NOW - 86400, 1, '', '', 99999, 0, 0, 0),
    (2, NOW - 86400, 5, 'prod', 'gpt-4o', 99999, 0, 0, 11),
    (2, NOW - 8640000, 2, 'prod', 'gpt-4o', 1000, 1, 1, 11),
    (3, NOW - 86400, 6, 'debt', 'gpt-4o', 5, 0, 0, 19),
    (7, NOW - 86400, 2, 'orphan', 'gpt-4o', 17, 0, 0, 26);
