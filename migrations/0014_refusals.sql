-- Single requests that were refused: samples, so that people see why. `refused_requests` counts them all. One partition a UTC
-- day, dropped after a week, or earlier if there are too many. Not a part of the ledger.
create table refusals (
    id bigint generated always as identity,
    at bigint not null,
    -- 0: no token has the key. A deleted token is named, and the reason is invalid_key.
    user_id bigint not null,
    token_id bigint not null,
    gateway_id bigint not null,
    -- What the gateway asked for: verify, forward_auth, charge, reserve or extend.
    call text not null,
    -- The error code.
    reason text not null,
    -- The limit that refused: day, week, month, requests, tokens or concurrency; null for other reasons.
    limit_name text,
    limit_amount bigint,
    -- Of a day, a week or a month.
    limit_used bigint,
    resets_at bigint,
    -- Seconds; null if time alone does not help.
    retry_after bigint,
    -- Empty if the gateway named none.
    model text not null,
    -- The amount that was asked for; null if none was.
    quota bigint,
    request_id text,
    ip text,
    -- Requests of the same token and minute, refused for the same reason, that have no row.
    suppressed bigint not null,
    constraint refusals_suppressed_not_negative check (suppressed >= 0)
) partition by range (at);

create index refusals_of_token on refusals (token_id, at);
-- Those of everyone. Rows are few beside those of charges, which do without.
create index refusals_by_time on refusals (at, id);

-- Refusals of days without a partition.
create table refusals_rest partition of refusals default;

-- Makes the partitions of the UTC days between two, inclusive, that have none and have no row in refusals_rest.
create function make_refusals_partitions(first_day bigint, last_day bigint) returns void language plpgsql as $$
declare
    day_start bigint;
    partition_name text;
begin
    for day_start in select generate_series(first_day, last_day, 86400) loop
        partition_name := 'refusals_' || to_char(to_timestamp(day_start) at time zone 'UTC', 'YYYYMMDD');
        if to_regclass(partition_name) is null
            and not exists (select 1 from refusals_rest where at >= day_start and at < day_start + 86400)
        then
            execute format(
                'create table %I partition of refusals for values from (%s) to (%s)',
                partition_name, day_start, day_start + 86400
            );
        end if;
    end loop;
end
$$;

-- Drops the oldest partition of a UTC day that is before `day_start`, or that is before `today` and has rows, of which there are
-- more than `most` since then; returns false if there was nothing to drop. Ids ascend, so the first row of a partition tells how
-- many follow.
create function drop_oldest_refusals_partition(day_start bigint, today bigint, most bigint) returns boolean language plpgsql as $$
declare
    oldest text;
    first_id bigint;
    last_id bigint := pg_sequence_last_value(pg_get_serial_sequence('refusals', 'id')::regclass);
begin
    for oldest in
        select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'refusals'::regclass and c.relname ~ '^refusals_[0-9]{8}$'
            and c.relname < 'refusals_' || to_char(to_timestamp(today) at time zone 'UTC', 'YYYYMMDD')
        order by c.relname
    loop
        execute format('select id from %I limit 1', oldest) into first_id;
        if oldest < 'refusals_' || to_char(to_timestamp(day_start) at time zone 'UTC', 'YYYYMMDD')
            or last_id - first_id >= most
        then
            execute format('drop table %I', oldest);
            return true;
        end if;
        if first_id is not null then
            return false;
        end if;
    end loop;
    return false;
end
$$;
