select
    (select array_agg(array[id, held, open_reservations, day_used, week_used, month_used] order by id) from tokens)
        = '{{1,0,1,0,0,0},{2,15,2,12,28,60},{3,0,0,40,40,40},{4,0,0,0,0,0}}'
    and (select array_agg(period_day order by id) from tokens)
        = '{2026-03-10,2026-03-11,2026-03-12,1970-01-01}'
    and (select array_agg(array[id, held, day_used, week_used, month_used] order by id) from users)
        = '{{1,0,0,0,0},{2,15,40,68,100},{3,0,0,0,0}}'
    and (select array_agg(period_day order by id) from users) = '{2026-03-10,2026-03-12,1970-01-01}'
    and (select bool_and(day_limit is null and week_limit is null and month_limit is null) from users)
    and (select bool_and(day_limit is null and requests_per_minute is null and concurrency is null) from tokens)
    and (select bool_and(day is null) from charges)
    and (select week_starts = 1 from installation)
