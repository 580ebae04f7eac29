-- A day that was dropped for its age, and two partitions that are left.
insert into installation (id, key_check, created_time) values (1, '\x00', 1);
select make_charges_partition(1773014400), make_charges_partition(1773100800);
insert into usage_daily (token_id, day, model, quota, requests, prompt_tokens, completion_tokens)
values (1, '2026-03-08', '', 5, 1, 0, 0), (1, '2026-03-09', '', 5, 1, 0, 0);
