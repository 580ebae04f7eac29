-- Limits of sign-ins by account and network, stored so that all servers count together and a restart forgets nothing
-- (domain/sign_in_limit.rs).

-- When the bucket of attempts at an account is empty, in microseconds. Deleted when it is.
create table sign_in_limits (
    -- Keyed digest of the username as typed: it may belong to no account, and people type passwords there.
    account bytea not null,
    -- The client's network (empty if it is not known), or `*` for all networks together that never signed in there.
    network text not null,
    tat bigint not null,
    constraint sign_in_limits_pkey primary key (account, network)
);

create index sign_in_limits_by_tat on sign_in_limits (tat);

-- The networks from which an account was signed in to, for 90 days. Those that were last used, at most 100 of a user.
create table sign_in_networks (
    user_id bigint not null constraint sign_in_networks_user_fk references users (id),
    network text not null,
    last_time bigint not null,
    constraint sign_in_networks_pkey primary key (user_id, network)
);

create index sign_in_networks_by_time on sign_in_networks (last_time);

-- Refused sign-ins by account, for administrators: at most one write a minute. Kept for a day.
create table sign_in_lockouts (
    account bytea constraint sign_in_lockouts_pkey primary key,
    -- Null for a name without an account: it costs the same, so that nobody can tell.
    user_id bigint constraint sign_in_lockouts_user_fk references users (id),
    -- The last refusal.
    last_time bigint not null,
    -- The last refusal of all networks that never signed in there.
    new_networks_time bigint
);

create index sign_in_lockouts_by_time on sign_in_lockouts (last_time);

-- Who signed in before must not count as somebody new. `set_masklen` as in service/rate_limiter: an IPv6 network has 64
-- bits.
insert into sign_in_networks (user_id, network, last_time)
select user_id, network, last_time
from (
    select user_id, network, max(at) as last_time,
        row_number() over (partition by user_id order by max(at) desc, network) as nth
    from (
        select audit_log.user_id, audit_log.at,
            case when position(':' in ip) > 0 then host(network(set_masklen(ip::inet, 64))) else ip end as network
        from audit_log
        join users on users.id = audit_log.user_id
        where action = 'user.signed_in' and ip ~ '^[0-9a-f.:]+$'
          and at > (select at from audit_log order by id desc limit 1) - 90 * 86400
    ) as sign_ins
    group by user_id, network
) as networks
where nth <= 100;
