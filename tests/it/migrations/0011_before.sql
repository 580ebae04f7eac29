-- Charges in a partition of a day and outside of one, an open and a settled reservation, and a record of a charge.

select make_charges_partition(1773100800);

insert into charges (at, token_id, user_id, reservation_id, model, quota, shortfall, prompt_tokens, completion_tokens) values
    (1773100801, 1, 1, 1101, 'o1', 5, 0, 7, 3), (5, 1, 1, null, '', 6, 0, 0, 0);

insert into reservations (id, token_id, user_id, gateway_id, model, held, from_remain, created_time, expires_at, state,
    ended_time, requested, charged, shortfall, was_expired) values
    (1101, 1, 1, 1, 'o1', 9, true, 1, 2, 'settled', 2, 5, 5, 0, true),
    (1102, 1, 1, 1, 'o1', 9, true, 1, 2, 'open', null, null, null, null, null);

insert into idempotency_records (gateway_id, request_id, user_id, created_time, request_hash, charged, remain_quota)
    values (1, 'r11', 1, 1, decode(repeat('02', 32), 'hex'), 6, 1);
