-- A line of an older version.

insert into audit_log (id, at, actor_id, actor_name, action, subject_kind, subject_id, user_id, ip, request_id, details)
    overriding system value values (1012, 12, 1, 'ana', 'token.edited', 'token', 1, 1, '', 'r12', '{"fields": "name"}');
