select
    (select count(*) from charges where request_id is null and ip is null and price_id is null and cached_tokens is null
        and cache_write_tokens is null and reasoning_tokens is null and quota in (5, 6)) = 2
    and (select count(*) from reservations where id in (1101, 1102) and not charge_on_expiry and request_id is null
        and ip is null and held = 9) = 2
    and (select reservation_id is null and charged = 6 from idempotency_records where request_id = 'r11')
