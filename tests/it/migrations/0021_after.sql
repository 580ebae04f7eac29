select count(*) = 0 from idempotency_keys
