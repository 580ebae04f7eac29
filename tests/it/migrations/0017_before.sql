-- An installation from before single requests were imported.
select 1;
