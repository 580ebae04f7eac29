-- The home of administrators names models whose requests were charged their holds. Such charges are few, so an index of
-- them costs others nothing. Partitions with rows do without: an index would lock them.
create or replace function make_charges_partition(day_start bigint) returns void language plpgsql as $$
declare
    partition_name text := charges_partition_name(day_start);
begin
    execute format('create table %I (like charges including constraints)', partition_name);
    execute format(
        'create index %I on %I using brin (at) with (autosummarize = on)',
        partition_name || '_by_time', partition_name
    );
    execute format(
        'create index %I on %I (at) where hold_reason is not null',
        partition_name || '_held', partition_name
    );
    execute format(
        'alter table charges attach partition %I for values from (%s) to (%s)',
        partition_name, day_start, day_start + 86400
    );
end
$$;

do $$
declare
    partition_name text;
begin
    for partition_name in
        select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'charges'::regclass and pg_relation_size(c.oid) = 0
    loop
        execute format(
            'create index %I on %I (at) where hold_reason is not null', partition_name || '_held', partition_name
        );
    end loop;
end
$$;
