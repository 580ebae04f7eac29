-- Sums of `usage_daily` for reports over long ranges. A job adds up the days that have ended (service/jobs/usage_rollup.rs);
-- reports read the days after those from `usage_daily` itself, which stays the only source.

-- How far the sums go.
create table usage_rollup (
    id smallint constraint usage_rollup_pkey primary key default 1,
    -- No charge counts in a day before this one any more.
    closed_until date not null default '0001-01-01',
    -- The tables below have all days before this one.
    rolled_until date not null default '0001-01-01',
    -- The job is adding the days from rolled_until to before this one; null: it is not.
    rolling_until date,
    -- It has added those of the users up to this id.
    rolled_user bigint not null default 0,
    constraint usage_rollup_one_row check (id = 1),
    constraint usage_rollup_days_closed
        check (rolled_until <= closed_until and rolling_until between rolled_until and closed_until)
);

insert into usage_rollup default values;

-- What all tokens of a user used in a day with a model and through a gateway.
create table usage_by_model (
    day date not null,
    model text not null,
    -- 0: everyone.
    user_id bigint not null,
    quota bigint not null,
    requests bigint not null,
    prompt_tokens bigint not null,
    completion_tokens bigint not null,
    -- From the charges of the day. 0: without a gateway, or they were deleted before the day was added up.
    gateway_id bigint not null,
    constraint usage_by_model_pkey primary key (user_id, day, model, gateway_id),
    constraint usage_by_model_not_negative
        check (quota >= 0 and requests >= 0 and prompt_tokens >= 0 and completion_tokens >= 0)
);

-- That of each user, for administrators.
create index usage_by_model_by_day on usage_by_model (day);

-- What a token used in a month of the calendar with a model.
create table usage_by_month (
    token_id bigint not null,
    -- The first day.
    month date not null,
    model text not null,
    user_id bigint not null,
    quota bigint not null,
    requests bigint not null,
    prompt_tokens bigint not null,
    completion_tokens bigint not null,
    constraint usage_by_month_pkey primary key (user_id, month, token_id, model),
    constraint usage_by_month_not_negative
        check (quota >= 0 and requests >= 0 and prompt_tokens >= 0 and completion_tokens >= 0),
    constraint usage_by_month_first_day check (extract(day from month) = 1)
);

-- That of everyone, for administrators.
create index usage_by_month_by_month on usage_by_month (month);

-- What reports unite: rows of the same columns, which a later version may not change.
create view usage_report_daily as
    select token_id, day, model, user_id, quota, requests, prompt_tokens, completion_tokens, 0::bigint as gateway_id
    from usage_daily;
create view usage_report_imported as
    select token_id, day, model, user_id, quota, requests, prompt_tokens, completion_tokens, 0::bigint as gateway_id
    from usage_imported;
create view usage_report_models as
    select null::bigint as token_id, day, model, user_id, quota, requests, prompt_tokens, completion_tokens, gateway_id
    from usage_by_model;
create view usage_report_months as
    select token_id, month as day, model, user_id, quota, requests, prompt_tokens, completion_tokens, 0::bigint as gateway_id
    from usage_by_month;
