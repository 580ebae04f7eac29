-- Two gateways, one of the command line, and a request id that was answered.
insert into users (id, username, username_folded, display_name, email, password_hash, role, status, group_name,
    quota, used_quota, request_count, token_api_enabled, created_time) overriding system value
values (501, 'carla', 'carla', '', '', '', 10, 1, 'default', 0, 0, 0, false, 1);

insert into gateways (name, digest, created_time, created_by)
values ('edge', decode(repeat('01', 32), 'hex'), 11, 501), ('batch', decode(repeat('02', 32), 'hex'), 12, null);

insert into receipts (gateway_id, request_id, at, fingerprint, charged, remain_quota)
select id, 'r1', 13, '\x01', 40, 60 from gateways;
