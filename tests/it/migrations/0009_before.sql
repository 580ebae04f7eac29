insert into audit_log (id, at, actor_id, actor_name, action, subject_kind, subject_id, user_id, ip, request_id, details)
    overriding system value
values
    (101, 1000, 1, 'Ana', 'user.signed_in', 'user', 1, 1, '192.0.2.7', 'x', '{}'),
    (102, 10000000, 1, 'Ana', 'user.signed_in', 'user', 1, 1, '192.0.2.1', 'x', '{}'),
    (103, 10000005, 1, 'Ana', 'user.signed_in', 'user', 1, 1, '192.0.2.1', 'x', '{}'),
    (104, 10000006, 1, 'Ana', 'user.signed_in', 'user', 1, 1, '2001:db8:0:7:1::9', 'x', '{}'),
    (105, 10000007, 1, 'Ana', 'user.signed_in', 'user', 1, 1, '', 'x', '{}'),
    (106, 10000008, null, '', 'user.sign_in_failed', 'user', 1, 1, '192.0.2.8', 'x', '{}');
