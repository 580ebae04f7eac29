-- Requests of gateways that were refused, by day and reason. Servers count in memory and add their counts every few
-- seconds, so a killed server loses the last ones. Not a part of the ledger.
create table refused_requests (
    user_id bigint not null,
    day date not null,
    token_id bigint not null,
    -- The error code of the refusal.
    reason text not null,
    requests bigint not null,
    constraint refused_requests_pkey primary key (user_id, day, token_id, reason),
    constraint refused_requests_positive check (requests > 0)
);

-- Those of a token, and of everyone; the latter also finds what is old enough to be deleted.
create index refused_requests_by_token on refused_requests (token_id, day);
create index refused_requests_by_day on refused_requests (day);
