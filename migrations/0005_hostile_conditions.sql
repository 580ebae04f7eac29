-- What keeps the ledger available and its history safe while other work goes on beside it.

-- Raised by every edit of a token, never by a charge: tells a server whether what it remembers of the token's
-- restrictions still holds, so that a charge need not read them again.
alter table tokens add column version bigint not null default 0;

-- Single charges from this second on are all there; older ones were dropped for their age. Null: none was dropped yet.
alter table installation add column charges_since bigint;

-- Days without a partition of their own have their charges in charges_rest. Found by time, to be removed for their age.
create index charges_rest_by_time on charges_rest (at);

drop function make_charges_partition(bigint);
drop function drop_charges_partitions(bigint);

create function charges_partition_name(day_start bigint) returns text language sql immutable as $$
    select 'charges_' || to_char(to_timestamp(day_start) at time zone 'UTC', 'YYYYMMDD')
$$;

-- The first seconds of the UTC days from the one that begins at `first_day` to the one that begins at `last_day` that
-- need a partition. A day that has rows in charges_rest keeps them there.
create function missing_charges_partitions(first_day bigint, last_day bigint) returns setof bigint language sql stable as $$
    select day_start from generate_series(first_day, last_day, 86400) as day_start
    where to_regclass(charges_partition_name(day_start)) is null
        and not exists (select 1 from charges_rest where at >= day_start and at < day_start + 86400)
    order by day_start
$$;

-- Makes the partition of the UTC day that begins at `day_start`. The table is made alone and attached then: that
-- leaves `charges` open to everyone who reads or charges, and locks only the new table and charges_rest.
create function make_charges_partition(day_start bigint) returns void language plpgsql as $$
declare
    partition_name text := charges_partition_name(day_start);
begin
    execute format('create table %I (like charges including constraints)', partition_name);
    execute format(
        'alter table charges attach partition %I for values from (%s) to (%s)',
        partition_name, day_start, day_start + 86400
    );
end
$$;

-- Drops the oldest partition of a UTC day before `day_start`; returns whether there was one to drop. Waits for no
-- reader: while anyone else reads the partition (a backup, a report), this raises lock_not_available, because to drop
-- it means to lock `charges`, and every charge would wait behind that.
create function drop_oldest_charges_partition(day_start bigint) returns boolean language plpgsql as $$
declare
    oldest text;
begin
    select c.relname into oldest
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'charges'::regclass and c.relname ~ '^charges_[0-9]{8}$'
        and c.relname < charges_partition_name(day_start)
    order by c.relname limit 1;
    if oldest is null then
        return false;
    end if;
    if exists (
        select 1 from pg_locks
        where relation = to_regclass(oldest) and pid <> pg_backend_pid()
            and database = (select oid from pg_database where datname = current_database())
    ) then
        raise lock_not_available using message = format('%s is being read', oldest);
    end if;
    execute format('drop table %I', oldest);
    update installation set charges_since = greatest(
        charges_since,
        extract(epoch from to_timestamp(substr(oldest, 9), 'YYYYMMDD')::timestamp at time zone 'UTC')::bigint + 86400
    );
    return true;
end
$$;

-- Analyses one table that has rows and no statistics (a restore, an upgrade of PostgreSQL, a first start); returns its
-- name, or null if there is none. The partitions of charges are left out: no plan depends on what is in them.
create function analyze_one_table() returns text language plpgsql as $$
declare
    found_name text;
begin
    select t.relname into found_name
    from pg_stat_user_tables t join pg_class c on c.oid = t.relid
    where t.schemaname = current_schema() and c.relkind = 'r' and not c.relispartition
        and pg_relation_size(c.oid) > 0 and t.last_analyze is null and t.last_autoanalyze is null
        and not exists (select 1 from pg_stats s where s.schemaname = t.schemaname and s.tablename = t.relname)
    order by t.relname limit 1;
    if found_name is not null then
        execute format('analyze %I', found_name);
    end if;
    return found_name;
end
$$;

-- Where days were dropped before this migration, the oldest partition that is left begins what is whole.
update installation set charges_since = oldest.day_start
from (
    select min(extract(epoch from to_timestamp(substr(c.relname, 9), 'YYYYMMDD')::timestamp at time zone 'UTC')::bigint)
        as day_start
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'charges'::regclass and c.relname ~ '^charges_[0-9]{8}$'
) as oldest
where exists (select 1 from usage_daily where day < to_timestamp(oldest.day_start)::date);
