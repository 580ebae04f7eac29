-- Limits that renew each day, week and month (tokens and users), and rates (tokens). Every row is counted from here on,
-- with a limit or without (docs/limits.md).

-- The first day of the week (1 Monday to 7 Sunday) by which `week_used` is counted; the setting `usage.week_starts`.
alter table installation
    add column week_starts smallint not null default 1,
    add constraint installation_week_starts_known check (week_starts between 1 and 7);

alter table users
    -- The sum of the open reservations; a part of `used_quota`.
    add column held bigint not null default 0,
    -- Quota units per period of `usage.time_zone`; null is no limit.
    add column day_limit bigint,
    add column week_limit bigint,
    add column month_limit bigint,
    -- The day of the last charge, and what was charged in its day, week and month. In a later period they count as 0.
    add column period_day date not null default '1970-01-01',
    add column day_used bigint not null default 0,
    add column week_used bigint not null default 0,
    add column month_used bigint not null default 0,
    add constraint users_held_not_negative check (held >= 0),
    add constraint users_period_limits_not_negative check (day_limit >= 0 and week_limit >= 0 and month_limit >= 0),
    add constraint users_period_used_not_negative check (day_used >= 0 and week_used >= 0 and month_used >= 0);

alter table tokens
    -- As in `users`.
    add column held bigint not null default 0,
    add column day_limit bigint,
    add column week_limit bigint,
    add column month_limit bigint,
    add column period_day date not null default '1970-01-01',
    add column day_used bigint not null default 0,
    add column week_used bigint not null default 0,
    add column month_used bigint not null default 0,
    -- Null is no limit.
    add column requests_per_minute bigint,
    add column tokens_per_minute bigint,
    add column concurrency bigint,
    -- When the buckets of requests and of model tokens are empty, in microseconds (GCRA).
    add column requests_tat bigint not null default 0,
    add column tokens_tat bigint not null default 0,
    add column open_reservations bigint not null default 0,
    add constraint tokens_held_not_negative check (held >= 0),
    add constraint tokens_period_limits_not_negative check (day_limit >= 0 and week_limit >= 0 and month_limit >= 0),
    add constraint tokens_period_used_not_negative check (day_used >= 0 and week_used >= 0 and month_used >= 0),
    add constraint tokens_rates_not_negative
        check (requests_per_minute >= 0 and tokens_per_minute >= 0 and concurrency >= 0),
    add constraint tokens_open_reservations_not_negative check (open_reservations >= 0);

-- The day of `usage_daily` that the charge was counted in; null: the day of `at`. The two differ if servers disagree
-- about midnight, or if `usage.time_zone` was changed.
alter table charges add column day date;

-- The first day of the week of `day`.
create function first_day_of_week(day date, week_starts integer) returns date language sql immutable as $$
    select day - (extract(isodow from day)::integer - week_starts + 7) % 7
$$;

-- Counts the periods of the users in a range of ids and of their tokens again, from `usage_daily`. `period_day` stays.
create function count_periods(first_user bigint, last_user bigint, week_starts integer) returns void language plpgsql as $$
begin
    -- In the order in which the ledger locks them.
    perform 1 from users where id between first_user and last_user order by id for no key update;

    update tokens t set day_used = s.day_used, week_used = s.week_used, month_used = s.month_used
    from (
        select t.id,
            coalesce(sum(d.quota) filter (where d.day = t.period_day), 0) as day_used,
            coalesce(sum(d.quota) filter (where d.day >= first_day_of_week(t.period_day, week_starts)), 0) as week_used,
            coalesce(sum(d.quota) filter (where d.day >= date_trunc('month', t.period_day)::date), 0) as month_used
        from tokens t left join usage_daily d
            on d.token_id = t.id and d.day > t.period_day - 31 and d.day <= t.period_day
        where t.user_id between first_user and last_user and t.period_day > '1970-01-01'
        group by t.id
    ) s
    where t.id = s.id;

    update users u set day_used = s.day_used, week_used = s.week_used, month_used = s.month_used
    from (
        select u.id,
            coalesce(sum(d.quota) filter (where d.day = u.period_day), 0) as day_used,
            coalesce(sum(d.quota) filter (where d.day >= first_day_of_week(u.period_day, week_starts)), 0) as week_used,
            coalesce(sum(d.quota) filter (where d.day >= date_trunc('month', u.period_day)::date), 0) as month_used
        from users u join tokens t on t.user_id = u.id left join usage_daily d
            on d.token_id = t.id and d.day > u.period_day - 31 and d.day <= u.period_day
        where u.id between first_user and last_user and u.period_day > '1970-01-01'
        group by u.id
    ) s
    where u.id = s.id;
end
$$;

-- Counts what is there.
update tokens t set held = s.held, open_reservations = s.open
from (
    select token_id, sum(held) as held, count(*) as open from reservations where state = 'open' group by token_id
) s
where t.id = s.token_id;

update users u set held = s.held
from (select user_id, sum(held) as held from reservations where state = 'open' group by user_id) s
where u.id = s.user_id;

update tokens t set period_day = s.day
from (select token_id, max(day) as day from usage_daily group by token_id) s
where t.id = s.token_id;

update users u set period_day = s.day
from (select user_id, max(period_day) as day from tokens group by user_id) s
where u.id = s.user_id;

select count_periods(min(id), max(id), 1) from users;
