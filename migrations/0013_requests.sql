-- Administrators read the charges of everyone by time. Rows lie on the disk in the order of their time, so a BRIN index of a
-- few pages finds them and costs a charge almost nothing. Partitions of days that exist already do without: an index on
-- `charges` would lock it.
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
        'alter table charges attach partition %I for values from (%s) to (%s)',
        partition_name, day_start, day_start + 86400
    );
end
$$;
