-- An installation from before there were prices.
select 1;
