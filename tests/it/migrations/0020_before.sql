-- An installation from before keys were replaced.
select 1;
