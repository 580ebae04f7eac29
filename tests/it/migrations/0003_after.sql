select
    (select count(distinct id) = 3 and bool_and(id > 0 and last_seen_time is null) from sessions)
    and (select bool_and(last_used_time is null) from access_tokens)
