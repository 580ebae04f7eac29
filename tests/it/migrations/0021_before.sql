-- An installation from before requests had keys.
select 1;
