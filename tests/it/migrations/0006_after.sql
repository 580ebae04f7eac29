select exists (select from pg_indexes where indexname = 'users_by_period_day') and exists (select 1 from users);
