-- The ledger: what was charged, what is set aside, and what was answered to whom.

-- One row a charge. No foreign keys: a partition goes as a whole, and the tokens stay anyway.
create table charges (
    id bigint generated always as identity,
    at bigint not null,
    gateway_id bigint,
    token_id bigint not null,
    user_id bigint not null,
    reservation_id bigint,
    model text not null,
    quota bigint not null,
    shortfall bigint not null,
    prompt_tokens bigint not null,
    completion_tokens bigint not null,
    constraint charges_quota_not_negative check (quota >= 0),
    constraint charges_shortfall_not_negative check (shortfall >= 0),
    constraint charges_counts_not_negative check (prompt_tokens >= 0 and completion_tokens >= 0)
) partition by range (at);

create index charges_of_token on charges (token_id, at);

-- Takes what no day's partition takes, so that a charge never fails for a job that did not run.
create table charges_rest partition of charges default;

-- Makes the partition of the UTC day that begins at `day_start`, unless it is there or its rows are
-- in charges_rest already.
create function make_charges_partition(day_start bigint) returns boolean language plpgsql as $$
declare
    partition_name text := 'charges_' || to_char(to_timestamp(day_start) at time zone 'UTC', 'YYYYMMDD');
begin
    if to_regclass(partition_name) is not null
        or exists (select 1 from charges_rest where at >= day_start and at < day_start + 86400) then
        return false;
    end if;
    execute format(
        'create table %I partition of charges for values from (%s) to (%s)', partition_name, day_start, day_start + 86400
    );
    return true;
end
$$;

-- Drops the partitions of UTC days before `day_start`; returns how many. Their sums stay in usage_daily.
create function drop_charges_partitions(day_start bigint) returns integer language plpgsql as $$
declare
    old text;
    dropped integer := 0;
begin
    for old in
        select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'charges'::regclass and c.relname ~ '^charges_[0-9]{8}$'
            and c.relname < 'charges_' || to_char(to_timestamp(day_start) at time zone 'UTC', 'YYYYMMDD')
    loop
        execute format('drop table %I', old);
        dropped := dropped + 1;
    end loop;
    return dropped;
end
$$;

-- Quota set aside for a request that is under way. Ids are random, made by the service.
create table reservations (
    id bigint constraint reservations_pkey primary key,
    token_id bigint not null constraint reservations_token_fk references tokens (id),
    user_id bigint not null constraint reservations_user_fk references users (id),
    gateway_id bigint,
    model text not null,
    held bigint not null,
    from_remain boolean not null,
    created_time bigint not null,
    expires_at bigint not null,
    state text not null,
    ended_time bigint,
    asked bigint,
    charged bigint,
    shortfall bigint,
    was_expired boolean,
    constraint reservations_held_not_negative check (held >= 0),
    constraint reservations_state_known check (state in ('open', 'settled', 'released', 'expired')),
    constraint reservations_ended check ((state = 'open') = (ended_time is null)),
    constraint reservations_settled check (
        (state = 'settled')
        = (asked is not null and charged is not null and shortfall is not null and was_expired is not null)
    )
);

create index reservations_open on reservations (expires_at) where state = 'open';
create index reservations_ended_by_time on reservations (ended_time) where state <> 'open';

-- What a gateway was answered to a charge that it gave an id of its own.
create table receipts (
    gateway_id bigint not null,
    request_id text not null,
    at bigint not null,
    fingerprint bytea not null,
    charged bigint not null,
    remain_quota bigint not null,
    constraint receipts_pkey primary key (gateway_id, request_id)
);

create index receipts_by_time on receipts (at);

-- Balances change with every batch; room on the page keeps their index entries where they are.
alter table users set (fillfactor = 70);
alter table tokens set (fillfactor = 70);
